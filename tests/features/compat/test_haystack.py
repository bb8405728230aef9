"""rankgauge.compat.haystack gives Haystack's numbers and raises its errors, without Haystack."""

from __future__ import annotations

import logging
from types import SimpleNamespace

import pytest

from features.compat.golden import cases, close
from rankgauge.compat import haystack
from rankgauge.compat.haystack import (
    AnswerExactMatchEvaluator,
    DocumentMAPEvaluator,
    DocumentMRREvaluator,
    DocumentNDCGEvaluator,
    DocumentRecallEvaluator,
    RecallMode,
)
from tables import rows

EVALUATORS = (DocumentRecallEvaluator, DocumentMRREvaluator, DocumentMAPEvaluator, DocumentNDCGEvaluator)


def document(written):
    facts = {"content": written} if isinstance(written, str) else written
    return SimpleNamespace(**{"content": None, "id": "", "meta": {}, "score": None, **facts})


def run(case):
    settings = dict(case.get("settings", {}))
    if "field" in settings:
        settings["document_comparison_field"] = settings.pop("field")
    evaluator = getattr(haystack, case["evaluator"])(**settings)
    if case["evaluator"] == "AnswerExactMatchEvaluator":
        return evaluator.run(ground_truth_answers=case["gold"], predicted_answers=case["found"])
    gold, found = ([[document(one) for one in query] for query in case[side]] for side in ("gold", "found"))
    return evaluator.run(ground_truth_documents=gold, retrieved_documents=found)


@rows("case", [case for case in cases("haystack") if "raises" not in case.values[0]])
def test_scores_are_the_same(case):
    result = run(case)

    assert set(result) == {"score", "individual_scores"}
    assert close(case["mean"]) == result["score"]
    assert close(case["each"]) == result["individual_scores"]
    assert [type(score) for score in case["each"]] == [type(score) for score in result["individual_scores"]]


@rows("case", [case for case in cases("haystack") if "raises" in case.values[0]])
def test_errors_are_the_same_word_for_word(case):
    kind, message = case["raises"]

    with pytest.raises((ValueError, TypeError)) as caught:
        run(case)

    assert (type(caught.value).__name__, str(caught.value)) == (kind, message)


def test_the_mode_is_an_enumeration_or_its_name():
    assert DocumentRecallEvaluator(mode="multi_hit").mode is RecallMode.MULTI_HIT
    assert DocumentRecallEvaluator(RecallMode.MULTI_HIT).mode is RecallMode.MULTI_HIT
    assert DocumentRecallEvaluator().mode is RecallMode.from_str("single_hit")
    with pytest.raises(ValueError, match="Unknown recall mode") as caught:
        DocumentRecallEvaluator(mode="x")
    assert str(caught.value) == "Unknown recall mode 'x'. Supported modes are: ['single_hit', 'multi_hit']"


@pytest.mark.parametrize("made", EVALUATORS)
def test_a_field_that_cannot_be_compared_is_found_out_in_the_run(made):
    evaluator = made(document_comparison_field="embedding")

    with pytest.raises(ValueError, match="Unsupported document_comparison_field: 'embedding'"):
        evaluator.run([[document("A")]], [[document("A")]])


@pytest.mark.parametrize(
    ("evaluator", "parameters"),
    [
        (
            DocumentRecallEvaluator(mode="multi_hit", document_comparison_field="meta.file_id"),
            {"mode": "multi_hit", "document_comparison_field": "meta.file_id"},
        ),
        (DocumentRecallEvaluator(), {"mode": "single_hit", "document_comparison_field": "content"}),
        (DocumentMRREvaluator(document_comparison_field="id"), {"document_comparison_field": "id"}),
        (DocumentMAPEvaluator(), {"document_comparison_field": "content"}),
        (DocumentNDCGEvaluator("meta.a.b"), {"document_comparison_field": "meta.a.b"}),
        (AnswerExactMatchEvaluator(), {}),
    ],
)
def test_a_dictionary_makes_the_same_evaluator_again(evaluator, parameters):
    made = type(evaluator)
    written = evaluator.to_dict()

    assert written == {"type": f"rankgauge.compat.haystack.{made.__name__}", "init_parameters": parameters}
    assert made.from_dict(written).to_dict() == written
    theirs = {"type": f"haystack.components.evaluators.any_module.{made.__name__}", "init_parameters": parameters}
    assert made.from_dict(theirs).to_dict() == written


def test_the_dictionary_of_something_else_is_refused():
    written = DocumentMRREvaluator().to_dict()

    with pytest.raises(ValueError, match="does not describe a DocumentMAPEvaluator"):
        DocumentMAPEvaluator.from_dict(written)
    with pytest.raises(ValueError, match="does not describe a DocumentMAPEvaluator"):
        DocumentMAPEvaluator.from_dict({})


def test_recall_mentions_queries_without_a_value_in_the_log(caplog):
    with caplog.at_level(logging.WARNING, logger="rankgauge"):
        DocumentRecallEvaluator().run([[document("")], [document("A")]], [[document("A")], []])

    assert len(caplog.messages) == 2
    assert "no ground truth documents" in caplog.messages[0]
    assert "no retrieved documents" in caplog.messages[1]
    assert all(message.endswith("Score will be set to 0.") for message in caplog.messages)


def test_only_what_is_compared_is_read_of_a_document():
    gold, found = SimpleNamespace(id="d1"), SimpleNamespace(id="d1")

    assert DocumentMRREvaluator(document_comparison_field="id").run([[gold]], [[found]])["score"] == 1.0
