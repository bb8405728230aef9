"""
Runs that a model judged, and people in part: means and differences that do not trust the model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rankgauge.base.frozen import freeze_fields, plain_fields
from rankgauge.errors import DataError, Problem, counted
from rankgauge.features.labels.prediction_powered import LEAST_LABELLED, PoweredMean, powered_mean
from rankgauge.stats.effects import holm
from rankgauge.stats.estimates import MeanEstimate
from rankgauge.stats.intervals import interval_of_mean

__all__ = ["JudgedQuestions", "PoweredComparison", "PoweredDifference", "PoweredMetric", "compare_powered"]

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]

_ODD = 0.01
"""Below this p the questions that people judged do not look like a random part."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedQuestions:
    """
    What the judgments of a model and of people make of one metric.

    Attributes:
        name: The metric.

        higher_is_better: Whether more is better.

        range: Its lowest and highest possible value; None for no bound.

        is_linear: Whether its value is a sum over documents, so that people may have judged some of a question only.

        model: The value of each run and question; shape (runs, questions).

        people: The value of each run and question that people judged, or what the part that they judged amounts to for
            the whole; shape (runs, labelled).

        chance: How far that part misleads about the model's value; shape (runs, labelled), 0 for whole questions.

        labelled: Which questions those are; shape (labelled,).
    """

    name: str
    higher_is_better: bool
    range: tuple[float | None, float | None]
    is_linear: bool
    model: _Floats
    people: _Floats
    chance: _Floats
    labelled: _Ints


