"""Kendall's tau and tau-AP: against scipy, pair by pair, and by hand."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from rankgauge.stats.agreement import smaller_above, tau_ap, taus, untied_tau

PLACES = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=9)
"""The places of some items in two rankings, with ties."""


def test_without_ties_tau_follows_from_how_many_stand_above_in_both():
    """Of a b c the order a b c has 0, 1 and 2 such items, b a c has 0, 0 and 2, and c b a none; one item has no tau."""
    owners, above = np.array([0] * 3 + [1] * 3 + [2] * 3 + [3]), np.array([0, 1, 2, 0, 0, 2, 0, 0, 0, 0])
    found = untied_tau(owners, above, 4)
    assert found[:3].tolist() == [1, pytest.approx(1 / 3), -1]
    assert np.isnan(found[3])


def columns(rankings):
    owners = [owner for owner, items in enumerate(rankings) for _ in items]
    flat = [item for items in rankings for item in items]
    both = np.array(flat, dtype=np.int64).reshape(-1, 2)
    return np.array(owners, dtype=np.int64), both[:, 0], both[:, 1]


def by_pairs(items):
    """Return tau-a and tau-b, pair by pair."""
    signs = [
        (np.sign(one[0] - other[0]), np.sign(one[1] - other[1])) for one, other in itertools.combinations(items, 2)
    ]
    difference = sum(int(first * second) for first, second in signs)
    untied = [sum(sign[side] != 0 for sign in signs) for side in (0, 1)]
    return (
        difference / len(signs) if signs else math.nan,
        difference / math.sqrt(untied[0] * untied[1]) if all(untied) else math.nan,
    )


@given(rankings=st.lists(PLACES, max_size=5))
def test_agrees_pair_by_pair(rankings):
    found = taus(*columns(rankings), len(rankings))
    expected = [by_pairs(items) for items in rankings]

    np.testing.assert_allclose(found.a, [a for a, _ in expected], rtol=1e-12)
    np.testing.assert_allclose(found.b, [b for _, b in expected], rtol=1e-12)


def test_agrees_with_scipy_on_long_rankings():
    chance = np.random.default_rng(7)
    rankings = [chance.integers(0, size, (400, 2)) for size in (3, 60, 10_000)]
    expected = [scipy.stats.kendalltau(items[:, 0], items[:, 1]).statistic for items in rankings]

    assert taus(*columns(rankings), 3).b.tolist() == pytest.approx(expected, rel=1e-12)


@given(values=st.lists(st.lists(st.integers(0, 20), max_size=12), max_size=5))
def test_smaller_rows_above_are_counted(values):
    owners = np.array([owner for owner, own in enumerate(values) for _ in own], dtype=np.int64)
    flat = np.array([value for own in values for value in own], dtype=np.int64)
    expected = [sum(other < value for other in own[:place]) for own in values for place, value in enumerate(own)]

    assert smaller_above(owners, flat).tolist() == expected


def test_tau_ap_worked_out_by_hand():
    # Four items; against the order of the other ranking 2 1 3 4: C = 0, 2, 3 at places 2 to 4.
    swapped_top = tau_ap(
        np.zeros(4, dtype=np.int64), smaller_above(np.zeros(4, dtype=np.int64), np.array([2, 1, 3, 4])), 1
    )
    swapped_end = tau_ap(
        np.zeros(4, dtype=np.int64), smaller_above(np.zeros(4, dtype=np.int64), np.array([1, 2, 4, 3])), 1
    )

    assert swapped_top.tolist() == pytest.approx([2 / 3 * (0 / 1 + 2 / 2 + 3 / 3) - 1])
    assert swapped_end.tolist() == pytest.approx([2 / 3 * (1 / 1 + 2 / 2 + 2 / 3) - 1])
    assert swapped_end[0] > swapped_top[0]


def test_one_item_has_no_correlation():
    owners = np.array([1])

    assert np.isnan(tau_ap(owners, np.array([0]), 2)).all()
    assert np.isnan(taus(owners, np.array([1]), np.array([1]), 2).a).all()


def test_tau_ap_of_two_items_is_1_or_its_opposite():
    """The second item has the first above it in both rankings, or in one; a single item has no pair."""
    found = tau_ap(np.array([0, 0, 1, 1, 2]), np.array([0, 1, 0, 0, 0]), 3)
    assert found[:2].tolist() == [1.0, -1.0]
    assert np.isnan(found[2])
