"""
Scanning: one pass over the batches of a run, which notes for each query what the checks need.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from rankgauge.columns import POSITIVE, Flags, Floats, Ints, Qrels, RankingBatch, Slices, Words
from rankgauge.columns.slices import mixed
from rankgauge.judging.ranking import as_compared, earned, mixed_ties, own_rows
from rankgauge.judging.ranks import ranks_of
from rankgauge.judging.repeats import RepeatFinder
from rankgauge.policy import Policy
from rankgauge.preflight_checks.order import BatchRows, descending, in_given_order, repeated

__all__ = ["TOP", "Repeat", "RunScan", "ScannedQueries", "ScannedRun", "merged"]

TOP = 10
"""How many results from the top `judged@10` looks at."""

_SAMPLE, _SAMPLE_OF_QUERY = 100, 20
"""How many queries are sampled, and how many documents of each."""

_MOST_REPEATS = 1_000
_SINGLE = Policy(score_dtype="float32")
_NOTHING: Ints = np.empty(0, dtype=np.int64)


class ScannedQueries(NamedTuple):
    """
    What was noted for the queries of a run; each column has shape (queries,).

    Attributes:
        place: The query's place in the judgments; -1 where it is not judged.

        depth: How many results it has.

        is_unsorted: Whether the score rises somewhere, in the order of lines.

        is_numbered: Whether the source states ranks: numbers that are not all the same.

        has_gaps: Whether the ranks are not consecutive.

        first_rank: The lowest rank; NaN without ranks.

        contradicts: Whether the score rises somewhere, in the order of stated ranks.

        ascends: Whether it rises and never falls, in the order of stated ranks or else of lines.

        is_constant: Whether there are several results, all with the same score.

        tied: How many results share their score with another.

        tied_as_float32: How many more do with scores as 32-bit floats.

        ties_matter: Whether the order of tied results can change a metric.

        ties_matter_as_float32: Whether it can only with scores as 32-bit floats.

        surplus: How many results are duplicates.

        own_rank: The rank of the document whose id is the query's; 0 without one.

        own_is_judged: Whether that document is judged.

        found: How many judged documents are retrieved.

        relevant: How many relevant ones are.

        top: How many of the first `TOP` results are judged.
    """

    place: Ints
    depth: Ints
    is_unsorted: Flags
    is_numbered: Flags
    has_gaps: Flags
    first_rank: Floats
    contradicts: Flags
    ascends: Flags
    is_constant: Flags
    tied: Ints
    tied_as_float32: Ints
    ties_matter: Flags
    ties_matter_as_float32: Flags
    surplus: Ints
    own_rank: Ints
    own_is_judged: Flags
    found: Ints
    relevant: Ints
    top: Ints

    def at(self, order: Ints) -> ScannedQueries:
        """Return some of the queries."""
        columns: Iterable[Any] = (column[order] for column in self)
        return ScannedQueries(*columns)


class Repeat(NamedTuple):
    """A document that a query retrieves more than once."""

    query: bytes
    document: bytes
    times: int


@dataclasses.dataclass(frozen=True)
class ScannedRun:
    """
    A run, scanned.

    Attributes:
        names: The id of each query, in byte order.

        queries: What was noted for them.

        states_ranks: Whether the source has a column of ranks.

        sample: Some document ids, in which near misses are looked for.

        sampled: The places of the judged queries that they come from.

        found: Which judgments have a document that was retrieved.

        repeats: Some duplicates.

        scattered: Queries whose lines are not together; if there are any, nothing else is noted.
    """

    names: Sequence[bytes]
    queries: ScannedQueries
    states_ranks: bool
    sample: Sequence[bytes]
    sampled: Ints
    found: Flags
    repeats: Sequence[Repeat]
    scattered: Sequence[bytes]


class RunScan:
    """Scans the batches of one part of a run."""

    def __init__(self, qrels: Qrels | None, rel: float) -> None:
        self._qrels = qrels
        self._rel = rel
        self._finder = RepeatFinder()
        self._seen: set[bytes] = set()
        self.names: list[bytes] = []
        self.queries: list[ScannedQueries] = []
        self.states_ranks = False
        self.sample: list[_SampledQuery] = []
        self.found = np.zeros(0 if qrels is None else qrels.n_judgments, dtype=np.bool_)
        self.repeats: list[Repeat] = []
        self.is_scattered = False

    def add(self, batch: RankingBatch) -> None:
        """Scan some queries; once a query has come twice, only note names."""
        queries = batch.queries
        self.names += queries
        self.is_scattered = self.is_scattered or not self._seen.isdisjoint(queries)
        self._seen.update(queries)
        self.is_scattered = self.is_scattered or len(self._seen) < len(self.names)
        if self.is_scattered:
            return
        self.states_ranks = self.states_ranks or batch.stated is not None
        rows, salts = BatchRows(batch), _salts(queries)
        places = np.full(len(batch.lengths), -1) if self._qrels is None else self._qrels.places_of(batch.names)
        given, stated = in_given_order(rows)
        rises, falls = rows.steps(given, np.greater), rows.steps(given, np.less)
        is_unsorted = rows.any(rows.steps(batch.scores, np.greater))
        ordered = descending(rows, is_unsorted)
        tied = repeated(rows.steps(ordered, np.equal))
        tied_single = repeated(rows.steps(as_compared(ordered, _SINGLE), np.equal)) & ~tied
        judged = self._judged(rows, places, has_ties=bool(tied.any()), has_single_ties=bool(tied_single.any()))
        self.queries.append(
            ScannedQueries(
                place=places,
                depth=batch.lengths,
                is_unsorted=is_unsorted,
                is_numbered=stated.is_numbered,
                has_gaps=stated.has_gaps,
                first_rank=stated.first,
                contradicts=stated.is_numbered & rows.any(rises),
                ascends=rows.any(rises) & ~rows.any(falls),
                is_constant=(batch.lengths > 1) & ~rows.any(rises) & ~rows.any(falls),
                tied=rows.count(tied),
                tied_as_float32=rows.count(tied_single),
                surplus=self._surplus(rows, salts),
                **judged,
            )
        )
        self._take_sample(places, batch, salts)

    def _judged(self, rows: BatchRows, places: Ints, *, has_ties: bool, has_single_ties: bool) -> dict[str, np.ndarray]:
        """Return what depends on judgments."""
        batch, n = rows.batch, len(places)
        own = np.flatnonzero(own_rows(batch))
        found, judgments = self._find(rows, places)
        self.found[judgments] = True
        ranks = ranks_of(batch, np.concatenate((found, own)), by_id=True)
        own_rank = np.zeros(n, dtype=np.int64)
        np.maximum.at(own_rank, rows.owners[own], ranks.rank[len(found) :])
        own_is_judged = np.zeros(n, dtype=np.bool_)
        own_is_judged[rows.owners[own[np.isin(own, found)]]] = True
        distinct, first = np.unique(judgments, return_index=True)
        grades = np.empty(0) if self._qrels is None else self._qrels.grades[judgments]
        relevant = first[grades[first] >= self._rel]
        top = ranks.rank[: len(found)] <= TOP
        matter, matter_single = np.zeros(n, dtype=np.bool_), np.zeros(n, dtype=np.bool_)
        if has_ties:
            matter[self._ties(batch, rows.owners, found, judgments)] = True
        if has_single_ties:
            single = dataclasses.replace(batch, scores=as_compared(batch.scores, _SINGLE))
            matter_single[self._ties(single, rows.owners, found, judgments)] = True
        return {
            "ties_matter": matter,
            "ties_matter_as_float32": matter_single & ~matter,
            "own_rank": own_rank,
            "own_is_judged": own_is_judged,
            "found": np.bincount(rows.owners[found[first]], minlength=n) if len(distinct) else np.zeros(n, np.int64),
            "relevant": np.bincount(rows.owners[found[relevant]], minlength=n),
            "top": np.bincount(rows.owners[found[top]], minlength=n),
        }

    def _find(self, rows: BatchRows, places: Ints) -> tuple[Ints, Ints]:
        """Return the rows with a judged document, and their judgments."""
        qrels = self._qrels
        if qrels is None or not (places >= 0).any():
            return _NOTHING, _NOTHING
        owners = places[rows.owners]
        found, judgments = qrels.find(qrels.salted(rows.batch.keys, owners))
        real = (owners[found] == qrels.owners[judgments]) & rows.batch.documents.at(found).equal(
            qrels.documents.at(judgments)
        )
        return found[real], judgments[real]

    def _ties(self, batch: RankingBatch, owners: Ints, found: Ints, judgments: Ints) -> Ints:
        if self._qrels is None:
            return found
        ranks = ranks_of(batch, found, by_id=False)
        return owners[found][mixed_ties(owners[found], ranks, earned(self._qrels.grades[judgments], POSITIVE), None)]

    def _surplus(self, rows: BatchRows, salts: Words) -> Ints:
        """Count the duplicates of each query, and keep some as examples."""
        batch = rows.batch
        repeats = self._finder.find(mixed(batch.keys, salts[rows.owners]), batch.documents)
        if not len(repeats.rows):
            return np.zeros(len(batch.lengths), dtype=np.int64)
        _, first, times = np.unique(repeats.group, return_index=True, return_counts=True)
        shown = np.argsort(repeats.rows[first])[: _MOST_REPEATS - len(self.repeats)]
        firsts = repeats.rows[first[shown]]
        documents = batch.documents.at(firsts).texts()
        owners, queries = rows.owners[firsts].tolist(), batch.queries
        self.repeats += [
            Repeat(queries[owner], document, count)
            for owner, document, count in zip(owners, documents, times[shown].tolist(), strict=True)
        ]
        again = np.ones(len(repeats.rows), dtype=np.bool_)
        again[first] = False
        return np.bincount(rows.owners[repeats.rows[again]], minlength=len(batch.lengths))

    def _take_sample(self, places: Ints, batch: RankingBatch, salts: Words) -> None:
        """Keep the queries with the lowest hashes, judged ones first: the same sample however the run is split."""
        most = self.sample[-1] if len(self.sample) == _SAMPLE else None
        for row in np.lexsort((salts, places < 0))[:_SAMPLE].tolist():
            key = (bool(places[row] < 0), int(salts[row]))
            if most is not None and key >= most[:2]:
                break
            begin = int(batch.starts[row])
            first = slice(begin, begin + min(int(batch.lengths[row]), _SAMPLE_OF_QUERY))
            self.sample.append(_SampledQuery(*key, int(places[row]), tuple(batch.documents.at(first).texts())))
        self.sample = sorted(self.sample)[:_SAMPLE]


class _SampledQuery(NamedTuple):
    """The first documents of a query."""

    is_unjudged: bool
    salt: int
    place: int
    documents: tuple[bytes, ...]


def _salts(queries: Sequence[bytes]) -> Words:
    salts = Slices.of(queries).keys()
    salts *= np.uint64(0xD6E8FEB86659FD93)  # otherwise a document with its query's id would cancel out
    salts ^= salts >> np.uint64(32)
    return salts


def merged(parts: Sequence[RunScan]) -> ScannedRun:
    """Join the parts of a run; only which duplicates are shown, where there are many, depends on the parts."""
    names = [name for part in parts for name in part.names]
    order = sorted(range(len(names)), key=names.__getitem__)
    names = [names[place] for place in order]
    again = [own for own, before in zip(names[1:], names, strict=False) if own == before]
    sample = sorted(query for part in parts for query in part.sample)[:_SAMPLE]
    tables = [queries for part in parts for queries in part.queries]
    queries = _joined(tables)
    return ScannedRun(
        names=names,
        queries=queries if again else queries.at(np.array(order, dtype=np.int64)),
        states_ranks=any(part.states_ranks for part in parts),
        sample=sorted({name for query in sample for name in query.documents}),
        sampled=np.array([query.place for query in sample if query.place >= 0], dtype=np.int64),
        found=np.logical_or.reduce([part.found for part in parts]),
        repeats=sorted(repeat for part in parts for repeat in part.repeats)[:_MOST_REPEATS],
        scattered=sorted(set(again)),
    )


def _joined(tables: Sequence[ScannedQueries]) -> ScannedQueries:
    """Join tables; no tables give one without queries."""
    columns: Iterable[Any] = (
        map(np.concatenate, zip(*tables, strict=True)) if tables else [_NOTHING] * len(ScannedQueries._fields)
    )
    return ScannedQueries(*columns)
