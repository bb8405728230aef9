"""Metrics that fail for every sample: an error with everything else in it, on every road; never a score of 0."""

import asyncio
import json
import pickle

import numpy as np
import pytest

from draws import in_thorough_suite
from rankgauge import Engine, Result, compare, evaluate, judge_gates
from rankgauge.errors import MetricFailedError, ResultError
from rankgauge.plugin import Judged, JudgedSample, Scores, metric, sample_metric
from rankgauge.scale import ShardedRun, ShardedSamples

QRELS = {"q1": {"a": 1}, "q2": {"b": 1}, "q3": {"c": 1}}
RUN = {"q1": {"a": 1.0}, "q2": {"a": 1.0, "b": 0.5}, "q3": {"c": 1.0}}
SAMPLES = [{"id": name, "expected_output": list(QRELS[name]), "actual_output": list(RUN[name])} for name in QRELS]


def scikit(scores):
    return scores.mean()


@sample_metric("by-name")
def by_name(ranking: JudgedSample) -> float:
    """Look ids up that nobody knows: another message for each sample, and the same mistake."""
    return {}[str(ranking.n_gold) + str(ranking.depth)]


@metric("by-shape")
def by_shape(judged: Judged) -> Scores:
    """Return one number, whatever the batch."""
    return np.zeros(judged.n + 1)


@metric("without-definition", defined=lambda judged: judged.nothing)
def without_definition(judged: Judged) -> Scores:
    """Have no value that `defined` could confirm."""
    return np.full(judged.n, np.nan)


EVALUATION = Engine().dataset(SAMPLES)


def failing(function):
    with pytest.raises(MetricFailedError) as failed:
        function()
    error = pickle.loads(pickle.dumps(failed.value))  # noqa: S301  # ours
    assert (error.exit_code, len(error.problems), str(error)) == (3, len(failed.value.problems), str(failed.value))
    return failed.value


@pytest.mark.parametrize("wrong", [scikit, by_name, by_shape, without_definition])
def test_every_road_raises_with_the_other_columns_in_the_error(wrong, tmp_path):
    asked = EVALUATION.with_metrics([wrong, "RR"])
    file = tmp_path / "samples.jsonl"
    file.write_text("".join(json.dumps(sample) + "\n" for sample in SAMPLES))
    for road in (
        asked.run,
        lambda: asyncio.run(asked.arun()),
        lambda: asked.run(batch_size=1),
        lambda: asked.run(sut=lambda given: ["a"]),
        lambda: Engine().dataset(file).with_metrics([wrong, "RR"]).run(workers=2),
        lambda: evaluate(QRELS, RUN, [wrong, "RR"]),
        lambda: evaluate(QRELS, {**RUN, "q9": {"a": 1.0}}, [wrong, "RR"], policy={"ties": "error"}),
    ):
        error = failing(road)
        assert isinstance(error.result, Result)
        assert [bool(column.broken) for column in error.result.metrics.values()] == [True, False]
        assert error.result["RR"].n == 3
        assert "1 metric failed for every sample" in str(error)


def test_of_several_runs_the_error_has_all_results_and_names_the_runs():
    error = failing(lambda: evaluate(QRELS, runs={"bm25": RUN, "rrf": RUN}, metrics=["RR", scikit]))
    assert list(error.result) == ["bm25", "rrf"]
    assert [str(problem).partition(":")[0] for problem in error.problems] == ["bm25", "rrf"]


def test_a_stream_raises_at_its_end_after_all_results():
    seen = []
    stream = EVALUATION.with_metrics([scikit, "RR"]).stream(batch_size=1)
    error = failing(lambda: seen.extend(stream))
    assert (len(seen), error.result) == (3, None)


