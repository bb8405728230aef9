"""
Recognizing what a file is by its ending and its first lines: TREC text, a table with a header, JSON or Parquet.

An ending says what a file is, except ``.tsv`` and ``.csv``, which are used for tables with a header and for TREC text
alike. There, and where the ending says nothing, the first line decides: a line that names columns cannot be data,
because no score and no grade is a name.
"""

from __future__ import annotations

import csv
import enum
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Literal, NamedTuple

from rankgauge.base.plain_text import NUMBER, read_number
from rankgauge.errors import DataError, Problem
from rankgauge.io.field_names import Kind, is_header, positions
from rankgauge.io.files import binary, open_file, open_regular, plain_suffix
from rankgauge.io.problems import SUBJECTS

__all__ = [
    "TREC_LINE",
    "FileKind",
    "Head",
    "Looks",
    "cells",
    "is_bare",
    "is_known",
    "is_qrels_line",
    "is_run_line",
    "is_table",
    "is_trec",
    "read_head",
    "recognize",
    "shortened",
    "sniff",
    "split_line",
]

_BLANKS = re.compile(rb"[\x00-\x20]+")
_JSON = re.compile(rb'\s*(\[\s*(\{|$)|\{\s*("|\}|$))')
_LOOKED_AT = 1 << 16
_SEPARATORS = "\t,;"
_PARQUET = b"PAR1"


TREC_LINE: Mapping[Kind, str] = {"qrels": "query iteration document grade", "run": "query Q0 document rank score tag"}
"""The fields of a line of TREC text."""


class FileKind(enum.Enum):
    """What a file is."""

    TREC, DELIMITED, JSON, PARQUET, BARE = range(5)  # the last are lines of other columns, without a header


_BY_SUFFIX = {".json": FileKind.JSON, ".parquet": FileKind.PARQUET, ".pq": FileKind.PARQUET}
_TABLES = {".csv", ".tsv"}


def split_line(line: bytes) -> list[bytes]:
    """Return the fields of a line of TREC text; every byte up to 32 separates."""
    return [field for field in _BLANKS.split(line) if field]


def is_run_line(fields: Sequence[bytes]) -> bool:
    """Return whether fields are those of a run."""
    return len(fields) >= 6 and not math.isnan(read_number(fields[4]))


def is_qrels_line(fields: Sequence[bytes]) -> bool:
    """Return whether fields are those of judgments."""
    return len(fields) == 4 and not math.isnan(read_number(fields[3]))


def _is_run(name: str, line: int) -> DataError:
    """Return the error of a run in place of judgments, which is reported once, and not for each of its lines."""
    hint = "are the two files swapped? Judgments come first, then runs"
    problem = Problem(f"this is a line of a run (`{TREC_LINE['run']}`); {hint}", name, line)
    return DataError("the judgments cannot be read:", [problem])


class Head(NamedTuple):
    """The first line of a file that is neither empty nor a comment."""

    line: bytes
    fields: list[str]  # of the header of a table; empty if the line cannot be one
    separator: str  # of these: a tab, else a comma, else a semicolon
    number: int  # of the line, from 1


def read_head(stream: IO[bytes]) -> Head:
    """Read the first line of a file that is neither empty nor a comment."""
    number = 1
    while (line := stream.readline(_LOOKED_AT)) and (not line.strip() or line.startswith(b"#")):
        number += 1
    text = line.decode("utf-8", "replace").rstrip("\r\n")
    separator = next((separator for separator in _SEPARATORS if separator in text), ",")
    try:
        fields = next(csv.reader([text], delimiter=separator), [])
    except csv.Error:  # a bare carriage return, a NUL, or more in one field than any header holds
        fields = []
    return Head(line, fields, separator, number)


def recognize(path: Path, kind: Kind, columns: Mapping[str, str] | None, *, name: str) -> FileKind:
    """Return what a file is; a table by its ending without a header that is no TREC text either is a `DataError`."""
    suffix = plain_suffix(path)
    if suffix in _BY_SUFFIX:
        return _BY_SUFFIX[suffix]
    with open_file(path, name=name) as opened:
        head = read_head(opened.stream)
    if suffix not in _TABLES:
        if head.line.startswith(_PARQUET) and _ends_as_parquet(path):
            return FileKind.PARQUET
        if _JSON.match(head.line):
            return FileKind.JSON
    return _of_text(head, kind, columns, name, is_table=suffix in _TABLES)


def _of_text(head: Head, kind: Kind, columns: Mapping[str, str] | None, name: str, *, is_table: bool) -> FileKind:
    """Return what a file of text is, by its first line and by whether its ending is that of a table."""
    if _is_said(head, kind, columns):
        return FileKind.BARE
    if kind == "qrels" and is_run_line(split_line(head.line)):
        raise _is_run(name, head.number)
    if (is_qrels_line if kind == "qrels" else is_run_line)(split_line(head.line)):
        return FileKind.TREC
    if len(head.fields) > 1 and is_header(head.fields, kind, columns):
        return FileKind.DELIMITED
    if is_bare(head, kind, columns):
        return FileKind.BARE
    if not (is_table and head.line):
        return FileKind.TREC
    if head.fields and not any(map(NUMBER.fullmatch, head.fields)):
        return FileKind.DELIMITED  # a header of other names: whoever reads it says which columns it lacks
    raise _unclear(head, kind, name)


