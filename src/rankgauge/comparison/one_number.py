"""
One published mean without its data: whether it is possible, how uncertain it is, and from what it can be distinguished.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction

from rankgauge.errors import ParameterError
from rankgauge.planning.plan import PlannedMetric
from rankgauge.plugin.metric import POOLED
from rankgauge.stats.estimates import t_quantile, t_two_sided
from rankgauge.stats.intervals import wilson

__all__ = ["NumberFacts", "OtherNumber", "number_facts", "step_of"]

_MOST_RANKS = 12
"""Up to which cutoff the reciprocals of ranks have a common denominator of few digits."""

_ROUNDS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherNumber:
    """
    What can be said of the difference between a number and another one over the same queries.

    Attributes:
        value: The other number.

        difference: How far they are apart.

        best_p: The p value if as few queries changed as can be; None if scores are not all 0 or 1.

        worst_p: The p value if the scores of both were as unlike each other as their means allow.
    """

    value: float
    difference: float
    best_p: float | None
    worst_p: float


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberFacts:
    """
    What a mean over n queries says by itself.

    Attributes:
        value: The number.

        n: How many queries it is the mean of.

        impossible: Why no n queries have this mean; empty if some do.

        step: The smallest difference between two such means; None if scores have no common unit.

        nearest: The attainable means next to it, below and above; None without a step.

        interval: The 95 % interval over queries like these: of counts by Wilson; else the widest that scores within
            their range can have. None if the range has no end.

        of_counts: Whether the interval is that of counts.

        apart: A difference that n queries tell from 0 at 5 %, however unlike both systems' scores are.

        other: The comparison with another number; None without one.
    """

    value: float
    n: int
    impossible: str
    step: float | None
    nearest: tuple[float, float] | None
    interval: tuple[float, float] | None
    of_counts: bool
    apart: float | None
    other: OtherNumber | None


def step_of(column: PlannedMetric) -> Fraction | None:
    """Return what every score of one query is a multiple of; None if there is no such unit that is known."""
    if column.metric.aggregate == POOLED:
        return None
    k = column.cut.k if column.cut.rule in {"pinned", "own"} else None
    match column.metric.alias:
        case "retrieval-hit-at-k" | "retrieval-recall-all-at-k" | "retrieval-hits-at-k" | "answer-exact-match":
            return Fraction(1)
        case "retrieval-precision-at-k" if k is not None and column.params.get("denominator", "k") == "k":
            return Fraction(1, k)
        case "retrieval-precision-at-k" | "retrieval-mrr" if k is not None and k <= _MOST_RANKS:
            return Fraction(1, math.lcm(*range(1, k + 1)))
        case _:
            return None


def number_facts(written: str, column: PlannedMetric, n: int, other: str | None = None) -> NumberFacts:
    """
    Return what a number says that is the mean of a metric over *n* queries.

    Args:
        written: The number with the digits that it was given, such as ``0.4170`` or ``41.7%``.

        column: The metric.

        n: How many queries.

        other: A second number, over the same queries.

    Raises:
        ParameterError: What is no number, or fewer than one query.
    """
    if n < 1:
        raise ParameterError(f"a mean is over one query or more, not {n}")
    value, half = _read(written)
    low, high = column.metric.range
    step = step_of(column)
    unit = None if step is None else step / n
    nearest = None if unit is None else _nearest(value, unit)
    outside = (low is not None and value + half < low) or (high is not None and value - half > high)
    impossible = ""
    if outside:
        ends = f"{'any' if low is None else f'{low:g}'} to {'any' if high is None else f'{high:g}'}"
        impossible = f"{column.name} is from {ends}"
    elif nearest is not None and not any(abs(each - value) <= half + Fraction(1, 10**15) for each in nearest):
        below, above = (float(each) for each in nearest)
        impossible = f"the mean of {n:,} such scores is {below:.6g} or {above:.6g}, and nothing between"
    if column.metric.aggregate == POOLED:  # how unlike the denominators of queries are is not known
        low = high = None
    binary = step == 1 and high == 1.0
    mean = float(value)
    return NumberFacts(
        value=mean,
        n=n,
        impossible=impossible,
        step=None if unit is None else float(unit),
        nearest=None if nearest is None else (float(nearest[0]), float(nearest[1])),
        interval=None if impossible else _interval(mean, n, low, high, binary=binary),
        of_counts=binary,
        apart=None if low is None or high is None or impossible or n < 2 else _apart(mean, n, low, high),
        other=None if other is None or impossible else _against(mean, other, n, low, high, binary=binary),
    )


def _read(written: str) -> tuple[Fraction, Fraction]:
    """Return a number, and how far its digits leave it open."""
    text = written.strip()
    scale = Fraction(1, 100) if text.endswith("%") else Fraction(1)
    try:
        number = Decimal(text.removesuffix("%").strip())
    except InvalidOperation:
        number = Decimal("NaN")
    exponent = number.as_tuple().exponent
    if not isinstance(exponent, int):
        raise ParameterError(f"a mean is a number such as 0.4170 or 41.7%, not {written!r}")
    return Fraction(number) * scale, Fraction(10) ** exponent / 2 * scale


def _nearest(value: Fraction, unit: Fraction) -> tuple[Fraction, Fraction]:
    below = math.floor(value / unit)
    return below * unit, (below if below * unit == value else below + 1) * unit


def _interval(
    mean: float, n: int, low: float | None, high: float | None, *, binary: bool
) -> tuple[float, float] | None:
    if binary:
        return wilson(min(max(mean, 0.0), 1.0), n)
    if low is None or high is None or n < 2:
        return None
    mean = min(max(mean, low), high)
    reach = t_quantile(0.975, n - 1) * math.sqrt((mean - low) * (high - mean) / (n - 1))
    return max(low, mean - reach), min(high, mean + reach)


def _apart(mean: float, n: int, low: float, high: float) -> float:
    """Return the difference from a mean that n queries tell from 0, for scores as unlike each other as can be."""
    share = (mean - low) / (high - low)
    factor = t_quantile(0.975, n - 1) ** 2 / (n - 1)
    found = 0.0
    for _ in range(_ROUNDS):
        # the largest mean square of differences, if the other mean is higher or lower by so much
        unlike = max(min(2 * share + way * found, 2 - 2 * share - way * found) for way in (-1, 1))
        found = math.sqrt(factor * max(unlike, 0.0) / (1 + factor))
    return found * (high - low)


def _against(
    mean: float, written: str, n: int, low: float | None, high: float | None, *, binary: bool
) -> OtherNumber | None:
    other = float(_read(written)[0])
    if low is None or high is None or n < 2:
        return None
    shares = [(min(max(each, low), high) - low) / (high - low) for each in (mean, other)]
    difference = abs(shares[0] - shares[1])
    if binary:
        counts = [round(share * n) for share in shares]
        fewest, most = abs(counts[0] - counts[1]), min(sum(counts), 2 * n - sum(counts))
        best, worst = (_sign_test(fewest, changed) for changed in (fewest, most))
        return OtherNumber(value=other, difference=difference, best_p=best, worst_p=worst)
    spread = max(min(sum(shares), 2 - sum(shares)) - difference**2, 0.0) * n / (n - 1)
    t = difference / math.sqrt(spread / n) if spread else math.inf
    worst = 1.0 if not difference else 0.0 if math.isinf(t) else t_two_sided(t, n - 1)
    return OtherNumber(value=other, difference=difference * (high - low), best_p=None, worst_p=worst)


def _sign_test(ahead: int, changed: int) -> float:
    """Return the two-sided p value if of some queries that changed one side won *ahead* more than it lost."""
    wins = (changed + ahead) // 2
    tail = sum(math.comb(changed, each) for each in range(wins, changed + 1))
    return min(1.0, float(Fraction(2 * tail, 2**changed)))
