"""
What else follows from a reader of the C/W/L framework: the gain of a whole search, how much is read, and the residual.

`rankgauge.metrics.cwl` scores gain per result read, which is what the measures are known for. Every result costs 1
here, so that the expected cost per result is 1, too, and the expected cost of a search is how many results are read.
"""

from __future__ import annotations

import functools
from typing import Literal

import numpy as np

from rankgauge.metrics import cwl_models
from rankgauge.metrics.cwl_models import Reader, Scale, check_goal, check_scale, readings, row_sums
from rankgauge.metrics.family import always, check_persistence, has_grades, retrieval
from rankgauge.plugin import Cutoff, Judged, Scores

__all__ = ["expected_items", "expected_total_cost", "expected_total_utility", "expected_utility_residual"]

Model = Literal["rbp", "precision", "inst", "insq", "bpm", "sdcg", "nerr8", "nerr9", "nerr10", "nerr11"]


def _check(*, goal: float, p: float, min_grade: float, max_grade: float | None) -> None:
    check_goal(goal)
    check_persistence(p=p)
    check_scale(min_grade=min_grade, max_grade=max_grade)


_expected = functools.partial(retrieval, uses_rel=False, needs_max_grade=True, check=_check)


@_expected(
    "retrieval-expected-total-utility",
    short=("expected_total_utility", "ETU"),
    range=(0.0, None),
    laws=("tail",),
    undefined="the ground truth has no item with a gain",
)
def expected_total_utility(
    judged: Judged,
    *,
    k: Cutoff | None = None,
    model: Model = "rbp",
    goal: float = 1.0,
    p: float = 0.9,
    min_grade: float = 0.0,
    max_grade: float | None = None,
) -> Scores:
    """
    Gain that a reader of the C/W/L framework has found when the search ends.

    Formula: ``ETU = sum over ranks i of L(i) * (g_1 + ... + g_i)``, where ``L(i) = C(1) ... C(i - 1) * (1 - C(i))`` is
    the probability to stop at rank i. Source: Azzopardi, Thomas & Moffat, cwl_eval, SIGIR 2019, column ETU.

    When to use it: what a search brings in total matters, rather than per result read.

    Args:
        k: The last rank that is read; None for 1,000.

        model: The reader: `rbp` (uses *p*), `precision`, `inst`, `insq` and `bpm` (use *goal*), `sdcg`, `nerr8`,
            `nerr9`, `nerr10` (uses *p*), `nerr11` (uses *goal*); see the metrics of these names.

        goal: How much gain the reader wants, in results of the highest grade.

        p: The persistence, above 0 and below 1.

        min_grade: The grade that is worth nothing; lower ones count as it.

        max_grade: The highest grade of the scale, worth 1; the result says so if higher ones count as it. When
            absent, the highest of the whole data set.

    Returns:
        Shape (n,), 0 or more; NaN if no gold item has a gain.
    """
    values = np.empty(judged.n)
    for samples, gain, reached, going in readings(judged, Scale(min_grade, max_grade), _reader(model, goal, p, k), k):
        values[samples] = row_sums(reached * (1.0 - going) * np.cumsum(gain, axis=1))
    return np.where(judged.by_gain().n_gold() > 0, values, np.nan)


@_expected(
    "retrieval-expected-total-cost",
    short=("expected_total_cost", "ETC"),
    range=(0.0, None),
    higher_is_better=False,
    describes=True,
    defined=always,
    laws=(),
)
def expected_total_cost(
    judged: Judged,
    *,
    k: Cutoff | None = None,
    model: Model = "rbp",
    goal: float = 1.0,
    p: float = 0.9,
    min_grade: float = 0.0,
    max_grade: float | None = None,
) -> Scores:
    """
    Cost of a search for a reader of the C/W/L framework, where every result costs 1 to read.

    Formula: ``ETC = sum over ranks i of L(i) * i``. Source: Azzopardi, Thomas & Moffat, cwl_eval, SIGIR 2019, column
    ETC, with costs of 1. Whoever has not stopped at the last rank is in no term, as there.

    When to use it: beside `retrieval-expected-total-utility`, to see what the gain costs.

    Args:
        model: As in `expected_total_utility`.

        goal: As in `expected_total_utility`.

        p: As in `expected_total_utility`.

        min_grade: As in `expected_total_utility`.

        max_grade: As in `expected_total_utility`.

    Returns:
        Shape (n,), 0 or more.
    """
    values = np.empty(judged.n)
    for samples, gain, reached, going in readings(judged, Scale(min_grade, max_grade), _reader(model, goal, p, k), k):
        values[samples] = row_sums(reached * (1.0 - going) * np.arange(1.0, gain.shape[1] + 1.0))
    return values


