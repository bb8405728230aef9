"""
Windows: a buffer that slides over a stream of bytes, and always ends with a whole line.
"""

from __future__ import annotations

from typing import IO

import numpy as np

from rankgauge.columns import PADDING

__all__ = ["Window"]

_NEWLINE = b"\n"
_SOLID = 255
"""What stands before the lines; anything but white space."""


class Window:
    """
    A part of a stream in memory.

    Attributes:
        buffer: The bytes, with `PADDING` bytes before and behind what counts; those before are not blank.

        begin: Where what counts begins.

        end: Where its last whole line ends.

        is_last: Whether nothing follows.
    """

    def __init__(self, stream: IO[bytes], *, limit: int | None, size: int) -> None:
        """Open a window."""
        self._stream = stream
        self._left = limit
        self._held = 0
        self._reserve(size)
        self.begin = PADDING
        self.end = PADDING
        self.is_last = False

    def fill(self) -> None:
        """Read until the window is full or the stream ends, and see where its last line does."""
        view = self.buffer.data
        while self._held < self._size and not self.is_last:
            wanted = self._size - self._held
            if self._left is not None:
                wanted = min(wanted, self._left)
            got = self._read(view[PADDING + self._held : PADDING + self._held + wanted]) if wanted else 0
            if not got:
                self.is_last = True
            self._held += got
            if self._left is not None:
                self._left -= got
        self.end = PADDING + self._held
        if self.is_last:
            if self._held and self.buffer[self.end - 1] != _NEWLINE[0]:
                self.buffer[self.end] = _NEWLINE[0]
                self.end += 1
                self._held += 1
            return
        self.end = self._last_line_end()

    def drop(self, place: int) -> None:
        """Forget everything before a place of the buffer; make room where that is nothing."""
        rest = PADDING + self._held - place
        if place == self.begin:
            old = self.buffer
            self._reserve(2 * self._size)
            self.buffer[PADDING : PADDING + rest] = old[place : place + rest]
        else:
            self.buffer[PADDING : PADDING + rest] = self.buffer[place : place + rest].copy()
        self._held = rest

    def _reserve(self, size: int) -> None:
        self._size = size
        self.buffer = np.zeros(size + 2 * PADDING + 1, dtype=np.uint8)
        self.buffer[:PADDING] = _SOLID

    def _read(self, target: memoryview) -> int:
        readinto = getattr(self._stream, "readinto", None)
        if readinto is not None:
            return int(readinto(target) or 0)
        data = self._stream.read(len(target))
        target[: len(data)] = data
        return len(data)

    def _last_line_end(self) -> int:
        """Return the place behind the last newline; the beginning where there is none."""
        size = 1 << 12
        while True:
            from_here = max(PADDING, self.end - size)
            found = bytes(self.buffer[from_here : self.end]).rfind(_NEWLINE)
            if found >= 0:
                return from_here + found + 1
            if from_here == PADDING:
                return PADDING
            size *= 8
