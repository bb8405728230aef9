"""Queues where nothing is judged yet: whole questions, drawn and shuffled by a seed."""

import pytest

from rankgauge.engine.runs import plan_run
from rankgauge.errors import NothingToEvaluateError, ParameterError
from rankgauge.features.labels.pools import make_first_queue

RUNS = {
    "A": {f"q{at}": {"a": 3.0, "b": 2.0, "c": 1.0} for at in range(8)},
    "B": {f"q{at}": {"x": 2.0, "a": 1.0} for at in range(1, 9)},
}


def queue(metric="P@2", runs=RUNS, **options):
    return make_first_queue(plan_run([metric]), runs, **options)


def pairs(found):
    return [(item.query.decode(), item.document.decode()) for item in found.items]


def test_it_has_every_document_near_the_top_of_any_run():
    found = queue()
    expected = {(f"q{at}", document) for at in range(8) for document in "ab"}
    expected |= {(f"q{at}", document) for at in range(1, 9) for document in "xa"}
    assert len(pairs(found)) == len(expected)
    assert set(pairs(found)) == expected
    ranks = {pair: item.ranks for pair, item in zip(pairs(found), found.items, strict=True)}
    assert (ranks["q1", "a"], ranks["q0", "a"], ranks["q8", "x"]) == ((1, 2), (1, 0), (0, 1))
    assert len(pairs(queue(depth=1))) == 8 + 8


def test_questions_stand_together_and_are_shuffled_by_the_seed():
    found = [query for query, _ in pairs(queue())]
    order = list(dict.fromkeys(found))
    assert [query for query in order for _ in range(found.count(query))] == found
    assert order != sorted(order)
    assert pairs(queue()) == pairs(queue())
    assert pairs(queue(seed=1)) != pairs(queue())
    assert any(documents != tuple(sorted(documents)) for documents in by_query(queue()).values())


def by_query(found):
    grouped = {}
    for query, document in pairs(found):
        grouped[query] = (*grouped.get(query, ()), document)
    return grouped


def test_fewer_questions_are_part_of_more():
    three, five = by_query(queue(questions=3)), by_query(queue(questions=5))
    assert (len(three), len(five)) == (3, 5)
    assert three.items() <= five.items()


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"questions": 0}, "the number of questions of a queue must be 1 or more, not 0"),
        ({"questions": 10}, "10 questions are asked for, and the runs have 9"),
        ({"grades": [1]}, "grades are two or more different numbers"),
        ({"depth": 0}, "the depth of a queue must be 1 or more, not 0"),
    ],
)
def test_numbers_that_cannot_be_are_refused(options, why):
    with pytest.raises(ParameterError, match=why):
        queue(**options)


def test_runs_without_queries_are_refused():
    with pytest.raises(NothingToEvaluateError, match="the runs have no query"):
        queue(runs={"A": {}})
