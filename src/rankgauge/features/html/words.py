"""
What the HTML report says in words and numbers: its headline, and answers to what a reader asks next.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterator, Sequence
from typing import NamedTuple
from urllib.parse import quote

import numpy as np

from rankgauge.base.plain_text import visible
from rankgauge.comparison.differences import MetricComparison, RunComparison
from rankgauge.comparison.estimate import LEAST_MOVED
from rankgauge.comparison.sentences import length_lines
from rankgauge.errors import counted
from rankgauge.features.html.notation import difference, named, p_value, percent, score
from rankgauge.features.html.report_data import Losses, ReportData
from rankgauge.gates.outcomes import summary_line
from rankgauge.judging import Leak
from rankgauge.result import MetricSummary
from rankgauge.result.wording import INTERVALS, partial_line, short_lists_lines
from rankgauge.scoring.score import FAILED, MISSING
from rankgauge.stats import aggregate

__all__ = [
    "Linked",
    "cohorts_heading",
    "depth_heading",
    "headline",
    "leaked",
    "linked",
    "metrics_heading",
    "questions",
    "spread",
    "spread_of",
    "trouble",
]


class Linked(NamedTuple):
    """A piece of an answer, and the view that it opens; empty for plain words."""

    text: str
    link: str = ""


_LEAKS_SHOWN = 10

_Answer = tuple[str, Sequence[Linked]]


def headline(data: ReportData, pair: RunComparison | None = None, name: str = "") -> dict[str, str]:
    """Return the finding, by default the first, by rule: better, worse, the same, or not to be distinguished."""
    pair = pair or data.pair
    column = data.first.metrics[name] if name else data.first.leading
    if column is None or not any(one.n for result in data.results.values() for one in result.metrics.values()):
        return {"kind": "nothing", "plain": "Nothing was measured", "more": _nothing(data)}
    if pair is None:
        within = spread_of(column)
        within = within and (f" {within}" if within[0] == "±" else f" ({within})")
        plain = f"{named(next(iter(data.results)))}: {named(column.name)} {score(column.mean)}{within}"
        return {"kind": "one", "plain": plain, "more": ""}
    metric = pair.metrics[name] if name else next(iter(pair.metrics.values()))
    a, b, name = named(pair.baseline), named(pair.run), named(metric.name)
    before, after = score(metric.baseline_mean), score(metric.mean)
    rises = "rises" if (metric.difference or 0) > 0 else "falls"
    change = f"{name} is {after} in both." if before == after else f"{name} {rises} from {before} to {after}."
    plain = {
        "better": f"{b} is better than {a}. {change}",
        "worse": f"{a} is better than {b}. {change}",
        "same": f"Both runs score the same: {name} is equal on every sample.",
        "depends on unjudged documents": f"Whether {b} is better than {a} depends on unjudged documents. {change}",
        "depends on short lists": f"Whether {b} is better than {a} depends on how much was retrieved. {change}",
        "depends on changed documents": f"Inconclusive: {visible(str(metric.edits))}. {change}",
        "equivalent": f"{a} and {b} are equivalent: {name} differs by less than {metric.matters or 0:g}. {change}",
        "undecided": f"These samples do not show a difference between {a} and {b}.",
    }[metric.verdict]
    more, differ = change if metric.verdict == "undecided" else "", metric.wins + metric.losses
    if 0 < differ < 10:
        more += f" Only {counted(differ, 'sample')} of {metric.n:,} differ."
    return {"kind": metric.verdict.replace(" ", "-"), "a": a, "b": b, "plain": plain, "change": change, "more": more}


def _nothing(data: ReportData) -> str:
    if not len(data.first):
        return "There is no sample."
    reasons = [error.reason for error in data.first.unscored[:1]]
    return visible(f"None of {counted(len(data.first), 'sample')} has a score{f': {reasons[0]}' if reasons else ''}.")


def leaked(data: ReportData) -> Iterator[str]:
    """Yield for each run what it retrieved that must not be."""
    for name, result in data.results.items():
        info = max((column.info for column in result.metrics.values()), key=lambda info: info.n_leaks, default=None)
        if info is None or not info.n_leaks:
            continue
        first = [str(Leak(**leak)) for leak in info.leaks[:_LEAKS_SHOWN]]
        more = f", and {info.n_leaks - len(first):,} more" if info.n_leaks > len(first) else ""
        of = f"{named(name)} retrieved" if len(data.results) > 1 else "Leaked:"
        yield visible(f"{of} {counted(info.n_leaks, 'forbidden item')}. {'; '.join(first)}{more}")


def trouble(data: ReportData) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with the numbers as a whole, with a link: failed gates, lengths, samples without output."""
    report = data.gates
    if report is not None and (report.of("failed") or report.of("error")):
        yield f"{summary_line(report)}.".capitalize(), "#gates"
    for pair in data.comparison.comparisons if data.comparison else ():
        yield from ((visible(f"{line}."), "") for line in length_lines(pair))
    for name, result in data.results.items():
        yield from ((f"{line}.", "") for line in (() if data.comparison else short_lists_lines(result)))
        column = result.leading
        if column is None:
            continue
        missing, failed = (
            int(np.any([one.codes == code for one in result.metrics.values()], axis=0).sum())
            for code in (MISSING, FAILED)
        )
        stopped = " The run was interrupted; the samples that it did not reach are not in it."
        stopped = stopped if result.manifest.get("interrupted") else ""
        if not (missing or failed or stopped):
            continue
        of = f" of {named(name)}" if len(data.results) > 1 else ""
        among = f"of {counted(len(result), 'sample')}{of}"
        parts = [f"{missing:,} {among} {'has' if missing == 1 else 'have'} no output"] if missing else []
        parts += [f"{failed:,} failed" if missing else f"{failed:,} {among} failed"] if failed else []
        values = column.values[(column.codes == MISSING) | (column.codes == FAILED)]
        treated = ""
        if len(values):
            scores = values[~np.isnan(values)]
            treated = (
                f" They count as {scores[0]:g}." if len(scores) == len(values) else " They are left out of the mean."
            )
        said = f" {', '.join(parts)}.{treated}" if parts else ""
        yield f"Incomplete:{said}{stopped}", f"#show={'missing' if missing else 'failed'}" if parts else ""


