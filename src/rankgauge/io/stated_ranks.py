"""
Ranks that a run states: they order it if it has no scores, and are held to its scores if it has both.
"""

from __future__ import annotations

import numpy as np

from rankgauge.columns import Floats, RankingBatch
from rankgauge.errors import counted

__all__ = ["StatedRanks", "are_ranks", "scores_of_ranks"]


def are_ranks(numbers: Floats) -> bool:
    """Return whether numbers can be ranks: whole, and not negative."""
    return bool((np.isfinite(numbers) & (numbers >= 0) & (np.floor(numbers) == numbers)).all())


def scores_of_ranks(ranks: Floats) -> Floats:
    """Return scores by which the lowest rank comes first."""
    scores: Floats = 0.0 - ranks  # never -0.0
    return scores


class StatedRanks:
    """Notices queries whose scores rise somewhere in the order of the ranks that are beside them."""

    def __init__(self, name: str) -> None:
        """Take what messages call the run."""
        self._name = name
        self._queries: set[bytes] = set()  # a run may be read more than once

    def look(self, batch: RankingBatch) -> None:
        """Look at some rankings; a rank that is no number agrees with everything."""
        if batch.stated is None or len(batch.scores) < 2:
            return
        owners, ranks, scores = batch.owners(), batch.stated, batch.scores
        inside = owners[1:] == owners[:-1]
        if (inside & ~(ranks[1:] >= ranks[:-1])).any():
            order = np.lexsort((-scores, ranks, owners))
            ranks, scores = ranks[order], scores[order]
        rises = np.flatnonzero(inside & (ranks[1:] > ranks[:-1]) & (scores[1:] > scores[:-1]))
        if len(rises):
            names = batch.names.at(np.unique(owners[rises])).texts()
            self._queries.update(names)

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what was noticed so far."""
        if not self._queries:
            return ()
        first = min(self._queries).decode("utf-8", "replace")
        also = (
            f" and {counted(len(self._queries) - 1, 'other query', 'other queries')}" if len(self._queries) > 1 else ""
        )
        has = f"{self._name or 'the run'} has ranks beside its scores that contradict them"
        return (f"{has}, for query {first!r}{also}; the scores order it, the highest first",)
