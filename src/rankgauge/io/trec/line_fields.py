"""
Lines and fields: a window over a stream of bytes, and where the columns of its lines begin and end.
"""

from __future__ import annotations

from typing import IO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankgauge.columns import PADDING, Flags, Ints, Slices
from rankgauge.io.problems import MalformedError

__all__ = ["Fields", "Window", "find_fields", "has_control"]

_LINE_END = b"\n"
_SOLID = b"\xff" * PADDING  # what is before the lines; anything but white space


class Window:
    r"""
    A part of a stream in memory; its lines begin at place `PADDING`.

    With 11 bytes of room and the stream ``q1 a\nq1 b\nq2 c\n``, `fill` reads ``q1 a\nq1 b\nq`` and sets `end` to
    PADDING + 10, behind the second line. ``drop(PADDING + 10)`` moves the ``q`` to PADDING, and the next `fill` reads
    ``2 c\n`` behind it. The `PADDING` bytes before the lines are not blank; once `is_last`, nothing follows.
    """

    def __init__(self, stream: IO[bytes], *, limit: int | None, size: int) -> None:
        """Open a window of *size* bytes, or more if a query needs it, over *limit* bytes of a stream or all."""
        self._stream = stream
        self._left = limit
        self._held = 0
        self._reserve(size)
        self.end = PADDING
        self.is_last = False

    def fill(self) -> None:
        """Read until the window is full or the stream ends, and see where its last line does."""
        view = memoryview(self._bytes)
        while self._held < self._size and not self.is_last:
            wanted = self._size - self._held
            if self._left is not None:
                wanted = min(wanted, self._left)
            place = PADDING + self._held
            got = self._stream.readinto(view[place : place + wanted])  # type: ignore[attr-defined]  # binary files do
            self.is_last = not got
            self._held += got
            if self._left is not None:
                self._left -= got
        self.end = PADDING + self._held
        if not self.is_last:
            self.end = self.line_begin(self.end)
        elif self._held and self._bytes[self.end - 1] != _LINE_END[0]:
            self._bytes[self.end] = _LINE_END[0]
            self.end += 1
            self._held += 1

    def line_begin(self, place: int) -> int:
        """Return where the line begins that *place* is in."""
        return max(self._bytes.rfind(_LINE_END, PADDING, place) + 1, PADDING)

    def line_end(self, place: int) -> int:
        """Return where the line ends that *place* is in or behind; a place within the last line gives its end."""
        newline = self._bytes.find(_LINE_END, place - 1, self.end)
        return self.end if newline < 0 else newline + 1

    def line_at(self, place: int) -> bytes:
        """Return the line that *place* is in."""
        return bytes(self._bytes[self.line_begin(place) : self.line_end(place + 1)])

    def drop(self, place: int) -> None:
        """Forget everything before a place of the buffer; make room if that is nothing."""
        kept = self._bytes[place : PADDING + self._held]
        if place == PADDING:
            self._reserve(2 * self._size)
        self._held = len(kept)
        self._bytes[PADDING : PADDING + self._held] = kept

    def keep_lines(self, begins: Ints) -> bool:
        """Forget what is between the lines with *begins*, such as comments; return False if it is not much."""
        newlines = np.flatnonzero(self.buffer[PADDING : self.end] == _LINE_END[0]) + PADDING
        ends = newlines[np.searchsorted(newlines, begins)] + 1
        if 2 * int((ends - begins).sum()) > self.end - PADDING:
            return False
        lines = [self._bytes[begin:end] for begin, end in zip(begins.tolist(), ends.tolist(), strict=True)]
        kept = b"".join([*lines, self._bytes[self.end : PADDING + self._held]])
        self._held = len(kept)
        self._bytes[PADDING : PADDING + self._held] = kept
        return True

    def _reserve(self, size: int) -> None:
        self._size = size
        self._bytes = bytearray(size + 2 * PADDING + 1)
        self._bytes[:PADDING] = _SOLID
        self.buffer = np.frombuffer(self._bytes, dtype=np.uint8)


_BLANK = 32
_NEWLINE, _COMMENT = 10, 35


