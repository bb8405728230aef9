"""
The usual metrics over one judged query in plain numbers: to the last bit what they say of columns, without numpy.

Numpy takes a microsecond for each call, and the columns of one query take a hundred of them. Nothing here decides what
is right: a metric, a query or a score that is not plainly usual is left to columns, here as None.
"""

from __future__ import annotations

import functools
import inspect
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from rankgauge.catalog.claims import OWN
from rankgauge.columns import Judged
from rankgauge.columns.judged_rows import ANY_GRADE, POSITIVE, Relevance, own_order
from rankgauge.planning.resolve import PlannedMetric
from rankgauge.scoring.score import LARGEST

__all__ = ["LAST_BITS", "OneQuery", "Row", "UsualMetric", "packed_discounts"]

_DEEPEST = 1 << 12
"""Up to which rank there are discounts."""

LAST_BITS = 1e-12
"""How far above 1 rounding may take what is 1."""

Row = tuple[int, float]
"""The rank and the grade of a judged row."""

_Facts = dict[str, Any]
_Said = tuple[float, _Facts] | None
"""A score with the details behind it."""


class OneQuery:
    """
    One judged query, all of whose rows may earn: what `Judged` says of it.

    Attributes:
        relevance: From which grade on an item is relevant.

        wanted: The grades of the relevant gold items.

        ranks: The ranks that hold one, in order.

        found: The rank at which each that was found was found first, in order.

        earning: Rank and grade of what `Judged.at_own_ranks` returns; None if only columns can tell.
    """

    __slots__ = ("_given", "earning", "found", "ranks", "relevance", "wanted")

    earning: Sequence[Row] | None

    def __init__(
        self,
        gold: Sequence[float],
        rows: Sequence[Row],
        relevance: Relevance,
        *,
        is_first: Sequence[bool] | None = None,
        own_ranks: bool = False,
    ) -> None:
        """
        Take the grade of each gold item, and the judged rows in order of rank.

        *is_first*: which are the first of their gold item; None if all are, at different ranks, as they are by id.
        """
        self._given = gold, rows, is_first, own_ranks
        self.relevance = relevance
        least, is_strict = relevance
        if is_strict:
            self.wanted = [grade for grade in gold if grade > least]
            relevant = [row for row in rows if row[1] > least]
        else:
            self.wanted = [grade for grade in gold if grade >= least]
            relevant = [row for row in rows if row[1] >= least]
        self.ranks = self.found = [rank for rank, _ in relevant]
        self.earning = relevant
        if is_first is not None:
            first = [row for row, is_one in zip(rows, is_first, strict=True) if is_one and relevance.holds(row[1])]
            self.ranks, self.found = list(dict.fromkeys(self.ranks)), [rank for rank, _ in first]
            if len(self.ranks) == len(relevant) or (own_ranks and len(set(self.found)) == len(first)):
                self.earning = first
            elif own_ranks:
                places, ranks = own_order([0] * len(first), self.found, [grade for _, grade in first])
                self.earning = [(rank, first[place][1]) for place, rank in zip(places, ranks, strict=True)]
            else:
                self.earning = None  # results have to be assigned to items

    @classmethod
    def of(cls, judged: Judged, relevance: Relevance) -> OneQuery | None:
        """Return columns of one sample; None if only columns can tell what its rows earn."""
        if judged.low is not None or judged.counts_repeats or not judged.earns.all():
            return None
        rows = list(zip(judged.rows.rank.tolist(), judged.rows.grade.tolist(), strict=True))
        gold, is_first = judged.gold.grade.tolist(), judged.first.tolist()
        return cls(gold, rows, relevance, is_first=is_first, own_ranks=judged.own_ranks)

    def by_gain(self) -> OneQuery:
        """Return the same with every gain above 0 relevant."""
        if self.relevance.strict or self.relevance == ANY_GRADE:
            return self
        gold, rows, is_first, own_ranks = self._given
        return OneQuery(gold, rows, POSITIVE, is_first=is_first, own_ranks=own_ranks)


def _within(ranks: Sequence[int], k: int | None) -> int:
    return len(ranks) if k is None else bisect_right(ranks, k)


def _recall(query: OneQuery, k: int | None) -> _Said:
    n, found = len(query.wanted), _within(query.found, k)
    return found / n, {"relevant_count": n, "found": found}


def _recall_all(query: OneQuery, k: int | None) -> _Said:
    n, found = len(query.wanted), _within(query.found, k)
    return float(found == n), {"relevant_count": n, "found": found}


