"""
Measures of the C/W/L framework: a reader goes on from rank to rank, and the score is the gain expected per result read.

A measure is its continuation probability ``C(i)``, that who has read rank i goes on to rank i + 1. The weight of rank i
is ``W(i) = C(1) ... C(i - 1)``, divided by the sum of all weights, and the score the sum of ``W(i) * gain(i)``. Moffat,
Bailey, Scholer & Thomas, Incorporating user expectations and behavior into the measurement of search effectiveness,
TOIS 2017; Azzopardi, Thomas & Moffat, cwl_eval, SIGIR 2019.
"""

from __future__ import annotations

import functools

import numpy as np

from rankgauge.metrics import cwl_models
from rankgauge.metrics.cwl_models import (
    HORIZON,
    Reader,
    Scale,
    check_goal,
    check_scale,
    gains_on,
    readings,
    row_sums,
)
from rankgauge.metrics.family import check_persistence, prefix_mean, retrieval, tied
from rankgauge.plugin import Cutoff, Judged, Scores

__all__ = ["bpm", "insq", "inst", "nerr8", "nerr9", "nerr10", "nerr11", "sdcg"]


def _check_goal(*, goal: float, min_grade: float, max_grade: float | None) -> None:
    check_scale(min_grade=min_grade, max_grade=max_grade)
    check_goal(goal)


def _check_persistence(*, p: float, min_grade: float, max_grade: float | None) -> None:
    check_scale(min_grade=min_grade, max_grade=max_grade)
    check_persistence(p=p)


_cwl = functools.partial(
    retrieval,
    uses_rel=False,
    needs_max_grade=True,
    laws=("bounded", "relevant-helps", "padding", "tail", "duplicates"),
    check=check_scale,
    undefined="the ground truth has no item with a gain",
)


@_cwl("retrieval-nerr8-at-k", short=("NERR8",))
def nerr8(judged: Judged, *, k: Cutoff, min_grade: float = 0.0, max_grade: float | None = None) -> Scores:
    """
    Gain per result for a reader who stops where a result satisfies, and at *k* at the latest.

    Formula: ``C(i) = 1 - g_i`` for i < k, else 0. Source: Azzopardi, Mackenzie & Moffat, ERR is not C/W/L, ICTIR 2021,
    equation 8; ir_measures, `NERR8`.

    When to use it: in place of ERR, when a weight for each rank is wanted.

    Args:
        k: How many results count, for all samples or for each; above 1,000 as 1,000.

        min_grade: The grade that is worth nothing; lower ones count as it.

        max_grade: The highest grade of the scale, worth 1; the result says so if higher ones count as it. When
            absent, the highest of the whole data set.

    Returns:
        Shape (n,), from 0 to 1; NaN if no gold item has a gain.
    """
    return _score(judged, Scale(min_grade, max_grade), cwl_models.nerr8, k)


@_cwl("retrieval-nerr9-at-k", short=("NERR9",))
def nerr9(judged: Judged, *, k: Cutoff, min_grade: float = 0.0, max_grade: float | None = None) -> Scores:
    """
    Gain per result for a reader who stops where a result satisfies, who tires with rank, and stops at *k*.

    Formula: ``C(i) = i / (i + 1) * (1 - g_i)`` for i < k, else 0. Source: Azzopardi, Mackenzie & Moffat, ICTIR 2021,
    equation 9; ir_measures, `NERR9`.

    When to use it: in place of ERR, when a weight for each rank is wanted.

    Args:
        min_grade: As in `nerr8`.

        max_grade: As in `nerr8`.

    Returns:
        Shape (n,), from 0 to 1; NaN if no gold item has a gain.
    """
    return _score(judged, Scale(min_grade, max_grade), cwl_models.nerr9, k)


@_cwl("retrieval-nerr10", short=("NERR10",), check=_check_persistence)
def nerr10(judged: Judged, *, p: float = 0.9, min_grade: float = 0.0, max_grade: float | None = None) -> Scores:
    """
    Gain per result for a reader who stops where a result satisfies, and otherwise goes on with probability *p*.

    Formula: ``C(i) = p * (1 - g_i)``, over 1,000 ranks. Source: Azzopardi, Mackenzie & Moffat, ICTIR 2021, equation
    10; ir_measures, `NERR10`.

    When to use it: in place of ERR, when a weight for each rank is wanted, and no cutoff.

    Args:
        p: The persistence, above 0 and below 1.

        min_grade: As in `nerr8`.

        max_grade: As in `nerr8`.

    Returns:
        Shape (n,), from 0 to 1; NaN if no gold item has a gain.
    """
    return _score(judged, Scale(min_grade, max_grade), cwl_models.nerr10(p))


@_cwl("retrieval-nerr11", short=("NERR11",), check=_check_goal)
def nerr11(judged: Judged, *, goal: float = 1.0, min_grade: float = 0.0, max_grade: float | None = None) -> Scores:
    """
    Gain per result for a reader who stops where a result satisfies, and goes on the further, the more is wanted.

    Formula: ``C(i) = ((i + 2T - 1) / (i + 2T))**2 * (1 - g_i)``, T the *goal*, over 1,000 ranks. Source: Azzopardi,
    Mackenzie & Moffat, ICTIR 2021, equation 11; ir_measures, `NERR11`.

    When to use it: in place of ERR, when readers differ in how much they want.

    Args:
        goal: T, how much gain the reader wants, in results of the highest grade.

        min_grade: As in `nerr8`.

        max_grade: As in `nerr8`.

    Returns:
        Shape (n,), from 0 to 1; NaN if no gold item has a gain.
    """
    return _score(judged, Scale(min_grade, max_grade), cwl_models.nerr11(goal))


