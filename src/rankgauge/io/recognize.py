"""
Recognizing files of judgments and runs: TREC text, tables with a header, JSON or Parquet.

An ending says what a file is, except ``.tsv`` and ``.csv``, which are used for tables with a header and for TREC text
alike. There, and where the ending says nothing, the first line decides: a line that names columns cannot be data,
because no score and no grade is a name.
"""

from __future__ import annotations

import csv
import enum
import re
from collections.abc import Mapping
from pathlib import Path
from typing import IO, NamedTuple

from rankgauge.errors import DataError, Problem
from rankgauge.io.columns import Kind, is_header
from rankgauge.io.files import open_file, plain_suffix

__all__ = ["FileKind", "Head", "read_head", "recognize"]

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_JSON = re.compile(r'\s*\{\s*("|\}|$)')
_LONGEST_LINE = 1 << 16
_SEPARATORS = "\t,;"
_PARQUET = b"PAR1"


class FileKind(enum.Enum):
    """What a file is."""

    TREC = enum.auto()
    DELIMITED = enum.auto()
    JSON = enum.auto()
    PARQUET = enum.auto()


_BY_SUFFIX = {".json": FileKind.JSON, ".parquet": FileKind.PARQUET, ".pq": FileKind.PARQUET}
_TABLES = {".csv", ".tsv"}


class Head(NamedTuple):
    """
    The first line of a file that is neither empty nor a comment.

    Attributes:
        line: The line.

        fields: What stands in it, if it is the header of a table; empty where it cannot be one.

        separator: What separates these: a tab, else a comma, else a semicolon.

        number: The number of the line, from 1.
    """

    line: str
    fields: list[str]
    separator: str
    number: int


def read_head(stream: IO[bytes]) -> Head:
    """Read the first line of a file that is neither empty nor a comment."""
    number = 1
    while (line := stream.readline(_LONGEST_LINE)) and (not line.strip() or line.startswith(b"#")):
        number += 1
    text = line.decode("utf-8", "replace").rstrip("\r\n")
    separator = next((separator for separator in _SEPARATORS if separator in text), ",")
    try:
        fields = next(csv.reader([text], delimiter=separator), [])
    except csv.Error:  # a bare carriage return, a NUL, or more in one field than any header holds
        fields = []
    return Head(text, fields, separator, number)


def recognize(path: Path, kind: Kind, columns: Mapping[str, str] | None, *, name: str) -> FileKind:
    """
    Return what a file is.

    Args:
        path: The file; decompressed by its ending.

        kind: What it holds.

        columns: The user's own names of columns.

        name: What messages call it.

    Returns:
        How to read it.

    Raises:
        UnreadableError: It cannot be read.

        DataError: Its ending says that it is a table, and its first line is neither a header nor TREC text.
    """
    suffix = plain_suffix(path)
    if suffix in _BY_SUFFIX:
        return _BY_SUFFIX[suffix]
    with open_file(path) as opened:
        head = read_head(opened.stream)
    if suffix not in _TABLES:
        if head.line.startswith(_PARQUET.decode()) and _ends_as_parquet(path):
            return FileKind.PARQUET
        if _JSON.match(head.line):
            return FileKind.JSON
    if _is_trec(head.line, kind):
        return FileKind.TREC
    if len(head.fields) > 1 and is_header(head.fields, kind, columns):
        return FileKind.DELIMITED
    if suffix not in _TABLES or not head.line:
        return FileKind.TREC
    if head.fields and not any(map(_NUMBER.fullmatch, head.fields)):
        return FileKind.DELIMITED  # a header of other names: whoever reads it says which columns it lacks
    raise _unclear(head, kind, name)


def _is_trec(line: str, kind: Kind) -> bool:
    fields = line.split()
    place = 3 if kind == "qrels" else 4
    enough = len(fields) == 4 if kind == "qrels" else len(fields) >= 6
    return enough and _NUMBER.fullmatch(fields[place]) is not None


def _ends_as_parquet(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-len(_PARQUET), 2)
        return file.read() == _PARQUET


def _unclear(head: Head, kind: Kind, name: str) -> DataError:
    what = "the judgments" if kind == "qrels" else "the run"
    trec = "query iteration document grade" if kind == "qrels" else "query Q0 document rank score tag"
    names = "query-id, corpus-id, score" if kind == "qrels" else "query_id, doc_id, score"
    line = head.line if len(head.line) <= 80 else f"{head.line[:77]}..."
    message = (
        f"{line!r} neither names columns nor is a line of TREC text (`{trec}`); write a header such as `{names}`, "
        "separated as the lines are"
    )
    return DataError(f"{what} cannot be read:", [Problem(message, name, head.number)])
