"""
Evaluating runs: from judgments and rankings, however they are given, to results.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypedDict, Unpack

from rankgauge.base.logs import logger
from rankgauge.catalog import Catalog
from rankgauge.columns import IdSketcher, Judged, Qrels, RunSource
from rankgauge.columns.judged_rows import Ints
from rankgauge.engine.excluded_runs import Met, excluded_judgments, excluded_run, narrowed_run
from rankgauge.engine.run_result import FewEvaluator, RunOrigin, ScoredRun
from rankgauge.errors import NothingToEvaluateError, PolicyError
from rankgauge.exclusions import Meeting
from rankgauge.io.excluded_files import opened_options
from rankgauge.io.nested_mappings import MappingRun
from rankgauge.io.open_sources import QrelsLike, RunLike, open_qrels, open_run
from rankgauge.io.trec import RunFile
from rankgauge.judging import BatchJudge, Evidence, Keep, RunCollector, RunCounts, ScatteredError, judge_mapping
from rankgauge.judging.keeping import Keeper
from rankgauge.judging.outputs import prepare
from rankgauge.judging.swapped_sides import SwapDoubt, nested_otherwise, swap_doubt
from rankgauge.judging.threads import Task, in_order, thread_count, work_on_parts
from rankgauge.judging.top import TopCollector, read_queries
from rankgauge.judging.units import rolled_judgments, rolled_run, unit_rule
from rankgauge.planning.cutoffs import Conventions, DefaultK
from rankgauge.planning.plan import Plan, make_plan
from rankgauge.planning.requests import MetricSpec, specs_of
from rankgauge.plugin.metric import Need
from rankgauge.policy import Policy, Profile
from rankgauge.result import Result
from rankgauge.scoring.collect import Collector
from rankgauge.scoring.sighting import Sighting, unreached

__all__ = [
    "CONVENTIONS",
    "RunConventions",
    "RunEvaluator",
    "RunOrigin",
    "evaluate_runs",
    "how_it_fits",
    "installed",
    "judge_run",
    "judge_units",
    "judgments_for",
    "plan_run",
    "run_evaluator",
]


class RunConventions(TypedDict, total=False):
    """By which conventions runs are evaluated; `rankgauge.evaluate` describes each."""

    profile: str | Policy | Profile
    policy: Mapping[str, Any] | None
    rel: float | None
    k: int | None
    catalog: Catalog | None


CONVENTIONS = RunConventions(profile="trec10", policy=None, rel=None, k=None, catalog=None)
"""Those of trec_eval, with everything that is installed."""


def evaluate_runs(
    plan: Plan,
    qrels: Qrels,
    runs: Mapping[str, RunLike],
    *,
    columns: Mapping[str, str] | None = None,
    sketch_ids: bool = False,
) -> dict[str, Result]:
    """
    Evaluate runs by a plan that `plan_run` has made, against judgments that were read.

    Of several TREC files each is judged in a thread of its own, some of them at once; a single one in parts.
    """
    qrels = excluded_judgments(qrels, plan.profile.policy.excluded)

    def begin(name: str) -> Task[_JudgedRun]:
        run = runs[name]
        opened = open_run(run, columns=columns, catalog=plan.catalog)
        excluded = plan.profile.policy.excluded
        met = None if excluded is None else Met(excluded)
        source = narrowed_run(opened, plan.profile.policy, met)
        sketcher = IdSketcher() if sketch_ids else None
        threads = 1 if len(runs) > 1 else None
        origin = "argument" if isinstance(run, Mapping) else "run"

        def judge() -> _JudgedRun:
            doubt = swap_doubt(qrels, source)
            if doubt is not None and doubt.is_certain:
                raise doubt.error()
            try:
                judged = judge_units(qrels, source, plan, sketcher, threads=threads)
            except NothingToEvaluateError as error:
                raise nested_otherwise(qrels, source) or error from None
            return _JudgedRun(opened, origin, sketcher, *judged, doubt, Meeting() if met is None else met.meeting)

        return Task(judge, may_wait=not isinstance(opened, RunFile))

    judged = in_order(map(begin, runs), thread_count())
    return {name: _evaluated(plan, qrels, columns, run) for name, run in zip(runs, judged, strict=True)}


def judgments_for(plan: Plan, qrels: QrelsLike, columns: Mapping[str, str] | None) -> Qrels:
    """Read judgments, unless they are read, with the intents that a plan needs; without what its policy leaves out."""
    if not isinstance(qrels, Qrels):
        qrels = open_qrels(qrels, columns=columns, intents="intents" in plan.needs, catalog=plan.catalog)
    return excluded_judgments(qrels, plan.profile.policy.excluded)


def run_evaluator(metrics: Sequence[MetricSpec] | MetricSpec, **conventions: Unpack[RunConventions]) -> RunEvaluator:
    """
    Resolve the evaluation of a run before anything is read; arguments and errors are those of `rankgauge.evaluate`.

    Where the same was asked for before, the plan is the same, with what it remembers.
    """
    given = RunConventions(**{**CONVENTIONS, **conventions})
    policy: object = given["policy"]
    if policy is not None and not isinstance(policy, Mapping):  # such as the name of a profile
        raise PolicyError(
            f"policy takes options such as {{'ties': 'error'}}, not {policy!r}; a named profile is given as profile="
        )
    options = opened_options(policy or {}).items()
    hashable = tuple((name, tuple(value) if isinstance(value, list) else value) for name, value in options)
    catalog = given["catalog"] or installed()
    specs = tuple(_Mapped.of(spec) if type(spec) is dict else spec for spec in specs_of(metrics))
    request = _Request(specs, given["profile"], hashable, given["rel"], given["k"], catalog)
    try:
        hash(request)
    except TypeError:  # such as a list of gains in a metric given as a mapping
        return RunEvaluator(request.plan(), is_kept=False)
    return _planned_once(request)


def plan_run(metrics: Sequence[MetricSpec] | MetricSpec, **conventions: Unpack[RunConventions]) -> Plan:
    """Return the plan of `run_evaluator` alone."""
    return run_evaluator(metrics, **conventions).plan


_SCALARS = {str, int, float, bool, type(None)}


class _Mapped(NamedTuple):
    """A metric given as a mapping, which is kept by: the types tell 1 and True apart."""

    items: tuple[tuple[object, type, object], ...]

    @classmethod
    def of(cls, spec: dict[str, Any]) -> _Mapped | dict[str, Any]:
        """Return a mapping as values; itself, which cannot be kept by, if one of them holds others."""
        items = tuple((name, type(value), value) for name, value in spec.items())
        return cls(items) if {kind for _, kind, _ in items} <= _SCALARS else spec

    @property
    def spec(self) -> dict[Any, Any]:
        """Return the mapping."""
        return {name: value for name, _, value in self.items}


class _Request(NamedTuple):
    """What a plan is made of, and kept by."""

    metrics: tuple[MetricSpec | _Mapped, ...]
    profile: str | Policy | Profile
    options: tuple[tuple[str, Any], ...]
    rel: float | None
    k: int | None
    catalog: Catalog

    def plan(self) -> Plan:
        """Return the plan."""
        profile = self.catalog.profile(self.profile).adapted(dict(self.options), self.rel)
        default_k = DefaultK() if self.k is None else DefaultK(self.k, "k")
        conventions = Conventions(catalog=self.catalog, profile=profile, default_k=default_k, by_id=True)
        return make_plan([spec.spec if isinstance(spec, _Mapped) else spec for spec in self.metrics], conventions)


class RunEvaluator:
    """A plan, and what evaluates runs under it."""

    def __init__(self, plan: Plan, *, is_kept: bool) -> None:
        self.plan = plan
        self._is_kept = is_kept

    @functools.cached_property
    def few(self) -> FewEvaluator | None:
        """Return what remembers scores; None if the plan is made anew each time, or is not for it."""
        return FewEvaluator.of(self.plan) if self._is_kept else None

    def evaluate(
        self, qrels: QrelsLike, runs: Mapping[str, RunLike], *, columns: Mapping[str, str] | None = None
    ) -> dict[str, Result]:
        """Evaluate runs against judgments, which are read once; see `rankgauge.evaluate`."""
        plan = self.plan
        if isinstance(qrels, dict) and columns is None and self.few is not None:
            results = self.few.evaluate(qrels, runs)
            if results is not None:
                return results
        return evaluate_runs(plan, judgments_for(plan, qrels, columns), runs, columns=columns)


@functools.lru_cache(maxsize=64)  # plans are values, and evaluating is often done in a loop
def _planned_once(request: _Request) -> RunEvaluator:
    return RunEvaluator(request.plan(), is_kept=True)


@functools.cache
def installed() -> Catalog:
    """Return what is installed, as it was when a process first asked: a loop of few queries asks each time."""
    return Catalog.installed()


class _JudgedRun(NamedTuple):
    """A run that was judged, and is not scored yet."""

    given: RunSource
    origin: str
    sketcher: IdSketcher | None
    collector: RunCollector
    evidence: Mapping[str | None, Evidence]  # by unit
    doubt: SwapDoubt | None
    excluded: Meeting


def _evaluated(plan: Plan, qrels: Qrels, columns: Mapping[str, str] | None, run: _JudgedRun) -> Result:
    """Score a judged run."""
    judged, evidence = run.collector, run.evidence
    collector = Collector(plan, sketcher=run.sketcher, sighting=Sighting(excluded=run.excluded))
    query_ids = functools.partial(_query_ids, qrels, judged.places)
    collector.add_run(query_ids, evidence, judged.missing)
    return ScoredRun(
        evaluation=RunOrigin(plan, qrels, run.given, columns),
        scored=collector.finish(),
        counts=how_it_fits(plan, judged, evidence),
        origin=run.origin,
        places=judged.places,
        source=qrels.source,
        remarks=[*filter(None, (_swapped(run.doubt), qrels.merged_note, *_unmatched(plan, evidence)))],
        sketcher=run.sketcher,
    ).result()


def _swapped(doubt: SwapDoubt | None) -> str:
    return "" if doubt is None else f"are the judgments and the run swapped? {doubt.message}"


def how_it_fits(plan: Plan, judged: RunCollector, evidence: Mapping[str | None, Evidence]) -> RunCounts:
    """Return how a run fits the judgments, by the units in which metrics look at its ids."""
    counts = judged.counts(evidence[plan.units[0]])
    missing = judged.missing.tolist() if unreached(plan, counts.deepest) else None
    return counts._replace(
        dropped=next(iter(evidence.values())).n_dropped,
        matched=sum(len(evidence[unit].judged.rows.sample) for unit in plan.units),
        lacks_gold=missing is not None and any(evidence[unit].lacks_gold(missing) for unit in plan.units),
    )


def _unmatched(plan: Plan, evidence: Mapping[str | None, Evidence]) -> Iterator[str]:
    """Say by which units no retrieved document is judged, if one is by others."""
    matched = {unit: len(evidence[unit].judged.rows.sample) for unit in plan.units}
    for unit in [unit for unit in plan.units if not matched[unit]] if any(matched.values()) else ():
        by = "as it is, so metrics without a unit count" if unit is None else f"by unit={unit}, so its metrics count"
        yield f"no retrieved document is judged {by} nothing that was found"


def _query_ids(qrels: Qrels, places: Ints) -> Sequence[str]:
    """Return the names of some queries; a table of means needs none."""
    names = qrels.query_names
    return names if len(places) == len(names) else [names[place] for place in places.tolist()]


def judge_units(
    qrels: Qrels,
    source: RunSource,
    plan: Plan,
    sketcher: IdSketcher | None = None,
    *,
    require_overlap: bool = True,
    threads: int | None = None,
) -> tuple[RunCollector, dict[str | None, Evidence]]:
    """
    Judge a run once for each unit of a plan; the collector, and what is sketched, are of the first.

    Where repeated documents are an error it is judged as it is, too, since rolled up they are none.
    """
    units = dict.fromkeys((None, *plan.units) if plan.profile.policy.duplicates == "error" else plan.units)
    collectors: list[RunCollector] = []
    evidence: dict[str | None, Evidence] = {}
    for unit in units:
        collector, evidence[unit] = judge_run(
            qrels,
            source,
            plan,
            None if collectors else sketcher,
            unit=unit,
            require_overlap=require_overlap,
            threads=threads,
        )
        collectors.append(collector)
    return collectors[0], evidence


def judge_run(
    qrels: Qrels,
    source: RunSource,
    plan: Plan,
    sketcher: IdSketcher | None = None,
    *,
    unit: str | None = None,
    top: TopCollector | None = None,
    require_overlap: bool = True,
    threads: int | None = None,
) -> tuple[RunCollector, Evidence]:
    """
    Read a run and judge it; the collector says which queries were evaluated, and *top* gets their first results.

    It is read in as many parts as there are *threads*; None for as many as the machine has processors for. Its ids and
    those of the judgments are rolled up to a *unit* first, if there is one.
    """
    profile = plan.profile
    if unit is not None:
        rule = unit_rule(unit)
        excluded = profile.policy.excluded
        profile, qrels = rule.profile(profile), excluded_judgments(rolled_judgments(qrels, rule), excluded)
        source = excluded_run(rolled_run(source, rule), excluded)
    judged = RunCollector(qrels, profile, sketcher)
    if isinstance(source, MappingRun):
        judge_mapping(source.rankings, judged, source.refused)
        if top is not None:
            for batch in source.grouped():
                top.add(batch)
    else:
        try:
            work_on_parts(source.parts(threads or thread_count()), lambda _: BatchJudge(judged, top).add)
        except ScatteredError:
            logger("engine").info("the lines of a query are not together in %s; grouping them first", source.name)
            judged = RunCollector(qrels, profile, sketcher)
            if top is not None:
                top.clear()
            work_on_parts([source.grouped()], lambda _: BatchJudge(judged, top).add)
    evidence = judged.finish(source.name or "the run", require_overlap=require_overlap)
    if plan.needs & {"ids", "scores"}:
        names = [qrels.query_names[place] for place in judged.places.tolist()]
        shown = _shown(evidence.judged, qrels, source, plan.needs, profile, names)
        evidence = replace(evidence, judged=shown)
    return judged, evidence


def _shown(
    judged: Judged, qrels: Qrels, source: RunSource, needs: frozenset[Need], profile: Profile, names: Sequence[str]
) -> Judged:
    """Return judged queries with what metrics see of them: their rankings are read again whole, judged or not."""
    samples = read_queries(qrels, source, set(names))[0]
    ordered = [samples[name] for name in names]
    keeper = Keeper(Keep(needs=needs), profile)
    keeper.add(ordered, prepare(ordered, profile, by="id"), judged="retrieved")
    return keeper.shown_in(judged)
