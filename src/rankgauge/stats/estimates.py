"""
Estimates: a mean with its standard error, Student's t, and the BCa bootstrap for those who ask for it by name.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypedDict

import numpy as np
from numpy.typing import NDArray

from rankgauge.stats.aggregates import exact_sum, standard_deviation

__all__ = [
    "FEW_CLUSTERS",
    "TIED",
    "Bootstrap",
    "MeanEstimate",
    "affordable_resamples",
    "bootstrap_bca",
    "effective_size",
    "estimate_mean",
    "gamma_ratio",
    "t_quantile",
    "t_two_sided",
    "weighted_mean",
]

_SERIES_FROM = 50.0
"""From here on `gamma_ratio` uses its asymptotic series; below, `math.lgamma` loses no digit that matters."""

_SERIES = (-1 / 8, 1 / 128, 5 / 1024, -21 / 32768, -399 / 262144, 869 / 4194304)
"""Coefficients of x**-1, x**-2, ... in Gamma(x + 1/2) / (Gamma(x) sqrt(x))."""

_WIDTH = 1 / 16
_NODES = [
    (math.exp(math.pi / 2 * math.sinh(u)), math.pi / 2 * math.cosh(u))
    for u in (_WIDTH * step for step in range(-80, 81))
]
"""Abscissas of the rule on (0, infinity), and their weights relative to the abscissa."""

_MOST_STEPS = 200
"""More of Newton's steps than any quantile takes; a tail of 1e-15 with one degree of freedom takes about sixty."""


def t_two_sided(t: float, df: float) -> float:
    """Return the probability that a t variable lies at least as far from 0 as *t*, within a relative error of 1e-12."""
    t = abs(t)
    # The density at t + s over that at t is (1 + (2ts + s**2) / (df + t**2)) ** -power. Its scale makes s the unit.
    power, room = (df + 1) / 2, df + t * t
    unit = room / (math.sqrt(power * room) + power * t)
    total = math.fsum(
        weight * s * math.exp(-power * math.log1p(unit * s * (2 * t + unit * s) / room)) for s, weight in _NODES
    )
    return min(1.0, 2 * _density(t, df) * unit * _WIDTH * total)


@functools.lru_cache(maxsize=1024)  # every mean over the same samples asks for the same one
def t_quantile(probability: float, df: float) -> float:
    """
    Return the quantile of Student's t distribution; raise `ValueError` if there is none.

    The relative error is below 1e-12 for probabilities that are not within 0.01 of one half.
    """
    if not (0 < probability < 1 and df > 0):
        wanted = "a probability between 0 and 1 and degrees of freedom above 0"
        raise ValueError(f"a t quantile needs {wanted}, not {probability}, {df}")
    if probability <= 0.5:
        return 0.0 if probability == 0.5 else -t_quantile(1 - probability, df)
    tail = 2 * (1 - probability)
    # The tail is convex above 0: begun there, Newton's method climbs to the root, and passes it by rounding only.
    t = 0.0
    for _ in range(_MOST_STEPS):
        step = (t_two_sided(t, df) - tail) / (2 * _density(t, df))
        t += step
        if step <= 1e-15 * t:
            break
    return t


def gamma_ratio(x: float) -> float:
    """Return Gamma(x + 1/2) / Gamma(x) for an *x* above 0."""
    if x < _SERIES_FROM:
        return math.exp(math.lgamma(x + 0.5) - math.lgamma(x))
    return math.sqrt(x) * (1 + sum(factor / x**power for power, factor in enumerate(_SERIES, 1)))


def _density(t: float, df: float) -> float:
    return gamma_ratio(df / 2) / math.sqrt(df * math.pi) * math.exp(-(df + 1) / 2 * math.log1p(t * t / df))


FEW_CLUSTERS = 40
"""Below so many clusters, standard errors tend to be too small."""

