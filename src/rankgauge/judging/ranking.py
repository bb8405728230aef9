"""
The ranking policy over columns: exclusion, duplicates, order, ties, depth; and which rows are judged under it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np

from rankgauge.columns import (
    ANY_GRADE,
    POSITIVE,
    Flags,
    Floats,
    Ints,
    Qrels,
    RankingBatch,
    Relevance,
    Rows,
    Slices,
    Words,
)
from rankgauge.columns.judged_rows import nth_of_each
from rankgauge.errors import listed
from rankgauge.judging.ranks import Ranks, RepeatFinder, Repeats, surplus
from rankgauge.policy import Policy, Profile
from rankgauge.samples import Block

__all__ = [
    "BlockJudge",
    "Joined",
    "JudgedBlock",
    "Settled",
    "Standing",
    "as_compared",
    "earned",
    "earns",
    "joined",
    "mixed_ties",
    "own_rows",
    "relevance_of",
    "settle",
    "stand",
    "tie_reason",
]


class Settled(NamedTuple):
    """A batch without the rows that a policy drops, before anything is ranked."""

    batch: RankingBatch  # the rows left, in the order given; its scores are those that order them
    rows: Ints | slice  # which rows of the original batch they are
    pairs: Words  # a key of query and document for each
    # queries of the batch with why the policy refuses their duplicates, to be read once; None for none
    refused: Iterator[tuple[int, str]] | None
    n_dropped: int  # how many duplicates were dropped


def settle(
    batch: RankingBatch, pairs: Words, policy: Policy, find_repeats: Callable[[Words, Slices], Repeats]
) -> Settled:
    """Drop each query's own document (`exclude_self`), then duplicates, and replace scores by what orders the rows."""
    rows: Ints | slice = slice(None)
    batch = dataclasses.replace(batch, scores=as_compared(batch.scores, policy))
    if policy.exclude_self and (own := own_rows(batch)).any():
        rows = np.flatnonzero(~own)
        batch, pairs = batch.without_rows(own), pairs[rows]
    refused, n_dropped = None, 0
    if policy.duplicates not in {"keep", "credit-once"} and len((repeats := find_repeats(pairs, batch.documents)).rows):
        if policy.duplicates == "error":
            refused = _duplicate_reasons(batch, repeats)
        else:
            if policy.duplicates == "best" and (unscored := np.isnan(batch.scores[repeats.rows])).any():
                refused = _unscored_reasons(batch, repeats, unscored)
            dropped = np.zeros(len(pairs), dtype=np.bool_)
            dropped[surplus(repeats, policy.duplicates, batch.scores)] = True
            n_dropped = int(np.count_nonzero(dropped))
            rows = np.arange(len(dropped))[~dropped] if isinstance(rows, slice) else rows[~dropped]
            batch, pairs = batch.without_rows(dropped), pairs[~dropped]
    if policy.order == "given":
        batch = dataclasses.replace(batch, scores=-np.arange(len(pairs), dtype=np.float64))
    return Settled(batch, rows, pairs, refused, n_dropped)


def as_compared(scores: Floats, policy: Policy) -> Floats:
    """Return scores with the precision that they are compared with."""
    if policy.score_dtype == "float64":
        return scores
    with np.errstate(over="ignore", under="ignore"):  # beyond its range a C float is infinite, and ties with others
        return scores.astype(np.float32).astype(np.float64)


def own_rows(batch: RankingBatch) -> Flags:
    """Return which rows retrieve a document whose id is the query's."""
    names = batch.names
    owners = batch.owners()
    rows = np.flatnonzero(batch.keys == names.keys()[owners])
    flags = np.zeros(len(batch.keys), dtype=np.bool_)
    flags[rows[batch.documents.at(rows).equal(names.at(owners[rows]))]] = True
    return flags


class Standing(NamedTuple):
    """Where ranked rows are after depth and judged-only."""

    kept: Ints | slice  # which of the ranked rows are left
    ranks: Ranks  # where these are
    depth: Ints  # how many rows each query has; shape (queries,)


