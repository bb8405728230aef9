"""
What the HTML report says in words and numbers: its headline, and answers to what a reader asks next.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote

from rankgauge.base.plain_text import visible
from rankgauge.comparison.differences import MetricComparison, RunComparison
from rankgauge.errors import counted
from rankgauge.report.html.report_data import ReportData
from rankgauge.result import MetricSummary
from rankgauge.stats.estimates import estimate_mean

__all__ = [
    "Linked",
    "cohorts_heading",
    "depth_heading",
    "difference",
    "half_width",
    "headline",
    "metrics_heading",
    "p_value",
    "percent",
    "questions",
    "score",
]

_MINUS = "\N{MINUS SIGN}"
_NONE = "\N{EN DASH}"


def score(value: float | None, decimals: int = 3) -> str:
    """Return a score; a dash where there is none."""
    return _NONE if value is None else f"{value:.{decimals}f}".replace("-", _MINUS)


def difference(value: float | None, decimals: int = 3) -> str:
    """Return a difference with its sign; an exact tie has none."""
    if value is None:
        return _NONE
    return score(value, decimals) if value == 0 else f"{value:+.{decimals}f}".replace("-", _MINUS)


def p_value(p: float | None) -> str:
    """Return a p value: three decimals, four below .001, and a bound below .0001."""
    if p is None:
        return _NONE
    return "<\N{NO-BREAK SPACE}0.0001" if p < 0.0001 else f"{p:.4f}" if p < 0.001 else f"{p:.3f}"


def percent(share: float | None) -> str:
    """Return a share as a percentage without decimals."""
    return _NONE if share is None else f"{100 * share:.0f} %"


def headline(data: ReportData) -> dict[str, Any]:
    """Return the finding in words, by rule: better, worse, the same, or not to be told apart."""
    names = list(data.results)
    first = data.results[names[0]]
    column = first.leading
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
    before, after = score(metric.baseline_mean), score(metric.mean)
    rises = "rises" if (metric.difference or 0) > 0 else "falls"
    change = f"{visible(metric.name)} {rises} from {before} to {after}."
    if before == after:
        change = f"{visible(metric.name)} is {after} in both."
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


class Linked(NamedTuple):
    """A piece of an answer, and the view that it opens; empty for plain words."""

    text: str
    link: str = ""


def questions(data: ReportData) -> Iterator[tuple[str, Sequence[Linked]]]:
    """Yield the questions that a reader asks next, with answers that the numbers decide."""
    if data.comparison is None:
        yield from _questions_of_one(data)
        return
    pair = data.comparison.comparisons[0]
    metric = next(iter(pair.metrics.values()))
    yield "Is it noise?", [Linked(_noise(pair, metric))]
    for question, count, word, changes in (
        ("Where does it lose?", metric.losses, "worst", metric.worst),
        ("Where does it win?", metric.wins, "most", () if metric.losses else metric.best),
    ):
        if told := [(each.sample_id, difference(each.difference)) for each in changes[:3]]:
            where = f"On {count:,} of {counted(metric.n, 'sample')}, {word} "
            yield question, _listed(where, told, metric.name)
    if metric.losses:
        yield "Why?", [Linked(_why(data))]
    yield "What is not known?", [Linked(_not_known(data))]


def _noise(pair: RunComparison, metric: MetricComparison) -> str:
    told = []
    if metric.detectable is not None:
        seen = f"nly differences above {score(metric.detectable)} can be seen."
        told.append(f"n = {metric.n}: o{seen}" if metric.n <= 30 else f"O{seen}")
    if metric.interval is not None:
        told.append(f"The interval runs from {difference(metric.interval[0])} to {difference(metric.interval[1])}.")
    if metric.p_adjusted is not None:
        largest = max(each.p_adjusted for each in pair.metrics.values() if each.p_adjusted is not None)
        several = f", at most {p_value(largest)} over {len(pair.metrics)} metrics" if len(pair.metrics) > 1 else ""
        p = p_value(metric.p_adjusted)
        told.append(f"Corrected p {p if p.startswith('<') else f'= {p}'}{several}.")
    return " ".join(told) or "No pair of scores differs."


def _why(data: ReportData) -> str:
    losses = data.losses
    if losses is None:
        return "That needs ranks and judgments, which could not be read again."
    top = "what was retrieved" if losses.k is None else f"the top {losses.k}"
    rest = losses.n - losses.left
    lower = f"{'on the other' if losses.left else 'on'} {rest:,} the same ones only stand lower"
    left = f"on {losses.left:,} a relevant result leaves {top}"
    told = "; ".join([*([left] if losses.left else []), *([lower] if rest else [])])
    return f"Of {counted(losses.n, 'loss', 'losses')}, {told}."


def _not_known(data: ReportData) -> str:
    shares = [f"{percent(_mean(list(own.values())))} of {visible(run)}'s" for run, own in data.unjudged.items() if own]
    if not shares:
        return "Which documents nobody judged: the ground truth lists only relevant ones."
    return f"Nobody judged {_and(shares)} first 10 results. They count as not relevant."


def _listed(before: str, samples: Sequence[tuple[str, str]], metric: str) -> list[Linked]:
    """Return samples with their numbers, each of which opens."""
    pieces = [Linked(before)]
    for number, (sample_id, told) in enumerate(samples, 1):
        link = f"#sample={quote(visible(sample_id), safe='')}&metric={quote(visible(metric), safe='')}"
        pieces += [Linked(visible(sample_id), link), Linked(f" {told}{'.' if number == len(samples) else ', '}")]
    return pieces


def _and(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def metrics_heading(data: ReportData) -> str:
    """Say in how many metrics the first run that is compared is better and worse."""
    if data.comparison is None:
        return "Every metric"
    pair = data.comparison.comparisons[0]
    verdicts = [metric.verdict for metric in pair.metrics.values()]
    run, baseline, n = visible(pair.run), visible(pair.baseline), len(verdicts)
    if n < 2 or len(data.results) > 2:
        return f"Every metric against {baseline}"
    for verdict, told in (("better", f"{run} is better by"), ("worse", f"{run} is worse by")):
        if all(each == verdict for each in verdicts):
            return f"{told} {'both' if n == 2 else f'all {n}'} metrics"
    if not {"better", "worse"} & set(verdicts):
        return f"No metric tells {run} from {baseline}"
    counts = [f"{word} by {verdicts.count(word)}" for word in ("better", "worse") if word in verdicts]
    return f"Of {n} metrics, {run} is {_and(counts)}"


def cohorts_heading(data: ReportData) -> str:
    """Say in how many cohorts the first run that is compared is clearly worse by the first metric."""
    if data.comparison is None:
        return "Cohorts"
    pair = data.comparison.comparisons[0]
    worse = {
        cohort.tag
        for metric in pair.metrics.values()
        for cohort in metric.cohorts
        if cohort.interval is not None
        and (cohort.interval[1] < 0 if metric.higher_is_better else cohort.interval[0] > 0)
    }
    if not worse:
        return "No cohort is clearly worse"
    return f"{visible(pair.run)} is clearly worse in {counted(len(worse), 'cohort')} by some metric"


def depth_heading(data: ReportData) -> str:
    """Say which of two runs finds more at every depth."""
    recall = next((curve for curve in data.curves if curve.name == "recall"), None)
    if recall is None or len(recall.means) != 2:
        return "By depth"
    (one, before), (other, after) = recall.means.items()
    changes = [(second or 0.0) - (first or 0.0) for first, second in zip(before, after, strict=True)]
    if all(change > 0 for change in changes):
        return f"{visible(other)} finds more at every depth"
    if all(change < 0 for change in changes):
        return f"{visible(one)} finds more at every depth"
    return "By depth"


def _questions_of_one(data: ReportData) -> Iterator[tuple[str, Sequence[Linked]]]:
    ((_, result),) = data.results.items()
    column = result.leading
    if column is None:
        return
    counts = [counted(column.n, "sample")]
    for count, said in ((column.n_undefined, "undefined"), (column.n_missing, "missing"), (column.n_failed, "failed")):
        counts += [f"{count:,} {said}"] if count else []
    stopped = " The run was interrupted; only these samples were done." if result.manifest.get("interrupted") else ""
    yield "What is in the mean?", [Linked(f"{', '.join(counts)}.{stopped}")]
    worst = [(result.sample_ids[place], score(float(column.values[place]))) for place in column.worst(3)]
    yield "Where is it worst?", _listed("", worst, column.name) if worst else [Linked("No sample has a score.")]
    half = half_width(column)
    sure = "One score says nothing about others."
    if half is not None:
        sure = f"The true mean is within ± {score(half)} at 95 % confidence, if these samples are like those to come."
    yield "How sure is it?", [Linked(sure)]
    yield "What is not known?", [Linked(_not_known(data))]


def _mean(values: Sequence[float]) -> float | None:
    known = [value for value in values if not math.isnan(value)]
    return math.fsum(known) / len(known) if known else None


def half_width(column: MetricSummary, confidence: float = 0.95) -> float | None:
    """Return half the width of the interval of a mean."""
    if column.info.aggregate != "mean" or not column.n:
        return None
    interval = estimate_mean(column.counted).interval(confidence)
    return None if interval is None else (interval[1] - interval[0]) / 2
