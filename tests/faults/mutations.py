"""Mutations: a file that was right, with some bytes, lines or values of it changed by a seeded generator."""

from __future__ import annotations

import gzip
import json
import random
import re
from typing import Any

import yaml
import zstandard

__all__ = ["mutated"]

_TOKENS: tuple[bytes, ...] = (
    *(b"\x00", b"\xff", b"\xef\xbb\xbf", b"\r", b"\n", b"\n\n", b"\x1a", b"\x1b[2J", b"\x07", b"\x08", b"\xc2\x9b"),
    *(
        "\u202e".encode(),
        "\u2028".encode(),
        b"\xed\xa0\x80",
        b"\\ud800",
        b"\\u0000",
        b"\\u001b]0;x\\u0007",
        b"\xf0\x9f",
    ),
    *(b'"', b"'", b"{", b"}", b"[", b"]", b",", b":", b"\t", b"\\", b"#", b"&a *a", b"*a", b"!!python/object:x ", b"%"),
    *(b"NaN", b"Infinity", b"-1e999", b"1e-999", b"-0", b"9" * 25, b"9" * 5000, b"0x10", b"1_000", b"-1", b"null"),
    *(b"true", b"<<: ", b"---\n", b"...\n", b"PAR1", b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"x" * 3000, b"(" * 300),
    *(b"[" * 1200 + b"]" * 1200, b'{"a":' * 300 + b"1" + b"}" * 300, b"a b c d e f\n", b"q1 0 d1 1\n", b"../../x"),
)

_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1.5, 2**53 + 1, 10**30, -(10**400), 1e308, "", " ", "x" * 5000, "\x00", "\x1b[31m"),
    *("\u202eabc", "\ud800", "a\nb", "a\tb", "NaN", [], {}, [[]], [None], [{}], {"": 1}, {"id": None}, [1, "a", 2.5]),
    *(
        {"k": 0},
        {"retrieved": None},
        {"retrieved": [[]]},
        ["d1", "d1"],
        {"d1": "1"},
        {"d1": 1e400},
        "[",
        '{"retrieved": 1}',
    ),
)


_TEXTS = (
    "\x00",
    "\x1b[2J",
    "\x07",
    "\u009b",
    "\u202e",
    "\u2028",
    "\ud800",
    "\r",
    "\n",
    "\t",
    "|",
    "`",
    "<b>",
    "x" * 5000,
    "\u0301",
)
_FIELDS = (
    *(
        b"NaN",
        b"inf",
        b"-1e999",
        b"1e-400",
        b"-0",
        b"9" * 25,
        b"9" * 5000,
        b"0x10",
        b"1_000",
        b"1.5",
        b"-1",
        b"+1",
        b".",
    ),
    *(
        b"\x00",
        b"\x1b[2J",
        b"\xc2\x9b",
        "\u202e".encode(),
        "\u2028".encode(),
        b"\xff",
        b"\r",
        b'"',
        b"#",
        b"x" * 70_000,
        b"\\",
    ),
)


def mutated(name: str, data: bytes, seeded: random.Random) -> bytes:
    """
    Return the data of a file with one to three changes, most often with one.

    Most of them keep the form of the file, because what is no JSON is refused long before anything can go wrong.
    """
    ending = name.rpartition(".")[2]
    if ending in _PACKED and seeded.random() < 0.8:
        unpack, pack = _PACKED[ending]
        return pack(mutated(name.removesuffix(f".{ending}"), unpack(data), seeded))
    for _ in range(seeded.choice((1, 1, 1, 2, 3))):
        keeps_form = seeded.random() < 0.7
        data = seeded.choice(_BY_ENDING.get(ending, _OF_LINES) if keeps_form else _BLUNT)(data, seeded)
    return data


def _flip(data: bytes, seeded: random.Random) -> bytes:
    place = seeded.randrange(len(data) + 1)
    return data[:place] + bytes([seeded.randrange(256)]) + data[place + 1 :]


def _insert(data: bytes, seeded: random.Random) -> bytes:
    place = seeded.randrange(len(data) + 1)
    return data[:place] + seeded.choice(_TOKENS) + data[place:]


