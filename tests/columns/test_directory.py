"""`Directory`: finding texts among many by a table of hashes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge.columns import Slices
from rankgauge.columns.pairs import Directory

TEXTS = st.binary(max_size=20)


@given(st.lists(TEXTS, min_size=1, max_size=40, unique=True), st.lists(TEXTS, max_size=20))
def test_texts_are_found_at_their_places(texts, others):
    asked = [*others, *reversed(texts)]
    places = {text: place for place, text in enumerate(texts)}
    assert Directory(Slices.of(texts)).find(Slices.of(asked)).tolist() == [places.get(text, -1) for text in asked]


def test_texts_that_meet_in_one_slot_are_found_too():
    """Nearly a tenth of these 1,000 texts are overwritten in a table of 2,048 slots."""
    texts = [f"q{number}".encode() for number in range(1000)]
    directory = Directory(Slices.of(texts))
    assert len(directory._lost) > 50
    assert directory.find(Slices.of([*texts, b"q1000", b"p1"])).tolist() == [*range(1000), -1, -1]


@pytest.mark.parametrize("count", [2, 700])
def test_texts_with_one_hash_are_told_apart(count, monkeypatch):
    monkeypatch.setattr(Slices, "keys", lambda self: np.full(len(self.start), 7, dtype=np.uint64))
    texts = [f"q{number}".encode() for number in range(count)]
    assert Directory(Slices.of(texts)).find(Slices.of([b"q1", b"x", b"q0"])).tolist() == [1, -1, 0]


def test_a_text_with_the_hash_of_another_is_not_found():
    """Zero bytes behind a text do not change its hash."""
    asked = Slices.of([b"ab", b"ab\0", b"abc"])
    assert Directory(Slices.of([b"ab", b"c"])).find(asked).tolist() == [0, -1, -1]
