"""
The plan: every name, parameter, matcher and cutoff rule of an evaluation, resolved before any data is read.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rankgauge.base.frozen import FrozenMap
from rankgauge.catalog import Catalog, Provider, ResolvedMatcher
from rankgauge.errors import ExpressionError, ParameterError, PlanError, Problem, RankgaugeError, counted
from rankgauge.judging import Keep, Target
from rankgauge.pickling import itself, reduced, restored
from rankgauge.planning.cutoffs import Conventions, DefaultK, check_k
from rankgauge.planning.filters import with_filters
from rankgauge.planning.requests import Located, MetricSpec
from rankgauge.planning.resolve import PlannedMetric, resolve
from rankgauge.planning.tool_requests import requests_under
from rankgauge.plugin.metric import Metric, Need
from rankgauge.policy import Profile
from rankgauge.samples import TEXT_KINDS

if TYPE_CHECKING:
    from rankgauge.planning.lock import Lock

__all__ = ["Plan", "PlannedMetric", "make_plan"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything an evaluation will do, resolved."""

    metrics: tuple[PlannedMetric, ...]
    profile: Profile
    default_k: DefaultK
    catalog: Catalog
    dataset: str = ""
    locks: tuple[Lock, ...] = ()  # what it was checked against
    targets: Mapping[Target, ResolvedMatcher | None]  # each once, with its matcher; None for judging by id
    notes: tuple[str, ...] = ()  # what users should know of the metrics

    __copy__ = __deepcopy__ = itself

    @property
    def needs(self) -> frozenset[Need]:
        """Return what its metrics see besides judged columns."""
        return frozenset(need for metric in self.metrics for need in metric.needs)

    @property
    def needs_gold(self) -> bool:
        """Return whether any of its metrics needs ground truth."""
        return any(metric.metric.needs_gold for metric in self.metrics)

    @property
    def units(self) -> tuple[str | None, ...]:
        """Return what ids are rolled up to, each once; None for judging them as they are."""
        return tuple(dict.fromkeys(target.unit for target in self.targets))

    def column(self, name: str) -> PlannedMetric:
        """Return a column by its name."""
        return next(column for column in self.metrics if column.name == name)

    def keep(self, *, rankings: bool) -> Keep:
        """Return what judging is to keep beside judged rows: what metrics see, their budgets, and maybe *rankings*."""
        budgets = frozenset(metric.cut.budget for metric in self.metrics if metric.cut.budget is not None)
        return Keep(rankings, self.needs, budgets)

    def __reduce__(self) -> tuple[Any, ...]:
        return _received, reduced(self)[1]

    def describe(self) -> str:
        """Return the plan as text for people: what each column is, its cutoff and its provider; then the policy."""
        lines = [f"dataset: {self.dataset or '(samples given in Python)'}", "metrics:"]
        for metric in self.metrics:
            lines += [
                f"  {metric.name}",
                f"    is        {metric.expression}",
                f"    judged    {', else '.join(map(str, metric.targets))}"
                if metric.metric.needs_gold
                else f"    over      {_over(metric.metric)}, without ground truth",
                *(f"    matcher   {matcher}" for matcher in metric.matchers.values()),
                f"    cutoff    {self._cutoff(metric)}",
                *([f"    sees      {', '.join(metric.needs)}"] if metric.needs else []),
                *([] if metric.rel is None else [f"    relevant  grade {metric.rel:g} or more"]),
                f"    provider  {metric.provider}",
                *(f"    gold      {kind.declaration.name} by {kind.provider}" for kind in metric.kinds),
            ]
        return "\n".join([*lines, f"profile: {self.profile.name}", f"policy: {self.profile.policy}"])

    def _cutoff(self, metric: PlannedMetric) -> str:
        match metric.cut.rule:
            case "none":
                return "none"
            case "pinned":
                return f"{metric.cut.k} (pinned)"
            case "budget":
                by = None if metric.cut.budget is None else metric.cut.budget.tokenizer
                return f"{metric.cut.budget}{'' if by is None else f' (tokenizer by {by.provider})'}"
            case "own":
                return f"{metric.cut.k} (given to the metric)"
            case "free":
                given = "" if metric.cut.k is None else f"{metric.cut.k} (given to the metric), else "
                return f"the sample's metadata.k, else {given}{self.default_k.k} ({self.default_k.source})"


def _over(metric: Metric) -> str:
    """Return what a metric that needs no ground truth is over."""
    if metric.is_whole:
        return "the ids of the whole run"
    return "the retrieved items" if metric.judging.judges == "retrieved" else "the generated answer"


