"""
Paired tests: sign flips, the default, and Wilcoxon's signed ranks for those who ask for them by name.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankgauge.stats.estimates import TIED

__all__ = ["SignFlips", "flip_signs", "wilcoxon"]

_Array = NDArray[np.float64]

_ENUMERATED = 16
"""Up to so many differences that are not 0, all patterns of signs are tried: 65,536."""

_TABLED = 1_000
"""Up to so many differences, sums are looked up in tables; above, Walsh-Hadamard transforms are faster."""

_ROUNDED = 1 + 1e-12
"""Statistics that differ by no more are equal."""

_ROWS = 4_096
_LEAST_BLOCKS = 8


@dataclass(frozen=True, slots=True)
class SignFlips:
    """
    The p values of a sign-flip test over several metrics; arrays of shape (metrics,).

    Attributes:
        p: Two-sided p of each metric.

        p_adjusted: The same, corrected for the number of metrics by step-down max-T; never below `p`.

        exact: Whether all patterns of signs were tried for the metric's `p`.

        resamples: How many random patterns were tried for the rest; 0 if every p is exact.

        critical: The statistic from which on a metric is significant after correction; infinite if none is.

        levels: The p that belongs to it, of each metric alone; None if patterns are random.
    """

    p: _Array
    p_adjusted: _Array
    exact: NDArray[np.bool_]
    resamples: int
    critical: float
    levels: _Array | None


def flip_signs(
    differences: _Array,
    *,
    clusters: NDArray[np.int64] | None = None,
    weights: _Array | None = None,
    resamples: int = 100_000,
    seed: int = 0,
    level: float = 0.05,
) -> SignFlips:
    """
    Test whether the means of paired differences are 0; a row is a sample, a column a metric, a missing pair 0.

    The statistic of a metric is ``|S| / sqrt(sum T_c**2)``, where T_c are the sums over clusters (single differences
    without clusters) and S is their sum. Its denominator is the same under every flip. Of B random flips of which b
    reach the observed value, p is ``(b + 1) / (B + 1)``; B is at least *resamples*. Differences of at most 1e-12 are
    ties; a metric that has no other gets a p of 1. With *weights* a difference counts as often as its sample weighs:
    the signs of differences that are symmetric around 0 are symmetric whatever fixed number multiplies them. *level* is
    that of a test after correction.
    """
    units, slack = _units(differences, clusters, weights)
    p, exact = np.ones(units.shape[1]), np.zeros(units.shape[1], dtype=np.bool_)
    for metric in range(units.shape[1]):
        own = units[units[:, metric] != 0, metric : metric + 1]
        if len(own) <= _ENUMERATED:
            exact[metric] = True
            sums = np.abs(_enumerated(own)[:, 0])
            p[metric] = np.count_nonzero(sums >= _observed(own, slack[[metric]])) / len(sums)
    is_random = len(units) > _ENUMERATED
    blocks = _random_sums(units, resamples, seed) if is_random else iter([_enumerated(units).T])
    norms = np.array([math.sqrt(math.fsum(np.square(column).tolist())) or 1.0 for column in units.T])
    reached = _observed(units, slack) / norms
    order = np.argsort(-reached, kind="stable").tolist()
    raw, stepped, done = np.zeros(len(order)), np.zeros(len(order)), 0
    maxima = []
    for block in blocks:
        highest = np.zeros(block.shape[1])
        for metric in reversed(order):
            size = np.abs(block[metric]) / norms[metric]
            raw[metric] += np.count_nonzero(size >= reached[metric])
            np.maximum(highest, size, out=highest)
            stepped[metric] += np.count_nonzero(highest >= reached[metric])
        done += block.shape[1]
        maxima.append(highest)
    # The observed signs are among all patterns; to random ones they are added.
    shares, adjusted = ((counts + is_random) / (done + is_random) for counts in (raw, stepped))
    p = np.where(exact, p, shares)
    adjusted[order] = np.maximum.accumulate(adjusted[order])
    critical = _critical(np.concatenate(maxima), level, is_random=is_random)
    sizes = None if is_random else np.abs(_enumerated(units)) / norms
    levels = None if sizes is None else np.count_nonzero(sizes >= critical, axis=0) / len(sizes)
    return SignFlips(p, np.maximum(adjusted, p), exact, done if is_random else 0, critical, levels)


def _critical(maxima: _Array, level: float, *, is_random: bool) -> float:
    """Return the least statistic that the highest of all metrics reaches in at most a share *level* of the flips."""
    most = math.floor(level * (len(maxima) + is_random) * _ROUNDED) - is_random
    if most < 1:
        return math.inf
    below = -math.inf if most >= len(maxima) else float(np.sort(maxima)[-most - 1])
    above = maxima[maxima > below * _ROUNDED]
    return float(above.min()) / _ROUNDED if len(above) else math.inf


def _units(
    differences: _Array, clusters: NDArray[np.int64] | None, weights: _Array | None = None
) -> tuple[_Array, _Array]:
    """
    Return what is flipped, as integers, without rows that are all 0; and how far rounding can move a sum of them.

    Sums that are equal in truth may differ after rounding, by half a unit of the grid for each difference. The test
    counts such sums as equal, which can only make p larger.
    """
    kept = np.where(np.abs(differences) <= TIED, 0.0, differences)
    if weights is not None:
        kept = kept * weights[:, None]
    n = max(1, len(kept))
    for metric, top in enumerate(np.abs(kept).max(axis=0, initial=0.0).tolist()):
        exponent = math.frexp(n * top)[1]
        kept[:, metric] = np.rint(np.ldexp(kept[:, metric], 52 - exponent))
    slack = np.count_nonzero(kept, axis=0).astype(np.float64)
    if clusters is not None:
        _, codes = np.unique(clusters, return_inverse=True)
        kept = np.stack([np.bincount(codes, weights=column) for column in kept.T], axis=1)
    return np.ascontiguousarray(kept[kept.any(axis=1)]), slack


def _observed(units: _Array, slack: _Array) -> _Array:
    """Return the size that the sum of a flip has to reach, in units of the grid."""
    least: _Array = np.maximum(np.abs(units.sum(axis=0)) - slack, 0.0)
    return least


def _enumerated(units: _Array) -> _Array:
    """Return the sums of all patterns of signs; shape (2**units, metrics)."""
    sums = np.zeros((1, units.shape[1]))
    for unit in units:
        sums = np.concatenate([sums + unit, sums - unit])
    return sums


def _random_sums(units: _Array, resamples: int, seed: int) -> Iterator[_Array]:
    """Yield the sums of random flips, in blocks of shape (metrics, flips)."""
    return _tabled(units, resamples, seed) if len(units) <= _TABLED else _transformed(units, resamples, seed)


def _bits(seed: int, block: int, words: int) -> NDArray[np.uint64]:
    """Return the random bits of one block; each block has its own counter, so that no order of blocks matters."""
    raw: NDArray[np.uint64] = np.random.Philox(key=seed, counter=[0, 0, 0, block]).random_raw(words)
    return raw


def _tabled(units: _Array, resamples: int, seed: int) -> Iterator[_Array]:
    """
    Yield sums of independent flips, from tables.

    Every eight units have a table of their 256 signed sums, and a random byte chooses one of them.
    """
    count, metrics = units.shape
    tables = [_enumerated(units[start : start + 8]) for start in range(0, count, 8)]
    for block, start in enumerate(range(0, resamples, _ROWS)):
        rows = min(_ROWS, resamples - start)
        words = _bits(seed, block, len(tables) * _ROWS // 8)
        picks = words.astype("<u8").view(np.uint8).reshape(len(tables), _ROWS)
        sums = np.zeros((rows, metrics))
        for table, pick in zip(tables, picks, strict=True):
            sums += table.take(pick[:rows] & (len(table) - 1), axis=0)
        yield sums.T


def _transformed(units: _Array, resamples: int, seed: int) -> Iterator[_Array]:
    """
    Yield sums of flips, each block by one Walsh-Hadamard transform.

    Units are at random places of a vector of N = 2**q, with random signs; each of the N outputs is then their sum
    under signs that are uniform, though those of one block depend on each other. A block has a permutation and signs of
    its own, and there are at least eight.
    """
    count, metrics = units.shape
    size = 1 << (count - 1).bit_length()
    vectors, halves = np.zeros((metrics, size)), np.empty(size)
    for block in range(max(_LEAST_BLOCKS, -(-resamples // size))):
        bits = _bits(seed, block, size + -(-count // 64))
        places = np.argsort(bits[:size], kind="stable")[:count]
        signs = np.unpackbits(bits[size:].astype("<u8").view(np.uint8))[:count].astype(np.float64) * 2 - 1
        for metric, vector in enumerate(vectors):
            vector[:] = 0
            vector[places] = units[:, metric] * signs
            _walsh_hadamard(vector, halves)
        yield vectors


def _walsh_hadamard(vector: _Array, room: _Array) -> None:
    """
    Transform a vector in place; the outputs come in another order than usual, which is the same for every vector.

    The vector is a matrix whose columns are transformed, then those of its transpose, so that every step adds long
    stretches of memory. *room* is a vector of the same length to work in.
    """
    rows = 1 << (len(vector).bit_length() // 2)
    for height, width in ((rows, len(vector) // rows), (len(vector) // rows, rows)):
        step = 1
        while step < height:
            pairs, freed = (each.reshape(-1, 2, step * width) for each in (vector, room))
            np.subtract(pairs[:, 0], pairs[:, 1], out=freed[:, 1])
            np.add(pairs[:, 0], pairs[:, 1], out=pairs[:, 0])
            pairs[:, 1] = freed[:, 1]
            step *= 2
        room.reshape(width, height)[:] = vector.reshape(height, width).T
        vector[:] = room


_ENUMERATED_RANKS = 50


def wilcoxon(differences: NDArray[np.float64]) -> float:
    """
    Return the two-sided p of Wilcoxon's signed-rank test of paired differences; 1 if no pair differs.

    Differences of at most 1e-12 are left out; others that differ by no more share the mean of their ranks. Up to 50
    the distribution over all signs is exact, ties included; above, it is the normal one with the variance that the
    ranks have, without correction for continuity.
    """
    kept = differences[np.abs(differences) > TIED]
    if not len(kept):
        return 1.0
    doubled = _doubled_ranks(np.abs(kept))
    total, positive = int(doubled.sum()), int(doubled[kept > 0].sum())
    if len(kept) > _ENUMERATED_RANKS:
        z = abs(2 * positive - total) / math.sqrt(float(np.square(doubled).sum()))
        return math.erfc(z / math.sqrt(2))
    ways = np.zeros(total // 2 + 1)  # the smaller of two sums is at most half of the total
    ways[0] = 1.0
    for rank in doubled.tolist():
        ways[rank:] += ways[:-rank].copy()
    smaller = min(positive, total - positive)
    return min(1.0, 2 * float(ways[: smaller + 1].sum()) / 2.0 ** len(kept))


def _doubled_ranks(sizes: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return twice the rank of each size, which is a whole number also if equal sizes share a rank."""
    order = np.argsort(sizes, kind="stable")
    begins = np.flatnonzero(np.diff(sizes[order], prepend=-np.inf) > TIED)
    ends = np.append(begins[1:], len(sizes))
    doubled = np.empty(len(sizes), dtype=np.int64)
    doubled[order] = np.repeat(begins + 1 + ends, ends - begins)
    return doubled
