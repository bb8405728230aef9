"""
Intervals of means of metrics with a range: Wilson's, Clopper and Pearson's, by betting, and Student's within the range.

Which is used where, and how often each covers the true mean: docs/explanation/comparing.md.
"""

from __future__ import annotations

import functools
import math
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankgauge.stats.estimates import MeanEstimate, effective_size, t_quantile

__all__ = [
    "IntervalMethod",
    "MeanInterval",
    "betting_interval",
    "by_cluster",
    "clopper_pearson",
    "interval_of_mean",
    "is_binary",
    "wilson",
]

_Floats = NDArray[np.float64]

IntervalMethod = Literal["t", "wilson", "clopper-pearson", "betting", "bca", "unseen"]


class MeanInterval(NamedTuple):
    """The interval of a mean, and how it was found."""

    low: float
    high: float
    method: IntervalMethod


def is_binary(values: _Floats) -> bool:
    """Return whether there are values, and each is 0 or 1."""
    return bool(len(values)) and bool(((values == 0) | (values == 1)).all())


def interval_of_mean(
    estimate: MeanEstimate,
    scale: tuple[float | None, float | None],
    *,
    binary: bool,
    exact: bool = False,
    confidence: float = 0.95,
    values: _Floats | None = None,
    clusters: NDArray[np.int64] | None = None,
    weights: _Floats | None = None,
) -> MeanInterval | None:
    """
    Return the interval of a mean of values on a scale from its lowest to its highest value, None if it has no end.

    *binary* says that all values are 0 or 1 on a scale from 0 to 1. *values* are what the estimate is of, with their
    clusters and weights; without them, as for totals, there is no betting interval. Clopper and Pearson's is of counts,
    which weighted samples are not: they have a betting interval in its place. None if there is no interval.
    """
    low, high = scale
    on_unit = binary and (low, high) == (0.0, 1.0)
    independent = estimate.df + 1 == estimate.n and weights is None
    if on_unit and (independent or not exact):
        n = _effective_size(estimate, confidence, None if weights is None else by_cluster(weights, clusters))
        function = clopper_pearson if exact else wilson
        name: IntervalMethod = "clopper-pearson" if exact else "wilson"
        return None if n is None else MeanInterval(*function(estimate.mean, n, confidence), name)
    if exact and low is not None and high is not None and high > low:
        if values is None or values.min() < low or values.max() > high:
            return None
        unit = (values - low) / (high - low)
        below, above = (low + (high - low) * end for end in betting_interval(unit, confidence, clusters, weights))
        return MeanInterval(below, above, "betting")
    ends_of_t = estimate.interval(confidence)
    if ends_of_t is None:
        return None
    least, most = -math.inf if low is None else low, math.inf if high is None else high
    if not least <= estimate.mean <= most:  # values outside of what the metric declares
        return MeanInterval(*ends_of_t, "t")
    return MeanInterval(max(ends_of_t[0], least), min(ends_of_t[1], most), "t")


def by_cluster(weights: _Floats, clusters: NDArray[np.int64] | None) -> _Floats:
    """Return what each cluster weighs."""
    if clusters is None:
        return weights
    sums: _Floats = np.bincount(np.unique(clusters, return_inverse=True)[1], weights=weights).astype(np.float64)
    return sums


def _effective_size(estimate: MeanEstimate, confidence: float, weights: _Floats | None = None) -> float | None:
    """
    Return how many independent values say as much of a share: n without clusters.

    With clusters it is n over the design effect, times ``(z / t)**2`` for the degrees of freedom (Korn & Graubard,
    Survey Methodology 1998), and at most n; if all values are equal, the number of clusters. With *weights*, those
    of samples or of whole clusters, it is likewise n over the design effect; if all values are equal, as many as
    so unequal ones count for. None for one cluster.
    """
    independent = estimate.df + 1 == estimate.n
    if independent and weights is None:
        return estimate.n
    if estimate.df < 1:
        return None if weights is None or not independent else estimate.n
    if not estimate.std:
        return estimate.df + 1 if weights is None else effective_size(weights)
    if not estimate.standard_error:
        return estimate.n
    ratio = 1.0 if independent else _z(confidence) / t_quantile((1 + confidence) / 2, estimate.df)
    return min(estimate.n, (estimate.std / estimate.standard_error * ratio) ** 2)


_USUAL_Z = 1.9599639845400536
"""The quantile of a normal distribution for 95 %, as `statistics` computes it."""


@functools.lru_cache(maxsize=64)
def _z(confidence: float) -> float:
    if confidence == 0.95:
        return _USUAL_Z
    from statistics import NormalDist  # loads decimals and fractions

    return NormalDist().inv_cdf((1 + confidence) / 2)


def wilson(share: float, n: float, confidence: float = 0.95) -> tuple[float, float]:
    """
    Return Wilson's score interval of a probability from a share of *n* (JASA 1927).

    The ends solve ``(share - p)**2 = z**2 p (1 - p) / n``.
    """
    z2 = _z(confidence) ** 2 / n
    middle = share + z2 / 2
    half = math.sqrt(z2 * (share * (1 - share) + z2 / 4))
    low, high = (middle - half) / (1 + z2), (middle + half) / (1 + z2)
    return max(0.0, low), 1.0 if share == 1 else min(1.0, high)


