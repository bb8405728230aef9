"""Equivalence: two one-sided tests against what matters, held to statsmodels, and where few pairs differ."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import ttest_1samp
from statsmodels.stats.weightstats import ttost_paired

from comparison.made import result
from rankgauge import Result, compare
from rankgauge.comparison.layouts import comparison_csv, comparison_lines, comparison_markdown
from rankgauge.errors import ParameterError
from rankgauge.stats.intervals import betting_interval
from tables import rows

RNG = np.random.default_rng(3)
BASE = RNG.random(40)
NEAR = BASE + RNG.normal(0.0, 0.02, 40)


def compared(base, new, **options):
    return compare({"a": result(base), "b": result(new)}, **options)["b"]["p@1"]


@rows("matters", [0.002, 0.004, 0.006, 0.008, 0.01, 0.02, 0.1])
@rows("confidence", [0.9, 0.95])
def test_two_one_sided_tests_are_those_of_statsmodels(matters: float, confidence: float) -> None:
    p = ttost_paired(NEAR, BASE, -matters, matters)[0]
    metric = compared(BASE, NEAR, test="t", matters=matters, confidence=confidence)
    assert (metric.verdict == "equivalent") == (p < 1 - confidence)


def test_without_a_difference_that_matters_nothing_is_equivalent() -> None:
    metric = compared(BASE, NEAR)
    assert (metric.verdict, metric.matters, metric.equivalence) == ("undecided", None, None)


def test_a_difference_that_is_shown_and_does_not_matter_is_equivalent() -> None:
    metric = compared(BASE, NEAR + 0.01, matters=0.05)
    assert metric.p_adjusted < 0.05
    assert metric.verdict == "equivalent"
    assert compared(BASE, NEAR + 0.01, matters=0.01).verdict == "better"


def test_it_is_asked_by_metric_in_any_spelling() -> None:
    pair = compare({"a": result(BASE, BASE), "b": result(NEAR, NEAR)}, matters={"P_2": 0.1})["b"]
    assert [metric.matters for metric in pair.metrics.values()] == [None, 0.1]
    assert pair["p@2"].verdict == "equivalent"
    with pytest.raises(ParameterError, match="matters: no column 'AP'"):
        compare({"a": result(BASE), "b": result(NEAR)}, matters={"AP": 0.1})


@pytest.mark.parametrize("matters", [0, -0.1, math.nan, math.inf, True, "0.1"])
def test_what_matters_is_a_size(matters: object) -> None:
    with pytest.raises(ParameterError, match="matters is a difference above 0"):
        compared(BASE, NEAR, matters=matters)


def test_more_metrics_and_runs_make_it_harder() -> None:
    names = ("b", "c", "d")
    rng = np.random.default_rng(5)
    runs = {name: result(*(BASE + rng.normal(0.0, 0.02, (6, 40)))) for name in names}
    metric = compare({"a": result(*[BASE] * 6), **runs}, matters=0.1)["b"]["p@1"]
    alone = compare({"a": result(BASE), "b": runs["b"]}, matters=0.1)["b"]["p@1"]
    assert metric.equivalence[0] < alone.equivalence[0]
    assert metric.equivalence[1] > alone.equivalence[1]


def test_where_few_pairs_differ_bets_decide() -> None:
    """Two of 100 hits won: Student's 90 % interval ends at .043, and .06 is what as few can show."""
    base = np.zeros(100)
    new = base.copy()
    new[:2] = 1.0
    ends = betting_interval((new + 1) / 2, 0.9)
    metric = compared(base, new, test="t", matters=0.05)
    assert metric.equivalence == pytest.approx(tuple(2 * end - 1 for end in ends))
    assert metric.verdict == "undecided"


def test_ten_pairs_that_differ_are_enough_for_student() -> None:
    new = np.r_[RNG.normal(0.0, 0.3, 10), np.zeros(30)]
    metric = compared(np.zeros(40), new, test="t", matters=0.2)
    assert metric.equivalence == pytest.approx(tuple(ttest_1samp(new, 0).confidence_interval(0.9)))
    new[9] = 0.0
    assert compared(np.zeros(40), new, test="t", matters=0.2).equivalence == pytest.approx(
        tuple(2 * end - 1 for end in betting_interval((new + 1) / 2, 0.9))
    )


def test_no_difference_at_all_is_equivalent_only_where_enough_pairs_say_so() -> None:
    assert compared(np.zeros(20), np.zeros(20), matters=0.05).verdict == "same"
    assert compared(np.zeros(2000), np.zeros(2000), matters=0.05).verdict == "equivalent"


