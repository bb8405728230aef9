"""
Change points: whether the scores of the same samples changed once in a series of runs, and since when.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankgauge.stats.paired_tests import flip_signs

__all__ = ["ChangePoint", "change_point"]

_DRAWS, _AT_ONCE = 999, 1 << 20


class ChangePoint(NamedTuple):
    """
    Where a series changed.

    Attributes:
        place: The first run after the change, counted from 0.

        first: The earliest run that it may be, at the confidence that was asked for.

        last: The latest.

        difference: The mean after the change minus the mean before.

        p: That of the largest of all changes, corrected for their number.
    """

    place: int
    first: int
    last: int
    difference: float
    p: float


def change_point(
    scores: NDArray[np.float64], *, confidence: float = 0.95, resamples: int = 10_000, seed: int = 0
) -> ChangePoint | None:
    """
    Find the most likely single change of a series; shape (samples, runs), None for fewer than two runs or samples.

    For each run t the contrast of a sample is its mean from t on minus its mean before. The change is where
    ``t (T - t)`` times the squared mean contrast is largest, which is least squares for one step. p is that of
    sign flips of whole samples, shared by all t, by step-down max-T. The interval holds the middle of the places that
    random samples with replacement come to (percentile bootstrap over samples).
    """
    n, runs = scores.shape
    if n < 2 or runs < 2:
        return None
    before = np.cumsum(scores, axis=1)[:, :-1]
    after = scores.sum(axis=1, keepdims=True) - before
    t = np.arange(1, runs)
    contrasts = after / (runs - t) - before / t
    weights = t * (runs - t)
    place = int(np.argmax(weights * contrasts.mean(axis=0) ** 2))
    tested = flip_signs(contrasts, resamples=resamples, seed=seed)
    drawn = np.sort(
        [place for sums in _sums(contrasts, seed) for place in np.argmax(weights * sums**2, axis=1).tolist()]
    )
    tail = (1 - confidence) / 2
    first, last = drawn[math.floor(tail * (_DRAWS - 1))], drawn[math.ceil((1 - tail) * (_DRAWS - 1))]
    return ChangePoint(
        place=place + 1,
        first=min(int(first), place) + 1,
        last=max(int(last), place) + 1,
        difference=float(contrasts[:, place].mean()),
        p=float(tested.p_adjusted.min()),
    )


def _sums(contrasts: NDArray[np.float64], seed: int) -> Iterator[NDArray[np.float64]]:
    """Yield the sums of random samples with replacement, in blocks of shape (draws, changes)."""
    n = len(contrasts)
    rows = max(1, min(_DRAWS, _AT_ONCE // n))
    for block, start in enumerate(range(0, _DRAWS, rows)):
        words = np.random.Philox(key=seed, counter=[0, 0, 2, block]).random_raw(rows * n).reshape(rows, n)
        picks = (((words >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32)).astype(np.int64)
        places = picks + np.arange(rows)[:, None] * n
        times = np.bincount(places.ravel(), minlength=rows * n).reshape(rows, n)
        yield times[: _DRAWS - start] @ contrasts
