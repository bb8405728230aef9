"""
Careful reading: going line by line through a file that could not be read, to report everything that is wrong with it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

from rankgauge.base.plain_text import read_number
from rankgauge.errors import DataError, Problem, counted
from rankgauge.io.field_names import Kind
from rankgauge.io.files import open_file
from rankgauge.io.problems import SUBJECTS, first_problems
from rankgauge.io.recognize import TREC_LINE, is_run_line, shortened, split_line

__all__ = ["explain"]


def explain(path: Path, name: str, kind: Kind) -> DataError:
    """Return what is wrong with judgments or a run that could not be read: a problem for each wrong line."""
    title = f"{SUBJECTS[kind]} cannot be read; a line is `{TREC_LINE[kind]}`:"
    return DataError(title, first_problems(_wrong_lines(path, name, kind), name))


def _wrong_lines(path: Path, name: str, kind: Kind) -> Iterator[Problem]:
    check = _run_line if kind == "run" else _qrels_line
    with open_file(path, name=name) as opened:
        for number, line in enumerate(opened.stream, 1):
            fields = split_line(line)
            if fields and not line.startswith(b"#") and (flaw := check(fields)):
                yield Problem(flaw, name, number)


def _run_line(fields: list[bytes]) -> str:
    if len(fields) < 6:
        return f"{counted(len(fields), 'field')} where 6 are needed: {shortened(b' '.join(fields))}"
    return f"the score {shortened(fields[4])} is not a finite number" if math.isnan(read_number(fields[4])) else ""


def _qrels_line(fields: list[bytes]) -> str:
    if len(fields) != 4:
        hint = " (a line of a run; are the two files swapped?)" if is_run_line(fields) else ""
        return f"{counted(len(fields), 'field')} where 4 are needed{hint}: {shortened(b' '.join(fields))}"
    return f"the grade {shortened(fields[3])} is not a finite number" if math.isnan(read_number(fields[3])) else ""
