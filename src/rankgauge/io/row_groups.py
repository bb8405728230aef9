"""
Row groups: how many rows each part of a Parquet file holds, which is where reading it in pieces costs nothing.

The footer of a Parquet file is a structure in Thrift's compact protocol. Only the row counts are taken from it;
everything else is stepped over.
"""

from __future__ import annotations

from pathlib import Path

__all__ = ["row_groups"]

_MAGIC = b"PAR1"
_MOST_BYTES = 1 << 24
"""A footer with more bytes takes longer to step through than it saves."""

_STOP, _TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _STRUCT = 0, 1, 2, 3, 7, 8, 9, 10, 12
_BYTES = {_TRUE: 0, _FALSE: 0, _BYTE: 1, _DOUBLE: 8}
"""How many bytes a value has, where the type says it; truth values stand in the type itself."""

_INTEGERS = {4, 5, 6}
_ROW_GROUPS = 4
"""The field of a file's metadata that lists its row groups."""

_NUM_ROWS = 3
"""The field of a row group that counts its rows."""


def row_groups(path: Path) -> list[int] | None:
    """
    Return how many rows each row group of a Parquet file has.

    Args:
        path: The file.

    Returns:
        The counts in order; None where the footer does not say, or is too large to step through.
    """
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
        return _Compact(footer).row_counts()
    except (IndexError, ValueError):
        return None


class _Compact:
    """Steps through a structure."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def row_counts(self) -> list[int] | None:
        field = 0
        while True:
            field, kind = self._field(field)
            if kind == _STOP:
                return None
            if field == _ROW_GROUPS and kind == _LIST:
                count, _ = self._list_header()
                return [self._rows_of_group() for _ in range(count)]
            self._skip(kind)

    def _rows_of_group(self) -> int:
        rows = None
        field = 0
        while True:
            field, kind = self._field(field)
            if kind == _STOP:
                break
            if field == _NUM_ROWS:
                number = self._varint()
                rows = (number >> 1) ^ -(number & 1)
            else:
                self._skip(kind)
        if rows is None or rows < 0:
            raise ValueError
        return rows

    def _field(self, before: int) -> tuple[int, int]:
        """Return the number and type of the next field."""
        head = self._byte()
        kind, step = head & 0x0F, head >> 4
        if kind == _STOP:
            return before, _STOP
        if step:
            return before + step, kind
        number = self._varint()
        return (number >> 1) ^ -(number & 1), kind

    def _skip(self, kind: int) -> None:
        if kind in _BYTES:
            self._at += _BYTES[kind]
        elif kind in _INTEGERS:
            self._varint()
        elif kind == _BINARY:
            length = self._varint()
            self._at += length
        elif kind in {_LIST, _SET}:
            count, item = self._list_header()
            for _ in range(count):
                self._skip_item(item)
        elif kind == _STRUCT:
            self._skip_struct()
        else:  # maps, which the structures of Parquet do not have
            raise ValueError

    def _skip_struct(self) -> None:
        field = 0
        while True:
            field, kind = self._field(field)
            if kind == _STOP:
                return
            self._skip(kind)

    def _skip_item(self, kind: int) -> None:
        """Step over a value in a list, where a truth value has a byte of its own."""
        self._skip(_BYTE if kind in {_TRUE, _FALSE} else kind)

    def _list_header(self) -> tuple[int, int]:
        head = self._byte()
        count = head >> 4
        return (self._varint() if count == 15 else count), head & 0x0F

    def _varint(self) -> int:
        number = shift = 0
        while True:
            byte = self._byte()
            number |= (byte & 0x7F) << shift
            if byte < 0x80:
                return number
            shift += 7

    def _byte(self) -> int:
        byte = self._data[self._at]
        self._at += 1
        return byte
