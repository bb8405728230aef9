"""Queues: what is urgent, in which order, and which documents are judged again."""

import math

import numpy as np
import pytest

from rankgauge.engine.runs import plan_run
from rankgauge.errors import NothingToEvaluateError, ParameterError, PolicyError
from rankgauge.features.labels.pools import make_queue
from rankgauge.features.labels.queue import Pooled, Shortlist, priorities
from tables import rows

QRELS = {"q1": {"a": 1, "n": 0}, "q2": {"a": 1}}


def pooled(number, priority=0.0, grade=None):
    return Pooled(query=b"q", document=b"d%03d" % number, ranks=(number, 0), priority=priority, grade=grade)


def queue(runs, metric="P@2", qrels=QRELS, **options):
    return make_queue(plan_run([metric]), qrels, runs, **options)


def ranking(text):
    return {document: float(-at) for at, document in enumerate(text)}


def test_two_runs_weigh_a_document_by_the_difference_of_what_it_changes():
    assert priorities([np.array([0.5, 0.5, 0.1]), np.array([0.5, -0.25, 0.0])]).tolist() == [0.0, 0.75, 0.1]


def test_one_run_or_many_weigh_a_document_by_the_sum_of_what_it_changes():
    assert priorities([np.array([0.5, -0.5])]).tolist() == [0.5, 0.5]
    assert priorities([np.array([0.5, -0.5])] * 3).tolist() == [1.5, 1.5]


def test_documents_that_only_one_of_two_runs_has_come_first():
    """With P@2, x and y each change one run by 1/2; b stands in both and changes neither difference."""
    found = queue({"A": {"q1": ranking("bx"), "q2": ranking("a")}, "B": {"q1": ranking("yb"), "q2": ranking("a")}})
    assert [(item.document, item.priority, item.ranks) for item in found.items] == [
        (b"y", 0.5, (0, 1)),
        (b"x", 0.5, (2, 0)),
    ]
    assert (found.n_unjudged, found.n_idle, found.n_new) == (3, 1, 2)


def test_ties_go_by_rank_then_query_then_document():
    ones = {"q2": ranking("uv"), "q1": ranking("wx")}
    found = queue({"A": ones}, metric="P@5", depth=2)
    assert [(item.query, item.document) for item in found.items] == [
        (b"q1", b"w"),
        (b"q2", b"u"),
        (b"q1", b"x"),
        (b"q2", b"v"),
    ]


def test_the_weight_of_a_rank_is_the_metrics_own():
    """A perfect answer at rank 1: an RR of 1 can change no more, so only q2 has anything to judge."""
    found = queue({"A": {"q1": ranking("ax"), "q2": ranking("xa")}}, metric="RR")
    assert [(item.query, item.document, item.priority) for item in found.items] == [(b"q2", b"x", 0.5)]


def test_a_negative_grade_is_no_judgment():
    found = queue({"A": {"q": ranking("pa")}}, qrels={"q": {"a": 1, "p": -1}})
    assert [item.document for item in found.items] == [b"p"]
    assert found.items[0].priority == 0.5


def test_only_the_top_of_a_query_is_looked_at():
    run = {"q1": ranking("uvwxyz"), "q2": ranking("a")}
    assert queue({"A": run}, metric="recall@5").depth == 5
    assert queue({"A": run}, metric="AP").depth == 100
    assert queue({"A": run}, metric="AP", depth=2).n_unjudged == 2


def test_lines_of_a_query_that_are_not_together_are_one_ranking(tmp_path):
    (tmp_path / "run").write_text("q1 Q0 x 1 3 t\nq2 Q0 y 1 3 t\nq1 Q0 z 2 2 t\n", encoding="utf-8")
    found = queue({"A": str(tmp_path / "run")})
    assert sorted((item.document, item.ranks) for item in found.items) == [(b"x", (1,)), (b"y", (1,)), (b"z", (2,))]


def test_one_document_in_ten_was_judged_before():
    shortlist = Shortlist(100, seed=0)
    shortlist.add(pooled(number, priority=1 / number) for number in range(1, 500))
    shortlist.add(pooled(number, grade=1.0) for number in range(500, 900))
    items = shortlist.items()
    assert len(items) == 100
    assert [sum(item.grade is not None for item in items[at : at + 10]) for at in range(0, 100, 10)] == [1] * 10
    new = [item.document for item in items if item.grade is None]
    assert new == [b"d%03d" % number for number in range(1, 91)]
    assert len({at % 10 for at, item in enumerate(items) if item.grade is not None}) > 3


@rows("limit", range(1, 31))
def test_a_queue_is_never_longer_than_its_limit(limit):
    shortlist = Shortlist(limit, seed=0)
    shortlist.add(pooled(number, priority=0.5) for number in range(1, 100))
    shortlist.add(pooled(number, grade=1.0) for number in range(100, 200))
    items = shortlist.items()
    assert len(items) == limit
    assert sum(item.grade is not None for item in items) == round(limit / 10)


def test_the_seed_chooses_the_judged_documents_and_steps_do_not():
    def drawn(seed, step):
        shortlist = Shortlist(50, seed)
        everything = [pooled(number, priority=0.5) for number in range(1, 100)]
        everything += [pooled(number, grade=0.0) for number in range(100, 300)]
        for begin in range(0, len(everything), step):
            shortlist.add(everything[begin : begin + step])
        return [item.document for item in shortlist.items()]

    assert drawn(1, 7) == drawn(1, 299)
    assert drawn(1, 7) != drawn(2, 7)


def test_the_grades_of_a_judge_are_those_of_the_judgments():
    run = {"A": {"q": ranking("xa")}}
    assert queue(run, qrels={"q": {"a": 3, "b": -2}}).grades == (0.0, 3.0)
    assert queue(run, qrels={"q": {"a": 1}}, grades=[2, 0, 1]).grades == (0.0, 1.0, 2.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"limit": 0}, "the limit of a queue must be 1 or more, not 0"),
        ({"depth": -1}, "the depth of a queue must be 1 or more, not -1"),
        ({"grades": [1]}, "grades are two or more different numbers from 0 on, such as 0,1,2; not 1"),
        ({"grades": [0, math.nan]}, "grades are two or more"),
    ],
)
def test_options_that_cannot_be(options, message):
    with pytest.raises(ParameterError, match=message):
        queue({"A": {"q1": ranking("xa")}}, **options)


@pytest.mark.parametrize(("option", "value"), [("judged_only", True), ("ties", "average")])
def test_policies_without_unjudged_documents_or_ranks(option, value):
    with pytest.raises(PolicyError, match=option):
        make_queue(plan_run(["P@2"], policy={option: value}), QRELS, {"A": {"q1": ranking("xa")}})


def test_runs_of_other_queries():
    with pytest.raises(NothingToEvaluateError, match="0 of 2 query ids overlap"):
        queue({"A": {"Q1": ranking("x")}})
