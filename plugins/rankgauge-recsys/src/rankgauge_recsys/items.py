"""
Items: what is known of each item of a catalogue, read from JSON lines.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

__all__ = ["Item", "read_items"]


class Item(NamedTuple):
    """
    What is known of an item.

    Attributes:
        popularity: The share of users who know it, above 0 and at most 1; None if it is not given.

        categories: The categories it belongs to.

        vector: Its embedding, of length 1; None if it is not given.
    """

    popularity: float | None = None
    categories: frozenset[str] = frozenset()
    vector: tuple[float, ...] | None = None


def read_items(path: str) -> Mapping[str, Item]:
    """Return the items of a file by id; a `ValueError` says what is wrong with it. It is read again if it changed."""
    try:
        state = Path(path).stat()
    except OSError as error:
        raise ValueError(f"cannot read the items {path!r}: {error.strerror or error}") from None
    return _read(path, state.st_mtime_ns, state.st_size)


@functools.lru_cache(maxsize=8)
def _read(path: str, _changed: int, _size: int) -> Mapping[str, Item]:
    found: dict[str, Item] = {}
    try:
        with Path(path).open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    name, item = _item(line, f"{path}:{number}")
                    if name in found:
                        raise ValueError(f"{path}:{number}: the item {name!r} is listed twice")
                    found[name] = item
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"cannot read the items {path!r}: {error}") from None
    if not found:
        raise ValueError(f"{path} has no items")
    return found


def _item(line: str, where: str) -> tuple[str, Item]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{where}: no JSON: {error}") from None
    if not isinstance(row, dict) or not isinstance(row.get("id"), str | int) or isinstance(row["id"], bool):
        msg = f"{where}: an item is an object with an 'id', and maybe 'popularity', 'categories' and 'vector'"
        raise ValueError(msg)  # noqa: TRY004  # all that is wrong with a file is said in one way
    popularity, categories, vector = row.get("popularity"), row.get("categories", []), row.get("vector")
    if popularity is not None and not (_is_number(popularity) and 0 < popularity <= 1):
        raise ValueError(f"{where}: popularity is a share of users, above 0 and at most 1, not {popularity!r}")
    if not isinstance(categories, list) or not all(isinstance(each, str) for each in categories):
        raise ValueError(f"{where}: categories is a list of strings, not {categories!r}")
    return str(row["id"]), Item(popularity, frozenset(categories), None if vector is None else _unit(vector, where))


def _unit(vector: object, where: str) -> tuple[float, ...]:
    """Return a vector scaled to length 1."""
    if not isinstance(vector, list) or not all(map(_is_number, vector)) or not any(vector):
        raise ValueError(f"{where}: vector is a list of finite numbers, not all of them 0")
    length = math.hypot(*vector)
    return tuple(each / length for each in vector)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < math.inf
