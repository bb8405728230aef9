"""
Set measures: all retrieved items, regardless of order.
"""

from __future__ import annotations

import functools
import math

import numpy as np

from rankgauge.metrics.family import USUAL, always, per_gold, retrieval, with_gold
from rankgauge.plugin import Judged, Law, Scores

__all__ = ["set_f", "set_map", "set_precision", "set_recall", "set_relative_precision", "utility"]


_OVER_SETS: tuple[Law, ...] = ("bounded", "best-first", "relevant-helps")

_over_sets = functools.partial(retrieval, laws=_OVER_SETS, expectation="itself")


def _check_beta(*, beta: float) -> None:
    if not (math.isfinite(beta) and beta >= 0):
        raise ValueError(f"beta is a number of 0 or more, not {beta}")


@_over_sets("retrieval-set-precision", short=("set_P", "SetP", "set_precision"), laws=(*_OVER_SETS, "linear"))
def set_precision(judged: Judged) -> Scores:
    """
    Fraction of the retrieved items that are relevant.

    Formula: ``|ranks with a relevant item| / |retrieved|``, 0 if nothing was retrieved; unlike precision at *k* it
    divides by the number retrieved. Source: trec_eval, measure `set_P`.

    When to use it: the system decides how much it returns.

    Returns:
        Shape (n,), from 0 to 1; NaN if no gold item is relevant.
    """
    return with_gold(judged, _precision(judged))


@retrieval("retrieval-set-recall", short=("set_recall", "SetR"), laws=(*USUAL, "whole-or-pieces"), expectation="itself")
def set_recall(judged: Judged) -> Scores:
    """
    Fraction of the relevant gold items that were retrieved, at any rank.

    Formula: ``|relevant found| / |relevant|``. Source: trec_eval, measure `set_recall`.

    When to use it: the system decides how much it returns.

    Returns:
        Shape (n,), from 0 to 1; NaN if no gold item is relevant.
    """
    return per_gold(judged, judged.found())


@_over_sets("retrieval-set-map", short=("set_map", "SetAP"))
def set_map(judged: Judged) -> Scores:
    """
    Set precision times set recall: average precision without any order.

    Formula: ``P * R`` as one quotient, ``hits * found / (retrieved * relevant)``; 0 if nothing was retrieved.
    Source: trec_eval, measure `set_map`.

    When to use it: the system decides how much it returns, and one number is wanted.

    Returns:
        Shape (n,), from 0 to 1; NaN if no gold item is relevant.
    """
    both, most = judged.relevant_ranks() * judged.found(), judged.depth * judged.n_gold()
    return with_gold(judged, np.divide(both, most, out=np.zeros(judged.n), where=most > 0))


@_over_sets("retrieval-set-f", short=("set_F", "SetF", "set_f"), check=_check_beta)
def set_f(judged: Judged, *, beta: float = 1.0) -> Scores:
    """
    Weighted harmonic mean of set precision and set recall.

    Formula: ``F = (beta**2 + 1) P R / (beta**2 P + R)``, 0 if both are 0. Source: trec_eval, measure `set_F`, whose
    parameter is ``x = beta**2`` (``set_F.4`` is ``set_F(beta=2)``); ir_measures passes its `beta` on as that x.

    When to use it: the system decides how much it returns, and one number is wanted.

    Args:
        beta: How many times more recall matters than precision.

    Returns:
        Shape (n,), from 0 to 1; NaN if no gold item is relevant.
    """
    p, r, weight = _precision(judged), set_recall(judged), beta * beta
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(weight * p + r == 0, 0.0, (weight + 1) * p * r / (weight * p + r))


@_over_sets("retrieval-set-relative-precision", short=("set_relative_P", "SetRelP"))
def set_relative_precision(judged: Judged) -> Scores:
    """
    Relevant items retrieved, as a fraction of the most that could be.

    Formula: ``|relevant found| / min(|retrieved|, |relevant|)``, 0 if nothing was retrieved. Source: trec_eval,
    measure `set_relative_P`.

    When to use it: the system decides how much it returns, and neither size should count against it.

    Returns:
        Shape (n,), from 0 to 1; NaN if no gold item is relevant.
    """
    earned = np.bincount(judged.credits().sample, minlength=judged.n)
    most = np.minimum(judged.depth, judged.n_gold())
    found = np.divide(earned, most, out=np.zeros(judged.n), where=most > 0)
    return with_gold(judged, found)


def _check_weights(*, weights: str, collection: int) -> None:
    _weights(weights, collection)


@retrieval(
    "retrieval-utility",
    short=("utility",),
    check=_check_weights,
    range=(None, None),
    describes=True,
    defined=always,
    laws=(),
    expectation="itself",
)
def utility(judged: Judged, *, weights: str = "1,-1,0,0", collection: int = 0) -> Scores:
    """
    Worth of the retrieved set, with a weight for each kind of item.

    Formula: ``a |relevant retrieved| + b |irrelevant retrieved| + c |relevant missed| + d |irrelevant left out|`` for
    the weights a, b, c, d. Source: trec_eval, measure `utility`.

    When to use it: filtering, where each delivered item has a price.

    Args:
        weights: The four weights, separated by commas.

        collection: How many items there are, for the last weight, which is not allowed without it.

    Returns:
        Shape (n,), of any size.
    """
    gained, costs, missed, spared = _weights(weights, collection)
    found, wanted = judged.found(), judged.n_gold()
    value = gained * found + costs * (judged.depth - found) + missed * (wanted - found)
    return np.asarray(value + spared * (collection + found - judged.depth - wanted), dtype=np.float64)


def _weights(written: str, collection: int) -> tuple[float, ...]:
    """Read ``1,-1,0,0``."""
    try:
        weights = tuple(float(each) for each in written.split(","))
    except ValueError:
        weights = ()
    if len(weights) != 4 or not all(map(math.isfinite, weights)):
        raise ValueError(f"weights are four numbers, such as 1,-1,0,0, not {written!r}")
    if weights[3] and collection == 0:
        raise ValueError("the fourth weight needs the number of items: utility(weights='1,-1,0,0.1', collection=1000)")
    return weights


def _precision(judged: Judged) -> Scores:
    return np.divide(judged.relevant_ranks(), judged.depth, out=np.zeros(judged.n), where=judged.depth > 0)
