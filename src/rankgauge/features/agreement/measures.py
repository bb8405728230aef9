"""
Measures of agreement between rankings, such as ``rbo(p=0.98)@100``, and the rankings of two runs joined by document.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Literal, NamedTuple

import numpy as np

from rankgauge.catalog.resolved import check_parameters, signature_parameters
from rankgauge.columns import Flags, Floats, Ints
from rankgauge.errors import ParameterError, UnknownNameError, suggest
from rankgauge.expression import MetricExpression, parse_many
from rankgauge.judging.whole_runs import WholeRankings
from rankgauge.plugin.signature import first_line
from rankgauge.samples import HIGHEST_K
from rankgauge.stats.agreement import (
    RankBiasedOverlap,
    Taus,
    check_persistence,
    rank_biased_overlap,
    smaller_above,
    tau_ap,
    taus,
    untied_tau,
)

__all__ = ["DEFAULT_MEASURES", "MEASURES", "HeldRun", "Measure", "Pairs", "Places", "joined", "paired", "read_measures"]


class Places(NamedTuple):
    """Documents in one of two rankings, or in both, in order of query."""

    query: Ints  # which query, from 0
    rank: Ints  # at which rank the run has it, from 1
    low: Ints  # the first rank of its tie there
    other_rank: Ints  # the same in the other run
    other_low: Ints

    def where(self, mask: Flags | Ints) -> Places:
        """Return the rows that a mask or an index selects."""
        return Places(*(column[mask] for column in self))


@dataclass(frozen=True, eq=False)  # without slots, for the cached property
class Pairs:
    """The rankings of some queries by two runs; the documents of one alone lie right below the end of the other."""

    depth: Ints  # how many documents the run has; shape (queries,)
    other_depth: Ints
    both: Places  # documents that both have, in the order of the run
    only: Places  # documents of the run alone, all tied in the other
    only_other: Places

    @cached_property
    def above(self) -> Ints:
        """Return, for each document that both have, how many of those above it in the run are above it in the other."""
        return smaller_above(self.both.query, self.both.other_rank)

    @cached_property
    def has_ties(self) -> bool:
        """Return whether any document that both have is behind one with the same score."""
        both = self.both
        return bool((both.low != both.rank).any() or (both.other_low != both.other_rank).any())

    @cached_property
    def _overlaps(self) -> dict[float, RankBiasedOverlap]:
        return {}

    def rank_biased_overlap(self, p: float) -> RankBiasedOverlap:
        """Return the rank-biased overlap; its three parts are asked for one by one, and computed once."""
        if p not in self._overlaps:
            full = (self.depth > 0) & (self.other_depth > 0)
            lengths = np.maximum(self.depth, 1), np.maximum(self.other_depth, 1)
            deeper = np.maximum(self.both.rank, self.both.other_rank)
            overlap = rank_biased_overlap(self.both.query, deeper, lengths, p)
            self._overlaps[p] = RankBiasedOverlap(*(np.where(full, values, np.nan) for values in overlap))
        return self._overlaps[p]

    @property
    def n(self) -> int:
        """Return how many queries there are."""
        return len(self.depth)

    def until(self, k: int) -> Pairs:
        """Return the same with both rankings cut at rank *k*."""
        depth, other_depth = np.minimum(self.depth, k), np.minimum(self.other_depth, k)
        here, there = self.both.rank <= k, self.both.other_rank <= k
        only = joined(self.only.where(self.only.rank <= k), self.both.where(here & ~there))
        only_other = joined(self.only_other.where(self.only_other.other_rank <= k), self.both.where(there & ~here))
        below, other_below = depth[only_other.query] + 1, other_depth[only.query] + 1
        return Pairs(
            depth,
            other_depth,
            self.both.where(here & there),
            only._replace(other_rank=other_below, other_low=other_below),
            only_other._replace(rank=below, low=below),
        )


class HeldRun:
    """The rankings of one run, held until those of another one come: 12 bytes for each row."""

    def __init__(self) -> None:
        self._parts: list[WholeRankings] = []
        self._place: dict[bytes, tuple[int, int, int]] = {}

    def add(self, rankings: WholeRankings) -> None:
        """Take some whole queries; the caller sees to it that one thread does so at a time."""
        number = len(self._parts)
        self._parts.append(rankings._replace(low=rankings.low.astype(np.int32)))
        ends = np.cumsum(rankings.lengths)
        places = zip(rankings.names, (ends - rankings.lengths).tolist(), ends.tolist(), strict=True)
        self._place.update({name: (number, start, end) for name, start, end in places})

    def __contains__(self, name: bytes) -> bool:
        return name in self._place

    def of(self, names: Sequence[bytes]) -> WholeRankings:
        """Return the rankings of some queries, in the order asked for."""
        places = [self._place[name] for name in names]
        lengths = np.array([end - start for _, start, end in places], dtype=np.int64)
        pairs, low = (
            np.concatenate([getattr(self._parts[part], column)[start:end] for part, start, end in places])
            for column in ("pairs", "low")
        )
        return WholeRankings(list(names), lengths, pairs, low.astype(np.int64))


def paired(run: WholeRankings, other: WholeRankings) -> Pairs:
    """Join the rankings of the same queries, in the same order, by document."""
    query, rank = _numbered(run.lengths)
    other_query, other_rank = _numbered(other.lengths)
    order = np.argsort(other.pairs)
    keys = other.pairs[order]
    key_no = np.searchsorted(keys, run.pairs)
    shared = key_no < len(keys)
    shared[shared] = keys[key_no[shared]] == run.pairs[shared]
    match = order[key_no[shared]]
    both = Places(query[shared], rank[shared], run.low[shared], other_rank[match], other.low[match])
    alone = ~shared
    below = other.lengths[query[alone]] + 1
    only = Places(query[alone], rank[alone], run.low[alone], below, below)
    unmatched = np.ones(len(keys), dtype=np.bool_)
    unmatched[match] = False
    below = run.lengths[other_query[unmatched]] + 1
    only_other = Places(other_query[unmatched], below, below, other_rank[unmatched], other.low[unmatched])
    return Pairs(run.lengths, other.lengths, both, only, only_other)


def _numbered(lengths: Ints) -> tuple[Ints, Ints]:
    """Return the query and the rank of each row."""
    query = np.repeat(np.arange(len(lengths)), lengths)
    starts = np.cumsum(lengths) - lengths
    return query, np.arange(1, len(query) + 1) - np.repeat(starts, lengths)


def joined(*parts: Places) -> Places:
    """Return the rows of several in order of query, those of a query in order of the parts."""
    rows = Places(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
    return rows.where(np.argsort(rows.query, kind="stable"))


DEFAULT_MEASURES = ("tau_b", "tau_ap", "rbo", "rbo_min", "rbo_res", "overlap@10")

Items = Literal["shared", "all"]


class Measure(NamedTuple):
    """One measure with its parameters: *function* returns a value for each query, NaN if there is none."""

    expression: MetricExpression  # in lower case, with every parameter that was given
    summary: str
    function: Callable[[Pairs], Floats]

    @property
    def name(self) -> str:
        """Return its canonical spelling."""
        return str(self.expression)


def tau_a(pairs: Pairs, *, items: Items = "shared") -> Floats:
    """Kendall's tau-a: concordant minus discordant pairs of documents, over all pairs; tied ones count as neither."""
    return _taus(pairs, items).a


