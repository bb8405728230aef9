"""A test of a mean at every moment: what it promises in all orders of a small set, and in drawn ones of a large set."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from draws import in_thorough_suite, some
from rankgauge.stats.sequential import BoundTest
from tables import rows


def decided(values, bound, level=0.05):
    """Return the verdict, None where only the last value or none brings one, and how many values were seen."""
    test = BoundTest(len(values), bound, level)
    for value in values[:-1]:
        test.add(value)
    return test.verdict, test.seen


@in_thorough_suite()
@rows(
    "values",
    some(
        [
            [0, 0, 0, 1, 1, 1, 1],
            [0, 0, 0, 0, 0, 0, 1],
            [0, 1, 1, 1, 1, 1, 1],
            [0.1, 0.2, 0.3, 0.5, 0.5, 0.9, 1],
            [0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.6],
        ]
    ),
)
@rows("shift", [-0.2, -0.01, 0.0, 0.01, 0.2])
def test_at_most_the_level_of_all_orders_decide_wrongly(values, shift):
    """Every order of the values is tried, so that the share of wrong decisions is the probability itself."""
    bound = sum(values) / len(values) + shift
    orders = set(permutations(values))
    verdicts = [decided(order, bound, level=0.25)[0] for order in orders]
    assert sum(verdict is (shift > 0) for verdict in verdicts) / len(orders) <= 0.25


@in_thorough_suite()
@pytest.mark.parametrize("bound", some([0.6, 0.6 + 1e-6, 0.61, 0.59, 0.55]))
def test_in_drawn_orders_at_most_one_in_twenty_is_wrong(bound):
    values = np.repeat([1.0, 0.0], [36, 24])
    rng = np.random.default_rng(7)
    verdicts = [decided(rng.permutation(values), bound)[0] for _ in range(400)]
    wrong = sum(verdict is (bound > 0.6) for verdict in verdicts) / 400
    assert wrong <= 0.05 + 2 * (0.05 * 0.95 / 400) ** 0.5


def test_a_clear_mean_is_decided_early():
    rng = np.random.default_rng(3)
    values = rng.permutation(np.repeat([1.0, 0.0], [240, 60]))
    verdict, seen = decided(values, 0.5)
    assert verdict is True
    assert seen < 60
    assert decided(1 - values, 0.5) == (False, seen)


def test_what_is_certain_is_decided_without_a_bet():
    """With 6 of 10 hits the mean is at least 0.6 whatever follows; with 5 misses it is below."""
    assert decided([1] * 6 + [0] * 4, 0.5999, level=1e-300) == (True, 6)
    assert decided([0] * 5 + [1] * 5, 0.5999, level=1e-300) == (False, 5)
    assert decided([0] * 4 + [1] * 6, 0.6, level=1e-300)[0] is None


@in_thorough_suite()
def test_values_that_do_not_count_leave_the_side_of_the_others():
    """The mean of what counts is 0.75, in a set of which half is undefined."""
    rng = np.random.default_rng(1)
    values = np.concatenate([np.repeat([1.0, 0.0], [75, 25]), np.full(100, np.nan)])
    wrong = above = below = 0
    for _ in range(200):
        order = rng.permutation(values)
        wrong += decided(order, 0.75 + 1e-6)[0] is True
        above += decided(order, 0.55)[0] is True
        below += decided(order, 0.95)[0] is False
    assert wrong <= 20
    assert (above, below) == (200, 200)
    assert decided([np.nan] * 20, 0.5) == (None, 19)


def test_a_bound_that_everything_keeps_is_decided_by_the_first_value_that_counts():
    assert decided([np.nan, 0.0, 0.0, 0.0], 0.0) == (True, 2)
    assert decided([np.nan, np.nan, 0.0], -1.0) == (None, 2)


def test_a_test_is_over_once_it_is_decided():
    test = BoundTest(10, 0.5, level=1e-9)
    for value in [1.0] * 6 + [0.0] * 4:
        test.add(value)
    assert (test.verdict, test.seen) == (True, 6)


def test_rounding_of_many_values_is_no_evidence():
    """Two thousand times 0.1 taken from 200 leave some 7e-12, and yet the mean is 0.1, which is not below 0.1."""
    test = BoundTest(2_000, 0.1)
    assert {test.add(0.1) for _ in range(2_000)} <= {None, True}


def test_a_test_has_a_level_of_5_percent_unless_told():
    tests = BoundTest(1_000, 0.5), BoundTest(1_000, 0.5, level=0.05)
    for test in tests:
        while test.add(1.0) is None:
            pass
    assert tests[0].seen == tests[1].seen < 500
