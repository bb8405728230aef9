"""
What the built-in metrics share: how retrieval metrics are declared, and dividing by the size of the ground truth.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankgauge.plugin import Judged, Scores, metric

__all__ = ["per_gold", "retrieval"]

retrieval = functools.partial(metric, gold=("relevant", "passages"), matcher="chunk")
"""Declare a metric that is judged by id, or else against passages."""


def per_gold(judged: Judged, values: NDArray[Any]) -> Scores:
    """Divide values by the number of relevant gold items; NaN where there are none."""
    with np.errstate(invalid="ignore"):
        return values / judged.n_gold()
