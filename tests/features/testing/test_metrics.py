"""Checking metrics: the field's faulty definitions are caught by the law one would expect, and right ones pass."""

from __future__ import annotations

import functools
import sys
from types import SimpleNamespace
from typing import get_args

import numpy as np
import pytest

from draws import draws, in_thorough_suite, some
from features.testing import definitions
from features.testing.definitions import CALLS, FAULTY, RIGHT
from rankgauge.catalog import Catalog
from rankgauge.errors import BrokenLawError, MissingExtraError, ParameterError, RankgaugeError, UnknownNameError
from rankgauge.features.testing.law import Kind
from rankgauge.plugin import (
    Cutoff,
    Judged,
    JudgedSample,
    Scores,
    aggregate,
    comparer,
    hookimpl,
    metric,
    run_metric,
    sample_metric,
)
from rankgauge.testing import check_metric, laws_of
from tables import rows

LAW_NAMES = {name for name, law in laws_of("metric").items() if law.elsewhere}


@pytest.mark.parametrize("function", some(RIGHT), ids=lambda function: function.__name__)
def test_right_definitions_pass(function):
    report = check_metric(function, calls=CALLS.get(function), cases=draws(40))

    report.raise_if_broken()
    assert report.ok
    assert set(report.holds) | set(report.skipped) == LAW_NAMES
    assert {"perfect", "best-first", "relevant-helps", "empty-list", "empty-gold", "twice"} <= set(report.holds)


@pytest.mark.parametrize(("law", "function"), FAULTY, ids=[f"{law}-{each.__name__}" for law, each in FAULTY])
@pytest.mark.usefixtures("first_example")
def test_faulty_definitions_are_caught(law, function):
    laws = {law, "bounded"} if law == "no-network" else {law}
    report = check_metric(function, calls=CALLS.get(function), laws=laws)

    assert report.broken == (law,)
    assert report[law].reason
    assert report[law].example or law == "no-network"


def test_every_law_of_functions_from_elsewhere_catches_one():
    assert {law for law, _ in FAULTY} == LAW_NAMES - {"pickling", "like", "reference"}


@pytest.mark.parametrize(
    ("function", "law"),
    [
        (definitions.precision_over_the_retrieved_count, "padding"),
        (definitions.average_precision_over_hits, "relevant-helps"),
        (definitions.recall_that_counts_duplicates, "duplicates"),
        (definitions.recall_that_divides_by_nothing, "empty-gold"),
    ],
)
@pytest.mark.usefixtures("first_example")
@in_thorough_suite()
def test_a_fault_breaks_no_other_law(function, law):
    assert check_metric(function, cases=40).broken == (law,)


def test_the_example_of_a_shrunken_k_is_the_smallest_there_is():
    example = check_metric(definitions.precision_with_k_shrunk_to_the_list, laws=["padding"])["padding"].example

    assert [(each["gold"], each["retrieved"], each["k"], each["score"]) for each in example] == [
        ({"doc-0": 1.0}, ["doc-0"], 2, 1.0),
        ({"doc-0": 1.0}, ["doc-0", "doc-1"], 2, 0.5),
    ]


@in_thorough_suite()
def test_the_example_of_average_precision_over_hits_is_the_smallest_there_is():
    """With two relevant items, the second at rank 3: (1 + 2/3) / 2 of two hits, after 1 of one."""
    example = check_metric(definitions.average_precision_over_hits, laws=["relevant-helps"])["relevant-helps"].example

    assert [each["score"] for each in example] == [1.0, pytest.approx(5 / 6, rel=1e-12)]
    assert [each["gold"] for each in example] == [{"doc-0": 1.0, "doc-1": 1.0}] * 2
    before, after = (each["retrieved"] for each in example)
    assert before[:2] == after[:2]
    assert ({before[0], after[2]}, len(before), len(after)) == ({"doc-0", "doc-1"}, 3, 3)


@in_thorough_suite()
def test_the_example_of_recall_on_duplicates_passes_one():
    example = check_metric(definitions.recall_that_counts_duplicates, laws=["duplicates"])["duplicates"].example

    assert example[-1]["gold"] == {"doc-0": 1.0}
    assert example[-1]["retrieved"][:2] == ["doc-0", "doc-0"]
    assert (example[-1]["k"], example[-1]["score"]) == (2, 2.0)


