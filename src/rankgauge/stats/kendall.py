"""
Kendall's tau between rankings of the same items, with and without ties, and tau-AP, which weighs the top.

Kendall, The treatment of ties in ranking problems, Biometrika 1945; Yilmaz, Aslam & Robertson, A new rank correlation
coefficient for information retrieval, SIGIR 2008.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Taus", "smaller_above", "tau_ap", "taus"]

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]


class Taus(NamedTuple):
    """
    Kendall's tau of some pairs of rankings, from -1 to 1, all of shape (n,).

    Attributes:
        a: ``(C - D) / pairs`` for C concordant and D discordant pairs; NaN for fewer than two items.

        b: ``(C - D) / sqrt(pairs not tied in one * pairs not tied in the other)``; NaN where all items of one are tied.
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


def tau_ap(owners: _Ints, above: _Ints, n: int) -> _Floats:
    """
    Return tau-AP of the items of each owner, in order of the ranking whose top weighs most; NaN for fewer than two.

    *above* is, for each item, how many of the items above it also stand above it in the other ranking. With C_i for
    that number at place i of m: ``tau-AP = 2 / (m - 1) * sum over i from 2 to m of C_i / (i - 1) - 1``.
    """
    items = np.bincount(owners, minlength=n)
    place = np.arange(len(owners)) - np.repeat(np.cumsum(items) - items, items)  # i - 1
    total = np.bincount(owners, above / np.maximum(place, 1), n)
    return np.where(items > 1, 2.0 * total / np.maximum(items - 1, 1) - 1.0, np.nan)


def smaller_above(owners: _Ints, values: _Ints) -> _Ints:
    """
    Return for each row how many earlier rows of its owner have a smaller value; values are 0 or more, owners ascend.

    The rows of an owner are split by the highest bit of their values, then each half by the next bit, and so on, and
    keep their order. Of two rows, the bit at which they part says which is smaller: a row with a 1 there has as many
    smaller rows above it as its group has rows with a 0 above it. All owners are split at once, so that a thousand
    rankings of a thousand items take ten passes.

    For example, the values 2, 0, 3, 1 are 10, 00, 11, 01 in binary. By the high bit, row 0 (2) has no 0 above it and
    row 2 (3) has one. The groups are then 0, 1 and 2, 3. By the low bit, 1 has one 0 above it, and so has 3: together
    the rows have 0, 0, 2, 1.
    """
    n = len(values)
    rows = np.arange(n, dtype=np.int32)
    counts = np.zeros(n, dtype=np.int32)
    value, row = values.astype(np.int32), rows
    begins = np.ones(n, dtype=np.bool_)
    begins[1:] = owners[1:] != owners[:-1]
    start = np.maximum.accumulate(np.where(begins, rows, 0))  # the first place of each row's group
    before = np.zeros(n + 1, dtype=np.int32)
    for bit in reversed(range(int(values.max(initial=0)).bit_length())):
        is_one = (value >> bit) & 1
        np.cumsum(1 - is_one, out=before[1:])
        zeros_above = before[:-1] - before[start]
        ones = is_one.astype(np.bool_)
        counts[row[ones]] += zeros_above[ones]
        # The last place of a group is where the next one begins; groups are marked by their first places.
        first = np.flatnonzero(start == rows)
        zeros = np.diff(before[np.append(first, n)])
        middle = np.repeat((first + zeros).astype(np.int32), np.diff(np.append(first, n)))
        place = np.where(ones, middle + (rows - start - zeros_above), start + zeros_above)
        next_start = np.where(ones, middle, start)
        value, row, start = _placed(value, place), _placed(row, place), _placed(next_start, place)
    return counts.astype(np.int64)


def _placed(values: NDArray[np.int32], place: NDArray[np.int32]) -> NDArray[np.int32]:
    moved = np.empty_like(values)
    moved[place] = values
    return moved


def _tied_pairs(owners: _Ints, n: int, *places: _Ints) -> _Floats:
    """Return how many pairs of each owner's items have the same places."""
    order = np.lexsort((*places, owners))
    columns = [owners[order], *(column[order] for column in places)]
    begins = np.ones(len(owners), dtype=np.bool_)
    if len(owners):
        begins[1:] = np.logical_or.reduce([column[1:] != column[:-1] for column in columns])
    sizes = np.diff(np.append(np.flatnonzero(begins), len(owners))).astype(np.float64)
    return np.bincount(columns[0][begins], sizes * (sizes - 1) / 2, n)
