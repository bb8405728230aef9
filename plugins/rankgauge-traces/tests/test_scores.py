"""Scores go back to the spans that they are about: events of OTLP, annotations of Phoenix, assessments of MLflow."""

import json
from datetime import datetime
from pathlib import Path

import pytest

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
DENSE, RERANK = "00f067aa0ba902b7", "53995c3f42cd8ad8"


@pytest.fixture
def result(search, rerank, write, samples_of, rankgauge):
    """Return a result folder of two samples: one of a trace, whose gold item the reranker loses, one without any."""
    spans = [
        search("dense", ["b", "a"], trace=TRACE, id=DENSE),
        rerank("rerank", ["b", "a"], ["b"], trace=TRACE, id=RERANK, start=1),
    ]
    gold = [
        {"id": "q1", "input": "who?", "expected_output": {"relevant": ["a"]}},
        {"id": "q2", "input": "when?", "expected_output": {"relevant": ["a"]}},
    ]
    Path("gold.jsonl").write_text("".join(json.dumps(sample) + "\n" for sample in gold), encoding="utf-8")
    samples_of(write(*spans), "--gold", "gold.jsonl", "--with-missing")
    rankgauge("run", "--data", "read.jsonl", "-m", "mrr@5", "-m", "mrr(stage=dense)@5", "-o", "result")
    return Path("result")


def lines_of(rankgauge, *arguments):
    done = rankgauge("traces", "scores", *arguments, "-o", "scores.jsonl")
    assert done.code == 0, done.err
    return done, [json.loads(line) for line in Path("scores.jsonl").read_text(encoding="utf-8").splitlines()]


def attributes_of(record):
    return {pair["key"]: next(iter(pair["value"].values())) for pair in record["attributes"]}


def test_events_are_parented_to_the_span_of_the_stage_that_is_judged(result, rankgauge):
    done, (request,) = lines_of(rankgauge, result)
    (scope,) = request["resourceLogs"][0]["scopeLogs"]
    whole, dense = scope["logRecords"]
    assert [record["eventName"] for record in (whole, dense)] == ["gen_ai.evaluation.result"] * 2
    assert (whole["traceId"], whole["spanId"]) == (TRACE, RERANK)
    assert (dense["traceId"], dense["spanId"]) == (TRACE, DENSE)
    assert attributes_of(whole)["gen_ai.evaluation.name"] == "mrr@5"
    assert attributes_of(whole)["gen_ai.evaluation.score.value"] == 0.0  # a is not among what the reranker kept
    assert attributes_of(dense)["gen_ai.evaluation.score.value"] == 0.5  # a is second
    assert "left out: 1 sample that came from no trace" in done.err


def test_events_say_what_the_metric_means_as_the_result_does(result, rankgauge):
    _, (request,) = lines_of(rankgauge, result, "-m", "mrr@5")
    (event,) = request["resourceLogs"][0]["scopeLogs"][0]["logRecords"]
    manifest = json.loads((result / "manifest.json").read_text(encoding="utf-8"))
    summary = json.loads((result / "summary.json").read_text(encoding="utf-8"))
    said = attributes_of(event)
    assert said["rankgauge.expression"] == "retrieval-mrr@5"
    assert said["rankgauge.fingerprint"] == summary["metrics"]["mrr@5"]["fingerprint"]
    assert said["rankgauge.fingerprint"] in said["gen_ai.evaluation.explanation"]
    assert (said["rankgauge.judged"], said["rankgauge.profile"]) == ("relevant by id", "default")
    created = datetime.fromisoformat(manifest["created_at"])
    assert int(event["timeUnixNano"]) // 1000 == int(created.timestamp() * 1_000_000)


def test_the_same_result_gives_the_same_bytes(result, rankgauge):
    lines_of(rankgauge, result)
    first = Path("scores.jsonl").read_bytes()
    Path("scores.jsonl").unlink()
    lines_of(rankgauge, result)
    assert Path("scores.jsonl").read_bytes() == first


def test_annotations_of_phoenix_name_span_score_and_definition(result, rankgauge):
    _, (whole, dense) = lines_of(rankgauge, result, "--as", "phoenix")
    assert (whole["span_id"], dense["span_id"]) == (RERANK, DENSE)
    assert (whole["name"], whole["annotator_kind"], whole["result"]["score"]) == ("mrr@5", "CODE", 0.0)
    assert dense["result"]["score"] == 0.5
    assert dense["metadata"]["sample"] == "q1"
    assert dense["metadata"]["fingerprint"] in dense["result"]["explanation"]


