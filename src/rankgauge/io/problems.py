"""
Problems and limits: what readers report of files that they cannot read, and how much is held in one piece.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice

from rankgauge.errors import DataError, ParameterError, Problem, UnreadableError

__all__ = [
    "MAX_LINE",
    "MOST",
    "RAISE_IT",
    "SUBJECTS",
    "MalformedError",
    "first_problems",
    "limited",
    "longest_piece",
    "no_judgments",
    "once",
    "parse_size",
    "refuse",
    "unreadable",
    "written_size",
]

MOST = 10_000
"""More problems than this are no help."""

SUBJECTS = {"qrels": "the judgments", "run": "the run"}


MISSING = "the field "
"""How the problem of a field begins that a record lacks, or has without a value."""


class MalformedError(Exception):
    """A file has a wrong line; reading it carefully tells which ones, and why."""


def first_problems(all_problems: Iterable[Problem], name: str) -> list[Problem]:
    """Return the first `MOST` problems of a file, with a last one that says so if reading stopped there."""
    problems = list(islice(all_problems, MOST))
    if len(problems) == MOST:
        problems.append(Problem(f"reading stopped after {MOST:,} problems", name))
    return problems


def once(problems: Iterable[Problem]) -> list[Problem]:
    """Return problems, those of a field that is missing in the same way once, with the number of the others."""
    together: dict[object, list[Problem]] = {}
    for number, problem in enumerate(problems):
        is_field = problem.message.startswith(MISSING)
        key = (problem.file, problem.path.rpartition(".")[2], problem.message) if is_field else number
        together.setdefault(key, []).append(problem)
    return [
        first._replace(message=f"{first.message} (so in {len(more):,} more)") if more else first
        for first, *more in together.values()
    ]


def refuse(title: str, problems: Sequence[Problem]) -> None:
    """
    Raise a `DataError` if there are problems.

    Args:
        title: What cannot be done, such as ``the samples cannot be used:``.

        problems: What is wrong, all of it.

    Raises:
        DataError: There are problems; its text lists them below the title.
    """
    if problems:
        raise DataError(title, problems)


def unreadable(name: str, message: str, line: int | None = None) -> UnreadableError:
    """Return the error of a file that cannot be read at all, for one reason."""
    return UnreadableError(f"cannot read {name}:", [Problem(message, name, line)])


def no_judgments(name: str = "") -> DataError:
    """Return the error of judgments that are empty."""
    return DataError("the judgments cannot be used:", [Problem("there are no judgments", name)])


MAX_LINE = "RANKGAUGE_MAX_LINE"
"""The environment variable that changes the limit; `--max-line` sets it for one call."""

RAISE_IT = f"raise the limit with --max-line or {MAX_LINE}"

_DEFAULT = 256 << 20
_UNITS = {"": 1, "b": 1, "kb": 1 << 10, "mb": 1 << 20, "gb": 1 << 30}
_SIZE = re.compile(r"([0-9]{1,15})\s*([a-z]*)", re.IGNORECASE)


def longest_piece() -> int:
    """Return how many bytes are held in one piece: 256 MB, unless RANKGAUGE_MAX_LINE says otherwise."""
    written = os.environ.get(MAX_LINE, "").strip()
    return parse_size(written, MAX_LINE) if written else _DEFAULT


@contextmanager
def limited(size: str, origin: str) -> Iterator[None]:
    """Change the limit for a while, also for processes that are started meanwhile; *origin* is who says so."""
    before = os.environ.get(MAX_LINE)
    os.environ[MAX_LINE] = str(parse_size(size, origin))
    try:
        yield
    finally:
        if before is None:
            del os.environ[MAX_LINE]
        else:
            os.environ[MAX_LINE] = before


def parse_size(written: str, origin: str) -> int:
    """Return a size such as ``512MB`` in bytes; a `ParameterError` that names its *origin* for anything else."""
    match = _SIZE.fullmatch(written.strip())
    size = int(match[1]) * _UNITS.get(match[2].lower(), 0) if match else 0
    if not size:
        raise ParameterError(f"{origin} is a size above 0, such as 512MB or 2GB, not {written!r}")
    return size


def written_size(size: int) -> str:
    """Return a size for people: ``256 MB``, or bytes if it is no whole number of units."""
    for name, unit in reversed(_UNITS.items()):
        if unit > 1 and size % unit == 0:
            return f"{size // unit:,} {name.upper()}"
    return f"{size:,} bytes"