def test_shards_raise_where_they_are_merged():
    sharded = ShardedSamples(EVALUATION.with_metrics([by_shape, "RR"]))
    shards = [sharded.shard([sample]) for sample in SAMPLES]
    assert failing(lambda: sharded.merge(shards)).result["RR"].n == 3

    of_runs = ShardedRun.plan([by_shape, "RR"])
    shards = [of_runs.shard({name: QRELS[name]}, {name: RUN[name]}) for name in QRELS]
    assert failing(lambda: of_runs.merge(shards)).result["RR"].n == 3
    assert failing(lambda: of_runs.merge_totals(shards)).result["RR"].n == 3
    added = [of_runs.added_up(shards[:2]), shards[2]]
    assert failing(lambda: of_runs.merge_totals(added)).result["RR"].n == 3


def test_one_sample_or_one_success_is_no_error_and_two_mistakes_are():
    def mostly(ranking: JudgedSample) -> float:
        return 1 / (ranking.depth - 1)  # fails for the two lists of one result

    def variously(ranking: JudgedSample) -> float:
        return [0.0][ranking.depth] if ranking.depth > 1 else ranking.nothing

    assert EVALUATION.with_metrics(mostly).run()["mostly"].n_failed == 2
    assert failing(EVALUATION.with_metrics(variously).run).result["variously"].n_failed == 3
    assert Engine().dataset(SAMPLES[:1]).with_metrics(scikit).run()["scikit"].n_failed == 1
    assert EVALUATION.with_metrics(scikit).score(SAMPLES[0])["scikit"].status == "failed"


def test_samples_that_no_metric_can_score_do_not_hide_it():
    more = [
        {"id": "missing", "expected_output": ["a"], "actual_output": None},
        {"id": "malformed", "expected_output": ["a"], "actual_output": 5},
        {"id": "without gold", "expected_output": {}, "actual_output": ["a"]},
    ]
    assert failing(Engine().dataset([*SAMPLES, *more]).with_metrics([scikit]).run).result["scikit"].n_failed == 4


def test_a_system_that_fails_everywhere_is_no_fault_of_a_metric():
    def down(given):
        raise OSError(401)

    result = EVALUATION.with_metrics("RR").run(sut=down)
    assert (result["RR"].n_failed, result["RR"].broken, result.is_incomplete) == (3, "", True)


def test_a_gate_on_such_a_metric_is_an_error_with_the_reason_whatever_may_fail():
    evaluation = EVALUATION.with_metrics([scikit, "RR"]).with_profile(max_failed=1)
    result = failing(evaluation.run).result
    outcome, other = judge_gates(result, ["scikit >= 0", "RR >= 0"]).outcomes
    assert (outcome.verdict, other.verdict) == ("error", "pass")
    assert "metric 'scikit' (by" in outcome.reason


def test_it_is_not_compared():
    result = failing(EVALUATION.with_metrics([scikit, "RR"]).run).result
    comparison = compare({"a": result, "b": result})
    assert [name for pair in comparison.comparisons for name in pair.metrics] == ["rr"]
    assert any("scikit failed for every sample" in note for note in comparison.comparisons[0].notes)
    with pytest.raises(ResultError, match="metric 'scikit'"):
        compare({"a": result, "b": result}, metrics=["scikit"])


def test_a_saved_result_still_says_so(tmp_path):
    result = failing(EVALUATION.with_metrics([scikit, "RR"]).run).result
    result.save(tmp_path / "out")
    assert Result.load(tmp_path / "out")["scikit"].broken == result["scikit"].broken != ""


@in_thorough_suite()
def test_worker_processes_raise_alike(tmp_path, monkeypatch, process):
    monkeypatch.setattr("rankgauge.engine.workers.ENOUGH", 1)
    file = tmp_path / "samples.jsonl"
    file.write_text("".join(json.dumps(sample) + "\n" for sample in SAMPLES))
    evaluation = Engine().dataset(file).with_metrics([by_shape, "RR"])
    assert failing(lambda: evaluation.run(workers=2)).result["RR"].n == 3
