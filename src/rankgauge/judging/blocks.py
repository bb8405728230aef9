"""
Blocks: plain samples judged by id as the queries of a run are, by columns.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rankgauge.columns import Ints, Qrels, RankingBatch, Rows, Slices, Words
from rankgauge.judging.joining import joined
from rankgauge.judging.repeats import RepeatFinder
from rankgauge.policy import Profile
from rankgauge.samples import Block, IdLists

__all__ = ["BlockJudge", "JudgedBlock"]


class JudgedBlock(NamedTuple):
    """
    A judged block.

    Attributes:
        block: The samples.

        depth: How many items each retrieved, after policy; shape (n,).

        found: The judged rows, in order of sample and rank.

        qrels: The ground truth, with one query for each sample.

        keys: A hash of each retrieved id.

        looks: One retrieved id and one gold id, of a sample that has both; for messages.
    """

    block: Block
    depth: Ints
    found: Rows
    qrels: Qrels
    keys: Words
    looks: tuple[str, str] | None


class BlockJudge:
    """Judges blocks one after another, under a policy that keeps rankings as they are given."""

    def __init__(self, profile: Profile) -> None:
        self._policy = profile.policy
        self._finder = RepeatFinder()

    def judge(self, block: Block) -> JudgedBlock:
        """Join what samples retrieved with their ground truth."""
        retrieved, relevant = _slices(block.retrieved), _slices(block.gold)
        grades = np.ones(len(relevant.start)) if block.gains is None else np.array(block.gains, dtype=np.float64)
        qrels = Qrels(block.ids, np.array(block.gold.counts, dtype=np.int64), grades, relevant)
        batch = RankingBatch(
            names=Slices.of_strings(block.ids),
            lengths=np.array(block.retrieved.counts, dtype=np.int64),
            documents=retrieved,
            keys=retrieved.keys(),
            scores=np.zeros(len(retrieved.start)),
        )
        settled, rows, judgments = joined(batch, qrels, np.arange(len(block.ids)), self._policy, self._finder)
        order = np.argsort(rows)
        rows, judgments = rows[order], judgments[order]
        owners = qrels.owners[judgments]
        found = Rows(owners, rows - settled.batch.starts[owners] + 1, grades[judgments], judgments)
        return JudgedBlock(block, settled.batch.lengths, found, qrels, batch.keys, _looks(batch, qrels))


def _slices(lists: IdLists) -> Slices:
    return Slices.of_joined(lists.joined, np.frombuffer(lists.lengths, dtype=np.uint8).astype(np.int64))


def _looks(batch: RankingBatch, qrels: Qrels) -> tuple[str, str] | None:
    """Return a retrieved id and a gold id of the first sample that has both."""
    for place in np.flatnonzero((batch.lengths > 0) & (qrels.lengths > 0))[:1].tolist():
        first = int(batch.starts[place]), int(qrels.lengths[:place].sum())
        retrieved, relevant = (
            ids.at(slice(at, at + 1)).texts()[0].decode()
            for ids, at in zip((batch.documents, qrels.documents), first, strict=True)
        )
        return retrieved, relevant
    return None
