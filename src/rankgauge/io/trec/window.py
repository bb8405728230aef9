"""
Windows: a buffer that slides over a stream of bytes, and always ends with a whole line.
"""

from __future__ import annotations

from typing import IO

import numpy as np

from rankgauge.columns import PADDING
from rankgauge.columns.memory import keep_pages

__all__ = ["Window"]

_NEWLINE = b"\n"
_SOLID = b"\xff" * PADDING
"""What stands before the lines; anything but white space."""


class Window:
    r"""
    A part of a stream in memory; its lines begin at place `PADDING`.

    With 11 bytes of room and the stream ``q1 a\nq1 b\nq2 c\n``, `fill` reads ``q1 a\nq1 b\nq`` and sets `end` to
    PADDING + 10, behind the second line. ``drop(PADDING + 10)`` moves the ``q`` to PADDING, and the next `fill` reads
    ``2 c\n`` behind it.

    Attributes:
        buffer: The bytes, with `PADDING` bytes before and behind the lines; those before are not blank.

        end: Where the last whole line ends.

        is_last: Whether nothing follows.
    """

    def __init__(self, stream: IO[bytes], *, limit: int | None, size: int) -> None:
        """Open a window of *size* bytes, or more where a query needs it, over *limit* bytes of a stream or all."""
        keep_pages()
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
        elif self._held and self._bytes[self.end - 1] != _NEWLINE[0]:
            self._bytes[self.end] = _NEWLINE[0]
            self.end += 1
            self._held += 1

    def line_begin(self, place: int) -> int:
        """Return where the line begins that *place* stands in."""
        return max(self._bytes.rfind(_NEWLINE, PADDING, place) + 1, PADDING)

    def line_end(self, place: int) -> int:
        """Return where the line ends that *place* stands in or behind; a place within the last line gives its end."""
        found = self._bytes.find(_NEWLINE, place - 1, self.end)
        return self.end if found < 0 else found + 1

    def drop(self, place: int) -> None:
        """Forget everything before a place of the buffer; make room where that is nothing."""
        kept = self._bytes[place : PADDING + self._held]
        if place == PADDING:
            self._reserve(2 * self._size)
        self._held = len(kept)
        self._bytes[PADDING : PADDING + self._held] = kept

    def _reserve(self, size: int) -> None:
        self._size = size
        self._bytes = bytearray(size + 2 * PADDING + 1)
        self._bytes[:PADDING] = _SOLID
        self.buffer = np.frombuffer(self._bytes, dtype=np.uint8)
