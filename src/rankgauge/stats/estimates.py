"""
Estimates: a mean with its standard error, and Student's t interval, test and one-sided bounds that follow from them.

For paired differences these are the paired t test. With clusters the standard error is that of Liang and Zeger for a
mean, as Miller describes it for evaluations (Adding error bars to evals, 2024).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankgauge.stats.aggregates import standard_deviation
from rankgauge.stats.exact import exact_sum
from rankgauge.stats.student import t_quantile, t_two_sided

__all__ = ["TIED", "MeanEstimate", "estimate_mean"]

TIED = 1e-12
"""Values that differ by no more than this are equal: it is above rounding, and far below any difference of scores."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanEstimate:
    """
    A mean and how far it can be trusted.

    Attributes:
        n: How many values.

        mean: Their mean.

        std: Sample standard deviation of the values (divided by n - 1); None for fewer than two, 0 where all are equal.

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
        """Return the mean over its standard error; None where there is no standard error, or it is 0."""
        return self.mean / self.standard_error if self.standard_error else None

    @property
    def p(self) -> float | None:
        """Return the two-sided p of Student's t test that the true mean is 0; None where t is."""
        return None if self.t is None else t_two_sided(self.t, self.df)

    def interval(self, confidence: float = 0.95) -> tuple[float, float] | None:
        """
        Return Student's t interval of the mean.

        Args:
            confidence: The probability that such an interval covers the true mean, above 0 and below 1.

        Returns:
            Lower and upper end, in the unit of the values; None where the standard error is 0 or unknown, since an
            interval of width 0 would promise what nobody knows.
        """
        if not self.standard_error:
            return None
        half = t_quantile((1 + confidence) / 2, self.df) * self.standard_error
        return self.mean - half, self.mean + half

    def bounds(self, confidence: float = 0.95) -> tuple[float, float] | None:
        """
        Return the one-sided lower and upper bound of the mean.

        Args:
            confidence: The probability that the true mean is above the lower bound, and as much that it is below the
                upper one; above 0.5 and below 1.

        Returns:
            Both bounds, in the unit of the values; None where `interval` is.
        """
        return self.interval(2 * confidence - 1)


def estimate_mean(
    values: Sequence[float] | NDArray[np.float64], clusters: NDArray[np.int64] | None = None
) -> MeanEstimate:
    """
    Estimate a mean.

    Without clusters the squared standard error is ``std**2 / n`` with n - 1 degrees of freedom; with G clusters it is
    ``G / (G - 1) / n**2`` times the sum over clusters of the squared sum of deviations, with G - 1 degrees.

    Args:
        values: The values, for example paired differences; none of them NaN.

        clusters: The cluster of each value, as any integers; None where values are independent.

    Returns:
        The estimate, the same for any order of the values.

    Raises:
        ValueError: There is no value.
    """
    array = np.asarray(values, dtype=np.float64)
    n = len(array)
    if not n:
        msg = "the mean of no values cannot be estimated"
        raise ValueError(msg)
    mean = exact_sum(array) / n
    std = standard_deviation(array, mean)
    if std is not None and array.max() - array.min() <= TIED:
        std = 0.0
    if clusters is None:
        return MeanEstimate(
            n=n, mean=mean, std=std, standard_error=None if std is None else std / math.sqrt(n), df=n - 1
        )
    _, codes = np.unique(clusters, return_inverse=True)
    groups: list[list[float]] = [[] for _ in range(int(codes.max()) + 1)]
    for code, value in zip(codes.tolist(), array.tolist(), strict=True):
        groups[code].append(value - mean)
    count = len(groups)
    error = None
    if count > 1:
        sums = [math.fsum(group) for group in groups]
        varies = bool(std) and max(map(abs, sums)) > TIED  # clusters of one mean leave nothing but rounding
        error = math.sqrt(math.fsum(each**2 for each in sums) * count / (count - 1)) / n if varies else 0.0
    return MeanEstimate(n=n, mean=mean, std=std, standard_error=error, df=count - 1)
