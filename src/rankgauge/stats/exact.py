"""
Exact sums: floats whose sum is that of others to the last bit, so that parts of a data set add up to the whole.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

__all__ = ["ExactSum", "sum_of_squares"]

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
