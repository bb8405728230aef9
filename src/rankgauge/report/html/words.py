"""
What the HTML report says in words and numbers: its headline, and answers to what a reader asks next.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple
from urllib.parse import quote

from rankgauge.base.plain_text import visible
from rankgauge.comparison.differences import MetricComparison, RunComparison
from rankgauge.errors import counted
from rankgauge.report.html.report_data import ReportData
from rankgauge.result import MetricSummary
from rankgauge.result.wording import INTERVALS
from rankgauge.stats import aggregate

__all__ = [
    "Linked",
    "cohorts_heading",
    "depth_heading",
    "difference",
    "headline",
    "metrics_heading",
    "p_value",
    "percent",
    "questions",
    "score",
    "spread",
    "spread_of",
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


class Linked(NamedTuple):
    """A piece of an answer, and the view that it opens; empty for plain words."""

    text: str
    link: str = ""


_Answer = tuple[str, Sequence[Linked]]


def headline(data: ReportData) -> dict[str, str]:
    """Return the finding in words, by rule: better, worse, the same, or not to be told apart."""
    column = data.first.leading
    if column is None or not any(each.n for result in data.results.values() for each in result.metrics.values()):
        return {"kind": "nothing", "plain": "Nothing was measured", "more": _nothing(data)}
    if data.pair is None:
        within = spread_of(column)
        within = within and (f" {within}" if within[0] == "±" else f" ({within})")
        plain = f"{visible(next(iter(data.results)))}: {visible(column.name)} {score(column.mean)}{within}"
        return {"kind": "one", "plain": plain, "more": ""}
    metric = next(iter(data.pair.metrics.values()))
    a, b, name = visible(data.pair.baseline), visible(data.pair.run), visible(metric.name)
    before, after = score(metric.baseline_mean), score(metric.mean)
    rises = "rises" if (metric.difference or 0) > 0 else "falls"
    change = f"{name} is {after} in both." if before == after else f"{name} {rises} from {before} to {after}."
    plain = {
        "better": f"{b} is better than {a}. {change}",
        "worse": f"{a} is better than {b}. {change}",
        "same": f"Both runs rank the same: no {name} differs.",
        "depends on unjudged documents": f"Whether {b} is better than {a} depends on unjudged documents. {change}",
        "equivalent": f"{a} and {b} are equivalent: {name} differs by less than {metric.matters:g}. {change}"
        if metric.matters is not None
        else "",
        "undecided": f"No difference can be told between {a} and {b}.",
    }[metric.verdict]
    more, differ = "", metric.wins + metric.losses
    if metric.verdict == "undecided":
        more = change
        if metric.detectable is not None:
            more += f" {counted(metric.n, 'sample')} can show a difference of {score(metric.detectable)}."
    if 0 < differ < 10:
        more += f" Only {counted(differ, 'sample')} of {metric.n:,} differ."
    return {"kind": metric.verdict.replace(" ", "-"), "a": a, "b": b, "plain": plain, "change": change, "more": more}


def _nothing(data: ReportData) -> str:
    if not len(data.first):
        return "There is no sample."
    reasons = [error.reason for error in data.first.unscored[:1]]
    return visible(f"None of {counted(len(data.first), 'sample')} has a score{f': {reasons[0]}' if reasons else ''}.")


def questions(data: ReportData) -> Iterator[_Answer]:
    """Yield the questions that a reader asks next, with answers that the numbers decide."""
    yield from _questions_of_one(data) if data.pair is None else _questions_of_two(data, data.pair)


def _questions_of_two(data: ReportData, pair: RunComparison) -> Iterator[_Answer]:
    metric = next(iter(pair.metrics.values()))
    yield "Is it noise?", [Linked(_noise(pair, metric))]
    for question, count, word, changes in (
        ("Where does it lose?", metric.losses, "worst", metric.worst),
        ("Where does it win?", metric.wins, "most", () if metric.losses else metric.best),
    ):
        if samples := [(change.sample_id, difference(change.difference)) for change in changes[:3]]:
            where = f"On {count:,} of {counted(metric.n, 'sample')}, {word} "
            yield question, _listed(where, samples, metric.name)
    if metric.losses:
        yield "Why?", [Linked(_why(data))]
    yield "What is not known?", [Linked(_not_known(data))]


def _questions_of_one(data: ReportData) -> Iterator[_Answer]:
    result, column = data.first, data.first.leading
    if column is None:
        return
    n, *flaws = column.counts.items()
    counts = ", ".join([counted(n[1], "sample"), *(f"{count:,} {status}" for status, count in flaws if count)])
    stopped = " The run was interrupted; only these samples were done." if result.manifest.get("interrupted") else ""
    yield "What is in the mean?", [Linked(f"{counts}.{stopped}")]
    worst = [(result.sample_ids[place], score(float(column.values[place]))) for place in column.worst(3)]
    yield "Where is it worst?", _listed("", worst, column.name) if worst else [Linked("No sample has a score.")]
    known = column.interval_found()
    sure = "One score says nothing about others."
    if known is not None:
        ends, method = f"from {score(known.low)} to {score(known.high)}", INTERVALS[known.method]
        sure = f"The true mean lies {ends} at 95 % confidence ({method}), if these samples are like those to come."
    yield "How sure is it?", [Linked(sure)]
    yield "What is not known?", [Linked(_not_known(data))]


def _noise(pair: RunComparison, metric: MetricComparison) -> str:
    sentences = []
    if metric.detectable is not None:
        few = f"n = {metric.n}: o" if metric.n <= 30 else "O"
        sentences.append(f"{few}nly differences above {score(metric.detectable)} can be seen.")
    if metric.interval is not None:
        low, high = map(difference, metric.interval)
        sentences.append(f"The interval runs from {low} to {high}.")
    if metric.p_adjusted is not None:
        largest = max(each.p_adjusted for each in pair.metrics.values() if each.p_adjusted is not None)
        several = f", at most {p_value(largest)} over {len(pair.metrics)} metrics" if len(pair.metrics) > 1 else ""
        p = p_value(metric.p_adjusted)
        sentences.append(f"Corrected p {p if p.startswith('<') else f'= {p}'}{several}.")
    return " ".join(sentences) or "No pair of scores differs."


def _why(data: ReportData) -> str:
    losses = data.losses
    if losses is None:
        return "That needs ranks and judgments, which could not be read again."
    top = "what was retrieved" if losses.k is None else f"the top {losses.k}"
    reasons = [f"on {losses.left:,} a relevant result leaves {top}"] if losses.left else []
    if lower := losses.n - losses.left:
        reasons.append(f"{'on the other' if losses.left else 'on'} {lower:,} the same ones only stand lower")
    looked_at = counted(losses.n, "loss", "losses")
    if losses.n < losses.of:
        looked_at = f"{losses.of:,} losses, the {losses.n:,} whose lists are in this report were looked at"
    return f"Of {looked_at}{':' if losses.n < losses.of else ','} {'; '.join(reasons)}."


def _not_known(data: ReportData) -> str:
    means = {
        run: aggregate([share for share in shares.values() if not math.isnan(share)])
        for run, shares in data.unjudged.items()
        if shares
    }
    if not means:
        return "Which documents nobody judged: the ground truth lists only relevant ones."
    shares = _and([f"{percent(mean)} of {visible(run)}'s" for run, mean in means.items()])
    return f"Nobody judged {shares} first 10 results. They count as not relevant."


def _listed(before: str, samples: Sequence[tuple[str, str]], metric: str) -> list[Linked]:
    """Return samples with their numbers; a sample's name opens it."""
    pieces = [Linked(before)]
    for left, (sample_id, value) in zip(range(len(samples) - 1, -1, -1), samples, strict=True):
        link = f"#sample={quote(visible(sample_id), safe='')}&metric={quote(visible(metric), safe='')}"
        pieces += [Linked(visible(sample_id), link), Linked(f" {value}{', ' if left else '.'}")]
    return pieces


