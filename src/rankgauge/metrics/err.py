"""
Expected reciprocal rank.

Chapelle, Metzler, Zhang & Grinspan, Expected reciprocal rank for graded relevance, CIKM 2009.
"""

from __future__ import annotations

import numpy as np

from rankgauge.metrics.family import USUAL, retrieval
from rankgauge.plugin import Contributions, Cutoff, Judged, Rows, Scores

__all__ = ["expected_reciprocal_rank"]


_HIGHEST = 1023


def _contributions(judged: Judged, *, k: Cutoff, max_grade: float | None, check: bool) -> Contributions:
    """Return the probability that a reader reaches each rank and is satisfied there, as a gain."""
    rows = judged.by_gain().credits(k)
    return Contributions(rows, _satisfied(judged.by_gain(), rows, max_grade, check=check), 1.0 / rows.rank)


@retrieval(
    "retrieval-err-at-k",
    short=("err", "ERR"),
    uses_rel=False,
    needs_max_grade=True,
    laws=(*USUAL, "monotone-in-k"),
    undefined="the ground truth has no item with a gain",
    contributions=_contributions,
)
def expected_reciprocal_rank(
    judged: Judged, *, k: Cutoff, max_grade: float | None = None, check: bool = True
) -> Scores:
    """
    Reciprocal rank at which a reader going down the list is satisfied, in expectation.

    Formula: ``ERR@k = sum over ranks r of 1/r * R(g_r) * product over i < r of (1 - R(g_i))`` with
    ``R(g) = (2**g - 1) / 2**max_grade``, 0 for a grade below 0. Source: Chapelle et al., CIKM 2009.

    When to use it: judgments are graded and one very good result ends the search.

    Args:
        judged: The rankings of a batch of samples.

        k: How many results count, for all samples or for each.

        max_grade: The highest grade of the scale. When absent, the highest grade of the whole data set is taken and
            the result says so; scores of one sample, and streams, need it given.

        check: Whether a grade above *max_grade* is an error, and one below 0 satisfies nobody; the classic library
            checks neither, and its scores may then be anything.

    Returns:
        Shape (n,), from 0 to 1; NaN where no gold item has a gain.

    Raises:
        ValueError: A grade is above *max_grade*, so it would not be a probability.
    """
    judged = judged.by_gain()
    rows = judged.credits(k)
    scores = judged.sum(rows, _satisfied(judged, rows, max_grade, check=check) / rows.rank)
    return np.where(judged.n_gold() > 0, scores, np.nan)


def _satisfied(judged: Judged, rows: Rows, max_grade: float | None, *, check: bool) -> Scores:
    """Return for each row the probability that a reader gets there and is satisfied there, shape (rows,)."""
    highest = float(judged.gold.grade.max(initial=0.0))
    top = highest if max_grade is None else max_grade
    if check and highest > top:
        msg = f"grade {highest:g} lies above max_grade={top:g}; give the highest grade of the scale"
        raise ValueError(msg)
    if top > _HIGHEST:
        msg = f"a highest grade of {top:g} is too large: 2 to that power does not fit a float"
        raise ValueError(msg)
    grades = np.maximum(rows.grade, 0) if check else rows.grade
    satisfied = (np.exp2(grades) - 1) / np.exp2(top)
    place = rows.nth()
    going_on = np.ones(judged.n)
    reached = np.zeros(len(place))
    for nth in range(1, int(place.max(initial=0)) + 1):
        here = np.flatnonzero(place == nth)  # at most one row a sample, so plain indexing multiplies
        sample = rows.sample[here]
        reached[here] = going_on[sample] * satisfied[here]
        going_on[sample] *= 1 - satisfied[here]
    return reached
