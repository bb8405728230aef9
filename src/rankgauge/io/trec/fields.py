"""
Fields: where the columns of white-space-separated lines begin and end.

White space is every byte up to 32, as blanks, tabs and line ends are. Lines with single separators, which is how nearly
every file is written, are found by counting; all others by the edges of what is not white space.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankgauge.columns import PADDING, Flags, Ints, Slices
from rankgauge.io.problems import MalformedError

__all__ = ["Fields", "find_fields"]

_BLANK = 32
_NEWLINE, _COMMENT = 10, 35


class Fields(NamedTuple):
    """
    The fields of lines.

    Attributes:
        buffer: What they stand in.

        begin: Where the first field of each line begins; shape (lines,).

        ends: Where each field ends; shape (lines, fields or more).

        starts: Where each field begins; None where that is one byte behind the end of the field before.
    """

    buffer: NDArray[np.uint8]
    begin: Ints
    ends: Ints
    starts: Ints | None = None

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
        return Fields(self.buffer, self.begin[:line], self.ends[:line], starts)


def find_fields(buffer: NDArray[np.uint8], end: int, count: int, *, more: bool) -> Fields:
    """
    Find the fields of the lines of a buffer from `PADDING` to *end*, *count* a line or, if wanted, *more*.

    Empty lines and lines that begin with ``#`` have none; a line with too few or too many is a `MalformedError`.
    """
    blank = buffer[:end] <= _BLANK
    ends = None if (blank[1:] & blank[:-1]).any() else _single_spaced(buffer[:end], blank, count)
    if ends is None:
        return _general(buffer, end, ~blank[PADDING:], count, more=more)
    begin = np.empty(len(ends), dtype=np.int64)
    begin[0] = PADDING
    np.add(ends[:-1, -1], 1, out=begin[1:])
    if (buffer[begin] == _COMMENT).any():
        return _general(buffer, end, ~blank[PADDING:], count, more=more)
    return Fields(buffer, begin, ends)


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


def _general(buffer: NDArray[np.uint8], place: int, solid: Flags, count: int, *, more: bool) -> Fields:
    """Find fields by their edges, whatever stands between them."""
    part = buffer[PADDING:place]
    inside = np.zeros(len(part) + 2, dtype=np.bool_)
    inside[1:-1] = solid
    edges = np.flatnonzero(inside[1:] != inside[:-1])
    start, end = edges[::2], edges[1::2]
    line_ends = np.flatnonzero(part == _NEWLINE)
    first = np.concatenate((np.zeros(1, dtype=np.int64), np.searchsorted(start, line_ends)))
    several = np.diff(np.append(first, len(start)))
    first = first[several > 0]
    several = several[several > 0]
    line_begins = np.concatenate((np.zeros(1, dtype=np.int64), line_ends + 1))
    own_line = line_begins[np.searchsorted(line_begins, start[first], side="right") - 1]
    is_comment = (part[start[first]] == _COMMENT) & (start[first] == own_line)
    first, several = first[~is_comment], several[~is_comment]
    if (several < count).any() or (not more and (several > count).any()):
        raise MalformedError
    chosen = first[:, None] + np.arange(count)
    starts = start[chosen] + PADDING
    return Fields(buffer, starts[:, 0], end[chosen] + PADDING, starts)
