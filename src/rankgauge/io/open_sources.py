"""
Sources: opens judgments and runs in any form.

The readers of tables are imported only when there is a table: TREC text needs neither polars nor other slow imports.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeAlias, cast

from rankgauge.base.forked import lost_threads
from rankgauge.catalog import Catalog
from rankgauge.catalog.claims import OWN
from rankgauge.columns import Qrels, RunSource
from rankgauge.errors import DataError, Problem, listed
from rankgauge.io.field_names import Kind, check_columns, letter_grades, reader_name
from rankgauge.io.files import MAGIC, endings, open_file, plain_suffix, reading
from rankgauge.io.ir_datasets_names import is_named, judgments_named
from rankgauge.io.nested_mappings import MappingRun, qrels_of_mapping, read_nested_qrels, read_nested_run
from rankgauge.io.problems import RAISE_IT, SUBJECTS, longest_piece, unreadable, written_size
from rankgauge.io.recognize import FileKind, is_known, is_trec, read_head, recognize, split_line
from rankgauge.io.trec import QRELS, RUN, Form, RunFile, read_qrels

if TYPE_CHECKING:
    import polars as pl

    from rankgauge.io.table_rows import Rows

__all__ = ["STANDARD_INPUT", "QrelsLike", "RunLike", "Table", "open_qrels", "open_run", "refuse_splits"]


class Table(Protocol):
    """A table of any library that hands out Arrow data: polars, pandas 2.2 or later, pyarrow, DuckDB."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the table as an Arrow stream."""


Tuples: TypeAlias = Iterable[tuple[Any, ...]]
"""Named tuples: `query_id`, `doc_id`, and `relevance` or `score`."""

QrelsLike: TypeAlias = (
    "str | os.PathLike[str] | Mapping[str, Mapping[str, Any]] | Table | Tuples | pl.LazyFrame | Qrels"
)
"""Judgments: a path, ``{query: {document: grade}}``, a table, or judgments that were read."""

RunLike: TypeAlias = (
    "str | os.PathLike[str] | Mapping[str, Mapping[str, float]] | Table | Tuples | pl.LazyFrame | RunSource"
)
"""A run: a path, ``{query: {document: score}}``, a table, or a run that is open."""

STANDARD_INPUT = "-"
_INPUT_NAME = "standard input"
_MAGIC_SIZE = max(map(len, MAGIC))
_BLOCK = 1 << 18
_PATIENCE, _LOOK = 5.0, 0.05
"""Seconds to wait for a process that writes to a pipe, and between two looks."""


def open_qrels(
    source: object, *, columns: Mapping[str, str] | None = None, intents: bool = False, catalog: Catalog | None = None
) -> Qrels:
    """
    Read judgments from a path, ``-`` for standard input, a mapping or a table; a `DataError` has every problem.

    ``ir_datasets:NAME`` names judgments of that catalog. Intents are read from TREC files, mappings and JSON
    ``{query: {document: {intent: grade}}}`` and tables with a column for them, if they are asked for. Files may also
    be in a format of a plugin of the *catalog*.
    """
    check_columns(columns)
    refuse_splits(source, SUBJECTS["qrels"])
    if isinstance(source, Mapping):
        qrels = qrels_of_mapping(source)
        return qrels if intents else qrels.without_intents()
    if is_named(source):
        from rankgauge.io.table_rankings import qrels_of_rows

        rows = _rows_of_table(judgments_named(cast("str | Path", source)), "qrels", columns)
        return replace(qrels_of_rows(rows, intents=intents), source=str(source))
    file, content = _content(source, "qrels", columns, catalog)
    if isinstance(content, _Lines):
        return read_qrels(file.path, name=file.name, intents=intents, form=content.form or QRELS)
    if content is FileKind.JSON:
        return read_nested_qrels(file.path, name=file.name, intents=intents, letters=letter_grades(columns))
    from rankgauge.io.table_rankings import qrels_of_rows

    return qrels_of_rows(content, intents=intents)


