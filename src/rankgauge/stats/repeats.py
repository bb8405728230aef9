"""
Repeats: where the variance of repeated scores comes from, what more of them would buy, and how many of k succeed.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankgauge.stats.estimates import TIED

__all__ = ["VarianceParts", "mean_variance", "pass_rates", "unstable", "variance_parts"]

_Array = NDArray[np.float64]


class VarianceParts(NamedTuple):
    """
    The variance of one score, in two parts that add up.

    Attributes:
        between: Variance of the true means of samples; 0 if samples differ by no more than repeats do.

        within: Variance of the repeats of one sample about its mean.
    """

    between: float
    within: float

    def standard_error(self, samples: int, repeats: float) -> float:
        """Return the standard error of a mean over so many samples, each the mean of so many repeats."""
        return math.sqrt((self.between + self.within / repeats) / samples)


def variance_parts(repeats: _Array) -> VarianceParts | None:
    """
    Estimate the parts of the variance by one-way analysis of variance with random effects; shape (samples, repeats).

    NaN is a repeat that does not count; samples may have different numbers of repeats. None if there are fewer than
    two samples, or no sample has two repeats. Source: Searle, Casella and McCulloch, Variance Components, 1992, 3.6.
    """
    counts, means, squares = _moments(repeats)
    n, total = len(counts), int(counts.sum())
    if n < 2 or total == n:
        return None
    within = math.fsum(squares.tolist()) / (total - n)
    grand = math.fsum((counts * means).tolist()) / total
    spread = math.fsum((counts * (means - grand) ** 2).tolist()) / (n - 1)
    size = (total - math.fsum((counts**2).tolist()) / total) / (n - 1)
    return VarianceParts(max(0.0, (spread - within) / size), within)


def mean_variance(repeats: _Array) -> _Array:
    """Return the estimated variance of each sample's mean; 0 if it has fewer than two repeats; shape (samples,)."""
    counts = (~np.isnan(repeats)).sum(axis=1)
    varies = counts > 1
    variances = np.zeros(len(repeats))
    variances[varies] = np.nanvar(repeats[varies], axis=1, ddof=1) / counts[varies]
    return variances


def _moments(repeats: _Array) -> tuple[_Array, _Array, _Array]:
    """Return of each sample with a repeat their number, mean, and sum of squared deviations."""
    kept = repeats[~np.isnan(repeats).all(axis=1)]
    counts = (~np.isnan(kept)).sum(axis=1).astype(np.float64)
    means = np.nansum(kept, axis=1) / counts
    return counts, means, np.nansum((kept - means[:, None]) ** 2, axis=1)


def unstable(repeats: _Array) -> NDArray[np.int64]:
    """Return the samples whose repeats do not all score the same, those that vary most first; shape (samples,)."""
    has_any = ~np.isnan(repeats).all(axis=1)
    spread = np.zeros(len(repeats))
    spread[has_any] = np.nanmax(repeats[has_any], axis=1) - np.nanmin(repeats[has_any], axis=1)
    order = np.argsort(-spread, kind="stable")
    return order[spread[order] > TIED]


def pass_rates(repeats: _Array) -> list[tuple[int, float, float]]:
    """
    Return for each k the probability that some of k repeats pass (pass@k), and that all do (pass^k), over all samples.

    Scores are 0 or 1. Of c passes among n repeats, the unbiased estimates are ``1 - C(n - c, k) / C(n, k)`` (Chen et
    al., Evaluating Large Language Models Trained on Code, 2021) and ``C(c, k) / C(n, k)`` (Yao et al., tau-bench,
    2024). A sample with fewer than k repeats is left out for that k.
    """
    counts = (~np.isnan(repeats)).sum(axis=1).tolist()
    passes = np.nansum(repeats, axis=1).astype(np.int64).tolist()
    rates = []
    for k in range(1, max(counts, default=0) + 1):
        pairs = [(n, c) for n, c in zip(counts, passes, strict=True) if n >= k]
        some = math.fsum(1 - math.comb(n - c, k) / math.comb(n, k) for n, c in pairs) / len(pairs)
        every = math.fsum(math.comb(c, k) / math.comb(n, k) for n, c in pairs) / len(pairs)
        rates.append((k, some, every))
    return rates
