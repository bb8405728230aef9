"""How functions from elsewhere want to be called: names, annotations, and what is said outright."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

import pytest

from rankgauge.columns import Judged, JudgedSample
from rankgauge.errors import ParameterError
from rankgauge.testing import check_metric
from rankgauge.testing.calling import read_calling


def roles(function, calls="auto"):
    return read_calling(function, calls).roles


# fmt: off
def by_words(retrieved, relevant, k): ...
def gold_first(actual, predicted, k=10): ...
def scikit(y_true, y_pred): ...
def camel(rankedList, goldSet, topK): ...  # noqa: N803
def only_one_known(gold, x): ...
def only_the_ranking_known(ranking, truthiness: set[str]): ...
def mapped(run: dict[str, float], qrels: dict[str, int], cutoff: int): ...
def annotated(a: list[str], b: set[str]): ...
def graded(ranking: Sequence[str], relevance: Mapping[str, float], k): ...
def listed(results: list[str], labels: list[str]): ...
def abstract(results: Sequence[str], labels: AbstractSet[str] | None): ...
def grades(r, k): ...
def grades_and_count(relevances, n_relevant, k): ...
def grades_and_ideal(rels, all_rels): ...
def grades_and_gold(rels: list[float], gold_rels: list[float], k: int): ...
def batched(predicted: list[list[str]], actual: list[set[str]], k): ...
def by_name_only(retrieved, *, relevant, k=5): ...
def with_options(retrieved, relevant, k, gain="linear", **others): ...
def over_sample(ranking: JudgedSample, *, k: int): ...
def over_judged(judged: Judged): ...
def nothing_known(a, b, c): ...
def one_too_many(retrieved, relevant, weights): ...
def two_rankings(retrieved, ranking, relevant): ...
def no_ranking(relevant, k): ...
# fmt: on


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (by_words, [("retrieved", "retrieved"), ("relevant", "gold"), ("k", "k")]),
        (gold_first, [("actual", "gold"), ("predicted", "retrieved"), ("k", "k")]),
        (scikit, [("y_true", "gold"), ("y_pred", "retrieved")]),
        (camel, [("rankedList", "retrieved"), ("goldSet", "gold"), ("topK", "k")]),
        (only_one_known, [("gold", "gold"), ("x", "retrieved")]),
        (only_the_ranking_known, [("ranking", "retrieved"), ("truthiness", "set")]),
        (mapped, [("run", "scores"), ("qrels", "gains"), ("cutoff", "k")]),
        (annotated, [("a", "retrieved"), ("b", "set")]),
        (graded, [("ranking", "retrieved"), ("relevance", "gains"), ("k", "k")]),
        (listed, [("results", "retrieved"), ("labels", "list")]),
        (abstract, [("results", "retrieved"), ("labels", "set")]),
        (grades, [("r", "relevances"), ("k", "k")]),
        (grades_and_count, [("relevances", "relevances"), ("n_relevant", "n-gold"), ("k", "k")]),
        (grades_and_ideal, [("rels", "relevances"), ("all_rels", "ideal")]),
        (grades_and_gold, [("rels", "relevances"), ("gold_rels", "ideal"), ("k", "k")]),
        (with_options, [("retrieved", "retrieved"), ("relevant", "gold"), ("k", "k")]),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_parameters_are_read_from_their_names_and_annotations(function, expected):
    assert list(roles(function)) == expected


def test_lists_of_lists_are_a_batch():
    assert read_calling(batched).batch
    assert not read_calling(listed).batch
    assert read_calling(by_words, "batch").batch


def test_parameters_behind_a_star_are_given_by_name():
    assert read_calling(by_name_only).by_name == {"relevant", "k"}


def test_rankgauges_own_forms_are_known():
    assert read_calling(over_sample) == "sample"
    assert read_calling(nothing_known, "sample") == "sample"
    assert read_calling(over_judged) == "judged"


def test_it_can_be_said_what_the_parameters_are():
    assert list(roles(nothing_known, "gold,retrieved,k")) == [("a", "gold"), ("b", "retrieved"), ("c", "k")]
    assert list(roles(nothing_known, " relevances, n-gold ,k ")) == [("a", "relevances"), ("b", "n-gold"), ("c", "k")]
    assert list(roles(grades, "relevances")) == [("r", "relevances"), ("k", "k")]
    assert read_calling(nothing_known, "batch:retrieved,set,k").batch


@pytest.mark.parametrize(
    ("function", "calls", "message"),
    [
        (nothing_known, "auto", "nothing says what 'a', 'b', 'c' are"),
        (one_too_many, "auto", "nothing says what 'weights' is"),
        (two_rankings, "auto", "two parameters look like 'retrieved'"),
        (no_ranking, "auto", "no parameter looks like a ranking"),
        (by_words, "lists", "is no calling convention"),
        (by_words, "relevance", "did you mean 'relevances'"),
        (by_words, "retrieved,gould,k", "did you mean 'gold'"),
        (by_words, "retrieved,gold", "takes \\(retrieved, relevant, k\\)"),
        (by_words, "retrieved,gold,k,n-gold", "names 4 parameters"),
    ],
)
def test_what_cannot_be_told_is_asked_for(function, calls, message):
    with pytest.raises(ParameterError, match=message):
        read_calling(function, calls)


def test_the_message_says_what_to_say():
    with pytest.raises(ParameterError) as raised:
        read_calling(one_too_many)
    assert "calls='retrieved,gold,...'" in str(raised.value)


def test_ground_truth_is_given_in_the_form_that_works():
    def needs_a_dict(retrieved, relevant, k):
        return sum(relevant.get(doc, 0) > 0 for doc in set(retrieved[:k])) / k

    def needs_a_list(retrieved, relevant, k):
        return len(set(retrieved[:k]) & set(relevant[:1000])) / k

    assert "relevant = grades by id" in check_metric(needs_a_dict, laws=["bounded"]).called
    assert "relevant = list of relevant ids" in check_metric(needs_a_list, laws=["bounded"]).called


def test_a_batch_is_recognized_by_what_works():
    def shares(retrieved, relevant, k):
        return [len(set(found[:k]) & gold) / k for found, gold in zip(retrieved, relevant, strict=True)]

    report = check_metric(shares, laws=["bounded", "one-by-one"])
    assert report.called.endswith("all of it in lists")
    assert report.ok
