"""
What the HTML report says in words: its headline, and answers to what a reader asks next, all decided by the numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from rankgauge.comparison.values import RunComparison
from rankgauge.errors import counted
from rankgauge.report.html.data import ReportData
from rankgauge.report.html.numbers import difference, p_value, percent, score
from rankgauge.result import MetricSummary
from rankgauge.stats.estimates import estimate_mean
from rankgauge.visible import visible

__all__ = ["half_width", "headline", "questions"]


def headline(data: ReportData) -> dict[str, Any]:
    """Return the finding in words, by rule: better, worse, the same, or not to be told apart."""
    names = list(data.results)
    first = data.results[names[0]]
    column = next(iter(first.metrics.values()), None)
    if column is None or not any(each.n for result in data.results.values() for each in result.metrics.values()):
        return {"kind": "nothing", "plain": "Nothing was measured", "more": _nothing(data)}
    if data.comparison is None:
        half = half_width(column)
        within = "" if half is None else f" ± {score(half)}"
        return {
            "kind": "one",
            "plain": f"{visible(names[0])}: {visible(column.name)} {score(column.mean)}{within}",
            "more": "",
        }
    pair = data.comparison.comparisons[0]
    metric = next(iter(pair.metrics.values()))
    a, b = visible(pair.baseline), visible(pair.run)
    told = {"kind": metric.verdict.replace(" ", "-"), "a": a, "b": b, "metric": visible(metric.name), "more": ""}
    rises = "rises" if (metric.difference or 0) > 0 else "falls"
    change = f"{visible(metric.name)} {rises} from {score(metric.baseline_mean)} to {score(metric.mean)}."
    match metric.verdict:
        case "better":
            told["plain"] = f"{b} is better than {a}. {change}"
        case "worse":
            told["plain"] = f"{a} is better than {b}. {change}"
        case "same":
            told["plain"] = f"Both runs rank the same: no {visible(metric.name)} differs."
        case "depends on unjudged documents":
            told["plain"] = f"Whether {b} is better than {a} depends on unjudged documents. {change}"
        case _:
            told["plain"] = f"No difference can be told between {a} and {b}."
            told["more"] = change
            if metric.detectable is not None:
                told["more"] += f" {counted(metric.n, 'sample')} can show a difference of {score(metric.detectable)}."
    differ = metric.wins + metric.losses
    if 0 < differ < 10:
        told["more"] += f" Only {counted(differ, 'sample')} of {metric.n:,} differ."
    told["change"] = change
    return told


def _nothing(data: ReportData) -> str:
    first = next(iter(data.results.values()))
    if not len(first):
        return "There is no sample."
    reasons = [error.reason for error in first.unscored[:1]]
    return visible(f"None of {counted(len(first), 'sample')} has a score{f': {reasons[0]}' if reasons else ''}.")


def questions(data: ReportData) -> Iterator[tuple[str, str]]:
    """Yield the questions that a reader asks next, with answers that the numbers decide."""
    if data.comparison is None:
        yield from _questions_of_one(data)
        return
    pair = data.comparison.comparisons[0]
    metric = next(iter(pair.metrics.values()))
    told = []
    if metric.n <= 30:
        told.append(f"n = {metric.n}.")
    if metric.interval is not None:
        told.append(f"The interval runs from {difference(metric.interval[0])} to {difference(metric.interval[1])}.")
    if metric.p_adjusted is not None:
        several = len(pair.metrics)
        of = f", the largest of {several} metrics" if several > 1 else ""
        largest = max((each.p_adjusted for each in pair.metrics.values() if each.p_adjusted is not None), default=None)
        told.append(f"Corrected p {p_value(metric.p_adjusted)}{of and f' ({p_value(largest)}{of})'}.")
    if metric.detectable is not None:
        told.append(f"Differences below {score(metric.detectable)} cannot be seen.")
    yield "Is it noise?", " ".join(told) or "No pair of scores differs."
    lost = [f"{visible(each.sample_id)} {difference(each.difference)}" for each in metric.worst[:3]]
    where = f"On {metric.losses:,} of {counted(metric.n, 'sample')}"
    yield "Where does it lose?", f"{where}, worst {', '.join(lost)}." if lost else "On no sample."
    yield "Is every metric alike?", _alike(pair)
    shares = [f"{visible(run)} {percent(_mean(list(own.values())))}" for run, own in data.unjudged.items() if own]
    known = "Unjudged among the first 10: " + ", ".join(shares) + ". They count as not relevant." if shares else ""
    yield "What is not known?", known or "Which documents nobody judged: the ground truth lists only relevant ones."


def _alike(pair: RunComparison) -> str:
    by_verdict: dict[str, list[str]] = {}
    for metric in pair.metrics.values():
        by_verdict.setdefault(metric.verdict, []).append(visible(metric.name))
    return ". ".join(f"{verdict.capitalize()}: {', '.join(names)}" for verdict, names in by_verdict.items()) + "."


def _questions_of_one(data: ReportData) -> Iterator[tuple[str, str]]:
    ((name, result),) = data.results.items()
    column = next(iter(result.metrics.values()), None)
    if column is None:
        return
    counts = [counted(column.n, "sample")]
    for count, said in ((column.n_undefined, "undefined"), (column.n_missing, "missing"), (column.n_failed, "failed")):
        counts += [f"{count:,} {said}"] if count else []
    stopped = " The run was interrupted; only these samples were done." if result.manifest.get("interrupted") else ""
    yield "What is in the mean?", f"{', '.join(counts)}.{stopped}"
    worst = [f"{visible(result.sample_ids[place])} {score(float(column.values[place]))}" for place in column.worst(3)]
    yield "Where is it worst?", f"{', '.join(worst)}." if worst else "No sample has a score."
    half = half_width(column)
    sure = "One score says nothing about others."
    if half is not None:
        sure = f"The true mean is within ± {score(half)} at 95 % confidence, if these samples are like those to come."
    yield "How sure is it?", sure
    shares = data.unjudged.get(name)
    yield (
        "What is not known?",
        f"Unjudged among the first 10: {percent(_mean(list(shares.values())))}. They count as not relevant."
        if shares
        else "Which documents nobody judged: the ground truth lists only relevant ones.",
    )


def _mean(values: Sequence[float]) -> float | None:
    known = [value for value in values if not math.isnan(value)]
    return math.fsum(known) / len(known) if known else None


def half_width(column: MetricSummary) -> float | None:
    """Return half the width of the 95 % interval of a mean."""
    if column.info.aggregate != "mean" or not column.counted:
        return None
    interval = estimate_mean(column.counted).interval()
    return None if interval is None else (interval[1] - interval[0]) / 2