@_expected(
    "retrieval-expected-items",
    short=("expected_items",),
    range=(1.0, None),
    higher_is_better=False,
    describes=True,
    defined=always,
    laws=(),
)
def expected_items(
    judged: Judged,
    *,
    k: Cutoff | None = None,
    model: Model = "rbp",
    goal: float = 1.0,
    p: float = 0.9,
    min_grade: float = 0.0,
    max_grade: float | None = None,
) -> Scores:
    """
    Count the results that a reader of the C/W/L framework reads, in expectation.

    Formula: ``sum over ranks i of C(1) ... C(i - 1)``. Source: Azzopardi, Thomas & Moffat, cwl_eval, SIGIR 2019, column
    EI.

    When to use it: to choose the parameters of a reader, so that it reads as deep as users do.

    Args:
        model: As in `expected_total_utility`.

        goal: As in `expected_total_utility`.

        p: As in `expected_total_utility`.

        min_grade: As in `expected_total_utility`.

        max_grade: As in `expected_total_utility`.

    Returns:
        Shape (n,), 1 or more.
    """
    values = np.empty(judged.n)
    for samples, _, reached, _ in readings(judged, Scale(min_grade, max_grade), _reader(model, goal, p, k), k):
        values[samples] = row_sums(reached)
    return values


@_expected(
    "retrieval-expected-utility-residual",
    short=("expected_utility_residual", "EU_resid"),
    range=(-1.0, 1.0),
    gold="relevant",
    matcher=None,
    higher_is_better=False,
    describes=True,
    defined=has_grades,
    laws=("bounded",),
    undefined="the ground truth is a plain list, which judges only what it lists",
)
def expected_utility_residual(
    judged: Judged,
    *,
    k: Cutoff | None = None,
    model: Model = "rbp",
    goal: float = 1.0,
    p: float = 0.9,
    min_grade: float = 0.0,
    max_grade: float | None = None,
) -> Scores:
    """
    How much higher the gain per result would be if everything unjudged had the highest grade.

    Formula: ``EU(unjudged results, and ranks below the end, have gain 1) - EU(they have gain 0)``, with
    ``EU = sum of W(i) * g_i`` and W of each reader. Source: Azzopardi, Thomas & Moffat, cwl_eval, SIGIR 2019, residual
    of column EU. A reader who adapts may gain less per result from more of them, so that it can be below 0.

    When to use it: beside `INST`, `BPM` and the like, as the share of a score that is not known.

    Args:
        model: As in `expected_total_utility`.

        goal: As in `expected_total_utility`.

        p: As in `expected_total_utility`.

        min_grade: As in `expected_total_utility`.

        max_grade: As in `expected_total_utility`.

    Returns:
        Shape (n,), from -1 to 1; NaN if the ground truth is a plain list.
    """
    reader, scale = _reader(model, goal, p, k), Scale(min_grade, max_grade)
    best, worst = (_utility(judged, scale, reader, k, unjudged) for unjudged in (1.0, 0.0))
    return np.where(judged.graded, best - worst, np.nan)


def _utility(judged: Judged, scale: Scale, reader: Reader, k: Cutoff | None, unjudged: float) -> Scores:
    values = np.empty(judged.n)
    for samples, gain, reached, _ in readings(judged, scale, reader, k, unjudged=unjudged):
        values[samples] = row_sums(reached * gain) / row_sums(reached)
    return values


def _reader(model: Model, goal: float, p: float, k: Cutoff | None) -> Reader:
    """Return a reader, who stops at the cutoff if there is one."""
    reader: Reader = {
        "rbp": cwl_models.rbp(p),
        "precision": cwl_models.precision,
        "inst": cwl_models.inst(goal),
        "insq": cwl_models.insq(goal),
        "bpm": cwl_models.bpm(goal),
        "sdcg": cwl_models.sdcg,
        "nerr8": cwl_models.nerr8,
        "nerr9": cwl_models.nerr9,
        "nerr10": cwl_models.nerr10(p),
        "nerr11": cwl_models.nerr11(goal),
    }[model]
    if k is None:
        return reader
    return lambda gain, rank, last: np.where(rank < last, reader(gain, rank, last), 0.0)
