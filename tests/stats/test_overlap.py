"""Rank-biased overlap against sums over depths, far beyond the ends of the rankings."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge.stats.agreement import MOST_PERSISTENT, agreement_weights, check_persistence, rank_biased_overlap

RANKINGS = st.lists(st.sampled_from("abcdefghij"), min_size=1, max_size=8, unique=True)
FAR = 4000
"""Depths below this weigh less than 1e-16 under the persistences drawn."""


def overlap(first, second, p):
    places = {item: rank for rank, item in enumerate(first, 1)}
    deeper = [max(rank, places[item]) for rank, item in enumerate(second, 1) if item in places]
    lengths = np.array([len(first)]), np.array([len(second)])
    found = rank_biased_overlap(np.zeros(len(deeper), dtype=np.int64), np.array(deeper, dtype=np.int64), lengths, p)
    return tuple(float(value[0]) for value in found)


def biased(agreement, p):
    return (1 - p) * math.fsum(p ** (depth - 1) * agreement(depth) for depth in range(1, FAR))


def restated(first, second, p):
    """Return extrapolation, minimum and maximum by definition: what unseen items do is written out depth by depth."""
    short, long = sorted((first, second), key=len)
    s, n = len(short), len(long)

    def shared(depth):
        return len(set(short[:depth]) & set(long[:depth]))

    def least(depth):
        return shared(depth) / depth

    def most(depth):  # unseen items of the shorter one from s on, of both from n on, all of them shared if they can be
        return min(depth, shared(depth) + max(depth - s, 0) + max(depth - n, 0)) / depth

    def extrapolated(depth):  # unseen items of the shorter one agree as often as those seen, as do all below the end
        at = min(depth, n)
        return (shared(at) + max(at - s, 0) * shared(s) / s) / at

    return tuple(biased(agreement, p) for agreement in (extrapolated, least, most))


@given(first=RANKINGS, second=RANKINGS, p=st.sampled_from([0.1, 0.5, 0.9, 0.98]))
def test_agrees_with_agreement_at_every_depth(first, second, p):
    extrapolated, minimum, maximum = restated(first, second, p)

    assert overlap(first, second, p) == pytest.approx((extrapolated, minimum, maximum - minimum), abs=1e-12)


def test_worked_out_by_hand():
    # Agreement is 0, 1 at depths 1 and 2; the rest of the weight, p**2 = 1/4, goes on with 1, or with 2 / d.
    rest = (-math.log(0.5) - 0.5 - 0.125) * 2  # (1 - p) / p * sum over d > 2 of 2 * p**d / d
    assert overlap("ab", "ba", 0.5) == pytest.approx((0.5, 0.25 + rest, 0.25 - rest))


def test_rankings_with_nothing_in_common_overlap_only_where_nobody_looked():
    extrapolated, minimum, residual = overlap("abc", "xyz", 0.9)

    assert (extrapolated, minimum) == (0.0, 0.0)
    assert 0 < residual < 0.9**3


def test_a_table_of_weights_ends_where_they_vanish():
    assert len(agreement_weights(0.5, 10**9)) < 100
    assert agreement_weights(0.5, 3).tolist() == [0, 1, 1.25, 1.25 + 0.25 / 3]


@pytest.mark.parametrize("p", [0.0, 1.0, -0.5, math.nan])
def test_a_persistence_that_cannot_be_used_is_refused(p):
    with pytest.raises(ValueError, match="probability of going on"):
        overlap("ab", "ba", p)
    check_persistence(MOST_PERSISTENT)


def test_where_weights_vanish_nothing_is_lost():
    """All weights sum up to ``-log(1 - p) / p``, which is 2 log 2 for one half."""
    assert agreement_weights(0.5, 1_000)[-1] == pytest.approx(2 * math.log(2), abs=3e-15)


def test_rankings_far_beyond_the_last_weight():
    places = np.arange(1, 101)
    found = rank_biased_overlap(np.zeros(100, dtype=np.int64), places, (np.array([100]), np.array([100])), 0.1)
    assert [float(each[0]) for each in found] == pytest.approx([1.0, 1.0, 0.0], abs=1e-14)
