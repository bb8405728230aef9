"""
What the built-in metrics share: how retrieval metrics are declared, and dividing by the size of the ground truth.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankgauge.columns import Flags, Floats, Rows
from rankgauge.plugin import Judged, Law, Scores, metric

__all__ = ["USUAL", "always", "has_grades", "per_gold", "retrieval", "running_sum"]

USUAL: tuple[Law, ...] = ("bounded", "best-first", "relevant-helps", "padding", "tail", "duplicates")
"""The laws that most metrics obey."""

retrieval = functools.partial(metric, gold=("relevant", "passages"), matcher="chunk", laws=USUAL)
"""Declare a metric that is judged by id, or else against passages, and obeys the usual laws."""


def always(judged: Judged) -> Flags:
    """Return that every sample has a value, whatever its ground truth."""
    return np.ones(judged.n, dtype=np.bool_)


def has_grades(judged: Judged) -> Flags:
    """Return which samples' ground truth has grades, so that it can judge an item irrelevant."""
    return judged.graded.copy()


def per_gold(judged: Judged, values: NDArray[Any]) -> Scores:
    """Divide values by the number of relevant gold items; NaN where there are none."""
    with np.errstate(invalid="ignore"):
        return values / judged.n_gold()


def running_sum(rows: Rows, values: Floats) -> Floats:
    """Return for each row the sum of the values of its sample up to it, added in rank order, whatever the batch."""
    place = rows.nth()
    order = np.argsort(place, kind="stable")
    bounds = np.searchsorted(place[order], np.arange(1, place.max(initial=0) + 2))
    sums = np.array(values, dtype=np.float64)
    for start, end in zip(bounds[1:-1].tolist(), bounds[2:].tolist(), strict=True):
        here = order[start:end]
        sums[here] += sums[here - 1]  # the row before is the one before of the same sample
    return sums
