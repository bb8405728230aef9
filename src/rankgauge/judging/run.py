"""
Runs: joining the batches of a run with judgments into one `Evidence`, and how a run fits the judgments.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from rankgauge.catalog.compiled_kernel import join_judged, query_finder
from rankgauge.columns import Flags, IdSketcher, Ints, Judged, Qrels, RankingBatch, Rows, Slices
from rankgauge.columns.judged_rows import distinct, nth_of_each
from rankgauge.errors import DataError, NothingToEvaluateError, Problem, counted
from rankgauge.judging.evidence import Evidence
from rankgauge.judging.judged_columns import FoundRows, judged_under
from rankgauge.judging.ranking import earned, joined, mixed_ties, relevance_of, shown, stand, tie_reason
from rankgauge.judging.ranks import Ranks, RepeatFinder, ranks_of
from rankgauge.judging.top import TopCollector
from rankgauge.policy import Policy, Profile

__all__ = ["BatchJudge", "RunCollector", "RunCounts", "ScatteredError", "no_overlap"]


class RunCounts(NamedTuple):
    """How a run fits the judgments."""

    queries: int = 0  # how many queries are evaluated
    missing: int = 0  # how many of these have no results in the run
    unjudged: int = 0  # how many queries of the run are not judged, and so left out
    tied: int = 0  # how many queries have equal scores whose order may change a score
    dropped: int = 0  # how many repeated results the policy dropped
    matched: int = 0  # how many results are judged
    deepest: int = 0  # how many results the longest ranking has, after policy
    lacks_gold: bool = False  # whether a ranking lacks something that earns; known if a cutoff is below the longest

    @classmethod
    def total(cls, parts: Iterable[RunCounts]) -> RunCounts:
        """Return the counts of a run from those of its parts, each of which has other queries."""
        counts = [cls(), *parts]
        total = cls(*(sum(column) for column in zip(*counts, strict=True)))
        return total._replace(
            deepest=max(each.deepest for each in counts), lacks_gold=any(each.lacks_gold for each in counts)
        )

    def notes(self, policy: Policy) -> list[str]:
        """Say what a user should know of how the run fits the judgments."""
        notes = []
        if self.missing:
            how = "counted as 0" if policy.missing_output == "zero" else "left out of every mean"
            of = counted(self.queries, "judged query", "judged queries")
            notes.append(f"{self.missing:,} of {of} without results in the run; {how}")
        if self.unjudged:
            have = "has no judgments and is" if self.unjudged == 1 else "have no judgments and are"
            notes.append(f"{counted(self.unjudged, 'query', 'queries')} of the run {have} left out")
        if not self.matched and self.queries > self.missing:
            notes.append(
                "no retrieved document is judged, so nothing that was found counts; do both sides use the same ids? "
                "`rankgauge validate QRELS RUN` compares them (rankgauge.preflight in Python)"
            )
        if self.dropped:
            notes.append(f"{counted(self.dropped, 'repeated result')} dropped (policy duplicates={policy.duplicates})")
        if self.tied:
            of = counted(self.queries, "query", "queries")
            have = "has" if self.tied == 1 else "have"
            tied = f"{self.tied:,} of {of} {have} tied scores"
            notes.append(f"{tied} whose order can change a metric (ties={policy.ties})")
        return notes

    def facts(self) -> dict[str, Any]:
        """Return the counts as a manifest has them."""
        return {
            "queries_missing": self.missing,
            "queries_unjudged": self.unjudged,
            "queries_with_ties": self.tied,
            "results_dropped": self.dropped,
        }


_RANK_BITS = np.int64(32)
"""How many bits of a key, of a query and a rank in it, are the rank's."""

_MOST_PROBLEMS = 1000
"""How many problems of one batch are reported."""


class ScatteredError(Exception):
    """A query came a second time: the lines of a query are not together in the run."""


