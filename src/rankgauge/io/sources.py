"""
Sources: opening judgments and runs, whatever they are given as.

What reads tables loads only when there is one: TREC text needs neither polars nor anything else that is slow to load.
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
from rankgauge.io.recognize import FileKind, recognize
from rankgauge.io.trec import RunFile, read_qrels

if TYPE_CHECKING:
    from rankgauge.io.rows import Rows

__all__ = ["STANDARD_INPUT", "open_qrels", "open_run"]

STANDARD_INPUT = "-"
_INPUT_NAME = "standard input"


def open_qrels(source: object, *, columns: Mapping[str, str] | None = None) -> Qrels:
    """Read judgments."""
    check_columns(columns)
    if isinstance(source, str | os.PathLike):
        return _qrels_of_file(_file(source), columns)
    if isinstance(source, Mapping):
        return qrels_of_mapping(source)
    if _is_table(source):
        from rankgauge.io.frames import rows_of_table
        from rankgauge.io.tables import qrels_of_rows

        return qrels_of_rows(rows_of_table(source, "qrels", columns))
    raise _unusable(source, "judgments")


def open_run(source: object, *, columns: Mapping[str, str] | None = None) -> RunSource:
    """Open a run."""
    check_columns(columns)
    if isinstance(source, str | os.PathLike):
        return _run_of_file(_file(source), columns)
    if isinstance(source, Mapping):
        return MappingRun(source)
    if isinstance(source, RunSource):
        return source
    if _is_table(source):
        from rankgauge.io.frames import rows_of_table
        from rankgauge.io.tables import TableRun

        return TableRun(rows_of_table(source, "run", columns))
    raise _unusable(source, "a run")


class _File(NamedTuple):
    """A file that can be read more than once; the temporary one among them goes when nobody holds it any more."""

    path: Path
    name: str
    kept: IO[bytes] | None = None


def _file(source: str | os.PathLike[str]) -> _File:
    if os.fspath(source) == STANDARD_INPUT:
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


def _qrels_of_file(file: _File, columns: Mapping[str, str] | None) -> Qrels:
    path, name = file.path, file.name
    match recognize(path, "qrels", columns, name=name):
        case FileKind.TREC:
            return read_qrels(path, name=name)
        case FileKind.JSON:
            from rankgauge.io.nested import read_nested_qrels

            return read_nested_qrels(path, name=name)
        case FileKind.PARQUET | FileKind.DELIMITED as found:
            from rankgauge.io.tables import qrels_of_rows

            return qrels_of_rows(_rows_of_file(found, file, "qrels", columns))


def _run_of_file(file: _File, columns: Mapping[str, str] | None) -> RunSource:
    path, name = file.path, file.name
    match recognize(path, "run", columns, name=name):
        case FileKind.TREC:
            return RunFile(path, name=name, kept=file.kept)
        case FileKind.JSON:
            from rankgauge.io.nested import read_nested_run

            return read_nested_run(path, name=name)
        case FileKind.PARQUET | FileKind.DELIMITED as found:
            from rankgauge.io.tables import TableRun

            return TableRun(_rows_of_file(found, file, "run", columns), kept=file.kept)


def _rows_of_file(found: FileKind, file: _File, kind: Kind, columns: Mapping[str, str] | None) -> Rows:
    if found is FileKind.PARQUET:
        from rankgauge.io.parquet import parquet_rows

        return parquet_rows(file.path, kind, columns, name=file.name)
    from rankgauge.io.delimited import DelimitedRows

    return DelimitedRows(file.path, kind, columns, name=file.name)


def _is_table(source: object) -> bool:
    """Return whether something is a frame of polars or pandas, or an Arrow table, without loading any of these."""
    return hasattr(source, "__arrow_c_stream__") or type(source).__module__.partition(".")[0] in {"polars", "pandas"}


def _unusable(source: object, what: str) -> DataError:
    msg = f"{what} cannot be used:"
    found = type(source).__name__
    return DataError(msg, [Problem(f"expected a path, a mapping of mappings or a table, found a {found}")])
