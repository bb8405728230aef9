"""Lengths of stretches are those that counting characters gives, however large the numbers of documents and places."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge.columns import Cover, Stretches

N = 3

owned = st.tuples(st.integers(0, N - 1), st.integers(0, 2), st.integers(0, 9), st.integers(0, 5))
"""A sample, a document, a start and a length."""


@pytest.mark.parametrize(("scale", "shift"), [(1, 0), (10**9, 2**52)])
@given(gold=st.lists(owned, max_size=6), items=st.lists(owned, max_size=8))
def test_lengths_are_counts_of_characters(scale, shift, gold, items):
    """One number for each end has no room for the large ones."""
    found = Cover(stretches(gold, scale, shift), stretches(items, scale, shift), np.ones(len(items), dtype=np.int64))
    lengths = found.of_samples(N, np.ones(len(gold), dtype=np.bool_))
    for sample in range(N):
        in_gold, in_items = (characters(each, sample) for each in (gold, items))
        assert [column[sample] for column in lengths] == [len(in_gold), len(in_items), len(in_gold & in_items)]


def stretches(rows, scale, shift):
    """Return rows as columns, with larger numbers of documents and places."""
    rows = sorted(rows)
    owner, document, start, length = np.array(rows, dtype=np.int64).reshape(-1, 4).T
    return Stretches(owner, document * scale, start + shift, start + length + shift)


def characters(rows, sample):
    """Return the characters of a sample's stretches."""
    return {(document, start + at) for owner, document, start, size in rows if owner == sample for at in range(size)}
