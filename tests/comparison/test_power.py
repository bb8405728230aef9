"""Plans: how many questions show a difference, by the comparison's own test and correction."""

from __future__ import annotations

import dataclasses
import json
import math

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.power import TTestPower

from comparison.made import result
from draws import in_thorough_suite
from rankgauge import compare, evaluate
from rankgauge.comparison.estimate import Method
from rankgauge.comparison.power import MetricPower, Needed, PowerPlan, plan_power, power_lines
from rankgauge.errors import ParameterError

RNG = np.random.default_rng(8)
BASE = RNG.random((3, 60))
NEW = BASE + RNG.normal(0.0, 0.2, (3, 60))
T = Method(test="t")


def pilot(metrics=1):
    return {"a": result(*BASE[:metrics]), "b": result(*NEW[:metrics])}


@pytest.mark.parametrize(("metrics", "systems"), [(1, 1), (3, 1), (1, 4), (3, 2)])
def test_it_is_that_of_statsmodels_at_the_corrected_level(metrics: int, systems: int) -> None:
    plan = plan_power(pilot(metrics), method=T, sizes=[0.05], systems=systems)
    (needed,) = plan.metrics["p@1"].needed
    std = np.std(NEW[0] - BASE[0], ddof=1)
    level = 0.05 / metrics / systems
    assert plan.metrics["p@1"].level == pytest.approx(level)
    expected = TTestPower().solve_power(effect_size=0.05 / std, alpha=level, power=0.8)
    assert needed.n == math.ceil(expected - 1e-6)


@in_thorough_suite()
@pytest.mark.parametrize("test", ["t", "sign-flip", "wilcoxon"])
def test_as_many_questions_show_what_compare_says_they_detect(test: str) -> None:
    """By several metrics, whose correction is known from the pilot alone."""
    detectable = compare(pilot(3), test=test)["b"]["p@2"].detectable
    plan = plan_power(pilot(3), method=Method(test=test), sizes=[detectable * (1 + 1e-9)])
    assert plan.metrics["p@2"].needed[0].n == 60


@in_thorough_suite()
def test_more_metrics_than_the_pilot_has_need_more_questions() -> None:
    few, many = (plan_power(pilot(), method=T, compared=count).metrics["p@1"].needed[0].n for count in (1, 10))
    assert few < many
    assert plan_power(pilot(), method=T, compared=10).metrics["p@1"].level == pytest.approx(0.005)


def test_a_curve_falls_and_meets_the_table() -> None:
    metric = plan_power(pilot(), method=T).metrics["p@1"]
    sizes = [size for _, size in metric.curve]
    assert sizes == sorted(sizes, reverse=True)
    at = dict(metric.curve)
    assert list(at) == [10, 20, 30, 50, 100, 200, 300, 500, 1000, 2000, 5000, 10_000]
    for needed in metric.needed:
        assert needed.n <= needed.at_most
        assert all(size <= needed.difference for n, size in at.items() if n >= needed.n)


def test_lines_show_a_range_of_questions_and_bars_of_at_most_40() -> None:
    """The largest difference of the curve has the longest bar, half of it half as long a one, and any has some."""
    metric = MetricPower(
        pilot=1200,
        std=0.25,
        level=0.05,
        needed=(Needed(0.1, 20, 30), Needed(0.2, 7, 7), Needed(0.01, 5000, None)),
        curve=((7, None), (10, 0.4), (40, 0.2), (1000, 0.004)),
        clusters=12,
    )
    told = dataclasses.replace(metric, needed=(), curve=((7, None),), note="so it is", clusters=None)
    plan = PowerPlan(
        results=("a", "b"), metrics={"m": metric, "n": told}, compared=2, systems=1, test="t", confidence=0.95
    )
    lines = [" ".join(line.text.split()) for line in power_lines(plan)]
    assert lines == [
        "questions needed to show a difference of",
        "metric pilot std 0.1 0.2 0.01",
        "m 1,200 in 12 clusters 0.2500 20 to 30 7 5,000 to >10,000,000",
        "n: so it is",
        "",
        "m: smallest difference that so many questions show",
        "7 -",
        f"10 0.4000 {'#' * 40}",
        f"40 0.2000 {'#' * 20}",
        "1,000 0.0040 #",
        "",
        "n: smallest difference that so many questions show",
        "7 -",
        "",
        lines[-1],
    ]
    assert plan.to_dict()["power"] == 0.8
    assert lines[-1].startswith("power 80 %; two-sided t at 5 %, corrected for 2 metrics and 1 system; ")


