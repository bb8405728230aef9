"""
Samples and outputs as tables of text: CSV, TSV and, where its extra is installed, Excel.
"""

from __future__ import annotations

import ast
import io
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
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
_COPY = re.compile(r"_duplicated_\d+$")
_TEXT = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""", re.DOTALL)
_ARRAY = re.compile(rf"\[\s*(?:{_TEXT.pattern})(?:\s+(?:{_TEXT.pattern}))+\s*\]", re.DOTALL)
"""An array of texts as numpy prints it: without commas."""


@reader("csv", suffixes=(".csv", ".tsv"))
def read_delimited(source: Source) -> Iterator[Record]:
    """Read one record a row; the header separates its names by tabs, commas or semicolons."""
    import polars as pl

    text = decode_text(source.stream.read(), source.name, offset=source.offset)
    separator = "\t" if ".tsv" in source.name.lower() else read_head(io.BytesIO(text.encode())).separator
    if text.strip():
        with reading(source.name, form="CSV"):
            try:
                frame = pl.read_csv(io.BytesIO(text.encode()), separator=separator, infer_schema=False)
            except pl.exceptions.ComputeError as error:
                raise unreadable(source.name, _advice(str(error), separator)) from error
        yield from _records(frame, source.name)


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
    yield from _records(frame, source.name)


READERS: Sequence[Callable[..., Iterator[Record]]] = (read_delimited, read_excel)


def _advice(error: str, separator: str) -> str:
    """Return what is wrong with a table that polars cannot read, in the words of its author."""
    if "more fields" in error:
        why = f"a row has more cells than the header has names; write cells that hold {separator!r} in quotation marks"
    else:
        why = f"is a quotation mark not closed? {error.partition(chr(10))[0]}"
    return f"not a readable CSV file: {why}"


def _records(frame: pl.DataFrame, file: str) -> Iterator[Record]:
    names = [name.strip() for name in frame.columns]
    for name in names:
        base = _COPY.sub("", name)
        if base and base != name and base in names:  # how polars calls a second column of a name
            raise unreadable(file, f"two columns are called {base!r}; rename one, or write both as one list")
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
    """Return a cell; a list or an object may be JSON, or as Python or numpy prints it, which pandas and csv write."""
    text = cell.strip()
    if name in _JSON_CELLS:
        with suppress(ValueError):
            value = orjson.loads(text.lower())  # TRUE as Excel writes it, True as Python does
            return int(value) if isinstance(value, float) and value.is_integer() else value  # 3.0, as pandas does
    if text[0] + text[-1] not in {"[]", "{}"}:
        return cell
    if _ARRAY.fullmatch(text):  # which Python would read as one text
        return [ast.literal_eval(part) for part in _TEXT.findall(text)]
    for read in (orjson.loads, ast.literal_eval):
        with suppress(ValueError, SyntaxError, MemoryError, RecursionError):
            return read(text)
    return cell
