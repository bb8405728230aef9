"""
The built-in file formats: JSON lines, JSON, YAML, Parquet, CSV, TSV and, if its extra is installed, Excel.
"""

from __future__ import annotations

import ast
import datetime as dt
import functools
import io
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from rankgauge.errors import did_you_mean
from rankgauge.io.documents import Path as DocumentPath
from rankgauge.io.documents import decode_text, not_json, not_utf8, with_strange_numbers
from rankgauge.io.documents import read_json as read_json_document
from rankgauge.io.files import reading
from rankgauge.io.problems import unreadable
from rankgauge.io.recognize import read_head
from rankgauge.io.refined_records import REFINED
from rankgauge.plugin import Record, Source, hookimpl, preset, reader
from rankgauge.samples import Fault

if TYPE_CHECKING:
    import polars as pl

__all__ = ["LINES", "is_array", "records_of", "without_nulls"]


SCHEMA_VERSIONS = ("rankgauge.dataset.v1", "eval-harness.dataset.v1")
LINES = (".jsonl", ".ndjson")
"""How files of JSON lines end, without the ending of a compression."""

_ROWS = 4096


@hookimpl
def rankgauge_readers() -> Sequence[Callable[..., Iterator[Record]]]:
    """Return every built-in format."""
    return (read_jsonl, read_json, read_yaml_file, read_parquet, read_delimited, read_excel)


@hookimpl
def rankgauge_presets() -> Sequence[Callable[[], None]]:
    """Return every built-in preset, as `presets.json` has them."""
    specs = orjson.loads(Path(__file__).with_name("presets.json").read_bytes())
    return [_preset(name, **spec) for name, spec in specs.items()]


def _preset(name: str, about: str, **spec: Any) -> Callable[[], None]:  # noqa: ANN401  # the arguments of `preset`
    def declared() -> None: ...

    declared.__doc__ = about
    return preset(name, refine=REFINED.get(name), **spec)(declared)


@reader("jsonl", suffixes=LINES)
def read_jsonl(source: Source) -> Iterator[Record]:
    """Read one record a line; blank lines are skipped, a line that is not JSON becomes a `Fault`."""
    yield from records_of(source.stream, 1, source.offset)


_NO_LINES = "not valid JSON lines: the file is a JSON array; name it .json, or write an element a line"


def is_array(line: bytes, number: int) -> bool:
    """Return whether a file is one JSON array, by a line of it and its number: no other line of it is looked at."""
    return number == 1 and line.lstrip()[:1] == b"["


def records_of(lines: Iterable[bytes], first: int, offset: int) -> Iterator[Record]:
    """Yield the records of some lines; *first* is the number of the first, *offset* the bytes of the file before it."""
    loads = orjson.loads
    for number, line in enumerate(lines, first):
        if is_array(line, number):
            yield Record(Fault(_NO_LINES), number)
            return
        if len(line) < 3 and not line.strip():  # an exception for each of a million blank lines takes too long
            offset += len(line)
            continue
        try:
            yield Record(loads(line), number)
        except orjson.JSONDecodeError as error:
            if (value := with_strange_numbers(line)) is not None:
                yield Record(value, number)
            elif line.strip():
                yield Record(Fault(_flaw(line, error, offset)), number)
        offset += len(line)


@reader("json", suffixes=(".json",))
def read_json(source: Source) -> Iterator[Record]:
    """Read a document: a list of records, or a mapping with `samples` or `outputs`."""
    document, _ = read_json_document(source.stream.read(), source.name, offset=source.offset, is_strict=False)
    return _document_records(document, {}, source)


@reader("yaml", suffixes=(".yaml", ".yml"))
def read_yaml_file(source: Source) -> Iterator[Record]:
    """Read a document: a list of records, or a mapping with `samples` or `outputs`."""
    from rankgauge.io.yaml_documents import read_yaml  # loads a parser that most runs do not need

    document = read_yaml(decode_text(source.stream.read(), source.name, offset=source.offset), source.name)
    for path in document.dates:
        _set_date(document.value, path)
    return _document_records(document.value, document.lines, source)


_ANSWERS = re.compile(
    r"(?:.*\.)?(?:expected_output(?:\.answer|\.keywords)?|actual_output\.answer)"
    r"|(?:outputs\.)?(?:(?!metadata\.)[^.]+\.)?answer"
)
"""Where a document has texts that a date may be meant as, by the names on the way there."""


def _set_date(document: Any, path: DocumentPath) -> None:  # noqa: ANN401  # plain data
    """Make a date without quotes a date if it stands for an answer or a keyword, which have to be texts."""
    if not _ANSWERS.fullmatch(".".join(step for step in path if isinstance(step, str))):
        return
    *steps, last = path
    with suppress(ValueError, LookupError):  # no day of a calendar, and so a text, or merged into another mapping
        holder = functools.reduce(operator.getitem, steps, document)
        moment = dt.datetime.fromisoformat(holder[last])
        holder[last] = moment.date() if len(holder[last]) == len("2024-05-01") else moment


@reader("parquet", suffixes=(".parquet", ".pq"))
def read_parquet(source: Source) -> Iterator[Record]:
    """Read one record a row; nulls are left out, at any depth."""
    import polars as pl

    with reading(source.name, form="Parquet"):
        frame = pl.read_parquet(source.path or io.BytesIO(source.stream.read()), glob=False)
    rows = (row for part in frame.iter_slices(_ROWS) for row in part.iter_rows(named=True))
    for number, row in enumerate(rows):
        yield Record(without_nulls(row), None, f"row {number}")


def _document_records(document: object, lines: Mapping[DocumentPath, int], source: Source) -> Iterator[Record]:
    if isinstance(document, Mapping):
        version = document.get("schema_version")
        if version is not None and version not in SCHEMA_VERSIONS:
            hint = did_you_mean(str(version), SCHEMA_VERSIONS) or f"; known are {', '.join(SCHEMA_VERSIONS)}"
            raise unreadable(source.name, f"unknown schema_version {version!r}{hint}", lines.get(("schema_version",)))
        for key in ("samples", "outputs"):
            if key in document:
                return _items(document[key], key, lines)
        return iter([Record(document, lines.get(()))])
    return _items(document, "", lines)


def _items(items: object, key: str, lines: Mapping[DocumentPath, int]) -> Iterator[Record]:
    base: DocumentPath = (key,) if key else ()
    if isinstance(items, Mapping) and key == "outputs":
        for name, output in items.items():
            yield Record({"id": name, "actual_output": output}, lines.get((*base, name)), f"outputs[{name!r}]")
    elif isinstance(items, list):
        for index, item in enumerate(items):
            yield Record(item, lines.get((*base, index)), f"{key}[{index}]")
    else:
        kind = "null" if items is None else type(items).__name__
        yield Record(Fault(f"expected a list of records, found {kind}"), lines.get(base), key)


def without_nulls(value: Any) -> Any:  # noqa: ANN401  # plain data of any shape
    """Return a row of a table without what it leaves empty, at any depth."""
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [without_nulls(item) for item in value]
    return value


def _flaw(line: bytes, error: orjson.JSONDecodeError, offset: int) -> str:
    """Return what is wrong with a line that is not JSON."""
    try:
        text = line.decode()
    except UnicodeDecodeError as broken:
        return not_utf8(broken, offset)
    is_document = text.strip() == "{"
    return not_json(error, text) + (
        "; a file of one JSON document needs a name that ends in .json" if is_document else ""
    )


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
    """Return a row without its empty cells."""
    return {
        name: _value(name, cell) for name, cell in zip(names, row, strict=True) if cell is not None and cell.strip()
    }


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