def test_few_questions_show_nothing_at_a_strict_level() -> None:
    """Ten pairs have no two-sided sign-flip p below 2**-9, which is above .05 / 40."""
    curve = plan_power(pilot(), method=Method(), systems=40).metrics["p@1"].curve
    assert dict(curve)[10] is None
    assert dict(curve)[20] is not None


@in_thorough_suite()
def test_a_pilot_that_is_too_small_says_so() -> None:
    plan = plan_power({"a": result([0.0] * 12), "b": result([1.0] + [0.0] * 11)}, method=T)
    metric = plan.metrics["p@1"]
    assert (metric.std, metric.needed, metric.curve) == (None, (), ())
    assert metric.note == "the pilot is too small to say: 1 of 12 pairs differ, and 10 are needed"
    assert metric.note in "\n".join(line.text for line in power_lines(plan))
    nine, ten = (
        plan_power({"a": result([0.0] * 12), "b": result([*map(float, range(1, n + 1)), *[0.0] * (12 - n)])}, method=T)
        for n in (9, 10)
    )
    assert (nine.metrics["p@1"].std, ten.metrics["p@1"].std is None) == (None, False)
    nothing = plan_power({"a": result([math.nan] * 12)}, method=T).metrics["p@1"]
    assert (nothing.pilot, nothing.note.partition(":")[0]) == (0, "the pilot is too small to say")
    same = plan_power({"a": result([0.0] * 12), "b": result([1.0] * 12)}, method=T).metrics["p@1"]
    assert same.note == "the pilot cannot say: all 12 pairs differ by the same"


