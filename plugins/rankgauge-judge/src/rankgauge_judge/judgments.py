"""
Judgments of one judge: read from a filled queue, or from qrels.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rankgauge.errors import DataError, Problem, counted
from rankgauge.features.labels.queue_files import SCHEMA_VERSION, decoded, read_header, read_row
from rankgauge.io.files import read_bytes
from rankgauge.io.open_sources import open_qrels
from rankgauge.io.problems import refuse
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
    scale: tuple[float, ...] = ()  # the grades that could be given, ascending; empty where the file does not say
    n_unjudged: int = 0  # documents with a grade below 0, which says that nobody judged them
    note: str = ""  # what else should be known of them

    @property
    def model(self) -> str:
        """Return which model it is; empty for people and unknown judges."""
        return self.name.removeprefix("model:") if self.name.startswith("model:") else ""


def read_judgments(path: Path) -> list[Judgments]:
    """Read the judgments of each judge of a file; a `DataError` has every line that cannot be used."""
    head = read_bytes(path)[:4096].lstrip()
    if not head.startswith(b"{") or SCHEMA_VERSION.encode() not in head.partition(b"\n")[0]:
        return [_of_qrels(path)]
    return _of_queue(path)


def _of_qrels(path: Path) -> Judgments:
    qrels = open_qrels(path)
    names = [decoded(query) for query in qrels.queries]
    documents = list(map(decoded, qrels.documents.texts()))
    owners, grades = qrels.owners.tolist(), qrels.grades.tolist()
    given = {
        (names[owner], document): grade
        for owner, document, grade in zip(owners, documents, grades, strict=True)
        if grade >= 0
    }
    return Judgments(path.name, given, n_unjudged=len(grades) - len(given), note=qrels.merged_note)


def _of_queue(path: Path) -> list[Judgments]:
    lines, name = read_bytes(path).splitlines(), str(path)
    allowed = read_header(lines, name)["grades"]
    grades: dict[str, dict[Pair, float]] = {}
    texts: dict[str, dict[Pair, str]] = {}
    problems: list[Problem] = []
    for number, line in enumerate(lines[1:], 2):
        if not line.strip():
            continue
        try:
            row = read_row(line)
        except ValueError as error:
            problems.append(Problem(str(error), name, number))
            continue
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
    refuse(f"the judgments cannot be read ({counted(len(problems), 'problem')}):", problems)
    if not grades:
        raise DataError("the judgments cannot be read:", [Problem("there is no grade in it", name)])
    scale = tuple(sorted(set(map(float, allowed))))
    return [Judgments(by, found, texts.get(by, {}), scale) for by, found in grades.items()]