def test_assessments_of_mlflow_have_only_texts_as_metadata(result, rankgauge):
    _, (whole, dense) = lines_of(rankgauge, result, "--as", "mlflow")
    assert (whole["trace_id"], whole["span_id"], whole["name"], whole["value"]) == (TRACE, RERANK, "mrr@5", 0.0)
    assert dense["value"] == 0.5
    assert {type(value) for value in dense["metadata"].values()} == {str}


@pytest.fixture
def undefined(search, write, samples_of, rankgauge):
    """Return a result whose only sample has nothing relevant, so that its score is undefined."""
    gold = {"id": "q1", "input": "who?", "expected_output": {"relevant": {"a": 0}}}
    Path("gold.jsonl").write_text(json.dumps(gold) + "\n", encoding="utf-8")
    samples_of(write(search("dense", ["b"], trace=TRACE, id=DENSE)), "--gold", "gold.jsonl")
    rankgauge("run", "--data", "read.jsonl", "-m", "recall@5", "-o", "result")
    return Path("result")


def test_a_score_that_does_not_exist_has_a_label_and_a_reason_and_no_value(undefined, rankgauge):
    _, (request,) = lines_of(rankgauge, undefined)
    (event,) = request["resourceLogs"][0]["scopeLogs"][0]["logRecords"]
    said = attributes_of(event)
    assert "gen_ai.evaluation.score.value" not in said
    assert said["gen_ai.evaluation.score.label"] == "undefined"
    assert "; undefined: " in said["gen_ai.evaluation.explanation"]


def test_mlflow_is_given_no_score_without_a_value(undefined, rankgauge):
    done, lines = lines_of(rankgauge, undefined, "--as", "mlflow")
    assert lines == []
    assert "left out: 1 score without a value" in done.err


def test_ids_that_mlflow_writes_in_base64_are_hex_in_events(write, samples_of, rankgauge):
    span = {
        "trace_id": "S/kvNXezTaajzpKdDg5HNg==",  # of TRACE
        "span_id": "APBnqgupArc=",  # of DENSE
        "name": "search",
        "attributes": {
            "mlflow.traceRequestId": f'"tr-{TRACE}"',
            "mlflow.spanType": '"RETRIEVER"',
            "mlflow.spanInputs": '{"query": "who?"}',
            "mlflow.spanOutputs": '[{"page_content": "x", "id": "a"}]',
        },
    }
    Path("gold.jsonl").write_text('{"id": "q1", "input": "who?", "expected_output": ["a"]}\n', encoding="utf-8")
    samples_of(write({"data": {"spans": [span]}}), "--gold", "gold.jsonl")
    rankgauge("run", "--data", "read.jsonl", "-m", "mrr@5", "-o", "result")
    _, (request,) = lines_of(rankgauge, "result")
    (event,) = request["resourceLogs"][0]["scopeLogs"][0]["logRecords"]
    assert (event["traceId"], event["spanId"]) == (TRACE, DENSE)
    Path("scores.jsonl").unlink()
    _, (assessment,) = lines_of(rankgauge, "result", "--as", "mlflow")
    assert (assessment["trace_id"], assessment["span_id"]) == (f"tr-{TRACE}", DENSE)


def test_results_that_came_from_no_trace_are_refused(rankgauge):
    sample = {"id": "q1", "expected_output": ["a"], "actual_output": ["a"]}
    Path("samples.jsonl").write_text(json.dumps(sample) + "\n", encoding="utf-8")
    rankgauge("run", "--data", "samples.jsonl", "-m", "mrr@5", "-o", "result")
    done = rankgauge("traces", "scores", "result", "-o", "scores.jsonl")
    assert done.code == 4
    assert "no sample of result names its trace" in done.err
    assert not Path("scores.jsonl").exists()


def test_what_cannot_be_used_is_refused(result, rankgauge):
    done = rankgauge("traces", "scores", result, "-o", "scores.jsonl", "-m", "ndcg@3")
    assert done.code == 2
    assert "result has no column 'ndcg@3'; it has mrr@5, mrr(stage=dense)@5" in done.err
    assert rankgauge("traces", "scores", "nowhere", "-o", "scores.jsonl").code == 2
    assert "gold.jsonl exists" in rankgauge("traces", "scores", result, "-o", "gold.jsonl").err
    Path("read.jsonl").write_text("{}\n", encoding="utf-8")
    done = rankgauge("traces", "scores", result, "-o", "scores.jsonl")
    assert done.code == 2
    assert not Path("scores.jsonl").exists()


def test_json_has_the_counts(result, rankgauge):
    done = rankgauge("traces", "scores", result, "-o", "scores.jsonl", "--json")
    counts = {"traces": 1, "scores": 2, "samples_without_a_trace": 1, "lines": 1}
    assert done.json == counts | {"form": "otlp", "output": "scores.jsonl"}
