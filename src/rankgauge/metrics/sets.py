"""
Set measures: all retrieved items, regardless of order.
"""

from __future__ import annotations

import math

import numpy as np

from rankgauge.metrics.family import per_gold, retrieval
from rankgauge.plugin import Judged, Scores

__all__ = ["set_f", "set_map", "set_precision", "set_recall", "set_relative_precision"]


def _check_beta(*, beta: float) -> None:
    if not (math.isfinite(beta) and beta >= 0):
        msg = f"beta is a number of 0 or more, not {beta}"
        raise ValueError(msg)


@retrieval(
    "retrieval-set-precision",
    short=("set_P", "SetP", "set_precision"),
    laws=("bounded", "best-first", "relevant-helps"),
    expectation="itself",
)
def set_precision(judged: Judged) -> Scores:
    """
    Fraction of the retrieved items that are relevant.

    Formula: ``|ranks with a relevant item| / |retrieved|``, 0 where nothing was retrieved; unlike precision at *k* it
    divides by the number retrieved. Source: trec_eval, measure `set_P`.

    When to use it: the system decides how much it returns.

    Args:
        judged: The rankings of a batch of samples.

    Returns:
        Shape (n,), from 0 to 1; NaN where no gold item is relevant.
    """
    return np.where(judged.n_gold() > 0, _precision(judged), np.nan)


@retrieval(
    "retrieval-set-recall",
    short=("set_recall", "SetR"),
    laws=("bounded", "best-first", "relevant-helps", "padding", "tail", "duplicates"),
    expectation="itself",
)
def set_recall(judged: Judged) -> Scores:
    """
    Fraction of the relevant gold items that were retrieved, at any rank.

    Formula: ``|relevant found| / |relevant|``. Source: trec_eval, measure `set_recall`.

    When to use it: the system decides how much it returns.

    Args:
        judged: The rankings of a batch of samples.

    Returns:
        Shape (n,), from 0 to 1; NaN where no gold item is relevant.
    """
    return per_gold(judged, judged.found())


@retrieval(
    "retrieval-set-map",
    short=("set_map", "SetAP"),
    laws=("bounded", "best-first", "relevant-helps"),
    expectation="itself",
)
def set_map(judged: Judged) -> Scores:
    """
    Set precision times set recall: average precision without any order.

    Formula: ``P * R``. Source: trec_eval, measure `set_map`.

    When to use it: the system decides how much it returns, and one number is wanted.

    Args:
        judged: The rankings of a batch of samples.

    Returns:
        Shape (n,), from 0 to 1; NaN where no gold item is relevant.
    """
    return set_recall(judged) * _precision(judged)


@retrieval(
    "retrieval-set-f",
    short=("set_F", "SetF", "set_f"),
    check=_check_beta,
    laws=("bounded", "best-first", "relevant-helps"),
    expectation="itself",
)
def set_f(judged: Judged, *, beta: float = 1.0) -> Scores:
    """
    Weighted harmonic mean of set precision and set recall.

    Formula: ``F = (beta**2 + 1) P R / (beta**2 P + R)``, 0 where both are 0. Source: trec_eval, measure `set_F`, whose
    parameter is ``x = beta**2`` (``set_F.4`` is ``set_F(beta=2)``); ir_measures passes its `beta` on as that x.

    When to use it: the system decides how much it returns, and one number is wanted.

    Args:
        judged: The rankings of a batch of samples.

        beta: How many times more recall matters than precision.

    Returns:
        Shape (n,), from 0 to 1; NaN where no gold item is relevant.
    """
    p, r, weight = _precision(judged), set_recall(judged), beta * beta
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(weight * p + r == 0, 0.0, (weight + 1) * p * r / (weight * p + r))


@retrieval(
    "retrieval-set-relative-precision",
    short=("set_relative_P", "SetRelP"),
    laws=("bounded", "best-first", "relevant-helps"),
    expectation="itself",
)
def set_relative_precision(judged: Judged) -> Scores:
    """
    Relevant items retrieved, as a fraction of the most that could be.

    Formula: ``|relevant found| / min(|retrieved|, |relevant|)``, 0 where nothing was retrieved. Source: trec_eval,
    measure `set_relative_P`.

    When to use it: the system decides how much it returns, and neither size should count against it.

    Args:
        judged: The rankings of a batch of samples.

    Returns:
        Shape (n,), from 0 to 1; NaN where no gold item is relevant.
    """
    earned = np.bincount(judged.credits().sample, minlength=judged.n)
    most = np.minimum(judged.depth, judged.n_gold())
    found = np.divide(earned, most, out=np.zeros(judged.n), where=most > 0)
    return np.where(judged.n_gold() > 0, found, np.nan)


def _precision(judged: Judged) -> Scores:
    return np.divide(judged.relevant_ranks(), judged.depth, out=np.zeros(judged.n), where=judged.depth > 0)
