"""
Precision and what is built on it: F1, R-precision, relative and interpolated precision.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from rankgauge.columns import Flags, Ints
from rankgauge.metrics.family import USUAL, expected_ranks, per_gold, retrieval, with_gold
from rankgauge.plugin import Contributions, Cutoff, Judged, Rows, Scores

__all__ = [
    "average_over_levels",
    "f1",
    "interpolated_precision",
    "precision",
    "r_precision",
    "r_precision_multiple",
    "relative_precision",
]


Ranks = Literal["k", "retrieved"]


def _details(judged: Judged, *, k: Cutoff) -> dict[str, list[int]]:
    return {"relevant_ranks": judged.relevant_ranks(k).tolist()}


def _expected(judged: Judged, *, k: Cutoff, denominator: Ranks = "k") -> Scores:
    return with_gold(judged, expected_ranks(judged, k) / _ranks(judged, k, denominator))


def _all_ranks(judged: Judged, *, k: Cutoff, denominator: Ranks = "k") -> Scores:
    return np.where(judged.n_gold() > 0, _ranks(judged, k, denominator), 0).astype(np.float64)


def _over_k(judged: Judged, *, k: Cutoff, denominator: Ranks = "k") -> Contributions:
    hits = judged.hits(k)
    ranks = np.broadcast_to(_ranks(judged, k, denominator), judged.n).astype(np.float64)
    return Contributions(hits, np.ones(len(hits.rank)), None, ranks, "ranks" if denominator == "k" else "results")


def _ranks(judged: Judged, k: Cutoff, denominator: Ranks) -> Cutoff:
    """Return how many ranks precision is a share of; if nothing was retrieved, one."""
    return k if denominator == "k" else np.maximum(np.minimum(judged.depth, k), 1)


@retrieval(
    "retrieval-precision-at-k",
    short=("P", "precision", "P_{k}"),
    details=_details,
    joins=("top_k",),
    laws=(*USUAL, "linear"),
    expectation=_expected,
    denominators=_all_ranks,
    contributions=_over_k,
)
def precision(judged: Judged, *, k: Cutoff, denominator: Ranks = "k") -> Scores:
    """
    Fraction of the first *k* ranks that hold a relevant item.

    Formula: ``P@k = |ranks up to k with a relevant item| / k``; divided by *k* also when fewer were retrieved.
    Source: trec_eval, measure `P`.

    When to use it: every result is shown or paid for, so irrelevant ones cost something.

    Args:
        denominator: What hits are a share of: *k* ranks, as in trec_eval, or the results that were `retrieved` within
            them, of which short rankings have fewer (rax, CatBoost, LensKit): one result that is relevant then scores
            1. Nothing retrieved scores 0, and is one irrelevant result if results are pooled.

    Returns:
        Shape (n,), from 0 to 1; NaN if no gold item is relevant.
    """
    return with_gold(judged, judged.relevant_ranks(k) / _ranks(judged, k, denominator))


def _f1_details(judged: Judged, *, k: Cutoff) -> dict[str, list[int]]:
    return {"relevant_ranks": judged.relevant_ranks(k).tolist(), "found": judged.found(k).tolist()}


def _f1_expected(judged: Judged, *, k: Cutoff) -> Scores:
    wanted = judged.n_gold()
    return np.where(wanted > 0, 2 * expected_ranks(judged, k) / (k + wanted), np.nan)  # linear in what is found


@retrieval(
    "retrieval-f1-at-k",
    short=("f1", "F1"),
    details=_f1_details,
    joins=("top_k",),
    expectation=_f1_expected,
)
def f1(judged: Judged, *, k: Cutoff) -> Scores:
    """
    Harmonic mean of precision and recall over the first *k* ranks.

    Formula: ``F1@k = 2 P R / (P + R)``, 0 if both are 0. Source: van Rijsbergen, Information Retrieval, 1979.

    When to use it: one number for a fixed result size, where missing and surplus results count the same.

    Returns:
        Shape (n,), from 0 to 1; NaN if no gold item is relevant.
    """
    with np.errstate(invalid="ignore"):
        p = judged.relevant_ranks(k) / k
        r = judged.found(k) / judged.n_gold()
        return np.where(p + r == 0, 0.0, 2 * p * r / (p + r))


Misses = Literal["zero", "left-out"]


def _r_details(judged: Judged, *, k: Cutoff | None) -> dict[str, list[int]]:
    ranks = _earning_ranks(judged, _up_to_r(judged, k))
    return {"relevant_count": judged.n_gold().tolist(), "relevant_ranks": ranks.tolist()}


def _up_to_r(judged: Judged, k: Cutoff | None) -> Ints:
    """Return up to which rank relevant results count: R, or the cutoff if that is less."""
    return judged.n_gold() if k is None else np.minimum(judged.n_gold(), k)


def _check_r_ties(*, misses: Misses) -> None:
    if misses == "left-out":
        raise ValueError("misses=left-out leaves out some orders of a tie and not others")


def _r_expected(judged: Judged, *, k: Cutoff | None) -> Scores:
    return per_gold(judged, expected_ranks(judged, _up_to_r(judged, k)))


def _over_r(judged: Judged, *, k: Cutoff | None) -> Contributions:
    wanted = judged.n_gold()
    rows = _earning_rows(judged, _up_to_r(judged, k))
    found = judged.found_at(rows)
    return Contributions(rows, np.ones(len(found)), None, wanted.astype(np.float64), "gold items", found)


def _earning_rows(judged: Judged, k: Cutoff) -> Rows:
    """Return a row for each rank within the cutoff that holds a relevant item, or is the own rank of one."""
    return judged.at_own_ranks(k) if judged.own_ranks else judged.hits(k)


def _earning_ranks(judged: Judged, k: Cutoff) -> Ints:
    return np.bincount(_earning_rows(judged, k).sample, minlength=judged.n)


@retrieval(
    "retrieval-r-precision",
    short=("Rprec", "RPrec", "r_precision"),
    laws=(*USUAL, "whole-or-pieces"),
    own_ranks=True,
    details=_r_details,
    joins=("relevant",),
    without=("last-rank",),  # ranks below R count for nothing, whatever the cutoff
    expectation=_r_expected,
    check_ties=_check_r_ties,
    contributions=_over_r,
)
def r_precision(judged: Judged, *, k: Cutoff | None = None, misses: Misses = "zero") -> Scores:
    """
    Precision at R, where R is the number of relevant gold items.

    Formula: ``|ranks up to R with a relevant item| / R``; a perfect ranking scores 1 for any R. With a cutoff only the
    first *k* ranks count, so that more than *k* relevant items keep scores low.
    Source: trec_eval, measure `Rprec`.

    When to use it: queries differ widely in the number of relevant items, so no fixed cutoff is fair.

    Args:
        misses: What a ranking counts as that has nothing relevant up to R: `zero`, or it is `left-out` of the mean, as
            in the library *recommenders*, where a system that fails on most users may score 1.

    Returns:
        Shape (n,), from 0 to 1; NaN if no gold item is relevant.
    """
    earned = _earning_ranks(judged, _up_to_r(judged, k))
    return per_gold(judged, np.where(earned > 0, earned, np.nan) if misses == "left-out" else earned)


def _check_multiple(*, multiple: float) -> None:
    if not 0 < multiple < np.inf:
        raise ValueError(f"multiple is a number above 0, such as 0.2 or 2, not {multiple}")


@retrieval(
    "retrieval-r-precision-multiple",
    short=("Rprec_mult", "Rprec_mult_{multiple}"),
    laws=(*USUAL, "whole-or-pieces"),
    own_ranks=True,
    pins="multiple",
    check=_check_multiple,
    joins=("relevant",),
)
def r_precision_multiple(judged: Judged, *, multiple: float = 1.0) -> Scores:
    """
    Precision at a multiple of R, where R is the number of relevant gold items.

    Formula: ``|ranks up to c with a relevant item| / c`` with ``c = floor(multiple * R + 0.9)``. Source: trec_eval,
    measure `Rprec_mult`.

    When to use it: to tell whether a system is strong at the top (multiples below 1) or in completeness (above 1).

    Args:
        multiple: What R is multiplied by, above 0; ``Rprec_mult@0.2`` sets it.

    Returns:
        Shape (n,), from 0 to 1; NaN if no gold item is relevant.
    """
    cutoff = np.floor(np.minimum(multiple * judged.n_gold() + 0.9, 2.0**62)).astype(np.int64)
    return with_gold(judged, _earning_ranks(judged, cutoff) / np.maximum(cutoff, 1))


def _relative_expected(judged: Judged, *, k: Cutoff) -> Scores:
    with np.errstate(invalid="ignore"):
        return expected_ranks(judged, k) / np.minimum(judged.n_gold(), k)


def _most(judged: Judged, *, k: Cutoff) -> Scores:
    """Return how many relevant items could be within the cutoff."""
    most = judged.ideal_cutoff(k) if judged.own_ranks else k  # one result of a budget can hold all of the gold
    wanted = judged.n_gold()
    return (wanted if most is None else np.minimum(wanted, most)).astype(np.float64)


@retrieval(
    "retrieval-relative-precision-at-k",
    laws=(*USUAL, "perfect-is-one", "whole-or-pieces"),
    short=("relative_P", "relative_precision", "relative_P_{k}"),
    own_ranks=True,
    joins=("top_k",),
    expectation=_relative_expected,
    denominators=_most,
)
def relative_precision(judged: Judged, *, k: Cutoff) -> Scores:
    """
    Relevant items in the first *k* ranks, as a fraction of the most that could be there.

    Formula: ``|relevant in the first k| / min(k, |relevant|)``, each gold item and each rank counted once. Source:
    trec_eval, measure `relative_P`.

    When to use it: some queries have fewer relevant items than *k*, so precision cannot reach 1.

    Returns:
        Shape (n,), from 0 to 1; NaN if no gold item is relevant.
    """
    earned = np.bincount(judged.at_own_ranks(k).sample, minlength=judged.n)
    with np.errstate(invalid="ignore"):
        return earned / _most(judged, k=k)


Rounding = Literal["nearest", "up", "exact"]

_LEVELS = "0,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1"


def _check_level(*, recall: float) -> None:
    _levels(str(recall))


def _check_levels(*, recalls: str) -> None:
    _levels(recalls)


@retrieval(
    "retrieval-iprec-at-recall",
    short=("IPrec", "iprec_at_recall", "iprec_at_recall_{recall}"),
    own_ranks=True,
    pins="recall",
    check=_check_level,
    laws=(*USUAL, "perfect-is-one", "whole-or-pieces"),
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
        recall: The level, from 0 to 1; ``iprec@0.1`` sets it.

        rounding: How *c* becomes a whole number: `nearest` rounds halves up, as trec_eval 10 does, so that a level
            counts as reached where it nearly is (of 4 relevant items, 1 reaches 0.3); `up` adds 0.9 and truncates, as
            trec_eval 9 does; `exact` rounds up: the level itself has to be reached.

    Returns:
        Shape (n,), from 0 to 1; NaN if no gold item is relevant.
    """
    return _at_levels(judged, [recall], rounding)


