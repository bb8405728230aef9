"""
Rereading: the data of a result read once more for a report, which gives ranked lists, questions and other metrics.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import numpy as np

from rankgauge.columns import Ints, Qrels
from rankgauge.engine.explaining import SAME, changed
from rankgauge.engine.reopen import (
    check_definitions,
    evaluation_of,
    is_of_run,
    job_of,
    lost_sample,
    plan_of,
    run_evaluation_of,
)
from rankgauge.engine.runs import RunOrigin, judge_run, judge_units, plan_run
from rankgauge.errors import PlanError, SampleRefusedError
from rankgauge.explain.explanation import question
from rankgauge.features.html.ranked_lists import (
    Check,
    Items,
    ResultLists,
    WholeSamples,
    lists_of_batch,
    lists_of_samples,
    within_cutoff,
)
from rankgauge.judging import Evidence, RunCollector
from rankgauge.judging.filtered import narrowed
from rankgauge.judging.top import Top, TopCollector, read_queries
from rankgauge.planning.plan import Plan
from rankgauge.result import MetricSummary, Result
from rankgauge.samples import Output, Sample
from rankgauge.scoring.collect import Collector
from rankgauge.scoring.dropped import drops
from rankgauge.scoring.score import JudgedBatch, MetricScores, missing_queries

__all__ = ["TOP", "Reread", "Within", "reread"]

TOP = 20
"""So many results of each ranking are kept."""

_AT_ONCE = 256

_TRACED = 2_000
"""Of so many queries of a run it is said what the policy dropped, since all of their results are in memory for it."""

_PARTLY = f"what the policy drops is shown for the first {_TRACED:,} samples that lack a relevant document"


class Within(NamedTuple):
    """Samples of which the relevant items within the cutoffs of columns are wanted, whether listed or not."""

    columns: Sequence[str]
    numbers: Mapping[str, int]  # by sample id


@dataclass(frozen=True, slots=True)
class Reread:
    """What the data of a result say, read again."""

    sample_ids: Sequence[str]
    lists: ResultLists  # of the samples that were wanted
    inputs: Mapping[str, str] = field(default_factory=dict)  # their questions; empty for a run
    others: Mapping[str, Sequence[MetricSummary]] = field(default_factory=dict)  # by group, but for impossible ones
    tells_stages: bool = False  # whether any output says what each stage of its pipeline retrieved
    within: Mapping[str, Ints] = field(default_factory=dict)  # what `within_cutoff` says of what was asked for
    notes: Sequence[str] = ()  # what the lists do not say


def reread(
    result: Result,
    wanted: Sequence[str] | None,
    others: Mapping[str, Sequence[str]],
    within: Within | None = None,
) -> Reread:
    """
    Read the data of a result once; keep the lists of *wanted* samples, or of all, and compute groups of *others*.

    What is *within* a cutoff is kept of samples without a list, too: as numbers, which many samples have room for.
    """
    read = _of_run if is_of_run(result) else _of_samples
    return read(result, wanted, others, within)


def _of_run(
    result: Result, wanted: Sequence[str] | None, others: Mapping[str, Sequence[str]], within: Within | None
) -> Reread:
    evaluation = run_evaluation_of(result)
    plan, qrels, run = evaluation.plan, evaluation.qrels, evaluation.run
    check_definitions(plan, result)
    check = _check(result)
    besides = _Others(others, lambda metrics: plan_run(metrics, profile=plan.profile, catalog=plan.catalog))
    order = result.sample_ids if wanted is None else wanted
    judged: _Judged | None = None
    if plan.units == (None,):
        known = qrels.query_names
        kept = None if wanted is None else np.fromiter(map(set(wanted).__contains__, known), np.bool_, len(known))
        top = TopCollector(qrels, plan.profile.policy, TOP, wanted=kept)
        collector, evidence = judge_run(qrels, run, plan, top=top)
        judged = _Judged.of(qrels, plan, collector, {None: evidence})
        lists = _lists_of_run(result, judged, order, top.finish(), check, partial(_first_whole, evaluation))
    else:  # rolled up in several ways, or in one: the queries are judged one by one for each
        lists = lists_of_samples(plan, result.metrics, _whole(evaluation, order), check, top=TOP)
    if besides.collector is not None:
        other = besides.collector.plan
        again = judged or _Judged.of(qrels, other, *judge_units(qrels, run, other))
        besides.collector.add_run(again.names, again.evidence, again.missing)
    inside: dict[str, Ints] = {}
    if within is not None:
        again = judged or _Judged.of(qrels, plan, *judge_units(qrels, run, plan))
        sample_ids, batch, _ = again.chosen(within.numbers)
        nothing = Items(np.zeros(len(sample_ids) + 1, dtype=np.int64), [])
        columns = {name: result.metrics[name] for name in within.columns}
        inside = within_cutoff(lists_of_batch(plan, columns, sample_ids, batch, nothing, (), check), within.numbers)
    notes = [_PARTLY] if judged and drops(plan.profile.policy) and len(order) > _TRACED else []
    return Reread(
        judged.names if judged else result.sample_ids, lists, others=besides.columns(), within=inside, notes=notes
    )


class _Judged(NamedTuple):
    """A run that was judged again by some plan."""

    qrels: Qrels
    plan: Plan
    names: Sequence[str]  # of its queries
    places: Ints  # theirs in the judgments
    missing: Ints
    evidence: Mapping[str | None, Evidence]  # by unit

    @classmethod
    def of(cls, qrels: Qrels, plan: Plan, collector: RunCollector, evidence: Mapping[str | None, Evidence]) -> _Judged:
        """Return what a collector has judged."""
        names = [qrels.query_names[place] for place in collector.places.tolist()]
        return cls(qrels, plan, names, collector.places, collector.missing, evidence)

    def chosen(self, wanted: Iterable[str]) -> tuple[list[str], JudgedBatch, Ints]:
        """Return those of the wanted queries that there are, judged, and their numbers."""
        numbers = {name: number for number, name in enumerate(self.names)}
        names = [name for name in wanted if name in numbers]
        chosen = np.array([numbers[name] for name in names], dtype=np.int64)
        missing = set(self.missing.tolist())
        flawed = missing_queries(place for place, number in enumerate(chosen.tolist()) if number in missing)
        is_all = np.array_equal(chosen, np.arange(len(self.names)))
        kept = {
            unit: judged if is_all else dataclasses.replace(judged, judged=judged.judged.take(chosen))
            for unit, judged in self.evidence.items()
        }
        evidence = {target: kept[target.unit] for target in self.plan.targets}
        return names, JudgedBatch(evidence, flawed, [None] * len(chosen)), chosen


def _whole(evaluation: RunOrigin, wanted: Sequence[str]) -> list[Sample]:
    """Return those of the wanted queries that there are, with all that the run has for them."""
    samples, _ = read_queries(evaluation.qrels, evaluation.given, set(wanted))
    policy = evaluation.plan.profile.policy
    return [narrowed(samples[name], policy) for name in wanted if name in samples]


def _first_whole(evaluation: RunOrigin, wanted: Sequence[str]) -> list[Sample]:
    return _whole(evaluation, wanted[:_TRACED])


def _lists_of_run(
    result: Result, run: _Judged, wanted: Iterable[str], top: Top, check: Check, whole: WholeSamples
) -> ResultLists:
    """Return the lists of some queries of a run whose ids are judged as they are."""
    qrels = run.qrels
    names, batch, chosen = run.chosen(wanted)
    places = run.places[chosen]
    judged = next(iter(batch.evidence.values())).judged
    first_gold = np.cumsum(qrels.lengths) - qrels.lengths
    gold_rows = first_gold[places][judged.gold.sample] + judged.gold.rank - 1
    gold = [qrels.names[row] for row in gold_rows.tolist()]
    if run.plan.profile.policy.judged_only:
        is_listed = judged.rows.rank <= TOP
        ids = [gold[row] for row in judged.rows.gold[is_listed].tolist()]
        items = Items(np.searchsorted(judged.rows.sample[is_listed], np.arange(len(chosen) + 1)), ids)
    else:
        items = _items(top, places, qrels.n_queries)
    return lists_of_batch(run.plan, result.metrics, names, batch, items, gold, check, whole)


def _items(top: Top, places: Ints, n_queries: int) -> Items:
    """Return the first results of some queries, in the order of their *places* in the judgments."""
    number = np.full(n_queries, -1, dtype=np.int64)
    number[places] = np.arange(len(places))
    sample = number[top.places]
    kept = np.flatnonzero(sample >= 0)
    kept = kept[np.argsort(sample[kept], kind="stable")]
    ids = top.documents.at(kept).strings()
    return Items(np.searchsorted(sample[kept], np.arange(len(places) + 1)), ids)


def _of_samples(
    result: Result, wanted: Sequence[str] | None, others: Mapping[str, Sequence[str]], within: Within | None
) -> Reread:
    evaluation = evaluation_of(result)
    result = result.with_columns(column.repeat(1) for column in result.metrics.values())
    plan = plan_of(evaluation, result)
    there = {column.name for column in plan.metrics}
    result = result.with_columns(column for column in result.metrics.values() if column.name in there)
    besides = _Others(others, lambda metrics: evaluation.with_metrics(metrics).plan())
    job = job_of(result, evaluation, plan)
    known, check = set(result.sample_ids), _check(result)
    of_interest = known if wanted is None else set(wanted)
    samples: dict[str, Sample] = {}
    read: list[str] = []
    held: list[dict[str, Ints]] = []
    tells_stages = False
    for batch in job.batches(_AT_ONCE):
        of_result = [sample for sample in batch if sample.id in known]
        samples |= {sample.id: sample for sample in of_result if sample.id in of_interest}
        if besides.collector is not None:
            besides.collector.add(of_result)
        if within is not None and (inside := [sample for sample in of_result if sample.id in within.numbers]):
            columns = {name: result.metrics[name] for name in within.columns}
            lists = lists_of_samples(plan, columns, inside, check, top=0)
            held.append(within_cutoff(lists, within.numbers))
        read += [sample.id for sample in of_result]
        tells_stages = tells_stages or any(
            isinstance(sample.output, Output) and sample.output.stages is not None for sample in of_result
        )
    order = [sample_id for sample_id in (result.sample_ids if wanted is None else wanted) if sample_id in known]
    if lost := [sample_id for sample_id in order if sample_id not in samples]:
        raise lost_sample(lost[0], evaluation)
    chosen = [samples[sample_id] for sample_id in order]
    return Reread(
        read,
        lists_of_samples(plan, result.metrics, chosen, check, top=TOP),
        {sample.id: question(sample.input) for sample in chosen if sample.input is not None},
        besides.columns(),
        tells_stages,
        {name: np.concatenate([part[name] for part in held]) for name in (held[0] if held else ())},
    )


class _Others:
    """Other metrics, in groups, which are computed together if they can be planned."""

    def __init__(self, groups: Mapping[str, Sequence[str]], make: Callable[[list[str]], Plan]) -> None:
        self._sizes: dict[str, int] = {}
        wanted: list[str] = []
        for name, metrics in groups.items():
            with contextlib.suppress(PlanError):
                make(list(metrics))
                self._sizes[name] = len(metrics)
                wanted += metrics
        self.collector = Collector(make(wanted)) if wanted else None

    def columns(self) -> dict[str, list[MetricSummary]]:
        """Return the columns of each group; none if the policy refuses a sample."""
        if self.collector is None:
            return {}
        try:
            scored = self.collector.finish(require_gold=False).metrics
        except SampleRefusedError:
            return {}
        rest = iter(scored)
        return {
            name: [MetricSummary.of(column) for column in itertools.islice(rest, size)]
            for name, size in self._sizes.items()
        }


def _check(result: Result) -> Check:
    """Return what refuses data that give other scores than those of a result."""
    places = {sample_id: place for place, sample_id in enumerate(result.sample_ids)}

    def check(column: MetricSummary, scores: MetricScores, sample_ids: Sequence[str]) -> None:
        saved = column.values[[places[sample_id] for sample_id in sample_ids]]
        now = scores.outcome.values
        if len(differ := np.flatnonzero(~np.isclose(now, saved, rtol=SAME, atol=SAME, equal_nan=True))):
            place = int(differ[0])
            raise changed(column.name, sample_ids[place], float(now[place]), float(saved[place]))

    return check
