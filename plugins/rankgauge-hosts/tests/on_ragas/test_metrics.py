"""Both kinds of ragas metric: in an experiment, and in `evaluate()`."""

from __future__ import annotations

import asyncio
import copy
import logging
import math
import pickle

import pytest
from ragas import Dataset, EvaluationDataset, SingleTurnSample, evaluate, experiment

from rankgauge.errors import DataError, ParameterError, PlanError
from rankgauge_hosts.ragas import RankgaugeMetric, UnscoredError, retrieval_metric

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def test_telemetry_is_off_and_stays_off():
    from ragas._analytics import do_not_track

    assert do_not_track() is True


def test_a_result_comes_with_its_reason():
    metric = retrieval_metric("nDCG@10")
    result = metric.score(retrieved_context_ids=["x", "a"], reference_context_ids=["a"])
    assert (metric.name, result.value) == ("ndcg_at_10", pytest.approx(1 / math.log2(3)))
    assert result.reason == "ndcg@10 is 0.6309 (k 10, dcg 0.6309, idcg 1)"
    again = asyncio.run(metric.ascore(retrieved=["x", "a"], expected={"a": 3, "b": 1}))
    assert again.value == pytest.approx(3 / math.log2(3) / (3 + 1 / math.log2(3)))


def test_where_nothing_counts_there_is_no_value_and_a_reason():
    result = retrieval_metric("recall@5").score(retrieved=["a"], expected=[])
    assert result.value is None
    assert "recall@5 is undefined, nothing counts" in result.reason
    excluded = retrieval_metric("recall@5", policy={"missing_output": "exclude"}).score(expected=["a"])
    assert excluded.value is None
    assert "there is no output for this sample" in excluded.reason
    assert retrieval_metric("recall@5").score(expected=["a"]).value == 0.0
    with pytest.raises(UnscoredError) as caught:
        retrieval_metric("recall@5")(retrieved=["a"], expected=[])
    assert caught.value.score.status == "undefined"


def test_ragas_fields_are_read():
    fields = {
        "retrieved_context_ids": [7, 9],
        "retrieved_contexts": ["It is 41 metres tall.", "Mice are curious."],
        "reference_context_ids": [9],
        "reference_contexts": ["Mice are curious.", "Towels are useful."],
        "reference": "41 metres",
        "response": "41 metres",
    }
    wanted = {
        "retrieval-mrr": 0.5,
        "recall(matcher=exact)@5": 0.5,
        "answer-containment-at-k": 1.0,
        "answer-exact-match": 1.0,
    }
    assert {metric: retrieval_metric(metric).score(**fields).value for metric in wanted} == wanted
    dataset = EvaluationDataset(samples=[SingleTurnSample(user_input="?", **fields)])
    result = evaluate(dataset, metrics=[RankgaugeMetric(metric=metric) for metric in wanted], show_progress=False)
    assert list(result.scores[0].values()) == list(wanted.values())


def test_ids_and_texts_that_do_not_pair_are_a_failed_output():
    fields = {"retrieved_context_ids": ["a"], "retrieved_contexts": ["x", "y"], "reference_context_ids": ["a"]}
    result = retrieval_metric("recall@5").score(**fields)
    assert result.value == 0.0
    assert "1 ids and 2 texts" in result.reason


def test_scores_that_a_policy_lets_pass_their_range_are_kept():
    """ragas drops what lies outside of `allowed_values`."""
    assert retrieval_metric("retrieval-map").allowed_values == (0.0, 1.0)
    metric = retrieval_metric("retrieval-map", policy={"duplicates": "keep"})
    assert metric.score(retrieved=["a", "a"], expected=["a"]).value == 2.0


def test_metrics_work_in_an_experiment(tmp_path):
    rows = [{"hits": ["a"], "gold": ["a"]}, {"hits": ["x"], "gold": ["a"]}]
    dataset = Dataset("retrieval", backend="inmemory", data=rows)
    metric = retrieval_metric("hit@1")

    @experiment(backend="inmemory")
    async def run(row):
        scored = await metric.ascore(retrieved=row["hits"], expected=row["gold"])
        return {**row, metric.name: scored.value}

    found = asyncio.run(run.arun(dataset))
    assert sorted(row["hit_at_1"] for row in found) == [0.0, 1.0]


def test_evaluate_averages_what_counts_and_the_log_says_what_does_not(caplog):
    samples = [
        SingleTurnSample(user_input="q1", retrieved_context_ids=["a"], reference_context_ids=["a"]),
        SingleTurnSample(user_input="q2", retrieved_context_ids=["a"], reference_context_ids=[]),
        SingleTurnSample(user_input="q3", retrieved_context_ids=["x"], reference_context_ids=["a"]),
    ]
    with caplog.at_level(logging.INFO, logger="rankgauge_hosts"):
        result = evaluate(
            EvaluationDataset(samples=samples), metrics=[RankgaugeMetric(metric="hit@5")], show_progress=False
        )
    scores = [row["hit_at_5"] for row in result.scores]
    assert [scores[0], math.isnan(scores[1]), scores[2]] == [1.0, True, 0.0]
    assert result._repr_dict["hit_at_5"] == 0.5
    assert "'q2': hit@5 is undefined, nothing counts" in caplog.text


def test_gains_are_given_beside_the_samples():
    metric = RankgaugeMetric(metric="ndcg@10", ground_truth={"q1": {"a": 3, "b": 1}})
    sample = SingleTurnSample(user_input="q1", retrieved_context_ids=["b"], reference_context_ids=["a", "b"])
    assert metric.single_turn_score(sample) == pytest.approx(1 / (3 + 1 / math.log2(3)))
    other = SingleTurnSample(user_input="q2", retrieved_context_ids=["b"], reference_context_ids=["b"])
    assert metric.single_turn_score(other) == 1.0


def test_a_dataset_without_the_needed_column_is_refused_before_a_sample_is_scored():
    dataset = EvaluationDataset(samples=[SingleTurnSample(user_input="q", reference="41 metres")])
    with pytest.raises(ValueError, match=r"\[answer_exact_match\].*requires.*response"):
        evaluate(dataset, metrics=[RankgaugeMetric(metric="answer-exact-match")], show_progress=False)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda metric: pickle.loads(pickle.dumps(metric))])
def test_a_copy_scores_as_the_original(copied):
    metric = RankgaugeMetric(
        metric="retrieval-recall-at-k", k=1, policy={"no_gold": "zero"}, ground_truth={"q": ["a", "b"]}
    )
    sample = SingleTurnSample(user_input="q", retrieved_context_ids=["a", "b"])
    assert copied(metric).single_turn_score(sample) == metric.single_turn_score(sample) == 0.5


def test_a_sample_without_ground_truth_is_an_error():
    sample = SingleTurnSample(user_input="q7", retrieved_context_ids=["a"])
    with pytest.raises(DataError, match="sample 'q7': it has no ground truth"):
        RankgaugeMetric(metric="recall@5").single_turn_score(sample)
    assert "it has no ground truth" in retrieval_metric("recall@5").score(retrieved=["a"]).reason


@pytest.mark.parametrize("make", [retrieval_metric, lambda metric: RankgaugeMetric(metric=metric)])
def test_mistakes_surface_when_the_metric_is_made(make):
    with pytest.raises(PlanError, match="unknown metric"):
        make("ndgc@10")
    with pytest.raises(ParameterError, match="one score at a time"):
        make("recall@1,5")
