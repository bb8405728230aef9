"""
The laws of metrics over whole runs of the engine, and over batches of a function from elsewhere.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, cast

import numpy as np
from hypothesis import strategies as st

from rankgauge.base.guard import ForeignError, guarded
from rankgauge.columns import Judged
from rankgauge.errors import RankgaugeError
from rankgauge.features.testing.drawn_cases import ANCHOR, HUGE, SAMPLES, Case, cases, draw_ranking
from rankgauge.features.testing.foreign_metrics import BatchScores, ForeignMetric
from rankgauge.features.testing.law import book, draw, law, no_network, pickling, unless
from rankgauge.features.testing.metric_subjects import EngineMetric, MetricTrial, UnfitError
from rankgauge.features.testing.ranking_laws import RANKING_LAWS, bounded, empty_gold, huge_cutoff, twice
from rankgauge.features.testing.state_laws import demand_no_trace
from rankgauge.result import Result
from rankgauge.result.summary import MetricSummary

__all__ = ["FOREIGN_LAWS", "METRIC_LAWS", "WHOLE_RUN_LAWS"]

Drawn = Sequence[tuple[Case, int | None]]

_ADVICE = "sum with `judged.sum`, and keep samples apart"
_LACKS_GOLD = unless(
    lambda subject: "answerable" not in subject.scorer.metric.judging.gold,
    "every sample says whether it is answerable, so that none lacks ground truth",
)
_WITHOUT_GOLD = "where such a score is meant, declare `defined=`, or `gold=()` if no ground truth is needed"
_ORDER = st.randoms(use_true_random=False)


def _engine(trial: MetricTrial) -> EngineMetric:
    return cast("EngineMetric", trial.subject.scorer)  # these laws are given to no other


def _samples(trial: MetricTrial, drawn: Drawn, prefix: str = "s") -> list[dict[str, Any]]:
    """Return samples, one of which has gold of every kind, and note them for the report."""
    samples = []
    for number, (case, k) in enumerate([(ANCHOR, None), *drawn]):
        name, cutoff = f"{prefix}{number}", {} if k is None else {"metadata.k": k}
        samples.append(case.sample(name, k))
        trial.note(sample=name, gold=case.gold, retrieved=case.ids, **cutoff)
    return samples


def _agreed(column: MetricSummary, result: Result) -> tuple[object, ...]:
    """Return everything that a metric of two equal results agrees on, values to the last bit."""
    by_sample = [
        (name, column.values[row].tobytes(), column.status(row), column.reasons.get(row))
        for row, name in enumerate(result.sample_ids)
    ]
    return by_sample, column.mean, column.std, column.n, column.k, dict(column.info.k_sources)


def _demand_equal(trial: MetricTrial, one: Result, other: Result, how: str) -> None:
    """Demand that two results agree; the report begins with a sample that does not."""
    for first, second in zip(one.metrics.values(), other.metrics.values(), strict=True):
        if _agreed(first, one) == _agreed(second, other):
            continue
        rows = {name: row for row, name in enumerate(other.sample_ids)}
        for row, name in enumerate(one.sample_ids):
            left, right = first.values[row].item(), second.values[rows[name]].item()
            if left != right and not (math.isnan(left) and math.isnan(right)):
                trial.lead_with(sample=name)
                trial.fail(f"{how}, sample {name} scores {left!r} once and {right!r} the other time; {_ADVICE}")
        trial.fail(f"{how}, status, reason or mean differ: {first.mean!r} and {second.mean!r}")


@law(skip=lambda subject: subject.scorer.unusable, elsewhere=False)
def _usable(trial: MetricTrial) -> None:
    """The engine can resolve the metric, call it and aggregate its scores."""
    _demand_a_plan(trial)
    for case, k in ((ANCHOR, 2), (Case((1.0, 2.0), (1, 0)), 2), (Case((1.0,), (5, 6)), 1)):
        trial.score(case, k)
    _demand_an_aggregate(trial)


@_usable.checked_otherwise(None, _usable.skip)
def _whole_run_usable(trial: MetricTrial) -> None:
    _demand_a_plan(trial)
    _demand_an_aggregate(trial)


def _demand_a_plan(trial: MetricTrial) -> None:
    try:
        with guarded(RankgaugeError):
            _engine(trial).evaluation(1, "default", own_matcher=True).plan()
    except (RankgaugeError, ForeignError) as error:
        trial.fail(str(error))


def _demand_an_aggregate(trial: MetricTrial) -> None:
    """Fail where the aggregate of a plugin does, or the metric itself if it is one of whole runs."""
    (column,) = _engine(trial).run(_samples(trial, [(Case((1.0, 2.0), (1, 0)), 2)])).metrics.values()
    trial.demand(not column.failure, column.failure)


@bounded.checked_otherwise(draw(SAMPLES), bounded.skip, cost=6)
def _whole_run_bounded(trial: MetricTrial, drawn: Drawn) -> None:
    (column,) = _engine(trial).run(_samples(trial, drawn)).metrics.values()
    low, high = trial.subject.range
    value = column.mean
    fits = value is None or ((low is None or value >= low) and (high is None or value <= high))
    trial.demand(fits, f"the value of these samples, {value!r}, is out of the range from {low!r} to {high!r}")


@empty_gold.checked_otherwise(draw_ranking(), skip=_LACKS_GOLD)
def _undefined_without_gold(trial: MetricTrial, case: Case, k: int) -> None:
    empty = Case((), case.distinct)
    trial.note(gold={}, retrieved=empty.ids, k=k)
    (score,) = _engine(trial).evaluation(k, "default").score(empty.sample("s", k)).values()
    if not _engine(trial).metric.needs_gold:
        (judged_too,) = (
            _engine(trial).evaluation(k, "default").score(case.ranked(case.distinct).sample("s", k)).values()
        )
        same = (score.value, score.status) == (judged_too.value, judged_too.status)
        trial.demand(same, f"it declares gold=(), and with ground truth the score is {judged_too.value!r}")
        return
    undefined = (score.value, score.status) == (None, "undefined") and bool(score.reason)
    wrong = f"without ground truth it is {score.status} ({score.value!r}) instead of undefined; {_WITHOUT_GOLD}"
    trial.demand(undefined, wrong)
    for judged in _engine(trial).judged([empty.sample("s", k)], empty=True):
        scores = _engine(trial).call(judged, k)
        defined = _engine(trial).metric.judging.defined
        always = defined is not None and bool(defined(judged).all())  # such as a count, which may be 0
        wrong = f"the function gives {scores.tolist()!r} if nothing is relevant, not NaN; {_WITHOUT_GOLD}"
        trial.demand(always or np.isnan(scores).all(), wrong)


@huge_cutoff.checked_otherwise(draw(cases, cases), cost=6)
def _huge_in_a_run(trial: MetricTrial, case: Case, more: Case) -> None:
    huge_cutoff.check(trial, case)
    (column,) = _engine(trial).run(_samples(trial, [(case, HUGE), (more, 1)])).metrics.values()
    reasons = "; ".join(column.reasons.values())
    trial.demand(column.n_failed == 0, f"with cutoffs of {HUGE} and 1 in one batch: {reasons}")


@law(draw(SAMPLES, _ORDER), cost=6)
def _order_of_samples(trial: MetricTrial, drawn: Drawn, order: Random) -> None:
    """The order of the samples changes neither their scores nor the mean."""
    samples = _samples(trial, drawn)
    shuffled = [*samples]
    order.shuffle(shuffled)
    one, other = _engine(trial).run(samples), _engine(trial).run(shuffled)
    names = list(other.sample_ids)
    _demand_equal(trial, one, other.take([names.index(sample["id"]) for sample in samples]), "in another order")
    for first, second in zip(one.metrics.values(), other.metrics.values(), strict=True):
        wrong = f"in another order, the mean is {second.mean!r} instead of {first.mean!r}"
        trial.demand(first.mean == second.mean, wrong)


@law(draw(SAMPLES), cost=6)
def _one_by_one(trial: MetricTrial, drawn: Drawn) -> None:
    """A sample scores the same alone and in a batch, to the last bit."""
    samples = _samples(trial, drawn)
    evaluation, together = _engine(trial).evaluation(None, "default"), _engine(trial).run(samples)
    for row, sample in enumerate(samples):
        for column, alone in zip(together.metrics.values(), evaluation.score(sample).values(), strict=True):
            number = column.values[row].item()
            value = None if math.isnan(number) else number
            status, why = column.status(row), column.reasons.get(row, "")
            if (value, status, why) != (alone.value, alone.status, alone.reason):
                trial.lead_with(sample=f"s{row}")
            wrong = f"sample s{row} scores {alone.value!r} alone and {value!r} in the batch; {_ADVICE}"
            trial.demand(value == alone.value, wrong)
            same = (status, why) == (alone.status, alone.reason)
            trial.demand(same, f"sample s{row} is {alone.status} alone, {status} not")


@law(draw(SAMPLES), cost=6, elsewhere=False)
def _batch_size(trial: MetricTrial, drawn: Drawn) -> None:
    """The size of the batches changes nothing, to the last bit."""
    samples = _samples(trial, drawn)
    whole = _engine(trial).run(samples)
    for size in (1, 3):
        cut = _engine(trial).run(samples, batch_size=size)
        _demand_equal(trial, whole, cut, f"in batches of {size}")
    streamed = Result.merge(list(_engine(trial).over(samples).stream(batch_size=2)))
    _demand_equal(trial, whole, streamed, "streamed by two")


@law(draw(SAMPLES, SAMPLES, SAMPLES), cost=6, elsewhere=False)
def _parts(trial: MetricTrial, *drawn: Drawn) -> None:
    """Parts that are merged equal the whole, to the last bit."""
    parts = [_samples(trial, part, prefix) for part, prefix in zip(drawn, "abc", strict=True)]
    whole = _engine(trial).run([*itertools.chain(*parts)])
    merged = Result.merge([_engine(trial).run(part) for part in parts])
    _demand_equal(trial, whole, merged, "in three parts")


@twice.checked_otherwise(draw(SAMPLES), cost=6)
def _run_twice(trial: MetricTrial, drawn: Drawn) -> None:
    evaluation = _engine(trial).over(_samples(trial, drawn))
    _demand_equal(trial, evaluation.run(), evaluation.run(), "evaluated twice, so that something remembers")


@law(draw_ranking(cases), cost=6)
def _arguments(trial: MetricTrial, case: Case, k: int, more: Case) -> None:
    """The function does not change its arguments."""
    metric = _engine(trial)
    samples = [ANCHOR.sample("anchor"), case.sample("s0", k), more.sample("s1", k)]
    trial.note(gold=case.gold, retrieved=case.ids, k=k)
    for before, judged in zip(metric.judged(samples), metric.judged(samples), strict=True):
        judged.hits(), judged.n_gold()  # computed once, and shared with other metrics
        trial.attempt(functools.partial(metric.call, judged, k), {})
        after = _contents(judged)
        changed = [name for name, value in _contents(before).items() if value != after[name]]
        trial.demand(not changed, f"it changed {', '.join(changed)} of its Judged; work on a copy")


@law(draw_ranking())
def _global_state(trial: MetricTrial, case: Case, k: int) -> None:
    """The function leaves alone what belongs to the whole process, such as warning filters, and prints nothing."""
    metric = _engine(trial)
    for judged in metric.judged([ANCHOR.sample("anchor"), case.sample("s0", k)]):
        demand_no_trace(trial, functools.partial(trial.attempt, functools.partial(metric.call, judged, k), {}))


def _contents(judged: Judged) -> Mapping[str, bytes]:
    """Return the bytes of everything that a metric can reach, cached values included."""
    arrays = {name: getattr(judged, name) for name in ("depth", "first", "earns", "score", "times", "graded")}
    for name, rows in (("rows", judged.rows), ("gold", judged.gold), ("hits()", judged.hits())):
        arrays |= {f"{name}.{column}": values for column, values in zip(rows._fields, rows, strict=True)}
    return {name: values.tobytes() for name, values in {**arrays, "n_gold()": judged.n_gold()}.items()}


def _foreign(trial: MetricTrial) -> ForeignMetric:
    return cast("ForeignMetric", trial.subject.scorer)  # these laws are given to no other


def _over(trial: MetricTrial, batch: Sequence[Case], k: int, note: str) -> BatchScores:
    for case in batch:
        trial.note(gold=case.gold, retrieved=case.ids, k=k, note=note)
    try:
        return _foreign(trial).over(batch, k)
    except UnfitError as error:
        trial.fail(str(error))


_BATCH = (lambda subject: st.lists(cases(subject), min_size=2, max_size=4), st.integers(1, 5))
_NEEDS_BATCH = unless(lambda subject: subject.scorer.calling.batch, "it takes one ranking at a time")


@_order_of_samples.checked_otherwise(draw(*_BATCH, _ORDER), _NEEDS_BATCH)
def _order_in_a_batch(trial: MetricTrial, batch: list[Case], k: int, order: Random) -> None:
    numbers = list(range(len(batch)))
    before = _over(trial, batch, k, "in one batch")
    order.shuffle(numbers)
    after = _over(trial, [batch[number] for number in numbers], k, "in another order")
    if before.scores is not None and after.scores is not None:
        for score, number in zip(after.scores, numbers, strict=True):
            trial.same(before.scores[number], score, "in another order, a ranking scores differently")
    trial.same(before.mean, after.mean, "in another order, the mean changes")


@_one_by_one.checked_otherwise(draw(*_BATCH), _NEEDS_BATCH)
def _alone_and_in_a_batch(trial: MetricTrial, batch: list[Case], k: int) -> None:
    together = _over(trial, batch, k, "in one batch")
    alone = [trial.score(case, k, note="alone") for case in batch]
    if together.scores is not None:
        for one, other in zip(together.scores, alone, strict=True):
            trial.same(one, other, f"in a batch it is {one!r}, and alone {other!r}")
    elif None not in alone:
        expected = sum(score for score in alone if score is not None) / len(alone)
        wrong = f"the batch has {together.mean!r}, and the mean of its scores is {expected!r}"
        trial.same(together.mean, expected, wrong)


@_arguments.checked_otherwise(draw_ranking())
def _arguments_from_elsewhere(trial: MetricTrial, case: Case, k: int) -> None:
    _foreign(trial).changed.clear()
    trial.score(case, k)
    changed = ", ".join(_foreign(trial).changed)
    trial.demand(not changed, f"it changed {changed}, which belongs to the caller; work on a copy")


@_global_state.checked_otherwise(draw_ranking())
def _global_state_elsewhere(trial: MetricTrial, case: Case, k: int) -> None:
    demand_no_trace(trial, functools.partial(trial.score, case, min(k, trial.subject.huge)))


METRIC_LAWS = book(
    *(_global_state, _usable, *RANKING_LAWS.values(), _undefined_without_gold, _huge_in_a_run),
    *(_order_of_samples, _one_by_one, _batch_size, _parts, _run_twice, _arguments, pickling, no_network),
)
"""The laws of metrics that the engine scores, by name: every law of metrics."""

WHOLE_RUN_LAWS = book(
    *(_whole_run_usable, _whole_run_bounded, _order_of_samples, _batch_size, _parts, _run_twice, pickling, no_network),
)
"""The laws of metrics that have one value for a whole run, by name."""

FOREIGN_LAWS = book(
    *(_global_state_elsewhere, *RANKING_LAWS.values(), _order_in_a_batch, _alone_and_in_a_batch),
    *(_arguments_from_elsewhere, pickling, no_network),
)
"""The laws of functions that were not written for rankgauge, by name."""
