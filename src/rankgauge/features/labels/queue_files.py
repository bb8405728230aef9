"""
Queues as files: what a judge fills in, read line by line.

Lines are JSON by the standard library, which can hold any id: bytes that are not UTF-8 come back as they were.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rankgauge.columns import Qrels, encoded
from rankgauge.errors import DataError, ParameterError, Problem, counted
from rankgauge.io.files import read_bytes
from rankgauge.io.judgment_sources import is_model
from rankgauge.io.problems import refuse, unreadable

__all__ = [
    "SCHEMA_VERSION",
    "Graded",
    "QueueFile",
    "checked_scale",
    "decoded",
    "is_queue_file",
    "read_queue",
    "read_queue_file",
    "read_scale",
]


SCHEMA_VERSION = "rankgauge.queue.v1"

_TOLD = ("when", "rubric")


@dataclass(frozen=True, slots=True, kw_only=True)
class Graded:
    """A line of a queue that a judge has filled in; the name of a model as judge begins with ``model:``."""

    query: bytes
    document: bytes
    grade: float
    judge: str
    told: Mapping[str, str] = field(default_factory=dict)  # what else is known of it: when, and by which rubric

    @property
    def is_of_model(self) -> bool:
        """Return whether a model gave the grade."""
        return is_model(self.judge)


def decoded(name: bytes) -> str:
    """Return an id as JSON holds it; `encoded` turns it back."""
    return name.decode("utf-8", "surrogateescape")


@dataclass(frozen=True, slots=True)
class QueueFile:
    """
    A queue of documents to judge, as its file has it.

    Attributes:
        header: The first line; `grades` are those that a judge may give.

        rows: The object on each line, by line number: `query`, `document` and whatever else is there, such as
            `query_text`, `document_text`, `grade` and `judge`.
    """

    header: Mapping[str, Any]
    rows: Mapping[int, dict[str, Any]]

    @property
    def grades(self) -> tuple[float, ...]:
        """Return the grades that a judge may give, ascending."""
        return tuple(sorted(set(map(float, self.header["grades"]))))


def is_queue_file(path: Path) -> bool:
    """
    Return whether a file is a queue, by its first line.

    Args:
        path: The file.

    Returns:
        False for judgments and any other file that can be read.

    Raises:
        DataError: The file cannot be read.
    """
    head = read_bytes(path)[:4096].lstrip()
    return head.startswith(b"{") and SCHEMA_VERSION.encode() in head.partition(b"\n")[0]


def read_queue_file(path: Path, *, problems: list[Problem]) -> QueueFile:
    """
    Read a queue that `rankgauge judge queue` wrote, filled in or not.

    Args:
        path: The file.

        problems: Lines that are no row of a queue are added to it; `rankgauge.files.refuse` raises all of them.

    Returns:
        The queue, with the lines that can be used.

    Raises:
        DataError: The file cannot be read, or its first line is not the header of a queue.
    """
    name = str(path)
    lines = read_bytes(path).splitlines()
    header, rows = _read_header(lines, name), {}
    for number, line in enumerate(lines[1:], 2):
        if line.strip():
            try:
                rows[number] = _read_row(line)
            except ValueError as error:
                problems.append(Problem(str(error), name, number))
    return QueueFile(header, rows)


def read_queue(path: Path, qrels: Qrels | None, *, judge: str = "", with_models: bool = False) -> list[Graded]:
    """
    Read what was judged of a queue, which was made for judgments, or for None.

    *judge* is who filled in the lines that do not say. A `DataError` refuses a queue that was made for other judgments,
    or has every line that is not filled in or cannot be used; one by a model unless *with_models* is to take these.
    """
    name = str(path)
    problems: list[Problem] = []
    queue = read_queue_file(path, problems=problems)
    if message := _of_others(queue.header.get("judgments"), qrels):
        raise DataError("the queue cannot be read:", [Problem(message, name, 1)])
    queries = None if qrels is None else frozenset(qrels.queries)
    seen: dict[tuple[bytes, bytes], int] = {}
    judged = []
    for number, row in queue.rows.items():
        try:
            graded = _graded(row, queue.header["grades"], judge)
            first = seen.setdefault((graded.query, graded.document), number)
            _check(graded, queries, first=None if first == number else first, with_models=with_models)
        except ValueError as error:
            problems.append(Problem(str(error), name, number))
        else:
            judged.append(graded)
    problems.sort(key=lambda problem: problem.line or 0)
    if not problems and not judged:
        problems.append(Problem("there is no judgment in it", name))
    refuse(f"the queue cannot be read ({counted(len(problems), 'problem')}):", problems)
    return judged


def _of_others(made_for: object, qrels: Qrels | None) -> str:
    """Return what is wrong if a queue was made for other judgments; empty if it was not."""
    if qrels is None:
        return "" if made_for is None else "the queue was made for judgments; give them with --qrels, to add to them"
    if made_for is None:
        return "the queue was made without judgments; leave out --qrels"
    if made_for == qrels.fingerprint:
        return ""
    others = f"the queue was made for other judgments ({made_for}) than {qrels.source or 'these'}"
    return f"{others} ({qrels.fingerprint}); give the file that `judge queue` was given"


def _check(graded: Graded, queries: Collection[bytes] | None, *, first: int | None, with_models: bool) -> None:
    """Refuse a line by a `ValueError`; *first* is an earlier one with the same document."""
    if queries is not None and graded.query not in queries:
        raise ValueError(f"the judgments have no query {decoded(graded.query)!r}")
    if first is not None:
        raise ValueError(f"this document is in line {first}, too; keep one line")
    if graded.is_of_model and not with_models:
        raise ValueError(f"the grade is by {graded.judge!r}; --with-models takes grades of models")


_LONGEST_SCALE = 1_000


def read_scale(written: str) -> tuple[float, ...]:
    """
    Read a scale of grades as people type it: numbers with commas between, or the whole numbers from one to another.

    Args:
        written: Such as ``0,1,2`` or ``0-3``.

    Returns:
        The grades, ascending; at least two.

    Raises:
        ParameterError: It is no such list, or has fewer than two grades or one below 0.
    """
    first, dash, last = written.partition("-")
    if dash and first.strip().isdecimal() and last.strip().isdecimal() and int(last) - int(first) < _LONGEST_SCALE:
        return checked_scale([float(grade) for grade in range(int(first), int(last) + 1)])
    try:
        grades = [float(grade) for grade in written.split(",")]
    except ValueError:
        form = "a list of numbers separated by commas, such as 0,1,2, or the whole numbers from one to another, as 0-3"
        raise ParameterError(f"--grades is {form}; not {written!r}") from None
    return checked_scale(grades)


def checked_scale(grades: Sequence[float]) -> tuple[float, ...]:
    """Return the grades that somebody named, ascending; refuse those that are no scale."""
    scale = tuple(sorted(set(grades)))
    if len(scale) < 2 or not all(map(math.isfinite, scale)) or scale[0] < 0:
        msg = f"grades are two or more different numbers from 0 on, such as 0,1,2; not {', '.join(map(str, grades))}"
        raise ParameterError(msg)
    return scale


def _read_header(lines: Sequence[bytes], name: str) -> dict[str, Any]:
    """Return the header of a queue, with the `grades` that a judge may give; refuse what is no queue."""
    header = None
    with suppress(IndexError, ValueError, RecursionError):
        header = json.loads(lines[0])
    if not isinstance(header, dict) or header.get("schema_version") != SCHEMA_VERSION:
        message = (
            f'the first line is not the header of a queue, {{"schema_version": "{SCHEMA_VERSION}", ...}}; give a file '
            "that `rankgauge judge queue` wrote, with its first line as it was"
        )
        raise unreadable(name, message, 1)
    grades = header.get("grades")
    if not isinstance(grades, list) or not grades or not all(map(_is_number, grades)):
        message = f"`grades` must be a list of the grades that a judge may give, not {grades!r}; leave it as it was"
        raise unreadable(name, message, 1)
    return header


def _graded(row: Mapping[str, Any], grades: Sequence[float], judge: str) -> Graded:
    """Return what a row says; a `ValueError` says what is wrong with it."""
    grade, by = row.get("grade"), row.get("judge")
    allowed = ", ".join(f"{allowed:g}" for allowed in grades)
    if grade is None or grade == "":
        raise ValueError(f"no grade for document {row['document']!r}; write one of {allowed}, or delete the line")
    if not _is_number(grade) or grade not in grades:
        raise ValueError(f"the grade {grade!r} of document {row['document']!r} is not one of {allowed}")
    if by is not None and not isinstance(by, str):
        raise ValueError(f"'judge' is a name, not {by!r}")
    who = (by or "").strip() or judge.strip()
    if not who:
        raise ValueError("no judge is named; write a name under 'judge', or give --judge NAME for such lines")
    told = {name: row[name] for name in _TOLD if isinstance(row.get(name), str) and row[name]}
    query, document = encoded(row["query"]), encoded(row["document"])
    return Graded(query=query, document=document, grade=float(grade), judge=who, told=told)


def _read_row(line: bytes) -> dict[str, Any]:
    """Return the object on a line, with the ids of a query and a document; a `ValueError` says what is wrong."""
    try:
        row = json.loads(line.decode())
    except UnicodeDecodeError as error:
        raise ValueError(f"byte {error.start} of the line is not UTF-8; save the file as UTF-8") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"not valid JSON: {error.msg} (column {error.colno})") from None
    except RecursionError:
        raise ValueError("not a line of a queue: it is nested too deeply") from None
    if not isinstance(row, dict):
        raise ValueError(f"expected an object with query, document and grade; found {type(row).__name__}")  # noqa: TRY004  # outside data
    for key in ("query", "document"):
        if not isinstance(row.get(key), str) or not row[key]:
            raise ValueError(f"{key!r} must be an id, as it was written; found {row.get(key)!r}")
    return row


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < math.inf
