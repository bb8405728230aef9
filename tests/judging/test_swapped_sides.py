"""Judgments and runs that are swapped, or nested the other way round, are said; real graded judgments never are."""

import json
import random
from typing import ClassVar

import polars as pl
import pytest

import rankgauge
from draws import in_thorough_suite
from rankgauge import evaluate
from rankgauge.errors import DataError, NothingToEvaluateError
from tables import rows


def example(n_queries=30, depth=20, n_judged=4, *, draw=lambda chance: chance.random() * 20):
    """Return judgments of grades 0 to 3, and a run of scores that are drawn."""
    chance = random.Random(3)  # noqa: S311  # no secret
    documents = [f"d{number}" for number in range(200)]
    qrels, run = {}, {}
    for number in range(n_queries):
        found = chance.sample(documents, depth)
        run[f"q{number}"] = {document: draw(chance) for document in found}
        qrels[f"q{number}"] = {document: chance.randrange(4) for document in chance.sample(found, n_judged)}
    return qrels, run


def as_table(mapping, name):
    rows = [(query, document, float(value)) for query, found in mapping.items() for document, value in found.items()]
    return pl.DataFrame(rows, schema=["query_id", "doc_id", name], orient="row")


@pytest.fixture(params=["dictionaries", "JSON", "tables", "Parquet"])
def given(request, tmp_path):
    """Return both sides in a form that does not say which one it is."""

    def write(first, second):
        sides = []
        for number, side in enumerate((first, second)):
            if request.param == "dictionaries":
                sides.append(side)
            elif request.param == "JSON":
                (tmp_path / f"{number}.json").write_text(json.dumps(side))
                sides.append(tmp_path / f"{number}.json")
            else:
                table = as_table(side, "score")
                if request.param == "Parquet":
                    table.write_parquet(tmp_path / f"{number}.parquet")
                    table = tmp_path / f"{number}.parquet"
                sides.append(table)
        return sides

    return write


@pytest.mark.parametrize("profile", ["trec9", "trec10", "default"])
def test_many_scores_in_place_of_grades_are_an_error(given, profile):
    qrels, run = given(*example())
    assert "swapped" not in " ".join(evaluate(qrels, run, "ndcg@10", profile=profile).notes)
    with pytest.raises(DataError, match="the judgments come first, then the run"):
        evaluate(run, qrels, "ndcg@10", profile=profile)
    with pytest.raises(DataError, match="the judgments and the run are swapped"):
        evaluate(run, runs={"a": qrels, "b": qrels}, metrics="ndcg@10", profile=profile)


@pytest.mark.parametrize(
    "draw",
    [
        lambda chance: chance.random(),  # cosines, rank fusion
        lambda chance: -chance.random() * 30,  # log probabilities, negated distances
        lambda chance: chance.randrange(200, 2_000_000),  # whole scores
    ],
)
def test_scores_of_any_kind_are(draw):
    qrels, run = example(draw=draw)
    with pytest.raises(DataError, match="swapped"):
        evaluate(run, qrels, "ndcg@10")


def test_a_few_scores_are_a_note_or_an_error_where_no_grade_is_like_them(given):
    qrels, run = {"q1": {"a": 1, "b": 0}, "q2": {"c": 2}}, {"q1": {"a": 0.9, "x": 0.8, "b": 0.7}, "q2": {"z": 0.5}}
    assert "are the judgments and the run swapped?" in " ".join(evaluate(*given(run, qrels), "ndcg@10").notes)
    for odd in (-3.25, 12.5):
        with pytest.raises(DataError, match="swapped"):
            evaluate(*given({**run, "q2": {"z": odd}}, qrels), "ndcg@10")


def test_preflight_says_so(given):
    qrels, run = given(*example())
    found = rankgauge.preflight(run, qrels).find("swapped-sides")
    assert (found.severity, "are swapped" in found.message) == ("error", True)
    assert rankgauge.preflight(qrels, run).find("swapped-sides") is None
    few = given({"q1": {"a": 0.9, "x": 0.8, "b": 0.7}}, {"q1": {"a": 1, "b": 0}})
    assert rankgauge.preflight(*few).find("swapped-sides").severity == "warning"


REAL_GRADES = {
    "negative, as in web tracks": lambda chance: chance.choice([-2, 0, 1, 2, 3, 4]),
    "means of three assessors": lambda chance: sum(chance.randrange(4) for _ in range(3)) / 3,
    "halves": lambda chance: chance.randrange(8) / 2,
    "a model's, from 0 to 1": lambda chance: round(chance.random(), 2),
    "a teacher's scores": lambda chance: chance.gauss(0, 5),
    "magnitudes": lambda chance: chance.lognormvariate(1, 1),
    "percentages": lambda chance: chance.randrange(101),
    "all relevant": lambda _: 1,
}
REAL_SCORES = {
    "BM25": lambda chance, _: chance.random() * 20,
    "cosines": lambda chance, _: round(chance.random(), 3),
    "ranks counted down": lambda _, rank: 20 - rank,
    "negated ranks": lambda _, rank: -rank - 1,
    "reciprocal ranks": lambda _, rank: 1 / (rank + 1),
    "whole": lambda chance, _: chance.randrange(1000),
}


@in_thorough_suite()
@rows("scores", REAL_SCORES)
@rows("grades", REAL_GRADES)
def test_real_judgments_and_runs_are_never_taken_for_each_other(grades, scores):
    chance = random.Random(f"{grades} {scores}")  # noqa: S311  # no secret
    qrels, run = {}, {}
    for number in range(30):
        found = [f"d{document}" for document in chance.sample(range(200), 20)]
        run[f"q{number}"] = {document: REAL_SCORES[scores](chance, rank) for rank, document in enumerate(found)}
        qrels[f"q{number}"] = {document: REAL_GRADES[grades](chance) for document in chance.sample(found, 8)}
    assert "swapped" not in " ".join(evaluate(qrels, run, "ndcg@10").notes)
    assert rankgauge.preflight(qrels, run).find("swapped-sides") is None


def test_gains_in_a_small_example_are_not():
    qrels = {"q": {"a": 0.5, "b": 0.25, "c": 1.5}}
    assert evaluate(qrels, {"q": {"a": 3, "b": 2, "c": 1}}, "ndcg").notes == ()
    assert evaluate(qrels, {"q": {"a": 0.3, "b": 0.2}}, "ndcg").notes == ()


class TestNestedTheOtherWayRound:
    QRELS: ClassVar = {"q1": {"a": 1, "b": 0}, "q2": {"c": 2}}
    RUN: ClassVar = {"a": {"q1": 0.5}, "c": {"q1": 0.25, "q2": 0.75}}

    def test_is_said_in_place_of_ids_that_do_not_overlap(self, given):
        qrels, run = given(self.QRELS, self.RUN)
        for sides in ((qrels, run), (run, qrels)):
            with pytest.raises(NothingToEvaluateError, match="nested the other way round"):
                evaluate(*sides, "ndcg")

    def test_is_a_finding(self, given):
        assert rankgauge.preflight(*given(self.QRELS, self.RUN)).find("nested-otherwise").severity == "error"
        assert rankgauge.preflight(self.QRELS, {"q1": {"q2": 1.0}, "a": {"q1": 1.0}}).find("nested-otherwise") is None

    def test_other_ids_stay_no_overlap(self):
        with pytest.raises(NothingToEvaluateError, match="0 of 2 query ids overlap"):
            evaluate(self.QRELS, {"x": {"a": 1.0}}, "ndcg")
