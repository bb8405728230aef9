"""
Whole rankings: every row of a run in order of rank, for what compares runs with each other.

Judging against ground truth ranks only the rows that are judged; here all of them are, by the same policy.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from rankgauge.columns import Ints, RankingBatch, Words
from rankgauge.columns.slices import mixed
from rankgauge.errors import DataError, PolicyError, Problem
from rankgauge.judging.ranking import settle, shown
from rankgauge.judging.ranks import Ranks, RepeatFinder, ranks_of
from rankgauge.judging.run import ScatteredError
from rankgauge.policy import Policy

__all__ = ["WholeRankings", "WholeReader", "check_whole"]

_MOST_PROBLEMS = 1000


class WholeRankings(NamedTuple):
    """The rankings of some queries, each whole and in order of rank."""

    names: list[bytes]  # the id of each query
    lengths: Ints  # how many documents each query has; shape (queries,)
    # a hash of the document and the query of each row: two rows of two runs with the same hash are taken for the
    # same document of the same query
    pairs: Words
    low: Ints  # the first rank of the row's tie: rows of one query with equal scores have the same


def check_whole(policy: Policy) -> None:
    """Refuse a policy under which a ranking is not one order of distinct documents, or depends on judgments."""
    if policy.settles_ties_late:
        lacks = f"which policy ties={policy.ties} has not; choose ties=docno or given"
        raise PolicyError(f"rankings are compared in one order each, {lacks}")
    if policy.duplicates in {"keep", "credit-once"}:
        msg = (
            f"rankings are compared document by document, and policy duplicates={policy.duplicates} lets one be at "
            "several ranks; choose duplicates=first, last, best or error"
        )
        raise PolicyError(msg)
    if policy.judged_only:
        msg = "rankings are compared without judgments, so policy judged_only=true has no effect; leave it out"
        raise PolicyError(msg)


class WholeReader:
    """Ranks the batches of one run, from several threads, and hands them on."""

    def __init__(self, policy: Policy, wanted: Callable[[bytes], bool], take: Callable[[WholeRankings], None]) -> None:
        """Take a policy that `check_whole` has passed, which queries are *wanted*, and who takes their rankings."""
        self._policy = policy
        self._wanted = wanted
        self._take = take
        self._seen: set[bytes] = set()
        self._problems: list[Problem] = []
        self._lock = threading.Lock()

    def begin(self, _: int) -> Callable[[RankingBatch], None]:
        """Return what takes the batches of one thread; it raises `ScatteredError` if a query comes a second time."""
        finder = RepeatFinder()
        return lambda batch: self._add(batch, finder)

    def finish(self, run: str) -> set[bytes]:
        """Return the queries of the run, the unwanted included; raise `DataError` for what the policy refuses."""
        if self._problems:
            raise DataError(f"the policy refuses {run}:", sorted(self._problems, key=str)[:_MOST_PROBLEMS])
        return self._seen

    def _add(self, batch: RankingBatch, finder: RepeatFinder) -> None:
        names = batch.queries
        with self._lock:
            seen = len(self._seen)
            self._seen.update(names)
            if len(self._seen) < seen + len(names):
                raise ScatteredError
        wanted = np.fromiter(map(self._wanted, names), np.bool_, len(names)) & (batch.lengths > 0)
        if not wanted.all():
            batch = batch.of_queries(wanted)
        if not len(batch.lengths):
            return
        owners = batch.owners()
        settled = settle(batch, mixed(batch.keys, batch.names.keys()[owners]), self._policy, finder.find)
        if settled.refused is not None:
            self._refuse([(shown(names[query]), why) for query, why in settled.refused])
        self._take(self._ranked(settled.batch, settled.pairs))

    def _ranked(self, batch: RankingBatch, pairs: Words) -> WholeRankings:
        owners = batch.owners()
        ranks = ranks_of(batch, np.arange(len(pairs)), by_id=self._policy.ties != "given")
        if self._policy.ties == "error":
            self._refuse_ties(batch.queries, owners, ranks)
        order = np.empty(len(pairs), dtype=np.int64)
        order[batch.starts[owners] + ranks.rank - 1] = np.arange(len(pairs))
        pairs, low, lengths = pairs[order], ranks.tie_first[order], batch.lengths
        if self._policy.depth is not None:
            within = np.arange(len(pairs)) - batch.starts[owners] < self._policy.depth
            pairs, low, lengths = pairs[within], low[within], np.minimum(lengths, self._policy.depth)
        return WholeRankings(batch.queries, lengths, pairs, low)

    def _refuse_ties(self, names: list[bytes], owners: Ints, ranks: Ranks) -> None:
        begins = (ranks.tie_first != ranks.tie_last) & (ranks.rank == ranks.tie_first)
        if self._policy.depth is not None:
            begins &= ranks.tie_first <= self._policy.depth
        columns = (owners[begins], ranks.tie_first[begins], ranks.tie_last[begins])
        self._refuse(
            [
                (shown(names[query]), f"ranks {low} to {high} have the same score, and policy says ties=error")
                for query, low, high in zip(*(column.tolist() for column in columns), strict=True)
            ]
        )

    def _refuse(self, reasons: list[tuple[str, str]]) -> None:
        with self._lock:
            self._problems += [Problem(f"query {query!r}: {reason}") for query, reason in reasons]
