"""
Careful reading: going through a file that could not be read line by line, to say everything that is wrong with it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from rankgauge.errors import DataError, Problem
from rankgauge.io.files import open_file

__all__ = ["explain_qrels", "explain_run", "read_number"]

_NUMBER = re.compile(rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_BLANKS = re.compile(rb"[\x00-\x20]+")
_MOST = 10_000


def explain_run(path: Path, name: str) -> DataError:
    """
    Return what is wrong with a run that could not be read.

    Args:
        path: The file.

        name: What messages call it.

    Returns:
        An error with a problem for each line that is wrong.
    """
    return _explained(path, name, _run_line, "the run cannot be read; a line is `query Q0 document rank score tag`:")


def explain_qrels(path: Path, name: str) -> DataError:
    """
    Return what is wrong with judgments that could not be read.

    Args:
        path: The file.

        name: What messages call it.

    Returns:
        An error with a problem for each line that is wrong.
    """
    return _explained(
        path, name, _qrels_line, "the judgments cannot be read; a line is `query iteration document grade`:"
    )


def read_number(text: bytes) -> float | None:
    """Return a finite number; None where the text is none."""
    number = float(text) if _NUMBER.fullmatch(text) else math.nan
    return number if math.isfinite(number) else None


def _explained(path: Path, name: str, check: Callable[[list[bytes]], str], title: str) -> DataError:
    problems: list[Problem] = []
    with open_file(path) as opened:
        for number, line in enumerate(_lines(opened.stream), 1):
            fields = [field for field in _BLANKS.split(line) if field]
            if not fields or line.startswith(b"#"):
                continue
            if wrong := check(fields):
                problems.append(Problem(wrong, name, number))
                if len(problems) >= _MOST:
                    problems.append(Problem(f"reading stopped after {_MOST:,} problems", name))
                    break
    if not problems:
        problems.append(Problem("lines that cannot be read", name))
    return DataError(title, problems)


def _lines(stream: IO[bytes]) -> Iterator[bytes]:
    yield from stream


def _run_line(fields: list[bytes]) -> str:
    if len(fields) < 6:
        return f"{len(fields)} fields where 6 are needed: {_shown(b' '.join(fields))}"
    if read_number(fields[4]) is None:
        return f"the score {_shown(fields[4])} is no finite number"
    return ""


def _qrels_line(fields: list[bytes]) -> str:
    if len(fields) != 4:
        hint = " (a line of a run; are the two files swapped?)" if not _run_line(fields) else ""
        return f"{len(fields)} fields where 4 are needed{hint}: {_shown(b' '.join(fields))}"
    if read_number(fields[3]) is None:
        return f"the grade {_shown(fields[3])} is no finite number"
    return ""


def _shown(text: bytes) -> str:
    readable = text.decode("utf-8", "backslashreplace")
    return repr(readable if len(readable) <= 80 else f"{readable[:77]}...")
