"""Where a verdict, an interval or a message turns into another: the value on the border, and those beside it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from comparison.made import result
from draws import in_thorough_suite
from rankgauge import Result, compare, evaluate
from rankgauge.comparison.compare import tested_columns as columns_tested
from rankgauge.comparison.differences import Unjudged
from rankgauge.comparison.estimate import Method
from rankgauge.comparison.pairing import counterpart_of, pair_results
from rankgauge.comparison.sentences import digits_of, method_line, verdicts
from rankgauge.errors import ParameterError, ResultError
from rankgauge.stats.intervals import betting_interval

BASE = np.random.default_rng(5).random(40)
NEAR = BASE + np.random.default_rng(6).normal(0.0, 0.02, 40)


def compared(base, new, **options):
    return compare({"a": result(base), "b": result(new)}, **options)["b"]["p@1"]


@pytest.mark.parametrize(
    "options",
    [{"resamples": 1.5}, {"resamples": True}, {"resamples": 0}, {"seed": 0.0}, {"seed": -1}, {"seed": 2**128}],
)
def test_counts_and_seeds_are_whole_numbers_within_bounds(options):
    with pytest.raises(ParameterError, match="is an integer of"):
        compared([0.1, 0.2], [0.2, 0.3], **options)


def test_the_largest_seed_can_be_used():
    assert compared([0.1, 0.2], [0.2, 0.3], seed=2**128 - 1).difference == pytest.approx(0.1)


@pytest.mark.parametrize(("confidence", "hint"), [(1, False), (95, True), (1.5, True), (100, False), (0, False)])
def test_a_percentage_is_advised_to_be_a_share_where_it_can_be_one(confidence, hint):
    with pytest.raises(ParameterError, match="lies between 0 and 1") as error:
        compared([0.1], [0.2], confidence=confidence)
    assert ("; write" in str(error.value)) == hint


def test_a_p_at_the_level_is_significant_and_one_above_it_is_not():
    metric = compared(BASE, BASE + 0.1)
    assert replace(metric, p_adjusted=0.05).verdict == "better"
    assert replace(metric, p_adjusted=math.nextafter(0.05, 1)).verdict == "better"  # 1 - .95 is above .05 by rounding
    assert replace(metric, p_adjusted=0.0500001).verdict == "undecided"


def test_unjudged_documents_matter_only_where_a_verdict_hangs_on_them():
    shown, open_, same = compared(BASE, BASE - 0.1), compared(BASE, NEAR), compared(BASE, BASE)
    assert (shown.verdict, open_.verdict, same.verdict) == ("worse", "undecided", "same")
    against = replace(open_, difference=-open_.difference)
    assert replace(open_, condensed=against).verdict == "undecided"
    assert replace(shown, condensed=shown).verdict == "worse"
    assert replace(shown, condensed=same).verdict == "depends on unjudged documents"
    assert replace(same, condensed=shown).verdict == "depends on unjudged documents"
    assert replace(shown, condensed=replace(same, n=0, difference=None)).verdict == "depends on unjudged documents"
    assert replace(shown, condensed=replace(same, difference=1e-15)).verdict == "depends on unjudged documents"


def test_the_samples_that_lost_most_by_a_rank_are_those_whose_rank_grew():
    qrels = {f"q{at}": {"gold": 1} for at in range(4)}

    def ranks(*places):
        return {
            f"q{at}": {f"x{n}": 9.0 - n for n in range(place - 1)} | {"gold": 0.5} for at, place in enumerate(places)
        }

    results = evaluate(qrels, runs={"a": ranks(2, 2, 2, 2), "b": ranks(2, 1, 5, 3)}, metrics=["first_rank"])
    (metric,) = compare(results)["b"].metrics.values()
    assert [(change.sample_id, change.difference) for change in metric.worst] == [("q2", 3.0), ("q3", 1.0)]
    assert [(change.sample_id, change.difference) for change in metric.best] == [("q1", -1.0)]


def test_differences_that_happen_to_be_0_or_1_are_no_rates():
    metric = compared([0.0] * 20, [1.0] * 12 + [0.0] * 8)
    assert metric.interval_method == "t"
    assert metric.interval == pytest.approx(
        (0.6 - 2.093024 * math.sqrt(0.24 / 19), 0.6 + 2.093024 * math.sqrt(0.24 / 19))
    )


def test_ranks_need_a_difference_larger_by_their_efficiency():
    signs, ranks = (compared(BASE, NEAR, test=test).detectable for test in ("sign-flip", "wilcoxon"))
    assert compared(BASE[:5], NEAR[:5], test="wilcoxon").detectable is None
    assert ranks / signs == pytest.approx(math.sqrt(math.pi / 3), rel=2e-3)  # a level by resamples is a little off


@in_thorough_suite()
def test_exact_intervals_show_equivalence_after_any_test():
    metric = compared(BASE, NEAR, test="bootstrap-bca", interval="exact", matters=0.3)
    low, high = betting_interval((NEAR - BASE + 1) / 2, 0.9)
    assert metric.equivalence == pytest.approx((2 * low - 1, 2 * high - 1))
    other = compared(BASE, NEAR, test="bootstrap-bca", matters=0.3)
    assert other.equivalence[1] - other.equivalence[0] < metric.equivalence[1] - metric.equivalence[0]


def test_where_there_is_no_interval_nothing_is_equivalent():
    alike = compared([0.25] * 12, [0.5] * 12, matters=0.5)
    assert (alike.interval, alike.equivalence, alike.verdict) == (None, None, "better")
    assert compared(BASE, NEAR, matters=0.5, resamples=1).equivalence is None  # no p can be small enough
    assert compared(BASE, NEAR, matters=0.5, confidence=0.4).equivalence is None
    assert compared(BASE, NEAR, test="t", matters=0.5, confidence=0.5).equivalence is None


def test_the_interval_is_of_the_kind_that_was_asked_for():
    assert compared(BASE, BASE, interval="exact").interval_method == "betting"
    assert compared(BASE, BASE).interval_method == "unseen"
    assert compared(BASE, NEAR, test="bootstrap-bca").interval_method == "bca"


def test_a_difference_has_the_digits_that_its_interval_leaves():
    metric = compared(BASE, NEAR)
    widths = (None, 3), (0.01, 3), (0.0099, 4), (0.001, 4), (0.00099, 6)
    for width, digits in widths:
        interval = None if width is None else (0.0, width)
        assert digits_of(replace(metric, interval=interval)) == digits


def test_metrics_that_depend_on_unjudged_documents_have_a_sentence_each():
    comparison = compare({"a": result(BASE, BASE), "b": result(NEAR + 0.1, NEAR + 0.1)})
    (pair,) = comparison.comparisons
    turned = {
        name: replace(metric, condensed=replace(metric, difference=-metric.difference))
        for name, metric in pair.metrics.items()
    }
    for metrics, count in ((pair.metrics, 1), (turned, 2)):
        changed = replace(comparison, comparisons=(replace(pair, metrics=metrics),))
        assert len(list(verdicts(changed))) == count


def test_what_is_not_below_what_matters_is_not_equivalent():
    metric = replace(compared(BASE, NEAR), matters=0.1)
    ends = {(-0.1, 0.05): False, (-0.05, 0.1): False, (-0.0999, 0.0999): True}
    for equivalence, is_equivalent in ends.items():
        assert (replace(metric, equivalence=equivalence).verdict == "equivalent") == is_equivalent


def test_equivalence_after_students_test_is_held_against_students_interval():
    theirs = stats.ttest_1samp(NEAR - BASE, 0).confidence_interval(0.9)
    assert compared(BASE, NEAR, test="t", matters=0.3).equivalence == pytest.approx(tuple(theirs))


def test_where_few_clusters_differ_bets_decide_about_equivalence():
    pair, by = {"a": result(BASE), "b": result(NEAR)}, {f"q{at:03}": at // 8 for at in range(40)}
    exact = compare(pair, cluster=by, interval="exact", confidence=0.9)["b"]["p@1"].interval
    assert compare(pair, cluster=by, matters=0.3, test="t")["b"]["p@1"].equivalence == pytest.approx(exact)


@pytest.mark.parametrize("ends", [(None, 1.0), (0.0, None), (None, None)])
def test_a_range_without_an_end_bounds_no_difference(ends):
    made = result([0.5] * 12)
    column = made["p@1"]
    open_ = made.with_columns([replace(column, info=replace(column.info, range=ends))])
    assert compare({"a": open_, "b": open_})["b"]["p@1"].interval is None
    signed = made.with_columns([replace(column, info=replace(column.info, range=(-1.0, 1.0)))])
    bound = 2 * (1 - 0.05 ** (1 / 12))
    assert compare({"a": signed, "b": signed})["b"]["p@1"].interval == pytest.approx((-bound, bound))


def test_losses_count_as_pairs_that_differ_as_gains_do():
    for sign in (1, -1):
        ten, nine = (compared([0.5] * 12, 0.5 + sign * 0.01 * np.arange(12) * (np.arange(12) < n)) for n in (11, 10))
        assert [bool(metric.notes) for metric in (ten, nine)] == [False, True]
    metric = compared([0.5] * 4, [0.75, 0.25, 0.75, 0.25], cluster={f"q{at:03}": at // 2 for at in range(4)})
    assert "only 0 of 2 clusters differ, so a sign-flip test cannot give p < 1 here" in metric.notes


@pytest.mark.parametrize(
    ("half", "note"),
    [
        (0.05, "19% of the variance of differences lies between repeats, the rest between samples: the interval of "),
        (0.2, "100% of the variance of differences lies between repeats, the rest between samples: the interval of "),
    ],
)
def test_what_repeats_and_samples_buy_is_told(half, note):
    """
    Differences .1 .3 .1 .3 have a variance of .01333, and t(.975, 3) is 3.182446: half of the interval is .18374.

    Two repeats half a width to either side leave their mean half**2: .0025 is 18.75 % of it, whose half is saved.
    """
    new = np.array([0.1, 0.3, 0.1, 0.3])
    made = result(new)
    repeated = made.with_columns([replace(made["p@1"], repeats=np.stack([new - half, new + half], axis=1))])
    notes = compare({"a": result([0.0] * 4), "b": repeated})["b"]["p@1"].notes
    more = "0.1749" if half == 0.05 else "0.1299"
    assert f"{note}+-0.1837 would shrink to +-{more} with twice the repeats and to +-0.1299 with twice the samples" in (
        notes
    )


def test_of_differences_that_are_all_alike_no_share_lies_between_repeats():
    made = result(np.full(12, 0.5))
    repeated = made.with_columns([replace(made["p@1"], repeats=np.tile([0.25, 0.75], (12, 1)))])
    metric = compare({"a": result(np.zeros(12)), "b": repeated})["b"]["p@1"]
    assert metric.notes == ("all 12 pairs differ by the same amount, so there is no interval and no t test",)


def test_a_metric_with_few_pairs_beside_one_with_many_needs_signs_that_are_nearly_all_alike():
    """
    The most extreme of both metrics decides, and random signs have to reach about 2.05 at a level of .05.

    Three pairs reach sqrt(3) at most, so that nothing is known but the share of the level. Five reach sqrt(5) = 2.24:
    Student's t is then 2.05 * sqrt(4 / (5 - 2.05**2)) = 4.6, whose p is .010.
    """
    rng = np.random.default_rng(0)
    many, few = rng.normal(size=40), rng.normal(size=40)
    levels = []
    for n in (3, 5):
        pairs = np.where(np.arange(40) < n, few, math.nan)
        pairing = pair_results(result([0.0] * 40, [0.0] * 40), result(many, pairs))
        levels.append(columns_tested(pairing, None, Method(resamples=2_000), 1)[1].level)
    assert levels[0] == pytest.approx(0.025)
    assert 0.008 < levels[1] < 0.012


def test_cohorts_stand_in_order_of_their_tags():
    tags = [("c",), ("a",), (), ("b",), ("d", "a")]
    pair = {name: result(scores, tags=tags) for name, scores in (("a", [0.0] * 5), ("b", [0.1, 0.2, 0.3, 0.4, 0.5]))}
    assert [cohort.tag for cohort in compare(pair)["b"]["p@1"].cohorts] == ["a", "b", "c", "d", None]


def test_as_many_resamples_as_one_likes_are_a_number():
    assert compared([0.0] * 3, [0.1, 0.2, 0.3], resamples=2**128).p == 0.25


def test_what_was_found_cannot_be_changed():
    comparison = replace(
        compare({"a": result(BASE), "b": result(NEAR)}), unjudged={"b": Unjudged({"unjudged@1": 0.5}, {"p@1": (0, 1)})}
    )
    pair, known = comparison["b"], comparison.unjudged["b"]
    for values in (
        comparison.unjudged,
        pair.metrics,
        pair.false_alarms,
        pair["p@1"].dropped,
        known.shares,
        known.bounds,
    ):
        with pytest.raises(TypeError, match="cannot be changed"):
            values["another"] = None
    with pytest.raises(TypeError, match="cannot be changed"):
        pair_results(result(BASE), result(NEAR)).columns["another"] = None


def test_a_column_is_found_by_its_name_among_equals():
    made = result([0.5])
    info = made["p@1"].info
    twins = [replace(made["p@1"], info=replace(info, name=name, names=(name,))) for name in ("twin", "p@1")]
    both = Result(made.sample_ids, made.tags, {column.info.name: column for column in twins}, made.manifest)
    assert counterpart_of(info, both).info.name == "p@1"
    assert counterpart_of(info, both.with_columns(twins[:1])).info.name == "twin"
    assert counterpart_of(replace(info, fingerprint="another"), both) is None


def test_metrics_that_score_the_same_over_other_numbers_of_pairs_have_both():
    scores = [0.5, 1.0, 0.5, 0.0]
    made = result(scores, [*scores[:3], math.nan])
    sentences = [sentence for sentence, _ in verdicts(compare({"a": made, "b": made}))]
    assert sentences == ["b and a score the same: p@1, p@2, 3 to 4 pairs"]


def test_what_matters_has_the_digits_to_show_it():
    for matters, digits in ((0.01, 3), (0.0099, 6)):
        sentence, _ = next(verdicts(compare({"a": result(BASE), "b": result(NEAR)}, matters=matters)))
        shown = sentence.rpartition("; ")[2] if "equivalent" in sentence else sentence.rpartition(": ")[2]
        assert len(shown.split(" ")[0].partition(".")[2]) == digits


def test_clusters_are_named_and_students_test_takes_them():
    names = {f"q{at:03}": f"c{at % 8}" for at in range(40)}
    old, new = result(BASE), result(NEAR)
    clustered = compare({"a": old, "b": new}, cluster=names, test="t")
    means = [(NEAR - BASE)[at::8].mean() for at in range(8)]
    assert clustered.cluster == "clusters"
    assert method_line(clustered).endswith("; clusters: clusters")
    assert "clusters" not in method_line(compare({"a": old, "b": new}, test="t"))
    assert clustered["b"]["p@1"].p == pytest.approx(stats.ttest_1samp(means, 0).pvalue, rel=1e-9)
    for test in ("wilcoxon", "bootstrap-bca"):
        with pytest.raises(ParameterError, match="takes samples to be independent"):
            compare({"a": old, "b": new}, cluster=names, test=test)


def test_ranks_of_differences_that_cancel_out_decide_nothing():
    """Twenty small gains and a loss as large as all of them: Wilcoxon's p is below .001, and the mean is 0."""
    new = [0.53125] * 20 + [0.5 - 20 * 0.03125 / 2] * 2
    metric = compare({"a": result([0.5] * 22), "b": result(new)}, test="wilcoxon")["b"]["p@1"]
    assert (metric.difference, metric.verdict) == (0.0, "undecided")
    assert metric.p_adjusted < 0.05


def test_the_schema_is_named():
    assert compare({"a": result([0.1]), "b": result([0.2])}).to_dict()["schema_version"].startswith("rankgauge.compar")


def test_at_most_a_few_samples_are_named_and_dots_say_so():
    few, many = ([f"q{at}" for at in range(n)] for n in (2, 12))
    for names, dots in ((few, False), (many[:3], False), (many[:4], True), (many, True)):
        others = [f"other-{name}" for name in names]
        with pytest.raises(ResultError) as error:
            compare({"a": result([0.1] * len(names), ids=names), "b": result([0.1] * len(names), ids=others)})
        assert ("..." in str(error.value)) == dots
