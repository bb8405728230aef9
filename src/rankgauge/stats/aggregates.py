"""
Aggregates: one number from many, exactly rounded, and the exact sums that make the order of addition irrelevant.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from fractions import Fraction

__all__ = [
    "AGGREGATES",
    "PERCENTILES",
    "ExactSum",
    "aggregate",
    "concluded",
    "exact_reading",
    "exact_sum",
    "histogram",
    "pass_rate",
    "percentile",
    "percentile_of_sorted",
    "standard_deviation",
    "sum_of_squares",
    "terms",
]

_MANY = 500
"""From how many values on a few passes of numpy are faster than one of `math.fsum`."""

_HIGHEST = 2.0**900
"""Up to which value there are powers of two that are larger than any number of such values together."""

_SPLITTER = 2.0**27 + 1


@dataclass(frozen=True, slots=True)
class ExactSum:
    """
    A sum that nothing was rounded from.

    Attributes:
        parts: Few floats, the largest first; added up without rounding they are the sum.
    """

    parts: tuple[float, ...] = ()

    @classmethod
    def of(cls, values: Iterable[float]) -> ExactSum:
        """Return the sum of finite values."""
        # fsum rounds once. What it rounded away is the sum of the values and minus what was found, and so on:
        # 1e16 + 1 + 1e-9 is 1e16 first, then 1 (of 1 + 1e-9, to the nearest), then 1e-9.
        left = list(values)
        parts = []
        while found := math.fsum(left):
            parts.append(found)
            left.append(-found)
        return cls(tuple(parts))

    @classmethod
    def total(cls, sums: Iterable[ExactSum]) -> ExactSum:
        """Return the sum of sums."""
        return cls.of(part for each in sums for part in each.parts)

    @property
    def rounded(self) -> float:
        """Return the float next to the sum: what `math.fsum` returns for all values."""
        return math.fsum(self.parts)


def exact_sum(values: Sequence[float] | NDArray[np.float64]) -> float:
    """Return what `math.fsum` does of finite values, several times as fast for an array of many."""
    # Add a power of two that is larger than all values together, and subtract it again: each value keeps its highest
    # bits, down to the same place for all. These bits add up without rounding, in any order. The lower bits go round
    # again with a smaller power, which is known, since they are below that place. Scores take two or three rounds.
    if len(values) < _MANY:
        return math.fsum(values.tolist() if isinstance(values, np.ndarray) else values)
    left = np.asarray(values, dtype=np.float64)
    largest = max(float(left.max()), -float(left.min()))
    if not largest < _HIGHEST:
        return math.fsum(left.tolist())
    room = len(left).bit_length() + 1
    power, parts = 2.0 ** (math.frexp(largest)[1] + room), []
    while left.any():
        leading = left + power
        leading -= power
        parts.append(float(leading.sum()))
        left = left - leading
        power *= 2.0 ** (room - 53)
    return math.fsum(parts)


_DENOMINATORS = 1_000_000
_ROUNDINGS = 4


def exact_reading(value: float) -> Fraction:
    """
    Return the number that a score stands for: 3/5 of 0.6, which as a float is a little less.

    It is the fraction with a denominator of up to a million that is no further than four roundings away, since scores
    are quotients of counts or short sums of such; else the float itself.
    """
    from fractions import Fraction  # loads decimals, for the few means that lie next to a bound

    exact = Fraction(value)
    simple = exact.limit_denominator(_DENOMINATORS)
    return simple if abs(simple - exact) <= _ROUNDINGS * Fraction(math.ulp(value)) / 2 else exact


def sum_of_squares(values: Sequence[float]) -> ExactSum:
    """Return the sum of squares of values, as far as these are neither tiny nor huge (1e-140 to 1e150)."""
    # A square is split into the float next to it and what that lacks, which is a float again (Veltkamp and Dekker).
    found = np.asarray(values, dtype=np.float64)
    square = found * found
    scaled = _SPLITTER * found
    high = scaled - (scaled - found)
    low = found - high
    lacking = ((high * high - square) + 2 * high * low) + low * low
    return ExactSum.of([*square.tolist(), *lacking.tolist()])


_FLOOR = 1e-5
"""What trec_eval puts in place of smaller values before it takes a logarithm."""


def aggregate(values: Sequence[float] | NDArray[np.float64], how: str = "mean") -> float | None:
    """Return what one of `AGGREGATES` makes of values; None for nothing, whose sum is 0."""
    return AGGREGATES[how](values) if len(values) or how == "sum" else None


def terms(values: Sequence[float] | NDArray[np.float64], how: str) -> Sequence[float] | NDArray[np.float64]:
    """Return what an aggregate adds up: values, or logarithms of those that are not below 1e-5, as in trec_eval."""
    return [math.log(max(value, _FLOOR)) for value in np.asarray(values).tolist()] if how == "geometric" else values


def concluded(total: float, n: int, how: str) -> float:
    """Return an aggregate from the sum of its terms, and their number."""
    if how == "sum":
        return total
    return math.exp(total / n) if how == "geometric" else total / n


def _mean(values: Sequence[float] | NDArray[np.float64]) -> float:
    """Return the arithmetic mean."""
    return concluded(exact_sum(values), len(values), "mean")


def _sum(values: Sequence[float] | NDArray[np.float64]) -> float:
    """Return the sum."""
    return exact_sum(values)


def _geometric(values: Sequence[float] | NDArray[np.float64]) -> float:
    """Return the geometric mean; values below 1e-5 count as that, as in trec_eval."""
    return concluded(exact_sum(terms(values, "geometric")), len(values), "geometric")


AGGREGATES: Mapping[str, Callable[[Sequence[float] | NDArray[np.float64]], float]] = MappingProxyType(
    {"mean": _mean, "sum": _sum, "geometric": _geometric}
)
"""The built-in aggregates by name."""


def standard_deviation(values: Sequence[float] | NDArray[np.float64], mean: float | None = None) -> float | None:
    """Return the sample standard deviation (divided by n - 1); None for fewer than two values. *mean* is theirs."""
    if len(values) < 2:
        return None
    deviations = np.asarray(values, dtype=np.float64) - (exact_sum(values) / len(values) if mean is None else mean)
    return math.sqrt(exact_sum(deviations * deviations) / (len(values) - 1))


_PERCENTS = {"min": 0, "p5": 5, "p10": 10, "p50": 50, "p95": 95, "p99": 99, "max": 100}


def percentile(values: Sequence[float], p: float) -> float | None:
    """Return percentile *p* (0 to 100), interpolated linearly between the closest ranks; None for no values."""
    return percentile_of_sorted(np.sort(np.asarray(values, dtype=np.float64)), p)


def percentile_of_sorted(ordered: NDArray[np.float64], p: float) -> float | None:
    """Return what `percentile` does of values in ascending order."""
    if not 0 <= p <= 100:
        raise ValueError(f"a percentile lies from 0 to 100, not at {p!r}")
    if not len(ordered):
        return None
    place = (len(ordered) - 1) * p / 100
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    below, above = float(ordered[low]), float(ordered[high])
    return below + (above - below) * (place - low)


def _percentile(values: Sequence[float], p: float) -> float:
    return percentile(values, p) or 0.0


PERCENTILES: Mapping[str, Callable[[Sequence[float]], float]] = MappingProxyType(
    {name: functools.partial(_percentile, p=p) for name, p in _PERCENTS.items()}
)
"""Further aggregates: percentiles, interpolated linearly between the closest ranks, and both ends."""


def pass_rate(values: Sequence[float] | NDArray[np.float64], threshold: float = 0.5) -> float | None:
    """Return the share of *values* that reach a threshold; None for no values."""
    return int(np.count_nonzero(np.asarray(values) >= threshold)) / len(values) if len(values) else None


def histogram(
    values: Sequence[float] | NDArray[np.float64], low: float = 0.0, high: float = 1.0, buckets: int = 10
) -> list[tuple[float, float, int]]:
    """Count values in buckets of equal width; values outside count in the outermost buckets."""
    edges = [low + (high - low) * step / buckets for step in range(buckets + 1)]
    found = np.searchsorted(edges, values, side="right") if high > low else np.zeros(len(values), dtype=np.int64)
    counts = np.bincount(np.clip(found - 1, 0, buckets - 1), minlength=buckets).tolist()
    return [(lower, upper, count) for (lower, upper), count in zip(pairwise(edges), counts, strict=True)]
