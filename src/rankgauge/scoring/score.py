"""Scoring a judged batch: values with a status each, and a reason wherever there is no value."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankgauge.base.frozen import read_only
from rankgauge.base.guard import ForeignError, guarded
from rankgauge.columns import Cutoff, Flags, Judged, Scores, unmasked, unmasked_flags
from rankgauge.judging import Evidence, Target
from rankgauge.planning.cutoffs import CutSource
from rankgauge.planning.plan import Plan
from rankgauge.planning.resolve import PlannedMetric
from rankgauge.plugin.metric import POOLED, Metric
from rankgauge.policy import Policy
from rankgauge.samples import OF_SOME, Sample
from rankgauge.scoring.flaws import (
    FAILED,
    MISSING,
    NO_VALUE,
    SCORED,
    STATUSES,
    UNDEFINED,
    Flaw,
    flaws,
    metric_fault,
    missing_queries,
    nothing_to_compare,
)

__all__ = [
    "FAILED",
    "LARGEST",
    "MISSING",
    "SCORED",
    "STATUSES",
    "UNDEFINED",
    "Flaw",
    "JudgedBatch",
    "MetricScores",
    "Outcome",
    "all_scored",
    "cut_for",
    "cutoff_at",
    "cutoffs_of",
    "flaws",
    "judged_for",
    "lacks_worst",
    "missing_queries",
    "score_metric",
    "worst_value",
]

LARGEST = 1e100
"""How far from 0 a score can be: sums and squares of larger ones overflow."""


class Outcome(NamedTuple):
    """The scores of one metric."""

    values: Scores  # what counts in aggregates, NaN if nothing does; shape (n,)
    status: NDArray[np.uint8]  # a code into `STATUSES` for each sample; shape (n,)
    reasons: dict[int, str]  # why a sample that is not `scored` has no score, by its place
    rankings: tuple[tuple[str, ...], ...] | None = None  # the ids of each sample, cut, for a metric of whole runs
    repeats: Scores | None = None  # the scores of each call, if a system was called repeatedly; shape (n, repeats)
    denominators: Scores | None = None  # what each score is a share of, for a pooled mean; shape (n,)

    def marked(self) -> Outcome:
        """Return the same scores, whose arrays are read-only from now on."""
        self.values.setflags(write=False)
        self.status.setflags(write=False)
        if self.denominators is not None:
            self.denominators.setflags(write=False)
        return self


@functools.lru_cache(maxsize=256)
def all_scored(n: int) -> NDArray[np.uint8]:
    """Return the status of samples that all are scored, to be read only, in the memory of a single one."""
    return read_only(np.ndarray((n,), dtype=np.uint8, buffer=np.uint8(SCORED), strides=(0,)))


@dataclass(slots=True)
class JudgedBatch:
    """A judged batch: what is needed to score it."""

    evidence: Mapping[Target, Evidence] = field(default_factory=dict)
    flawed: dict[int, Flaw] = field(default_factory=dict)  # samples that no metric can score, by place
    ks: list[int | None] = field(default_factory=list)  # the cutoff that each sample brings along, if any
    samples: list[Sample] = field(default_factory=list)  # if details need them
    # what metrics said of it, by column, if that is known already and nothing else is asked of its rows
    scores: dict[str, MetricScores] = field(default_factory=dict)


class MetricScores(NamedTuple):
    """One metric on one judged batch."""

    metric: PlannedMetric
    target: Target
    outcome: Outcome
    k: Cutoff | None  # for all samples, or one for each; under a budget it may be 0
    k_sources: dict[CutSource, int]  # how many samples took their cutoff from where
    extra: Mapping[str, float]  # further parameters, inferred from the data


def score_metric(
    plan: Plan, metric: PlannedMetric, target: Target, batch: JudgedBatch, extra: Mapping[str, float]
) -> MetricScores:
    """Score one metric on one judged batch; *extra* are further parameters, inferred from the data."""
    budget = metric.cut.budget
    k: Cutoff | None
    if budget is None:
        k, sources = metric.cut.resolve(batch.ks, plan.default_k)
    else:
        k, sources = batch.evidence[target].kept.fits[budget].ranks, {"budget": len(batch.ks)}
    if isinstance(k, np.ndarray):
        read_only(k)  # plugins are given it
    outcome = _outcome(metric, target, batch, k, plan.profile.policy, extra)
    return MetricScores(metric, target, outcome, k, sources, extra)


def _outcome(
    column: PlannedMetric,
    target: Target,
    batch: JudgedBatch,
    k: Cutoff | None,
    policy: Policy,
    extra: Mapping[str, float],
) -> Outcome:
    """Return a value or a reason for each sample."""
    evidence, metric = batch.evidence[target], column.metric
    flawed = _seen_flaws(batch.flawed, target)
    without_gold = evidence.without_gold if metric.needs_gold else ()
    if metric.is_whole:
        unfit = {} if column.cut.budget is None else evidence.kept.fits[column.cut.budget].faults
        return _whole(evidence, flawed, k, unfit)
    judged = judged_for(column, evidence)
    params = {**column.params, **extra}
    values, failures, are_usual = _call(column, *cut_for(column, judged, k), params)
    shares, faults = _denominators(column, *cut_for(column, judged, k), params)
    failures |= faults
    if column.cut.budget is not None:
        failures |= evidence.kept.fits[column.cut.budget].faults
    if evidence.kept.lacks:
        failures |= _lacking(column, evidence, k)
    if failures:
        values[list(failures)] = np.nan
    suspects = failures or without_gold or evidence.faults or evidence.blanks or flawed
    if are_usual and not suspects:
        return Outcome(values, all_scored(judged.n), {}, denominators=shares)  # the usual case
    failures |= _textless(column, target, evidence, values, k)
    defined, undecided = _defined(column, judged)
    defined[list(without_gold)] = False  # a tuple would be a place of its own
    valueless = np.isnan(values)
    undefined = np.flatnonzero(~defined & valueless).tolist()
    unanswerable = _flawed(flawed, UNDEFINED)
    judgeable = defined | ~valueless  # also if `defined` says otherwise, the metric has a value for this gold
    judgeable[list(without_gold)] = False
    # where what is undefined has a value, a sample without output is missing, whatever its ground truth
    leaves_out = (column.overrides.missing or policy.missing_output) == "exclude"
    has_value = column.overrides.undefined is not None or policy.no_gold == "one"
    among = None if has_value or (leaves_out and policy.no_gold == "zero") else judgeable
    status, reasons = _decided(
        judged.n,
        (UNDEFINED, unanswerable),
        (MISSING, _flawed(flawed, MISSING, among)),
        (FAILED, _flawed(flawed, FAILED, among)),
        (FAILED, evidence.faults),
        (
            UNDEFINED,
            dict.fromkeys(without_gold, f"the sample has no ground truth of the kind {target.wanted!r}"),
        ),
        (UNDEFINED, dict.fromkeys(undefined, metric.judging.undefined)),
        (FAILED, failures),
        (FAILED, undecided),
        (UNDEFINED, dict.fromkeys(np.flatnonzero(valueless).tolist(), NO_VALUE)),
    )
    gainless = np.bincount(judged.gold.sample[judged.gold.grade > 0], minlength=judged.n) == 0
    # what has no results is worth the worst at most
    empty = gainless if policy.no_gold == "one" else gainless | (judged.depth == 0)
    lacking = {*undefined, *without_gold, *np.flatnonzero(empty).tolist()} - unanswerable.keys()
    if target.kind.of_some:
        values[status != 0] = np.nan  # neither what is missing nor what has none of it did anything wrong
    else:
        lacking = lacking if column.overrides.undefined is None else set(range(judged.n)) - unanswerable.keys()
        _count(column, values, status, [place for place in lacking if status[place] == UNDEFINED], policy)
    return Outcome(values, status, reasons, denominators=shares)


def _seen_flaws(flawed: Mapping[int, Flaw], target: Target) -> dict[int, Flaw]:
    """Return the flaws that metrics of a target see."""
    seen = ((place, flaw.seen_by(target.gold)) for place, flaw in flawed.items())
    return {place: flaw for place, flaw in seen if flaw is not None}


def _decided(n: int, *rules: tuple[int, Mapping[int, str]]) -> tuple[NDArray[np.uint8], dict[int, str]]:
    """Return the status of each sample, and its reason if it has one: by the first rule that names it."""
    status = np.zeros(n, dtype=np.uint8)  # SCORED
    reasons: dict[int, str] = {}
    for code, named in reversed(rules):  # so that earlier ones replace later ones
        status[list(named)] = code
        reasons |= named
    return status, dict(sorted(reasons.items()))


def _flawed(flawed: Mapping[int, Flaw], status: int, among: Flags | None = None) -> dict[int, str]:
    """Return why samples have a flaw with this status, all of them or *among* some."""
    return {
        place: flaw.reason
        for place, flaw in flawed.items()
        if flaw.status == status and (among is None or among[place])
    }


def _whole(evidence: Evidence, flawed: Mapping[int, Flaw], k: Cutoff | None, failures: Mapping[int, str]) -> Outcome:
    """Return what each sample of a batch gives to a metric of whole runs, which needs no ground truth."""
    n = evidence.judged.n
    flaws_by_status = [(code, _flawed(flawed, code)) for code in (UNDEFINED, MISSING, FAILED)]
    status, reasons = _decided(n, *flaws_by_status, (FAILED, evidence.faults), (FAILED, failures))
    cutoffs = cutoffs_of(n, k)
    rankings = tuple(
        tuple(name for name in seen.ids[:cutoff] if name is not None)
        for seen, cutoff in zip(evidence.judged.shown or (), cutoffs, strict=True)
    )
    return Outcome(np.full(n, np.nan), status, reasons, rankings)


def judged_for(column: PlannedMetric, evidence: Evidence) -> Judged:
    """Return the judged columns as the metric is to see them."""
    judged = evidence.judged
    if judged.low is not None and not column.overrides.averages_ties:
        judged = replace(judged, low=None, high=None)
    if column.overrides.score_above is not None:
        judged = judged.scored_above(column.overrides.score_above)
    if judged.cover is not None and "cover" not in column.metric.judging.needs:
        judged = replace(judged, cover=None)
    if judged.shown is not None:  # no metric sees what another one asked for
        needs = column.metric.judging.needs
        judged = replace(judged, shown=[seen.only(needs) for seen in judged.shown] if needs else None)
    if column.rel is None:
        return judged
    judged = judged.at_least(column.rel)
    return judged.binary() if column.metric.judging.uses_rel == "binary" else judged


def cut_for(column: PlannedMetric, judged: Judged, k: Cutoff | None) -> tuple[Judged, Cutoff | None]:
    """Return the columns and the cutoff of a call; a sample into whose budget nothing fits has an empty ranking."""
    if column.cut.budget is None or k is None or isinstance(k, int):
        return judged, k
    return judged.within(k), np.maximum(k, 1)


def _defined(column: PlannedMetric, judged: Judged) -> tuple[Flags, dict[int, str]]:
    """Return which samples' ground truth allows a score; if the metric cannot say, it fails for all."""
    judging = column.metric.judging
    if judging.defined is None:
        return judged.n_gold() > 0 if judging.gold else np.ones(judged.n, dtype=bool), {}
    try:
        with guarded():
            flags = unmasked_flags(judging.defined(judged))
            if flags.shape != (judged.n,):
                raise _ShapeError(f"it returned the shape {flags.shape} where ({judged.n},) is needed")
            return flags, {}
    except ForeignError as error:
        reason = metric_fault(column.name, f"{column.provider}, its `defined`", error)
        return np.ones(judged.n, dtype=bool), dict.fromkeys(range(judged.n), reason)


