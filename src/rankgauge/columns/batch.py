"""
`RankingBatch`: the rankings of some queries as columns, however they were read.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankgauge.columns.rows import Flags, Floats, Ints
from rankgauge.columns.slices import Slices, Words

__all__ = ["RankingBatch"]


@dataclass(frozen=True, slots=True)
class RankingBatch:
    """
    The rankings of some queries, each whole and in the order given.

    Attributes:
        names: The id of each query.

        lengths: How many rows each query has; shape (queries,).

        documents: The document id of each row.

        keys: A hash of each document id; shape (rows,).

        scores: Finite; shape (rows,).

        stated: The rank that the source states for each row, NaN where that is no number; None where it states none or
            nobody asked. Rankings never depend on it.
    """

    names: Slices
    lengths: Ints
    documents: Slices
    keys: Words
    scores: Floats
    stated: Floats | None = None

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
