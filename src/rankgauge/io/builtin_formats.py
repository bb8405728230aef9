"""
The built-in file formats: JSON lines, JSON, YAML and Parquet; tables of text are in `delimited_records`.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from rankgauge.errors import did_you_mean
from rankgauge.io.delimited_records import READERS
from rankgauge.io.documents import Path as DocumentPath
from rankgauge.io.documents import decode_text, not_json, not_utf8
from rankgauge.io.documents import read_json as read_json_document
from rankgauge.io.files import reading
from rankgauge.io.problems import unreadable
from rankgauge.plugin import Record, Source, hookimpl, preset, reader
from rankgauge.samples import Fault

__all__ = ["LINES", "records_of", "without_nulls"]

SCHEMA_VERSIONS = ("rankgauge.dataset.v1", "eval-harness.dataset.v1")
LINES = (".jsonl", ".ndjson")
"""How files of JSON lines end, without the ending of a compression."""

_ROWS = 4096


@hookimpl
def rankgauge_readers() -> Sequence[Callable[..., Iterator[Record]]]:
    """Return every built-in format."""
    return (read_jsonl, read_json, read_yaml_file, read_parquet, *READERS)


@hookimpl
def rankgauge_presets() -> Sequence[Callable[[], None]]:
    """Return every built-in preset, as `presets.json` has them."""
    specs = orjson.loads(Path(__file__).with_name("presets.json").read_bytes())
    return [_preset(name, **spec) for name, spec in specs.items()]


def _preset(name: str, about: str, **spec: Any) -> Callable[[], None]:  # noqa: ANN401  # the arguments of `preset`
    def declared() -> None: ...

    declared.__doc__ = about
    return preset(name, **spec)(declared)


@reader("jsonl", suffixes=LINES)
def read_jsonl(source: Source) -> Iterator[Record]:
    """Read one record a line; blank lines are skipped, a line that is not JSON becomes a `Fault`."""
    yield from records_of(source.stream, 1, source.offset)


_ARRAY = "not valid JSON lines: the file is a JSON array; name it .json, or write an element a line"


def records_of(lines: Iterable[bytes], first: int, offset: int) -> Iterator[Record]:
    """Yield the records of some lines; *first* is the number of the first, *offset* the bytes of the file before it."""
    loads = orjson.loads
    for number, line in enumerate(lines, first):
        if number == 1 and line.lstrip()[:1] == b"[":
            yield Record(Fault(_ARRAY), number)
            return
        if len(line) < 3 and not line.strip():  # an exception for each of a million blank lines takes too long
            offset += len(line)
            continue
        try:
            yield Record(loads(line), number)
        except orjson.JSONDecodeError as error:
            if line.strip():
                yield Record(Fault(_flaw(line, error, offset)), number)
        offset += len(line)


@reader("json", suffixes=(".json",))
def read_json(source: Source) -> Iterator[Record]:
    """Read a document: a list of records, or a mapping with `samples` or `outputs`."""
    document, _ = read_json_document(source.stream.read(), source.name, offset=source.offset)
    return _document_records(document, {}, source)


@reader("yaml", suffixes=(".yaml", ".yml"))
def read_yaml_file(source: Source) -> Iterator[Record]:
    """Read a document: a list of records, or a mapping with `samples` or `outputs`."""
    from rankgauge.io.yaml_documents import read_yaml  # loads a parser that most runs do not need

    document = read_yaml(decode_text(source.stream.read(), source.name, offset=source.offset), source.name)
    return _document_records(document.value, document.lines, source)


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
        return not_json(error, line.decode())
    except UnicodeDecodeError as broken:
        return not_utf8(broken, offset)