def make_plan(
    specs: Iterable[MetricSpec], conventions: Conventions, *, dataset: str = "", locks: Sequence[Lock] = ()
) -> Plan:
    """Resolve an evaluation; raise `PlanError` with every problem at once."""
    problems: list[Problem | str] = []
    columns: dict[str, PlannedMetric] = {}
    try:
        check_k(*conventions.default_k)
    except ParameterError as error:
        problems.append(str(error))
    problems += [
        f"with_matchers() takes kinds of gold that are text ({', '.join(TEXT_KINDS)}), not {kind!r}"
        for kind in conventions.matchers
        if kind not in TEXT_KINDS and not _is_text(conventions.catalog, kind)
    ]
    try:
        profile = with_filters(conventions.profile, conventions.catalog, by_id=conventions.by_id)
        conventions = dataclasses.replace(conventions, profile=profile)
    except RankgaugeError as error:
        hints = "".join(lock.hint(error, conventions.catalog) for lock in locks)
        problems.append(f"policy option 'filters': {error}{hints}")
    specs = list(specs)
    places: dict[str, tuple[str, int | None]] = {}
    for spec in specs:
        place = (spec.file, spec.line) if isinstance(spec, Located) else ("", None)
        try:
            for request in requests_under(conventions.profile.tool, spec):
                column = resolve(request, conventions)
                places.setdefault(column.name, place)
                places.setdefault(column.standard_name, place)
                _add(columns, column)
        except RankgaugeError as error:
            hints = "".join(lock.hint(error, conventions.catalog) for lock in locks)
            problems.append(Problem(f"{error}{hints}", *place))
    problems += [Problem(message, *places[name]) for lock in locks for name, message in lock.problems(columns.values())]
    if not specs:
        problems.append(
            "no metrics given; give some: -m ndcg@10 -m recall@10 -m RR@10 (of ranked ids, texts or spans), "
            "-m answer_f1 -m EM (of answers), metrics.use in config, or with_metrics(['ndcg@10'])"
        )
    if problems:
        raise PlanError(f"the evaluation cannot be planned ({counted(len(problems), 'problem')}):", problems)
    targets = {target: column.matchers.get(target) for column in columns.values() for target in column.targets}
    return Plan(
        metrics=tuple(columns.values()),
        profile=conventions.profile,
        default_k=conventions.default_k,
        catalog=conventions.catalog,
        dataset=dataset,
        locks=tuple(locks),
        targets=FrozenMap(targets),
        notes=(
            *dict.fromkeys(note for lock in locks for note in lock.warnings(columns.values())),
            *_own_notes(columns.values(), conventions.profile),
        ),
    )


def _own_notes(columns: Iterable[PlannedMetric], profile: Profile) -> Iterator[str]:
    """Yield which columns are none of the tool's whose profile it is."""
    own = [column.name for column in columns if profile.tool is not None and not column.of_tool]
    if profile.tool is not None and own:
        it = "this is" if len(own) == 1 else "these are"
        yield (
            f"{profile.tool.title} has no {' or '.join(own)}: {it} rankgauge's own, under the conventions of the "
            f"profile {profile.name}"
        )


def _is_text(catalog: Catalog, kind: str) -> bool:
    """Return whether a plugin declares a kind of ground truth that a matcher looks for."""
    declared = catalog.gold_kinds.find(kind)
    return declared is not None and declared.is_text


def _received(kind: type[Plan], fields: Mapping[str, Any]) -> Plan:
    """Return a plan that another process made; refuse it if its metrics and matchers are other versions here."""
    plan: Plan = restored(kind, fields)
    here = {plugin.distribution: plugin.version for plugin in plan.catalog.plugins if plugin.offers}
    wanted: dict[Provider, str] = {}
    for column in plan.metrics:
        wanted[column.provider] = f"metric {column.name!r}"
        if column.aggregate is not None:
            wanted[column.aggregate.provider] = f"aggregate {column.metric.aggregate!r}"
        if column.cut.budget is not None and column.cut.budget.tokenizer is not None:
            claim = column.cut.budget.tokenizer
            wanted[claim.provider] = f"tokenizer {claim.declaration.name!r} of {column.name!r}"
        for gold in column.kinds:
            wanted[gold.provider] = f"gold kind {gold.declaration.name!r} of {column.name!r}"
        for matcher in column.matchers.values():
            wanted |= {provider: f"{name!r} of matcher {matcher}" for name, provider in matcher.providers}
    for each in plan.profile.policy.filters:
        if each.step is not None:
            wanted[each.step.claim.provider] = f"filter {str(each)!r}"
    problems = [
        f"{what} is of {provider.distribution} {provider.version}; here is {here.get(provider.distribution, 'none')}"
        for provider, what in wanted.items()
        if provider.distribution and here.get(provider.distribution) != provider.version
    ]
    if problems:
        msg = "the plan was made where other versions are installed; install the same ones in both places:"
        raise PlanError(msg, problems)
    return plan


_ENDINGS = ("", "_status", "_ids")
"""What is added to safe names in tables of scores."""


def _add(columns: dict[str, PlannedMetric], new: PlannedMetric) -> None:
    """Add a column; one that is asked for twice is computed once, under its first name, and keeps both spellings."""
    known = columns.get(new.name) or next((column for column in columns.values() if _is_same(column, new)), None)
    if known is None:
        taken = {"sample_id", "tags", "cluster", "weight", "input", "retrieved"}
        for column in columns.values():
            taken |= {f"{column.safe_name}{ending}" for ending in _ENDINGS}
        name, count = new.safe_name, 2
        while {f"{name}{ending}" for ending in _ENDINGS} & taken:
            name, count = f"{new.safe_name}_{count}", count + 1
        columns[new.name] = dataclasses.replace(new, safe_name=name)
        return
    if not _means_same(known, new):
        msg = f"two columns are called {new.name!r}: {_told(known)} and {_told(new)}; rename one with `as`"
        raise ExpressionError(msg, text=new.name)
    spellings = tuple(dict.fromkeys((*known.spellings, *new.spellings)))
    columns[known.name] = dataclasses.replace(known, spellings=spellings)


def _is_same(column: PlannedMetric, other: PlannedMetric) -> bool:
    """Return whether two columns are one that was asked for by several names."""
    return column.standard_name == other.standard_name and _means_same(column, other)


def _means_same(column: PlannedMetric, other: PlannedMetric) -> bool:
    is_same_code = inspect.unwrap(column.metric.source) is inspect.unwrap(other.metric.source)
    return is_same_code and column.fingerprint == other.fingerprint


def _told(column: PlannedMetric) -> str:
    k = "" if column.cut.k is None or column.cut.rule == "pinned" else f" with k {column.cut.k}"
    return f"{column.spellings[0]!r} ({column.expression}{k})"
