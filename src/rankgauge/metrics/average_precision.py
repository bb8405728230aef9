"""
Average precision: precision at every relevant item, over all of the ground truth.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rankgauge.plugin import Cutoff, Judged, Scores, metric

__all__ = ["average_precision"]


def _details(judged: Judged, *, k: Cutoff | None = None) -> Mapping[str, Sequence[Any]]:
    earned = judged.credits(k)
    ranks: list[list[int]] = [[] for _ in range(judged.n)]
    for sample, rank in zip(earned.sample.tolist(), earned.rank.tolist(), strict=True):
        ranks[sample].append(rank)
    return {"relevant_count": judged.n_gold().tolist(), "relevant_at": ranks}


@metric(
    "retrieval-map",
    gold=("relevant", "passages"),
    matcher="chunk",
    short=("MAP", "AP", "map_cut_{k}"),
    laws=("bounded", "best-first", "relevant-helps", "padding", "tail", "duplicates", "monotone-in-k"),
    details=_details,
    joins=("relevant",),
)
def average_precision(judged: Judged, *, k: Cutoff | None = None) -> Scores:
    """
    Mean of the precision at each relevant item; its mean over samples is MAP.

    Formula: ``AP = sum over relevant ranks i of (relevant up to i) / i, divided by |relevant|``. What was not found
    counts as 0; the denominator is all of the ground truth, also under a cutoff. Source: trec_eval, measures `map`
    and `map_cut`.

    When to use it: the whole order matters and judgments are binary.

    Args:
        judged: The rankings of a batch of samples.

        k: How many results count; None for all.

    Returns:
        Shape (n,), from 0 to 1; NaN where no gold item is relevant.
    """
    earned = judged.credits(k)
    with np.errstate(invalid="ignore"):
        return judged.sum(earned, earned.nth() / earned.rank) / judged.n_gold()