TIED = 1e-12
"""Values that differ by no more than this are equal: it is above rounding, and far below any difference of scores."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanEstimate:
    """
    A mean and how far it can be trusted.

    Attributes:
        n: How many values.

        mean: Their mean.

        std: Sample standard deviation of the values (divided by n - 1); None for fewer than two, 0 if all are equal.

        standard_error: Of the mean; None for fewer than two values or clusters.

        df: Degrees of freedom: n - 1, or the number of clusters - 1.
    """

    n: int
    mean: float
    std: float | None
    standard_error: float | None
    df: int

    @property
    def t(self) -> float | None:
        """Return the mean over its standard error; None if there is no standard error, or it is 0."""
        return self.mean / self.standard_error if self.standard_error else None

    @property
    def p(self) -> float | None:
        """Return the two-sided p of Student's t test that the true mean is 0; None if t is."""
        return None if self.t is None else t_two_sided(self.t, self.df)

    def interval(self, confidence: float = 0.95) -> tuple[float, float] | None:
        """
        Return Student's t interval of the mean; None if the standard error is 0 or unknown.

        An interval of width 0 would claim to know the mean exactly.
        """
        if not self.standard_error:
            return None
        half = t_quantile((1 + confidence) / 2, self.df) * self.standard_error
        return self.mean - half, self.mean + half

    def bounds(self, confidence: float = 0.95) -> tuple[float, float] | None:
        """
        Return the one-sided lower and upper bound of the mean; None if `interval` is.

        *confidence* is the probability that the mean is above the lower bound, and as much that it is below the upper.
        """
        return self.interval(2 * confidence - 1)


def weighted_mean(values: NDArray[np.float64], weights: NDArray[np.float64]) -> float | None:
    """Return ``sum(w x) / sum(w)``, the same for any order of the values; None if nothing has a weight above 0."""
    total = exact_sum(weights)
    return exact_sum(weights * values) / total if total else None


def effective_size(weights: NDArray[np.float64]) -> float:
    """Return how many values of one weight say as much: ``sum(w)**2 / sum(w**2)`` (Kish, Survey Sampling 1965)."""
    shares = weights / weights.max()
    return exact_sum(shares) ** 2 / exact_sum(shares * shares)


def estimate_mean(
    values: Sequence[float] | NDArray[np.float64],
    clusters: NDArray[np.int64] | None = None,
    weights: NDArray[np.float64] | None = None,
) -> MeanEstimate:
    """
    Estimate a mean of values that are not NaN, the same for any order of them; raise `ValueError` if there are none.

    Without clusters the squared standard error is ``std**2 / n`` with n - 1 degrees of freedom. With G clusters, given
    as an integer for each value, it is ``G / (G - 1) / n**2`` times the sum over clusters of the squared sum of
    deviations, with G - 1 degrees. With *weights* the mean is ``sum(w x) / sum(w)``, and each deviation counts
    ``w n / sum(w)`` times: the linearized error of a ratio of two sums, in which the weights vary with the samples
    (Cochran, Sampling Techniques 1977, chapter 6). Values of weight 0 count for nothing, also not in n.
    """
    array = np.asarray(values, dtype=np.float64)
    if weights is not None:
        return _weighted_estimate(array, clusters, weights)
    n = len(array)
    if not n:
        raise ValueError("the mean of no values cannot be estimated")
    mean = exact_sum(array) / n
    std = standard_deviation(array, mean)
    if std is not None and array.max() - array.min() <= TIED:
        std = 0.0
    if clusters is None:
        return MeanEstimate(
            n=n, mean=mean, std=std, standard_error=None if std is None else std / math.sqrt(n), df=n - 1
        )
    return MeanEstimate(n=n, mean=mean, std=std, **_error_by_clusters(array - mean, clusters, varies=bool(std)))


class _Error(TypedDict):
    standard_error: float | None
    df: int


def _error_by_clusters(deviations: NDArray[np.float64], clusters: NDArray[np.int64], *, varies: bool) -> _Error:
    """Return the standard error of a mean from the deviations of its values, and the degrees of freedom."""
    _, codes = np.unique(clusters, return_inverse=True)
    groups: list[list[float]] = [[] for _ in range(int(codes.max()) + 1)]
    for code, deviation in zip(codes.tolist(), deviations.tolist(), strict=True):
        groups[code].append(deviation)
    count = len(groups)
    error = None
    if count > 1:
        sums = [math.fsum(group) for group in groups]
        varies = varies and max(map(abs, sums)) > TIED  # clusters of one mean leave nothing but rounding
        squares = math.fsum(each**2 for each in sums) * count / (count - 1)
        error = math.sqrt(squares) / len(deviations) if varies else 0.0
    return {"standard_error": error, "df": count - 1}