def stand(policy: Policy, owners: Ints, ranks: Ranks, depth: Ints, judged: Callable[[], Flags]) -> Standing:
    """Cut rankings at `depth`, then drop what is not judged (`judged_only`) and count ranks anew."""
    if policy.depth is None and not policy.judged_only:
        return Standing(slice(None), ranks, depth)
    kept = np.arange(len(owners))
    if policy.depth is not None:
        depth = np.minimum(depth, policy.depth)
        kept = np.flatnonzero(ranks.rank <= policy.depth)
    if not policy.judged_only:
        return Standing(kept, Ranks(*(column[kept] for column in ranks)), depth)
    kept = kept[judged()[kept]]
    kept = kept[np.lexsort((ranks.rank[kept], owners[kept]))]
    owners = owners[kept]
    rank = nth_of_each(owners)
    edges = _edges(owners, ranks.tie_first[kept])  # ties have fewer rows, too
    sizes = np.diff(np.append(edges, len(kept)))
    low = np.repeat(rank[edges], sizes)
    high = low + np.repeat(sizes, sizes) - 1
    return Standing(kept, Ranks(rank, low, high), np.bincount(owners, minlength=len(depth)))


def relevance_of(profile: Profile) -> Relevance:
    """Return from which grade on an item is relevant under a profile."""
    match profile.relevance:
        case "positive":
            return POSITIVE
        case "listed":
            return ANY_GRADE
        case minimum:
            return Relevance.from_grade(minimum)


def earns(grades: Floats, relevance: Relevance) -> Flags:
    """Return which documents earn: those that are relevant, or whose grade is above 0."""
    return grades > 0 if relevance == POSITIVE else (grades > 0) | relevance.of(grades)


def earned(grades: Floats, relevance: Relevance) -> Floats:
    """Return what documents earn: their grade, minus infinity if nothing is earned."""
    return np.where(earns(grades, relevance), grades, -np.inf)


def mixed_ties(owners: Ints, ranks: Ranks, earns: Floats | None, depth: int | None) -> Ints:
    """
    Return the best row of each tie that begins within the depth and holds documents that earn differently.

    Documents of a tie that are not among the rows earn nothing. Where *earns* is None, every tie counts as mixed.
    """
    tied = ranks.tie_first != ranks.tie_last
    if depth is not None:
        tied &= ranks.tie_first <= depth
    inside = np.flatnonzero(tied)
    if not len(inside):
        return inside
    values: Floats = np.zeros(len(owners)) if earns is None else earns
    order = inside[np.lexsort((-values[inside], ranks.tie_first[inside], owners[inside]))]
    edges = _edges(owners[order], ranks.tie_first[order])
    if earns is None:
        return order[edges]
    sizes = np.diff(np.append(edges, len(order)))
    best: Ints = order[edges]
    worst = values[order[edges + sizes - 1]]
    worst[sizes < (ranks.tie_last - ranks.tie_first + 1)[best]] = -np.inf
    return best[np.flatnonzero(values[best] != worst)]


def _edges(owners: Ints, low: Ints) -> Ints:
    """Return where, in rows in order, another query or tie begins."""
    begins = np.ones(len(low), dtype=np.bool_)
    begins[1:] = (owners[1:] != owners[:-1]) | (low[1:] != low[:-1])
    return np.flatnonzero(begins)


def _duplicate_reasons(batch: RankingBatch, repeats: Repeats) -> Iterator[tuple[int, str]]:
    """Yield, for each repeated document, its query in the batch and why ``duplicates=error`` refuses it."""
    _, first, times = np.unique(repeats.group, return_index=True, return_counts=True)
    owners, starts = batch.owners(), batch.starts
    for at, count in zip(first.tolist(), times.tolist(), strict=True):
        rows = repeats.rows[at : at + count]
        owner = int(owners[repeats.rows[at]])
        ranks = listed([str(rank) for rank in (rows - starts[owner] + 1).tolist()], most=10)
        document = _document(shown(batch.documents.at(rows).texts().pop()))  # all of them are the same
        reason = f"{document} is retrieved {count} times (ranks {ranks}), and policy says duplicates=error"
        yield owner, f"{reason}; remove the repeats, or choose duplicates=best, or first or last if rows have an order"


def _unscored_reasons(batch: RankingBatch, repeats: Repeats, unscored: Flags) -> Iterator[tuple[int, str]]:
    """Yield, for each repeated document with a row without a score, its query and why `best` cannot choose."""
    owners = batch.owners()
    _, first = np.unique(repeats.group, return_index=True)
    for row in repeats.rows[first[np.isin(repeats.group[first], repeats.group[unscored])]].tolist():
        document = _document(shown(batch.documents.at(np.array([row])).texts()[0]))
        yield int(owners[row]), f"policy duplicates=best needs a score for every repeated item; {document} has none"


