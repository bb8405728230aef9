"""
Packing: numbers and texts as compressed blocks that the script of the report reads, within a budget of bytes.
"""

from __future__ import annotations

import base64
import gzip
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import orjson
from numpy.typing import ArrayLike, NDArray

from rankgauge.base.plain_text import visible

__all__ = ["Excerpt", "Packer", "Texts", "clipped"]

_SEPARATOR = "\0"
"""Between texts, none of which holds it: control characters are escaped in all that is shown."""

_FEW, _SINGLE = 1 << 16, 1e38
_LEVEL = 5


class Packer:
    """Takes columns, and gives each a number by which the header refers to it."""

    def __init__(self) -> None:
        self._columns: list[tuple[str, int]] = []
        self._blocks: list[bytes] = []

    def texts(self, texts: Sequence[str]) -> int:
        """Take texts without control characters."""
        block = _SEPARATOR.join(texts).encode()
        return self._take("text", len(block), block)

    def counts(self, numbers: ArrayLike) -> int:
        """Take whole numbers of 0 or more, in as few bytes each as the largest takes."""
        values = np.asarray(numbers)
        highest = int(values.max(initial=0))
        kind = "u1" if highest < 1 << 8 else "u2" if highest < 1 << 16 else "u4"
        return self._numbers(kind, values)

    def floats(self, numbers: ArrayLike) -> list[int]:
        """Take numbers, NaN among them: few distinct ones exactly, as places in a table; others as float32."""
        values = np.asarray(numbers, dtype=np.float64)
        table, places = np.unique(values, return_inverse=True)
        if len(table) <= 1 << 8 or (len(table) <= _FEW and 4 * len(table) < len(values)):
            return [self.counts(places), self._numbers("f8", table)]
        is_small = np.abs(values[~np.isnan(values)]).max(initial=0.0) < _SINGLE
        return [self._numbers("f4" if is_small else "f8", values)]

    def packed(self, header: dict[str, Any]) -> str:
        """Return the block, with a header of JSON values that refers to its columns."""
        head = orjson.dumps({**header, "columns": self._columns})
        body = b"".join([len(head).to_bytes(4, "little"), head, *self._blocks])
        return base64.b64encode(gzip.compress(body, _LEVEL, mtime=0)).decode()

    def _numbers(self, kind: str, values: NDArray[Any]) -> int:
        little = np.ascontiguousarray(values, dtype=f"<{kind}")
        shuffled = little.view(np.uint8).reshape(len(little), -1).T if len(little) else little
        return self._take(kind, len(little), shuffled.tobytes())

    def _take(self, kind: str, length: int, block: bytes) -> int:
        self._columns.append((kind, length))
        self._blocks.append(block)
        return len(self._columns) - 1


_LONGEST = 600
_BEFORE = 120
"""How much of a long text is before the stretch that matched."""


class Excerpt(NamedTuple):
    """A text as the report holds it, and the stretch of it that matched, counted as JavaScript counts."""

    place: int  # which of the texts it is, from 1; 0 if there was no room for it
    start: int = 0
    length: int = 0  # 0 for none


class Texts:
    """Takes texts, the most important first; once one is left out for want of room, no other is taken."""

    def __init__(self, budget: int) -> None:
        self.kept: list[str] = []
        self.whole: list[int] = []  # how long each is that was cut; 0 for others
        self.is_full = False
        self._left = budget
        self._places: dict[str, int] = {}

    def add(self, text: str, matched: str | None = None) -> Excerpt:
        """Take a text, of a long one the part around what matched."""
        at = text.find(matched) if matched else -1
        if at < 0:
            return Excerpt(self._place(_shown(clipped(text)), len(text) if len(text) > _LONGEST else 0))
        begin = max(0, at - _BEFORE) if len(text) > _LONGEST else 0
        ahead, held = _shown(text[begin:at]), _shown((matched or "")[:_LONGEST])
        ahead = f"…{ahead}" if begin else ahead
        behind = text[at + len(matched or "") :]
        behind = behind if len(text) <= _LONGEST else clipped(behind)
        is_cut = begin or len(matched or "") > _LONGEST or len(behind) < len(text) - at - len(matched or "")
        place = self._place(f"{ahead}{held}{_shown(behind)}", len(text) if is_cut else 0)
        return Excerpt(place, _units(ahead), _units(held)) if place else Excerpt(0)

    def _place(self, shown: str, whole: int) -> int:
        if shown in self._places:
            return self._places[shown]
        size = len(shown.encode())
        if self.is_full or size > self._left:
            self.is_full = True
            return 0
        self._left -= size
        self.kept.append(shown)
        self.whole.append(whole)
        return self._places.setdefault(shown, len(self.kept))


def clipped(text: str) -> str:
    """Return the beginning of a text that is long."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _shown(text: str) -> str:
    return visible(text, keep="\n")


def _units(text: str) -> int:
    """Return how long a text is for JavaScript, which counts UTF-16."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le")) // 2
