"""
How every report of a comparison words verdicts, differences and p values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType

from rankgauge.comparison.differences import CohortDifference, Comparison, MetricComparison, RunComparison
from rankgauge.errors import counted, listed
from rankgauge.result.wording import INTERVALS, number, tag_name

__all__ = [
    "FACTS",
    "cohort_row",
    "dropped",
    "facts_table",
    "interval_names",
    "method_line",
    "notes",
    "p_value",
    "percent",
    "signed",
    "span",
    "unjudged_lines",
    "verdicts",
    "with_condensed",
]

_SMALLEST_P = 1e-4

_WHY = {
    "only_in_baseline": "only in {baseline}",
    "only_in_run": "only in {run}",
    "other_ground_truth": "judged against other ground truth",
    "undefined": "undefined in both",
    "undefined_in_one": "undefined in one only",
    "excluded": "left out by the policy, output missing or failed",
}

_TESTS = {
    "sign-flip": "sign-flip permutation of paired differences, two-sided",
    "t": "paired t test, two-sided",
    "wilcoxon": "Wilcoxon's signed-rank test, two-sided, which does not test the mean",
    "bootstrap-bca": "BCa bootstrap of paired differences, two-sided",
}


def signed(value: float | None, digits: int = 4) -> str:
    """Return a difference with its sign; a dash where there is none."""
    return "-" if value is None else f"{value:+.{digits}f}"


def span(interval: tuple[float, float] | None, digits: int = 4) -> str:
    """Return an interval; a dash where there is none."""
    return "-" if interval is None else f"{signed(interval[0], digits)} to {signed(interval[1], digits)}"


def p_value(p: float | None) -> str:
    """Return a p value with four digits; very small ones by their bound."""
    return "-" if p is None else f"<{_SMALLEST_P:.4f}" if p < _SMALLEST_P else f"{p:.4f}"


def percent(share: float) -> str:
    """Return a share such as 0.95 as ``95 %``."""
    return f"{100 * share:.10g} %"


FACTS: Mapping[str, Callable[[MetricComparison], str]] = MappingProxyType(
    {
        "baseline": lambda metric: number(metric.baseline_mean),
        "run": lambda metric: number(metric.mean),
        "difference": lambda metric: signed(metric.difference),
        "interval": lambda metric: span(metric.interval),
        "p": lambda metric: p_value(metric.p),
        "corrected p": lambda metric: p_value(metric.p_adjusted),
        "won": lambda metric: f"{metric.wins:,}",
        "tied": lambda metric: f"{metric.ties:,}",
        "lost": lambda metric: f"{metric.losses:,}",
        "n": lambda metric: f"{metric.n:,}",
        "d_z": lambda metric: signed(metric.dz, 2),
        "detectable": lambda metric: number(metric.detectable),
        "p of t": lambda metric: p_value(metric.p_t),
        "g": lambda metric: signed(metric.g, 2),
    }
)
"""What tables tell of a metric, the most important first, and how it is written."""


def facts_table(pair: RunComparison, kept: Sequence[str] = tuple(FACTS)) -> list[list[str]]:
    """Return a header with the names of both runs, and a row for each metric with some of the `FACTS`."""
    names = {"baseline": pair.baseline, "run": pair.run}
    rows = [[name, *(FACTS[fact](metric) for fact in kept)] for name, metric in with_condensed(pair).items()]
    return [["metric", *(names.get(fact, fact) for fact in kept)], *rows]


def cohort_row(cohort: CohortDifference) -> list[str]:
    """Return a tag with difference, interval and number of pairs."""
    return [tag_name(cohort.tag), signed(cohort.difference), span(cohort.interval), f"{cohort.n:,}"]


def with_condensed(pair: RunComparison) -> dict[str, MetricComparison]:
    """Return the metrics by name, each followed by what it is over condensed lists, where that was compared."""
    metrics: dict[str, MetricComparison] = {}
    for name, metric in pair.metrics.items():
        metrics[name] = metric
        if metric.condensed is not None:
            metrics[f"{name} condensed"] = metric.condensed
    return metrics


def verdicts(comparison: Comparison) -> Iterator[str]:
    """Yield what each metric says of each run, a line of words each; of several baselines it names the one."""
    several = len({pair.baseline for pair in comparison.comparisons}) > 1
    for pair in comparison.comparisons:
        for metric in pair.metrics.values():
            yield _verdict(pair, metric, names_baseline=several)


def _verdict(pair: RunComparison, metric: MetricComparison, *, names_baseline: bool) -> str:
    difference, verdict = _difference(metric), metric.verdict
    if verdict == "same":
        return f"{pair.run} and {pair.baseline} score the same: {metric.name}, {counted(metric.n, 'pair')}"
    if verdict == "equivalent":
        return f"{pair.run} and {pair.baseline} are equivalent: {difference}; {_equivalence(metric)}"
    if verdict == "undecided":
        against = f" against {pair.baseline}" if names_baseline else ""
        shown = f"no difference shown for {pair.run}{against}: {difference}"
        if metric.matters is not None:
            shown += f", and no equivalence: {_equivalence(metric)}"
        if metric.detectable is None:  # fewer than two pairs, or all differ by the same
            return shown
        return f"{shown}; {counted(metric.n, 'pair')} usually show differences from {metric.detectable:.3g} on"
    if verdict == "depends on unjudged documents" and metric.condensed is not None:
        without = f"without them {signed(metric.condensed.difference, 3)}"
        return f"{pair.run} against {pair.baseline} {verdict}: {difference}; {without}"
    return f"{pair.run} is {verdict}{f' than {pair.baseline}' if names_baseline else ''}: {difference}"


def _equivalence(metric: MetricComparison) -> str:
    """Return how what two one-sided tests say lies to what matters."""
    matters = f"\N{PLUS-MINUS SIGN}{metric.matters:g}"
    if metric.equivalence is None:
        return f"there is no interval to hold against {matters}"
    within = "within" if metric.verdict == "equivalent" else "not within"
    digits = 3 if (metric.matters or 0.0) >= 0.01 else 6
    return f"{span(metric.equivalence, digits)} by two one-sided tests, {within} {matters}"


def _difference(metric: MetricComparison) -> str:
    """Return difference and interval, with more digits where the interval is narrow, and how many samples changed."""
    if metric.difference is None:
        return f"{metric.name} has no pair of scores"
    changed = f"{metric.wins:,} won, {metric.losses:,} lost"
    if metric.interval is None:
        return f"{metric.name} {signed(metric.difference, 3)}, {changed}"
    width = metric.interval[1] - metric.interval[0]
    digits = 3 if width >= 0.01 else 4 if width >= 0.001 else 6
    interval = f"{percent(metric.confidence)} {span(metric.interval, digits)}"
    return f"{metric.name} {signed(metric.difference, digits)}, {interval}, {changed}"


def unjudged_lines(comparison: Comparison, pair: RunComparison) -> Iterator[str]:
    """Yield how much of each run nobody judged, and the worst and the best case of its means."""
    runs = {run: comparison.unjudged[run] for run in (pair.baseline, pair.run) if run in comparison.unjudged}
    for name in dict.fromkeys(name for unjudged in runs.values() for name in unjudged.shares):
        shares = [f"{run} {number(known.shares[name])}" for run, known in runs.items() if name in known.shares]
        yield f"{name}: {', '.join(shares)}"
    for name in pair.metrics:
        bounds = {run: unjudged.bounds[name] for run, unjudged in runs.items() if name in unjudged.bounds}
        ends = [f"{run} {number(worst)} to {number(best)}" for run, (worst, best) in bounds.items()]
        if ends:
            yield f"{name}, worst to best case: {', '.join(ends)}"


def dropped(pair: RunComparison, metric: MetricComparison) -> str:
    """Return how many samples make no pair, and why; empty where all do."""
    names = {"baseline": pair.baseline, "run": pair.run}
    reasons = [f"{count:,} {_WHY[reason].format(**names)}" for reason, count in metric.dropped.items() if count]
    return f"no pair: {', '.join(reasons)}" if reasons else ""


def notes(pair: RunComparison) -> Iterator[str]:
    """Yield what a reader of the numbers has to know, each note once for the metrics that share it."""
    sharing: dict[str, list[str]] = {}
    for metric in pair.metrics.values():
        for note in filter(None, (dropped(pair, metric), *metric.notes)):
            sharing.setdefault(note, []).append(metric.name)
    for note, names in sharing.items():
        yield note if len(names) == len(pair.metrics) else f"{', '.join(names)}: {note}"
    yield from pair.notes


_INTERVALS = {**INTERVALS, "bca": "BCa", "unseen": "the most that could differ unseen"}


def interval_names(comparison: Comparison) -> str:
    """Return which intervals differences have: ``Student's t``, or each with its metrics."""
    named: dict[str, dict[str, None]] = {}
    for pair in comparison.comparisons:
        for name, metric in with_condensed(pair).items():
            if metric.interval_method is not None:
                named.setdefault(_INTERVALS[metric.interval_method], {})[name] = None
    if len(named) <= 1:
        return next(iter(named), "none")
    return ", ".join(f"{method} of {listed(list(of))}" for method, of in named.items())


def method_line(comparison: Comparison) -> str:
    """Return how the numbers were calculated."""
    is_random = comparison.test in {"sign-flip", "bootstrap-bca"}
    drawn = f", {comparison.resamples:,} resamples, seed {comparison.seed}" if is_random else ""
    parts = [
        f"p: {_TESTS[comparison.test]}{drawn}",
        f"corrected: {comparison.correction}" if comparison.correction else "",
        f"intervals: {interval_names(comparison)}, {percent(comparison.confidence)}",
        "" if comparison.cluster is None else f"clusters: {comparison.cluster}",
    ]
    return "; ".join(filter(None, parts))
