"""The scorer inside `mlflow.genai`: feedback by safe names, traces, and scorers that MLflow stores."""

from __future__ import annotations

import mlflow
import pytest
from mlflow.entities import Document, SpanType
from mlflow.genai.scorers import Scorer

from rankgauge.errors import DataError, ParameterError, PlanError
from rankgauge_hosts.mlflow import feedback, retrieval_scorer


def given(**arguments):
    """Return name to value of the feedback."""
    return {each.name: each.value for each in feedback(**arguments)}


def test_a_run_averages_what_counts(driver, tmp_path):
    driver.tracked(tmp_path)
    rows = [
        {"inputs": {"q": "1"}, "outputs": ["a", "x"], "expectations": {"relevant": ["a", "b"]}},
        {"inputs": {"q": "2"}, "outputs": ["a"], "expectations": {"relevant": []}},
        {"inputs": {"q": "3"}, "outputs": ["x"], "expectations": {"relevant": ["a"]}},
    ]
    result = mlflow.genai.evaluate(data=rows, scorers=[retrieval_scorer(["recall@5", "nDCG@10"])])
    assert sorted(result.result_df["recall_at_5/value"].dropna()) == [0.0, 0.5]
    assert result.metrics["recall_at_5/mean"] == 0.25
    assert set(result.metrics) == {"recall_at_5/mean", "ndcg_at_10/mean"}


def test_feedback_says_what_it_is_or_why_there_is_no_value():
    (scored,) = feedback(outputs=["a"], expectations={"relevant": ["a", "b"]}, metrics="recall@5")
    assert (scored.name, scored.value, scored.error) == ("recall_at_5", 0.5, None)
    assert scored.rationale == "recall@5 is 0.5 (k 5, relevant_count 2, found 1)"
    assert (scored.metadata["status"], scored.metadata["metric"]) == ("scored", "retrieval-recall-at-k@5")
    assert {"rankgauge", "provider", "fingerprint", "profile"} <= scored.metadata.keys()
    (undefined,) = feedback(outputs=["a"], expectations={"relevant": []}, metrics="recall@5")
    assert (undefined.value, undefined.error, undefined.metadata["status"]) == (None, None, "undefined")
    assert "no ground truth" in undefined.rationale
    (counted,) = feedback(outputs={"results": 1}, expectations={"relevant": ["a"]}, metrics="recall@5")
    assert (counted.value, counted.metadata["status"]) == (0.0, "missing")
    policy = {"failed_output": "exclude"}
    (failed,) = feedback(outputs=5, expectations={"relevant": ["a"]}, metrics="recall@5", policy=policy)
    assert (failed.value, failed.error.error_code) == (None, "FAILED")


@pytest.mark.parametrize(
    "outputs",
    [["x", "a"], {"retrieved": ["x", "a"]}, '["x", "a"]', '{"retrieved": ["x", "a"]}', [{"id": "x"}, {"id": "a"}]],
)
def test_outputs_may_have_any_form(outputs):
    assert given(outputs=outputs, expectations={"relevant": ["a"]}, metrics="retrieval-mrr") == {"retrieval_mrr": 0.5}


def test_what_mlflow_calls_expectations_is_ground_truth():
    expectations = {
        "expected_response": "41 metres",
        "expected_retrieved_context": [
            {"doc_uri": "d7", "content": "The lighthouse is 41 metres tall."},
            {"doc_uri": "d9", "content": "Mice."},
        ],
    }
    outputs = {"retrieved": [{"id": "d7", "text": "The lighthouse is 41 metres tall."}], "answer": "41 metres"}
    metrics = ["recall@5", "recall(matcher=exact)@5", "answer-containment-at-k", "answer-exact-match"]
    assert list(given(outputs=outputs, expectations=expectations, metrics=metrics).values()) == [0.5, 0.5, 1.0, 1.0]


def test_what_is_undefined_fails_no_gate(driver, tmp_path):
    driver.tracked(tmp_path)

    @mlflow.genai.scorers.scorer(pass_if=lambda value: value >= 0.5)
    def recall_at_5(outputs, expectations):
        return feedback(outputs=outputs, expectations=expectations, metrics="recall@5")

    rows = [
        {"inputs": {"q": "1"}, "outputs": ["a"], "expectations": {"relevant": ["a", "b"]}},
        {"inputs": {"q": "2"}, "outputs": ["a"], "expectations": {"relevant": []}},
    ]
    assert mlflow.genai.evaluate(data=rows, scorers=[recall_at_5]).passed
    rows.append({"inputs": {"q": "3"}, "outputs": ["x"], "expectations": {"relevant": ["a"]}})
    failed = mlflow.genai.evaluate(data=rows, scorers=[recall_at_5])
    assert not failed.passed
    assert failed.reason == "recall_at_5: recall@5 is 0 (k 5, relevant_count 1, found 0)"


