"""
Agreement: of two rankings (Kendall, tau-AP, overlap, rank-biased overlap), and of two judges (kappa).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "MOST_PERSISTENT",
    "Agreement",
    "RankBiasedOverlap",
    "Taus",
    "agreement",
    "agreement_weights",
    "check_persistence",
    "rank_biased_overlap",
    "smaller_above",
    "tau_ap",
    "taus",
    "untied_tau",
]


class Agreement(NamedTuple):
    """
    How well two lists of labels agree.

    Attributes:
        n: How many pairs there are.

        same: How many of them have the same label.

        kappa: Cohen's kappa, from -1 to 1, where 0 is agreement by chance; None without pairs, and where both sides use
            one and the same label throughout, so that chance explains everything.
    """

    n: int
    same: int
    kappa: float | None


def agreement(first: Sequence[Hashable], second: Sequence[Hashable]) -> Agreement:
    """
    Return how well two lists of labels agree, pair by pair.

    ``kappa = (p_o - p_e) / (1 - p_e)`` with the observed agreement p_o and that expected of two judges who use each
    label as often as these do, at random. Cohen, A coefficient of agreement for nominal scales, 1960.
    """
    n = len(first)
    same = sum(one == other for one, other in zip(first, second, strict=True))
    own, its = Counter(first), Counter(second)
    by_chance = sum(count * its[label] for label, count in own.items())  # over n * n, kept whole
    if n * n == by_chance:
        return Agreement(n, same, None)
    return Agreement(n, same, (n * same - by_chance) / (n * n - by_chance))


_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]

_BITS = 3
_DIGITS = np.arange(1 << _BITS)
"""Octal digits: fewer would take more passes, more a wider table, and these are the fastest."""


class Taus(NamedTuple):
    """
    Kendall's tau of some pairs of rankings, from -1 to 1, all of shape (n,).

    Attributes:
        a: ``(C - D) / pairs`` for C concordant and D discordant pairs; NaN for fewer than two items.

        b: ``(C - D) / sqrt(pairs not tied in one * pairs not tied in the other)``; NaN if all items of one are tied.
    """

    a: _Floats
    b: _Floats


def taus(owners: _Ints, first: _Ints, second: _Ints, n: int) -> Taus:
    """Return Kendall's tau of the items of each owner (ascending), by their places in two rankings; equal ones tie."""
    order = np.lexsort((second, first, owners))
    owners, first, second = owners[order], first[order], second[order]
    items = np.bincount(owners, minlength=n).astype(np.float64)
    pairs = items * (items - 1) / 2
    tied_first = _tied_pairs(owners, n, first)
    tied_second = _tied_pairs(owners, n, second)
    tied_both = _tied_pairs(owners, n, first, second)
    # In this order, items tied in the first ranking ascend by the second: none of these pairs is discordant, and those
    # that differ in the second come out as if they were concordant.
    rising = np.bincount(owners, smaller_above(owners, second), n)
    discordant = pairs - tied_second - rising
    difference = rising - (tied_first - tied_both) - discordant
    with np.errstate(invalid="ignore", divide="ignore"):
        return Taus(difference / pairs, difference / np.sqrt((pairs - tied_first) * (pairs - tied_second)))


def untied_tau(owners: _Ints, above: _Ints, n: int) -> _Floats:
    """Return Kendall's tau if nothing ties, so that tau-a and tau-b are the same; *above* as in `tau_ap`."""
    items = np.bincount(owners, minlength=n).astype(np.float64)
    pairs = items * (items - 1) / 2
    with np.errstate(invalid="ignore"):
        return (2.0 * np.bincount(owners, above, n) - pairs) / pairs


def tau_ap(owners: _Ints, above: _Ints, n: int) -> _Floats:
    """
    Return tau-AP of the items of each owner, in order of the ranking whose top weighs most; NaN for fewer than two.

    *above* is, for each item, how many of the items above it are also above it in the other ranking. With C_i for
    that number at place i of m: ``tau-AP = 2 / (m - 1) * sum over i from 2 to m of C_i / (i - 1) - 1``.
    """
    items = np.bincount(owners, minlength=n)
    place = np.arange(len(owners)) - np.repeat(np.cumsum(items) - items, items)  # i - 1
    total = np.bincount(owners, above / np.maximum(place, 1), n)
    return np.where(items > 1, 2.0 * total / np.maximum(items - 1, 1) - 1.0, np.nan)


def smaller_above(owners: _Ints, values: _Ints) -> _Ints:
    """
    Return for each row how many earlier rows of its owner have a smaller value; values are 0 or more, owners ascend.

    The rows of an owner are split by the highest octal digit of their values, each group by the next digit, and so on,
    and keep their order. Of two rows, the digit at which they part says which is smaller; so a row has, of the rows
    above it in its group, those with a smaller digit. All owners are split at once: rankings of a thousand items take
    four passes, however many there are.

    For example, the values 8, 0, 9, 1 are 10, 00, 11, 01 in octal. By the first digit, rows 0 and 2 (8 and 9) have no
    and one 0 above them. The groups are then 8, 9 and 0, 1. By the last digit, 9 and 1 have one 0 above them: together
    the rows have 0, 0, 2, 1.
    """
    n = len(values)
    counts = np.zeros(n, dtype=np.int64)
    rows = row = np.arange(n)
    begins = np.ones(n, dtype=np.bool_)
    begins[1:] = owners[1:] != owners[:-1]
    below = np.zeros((n + 1, len(_DIGITS)), dtype=np.int32)
    for place in reversed(range(-(-int(values.max(initial=0)).bit_length() // _BITS))):
        digit = (values >> place * _BITS) & _DIGITS[-1]
        first = np.flatnonzero(begins)
        sizes = np.diff(np.append(first, n))
        np.cumsum(digit[:, np.newaxis] < _DIGITS, axis=0, out=below[1:])
        counts[row] += below[rows, digit] - below[np.repeat(first, sizes), digit]
        if place:
            group = np.repeat(np.arange(len(first)) * len(_DIGITS), sizes) + digit
            order = np.argsort(group, kind="stable")
            group, row, values = group[order], row[order], values[order]
            begins[1:] = group[1:] != group[:-1]
    return counts


def _tied_pairs(owners: _Ints, n: int, *places: _Ints) -> _Floats:
    """Return how many pairs of each owner's items have the same places."""
    order = np.lexsort((*places, owners))
    columns = [owners[order], *(column[order] for column in places)]
    begins = np.ones(len(owners), dtype=np.bool_)
    if len(owners):
        begins[1:] = np.logical_or.reduce([column[1:] != column[:-1] for column in columns])
    sizes = np.diff(np.append(np.flatnonzero(begins), len(owners))).astype(np.float64)
    return np.bincount(columns[0][begins], sizes * (sizes - 1) / 2, n).astype(np.float64, copy=False)


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
    """Running sums that end when nothing is added any more."""

    table: _Floats

    def to(self, last: _Ints | _Floats) -> _Floats:
        """Return the sums of the first *last* terms."""
        return self.table[np.minimum(last, len(self.table) - 1).astype(np.int64)]

    def between(self, first: _Ints | _Floats, last: _Ints | _Floats) -> _Floats:
        """Return the sums of the terms behind the first *first*, up to *last*."""
        return self.to(last) - self.to(first)
