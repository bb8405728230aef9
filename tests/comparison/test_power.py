"""Plans: how many questions show a difference, by the comparison's own test and correction."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from statsmodels.stats.power import TTestPower

from comparison.made import result
from rankgauge import compare
from rankgauge.comparison.estimate import Method
from rankgauge.comparison.power import plan_power, power_lines
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


@pytest.mark.parametrize("test", ["t", "sign-flip", "wilcoxon"])
def test_as_many_questions_show_what_compare_says_they_detect(test: str) -> None:
    """By several metrics, whose correction is known from the pilot alone."""
    detectable = compare(pilot(3), test=test)["b"]["p@2"].detectable
    plan = plan_power(pilot(3), method=Method(test=test), sizes=[detectable * (1 + 1e-9)])
    assert plan.metrics["p@2"].needed[0].n == 60


def test_more_metrics_than_the_pilot_has_need_more_questions() -> None:
    few, many = (plan_power(pilot(), method=T, compared=count).metrics["p@1"].needed[0].n for count in (1, 10))
    assert few < many
    assert plan_power(pilot(), method=T, compared=10).metrics["p@1"].level == pytest.approx(0.005)


def test_a_curve_falls_and_meets_the_table() -> None:
    metric = plan_power(pilot(), method=T).metrics["p@1"]
    sizes = [size for _, size in metric.curve]
    assert sizes == sorted(sizes, reverse=True)
    at = dict(metric.curve)
    for needed in metric.needed:
        assert needed.n <= needed.at_most
        assert all(size <= needed.difference for n, size in at.items() if n >= needed.n)


def test_few_questions_show_nothing_at_a_strict_level() -> None:
    """Ten pairs have no two-sided sign-flip p below 2**-9, which is above .05 / 40."""
    curve = plan_power(pilot(), method=Method(), systems=40).metrics["p@1"].curve
    assert dict(curve)[10] is None
    assert dict(curve)[20] is not None


def test_a_pilot_that_is_too_small_says_so() -> None:
    plan = plan_power({"a": result([0.0] * 12), "b": result([1.0] + [0.0] * 11)}, method=T)
    metric = plan.metrics["p@1"]
    assert (metric.std, metric.needed, metric.curve) == (None, (), ())
    assert metric.note == "the pilot is too small to say: 1 of 12 pairs differ, and 10 are needed"
    assert metric.note in "\n".join(line.text for line in power_lines(plan))
    same = plan_power({"a": result([0.0] * 12), "b": result([1.0] * 12)}, method=T).metrics["p@1"]
    assert same.note == "the pilot cannot say: all pairs differ by the same"


def test_one_result_needs_a_correlation() -> None:
    """Scores of standard deviation s that correlate by r have differences of s * sqrt(2 (1 - r))."""
    spread = np.std(BASE[0], ddof=1)
    for correlation in (-0.2, 0.0, 0.5, 0.9):
        plan = plan_power({"a": result(*BASE)}, method=T, correlation=correlation)
        assert plan.metrics["p@1"].std == pytest.approx(spread * math.sqrt(2 * (1 - correlation)))
        assert plan.metrics["p@1"].level == pytest.approx(0.05 / 3)
    assert "--correlation" in [line.text for line in power_lines(plan)][-1]
    assert plan_power({"a": result(*BASE)}, method=T, metrics=["P_2"]).metrics.keys() == {"p@2"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sizes": [0.0]}, "a difference to detect is above 0"),
        ({"compared": 0}, "metrics is an integer of 1 or more"),
        ({"systems": 0}, "systems is an integer of 1 or more"),
        ({"correlation": 1.0}, "correlation lies from -1 to below 1"),
    ],
)
def test_what_cannot_be_is_refused(options, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        plan_power(pilot(), method=T, **options)
    with pytest.raises(ParameterError, match="a pilot is one result or two, and 3 are given"):
        plan_power({**pilot(), "c": result(BASE[0])}, method=T)


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
