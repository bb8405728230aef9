"""Where the variance of repeated scores comes from, and how many of k repeats pass, against other ways to say it."""

import itertools
import math

import numpy as np
import pytest

from draws import in_thorough_suite
from rankgauge.stats.repeats import mean_variance, pass_rates, unstable, variance_parts

NONE = np.nan


def test_parts_of_a_worked_example():
    # Three samples, two repeats: means 1, 2, 6 about 3. Between: 2 * (4 + 1 + 9) / 2 = 14; within: (2 + 0 + 2) / 3.
    parts = variance_parts(np.array([[0.0, 2.0], [2.0, 2.0], [5.0, 7.0]]))
    assert parts.within == pytest.approx(4 / 3)
    assert parts.between == pytest.approx((14 - 4 / 3) / 2)
    assert parts.standard_error(3, 2) == pytest.approx(math.sqrt((parts.between + parts.within / 2) / 3))


@pytest.mark.parametrize("is_ragged", [False, True])
def test_parts_are_unbiased(is_ragged):
    rng = np.random.default_rng(7)
    between, within = [], []
    for _ in range(2000):
        scores = rng.normal(0, 2, (12, 1)) + rng.normal(0, 3, (12, 5))
        if is_ragged:
            scores[:6, 2:] = NONE
        parts = variance_parts(scores)
        between.append(parts.between)
        within.append(parts.within)
    assert np.mean(within) == pytest.approx(9, rel=0.02)
    assert np.mean(between) == pytest.approx(4, rel=0.1)  # cut at 0, so a little above


def test_no_parts_without_two_samples_or_any_second_repeat():
    assert variance_parts(np.array([[0.0, 1.0]])) is None
    assert variance_parts(np.array([[0.0, NONE], [1.0, NONE]])) is None
    assert variance_parts(np.array([[NONE, NONE], [1.0, 0.0]])) is None


@in_thorough_suite()
def test_the_standard_error_of_more_calls_is_that_of_simulated_means():
    rng = np.random.default_rng(11)
    means = [(rng.normal(0, 1, (10, 1)) + rng.normal(0, 2, (10, 4))).mean() for _ in range(20_000)]
    parts = variance_parts(rng.normal(0, 1, (4000, 1)) + rng.normal(0, 2, (4000, 3)))
    assert parts.standard_error(10, 4) == pytest.approx(np.std(means), rel=0.05)


def test_pass_rates_are_shares_of_all_choices_of_k_repeats():
    scores = np.array([[1, 0, 0, 1], [1, 1, 1, 1], [0, 0, 0, 0], [0, 1, 0, NONE]], dtype=float)
    for k, some, every in pass_rates(scores):
        rows = [row[~np.isnan(row)] for row in scores]
        chosen = [list(itertools.combinations(row, k)) for row in rows if len(row) >= k]
        assert some == pytest.approx(np.mean([np.mean([max(each) for each in each_row]) for each_row in chosen]))
        assert every == pytest.approx(np.mean([np.mean([min(each) for each in each_row]) for each_row in chosen]))
    assert [k for k, _, _ in pass_rates(scores)] == [1, 2, 3, 4]


def test_without_repeats_there_are_no_rates():
    assert pass_rates(np.empty((0, 0))) == []


def test_two_samples_of_two_repeats_have_parts():
    """Within: squares of 0.5 around 0.5 and 1.5 add up to 1, over 2; between: 2 * 0.5, over 1; (1 - 0.5) / 2."""
    parts = variance_parts(np.array([[0.0, 1.0], [1.0, 2.0]]))
    assert (parts.within, parts.between) == pytest.approx((0.5, 0.25))


def test_samples_that_flip_come_with_the_most_variable_first():
    scores = np.array([[1.0, 1.0], [0.2, 0.4], [0.0, 1.0], [NONE, NONE], [0.5, 0.5 + 1e-15]])
    assert unstable(scores).tolist() == [2, 1]


def test_the_variance_of_a_mean_is_that_of_its_repeats_over_their_number():
    scores = np.array([[0.0, 1.0, 0.5], [1.0, NONE, NONE], [NONE, NONE, NONE], [0.0, NONE, 1.0]])
    assert mean_variance(scores).tolist() == pytest.approx([0.25 / 3, 0, 0, 0.25])


def test_parts_of_unequal_numbers_of_repeats_by_hand():
    """
    One repeat of 0, and 2, 3, 4 about 3: within 2 / (4 - 2). The mean of all four is 9/4.

    Between: (9/4)**2 + 3 * (3/4)**2 = 27/4, less 1, over 4 - (1 + 9) / 4 = 3/2.
    """
    parts = variance_parts(np.array([[0.0, NONE, NONE], [2.0, 3.0, 4.0]]))
    assert (parts.within, parts.between) == pytest.approx((1, (27 / 4 - 1) / (3 / 2)))
