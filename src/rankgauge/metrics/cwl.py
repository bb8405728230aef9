"""
Measures of the C/W/L framework: a reader goes on from rank to rank, and the score is the gain expected per result read.

A measure is its continuation probability ``C(i)``, that who has read rank i goes on to rank i + 1. The weight of rank i
is ``W(i) = C(1) ... C(i - 1)``, divided by the sum of all weights, and the score the sum of ``W(i) * gain(i)``. Moffat,
Bailey, Scholer & Thomas, Incorporating user expectations and behavior into the measurement of search effectiveness,
TOIS 2017; Azzopardi, Thomas & Moffat, cwl_eval, SIGIR 2019.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

from rankgauge.metrics.family import retrieval
from rankgauge.plugin import Cutoff, Judged, Scores

__all__ = ["bpm", "insq", "inst", "nerr8", "nerr9", "nerr10", "nerr11", "sdcg"]

_HORIZON = 1000
"""Nobody reads further: cwl_eval's depth, which the scores of measures without a cutoff depend on."""

_STEP = 256
"""How many samples are laid out at a time, to keep a step of 1,000 ranks in 2 MB."""

_Table = np.ndarray[tuple[int, int], np.dtype[np.float64]]


def _check(*, min_grade: float, max_grade: float | None) -> None:
    if max_grade is not None and not min_grade < max_grade:
        msg = f"max_grade={max_grade:g} must be above min_grade={min_grade:g}"
        raise ValueError(msg)


def _check_goal(*, goal: float, min_grade: float, max_grade: float | None) -> None:
    _check(min_grade=min_grade, max_grade=max_grade)
    if not 0 < goal < np.inf:
        msg = f"goal is how much gain a reader wants, a number above 0, not {goal}"
        raise ValueError(msg)


def _check_persistence(*, p: float, min_grade: float, max_grade: float | None) -> None:
    _check(min_grade=min_grade, max_grade=max_grade)
    if not 0 < p < 1:
        msg = f"p is the probability of going on to the next result, above 0 and below 1, not {p}"
        raise ValueError(msg)