@dataclass(frozen=True, slots=True, kw_only=True)
class PoweredDifference:
    """
    How far a run is above the baseline.

    Attributes:
        estimate: The mean paired difference, run minus baseline.

        p: Of the t test that there is none, by people and model; None if the difference does not vary.

        p_adjusted: The same, corrected for the number of metrics and runs by Holm's method.

        verdict: `better` or `worse` if the corrected p is significant, else `undecided`.

        verdict_of_people: The same of what people alone say, likewise corrected.
    """

    estimate: PoweredMean
    p: float | None
    p_adjusted: float | None = None
    verdict: Literal["better", "worse", "undecided"] = "undecided"
    verdict_of_people: Literal["better", "worse", "undecided"] = "undecided"

    def __post_init__(self) -> None:
        freeze_fields(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class PoweredMetric:
    """
    One metric: the mean of each run, and its difference from the baseline.

    Attributes:
        name: The metric.

        higher_is_better: Whether more is better.

        range: Its lowest and highest possible value, within which intervals of means lie; None for no bound.

        is_linear: Whether questions count of which people judged some documents only.

        means: The mean of each run, by name.

        differences: How far each run but the baseline is above it, by name.
    """

    name: str
    higher_is_better: bool
    range: tuple[float | None, float | None]
    is_linear: bool
    means: Mapping[str, PoweredMean]
    differences: Mapping[str, PoweredDifference]

    def __post_init__(self) -> None:
        freeze_fields(self)

    def interval(self, estimate: MeanEstimate, confidence: float) -> tuple[float, float] | None:
        """Return the interval of a mean of the metric, which no difference is; None if there is none."""
        found = interval_of_mean(estimate, self.range, binary=False, confidence=confidence)
        return None if found is None else found[:2]


@dataclass(frozen=True, slots=True, kw_only=True)
class PoweredComparison:
    """
    Runs compared by many judgments of a model and few of people.

    Attributes:
        judgments: Where the model's judgments came from.

        human: Where those of people came from.

        baseline: The run that the others are compared with.

        metrics: What was found, by metric.

        confidence: Of the intervals; 1 minus it is the level of the verdicts.

        correction: How p values were corrected; empty for one.

        notes: What readers should know of these numbers.
    """

    judgments: str
    human: str
    baseline: str
    metrics: Mapping[str, PoweredMetric]
    confidence: float = 0.95
    correction: str = ""
    notes: Sequence[str] = field(default=())

    def __post_init__(self) -> None:
        freeze_fields(self)

    def __getitem__(self, name: str) -> PoweredMetric:
        return self.metrics[name]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the metrics."""
        return iter(self.metrics)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values, with the interval of every mean."""
        found = plain_fields(self)
        for name, metric in self.metrics.items():
            of_runs = {run: self._plain(mean, metric) for run, mean in metric.means.items()}
            rows = metric.differences.items()
            apart = {run: plain_fields(each) | {"estimate": self._plain(each.estimate)} for run, each in rows}
            found["metrics"][name] = plain_fields(metric) | {"means": of_runs, "differences": apart}
        return found

    def _plain(self, mean: PoweredMean, of: PoweredMetric | None = None) -> dict[str, Any]:
        """Return a mean *of* a metric, or a difference, with intervals."""
        found: dict[str, Any] = plain_fields(mean)
        for name in ("people", "model", "both", "bias"):
            estimate: MeanEstimate = getattr(mean, name)
            interval = estimate.interval(self.confidence)
            if of is not None and name != "bias":
                interval = of.interval(estimate, self.confidence)
            found[name] = plain_fields(estimate) | {"interval": interval}
        return found | {"worth": mean.worth}


def compare_powered(
    runs: Sequence[str],
    questions: Sequence[JudgedQuestions],
    *,
    judgments: str,
    human: str,
    confidence: float = 0.95,
    notes: Sequence[str] = (),
) -> PoweredComparison:
    """Estimate each metric of each run, and compare the runs with the first; a `DataError` if people said little."""
    _refuse_few(questions, human)
    metrics = [_estimated(runs, each) for each in questions]
    found = [difference for metric in metrics for difference in metric.differences.values()]
    level = 1 - confidence
    by_both = _corrected([each.p for each in found])
    by_people = _corrected([each.estimate.people.p for each in found])
    settled = iter(zip(by_both, by_people, strict=True))
    judged = {}
    for metric in metrics:
        verdicts = {}
        for run, difference in metric.differences.items():
            both, people = next(settled)
            estimate, sign = difference.estimate, 1 if metric.higher_is_better else -1
            verdicts[run] = replace(
                difference,
                p_adjusted=both,
                verdict=_verdict(both, sign * estimate.both.mean, level),
                verdict_of_people=_verdict(people, sign * estimate.people.mean, level),
            )
        judged[metric.name] = replace(metric, differences=verdicts)
    tests = sum(p is not None for p in by_both)
    return PoweredComparison(
        judgments=judgments,
        human=human,
        baseline=runs[0],
        metrics=judged,
        confidence=confidence,
        correction=f"Holm over {tests} tests" if tests > 1 else "",
        notes=(*notes, *_odd_draws(metrics)),
    )


def _refuse_few(questions: Sequence[JudgedQuestions], human: str) -> None:
    problems = []
    for each in questions:
        n = len(each.labelled)
        if n >= LEAST_LABELLED:
            continue
        if each.is_linear:
            which, hint = f"{'has' if n == 1 else 'have'} a judgment by people", ""
        else:
            which = f"{'is' if n == 1 else 'are'} judged whole by people, which is every document that the model judged"
            hint = (
                f"; {each.name} depends on all of them at once, unlike metrics that add up, such as P@10, hits@10 and "
                "DCG@10, for which some documents of a question are enough"
            )
        needed = f"{counted(n, 'question')} {which}, and {LEAST_LABELLED} are the least; 20 or more are worth having"
        problems.append(Problem(f"{each.name}: {needed}{hint}", human))
    if problems:
        raise DataError("the judgments of people are too few:", problems)


def _estimated(runs: Sequence[str], each: JudgedQuestions) -> PoweredMetric:
    def estimate(at: int, base: int | None = None) -> PoweredMean:
        model, people, chance = (
            values[at] if base is None else values[at] - values[base]
            for values in (each.model, each.people, each.chance)
        )
        return powered_mean(model, people, each.labelled, chance)

    means = {run: estimate(at) for at, run in enumerate(runs)}
    differences = {}
    for at, run in enumerate(runs[1:], 1):
        apart = estimate(at, 0)
        differences[run] = PoweredDifference(estimate=apart, p=apart.both.p)
    return PoweredMetric(
        name=each.name,
        higher_is_better=each.higher_is_better,
        range=each.range,
        is_linear=each.is_linear,
        means=means,
        differences=differences,
    )


def _corrected(p_values: Sequence[float | None]) -> list[float | None]:
    held = iter(holm([p for p in p_values if p is not None]))
    return [None if p is None else next(held) for p in p_values]


def _verdict(p: float | None, gain: float, level: float) -> Literal["better", "worse", "undecided"]:
    if p is None or p > level:
        return "undecided"
    return "better" if gain > 0 else "worse"


def _odd_draws(metrics: Sequence[PoweredMetric]) -> list[str]:
    """Return a note on each metric by which the questions that people judged are no random part."""
    tests = [
        (metric.name, mean.looks_drawn)
        for metric in metrics
        for mean in metric.means.values()
        if mean.looks_drawn is not None
    ]
    adjusted = holm([p for _, p in tests])
    odd = dict.fromkeys(name for (name, _), p in zip(tests, adjusted, strict=True) if p < _ODD)
    why = "do not look drawn at random: the model's scores of them and of the others differ; no number here allows that"
    return [f"by {name} the questions that people judged {why}" for name in odd]