class Fields(NamedTuple):
    """The fields of lines."""

    buffer: NDArray[np.uint8]  # what they are in
    begin: Ints  # where the first field of each line begins; shape (lines,)
    ends: Ints  # where each field ends; shape (lines, fields or more)
    starts: Ints | None = None  # where each begins; None if that is one byte behind the end of the field before
    has_more: Flags | None = None  # which lines have further fields; None if none has

    def __bool__(self) -> bool:
        return len(self.begin) > 0

    def column(self, number: int) -> Slices:
        """Return one column."""
        if self.starts is not None:
            start = self.starts[:, number]
        else:
            start = self.ends[:, number - 1] + 1 if number else self.begin
        return Slices(self.buffer, start, self.ends[:, number] - start)

    def until(self, line: int) -> Fields:
        """Return the first lines."""
        starts = None if self.starts is None else self.starts[:line]
        has_more = None if self.has_more is None else self.has_more[:line]
        return Fields(self.buffer, self.begin[:line], self.ends[:line], starts, has_more)


def find_fields(buffer: NDArray[np.uint8], end: int, count: int, *, more: bool) -> Fields:
    """
    Find the fields of the lines of a buffer from `PADDING` to *end*, *count* a line or, if wanted, *more*.

    Empty lines and lines that begin with ``#`` have none; a line with too few or too many is a `MalformedError`.
    """
    if has_control(buffer[PADDING:end]):
        raise MalformedError
    blank = buffer[:end] <= _BLANK
    ends = None if (blank[1:] & blank[:-1]).any() else _single_spaced(buffer[:end], blank, count)
    if ends is not None:
        begin = np.empty(len(ends), dtype=np.int64)
        begin[0] = PADDING
        np.add(ends[:-1, -1], 1, out=begin[1:])
        if not (buffer[begin] == _COMMENT).any():
            return Fields(buffer, begin, ends)
    return _general(buffer, end, ~blank[PADDING:], count, more=more)


def has_control(part: NDArray[np.uint8]) -> bool:
    """Return whether there is a byte below 32 that is no white space, which is what 9 to 13 are."""
    return len(part) > 0 and bool(part.min() < 9 or (part - np.uint8(14) < 18).any())  # what is below 14 wraps


def _single_spaced(part: NDArray[np.uint8], blank: Flags, count: int) -> Ints | None:
    """Return where fields end, if every line has the same number of them with one separator each; else None."""
    # "q1 0 d7 1\n" behind the padding, PADDING taken off: white space at 2, 4, 7 and 9 ends the four fields; each but
    # the first begins one byte later, so column 2 is 5 to 7, "d7". The last end must be a newline.
    lines = int(np.count_nonzero(part == _NEWLINE))
    ends = np.flatnonzero(blank)
    if not lines or len(ends) != lines * count or blank[PADDING]:
        return None
    table = ends.reshape(-1, count)
    return table if (part[table[:, -1]] == _NEWLINE).all() else None


def _general(buffer: NDArray[np.uint8], end: int, solid: Flags, count: int, *, more: bool) -> Fields:
    """Find fields by their edges, whatever is between them."""
    part = buffer[PADDING:end]
    inside = np.zeros(len(part) + 2, dtype=np.bool_)
    inside[1:-1] = solid
    edges = np.flatnonzero(inside[1:] != inside[:-1])
    field_starts, field_ends = edges[::2], edges[1::2]
    line_ends = np.flatnonzero(part == _NEWLINE)
    first = np.concatenate((np.zeros(1, dtype=np.int64), np.searchsorted(field_starts, line_ends)))
    several = np.diff(np.append(first, len(field_starts)))
    first, several = first[several > 0], several[several > 0]
    line_begins = np.concatenate((np.zeros(1, dtype=np.int64), line_ends + 1))
    begins = line_begins[np.searchsorted(line_begins, field_starts[first], side="right") - 1]
    is_data = (part[field_starts[first]] != _COMMENT) | (field_starts[first] != begins)
    first, several = first[is_data], several[is_data]
    if (several < count).any() or (not more and (several > count).any()):
        raise MalformedError
    chosen = first[:, None] + np.arange(count)
    starts = field_starts[chosen] + PADDING
    has_more = several > count
    return Fields(buffer, starts[:, 0], field_ends[chosen] + PADDING, starts, has_more if has_more.any() else None)
