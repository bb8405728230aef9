"""
OTLP as JSON: the spans of an export request, as the OpenTelemetry Collector and SDKs write one a line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rankgauge_traces.spans import Event, MalformedSpanError, Span, plain_id

__all__ = ["OTHER_SIGNALS", "attributes_of", "key_of", "spans_of_request"]

OTHER_SIGNALS = frozenset({"resourceLogs", "resource_logs", "resourceMetrics", "resource_metrics"})
"""What requests of logs and metrics have, which the same file may hold."""

_DEEPEST = 64
_LARGEST = 1 << 63


def spans_of_request(request: Mapping[str, Any], file: str, line: int | None) -> Iterator[Span]:
    """Yield the spans of an export request; a `MalformedSpanError` says which part of it is wrong."""
    for resource in _list(request, "resourceSpans", "the request"):
        for scope in _list(resource, "scopeSpans", "an entry of resourceSpans", older="instrumentationLibrarySpans"):
            for raw in _list(scope, "spans", "an entry of scopeSpans"):
                yield _span(raw, file, line)


def key_of(raw: Mapping[str, Any], name: str) -> Any:  # noqa: ANN401  # any JSON value
    """Return a value by its name as JSON writes it, or as the .proto files do: `traceId` or `trace_id`."""
    if name in raw:
        return raw[name]
    return raw.get("".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name))


def attributes_of(pairs: object) -> dict[str, Any]:
    """Return attributes as plain values by key; of a key that is there twice the last counts."""
    if pairs is None:
        return {}
    if not isinstance(pairs, list):
        raise MalformedSpanError(f"attributes must be a list of key and value, not {pairs!r:.60}")
    found: dict[str, Any] = {}
    for pair in pairs:
        if not isinstance(pair, Mapping) or not isinstance(pair.get("key"), str):
            raise MalformedSpanError(f"an attribute must be an object with a key and a value, not {pair!r:.60}")
        found[pair["key"]] = _value(pair.get("value"), pair["key"], 0)
    return found


def _list(holder: Mapping[str, Any], name: str, what: str, older: str = "") -> Sequence[Mapping[str, Any]]:
    """Return a list of objects; an absent one is empty, as protobuf leaves out what is."""
    value = key_of(holder, name)
    if value is None and older:
        value = key_of(holder, older)
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(item, Mapping) for item in value):
        raise MalformedSpanError(f"{name} of {what} must be a list of objects, not {value!r:.60}")
    return value


def _span(raw: Mapping[str, Any], file: str, line: int | None) -> Span:
    parent, name = key_of(raw, "parentSpanId"), raw.get("name")
    return Span(
        plain_id(key_of(raw, "traceId"), "a traceId"),
        plain_id(key_of(raw, "spanId"), "a spanId"),
        plain_id(parent, "a parentSpanId") if parent and parent != "0" * 16 else "",
        name if isinstance(name, str) else "",
        attributes_of(raw.get("attributes")),
        [
            Event(str(event.get("name", "")), attributes_of(event.get("attributes")))
            for event in _list(raw, "events", "a span")
        ],
        _whole(key_of(raw, "startTimeUnixNano"), "startTimeUnixNano"),
        _whole(key_of(raw, "endTimeUnixNano"), "endTimeUnixNano"),
        _whole(key_of(raw, "droppedAttributesCount"), "droppedAttributesCount"),
        file,
        line,
    )


def _whole(value: object, name: str) -> int:
    """Return a whole number, which OTLP writes as a text if it has 64 bits; 0 if there is none."""
    if value is None:
        return 0
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 21:
        return int(value)
    raise MalformedSpanError(f"{name} must be a whole number, not {value!r:.60}")


def _value(raw: object, key: str, depth: int) -> Any:  # noqa: ANN401  # any JSON value
    """Return the value of an attribute: one of the forms of OTLP's AnyValue."""
    if raw is None or raw == {}:
        return None
    if not isinstance(raw, Mapping) or depth > _DEEPEST:
        wrong = (
            "is nested too deeply" if depth > _DEEPEST else f"must be such as {{'stringValue': ...}}, not {raw!r:.60}"
        )
        raise MalformedSpanError(f"the value of attribute {key!r:.60} {wrong}")
    for form in ("stringValue", "doubleValue", "boolValue", "bytesValue"):
        if (value := key_of(raw, form)) is not None:
            return value
    if (value := key_of(raw, "intValue")) is not None:
        return _integer(value, key)
    for form in ("arrayValue", "kvlistValue"):
        if (inner := key_of(raw, form)) is None:
            continue
        values = inner.get("values") or [] if isinstance(inner, Mapping) else None
        if not isinstance(values, list):
            raise MalformedSpanError(f"the {form} of attribute {key!r:.60} has no list of values")
        if form == "arrayValue":
            return [_value(each, key, depth + 1) for each in values]
        pairs = [each for each in values if isinstance(each, Mapping)]
        return {str(each.get("key")): _value(each.get("value"), key, depth + 1) for each in pairs}
    raise MalformedSpanError(
        f"the value of attribute {key!r:.60} has no form of OTLP, such as stringValue: {raw!r:.60}"
    )


def _integer(value: object, key: str) -> int:
    text = str(value)
    is_whole = text.removeprefix("-").isdigit() and text.isascii() and len(text) <= 20
    if is_whole and -_LARGEST <= int(text) < _LARGEST:
        return int(text)
    raise MalformedSpanError(f"the intValue of attribute {key!r:.60} is {value!r:.60}, no whole number of 64 bits")
