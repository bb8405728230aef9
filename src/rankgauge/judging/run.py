"""
Judged runs: collecting what the parts of a run came to, and making one `Judged` of all of it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from rankgauge.columns import Flags, Ints, Judged, Qrels, Rows, Slices
from rankgauge.columns.rows import distinct, first_of_each, nth_of_each
from rankgauge.errors import DataError, NothingToEvaluateError, Problem
from rankgauge.judging.relevance import relevance_of
from rankgauge.policy import Profile

__all__ = ["JudgedPart", "JudgedRun", "RunCollector", "ScatteredError", "shown"]


class ScatteredError(Exception):
    """A query that was judged already has come again: the run's queries do not stand together."""


@dataclass(frozen=True, slots=True)
class JudgedPart:
    """
    What some queries of a run came to.

    Attributes:
        places: The queries, as places in the judgments; shape (queries,).

        depth: How many documents each retrieved, after policy.

        found: The judged rows, in any order; `sample` and `gold` are places in the judgments.

        low: The first rank that each judged row could take among equal scores; shape (rows,).

        high: The last such rank.

        tied: The queries in which the order of equal scores may change a score.

        n_repeats: How many repeated rows were dropped.
    """

    places: Ints
    depth: Ints
    found: Rows
    low: Ints
    high: Ints
    tied: Ints
    n_repeats: int = 0


@dataclass(frozen=True, slots=True)
class JudgedRun:
    """
    A run, judged.

    Attributes:
        judged: The columns that metrics read, over *places*.

        places: Which queries of the judgments are evaluated; shape (n,).

        missing: Which of these the run lacks; shape (n,).

        n_unjudged: How many queries of the run are not judged, and so left out.

        n_tied: Of how many queries the order of equal scores may change a score.

        n_repeats: How many repeated rows were dropped.
    """

    judged: Judged
    places: Ints
    missing: Flags
    n_unjudged: int
    n_tied: int
    n_repeats: int


class RunCollector:
    """Collects the parts of one run, which may come from several threads, in any order."""

    def __init__(self, qrels: Qrels, profile: Profile) -> None:
        """
        Begin a run.

        Args:
            qrels: The judgments.

            profile: The policy, and what counts as relevant.
        """
        self.qrels = qrels
        self.profile = profile
        self._lock = threading.Lock()
        self._seen = np.zeros(len(qrels.ids), dtype=np.bool_)
        self._parts: list[JudgedPart] = []
        self._problems: list[Problem] = []
        self._n_unjudged = 0
        self._looks = b""

    def enter(self, names: Slices) -> Ints:
        """
        Note which queries have come.

        Args:
            names: Their ids.

        Returns:
            The place of each among the judged ones; -1 for one that is not judged.

        Raises:
            ScatteredError: One of them came before.
        """
        places = self.qrels.places_of(names)
        judged = places[places >= 0]
        with self._lock:
            self._looks = self._looks or b"".join(names.at(slice(0, 1)).texts())
            self._n_unjudged += len(places) - len(judged)
            if self._seen[judged].any() or len(distinct(judged)) < len(judged):
                raise ScatteredError
            self._seen[judged] = True
        return places

    def enter_places(self, places: Ints, *, n_unjudged: int, looks: bytes) -> None:
        """
        Note which queries there are, where that is known at once.

        Args:
            places: The distinct queries, as places in the judgments.

            n_unjudged: How many further ones are not judged.

            looks: A query of the run, for messages.
        """
        self._seen[places] = True
        self._n_unjudged, self._looks = n_unjudged, looks

    def add(self, part: JudgedPart) -> None:
        """Take what some queries came to; each has entered before."""
        with self._lock:
            self._parts.append(part)

    def refuse(self, problems: Iterable[Problem]) -> None:
        """Take what the policy does not allow; `finish` will raise it, all at once."""
        with self._lock:
            self._problems += problems

    def finish(self, run: str) -> JudgedRun:
        """
        Put the parts together.

        Args:
            run: What the run is called, for messages.

        Returns:
            The run, the same to the last bit whatever its parts were.

        Raises:
            NothingToEvaluateError: No query of the run is judged.

            DataError: The policy refuses something that the run holds.
        """
        if self._problems:
            msg = f"{run} is refused by the policy:"
            raise DataError(msg, sorted(self._problems, key=str))
        if not self._seen.any():
            msg = f"nothing of {run} can be evaluated:"
            raise NothingToEvaluateError(msg, [self._no_overlap()])
        every = self.profile.policy.queries == "judged"
        places = np.arange(len(self._seen)) if every else np.flatnonzero(self._seen)
        tied = np.concatenate([part.tied for part in self._parts]) if self._parts else places[:0]
        return JudgedRun(
            judged=self._judged(places),
            places=places,
            missing=~self._seen[places],
            n_unjudged=self._n_unjudged,
            n_tied=len(distinct(tied)),
            n_repeats=sum(part.n_repeats for part in self._parts),
        )

    def _judged(self, places: Ints) -> Judged:
        qrels, policy = self.qrels, self.profile.policy
        number = np.full(len(qrels.ids), -1, dtype=np.int64)
        number[places] = np.arange(len(places))
        depth = np.zeros(len(places), dtype=np.int64)
        for part in self._parts:
            depth[number[part.places]] = part.depth
        found = Rows(*(np.concatenate(columns) for columns in zip(*(part.found for part in self._parts), strict=True)))
        order = np.lexsort((found.rank, found.sample))
        found = found.where(order)
        kept = number[qrels.owners] >= 0
        rows = found._replace(sample=number[found.sample], gold=(np.cumsum(kept) - 1)[found.gold])
        first = np.zeros(len(order), dtype=np.bool_)
        by_gold = np.argsort(rows.gold, kind="stable")  # rows stand in order of rank, and so each one's do
        first[by_gold] = first_of_each(rows.gold[by_gold])
        gold_sample = number[qrels.owners[kept]]
        n_gold = len(gold_sample)
        averaged = policy.ties == "average"
        return Judged(
            n=len(places),
            depth=depth,
            rows=rows,
            first=first,
            earns=first.copy() if policy.duplicates == "credit-once" else np.ones(len(order), dtype=np.bool_),
            score=np.ones(len(order)),
            gold=Rows(gold_sample, nth_of_each(gold_sample), qrels.grades[kept], np.arange(n_gold)),
            times=np.ones(n_gold, dtype=np.int64),
            graded=np.ones(len(places), dtype=np.bool_),
            relevance=relevance_of(self.profile),
            counts_repeats=policy.duplicates == "keep",
            low=np.concatenate([part.low for part in self._parts])[order] if averaged else None,
            high=np.concatenate([part.high for part in self._parts])[order] if averaged else None,
        )

    def _no_overlap(self) -> Problem:
        judged = len(self.qrels.ids)
        own, its = shown(self._looks), shown(self.qrels.queries[0])
        looks = f"the run's look like `{own}`, the judgments' like `{its}`" if own else "the run has no query"
        return Problem(f"0 of {judged:,} query ids overlap; {looks}")


def shown(name: bytes) -> str:
    """Return an id as messages show it, whatever its bytes are."""
    return name.decode("utf-8", "backslashreplace")
