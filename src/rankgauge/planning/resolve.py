"""
Resolving one request: its metric, parameters, cutoff rule, and what it is judged against.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from rankgauge.base.frozen import FrozenMap, frozen
from rankgauge.base.guard import ForeignError, guarded
from rankgauge.catalog import Catalog, Claim, Provider, ResolvedMatcher
from rankgauge.catalog.other_tools import whole_ranking
from rankgauge.errors import ParameterError, RankgaugeError, did_you_mean
from rankgauge.expression import MetricExpression, Value, safe_name
from rankgauge.judging import Target
from rankgauge.judging.units import unit_rule
from rankgauge.pickling import reduced
from rankgauge.planning.cutoffs import Conventions, Cut, check_k
from rankgauge.planning.identity import (
    definition_by_id,
    fingerprint_of,
    metric_definition,
    names_of,
    unusual_engine,
)
from rankgauge.planning.overrides import NO_OVERRIDES, Overrides, overrides_of
from rankgauge.planning.requests import Bound, Request, bind, budget_of, budget_settings, refusal_of
from rankgauge.planning.tool_requests import meant
from rankgauge.planning.word_choice import check_words, matcher_of_words
from rankgauge.plugin.declarations import Aggregate
from rankgauge.plugin.gold_kinds import DeclaredGold
from rankgauge.plugin.metric import POOLED, Metric, Need
from rankgauge.plugin.ranking_filter import RankingFilter
from rankgauge.policy import IntervalChoice, Policy
from rankgauge.samples import KINDS, GoldKind
from rankgauge.stats import AGGREGATES

__all__ = ["PlannedMetric", "resolve"]

_OF_RUNS: frozenset[Need] = frozenset({"ids", "scores", "intents"})
"""What metrics can see of a run and its judgments, however these are given."""


@dataclass(frozen=True, kw_only=True)
class PlannedMetric:
    """One column of the result, ready to be computed."""

    name: str  # as it was asked for, if that is a short name
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
    interval: IntervalChoice = "standard"  # which intervals its mean has
    kinds: tuple[Claim[DeclaredGold], ...] = ()  # the kinds of ground truth of plugins
    overrides: Overrides = NO_OVERRIDES  # what is asked for it against the policy
    filters: tuple[Claim[RankingFilter], ...] = ()  # what drops results before the cut
    of_tool: bool = False  # whether it is a measure of the tool whose profile it is under
    own_ranks: bool = False  # whether gold items that one result holds take ranks of their own, if one can hold several
    __reduce__ = reduced

    @property
    def needs(self) -> tuple[Need, ...]:
        """Return what it sees besides judged columns."""
        needs = self.metric.judging.needs
        return needs if self.overrides.score_above is None or "scores" in needs else (*needs, "scores")

    @property
    def unit(self) -> str | None:
        """Return what ids are rolled up to before it is computed; None for judging them as they are."""
        return self.targets[0].unit

    def at_stage(self, stage: str) -> dict[str, Value]:
        """Return what asks for the same metric at a stage of the pipeline."""
        plain = {name.lower() for name in (self.metric.alias, *self.metric.plain_short)}
        is_named = self.name.split("(")[0].split("@")[0].lower() not in plain
        asked: dict[str, Value] = {"metric": str(self.expression) if is_named else self.name, "stage": stage}
        if is_named:
            asked["as"] = f"{self.name} at {stage}"
        if self.cut.rule in {"free", "own"} and self.cut.k is not None:
            asked["k"] = self.cut.k
        return asked

    @property
    def infers_max_grade(self) -> bool:
        """Return whether the highest grade has to be inferred from the whole data set."""
        return self.metric.needs_max_grade and self.params.get("max_grade") is None

    @property
    def clips_above(self) -> float | None:
        """Return above which grade others count as that one; None if none does."""
        if not self.metric.needs_max_grade or self.settings.get("check") is False:
            return None
        top = self.params.get("max_grade")
        return float(top) if isinstance(top, int | float) else None

    def target_of(self, available: Collection[Target]) -> Target:
        """Return what is judged in data with this ground truth: the first target that is there, or else the first."""
        return next((target for target in self.targets if target in available), self.targets[0])

    def fingerprint_against(self, target: Target) -> str:
        """Return the fingerprint of scores against one of the targets: those by text have own ranks and a matcher."""
        if not target.by_text:
            return self._fingerprint_by_id
        if not self.own_ranks or "own_ranks" in self.definition:
            return self.fingerprint
        return fingerprint_of({**self.definition, "own_ranks": True})

    @cached_property
    def _fingerprint_by_id(self) -> str:
        return fingerprint_of(definition_by_id(self.definition, self.targets, self.matchers))

    def target_called(self, judged: str) -> Target:
        """Return a target by its text, as results have it."""
        return next(target for target in self.targets if str(target) == judged)


def resolve(request: Request, conventions: Conventions) -> PlannedMetric:
    """Resolve one request; raise a `RankgaugeError` for a name, parameter, cutoff or matcher that cannot be used."""
    request = meant(request, conventions)
    bound = bind(request, conventions)
    cut = _cut(bound, conventions)
    rel, overrides = _rel(bound), overrides_of(bound, conventions.profile.policy)
    judged = _judged(bound, conventions)
    names = names_of(bound, cut, conventions.catalog)
    metric, settings = bound.metric.with_aggregate(_aggregate(bound)), {**bound.defaults, **bound.params}
    is_built_in = metric.is_whole or metric.aggregate in {*AGGREGATES, POOLED}
    aggregate = None if is_built_in else conventions.catalog.aggregate(metric.aggregate)
    matchers = {target: matcher for target, matcher in judged.items() if matcher is not None}
    kinds = tuple(
        conventions.catalog.declared_gold(target.of_items.gold) for target in judged if target.declared is not None
    )
    definition = metric_definition(
        metric,
        {**settings, "rel": rel, **overrides.definition(bound)},
        cut.definition(conventions.default_k),
        judged,
        matchers,
        conventions.profile,
        None if aggregate is None else aggregate.declaration,
    )
    matching = {parameter.name for parameter in metric.judging.matching}
    return PlannedMetric(
        name=names.asked,
        standard_name=names.standard,
        safe_name=safe_name(names.asked),
        spellings=(request.written,),
        expression=names.expression,
        metric=metric,
        provider=bound.provider,
        aggregate=aggregate,
        kinds=kinds,
        params=FrozenMap({key: value for key, value in bound.params.items() if key not in matching}),
        rel=rel,
        targets=tuple(judged),
        matchers=FrozenMap(matchers),
        cut=cut,
        settings=FrozenMap({**settings, **unusual_engine(bound), **budget_settings(cut.budget)}),
        definition=frozen(definition),
        fingerprint=fingerprint_of(definition),
        interval=conventions.profile.policy.interval,
        overrides=overrides,
        filters=tuple(each.step.claim for each in conventions.profile.policy.filters if each.step is not None),
        of_tool=bound.request.of_tool,
        own_ranks=metric.judging.own_ranks and conventions.profile.own_ranks,
    )


# -- the cutoff


def _cut(bound: Bound, conventions: Conventions) -> Cut:
    """Return the rule of the cutoff: a budget, a pinned cutoff, one given to the metric, or none at all."""
    request, metric, written = bound.request, bound.metric, repr(bound.request.written)
    if (budget := budget_of(request, metric, bound.number, conventions)) is not None:
        return Cut("budget", budget=budget)
    if metric.cutoff.kind == "none" and (bound.number is not None or request.k is not None):
        raise ParameterError(f"metric {metric.alias!r} has no cutoff; leave it out of {written}")
    if bound.number is not None and request.k is not None:
        raise ParameterError(f"{written} gives its cutoff twice")
    if bound.number is not None:
        return Cut("pinned", check_k(bound.number, written))
    k = None if request.k is None else check_k(request.k, f"{written} (its k)")
    match metric.cutoff.kind:
        case "none":
            return Cut("none")
        case "optional":
            return Cut("none" if k is None else "own", k)
        case "droppable" if bound.is_short and k is None:
            return Cut("none")
        case "required" if bound.is_short and k is None:
            whole = whole_ranking(metric.alias)
            raise ParameterError(
                f"{written} needs a cutoff: {request.expression.name}@5, or {metric.alias} for the default"
                f"{'' if whole is None else f'; over whole rankings it is {whole}'}"
            )
        case _:
            return Cut("free", k)


def _rel(bound: Bound) -> float | None:
    rel, written = bound.request.engine.get("rel"), repr(bound.request.written)
    if rel is None:
        return None
    if isinstance(rel, bool) or not isinstance(rel, int | float):
        raise ParameterError(f"rel of {written} is the lowest grade of a relevant item, not {rel!r}")
    if not bound.metric.judging.uses_rel:
        raise ParameterError(f"rel has no effect on {bound.metric.alias!r}; leave it out of {written}")
    return float(rel)


def _aggregate(bound: Bound) -> str:
    """Return how scores become one number: as the request says, or else the metric."""
    metric, written = bound.metric, repr(bound.request.written)
    how = bound.request.engine.get("aggregate", metric.aggregate)
    if not isinstance(how, str) or not how.strip():
        raise ParameterError(f"the aggregate of {written} is a name, such as mean or geometric, not {how!r}")
    if metric.is_whole and how != metric.aggregate:
        raise ParameterError(f"{metric.alias!r} has one value for a whole run; leave aggregate={how} out of {written}")
    if how == POOLED and metric.denominators is None:
        raise ParameterError(
            f"{metric.alias!r} is no share of a number that is known for each sample, so leave aggregate=pooled out of "
            f"{written}; recall, P, relative_P, opa and arp can be pooled"
        )
    return how


# -- what is judged against what

_Judged = Mapping[Target, ResolvedMatcher | None]
"""Targets in order of preference, each with its matcher; None for judging without one."""


def _judged(bound: Bound, conventions: Conventions) -> _Judged:
    request = bound.request
    has_words = bound.metric.judging.judges == "answer" or request.expression.unit is not None
    check_words(request.engine, request.written, has_words=has_words)
    stage = _stage(bound, conventions)
    judged = _by_id(bound) if conventions.by_id else _by_kind(bound, conventions)
    if (policy := conventions.profile.policy).settles_ties_late:
        late = _with_averaged_ties if overrides_of(bound, policy).averages_ties else _with_graded_ties
        judged = late(bound, judged, policy)
    return judged if stage is None else {target._replace(stage=stage): judged[target] for target in judged}


def _stage(bound: Bound, conventions: Conventions) -> str | None:
    """Return the stage of the pipeline whose ranking is judged; refuse one if there can be none."""
    stage, written = bound.request.engine.get("stage"), repr(bound.request.written)
    if stage is None:
        return None
    if not isinstance(stage, str) or not stage.strip():
        raise ParameterError(f"the stage of {written} is a name, not {stage!r}")
    if "stage" not in bound.metric.engine_parameters:
        raise ParameterError(f"{bound.metric.alias!r} does not judge one ranking; leave stage={stage} out of {written}")
    if conventions.by_id:
        raise ParameterError(f"{written} judges a stage of an output, and a run is one ranking; {_STAGES_OF_RUNS}")
    return stage


_STAGES_OF_RUNS = "give each stage as a run of its own"


def _by_id(bound: Bound) -> _Judged:
    """Return the target of a metric that can be judged by id."""
    written, metric, engine = repr(bound.request.written), bound.metric, bound.request.engine
    gold = (engine["gold"],) if "gold" in engine else metric.gold
    if "relevant" not in gold or metric.judging.judges != "retrieved" or "matcher" in engine:
        how = "by text" if "matcher" in engine else f"against {' or '.join(map(str, gold))}"
        raise ParameterError(
            f"{written} is judged {how}, and a run has only ids; drop it, or use `rankgauge run` on samples"
        )
    if lacking := [need for need in metric.judging.needs if need not in _OF_RUNS]:
        called = {"texts": "texts", "result_metadata": "the metadata of results"}
        *first, last = (called.get(need, f"the {need}") for need in lacking)
        needed = f"{', '.join(first)} and {last}" if first else last
        raise ParameterError(
            f"{written} needs {needed} (metric {metric.alias!r}), and a run has only ids and scores; drop "
            "it, or use `rankgauge run` on samples"
        )
    unit = _unit(bound)
    if unit is not None and unit_rule(unit).is_field:
        raise ParameterError(
            f"{written} needs the metadata of items, and a run has only ids and scores; give a pattern"
        )
    return {Target("relevant", "retrieved", unit=unit): None}


def _by_kind(bound: Bound, conventions: Conventions) -> _Judged:
    """Return a target for each kind of gold that the request allows."""
    if (unit := _unit(bound)) is not None:
        gold = next(kind for kind in bound.metric.gold if kind in KINDS and KINDS[kind].has_units)
        return {Target(gold, unit=unit): None}
    judged: dict[Target, ResolvedMatcher | None] = {}
    joint, has_sets = _joint(bound), bound.metric.gold == ("sets",)
    for kind in _kinds(bound, conventions.catalog):
        chosen = _matcher_name(bound, kind, conventions) if kind.is_text else None
        name = None if chosen is None else str(chosen)
        matcher = None if name is None else conventions.catalog.matcher(name)
        if matcher is not None:
            matcher.check_usable()
        adds_up = kind.adds_up(by_covers=matcher is not None and matcher.covers)
        if "joint" in bound.request.engine and joint and not adds_up:
            raise ParameterError(
                f"joint of {bound.request.written!r} is for matchers whose comparer says what a result holds of a gold "
                f"text, such as passage; {matcher} only says whether it matches, so leave joint out"
            )
        adds_up &= bound.metric.judging.judges == "retrieved"
        declared = kind if isinstance(kind, DeclaredGold) else None
        judges = bound.metric.judging.judges
        target = Target(kind.name, judges, name, joint=adds_up and joint, declared=declared)
        judged[_of_sets(target) if has_sets else target] = matcher
    return judged


def _of_sets(target: Target) -> Target:
    """Return the target of sets whose items a target judges."""
    return target._replace(gold="sets", members="" if target.gold == "relevant" else target.gold)


def _joint(bound: Bound) -> bool:
    """Return whether results find a gold text or span together; refuse to say so if nothing is found so."""
    joint, written = bound.request.engine.get("joint"), repr(bound.request.written)
    if joint is None:
        return bound.usual_joint
    if not isinstance(joint, bool):
        raise ParameterError(f"joint of {written} is true or false, not {joint!r}")
    gold = KINDS.get(str(bound.request.engine.get("gold")))
    if not bound.metric.takes_joint or (gold is not None and gold.together == "never"):
        raise ParameterError(
            f"joint of {written} is for metrics that find gold texts or spans (gold=passages, gold=spans); leave it out"
        )
    return joint


def _unit(bound: Bound) -> str | None:
    """Return what ids are rolled up to, and refuse a unit if ids are not judged."""
    engine, metric, written = bound.request.engine, bound.metric, repr(bound.request.written)
    unit = engine.get("unit")
    if unit is None:
        return None
    if "unit" not in metric.engine_parameters or engine.get("gold", "relevant") != "relevant" or "matcher" in engine:
        raise ParameterError(f"unit is for judging by id, and {written} is not judged so; leave it out")
    if not isinstance(unit, str):
        raise ParameterError(f"the unit of {written} is a text, not {unit!r}")
    unit_rule(unit)
    return unit


def _called(gold: str, metric: Metric, kinds: tuple[GoldKind, ...], catalog: Catalog) -> tuple[GoldKind, ...]:
    """Return those of the kinds that a metric can be judged against that are called so, or a plugin's kind."""
    called = tuple(kind for kind in kinds if gold in {kind.name, *(kind.other_names or ())})
    if called:
        return called
    takes_others = any(kind.is_evidence for kind in kinds)
    if takes_others and (other := catalog.gold_kinds.find(gold)):
        return (other,)
    known = [*metric.gold_of_items, *(catalog.gold_kinds.names() if takes_others else ())]
    hint = did_you_mean(gold, known)
    built_in = {name for kind in KINDS.values() for name in (kind.name, *(kind.other_names or ()))}
    if takes_others and not hint and gold not in built_in:
        catalog.declared_gold(gold)  # says who may declare it
    raise ParameterError(
        f"{metric.alias!r} can be judged against {' or '.join(known)}, not against gold={gold!r}{hint}"
    )


