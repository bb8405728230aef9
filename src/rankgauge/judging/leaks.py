"""
Leaks: what was retrieved of what is forbidden, and the words for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from rankgauge.errors import counted, listed

__all__ = ["Leak", "Leaks", "leaks_note", "untried_notes"]


class Leak(NamedTuple):
    """A retrieved item that must not be."""

    sample: str  # the id of the sample
    rank: int
    item: str  # its id, or what it says
    rule: str  # what forbids it

    def __str__(self) -> str:
        return f"{self.sample}: {self.item} at rank {self.rank} ({self.rule})"


class Leaks(NamedTuple):
    """What was retrieved in a batch that must not be, and what could not be looked for."""

    found: Sequence[tuple[int, Leak]] = ()  # each with the place of its sample
    untried: Sequence[str] = ()  # what no retrieved item of a sample has that a rule looks at


_LEAKS_SHOWN = 5


def leaks_note(leaks: Sequence[Leak]) -> str:
    """Say what was retrieved that must not be: how much, for how many samples, and the first ones."""
    samples = len({leak.sample for leak in leaks})
    what = f"{counted(len(leaks), 'forbidden item')} retrieved for {counted(samples, 'sample')}"
    return f"{what}: {listed([str(leak) for leak in leaks], _LEAKS_SHOWN)}"


def untried_notes(untried: Iterable[str]) -> Iterator[str]:
    """Yield what no retrieved item of some samples has, by which something is forbidden for them."""
    for what, count in Counter(untried).most_common(_LEAKS_SHOWN):
        of = f"nothing that was retrieved for {counted(count, 'sample')} has {what}"
        yield f"{of}, by which something is forbidden there: leaks by it cannot be seen"
