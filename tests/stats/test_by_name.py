"""Tests that are used only where they are asked for: Wilcoxon's and the BCa bootstrap."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rankgauge.stats.estimates import bootstrap_bca
from rankgauge.stats.paired_tests import wilcoxon
from stats.reference import DARWIN


def test_wilcoxon_of_darwins_maize_is_that_of_scipy() -> None:
    assert wilcoxon(DARWIN) == pytest.approx(stats.wilcoxon(DARWIN, method="exact").pvalue, rel=1e-12)


def test_wilcoxon_with_ties_is_brute_force() -> None:
    """Sizes 1 1 2 have ranks 1.5 1.5 3: of 8 patterns, 2 have a rank sum as far from 3 as 3 + 1.5 + 1.5 - 1.5 is."""
    assert wilcoxon(np.array([1.0, 1.0, 2.0, 0.0])) == 2 / 8
    assert wilcoxon(np.array([1.0, -1.0, 2.0])) == 6 / 8


@given(st.integers(0, 1_000))
def test_wilcoxon_of_many_is_that_of_scipy(seed: int) -> None:
    differences = np.random.default_rng(seed).integers(-3, 5, 120) / 4
    theirs = stats.wilcoxon(differences, method="asymptotic", correction=False)
    assert wilcoxon(differences) == pytest.approx(theirs.pvalue, rel=1e-9)


def test_wilcoxon_of_no_difference() -> None:
    assert wilcoxon(np.zeros(4)) == 1.0


def test_the_bootstrap_is_that_of_scipy() -> None:
    differences = np.random.default_rng(1).exponential(size=40) - 0.6
    found = bootstrap_bca(differences)
    theirs = stats.bootstrap(
        (differences,), np.mean, n_resamples=100_000, rng=np.random.default_rng(0), method="BCa"
    ).confidence_interval
    assert found.interval == pytest.approx((theirs.low, theirs.high), abs=0.03)


def test_the_p_of_the_bootstrap_is_where_its_interval_ends_at_0() -> None:
    differences = np.random.default_rng(1).exponential(size=40) - 0.9
    p = bootstrap_bca(differences).p
    interval = bootstrap_bca(differences, confidence=1 - p).interval
    assert interval is not None
    assert min(abs(end) for end in interval) < 1e-3


def test_the_bootstrap_gives_the_same_bits_again() -> None:
    values = np.arange(30.0)
    assert bootstrap_bca(values, resamples=500) == bootstrap_bca(values, resamples=500)
    assert bootstrap_bca(values, resamples=500) != bootstrap_bca(values, resamples=500, seed=1)


@pytest.mark.parametrize("values", [[1.0], [0.5, 0.5, 0.5], [0.1, 0.3 - 0.2, 0.7 - 0.6]])
def test_values_that_do_not_vary_tell_the_bootstrap_nothing(values: list[float]) -> None:
    """Rounding alone is no variation: it would make an interval of no width, and the smallest p."""
    assert bootstrap_bca(np.array(values)) == (None, None)
    assert bootstrap_bca(np.zeros(3)) == (None, 1.0)
    rising = np.array([0.1, 0.2, 0.4, 0.1, 0.3, 0.2, 0.5, 0.3])
    up, down = (bootstrap_bca(each, resamples=1_000) for each in (rising, -rising))
    assert (up.p, down.p) == (1 / 1001, 1 / 1001)
    assert up.interval == pytest.approx([-end for end in reversed(down.interval)], abs=0.02)


def test_wilcoxon_of_opposite_differences_is_certain_and_not_more() -> None:
    """Rank sums 0, 1.5, 1.5 and 3: three of four ways lie at or below 1.5, and twice that is above 1."""
    assert wilcoxon(np.array([1.0, -1.0])) == 1.0


def test_a_difference_of_the_size_of_rounding_has_no_rank() -> None:
    """Two differences of one sign: 2 of 4 ways are as extreme. With a third one it would be 2 of 8."""
    assert wilcoxon(np.array([1e-12, 1.0, 2.0])) == 0.5


def test_two_values_are_enough_for_the_bootstrap() -> None:
    """A quarter of the resamples has 0 only, a quarter 1 only, so that the ends of 95 % are these."""
    assert bootstrap_bca(np.array([0.0, 1.0]), resamples=1_000).interval == (0.0, 1.0)


def test_wilcoxon_of_many_differences_has_two_sides() -> None:
    """Of 60 differences 40 are above 0: by the normal distribution, as scipy has it, whichever way they point."""
    differences = np.arange(1.0, 61) * np.where(np.arange(60) % 3, 1, -1)
    expected = stats.wilcoxon(differences, method="asymptotic", correction=False).pvalue
    assert wilcoxon(differences) == pytest.approx(expected, rel=1e-9)
    assert wilcoxon(-differences) == pytest.approx(expected, rel=1e-9)


def test_values_below_0_are_drawn_as_exactly_as_others() -> None:
    values = np.array([-1000.25, -1000.5, -1000.75, -1001.0])
    low, high = bootstrap_bca(values, resamples=1_000).interval
    assert -1001.0 <= low < -1000.625 < high <= -1000.25


def test_wilcoxon_counts_no_pattern_beyond_the_observed_one() -> None:
    """Doubled ranks 3 3 6 8: at most 8 are 0, 3, 3, 6, 6 and 8, six of 16 patterns; 9 would be two more."""
    assert wilcoxon(np.array([1.0, 1.0, 2.0, -3.0])) == 2 * 6 / 16


def test_a_few_skewed_values_bend_the_bootstrap_as_scipy_does() -> None:
    values = np.random.default_rng(3).exponential(size=15) ** 2
    found = bootstrap_bca(values)
    theirs = stats.bootstrap((values,), np.mean, n_resamples=100_000, rng=np.random.default_rng(0), method="BCa")
    assert found.interval == pytest.approx(tuple(theirs.confidence_interval), rel=0.02)


def test_the_bootstrap_follows_the_unit_of_measure() -> None:
    values = np.random.default_rng(4).exponential(size=20) - 0.8
    large, small = (bootstrap_bca(each, resamples=2_000) for each in (values, values * 2.0**-30))
    assert small.interval == tuple(end * 2.0**-30 for end in large.interval or ())
    assert small.p == large.p


def test_a_bootstrap_interval_of_nearly_all_ends_at_what_was_drawn() -> None:
    values = np.random.default_rng(3).exponential(size=15) ** 2
    low, high = bootstrap_bca(values, confidence=1 - 1e-12, resamples=100).interval or (0.0, 0.0)
    assert values.min() <= low < values.mean() < high <= values.max()


@pytest.mark.parametrize(("n", "method"), [(50, "exact"), (51, "asymptotic")])
def test_up_to_fifty_differences_wilcoxon_is_exact(n: int, method: str) -> None:
    differences = np.arange(1.0, n + 1) * np.where(np.arange(n) % 3, 1, -1)
    expected = stats.wilcoxon(differences, method=method, correction=False).pvalue
    assert wilcoxon(differences) == pytest.approx(expected, rel=1e-9)


def test_a_bootstrap_that_lies_on_both_sides_of_0_alike_is_certain() -> None:
    """Of two values the sums are -2, 0, 0 and 2: as many below 0 as above, so that p is 1 up to what was drawn."""
    assert bootstrap_bca(np.array([-1.0, 1.0])).p == pytest.approx(1, abs=0.02)
