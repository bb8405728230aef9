"""
Runs of TREC tracks that are JSON: turns of iKAT and CAsT, answers with references as in RAG, and lists of candidates.

A run is one document, a list of records, or a record a line. What is read of each record:

- ``{turns: [{turn_id, responses: [{rank, passage_provenance: [{id, score}]}]}]}`` (iKAT 2023 and 2024; CAsT calls them
  `provenance`): the passages of all responses to a turn, by score;
- ``{topic_id, references: [id, ...]}``, also with the id in `metadata` (RAG): in their order, the best first;
- ``{turn_id, references: {id: score}}`` (iKAT 2025): by score;
- ``{query: {qid}, candidates: [{docid, score}]}`` (rerankers of RAG's retrieval task): by score.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from rankgauge.errors import Problem, listed
from rankgauge.io.documents import not_json

__all__ = ["MARKS", "TrackRun", "is_track", "track_lines", "track_run"]

_TOPICS = ("turn_id", "topic_id", "narrative_id", "query_id", "qid")
_TAGS = ("run_name", "run_id")
_PASSAGES = ("passage_provenance", "provenance")
_IDS = ("id", "docid", "doc_id")
MARKS = ("turns", "references", "candidates")
"""The keys of which such a record has one."""


class TrackRun(NamedTuple):
    """A run: its rankings as scores by document, its tag, and what to say of it."""

    rankings: dict[str, dict[str, float]]
    tag: str
    notes: list[str]


def is_track(value: object) -> bool:
    """Return whether a JSON value is a record of such a run, or a list that begins with one."""
    first = value[0] if isinstance(value, list) and value else value
    if not isinstance(first, dict):
        return False
    return any(isinstance(first.get(mark), list) for mark in MARKS) or (
        isinstance(first.get("references"), dict) and _topic(first) is not None
    )


def track_lines(data: bytes, name: str) -> tuple[list[tuple[int, Any]], list[Problem]] | None:
    """Return the records of JSON lines with their numbers, and lines that are none; None if they are no such run."""
    lines = [(number, line) for number, line in enumerate(data.split(b"\n"), 1) if line.strip()]
    records: list[tuple[int, Any]] = []
    problems: list[Problem] = []
    for number, line in lines:
        try:
            records.append((number, orjson.loads(line)))
        except orjson.JSONDecodeError as error:
            problems.append(Problem(not_json(error, line.decode("utf-8", "replace")), name, number))
        if len(records) + len(problems) == 1:
            first = records[0][1] if records else None
            if isinstance(first, list) or not is_track(first):
                return None  # a list of records may be on one line
    return records, problems


def track_run(records: Iterable[tuple[int | None, object]], name: str, problems: list[Problem]) -> TrackRun:
    """Return the run that records make, or add what is wrong with them to *problems*."""
    rankings: dict[str, dict[str, float]] = {}
    tag, repeated = "", list[str]()
    for line, record in records:
        for place, topic, lacks, items in _turns(record):
            ranking, flaws, again = _ranking(items)
            if topic is None or lacks:
                flaws = [lacks]
            elif topic in rankings:
                flaws = [f"there are two records for {topic!r}; keep one"]
            else:
                rankings[topic] = ranking
                repeated += [topic] if again else []
            problems += [Problem(flaw, name, line, place) for flaw in flaws]
        if isinstance(record, dict):
            held = record.get("metadata")
            places = (record, held if isinstance(held, dict) else {})
            tag = tag or next((str(part[key]) for part in places for key in _TAGS if part.get(key)), "")
    notes = []
    if repeated:
        shown = listed([repr(topic) for topic in repeated], 3)
        notes.append(f"{name or 'the run'} lists a document more than once for {shown}; its best place counts")
    return TrackRun(rankings, tag, notes)


_Items = list[tuple[object, object]]
"""Documents with their scores, None if there is none."""


def _turns(record: object) -> Iterator[tuple[str, str | None, str, _Items]]:
    """Yield place, topic, flaw and documents of each ranking in a record."""
    if not isinstance(record, dict):
        yield (
            "",
            None,
            f"expected a record with {', '.join(MARKS[:-1])} or {MARKS[-1]}, found {type(record).__name__}",
            [],
        )
        return
    if isinstance(turns := record.get("turns"), list):
        for at, turn in enumerate(turns):
            topic = _topic(turn) if isinstance(turn, dict) else None
            yield f"turns[{at}]", topic, _lacks(topic), list(_passages(turn)) if topic is not None else []
        return
    query = record.get("query")
    topic = _topic(record) or (_topic(query) if isinstance(query, dict) else None)
    if isinstance(candidates := record.get("candidates"), list):
        yield "candidates", topic, _lacks(topic), [_scored(item) for item in candidates]
    elif isinstance(references := record.get("references"), dict):
        yield "references", topic, _lacks(topic), list(references.items())
    elif isinstance(references, list):
        yield "references", topic, _lacks(topic), [(_scored(item)[0], None) for item in references]
    else:
        yield "", topic, f"the record has no {', '.join(MARKS[:-1])} or {MARKS[-1]}", []


def _lacks(topic: str | None) -> str:
    return "" if topic is not None else f"the record has no id of its topic ({', '.join(_TOPICS)})"


def _topic(record: Mapping[Any, Any]) -> str | None:
    held = record.get("metadata")
    for part in (record, held if isinstance(held, dict) else {}):
        for key in _TOPICS:
            if isinstance(value := part.get(key), str | int) and not isinstance(value, bool) and value != "":
                return str(value)
    return None


def _passages(turn: Mapping[Any, Any]) -> Iterator[tuple[object, object]]:
    """Yield the passages of the responses to a turn, in the order of these."""
    responses = [each for each in turn.get("responses") or () if isinstance(each, dict)]
    for response in sorted(responses, key=_rank):
        passages: list[object] = next((response[key] for key in _PASSAGES if isinstance(response.get(key), list)), [])
        yield from map(_scored, passages)


def _rank(response: Mapping[Any, Any]) -> float:
    rank = response.get("rank")
    return rank if isinstance(rank, int | float) and not math.isnan(rank) else math.inf


def _scored(item: object) -> tuple[object, object]:
    """Return a document with its score."""
    if not isinstance(item, dict):
        return item, None
    return next((item[key] for key in _IDS if key in item), None), item.get("score")


def _ranking(items: Sequence[tuple[object, object]]) -> tuple[dict[str, float], list[str], bool]:
    """Return scores by document, what is wrong, and whether a document is repeated; without scores, places count."""
    has_scores = bool(items) and all(score is not None for _, score in items)
    ranking: dict[str, float] = {}
    flaws: list[str] = []
    is_repeated = False
    for at, (document, score) in enumerate(items):
        value = score if has_scores else float(len(items) - at)
        if isinstance(document, bool) or not isinstance(document, str | int) or document == "":
            flaws.append(f"item {at} has no id of a document")
        elif isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            flaws.append(f"the score {value!r} of {document!r} is not a finite number")
        else:
            is_repeated |= str(document) in ranking
            ranking[str(document)] = max(float(value), ranking.get(str(document), -math.inf))
    if not has_scores and any(score is not None for _, score in items):
        flaws.append("some items have a score, and some have none")
    return ranking, flaws, is_repeated
