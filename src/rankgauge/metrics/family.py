"""
What the built-in metrics share: how retrieval metrics are declared, and dividing by the size of the ground truth.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankgauge.columns import Flags
from rankgauge.plugin import Judged, Law, Scores, metric

__all__ = ["USUAL", "has_grades", "per_gold", "retrieval"]

USUAL: tuple[Law, ...] = ("bounded", "best-first", "relevant-helps", "padding", "tail", "duplicates")
"""The laws that most metrics obey."""

retrieval = functools.partial(metric, gold=("relevant", "passages"), matcher="chunk", laws=USUAL)
"""Declare a metric that is judged by id, or else against passages, and obeys the usual laws."""


def has_grades(judged: Judged) -> Flags:
    """Return which samples' ground truth has grades, so that it can judge an item irrelevant."""
    return judged.graded.copy()


def per_gold(judged: Judged, values: NDArray[Any]) -> Scores:
    """Divide values by the number of relevant gold items; NaN where there are none."""
    with np.errstate(invalid="ignore"):
        return values / judged.n_gold()
