"""Comparisons that know of unjudged documents: the second column, and a verdict that depends on it."""

from dataclasses import replace

import pytest

from rankgauge import compare, evaluate
from rankgauge.comparison.differences import Unjudged
from rankgauge.comparison.sentences import unjudged_lines, verdicts
from rankgauge.engine.comparing import unjudged_of
from rankgauge.errors import ResultError

QUERIES = [f"q{number}" for number in range(12)]
QRELS = {query: {"a": 1, "n": 0} for query in QUERIES}


def runs(**rankings):
    """Return a result for each run; every query has the same ranking, one letter a document."""
    return {
        name: evaluate(
            QRELS, {query: {doc: -at for at, doc in enumerate(ranking)} for query in QUERIES}, ["rr", "unjudged@2"]
        )
        for name, ranking in rankings.items()
    }


def compared(**rankings):
    return compare(runs(**rankings), metrics="rr", condensed=True)["new"]["rr"]


def test_a_difference_made_by_unjudged_documents_alone_depends_on_them():
    """x pushes a to rank 2: RR 1/2 against 1. Without x both rank a first."""
    found = compared(base="xa", new="ax")
    assert found.difference == 0.5
    assert found.condensed.difference == 0.0
    assert (found.verdict, found.condensed.verdict) == ("depends on unjudged documents", "same")


def test_a_difference_that_turns_round_depends_on_unjudged_documents():
    """base: a behind x, y: 1/3. new: behind n, which was judged: 1/2. Without x and y base is 1."""
    found = compared(base="xya", new="na")
    assert found.difference == pytest.approx(1 / 6)
    assert found.condensed.difference == -0.5
    assert found.verdict == "depends on unjudged documents"


def test_a_difference_that_stays_is_decided():
    comparison = compare(runs(base="nxa", new="ax"), metrics="rr", condensed=True)
    found = comparison["new"]["rr"]
    assert (found.verdict, found.condensed.verdict) == ("better", "better")
    assert next(verdicts(comparison))[0].startswith("new is better: rr +0.667")


def test_without_condensed_lists_the_verdict_is_that_of_the_lists_as_they_are():
    found = compare(runs(base="xa", new="ax"), metrics="rr")["new"]["rr"]
    assert (found.verdict, found.condensed) == ("better", None)


def test_every_run_says_how_much_is_unjudged_and_what_that_could_change():
    found = compare(runs(base="xa", new="na"), metrics="rr", bounds=True)
    assert {run: dict(own.shares) for run, own in found.unjudged.items()} == {
        "base": {"unjudged@2": 0.5},
        "new": {"unjudged@2": 0.0},
    }
    assert {run: own.bounds["rr"] for run, own in found.unjudged.items()} == {"base": (0.5, 1.0), "new": (0.5, 0.5)}


def test_json_has_the_second_comparison_and_what_is_unjudged():
    document = compare(runs(base="xa", new="ax"), metrics="rr", condensed=True, bounds=True).to_dict()
    metric = document["comparisons"][0]["metrics"]["rr"]
    assert metric["verdict"] == "depends on unjudged documents"
    assert metric["condensed"]["difference"] == 0.0
    assert document["unjudged"]["new"] == {"shares": {"unjudged@2": 0.5}, "bounds": {"rr": [1.0, 1.0]}}


def test_a_comparison_that_knows_of_no_unjudged_documents_tells_of_none():
    comparison = compare(runs(base="xa", new="ax"), metrics="rr")
    (pair,) = comparison.comparisons
    assert list(unjudged_lines(comparison, pair)) == ["unjudged@2: base 0.5000, new 0.5000"]
    assert list(unjudged_lines(replace(comparison, unjudged={}), pair)) == []
    known = {"base": Unjudged({"unjudged@2": 0.5}, {}), "new": Unjudged({}, {"rr": (0.25, 1)})}
    assert list(unjudged_lines(replace(comparison, unjudged=known), pair)) == [
        "unjudged@2: base 0.5000",
        "rr, worst to best case: new 0.2500 to 1.0000",
    ]


def test_results_of_samples_cannot_be_condensed(engine):
    samples = [{"id": "q", "expected_output": ["a"], "actual_output": ["a"]}]
    result = engine.dataset(samples).with_metrics("MRR").run()
    with pytest.raises(ResultError, match="one: what unjudged documents could change is found by"):
        compare({"one": result, "other": result}, condensed=True)


def test_shares_are_of_the_results_there_are():
    """One query has two results of which one is judged, one has none, and one is missing: a half, not a fortieth."""
    qrels = {query: {"a": 1} for query in ("short", "empty", "missing")}
    run = {"short": {"a": 2.0, "x": 1.0}, "empty": {}}
    result = evaluate(qrels, run, ["unjudged(of=retrieved)@10", "unjudged@10"])

    only = evaluate(qrels, run, ["RR", "unjudged(of=retrieved)@10"])
    assert unjudged_of(only).shares == {"unjudged@10": 0.5}
    assert result.metrics["unjudged@10"].values.tolist() == [0.0, 0.0, 0.1]


def test_a_run_with_missing_outputs_does_not_look_better_judged():
    qrels = {f"q{number}": {"a": 1} for number in range(8)}
    whole = {query: {"a": 2.0, "x": 1.0} for query in qrels}
    broken = {query: whole[query] for query in list(qrels)[:3]}
    shares = [unjudged_of(evaluate(qrels, run, ["unjudged(of=retrieved)@10"])).shares for run in (whole, broken)]
    assert shares == [{"unjudged@10": 0.5}, {"unjudged@10": 0.5}]
