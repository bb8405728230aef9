"""
Resolving one request: its metric, parameters, cutoff rule, and what it is judged against.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from rankgauge.base.guard import ForeignError, guarded
from rankgauge.catalog import Catalog, Claim, Provider, ResolvedMatcher, check_parameters
from rankgauge.catalog.other_tools import whole_ranking
from rankgauge.errors import ParameterError, RankgaugeError
from rankgauge.expression import MetricExpression, Value, safe_name
from rankgauge.frozen import FrozenMap, frozen
from rankgauge.judging import Target
from rankgauge.pickling import reduced
from rankgauge.planning.cutoffs import Cut, DefaultK, check_k
from rankgauge.planning.fingerprint import fingerprint_of, metric_definition
from rankgauge.planning.requests import USUAL_BUDGET, Request, budget_cut, budget_settings
from rankgauge.plugin.declarations import Aggregate
from rankgauge.plugin.metric import Metric, Need
from rankgauge.policy import Profile
from rankgauge.samples import GoldKind
from rankgauge.stats import AGGREGATES

__all__ = ["PlannedMetric", "resolve"]

_OF_RUNS: frozenset[Need] = frozenset({"ids", "scores", "intents"})
"""What metrics can see of a run and its judgments, however these are given."""

_PINNED = {"pinned", "budget"}
"""Rules of cutoffs that stand behind the @ of a column's name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedMetric:
    """One column of the result, ready to be computed."""

    name: str  # as it was asked for, where that is a short name
    standard_name: str  # the same whatever it was asked for by; what locks call it
    safe_name: str  # the same in letters, digits and _
    spellings: tuple[str, ...]  # everything that was written to ask for it
    expression: MetricExpression  # expanded: alias, every parameter that is not at its default, pinned cutoff
    metric: Metric
    provider: Provider
    aggregate: Claim[Aggregate] | None  # None for a built-in one
    params: Mapping[str, Value]  # what the function is called with, beside k
    rel: float | None  # the threshold of relevance; None for the profile's
    targets: tuple[Target, ...]  # what is judged against what; the first whose gold the data has is taken
    matchers: Mapping[Target, ResolvedMatcher]
    cut: Cut
    definition: Mapping[str, Any]  # what the scores mean, as plain data
    fingerprint: str  # of the definition: equal for scores that can be compared
    settings: Mapping[str, Value | None]  # every parameter, also those at their defaults and those of the matcher
    __reduce__ = reduced

    @property
    def infers_max_grade(self) -> bool:
        """Return whether the highest grade has to be inferred from the whole data set."""
        return self.metric.needs_max_grade and self.params.get("max_grade") is None

    def target_of(self, there: Collection[Target]) -> Target:
        """Return what is judged in data with these kinds of ground truth: the first of them, or else the first."""
        return next((target for target in self.targets if target in there), self.targets[0])