def test_a_report_tells_what_broke_with_its_example():
    report = check_metric(definitions.precision_over_the_retrieved_count, cases=draws(20))

    with pytest.raises(BrokenLawError) as raised:
        report.raise_if_broken()
    assert raised.value.report is report
    assert isinstance(raised.value, AssertionError)
    assert raised.value.exit_code == 1
    lines = str(raised.value).splitlines()
    assert lines[0] == "metric precision_over_the_retrieved_count: 19 laws hold, 1 is broken"
    assert lines[2:7] == [
        "  broken   padding: unjudged results below the last one, up to k, change nothing",
        "      gold       doc-0",
        "      retrieved  doc-0   k = 2   score = 1",
        "      retrieved  doc-0, doc-1   k = 2   score = 0.5   (unjudged results added below)",
        "      -> unjudged results changed the score of a list shorter than k",
    ]


@in_thorough_suite()
def test_checks_are_reproducible():
    one, other = (
        check_metric(definitions.average_precision_with_repeats, laws=["duplicates", "tail"]) for _ in range(2)
    )

    assert str(one) == str(other)


@in_thorough_suite()
def test_a_metric_that_remembers_is_broken_and_not_an_accident_of_the_drawing():
    report = check_metric(definitions.counting_its_calls, laws=["bounded", "twice"])

    assert report.broken == ("twice",)


def test_a_lambda_cannot_be_pickled():
    report = check_metric(lambda retrieved, relevant, k: len(set(retrieved[:k]) & relevant) / k, cases=draws(20))

    assert report.broken == ("pickling",)
    assert "at the top of a module" in report["pickling"].reason


def test_an_object_and_a_partial_are_functions_too():
    class Recall:
        def __call__(self, retrieved, relevant, k):
            return definitions.recall_at_k(retrieved, relevant, k)

    check_metric(Recall(), laws=["perfect", "twice"], cases=5).raise_if_broken()
    at_three = functools.partial(definitions.recall_at_k, k=3)
    assert check_metric(at_three, laws=["bounded", "relevant-helps", "empty-list"], cases=5).ok


@in_thorough_suite()
def test_a_function_over_one_judged_sample_is_scored_by_the_engine():
    report = check_metric(share_of_found, cases=draws(20))

    report.raise_if_broken()
    assert {"usable", "perfect", "relevant-helps", "batch-size"} <= set(report.holds)
    assert report.called == ""


def share_of_found(ranking: JudgedSample, *, k: int) -> float | None:
    return min(1.0, sum(ranking.relevant[:k]) / ranking.n_gold) if ranking.n_gold else None  # repeats count again


@sample_metric("checked-depth-at-k", laws=["tail"])
def depth_of_it(ranking: JudgedSample, *, k: int) -> float | None:
    """Reward length."""
    return min(ranking.depth, 50) / 50 if ranking.n_gold else None


@in_thorough_suite()
def test_a_declared_metric_is_checked_for_what_it_declares_and_what_holds_for_all():
    report = check_metric(depth_of_it, cases=draws(40))

    assert report.name == "checked-depth-at-k"
    assert report.broken == ("tail", "last-rank")
    assert "best-first" not in report.holds  # it does hold, and was not declared
    assert "parts" in report.holds


@metric("checked-hits-at-k", laws=["tail"], range=(0, None))
def count_of_hits(judged: Judged, *, k: Cutoff) -> Scores:
    """Count what is relevant."""
    return np.where(judged.n_gold() > 0, judged.relevant_ranks(k), np.nan)


# The field's faulty definitions as a plugin's author writes them, each declared to obey the law that it breaks.


@sample_metric("checked-hit-at-k", laws=["tail"])
def hit_at_any_rank(ranking: JudgedSample, *, k: int) -> float | None:
    """Ignore k."""
    return float(any(ranking.relevant)) if ranking.n_gold else None