def questions(data: ReportData, pair: RunComparison | None = None, name: str = "") -> Iterator[_Answer]:
    """Yield the questions that a reader asks next, with answers that the numbers decide; of the first by default."""
    pair = pair or data.pair
    yield from _questions_of_one(data, name) if pair is None else _questions_of_two(data, pair, name)


def _questions_of_two(data: ReportData, pair: RunComparison, name: str) -> Iterator[_Answer]:
    metric = pair.metrics[name] if name else next(iter(pair.metrics.values()))
    yield "Is it noise?", [Linked(_noise(pair, metric))]
    if metric.detectable is not None:
        yield "How many more samples?", [Linked(_needed(metric))]
    elif metric.difference is not None and metric.wins + metric.losses < LEAST_MOVED:
        differ = f"{metric.wins + metric.losses:,} of {counted(metric.n, 'sample')} differ"
        yield "How many more samples?", [Linked(f"Too few to say: {differ}, and {LEAST_MOVED} are needed.")]
    run = pair.run if len(data.results) > 2 else ""
    for question, count, word, changes in (
        ("Where does it lose?", metric.losses, "worst", metric.worst),
        ("Where does it win?", metric.wins, "most", metric.best),
    ):
        if samples := [(change.sample_id, difference(change.difference)) for change in changes[:3]]:
            where = f"On {count:,} of {counted(metric.n, 'sample')}, {word} "
            yield question, _listed(where, samples, metric.name, run)
    if (pair.run, metric.name) in data.losses:
        yield "Why?", [Linked(_why(data.losses[pair.run, metric.name]))]
    yield "What is not known?", [Linked(_not_known(data, {pair.baseline, pair.run}))]


def _questions_of_one(data: ReportData, name: str) -> Iterator[_Answer]:
    result, column = data.first, data.first.metrics[name] if name else data.first.leading
    if column is None:
        return
    n, *flaws = column.counts.items()
    counts = ", ".join([counted(n[1], "sample"), *(f"{count:,} {status}" for status, count in flaws if count)])
    stopped = partial_line(result)
    yield "What is in the mean?", [Linked(f"{counts}.{stopped}")]
    worst = [(result.sample_ids[place], score(float(column.values[place]))) for place in column.worst(3)]
    yield "Where is it worst?", _listed("", worst, column.name) if worst else [Linked("No sample has a score.")]
    sure, known = "One sample gives no interval.", column.interval_found()
    if known is not None:
        ends = f"from {score(known.low)} to {score(known.high)} at 95 % confidence ({INTERVALS[known.method]})"
        sure = f"The true mean lies {ends}, if these samples are like those to come."
    if not (column.n_missing or column.n_failed or stopped):
        yield "How sure is it?", [Linked(sure)]
    yield "What is not known?", [Linked(_not_known(data, set(data.results)))]


def _noise(pair: RunComparison, metric: MetricComparison) -> str:
    sentences = []
    if metric.interval is not None:
        low, high = map(difference, metric.interval)
        before = " before correction" if metric.contradicts and len(pair.metrics) > 1 else ""
        sentences.append(f"The interval runs from {low} to {high}{before}.")
    if metric.p_adjusted is not None:
        largest = max(one.p_adjusted for one in pair.metrics.values() if one.p_adjusted is not None)
        several = f", at most {p_value(largest)} over {len(pair.metrics)} metrics" if len(pair.metrics) > 1 else ""
        p = p_value(metric.p_adjusted)
        sentences.append(f"Corrected p {p if p.startswith('<') else f'= {p}'}{several}.")
    return " ".join(sentences) or "No pair of scores differs."