def tau_b(pairs: Pairs, *, items: Items = "shared") -> Floats:
    """Kendall's tau-b: as tau-a, over the pairs that are not tied, so that ties do not keep it below 1."""
    return _taus(pairs, items).b


def average_precision_tau(pairs: Pairs, *, symmetric: bool = False) -> Floats:
    """Tau-AP: Kendall's tau with more weight on the top of the run; with symmetric=true, of both rankings in turn."""
    both = pairs.both
    tau = tau_ap(both.query, pairs.above, pairs.n)
    if not symmetric:
        return tau
    turned = both.where(np.lexsort((both.other_rank, both.query)))
    return (tau + tau_ap(turned.query, smaller_above(turned.query, turned.rank), pairs.n)) / 2


def rbo(pairs: Pairs, *, p: float = 0.9) -> Floats:
    """Rank-biased overlap, extrapolated: what is known of the overlap goes on below the ends of the rankings."""
    return pairs.rank_biased_overlap(p).extrapolated


def rbo_min(pairs: Pairs, *, p: float = 0.9) -> Floats:
    """Rank-biased overlap if the rankings share nothing below their ends: the lowest that it can be."""
    return pairs.rank_biased_overlap(p).minimum


def rbo_res(pairs: Pairs, *, p: float = 0.9) -> Floats:
    """Residual of rank-biased overlap: how much above rbo_min it is if they share everything below their ends."""
    return pairs.rank_biased_overlap(p).residual