def _kinds(bound: Bound, catalog: Catalog) -> tuple[GoldKind, ...]:
    """Return which kinds of gold the request can be judged against, and refuse a matcher that has no effect."""
    metric, engine, written = bound.metric, bound.request.engine, repr(bound.request.written)
    kinds = tuple(map(catalog.gold_kind, metric.gold_of_items))
    gold, matcher = engine.get("gold"), engine.get("matcher")
    if gold is not None:
        if not metric.needs_gold:
            raise ParameterError(f"{metric.alias!r} needs no ground truth; leave gold={gold} out of {written}")
        kinds = _called(str(gold), metric, kinds, catalog)
    elif "joint" in engine:
        kinds = tuple(kind for kind in kinds if kind.is_evidence) or kinds
    if matcher is None:
        return kinds
    if not isinstance(matcher, str) or not matcher.strip():
        raise ParameterError(f"the matcher of {written} is a name or a composition, not {matcher!r}")
    if idle := [parameter.name for parameter in metric.judging.matching if parameter.name in bound.explicit]:
        raise ParameterError(f"{written} gives a matcher, so {', '.join(idle)} has no effect; leave one of them out")
    of_text = tuple(kind for kind in kinds if kind.is_text)
    if not of_text:
        how = "by id" if kinds[0].apart == "id" else f"by {kinds[0].name}"
        raise ParameterError(
            f"{metric.alias!r} is judged {how} here, where a matcher has no effect; leave out matcher={matcher}"
        )
    return of_text


