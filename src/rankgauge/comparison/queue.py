"""
Queues: which unjudged documents to judge next, by how much they can change a comparison.

For one run against another, a document matters by how differently it would change the two scores (Moffat, Webber &
Zobel, Strategic system comparisons via targeted relevance judgments, SIGIR 2007). Of ties, the document with the
highest rank comes first, then queries and documents in order of their ids.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from rankgauge.columns import Floats

__all__ = ["Pooled", "Queue", "Shortlist", "priorities"]

_DIGITS = 12
"""To how many decimals priorities are compared, so that rounding errors order nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pooled:
    """
    A document that a run has near the top of a query.

    Attributes:
        query: The query's id.

        document: The document's id.

        ranks: Its rank in each run, 0 where the run does not have it near the top.

        priority: How much judging it can change the comparison; 0 for one that is judged.

        grade: Its grade; None for one that nobody judged.
    """

    query: bytes
    document: bytes
    ranks: tuple[int, ...]
    priority: float = 0.0
    grade: float | None = None

    @property
    def order(self) -> tuple[float, int, bytes, bytes]:
        """Return what puts the more urgent document first."""
        return -round(self.priority, _DIGITS), min(filter(None, self.ranks)), self.query, self.document


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """
    What to judge next.

    Attributes:
        items: The documents in the order in which to judge them, some of them judged before.

        runs: The names of the runs that ranks are of.

        metric: The column that priorities are of.

        depth: How many results of each query were looked at.

        seed: What chose the documents that were judged before.

        fingerprint: The judgments that the queue was made for.

        grades: The grades that a judge may give.

        n_unjudged: How many unjudged documents were looked at.

        n_idle: How many of them cannot change the comparison.

        n_unknown: For each run, how many of its queries nobody judged any document of.
    """

    items: Sequence[Pooled]
    runs: tuple[str, ...]
    metric: str
    depth: int
    seed: int
    fingerprint: str
    grades: tuple[float, ...]
    n_unjudged: int
    n_idle: int
    n_unknown: tuple[int, ...]

    @property
    def n_new(self) -> int:
        """Return how many items nobody has judged."""
        return sum(item.grade is None for item in self.items)


def priorities(changes: Sequence[Floats]) -> Floats:
    """
    Return how much each document can change a comparison, from how much it would change each run's score.

    Of two runs, the difference of the changes; of any other number, the sum of their sizes.
    """
    if len(changes) == 2:
        return np.abs(changes[0] - changes[1])
    total: Floats = np.sum(np.abs(changes), axis=0)
    return total


class Shortlist:
    """Takes pooled documents in any number of steps, and keeps no more than a queue of some length can hold."""

    def __init__(self, limit: int, seed: int) -> None:
        self._limit = limit
        self._seed = seed
        self._new: list[Pooled] = []
        self._known: list[tuple[bytes, Pooled]] = []
        self.n_unjudged = self.n_idle = 0

    def add(self, pooled: Iterable[Pooled]) -> None:
        """Take some more documents."""
        for each in pooled:
            if each.grade is not None:
                self._known.append((self._draw(each), each))
            elif round(each.priority, _DIGITS) > 0:
                self._new.append(each)
            else:
                self.n_idle += 1
            self.n_unjudged += each.grade is None
        self._new = sorted(self._new, key=lambda each: each.order)[: self._limit]
        self._known = sorted(self._known, key=lambda drawn: drawn[0])[: self._limit]

    def items(self) -> list[Pooled]:
        """
        Return the queue: the most urgent documents first, and about one in ten judged before.

        The judged ones are drawn by a hash of the seed, so that the choice is the same on every machine, and stand at
        a place drawn the same way in each ten, so that any beginning of the queue has its share of them.
        """
        tenth = round(self._limit / 10)
        new = self._new[: self._limit - tenth]
        known = self._known[: tenth if len(new) + tenth == self._limit else round(len(new) / 9)]
        found: list[Pooled] = []
        for place, (draw, judged) in enumerate(known):
            ten = new[9 * place : 9 * place + 9]
            at = draw[-1] % (len(ten) + 1)
            found += [*ten[:at], judged, *ten[at:]]
        return [*found, *new[9 * len(known) :]]

    def _draw(self, each: Pooled) -> bytes:
        return hashlib.sha256(b"\0".join((str(self._seed).encode(), each.query, each.document))).digest()