def resolve(
    request: Request,
    catalog: Catalog,
    profile: Profile,
    default: DefaultK,
    matchers_by_gold: Mapping[GoldKind, str] = MappingProxyType({}),
    *,
    by_id: bool = False,
) -> PlannedMetric:
    """Resolve one request; raise a `RankgaugeError` for a name, parameter, cutoff or matcher that cannot be used."""
    expression = request.expression
    if request.given is not None:
        metric, pinned, is_short = request.given, expression.k, False
        provider = Provider.of(metric.source, "", "", "given in Python")
    else:
        reading = catalog.read(expression)
        metric, pinned, is_short = reading.claim.declaration, reading.k, reading.is_short
        provider = reading.claim.provider
    given, pinned = _pinned_parameter(request, metric, pinned, is_short=is_short)
    explicit = check_parameters(f"metric {metric.alias!r}", (*metric.parameters, *metric.matching), given)
    conventions = dict(profile.parameters.get(metric.alias, {}))
    usual_matcher = conventions.pop("matcher", None)
    params = {**conventions, **explicit}
    _check_together(request, metric, params)
    cut = budget_cut(request, metric, pinned, catalog, profile, by_id=by_id)
    if cut is None:
        cut = _cut(request, metric, pinned, is_short=is_short)
    rel = _rel(request, metric)
    if by_id:
        targets, matchers = _by_id(request, metric)
    else:
        targets, matchers = _targets(request, metric, params, explicit, usual_matcher, matchers_by_gold, catalog)
    if profile.policy.averages_ties:
        targets, matchers = _averaged(request, metric, targets), {}
    short = catalog.short_name(metric) if request.given is None else next(iter(metric.plain_short), None)
    engine = {name: value for name, value in request.engine.items() if (name, value) not in USUAL_BUDGET.items()}
    defaults = {parameter.name: parameter.default for parameter in (*metric.parameters, *metric.matching)}
    differing = {key: value for key, value in params.items() if value != defaults[key]}
    uncut = cut.rule == "none" and metric.cutoff == "droppable"
    expanded = MetricExpression(
        (short or metric.alias).lower() if uncut else metric.alias,
        {**differing, **engine},
        k=None if cut.rule not in _PINNED else cut.k if cut.budget is None else cut.budget.amount,
        unit=None if cut.budget is None else cut.budget.unit,
    )
    matching = {parameter.name for parameter in metric.matching}
    named = explicit.get(metric.pins) if metric.pins is not None else None
    pinned_or_uncut = uncut or cut.rule in _PINNED or named is not None
    stem = short.lower() if pinned_or_uncut and short is not None else metric.alias
    usual = {**defaults, **conventions}
    unusual = {key: value for key, value in explicit.items() if value != usual[key] and key != metric.pins}
    number = named if isinstance(named, int | float) else expanded.k
    standard_name = request.name or str(MetricExpression(stem, {**unusual, **engine}, k=number, unit=expanded.unit))
    name = standard_name
    asked = expression.name.lower()
    is_whole = pinned_or_uncut or (cut.rule == "none" and metric.pins is None)  # no cutoff or number is left out of it
    if request.name is None and is_whole and asked in {plain.lower() for plain in metric.plain_short}:
        name = str(MetricExpression(asked, {**unusual, **engine}, k=number, unit=expanded.unit))
    aggregate = None if metric.is_whole or metric.aggregate in AGGREGATES else catalog.aggregate(metric.aggregate)
    definition = metric_definition(
        metric,
        {**defaults, **params, "rel": rel},
        cut.definition(default),
        targets,
        matchers,
        profile,
        None if aggregate is None else aggregate.declaration,
    )
    return PlannedMetric(
        name=name,
        standard_name=standard_name,
        safe_name=safe_name(name),
        spellings=(request.written,),
        expression=expanded,
        metric=metric,
        provider=provider,
        aggregate=aggregate,
        params=FrozenMap({key: value for key, value in params.items() if key not in matching}),
        rel=rel,
        targets=targets,
        matchers=FrozenMap(matchers),
        cut=cut,
        settings=FrozenMap({**defaults, **params, **engine, **budget_settings(cut.budget)}),
        definition=frozen(definition),
        fingerprint=fingerprint_of(definition),
    )


def _pinned_parameter(
    request: Request, metric: Metric, number: float | None, *, is_short: bool
) -> tuple[dict[str, Value], float | None]:
    """Return the parameters, with the one that the number behind @ stands for; and the number, if it is a cutoff."""
    written = dict(request.expression.params)
    name = metric.pins
    if name is None:
        return written, number
    if request.expression.unit is not None:
        msg = f"{request.written!r}: the number after @ is the {name} of metric {metric.alias!r}, which has no budget"
        raise ParameterError(msg)
    if number is None:
        if is_short and name not in written:
            msg = (
                f"{request.written!r} needs a number, its {name}: {request.expression.name}@0.1, or {metric.alias} "
                "for the default"
            )
            raise ParameterError(msg)
        return written, None
    if name in written:
        msg = f"{request.written!r} gives its {name} twice"
        raise ParameterError(msg)
    return {**written, name: number}, None


def _check_together(request: Request, metric: Metric, params: Mapping[str, Value]) -> None:
    if metric.check is None:
        return
    try:
        with guarded():
            metric.check(**{own.name: params[own.name] for own in metric.parameters if own.name in params})
    except ForeignError as error:
        says_no = issubclass(type(error.__cause__), ValueError)  # which is how a check says no
        msg = f"{request.written!r} cannot be computed: {error.reason if says_no else f'its check failed: {error}'}"
        raise ParameterError(msg) from None


def _averaged(request: Request, metric: Metric, targets: tuple[Target, ...]) -> tuple[Target, ...]:
    """Return the targets that ``ties=average`` allows: those judged by id, for a metric with a closed form."""
    if metric.over_ties is None:
        msg = (
            f"policy ties=average needs a closed form over the orders of ties, and metric {metric.alias!r} declares "
            f"none; leave out {request.written!r}, or choose ties=docno, given or error"
        )
        raise ParameterError(msg)
    by_id = tuple(target for target in targets if target.matcher is None)
    if not by_id:
        msg = f"policy ties=average is for judging by id, and {request.written!r} is judged by text"
        raise ParameterError(msg)
    return by_id