def _textless(
    column: PlannedMetric, target: Target, evidence: Evidence, values: Scores, k: Cutoff | None
) -> dict[int, str]:
    """Return which samples lack an id, a text or a place where it could still change the score."""
    if target.identity == "id" and not column.metric.needs_gold:
        return {}  # it looks at no id
    ends, is_rising = column.metric.range, column.metric.higher_is_better
    best, sign = ends[1 if is_rising else 0], 1 if is_rising else -1
    return {
        place: nothing_to_compare(target, rank)
        for place, rank in evidence.blanks.items()
        if rank <= cutoff_at(place, k) and (best is None or not sign * values[place] >= sign * best)
    }


def _lacking(column: PlannedMetric, evidence: Evidence, k: Cutoff | None) -> dict[int, str]:
    """Return which samples lack what the metric asked to see, within the cutoff."""
    lacking: dict[int, str] = {}
    for place, lacks in evidence.kept.lacks.items():
        cutoff = cutoff_at(place, k)
        for lack in lacks:
            if lack.need in column.needs and (lack.rank is None or lack.rank <= cutoff):
                lacking[place] = f"metric {column.name!r} {lack.reason}"
                break
    return lacking


def cutoffs_of(n: int, k: Cutoff | None) -> list[int | None]:
    """Return the cutoff of each of *n* samples."""
    cutoffs: list[int | None] = np.full(n, k, dtype=object).tolist()
    return cutoffs


