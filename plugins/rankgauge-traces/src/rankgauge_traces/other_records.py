"""
Records of spans that are not OTLP: of OpenTelemetry's SDKs, and what Phoenix, MLflow and Langfuse return.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from rankgauge_traces.spans import Event, MalformedSpanError, Span, decoded, plain_id

__all__ = ["nanoseconds", "spans_of_record"]

_MILLISECONDS = 10**14  # in nanoseconds it is in January 1970; pandas writes times of rows as milliseconds
_OBSERVED = ("type", "name", "input", "output")


def spans_of_record(record: Mapping[str, Any], file: str, line: int | None) -> Iterator[Span] | None:
    """Return the spans of a record; None if it has no known form."""
    data = record.get("data")
    if isinstance(data, Mapping) and isinstance(data.get("spans"), list):  # MLflow: trace.to_dict()
        return (_mlflow(raw, file, line) for raw in data["spans"])
    if isinstance(record.get("observations"), list):  # Langfuse: a trace
        return _langfuse_trace(record, record["observations"], file, line)
    if "traceId" in record and "type" in record:  # Langfuse: an observation
        return iter([_observation(record, file, line)])
    if "context" in record and "attributes" in record:  # OpenTelemetry's ConsoleSpanExporter; get_spans of Phoenix
        return iter([_of_sdk(record, file, line)])
    if "context.span_id" in record:  # a row of get_spans_dataframe of Phoenix
        return iter([_of_row(record, file, line)])
    if "span_id" in record and "attributes" in record:
        return iter([_mlflow(record, file, line)])
    return None


def nanoseconds(value: object) -> int:
    """Return a time as nanoseconds since 1970, from such a number or the text of ISO 8601; 0 if there is none."""
    if value != value:  # noqa: PLR0124  # NaN, and the NaT of pandas, in frames
        return 0
    if isinstance(value, datetime):
        value = value if value.tzinfo else value.replace(tzinfo=UTC)
        return int(value.timestamp() * 1_000_000) * 1000
    if isinstance(value, bool) or value is None or value == "":
        return 0
    try:
        if isinstance(value, int | float):
            return int(value * 1_000_000 if 0 < value < _MILLISECONDS else value)
        return nanoseconds(datetime.fromisoformat(str(value)))
    except (ValueError, OverflowError):
        raise MalformedSpanError(f"{value!r:.60} is not a time such as 2026-01-31T12:00:00Z") from None


def _object(raw: object, what: str) -> Mapping[str, Any]:
    if isinstance(raw, Mapping):
        return raw
    raise MalformedSpanError(f"{what} must be an object, not {raw!r:.60}")


def _mlflow(raw: object, file: str, line: int | None) -> Span:
    span = _object(raw, "a span")
    if "context" in span:
        return _of_sdk(span, file, line)
    attributes = _object(span.get("attributes") or {}, "attributes")
    request = decoded(attributes.get("mlflow.traceRequestId"))  # how MLflow itself calls the trace
    return Span(
        plain_id(request or span.get("trace_id"), "a trace_id"),
        plain_id(span.get("span_id"), "a span_id"),
        str(span.get("parent_span_id") or ""),
        str(span.get("name") or ""),
        attributes,
        _events(span.get("events")),
        nanoseconds(span.get("start_time_unix_nano")),
        nanoseconds(span.get("end_time_unix_nano")),
        0,
        file,
        line,
    )


def _of_sdk(raw: Mapping[str, Any], file: str, line: int | None) -> Span:
    context = _object(raw["context"], "context")
    parent = raw.get("parent_id")
    attributes = _object(raw.get("attributes") or {}, "attributes")
    if isinstance(kind := raw.get("span_kind"), str):  # Phoenix takes it out of the attributes
        attributes = {"openinference.span.kind": kind, **attributes}
    return Span(
        plain_id(context.get("trace_id"), "a trace_id"),
        plain_id(context.get("span_id"), "a span_id"),
        plain_id(parent, "a parent_id") if parent else "",
        str(raw.get("name") or ""),
        attributes,
        _events(raw.get("events")),
        nanoseconds(raw.get("start_time")),
        nanoseconds(raw.get("end_time")),
        0,
        file,
        line,
    )


def _of_row(row: Mapping[str, Any], file: str, line: int | None) -> Span:
    """Return the span of a row of a frame, whose columns are flat; a cell that is not a text or a list is empty."""
    parts = {
        part: {key.removeprefix(f"{part}."): _plain(value) for key, value in row.items() if key.startswith(f"{part}.")}
        for part in ("context", "attributes")
    }
    parent = row.get("parent_id")
    rest = {key: row.get(key) for key in ("name", "span_kind", "start_time", "end_time")}
    return _of_sdk({**rest, **parts, "parent_id": parent if isinstance(parent, str) else None}, file, line)


def _plain(value: Any) -> Any:  # noqa: ANN401  # a cell of any frame
    """Return an array of numpy, as pandas has it in cells, as a list."""
    return value.tolist() if hasattr(value, "tolist") and getattr(value, "ndim", None) else value


def _events(raw: object) -> Sequence[Event]:
    if not isinstance(raw, list):
        return ()
    events = [_object(event, "an event") for event in raw]
    return [
        Event(str(event.get("name") or ""), _object(event.get("attributes") or {}, "attributes")) for event in events
    ]


def _langfuse_trace(
    trace: Mapping[str, Any], observations: Sequence[Any], file: str, line: int | None
) -> Iterator[Span]:
    """Yield the observations of a trace, and the trace itself as the root of those that have none."""
    name = plain_id(trace.get("id"), "the id of its trace")
    root = f"trace-{name}"
    times = [(raw.get("startTime"), raw.get("endTime")) for raw in observations if isinstance(raw, Mapping)]
    starts, ends = (
        ([nanoseconds(time) for time in column if time] for column in zip(*times, strict=True)) if times else ([], [])
    )
    attributes = {"langfuse.observation.input": trace.get("input"), "langfuse.observation.output": trace.get("output")}
    more = trace.get("metadata")
    known = {**(more if isinstance(more, Mapping) else {}), **attributes}
    yield Span(
        name,
        root,
        "",
        str(trace.get("name") or ""),
        known,
        (),
        min(starts, default=0),
        max(ends, default=0),
        0,
        file,
        line,
    )
    for raw in observations:
        span = _observation({"traceId": name, **_object(raw, "an observation")}, file, line)
        yield span if span.parent else span._replace(parent=root)


def _observation(raw: Mapping[str, Any], file: str, line: int | None) -> Span:
    more = raw.get("metadata")
    attributes = {f"langfuse.observation.{key}": raw[key] for key in _OBSERVED if raw.get(key) is not None}
    return Span(
        plain_id(raw.get("traceId"), "a traceId"),
        plain_id(raw.get("id"), "an id"),
        str(raw.get("parentObservationId") or ""),
        str(raw.get("name") or ""),
        {**(more if isinstance(more, Mapping) else {}), **attributes},
        (),
        nanoseconds(raw.get("startTime")),
        nanoseconds(raw.get("endTime")),
        0,
        file,
        line,
    )