def clopper_pearson(share: float, n: float, confidence: float = 0.95) -> tuple[float, float]:
    """Return Clopper and Pearson's interval of a probability from a share of *n* (Biometrika 1934)."""
    tail, successes = (1 - confidence) / 2, round(share * n)
    low = 0.0 if not successes else _beta_quantile(tail, successes, n - successes + 1)
    high = 1.0 if successes == n else 1.0 - _beta_quantile(tail, n - successes, successes + 1)
    return low, high


def _beta_quantile(probability: float, a: float, b: float) -> float:
    """Return the quantile of a beta distribution, by bisection."""
    low, high = 0.0, 1.0
    while True:
        middle = (low + high) / 2
        if middle in {low, high}:
            return middle
        if _beta_share(middle, a, b) < probability:
            low = middle
        else:
            high = middle


def _beta_share(x: float, a: float, b: float) -> float:
    """
    Return the regularized incomplete beta function in (0, 1), by its continued fraction (DLMF 8.17.22, Lentz).

    For whole numbers a and b no denominator is 0, and the fraction ends at step b, where a term is 0.
    """
    if x > (a + 1) / (a + b + 2):
        return 1.0 - _beta_share(1 - x, b, a)
    factor = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    upper, lower = 1.0, 1.0 / (1 - (a + b) * x / (a + 1))
    fraction, step = lower, 0
    while True:
        step += 1
        even = step * (b - step) * x / ((a + 2 * step - 1) * (a + 2 * step))
        odd = -(a + step) * (a + b + step) * x / ((a + 2 * step) * (a + 2 * step + 1))
        for term in (even, odd):
            lower = 1.0 / (1 + term * lower)
            upper = 1 + term / upper
            fraction *= lower * upper
        if abs(lower * upper - 1) < 1e-15:
            return math.exp(factor) * fraction / a


_PRECISION = 1e-10
_BLOCK = 1 << 14


def betting_interval(
    values: _Floats,
    confidence: float = 0.95,
    clusters: NDArray[np.int64] | None = None,
    weights: _Floats | None = None,
) -> tuple[float, float]:
    """
    Return an interval of the mean of values from 0 to 1 that covers it at every n, whatever their distribution.

    It holds the means against which no hedged capital process wins ``1 / (1 - confidence)``: half of the capital bets
    that the mean is higher and half that it is lower (Waudby-Smith & Ramdas, JRSS B 2024, theorem 3). Each half is
    spread over constant bets, "diversified Kelly" in their appendix, since bets that follow the values seen so far
    would depend on the order of samples. With clusters a bet is on the sum of a cluster, the largest of which may lose
    all that was bet; with *weights* above 0 on a sample as often as it weighs, or on the weighted sum of a cluster.
    """
    if clusters is None and weights is None:
        unit, times = np.unique(values, return_counts=True)
        shares = np.ones(len(unit))
    else:
        _, codes = np.unique(np.arange(len(values)) if clusters is None else clusters, return_inverse=True)
        of_each = np.ones(len(values)) if weights is None else weights / weights.max()
        sizes = np.bincount(codes, weights=of_each)
        unit = np.minimum(np.bincount(codes, weights=of_each * values) / sizes, 1.0)
        times = np.ones(len(sizes), dtype=np.int64)
        shares = sizes / sizes.max()
    alpha = (1 - confidence) / 2
    return (
        _betting_bound(unit, times, shares, alpha),
        1.0 - _betting_bound(1.0 - unit, times, shares, alpha),
    )


def _betting_bound(unit: _Floats, times: NDArray[np.int64], weights: _Floats, alpha: float) -> float:
    """
    Return the highest mean at which bets on a higher one win ``1 / alpha``, from below.

    At a mean of m a bet of l turns the capital into the product of ``1 + l weight (value - m)``. The bets are
    ``sqrt(2 log(1 / alpha) / (n v))`` for variances v of ``m (1 - m)``, which is the highest possible, and halves,
    quarters and so on of it, and at most 1 / m, so that no capital is below 0. Every such product falls with m, so the
    bound is found by bisection.
    """
    wanted = -math.log(alpha)
    size = float((times * weights * weights).sum())
    halvings = np.arange(2 + max(1, int(size)).bit_length())
    bets, logs = np.sqrt(2 * wanted * 2.0**halvings / size), -np.log1p(halvings)
    logs -= np.logaddexp.reduce(logs)

    def wins(mean: float) -> bool:
        allowed = np.minimum(bets / math.sqrt(mean * (1 - mean)), 1 / mean)[:, None]
        capital = logs.copy()
        for start in range(0, len(unit), _BLOCK):
            block = slice(start, start + _BLOCK)
            lost_or_won = allowed * (weights[block] * (unit[block] - mean))
            with np.errstate(divide="ignore"):
                capital += (times[block] * np.log1p(lost_or_won)).sum(axis=1)
        return bool(np.logaddexp.reduce(capital) >= wanted)

    low, high = 0.0, float((times * weights * unit).sum() / (times * weights).sum())
    while high - low > _PRECISION:
        middle = (low + high) / 2
        if wins(middle):
            low = middle
        else:
            high = middle
    return low