@sample_metric("checked-mrr")
def late_mrr(ranking: JudgedSample, *, k: int | None = None) -> float | None:
    """Count rank 2 as rank 1."""
    ranks = [rank for rank, relevant in enumerate(ranking.relevant[:k], 1) if relevant]
    return (1 / max(ranks[0] - 1, 1) if ranks else 0.0) if ranking.n_gold else None


@sample_metric("checked-last-mrr", laws=["relevant-helps"])
def last_mrr(ranking: JudgedSample) -> float | None:
    """Take the last hit instead of the first."""
    ranks = [rank for rank, relevant in enumerate(ranking.relevant, 1) if relevant]
    return (1 / ranks[-1] if ranks else 0.0) if ranking.n_gold else None


@sample_metric("checked-precision-at-k", laws=["padding"])
def precision_of_retrieved(ranking: JudgedSample, *, k: int) -> float | None:
    """Divide by what was retrieved."""
    top = ranking.relevant[:k]
    return (sum(top) / len(top) if top else 0.0) if ranking.n_gold else None


@sample_metric("checked-ap-at-k", laws=["relevant-helps"])
def precision_over_hits(ranking: JudgedSample, *, k: int) -> float | None:
    """Divide by the hits."""
    ranks = [rank for rank, relevant in enumerate(ranking.relevant[:k], 1) if relevant]
    found = [place / rank for place, rank in enumerate(ranks, 1)]
    return (sum(found) / len(found) if found else 0.0) if ranking.n_gold else None


@sample_metric("checked-ndcg-at-k", laws=["relevant-helps"])
def ndcg_of_retrieved(ranking: JudgedSample, *, k: int) -> float | None:
    """Take the ideal from what was retrieved."""
    gains = ranking.gains[:k]
    earned, best = (
        sum(gain / (rank + 1) for rank, gain in enumerate(each)) for each in (gains, sorted(gains, reverse=True))
    )
    return (earned / best if best else 0.0) if ranking.n_gold else None


@sample_metric("checked-rbp-at-k", laws=["tail"])
def rbp_beyond_one(ranking: JudgedSample, *, k: int) -> float | None:
    """Leave out the factor 1 - p."""
    return (
        sum(0.8**place for place, relevant in enumerate(ranking.relevant[:k]) if relevant) if ranking.n_gold else None
    )


@sample_metric("checked-deep-at-k", laws=["tail"])
def one_too_many(ranking: JudgedSample, *, k: int) -> float | None:
    """Look at one result too many."""
    return sum(ranking.relevant[: k + 1]) / ranking.n_gold if ranking.n_gold else None


@pytest.mark.parametrize(
    ("faulty", "law"),
    [
        (hit_at_any_rank, "tail"),
        (late_mrr, "top-rank"),
        (last_mrr, "relevant-helps"),
        (precision_of_retrieved, "padding"),
        (precision_over_hits, "relevant-helps"),
        (ndcg_of_retrieved, "relevant-helps"),
        (rbp_beyond_one, "bounded"),
        (one_too_many, "tail"),
    ],
)
@pytest.mark.usefixtures("first_example")
def test_faulty_definitions_that_are_declared_are_caught(faulty, law):
    report = check_metric(faulty, laws=[law])

    assert report.broken == (law,)


@in_thorough_suite()
def test_laws_that_a_metric_need_not_declare_catch_it():
    assert "top-rank" in check_metric(late_mrr, cases=draws(10)).broken


@pytest.mark.parametrize("faulty", [hit_at_any_rank, one_too_many])
@in_thorough_suite()
def test_no_report_advises_to_declare_tail_where_k_is_ignored(faulty):
    undeclared = sample_metric("checked-undeclared-at-k")(faulty.__wrapped__)

    report = check_metric(undeclared, cases=40, without=["batch-size", "one-by-one", "order-of-samples", "parts"])
    assert "tail" not in report.could_declare


@in_thorough_suite()
def test_the_example_of_an_ignored_cutoff_is_the_smallest_there_is():
    """Nothing relevant in the first result, and something below it."""
    example = check_metric(hit_at_any_rank, laws=["tail"])["tail"].example

    assert [(each["gold"], each["k"], each["score"]) for each in example] == [
        ({"doc-0": 1.0}, 1, 0.0),
        ({"doc-0": 1.0}, 1, 1.0),
    ]
    assert "doc-0" in example[1]["retrieved"][1:]