_cwl = functools.partial(
    retrieval,
    uses_rel=False,
    needs_max_grade=True,
    laws=("bounded", "relevant-helps", "padding", "tail", "duplicates"),
    check=_check,
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
        judged: The rankings of a batch of samples.

        k: How many results count, for all samples or for each; above 1,000 as 1,000.

        min_grade: The grade that is worth nothing; lower ones count as it.

        max_grade: The highest grade of the scale, worth 1. When absent, the highest of the whole data set.

    Returns:
        Shape (n,), from 0 to 1; NaN where no gold item has a gain.
    """
    return _score(judged, min_grade, max_grade, lambda gain, rank, last: np.where(rank < last, 1.0 - gain, 0.0), k)


@_cwl("retrieval-nerr9-at-k", short=("NERR9",))
def nerr9(judged: Judged, *, k: Cutoff, min_grade: float = 0.0, max_grade: float | None = None) -> Scores:
    """
    Gain per result for a reader who stops where a result satisfies, who tires with rank, and stops at *k*.

    Formula: ``C(i) = i / (i + 1) * (1 - g_i)`` for i < k, else 0. Source: Azzopardi, Mackenzie & Moffat, ICTIR 2021,
    equation 9; ir_measures, `NERR9`.

    When to use it: in place of ERR, when a weight for each rank is wanted.

    Args:
        judged: The rankings of a batch of samples.

        k: As in `nerr8`.

        min_grade: As in `nerr8`.

        max_grade: As in `nerr8`.

    Returns:
        Shape (n,), from 0 to 1; NaN where no gold item has a gain.
    """

    def going_on(gain: _Table, rank: _Table, last: _Table) -> _Table:
        return np.where(rank < last, rank / (rank + 1.0) * (1.0 - gain), 0.0)

    return _score(judged, min_grade, max_grade, going_on, k)


@_cwl("retrieval-nerr10", short=("NERR10",), check=_check_persistence)
def nerr10(judged: Judged, *, p: float = 0.9, min_grade: float = 0.0, max_grade: float | None = None) -> Scores:
    """
    Gain per result for a reader who stops where a result satisfies, and otherwise goes on with probability *p*.

    Formula: ``C(i) = p * (1 - g_i)``, over 1,000 ranks. Source: Azzopardi, Mackenzie & Moffat, ICTIR 2021, equation
    10; ir_measures, `NERR10`.

    When to use it: in place of ERR, when a weight for each rank is wanted, and no cutoff.

    Args:
        judged: The rankings of a batch of samples.

        p: The persistence, above 0 and below 1.

        min_grade: As in `nerr8`.

        max_grade: As in `nerr8`.

    Returns:
        Shape (n,), from 0 to 1; NaN where no gold item has a gain.
    """
    return _score(judged, min_grade, max_grade, lambda gain, _rank, _last: p * (1.0 - gain))


@_cwl("retrieval-nerr11", short=("NERR11",), check=_check_goal)
def nerr11(judged: Judged, *, goal: float = 1.0, min_grade: float = 0.0, max_grade: float | None = None) -> Scores:
    """
    Gain per result for a reader who stops where a result satisfies, and goes on the further, the more is wanted.

    Formula: ``C(i) = ((i + 2T - 1) / (i + 2T))**2 * (1 - g_i)``, T the *goal*, over 1,000 ranks. Source: Azzopardi,
    Mackenzie & Moffat, ICTIR 2021, equation 11; ir_measures, `NERR11`.

    When to use it: in place of ERR, when readers differ in how much they want.

    Args:
        judged: The rankings of a batch of samples.

        goal: T, how much gain the reader wants, in results of the highest grade.

        min_grade: As in `nerr8`.

        max_grade: As in `nerr8`.

    Returns:
        Shape (n,), from 0 to 1; NaN where no gold item has a gain.
    """
    return _score(judged, min_grade, max_grade, lambda gain, rank, _last: _patience(rank, 2.0 * goal) * (1.0 - gain))


@_cwl("retrieval-inst", short=("INST",), check=_check_goal, laws=("bounded", "padding", "tail"))
def inst(judged: Judged, *, goal: float = 1.0, min_grade: float = 0.0, max_grade: float | None = None) -> Scores:
    """
    Gain per result for a reader who adapts: the less of the goal is still open, the sooner the reader stops.

    Formula: ``C(i) = ((i + T + T_i - 1) / (i + T + T_i))**2`` with ``T_i = T - (gain up to i)``, T the *goal*, over
    1,000 ranks. Source: Moffat, Bailey, Scholer & Thomas, INST: an adaptive metric, ADCS 2015; ir_measures, `INST`.

    When to use it: tasks differ in how many good results they need.

    Args:
        judged: The rankings of a batch of samples.

        goal: T, how much gain the reader wants, in results of the highest grade.

        min_grade: As in `nerr8`.

        max_grade: As in `nerr8`.

    Returns:
        Shape (n,), from 0 to 1; NaN where no gold item has a gain.
    """

    def going_on(gain: _Table, rank: _Table, _last: _Table) -> _Table:
        return _patience(rank, 2.0 * goal - np.cumsum(gain, axis=1))

    return _score(judged, min_grade, max_grade, going_on)


@_cwl("retrieval-insq", short=("INSQ",), check=_check_goal, laws=("best-first", *("bounded", "relevant-helps", "tail")))
def insq(judged: Judged, *, goal: float = 1.0, min_grade: float = 0.0, max_grade: float | None = None) -> Scores:
    """
    Gain per result for a reader whose patience depends on the goal, and on no result.

    Formula: ``C(i) = ((i + 2T - 1) / (i + 2T))**2``, T the *goal*, over 1,000 ranks. Source: Moffat, Scholer & Thomas,
    Models and metrics: IR evaluation as a user process, ADCS 2012; ir_measures, `INSQ`.

    When to use it: tasks differ in how many good results they need, and weights should be the same for all rankings.

    Args:
        judged: The rankings of a batch of samples.

        goal: T, how much gain the reader wants, in results of the highest grade.

        min_grade: As in `nerr8`.

        max_grade: As in `nerr8`.

    Returns:
        Shape (n,), from 0 to 1; NaN where no gold item has a gain.
    """
    return _score(judged, min_grade, max_grade, lambda _gain, rank, _last: _patience(rank, 2.0 * goal))


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
        judged: The rankings of a batch of samples.

        k: As in `nerr8`.

        goal: T, how much gain the reader wants, in results of the highest grade.

        min_grade: As in `nerr8`.

        max_grade: As in `nerr8`.

    Returns:
        Shape (n,), from 0 to 1; NaN where no gold item has a gain.
    """

    def going_on(gain: _Table, rank: _Table, last: _Table) -> _Table:
        return ((np.cumsum(gain, axis=1) < goal) & (rank < last)).astype(np.float64)

    return _score(judged, min_grade, max_grade, going_on, k)


@_cwl("retrieval-sdcg-at-k", short=("SDCG",), laws=("bounded", "best-first", "relevant-helps", "padding", "tail"))
def sdcg(judged: Judged, *, k: Cutoff, min_grade: float = 0.0, max_grade: float | None = None) -> Scores:
    """
    Discounted cumulative gain, scaled so that *k* results of the highest grade score 1.

    Formula: ``sum over ranks i up to k of g_i / log2(i + 1), divided by the sum of 1 / log2(i + 1)``. Unlike nDCG it
    does not divide by what the ground truth allows. Source: ir_measures, `SDCG`; cwl_eval, where it is called NDCG.

    When to use it: queries with little relevant material should score low.

    Args:
        judged: The rankings of a batch of samples.

        k: As in `nerr8`.

        min_grade: As in `nerr8`.

        max_grade: As in `nerr8`.

    Returns:
        Shape (n,), from 0 to 1; NaN where no gold item has a gain.
    """

    def going_on(_gain: _Table, rank: _Table, last: _Table) -> _Table:
        return np.where(rank < last, np.log2(rank + 1.0) / np.log2(rank + 2.0), 0.0)

    return _score(judged, min_grade, max_grade, going_on, k)


def _patience(rank: _Table, wanted: _Table | float) -> _Table:
    return np.square((rank + wanted - 1.0) / (rank + wanted))


def _score(
    judged: Judged,
    low: float,
    high: float | None,
    going_on: Callable[[_Table, _Table, _Table], _Table],
    k: Cutoff | None = None,
) -> Scores:
    """Return the expected gain per result; *going_on* gets gains, ranks and cutoffs, and returns C(i) for each rank."""
    judged = judged.by_gain()
    top = float(judged.gold.grade.max(initial=0.0))
    if high is None:
        high = top
    if top > high:
        msg = f"grade {top:g} lies above max_grade={high:g}; give the highest grade of the scale"
        raise ValueError(msg)
    cutoffs = np.minimum(np.full(judged.n, _HORIZON) if k is None else np.broadcast_to(k, judged.n), _HORIZON)
    width = int(cutoffs.max(initial=1))
    rows = judged.credits(width)
    gains = np.clip((rows.grade - low) / (high - low), 0.0, 1.0) if high > low else np.zeros(len(rows.grade))
    rank = np.arange(1.0, width + 1.0)[np.newaxis]
    scores = np.empty(judged.n)
    for start in range(0, judged.n, _STEP):
        end = min(start + _STEP, judged.n)
        first, last = np.searchsorted(rows.sample, [start, end])
        gain = np.zeros((end - start, width))
        gain[rows.sample[first:last] - start, rows.rank[first:last] - 1] = gains[first:last]
        weight = np.ones_like(gain)
        going = going_on(gain, rank, cutoffs[start:end, np.newaxis].astype(np.float64))
        np.cumprod(np.broadcast_to(going, gain.shape)[:, :-1], axis=1, out=weight[:, 1:])
        # Added from the first rank on, so that a wider step of ranks, with weight 0, changes no bit.
        scores[start:end] = np.cumsum(weight * gain, axis=1)[:, -1] / np.cumsum(weight, axis=1)[:, -1]
    return np.where(judged.n_gold() > 0, np.minimum(scores, 1.0), np.nan)
