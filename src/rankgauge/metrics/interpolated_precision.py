"""
Interpolated precision: the best precision at a level of recall or above, and its mean over several levels.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from rankgauge.columns import Flags, Ints
from rankgauge.metrics.family import USUAL, retrieval
from rankgauge.plugin import Judged, Scores

__all__ = ["average_over_levels", "interpolated_precision"]

Rounding = Literal["nearest", "up", "exact"]

_LEVELS = "0,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1"


def _check_level(*, recall: float) -> None:
    _levels(str(recall))


def _check_levels(*, recalls: str) -> None:
    _levels(recalls)


@retrieval(
    "retrieval-iprec-at-recall",
    short=("IPrec", "iprec_at_recall", "iprec_at_recall_{recall}"),
    pins="recall",
    check=_check_level,
    laws=(*USUAL, "perfect-is-one"),
)
def interpolated_precision(judged: Judged, *, recall: float = 0.0, rounding: Rounding = "nearest") -> Scores:
    """
    Highest precision at any rank where a level of recall has been reached.

    Formula: ``max over ranks i >= the rank of the c-th relevant item of (relevant up to i) / i``, where *c* is
    *recall* times the number of relevant items, as a whole number; 0 if fewer were found, and the maximum over the
    whole ranking for ``c = 0``. Source: trec_eval, measure `iprec_at_recall`; with ``rounding=exact`` the textbook's
    ``max over ranks with recall >= level of precision``, Manning et al., Introduction to Information Retrieval, 2008,
    chapter 8.

    When to use it: to draw a precision-recall curve, or to ask for precision at a fixed completeness.

    Args:
        judged: The rankings of a batch of samples.

        recall: The level, from 0 to 1; ``iprec@0.1`` sets it.

        rounding: How *c* becomes a whole number: `nearest` rounds halves up, as trec_eval 10 does, so that a level
            counts as reached where it nearly is (of 4 relevant items, 1 reaches 0.3); `up` adds 0.9 and truncates, as
            trec_eval 9 does; `exact` rounds up: the level itself has to be reached.

    Returns:
        Shape (n,), from 0 to 1; NaN where no gold item is relevant.
    """
    return _at_levels(judged, [recall], rounding)


@retrieval(
    "retrieval-11pt-avg",
    short=("11pt_avg",),
    check=_check_levels,
    laws=(*USUAL, "perfect-is-one"),
)
def average_over_levels(judged: Judged, *, recalls: str = _LEVELS, rounding: Rounding = "nearest") -> Scores:
    """
    Mean of interpolated precision over levels of recall, eleven of them unless others are given.

    Formula: ``mean over levels of iprec@level``. Source: trec_eval, measure `11pt_avg`.

    When to use it: to compare with older results, from before average precision was common.

    Args:
        judged: The rankings of a batch of samples.

        recalls: The levels, separated by commas.

        rounding: As in `interpolated_precision`.

    Returns:
        Shape (n,), from 0 to 1; NaN where no gold item is relevant.
    """
    return _at_levels(judged, _levels(recalls), rounding)


def _levels(written: str) -> list[float]:
    try:
        levels = [float(level) for level in written.split(",")]
    except ValueError:
        levels = []
    if not levels or not all(0 <= level <= 1 for level in levels):
        msg = f"levels of recall are numbers from 0 to 1, separated by commas, not {written!r}"
        raise ValueError(msg)
    return levels


def _at_levels(judged: Judged, levels: list[float], rounding: Rounding) -> Scores:
    """Return the mean of interpolated precision over levels."""
    earned = judged.credits()
    nth = earned.nth()
    precision = nth / earned.rank
    wanted = judged.n_gold()
    total = np.zeros(judged.n)
    for level in levels:
        reached = _reached(nth, wanted[earned.sample], level, rounding)
        best = np.zeros(judged.n)
        np.maximum.at(best, earned.sample[reached], precision[reached])
        total += best
    return np.where(wanted > 0, total / len(levels), np.nan)


def _reached(nth: Ints, wanted: Ints, level: float, rounding: Rounding) -> Flags:
    """Return which rows, the nth relevant ones of their samples, reach a level of recall."""
    if rounding == "exact":  # not nth >= level * wanted: 0.7 * 10 is above 7, and 7 / 10 is 0.7
        return np.greater_equal(nth / wanted, level)
    shares = np.asarray(level * wanted, dtype=np.float64)
    below = np.floor(shares)
    needed = np.floor(shares + 0.9) if rounding == "up" else below + (shares - below >= 0.5)  # + 0.5 may round up
    return np.greater_equal(nth, needed)
