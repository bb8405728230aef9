"""
Judgments of one judge: read from a filled queue, or from qrels.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rankgauge.errors import DataError, Problem
from rankgauge.files import read_qrels, refuse
from rankgauge.labels import is_queue_file, read_queue_file
from rankgauge.text import counted
from rankgauge_judge.queue_input import is_given

__all__ = ["Judgments", "read_judgments"]

Pair = tuple[str, str]
"""A query and a document."""


@dataclass(frozen=True, slots=True)
class Judgments:
    """What one judge said; a name that begins with ``model:`` is a model's."""

    name: str
    grades: Mapping[Pair, float]
    texts: Mapping[Pair, str] = field(default_factory=dict)  # of the documents, where the file has them
    scale: tuple[float, ...] = ()  # the grades that could be given, ascending; empty if the file does not say
    n_unjudged: int = 0  # documents with a grade below 0, which marks unjudged ones
    note: str = ""  # what else should be known of them

    @property
    def model(self) -> str:
        """Return which model it is; empty for people and unknown judges."""
        return self.name.removeprefix("model:") if self.name.startswith("model:") else ""


def read_judgments(path: Path) -> list[Judgments]:
    """Read the judgments of each judge of a file; a `DataError` has every line that cannot be used."""
    return _of_queue(path) if is_queue_file(path) else [_of_qrels(path)]


def _of_qrels(path: Path) -> Judgments:
    notes: list[str] = []
    graded = {
        (query, document): grade
        for query, grades in read_qrels(path, notes=notes).items()
        for document, grade in grades.items()
    }
    given = {pair: grade for pair, grade in graded.items() if grade >= 0}
    return Judgments(path.name, given, n_unjudged=len(graded) - len(given), note="\n".join(notes))


def _of_queue(path: Path) -> list[Judgments]:
    name = str(path)
    grades: dict[str, dict[Pair, float]] = {}
    texts: dict[str, dict[Pair, str]] = {}
    problems: list[Problem] = []
    queue = read_queue_file(path, problems=problems)
    allowed = queue.header["grades"]
    for number, row in queue.rows.items():
        grade: Any = row.get("grade")
        by, pair = row.get("judge") or path.name, (row["query"], row["document"])
        if not is_given(grade):
            continue
        if not isinstance(by, str):
            problems.append(Problem(f"'judge' must be a name; found {by!r}", name, number))
        elif isinstance(grade, bool) or grade not in allowed:
            listed = ", ".join(f"{each:g}" for each in allowed)
            problems.append(Problem(f"the grade {grade!r} by {by!r} is none of {listed}", name, number))
        elif pair in grades.setdefault(by, {}):
            problems.append(Problem(f"{by} judges document {pair[1]!r} of query {pair[0]!r} twice", name, number))
        else:
            grades[by][pair] = float(grade)
            if isinstance(row.get("document_text"), str):
                texts.setdefault(by, {})[pair] = row["document_text"]
    problems.sort(key=lambda problem: problem.line or 0)
    refuse(f"the judgments cannot be read ({counted(len(problems), 'problem')}):", problems)
    if not grades:
        raise DataError("the judgments cannot be read:", [Problem("there is no grade in it", name)])
    return [Judgments(by, found, texts.get(by, {}), queue.grades) for by, found in grades.items()]
