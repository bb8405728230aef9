"""
Writing judgments: TREC qrels, and beside them who gave which grade.

The side file keeps the qrels as every tool reads them: four fields, and nothing that one of them might take for data.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from rankgauge.columns import Qrels
from rankgauge.errors import DataError, Problem
from rankgauge.io.files import open_file
from rankgauge.io.queues import Graded, decoded, write_bytes, write_lines

__all__ = ["provenance_path", "write_judgments"]


def provenance_path(qrels: Path) -> Path:
    """Return the side file of judgments."""
    return Path(f"{qrels}.provenance.jsonl")


def write_judgments(path: Path, qrels: Qrels, added: Sequence[Graded]) -> None:
    """
    Write judgments with further ones as TREC qrels, and the side file; what that of *qrels* says is carried over.

    An id with a blank in it, which TREC qrels cannot hold, is a `DataError`.
    """
    lines = list(_lines(qrels, added))
    unfit = [(query, document) for query, document, _ in lines if any(byte <= 32 for byte in query + document)]
    if unfit:
        message = "TREC qrels hold no ids with blanks; judge runs and judgments with other ids"
        title = f"{path} cannot be written:"
        problems = [
            Problem(f"query {decoded(query)!r}, document {decoded(name)!r}: {message}") for query, name in unfit
        ]
        raise DataError(title, problems)
    earlier = _provenance(Path(qrels.source)) if qrels.source else []
    new = [
        {"query": decoded(each.query), "document": decoded(each.document), "grade": each.grade, "judge": each.judge}
        for each in added
    ]
    write_lines(provenance_path(path), [*earlier, *new])
    write_bytes(path, b"".join(b"%s 0 %s %s\n" % (query, name, _grade(grade)) for query, name, grade in lines))


def _lines(qrels: Qrels, added: Sequence[Graded]) -> Iterator[tuple[bytes, bytes, float]]:
    """Yield query, document and grade, queries in order, new judgments last; they replace grades below 0."""
    new: dict[bytes, list[Graded]] = {}
    for each in added:
        new.setdefault(each.query, []).append(each)
    ends = np.cumsum(qrels.lengths).tolist()
    documents, grades = qrels.documents.texts(), qrels.grades.tolist()
    for query, begin, end in zip(qrels.queries, [0, *ends], ends, strict=False):
        own = new.get(query, [])
        replaced = {each.document for each in own}
        for document, grade in zip(documents[begin:end], grades[begin:end], strict=True):
            if document not in replaced:
                yield query, document, grade
        for each in own:
            yield query, each.document, each.grade


def _grade(grade: float) -> bytes:
    return (str(int(grade)) if grade.is_integer() else repr(grade)).encode()


def _provenance(qrels: Path) -> list[dict[str, object]]:
    path = provenance_path(qrels)
    if not path.is_file():
        return []
    with open_file(path) as opened:
        try:
            return [json.loads(line) for line in opened.stream if line.strip()]
        except ValueError as error:
            msg = f"{path} cannot be read:"
            raise DataError(msg, [Problem(f"not valid JSON lines: {error}; mend it, or move it away")]) from None
