"""
Overlap: how many items two rankings share within each depth, and rank-biased overlap, which weighs the depths.

Webber, Moffat & Zobel, A similarity measure for indefinite rankings, TOIS 2010.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["MOST_PERSISTENT", "RankBiasedOverlap", "agreement_weights", "check_persistence", "rank_biased_overlap"]

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]

MOST_PERSISTENT = 0.9999
"""The highest persistence: a reader who goes 10,000 results deep on average. It bounds the tables of weights."""

_NEGLIGIBLE = 1e-18


def check_persistence(p: float) -> None:
    """Raise a `ValueError` for a probability of going on that cannot be used."""
    if not 0 < p <= MOST_PERSISTENT:
        msg = f"p is the probability of going on to the next depth, above 0 and at most {MOST_PERSISTENT}, not {p}"
        raise ValueError(msg)


def agreement_weights(p: float, depth: int) -> _Floats:
    """
    Return ``sum over d from 1 to n of p**(d - 1) / d`` for n from 0 to *depth*.

    An item that both rankings have from depth m on adds 1 / d to the agreement at each depth d >= m, so this table
    gives what it is worth over any depths. Where *depth* is so large that its weights vanish, the table ends earlier.
    """
    deepest = min(depth, int(np.log(_NEGLIGIBLE) / np.log(p)) + 1)
    depths = np.arange(1.0, deepest + 1)
    table = np.zeros(deepest + 1)
    np.cumsum(p ** (depths - 1.0) / depths, out=table[1:])
    return table


class RankBiasedOverlap(NamedTuple):
    """
    Rank-biased overlap of some pairs of rankings, all of shape (n,).

    Attributes:
        extrapolated: The point estimate: the agreement at the end goes on below it.

        minimum: If nothing below the ends is shared.

        residual: How much higher it is if everything below the ends is shared.
    """

    extrapolated: _Floats
    minimum: _Floats
    residual: _Floats


def rank_biased_overlap(owners: _Ints, deeper: _Ints, lengths: tuple[_Ints, _Ints], p: float) -> RankBiasedOverlap:
    """
    Return the rank-biased overlap of pairs of rankings that are not empty.

    *deeper* is, for each item that both rankings of its owner have, the lower of its two places, that is the depth from
    which on both have it. For rankings of l and s <= l items that share X_d within depth d::

        extrapolated = (1 - p) / p * (sum over d <= l of X_d / d * p**d + sum over s < d <= l of X_s * (d - s) / (s * d)
                       * p**d) + ((X_l - X_s) / l + X_s / s) * p**l
        minimum      = (1 - p) / p * (sum over d <= l of X_d / d * p**d + sum over d > l of X_l / d * p**d)
        maximum      = the same with the highest possible X_d: X_d + d - s for s < d <= l, and min(d, X_l + 2d - s - l)
                       below

    Equations 32, 11 and 30 of the paper, for rankings of unequal lengths; residual = maximum - minimum.
    """
    check_persistence(p)
    n = len(lengths[0])
    short, long = np.minimum(*lengths).astype(np.float64), np.maximum(*lengths).astype(np.float64)
    shared = np.bincount(owners, minlength=n).astype(np.float64)
    early = np.bincount(owners[deeper <= short[owners]], minlength=n).astype(np.float64)  # within the shorter one
    reach = short + long - shared  # the depth from which on everything may be shared
    harmonic = _Sums(agreement_weights(p, int(reach.max(initial=0.0))) * (1.0 - p))
    rest = -np.log1p(-p) * (1.0 - p) / p  # of all depths
    seen = np.bincount(owners, harmonic.between(deeper - 1, long[owners]), n)
    minimum = seen + shared * (rest - harmonic.to(long))

    def geometric(first: _Floats, last: _Floats) -> _Floats:
        return np.asarray(p**first - p**last, dtype=np.float64)  # (1 - p) / p * sum of p**d for first < d <= last

    below = geometric(short, long) - short * harmonic.between(short, long)  # sum over s < d <= l of (d - s) / d * p**d
    extrapolated = seen + early / short * below + ((shared - early) / long + early / short) * p**long
    deep = 2.0 * geometric(long, reach) - (short + long - shared) * harmonic.between(long, reach)
    maximum = seen + below + deep + p**reach
    return RankBiasedOverlap(
        np.clip(extrapolated, 0.0, 1.0), np.clip(minimum, 0.0, 1.0), np.clip(maximum - minimum, 0.0, 1.0)
    )


class _Sums(NamedTuple):
    """Running sums that end where nothing is added any more."""

    table: _Floats

    def to(self, last: _Ints | _Floats) -> _Floats:
        """Return the sums of the first *last* terms."""
        return self.table[np.minimum(last, len(self.table) - 1).astype(np.int64)]

    def between(self, first: _Ints | _Floats, last: _Ints | _Floats) -> _Floats:
        """Return the sums of the terms behind the first *first*, up to *last*."""
        return self.to(last) - self.to(first)