def _matcher_name(bound: Bound, kind: GoldKind, conventions: Conventions) -> Value | None:
    """Return the matcher as `_usual_matcher` does; of answers, one that takes words by script if that is asked."""
    usual, request = _usual_matcher(bound, kind, conventions), bound.request
    is_answer = bound.metric.judging.judges == "answer"
    return matcher_of_words(request.engine, request.written, usual) if is_answer else usual


def _usual_matcher(bound: Bound, kind: GoldKind, conventions: Conventions) -> Value | None:
    """Return the matcher: the request's, the evaluation's, the profile's, the metric's; None for plain nuggets."""
    engine = bound.request.engine
    if "matcher" not in engine and (meant := (kind.other_names or {}).get(str(engine.get("gold")))):
        return meant
    chosen = engine.get("matcher") or conventions.matchers.get(kind.name) or bound.usual_matcher
    if chosen:
        return chosen
    metric, params = bound.metric, bound.params
    if not callable(metric.judging.matcher):
        return metric.judging.matcher or kind.usual_matcher(conventions.profile)
    names = (parameter.name for parameter in metric.judging.matching)
    try:
        with guarded(RankgaugeError):
            return metric.judging.matcher(**{name: params[name] for name in names if name in params})
    except ForeignError as error:
        raise ParameterError(f"metric {metric.alias!r} cannot choose its matcher: {error}") from error


