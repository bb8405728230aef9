"""
Runs and judgments without the documents that a policy leaves out for each query.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import compress, repeat
from typing import Any

import numpy as np

from rankgauge.columns import ChangedRun, Flags, Ints, Qrels, RankingBatch, RunSource, Slices, are_texts, encoded
from rankgauge.errors import DataError
from rankgauge.exclusions import Excluded, Meeting
from rankgauge.io.nested_mappings import MappingRun
from rankgauge.judging.filtered import FilterFailedError, stays
from rankgauge.policy import Policy
from rankgauge.samples import Output

__all__ = ["Met", "excluded_judgments", "excluded_run", "narrowed_run"]


class Met:
    """Sees whether a run has any document that is left out, while it is read in whatever threads."""

    def __init__(self, excluded: Excluded) -> None:
        self._names = excluded.names
        self._keys = Slices.of(map(encoded, excluded.names)).keys()
        self.meeting = Meeting()

    def see(self, batch: RankingBatch) -> None:
        """Look at some rankings, unless it is known already."""
        if self.meeting.met or not len(batch.documents):
            return
        rows = np.flatnonzero(np.isin(batch.keys, self._keys))
        alike = [text.decode("utf-8", "surrogateescape") for text in batch.documents.at(rows).texts()]
        first = batch.documents.at(slice(0, 1)).texts()[0].decode("utf-8", "surrogateescape")
        self.meeting |= Meeting(not self._names.isdisjoint(alike), first)  # hashes may collide

    def see_rankings(self, rankings: Mapping[Any, Any]) -> None:
        """Look at rankings in memory."""
        for ranking in rankings.values():
            if isinstance(ranking, Mapping) and ranking and not self.meeting.met:
                retrieved = next(iter(ranking))
                self.meeting |= Meeting(not self._names.isdisjoint(ranking), str(retrieved))


def excluded_run(source: RunSource, excluded: Excluded | None, met: Met | None = None) -> RunSource:
    """Return a run without what is left out; *met* sees whether there is any."""
    if excluded is None:
        return source
    if isinstance(source, MappingRun):
        if met is not None:
            met.see_rankings(source.rankings)
        rankings = {query: _others(ranking, query, excluded) for query, ranking in source.rankings.items()}
        return source.with_rankings(rankings)

    def change(batch: RankingBatch) -> RankingBatch:
        if met is not None:
            met.see(batch)
        return _without(batch, excluded)

    return ChangedRun(source, change)


def narrowed_run(source: RunSource, policy: Policy, met: Met | None = None) -> RunSource:
    """Return a run without what a policy leaves out, which *met* sees, and without what its filters drop."""
    source = excluded_run(source, policy.excluded, met)
    if not policy.filters:
        return source
    if isinstance(source, MappingRun):
        rankings = {query: _filtered_ranking(ranking, query, policy) for query, ranking in source.rankings.items()}
        return source.with_rankings(rankings)
    return ChangedRun(source, lambda batch: _filtered_batch(batch, policy))


def _filtered_ranking(ranking: Mapping[str, float], query: object, policy: Policy) -> Mapping[str, float]:
    """Return a ranking in memory with the results that stay; what has not the shape of one is refused elsewhere."""
    if not isinstance(ranking, Mapping) or not are_texts(ranking):
        return ranking
    try:
        scores = list(map(float, ranking.values()))
    except (TypeError, ValueError, OverflowError):
        return ranking
    kept = _stays(policy, query, list(ranking), scores) if all(map(math.isfinite, scores)) else repeat(True)
    return dict(compress(ranking.items(), kept))


def _filtered_batch(batch: RankingBatch, policy: Policy) -> RankingBatch:
    ids, scores, kept = batch.documents.strings(), batch.scores.tolist(), list[bool]()
    for query, length in zip(batch.names.strings(), batch.lengths.tolist(), strict=True):
        rows = slice(len(kept), len(kept) + length)
        kept += _stays(policy, query, ids[rows], scores[rows])
    return batch.without_rows(~np.array(kept, dtype=np.bool_))


def _stays(policy: Policy, query: object, ids: Sequence[str], scores: Sequence[float]) -> list[bool]:
    try:
        return stays(policy, Output(ids, scores=scores))
    except FilterFailedError as error:
        raise DataError("the rankings cannot be filtered:", [f"query {query!r}: {error}"]) from error


def excluded_judgments(qrels: Qrels, excluded: Excluded | None) -> Qrels:
    """Return judgments without what is left out; a query may have none left, and is judged all the same."""
    if excluded is None:
        return qrels
    queries = Slices.of_strings(qrels.query_names)
    dropped = _left_out(queries, qrels.lengths, qrels.documents, excluded)
    if not dropped.any():
        return qrels
    kept = np.flatnonzero(~dropped)
    intents = qrels.intents
    if intents is not None:
        numbers = np.full(len(dropped), -1, dtype=np.int64)
        numbers[kept] = np.arange(len(kept))
        intents = intents.renumbered(numbers)
    return Qrels(
        queries,
        np.bincount(qrels.owners[kept], minlength=qrels.n_queries),
        qrels.grades[kept],
        qrels.documents.at(kept),
        qrels.source,
        intents,
        qrels.n_merged,
    )


def _others(ranking: Mapping[str, float], query: object, excluded: Excluded) -> Mapping[str, float]:
    """Return a ranking in memory without what is left out; what has not the shape of one is refused elsewhere."""
    names = excluded.of_query(query) if isinstance(query, str) else ()
    if not names or not isinstance(ranking, Mapping) or names.isdisjoint(ranking):
        return ranking
    return {document: score for document, score in ranking.items() if document not in names}


def _without(batch: RankingBatch, excluded: Excluded) -> RankingBatch:
    dropped = _left_out(batch.names, batch.lengths, batch.documents, excluded)
    return batch.without_rows(dropped) if dropped.any() else batch


def _left_out(names: Slices, lengths: Ints, documents: Slices, excluded: Excluded) -> Flags:
    """Return which rows are left out, of queries with so many rows each."""
    flags = np.zeros(int(lengths.sum()), dtype=np.bool_)
    begin = 0
    for query, length in zip(names.texts(), lengths.tolist(), strict=True):
        wanted = excluded.of_query(query.decode("utf-8", "surrogateescape"))
        if wanted and length:
            keys = Slices.of(map(encoded, wanted)).keys()
            rows = begin + np.flatnonzero(np.isin(documents.at(slice(begin, begin + length)).keys(), keys))
            found = documents.at(rows).texts()  # hashes may collide
            flags[rows] = [name.decode("utf-8", "surrogateescape") in wanted for name in found]
        begin += length
    return flags
