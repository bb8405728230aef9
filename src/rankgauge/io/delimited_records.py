"""
Samples and outputs as tables of text: CSV, TSV and, where its extra is installed, Excel.
"""

from __future__ import annotations

import ast
import io
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import orjson

from rankgauge.io.documents import decode_text
from rankgauge.io.files import reading
from rankgauge.io.problems import unreadable
from rankgauge.io.recognize import read_head
from rankgauge.plugin import Record, Source, reader
from rankgauge.samples import FIELDS

if TYPE_CHECKING:
    import polars as pl

__all__ = ["READERS"]

_JSON_CELLS = ("metadata.k", "metadata.answerable")  # a number and a flag, which a table has as text


@reader("csv", suffixes=(".csv", ".tsv"))
def read_delimited(source: Source) -> Iterator[Record]:
    """Read one record a row; the header separates its names by tabs, commas or semicolons."""
    import polars as pl

    text = decode_text(source.stream.read(), source.name, offset=source.offset)
    separator = "\t" if ".tsv" in source.name.lower() else read_head(io.BytesIO(text.encode())).separator
    if text.strip():
        with reading(source.name, form="CSV"):
            frame = pl.read_csv(io.BytesIO(text.encode()), separator=separator, infer_schema=False)
        yield from _records(frame)


@reader("excel", suffixes=(".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"))
def read_excel(source: Source) -> Iterator[Record]:
    """Read one record a row of the first sheet."""
    import polars as pl

    if find_spec("fastexcel") is None:
        why = "Excel files need the extra `excel`: pip install 'rankgauge[excel]', or save the sheet as CSV"
        raise unreadable(source.name, why)
    import fastexcel

    with reading(source.name, form="Excel"):  # `pl.read_excel` of older versions needs pyarrow
        frame = pl.DataFrame(fastexcel.read_excel(source.stream.read()).load_sheet(0, dtypes="string"))
    yield from _records(frame)


READERS: Sequence[Callable[..., Iterator[Record]]] = (read_delimited, read_excel)


def _records(frame: pl.DataFrame) -> Iterator[Record]:
    names = [name.strip() for name in frame.columns]
    for number, row in enumerate(frame.iter_rows(), 1):
        if any(row):
            yield Record(_record(names, row), None, f"row {number}")


def _record(names: Sequence[str], row: Sequence[str | None]) -> dict[str, Any]:
    """Return a row without its empty cells; `expected_output.relevant` leads into a record."""
    record: dict[str, Any] = {}
    for name, cell in zip(names, row, strict=True):
        if cell is None or not cell.strip():
            continue
        value = _value(name, cell)
        head, _, inner = name.partition(".")
        if inner and (name in FIELDS or head == "metadata") and isinstance(held := record.setdefault(head, {}), dict):
            held[inner] = value
        else:
            record[name] = value
    return record


def _value(name: str, cell: str) -> Any:  # noqa: ANN401  # any JSON value
    """Return a cell; a list or an object may be JSON, or as Python prints it, which is how pandas and csv write it."""
    text = cell.strip()
    if name in _JSON_CELLS or text[0] + text[-1] in {"[]", "{}"}:
        for read in (orjson.loads, ast.literal_eval):
            try:
                return read(text)
            except (ValueError, SyntaxError, MemoryError, RecursionError):
                continue
    return cell