@in_thorough_suite()
def test_the_first_example_shown_is_one_that_fails():
    """A score out of range is shown alone, without those of other policies that were within."""
    (example,) = check_metric(rbp_beyond_one, laws=["bounded"])["bounded"].example

    assert example["score"] == 1.8


def test_the_first_sample_shown_is_the_one_whose_score_differs():
    broken = check_metric(by_place, laws=["one-by-one"])["one-by-one"]

    assert f"sample {broken.example[0]['sample']} scores" in broken.reason


@metric("checked-place", laws=[], uses_rel=False)
def by_place(judged: Judged) -> Scores:
    """Score a sample by its place in the batch."""
    return np.where(judged.n_gold() > 0, np.arange(judged.n) / judged.n, np.nan)


@in_thorough_suite()
def test_laws_that_hold_without_being_declared_are_named():
    report = check_metric(count_of_hits, cases=draws(40))

    report.raise_if_broken()
    found = {"best-first", "relevant-helps", "padding", "duplicates", "monotone-in-k", "linear"}
    assert found == set(report.could_declare)
    assert "it could declare best-first" in str(report)


@metric("checked-fullness-at-k", gold=())
def fullness(judged: Judged, *, k: Cutoff) -> Scores:
    """Score a ranking by how full it is."""
    return np.minimum(judged.depth, k) / np.maximum(k, 1)


def test_no_law_that_speaks_of_what_is_relevant_is_named_of_a_metric_without_ground_truth():
    report = check_metric(fullness, without=["sees-the-ranking"], cases=10)
    report.raise_if_broken()
    assert not report.could_declare


def test_a_range_without_a_top_has_no_perfect_score():
    report = check_metric(
        definitions.dcg_without_normalization, range=(0, None), without=["duplicates"], cases=draws(20)
    )

    report.raise_if_broken()
    assert report.skipped["perfect"] == "its range has no best value"


def misses(retrieved, relevant, k):
    return 1 - definitions.recall_at_k(retrieved, relevant, k) if relevant else 0.0


@in_thorough_suite()
def test_where_less_is_better_the_best_score_is_the_lowest():
    laws = ["bounded", "perfect", "best-first", "relevant-helps", "padding", "duplicates", "empty-list"]

    assert check_metric(misses, higher_is_better=False, laws=laws, cases=draws(40)).holds == tuple(laws)
    assert {"perfect", "relevant-helps"} <= set(check_metric(misses, laws=laws, cases=draws(40)).broken)


@in_thorough_suite()
def test_laws_are_chosen_and_left_out():
    chosen = check_metric(definitions.recall_without_a_cutoff, laws=["bounded", "tail"])
    assert (chosen.holds, chosen.broken) == (("bounded",), ("tail",))
    spared = check_metric(definitions.recall_without_a_cutoff, without=["tail", "last-rank"], cases=draws(20))
    assert spared.ok
    assert spared.skipped["tail"] == "left out on request"
    with pytest.raises(ParameterError, match=r"no law 'tails' of a metric \(did you mean 'tail'"):
        check_metric(definitions.recall_at_k, without=["tails"])


def test_laws_of_the_engine_are_none_of_other_functions():
    with pytest.raises(ParameterError, match="the law 'parts' is only for metrics that the engine scores"):
        check_metric(definitions.recall_at_k, laws=["parts"])


@in_thorough_suite()
def test_a_range_can_be_given_for_a_function_over_one_judged_sample():
    def count(ranking: JudgedSample, *, k: int) -> float | None:
        return float(sum(ranking.relevant[:k])) if ranking.n_gold else None

    assert check_metric(count, laws=["bounded"]).broken == ("bounded",)
    assert check_metric(count, laws=["bounded"], range=(0, None), cases=draws(100)).ok


def test_a_name_is_looked_up():
    assert check_metric("P@5", laws=["bounded"], cases=5).name == "retrieval-precision-at-k"
    with pytest.raises(UnknownNameError):
        check_metric("no-such-metric", catalog=Catalog.discover(own_only=True))


