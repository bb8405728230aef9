"""Tops of rankings: the first results of each judged query, as they are ranked for scoring."""

import numpy as np

from rankgauge.io.open_sources import open_qrels, open_run
from rankgauge.judging.top import TopCollector
from rankgauge.policy import PROFILES

QRELS = open_qrels({"q1": {"a": 1}, "q2": {"a": 1}})


def top(run, at_most, **policy):
    """Return query, rank and document of each row."""
    collector = TopCollector(QRELS, PROFILES["trec10"].policy.with_options(policy), at_most)
    for batch in open_run(run).grouped():
        collector.add(batch)
    found = collector.finish().of_queries(0, 2)
    return [(f"q{place + 1}", rank, document.decode()) for place, rank, document in found]


def test_results_are_ranked_by_score_and_cut():
    run = {"q2": {"x": 1.0, "y": 3.0, "z": 2.0}, "q1": {"a": 1.0}}
    assert top(run, 2) == [("q1", 1, "a"), ("q2", 1, "y"), ("q2", 2, "z")]


def test_ties_are_settled_as_the_policy_says():
    run = {"q1": {"b": 1.0, "c": 1.0, "a": 1.0}}
    assert top(run, 2) == [("q1", 1, "c"), ("q1", 2, "b")]
    assert top(run, 2, ties="given") == [("q1", 1, "b"), ("q1", 2, "c")]
    assert top(run, 2, order="given") == [("q1", 1, "b"), ("q1", 2, "c")]


def test_what_the_policy_drops_takes_no_rank(tmp_path):
    path = tmp_path / "run.txt"
    path.write_text("q1 Q0 x 1 3 t\nq1 Q0 x 2 2 t\nq1 Q0 y 3 1 t\nq1 Q0 q1 4 9 t\n", encoding="utf-8")
    assert top(path, 9, duplicates="first", exclude_self=True) == [("q1", 1, "x"), ("q1", 2, "y")]


def test_the_depth_of_the_policy_counts_too():
    assert len(top({"q1": {"a": 2.0, "b": 1.0}}, 9, depth=1)) == 1


def test_queries_without_judgments_are_left_out():
    assert top({"q9": {"a": 1.0}}, 9) == []
    run = {"q9": {"a": 1.0}, "q2": {"b": 1.0}, "q1": {"c": 1.0}}
    assert top(run, 9) == [("q1", 1, "c"), ("q2", 1, "b")]
    collector = TopCollector(QRELS, PROFILES["trec10"].policy, 9)
    (batch,) = open_run(run).grouped()
    collector.add(batch)
    assert collector.finish().places.tolist() == [0, 1]
    collector.clear()
    assert collector.finish().places.tolist() == []


def test_queries_that_nobody_wants_are_left_out():
    collector = TopCollector(QRELS, PROFILES["trec10"].policy, 9, wanted=np.array([False, True]))
    for batch in open_run({"q1": {"a": 1.0}, "q2": {"b": 1.0}}).grouped():
        collector.add(batch)
    assert collector.finish().of_queries(0, 2) == [(1, 1, b"b")]
