"""Comparing results: numbers of textbooks, several runs, clusters, tags, and sets that say little or nothing."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy import stats

import rankgauge
from comparison.made import result
from rankgauge import Engine, compare, evaluate
from rankgauge.comparison import MetricComparison
from rankgauge.comparison.layouts import comparison_lines, comparison_markdown
from rankgauge.comparison.sentences import notes
from rankgauge.errors import ParameterError, ResultError
from rankgauge.stats.effects import holm
from rankgauge.stats.estimates import affordable_resamples
from stats.reference import DARWIN, SLEEP_1, SLEEP_2
from tables import rows

FIELDS = {
    "n",
    "baseline_mean",
    "mean",
    "difference",
    "interval",
    "confidence",
    "p",
    "p_t",
    "p_adjusted",
    "effect",
    "wins",
    "ties",
    "losses",
    "detectable",
    "dropped",
    "notes",
}
"""What readers of the JSON can count on."""


def against(first: list[float], second: list[float], **options: object) -> MetricComparison:
    return compare({"old": result(first), "new": result(second)}, **options)["new"]["p@1"]  # type: ignore[arg-type]


def test_students_sleep() -> None:
    found = against(SLEEP_2.tolist(), SLEEP_1.tolist())
    assert found.interval == pytest.approx((-2.4598858, -0.7001142), abs=5e-8)
    assert (found.p, found.p_adjusted) == (4 / 1_024, 4 / 1_024)
    assert found.p_t == pytest.approx(0.00283289, abs=5e-9)
    assert (found.dz, found.g) == (pytest.approx(-1.2845576, abs=5e-8), pytest.approx(-1.1739249, abs=5e-8))
    assert (found.wins, found.ties, found.losses) == (0, 1, 9)
    assert found.verdict == "worse"
    assert (found.baseline_mean, found.mean) == (pytest.approx(2.33), pytest.approx(0.75))


def test_darwins_maize_is_not_decided_by_its_signs() -> None:
    found = against([0.0] * 15, DARWIN.tolist())
    assert found.p == 1_726 / 32_768
    assert found.p_t is not None
    assert found.p_t < 0.05 < found.p
    assert found.verdict == "undecided"


def test_the_smallest_detectable_difference() -> None:
    """At n = 50 it is .4042 standard deviations."""
    differences = np.random.default_rng(0).normal(size=50)
    found = against([0.0] * 50, differences.tolist())
    assert found.detectable == pytest.approx(0.4042 * differences.std(ddof=1), rel=2e-4)


def test_json_has_the_promised_fields() -> None:
    old, new = result([0.1, 0.5, 0.3], [1.0, 0.0, 0.0]), result([0.2, 0.5, 0.6], [1.0, 1.0, 0.0])
    found = json.loads(json.dumps(compare({"old": old, "new": new}, seed=7).to_dict()))
    assert (found["baseline"], found["seed"], found["test"]) == ("old", 7, "sign-flip")
    (only,) = found["comparisons"]
    assert only["run"] == "new"
    assert list(only["metrics"]) == ["p@1", "p@2"]
    assert only["metrics"]["p@1"].keys() >= FIELDS
    assert only["metrics"]["p@1"]["effect"].keys() == {"dz", "g"}
    assert "NaN" not in json.dumps(found)


def test_the_samples_that_changed_most() -> None:
    first, second = [0.5] * 9, [0.5, 0.4, 0.1, 0.9, 0.6, 1.0, 0.4, 0.3, 0.45]
    found = against(first, second)
    assert [change.sample_id for change in found.best] == ["q005", "q003", "q004"]
    assert [change.sample_id for change in found.worst] == ["q002", "q007", "q001", "q006", "q008"]
    assert (found.worst[0].baseline, found.worst[0].value) == (0.5, 0.1)


def test_equal_changes_are_listed_in_order_of_their_ids() -> None:
    """Seven of eight samples change by the same; the five that are listed are those whose ids come first."""
    order = [7, 2, 6, 0, 5, 1, 4, 3]
    old, new = (result(scores).take(order) for scores in ([0.5] * 8, [0.25] * 7 + [0.0]))
    most = ["q007", "q000", "q001", "q002", "q003"]
    assert [change.sample_id for change in compare({"old": old, "new": new})["new"]["p@1"].worst] == most
    assert [change.sample_id for change in compare({"new": new, "old": old})["old"]["p@1"].best] == most


def test_where_lower_is_better_a_rise_is_a_loss() -> None:
    judged = {f"q{place}": {"a": 1} for place in range(8)}
    down = {query: {"a": 1, "b": 2} for query in judged}
    found = compare({"old": evaluate(judged, judged, ["unj@1"]), "new": evaluate(judged, down, ["unj@1"])})
    (only,) = found["new"].metrics.values()
    assert only.difference == 1.0
    assert (only.wins, only.losses, only.verdict) == (0, 8, "worse")


def test_cohorts_have_their_own_difference() -> None:
    tags = [("legal",), ("legal", "long"), (), ("long",), ("legal",), ()]
    first, second = [0.0] * 6, [0.5, 0.7, 0.1, 0.3, 0.6, 0.1]
    found = compare({"old": result(first, tags=tags), "new": result(second, tags=tags)})["new"]["p@1"].cohorts
    assert [(each.tag, each.n, each.difference) for each in found] == [
        ("legal", 3, pytest.approx(0.6)),
        ("long", 2, pytest.approx(0.5)),
        (None, 2, pytest.approx(0.1)),
    ]
    theirs = stats.ttest_1samp([0.5, 0.7, 0.6], 0).confidence_interval()
    assert found[0].interval == pytest.approx((theirs.low, theirs.high), rel=1e-10)
    assert found[2].interval is None  # both differ by the same amount


def test_the_interval_of_a_cohort_is_a_pair_in_json() -> None:
    old, new = result([0.0] * 3, tags=[("legal",)] * 3), result([0.5, 0.7, 0.6], tags=[("legal",)] * 3)
    comparison = compare({"old": old, "new": new})
    (cohort,) = comparison.to_dict()["comparisons"][0]["metrics"]["p@1"]["cohorts"]
    assert cohort["interval"] == list(comparison["new"]["p@1"].cohorts[0].interval)


def test_clusters_widen_the_interval() -> None:
    """Four clusters of five equal differences are four values: half of t(.975, 3) times their standard deviation."""
    means = [0.1, 0.4, 0.3, 0.6]
    second = [mean for mean in means for _ in range(5)]
    clusters = {f"q{place:03}": place // 5 for place in range(20)}
    found = against([0.0] * 20, second, cluster=clusters)
    theirs = stats.ttest_1samp(means, 0).confidence_interval()
    assert found.interval == pytest.approx((theirs.low, theirs.high), rel=1e-10)
    assert found.p == 2 / 2**4
    assert found.notes == (
        "interval by Student's t; p by the sign-flip test 0.1250",
        "only 4 clusters: below 40, intervals tend to be too narrow",
        "only 4 of 4 clusters differ, so a sign-flip test cannot give p < 0.125 here",
        "4 clusters cannot show any difference at this level; 6 could",
    )


def test_samples_with_a_score_in_one_run_only_are_said_once() -> None:
    """The average rank of relevant results is undefined if there are none: of q3 in one run, of q4 in both."""
    ranked = {"base": ["a", "a", "x", "x"], "new": ["a", "a", "a", "x"]}
    scored = {
        name: Engine()
        .dataset([{"id": f"q{n}", "expected_output": ["a"], "actual_output": [top]} for n, top in enumerate(tops, 1)])
        .with_metrics("arp")
        .run()
        for name, tops in ranked.items()
    }
    said = [note for note in notes(compare(scored)["new"]) if "left out" in note]
    assert said == ["2 samples are left out: 1 undefined in both runs, 1 undefined in one run only"]


def test_an_exact_interval_with_0_beside_a_verdict_is_explained() -> None:
    """Seven of 20 questions lose .5; all signs alike have a chance of 2 / 2**7."""
    samples = [{"id": f"q{n}", "expected_output": ["a"], "actual_output": ["a", "x"]} for n in range(20)]
    lower = [{**each, "actual_output": ["x", "a"]} if n < 7 else each for n, each in enumerate(samples)]
    scored = {
        name: Engine().dataset(rows).with_metrics("rr").run() for name, rows in (("base", samples), ("new", lower))
    }
    found = compare(scored, interval="exact")["new"]["rr"]
    assert (found.verdict, found.p_adjusted) == ("worse", 2 / 2**7)
    assert found.interval is not None
    assert found.interval[0] < 0 < found.interval[1]
    assert found.notes[0] == (
        "the verdict is that of the sign-flip test (p 0.0156); the exact interval has 0 in it, because it also allows "
        "for differences that are too rare to be among so few pairs"
    )
    assert "verdict" not in compare(scored)["new"]["rr"].notes[0]  # Student's t leaves 0 out


@pytest.mark.parametrize(("count", "are_few"), [(39, True), (40, False)])
def test_fewer_than_forty_clusters_are_few(count: int, *, are_few: bool) -> None:
    second = [0.01 * (place + 1) for place in range(count) for _ in range(2)]
    found = against([0.0] * 2 * count, second, cluster={f"q{place:03}": place // 2 for place in range(2 * count)})
    assert found.notes == (("only 39 clusters: below 40, intervals tend to be too narrow",) if are_few else ())


@pytest.mark.parametrize(("changed", "are_few"), [(9, True), (10, False)])
def test_fewer_than_ten_differences_leave_a_test_of_signs_little(changed: int, *, are_few: bool) -> None:
    """Nine signs: the two most extreme of 2**9 assignments."""
    second = [0.01 * (place + 1) * (place < changed) for place in range(12)]
    note = "only 9 of 12 pairs differ, so a sign-flip test cannot give p < 0.003906 here"
    assert against([0.0] * 12, second).notes == ((note,) if are_few else ())
    assert not any("sign-flip" in each for each in against([0.0] * 12, second, test="t").notes)  # which flips no signs


def test_clusters_whose_differences_cancel_cannot_flip() -> None:
    """Ten pairs differ, but only the last of three clusters has a sum other than 0."""
    second = [0.3, -0.3] * 4 + [0.4, 0.5, 0.0, 0.0]
    found = against([0.0] * 12, second, cluster={f"q{place:03}": place // 4 for place in range(12)})
    assert found.p == 1.0
    assert "only 1 of 3 clusters differs, so a sign-flip test cannot give p < 1 here" in found.notes


@pytest.mark.parametrize(("clusters", "why"), [(1, "one cluster says nothing about others"), (3, "all clusters have")])
def test_clusters_that_do_not_vary_have_no_interval(clusters: int, why: str) -> None:
    """Each cluster has the same differences in another order, whose sums differ by rounding at most."""
    second = [0.1, 0.2, 0.3, 0.3, 0.1, 0.2, 0.2, 0.3, 0.1]
    ids = {f"q{place:03}": place * clusters // 9 for place in range(9)}
    found = against([0.0] * 9, second, cluster=ids)
    assert (found.interval, found.p_t, found.detectable) == (None, None, None)
    assert any(note.startswith(why) for note in found.notes)


def test_without_any_change_clusters_count_and_not_their_samples() -> None:
    found = against([0.5] * 12, [0.5] * 12, cluster={f"q{place:03}": place // 4 for place in range(12)})
    bound = 1 - 0.05 ** (1 / 3)
    assert found.interval == pytest.approx((-bound, bound))


def test_a_cluster_field_is_read_from_the_data() -> None:
    rows = [
        {"id": f"s{place}", "expected_output": ["a"], "metadata": {"source": f"doc{place // 2}"}} for place in range(6)
    ]
    evaluation = rankgauge.Engine().dataset(rows).with_metrics(["hit@1"])
    old = evaluation.run(outputs={f"s{place}": ["b"] for place in range(6)})
    new = evaluation.run(outputs={f"s{place}": ["a"] for place in range(6)})
    for field in ("source", "metadata.source"):
        assert compare({"old": old, "new": new}, cluster=field)["new"]["hit@1"].p == 2 / 2**3
    with pytest.raises(ResultError, match=r"no sample has this field in its metadata \(did you mean 'source'\?\)"):
        compare({"old": old, "new": new}, cluster="sourse")


def test_a_sample_without_a_cluster_is_refused() -> None:
    with pytest.raises(ResultError, match="2 of 3 samples have none, such as q001, q002"):
        against([0, 0, 0], [1, 1, 0], cluster={"q000": 1})


def test_runs_have_no_metadata_to_cluster_by() -> None:
    with pytest.raises(ResultError, match="queries of a TREC run have no metadata"):
        against([0, 0], [1, 1], cluster="source")


def three() -> dict[str, rankgauge.Result]:
    rng = np.random.default_rng(4)
    return {name: result(rng.random(12), rng.random(12) + shift) for name, shift in (("a", 0), ("b", 0.4), ("c", 0.1))}


def test_several_runs_multiply_what_is_corrected_over_metrics() -> None:
    runs = three()
    together = compare(runs)
    alone = compare({name: runs[name] for name in ("a", "b")})
    assert [each.run for each in together.comparisons] == ["b", "c"]
    for name, metric in alone["b"].metrics.items():
        assert together["b"][name].p == metric.p
        assert together["b"][name].p_adjusted == min(1.0, 2 * metric.p_adjusted)
    one = compare({"few": result([0.5] * 12), **runs}, baseline="a")  # one of three has one metric only
    assert one.correction == "step-down max-T over metrics, times 3 comparisons"
    told: list[tuple[int, int]] = []
    compare(runs, progress=lambda done, of: told.append((done, of)))
    assert told == [(1, 2), (2, 2)]
    assert together.correction == "step-down max-T over metrics, times 2 comparisons"


def test_several_runs_and_one_metric_are_corrected_by_holm() -> None:
    found = compare(three(), metrics="p@2")
    p = [each["p@2"].p for each in found.comparisons]
    assert [each["p@2"].p_adjusted for each in found.comparisons] == pytest.approx(holm(p))
    assert found.correction == "Holm over 2 tests"


def test_all_pairs() -> None:
    found = compare(three(), baseline="b", all_pairs=True)
    assert [(each.baseline, each.run) for each in found.comparisons] == [("b", "a"), ("b", "c"), ("a", "c")]


def test_one_test_is_not_corrected() -> None:
    found = compare({"old": result([0, 0, 0.5]), "new": result([1, 0.1, 0.4])})
    assert found.correction == ""
    assert found["new"]["p@1"].p == found["new"]["p@1"].p_adjusted


@pytest.mark.parametrize("test", ["t", "wilcoxon", "bootstrap-bca"])
def test_other_tests_by_name(test: str) -> None:
    rng = np.random.default_rng(8)
    first, second = rng.random(30), rng.random(30) + 0.1
    found = against(first.tolist(), second.tolist(), test=test, resamples=20_000)
    wanted = {
        "t": stats.ttest_rel(second, first).pvalue,
        "wilcoxon": stats.wilcoxon(second - first, method="exact").pvalue,
        "bootstrap-bca": stats.ttest_rel(second, first).pvalue,
    }
    assert found.p == pytest.approx(wanted[test], abs=0.02 if test == "bootstrap-bca" else 1e-9)
    interval = stats.ttest_rel(second, first).confidence_interval()
    assert found.interval == pytest.approx((interval.low, interval.high), abs=0.02)


def test_a_bootstrap_of_many_pairs_takes_no_more_resamples_than_some_seconds_allow(monkeypatch) -> None:
    monkeypatch.setattr("rankgauge.stats.estimates._MOST_DRAWS", 60_000)
    rng = np.random.default_rng(8)
    first, second = (rng.random(30).tolist() for _ in range(2))
    bounded = compare({"old": result(first), "new": result(second)}, test="bootstrap-bca", resamples=20_000)
    wanted = compare({"old": result(first), "new": result(second)}, test="bootstrap-bca", resamples=2_000)
    assert bounded.resamples == 2_000
    assert bounded["new"]["p@1"].interval == wanted["new"]["p@1"].interval
    (note,) = bounded["new"].notes
    assert note.startswith("2,000 resamples were drawn instead of 20,000, which take minutes for 30 pairs; ")
    assert wanted["new"].notes == ()
    third = {"old": result(first), "new": result(second), "few": result(second).take(range(3))}
    assert compare(third, test="bootstrap-bca", resamples=20_000).resamples == 2_000  # the most pairs decide
    assert affordable_resamples(100_000, 10**8) == 1_000
    assert compare({"old": result(first), "new": result(second)}, resamples=20_000).resamples == 20_000


def test_nothing_changed() -> None:
    """The same results twice: no division by zero, and a bound instead of an interval of width 0."""
    found = against([0.25] * 10, [0.25] * 10)
    bound = 1 - 0.05**0.1
    assert (found.difference, found.p, found.p_t, found.dz, found.g, found.detectable) == (0, 1, None, None, None, None)
    assert found.interval == pytest.approx((-bound, bound))
    assert (found.verdict, found.ties) == ("same", 10)
    assert found.notes == (
        "none of 10 pairs differs; at 95 % confidence the true difference is at most 0.2589 either way",
    )


def test_all_differences_are_equal() -> None:
    found = against([0.25] * 12, [0.5] * 12)
    assert (found.interval, found.p_t, found.dz, found.detectable) == (None, None, None, None)
    assert found.p == 2 / 2**12
    assert found.verdict == "better"
    assert found.notes == ("all 12 pairs differ by the same amount, so there is no interval and no t test",)


def test_few_equal_differences_are_few_all_the_same() -> None:
    found = against([0.25] * 4, [0.5] * 4)
    assert (found.p, found.verdict) == (2 / 2**4, "undecided")
    assert found.notes[1] == "only 4 of 4 pairs differ, so a sign-flip test cannot give p < 0.125 here"


def test_one_pair_says_nothing() -> None:
    found = against([0.25], [0.5])
    assert (found.n, found.difference, found.interval, found.p, found.g) == (1, 0.25, None, 1.0, None)
    assert found.notes == ("one pair says nothing about other samples",)


def test_two_pairs() -> None:
    found = against([0.25, 0.5], [0.5, 0.6])
    assert (found.n, found.p, found.g) == (2, 0.5, None)
    assert found.interval is not None
    assert found.verdict == "undecided"
    assert found.notes == (
        "only 2 of 2 pairs differ, so a sign-flip test cannot give p < 0.5 here",
        "2 pairs cannot show any difference at this level; 6 could",
    )


BASE_OF_MANY = np.random.default_rng(2).normal(size=40).tolist()


def test_no_pair_has_a_score() -> None:
    found = against([math.nan, 0.5], [0.5, math.nan])
    assert (found.n, found.difference, found.interval, found.p, found.p_adjusted) == (0, None, None, None, None)
    assert found.dropped["undefined_in_one"] == 2
    assert found.notes == ("no sample has a score in both runs",)
    assert found.verdict == "undecided"
    many, none = BASE_OF_MANY, [math.nan] * 40
    beside = compare({"old": result([0.0] * 40, none), "new": result(many, many)}, resamples=100)["new"]["p@2"]
    assert (beside.n, beside.p, beside.p_adjusted, beside.notes) == (0, None, None, found.notes)


@rows(
    ("options", "message"),
    [
        ({"baseline": "od"}, r"no result is called 'od' \(did you mean 'old'\?\); there are old, new"),
        ({"test": "sign-flop"}, r"unknown test 'sign-flop' \(did you mean 'sign-flip'\?\)"),
        ({"confidence": 95}, r"confidence lies between 0 and 1, not at 95; write 0\.95"),
        ({"confidence": True}, "confidence is a number such as 0.95"),
        ({"confidence": "high"}, "confidence is a number such as 0.95"),
        ({"resamples": 0}, "resamples is an integer of 1 or more, not 0"),
        ({"seed": -1}, r"seed is an integer of 0 or more and below 2\*\*128, not -1"),
        ({"cluster": 3}, "cluster is a field of the samples' metadata, or a mapping"),
        ({"test": "wilcoxon", "cluster": {"q000": 1, "q001": 2}}, "takes samples to be independent"),
    ],
)
def test_an_argument_that_cannot_be_used_is_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        against([0, 1], [1, 0], **options)


def test_one_result_is_refused() -> None:
    with pytest.raises(ParameterError, match="two or more results, and 1 is given"):
        compare({"old": result([1.0])})
    with pytest.raises(ParameterError, match="takes results by name"):
        compare([result([1.0]), result([1.0])])  # type: ignore[arg-type]


def test_a_comparison_shows_its_verdicts() -> None:
    found = compare({"old": result([0, 0, 0, 0, 0, 0]), "new": result([1, 1, 1, 1, 1, 0.9])})
    assert repr(found) == "<Comparison with old>\n<new against old: p@1 better>"


def test_metrics_and_runs_are_found_by_name() -> None:
    found = compare({"old": result([0, 1]), "new": result([1, 1])})
    assert found["new"]["P@1"] is found["new"]["p_at_1"] is found["new"]["p@1"]
    assert (list(found), list(found["new"]), "old" in found) == (["new"], ["p@1"], False)
    with pytest.raises(KeyError, match="no metric 'p@9' was compared; there are p@1"):
        found["new"]["p@9"]
    with pytest.raises(KeyError, match="no run 'nwe' was compared; there are new"):
        found["nwe"]


def test_one_resample_is_a_number_of_resamples() -> None:
    assert against([0.0] * 3, [0.1, 0.2, 0.3], resamples=1).n == 3
    with pytest.raises(ParameterError, match="resamples is an integer of 1 or more, not 0"):
        against([0.0] * 3, [0.1, 0.2, 0.3], resamples=0)


def test_what_is_no_result_is_not_compared() -> None:
    with pytest.raises(ParameterError, match="compare takes results by name"):
        compare({"old": result([0.5]), "new": 0.5})  # type: ignore[dict-item]


def test_an_interval_before_correction_is_explained_where_the_corrected_p_decides_otherwise() -> None:
    """
    Six of 20 rise by 1: p = 2 / 2**6 = .03125, which two comparisons double; the interval leaves out 0.

    It is .3 -+ 2.093 * .4702 / sqrt(20), from .08 to .52. Against one run alone nothing contradicts.
    """
    before, after = [0.0] * 20, [1.0] * 6 + [0.0] * 14
    made = {"old": result(before), "new": result(after), "same": result(before)}
    found = compare(made)["new"]["p@1"]
    assert (found.verdict, found.p_adjusted, found.contradicts) == ("undecided", 0.0625, True)
    assert found.notes[0] == "interval before correction; p after correction for 2 comparisons 0.0625"
    assert found.to_dict()["notes"][0] == found.notes[0]
    alone = against(before, after)
    assert (alone.verdict, alone.contradicts) == ("better", False)
    assert not any("interval" in note for note in alone.notes)


def test_an_interval_by_another_method_than_the_test_is_explained() -> None:
    """Student's interval of Darwin's maize leaves out 0 (.03 to 41.8); 1,726 of 32,768 patterns are over 5 %."""
    found = against([0.0] * 15, DARWIN.tolist())
    assert found.notes[0] == "interval by Student's t; p by the sign-flip test 0.0527"


def test_a_comparison_of_runs_that_failed_says_so_before_every_verdict():
    """A system that always fails scores the same as itself, which is no finding."""

    def unauthorized(question: str) -> list[str]:
        raise PermissionError("401")

    samples = [{"id": name, "input": "?", "expected_output": ["d1"]} for name in ("q1", "q2")]
    evaluation = Engine().dataset(samples).with_metrics("rr")
    failed, whole = evaluation.run(sut=unauthorized), evaluation.run(sut=lambda question: ["d1"])
    why = "failed: the run is incomplete: 2 of 2 samples are missing or failed, and max_failed allows 0 %"
    compared = compare({"failed": failed, "whole": whole})
    assert compared.comparisons[0].incomplete == (why,)
    assert next(iter(comparison_lines(compared, width=80))).text == why
    for shown in (repr(compared), compared._repr_html_(), comparison_markdown(compared)):
        assert why.partition(", and")[0] in shown
    assert "incomplete" not in repr(compare({"whole": whole, "again": whole})).casefold()
