"""OTLP as protobuf: what OpenTelemetry's own classes wrote is read as its JSON is, and broken bytes are named."""

import random
import struct
from pathlib import Path

import pytest

from rankgauge_traces.otlp_protobuf import requests_in
from rankgauge_traces.span_files import read_spans
from rankgauge_traces.spans import MalformedSpanError
from rankgauge_traces.traces import Reading, traces_of

RECORDED = Path(__file__).parent / "recorded"  # by `recorders/to_protobuf.py`


@pytest.mark.parametrize("name", ["haystack.pb", "haystack_framed.pb"])
def test_protobuf_makes_the_same_samples_as_json(name, samples_of):
    assert samples_of(RECORDED / name) == samples_of(RECORDED / "haystack.otlp.jsonl")


def field(number, wire, value):
    return bytes([number << 3 | wire]) + value


def part(number, *inside):
    inside = b"".join(inside)
    return field(number, 2, bytes([len(inside)]) + inside)


def request_with(*value):
    """Return a request with one span, which has one attribute."""
    attribute = part(9, part(1, b"k"), part(2, *value))
    return part(1, part(2, part(2, part(1, b"\x0a" * 16), part(2, b"\x0b" * 8), attribute)))


VALUES = {  # by hand: the tag of each form, and what it holds
    "a text": (part(1, b"abc"), {"stringValue": "abc"}),
    "true": (field(2, 0, b"\x01"), {"boolValue": True}),
    "300": (field(3, 0, b"\xac\x02"), {"intValue": 300}),  # 0x2c + 2 * 128
    "-1": (field(3, 0, b"\xff" * 9 + b"\x01"), {"intValue": -1}),  # 64 bits that are all 1
    "a fraction": (field(4, 1, struct.pack("<d", 0.5)), {"doubleValue": 0.5}),
    "a list": (part(5, part(1, part(1, b"x"))), {"arrayValue": {"values": [{"stringValue": "x"}]}}),
    "bytes": (part(7, b"\x01\xff"), {"bytesValue": "01ff"}),
}


@pytest.mark.parametrize("what", VALUES)
def test_each_form_of_a_value_is_read(what):
    written, expected = VALUES[what]
    (request,) = requests_in(request_with(written))
    (span,) = request["resourceSpans"][0]["scopeSpans"][0]["spans"]
    assert (span["traceId"], span["spanId"]) == ("0a" * 16, "0b" * 8)
    assert span["attributes"] == [{"key": "k", "value": expected}]


BROKEN = {
    "a text that is not UTF-8": (request_with(part(1, b"a\xff")), "a text is not UTF-8"),
    "a field of another type": (request_with(field(1, 0, b"\x01")), "stringValue has the wire type 0"),
    "a wire type that is none": (request_with(field(1, 3, b"")), "there is no wire type 3"),
    "field 0": (request_with(b"\x02\x00"), "there is no field 0"),
    "a number without an end": (request_with(field(3, 0, b"\xff" * 11)), "a number does not end"),
    "a length past the end": (b"\x0a\x7fabc", "at byte 1, a value of 127 bytes begins here"),
    "a frame past the end": (b"\x00\x00\x00\x09\x0a\x00", "at byte 0, a request of 9 bytes begins here"),
    "half a length": (b"\x00\x00", "at byte 0, a request of 0 bytes begins here"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_broken_bytes_are_named_with_their_place(what, rankgauge):
    data, message = BROKEN[what]
    Path("spans.pb").write_bytes(data)
    done = rankgauge("traces", "read", "spans.pb", "-o", "out.jsonl")
    assert done.code == 2
    assert "spans.pb: not OTLP as protobuf: at byte" in done.err
    assert message in done.err


def test_values_nested_too_deeply_are_refused():
    value = part(1, b"x")
    for _ in range(200):
        inside = field(1, 2, length(value) + value)
        value = field(5, 2, length(inside) + inside)
    pair = part(1, b"k") + field(2, 2, length(value) + value)
    span = field(9, 2, length(pair) + pair)
    scope = field(2, 2, length(span) + span)
    resource = field(2, 2, length(scope) + scope)
    with pytest.raises(MalformedSpanError, match="nested too deeply"):
        list(requests_in(field(1, 2, length(resource) + resource)))


def length(data):
    """Return a length as a number of seven bits a byte."""
    size, written = len(data), b""
    while size >= 0x80:
        written, size = written + bytes([size & 0x7F | 0x80]), size >> 7
    return written + bytes([size])


@pytest.mark.parametrize("name", ["haystack.pb", "haystack_framed.pb", "haystack.otlp.jsonl", "mlflow.jsonl"])
def test_no_damage_to_a_file_is_worse_than_a_problem_that_is_named(name):
    """Cut anywhere, or with a few bytes changed, it is read or refused, and nothing else is raised."""
    whole = (RECORDED / name).read_bytes()
    draw = random.Random(28)
    file = Path(name)
    refused = 0
    for _ in range(80):
        data = bytearray(whole[: draw.randrange(len(whole))] if draw.random() < 0.3 else whole)
        for _ in range(draw.randrange(4) if data else 0):
            data[draw.randrange(len(data))] = draw.randrange(256)
        file.write_bytes(data)
        problems = []
        traces_of(read_spans(file, problems), Reading(), problems)
        refused += bool(problems)
        assert all(problem.message and problem.file == name for problem in problems)
    assert refused > 10