def cells(head: Head, kind: Kind, columns: Mapping[str, str] | None) -> list[str]:
    """Return the fields of a line without a header: between blanks, or else between commas or semicolons."""
    fields = [field.decode("utf-8", "replace") for field in split_line(head.line)]
    is_table = len(fields) < _FEWEST or len(head.fields) == len(positions(columns, kind))
    return head.fields if head.separator != "\t" and len(head.fields) >= _FEWEST and is_table else fields


_FEWEST, _MOST = 3, {"qrels": 3, "run": 5}
"""How many columns lines without a header have; more, or four of judgments, are TREC's."""


def _is_said(head: Head, kind: Kind, columns: Mapping[str, str] | None) -> bool:
    """Return whether a line has as many columns as were named for lines without a header, and their numbers."""
    roles, fields = positions(columns, kind), cells(head, kind, columns)
    numbers = {"rank", "score", "grade"}
    return len(roles) == len(fields) > 0 and not any(
        role in numbers and math.isnan(read_number(field.strip().encode()))
        for role, field in zip(roles, fields, strict=True)
    )


def is_bare(head: Head, kind: Kind, columns: Mapping[str, str] | None) -> bool:
    """Return whether a line has too few columns for TREC text, and a number at its end, as no header has."""
    fields = cells(head, kind, columns)
    is_short = _FEWEST <= len(fields) <= _MOST[kind]
    is_swapped = kind == "run" and not positions(columns, kind) and fields[1:2] in (["0"], ["Q0"], ["q0"])
    return is_short and not is_swapped and not math.isnan(read_number(fields[-1].strip().encode()))


def is_table(suffix: str) -> bool:
    """Return whether an ending is that of a table of text."""
    return suffix in _TABLES


def is_known(suffix: str) -> bool:
    """Return whether an ending is that of a table or of JSON."""
    return suffix in _BY_SUFFIX or suffix in _TABLES


def is_trec(path: Path, kind: Kind, *, name: str) -> bool:
    """Return whether the first line of a file is one of TREC text."""
    with open_file(path, name=name, is_text=False) as opened:
        fields = split_line(read_head(opened.stream).line)
    return is_run_line(fields) or (kind == "qrels" and is_qrels_line(fields))


def _ends_as_parquet(path: Path) -> bool:
    with open_regular(path) as file:
        file.seek(-len(_PARQUET), 2)
        return file.read() == _PARQUET


def _unclear(head: Head, kind: Kind, name: str) -> DataError:
    names = "query-id, corpus-id, score" if kind == "qrels" else "query_id, doc_id, score"
    message = (
        f"{shortened(head.line.rstrip())} neither names columns nor is a line of TREC text "
        f"(`{TREC_LINE[kind]}`); write a header such as `{names}`, separated as the lines are"
    )
    return DataError(f"{SUBJECTS[kind]} cannot be read:", [Problem(message, name, head.number)])


def shortened(line: bytes) -> str:
    """Return the beginning of a line as messages show it."""
    text = line.decode("utf-8", "backslashreplace")
    return repr(text if len(text) <= 80 else f"{text[:77]}...")


class Looks(NamedTuple):
    """What a file looks like: its kind, and the same for people, with what to do; empty if there is no telling."""

    kind: Literal["run", "judgments", "empty", "binary", "other"]
    what: str


def sniff(path: Path) -> Looks:
    """Look at the first lines of a file that was given as TREC text, so that a wrong one is called by its name."""
    with open_file(path, is_text=False) as opened:
        data = opened.stream.read(_LOOKED_AT)
    if data.startswith(_PARQUET):
        return Looks("binary", "Parquet; give the file the ending .parquet")
    if what := binary(data):
        return Looks("binary", what)
    if b"\x00" in data:
        return Looks("binary", "not text")
    lines = [line for line in data.split(b"\n") if line.strip() and not line.startswith(b"#")]
    if len(data) == _LOOKED_AT and len(lines) > 1:
        del lines[-1]  # it may be cut off
    return _of_lines(lines) if lines else Looks("empty", "empty")


def _of_lines(lines: list[bytes]) -> Looks:
    rows = list(map(split_line, lines))
    usual = Counter(map(len, rows)).most_common(1)[0][0]
    row = next(row for row in reversed(rows) if len(row) == usual)
    if lines[0].lstrip()[:1] in {b"{", b"["}:
        return Looks("other", "JSON; give the file the ending .json or .jsonl")
    if is_run_line(row):
        return Looks("run", "a TREC run")
    if is_qrels_line(row):
        return Looks("judgments", "TREC judgments")
    if lines[0].lower().startswith(b"query-id"):
        return Looks("other", "BEIR judgments; give the file the ending .tsv")
    if usual == 3 and not math.isnan(read_number(row[2])):
        return Looks("other", "`query document rank` or `query document score`, where TREC has more columns")
    if usual == 5:
        return Looks("other", "a run without its last column, the tag, or without `Q0`")
    if usual == 1 and b"," in row[0]:
        return Looks("other", "values separated by commas; give the file the ending .csv")
    return Looks("other", "")
