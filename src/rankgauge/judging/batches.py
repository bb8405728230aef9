"""
Judging batches of columns: joining rows of rankings with judgments, and ranking only the rows that are judged.

Rankings are not sorted where they stand in order already. Of results with equal scores only those matter that share
their score with a judged document; their ids alone are looked at. What is kept follows the judgments, not the run.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from rankgauge.columns import Flags, Ints, RankingBatch, Rows
from rankgauge.columns.rows import distinct
from rankgauge.errors import Problem
from rankgauge.judging.ranks import Ranks, ranks_of
from rankgauge.judging.repeats import RepeatFinder, Repeats, surplus
from rankgauge.judging.run import JudgedPart, RunCollector, shown

__all__ = ["BatchJudge", "after_ranking", "own_rows", "queries_with_ties", "refuse_ties"]

_MOST_PROBLEMS = 1000
"""How many problems of one batch are told."""


class BatchJudge:
    """Judges the batches of one thread."""

    def __init__(self, run: RunCollector) -> None:
        """
        Begin.

        Args:
            run: What takes the judged parts.
        """
        self._run = run
        self._finder = RepeatFinder()

    def add(self, batch: RankingBatch) -> None:
        """
        Judge some whole queries.

        Args:
            batch: Their rankings.

        Raises:
            ScatteredError: One of them came before.
        """
        qrels, policy = self._run.qrels, self._run.profile.policy
        places = self._run.enter(batch.names)
        if (places < 0).any():
            batch, places = batch.of_queries(places >= 0), places[places >= 0]
        if policy.score_dtype == "float32":
            batch = dataclasses.replace(batch, scores=batch.scores.astype(np.float32).astype(np.float64))
        if policy.order == "given":
            batch = dataclasses.replace(batch, scores=-np.arange(len(batch.scores), dtype=np.float64))
        if policy.exclude_self:
            batch = batch.without_rows(own_rows(batch))
        owners = np.repeat(places, batch.lengths)
        pairs = qrels.salted(batch.keys, owners)
        n_repeats = 0
        if policy.duplicates not in {"keep", "credit-once"}:
            repeats = self._finder.find(pairs, batch.documents)
            if len(repeats.rows) and policy.duplicates == "error":
                self._refuse(batch, repeats)
            elif len(repeats.rows):
                dropped = np.zeros(len(pairs), dtype=np.bool_)
                dropped[surplus(repeats, policy.duplicates, batch.scores)] = True
                n_repeats = int(np.count_nonzero(dropped))
                batch, owners, pairs = batch.without_rows(dropped), owners[~dropped], pairs[~dropped]
        rows, judgments = qrels.find(pairs)
        real = batch.documents.at(rows).equal(qrels.documents.at(judgments))
        rows, judgments = rows[real], judgments[real]
        ranks = ranks_of(batch, rows, by_id=policy.ties != "given")
        found = Rows(owners[rows], ranks.rank, qrels.grades[judgments], judgments)
        self._run.add(after_ranking(self._run, places, batch.lengths, found, ranks, n_repeats))

    def _refuse(self, batch: RankingBatch, repeats: Repeats) -> None:
        """Refuse repeated documents, of those that the policy's depth lets through."""
        policy = self._run.profile.policy
        rows, group = repeats.rows, repeats.group
        if policy.depth is not None:
            kept = ranks_of(batch, rows, by_id=policy.ties != "given").rank <= policy.depth
            rows, group = rows[kept], group[kept]
        _, first, times = np.unique(group, return_index=True, return_counts=True)
        repeated = rows[first[times > 1]][:_MOST_PROBLEMS]
        owners = batch.owners()[repeated].tolist()
        documents, queries = batch.documents.at(repeated).texts(), batch.queries
        self._run.refuse(
            Problem(
                f"query {shown(queries[owner])!r} retrieves document {shown(document)!r} {count} times, and "
                "policy says duplicates=error; mend the run, or choose duplicates=first, last or best"
            )
            for owner, document, count in zip(owners, documents, times[times > 1].tolist(), strict=False)
        )