def _hit(query: OneQuery, k: int | None) -> _Said:
    return float(_within(query.found, k) > 0), {}


def _precision(query: OneQuery, k: int | None) -> _Said:
    ranks = _within(query.ranks, k)
    return None if k is None else (ranks / k, {"relevant_ranks": ranks})


def _f1(query: OneQuery, k: int | None) -> _Said:
    if k is None:
        return None
    ranks, found = _within(query.ranks, k), _within(query.found, k)
    p, r = ranks / k, found / len(query.wanted)
    return 0.0 if p + r == 0 else 2 * p * r / (p + r), {"relevant_ranks": ranks, "found": found}


def _reciprocal_rank(query: OneQuery, k: int | None) -> _Said:
    rank = query.ranks[0] if _within(query.ranks[:1], k) else None
    return 0.0 if rank is None else 1.0 / rank, {"first_relevant_rank": rank}


def _average_precision(query: OneQuery, k: int | None) -> _Said:
    if query.earning is None:
        return None
    total, n, ranks = 0.0, len(query.wanted), [rank for rank, _ in query.earning]
    ranks = ranks if k is None else ranks[: _within(ranks, k)]
    for nth, rank in enumerate(ranks, 1):  # in order, as columns add; `sum` rounds in another way
        total += nth / rank
    return total / n, {"relevant_count": n, "relevant_at": ranks}


def _ndcg(query: OneQuery, k: int | None) -> _Said:
    query = query.by_gain()
    earning, last = query.earning, _DEEPEST if k is None else k
    if earning is None or len(query.wanted) >= _DEEPEST or (earning and earning[-1][0] >= _DEEPEST):
        return None
    discounts = _discounts()
    earned = best = 0.0
    for rank, grade in earning:
        if rank > last:
            break
        earned += grade / discounts[rank]
    for rank, grade in enumerate(sorted(query.wanted, reverse=True)[:k], 1):
        best += grade / discounts[rank]
    if best == 0 or not abs(best) <= LARGEST:  # undefined, or too large
        return None
    score = earned / best
    return 1.0 if 1 < score < 1 + LAST_BITS else score, {"dcg": earned, "idcg": best}


@functools.cache
def _discounts() -> Sequence[float]:
    """Return what gains are divided by, by rank; the logarithms are numpy's, as another one's may round otherwise."""
    found: list[float] = np.log2(np.arange(_DEEPEST) + 1).tolist()
    return found


@functools.cache
def packed_discounts() -> bytes:
    """Return the discounts as the kernel takes them."""
    return np.array(_discounts()).tobytes()


_USUAL: Mapping[str, Callable[[OneQuery, int | None], _Said]] = {
    "retrieval-recall-at-k": _recall,
    "retrieval-recall-all-at-k": _recall_all,
    "retrieval-hit-at-k": _hit,
    "retrieval-precision-at-k": _precision,
    "retrieval-f1-at-k": _f1,
    "retrieval-mrr": _reciprocal_rank,
    "retrieval-map": _average_precision,
    "retrieval-ndcg-at-k": _ndcg,
}
"""The metrics, by their names; with parameters at their defaults. The kernel (few.c) knows them by their places."""

_NUMBERS = {name: number for number, name in enumerate(_USUAL)}


class UsualMetric(NamedTuple):
    """A metric of a plan that is usual."""

    rel: Relevance | None  # from which grade on an item is relevant; None for the profile's
    function: Callable[[OneQuery, int | None], _Said]
    number: int  # its place among the usual metrics

    @classmethod
    def of(cls, column: PlannedMetric) -> UsualMetric | None:
        """Return a column; None if it is another metric, or has another parameter than usual."""
        name = column.metric.alias
        function = _USUAL.get(name)
        if function is None or column.provider.distribution != OWN or column.cut.budget is not None or column.needs:
            return None
        if column.rel is not None and column.metric.judging.uses_rel == "binary":
            return None
        defaults = inspect.signature(column.metric.function).parameters
        if any(defaults[name].default != value for name, value in column.params.items()):
            return None
        return cls(None if column.rel is None else Relevance.from_grade(column.rel), function, _NUMBERS[name])

    def score(self, query: OneQuery, k: int | None) -> _Said:
        """Return the score of a query, and the details behind it."""
        said = self.function(query, k) if query.wanted else None
        return said if said is not None and abs(said[0]) <= LARGEST else None