def traced(*retrievals):
    """Return the trace of an application that retrieved, and answered with a text."""
    with mlflow.start_span("app") as app:
        for name, documents in retrievals:
            with mlflow.start_span(name, span_type=SpanType.RETRIEVER) as span:
                span.set_outputs(documents)
        app.set_outputs("41 metres")
    return mlflow.get_trace(app.trace_id)


def test_a_trace_says_what_was_retrieved(driver, tmp_path):
    driver.tracked(tmp_path)
    documents = [
        Document(page_content="?", metadata={"doc_uri": "d1", "file": {"name": "f7"}}),
        Document(page_content="41 metres", metadata={"doc_uri": "d7"}, id="chunk-7"),
    ]
    trace = traced(("search", documents))
    expectations = {"relevant": ["d7"], "answer": "41 metres"}
    arguments = {"outputs": "41 metres", "trace": trace, "expectations": expectations}
    metrics = ["retrieval-mrr", "answer-containment-at-k", "answer-exact-match"]
    assert list(given(**arguments, metrics=metrics).values()) == [0.5, 1.0, 1.0]
    arguments["expectations"] = {"relevant": ["f7"]}
    assert given(**arguments, metrics="retrieval-mrr", document_id="metadata.file.name") == {"retrieval_mrr": 1.0}
    arguments["expectations"] = {"relevant": ["chunk-7"]}
    (found,) = feedback(**arguments, metrics="retrieval-mrr", document_id="id")
    assert (found.value, found.metadata["status"]) == (0.0, "failed")  # the first result has no such id


def test_of_several_retrievals_one_is_named(driver, tmp_path):
    driver.tracked(tmp_path)
    trace = traced(("dense", [Document(page_content="", id="x")]), ("sparse", [Document(page_content="", id="a")]))
    arguments = {"trace": trace, "expectations": {"relevant": ["a"]}, "metrics": "hit@1"}
    with pytest.raises(DataError, match=r"2 retriever spans \(dense, sparse\).*name it with span="):
        feedback(**arguments)
    assert given(**arguments, span="sparse") == {"hit_at_1": 1.0}
    assert given(**arguments, span="dense") == {"hit_at_1": 0.0}


def test_without_a_retrieval_there_is_no_output(driver, tmp_path):
    driver.tracked(tmp_path)
    (found,) = feedback(trace=traced(), expectations={"relevant": ["a"]}, metrics="hit@1")
    assert (found.value, found.metadata["status"]) == (0.0, "missing")


def test_a_stored_scorer_scores_as_the_one_that_was_made(monkeypatch):
    """MLflow stores source and signature, and runs them where nothing else is known."""
    monkeypatch.setenv("MLFLOW_SERVER_ENABLE_CUSTOM_SCORERS", "true")
    made = retrieval_scorer(["recall@5"], name="quality", k=3, policy={"no_gold": "zero"}, gold="truth")
    again = Scorer.model_validate(made.model_dump())
    for expectations in ({"truth": ["a", "b"]}, {"truth": []}):
        values = [
            [each.value for each in scorer.run(outputs=["a"], expectations=expectations)] for scorer in (made, again)
        ]
        assert values[0] == values[1]
    assert (again.name, values) == ("quality", [[0.0], [0.0]])


def test_ground_truth_that_is_not_there_is_an_error():
    with pytest.raises(DataError, match="sample 'row'"):
        feedback(outputs=["a"], expectations={}, metrics="recall@5")


def test_mistakes_surface_when_the_scorer_is_made():
    with pytest.raises(PlanError, match="unknown metric"):
        retrieval_scorer("ndgc@10")
    with pytest.raises(ParameterError, match="no argument 'polcy'; there are config, document_id"):
        retrieval_scorer("ndcg@10", polcy={})


def test_telemetry_is_off_and_stays_off():
    from mlflow.telemetry import get_telemetry_client
    from mlflow.telemetry.utils import is_telemetry_disabled

    assert is_telemetry_disabled()
    assert get_telemetry_client() is None
