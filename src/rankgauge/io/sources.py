"""
Sources: opens judgments and runs in any form.

The readers of tables are imported only when there is a table: TREC text needs neither polars nor other slow imports.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple

from rankgauge.columns import Qrels, RunSource
from rankgauge.errors import DataError, Problem
from rankgauge.io.columns import Kind, check_columns
from rankgauge.io.files import MAGIC
from rankgauge.io.mappings import MappingRun, qrels_of_mapping
from rankgauge.io.problems import unreadable
from rankgauge.io.recognize import FileKind, recognize
from rankgauge.io.trec import RunFile, read_qrels

if TYPE_CHECKING:
    from rankgauge.io.rows import Rows

__all__ = ["STANDARD_INPUT", "open_qrels", "open_run"]

STANDARD_INPUT = "-"
_INPUT_NAME = "standard input"


def open_qrels(source: object, *, columns: Mapping[str, str] | None = None) -> Qrels:
    """Read judgments from a path, ``-`` for standard input, a mapping or a table; a `DataError` has every problem."""
    check_columns(columns)
    if isinstance(source, Mapping):
        return qrels_of_mapping(source)
    if isinstance(source, str | os.PathLike):
        file = _file(source)
        found = recognize(file.path, "qrels", columns, name=file.name)
        if found is FileKind.TREC:
            return read_qrels(file.path, name=file.name)
        if found is FileKind.JSON:
            from rankgauge.io.nested import read_nested_qrels

            return read_nested_qrels(file.path, name=file.name)
        rows = _rows_of_file(found, file, "qrels", columns)
    else:
        rows = _rows_of_table(source, "qrels", columns)
    from rankgauge.io.tables import qrels_of_rows

    return qrels_of_rows(rows)


def open_run(source: object, *, columns: Mapping[str, str] | None = None) -> RunSource:
    """Open a run, which is read when it is judged: as `open_qrels`, or one that is open already."""
    check_columns(columns)
    kept = None
    if isinstance(source, Mapping):
        return MappingRun(source)
    if isinstance(source, RunSource):
        return source
    if isinstance(source, str | os.PathLike):
        file = _file(source)
        kept = file.kept
        found = recognize(file.path, "run", columns, name=file.name)
        if found is FileKind.TREC:
            return RunFile(file.path, name=file.name, kept=kept)
        if found is FileKind.JSON:
            from rankgauge.io.nested import read_nested_run

            return read_nested_run(file.path, name=file.name)
        rows = _rows_of_file(found, file, "run", columns)
    else:
        rows = _rows_of_table(source, "run", columns)
    from rankgauge.io.tables import TableRun

    return TableRun(rows, kept=kept)


class _File(NamedTuple):
    """A file that can be read more than once; a temporary one is deleted when nobody holds it any more."""

    path: Path
    name: str
    kept: IO[bytes] | None = None


def _file(source: str | os.PathLike[str]) -> _File:
    if os.fspath(source) == STANDARD_INPUT:
        if sys.stdin is None:
            raise unreadable(_INPUT_NAME, "it is closed; name a file, or pipe one in")
        return _spooled(sys.stdin.buffer, _INPUT_NAME)
    path = Path(source)
    if path.exists() and not path.is_file() and not path.is_dir():  # a pipe
        with path.open("rb") as stream:
            return _spooled(stream, str(path))
    return _File(path, str(path))


def _spooled(stream: IO[bytes], name: str) -> _File:
    head = stream.read(4)
    suffix = next((ending for magic, ending in MAGIC.items() if head.startswith(magic)), "")
    spool = tempfile.NamedTemporaryFile(prefix="rankgauge-", suffix=suffix)  # noqa: SIM115  # closed by who keeps it
    spool.write(head)
    shutil.copyfileobj(stream, spool)
    spool.flush()
    return _File(Path(spool.name), name, spool)


def _rows_of_file(found: FileKind, file: _File, kind: Kind, columns: Mapping[str, str] | None) -> Rows:
    if found is FileKind.PARQUET:
        from rankgauge.io.parquet import parquet_rows

        return parquet_rows(file.path, kind, columns, name=file.name)
    from rankgauge.io.delimited import DelimitedRows

    return DelimitedRows(file.path, kind, columns, name=file.name)


def _rows_of_table(source: object, kind: Kind, columns: Mapping[str, str] | None) -> Rows:
    if hasattr(source, "__arrow_c_stream__") or type(source).__module__.partition(".")[0] in {"polars", "pandas"}:
        from rankgauge.io.frames import rows_of_table  # known without loading polars or pandas

        return rows_of_table(source, kind, columns)
    msg = f"{'judgments' if kind == 'qrels' else 'a run'} cannot be used:"
    found = type(source).__name__
    raise DataError(msg, [Problem(f"expected a path, a mapping of mappings or a table, found a {found}")])
