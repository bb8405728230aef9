"""
Normalized discounted cumulative gain.

Järvelin & Kekäläinen, Cumulated gain-based evaluation of IR techniques, TOIS 2002; the logarithmic discount from
rank 1 on follows Burges et al., Learning to rank using gradient descent, ICML 2005, as trec_eval does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rankgauge.metrics.family import USUAL, check_sums, prefix_mean, retrieval, tied
from rankgauge.plugin import Contributions, Cutoff, Judged, Rows, Scores

__all__ = [
    "Discount",
    "Gain",
    "by_gains",
    "check_gains",
    "discounted",
    "divisor_of",
    "expected_sum",
    "gains_of",
    "ndcg",
    "ndcg_any",
    "positive_gains",
]

Gain = Literal["linear", "exponential", "binary"]
Discount = Literal["log2", "log2-from-2", "rank"]
Credit = Literal["gold", "rank"]
Ideal = Literal["gold-at-k", "gold", "gold-at-retrieved", "undiscounted", "retrieved", "retrieved-at-k"]

_LAST_BITS = 1e-12


def _details(
    judged: Judged, *, k: Cutoff | None, gain: Gain, discount: Discount, ideal: Ideal, gains: str
) -> dict[str, list[float]]:
    earned, best = _earned_and_best(by_gains(judged, gains), k, gain, discount, ideal)
    return {"dcg": earned.tolist(), "idcg": best.tolist()}


def _check(*, gain: Gain, gains: str) -> None:
    if _gain_of_grade(gains) and gain != "linear":
        raise ValueError(f"gains={gains!r} already sets what grades are worth; leave out gain={gain}")


def _check_ties(*, ideal: Ideal, clamp: bool = False) -> None:
    if clamp:
        raise ValueError("clamp=true has no closed form over the orders of ties")
    if ideal == "retrieved-at-k":
        msg = "ideal=retrieved-at-k has no closed form over the orders of ties: the contents of the first k vary too"
        raise ValueError(msg)


def _expected(judged: Judged, *, k: Cutoff | None, gain: Gain, discount: Discount, ideal: Ideal, gains: str) -> Scores:
    return _expected_ratio(by_gains(judged, gains), k, gain, discount, ideal)


def _contributions(
    judged: Judged, *, k: Cutoff | None, gain: Gain, discount: Discount, ideal: Ideal, clamp: bool, gains: str
) -> Contributions:
    judged = by_gains(judged, gains)
    earned, best = _earned_and_best(judged, k, gain, discount, ideal)
    if clamp:
        scores = _ratio(judged, earned, best, ideal)
        best = np.where((scores < 0) | (scores > 1), np.nan, best)
    rows = judged.at_own_ranks(k)
    return _over_ideal(rows, best, gain, discount)._replace(found=judged.found_at(rows))


@retrieval(
    "retrieval-ndcg-at-k",
    short=("ndcg", "nDCG", "ndcg_cut_{k}"),
    uses_rel=False,
    own_ranks=True,
    laws=(*USUAL, "perfect-is-one", "whole-or-pieces"),
    details=_details,
    check=_check,
    expectation=_expected,
    check_ties=_check_ties,
    contributions=_contributions,
)
def ndcg(
    judged: Judged,
    *,
    k: Cutoff | None,
    gain: Gain = "linear",
    discount: Discount = "log2",
    ideal: Ideal = "gold-at-k",
    clamp: bool = False,
    gains: str = "",
) -> Scores:
    """
    Discounted gain of the first *k* results over that of the best possible order.

    Formula: ``DCG = sum over ranks of gain / discount``; ``nDCG@k = DCG@k / IDCG``, with the ideal over all gold
    items cut at *k*. Source: trec_eval, measures `ndcg` and `ndcg_cut`.

    When to use it: judgments are graded and the top matters more than the rest.

    Args:
        gain: `linear` takes gold gains as they are, `exponential` uses ``2**gain - 1``, and with `binary` every item
            with a gain has gain 1, as in libraries for recommenders.

        discount: `log2` divides by ``log2(rank + 1)``; `log2-from-2` by ``log2(rank)`` from rank 2 on, and leaves
            rank 1 undiscounted, as REMem does; `rank` by the rank itself, as CatBoost's ``denominator=Position`` and
            Cornac's NCRR do.

        ideal: What the best order is made of: `gold-at-k`, all gold items cut at *k*; `gold`, all of them uncut, as
            Haystack does; `gold-at-retrieved`, all of them cut where the results within *k* end, so that a short
            ranking loses nothing by its length, as MLflow does; `undiscounted`, the gains of all of them as if each
            stood at rank 1, which no ranking reaches that has more than one (with ``discount=rank`` and ``gain=binary``
            the mean over gold items of one over their ranks, which AutoRAG calls MRR); `retrieved`, the items
            retrieved at any depth, cut at *k*, as REMem does; `retrieved-at-k`, only the first *k* retrieved. The last
            two do not punish what was never found.

        clamp: Whether to clip scores to [0, 1]; only gains below 0 can lead outside.

        gains: What grades are worth, such as ``"1=3,2=9"``, like trec_eval's ``ndcg.1=3,2=9``; an unlisted grade is
            worth itself, and one below 0 nothing.

    Returns:
        Shape (n,), from 0 to 1; NaN if no gold item has a gain.
    """
    judged = by_gains(judged, gains)
    scores = _ratio(judged, *_earned_and_best(judged, k, gain, discount, ideal), ideal)
    return np.clip(scores, 0.0, 1.0) if clamp else scores


def _any_details(
    judged: Judged, *, k: Cutoff | None, discount: Discount, ideal: Ideal, credit: Credit
) -> dict[str, list[float]]:
    earned, best = _earned_and_best(judged.binary(), k, "linear", discount, ideal, credit)
    return {"dcg": earned.tolist(), "idcg": best.tolist()}


def _any_expected(judged: Judged, *, k: Cutoff | None, discount: Discount, ideal: Ideal) -> Scores:
    # `credit` makes no difference: by id, every relevant rank holds a gold item of its own.
    return _expected_ratio(judged.binary(), k, "linear", discount, ideal)


def _any_contributions(
    judged: Judged, *, k: Cutoff | None, discount: Discount, ideal: Ideal, credit: Credit
) -> Contributions:
    binary = judged.binary()
    _, best = _earned_and_best(binary, k, "linear", discount, ideal, credit)
    rows = _earning(binary, credit)(k)
    found = binary.found_at(rows) if credit == "gold" else None
    return _over_ideal(rows, best, "linear", discount)._replace(found=found)


@retrieval(
    "retrieval-ndcg-any-at-k",
    short=("ndcg_any", "NDCG_any"),
    own_ranks=True,
    laws=(*USUAL, "perfect-is-one", "whole-or-pieces"),
    details=_any_details,
    expectation=_any_expected,
    check_ties=_check_ties,
    contributions=_any_contributions,
)
def ndcg_any(
    judged: Judged,
    *,
    k: Cutoff | None,
    discount: Discount = "log2",
    ideal: Ideal = "gold-at-k",
    credit: Credit = "gold",
) -> Scores:
    """
    Binary nDCG: every relevant result has gain 1, whatever its grade.

    Formula: as `retrieval-ndcg-at-k`, with gain 1. Source: REMem's `RetrievalNDCGAny`, here with the ideal over the
    ground truth.

    When to use it: judgments are graded, but the system need not tell the grades apart.

    Args:
        discount: As in `ndcg`.

        ideal: As in `ndcg`.

        credit: Whether each gold item earns once (`gold`), or each rank that holds a relevant item earns (`rank`, as
            REMem has it: two chunks of one passage earn twice; bounded only with an ideal over what was retrieved).

    Returns:
        Shape (n,), from 0 to 1; NaN if no gold item is relevant.
    """
    binary = judged.binary()
    return _ratio(binary, *_earned_and_best(binary, k, "linear", discount, ideal, credit), ideal)


def discounted(judged: Judged, rows: Rows, gain: Gain = "linear", discount: Discount = "log2") -> Scores:
    """Return the discounted cumulative gain of some rows of a batch, shape (n,)."""
    return judged.sum(rows, gains_of(rows, gain) / divisor_of(rows.rank, discount))


def gains_of(rows: Rows, gain: Gain) -> Scores:
    """Return what each row is worth."""
    if gain == "linear":
        return rows.grade
    if gain == "binary":
        return np.ones(len(rows.grade))
    with np.errstate(over="ignore"):  # refused when it matters, by `check_sums`
        return np.exp2(rows.grade) - 1


def divisor_of(ranks: NDArray[np.int64], discount: Discount) -> Scores:
    """Return what the gain at each rank is divided by."""
    if discount == "rank":
        return ranks.astype(np.float64)
    return np.log2(ranks + 1 if discount == "log2" else np.maximum(ranks, 2))


def _expected_ratio(judged: Judged, k: Cutoff | None, gain: Gain, discount: Discount, ideal: Ideal) -> Scores:
    """Return nDCG with the discount of each relevant row averaged over the ranks of its tie."""
    _, best = _earned_and_best(judged, k, gain, discount, ideal)
    return _ratio(judged, expected_sum(judged, k, gain, discount), best, ideal)


def expected_sum(judged: Judged, k: Cutoff | None, gain: Gain, discount: Discount) -> Scores:
    """Return the discounted cumulative gain with the discount of each relevant row averaged over its tie's ranks."""
    ties = tied(judged)
    shares = prefix_mean(ties, 1.0 / divisor_of(np.arange(1, int(ties.high.max(initial=0)) + 1), discount), k)
    gains = gains_of(ties.rows, gain)
    settled = gains / divisor_of(ties.rows.rank, discount) * (shares > 0)  # to the last bit as without ties
    return judged.sum(ties.rows, np.where(ties.size == 1, settled, gains * shares))


