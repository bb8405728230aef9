"""
Precision and what is built on it: F1, R-precision and relative precision.
"""

from __future__ import annotations

import numpy as np

from rankgauge.metrics.family import USUAL, per_gold, retrieval
from rankgauge.metrics.ties import expected_ranks
from rankgauge.plugin import Contributions, Cutoff, Judged, Scores

__all__ = ["f1", "precision", "r_precision", "r_precision_multiple", "relative_precision"]


def _details(judged: Judged, *, k: Cutoff) -> dict[str, list[int]]:
    return {"relevant_ranks": judged.relevant_ranks(k).tolist()}


def _expected(judged: Judged, *, k: Cutoff) -> Scores:
    return np.where(judged.n_gold() > 0, expected_ranks(judged, k) / k, np.nan)


def _over_k(judged: Judged, *, k: Cutoff) -> Contributions:
    return _each_hit(judged, k, "ranks")


def _each_hit(judged: Judged, k: Cutoff, divisor_is: str) -> Contributions:
    hits = judged.hits(k)
    divisors = np.broadcast_to(k, judged.n).astype(np.float64)
    return Contributions(hits, np.ones(len(hits.rank)), None, divisors, divisor_is)


@retrieval(
    "retrieval-precision-at-k",
    short=("P", "precision", "P_{k}"),
    details=_details,
    joins=("top_k",),
    expectation=_expected,
    contributions=_over_k,
)
def precision(judged: Judged, *, k: Cutoff) -> Scores:
    """
    Fraction of the first *k* ranks that hold a relevant item.

    Formula: ``P@k = |ranks up to k with a relevant item| / k``; divided by *k* also when fewer were retrieved.
    Source: trec_eval, measure `P`.

    When to use it: every result is shown or paid for, so irrelevant ones cost something.

    Args:
        judged: The rankings of a batch of samples.

        k: How many results count, for all samples or for each.

    Returns:
        Shape (n,), from 0 to 1; NaN where no gold item is relevant.
    """
    return np.where(judged.n_gold() > 0, judged.relevant_ranks(k) / k, np.nan)


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

    Formula: ``F1@k = 2 P R / (P + R)``, 0 where both are 0. Source: van Rijsbergen, Information Retrieval, 1979.

    When to use it: one number for a fixed result size, where missing and surplus results count the same.

    Args:
        judged: The rankings of a batch of samples.

        k: How many results count, for all samples or for each.

    Returns:
        Shape (n,), from 0 to 1; NaN where no gold item is relevant.
    """
    with np.errstate(invalid="ignore"):
        p = judged.relevant_ranks(k) / k
        r = judged.found(k) / judged.n_gold()
        return np.where(p + r == 0, 0.0, 2 * p * r / (p + r))


def _r_details(judged: Judged) -> dict[str, list[int]]:
    wanted = judged.n_gold()
    return {"relevant_count": wanted.tolist(), "relevant_ranks": judged.relevant_ranks(wanted).tolist()}


def _r_expected(judged: Judged) -> Scores:
    return per_gold(judged, expected_ranks(judged, judged.n_gold()))


def _over_r(judged: Judged) -> Contributions:
    return _each_hit(judged, judged.n_gold(), "gold items")


@retrieval(
    "retrieval-r-precision",
    short=("Rprec", "RPrec", "r_precision"),
    details=_r_details,
    joins=("relevant",),
    expectation=_r_expected,
    contributions=_over_r,
)
def r_precision(judged: Judged) -> Scores:
    """
    Precision at R, where R is the number of relevant gold items.

    Formula: ``|ranks up to R with a relevant item| / R``; a perfect ranking scores 1 for any R.
    Source: trec_eval, measure `Rprec`.

    When to use it: queries differ widely in the number of relevant items, so no fixed cutoff is fair.

    Args:
        judged: The rankings of a batch of samples.

    Returns:
        Shape (n,), from 0 to 1; NaN where no gold item is relevant.
    """
    return per_gold(judged, judged.relevant_ranks(judged.n_gold()))


def _check_multiple(*, multiple: float) -> None:
    if not 0 < multiple < np.inf:
        msg = f"multiple is a number above 0, such as 0.2 or 2, not {multiple}"
        raise ValueError(msg)


@retrieval(
    "retrieval-r-precision-multiple",
    short=("Rprec_mult", "Rprec_mult_{multiple}"),
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
        judged: The rankings of a batch of samples.

        multiple: What R is multiplied by, above 0; ``Rprec_mult@0.2`` sets it.

    Returns:
        Shape (n,), from 0 to 1; NaN where no gold item is relevant.
    """
    cutoff = np.floor(np.minimum(multiple * judged.n_gold() + 0.9, 2.0**62)).astype(np.int64)
    return np.where(judged.n_gold() > 0, judged.relevant_ranks(cutoff) / np.maximum(cutoff, 1), np.nan)


def _relative_expected(judged: Judged, *, k: Cutoff) -> Scores:
    with np.errstate(invalid="ignore"):
        return expected_ranks(judged, k) / np.minimum(judged.n_gold(), k)


@retrieval(
    "retrieval-relative-precision-at-k",
    laws=(*USUAL, "perfect-is-one"),
    short=("relative_P", "relative_precision", "relative_P_{k}"),
    joins=("top_k",),
    expectation=_relative_expected,
)
def relative_precision(judged: Judged, *, k: Cutoff) -> Scores:
    """
    Relevant items in the first *k* ranks, as a fraction of the most that could be there.

    Formula: ``|relevant in the first k| / min(k, |relevant|)``, each gold item and each rank counted once. Source:
    trec_eval, measure `relative_P`.

    When to use it: some queries have fewer relevant items than *k*, so precision cannot reach 1.

    Args:
        judged: The rankings of a batch of samples.

        k: How many results count, for all samples or for each.

    Returns:
        Shape (n,), from 0 to 1; NaN where no gold item is relevant.
    """
    earned = np.bincount(judged.credits(k).sample, minlength=judged.n)
    with np.errstate(invalid="ignore"):
        return earned / np.minimum(judged.n_gold(), k)