class BatchJudge:
    """Judges the batches of one thread, and hands the tops of their rankings on where somebody wants them."""

    def __init__(self, run: RunCollector, top: TopCollector | None = None) -> None:
        self._run = run
        self._top = top
        self._finder = RepeatFinder()

    def add(self, batch: RankingBatch) -> None:
        """Judge some whole queries; raise `ScatteredError` if one of them came before."""
        qrels, policy = self._run.qrels, self._run.profile.policy
        places = self._run.enter(batch.names)
        if (places < 0).any():
            batch, places = batch.of_queries(places >= 0), places[places >= 0]
        if self._run.sketcher is not None:
            self._run.sketcher.add(batch.keys)
        if self._top is None and not policy.exclude_self and policy.order != "given":
            by_id, narrow = policy.ties != "given", policy.score_dtype == "float32"
            if (plain := join_judged(batch, qrels, places, by_id=by_id, narrow=narrow)) is not None:
                self._run.add(places, batch.lengths, plain.owners, plain.judgments, Ranks(*plain[2:]))
                return
        settled, rows, judgments = joined(batch, qrels, places, policy, self._finder)
        batch = settled.batch
        if self._top is not None:
            self._top.take(places, batch)
        if settled.refused is not None:
            self._run.refuse((int(places[query]), why) for query, why in settled.refused)
        ranks = ranks_of(batch, rows, by_id=policy.ties != "given")
        self._run.add(places, batch.lengths, batch.owners()[rows], judgments, ranks, settled.n_dropped)


class _Part(NamedTuple):
    """
    Some judged queries: places in the judgments and depths; judgments that were found, in any order, and their ranks.

    Where scores are averaged over ties, the first and last rank of each one's tie, too; and counts.
    """

    places: Ints
    depth: Ints
    judgments: Ints
    rank: Ints
    ties: tuple[Ints, Ints] | None
    tied: Ints
    n_dropped: int