def _cut(request: Request, metric: Metric, pinned: float | None, *, is_short: bool) -> Cut:
    written = repr(request.written)
    if metric.cutoff == "none" and (pinned is not None or request.k is not None):
        msg = f"metric {metric.alias!r} has no cutoff; leave it out of {written}"
        raise ParameterError(msg)
    if pinned is not None:
        if request.k is not None:
            msg = f"{written} gives its cutoff twice"
            raise ParameterError(msg)
        return Cut("pinned", check_k(pinned, written))
    own = None if request.k is None else check_k(request.k, f"{written} (its k)")
    if metric.cutoff == "none" or (metric.cutoff == "optional" and own is None):
        return Cut("none")
    if metric.cutoff == "optional":
        return Cut("own", own)
    if is_short and own is None:
        if metric.cutoff == "droppable":
            return Cut("none")
        msg = f"{written} needs a cutoff: {request.expression.name}@5, or {metric.alias} for the default"
        if (uncut := whole_ranking(metric.alias)) is not None:
            msg += f"; over whole rankings it is {uncut}"
        raise ParameterError(msg)
    return Cut("free", own)


def _rel(request: Request, metric: Metric) -> float | None:
    rel = request.engine.get("rel")
    if rel is None:
        return None
    if isinstance(rel, bool) or not isinstance(rel, int | float):
        msg = f"rel of {request.written!r} is the lowest grade of a relevant item, not {rel!r}"
        raise ParameterError(msg)
    if not metric.uses_rel:
        msg = f"rel has no effect on {metric.alias!r}; leave it out of {request.written!r}"
        raise ParameterError(msg)
    return float(rel)


def _by_id(request: Request, metric: Metric) -> tuple[tuple[Target, ...], dict[Target, ResolvedMatcher]]:
    """Return the target of a metric that can be judged by id."""
    gold = (request.engine["gold"],) if "gold" in request.engine else metric.gold
    if "relevant" not in gold or metric.judges != "retrieved" or "matcher" in request.engine:
        how = "by text" if "matcher" in request.engine else f"against {' or '.join(map(str, gold))}"
        msg = f"{request.written!r} is judged {how}, and a run has only ids; drop it, or use `rankgauge run` on samples"
        raise ParameterError(msg)
    if lacking := [need for need in metric.needs if need not in _OF_RUNS]:
        *first, last = ("texts" if need == "texts" else f"the {need}" for need in lacking)
        needed = f"{', '.join(first)} and {last}" if first else last
        msg = (
            f"{request.written!r} needs {needed} (metric {metric.alias!r}), and a run has only ids and scores; drop "
            "it, or use `rankgauge run` on samples"
        )
        raise ParameterError(msg)
    return (Target("relevant", "retrieved"),), {}


def _targets(
    request: Request,
    metric: Metric,
    params: Mapping[str, Value],
    explicit: Mapping[str, Value],
    usual_matcher: Value | None,
    matchers_by_gold: Mapping[GoldKind, str],
    catalog: Catalog,
) -> tuple[tuple[Target, ...], dict[Target, ResolvedMatcher]]:
    kinds = metric.gold
    if (gold := request.engine.get("gold")) is not None:
        if gold not in metric.gold:
            msg = f"{metric.alias!r} can be judged against {' or '.join(metric.gold)}, not against gold={gold!r}"
            raise ParameterError(msg)
        kinds = (gold,)
    chosen = request.engine.get("matcher")
    if chosen is not None:
        if not isinstance(chosen, str) or not chosen.strip():
            msg = f"the matcher of {request.written!r} is a name or a composition, not {chosen!r}"
            raise ParameterError(msg)
        if idle := [parameter.name for parameter in metric.matching if parameter.name in explicit]:
            msg = f"{request.written!r} gives a matcher, so {', '.join(idle)} has no effect; leave one of them out"
            raise ParameterError(msg)
        kinds = tuple(kind for kind in kinds if kind != "relevant")
        if not kinds:
            msg = f"{metric.alias!r} is judged by id here, where a matcher has no effect; leave out matcher={chosen}"
            raise ParameterError(msg)
    matchers: dict[Target, ResolvedMatcher] = {}
    targets = []
    for kind in kinds:
        if kind == "relevant":
            targets.append(Target(kind, metric.judges))
            continue
        name = chosen or matchers_by_gold.get(kind) or usual_matcher or _default_matcher(metric, params, kind)
        if name is None:
            targets.append(Target(kind, metric.judges))
            continue
        target = Target(kind, metric.judges, str(name))
        matchers[target] = catalog.matcher(str(name))
        matchers[target].check_usable()
        targets.append(target)
    return tuple(targets), matchers


def _default_matcher(metric: Metric, params: Mapping[str, Value], kind: GoldKind) -> str | None:
    """Return the metric's own matcher; None for nuggets without one, which go by the support of outputs."""
    if callable(metric.matcher):
        names = {parameter.name for parameter in metric.matching}
        try:
            with guarded(RankgaugeError):
                return metric.matcher(**{key: value for key, value in params.items() if key in names})
        except ForeignError as error:
            msg = f"metric {metric.alias!r} cannot choose its matcher: {error}"
            raise ParameterError(msg) from error
    return metric.matcher or (None if kind == "nuggets" else "contains")