@pytest.mark.parametrize("thing", [list, 3, None])
def test_what_is_no_function_is_refused(thing):
    with pytest.raises(ParameterError, match="a metric is a function"):
        check_metric(thing)


def test_a_function_over_judged_has_to_be_declared():
    def bare(judged: Judged, *, k: Cutoff) -> Scores:
        raise NotImplementedError

    with pytest.raises(ParameterError, match="declare it with @metric"):
        check_metric(bare)


def test_a_function_that_fails_on_the_plainest_case_is_a_mistake_of_the_call():
    def text(retrieved, relevant, k):
        return "0.5"

    with pytest.raises(ParameterError, match="which is not a number"):
        check_metric(text)


def test_without_hypothesis_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "hypothesis", None)

    with pytest.raises(MissingExtraError, match=r"pip install 'rankgauge\[testing\]'") as raised:
        check_metric(definitions.recall_at_k)
    assert raised.value.extra == "testing"
    assert isinstance(raised.value, RankgaugeError)
    assert isinstance(raised.value, ImportError)


@rows("kind", get_args(Kind))
def test_every_law_says_what_it_demands(kind):
    """The name and the clause of a law come from its check; reports print both."""
    for name, law in laws_of(kind).items():
        assert law.name == name == name.lower()
        assert law.says
        assert not law.says.endswith(".")
        assert not law.says[0].isupper()


# What a declaration may say besides its laws.


def share(judged, k, exponent):
    found = judged.found(k) / np.where(judged.n_gold() > 0, judged.n_gold(), np.nan)
    return found**exponent


def check_exponent(*, exponent):
    if exponent <= 0:
        raise ValueError("the exponent is above 0")


def half_found(judged, *, k):
    return share(judged, k, 1) / 2


@metric("checked-power-at-k", short=("power",), check=check_exponent, laws=["bounded", "relevant-helps"])
def power(judged: Judged, *, k: Cutoff, exponent: float = 1.0) -> Scores:
    """Share of what was found, to some power."""
    return share(judged, k, exponent)


@metric("checked-needy-at-k", check=check_exponent)
def needy(judged: Judged, *, k: Cutoff, exponent: float = 0.0) -> Scores:
    """Have a default that its own check refuses."""
    return share(judged, k, exponent)


@metric("checked-level", short=("level", "level_{level}"), pins="level", laws=["bounded", "relevant-helps"])
def level_reached(judged: Judged, *, level: float = 0.5) -> Scores:
    """Whether a share was found."""
    return np.where(judged.n_gold() > 0, judged.found() >= level * judged.n_gold(), np.nan)


@metric("checked-depth", describes=True, range=(0.0, None), expectation="itself")
def depth(judged: Judged) -> Scores:
    """How much was retrieved, plus one, so that nothing is not the least."""
    return np.where(judged.n_gold() > 0, judged.depth + 1.0, np.nan)


@metric("checked-half-at-k", expectation=half_found)
def wrongly_expected(judged: Judged, *, k: Cutoff) -> Scores:
    """Declare the half of what is to be expected."""
    return share(judged, k, 1)


@in_thorough_suite()
def test_metric_that_its_defaults_do_not_suit_is_not_checked_and_says_with_what_it_could_be():
    assert check_metric(power, cases=10).ok
    report = check_metric(needy, cases=10)

    assert report.broken == ()
    assert "the exponent is above 0; check it with parameters" in report.unusable


@in_thorough_suite()
def test_check_that_raises_what_it_should_not_is_no_crash():
    def mistaken():
        raise AssertionError("not a ValueError")

    @metric("checked-mistaken-at-k", check=mistaken)
    def unchecked(judged: Judged, *, k: Cutoff, exponent: float = 1.0) -> Scores:
        """Have a check that fails."""
        return share(judged, k, exponent)

    assert "AssertionError: not a ValueError" in check_metric(unchecked)["usable"].reason