def _replace(data: bytes, seeded: random.Random) -> bytes:
    begin, end = _range(data, seeded)
    return data[:begin] + seeded.choice(_TOKENS) + data[end:]


def _delete(data: bytes, seeded: random.Random) -> bytes:
    begin, end = _range(data, seeded)
    return data[:begin] + data[end:]


def _repeat(data: bytes, seeded: random.Random) -> bytes:
    begin, end = _range(data, seeded)
    return data[:end] + data[begin:end] * seeded.choice((1, 2, 500)) + data[end:]


def _truncate(data: bytes, seeded: random.Random) -> bytes:
    return data[: seeded.randrange(len(data) + 1)]


def _noise(data: bytes, seeded: random.Random) -> bytes:
    del data
    return seeded.randbytes(seeded.choice((0, 1, 7, 300)))


def _lines(data: bytes, seeded: random.Random) -> bytes:
    lines = data.splitlines(keepends=True)
    if seeded.random() < 0.5:
        seeded.shuffle(lines)
    elif lines:
        lines[seeded.randrange(len(lines))] = b""
    return b"".join(lines)


def _value(data: bytes, seeded: random.Random) -> bytes:
    """Replace one value of a JSON document, or of one line of JSON."""
    lines = data.splitlines(keepends=True)
    if not lines:
        return data
    place = seeded.randrange(len(lines))
    try:
        value = json.loads(lines[place])
    except (ValueError, RecursionError):
        return _insert(data, seeded)
    try:
        lines[place] = json.dumps(_changed(value, seeded)).encode() + b"\n"
    except (ValueError, RecursionError):
        return data
    return b"".join(lines)


def _yaml_value(data: bytes, seeded: random.Random) -> bytes:
    """Replace one value of a YAML document."""
    try:
        value = yaml.safe_load(data)
        return yaml.safe_dump(_changed(value, seeded), sort_keys=False, allow_unicode=True).encode("utf-8", "replace")
    except (yaml.YAMLError, ValueError, RecursionError):
        return _insert(data, seeded)


def _field(data: bytes, seeded: random.Random) -> bytes:
    """Replace or extend one field of one line."""
    lines = data.splitlines(keepends=True) or [b"\n"]
    place = seeded.randrange(len(lines))
    parts = re.split(rb"([\s,]+)", lines[place])
    at = 2 * seeded.randrange((len(parts) + 1) // 2)
    parts[at] = seeded.choice((b"", parts[at])) + seeded.choice(_FIELDS)
    lines[place] = b"".join(parts)
    return b"".join(lines)


def _changed(value: Any, seeded: random.Random) -> Any:
    if isinstance(value, str) and seeded.random() < 0.5:
        place = seeded.randrange(len(value) + 1)
        return value[:place] + seeded.choice(_TEXTS) + value[place:]
    if isinstance(value, dict) and value and seeded.random() < 0.85:
        key = seeded.choice(sorted(value))
        if seeded.random() < 0.1:
            return {other: each for other, each in value.items() if other != key}
        return {**value, key: _changed(value[key], seeded)}
    if isinstance(value, list) and value and seeded.random() < 0.85:
        place = seeded.randrange(len(value))
        return [*value[:place], _changed(value[place], seeded), *value[place + 1 :]]
    return seeded.choice(_VALUES)


def _range(data: bytes, seeded: random.Random) -> tuple[int, int]:
    begin = seeded.randrange(len(data) + 1)
    return begin, min(begin + seeded.choice((1, 2, 8, 40, 400)), len(data))


_BLUNT = (_flip, _insert, _replace, _delete, _repeat, _truncate, _noise, _lines)
_OF_LINES = (_field, _field, _field, _lines)
_BY_ENDING = {
    **dict.fromkeys(("jsonl", "ndjson", "json"), (_value,)),
    **dict.fromkeys(("yaml", "yml"), (_yaml_value,)),
    **dict.fromkeys(("parquet", "pq"), (_flip,)),
}
_PACKED = {"gz": (gzip.decompress, gzip.compress), "zst": (zstandard.decompress, zstandard.compress)}
