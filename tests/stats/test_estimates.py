"""Means with their standard errors: reference values, scipy, clusters, and sets too small or too even."""

from __future__ import annotations

import math

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rankgauge.stats.estimates import affordable_resamples, estimate_mean
from stats.reference import DARWIN, SLEEP_1, SLEEP_2


def test_darwins_maize() -> None:
    found = estimate_mean(DARWIN)
    low, high = found.interval()
    assert (found.n, found.df) == (15, 14)
    assert found.t == pytest.approx(2.1479875, abs=5e-8)
    assert found.p == pytest.approx(0.0497029, abs=5e-8)
    assert (low, high) == (pytest.approx(0.0311933, abs=5e-8), pytest.approx(41.8354734, abs=1e-7))


def test_students_sleep() -> None:
    found = estimate_mean(SLEEP_1 - SLEEP_2)
    low, high = found.interval()
    assert found.t == pytest.approx(-4.0621277, abs=5e-8)
    assert found.p == pytest.approx(0.00283289, abs=5e-9)
    assert (low, high) == (pytest.approx(-2.4598858, abs=5e-8), pytest.approx(-0.7001142, abs=5e-8))


@given(
    st.lists(st.tuples(st.sampled_from([0, 0.2, 0.5, 1 / 3, 1]), st.sampled_from([0, 0.25, 0.5, 1])), min_size=2),
    st.sampled_from([0.8, 0.95, 0.999]),
)
def test_intervals_and_p_are_those_of_scipy(pairs: list[tuple[float, float]], confidence: float) -> None:
    first, second = np.array(pairs).T
    differences = first - second
    found = estimate_mean(differences)
    if np.ptp(differences) == 0:
        assert (found.std, found.interval(confidence), found.p) == (0.0, None, None)
        return
    theirs = stats.ttest_rel(first, second)
    interval = theirs.confidence_interval(confidence)
    assert found.t == pytest.approx(theirs.statistic, rel=1e-9, abs=1e-9)
    assert found.p == pytest.approx(theirs.pvalue, rel=1e-9)
    assert found.interval(confidence) == pytest.approx((interval.low, interval.high), rel=1e-9, abs=1e-12)


def test_one_sided_bounds_are_the_ends_of_a_narrower_interval() -> None:
    low, high = estimate_mean(DARWIN).bounds()
    theirs = [stats.ttest_1samp(DARWIN, 0, alternative=side).confidence_interval(0.95) for side in ("greater", "less")]
    assert (low, high) == (pytest.approx(theirs[0].low, rel=1e-10), pytest.approx(theirs[1].high, rel=1e-10))


def test_clusters_of_one_value_each_are_no_clusters() -> None:
    alone, clustered = estimate_mean(DARWIN), estimate_mean(DARWIN, np.arange(15)[::-1])
    assert clustered.standard_error == pytest.approx(alone.standard_error, rel=1e-14)
    assert clustered.df == alone.df == 14


def test_the_clustered_standard_error_is_that_of_statsmodels() -> None:
    """A regression on nothing but a constant, with one correction left out that a mean does not have."""
    rng = np.random.default_rng(3)
    values, clusters = rng.normal(size=60), rng.integers(0, 11, 60)
    fit = sm.OLS(values, np.ones(60)).fit(cov_type="cluster", cov_kwds={"groups": clusters, "use_correction": False})
    found = estimate_mean(values, clusters)
    count = len(set(clusters.tolist()))
    assert found.standard_error == pytest.approx(fit.bse[0] * math.sqrt(count / (count - 1)), rel=1e-12)
    assert found.df == count - 1


def test_the_clustered_standard_error_by_hand() -> None:
    """Deviations from 2 are -2, -1, +3; sums of clusters -3 and 3; (9 + 9) * 2 / 3**2 = 4."""
    found = estimate_mean([0.0, 1.0, 5.0], np.array([7, 7, 2]))
    assert (found.mean, found.standard_error, found.df) == (2.0, 2.0, 1)


def test_one_cluster_has_no_standard_error() -> None:
    found = estimate_mean([0.0, 1.0], np.array([1, 1]))
    assert (found.standard_error, found.t, found.p, found.interval(), found.bounds()) == (None,) * 5


def test_one_value_has_no_standard_error() -> None:
    found = estimate_mean([0.25])
    assert (found.n, found.mean, found.std, found.standard_error, found.interval(), found.p) == (1, 0.25) + (None,) * 4


@pytest.mark.parametrize("values", [[0.1] * 5, [0.3 - 0.2, 0.5 - 0.4, 0.1]])
def test_equal_values_have_no_interval_of_width_0(values: list[float]) -> None:
    """The second list holds one tenth, up to rounding."""
    found = estimate_mean(values)
    assert (found.std, found.standard_error, found.t, found.interval()) == (0.0, 0.0, None, None)


def test_no_value_is_refused() -> None:
    with pytest.raises(ValueError, match="no values"):
        estimate_mean([])


def test_order_does_not_matter() -> None:
    values = np.random.default_rng(0).random(501)
    assert estimate_mean(values) == estimate_mean(values[::-1])


def test_clusters_by_hand() -> None:
    """Deviations from the mean 3 are -2, -1, 0, 3; those of the clusters 5 and 9 sum to -2 and 2."""
    found = estimate_mean([1.0, 2.0, 3.0, 6.0], [5, 9, 5, 9])
    assert found.standard_error == 1.0  # sqrt((4 + 4) * 2 / 1) / 4
    assert found.df == 1


def test_clusters_of_one_mean_leave_no_error() -> None:
    """Every cluster has the mean .4, and what floats leave of its deviations, some 1e-16, is none."""
    found = estimate_mean([0.1, 0.7, 0.3, 0.5], [0, 0, 1, 1])
    assert (found.standard_error, found.t) == (0.0, None)


def test_clusters_of_equal_values_leave_no_error_however_many_there_are() -> None:
    """Twenty values differ by less than what counts as equal, though what they lack sums up to more."""
    found = estimate_mean([0.5] * 10 + [0.5 + 8e-13] * 10, np.repeat([0, 1], 10))
    assert (found.std, found.standard_error, found.interval()) == (0.0, 0.0, None)


@pytest.mark.parametrize(
    ("asked", "n", "drawn"), [(100_000, 1_000, 100_000), (100_000, 10**9, 1_000), (500, 10**9, 500)]
)
def test_many_resamples_of_many_values_are_not_drawn(asked: int, n: int, drawn: int) -> None:
    assert affordable_resamples(asked, n) == drawn
