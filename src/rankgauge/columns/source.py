"""
`RunSource`: what judging needs from a run, however it was read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from rankgauge.columns.batch import RankingBatch

__all__ = ["RunSource"]


@runtime_checkable
class RunSource(Protocol):
    """
    A run that can be read as often as needed.

    Attributes:
        name: What messages call it.

        tag: The run's own tag; empty before it was read, and where there is none.
    """

    name: str
    tag: str

    @property
    def metadata(self) -> Mapping[str, Any]:
        """Return the metadata in the header of the run, as JSON values; empty if there is none."""
        ...

    @property
    def notes(self) -> Sequence[str]:
        """Return what a user should know about how it was read."""
        ...

    def parts(self, count: int) -> list[Iterator[RankingBatch]]:
        """
        Return at most *count* iterators, one for each thread, that together yield every row once.

        A query whose rows are together comes whole; one whose rows are scattered comes several times.
        """
        ...

    def grouped(self) -> Iterator[RankingBatch]:
        """Yield every query once, its rows in the order given, even if they are scattered."""
        ...
