"""
The laws of metrics over whole runs of the engine, each a check with its strategies.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, cast

import numpy as np
from hypothesis import strategies as st

from rankgauge.base.guard import ForeignError, guarded
from rankgauge.columns import Judged
from rankgauge.engine.result import Result
from rankgauge.errors import RankgaugeError
from rankgauge.testing.metric_laws import METRIC_LAWS, huge_cutoff
from rankgauge.testing.subject import ANCHOR, HUGE, Case, EngineMetric, MetricSubject
from rankgauge.testing.trial import SAMPLES, Law, MetricTrial, Strategies, case_and_k, cases

__all__ = ["RUN_LAWS", "WHOLE_RUN_LAWS"]

Drawn = Sequence[tuple[Case, int | None]]

_ADVICE = "sum with `judged.sum`, and keep samples apart"


def _engine(trial: MetricTrial) -> EngineMetric:
    return cast("EngineMetric", trial.subject.scorer)  # these laws are given to no other


def _samples(trial: MetricTrial, drawn: Drawn, prefix: str = "s") -> list[dict[str, Any]]:
    """Return samples, one of which has gold of every kind, and note them for the report."""
    found = []
    for place, (case, k) in enumerate([(ANCHOR, None), *drawn]):
        found.append(case.sample(f"{prefix}{place}", k))
        trial.note(
            sample=f"{prefix}{place}", gold=case.gold, retrieved=case.ids, **({} if k is None else {"metadata.k": k})
        )
    return found


def _column(result: Result) -> tuple[Any, ...]:
    """Return everything that two equal results agree on, values to the last bit."""
    (column,) = result.metrics.values()
    return list(_by_sample(result).items()), (column.mean, column.std, column.n, column.k, dict(column.info.k_sources))


def _by_sample(result: Result) -> dict[str, tuple[bytes, str, str | None]]:
    (column,) = result.metrics.values()
    return {
        name: (column.values[place].tobytes(), column.status(place), column.reasons.get(place))
        for place, name in enumerate(result.sample_ids)
    }


def _demand_equal(trial: MetricTrial, one: Result, other: Result, how: str) -> None:
    """Demand that two results agree; the report begins with a sample that does not."""
    if _column(one) == _column(other):
        return
    (first,), (second,) = one.metrics.values(), other.metrics.values()
    places = {name: place for place, name in enumerate(other.sample_ids)}
    for place, name in enumerate(one.sample_ids):
        left, right = first.values[place].item(), second.values[places[name]].item()
        if left != right and not (math.isnan(left) and math.isnan(right)):
            trial.lead_with(sample=name)
            trial.fail(f"{how}, sample {name} scores {left!r} once and {right!r} the other time; {_ADVICE}")
    trial.fail(f"{how}, status, reason or mean differ: {first.mean!r} and {second.mean!r}")


def _order_of_samples(trial: MetricTrial, drawn: Drawn, order: Random) -> None:
    samples = _samples(trial, drawn)
    shuffled = [*samples]
    order.shuffle(shuffled)
    one, other = _engine(trial).run(samples), _engine(trial).run(shuffled)
    means = [column.mean for result in (one, other) for column in result.metrics.values()]
    names = list(other.sample_ids)

    _demand_equal(trial, one, other.take([names.index(each["id"]) for each in samples]), "in another order")
    trial.demand(means[0] == means[1], f"in another order, the mean is {means[1]!r} instead of {means[0]!r}")


def _parts(trial: MetricTrial, first: Drawn, second: Drawn, third: Drawn) -> None:
    parts = [_samples(trial, part, prefix) for part, prefix in ((first, "a"), (second, "b"), (third, "c"))]
    whole = _engine(trial).run([*itertools.chain(*parts)])
    merged = Result.merge([_engine(trial).run(part) for part in parts])

    _demand_equal(trial, whole, merged, "in three parts")


def _batch_size(trial: MetricTrial, drawn: Drawn) -> None:
    samples = _samples(trial, drawn)
    whole = _engine(trial).run(samples)
    for size in (1, 2, 7, len(samples)):
        cut = _engine(trial).run(samples, batch_size=size)
        _demand_equal(trial, whole, cut, f"in batches of {size}")
    streamed = Result.merge(list(_engine(trial).over(samples).stream(batch_size=2)))
    _demand_equal(trial, whole, streamed, "streamed by two")


def _run_twice(trial: MetricTrial, drawn: Drawn) -> None:
    evaluation = _engine(trial).over(_samples(trial, drawn))
    _demand_equal(trial, evaluation.run(), evaluation.run(), "evaluated twice, so that something remembers")


def _one_by_one(trial: MetricTrial, drawn: Drawn) -> None:
    samples = _samples(trial, drawn)
    (column,) = _engine(trial).run(samples).metrics.values()
    alone = _engine(trial).evaluation(None, "default")
    for place, sample in enumerate(samples):
        (found,) = alone.score(sample).values()
        value = column.values[place].item()
        together = None if math.isnan(value) else value
        reason = f"sample s{place} scores {found.value!r} alone and {together!r} in the batch; {_ADVICE}"
        status, why = column.status(place), column.reasons.get(place, "")
        if (together, status, why) != (found.value, found.status, found.reason):
            trial.lead_with(sample=f"s{place}")
        trial.demand(together == found.value, reason)
        trial.demand(
            (status, why) == (found.status, found.reason), f"sample s{place} is {found.status} alone, {status} not"
        )


def _undefined_without_gold(trial: MetricTrial, at: tuple[Case, int]) -> None:
    case, k = at
    empty = Case((), case.distinct)
    trial.note(gold={}, retrieved=empty.ids, k=k)
    (found,) = _engine(trial).evaluation(k, "default").score(empty.sample("s", k)).values()
    undefined = (found.value, found.status) == (None, "undefined") and bool(found.reason)
    trial.demand(undefined, f"without ground truth it is {found.status} ({found.value!r}) instead of undefined")
    for judged in _engine(trial).judged([empty.sample("s", k)], empty=True):
        scores = _engine(trial).call(judged, k)
        defined = _engine(trial).metric.judging.defined
        always = defined is not None and bool(defined(judged).all())  # such as a count, which may be 0
        trial.demand(
            always or np.isnan(scores).all(),
            f"the function gives {scores.tolist()!r} where nothing is relevant, not NaN",
        )


def _huge_in_a_run(trial: MetricTrial, case: Case, more: Case) -> None:
    huge_cutoff(trial, case)
    drawn = [(case, HUGE), (more, 1)]
    (column,) = _engine(trial).run(_samples(trial, drawn)).metrics.values()
    trial.demand(
        column.n_failed == 0, f"with cutoffs of {HUGE} and 1 in one batch: {'; '.join(column.reasons.values())}"
    )


def _arguments(trial: MetricTrial, at: tuple[Case, int], more: Case) -> None:
    (case, k), subject = at, _engine(trial)
    samples = [ANCHOR.sample("anchor"), case.sample("s0", k), more.sample("s1", k)]
    trial.note(gold=case.gold, retrieved=case.ids, k=k)
    for before, judged in zip(subject.judged(samples), subject.judged(samples), strict=True):
        judged.hits(), judged.n_gold()  # computed once, and shared with other metrics
        trial.attempt(functools.partial(subject.call, judged, k), {})
        changed = [name for name, value in _contents(before).items() if value != _contents(judged)[name]]
        trial.demand(not changed, f"it changed {', '.join(changed)} of its Judged; work on a copy")


def _contents(judged: Judged) -> dict[str, object]:
    """Return the bytes of everything that a metric can reach, cached values included."""
    arrays = ("depth", "first", "earns", "score", "times", "graded")
    found: dict[str, object] = {name: getattr(judged, name).tobytes() for name in arrays}
    for name, rows in (("rows", judged.rows), ("gold", judged.gold), ("hits()", judged.hits())):
        found |= {f"{name}.{column}": each.tobytes() for column, each in zip(rows._fields, rows, strict=True)}
    found["n_gold()"] = judged.n_gold().tobytes()
    return found


def _usable(trial: MetricTrial) -> None:
    _planned(trial)
    for case, k in ((ANCHOR, 2), (Case((1.0, 2.0), (1, 0)), 2), (Case((1.0,), (5, 6)), 1)):
        trial.score(case, k)
    _comes_to_a_number(trial)


def _planned(trial: MetricTrial) -> None:
    try:
        with guarded(RankgaugeError):
            _engine(trial).evaluation(1, "default", own_matcher=True).plan()
    except (RankgaugeError, ForeignError) as error:
        trial.fail(str(error))


def _whole_run_usable(trial: MetricTrial) -> None:
    _planned(trial)
    _comes_to_a_number(trial)


def _comes_to_a_number(trial: MetricTrial) -> None:
    """Fail where the aggregate of a plugin does, or the metric itself if it is one of whole runs."""
    (column,) = _engine(trial).run(_samples(trial, [(Case((1.0, 2.0), (1, 0)), 2)])).metrics.values()
    trial.demand(not column.failure, column.failure)


def _whole_run_bounded(trial: MetricTrial, drawn: Drawn) -> None:
    (column,) = _engine(trial).run(_samples(trial, drawn)).metrics.values()
    low, high = trial.subject.range
    value = column.mean
    fits = value is None or ((low is None or value >= low) and (high is None or value <= high))
    trial.demand(fits, f"the value of these samples, {value!r}, is out of the range from {low!r} to {high!r}")


def _runs(*more: st.SearchStrategy[Any]) -> Callable[[MetricSubject], Strategies]:
    return lambda _subject: (SAMPLES, *more)


RUN_LAWS: dict[str, Law] = {
    "usable": Law(_usable, None, lambda subject: subject.scorer.unusable),
    "order-of-samples": Law(_order_of_samples, _runs(st.randoms(use_true_random=False)), cost=6),
    "one-by-one": Law(_one_by_one, _runs(), cost=6),
    "batch-size": Law(_batch_size, _runs(), cost=6),
    "parts": Law(_parts, _runs(SAMPLES, SAMPLES), cost=6),
    "twice": Law(_run_twice, _runs(), cost=6),
    "empty-gold": Law(_undefined_without_gold, lambda subject: (case_and_k(subject),)),
    "huge-cutoff": Law(_huge_in_a_run, lambda subject: (cases(subject), cases(subject)), cost=6),
    "arguments": Law(_arguments, lambda subject: (case_and_k(subject), cases(subject)), cost=6),
}
"""The laws that need the engine, by name; those with a name of `METRIC_LAWS` take its place."""

WHOLE_RUN_LAWS: dict[str, Law] = {
    "usable": Law(_whole_run_usable, None, lambda subject: subject.scorer.unusable),
    "bounded": Law(_whole_run_bounded, _runs(), METRIC_LAWS["bounded"].skip, cost=6),
    **{name: RUN_LAWS[name] for name in ("order-of-samples", "batch-size", "parts", "twice")},
    "pickling": METRIC_LAWS["pickling"],
}
"""The laws of metrics that have one value for a whole run, by name."""
