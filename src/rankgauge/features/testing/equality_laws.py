"""
The laws that hold a metric to another definition: to a metric of the catalog where the two agree, to a plain function.

Laws that know no definition cannot see a wrong discount, or a divisor that is off by one. These can.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import get_args

from rankgauge.catalog import Catalog
from rankgauge.engine.engine import Engine
from rankgauge.engine.evaluation import Evaluation
from rankgauge.errors import ParameterError, RankgaugeError
from rankgauge.features.testing.drawn_cases import HUGE, Case, draw_ranking
from rankgauge.features.testing.foreign_metrics import ForeignMetric, fit, read_calling
from rankgauge.features.testing.law import law, unless
from rankgauge.features.testing.metric_subjects import EngineMetric, MetricTrial, UnfitError
from rankgauge.planning.requests import lifted
from rankgauge.plugin.signature import LikeCondition, read_like

__all__ = ["like", "reference"]

_CLOSE = 1e-9
"""How far two ways of computing a score may differ: more than doubles round, and less than floats of 32 bits do."""

_KEPT = 256


def _binary(case: Case, k: int) -> tuple[Case, int]:
    return dataclasses.replace(case, grades=tuple(float(grade > 0) for grade in case.grades)), k


def _judged(case: Case, k: int) -> tuple[Case, int]:
    return case.ranked([item for item in case.ranking if case.is_judged(item)]), k


def _one_relevant(case: Case, k: int) -> tuple[Case, int]:
    best = case.relevant[:1]
    grades = (grade if item in best else min(grade, 0.0) for item, grade in enumerate(case.grades))
    return dataclasses.replace(case, grades=tuple(grades)), k


def _few_relevant(case: Case, k: int) -> tuple[Case, int]:
    return case, max(k, len(case.relevant))


def _full(case: Case, k: int) -> tuple[Case, int]:
    return (case, max(1, len(case.distinct))) if k == HUGE else (case.padded(k), k)


_FITTING: Mapping[LikeCondition, Callable[[Case, int], tuple[Case, int]]] = MappingProxyType(
    dict(zip(get_args(LikeCondition), (_binary, _judged, _one_relevant, _few_relevant, _full), strict=True))
)
"""How a case is changed until a condition holds, in the order in which that is done."""


@functools.lru_cache(_KEPT)
def _peer(written: str, catalog: Catalog) -> Evaluation:
    return Engine(catalog=catalog).dataset([]).with_metrics([written])


@functools.lru_cache(_KEPT)
def _plain(function: Callable[..., object]) -> EngineMetric | ForeignMetric:
    """Return what scores by a plain function; raise `ParameterError` if it cannot be called."""
    calling = read_calling(function)
    if calling == "judged":
        raise ParameterError("a reference is a plain function, of ids and gold or of one JudgedSample, not of a Judged")
    if calling == "sample":
        return EngineMetric.of(lifted(function), Catalog.discover(own_only=True))
    return fit(function, calling)


@law(draw_ranking(), skip=unless(lambda subject: subject.like, "it names no metric that it is like"))
def like(trial: MetricTrial, case: Case, k: int) -> None:
    """The score equals that of the metric that `like` names, if it says."""
    for written in trial.subject.like:
        trial.forget()
        expression, conditions = read_like(written)
        trial.demand(
            trial.subject.takes_k or not expression.endswith("@k"), f"{expression} has a cutoff, and it has none"
        )
        fitted, cutoff = case.ranked(case.distinct), k
        for name, fitting in _FITTING.items():
            fitted, cutoff = fitting(fitted, cutoff) if name in conditions else (fitted, cutoff)
        value = trial.score(fitted, cutoff)
        peer = f"{expression[:-1]}{cutoff}" if expression.endswith("@k") else expression
        try:
            (score,) = _peer(peer, trial.subject.catalog).score(fitted.sample("s")).values()
        except RankgaugeError as error:
            trial.fail(f"like={written!r} cannot be used: {error}")
        trial.demand(score.status in {"scored", "undefined"}, f"{peer} failed: {score.reason}")
        _demand_equal(trial, value, score.value if score.status == "scored" else None, written)


@law(draw_ranking(), skip=unless(lambda subject: subject.reference, "it names no reference"))
def reference(trial: MetricTrial, case: Case, k: int) -> None:
    """The score equals that of the plain function that `reference` names."""
    case = case.ranked(case.distinct)
    k = k if trial.subject.takes_k else max(1, len(case.ranking))
    value = trial.score(case, min(k, trial.subject.huge))
    try:
        expected = _plain(trial.subject.reference).score(case, k)
    except (ParameterError, UnfitError) as error:
        trial.fail(f"the reference cannot be used: {error}")
    _demand_equal(trial, value, expected, "the reference")


def _demand_equal(trial: MetricTrial, value: float | None, expected: float | None, what: str) -> None:
    """Demand that two scores are equal; no score is as good as 0, because plain functions have nothing else to give."""
    trial.note(expected="none" if expected is None else expected, note=what)
    one, other = value or 0.0, expected or 0.0
    trial.demand(abs(one - other) <= _CLOSE * max(1.0, abs(other)), f"it scores {one!r}, and {what} {other!r}")
