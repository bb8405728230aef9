"""
Reciprocal rank: how far down the first relevant item stands.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rankgauge.plugin import Cutoff, Judged, Scores, metric

__all__ = ["reciprocal_rank"]


def _details(judged: Judged, *, k: Cutoff | None = None) -> Mapping[str, Sequence[Any]]:
    return {"first_relevant_rank": [rank or None for rank in judged.first_rank(k).tolist()]}


@metric(
    "retrieval-mrr",
    gold=("relevant", "passages"),
    matcher="chunk",
    short=("MRR", "RR", "recip_rank"),
    laws=(
        "bounded",
        "perfect-is-one",
        "best-first",
        "relevant-helps",
        "padding",
        "tail",
        "duplicates",
        "monotone-in-k",
    ),
    details=_details,
)
def reciprocal_rank(judged: Judged, *, k: Cutoff | None = None) -> Scores:
    """
    One over the rank of the first relevant item; its mean over samples is MRR.

    Formula: ``RR = 1 / rank``, 0 where nothing relevant was retrieved (within *k*, if one is given).
    Source: trec_eval, measure `recip_rank`; Voorhees, The TREC-8 Question Answering Track Report, 1999.

    When to use it: the user wants one answer and reads from the top.

    Args:
        judged: The rankings of a batch of samples.

        k: How many results count; None for all.

    Returns:
        Shape (n,), from 0 to 1; NaN where no gold item is relevant.
    """
    ranks = judged.first_rank(k)
    found = np.divide(1.0, ranks, out=np.zeros(judged.n), where=ranks > 0)
    return np.where(judged.n_gold() > 0, found, np.nan)
