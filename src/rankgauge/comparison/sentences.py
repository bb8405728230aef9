"""
How every report of a comparison words verdicts, differences and p values.
"""

from __future__ import annotations

from collections.abc import Iterator

from rankgauge.comparison.differences import Comparison, MetricComparison, RunComparison
from rankgauge.errors import counted
from rankgauge.result.wording import number

__all__ = [
    "FACTS",
    "dropped",
    "facts",
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

FACTS = (
    "baseline",
    "run",
    "difference",
    "interval",
    "p",
    "corrected p",
    "won",
    "tied",
    "lost",
    "n",
    "d_z",
    "detectable",
    "p of t",
    "g",
)
"""What tables tell of a metric, the most important first."""

_SMALLEST_P = 1e-4

_WHY = {
    "only_in_baseline": "only in {baseline}",
    "only_in_run": "only in {run}",
    "undefined": "undefined in both",
    "undefined_in_one": "undefined in one only",
    "excluded": "left out by the policy, output missing or failed",
}


def verdicts(comparison: Comparison) -> Iterator[str]:
    """Yield what each metric says of each run, a line of words each; of several baselines it names the one."""
    several = len({pair.baseline for pair in comparison.comparisons}) > 1
    for pair in comparison.comparisons:
        for metric in pair.metrics.values():
            yield _verdict(pair, metric, names_baseline=several)


def _verdict(pair: RunComparison, metric: MetricComparison, *, names_baseline: bool) -> str:
    difference = _difference(metric)
    found = metric.verdict
    if found == "same":
        return f"{pair.run} and {pair.baseline} score the same: {metric.name}, {counted(metric.n, 'pair')}"
    if found == "undecided":
        against = f" against {pair.baseline}" if names_baseline else ""
        shown = f"no difference shown for {pair.run}{against}: {difference}"
        if metric.detectable is None:  # fewer than two pairs, or all differ by the same
            return shown
        return f"{shown}; {counted(metric.n, 'pair')} usually show differences from {metric.detectable:.3g} on"
    if found == "depends on unjudged documents" and metric.condensed is not None:
        without = f"without them {signed(metric.condensed.difference, 3)}"
        return f"{pair.run} against {pair.baseline} {found}: {difference}; {without}"
    return f"{pair.run} is {found}{f' than {pair.baseline}' if names_baseline else ''}: {difference}"


def _difference(metric: MetricComparison) -> str:
    if metric.difference is None:
        return f"{metric.name} has no pair of scores"
    digits = 3
    if metric.interval is not None:
        width = metric.interval[1] - metric.interval[0]
        digits = 3 if width >= 0.01 else 4 if width >= 0.001 else 6
    parts = [f"{metric.name} {signed(metric.difference, digits)}"]
    if metric.interval is not None:
        parts.append(f"{percent(metric.confidence)} {span(metric.interval, digits)}")
    return ", ".join([*parts, f"{metric.wins:,} won", f"{metric.losses:,} lost"])


def with_condensed(pair: RunComparison) -> dict[str, MetricComparison]:
    """Return the metrics by name, each followed by what it is over condensed lists, where that was compared."""
    found: dict[str, MetricComparison] = {}
    for name, metric in pair.metrics.items():
        found[name] = metric
        if metric.condensed is not None:
            found[f"{name} condensed"] = metric.condensed
    return found


def unjudged_lines(comparison: Comparison, pair: RunComparison) -> Iterator[str]:
    """Yield how much of each run nobody judged, and the worst and the best case of its means."""
    known = [(run, comparison.unjudged[run]) for run in (pair.baseline, pair.run) if run in comparison.unjudged]
    for name in dict.fromkeys(name for _, own in known for name in own.shares):
        shares = [f"{run} {number(own.shares[name])}" for run, own in known if name in own.shares]
        yield f"{name}: {', '.join(shares)}"
    for name in pair.metrics:
        ends = [(run, *own.bounds[name]) for run, own in known if name in own.bounds]
        if ends:
            told = ", ".join(f"{run} {number(worst)} to {number(best)}" for run, worst, best in ends)
            yield f"{name}, worst to best case: {told}"


def facts(metric: MetricComparison) -> dict[str, str]:
    """Return the `FACTS` of a metric as tables write them."""
    values = (
        number(metric.baseline_mean),
        number(metric.mean),
        signed(metric.difference),
        "-" if metric.interval is None else span(metric.interval),
        p_value(metric.p),
        p_value(metric.p_adjusted),
        *(f"{count:,}" for count in (metric.wins, metric.ties, metric.losses, metric.n)),
        "-" if metric.dz is None else f"{metric.dz:+.2f}",
        number(metric.detectable),
        p_value(metric.p_t),
        "-" if metric.g is None else f"{metric.g:+.2f}",
    )
    return dict(zip(FACTS, values, strict=True))


def signed(value: float | None, digits: int = 4) -> str:
    """Return a difference with its sign; a dash where there is none."""
    return "-" if value is None else f"{value:+.{digits}f}"


def span(interval: tuple[float, float], digits: int = 4) -> str:
    """Return an interval."""
    return f"{signed(interval[0], digits)} to {signed(interval[1], digits)}"


def p_value(p: float | None) -> str:
    """Return a p value with four digits; very small ones by their bound."""
    return "-" if p is None else f"<{_SMALLEST_P:.4f}" if p < _SMALLEST_P else f"{p:.4f}"


def percent(share: float) -> str:
    """Return a share such as 0.95 as ``95 %``."""
    return f"{100 * share:.10g} %"


def dropped(pair: RunComparison, metric: MetricComparison) -> str:
    """Return how many samples make no pair, and why; empty where all do."""
    reasons = [
        f"{count:,} {_WHY[reason].format(baseline=pair.baseline, run=pair.run)}"
        for reason, count in metric.dropped.items()
        if count
    ]
    return f"no pair: {', '.join(reasons)}" if reasons else ""


def notes(pair: RunComparison) -> Iterator[str]:
    """Yield what a reader of the numbers has to know, each note once for the metrics that share it."""
    sharing: dict[str, list[str]] = {}
    for metric in pair.metrics.values():
        for note in (dropped(pair, metric), *metric.notes):
            if note:
                sharing.setdefault(note, []).append(metric.name)
    for note, names in sharing.items():
        yield note if len(names) == len(pair.metrics) else f"{', '.join(names)}: {note}"
    yield from pair.notes


def method_line(comparison: Comparison) -> str:
    """Return how the numbers were found."""
    parts = [f"p: {_TESTS[comparison.test]}"]
    if comparison.test in {"sign-flip", "bootstrap-bca"}:
        parts[0] += f", {comparison.resamples:,} resamples, seed {comparison.seed}"
    if comparison.correction:
        parts.append(f"corrected: {comparison.correction}")
    own = "BCa" if comparison.test == "bootstrap-bca" else "Student's t"
    parts.append(f"intervals: {own}, {percent(comparison.confidence)}")
    if comparison.cluster is not None:
        parts.append(f"clusters: {comparison.cluster}")
    return "; ".join(parts)


_TESTS = {
    "sign-flip": "sign-flip permutation of paired differences, two-sided",
    "t": "paired t test, two-sided",
    "wilcoxon": "Wilcoxon's signed-rank test, two-sided, which does not test the mean",
    "bootstrap-bca": "BCa bootstrap of paired differences, two-sided",
}