def tie_reason(document: str, low: int, high: int) -> str:
    """Return why ``ties=error`` refuses a ranking."""
    return (
        f"{_document(document)} has the same score as documents that earn differently (ranks {low} to {high}), so "
        "its rank is a matter of chance, and policy says ties=error"
    )


def _document(name: str) -> str:
    return f"document {name!r}" if name else "an item without an id"


def shown(name: bytes) -> str:
    """Return an id as messages show it; bytes that are not text are escaped."""
    return name.decode("utf-8", "backslashreplace")


class Joined(NamedTuple):
    """The judged rows of some whole queries."""

    settled: Settled  # the rows that the policy leaves
    rows: Ints  # which of these are judged, in any order
    judgments: Ints  # the judgment of each


def joined(batch: RankingBatch, qrels: Qrels, places: Ints, policy: Policy, finder: RepeatFinder) -> Joined:
    """Join the rankings of whole queries, which are at *places* in the judgments, with these."""
    pairs = qrels.salted(batch.keys, np.repeat(places, batch.lengths))
    settled = settle(batch, pairs, policy, finder.find)
    batch = settled.batch
    if qrels.are_few:
        rows, judgments = qrels.find_few(batch.keys, places, batch.lengths)
    else:
        rows, judgments = qrels.find(settled.pairs)
    real = batch.documents.at(rows).equal(qrels.documents.at(judgments))
    return Joined(settled, rows[real], judgments[real])


_NO_NAMES = Slices.of_lines(b"")
"""Instead of the samples' ids, which only a policy compares that blocks are not judged under."""


class JudgedBlock(NamedTuple):
    """A judged block."""

    block: Block  # the samples
    depth: Ints  # how many items each retrieved, after policy; shape (n,)
    found: Rows  # the judged rows, in order of sample and rank
    qrels: Qrels  # the ground truth, with one query for each sample
    batch: RankingBatch  # the rankings as they were given

    @property
    def looks(self) -> tuple[str, str] | None:
        """Return a retrieved id and a gold id of the first sample that has both, for messages."""
        batch, qrels = self.batch, self.qrels
        places = np.flatnonzero((batch.lengths > 0) & (qrels.lengths > 0))
        if not len(places):
            return None
        first = places[:1]
        retrieved = batch.documents.at(batch.starts[first])
        relevant = qrels.documents.at(np.searchsorted(qrels.owners, first))
        return retrieved.strings()[0], relevant.strings()[0]

    def both(self, limit: int) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
        """Yield the retrieved and the relevant ids of the samples that have both, among the first *limit*."""
        n_rows, n_gold = (int(column[:limit].sum()) for column in (self.batch.lengths, self.qrels.lengths))
        retrieved = iter(self.batch.documents.at(slice(n_rows)).strings())
        relevant = iter(self.qrels.documents.at(slice(n_gold)).strings())
        for depth, count in zip(self.batch.lengths[:limit].tolist(), self.qrels.lengths[:limit].tolist(), strict=True):
            pair = list(islice(retrieved, depth)), list(islice(relevant, count))
            if depth and count:
                yield pair


class BlockJudge:
    """Judges blocks one after another, under a policy that keeps rankings as they are given."""

    def __init__(self, profile: Profile) -> None:
        self._policy = profile.policy
        self._finder = RepeatFinder()

    def judge(self, block: Block) -> JudgedBlock:
        """Join what samples retrieved with their ground truth."""
        retrieved, relevant = Slices.of_lines(block.retrieved.joined), Slices.of_lines(block.gold.joined)
        grades = np.ones(len(relevant.start)) if block.gains is None else np.array(block.gains, dtype=np.float64)
        qrels = Qrels(block.ids, np.array(block.gold.counts, dtype=np.int64), grades, relevant)
        batch = RankingBatch(
            names=_NO_NAMES,
            lengths=np.array(block.retrieved.counts, dtype=np.int64),
            documents=retrieved,
            keys=retrieved.keys(),
            scores=np.zeros(len(retrieved.start)),
        )
        settled, rows, judgments = joined(batch, qrels, np.arange(len(block.ids)), self._policy, self._finder)
        order = np.argsort(rows)  # rows are in order of sample and rank
        rows, judgments = rows[order], judgments[order]
        owners = qrels.owners[judgments]
        found = Rows(owners, rows - settled.batch.starts[owners] + 1, grades[judgments], judgments)
        return JudgedBlock(block, settled.batch.lengths, found, qrels, batch)
