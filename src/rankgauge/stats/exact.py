"""
Exact sums: floats whose sum is that of others to the last bit, so that parts of a data set add up to the whole.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["ExactSum", "exact_sum", "sum_of_squares"]

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