def _needed(metric: MetricComparison) -> str:
    """Say what so many pairs detect, and how many would detect the observed difference: it falls with their root."""
    detectable, observed = metric.detectable or 0.0, abs(metric.difference or 0.0)
    detects = f"{counted(metric.n, 'pair')} detect a true difference of {score(detectable)} four times out of five"
    if metric.verdict != "undecided" or not 0.0005 <= observed < detectable:
        return f"{detects}."
    return (
        f"{detects}; one of {score(observed)} would take about {_rounded(metric.n * (detectable / observed) ** 2):,}."
    )


def _rounded(number: float) -> int:
    """Return a number with two digits, rounded up."""
    unit: int = 10 ** max(0, math.floor(math.log10(number)) - 1)
    return math.ceil(number / unit) * unit


def _why(losses: Losses | None) -> str:
    if losses is None:
        return "That needs ranks and judgments, which could not be read again."
    top = "what was retrieved" if losses.k is None else "the cutoff"
    if isinstance(losses.k, int):
        top = f"the top {losses.k}"
    reasons = [f"on {losses.left:,} a relevant result leaves {top}"] if losses.left else []
    if rest := losses.n - losses.left:
        where = f"on the other {rest:,}" if losses.left else f"on {rest:,}"
        reasons.append(f"{where} the same relevant results are found, but lower down or worth less")
    return f"Of {counted(losses.n, 'loss', 'losses')}, {'; '.join(reasons)}."


def _not_known(data: ReportData, runs: Container[str]) -> str:
    means = {
        run: aggregate([share for share in shares.values() if not math.isnan(share)])
        for run, shares in data.unjudged.items()
        if shares and run in runs
    }
    if not means:
        return "Whether unlisted results are bad or just unjudged: the ground truth lists only relevant items."
    shares = ", ".join(f"{named(run)} {percent(mean)}" for run, mean in means.items())
    return f"Unjudged in the top 10: {shares}. Unjudged results count as not relevant."


def _listed(before: str, samples: Sequence[tuple[str, str]], metric: str, run: str = "") -> list[Linked]:
    """Return samples with their numbers; a sample's name opens it."""
    pieces = [Linked(before)]
    for left, (sample_id, value) in zip(range(len(samples) - 1, -1, -1), samples, strict=True):
        pieces += [linked(sample_id, metric, run), Linked(f" {value}{', ' if left else '.'}")]
    return pieces


def linked(sample_id: str, metric: str, run: str = "") -> Linked:
    """Return the name of a sample, which opens it."""
    chosen = {"sample": sample_id, "metric": metric, **({"run": run} if run else {})}
    link = "&".join(f"{key}={quote(visible(value), safe='')}" for key, value in chosen.items())
    return Linked(visible(sample_id), f"#{link}")


def _and(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def metrics_heading(data: ReportData) -> str:
    """Say in how many metrics the first run that is compared is better and worse."""
    if data.pair is None:
        return "Every metric"
    verdicts = [metric.verdict for metric in data.pair.metrics.values()]
    run, baseline, n = named(data.pair.run), named(data.pair.baseline), len(verdicts)
    counts = {word: verdicts.count(word) for word in ("better", "worse") if word in verdicts}
    if n < 2 or len(data.results) > 2:
        return f"Every metric against {baseline}"
    if not counts:
        return f"No metric shows a difference between {run} and {baseline}"
    for word, count in counts.items():
        if count == n:
            return f"{run} is {word} on {'both' if n == 2 else f'all {n}'} metrics"
    return f"Of {n} metrics, {run} is {_and([f'{word} on {count}' for word, count in counts.items()])}"


def cohorts_heading(data: ReportData, pair: RunComparison | None = None) -> str:
    """Say in how many cohorts a run, the first by default, is worse on some metric by its 95 % interval alone."""
    pair = pair or data.pair
    if pair is None:
        return "Cohorts"
    worse = {
        cohort.tag
        for metric in pair.metrics.values()
        for cohort in metric.cohorts
        if cohort.interval is not None
        and (cohort.interval[1] < 0 if metric.higher_is_better else cohort.interval[0] > 0)
    }
    if not worse:
        return "No cohort is worse (unadjusted intervals)"
    return f"{named(pair.run)} is worse on some metric in {counted(len(worse), 'cohort')} (unadjusted intervals)"


def depth_heading(data: ReportData) -> str:
    """Name the curves, of which none is tested."""
    return f"{_and([curve.name for curve in data.curves]).capitalize()} by depth" if data.curves else "By depth"


def spread_of(column: MetricSummary, confidence: float = 0.95) -> str:
    """Return how far a mean can be trusted, as `spread` writes it."""
    return spread(column.mean, column.interval(confidence))


def spread(middle: float | None, interval: tuple[float, float] | None) -> str:
    """Return an interval as ``±0.012``, or by its ends if it is not symmetric; empty if there is none."""
    if middle is None or interval is None:
        return ""
    low, high = interval
    is_symmetric = math.isclose(high - middle, middle - low, rel_tol=1e-6)
    return f"±{score((high - low) / 2)}" if is_symmetric else f"{score(low)}\N{EN DASH}{score(high)}"
