"""
Documents: text that is UTF-8, and JSON documents.
"""

from __future__ import annotations

import codecs
import json
from typing import Any

import orjson

from rankgauge.base.address_space import check_room
from rankgauge.io.problems import unreadable

__all__ = ["Path", "decode_text", "not_json", "not_utf8", "read_json", "with_strange_numbers"]

_STRANGE = (b"NaN", b"Infinity")

_EXPANDS = 32
"""How many bytes Python takes for one of JSON at most; where orjson gets less, it crashes."""

Path = tuple[str | int, ...]
"""Where a value of a document is: keys and places from the root down."""


def decode_text(data: bytes, name: str, *, offset: int = 0) -> str:
    """Decode UTF-8, with or without a byte-order mark; *offset* bytes of the file come before *data*."""
    bom = len(codecs.BOM_UTF8) if data.startswith(codecs.BOM_UTF8) else 0
    try:
        return data[bom:].decode()
    except UnicodeDecodeError as error:
        start = bom + error.start
        line = data.count(b"\n", 0, start) + 1
        raise unreadable(name, not_utf8(error, bom + offset), line) from None


def not_utf8(error: UnicodeDecodeError, offset: int) -> str:
    """Return what is wrong with bytes that are not UTF-8, *offset* bytes into a file."""
    return f"byte {offset + error.start} (0x{error.object[error.start]:02x}) is not UTF-8; save the file as UTF-8"


def read_json(data: bytes, name: str, *, offset: int = 0, is_strict: bool = True) -> tuple[Any, str]:
    """
    Read one JSON document; return its value and its text, or raise an `UnreadableError` with the line.

    Unless that *is strict*, ``NaN`` and ``Infinity``, which Python writes, are numbers for whoever reads the value.
    """
    text = decode_text(data, name, offset=offset)
    check_room(_EXPANDS * len(data), f"reading {name}")
    try:
        return orjson.loads(text), text
    except orjson.JSONDecodeError as error:
        if not is_strict and (value := with_strange_numbers(data)) is not None:
            return value, text
        raise unreadable(name, not_json(error, text), error.lineno) from None


def with_strange_numbers(data: bytes) -> Any:  # noqa: ANN401  # any JSON value
    """Return JSON that has ``NaN`` or ``Infinity`` for numbers, as Python writes it; None for anything else."""
    if not any(word in data for word in _STRANGE):
        return None
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def not_json(error: orjson.JSONDecodeError, text: str) -> str:
    """Return what is wrong with a text that is not JSON, with a hint at one of the two words that Python writes."""
    word = next((word.decode() for word in _STRANGE if word.decode() in text), None)
    hint = f"; {word} is not a JSON number: leave the value out, or give a finite one" if word else ""
    return f"not valid JSON: {error.msg} (column {error.colno}){hint}"
