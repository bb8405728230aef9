"""
The BCa bootstrap of a mean, for those who ask for it by name: for few samples its intervals are too narrow.

Efron, Better bootstrap confidence intervals, JASA 1987.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankgauge.stats.estimates import TIED

__all__ = ["Bootstrap", "bootstrap_bca"]

_AT_ONCE = 1 << 20
_NORMAL = NormalDist()


class Bootstrap(NamedTuple):
    """
    What the bootstrap says of a mean.

    Attributes:
        interval: The bias-corrected and accelerated interval; None where the values do not vary.

        p: The two-sided level at which that interval would end at 0, at least 1 / (resamples + 1); 1 where all values
            are 0, None where they do not vary otherwise.
    """

    interval: tuple[float, float] | None
    p: float | None


def bootstrap_bca(
    values: NDArray[np.float64], *, confidence: float = 0.95, resamples: int = 100_000, seed: int = 0
) -> Bootstrap:
    """
    Bootstrap a mean of independent values by drawing so many samples, each as large as the values.

    Drawn sums are exact integers on a grid, so that interval and p are the same on every machine.
    """
    n = len(values)
    if n < 2 or np.ptp(values) <= TIED:
        return Bootstrap(None, None if values.any() else 1.0)
    scale = 52 - math.frexp(n * float(np.abs(values).max()))[1]
    grid = np.rint(np.ldexp(values, scale))
    means = np.sort(_sums(grid, resamples, seed))
    observed = float(grid.sum())
    below, equal = (float(np.searchsorted(means, observed, side)) for side in ("left", "right"))
    bias = _NORMAL.inv_cdf(_inside((below + equal) / 2, resamples))
    deviations = grid - observed / n
    acceleration = math.fsum((deviations**3).tolist()) / (6 * math.fsum((deviations**2).tolist()) ** 1.5)
    ends = []
    for tail in ((1 - confidence) / 2, (1 + confidence) / 2):
        z = bias + _NORMAL.inv_cdf(tail)
        share = _NORMAL.cdf(bias + z / (1 - acceleration * z))
        ends.append(means[min(int(share * resamples), resamples - 1)])
    low, high = (math.ldexp(float(end), -scale) / n for end in ends)
    below, equal = (float(np.searchsorted(means, 0.0, side)) for side in ("left", "right"))
    z = _NORMAL.inv_cdf(_inside((below + equal) / 2, resamples)) - bias
    z = z / (1 + acceleration * z) - bias
    return Bootstrap((low, high), max(1 / (resamples + 1), min(1.0, 2 * _NORMAL.cdf(-abs(z)))))


def _inside(count: float, resamples: int) -> float:
    """Return a share that a normal quantile exists of: at least half a resample away from 0 and 1."""
    return min(max(count, 0.5), resamples - 0.5) / resamples


def _sums(grid: NDArray[np.float64], resamples: int, seed: int) -> NDArray[np.float64]:
    n = len(grid)
    rows = max(1, _AT_ONCE // n)
    sums = np.empty(resamples)
    for block, start in enumerate(range(0, resamples, rows)):
        stop = min(start + rows, resamples)
        words = np.random.Philox(key=seed, counter=[0, 0, 1, block]).random_raw(rows * n).reshape(rows, n)
        picks = ((words[: stop - start] >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32)
        sums[start:stop] = grid[picks.astype(np.int64)].sum(axis=1)
    return sums