def open_run(source: object, *, columns: Mapping[str, str] | None = None, catalog: Catalog | None = None) -> RunSource:
    """Open a run, which is read when it is judged: as `open_qrels`, or one that is open already."""
    check_columns(columns)
    refuse_splits(source, SUBJECTS["run"])
    if isinstance(source, Mapping):
        return MappingRun(source)
    if isinstance(source, RunSource):
        return source
    file, content = _content(source, "run", columns, catalog)
    if isinstance(content, _Lines):
        form, notes = content.form or RUN, [content.note] if content.note else []
        return RunFile(file.path, name=file.name, kept=file.kept, form=form, notes=notes)
    if content is FileKind.JSON:
        return read_nested_run(file.path, name=file.name)
    from rankgauge.io.table_rankings import TableRun

    return TableRun(content, kept=file.kept)


def refuse_splits(source: object, what: str) -> None:
    """Refuse datasets by the names of their splits, as Hugging Face loads them, with these names."""
    if isinstance(source, Mapping) and source and all(hasattr(split, "column_names") for split in source.values()):
        shown = listed([repr(name) for name in source])
        kind, first = type(source).__name__, next(iter(source))
        message = f"a {kind} has several datasets, its splits {shown}; give one, as data[{first!r}]"
        raise DataError(f"{what} cannot be used:", [Problem(message)])


class _File(NamedTuple):
    """A file that can be read more than once; a temporary one is deleted when its last holder lets go."""

    path: Path
    name: str
    kept: IO[bytes] | None = None


_NO_FILE = _File(Path(), "")


class _Lines(NamedTuple):
    """Lines whose fields blanks or tabs separate: TREC's, or those of another form, with a note where it was found."""

    form: Form | None = None
    note: str = ""


def _content(
    source: object, kind: Kind, columns: Mapping[str, str] | None, catalog: Catalog | None
) -> tuple[_File, _Lines | Literal[FileKind.JSON] | Rows]:
    """Return a file with what it holds: lines of text, JSON, or the rows of a table; rows in memory have no file."""
    if not isinstance(source, str | os.PathLike):
        return _NO_FILE, _rows_of_table(source, kind, columns)
    file = _file(source)
    if (rows := _foreign(file, kind, columns, catalog)) is not None:
        return file, rows
    content = recognize(file.path, kind, columns, name=file.name)
    if content is FileKind.PARQUET:
        from rankgauge.io.table_files import parquet_rows

        return file, parquet_rows(file.path, kind, columns, name=file.name)
    if content is FileKind.DELIMITED:
        _check_threads(file.name)
        from rankgauge.io.table_files import DelimitedRows

        return file, DelimitedRows(file.path, kind, columns, name=file.name)
    if content is FileKind.BARE:
        return file, _bare(file, kind, columns)
    if content is FileKind.JSON:
        from rankgauge.io.json_rows import json_rows

        return file, json_rows(file.path, kind, columns, name=file.name) or content
    return file, _Lines() if content is FileKind.TREC else content


def _bare(file: _File, kind: Kind, columns: Mapping[str, str] | None) -> _Lines | Rows:
    """Return lines without a header, or their rows where commas separate."""
    from rankgauge.io.bare_lines import bare_form

    with open_file(file.path, name=file.name) as opened:
        head = read_head(opened.stream)
    form, note = bare_form(file.path, kind, columns, head, name=file.name)
    if len(split_line(head.line)) == form.fields:
        return _Lines(form, note)
    _check_threads(file.name)
    from rankgauge.io.table_files import DelimitedRows

    return DelimitedRows(file.path, kind, columns, name=file.name, has_header=False)


def _file(source: str | os.PathLike[str]) -> _File:
    if os.fspath(source) == STANDARD_INPUT:
        if sys.stdin is None:
            raise unreadable(_INPUT_NAME, "it is closed; name a file, or pipe one in")
        return _spooled(sys.stdin.buffer, _INPUT_NAME)
    path = Path(source)
    with reading(str(path), path):
        if path.is_fifo():
            head, stream = _opened_pipe(path)
            with stream:
                return _spooled(stream, str(path), head)
    return _File(path, str(path))