def by_gains(judged: Judged, gains: str) -> Judged:
    """Return the batch with gains instead of grades; the threshold of relevance plays no part."""
    table = _gain_of_grade(gains) if gains else {}
    if not table:
        return judged.by_gain()
    columns = [judged.rows.grade.copy(), judged.gold.grade.copy()]
    for column, grades in zip(columns, (judged.rows.grade, judged.gold.grade), strict=True):
        column[grades < 0] = 0.0
        for grade, gain in table.items():
            column[grades == grade] = gain
    return judged.with_grades(*columns)


def positive_gains(judged: Judged, gains: str) -> Judged:
    """Return the batch with gains instead of grades, of which only those above 0 count, under every profile."""
    judged = by_gains(judged, gains)
    return judged.with_grades(judged.rows.grade, judged.gold.grade)


def check_gains(*, gains: str) -> None:
    """Raise a `ValueError` for gains that cannot be read."""
    _gain_of_grade(gains)


def _gain_of_grade(gains: str) -> dict[float, float]:
    """Read ``1=3,2=9``."""
    table: dict[float, float] = {}
    for pair in gains.split(",") if gains.strip() else ():
        grade, equals, gain = pair.partition("=")
        try:
            value = float(gain) if equals else -1.0
            if not (0 <= value < np.inf and 0 <= float(grade) < np.inf and table.get(float(grade), value) == value):
                raise ValueError(pair)  # noqa: TRY301  # one message for all, below
            table[float(grade)] = value
        except ValueError:
            form = "gains are pairs of a grade and what it is worth, both 0 or more, each grade once, such as 1=3,2=9"
            raise ValueError(f"{form}; not {gains!r}") from None
    return table


