"""
Measures of agreement between rankings, and how they are named: ``rbo(p=0.98)@100``.

A measure is a function over `Pairs`, of which a cutoff has cut both rankings already, so that every measure has one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Literal, NamedTuple

import numpy as np

from rankgauge.agreement.joined_rankings import Pairs, joined
from rankgauge.catalog.resolved import check_parameters, signature_parameters
from rankgauge.columns import Floats, Ints
from rankgauge.errors import ParameterError, UnknownNameError, suggest
from rankgauge.expression import MetricExpression, parse_many
from rankgauge.plugin.signature import first_line
from rankgauge.stats.agreement import Taus, check_persistence, smaller_above, tau_ap, taus, untied_tau

__all__ = ["DEFAULT_MEASURES", "MEASURES", "Measure", "read_measures"]

DEFAULT_MEASURES = ("tau_b", "tau_ap", "rbo", "rbo_min", "rbo_res", "overlap@10")

Items = Literal["shared", "all"]


class Measure(NamedTuple):
    """One measure with its parameters: *function* returns a value for each query, NaN where there is none."""

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
    if k is not None and (not isinstance(k, int) or k < 1):
        raise ParameterError(f"the cutoff of {str(expression)!r} is how many ranks of both rankings count, 1 or more")
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
