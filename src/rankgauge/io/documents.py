"""
Documents: text that is UTF-8, and JSON documents.
"""

from __future__ import annotations

import codecs
from typing import Any

import orjson

from rankgauge.io.problems import unreadable

__all__ = ["Path", "decode_text", "nan_hint", "read_json"]

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
        message = f"byte {offset + start} (0x{data[start]:02x}) is not UTF-8; save the file as UTF-8"
        raise unreadable(name, message, line) from None


def read_json(data: bytes, name: str, *, offset: int = 0) -> tuple[Any, str]:
    """Read one JSON document; return its value and its text, or raise an `UnreadableError` with the line."""
    text = decode_text(data, name, offset=offset)
    try:
        return orjson.loads(text), text
    except orjson.JSONDecodeError as error:
        message = f"not valid JSON: {error.msg} (column {error.colno}){nan_hint(text)}"
        raise unreadable(name, message, error.lineno) from None


def nan_hint(text: str) -> str:
    """Return what to do about a text that is not JSON, if it has one of the two words that Python writes there."""
    found = next((word for word in ("NaN", "Infinity") if word in text), None)
    return "" if found is None else f"; {found} is not a JSON number: leave the value out, or give a finite one"
