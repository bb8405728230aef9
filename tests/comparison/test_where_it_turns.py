"""Where a verdict, an interval or a message turns into another: the value on the border, and those beside it."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from comparison.made import result
from rankgauge import Result, compare, evaluate
from rankgauge.comparison.compare import is_itself, with_false_alarms
from rankgauge.comparison.estimate import Method
from rankgauge.comparison.pairing import counterpart_of
from rankgauge.comparison.sentences import digits_of, verdicts
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
    assert ranks / signs == pytest.approx(math.sqrt(math.pi / 3), rel=2e-3)  # a level by resamples is a little off


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


class TestFalseAlarms:
    """Three repeats make three pairs, and what is said of these is given here."""

    def made(self, repeats=((1.0, 0.5, np.nan),)):
        one = result([1.0] * len(repeats))
        column = replace(one["p@1"], repeats=None if repeats[0] is None else np.array(repeats))
        return one.with_columns([column])

    @pytest.mark.parametrize(
        ("verdicts", "alarms", "advice"),
        [
            (["better", "worse", "undecided"], 2, True),
            (["worse", "same", "undecided"], 1, False),
            (["same", "same", "same"], 0, False),
        ],
    )
    def test_alarms_of_all_pairs_are_counted(self, verdicts, alarms, advice):
        pair = compare({"a": result([1.0]), "b": result([1.0])}).comparisons[0]
        told = iter(verdicts)

        def compared(single):
            assert len(single) == 2
            metric = SimpleNamespace(verdict=next(told))
            return {name: SimpleNamespace(metrics={"p@1": metric}) for name in single}

        found = with_false_alarms(pair, self.made(), Method(), compared)
        assert found.false_alarms == {
            "pairs": 3,
            "alarms": alarms,
            "metrics": {"p@1": alarms},
            "allowed": pytest.approx(0.05),
            "rate": alarms / 3,
        }
        note = found.notes[-1]
        assert note.startswith(f"A against A: of 3 pairs of repeats {alarms} would be called different, a false-alarm ")
        assert note.endswith("so single runs are not to be compared") == advice

    def test_only_the_same_repeats_are_those_of_one_run(self):
        one, none = self.made(), self.made([None])
        assert is_itself(one, self.made())  # where a call gave no score, neither has one
        assert not is_itself(one, self.made([(1.0, 0.5, 0.5)]))
        assert not any(is_itself(*pair) for pair in ((one, none), (none, one), (none, none)))
        bare = Result(one.sample_ids, one.tags, {}, one.manifest)
        assert not is_itself(bare, bare)
        other = Result(["another"], one.tags, one.metrics, one.manifest)
        assert not is_itself(one, other)


def test_a_column_is_found_by_its_name_among_equals():
    made = result([0.5])
    info = made["p@1"].info
    twins = [replace(made["p@1"], info=replace(info, name=name, names=(name,))) for name in ("twin", "p@1")]
    both = Result(made.sample_ids, made.tags, {column.info.name: column for column in twins}, made.manifest)
    assert counterpart_of(info, both).info.name == "p@1"
    assert counterpart_of(info, both.with_columns(twins[:1])).info.name == "twin"
    assert counterpart_of(replace(info, fingerprint="another"), both) is None


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
    assert clustered["b"]["p@1"].p == pytest.approx(stats.ttest_1samp(means, 0).pvalue, rel=1e-9)
    for test in ("wilcoxon", "bootstrap-bca"):
        with pytest.raises(ParameterError, match="takes samples to be independent"):
            compare({"a": old, "b": new}, cluster=names, test=test)


def test_the_schema_is_named():
    assert compare({"a": result([0.1]), "b": result([0.2])}).to_dict()["schema_version"].startswith("rankgauge.compar")


def test_at_most_a_few_samples_are_named_and_dots_say_so():
    few, many = ([f"q{at}" for at in range(n)] for n in (2, 12))
    for names, dots in ((few, False), (many[:3], False), (many[:4], True), (many, True)):
        others = [f"other-{name}" for name in names]
        with pytest.raises(ResultError) as error:
            compare({"a": result([0.1] * len(names), ids=names), "b": result([0.1] * len(names), ids=others)})
        assert ("..." in str(error.value)) == dots
