"""
OTLP as protobuf: the bytes of export requests, read into the form that they have as JSON.

Only what spans need is read, by a table of the fields; the wire format is small enough that no library is needed. In
``0a 03 61 62 63`` the first byte is field 1 (the upper five bits) of wire type 2 (the lower three), a stretch of
bytes; the second its length, 3; then follow the bytes ``abc``.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from rankgauge_traces.spans import MalformedSpanError

__all__ = ["requests_in"]

_VARINT, _EIGHT, _BYTES, _FOUR = 0, 1, 2, 5
_DEEPEST = 100
_WHOLE = b"\x0a"  # how a request begins: with its field 1


class _Field(NamedTuple):
    name: str  # in JSON
    form: str  # of its value: a kind of message, or how bytes and numbers are written in JSON
    is_list: bool = False


_FIELDS: Mapping[str, Mapping[int, _Field]] = {
    "request": {1: _Field("resourceSpans", "resource", is_list=True)},
    "resource": {2: _Field("scopeSpans", "scope", is_list=True)},
    "scope": {2: _Field("spans", "span", is_list=True)},
    "span": {
        1: _Field("traceId", "hex"),
        2: _Field("spanId", "hex"),
        4: _Field("parentSpanId", "hex"),
        5: _Field("name", "text"),
        7: _Field("startTimeUnixNano", "fixed64"),
        8: _Field("endTimeUnixNano", "fixed64"),
        9: _Field("attributes", "pair", is_list=True),
        10: _Field("droppedAttributesCount", "count"),
        11: _Field("events", "event", is_list=True),
    },
    "event": {2: _Field("name", "text"), 3: _Field("attributes", "pair", is_list=True)},
    "pair": {1: _Field("key", "text"), 2: _Field("value", "value")},
    "value": {
        1: _Field("stringValue", "text"),
        2: _Field("boolValue", "flag"),
        3: _Field("intValue", "int64"),
        4: _Field("doubleValue", "double"),
        5: _Field("arrayValue", "array"),
        6: _Field("kvlistValue", "pairs"),
        7: _Field("bytesValue", "hex"),
    },
    "array": {1: _Field("values", "value", is_list=True)},
    "pairs": {1: _Field("values", "pair", is_list=True)},
}
_WIRE = {"fixed64": _EIGHT, "double": _EIGHT, "count": _VARINT, "flag": _VARINT, "int64": _VARINT}


def requests_in(data: bytes) -> Iterator[dict[str, Any]]:
    """
    Yield the requests of a file: one that is the whole file, or several, each behind its length in four bytes.

    The latter is what the Collector's file exporter writes. A `MalformedSpanError` says at which byte one is broken.
    """
    if data.startswith(_WHOLE):
        yield _message(data, 0, len(data), "request", 0)
        return
    at = 0
    while at < len(data):
        size = int.from_bytes(data[at : at + 4], "big")
        end = at + 4 + size
        if end > len(data) or at + 4 > len(data):
            raise _broken(at, f"a request of {size:,} bytes begins here, and the file ends before it does")
        yield _message(data, at + 4, end, "request", 0)
        at = end


def _message(data: bytes, at: int, end: int, kind: str, depth: int) -> dict[str, Any]:
    """Return a message that is between two bytes; fields that are not in the table are passed over."""
    if depth > _DEEPEST:
        raise _broken(at, "values are nested too deeply")
    fields, found = _FIELDS[kind], dict[str, Any]()
    while at < end:
        start = at
        tag, at = _varint(data, at, end)
        number, wire = tag >> 3, tag & 7
        if number == 0:
            raise _broken(start, "there is no field 0")
        value, at = _raw(data, at, end, wire)
        if (field := fields.get(number)) is None:
            continue
        if wire != _WIRE.get(field.form, _BYTES):
            raise _broken(start, f"{field.name} has the wire type {wire}, which it cannot have")
        plain = _plain(data, value, field.form, depth)
        if field.is_list:
            found.setdefault(field.name, []).append(plain)
        else:
            found[field.name] = plain
    return found


def _raw(data: bytes, at: int, end: int, wire: int) -> tuple[Any, int]:
    """Return a value as it is on the wire, a number or where its bytes are, and the place behind it."""
    if wire == _VARINT:
        return _varint(data, at, end)
    if wire == _BYTES:
        size, start = _varint(data, at, end)
        value: Any = (start, start + size)
    else:
        size, start = {_EIGHT: 8, _FOUR: 4}.get(wire, -1), at
        value = data[start : start + size]
    if size < 0:
        raise _broken(at, f"there is no wire type {wire}")
    if start + size > end:
        raise _broken(at, f"a value of {size:,} bytes begins here, and what it is in ends before it does")
    return value, start + size


def _plain(data: bytes, value: Any, form: str, depth: int) -> Any:  # noqa: ANN401  # of any form
    """Return a value as JSON has it."""
    match form:
        case "count":
            return value
        case "flag":
            return bool(value)
        case "int64":
            return value - (1 << 64) if value >> 63 else value
        case "fixed64":
            return int.from_bytes(value, "little")
        case "double":
            return struct.unpack("<d", value)[0]
    start, end = value
    if form == "hex":
        return data[start:end].hex()
    if form == "text":
        try:
            return data[start:end].decode()
        except UnicodeDecodeError as error:
            raise _broken(start + error.start, "a text is not UTF-8") from None
    return _message(data, start, end, form, depth + 1)


def _varint(data: bytes, at: int, end: int) -> tuple[int, int]:
    """Return a number of seven bits a byte, the lowest first, and the place behind it."""
    value = 0
    for place in range(at, min(at + 10, end)):
        value |= (data[place] & 0x7F) << 7 * (place - at)
        if data[place] < 0x80:
            return value & ((1 << 64) - 1), place + 1
    raise _broken(at, "a number does not end")


def _broken(at: int, why: str) -> MalformedSpanError:
    return MalformedSpanError(f"not OTLP as protobuf: at byte {at:,}, {why}")
