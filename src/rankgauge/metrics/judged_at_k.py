"""
Judged@k: how much of what was retrieved the ground truth has an opinion on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rankgauge.plugin import Cutoff, Judged, Scores, metric

__all__ = ["judged_at_k"]


def _details(judged: Judged, *, k: Cutoff) -> Mapping[str, Sequence[Any]]:
    return {"judged_ranks": judged.judged_ranks(k).tolist(), "depth": judged.depth.tolist()}


@metric(
    "retrieval-judged-at-k",
    short=("judged", "Judged"),
    uses_rel=False,
    laws=("bounded", "relevant-helps", "tail"),
    defined=lambda judged: judged.graded.copy(),
    undefined="the ground truth is a plain list, which judges nothing but what it lists, or nothing was retrieved",
    details=_details,
    joins=("top_k",),
)
def judged_at_k(judged: Judged, *, k: Cutoff) -> Scores:
    """
    Fraction of the first *k* retrieved items that the ground truth judges, with any gain.

    Formula: ``judged@k = |ranks up to k whose item is judged| / min(k, depth)``. Source: the coverage figure that
    ir_measures reports as `Judged@k`.

    When to use it: beside any other score, to see how far unjudged items may distort it.

    Args:
        judged: The rankings of a batch of samples.

        k: How many results count, for all samples or for each.

    Returns:
        Shape (n,), from 0 to 1; NaN where the ground truth is a plain list or nothing was retrieved.
    """
    looked_at = np.minimum(judged.depth, k)
    with np.errstate(invalid="ignore"):
        return np.where(judged.graded, judged.judged_ranks(k) / looked_at, np.nan)