@retrieval(
    "retrieval-11pt-avg",
    short=("11pt_avg",),
    own_ranks=True,
    check=_check_levels,
    laws=(*USUAL, "perfect-is-one", "whole-or-pieces"),
)
def average_over_levels(judged: Judged, *, recalls: str = _LEVELS, rounding: Rounding = "nearest") -> Scores:
    """
    Mean of interpolated precision over levels of recall, eleven of them unless others are given.

    Formula: ``mean over levels of iprec@level``. Source: trec_eval, measure `11pt_avg`.

    When to use it: to compare with older results, from before average precision was common.

    Args:
        recalls: The levels, separated by commas.

        rounding: As in `interpolated_precision`.

    Returns:
        Shape (n,), from 0 to 1; NaN if no gold item is relevant.
    """
    return _at_levels(judged, _levels(recalls), rounding)


def _levels(written: str) -> list[float]:
    try:
        levels = [float(level) for level in written.split(",")]
    except ValueError:
        levels = []
    if not levels or not all(0 <= level <= 1 for level in levels):
        raise ValueError(f"levels of recall are numbers from 0 to 1, separated by commas, not {written!r}")
    return levels


def _at_levels(judged: Judged, levels: list[float], rounding: Rounding) -> Scores:
    """Return the mean of interpolated precision over levels."""
    earned = judged.at_own_ranks()
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
