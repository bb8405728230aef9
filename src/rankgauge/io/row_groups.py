"""
Row groups: how many rows each part of a Parquet file holds, which is where reading it in pieces costs nothing.

polars does not tell. Reading ranges that ignore row groups decodes their beginnings again and again: a file with one
row group of seven million rows takes five times as long. The footer is a structure in Thrift's compact protocol.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

__all__ = ["row_groups"]

_MAGIC = b"PAR1"
_MOST_BYTES = 1 << 24
"""A footer with more bytes takes longer to step through than it saves."""

_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 12
_INTEGERS = {4, 5, 6}
_ROW_GROUPS, _NUM_ROWS = 4, 3
"""The field of a file's metadata that lists its row groups, and the field of a row group that counts its rows."""


def row_groups(path: Path) -> list[int] | None:
    """Return how many rows each row group has; None where the footer does not say, or is too large to step through."""
    with path.open("rb") as file:
        size = file.seek(0, 2)
        if size < 12:
            return None
        file.seek(size - 8)
        tail = file.read(8)
        length = int.from_bytes(tail[:4], "little")
        if tail[4:] != _MAGIC or length > min(size - 12, _MOST_BYTES):
            return None
        file.seek(size - 8 - length)
        footer = file.read(length)
    try:
        counts = [group[_NUM_ROWS] for group in _Compact(footer).value(_STRUCT)[_ROW_GROUPS]]
    except (IndexError, KeyError, TypeError, ValueError, RecursionError):
        return None
    return counts if all(isinstance(count, int) and count >= 0 for count in counts) else None


class _Compact:
    """
    Reads values of Thrift's compact protocol; texts and floats, which nobody asks for, become None.

    The bytes ``26 c8 01 00`` are a structure: field 0 + 2 of type 6 (an integer), the number 0xc8 0x01 = 200 in groups
    of seven bits, the sign in its lowest bit: 100; then the end. So ``value(_STRUCT)`` is ``{2: 100}``.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def value(self, kind: int) -> Any:  # noqa: ANN401  # a number, a list or a structure of these
        if kind in {_TRUE, _FALSE}:  # the type itself is the value
            return None
        if kind == _BYTE:
            return self._bytes(1)[0]
        if kind in _INTEGERS:
            return self._integer()
        if kind in {_DOUBLE, _BINARY}:
            self._bytes(8 if kind == _DOUBLE else self._varint())
            return None
        if kind in {_LIST, _SET}:
            head = self._bytes(1)[0]
            count, item = head >> 4, head & 0x0F
            item = _BYTE if item in {_TRUE, _FALSE} else item  # in a list a truth value has a byte of its own
            return [self.value(item) for _ in range(self._varint() if count == 15 else count)]
        if kind != _STRUCT:  # maps, which the structures of Parquet do not have
            raise ValueError
        fields: dict[int, Any] = {}
        number = 0
        while head := self._bytes(1)[0]:
            number = number + (head >> 4) if head >> 4 else self._integer()
            fields[number] = self.value(head & 0x0F)
        return fields

    def _integer(self) -> int:
        number = self._varint()
        return (number >> 1) ^ -(number & 1)

    def _varint(self) -> int:
        number = shift = 0
        while (byte := self._bytes(1)[0]) >= 0x80:
            number |= (byte & 0x7F) << shift
            shift += 7
        return number | byte << shift

    def _bytes(self, count: int) -> bytes:
        found = self._data[self._at : self._at + count]
        if len(found) < count:
            raise IndexError
        self._at += count
        return found
