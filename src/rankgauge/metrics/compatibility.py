"""
Compatibility: how similar a ranking is to an ideal one, for graded judgments and for preferences.

Clarke, Vtyurina & Smucker, Assessing top-k preferences, TOIS 2021.
"""

from __future__ import annotations

import numpy as np

from rankgauge.metrics.family import retrieval
from rankgauge.plugin import Cutoff, Judged, Rows, Scores
from rankgauge.stats.overlap import agreement_weights, check_persistence

__all__ = ["compatibility"]


def _check(*, p: float) -> None:
    check_persistence(p)


@retrieval(
    "retrieval-compatibility",
    short=("Compat", "compatibility"),
    uses_rel=False,
    check=_check,
    laws=("bounded", "best-first", "relevant-helps", "tail"),
    undefined="the ground truth has no item with a gain",
)
def compatibility(judged: Judged, *, k: Cutoff | None = None, p: float = 0.95, normalize: bool = True) -> Scores:
    """
    Rank-biased overlap of the ranking with the ideal ranking that is most like it.

    Formula: ``sum over depths d up to D of p**(d - 1) * |first d results that are among the first d ideal items| / d``,
    divided by its value for the ideal ranking itself. The ideal ranking has all items with a gain above 0, highest
    first; equal ones stand in the order in which they were retrieved, which makes the overlap as high as it can be. *D*
    is *k*, or else the longer of both lengths. Only the order of gains has an effect, so levels of preference may serve
    as gains. Source: Clarke, Vtyurina & Smucker, Assessing top-k preferences, TOIS 2021; ir_measures, `Compat`. With
    ``@1000`` as in the authors' own tool.

    When to use it: judgments are preferences, or a few best items are known, and numbers for gains would be made up.

    Args:
        judged: The rankings of a batch of samples.

        k: How deep to compare. None for the longer of ranking and ideal: unjudged results at the end of a short ranking
            then count, as in ir_measures.

        p: The persistence, above 0 and at most 0.9999.

        normalize: Whether to divide by the value of the ideal ranking; otherwise the divisor is the sum of all
            ``p**(d - 1)``, and few ideal items keep scores low.

    Returns:
        Shape (n,), from 0 to 1; NaN where no gold item has a gain.
    """
    judged = judged.by_gain()
    shown, cutoff = judged.depth if k is None else np.minimum(judged.depth, k), judged.ideal_cutoff(k)
    depth = np.maximum(shown, judged.n_gold()) if cutoff is None else np.broadcast_to(cutoff, judged.n)
    weights = agreement_weights(p, int(depth.max(initial=0)))
    end = np.minimum(depth, len(weights) - 1)
    found = judged.credits(k)
    ideal = _ideal(judged, found)
    place = np.zeros(len(judged.gold.sample), dtype=np.int64)
    place[ideal.gold] = ideal.rank

    def overlap(sample: np.ndarray, from_depth: np.ndarray) -> Scores:
        worth = weights[end[sample]] - weights[np.minimum(from_depth - 1, end[sample])]
        return np.bincount(sample, weights=worth, minlength=judged.n).astype(np.float64, copy=False)

    scores = overlap(found.sample, np.maximum(found.rank, place[found.gold]))
    best = overlap(ideal.sample, ideal.rank) if normalize else (1.0 - p ** depth.astype(np.float64)) / (1.0 - p)
    return np.where(judged.n_gold() > 0, np.minimum(scores / np.where(best > 0, best, 1.0), 1.0), np.nan)


def _ideal(judged: Judged, found: Rows) -> Rows:
    """Return the gold items with a gain, best first; equal ones as they were found, those not found last."""
    gold = judged.gold.where(judged.relevance.of(judged.gold.grade))
    at = np.full(len(judged.gold.sample), np.iinfo(np.int64).max)
    at[found.gold[::-1]] = found.rank[::-1]
    ordered = gold.where(np.lexsort((at[gold.gold], -gold.grade, gold.sample)))
    return ordered._replace(rank=ordered.nth())