def _with_graded_ties(bound: Bound, judged: _Judged, policy: Policy) -> _Judged:
    """Return the targets that ``ties=worst`` and ``best`` allow: those judged by id."""
    written, needs = repr(bound.request.written), {*bound.metric.judging.needs} - {"scores", "intents"}
    by_id = {target: None for target in judged if target.identity == "id"}
    if needs or not by_id:
        how = f"sees the {' and '.join(sorted(needs))} of results" if needs else "is not judged so"
        msg = f"policy ties={policy.ties} settles ties by the grades of ids, and {written} {how}; choose ties=given"
        raise ParameterError(msg)
    return by_id


def _with_averaged_ties(bound: Bound, judged: _Judged, _: Policy) -> _Judged:
    """Return the targets that ``ties=average`` allows: those judged by id, for a metric with a closed form."""
    if bound.metric.over_ties is None:
        raise ParameterError(
            f"policy ties=average needs a closed form over the orders of ties, and metric {bound.metric.alias!r} "
            f"declares none; leave out {bound.request.written!r}, or choose ties=docno, given or error"
        )
    if refused := refusal_of(bound, bound.metric.check_ties):
        raise ParameterError(
            f"policy ties=average needs a closed form over the orders of ties: {refused}; leave out "
            f"{bound.request.written!r}, or choose ties=docno, given or error"
        )
    by_id = {target: None for target in judged if target.identity == "id"}
    if not by_id:
        raise ParameterError(
            f"policy ties=average is for judging by id, and {bound.request.written!r} is not judged so"
        )
    return by_id
