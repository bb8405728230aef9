"""
What records mean and no path of a preset says: LongMemEval, LoCoMo, chunking_evaluation, and grades of TruLens.

LongMemEval's definition is that of its `run_retrieval.py`: of the sessions with an answer, and of their turns, those
count in which a turn of the *user* has it; the corpus calls the others `noans_...`. Questions without any such turn are
left out, and so are those whose id has `_abs`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import orjson

from rankgauge.plugin.named_data import Refine
from rankgauge.samples.sample_values import InvalidError, is_absent, is_finite_number
from rankgauge.samples.validity import read_moment

__all__ = ["REFINED"]

_ANSWER, _NO_ANSWER, _ABSTAINS = "answer", "noans", "_abs"
_EVIDENCE = re.compile(r"[\s,;]+")


def _longmemeval(record: Mapping[str, Any], sample: dict[str, Any]) -> dict[str, Any]:
    """Read a question, or a line of a log of retrieval, whose gold is in the log's own unit: sessions or turns."""
    metadata = dict(sample.get("metadata") or {})
    with suppress(InvalidError):
        read_moment(record.get("question_date"), "")
        metadata.setdefault("asked_at", record["question_date"])
    if _ABSTAINS in str(record.get("question_id", "")):
        metadata["answerable"] = False
    items = _mapping(record.get("retrieval_results")).get("ranked_items") or ()
    gold = _logged_gold(record, [name for item in items if isinstance(name := _mapping(item).get("corpus_id"), str)])
    expected = {**_mapping(sample.get("expected_output")), **({} if gold is None else {"relevant": gold})}
    return {**sample, "metadata": metadata, **({"expected_output": expected} if expected else {})}


def _logged_gold(record: Mapping[str, Any], logged: Sequence[str]) -> list[str] | None:
    """Return the sessions or turns with an answer, as the corpus of a log calls them; None for all that are named."""
    named, sessions = record.get("haystack_session_ids"), record.get("haystack_sessions")
    if not logged:
        return None  # what is attached may be of both sides of a session
    if not (isinstance(named, list) and isinstance(sessions, list) and len(named) == len(sessions)):
        return [name for name in dict.fromkeys(logged) if _ANSWER in name] or None
    answering = {*(record.get("answer_session_ids") or ()), *(name for name in named if _ANSWER in name)}
    turns = dict(_answers(answering, named, sessions))
    is_of_sessions = not {*named, *(name.replace(_ANSWER, _NO_ANSWER) for name in named)}.isdisjoint(logged)
    return list(dict.fromkeys(turns.values()) if is_of_sessions else turns)


def _answers(answering: Collection[str], named: Sequence[str], sessions: Sequence[Any]) -> Iterator[tuple[str, str]]:
    """Yield the turns of users that have an answer, as the corpus calls them, each with its session."""
    for name, turns in zip(named, sessions, strict=True):
        for number, turn in enumerate(turns if name in answering else (), 1):
            if turn.get("role") == "user" and turn.get("has_answer"):
                yield f"{name}_{number}", name


def _locomo(record: Mapping[str, Any], sample: dict[str, Any]) -> dict[str, Any]:
    """Read a question; some of its evidence has several ids in one text."""
    evidence = record.get("evidence")
    if not isinstance(evidence, list) or not all(isinstance(each, str) for each in evidence):
        return sample
    turns = list(dict.fromkeys(turn for each in evidence for turn in _EVIDENCE.split(each) if turn))
    return {**sample, "expected_output": {**_mapping(sample.get("expected_output")), "relevant": turns}}


def _chunking_evaluation(record: Mapping[str, Any], sample: dict[str, Any]) -> dict[str, Any]:
    """Read a question, all of whose references are places in one corpus."""
    expected = _mapping(sample.get("expected_output"))
    references = expected.get("spans")
    if not isinstance(references, list):
        return sample
    spans = [_span(each, record.get("corpus_id")) if isinstance(each, Mapping) else each for each in references]
    return {**sample, "expected_output": {**expected, "spans": spans}}


def _span(reference: Mapping[str, Any], document: object) -> dict[str, Any]:
    span = {"document": document, "start": reference.get("start_index"), "end": reference.get("end_index")}
    return {**span, "text": reference.get("content")}


def _trulens(record: Mapping[str, Any], sample: dict[str, Any]) -> dict[str, Any]:
    """Read ground truth whose chunks have scores: `expect_score` is the grade, and a chunk without one has grade 1."""
    chunks = record.get("expected_chunks")
    if isinstance(chunks, str):
        with suppress(orjson.JSONDecodeError):
            chunks = orjson.loads(chunks)
    if not isinstance(chunks, list) or not all(isinstance(chunk, Mapping) for chunk in chunks):
        return sample
    if not any(is_finite_number(chunk.get("expect_score")) for chunk in chunks):
        return sample
    passages = [
        {"text": chunk.get("text", chunk.get("content")), "grade": 1.0 if is_absent(score) else score}
        for chunk, score in ((chunk, chunk.get("expect_score")) for chunk in chunks)
    ]
    return {**sample, "expected_output": {**_mapping(sample.get("expected_output")), "passages": passages}}


def _mapping(value: object) -> Mapping[Any, Any]:
    return value if isinstance(value, Mapping) else {}


REFINED: Mapping[str, Refine] = {
    "longmemeval": _longmemeval,
    "locomo": _locomo,
    "chunking-evaluation": _chunking_evaluation,
    "trulens": _trulens,
}
"""What is done with the records of built-in presets by name."""
