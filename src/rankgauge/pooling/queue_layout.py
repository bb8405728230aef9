"""
Queues laid out: for a judge, who must see neither runs nor reasons, and the key with both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rankgauge.base.plain_text import visible
from rankgauge.errors import counted
from rankgauge.pooling.new_judgments import NewJudgments
from rankgauge.pooling.queue import Queue
from rankgauge.pooling.queue_files import SCHEMA_VERSION, decoded
from rankgauge.stats import Agreement

__all__ = ["KEY_SCHEMA_VERSION", "judgments_summary", "judgments_text", "key_rows", "queue_rows"]

KEY_SCHEMA_VERSION = "rankgauge.queue-key.v1"

_GUIDELINE = "How well does the document answer the query? {low:g} is not at all, {high:g} as well as can be."


def queue_rows(
    queue: Queue, *, guideline: str = "", queries: Mapping[str, str], documents: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    """Yield the lines of the file for a judge: a header, then a document each, with texts where there are some."""
    low, high = queue.grades[0], queue.grades[-1]
    yield {
        "schema_version": SCHEMA_VERSION,
        "judgments": queue.fingerprint,
        "grades": [_plain(grade) for grade in queue.grades],
        "guideline": guideline or _GUIDELINE.format(low=low, high=high),
    }
    for item in queue.items:
        query, document = decoded(item.query), decoded(item.document)
        row: dict[str, Any] = {"query": query, "query_text": queries.get(query)}
        row |= {"document": document, "document_text": documents.get(document), "grade": None, "judge": None}
        yield {key: value for key, value in row.items() if value is not None or key in {"grade", "judge"}}


def key_rows(queue: Queue) -> Iterator[dict[str, Any]]:
    """Yield the lines of the key: a header, then for each document its priority, ranks and earlier grade."""
    yield {
        "schema_version": KEY_SCHEMA_VERSION,
        "judgments": queue.fingerprint,
        "metric": queue.metric,
        "runs": list(queue.runs),
        "depth": queue.depth,
        "seed": queue.seed,
    }
    for item in queue.items:
        yield {
            "query": decoded(item.query),
            "document": decoded(item.document),
            "priority": item.priority,
            "ranks": {run: rank or None for run, rank in zip(queue.runs, item.ranks, strict=True)},
            "judged": None if item.grade is None else _plain(item.grade),
        }


def judgments_summary(judgments: NewJudgments) -> dict[str, Any]:
    """Return what judges have added, and how they agree with earlier judgments, as plain data."""
    return {
        "added": len(judgments.added),
        "again": len(judgments.again),
        "judges": dict(judgments.judges),
        "agreement": {
            "grades": judgments.grades._asdict(),
            "relevance": judgments.relevance._asdict(),
            "by_judge": {judge: agreement._asdict() for judge, agreement in judgments.by_judge.items()},
        },
    }


def judgments_text(judgments: NewJudgments) -> Iterator[str]:
    """Yield the same in words."""
    judges = ", ".join(f"{visible(judge)} {count:,}" for judge, count in judgments.judges.items())
    added, again = counted(len(judgments.added), "new judgment"), len(judgments.again)
    yield f"{added}{f' ({judges})' if judges else ''}; {again:,} were judged before"
    if not again:
        yield "no document was judged twice, so nothing is known of agreement"
        return
    yield f"agreement with earlier judgments on the grade: {_agreement(judgments.grades)}"
    yield f"agreement on whether a document is relevant: {_agreement(judgments.relevance)}"
    for judge, agreement in judgments.by_judge.items():
        yield f"  {visible(judge)}, on the grade: {_agreement(agreement)}"


def _agreement(agreement: Agreement) -> str:
    kappa = "undefined, all labels are the same" if agreement.kappa is None else f"{agreement.kappa:.3f}"
    share = f"{agreement.same:,} of {agreement.n:,} ({agreement.same / agreement.n:.1%})"
    return f"{share}, Cohen's kappa {kappa}"


def _plain(grade: float) -> float | int:
    return int(grade) if grade == int(grade) else grade
