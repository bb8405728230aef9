"""
Joining by columns: which rows of some rankings are judged, for runs and for plain samples.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rankgauge.columns import Ints, Qrels, RankingBatch, Rows, Slices
from rankgauge.judging.ranking import Settled, settle
from rankgauge.judging.ranks import RepeatFinder
from rankgauge.policy import Policy, Profile
from rankgauge.samples import Block

__all__ = ["BlockJudge", "Joined", "JudgedBlock", "joined"]


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
        for place in np.flatnonzero((batch.lengths > 0) & (qrels.lengths > 0))[:1].tolist():
            retrieved = batch.documents.at(batch.starts[place : place + 1])
            relevant = qrels.documents.at(np.searchsorted(qrels.owners, [place]))
            return retrieved.strings()[0], relevant.strings()[0]
        return None


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
        order = np.argsort(rows)  # rows stand in order of sample and rank
        rows, judgments = rows[order], judgments[order]
        owners = qrels.owners[judgments]
        found = Rows(owners, rows - settled.batch.starts[owners] + 1, grades[judgments], judgments)
        return JudgedBlock(block, settled.batch.lengths, found, qrels, batch)