def cutoff_at(place: int, k: Cutoff | None) -> float:
    """Return how many results of a sample count."""
    return np.inf if k is None else k if isinstance(k, int) else int(k[place])


def worst_value(metric: Metric) -> float:
    """Return what a sample counts as that has no value: the worst one in range, NaN if 0 could be a good one."""
    worst = metric.range[0 if metric.higher_is_better else 1]
    if worst is not None:
        return worst
    best = metric.range[1]
    return 0.0 if metric.higher_is_better and (best is None or best > 0) else np.nan


def lacks_worst(metric: Metric, gold: str) -> bool:
    """Return whether the mean cannot take missing and failed samples in: nothing is the worst that they could count as.

    Metrics that describe, and those of some samples only, have rules of their own.
    """
    is_open = metric.range[0 if metric.higher_is_better else 1] is None
    return is_open and not metric.describes and gold not in OF_SOME and not metric.is_whole


def best_value(metric: Metric) -> float:
    """Return the best value in the range of a metric; NaN if it has none."""
    best = metric.range[1 if metric.higher_is_better else 0]
    return np.nan if best is None else best


def _count(
    column: PlannedMetric, values: Scores, status: NDArray[np.uint8], lacking: Sequence[int], policy: Policy
) -> None:
    """Set what counts without a score: the worst; if a metric describes, what an empty ranking has.

    *lacking* are undefined samples that count: those without ground truth or without results, or all of them.
    """
    metric, worst = column.metric, worst_value(column.metric)
    for code, rule in ((MISSING, column.overrides.missing or policy.missing_output), (FAILED, policy.failed_output)):
        places = status == code
        if rule != "zero":
            values[places] = np.nan
        elif metric.describes:  # it has no worse or better, so what an empty ranking scores, or else nothing
            values[places & np.isnan(values)] = 0.0
        else:  # whatever the metric would say of an empty ranking, such as 1 if nothing is relevant
            values[places] = worst
    values[status == UNDEFINED] = np.nan
    if column.overrides.undefined is not None:
        values[lacking] = column.overrides.undefined
    elif policy.no_gold == "zero":
        values[lacking] = worst
    elif policy.no_gold == "one":
        values[lacking] = best_value(metric)


