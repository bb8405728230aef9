"""
Queues that are to be judged: read with their texts, which judging needs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rankgauge.errors import DataError, Problem
from rankgauge.files import refuse
from rankgauge.labels import read_queue_file
from rankgauge.text import counted

__all__ = ["TextQueue", "is_given", "read_text_queue"]

_TEXTS = ("query_text", "document_text")


@dataclass(frozen=True, slots=True)
class TextQueue:
    """A queue: its header, and a row for each document, with the texts of it and of its query."""

    header: Mapping[str, Any]
    rows: Sequence[dict[str, Any]]

    @property
    def open(self) -> list[tuple[int, dict[str, Any]]]:
        """Return the rows without a grade, with their places."""
        return [(place, row) for place, row in enumerate(self.rows) if not is_given(row.get("grade"))]


def is_given(grade: object) -> bool:
    """Return whether a line of a queue has a grade, be it one that is allowed or not."""
    return grade is not None and grade != ""


def read_text_queue(file: Path) -> TextQueue:
    """Read a queue; a `DataError` has every line that no judge could fill in."""
    problems: list[Problem] = []
    queue = read_queue_file(file, problems=problems)
    lacking: dict[str, list[tuple[int, str]]] = {}
    for number, row in queue.rows.items():
        for key in _TEXTS:
            if not isinstance(row.get(key), str) or not row[key].strip():
                lacking.setdefault(key, []).append((number, row["document"]))
    for key, documents in lacking.items():
        (number, first), others = documents[0], len(documents) - 1
        more = f" and {counted(others, 'other document')} have" if others else " has"
        flaw = f"{first!r}{more} no {key}; `judge queue` adds it with --texts and --queries"
        problems.append(Problem(flaw, str(file), number))
    refuse(f"the queue cannot be judged ({counted(len(problems), 'problem')}):", problems)
    if not queue.rows:
        raise DataError("the queue cannot be judged:", [Problem("there is no document in it", str(file))])
    return TextQueue(queue.header, tuple(queue.rows.values()))