def _opened_pipe(path: Path) -> tuple[bytes, IO[bytes]]:
    """Open a pipe; return its first bytes and the rest. One that no process writes to is refused after a while."""
    stream = cast("IO[bytes]", os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb", buffering=0))
    deadline = time.monotonic() + _PATIENCE
    while (head := stream.read(_BLOCK)) == b"":  # None: a process has it open, and has yet to write
        if time.monotonic() >= deadline:
            stream.close()
            raise unreadable(str(path), f"no process writes to this pipe (waited {_PATIENCE:g} seconds)")
        time.sleep(_LOOK)
    os.set_blocking(stream.fileno(), True)
    return head or b"", stream


def _spooled(stream: IO[bytes], name: str, head: bytes = b"") -> _File:
    """Copy a stream to a temporary file; one without a line end for too long may never end, and is refused."""
    while len(head) < _MAGIC_SIZE and (more := stream.read(_MAGIC_SIZE - len(head))):
        head += more
    suffix = next((ending for magic, ending in MAGIC.items() if head.startswith(magic)), "")
    import tempfile

    spool = tempfile.NamedTemporaryFile(prefix="rankgauge-", suffix=suffix)  # noqa: SIM115  # closed by who keeps it
    limit, line = longest_piece(), 0
    data = head
    while data:
        spool.write(data)
        line = len(data) - 1 - last if (last := data.rfind(b"\n")) >= 0 else line + len(data)
        if line > limit and not suffix:
            raise unreadable(name, f"a line of it has more than {written_size(limit)}; {RAISE_IT}")
        data = stream.read(_BLOCK)
    spool.flush()
    return _File(Path(spool.name), name, spool)


def _foreign(file: _File, kind: Kind, columns: Mapping[str, str] | None, catalog: Catalog | None) -> Rows | None:
    """Return the rows of a file in a format of a plugin; None for any other, such as TREC text of whatever ending."""
    name = reader_name(columns, kind)
    if not name and (catalog is None or file.kept is not None or _is_plain(file, kind)):
        return None  # other plugins have not to load for it
    catalog = Catalog.installed() if catalog is None else catalog
    claim = catalog.reader_named(name) if name else catalog.reader(*endings(file.path))
    if claim is None or (claim.provider.distribution == OWN and not name):
        return None
    _check_threads(file.name)
    from rankgauge.io.table_rows import rows_of_reader

    return rows_of_reader(claim, file.path, kind, columns, name=file.name)


def _is_plain(file: _File, kind: Kind) -> bool:
    """Return whether a file has the ending of a built-in format and no other before it, or is TREC text."""
    is_ours = is_known(plain_suffix(file.path)) and len(endings(file.path)) == 1
    return is_ours or is_trec(file.path, kind, name=file.name)


def _check_threads(name: str) -> None:
    """Refuse a table in a process that cannot read it, and would wait forever."""
    if why := lost_threads():
        raise unreadable(name, why)


def _rows_of_table(source: Any, kind: Kind, columns: Mapping[str, str] | None) -> Rows:  # noqa: ANN401  # any library's
    if hasattr(source, "to_polars"):  # a dataset of Hugging Face
        source = source.to_polars()
    elif isinstance(source, Iterable) and not hasattr(source, "__arrow_c_stream__"):
        rows = list(source) if type(source).__module__.partition(".")[0] not in {"polars", "pandas"} else []
        if rows and all(hasattr(row, "_fields") for row in rows):  # named tuples, as ir_measures and ir_datasets have
            from rankgauge.io.table_rows import frame_of_tuples

            source = frame_of_tuples(rows)
    if hasattr(source, "__arrow_c_stream__") or type(source).__module__.partition(".")[0] in {"polars", "pandas"}:
        _check_threads("the table")
        from rankgauge.io.table_rows import rows_of_table  # known without loading polars or pandas

        return rows_of_table(source, kind, columns)
    expected = f"expected a path, a mapping of mappings or a table, found a {type(source).__name__}"
    problem = Problem(f"{expected}; a list of named tuples, such as those of ir_measures, is a table, too")
    raise DataError(f"{'judgments' if kind == 'qrels' else 'a run'} cannot be used:", [problem])
