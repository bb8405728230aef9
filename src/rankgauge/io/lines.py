"""
Lines of a file, some of which may be read elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, Protocol

from rankgauge.io.files import OpenFile

__all__ = ["Lines", "Placed", "portions"]

_PORTION = 1 << 20
"""How many bytes of lines make a portion, or one line."""


class Lines(NamedTuple):
    """
    Some lines of a file.

    Attributes:
        lines: What they hold.

        first: The number of the first.

        offset: The bytes of the file before it.
    """

    lines: Iterable[bytes]
    first: int
    offset: int

    @property
    def name(self) -> str:
        """Return what messages call them."""
        last = self.first + len(list(self.lines)) - 1
        return f"line {last:,}" if last == self.first else f"lines {self.first:,} to {last:,}"


class Placed(Protocol):
    """What was made of some lines elsewhere."""

    @property
    def places(self) -> Mapping[str, int | str]:
        """Return the id of each sample in them, with its line."""


def portions(source: OpenFile) -> Iterator[Lines]:
    """Yield all lines of an open file, about a megabyte at a time."""
    first, offset = 1, source.offset
    while lines := source.stream.readlines(_PORTION):
        yield Lines(lines, first, offset)
        first += len(lines)
        offset += sum(map(len, lines))
