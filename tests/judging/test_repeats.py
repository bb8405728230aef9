"""Repeated rows are found among others whose keys share some bits, or all of them by chance."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rankgauge.columns import Slices
from rankgauge.judging.ranks import RepeatFinder

KEYS = (0, 1, 1 << 63, (1 << 63) + 1, (1 << 63) + (1 << 40), (1 << 64) - 1)
"""Keys of which some land in one slot of a table by their high bits, and some by others."""


def found(finder, pairs, documents):
    """Return groups of rows, in order of their first row."""
    repeats = finder.find(np.array(pairs, dtype=np.uint64), Slices.of(documents))
    groups = {}
    for row, group in zip(repeats.rows.tolist(), repeats.group.tolist(), strict=True):
        groups.setdefault(group, []).append(row)
    return sorted(groups.values())


@given(st.lists(st.lists(st.sampled_from(KEYS), max_size=12), min_size=1, max_size=3))
def test_rows_of_one_key_are_one_group(batches):
    finder = RepeatFinder()
    for pairs in batches:
        rows = {key: [row for row, own in enumerate(pairs) if own == key] for key in pairs}
        assert found(finder, pairs, [b"%d" % key for key in pairs]) == sorted(
            own for own in rows.values() if len(own) > 1
        )


def test_documents_with_one_key_by_chance_are_no_repeats():
    assert found(RepeatFinder(), [7, 7, 9, 9], [b"a", b"b", b"c", b"c"]) == [[2, 3]]


def test_rows_that_lose_their_slot_by_the_high_bits_meet_by_others():
    """Of four keys in one slot two come twice."""
    high = 0xFFF << 52
    keys = [high + 1, high + 2, high + 3, high + 2, high + 4, high + 1, high + 4 + (1 << 20)]
    assert found(RepeatFinder(), keys, [b"%d" % key for key in keys]) == [[0, 5], [1, 3]]
