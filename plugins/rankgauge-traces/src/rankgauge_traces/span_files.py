"""
Files of spans: opened, decompressed, and read line by line; broken lines are all named.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from rankgauge.errors import Problem
from rankgauge.files import Fault, open_file, plain_suffix, read_json, read_jsonl, read_parquet
from rankgauge.plugin import Source
from rankgauge_traces.other_records import spans_of_record
from rankgauge_traces.otlp_json import OTHER_SIGNALS, spans_of_request
from rankgauge_traces.otlp_protobuf import requests_in
from rankgauge_traces.spans import MalformedSpanError, Span

__all__ = ["PROTOBUF", "read_lines", "read_spans", "spans_of_records"]

PROTOBUF = frozenset({".pb", ".binpb"})
"""How files of OTLP in protobuf end."""

_FORMS = "resourceSpans (OTLP), a span of an SDK or of Phoenix, a trace of MLflow, or what Langfuse exports"


def read_spans(path: Path, problems: list[Problem]) -> Iterator[Span]:
    """Yield the spans of a file: rows of .parquet, requests of .pb, the document of .json, the lines of any other."""
    with open_file(path) as source:
        suffix = plain_suffix(path)
        if suffix == ".parquet":
            for row in read_parquet(source):
                yield from _spans(row.value, source.name, None, row.path, problems)
            return
        if suffix in PROTOBUF:
            yield from _binary(source, problems)
            return
        if suffix != ".json":
            yield from read_lines(source, problems)
            return
        document = read_json(source)
        for place, record in enumerate(document if isinstance(document, list) else [document]):
            where = f"[{place}]" if isinstance(document, list) else ""
            yield from _spans(record, source.name, None, where, problems)


def read_lines(source: Source, problems: list[Problem]) -> Iterator[Span]:
    """Yield the spans of JSON lines, and add what is wrong with any of them."""
    for record in read_jsonl(source):
        if isinstance(record.value, Fault):
            problems.append(Problem(record.value.reason, source.name, record.line))
        else:
            yield from _spans(record.value, source.name, record.line, "", problems)


def spans_of_records(records: Iterable[object], problems: list[Problem]) -> Iterator[Span]:
    """Yield the spans of records in memory, in any form that files have."""
    for place, record in enumerate(records):
        yield from _spans(record, "", None, f"records[{place}]", problems)


def _binary(source: Source, problems: list[Problem]) -> Iterator[Span]:
    """Yield the spans of requests in protobuf, up to the first broken byte: what follows it cannot be told apart."""
    try:
        for place, request in enumerate(requests_in(source.stream.read())):
            yield from _spans({"resourceSpans": [], **request}, source.name, None, f"requests[{place}]", problems)
    except MalformedSpanError as error:
        problems.append(Problem(str(error), source.name))


def _spans(record: Any, file: str, line: int | None, where: str, problems: list[Problem]) -> Iterator[Span]:  # noqa: ANN401  # any JSON value
    """Yield the spans of a record of any form."""
    try:
        if not isinstance(record, Mapping):
            raise MalformedSpanError(f"expected an object with {_FORMS}; found {record!r:.60}")  # noqa: TRY301
        if "resourceSpans" in record or "resource_spans" in record:
            yield from spans_of_request(record, file, line)
        elif (spans := spans_of_record(record, file, line)) is not None:
            yield from spans
        elif OTHER_SIGNALS.isdisjoint(record):
            keys = ", ".join(map(repr, list(record)[:5])) or "nothing"
            raise MalformedSpanError(f"this is none of {_FORMS}; it has {keys:.200}")  # noqa: TRY301
    except MalformedSpanError as error:
        problems.append(Problem(str(error), file, line, where))
