"""
Scanning: one pass over the batches of a run, which notes for each query what the checks need.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from rankgauge.columns import POSITIVE, Flags, Floats, Ints, Qrels, RankingBatch, Words
from rankgauge.columns.slices import mixed
from rankgauge.judging.ranking import as_compared, earned, mixed_ties, own_rows
from rankgauge.judging.ranks import RepeatFinder, ranks_of, surplus
from rankgauge.policy import Policy

__all__ = [
    "TOP",
    "BatchRows",
    "Repeat",
    "RunScan",
    "ScannedQueries",
    "ScannedRun",
    "descending",
    "in_given_order",
    "merged",
    "repeated",
]


class BatchRows:
    """The rows of a batch: the query of each, and whether the row before belongs to the same query."""

    def __init__(self, batch: RankingBatch) -> None:
        self.batch = batch
        self.owners = batch.owners()
        self.inside = np.zeros(len(self.owners), dtype=np.bool_)
        np.equal(self.owners[1:], self.owners[:-1], out=self.inside[1:])

    def steps(self, values: Floats, compare: np.ufunc) -> Flags:
        """Return for which rows *compare* holds with the row before, if that is of the same query."""
        flags = np.zeros(len(values), dtype=np.bool_)
        compare(values[1:], values[:-1], out=flags[1:])
        flags &= self.inside
        return flags

    def gaps(self, ranks: Floats) -> Flags:
        """Return which queries have a rank that does not follow the one of the row before."""
        follows = np.ones(len(ranks), dtype=np.bool_)
        follows[1:] = ranks[1:] - ranks[:-1] == 1.0
        return self.any(self.inside & ~follows)

    def count(self, rows: Flags | Ints) -> Ints:
        """Count rows, flagged or listed, by query."""
        return np.bincount(self.owners[rows], minlength=len(self.batch.lengths))

    def any(self, rows: Flags | Ints) -> Flags:
        """Return which queries have such rows."""
        return np.greater(self.count(rows), 0)


def in_given_order(rows: BatchRows) -> tuple[Floats, Flags, Flags, Floats]:
    """Return scores in the order of stated ranks, or else of lines; whether there are ranks, and gaps; the first."""
    batch, scores = rows.batch, rows.batch.scores
    ranks = np.full(len(scores), np.nan) if batch.stated is None else batch.stated
    is_numbered = ~rows.any(~np.isfinite(ranks)) & (batch.lengths > 0)
    is_numbered &= rows.any(rows.steps(ranks, np.not_equal)) | (batch.lengths == 1)
    has_gaps = is_numbered & rows.gaps(ranks)
    mixed = np.flatnonzero(has_gaps[rows.owners])
    if len(mixed):
        order = mixed[np.lexsort((-scores[mixed], ranks[mixed], rows.owners[mixed]))]
        scores, ranks = scores.copy(), ranks.copy()
        scores[mixed], ranks[mixed] = scores[order], ranks[order]
        has_gaps &= rows.gaps(ranks)
    starts = np.minimum(batch.starts, len(ranks) - 1)
    return scores, is_numbered, has_gaps, np.where(is_numbered, ranks[starts], np.nan)


def descending(rows: BatchRows, is_unsorted: Flags) -> Floats:
    """Return the scores of each query in descending order."""
    scores = rows.batch.scores.copy()
    mixed = np.flatnonzero(is_unsorted[rows.owners])
    scores[mixed] = scores[mixed[np.lexsort((-scores[mixed], rows.owners[mixed]))]]
    return scores


def repeated(same: Flags) -> Flags:
    """Return which rows equal the row before or the row after."""
    both = same.copy()
    both[:-1] |= same[1:]
    return both


TOP = 10
"""How many results from the top `judged@10` looks at."""

_SAMPLE, _SAMPLE_OF_QUERY = 100, 20
"""How many queries are sampled, and how many documents of each."""

_MOST_REPEATS = 1_000
_SINGLE = Policy(score_dtype="float32")
_NOTHING: Ints = np.empty(0, dtype=np.int64)


class ScannedQueries(NamedTuple):
    """What was noted for the queries of a run; each column has shape (queries,)."""

    place: Ints  # in the judgments; -1 if the query is not judged
    depth: Ints
    is_unsorted: Flags  # the score rises somewhere, in the order of lines
    is_numbered: Flags  # the source states ranks: numbers that are not all the same
    has_gaps: Flags  # the ranks are not consecutive
    first_rank: Floats  # the lowest; NaN without ranks
    contradicts: Flags  # the score rises somewhere, in the order of stated ranks
    ascends: Flags  # the score rises and never falls, in the order of stated ranks or else of lines
    is_constant: Flags  # several results, all with the same score
    tied: Ints  # results that share their score with another
    tied_as_float32: Ints  # those that do only with scores as 32-bit floats
    ties_matter: Flags  # the order of tied results can change a metric
    ties_matter_as_float32: Flags  # it can only with scores as 32-bit floats
    surplus: Ints  # duplicates
    own_rank: Ints  # of the document whose id is the query's; 0 without one
    own_is_judged: Flags
    found: Ints  # judged documents that are retrieved
    relevant: Ints  # relevant ones
    top: Ints  # judged ones among the first `TOP` results

    def at(self, order: Ints) -> ScannedQueries:
        """Return some of the queries."""
        return self._replace(**{name: column[order] for name, column in self._asdict().items()})


class Repeat(NamedTuple):
    """A document that a query retrieves more than once."""

    query: bytes
    document: bytes
    times: int


@dataclass(frozen=True)
class ScannedRun:
    """A run, scanned; if queries are scattered, nothing else is noted."""

    names: Sequence[bytes]  # the id of each query, in byte order
    queries: ScannedQueries
    states_ranks: bool  # the source has a column of ranks
    sample: Sequence[bytes]  # document ids in which near misses are looked for
    sampled: Ints  # the judged queries that they come from
    found: Flags  # judgments whose document was retrieved
    repeats: Sequence[Repeat]  # some duplicates
    scattered: Sequence[bytes]  # queries whose lines are not together


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
        self._seen.update(queries)
        self.is_scattered = len(self._seen) < len(self.names)
        if self.is_scattered:
            return
        self.states_ranks |= batch.stated is not None
        rows, salts = BatchRows(batch), _salts(batch)
        places = np.full(len(batch.lengths), -1) if self._qrels is None else self._qrels.places_of(batch.names)
        given, is_numbered, has_gaps, first_rank = in_given_order(rows)
        rises, falls = rows.any(rows.steps(given, np.greater)), rows.any(rows.steps(given, np.less))
        is_unsorted = rows.any(rows.steps(batch.scores, np.greater))
        ordered = descending(rows, is_unsorted)
        tied = repeated(rows.steps(ordered, np.equal))
        tied_single = repeated(rows.steps(as_compared(ordered, _SINGLE), np.equal)) & ~tied
        self.queries.append(
            ScannedQueries(
                place=places,
                depth=batch.lengths,
                is_unsorted=is_unsorted,
                is_numbered=is_numbered,
                has_gaps=has_gaps,
                first_rank=first_rank,
                contradicts=is_numbered & rises,
                ascends=rises & ~falls,
                is_constant=(batch.lengths > 1) & ~rises & ~falls,
                tied=rows.count(tied),
                tied_as_float32=rows.count(tied_single),
                surplus=self._surplus(rows, salts),
                **self._judged(rows, places, tied, tied_single),
            )
        )
        self._take_sample(places, batch, salts)

    def _judged(self, rows: BatchRows, places: Ints, tied: Flags, tied_single: Flags) -> dict[str, np.ndarray]:
        """Return what depends on judgments."""
        batch = rows.batch
        own = np.flatnonzero(own_rows(batch))
        judged, judgments = self._find(rows, places)
        self.found[judgments] = True
        rank = ranks_of(batch, np.concatenate((judged, own)), by_id=True).rank
        own_rank = np.zeros(len(places), dtype=np.int64)
        np.maximum.at(own_rank, rows.owners[own], rank[len(judged) :])
        _, first = np.unique(judgments, return_index=True)
        grades = np.empty(0) if self._qrels is None else self._qrels.grades[judgments]
        single = replace(batch, scores=as_compared(batch.scores, _SINGLE)) if tied_single.any() else batch
        matter = _ties_matter(batch, rows, tied, judged, grades)
        return {
            "ties_matter": matter,
            "ties_matter_as_float32": _ties_matter(single, rows, tied_single, judged, grades) & ~matter,
            "own_rank": own_rank,
            "own_is_judged": rows.any(own[np.isin(own, judged)]),
            "found": rows.count(judged[first]),
            "relevant": rows.count(judged[first[grades[first] >= self._rel]]),
            "top": rows.count(judged[rank[: len(judged)] <= TOP]),
        }

    def _find(self, rows: BatchRows, places: Ints) -> tuple[Ints, Ints]:
        """Return the rows with a judged document, and their judgments."""
        qrels = self._qrels
        if qrels is None or not (places >= 0).any():
            return _NOTHING, _NOTHING
        owners = places[rows.owners]
        found, judgments = qrels.find(qrels.salted(rows.batch.keys, owners))
        same = rows.batch.documents.at(found).equal(qrels.documents.at(judgments))
        same &= owners[found] == qrels.owners[judgments]
        return found[same], judgments[same]

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
        self.repeats += map(Repeat, map(queries.__getitem__, owners), documents, times[shown].tolist())
        return rows.count(surplus(repeats, "first", batch.scores))

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


def _ties_matter(batch: RankingBatch, rows: BatchRows, tied: Flags, judged: Ints, grades: Floats) -> Flags:
    """Return in which queries the order of tied results can change a metric."""
    if not tied.any():
        return np.zeros(len(batch.lengths), dtype=np.bool_)
    ranks = ranks_of(batch, judged, by_id=False)
    return rows.any(judged[mixed_ties(rows.owners[judged], ranks, earned(grades, POSITIVE), None)])


def _salts(batch: RankingBatch) -> Words:
    salts = batch.names.keys() * np.uint64(0xD6E8FEB86659FD93)  # or a document with its query's id would cancel out
    salts ^= salts >> np.uint64(32)
    return salts


def merged(parts: Sequence[RunScan]) -> ScannedRun:
    """Join the parts of a run; only which duplicates are shown, if there are many, depends on the parts."""
    names = [name for part in parts for name in part.names]
    order = sorted(range(len(names)), key=names.__getitem__)
    names = [names[place] for place in order]
    again = [name for name, before in zip(names[1:], names, strict=False) if name == before]
    sample = sorted(query for part in parts for query in part.sample)[:_SAMPLE]
    queries = _joined([queries for part in parts for queries in part.queries])
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
    nothing = [_NOTHING] * len(ScannedQueries._fields)
    return ScannedQueries._make(map(np.concatenate, zip(*tables, strict=True)) if tables else nothing)
