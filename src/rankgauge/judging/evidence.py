"""
Evidence: a batch that was judged, with what was seen on the way, and what judges are.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from rankgauge.columns import Judged
from rankgauge.judging.keeping import NOTHING_KEPT, Kept
from rankgauge.judging.leaks import Leaks
from rankgauge.judging.outputs import Ranking
from rankgauge.judging.ranking import JudgedBlock, earns
from rankgauge.judging.text_doubts import Doubts
from rankgauge.samples import PlacedBlock, Sample

__all__ = ["Evidence", "IdsMet", "Judge", "PlainEvidence", "TakesBlocks", "TakesPlaced"]


class IdsMet(NamedTuple):
    """Whether ids of both sides are of the same kind, where ids are compared."""

    met: bool = False  # whether a retrieved id is a gold id
    looks: tuple[str, str] | None = None  # one retrieved id and one gold id, of a sample that has both; for messages
    parts: tuple[tuple[bool, ...], ...] = ()  # what `met_as_parts` says of the first such samples, if no id is met


_NO_IDS, _NO_LEAKS = IdsMet(), Leaks()


@dataclass(frozen=True)
class Evidence:
    """A judged batch, of samples or of a run's queries."""

    judged: Judged  # the columns that metrics read
    # why a sample could not be judged, by its place in the batch
    faults: Mapping[int, str] = field(default_factory=dict)
    # the first rank whose item has nothing to compare: no id, no text or no place, whichever is judged
    blanks: Mapping[int, int] = field(default_factory=dict)

    # what was seen on the way, beside rows
    kept: Kept = NOTHING_KEPT
    ids: IdsMet = _NO_IDS
    doubts: Doubts | None = None  # what makes the matcher doubtful, of samples that were judged by text
    leaks: Leaks = _NO_LEAKS
    without_places: Evidence | None = None  # what holds if no place of results is taken; None if that is the same

    # what the policy did
    n_tied: int = 0  # of how many queries of a run the order of equal scores may change a score
    n_dropped: int = 0  # how many duplicates were dropped

    @cached_property
    def without_gold(self) -> Sequence[int]:
        """Return the samples that do not have this kind of ground truth at all."""
        judged = self.judged
        places: list[int] = np.flatnonzero(np.bincount(judged.gold.sample, minlength=judged.n) == 0).tolist()
        return places

    def trusting(self) -> Evidence:
        """Return what holds for all the samples there are: without places, if these cannot be trusted."""
        is_distrusted = self.doubts is not None and bool(self.doubts.places.distrust)
        return self.without_places if is_distrusted and self.without_places is not None else self

    @property
    def has_gold(self) -> bool:
        """Return whether any sample has this kind of ground truth."""
        return len(self.without_gold) < self.judged.n

    def lacks_gold(self, left_out: Collection[int]) -> bool:
        """Return whether something that earns was not found for a sample, but for those at the places *left_out*."""
        judged = self.judged
        gold, found = judged.gold, judged.rows.where(judged.first)
        if left_out:
            counts = np.ones(judged.n, dtype=np.bool_)
            counts[list(left_out)] = False
            gold, found = gold.where(counts[gold.sample]), found.where(counts[found.sample])
        n_earning, n_found = (np.count_nonzero(earns(rows.grade, judged.relevance)) for rows in (gold, found))
        return bool(n_earning > n_found)


class PlainEvidence(NamedTuple):
    """One judged sample in plain numbers, all of whose rows may earn."""

    gold: Sequence[float]  # the grade of each gold item
    rows: Sequence[tuple[int, float]]  # the rank and the grade of each judged row, in order of rank
    is_first: Sequence[bool]  # which rows are the first of their gold item
    ranking: Ranking | None  # what the sample retrieved, after policy, if that was to be kept


class Judge(Protocol):
    """Judges one batch: samples are added any number of times, then there is the evidence."""

    def add(self, samples: Sequence[Sample]) -> None:
        """Judge some more samples, in order of the batch."""

    def evidence(self) -> Evidence:
        """Return the judged batch."""
        ...


@runtime_checkable
class TakesPlaced(Judge, Protocol):
    """A judge that takes places many at once, too."""

    def add_placed(self, block: PlacedBlock) -> None:
        """Judge some more samples, as `add` does."""


class TakesBlocks(Judge, Protocol):
    """A judge of what metrics that look at ids may fall back to, which takes plain samples many at once, too."""

    def add_block(self, judged: JudgedBlock) -> None:
        """Judge some more plain samples."""
