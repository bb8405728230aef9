"""
Rereading: the data of a result read once more for a report, which gives ranked lists, questions and other metrics.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from rankgauge.columns import Ints, Qrels
from rankgauge.engine.explaining import SAME, changed
from rankgauge.engine.reopen import check_definitions, evaluation_of, is_of_run, job_of, lost_sample, run_evaluation_of
from rankgauge.engine.runs import RunEvaluation, judge_run, judge_units, plan_run
from rankgauge.errors import PlanError, SampleRefusedError
from rankgauge.explain.explanation import question
from rankgauge.explain.ranked_lists import (
    Check,
    Items,
    ResultLists,
    lists_of_batch,
    lists_of_samples,
    within_cutoff,
)
from rankgauge.judging import Evidence, RunCollector
from rankgauge.judging.top import Top, TopCollector, read_queries
from rankgauge.planning.plan import Plan
from rankgauge.result import MetricSummary, ResultValues
from rankgauge.samples import Output, Sample
from rankgauge.scoring.collect import Collector
from rankgauge.scoring.score import JudgedBatch, MetricScores, missing_queries

__all__ = ["TOP", "Reread", "Within", "reread"]

TOP = 20
"""So many results of each ranking are kept."""

_AT_ONCE = 256


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


def reread(
    result: ResultValues,
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
    result: ResultValues,
    wanted: Sequence[str] | None,
    others: Mapping[str, Sequence[str]],
    within: Within | None,
) -> Reread:
    evaluation = run_evaluation_of(result)
    plan, qrels = evaluation.plan, evaluation.qrels
    check_definitions(plan, result)
    if plan.units != (None,):
        return _of_units(result, evaluation, wanted, others, within)
    kept = None
    if wanted is not None:
        of_interest = set(wanted)
        kept = np.fromiter((name in of_interest for name in qrels.query_names), np.bool_, qrels.n_queries)
    top = TopCollector(qrels, plan.profile.policy, TOP, wanted=kept)
    run, evidence = judge_run(qrels, evaluation.run, plan, top=top)
    names = [qrels.query_names[place] for place in run.places.tolist()]
    besides = _others_of_run(evaluation, others)
    if besides.collector is not None:
        besides.collector.add_run(names, {None: evidence}, run.missing)
    check = _check(result)
    sample_ids, chosen = _places(names, result.sample_ids if wanted is None else wanted)
    batch = _chosen(plan, run, {None: evidence}, chosen)
    judged = next(iter(batch.evidence.values())).judged
    first_gold = np.cumsum(qrels.lengths) - qrels.lengths
    gold_rows = first_gold[run.places[chosen]][judged.gold.sample] + judged.gold.rank - 1
    gold = [qrels.names[row] for row in gold_rows.tolist()]
    items = _items(qrels, top.finish(), run.places[chosen])
    if plan.profile.policy.judged_only:
        is_listed = judged.rows.rank <= TOP
        names_within = [gold[row] for row in judged.rows.gold[is_listed].tolist()]
        items = Items(np.searchsorted(judged.rows.sample[is_listed], np.arange(len(chosen) + 1)), names_within)
    lists = lists_of_batch(
        plan,
        result.metrics,
        sample_ids,
        batch,
        dict.fromkeys(batch.evidence, items),
        dict.fromkeys(batch.evidence, gold),
        check,
    )
    held = {} if within is None else _within_run(plan, result, run, {None: evidence}, names, within, check)
    return Reread(names, lists, others=besides.columns(), within=held)


def _of_units(
    result: ResultValues,
    evaluation: RunEvaluation,
    wanted: Sequence[str] | None,
    others: Mapping[str, Sequence[str]],
    within: Within | None,
) -> Reread:
    """Read a run whose ids are rolled up in several ways, or in one: its queries are judged one by one for each."""
    order = list(result.sample_ids if wanted is None else wanted)
    samples, _ = read_queries(evaluation.qrels, evaluation.run, set(order))
    chosen = [samples[name] for name in order if name in samples]
    check = _check(result)
    lists = lists_of_samples(evaluation.plan, result.metrics, chosen, check, top=TOP)
    besides = _others_of_run(evaluation, others)
    if besides.collector is not None:
        judged, evidence = judge_units(evaluation.qrels, evaluation.run, besides.collector.plan)
        names = [evaluation.qrels.query_names[place] for place in judged.places.tolist()]
        besides.collector.add_run(names, evidence, judged.missing)
    held = {}
    if within is not None:
        judged, evidence = judge_units(evaluation.qrels, evaluation.run, evaluation.plan)
        names = [evaluation.qrels.query_names[place] for place in judged.places.tolist()]
        held = _within_run(evaluation.plan, result, judged, evidence, names, within, check)
    return Reread(result.sample_ids, lists, others=besides.columns(), within=held)


def _within_run(
    plan: Plan,
    result: ResultValues,
    run: RunCollector,
    evidence: Mapping[str | None, Evidence],
    names: Sequence[str],
    within: Within,
    check: Check,
) -> dict[str, Ints]:
    """Return what is within the cutoffs of columns, of some queries of a judged run."""
    sample_ids, chosen = _places(names, within.numbers)
    batch = _chosen(plan, run, evidence, chosen)
    nothing = Items(np.zeros(len(chosen) + 1, dtype=np.int64), [])
    columns = {name: result.metrics[name] for name in within.columns}
    items, gold = dict.fromkeys(batch.evidence, nothing), dict.fromkeys(batch.evidence, ())
    return within_cutoff(lists_of_batch(plan, columns, sample_ids, batch, items, gold, check), within.numbers)


def _places(names: Sequence[str], wanted: Iterable[str]) -> tuple[list[str], Ints]:
    """Return those of the wanted names that there are, and their places."""
    numbers = {name: number for number, name in enumerate(names)}
    kept = [name for name in wanted if name in numbers]
    return kept, np.array([numbers[name] for name in kept], dtype=np.int64)


def _others_of_run(evaluation: RunEvaluation, others: Mapping[str, Sequence[str]]) -> _Others:
    plan = evaluation.plan
    return _Others(others, lambda metrics: plan_run(metrics, profile=plan.profile, catalog=plan.catalog))


def _chosen(plan: Plan, run: RunCollector, evidence: Mapping[str | None, Evidence], chosen: Ints) -> JudgedBatch:
    """Return some queries of a run that was judged by unit, as a batch."""
    missing = set(run.missing.tolist())
    flawed = missing_queries(place for place, number in enumerate(chosen.tolist()) if number in missing)
    kept = {
        unit: judged
        if np.array_equal(chosen, np.arange(judged.judged.n))
        else dataclasses.replace(judged, judged=judged.judged.take(chosen))
        for unit, judged in evidence.items()
    }
    return JudgedBatch({target: kept[target.unit] for target in plan.targets}, flawed, [None] * len(chosen))


def _items(qrels: Qrels, top: Top, places: Ints) -> Items:
    """Return the first results of some queries, in the order of *places*."""
    number = np.full(qrels.n_queries, -1, dtype=np.int64)
    number[places] = np.arange(len(places))
    sample = number[top.places]
    kept = np.flatnonzero(sample >= 0)
    kept = kept[np.argsort(sample[kept], kind="stable")]
    ids = top.documents.at(kept).strings()
    return Items(np.searchsorted(sample[kept], np.arange(len(places) + 1)), ids)


def _of_samples(
    result: ResultValues,
    wanted: Sequence[str] | None,
    others: Mapping[str, Sequence[str]],
    within: Within | None,
) -> Reread:
    evaluation = evaluation_of(result)
    result = result.with_columns(column.repeat(1) for column in result.metrics.values())
    plan = evaluation.plan()
    check_definitions(plan, result)
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
    """Other metrics, in groups, which are computed together where they can be planned."""

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
        """Return the columns of each group; none where the policy refuses a sample."""
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


def _check(result: ResultValues) -> Check:
    """Return what refuses data that give other scores than those of a result."""
    places = {sample_id: place for place, sample_id in enumerate(result.sample_ids)}

    def check(column: MetricSummary, scores: MetricScores, sample_ids: Sequence[str]) -> None:
        saved = column.values[[places[sample_id] for sample_id in sample_ids]]
        now = scores.outcome.values
        if len(differ := np.flatnonzero(~np.isclose(now, saved, rtol=SAME, atol=SAME, equal_nan=True))):
            place = int(differ[0])
            raise changed(column.name, sample_ids[place], float(now[place]), float(saved[place]))

    return check