def after_ranking(
    run: RunCollector, places: Ints, depth: Ints, found: Rows, ranks: Ranks, n_repeats: int = 0
) -> JudgedPart:
    """
    Apply what a policy says of ranked rows: ties, depth, and whether only judged documents count.

    Args:
        run: What the part is for.

        places: The queries.

        depth: How many documents each retrieved.

        found: The judged rows.

        ranks: Where they stand.

        n_repeats: How many repeated rows were dropped.

    Returns:
        The part.
    """
    policy = run.profile.policy
    tied = queries_with_ties(found, ranks)
    if policy.ties == "error" and len(tied):
        refuse_ties(run, tied)
    low, high = ranks.low, ranks.high
    if policy.depth is not None:
        depth = np.minimum(depth, policy.depth)
        kept = found.rank <= policy.depth
        found, low, high = found.where(kept), low[kept], high[kept]
    if policy.judged_only:
        if run.profile.negatives == "unjudged":
            kept = found.grade >= 0
            found, low, high = found.where(kept), low[kept], high[kept]
        order = np.lexsort((found.rank, found.sample))
        found, low = found.where(order), low[order]
        found = found._replace(rank=found.nth())
        depth = np.bincount(found.sample, minlength=len(run.qrels.queries))[places]
        low, high = _regrouped(found, low)
    return JudgedPart(places, depth, found, low, high, tied, n_repeats)


def queries_with_ties(found: Rows, ranks: Ranks) -> Ints:
    """
    Return the queries in which a document with a gain shares its score with one of another gain.

    Args:
        found: Judged rows.

        ranks: Where they stand.

    Returns:
        Distinct queries, as *found* numbers them.
    """
    inside = np.flatnonzero(ranks.low != ranks.high)
    if not len(inside):
        return inside
    order = inside[np.lexsort((ranks.low[inside], found.sample[inside]))]
    sample, low, high = found.sample[order], ranks.low[order], ranks.high[order]
    gain = np.maximum(found.grade[order], 0.0)
    edges = np.flatnonzero(_begins(sample, low))
    n_judged = np.diff(np.append(edges, len(order)))
    highest, lowest = np.maximum.reduceat(gain, edges), np.minimum.reduceat(gain, edges)
    lowest[n_judged < (high - low + 1)[edges]] = 0.0  # some of them are not judged
    return distinct(sample[edges][highest != lowest])


def refuse_ties(run: RunCollector, tied: Ints) -> None:
    """Refuse queries in which the order of equal scores matters."""
    run.refuse(
        Problem(
            f"query {shown(run.qrels.queries[place])!r} has equal scores whose order decides about its metrics, and "
            "policy says ties=error"
        )
        for place in tied[:_MOST_PROBLEMS].tolist()
    )


def _regrouped(found: Rows, low: Ints) -> tuple[Ints, Ints]:
    """Return the ranks that ties allow once only judged rows are left; rows stand in order."""
    edges = np.flatnonzero(_begins(found.sample, low))
    sizes = np.diff(np.append(edges, len(low)))
    first = np.repeat(found.rank[edges], sizes)
    return first, first + np.repeat(sizes, sizes) - 1


def _begins(sample: Ints, low: Ints) -> Flags:
    """Return which rows have another query or tie than the row before."""
    begins = np.ones(len(low), dtype=np.bool_)
    begins[1:] = (sample[1:] != sample[:-1]) | (low[1:] != low[:-1])
    return begins


def own_rows(batch: RankingBatch) -> Flags:
    """Return which rows retrieve a document that is called as the query is."""
    own = batch.names
    owners = batch.owners()
    rows = np.flatnonzero(batch.keys == own.keys()[owners])
    flags = np.zeros(len(batch.keys), dtype=np.bool_)
    flags[rows[batch.documents.at(rows).equal(own.at(owners[rows]))]] = True
    return flags