class _ShapeError(ValueError):
    """A metric returned something else than one number a sample."""


def _call(
    column: PlannedMetric, judged: Judged, k: Cutoff | None, params: Mapping[str, object]
) -> tuple[Scores, dict[int, str], bool]:
    """
    Call a metric on a batch; when that fails, on each sample alone, so that one cannot spoil the others.

    Return the values, why samples have none, and whether all values are numbers.
    """
    try:
        with guarded():
            values, are_usual = _checked(column, judged, k, params)
            return values, {}, are_usual
    except ForeignError as error:
        wrong_for_all = isinstance(error.__cause__, _ShapeError)  # it fits one sample by chance
        if judged.n == 1 or wrong_for_all:
            reason = metric_fault(column.name, column.provider, error)
            return np.full(judged.n, np.nan), dict.fromkeys(range(judged.n), reason), False
    values = np.full(judged.n, np.nan)
    reasons: dict[int, str] = {}
    for place in range(judged.n):
        one = judged.take([place])
        value, failed, _ = _call(column, one, k if k is None or isinstance(k, int) else k[place : place + 1], params)
        values[place] = value[0]
        if failed:
            reasons[place] = failed[0]
    return values, reasons, False


def _denominators(
    column: PlannedMetric, judged: Judged, k: Cutoff | None, params: Mapping[str, object]
) -> tuple[Scores | None, dict[int, str]]:
    """Return what each score is a share of, for a pooled mean; if the metric cannot say, it fails for all."""
    if column.metric.aggregate != POOLED or column.metric.denominators is None:
        return None, {}
    try:
        with guarded():
            call: Callable[..., object] = column.metric.denominators
            found = unmasked(call(judged, **column.metric.cutoff.given(k), **params)).copy()
            if found.shape != (judged.n,):
                raise _ShapeError(f"it returned the shape {found.shape} where ({judged.n},) is needed")
            if not ((found >= 0) & (found <= LARGEST)).all():
                raise ValueError("it returned what is no number of 0 or more")
            return found, {}
    except ForeignError as error:
        reason = metric_fault(column.name, f"{column.provider}, its `denominators`", error)
        return np.zeros(judged.n), dict.fromkeys(range(judged.n), reason)


def _checked(
    column: PlannedMetric, judged: Judged, k: Cutoff | None, params: Mapping[str, object]
) -> tuple[Scores, bool]:
    over_ties = None if judged.low is None else column.metric.over_ties  # policy ties=average; the plan refused others
    call: Callable[..., object] = over_ties or column.metric.function
    returned = call(judged, **column.metric.cutoff.given(k), **params)
    values = unmasked(returned).copy()
    if values.shape != (judged.n,):
        raise _ShapeError(f"it returned the shape {values.shape} where ({judged.n},) is needed")
    n_usual = np.count_nonzero(np.abs(values) <= LARGEST)  # NaN is not; `all` takes several times as long for few
    if n_usual == judged.n:
        return values, True
    if n_usual + np.count_nonzero(np.isnan(values)) < judged.n:
        is_infinite = bool(np.isinf(values).any())
        raise ValueError("it returned an infinite score" if is_infinite else f"it returned a score beyond {LARGEST:g}")
    return values, False
