"""Judging dictionaries some queries at a time."""

import random
from collections import OrderedDict
from types import MappingProxyType

import pytest

import rankgauge
from rankgauge.errors import DataError
from rankgauge.judging import few, mappings

METRICS = ["RR", "ndcg@3", "judged@2"]


@pytest.fixture(autouse=True)
def _none_are_few(monkeypatch):
    """Keep small dictionaries from the road for a few queries."""
    monkeypatch.setattr(few, "_QUERIES", 0)


@pytest.fixture
def small_steps(monkeypatch):
    """Let every step take a query or two, so that a few queries take several."""
    monkeypatch.setattr(mappings, "_FIRST_QUERIES", 1)
    monkeypatch.setattr(mappings, "_QUERIES", 2)


def scores_of(qrels, run):
    result = rankgauge.evaluate(qrels, run, METRICS)
    return result.sample_ids, {name: column.values.tolist() for name, column in result.metrics.items()}


def drawn(chance):
    """Return judgments and a run that stand in no order; every third query is missing from the run."""
    names = chance.sample([f"q{number}" for number in range(30)], 30)
    qrels = {
        name: {f"d{chance.randrange(9)}": chance.randrange(3) for _ in range(chance.randrange(1, 5))} for name in names
    }
    run = {
        name: {f"d{document}": float(chance.randrange(4)) for document in chance.sample(range(9), chance.randrange(6))}
        for number, name in enumerate(names)
        if number % 3
    }
    return qrels, run


def test_steps_never_change_a_score(monkeypatch):
    qrels, run = drawn(random.Random(1))  # noqa: S311  # no secret
    expected = scores_of(qrels, run)
    assert list(expected[0]) == sorted(qrels)
    monkeypatch.setattr(mappings, "_FIRST_QUERIES", 1)
    for step in (1, 2, 7):
        monkeypatch.setattr(mappings, "_QUERIES", step)
        assert scores_of(qrels, run) == expected


@pytest.mark.usefixtures("small_steps")
def test_the_order_of_queries_never_changes_a_score():
    """In one run all queries come as judged, in one they do up to the fourth, and in one they do not."""
    chance = random.Random(2)  # noqa: S311  # no secret
    qrels, run = drawn(chance)
    run = {query: run.get(query, {"d1": 1.0}) for query in qrels}
    expected = scores_of(qrels, run)
    names = list(run)
    for order in ([*names[:3], *reversed(names[3:])], chance.sample(names, len(names))):
        assert scores_of(qrels, {query: run[query] for query in order}) == expected
        assert scores_of({query: qrels[query] for query in order}, run) == expected


@pytest.mark.parametrize("names", [["_LONG"]])
def test_long_rankings_and_many_judged_results_come_to_the_same(monkeypatch, names):
    """What is done query by query from some size on is done here for all."""
    cases = [drawn(random.Random(seed)) for seed in range(5)]  # noqa: S311  # no secret
    expected = [scores_of(*case) for case in cases]
    for name in names:
        monkeypatch.setattr(mappings, name, 0)
    assert [scores_of(*case) for case in cases] == expected


@pytest.mark.parametrize("names", [[], ["_LONG"]])
@pytest.mark.parametrize("score", ["1", None, float("inf"), 10**400])
def test_a_score_that_is_no_number_is_told_however_it_was_read(monkeypatch, names, score):
    for name in names:
        monkeypatch.setattr(mappings, name, 0)
    with pytest.raises(DataError, match="query 'b': the score of 'y'"):
        rankgauge.evaluate({"a": {"x": 1}, "b": {"x": 1}}, {"a": {"x": 1.0}, "b": {"x": 1.0, "y": score}}, "RR")


def test_rankings_may_be_mappings_of_any_kind():
    """Of x 3, a 2 and a 5, b 1 the second and first are relevant."""
    rankings = {"q1": {"x": 3.0, "a": 2.0}, "q2": {"b": 1.0, "a": 5.0}}
    for kind in (dict, MappingProxyType, OrderedDict):
        run = {query: kind(ranking) for query, ranking in rankings.items()}
        assert scores_of({"q1": {"a": 1}, "q2": {"a": 1}}, run)[1]["rr"] == [0.5, 1]


@pytest.mark.usefixtures("small_steps")
def test_a_run_that_is_in_order_again_is_read_by_name(monkeypatch):
    """The second query stands at its place, behind one that nobody judged."""
    monkeypatch.setattr(mappings, "_QUERIES", 1)
    run = {"z": {"a": 1.0}, "q2": {"x": 2.0, "a": 1.0}}
    assert scores_of({"q1": {"a": 1}, "q2": {"a": 1}}, run)[1]["rr"] == [0, 0.5]


def test_the_order_given_and_own_documents_are_those_of_the_policy():
    """As given a stands at rank 3, and at rank 2 without q; by its score it is first."""
    run = {"q": {"x": 1.0, "q": 2.0, "a": 3.0}, "r": {"q": 3.0, "a": 2.0}}
    for options, expected in (
        ({}, [1, 1 / 2]),
        ({"order": "given"}, [1 / 3, 1 / 2]),
        ({"order": "given", "exclude_self": True}, [1 / 2, 1 / 2]),
    ):
        result = rankgauge.evaluate({"q": {"a": 1}, "r": {"a": 1}}, run, "RR", policy=options)
        assert result["RR"].values.tolist() == expected
    close = {"q": {"b": 1.0, "a": 1.000000001}}
    ranks = [
        rankgauge.evaluate({"q": {"a": 1}}, close, "RR", policy={"score_dtype": kind})["RR"].mean
        for kind in ("float64", "float32")
    ]
    assert ranks == [1, 1 / 2]  # a tie, by id descending


@pytest.mark.usefixtures("small_steps")
@pytest.mark.parametrize(
    ("run", "message"),
    [
        ({"b": {"x": 1.0}, "a": None}, "query 'a' has a NoneType where {document: score} is expected"),
        ({"a": {"x": 1.0}, "z": ["x"]}, "query 'z' has a list where {document: score} is expected"),
        ({"a": {"x": 1.0}, "z": {7: 1.0}}, "query 'z': the document id 7 is an int"),
        ({"a": {"x": 1.0}, 7: {}}, "the query id 7 is an int"),
    ],
)
def test_a_run_without_the_shape_of_one_is_refused_also_where_it_is_not_judged(run, message):
    with pytest.raises(DataError) as raised:
        rankgauge.evaluate({"b": {"x": 1}, "a": {"x": 1}}, run, "RR")
    assert [str(problem) for problem in raised.value.problems if message in str(problem)], raised.value


@pytest.mark.usefixtures("small_steps")
def test_every_wrong_score_is_told_at_once():
    qrels = {query: {"x": 1} for query in "abcd"}
    run = {query: {"x": float("nan") if query in "ad" else 1.0} for query in "abcd"}
    with pytest.raises(DataError) as raised:
        rankgauge.evaluate(qrels, run, "RR")
    assert [str(problem) for problem in raised.value.problems] == [
        "query 'a': the score of 'x' is nan, not a finite number",
        "query 'd': the score of 'x' is nan, not a finite number",
    ]
