"""
`RankingBatch` and `RunSource`: the rankings of some queries as columns, however they were read.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from rankgauge.base.frozen import read_only
from rankgauge.columns.judged_rows import Flags, Floats, Ints
from rankgauge.columns.slices import Slices, Words
from rankgauge.errors import Problem

__all__ = ["ChangedRun", "RankingBatch", "RunSource", "number_problem"]


@dataclass(frozen=True, slots=True)
class RankingBatch:
    """
    The rankings of some queries, each whole and in the order given. Its columns are read-only.

    Attributes:
        names: The id of each query.

        lengths: How many rows each query has; shape (queries,).

        documents: The document id of each row.

        keys: A hash of each document id; shape (rows,).

        scores: Finite; shape (rows,).

        stated: The rank that the source states for each row, NaN if that is no number; None if it states none or
            not asked for. Rankings never depend on it.
    """

    names: Slices
    lengths: Ints
    documents: Slices
    keys: Words
    scores: Floats
    stated: Floats | None = None

    def __post_init__(self) -> None:
        for column in (self.lengths, self.keys, self.scores, self.stated, *self.names, *self.documents):
            if column is not None:
                read_only(column)

    def __reduce__(self) -> tuple[type[RankingBatch], tuple[Any, ...]]:
        return RankingBatch, tuple(getattr(self, each.name) for each in dataclasses.fields(self))

    @property
    def queries(self) -> list[bytes]:
        """Return the id of each query, as an object of its own."""
        return self.names.texts()

    @property
    def starts(self) -> Ints:
        """Return the first row of each query."""
        return np.cumsum(self.lengths) - self.lengths

    def owners(self) -> Ints:
        """Return the query of each row."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)

    def of_queries(self, wanted: Flags) -> RankingBatch:
        """Return the same for some of the queries."""
        rows = np.repeat(wanted, self.lengths)
        return self._with_rows(rows, self.names.at(wanted), self.lengths[wanted])

    def without_rows(self, dropped: NDArray[np.bool_]) -> RankingBatch:
        """Return the same without some of the rows."""
        kept = ~dropped
        lengths = np.bincount(self.owners()[kept], minlength=len(self.lengths))
        return self._with_rows(kept, self.names, lengths)

    def _with_rows(self, rows: Flags, names: Slices, lengths: Ints) -> RankingBatch:
        return dataclasses.replace(
            self,
            names=names,
            lengths=lengths,
            documents=self.documents.at(rows),
            keys=self.keys[rows],
            scores=self.scores[rows],
            stated=None if self.stated is None else self.stated[rows],
        )


@runtime_checkable
class RunSource(Protocol):
    """A run that can be read as often as needed."""

    @property
    def name(self) -> str:
        """Return what messages call it."""
        ...

    @property
    def tag(self) -> str:
        """Return the run's own tag; empty before it was read, and where there is none."""
        ...

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


class ChangedRun:
    """A run with something else in place of each of its batches, of the same queries."""

    def __init__(self, source: RunSource, change: Callable[[RankingBatch], RankingBatch]) -> None:
        self._source = source
        self._change = change

    @property
    def name(self) -> str:
        """Return what messages call it."""
        return self._source.name

    @property
    def tag(self) -> str:
        """Return the run's own tag."""
        return self._source.tag

    @property
    def metadata(self) -> Mapping[str, Any]:
        """Return the metadata of the run."""
        return self._source.metadata

    @property
    def notes(self) -> Sequence[str]:
        """Return what a user should know about how it was read."""
        return self._source.notes

    def parts(self, count: int) -> list[Iterator[RankingBatch]]:
        """Return the parts of the run."""
        return [map(self._change, part) for part in self._source.parts(count)]

    def grouped(self) -> Iterator[RankingBatch]:
        """Yield every query once."""
        return map(self._change, self._source.grouped())


def number_problem(query: object, document: object, value: object, number: str) -> Problem | None:
    """Return what is wrong with a score or grade; None for anything that converts to a finite float."""
    place = f"query {query!r}: the {number} of {document!r} is"
    try:
        if not isinstance(value, str | bytes) and math.isfinite(value):  # type: ignore[arg-type]  # asks just that
            return None
    except TypeError:
        pass
    except OverflowError:
        return Problem(f"{place} an integer that is too large for a float")
    return Problem(f"{place} {value!r}, not a finite number")