@_cwl("retrieval-inst", short=("INST",), check=_check_goal, laws=("bounded", "padding", "tail"))
def inst(judged: Judged, *, goal: float = 1.0, min_grade: float = 0.0, max_grade: float | None = None) -> Scores:
    """
    Gain per result for a reader who adapts: the less of the goal is still open, the sooner the reader stops.

    Formula: ``C(i) = ((i + T + T_i - 1) / (i + T + T_i))**2`` with ``T_i = T - (gain up to i)``, T the *goal*, over
    1,000 ranks. Source: Moffat, Bailey, Scholer & Thomas, INST: an adaptive metric, ADCS 2015; ir_measures, `INST`.

    When to use it: tasks differ in how many good results they need.

    Args:
        goal: T, how much gain the reader wants, in results of the highest grade.

        min_grade: As in `nerr8`.

        max_grade: As in `nerr8`.

    Returns:
        Shape (n,), from 0 to 1; NaN if no gold item has a gain.
    """
    return _score(judged, Scale(min_grade, max_grade), cwl_models.inst(goal))


@_cwl("retrieval-insq", short=("INSQ",), check=_check_goal, laws=("best-first", *("bounded", "relevant-helps", "tail")))
def insq(judged: Judged, *, goal: float = 1.0, min_grade: float = 0.0, max_grade: float | None = None) -> Scores:
    """
    Gain per result for a reader whose patience depends on the goal, and on no result.

    Formula: ``C(i) = ((i + 2T - 1) / (i + 2T))**2``, T the *goal*, over 1,000 ranks. Source: Moffat, Scholer & Thomas,
    Models and metrics: IR evaluation as a user process, ADCS 2012; ir_measures, `INSQ`.

    When to use it: tasks differ in how many good results they need, and weights should be the same for all rankings.

    Args:
        goal: T, how much gain the reader wants, in results of the highest grade.

        min_grade: As in `nerr8`.

        max_grade: As in `nerr8`.

    Returns:
        Shape (n,), from 0 to 1; NaN if no gold item has a gain.
    """
    return _score(judged, Scale(min_grade, max_grade), cwl_models.insq(goal))


@_cwl("retrieval-bpm-at-k", short=("BPM",), check=_check_goal, laws=("bounded", "tail"))
def bpm(
    judged: Judged, *, k: Cutoff, goal: float = 1.0, min_grade: float = 0.0, max_grade: float | None = None
) -> Scores:
    """
    Gain per result for a reader who stops as soon as the goal is reached, or *k* results are read.

    Formula: ``C(i) = 1`` while the gain up to i is below T and i < k, else 0; T the *goal*. Source: Zhang et al.,
    Evaluating web search with a bejeweled player model, SIGIR 2017 (static form); ir_measures, `BPM`.

    When to use it: readers know what they need, and have a limit.

    Args:
        goal: T, how much gain the reader wants, in results of the highest grade.

        min_grade: As in `nerr8`.

        max_grade: As in `nerr8`.

    Returns:
        Shape (n,), from 0 to 1; NaN if no gold item has a gain.
    """
    return _score(judged, Scale(min_grade, max_grade), cwl_models.bpm(goal), k)


def _expected_sdcg(judged: Judged, *, k: Cutoff, min_grade: float, max_grade: float | None) -> Scores:
    judged, cutoff = judged.by_gain(), np.minimum(k, HORIZON)
    ties = tied(judged)
    weights = 1.0 / np.log2(np.arange(2.0, max(int(ties.high.max(initial=0)), int(np.max(cutoff, initial=0))) + 2.0))
    shares = prefix_mean(ties, weights, cutoff if isinstance(k, np.ndarray) else int(cutoff))
    gains = gains_on(Scale(min_grade, max_grade), judged, ties.rows)
    scores = judged.sum(ties.rows, gains * shares) / np.cumsum(weights)[cutoff - 1]
    return np.where(judged.n_gold() > 0, np.minimum(scores, 1.0), np.nan)


@_cwl(
    "retrieval-sdcg-at-k",
    short=("SDCG",),
    expectation=_expected_sdcg,
    laws=("bounded", "best-first", "relevant-helps", "padding", "tail", "linear"),
)
def sdcg(judged: Judged, *, k: Cutoff, min_grade: float = 0.0, max_grade: float | None = None) -> Scores:
    """
    Discounted cumulative gain, scaled so that *k* results of the highest grade score 1.

    Formula: ``sum over ranks i up to k of g_i / log2(i + 1), divided by the sum of 1 / log2(i + 1)``. Unlike nDCG it
    does not divide by what the ground truth allows. Source: ir_measures, `SDCG`; cwl_eval, where it is called NDCG.

    When to use it: queries with little relevant material should score low.

    Args:
        min_grade: As in `nerr8`.

        max_grade: As in `nerr8`.

    Returns:
        Shape (n,), from 0 to 1; NaN if no gold item has a gain.
    """
    return _score(judged, Scale(min_grade, max_grade), cwl_models.sdcg, k)


def _score(judged: Judged, scale: Scale, reader: Reader, k: Cutoff | None = None) -> Scores:
    """Return the expected gain per result read."""
    scores = np.empty(judged.n)
    for samples, gain, reached, _ in readings(judged, scale, reader, k):
        scores[samples] = row_sums(reached * gain) / row_sums(reached)
    return np.where(judged.by_gain().n_gold() > 0, np.minimum(scores, 1.0), np.nan)