def overlap(pairs: Pairs) -> Floats:
    """Share of the longer ranking that both have."""
    return _share(_shared(pairs), np.maximum(pairs.depth, pairs.other_depth))


def jaccard(pairs: Pairs) -> Floats:
    """Share of all documents of either ranking that both have."""
    shared = _shared(pairs)
    return _share(shared, pairs.depth + pairs.other_depth - shared)


MEASURES: Mapping[str, Callable[..., Floats]] = MappingProxyType(
    {
        "tau_a": tau_a,
        "tau_b": tau_b,
        "tau_ap": average_precision_tau,
        "rbo": rbo,
        "rbo_min": rbo_min,
        "rbo_res": rbo_res,
        "overlap": overlap,
        "jaccard": jaccard,
    }
)
"""The measures by name."""

_ALSO: Mapping[str, str] = MappingProxyType(
    {"tau": "tau_b", "kendall": "tau_b", "kendall_tau": "tau_b", "tauap": "tau_ap", "rbo_ext": "rbo"}
)


def read_measures(written: Sequence[str]) -> list[Measure]:
    """Read measures, each once; raise an `UnknownNameError` or a `ParameterError` for one that cannot be used."""
    measures = [_measure(expression) for text in written for expression in parse_many(text)]
    return list({measure.name: measure for measure in measures}.values())


def _measure(expression: MetricExpression) -> Measure:
    folded = expression.name.casefold().replace("-", "_")
    name = _ALSO.get(folded, folded)
    function = MEASURES.get(name)
    if function is None:
        hint = (
            f"known are {', '.join(MEASURES)}; metrics such as ndcg@10 need judgments, and these compare two rankings"
        )
        raise UnknownNameError("measure of agreement", expression.name, suggestions=suggest(name, MEASURES), hint=hint)
    params = check_parameters(f"measure {name!r}", signature_parameters(function), dict(expression.params))
    k = expression.k
    if k is not None and not (isinstance(k, int) and 1 <= k <= HIGHEST_K):
        raise ParameterError(
            f"the cutoff of {str(expression)!r} is how many ranks of both rankings count, from 1 to 2**53"
        )
    if isinstance(p := params.get("p"), float):
        try:
            check_persistence(p)
        except ValueError as error:
            raise ParameterError(f"measure {name!r}: {error}") from None

    def compute(pairs: Pairs) -> Floats:
        return function(pairs if k is None else pairs.until(k), **params)

    return Measure(MetricExpression(name, params, k=k), first_line(function), compute)


def _taus(pairs: Pairs, items: Items) -> Taus:
    if items == "shared" and not pairs.has_ties:
        tau = untied_tau(pairs.both.query, pairs.above, pairs.n)
        return Taus(tau, tau)
    rows = pairs.both if items == "shared" else joined(pairs.both, pairs.only, pairs.only_other)
    return taus(rows.query, rows.low, rows.other_low, pairs.n)


def _shared(pairs: Pairs) -> Ints:
    return np.bincount(pairs.both.query, minlength=pairs.n)


def _share(part: Ints, whole: Ints) -> Floats:
    return np.where(whole > 0, part / np.maximum(whole, 1), np.nan)
