"""
Judgments and runs in JSON with an object for each row, a line or an element of one list each.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rankgauge.base.forked import lost_threads
from rankgauge.io.builtin_formats import read_json, read_jsonl
from rankgauge.io.field_names import NESTED, Kind, is_header
from rankgauge.io.files import open_file
from rankgauge.io.problems import unreadable

if TYPE_CHECKING:
    from rankgauge.io.table_rows import Rows

__all__ = ["beginning", "is_row", "json_rows"]

_LOOKED_AT = 1 << 16


class Beginning(NamedTuple):
    """The first object of a file of JSON, and whether it is an element of a list."""

    value: Mapping[str, Any]
    is_listed: bool


def beginning(path: Path, *, name: str = "") -> Beginning | None:
    """Return how a file begins; None if that is not with a whole object."""
    with open_file(path, name=name or str(path)) as opened:
        text = opened.stream.read(_LOOKED_AT).decode("utf-8", "ignore").lstrip()
    is_listed = text.startswith("[")
    text = text[is_listed:].lstrip()
    with suppress(ValueError, RecursionError):
        value, _ = json.JSONDecoder().raw_decode(text) if text.startswith("{") else (None, 0)
        return Beginning(value, is_listed) if isinstance(value, dict) else None
    return None


def is_row(value: Mapping[str, object], kind: Kind, columns: Mapping[str, str] | None) -> bool:
    """Return whether an object is a row of judgments or of a run: its plain values have names as columns of a table."""
    return is_header([key for key, item in value.items() if not isinstance(item, dict | list)], kind, columns)


def json_rows(path: Path, kind: Kind, columns: Mapping[str, str] | None, *, name: str) -> Rows | None:
    """Return the rows of a file of JSON; None if it has no object for each of them."""
    first = beginning(path, name=name)
    if first is None or not (is_row(first.value, kind, columns) or (kind == "qrels" and NESTED in first.value)):
        return None
    if why := lost_threads():
        raise unreadable(name, why)
    from rankgauge.io.table_rows import rows_of_records

    with open_file(path, name=name) as opened:
        read = read_json if first.is_listed else read_jsonl
        return rows_of_records(read(opened), kind, columns, name=name)
