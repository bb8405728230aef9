"""
`MetricInfo`: what a column of a result is, in plain values that a manifest can hold; and columns by any spelling.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeVar

from rankgauge.base.frozen import FrozenMap, freeze_fields
from rankgauge.catalog import Provider
from rankgauge.catalog.claims import plain_template, spellings
from rankgauge.catalog.other_tools import translated
from rankgauge.catalog.trec_eval import read_form
from rankgauge.errors import listed, suggest
from rankgauge.expression import MetricExpression, Unit, as_written, parse
from rankgauge.judging import Budget, Target
from rankgauge.judging.budgets import in_words
from rankgauge.policy import IntervalChoice
from rankgauge.result.forms import read
from rankgauge.scoring.score import lacks_worst
from rankgauge.scoring.scored import ScoredMetric
from rankgauge.stats.aggregates import percentile

__all__ = ["LEAKS_KEPT", "Column", "ListEnds", "MetricInfo", "find_column"]


class ListEnds(NamedTuple):
    """
    Where the rankings of a run ended before a budget.

    Attributes:
        amount: The budget.

        unit: What it counts: `tok` or `char`.

        n: How many rankings there are.

        ended: How many ended before the budget.

        at: The median of after how many tokens, or characters, these did; None for none.

        short: In how many of these another result of their average length would have fitted.
    """

    amount: int
    unit: Unit
    n: int
    ended: int
    at: float | None
    short: int

    @property
    def budget(self) -> str:
        """Return the budget in words, such as ``1,500 tokens``."""
        return in_words(self.amount, self.unit, None, partial=False)

    @property
    def are_short(self) -> bool:
        """Return whether in more than a tenth another result would have fitted."""
        return self.short * _TENTH > self.n


_TENTH = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricInfo:
    """
    What a column is, in plain values that a manifest can hold.

    Attributes:
        name: The column's name.

        safe_name: The same in letters, digits and ``_``.

        spellings: Everything that was written to ask for it.

        names: Every name of its metric.

        alias: The metric's alias.

        expression: The expanded expression.

        cut: The rule of its cutoff: `pinned`, `free`, `own` or `none`.

        k: Lowest and highest cutoff in use; None if there is none.

        k_sources: How many samples took their cutoff from where.

        judged: What was judged against what.

        matcher: The matcher as it prints; None for a join of ids, and for support that outputs gave.

        range: Lowest and highest possible value.

        higher_is_better: Whether more is better.

        aggregate: How samples become one number.

        version: The version that the metric declares.

        fingerprint: Equal for two scores that mean the same.

        provider: Distribution, version, plugin, file and line of the metric.

        matcher_providers: The same for the matcher and each of its parts.

        inferred: Parameters that were found in the data.

        params: Every parameter with its value, the defaults included.

        pins: The parameter that a number behind ``@`` gives; None if that is the cutoff.

        aggregate_provider: As `provider`, of an aggregate that a plugin offers; None for a built-in one.

        budget: Where the cutoff is a budget, its `amount`, `unit` (`tok` or `char`), `tokenizer` (None for characters)
            with its `provider`, and whether a `partial` result counts; else None.

        fitted: How many samples had so many ranks in the budget, by the number as text; None without one.

        ended: How many rankings ended before the budget, by after how many tokens or characters, as text; None without
            a budget, and of results of versions that did not count them.

        short: In how many of these another result of their average length would have fitted.

        interval: Which intervals its mean has, as the policy says: `standard` or `exact`.

        leaks: The first 100 forbidden items that it counts: `sample`, `rank`, `item`, and the `rule` that forbids it.

        n_leaks: How many there are.

        lacks_worst: Whether missing and failed samples count nowhere, because the metric has no worst value.

        own_ranks: Whether each gold item took a rank of its own, also if one result holds several.

        is_given: Whether another tool computed the scores, so that nothing but their name says what they mean.

        unweighted: Of a mean in which samples have weights, the fingerprint that it has without; empty for others.
    """

    name: str
    safe_name: str
    spellings: tuple[str, ...]
    names: tuple[str, ...]
    alias: str
    expression: str
    cut: str
    k: tuple[int, int] | None
    k_sources: Mapping[str, int]
    judged: str
    matcher: str | None
    range: tuple[float | None, float | None]
    higher_is_better: bool
    aggregate: str
    version: str
    fingerprint: str
    provider: Mapping[str, Any]
    matcher_providers: Mapping[str, Mapping[str, Any]]
    inferred: Mapping[str, float]
    params: Mapping[str, Any]
    pins: str | None = None
    aggregate_provider: Mapping[str, Any] | None = None
    budget: Mapping[str, Any] | None = None
    fitted: Mapping[str, int] | None = None
    ended: Mapping[str, int] | None = None
    short: int = 0
    interval: IntervalChoice = "standard"
    leaks: tuple[Mapping[str, Any], ...] = ()
    n_leaks: int = 0
    lacks_worst: bool = False
    own_ranks: bool = False
    is_given: bool = False
    unweighted: str = ""

    def __post_init__(self) -> None:
        freeze_fields(self)

    @classmethod
    def of(cls, scored: ScoredMetric) -> MetricInfo:
        """Return what a scored column is."""
        planned = scored.planned
        matcher = planned.matchers.get(scored.target)
        return cls(
            name=planned.name,
            safe_name=planned.safe_name,
            spellings=planned.spellings,
            names=planned.metric.names,
            alias=planned.metric.alias,
            expression=str(planned.expression),
            cut=planned.cut.rule,
            k=scored.k,
            k_sources={str(source): count for source, count in scored.k_sources.items()},
            judged=str(scored.target),
            matcher=None if matcher is None else str(matcher),
            range=planned.metric.range,
            higher_is_better=planned.metric.higher_is_better,
            aggregate=planned.metric.aggregate,
            version=planned.metric.version,
            fingerprint=planned.fingerprint_against(scored.target),
            provider=_plain(planned.provider),
            matcher_providers={} if matcher is None else {name: _plain(by) for name, by in matcher.providers},
            inferred=scored.params,
            params=planned.settings,
            pins=planned.metric.cutoff.pins,
            aggregate_provider=None if planned.aggregate is None else dataclasses.asdict(planned.aggregate.provider),
            budget=None if planned.cut.budget is None else _plain_budget(planned.cut.budget),
            fitted=None if scored.fitted is None else _by_text(scored.fitted.ranks),
            ended=None if scored.fitted is None else _by_text(scored.fitted.ended),
            short=0 if scored.fitted is None else scored.fitted.short,
            interval=planned.interval,
            leaks=tuple(leak._asdict() for leak in scored.leaks[:LEAKS_KEPT]),
            n_leaks=len(scored.leaks),
            lacks_worst=lacks_worst(planned.metric, scored.target.gold),
            own_ranks=planned.own_ranks and scored.target.by_text,
        )

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> MetricInfo:
        """Return the info of a saved manifest; a `ValueError` says what is wrong with it."""
        if unknown := sorted(set(data) - set(cls.__slots__)):
            raise ValueError(f"a metric has {listed(unknown)}, which a later version of rankgauge wrote")
        info: MetricInfo = read("a metric", data, cls)
        return info

    @property
    def by_id(self) -> bool:
        """Return whether ids were joined, so that the scores depend on how items are called."""
        return self.judged.startswith(str(Target("relevant")))

    @property
    def stage(self) -> str | None:
        """Return the stage of the pipeline whose results are judged; None for the whole output."""
        return self.judged.partition(", at stage ")[2] or None  # as `Target` writes it

    @property
    def list_ends(self) -> ListEnds | None:
        """Return where rankings ended before the budget; None without one, and where that was not counted."""
        if self.ended is None or self.fitted is None or self.budget is None:
            return None
        ends = sorted((int(end), count) for end, count in self.ended.items())
        at = percentile([float(end) for end, count in ends for _ in range(count)], 50)
        amount, unit = self.budget["amount"], self.budget["unit"]
        return ListEnds(amount, unit, sum(self.fitted.values()), sum(self.ended.values()), at, self.short)

    @property
    def of_ranks(self) -> bool:
        """Return whether single results were judged, rather than whether there is anything at all."""
        return not self.judged.startswith(str(Target("answerable")))

    def answers_to(self, expression: MetricExpression) -> bool:
        """Return whether an expression, in any spelling, means this column; what it leaves out may be anything."""
        own = parse(self.expression)
        asked = dict(expression.params)
        if any(name not in self.params or self.params[name] != value for name, value in asked.items()):
            return False
        known = {plain_template(name).casefold() for name in self.names}
        for name, k in spellings(expression):
            if name.casefold() not in known:
                continue
            if self.pins is not None:
                return k is None or bool(self.params[self.pins] == k)
            if k is not None:
                return self.cut in {"pinned", "budget"} and (own.k, own.unit) == (k, expression.unit)
            drops = "-at-k" in self.alias and "-at-k" not in name
            return self.cut == "none" if drops else self.cut in {"free", "own"} or "-at-k" not in self.alias
        return False


LEAKS_KEPT = 100


@functools.lru_cache(maxsize=1024)
def _plain(provider: Provider) -> Mapping[str, Any]:
    """Return a provider as a manifest holds it; made for every column of every result, so only once each."""
    return FrozenMap(dataclasses.asdict(provider))


def _by_text(counts: Mapping[int, int]) -> dict[str, int]:
    """Return counts by number as JSON can hold them."""
    return {str(number): count for number, count in counts.items()}


def _plain_budget(budget: Budget) -> dict[str, Any]:
    by = budget.tokenizer
    return {
        "amount": budget.amount,
        "unit": budget.unit,
        "tokenizer": None if by is None else by.declaration.name,
        "partial": budget.partial,
        "provider": None if by is None else _plain(by.provider),
    }


class Column(Protocol):
    """What is known of one metric: the scores of all samples, or what they come to."""

    @property
    def info(self) -> MetricInfo:
        """Return what the column is."""

    @property
    def name(self) -> str:
        """Return the column's name."""


Found = TypeVar("Found", bound=Column)


def find_column(columns: Mapping[str, Found], name: object) -> Found:
    """Return a column by its name, its safe name, or any spelling of its metric; a `KeyError` says what there is."""
    name = as_written(name)
    if not isinstance(name, str):
        raise KeyError(f"a column is looked up by its name, not by {name!r}")
    if name in columns:
        return columns[name]
    for column in columns.values():
        if name == column.info.safe_name or name in column.info.spellings:
            return column
    answering: list[Found] = []
    with contextlib.suppress(ValueError):  # an `ExpressionError`, or a form that lists several columns
        (expression,) = read_form(name) or [translated(parse(name))]
        answering = [column for column in columns.values() if column.info.answers_to(expression)]
        exact = [column for column in answering if parse(column.info.expression).params == expression.params]
        answering = exact or answering
    if len(answering) == 1:
        return answering[0]
    if answering:
        names = ", ".join(column.name for column in answering)
        raise KeyError(f"{name!r} may be any of {names}; use one of these names")
    close = suggest(name, columns)
    hint = f" (did you mean {' or '.join(map(repr, close))}?)" if close else ""
    raise KeyError(f"no column {name!r}{hint}; there are {', '.join(columns)}")
