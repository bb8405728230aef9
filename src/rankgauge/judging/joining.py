"""
Joining by columns: which rows of some rankings are judged, once a policy has dropped what it drops.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rankgauge.columns import Ints, Qrels, RankingBatch
from rankgauge.judging.ranking import Settled, settle
from rankgauge.judging.repeats import RepeatFinder
from rankgauge.policy import Policy

__all__ = ["Joined", "joined"]


class Joined(NamedTuple):
    """
    The judged rows of some whole queries.

    Attributes:
        settled: The rows that the policy leaves.

        rows: Which of these are judged, in any order.

        judgments: The judgment of each.
    """

    settled: Settled
    rows: Ints
    judgments: Ints


def joined(batch: RankingBatch, qrels: Qrels, places: Ints, policy: Policy, finder: RepeatFinder) -> Joined:
    """Join the rankings of whole queries, which are at *places* in the judgments, with these."""
    pairs = qrels.salted(batch.keys, np.repeat(places, batch.lengths))
    settled = settle(batch, pairs, policy, finder.find)
    batch = settled.batch
    by_key = qrels.are_few  # pairs can be the same where keys are not
    if by_key:
        rows, judgments = qrels.find_few(batch.keys, places, batch.lengths)
    else:
        rows, judgments = qrels.find(settled.pairs)
    real = batch.documents.at(rows).equal(qrels.documents.at(judgments), hashed=by_key)
    return Joined(settled, rows[real], judgments[real])
