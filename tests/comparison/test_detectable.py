"""What a comparison says that it can detect: shown four times in five, by its own test and correction."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from comparison.made import result
from draws import in_thorough_suite, some
from rankgauge import compare
from rankgauge.comparison.estimate import Method
from rankgauge.comparison.power import plan_power
from rankgauge.stats.effects import detectable_by_signs, detectable_effect, pairs_for_level

SETS = 200
SURE = 3.2 * math.sqrt(0.8 * 0.2 / SETS)
"""How far a share of so many sets may lie from .80 by chance."""


def drawn(rng, n, metrics, moved):
    """Return differences of some correlated metrics, of which the first has a true mean."""
    differences = math.sqrt(0.5) * (rng.normal(size=(n, 1)) + rng.normal(size=(n, metrics)))
    differences[:, 0] += moved
    return differences


def compared(rng, n, metrics, runs, test, moved):
    """Return the first metric of the first run, which alone has a true difference from the baseline."""
    base = rng.normal(size=(n, metrics))
    results = {"base": result(*base.T)}
    for run in range(runs):
        results[f"run{run}"] = result(*(base + drawn(rng, n, metrics, 0.0 if run else moved)).T)
    return compare(results, test=test, resamples=1_000)["run0"].metrics["p@1"]


@in_thorough_suite()
@pytest.mark.parametrize(
    ("n", "metrics", "runs", "test"),
    some(
        [
            (30, 1, 1, "wilcoxon"),
            (30, 1, 1, "sign-flip"),
            (10, 1, 1, "sign-flip"),
            (12, 2, 1, "t"),
            (30, 5, 1, "sign-flip"),
            (30, 5, 3, "sign-flip"),
        ]
    ),
)
def test_what_is_detectable_is_shown_four_times_in_five(n: int, metrics: int, runs: int, test: str) -> None:
    """The standard deviation of differences is 1, so that the promise over its estimate is the true one."""
    rng = np.random.default_rng(5)
    promises = []
    for _ in range(8):
        tried = compared(rng, n, metrics, runs, test, 0.0)
        assert tried.detectable is not None
        assert tried.dz is not None
        assert tried.difference is not None
        promises.append(tried.detectable * tried.dz / tried.difference)
    promised = float(np.mean(promises))
    shown = sum((compared(rng, n, metrics, runs, test, promised).p_adjusted or 1.0) <= 0.05 for _ in range(SETS))
    assert shown / SETS == pytest.approx(0.8, abs=SURE)


@pytest.mark.parametrize(("n", "needed"), [(2, 6), (3, 6), (5, 6)])
def test_too_few_pairs_can_detect_nothing_and_say_so(n: int, needed: int) -> None:
    """Five pairs have 32 patterns of signs, so that no p is below 2 / 32 = .0625; six have 64."""
    rng = np.random.default_rng(n)
    first = rng.normal(size=n)
    metric = compare({"a": result(first), "b": result(first + 1 + rng.normal(size=n) / 9)})["b"].metrics["p@1"]
    assert metric.p == 2.0 ** (1 - n)
    assert metric.detectable is None
    assert f"{n} pairs cannot show any difference at this level; {needed} could" in metric.notes
    assert detectable_by_signs(needed, 0.05) is not None


def test_several_runs_need_more_pairs() -> None:
    """Two runs leave a level of .025, which takes seven pairs: 2 / 128."""
    rng = np.random.default_rng(0)
    first = rng.normal(size=6)
    results = {name: result(first + at + rng.normal(size=6) / 9) for at, name in enumerate("abc")}
    metric = compare(results)["b"].metrics["p@1"]
    assert metric.detectable is None
    assert "6 pairs cannot show any difference at this level; 7 could" in metric.notes


@pytest.mark.parametrize("level", [0.05, 1 / 32])
def test_six_pairs_are_significant_where_all_have_one_sign(level: float) -> None:
    """Phi(s)**6 is 0.8 for s = 1.7930, so that the mean has to lie sqrt(6) * 1.7930 = 4.392 errors from 0."""
    assert detectable_by_signs(6, level) == pytest.approx(4.392, abs=0.15)
    assert detectable_by_signs(6, level / 2) is None


@pytest.mark.parametrize(("df", "power"), [(1, 0.06), (3, 0.06), (3, 0.2), (40, 0.06)])
def test_a_weak_power_counts_both_sides(df: int, power: float) -> None:
    effect, critical = detectable_effect(df, 0.95, power), stats.t.ppf(0.975, df)
    both = stats.nct.sf(critical, df, effect) + stats.nct.cdf(-critical, df, effect)
    assert both == pytest.approx(power, abs=1e-5)


def test_too_few_resamples_can_detect_nothing_and_say_so() -> None:
    rng = np.random.default_rng(0)
    first = rng.normal(size=40)
    metric = compare({"a": result(first), "b": result(first + rng.normal(size=40))}, resamples=10)["b"].metrics["p@1"]
    assert metric.detectable is None
    assert "10 resamples are too few for any p to be significant; use more" in metric.notes


def test_a_correction_raises_what_is_detectable() -> None:
    rng = np.random.default_rng(1)
    first, second = rng.normal(size=(5, 40)), rng.normal(size=(5, 40))
    one = compare({"a": result(first[0]), "b": result(second[0])})["b"].metrics["p@1"].detectable
    five = compare({"a": result(*first), "b": result(*second)})["b"].metrics["p@1"].detectable
    assert one is not None
    assert five is not None
    assert 1.1 * one < five < 1.4 * one


def test_metrics_that_say_the_same_need_no_more_and_few_that_differ_are_taken_as_if_all_might() -> None:
    """Of twelve pairs every pattern of signs is tried, which finds copies to be one metric."""
    rng = np.random.default_rng(1)
    base, moved = rng.random(12), rng.normal(0.0, 0.2, 12)
    one = compare({"a": result(base), "b": result(base + moved)})["b"]["p@1"].detectable
    assert compare({"a": result(base, base), "b": result(base + moved, base + moved)})["b"]["p@1"].detectable == one
    few = base + np.r_[np.linspace(0.1, 0.2, 10), np.zeros(2)]
    assert compare({"a": result(base, base), "b": result(few, base + moved)})["b"]["p@1"].detectable is not None


@pytest.mark.parametrize(("moved", "is_known"), [(9, False), pytest.param(10, True, marks=in_thorough_suite())])
def test_power_and_a_comparison_say_of_the_same_data_whether_anything_is_known(moved: int, is_known: bool) -> None:
    base = np.linspace(0.1, 0.9, 150)
    other = base + np.r_[np.linspace(0.05, 0.1, moved), np.zeros(150 - moved)]
    results = {"a": result(base), "b": result(other)}
    plan = plan_power(results, method=Method()).metrics["p@1"]
    detectable = compare(results)["b"]["p@1"].detectable
    assert (detectable is not None, plan.std is not None) == (is_known, is_known)
    if detectable is not None:  # about as many questions as the pilot has show it; p has steps in so few patterns
        (needed,) = plan_power(results, method=Method(), sizes=[detectable]).metrics["p@1"].needed
        assert 140 <= needed.n <= 150


@pytest.mark.parametrize(("df", "confidence"), [(1, 0.95), (1, 0.99), (2, 0.999), (8, 0.95), (9, 0.95)])
def test_the_noncentral_t_is_exact_for_few_degrees_of_freedom(df: int, confidence: float) -> None:
    stats = pytest.importorskip("scipy.stats")
    shift = detectable_effect(df, confidence)
    critical = stats.t.ppf((1 + confidence) / 2, df)
    # scipy's own noncentral t fails for large shifts, so its chi-square is averaged over the numerator
    z = np.linspace(-9, 9, 20_001)
    inside = stats.chi2.cdf(df * ((z + shift) / critical) ** 2, df)
    assert float((inside * stats.norm.pdf(z)).sum() * (z[1] - z[0])) == pytest.approx(0.8, abs=1e-9)


@pytest.mark.parametrize(("level", "pairs"), [(0.05, 6), (0.0625, 5), (0.01, 8), (0.5, 2)])
def test_so_many_pairs_reach_a_level(level: float, pairs: int) -> None:
    assert pairs_for_level(level) == pairs
    assert 2.0 ** (1 - pairs) <= level < 2.0 ** (2 - pairs)


def test_a_sample_without_a_pair_is_in_no_cluster_that_moved():
    old, new = [0.25] * 24, [0.5 + place % 5 / 16 for place in range(23)] + [float("nan")]
    clusters = {f"q{place:03}": place // 2 for place in range(24)}
    metric = compare({"old": result(old), "new": result(new)}, cluster=clusters)["new"]["p@1"]
    assert metric.n == 23
    assert metric.detectable is not None