def _ratio(judged: Judged, earned: Scores, best: Scores, ideal: Ideal) -> Scores:
    check_sums(judged.gold.grade, best, earned)
    if np.count_nonzero(best) == judged.n:
        scores = earned / best
    else:
        scores = earned / np.where(best == 0, np.nan, best)
        if ideal.endswith(("retrieved", "retrieved-at-k")):
            scores[(best == 0) & (judged.n_gold() > 0)] = 0.0
    above = scores > 1
    if np.count_nonzero(above):
        scores[above & (scores < 1 + _LAST_BITS)] = 1.0  # the same gains in another order may differ in their last bits
    return scores


def _earned_and_best(
    judged: Judged, k: Cutoff | None, gain: Gain, discount: Discount, ideal: Ideal, credit: Credit = "gold"
) -> tuple[Scores, Scores]:
    earning = _earning(judged, credit)
    match ideal:
        case "gold-at-k":
            best = judged.ideal(k)
        case "gold":
            best = judged.ideal(None)
        case "gold-at-retrieved":
            best = judged.ideal(None).until(judged.depth if k is None else np.minimum(judged.depth, k))
        case "undiscounted":
            gold = judged.ideal(None)
            best = gold._replace(rank=np.ones_like(gold.rank))
        case "retrieved":
            best = earning(None).best_first().until(judged.ideal_cutoff(k))
        case "retrieved-at-k":
            best = earning(k).best_first()
    return discounted(judged, earning(k), gain, discount), discounted(judged, best, gain, discount)


def _earning(judged: Judged, credit: Credit) -> Callable[[Cutoff | None], Rows]:
    return judged.at_own_ranks if credit == "gold" else judged.hits


def _over_ideal(rows: Rows, best: Scores, gain: Gain, discount: Discount) -> Contributions:
    """Return what nDCG is made of: the discounted gain of each row, divided by the ideal."""
    return Contributions(rows, gains_of(rows, gain), 1.0 / divisor_of(rows.rank, discount), best, "ideal DCG")