def _and(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def metrics_heading(data: ReportData) -> str:
    """Say in how many metrics the first run that is compared is better and worse."""
    if data.pair is None:
        return "Every metric"
    verdicts = [metric.verdict for metric in data.pair.metrics.values()]
    run, baseline, n = visible(data.pair.run), visible(data.pair.baseline), len(verdicts)
    counts = {word: verdicts.count(word) for word in ("better", "worse") if word in verdicts}
    if n < 2 or len(data.results) > 2:
        return f"Every metric against {baseline}"
    if not counts:
        return f"No metric tells {run} from {baseline}"
    for word, count in counts.items():
        if count == n:
            return f"{run} is {word} by {'both' if n == 2 else f'all {n}'} metrics"
    return f"Of {n} metrics, {run} is {_and([f'{word} by {count}' for word, count in counts.items()])}"


def cohorts_heading(data: ReportData) -> str:
    """Say in how many cohorts the first run that is compared is clearly worse by some metric."""
    if data.pair is None:
        return "Cohorts"
    worse = {
        cohort.tag
        for metric in data.pair.metrics.values()
        for cohort in metric.cohorts
        if cohort.interval is not None
        and (cohort.interval[1] < 0 if metric.higher_is_better else cohort.interval[0] > 0)
    }
    if not worse:
        return "No cohort is clearly worse"
    return f"{visible(data.pair.run)} is clearly worse in {counted(len(worse), 'cohort')} by some metric"


def depth_heading(data: ReportData) -> str:
    """Say which of two runs finds more at every depth."""
    recall = next((curve for curve in data.curves if curve.name == "recall"), None)
    if recall is not None and len(recall.means) == 2:
        (one, before), (other, after) = recall.means.items()
        changes = [(second or 0.0) - (first or 0.0) for first, second in zip(before, after, strict=True)]
        for run, sign in ((other, 1), (one, -1)):
            if all(sign * change > 0 for change in changes):
                return f"{visible(run)} finds more at every depth"
    return "By depth"


def spread_of(column: MetricSummary, confidence: float = 0.95) -> str:
    """Return how far a mean can be trusted, as `spread` writes it."""
    return spread(column.mean, column.interval(confidence))


def spread(middle: float | None, interval: tuple[float, float] | None) -> str:
    """Return an interval as ``±0.012``, or by its ends where it is not symmetric; empty where there is none."""
    if middle is None or interval is None:
        return ""
    low, high = interval
    if math.isclose(high - middle, middle - low, rel_tol=1e-6):
        return f"±{score((high - low) / 2)}"
    return f"{score(low)}–{score(high)}"  # noqa: RUF001  # an en dash between the ends
