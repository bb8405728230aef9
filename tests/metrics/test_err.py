"""Expected reciprocal rank."""

from __future__ import annotations

import math

import numpy as np
import pytest

import rankgauge
from rankgauge.errors import PlanError
from rankgauge.metrics.reciprocal_rank import expected_reciprocal_rank
from rankgauge.plugin.metric import declared

ALIAS = "retrieval-err-at-k"
GOLD = {"a": 3, "b": 2, "c": 0, "d": 1}
RANKING = ["a", "b", "c", "d"]
# With max_grade 4 the chances are 7/16, 3/16, 0, 1/16:
#   rank 1: 7/16                                   = 7168/16384
#   rank 2: 1/2 * 3/16 * 9/16                      =  864/16384
#   rank 4: 1/4 * 1/16 * 9/16 * 13/16              =  117/16384
AT_4, AT_2, AT_1 = 8149 / 16384, 8032 / 16384, 7168 / 16384


def of_four(k):
    return {"metric": ALIAS, "max_grade": 4, "k": k}


@pytest.mark.parametrize(("k", "expected"), [(1, AT_1), (2, AT_2), (3, AT_2), (4, AT_4), (10**9, AT_4)])
def test_cascade_worked_out_term_by_term(score, k, expected):
    assert expected == score(of_four(k), GOLD, RANKING).value  # powers of two: nothing rounds


def test_cutoff_of_each_sample_is_its_own(judged):
    batch = judged(*[(RANKING, GOLD)] * 3)

    assert expected_reciprocal_rank(batch, k=np.array([1, 2, 10**9]), max_grade=4).tolist() == [AT_1, AT_2, AT_4]
    assert expected_reciprocal_rank(batch, k=2, max_grade=4).tolist() == [AT_2, AT_2, AT_2]


def test_plain_list_has_grade_one(score):
    # (2**1 - 1) / 2**1 at rank 2: 1/2 * 1/2
    assert score({"metric": ALIAS, "max_grade": 1, "k": 5}, ["a"], ["x", "a"]).value == 0.25


def test_highest_grade_is_inferred_from_the_whole_data_set_with_a_note(engine):
    samples = [
        {"id": "low", "expected_output": {"a": 1}, "actual_output": ["a"]},
        {"id": "high", "expected_output": {"a": 2}, "actual_output": ["a"]},
    ]
    for batch_size in (1, 2):
        result = engine.dataset(samples).with_metrics(["err@5"]).run(batch_size=batch_size)

        # Over 2**2: (2 - 1) / 4 and (4 - 1) / 4, whatever the batch.
        assert result["err@5"].values.tolist() == [0.25, 0.75]
        assert result["err@5"].info.inferred == {"max_grade": 2.0}
        assert [note for note in result.notes if "max_grade was inferred from the data: 2" in note]


def test_given_grade_is_not_inferred_and_leaves_no_note(engine):
    sample = {"id": "s", "expected_output": {"a": 1}, "actual_output": ["a"]}

    result = engine.dataset([sample]).with_metrics(["err(max_grade=4)@5"]).run()

    assert result["err(max_grade=4)@5"].values.tolist() == [1 / 16]
    assert result.notes == ()


@pytest.mark.parametrize("call", ["score", "stream"])
def test_single_samples_and_streams_need_the_grade_given(engine, call):
    sample = {"id": "s", "expected_output": {"a": 1}, "actual_output": ["a"]}
    evaluation = engine.dataset([sample]).with_metrics(["err@5"])

    with pytest.raises(PlanError, match="max_grade"):
        evaluation.score(sample) if call == "score" else list(evaluation.stream())


def test_grade_above_the_scale_counts_as_its_top(engine):
    samples = [
        {"id": "fits", "expected_output": {"a": 1}, "actual_output": ["a"]},
        {"id": "above", "expected_output": {"a": 3}, "actual_output": ["a"]},
        {"id": "not retrieved", "expected_output": {"a": 2, "b": 4}, "actual_output": ["a"]},
    ]

    result = engine.dataset(samples).with_metrics(["err(max_grade=2)@1"]).run()

    assert result["err(max_grade=2)@1"].values.tolist() == [0.25, 0.75, 0.75]
    assert result["err(max_grade=2)@1"].n_failed == 0
    assert result.notes == ("err(max_grade=2.0)@1: there are grades up to 4; those above max_grade=2 count as 2",)


@pytest.mark.parametrize("metric", ["err(max_grade=2)@5", "INST(max_rel=2)", "SDCG(max_grade=2)@5"])
def test_every_road_notes_grades_above_the_scale(metric):
    """Few queries in dictionaries, many, and shards."""
    few = {"q1": {"a": 1}, "q2": {"b": 4}}
    many = few | {f"many{number}": {"a": 1} for number in range(300)}
    for qrels in (few, many):
        run = {query: {"a": 1.0} for query in qrels}
        clipped = {query: {name: min(grade, 2) for name, grade in grades.items()} for query, grades in qrels.items()}
        result = rankgauge.evaluate(qrels, run, [metric])
        (column,) = result.metrics.values()
        (same,) = rankgauge.evaluate(clipped, run, [metric]).metrics.values()
        assert column.n_failed == 0
        assert column.values.tolist() == same.values.tolist()
        assert [note for note in result.notes if "max_grade=2 count as 2" in note]


def test_grade_at_the_top_of_the_scale_is_fine(score):
    assert score({"metric": ALIAS, "max_grade": 3, "k": 5}, {"a": 3}, ["a"]).value == 7 / 8


def test_empty_list_scores_zero(score):
    assert score(of_four(5), GOLD, []).value == 0.0


@pytest.mark.parametrize("gold", [[], {"a": 0, "b": -1}])
def test_gold_without_a_gain_is_undefined(score, judged, gold):
    found = score(of_four(5), gold, ["a"])

    assert (found.value, found.status) == (None, "undefined")
    assert found.reason
    assert math.isnan(expected_reciprocal_rank(judged((["a"], gold)), k=5, max_grade=4)[0])


def test_negative_gains_satisfy_nobody_and_cost_their_rank(score):
    # a at rank 2: 1/2 * 7/16
    assert score(of_four(5), {"a": 3, "bad": -1}, ["bad", "a"]).value == 7 / 32


def test_negative_gains_satisfy_nobody_where_every_listed_id_counts(score):
    found = score(of_four(5), '{"a": 3, "bad": -1}', '["bad", "a"]', policy="eval-harness")

    assert found.value == 7 / 32


def test_score_without_any_scale_is_undefined_rather_than_an_error(engine):
    sample = {"id": "s", "expected_output": {"a": 0}, "actual_output": ["a"]}

    column = engine.dataset([sample]).with_metrics(["err@5"]).run()["err@5"]

    assert (column.mean, column.n_undefined, column.n_failed) == (None, 1, 0)


def test_range_is_declared_as_zero_to_one():
    assert declared(expected_reciprocal_rank).range == (0.0, 1.0)
    assert declared(expected_reciprocal_rank).higher_is_better