def test_a_metric_without_a_range_needs_pairs_that_differ() -> None:
    def unbounded(values):
        made = result(values)
        column = made["p@1"]
        info = replace(column.info, range=(None, None))
        return Result(made.sample_ids, made.tags, {"p@1": replace(column, info=info)}, made.manifest)

    pairs = {"a": unbounded(np.zeros(40)), "b": unbounded(np.r_[0.001, np.zeros(39)])}
    assert compare(pairs, matters=0.1)["b"]["p@1"].equivalence is None


def test_every_layout_says_so() -> None:
    comparison = compare({"a": result(BASE), "b": result(NEAR)}, matters=0.05)
    first = next(comparison_lines(comparison, width=None)).text
    assert first.startswith("b and a are equivalent: p@1 ")
    assert first.endswith("by two one-sided tests, within \N{PLUS-MINUS SIGN}0.05")
    assert first in comparison_markdown(comparison)
    assert ",equivalent," in comparison_csv(comparison)
    values = comparison.to_dict()["comparisons"][0]["metrics"]["p@1"]
    assert (values["verdict"], values["matters"]) == ("equivalent", 0.05)
    other = compare({"a": result(BASE), "b": result(NEAR)}, matters=0.001)
    first = next(comparison_lines(other, width=None)).text
    assert "no equivalence" in first
    assert first.endswith("by two one-sided tests, not within \N{PLUS-MINUS SIGN}0.001")


def test_each_of_several_equivalent_metrics_has_a_sentence_with_its_numbers() -> None:
    told = comparison_lines(compare({"a": result(BASE, BASE), "b": result(NEAR, NEAR)}, matters=0.05), width=None)
    sentences = [line.text for line in told if " are equivalent: " in line.text]
    assert [sentence.split("; ")[0] for sentence in sentences] == [
        f"b and a are equivalent: p@{k} {(NEAR - BASE).mean():+.3f}, 95 % CI {low:+.3f} to {high:+.3f}"
        for low, high in [ttest_1samp(NEAR - BASE, 0).confidence_interval()]
        for k in (1, 2)
    ]


def test_each_of_several_undecided_metrics_has_a_sentence_where_it_is_said_what_matters() -> None:
    results = {"a": result(BASE, BASE), "b": result(NEAR, NEAR)}
    told = [line.text for line in comparison_lines(compare(results, matters=0.001), width=None)]
    assert [text.split(", and")[0] for text in told if "and no equivalence" in text] == [
        "b: no clear difference in p@1",
        "b: no clear difference in p@2",
    ]
    together = [line.text for line in comparison_lines(compare(results), width=None)]
    assert "b: no clear difference in p@1, p@2" in together


class TestExactIntervals:
    def test_differences_are_bet_on(self) -> None:
        metric = compared(BASE, NEAR, interval="exact")
        ends = betting_interval((np.where(abs(NEAR - BASE) <= 1e-12, 0, NEAR - BASE) + 1) / 2)
        assert metric.interval == pytest.approx(tuple(2 * end - 1 for end in ends))
        assert metric.interval_method == "betting"
        assert compare({"a": result(BASE), "b": result(NEAR)}, interval="exact").to_dict()["comparisons"]

    def test_cohorts_and_clusters_have_them(self) -> None:
        tags = [("s",) if place % 2 else ("l",) for place in range(40)]
        results = {"a": result(BASE, tags=tags), "b": result(NEAR, tags=tags)}
        metric = compare(results, interval="exact")["b"]["p@1"]
        assert {cohort.interval_method for cohort in metric.cohorts} == {"betting"}
        clusters = {f"q{place:03}": place // 4 for place in range(40)}
        wide = compare(results, interval="exact", cluster=clusters)["b"]["p@1"].interval
        assert wide[0] < metric.interval[0]
        assert wide[1] > metric.interval[1]

    def test_equal_differences_have_one(self) -> None:
        assert compared(np.zeros(9), np.full(9, 0.5)).interval is None
        low, high = compared(np.zeros(9), np.full(9, 0.5), interval="exact").interval
        assert low < 0.5 < high

    def test_those_of_t_end_where_differences_do(self) -> None:
        assert compared([0, 0, 0.5], [1, 1, 0.5]).interval[1] == 1.0

    def test_another_word_is_refused(self) -> None:
        with pytest.raises(ParameterError, match="interval is standard or exact"):
            compared(BASE, NEAR, interval="wilson")