def test_scores_and_clusters_that_are_all_alike_say_nothing() -> None:
    """Scores count by how they lie to their mean; ten clusters of 0 and .5 have one mean, though pairs differ."""
    alike = plan_power({"a": result([0.5] * 12)}, method=T).metrics["p@1"]
    assert alike.note == "the pilot is too small to say: 0 of 12 pairs differ, and 10 are needed"
    clusters = {f"q{at:03}": at // 2 for at in range(20)}
    pair = {"a": result([0.0] * 20), "b": result([0.0, 0.5] * 10)}
    found = plan_power(pair, method=T, clusters=clusters).metrics["p@1"]
    assert (found.needed, found.note) == ((), "the pilot cannot say: all 10 clusters differ by the same")
    nothing = plan_power({"a": result([math.nan] * 20)}, method=T, clusters=clusters).metrics["p@1"]
    assert nothing.note == "the pilot is too small to say: 0 of 0 pairs differ, and 10 are needed"
    few = {"a": result([0.0] * 4), "b": result([0.0, 0.5] * 2)}
    assert plan_power(few, method=T, clusters=clusters).metrics["p@1"].note == (
        "the pilot is too small to say: 2 of 2 clusters differ, and 10 are needed"
    )


def test_clusters_of_one_result_widen_its_spread() -> None:
    """30 clusters of two equal scores, the last of which is undefined: as many questions say half as much."""
    scores = np.repeat(BASE[0][:30], 2)
    scores[-1] = math.nan
    clusters = {f"q{at:03}": at // 2 for at in range(60)}
    plain, clustered = (
        plan_power({"a": result(scores)}, method=T, sizes=[0.02], clusters=each).metrics["p@1"]
        for each in (None, clusters)
    )
    assert (plain.clusters, clustered.clusters, clustered.pilot) == (None, 30, 59)
    assert plain.std == clustered.std == pytest.approx(np.nanstd(scores, ddof=1))  # for a correlation of a half
    most = plan_power({"a": result(scores)}, method=T, sizes=[0.5], correlation=-1.0).metrics["p@1"]
    assert most.std == pytest.approx(2 * np.nanstd(scores, ddof=1))
    assert clustered.needed[0].n / plain.needed[0].n == pytest.approx(2, rel=0.05)


@in_thorough_suite()
def test_plans_reach_from_two_questions_to_ten_million() -> None:
    """Differences of .25 and -.25 vary by .25 * sqrt(60 / 59): 7.849 = (1.960 + .8416)**2 such variances over n."""
    method, pair = Method(test="t"), {"a": result([0.25] * 60), "b": result([0.0, 0.5] * 30)}
    std = 0.25 * math.sqrt(60 / 59)
    plans = plan_power(pair, method=method), plan_power({"a": pair["b"]}, method=method, sizes=[1.0])
    assert [plan.correlation for plan in plans] == [None, 0.5]
    with pytest.raises(TypeError, match="cannot be changed"):
        plans[0].metrics["another"] = plans[0].metrics["p@1"]
    least, more, most, beyond = (math.sqrt(7.8489 / n) * std for n in (9e6, 9.9e6, 9.99e6, 10.01e6))
    needed = plan_power(pair, method=method, sizes=[1000.0, least, more, most, beyond]).metrics["p@1"].needed
    assert needed[0].n == 2
    assert plan_power(pair, method=Method(), sizes=[1000.0]).metrics["p@1"].needed[0].n == 6  # 2 / 2**6 is below .05
    assert [each.n for each in needed[1:4]] == pytest.approx([9e6, 9.9e6, 9.99e6], rel=1e-4)
    assert [each.n is None for each in needed] == [False, False, False, False, True]
    assert [each.at_most is None for each in needed] == [False, True, True, True, True]


def test_the_bound_of_the_spread_is_that_of_chi_square() -> None:
    """With a confidence of 80 % the true standard deviation is at most that of the pilot times sqrt(59 / q)."""
    (needed,) = plan_power(pilot(), method=T, sizes=[0.005]).metrics["p@1"].needed
    bound = np.std(NEW[0] - BASE[0], ddof=1) * math.sqrt(59 / stats.chi2.ppf(0.2, 59))
    expected = TTestPower().solve_power(effect_size=0.005 / bound, alpha=0.05, power=0.8)
    assert needed.at_most == pytest.approx(expected, rel=1e-3)


@in_thorough_suite()
def test_one_result_needs_a_correlation() -> None:
    """Scores of standard deviation s that correlate by r have differences of s * sqrt(2 (1 - r))."""
    spread = np.std(BASE[0], ddof=1)
    for correlation in (-1.0, 0.0, 0.5, 0.9):
        plan = plan_power({"a": result(*BASE)}, method=T, correlation=correlation)
        assert plan.metrics["p@1"].std == pytest.approx(spread * math.sqrt(2 * (1 - correlation)))
        assert plan.metrics["p@1"].level == pytest.approx(0.05 / 3)
    assert "--correlation" in [line.text for line in power_lines(plan)][-1]
    assert plan_power({"a": result(*BASE)}, method=T, metrics=["P_2"]).metrics.keys() == {"p@2"}


def test_only_means_are_planned() -> None:
    """Hits at 1 of two queries vary; the geometric mean of average precision has no score for each of them."""
    judged = {"q1": {"a": 1}, "q2": {"b": 1}}
    made = evaluate(judged, {"q1": {"a": 1.0}, "q2": {"a": 1.0}}, ["P@1", "gm_map"])
    assert plan_power({"a": made}, method=T).metrics.keys() == {"p@1"}
    with pytest.raises(ParameterError, match="no metric of this result is a mean"):
        plan_power({"a": made}, method=T, metrics=["gm_map"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sizes": [0.0]}, "a difference to detect is above 0"),
        ({"compared": 0}, "metrics is an integer of 1 or more"),
        ({"systems": 0}, "systems is an integer of 1 or more"),
        ({"sizes": [math.inf]}, "a difference to detect is above 0"),
        ({"correlation": 1.0}, "correlation lies from -1 to below 1"),
        ({"correlation": -1.01}, "correlation lies from -1 to below 1"),
        ({"method": Method(test="u")}, "unknown test 'u'"),
    ],
)
def test_what_cannot_be_is_refused(options, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        plan_power(pilot(), **{"method": T, **options})
    with pytest.raises(ParameterError, match="a pilot is one result or two, and 3 are given"):
        plan_power({**pilot(), "c": result(BASE[0])}, method=T)


@in_thorough_suite()
def test_the_command_prints_a_table_a_curve_and_json(tmp_path, capsys) -> None:
    from rankgauge.cli import call

    for name, made in pilot(2).items():
        made.save(tmp_path / name)
    folders = [str(tmp_path / name) for name in "ab"]
    assert call(["power", *folders, "--detect", "0.05", "--systems", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "questions needed to show a difference of"
    assert "corrected for 2 metrics and 2 systems" in lines[-1]
    assert any("####" in line for line in lines)
    assert call(["power", *folders, "-m", "P@1", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["schema_version"] == "rankgauge.power.v1"
    assert [needed["difference"] for needed in report["metrics"]["p@1"]["needed"]] == [0.01, 0.02, 0.05, 0.1]
    assert call(["power", str(tmp_path / "none")]) == 2