class RunCollector:
    """
    Collects the judged parts of one run.

    Attributes:
        qrels: The judgments.

        profile: The policy, and what counts as relevant.

        n_unjudged: How many queries of the run are not judged, and so left out.

        sketcher: Takes the ids that judged queries retrieved; None if they are not wanted.

        places: Which queries of the judgments are evaluated; known once `finish` was called.

        missing: Which of these the run lacks.
    """

    def __init__(self, qrels: Qrels, profile: Profile, sketcher: IdSketcher | None = None) -> None:
        self.qrels = qrels
        self.profile = profile
        self.sketcher = sketcher
        self.n_unjudged = 0
        self.places = self.missing = np.empty(0, dtype=np.int64)
        self._lock = threading.Lock()
        self._places_of = query_finder(qrels) or qrels.places_of
        self._seen = np.zeros(qrels.n_queries, dtype=np.bool_)
        self._parts: list[_Part] = []
        self._problems: list[Problem] = []
        self._looks = b""

    def enter(self, names: Slices) -> Ints:
        """Return the place of each query among the judged ones, -1 for one that is not; note that they have come."""
        places = self._places_of(names)
        judged = places[places >= 0]
        with self._lock:
            self._looks = self._looks or b"".join(names.at(slice(0, 1)).texts())
            self.n_unjudged += len(places) - len(judged)
            if self._seen[judged].any() or len(distinct(judged)) < len(judged):
                raise ScatteredError
            self._seen[judged] = True
        return places

    def note_unjudged(self, n_queries: int, *, looks: bytes) -> None:
        """Note how many queries of the run are not judged; *looks* is a query of the run, for messages."""
        self.n_unjudged, self._looks = n_queries, looks

    def add(self, places: Ints, depth: Ints, owners: Ints, judgments: Ints, ranks: Ranks, n_dropped: int = 0) -> None:
        """Take ranked judged rows: *owners* are their queries, as places in *places*; none of these comes twice."""
        policy = self.profile.policy
        grades = self.qrels.grades[judgments]
        tied = mixed_ties(owners, ranks, earned(grades, relevance_of(self.profile)), policy.depth)
        if policy.ties == "error" and len(tied):
            documents = self.qrels.documents.at(judgments[tied]).texts()
            columns = (places[owners[tied]], ranks.tie_first[tied], ranks.tie_last[tied])
            self.refuse(
                (query, tie_reason(shown(document), low, high))
                for document, query, low, high in zip(documents, *(column.tolist() for column in columns), strict=True)
            )

        def judged() -> Flags:
            return grades >= (0.0 if self.profile.negatives == "unjudged" else -np.inf)

        kept, ranks, depth = stand(policy, owners, ranks, depth, judged)
        ties = (ranks.tie_first, ranks.tie_last) if policy.settles_ties_late else None
        part = _Part(places, depth, judgments[kept], ranks.rank, ties, distinct(places[owners[tied]]), n_dropped)
        with self._lock:
            self._seen[places] = True
            self._parts.append(part)

    def refuse(self, reasons: Iterable[tuple[int, str]]) -> None:
        """Take what the policy does not allow, by query; `finish` raises all of it at once."""
        queries = self.qrels.queries
        problems = [
            Problem(f"query {shown(queries[place])!r}: {reason}")
            for (place, reason), _ in zip(reasons, range(_MOST_PROBLEMS), strict=False)
        ]
        with self._lock:
            self._problems += problems

    @property
    def looks(self) -> str:
        """Return a query id of the run, for messages; empty if it has none."""
        return shown(self._looks)

    def finish(self, run: str, *, require_overlap: bool = True) -> Evidence:
        """
        Put the parts together.

        Raise `DataError` for what the policy refuses, and `NothingToEvaluateError` if *require_overlap* and no query
        is judged.
        """
        if self._problems:
            raise DataError(f"the policy refuses {run}:", sorted(self._problems, key=str))
        if require_overlap and not self._seen.any():
            raise no_overlap(run, self.qrels.n_queries, self.looks, shown(self.qrels.queries[0]))
        if not self._parts:
            nothing = np.empty(0, dtype=np.int64)
            self.add(nothing, nothing, nothing, nothing, Ranks(nothing, nothing, nothing))
        every = self.profile.policy.queries == "judged"
        self.places = np.arange(len(self._seen)) if every else np.flatnonzero(self._seen)
        self.missing = np.flatnonzero(~self._seen[self.places])
        n_tied = len(distinct(np.concatenate([part.tied for part in self._parts])))
        n_dropped = sum(part.n_dropped for part in self._parts)
        return Evidence(self._judged(), n_tied=n_tied, n_dropped=n_dropped)

    def counts(self, evidence: Evidence) -> RunCounts:
        """Return how the run fits the judgments; *evidence* is what `finish` returned."""
        missing = len(self.missing)
        judged = evidence.judged
        deepest = int(judged.depth.max(initial=0))
        n_matched = len(judged.rows.sample)
        return RunCounts(judged.n, missing, self.n_unjudged, evidence.n_tied, evidence.n_dropped, n_matched, deepest)

    def _found(self) -> tuple[Rows, tuple[Ints, Ints] | None]:
        """Return the judged rows of all parts in order of query and rank, and their ties."""
        judgments = np.concatenate([part.judgments for part in self._parts])
        rank = np.concatenate([part.rank for part in self._parts])
        owners, grades = self.qrels.owners, self.qrels.grades
        order = np.argsort(owners[judgments] << _RANK_BITS | rank, kind="stable")
        gold = judgments[order]
        found = Rows(owners[gold], rank[order], grades[gold], gold)
        averaged = [part.ties for part in self._parts if part.ties is not None]
        if not averaged:
            return found, None
        low, high = (np.concatenate(column)[order] for column in zip(*averaged, strict=True))
        return found, (low, high)

    def _judged(self) -> Judged:
        qrels, places = self.qrels, self.places
        depth = np.zeros(len(self._seen), dtype=np.int64)
        for part in self._parts:
            depth[part.places] = part.depth
        found, ties = self._found()
        self._parts = []  # metrics use their memory next
        intents, owners, grades = qrels.intents, qrels.owners, qrels.grades
        if len(places) < len(self._seen):  # leave out the queries that are not evaluated
            number = np.full(len(self._seen), -1, dtype=np.int64)
            number[places] = np.arange(len(places))
            kept = number[owners] >= 0
            gold_number = np.where(kept, np.cumsum(kept) - 1, -1)
            depth, owners, grades = depth[places], number[owners[kept]], grades[kept]
            found = found._replace(sample=number[found.sample], gold=gold_number[found.gold])
            intents = None if intents is None else intents.renumbered(gold_number)
        numbers = np.arange(len(owners))
        gold = Rows(owners, nth_of_each(owners), grades, numbers)
        judged = judged_under(self.profile, FoundRows(found, ties), depth=depth, gold=gold)
        return judged if intents is None else replace(judged, intents=intents)


def no_overlap(run: str, n_judged: int, looks: str, judged_looks: str) -> NothingToEvaluateError:
    """Return the error for a run none of whose queries is judged; *looks* are a query id of each side."""
    both = f"the run's look like `{looks}`, the judgments' like `{judged_looks}`" if looks else "the run has no query"
    msg = f"cannot evaluate {run}:"
    return NothingToEvaluateError(msg, [Problem(f"0 of {n_judged:,} query ids overlap; {both}")])
