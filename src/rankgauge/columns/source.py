"""
`RunSource`: what a run has to offer to be judged, whatever it is read from.
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
        """Return what a header in the run says of it, as JSON values; empty where there is none."""
        ...

    @property
    def notes(self) -> Sequence[str]:
        """Return what a user should know of how it was read."""
        ...

    def parts(self, count: int) -> list[Iterator[RankingBatch]]:
        """Return iterators that together yield every row once, to be used by a thread each."""
        ...

    def grouped(self) -> Iterator[RankingBatch]:
        """Yield every query once, its rows in the order given, also where they stand apart."""
        ...
