"""
Careful reading: going line by line through a file that could not be read, to report everything that is wrong with it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from rankgauge.base.plain_text import read_number
from rankgauge.errors import DataError, Problem, counted
from rankgauge.io.field_names import Kind
from rankgauge.io.files import open_file
from rankgauge.io.problems import first_problems
from rankgauge.io.recognize import is_run_line, split_line

__all__ = ["explain"]


def explain(path: Path, name: str, kind: Kind) -> DataError:
    """Return what is wrong with judgments or a run that could not be read: a problem for each wrong line."""
    check, title = _KINDS[kind]
    return DataError(title, first_problems(_wrong_lines(path, name, check), name))


def _wrong_lines(path: Path, name: str, check: Callable[[list[bytes]], str]) -> Iterator[Problem]:
    with open_file(path, name=name) as opened:
        for number, line in enumerate(opened.stream, 1):
            fields = split_line(line)
            if fields and not line.startswith(b"#") and (wrong := check(fields)):
                yield Problem(wrong, name, number)


def _run_line(fields: list[bytes]) -> str:
    if len(fields) < 6:
        return f"{counted(len(fields), 'field')} where 6 are needed: {_shown(b' '.join(fields))}"
    if math.isnan(read_number(fields[4])):
        return f"the score {_shown(fields[4])} is not a finite number"
    return ""


def _qrels_line(fields: list[bytes]) -> str:
    if len(fields) != 4:
        hint = " (a line of a run; are the two files swapped?)" if is_run_line(fields) else ""
        return f"{counted(len(fields), 'field')} where 4 are needed{hint}: {_shown(b' '.join(fields))}"
    if math.isnan(read_number(fields[3])):
        return f"the grade {_shown(fields[3])} is not a finite number"
    return ""


def _shown(text: bytes) -> str:
    readable = text.decode("utf-8", "backslashreplace")
    return repr(readable if len(readable) <= 80 else f"{readable[:77]}...")


_KINDS: Mapping[Kind, tuple[Callable[[list[bytes]], str], str]] = {
    "run": (_run_line, "the run cannot be read; a line is `query Q0 document rank score tag`:"),
    "qrels": (_qrels_line, "the judgments cannot be read; a line is `query iteration document grade`:"),
}
