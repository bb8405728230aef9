"""
Packing: columns of numbers and texts as one compressed block that the script of the report reads.

The block is base64 of gzip of: the length of a header in four bytes, the header as JSON, then one column after the
other. A column of numbers that take several bytes stands with all first bytes first, then all second ones, and so on,
which is what compresses well. The script does the reverse in `unpack`.
"""

from __future__ import annotations

import base64
import gzip
from collections.abc import Sequence
from typing import Any

import numpy as np
import orjson
from numpy.typing import ArrayLike, NDArray

__all__ = ["Packer"]

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
