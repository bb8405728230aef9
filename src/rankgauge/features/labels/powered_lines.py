"""
Runs judged by a model and in part by people, in lines for a terminal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from rankgauge.base.plain_text import visible
from rankgauge.base.tables import Line, aligned, folded
from rankgauge.errors import counted
from rankgauge.features.labels.powered_comparison import PoweredComparison, PoweredDifference, PoweredMetric
from rankgauge.features.labels.prediction_powered import PoweredMean
from rankgauge.stats.estimates import MeanEstimate

__all__ = ["powered_lines"]

_SMALLEST_P = 1e-4
_FEW = 20

_IntervalOf = Callable[[MeanEstimate], tuple[float, float] | None]


def powered_lines(comparison: PoweredComparison, *, width: int | None) -> Iterator[Line]:
    """Yield each metric by people alone, by both and by the model alone, and what follows from it."""
    for number, metric in enumerate(comparison.metrics.values()):
        if number:
            yield Line("")
        yield from _of_metric(metric, comparison, width)
    told = [f"{100 * comparison.confidence:g} % intervals; `both` corrects the model by what people say"]
    told += [f"p values corrected: {comparison.correction}"] if comparison.correction else []
    yield Line("")
    for note in ("; ".join(told), *(f"note: {note}" for note in comparison.notes)):
        yield from (Line(piece) for piece in folded(visible(note), width))


def _of_metric(metric: PoweredMetric, comparison: PoweredComparison, width: int | None) -> Iterator[Line]:
    first = metric.means[comparison.baseline]
    questions = f"{counted(first.model.n, 'question')} judged by {comparison.judgments}"
    title = f"{metric.name}: {questions}, {first.people.n:,} of them also by people ({comparison.human})"
    yield from (Line(piece, "head") for piece in folded(visible(title), width))
    rows = [["", "people alone", "both", "model alone"]]
    confidence, baseline = comparison.confidence, comparison.baseline
    rows += [[run, *_cells(mean, lambda part: metric.interval(part, confidence))] for run, mean in metric.means.items()]
    for run, difference in metric.differences.items():
        cells = _cells(difference.estimate, lambda part: part.interval(confidence), sign="+")
        rows.append([f"{run} - {baseline}", *cells])
    yield from (Line(f"  {line}") for line in aligned(rows, width=None if width is None else width - 2))
    for run, mean in metric.means.items() if not metric.differences else ():
        yield from _folded(f"{run}: {_worth(mean)}", "", width)
    for run, difference in metric.differences.items():
        tone = {"better": "good", "worse": "bad"}.get(difference.verdict, "")
        estimate = difference.estimate
        yield from _folded(_verdict(run, difference, comparison, metric), tone, width)
        yield from _folded(f"{_misjudged(estimate, confidence)}; {_worth(estimate)}", "", width)
    if first.people.n < _FEW:
        few = f"people judged fewer than {_FEW} questions, which is little to rest an interval on"
        yield from _folded(few, "", width)


def _folded(text: str, tone: str, width: int | None) -> Iterator[Line]:
    return (Line(f"  {piece}", tone) for piece in folded(visible(text), None if width is None else width - 2))


def _cells(mean: PoweredMean, interval_of: _IntervalOf, sign: str = "") -> list[str]:
    return [_written(each, interval_of(each), sign) for each in (mean.people, mean.both, mean.model)]


def _written(estimate: MeanEstimate, interval: tuple[float, float] | None, sign: str) -> str:
    if interval is None:
        return f"{estimate.mean:{sign}.4f} (no interval)"
    low, high = interval
    return f"{estimate.mean:{sign}.4f} ({low:{sign}.4f} to {high:{sign}.4f})"


def _verdict(run: str, each: PoweredDifference, comparison: PoweredComparison, metric: PoweredMetric) -> str:
    p = each.p_adjusted
    why = "" if p is None else f" (p < {_SMALLEST_P})" if p < _SMALLEST_P else f" (p = {p:.4f})"
    if each.verdict == "undecided":
        text = f"{run} against {comparison.baseline} by {metric.name}: undecided{why}"
    else:
        text = f"{run} is {each.verdict} than {comparison.baseline} by {metric.name}{why}"
    alone = "which people alone leave undecided"
    if each.verdict_of_people == each.verdict:
        alone = "as people alone say"
    elif each.verdict_of_people != "undecided":
        alone = f"where people alone say {each.verdict_of_people}"
    return f"{text}, {alone}"


def _misjudged(estimate: PoweredMean, confidence: float) -> str:
    interval = estimate.bias.interval(confidence)
    within = "" if interval is None else f" ({interval[0]:+.4f} to {interval[1]:+.4f})"
    return f"the model alone is off by {estimate.bias.mean:+.4f}{within}"


def _worth(estimate: PoweredMean) -> str:
    if estimate.correlation is None:
        return "where people judged, people or model say the same of every question, so that the model adds nothing"
    agree = f"it follows people with a correlation of {estimate.correlation:.2f}"
    if estimate.worth is None:
        return agree
    if estimate.worth < estimate.people.n:
        return f"{agree}, and adds nothing to the {counted(estimate.people.n, 'question')} that people judged"
    alone = f"{int(estimate.worth):,}"
    return f"{agree}, and makes {counted(estimate.people.n, 'question')} by people worth {alone}"