def _weighted_estimate(
    values: NDArray[np.float64], clusters: NDArray[np.int64] | None, weights: NDArray[np.float64]
) -> MeanEstimate:
    """Return what `estimate_mean` does if values have weights."""
    counts = weights > 0
    values, weights = values[counts], weights[counts]
    n = len(values)
    mean = weighted_mean(values, weights)
    if mean is None:
        raise ValueError("the mean of values without any weight cannot be estimated")
    factors = weights * (n / exact_sum(weights))
    std = None
    if n > 1:
        varies = values.max() - values.min() > TIED
        std = math.sqrt(exact_sum(factors * (values - mean) ** 2) / (n - 1)) if varies else 0.0
    groups = np.arange(n) if clusters is None else clusters[counts]
    error = _error_by_clusters(factors * (values - mean), groups, varies=bool(std))
    return MeanEstimate(n=n, mean=mean, std=std, **error)


_AT_ONCE = 1 << 20
_MOST_DRAWS = 1 << 30  # some ten seconds
_LEAST_RESAMPLES = 1000


def affordable_resamples(resamples: int, n: int) -> int:
    """Return how many of so many resamples of *n* values are drawn: no more than some seconds take, 1,000 at least."""
    return min(resamples, max(_MOST_DRAWS // max(n, 1), _LEAST_RESAMPLES))


class Bootstrap(NamedTuple):
    """
    What the bootstrap says of a mean.

    Attributes:
        interval: The bias-corrected and accelerated interval; None if the values do not vary.

        p: The two-sided level at which that interval would end at 0, at least 1 / (resamples + 1); 1 if all values
            are 0, None if they do not vary otherwise.
    """

    interval: tuple[float, float] | None
    p: float | None


def bootstrap_bca(
    values: NDArray[np.float64],
    *,
    weights: NDArray[np.float64] | None = None,
    confidence: float = 0.95,
    resamples: int = 100_000,
    seed: int = 0,
) -> Bootstrap:
    """
    Bootstrap a mean of independent values by drawing so many samples, each as large as the values.

    Drawn sums are exact integers on a grid, so that interval and p are the same on every machine. With *weights*, which
    are above 0, values are drawn together with their weights.
    """
    from statistics import NormalDist  # loads decimals and fractions, for those who ask for the bootstrap

    n, normal = len(values), NormalDist()
    if n < 2 or np.ptp(values) <= TIED:
        return Bootstrap(None, None if values.any() else 1.0)
    (grid, scale), sizes, of_size = _on_grid(values if weights is None else weights * values), np.ones(n), 0
    sums = _sums(grid, resamples, seed)
    if weights is not None:
        sizes, of_size = _on_grid(weights)
        sums /= _sums(sizes, resamples, seed)  # of the same draws
    means = np.sort(sums)
    observed = float(grid.sum()) / (1.0 if weights is None else float(sizes.sum()))
    below, equal = (float(np.searchsorted(means, observed, side)) for side in ("left", "right"))
    bias = normal.inv_cdf(_inside((below + equal) / 2, resamples))
    deviations = grid - observed / n if weights is None else grid - observed * sizes
    acceleration = math.fsum((deviations**3).tolist()) / (6 * math.fsum((deviations**2).tolist()) ** 1.5)
    ends = []
    for tail in ((1 - confidence) / 2, (1 + confidence) / 2):
        z = bias + normal.inv_cdf(tail)
        share = normal.cdf(bias + z / (1 - acceleration * z))
        ends.append(means[min(int(share * resamples), resamples - 1)])
    low, high = (math.ldexp(float(end), of_size - scale) / (n if weights is None else 1) for end in ends)
    below, equal = (float(np.searchsorted(means, 0.0, side)) for side in ("left", "right"))
    z = normal.inv_cdf(_inside((below + equal) / 2, resamples)) - bias
    z = z / (1 + acceleration * z) - bias
    return Bootstrap((low, high), max(1 / (resamples + 1), 2 * normal.cdf(-abs(z))))


def _on_grid(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], int]:
    """Return values as integers of which any number up to theirs add up without rounding, and the power of two."""
    scale = 52 - math.frexp(len(values) * float(np.abs(values).max()))[1]
    return np.rint(np.ldexp(values, scale)), scale


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
