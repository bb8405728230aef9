"""How functions from elsewhere are called: parameters named like a role, and what is said outright."""

from __future__ import annotations

import functools

import pytest

from draws import in_thorough_suite
from rankgauge.columns import Judged, JudgedSample
from rankgauge.errors import ParameterError
from rankgauge.features.testing.foreign_metrics import ROLES, read_calling
from rankgauge.testing import check_metric
from tables import rows


def roles(function, calls=None):
    return list(read_calling(function, calls).roles)


# fmt: off
def by_words(retrieved, relevant, k): ...
def gold_first(gold: list[str], retrieved: list[str], k: int = 10): ...
def counted(relevances, n_gold, k): ...
def against_the_ideal(relevances, ideal): ...
def of_a_run(gains, scores): ...
def capital(Retrieved, Gold, K): ...  # noqa: N803
def by_name_only(retrieved, *, relevant, k=5): ...
def with_options(retrieved, relevant, k, gain="linear", **others): ...
def over_sample(ranking: JudgedSample, *, k: int): ...
def over_judged(judged: Judged): ...
def oddly_annotated(retrieved: NoSuchName, relevant): ...  # noqa: F821
def nothing_known(a, b, c): ...
def other_words(predicted, actual, k): ...
def one_too_many(retrieved, relevant, weights): ...
def no_ranking(relevant, k): ...
# fmt: on


@rows(
    ("function", "expected"),
    [
        (by_words, [("retrieved", "retrieved"), ("relevant", "gold"), ("k", "k")]),
        (gold_first, [("gold", "gold"), ("retrieved", "retrieved"), ("k", "k")]),
        (counted, [("relevances", "relevances"), ("n_gold", "n-gold"), ("k", "k")]),
        (against_the_ideal, [("relevances", "relevances"), ("ideal", "ideal")]),
        (of_a_run, [("gains", "gains"), ("scores", "scores")]),
        (capital, [("Retrieved", "retrieved"), ("Gold", "gold"), ("K", "k")]),
        (with_options, [("retrieved", "retrieved"), ("relevant", "gold"), ("k", "k")]),
        (oddly_annotated, [("retrieved", "retrieved"), ("relevant", "gold")]),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_parameters_named_like_a_role_are_given_it(function, expected):
    assert roles(function) == expected


def test_parameters_behind_a_star_are_given_by_name():
    assert read_calling(by_name_only).by_name == {"relevant", "k"}
    assert read_calling(by_name_only, "retrieved,set,k").by_name == {"relevant", "k"}


def test_rankgauges_own_forms_are_known():
    assert read_calling(over_sample) == "sample"
    assert read_calling(nothing_known, "sample") == "sample"
    assert read_calling(over_judged) == "judged"


def test_it_can_be_said_what_the_parameters_are():
    assert roles(nothing_known, "gold,retrieved,k") == [("a", "gold"), ("b", "retrieved"), ("c", "k")]
    assert roles(nothing_known, " relevances, n-gold ,k ") == [("a", "relevances"), ("b", "n-gold"), ("c", "k")]
    assert roles(nothing_known, "relevant,retrieved,k")[0] == ("a", "gold")
    assert roles(gold_first, "retrieved,set") == [("gold", "retrieved"), ("retrieved", "set")]
    assert read_calling(nothing_known, "batch:retrieved,set,k").batch
    assert not read_calling(nothing_known, "retrieved,set,k").batch


@rows(
    ("function", "calls", "message"),
    [
        (nothing_known, None, "no role is named 'a', 'b', 'c'"),
        (one_too_many, None, "no role is named 'weights'"),
        (other_words, None, "no role is named 'predicted', 'actual'"),
        (no_ranking, None, "no parameter is named like a ranking"),
        (by_words, "lists", r"'lists' is not a role \(did you mean 'list'"),
        (by_words, "relevance", "did you mean 'relevances'"),
        (by_words, "retrieved,gould,k", "did you mean 'gold'"),
        (by_words, "retrieved,gold", "takes \\(retrieved, relevant, k\\)"),
        (by_words, "retrieved,gold,k,n-gold", "names 4 parameters"),
    ],
)
def test_what_nothing_says_is_asked_for(function, calls, message):
    with pytest.raises(ParameterError, match=message):
        read_calling(function, calls)


def test_the_message_says_what_to_give():
    with pytest.raises(ParameterError) as raised:
        read_calling(other_words)
    assert "Give calls='...,...,k' (--calls on the command line)" in str(raised.value)
    assert all(role in str(raised.value) for role in ROLES)


def test_a_function_whose_parameters_cannot_be_read_is_called_as_said():
    class Opaque:
        __signature__ = "none"

        def __call__(self, found, gold):
            return float(bool(set(found) & gold))

    with pytest.raises(ParameterError, match="its parameters cannot be read"):
        read_calling(Opaque())
    report = check_metric(Opaque(), calls="retrieved,set", laws=["bounded"])
    assert report.ok


def test_other_parameters_are_set_by_a_partial():
    def f_measure(retrieved, relevant, k, beta):
        found, square = len(set(retrieved[:k]) & relevant), beta**2
        return (1 + square) * found / (square * len(relevant) + k) if relevant else 0.0

    with pytest.raises(ParameterError, match="no role is named 'beta'"):
        check_metric(f_measure)
    assert check_metric(functools.partial(f_measure, beta=2.0), laws=["bounded", "padding"], cases=20).ok


@in_thorough_suite()
def test_ground_truth_is_given_in_the_form_that_works():
    def needs_a_dict(retrieved, relevant, k):
        return sum(relevant.get(doc, 0) > 0 for doc in set(retrieved[:k])) / k

    def needs_a_list(retrieved, relevant, k):
        return len(set(retrieved[:k]) & set(relevant[:1000])) / k

    assert "relevant = grades by id" in check_metric(needs_a_dict, laws=["bounded"]).called
    assert "relevant = list of relevant ids" in check_metric(needs_a_list, laws=["bounded"]).called


@in_thorough_suite()
def test_a_function_over_a_batch_has_to_be_said_to_be_one():
    def shares(retrieved, relevant, k):
        return [len(set(found[:k]) & gold) / k for found, gold in zip(retrieved, relevant, strict=True)]

    with pytest.raises(ParameterError, match="batch: before them for lists of rankings"):
        check_metric(shares, laws=["bounded"])
    report = check_metric(shares, calls="batch:retrieved,set,k", laws=["bounded", "one-by-one"])
    assert report.called.endswith("each in a list")
    assert report.ok