@in_thorough_suite()
def test_metric_of_a_catalog_is_checked_with_the_parameters_written():
    catalog = Catalog.discover(
        own_only=True, plugins={"mine": SimpleNamespace(rankgauge_metrics=hookimpl(lambda: [power, level_reached]))}
    )
    squared = check_metric("power(exponent=2)", catalog=catalog, laws=["usable", "bounded"], cases=10)
    assert (squared.name, squared.broken) == ("checked-power-at-k(exponent=2)", ())
    refused = check_metric("power(exponent=-1)", catalog=catalog, cases=10)
    assert refused.broken == ("usable",)
    for spec in ("level@0.25", "level_0.25"):
        report = check_metric(spec, catalog=catalog, laws=["usable", "relevant-helps", "twice"], cases=10)
        assert (report.name, report.broken) == ("checked-level(level=0.25)", ())
    assert check_metric("level@2", catalog=catalog, laws=["perfect"]).broken == ("perfect",)


@in_thorough_suite()
def test_metric_that_describes_may_score_nothing_retrieved():
    report = check_metric(depth, cases=draws(20))

    report.raise_if_broken()
    assert {"empty-list", "sees-the-ranking"} <= set(report.skipped)
    assert {"bounded", "expectation"} <= set(report.holds)


@in_thorough_suite()
def test_expectation_that_is_not_the_mean_over_all_orders_is_caught():
    report = check_metric(wrongly_expected, laws=["expectation"])

    assert report.broken == ("expectation",)
    assert report["expectation"].reason == "the mean over all 1 orders of the ties is 1.0"
    assert check_metric("mrr", laws=["expectation"], cases=draws(100)).holds == ("expectation",)
    assert "declares no `expectation`" in check_metric("bpref", laws=["expectation"]).skipped["expectation"]


@in_thorough_suite()
def test_metric_is_checked_without_its_matcher_where_that_cannot_work():
    def no_model():
        raise ModuleNotFoundError("the model is not here")

    @comparer("checked-absent", check=no_model)
    def absent(retrieved, gold):
        raise AssertionError("it was called all the same")

    @metric("checked-meaning-at-k", gold="answer", matcher="checked-absent >= 0.5", laws=["tail", "padding"])
    def meaning(judged: Judged, *, k: Cutoff) -> Scores:
        """Whether an answer was found."""
        return np.where(judged.n_gold() > 0, judged.found(k) > 0, np.nan)

    plugin = SimpleNamespace(
        rankgauge_metrics=hookimpl(lambda: [meaning]), rankgauge_comparers=hookimpl(lambda: [absent])
    )
    catalog = Catalog.discover(own_only=True, plugins={"mine": plugin})
    report = check_metric("checked-meaning-at-k", catalog=catalog, without=["pickling"], cases=10)

    report.raise_if_broken()
    assert report.skipped["usable"].endswith("the model is not here")
    assert {"tail", "padding", "empty-list", "parts"} <= set(report.holds)


def test_an_aggregate_that_fails_is_found():
    @aggregate("checked-broken")
    def broken(_values):
        """Fail."""
        raise RuntimeError("no number")

    @sample_metric("checked-depth", aggregate="checked-broken", range=(0.0, None))
    def depth(ranking: JudgedSample) -> float | None:
        """Count what was retrieved."""
        return float(ranking.depth) if ranking.n_gold else None

    hooks = {
        "rankgauge_metrics": hookimpl(specname="rankgauge_metrics")(lambda: [depth]),
        "rankgauge_aggregates": hookimpl(specname="rankgauge_aggregates")(lambda: [broken]),
    }
    catalog = Catalog.discover(own_only=True, plugins={"mine": SimpleNamespace(**hooks)})
    report = check_metric("checked-depth", catalog=catalog, cases=10)

    assert report.broken == ("usable",)
    assert "gives no value: RuntimeError: no number" in report["usable"].reason


def test_a_metric_of_whole_runs_that_fails_is_found():
    @run_metric("checked-whole")
    def whole(rankings) -> float | None:
        """Fail."""
        raise RuntimeError("no number")

    report = check_metric(whole, cases=10)

    assert report.broken == ("usable",)
    assert "gives no value: RuntimeError: no number" in report["usable"].reason
