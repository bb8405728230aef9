"""
Wilcoxon's signed-rank test, for those who ask for it by name: its null hypothesis is not about the mean.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rankgauge.stats.estimates import TIED

__all__ = ["wilcoxon"]

_ENUMERATED = 50


def wilcoxon(differences: NDArray[np.float64]) -> float:
    """
    Return the two-sided p of Wilcoxon's signed-rank test.

    Differences of at most 1e-12 are left out; others that differ by no more share the mean of their ranks. Up to 50
    the distribution over all signs is exact, ties included; above, it is the normal one with the variance that the
    ranks have, without correction for continuity.

    Args:
        differences: Paired differences.

    Returns:
        The p; 1 where no pair differs.
    """
    kept = differences[np.abs(differences) > TIED]
    if not len(kept):
        return 1.0
    doubled = _doubled_ranks(np.abs(kept))
    total, positive = int(doubled.sum()), int(doubled[kept > 0].sum())
    if len(kept) > _ENUMERATED:
        z = abs(2 * positive - total) / math.sqrt(float(np.square(doubled).sum()))
        return math.erfc(z / math.sqrt(2))
    ways = np.zeros(total + 1)
    ways[0] = 1.0
    for rank in doubled.tolist():
        ways[rank:] += ways[:-rank].copy()
    smaller = min(positive, total - positive)
    return min(1.0, 2 * float(ways[: smaller + 1].sum()) / 2.0 ** len(kept))


def _doubled_ranks(sizes: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return twice the rank of each size, which is a whole number also where equal sizes share a rank."""
    order = np.argsort(sizes, kind="stable")
    begins = np.flatnonzero(np.diff(sizes[order], prepend=-1.0) > TIED)
    ends = np.append(begins[1:], len(sizes))
    doubled = np.empty(len(sizes), dtype=np.int64)
    doubled[order] = np.repeat(begins + 1 + ends, ends - begins)
    return doubled
