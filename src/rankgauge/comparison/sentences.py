"""
How every report of a comparison words verdicts, differences and p values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from rankgauge.comparison.differences import CohortDifference, Comparison, MetricComparison, RunComparison
from rankgauge.errors import counted, listed
from rankgauge.result.wording import INTERVALS, ends_text, number, tag_name

__all__ = [
    "FACTS",
    "cohort_row",
    "contradiction",
    "detectable_line",
    "digits_of",
    "dropped",
    "facts_table",
    "interval_names",
    "length_lines",
    "limit_lines",
    "method_line",
    "notes",
    "p_value",
    "pairs_of",
    "percent",
    "signed",
    "span",
    "unjudged_lines",
    "verdicts",
    "with_condensed",
]

_SMALLEST_P = 1e-4

_DETECTABLE = 3
"""Of how many metrics a line says what is detectable."""

_WHY = {
    "only_in_baseline": "only in {baseline}",
    "only_in_run": "only in {run}",
    "other_ground_truth": "judged against other ground truth or changed documents",
    "undefined": "undefined in both runs",
    "undefined_in_one": "undefined in one run only",
    "weightless": "of weight 0",
    "excluded": "left out by the policy, output missing or failed",
}

_TESTS = {
    "sign-flip": "sign-flip permutation of paired differences, two-sided",
    "t": "paired t test, two-sided",
    "wilcoxon": "Wilcoxon's signed-rank test, two-sided, which does not test the mean",
    "bootstrap-bca": "BCa bootstrap of paired differences, two-sided",
}


def signed(value: float | None, digits: int = 4) -> str:
    """Return a difference with its sign; a dash if there is none."""
    return "-" if value is None else f"{value:+.{digits}f}"


def span(interval: tuple[float, float] | None, digits: int = 4) -> str:
    """Return an interval; a dash if there is none."""
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
    """Return the metrics by name, each followed by what it is over condensed lists, if that was compared."""
    metrics: dict[str, MetricComparison] = {}
    for name, metric in pair.metrics.items():
        metrics[name] = metric
        if metric.condensed is not None:
            metrics[f"{name} condensed"] = metric.condensed
    return metrics


def verdicts(comparison: Comparison) -> Iterator[tuple[str, MetricComparison]]:
    """
    Yield what the metrics say of each run in words, with one of them: metrics that say the same share a sentence.

    Of several baselines each sentence names the one.
    """
    several = len({pair.baseline for pair in comparison.comparisons}) > 1
    for pair in comparison.comparisons:
        alike: dict[str, list[MetricComparison]] = {}
        for name, metric in pair.metrics.items():
            is_shared = metric.verdict in {"better", "worse", "undecided", "same"} and metric.matters is None
            said = _NO_PAIRS if _has_no_pairs(metric) else metric.verdict if is_shared else name
            alike.setdefault(said, []).append(metric)
        for metrics in alike.values():
            yield _verdict(pair, metrics, names_baseline=several), metrics[0]


_NO_PAIRS = "cannot be compared"


def _has_no_pairs(metric: MetricComparison) -> bool:
    return metric.difference is None


def _verdict(pair: RunComparison, metrics: Sequence[MetricComparison], *, names_baseline: bool) -> str:
    metric, verdict = metrics[0], metrics[0].verdict
    is_one = len(pair.metrics) == 1  # else the numbers are in a table of several rows
    names = ", ".join(metric.name for metric in metrics)
    named = f"{metric.name} {_change(metric)}" if is_one or verdict not in {"better", "worse", "undecided"} else names
    if _has_no_pairs(metric):
        return f"{pair.run} and {pair.baseline} {_NO_PAIRS} in {names}: no sample has a score in both"
    if verdict == "same":
        return f"{pair.run} and {pair.baseline} score the same: {names}, {pairs_of(metrics)}"
    if verdict == "equivalent":
        return f"{pair.run} and {pair.baseline} are equivalent: {named}; {_equivalence(metric)}"
    if verdict == "undecided":
        against = f" from {pair.baseline}" if names_baseline else ""
        in_words = f"{metric.name} ({_change(metric)})" if is_one else names
        unclear = f"{pair.run}: no clear difference{against} in {in_words}"
        return unclear if metric.matters is None else f"{unclear}, and no equivalence: {_equivalence(metric)}"
    if verdict == "depends on unjudged documents" and metric.condensed is not None:
        without = f"without them {signed(metric.condensed.difference, 3)}"
        return f"{pair.run} against {pair.baseline} {verdict}: {named}; {without}"
    if verdict == "depends on changed documents":
        return f"{pair.run} against {pair.baseline} is inconclusive: {metric.edits}: {named}; {_unchanged(metric)}"
    if verdict == "depends on short lists":
        return f"{pair.run} against {pair.baseline} {verdict}: {named}; retrieve more, or --short-lists allow"
    return f"{pair.run} is {verdict}{f' than {pair.baseline}' if names_baseline else ''}: {named}"


def _unchanged(metric: MetricComparison) -> str:
    """Return how to compare the pairs whose gold documents did not change, if there are any."""
    others = metric.n - len(metric.edits.of_samples)
    if not others:
        return "evaluate both on one corpus"
    return f"--common unchanged compares the other {counted(others, 'pair')}"


def pairs_of(metrics: Iterable[MetricComparison]) -> str:
    """Return how many pairs metrics have: ``36 pairs``, or ``35 to 36 pairs``."""
    counts = [metric.n for metric in metrics]
    low, high = min(counts), max(counts)
    return counted(high, "pair") if low == high else f"{low:,} to {counted(high, 'pair')}"


def detectable_line(pair: RunComparison) -> str:
    """Return which true differences as many pairs detect with a power of 80 %; empty if none is known."""
    known = [metric for metric in pair.metrics.values() if metric.detectable is not None]
    known = [metric for metric in known if metric.n == known[0].n][:_DETECTABLE]
    if not known:
        return ""
    pairs, sizes = counted(known[0].n, "pair"), [f"{metric.detectable:.3g}" for metric in known]
    if len(known) == 1:
        of = f" in {known[0].name}" if len(pair.metrics) > 1 else ""
        return f"{pairs} detect a difference{of} of {sizes[0]} or more 4 times out of 5"
    each = ", ".join(f"{metric.name} {size}" for metric, size in zip(known, sizes, strict=True))
    return f"detected 4 times out of 5 by {pairs}: {each}"


def _equivalence(metric: MetricComparison) -> str:
    """Return how what two one-sided tests say lies to what matters."""
    matters = f"\N{PLUS-MINUS SIGN}{metric.matters:g}"
    if metric.equivalence is None:
        return f"there is no interval to hold against {matters}"
    within = "within" if metric.verdict == "equivalent" else "not within"
    digits = 3 if (metric.matters or 0.0) >= 0.01 else 6
    return f"{span(metric.equivalence, digits)} by two one-sided tests, {within} {matters}"


def _change(metric: MetricComparison) -> str:
    """Return difference and interval: ``+0.067, 95 % CI -0.006 to +0.141``."""
    digits = digits_of(metric)
    interval = "" if metric.interval is None else f", {percent(metric.confidence)} CI {span(metric.interval, digits)}"
    return f"{signed(metric.difference, digits)}{interval}"


def digits_of(metric: MetricComparison) -> int:
    """Return how many digits a difference is written with: more if its interval is narrow."""
    width = 1.0 if metric.interval is None else metric.interval[1] - metric.interval[0]
    return 3 if width >= 0.01 else 4 if width >= 0.001 else 6


def _short_lists(pair: RunComparison) -> Iterator[str]:
    """Yield for each budget that the rankings of a run do not fill in too many samples, where they ended, in both."""
    said: dict[str, list[str]] = {}
    for metric in pair.metrics.values():
        if metric.list_ends is None or not any(ends.are_short for ends in metric.list_ends):
            continue
        runs = zip((pair.baseline, pair.run), metric.list_ends, strict=True)
        each = "; ".join(f"{run}: {ends_text(ends)}" for run, ends in runs)
        said.setdefault(f"a budget of {metric.list_ends[0].budget}; {each}", []).append(metric.name)
    for text, names in said.items():
        yield f"{', '.join(names)}: {text}; so that how much was retrieved is compared, too"


def limit_lines(pair: RunComparison) -> Iterator[str]:
    """Yield what to know before verdicts: incomplete runs, lists that end before a budget, results of other length."""
    yield from pair.incomplete
    yield from length_lines(pair)


def length_lines(pair: RunComparison) -> Iterator[str]:
    """Yield what of it is about lengths: lists that end before a budget, results of other length."""
    yield from _short_lists(pair)
    if pair.lengths is None:
        return
    ratio = pair.lengths.ratio
    longer = f"results of {pair.run if ratio > 1 else pair.baseline} are {max(ratio, 1 / ratio):.1f} times as long"
    if pair.lengths.unknown:
        yield f"{longer}, which favours them at equal cutoffs; equal tokens could not be tried: {pair.lengths.unknown}"
        return
    known = [(name, metric.equal_tokens) for name, metric in pair.metrics.items() if metric.equal_tokens is not None]
    each = [
        f"{name} is {'the ' * (metric.verdict == 'same')}{metric.verdict}, {_change(metric)}" for name, metric in known
    ]
    of = "" if pair.lengths.limit is None else f", over the first {counted(pair.lengths.limit, 'sample')}"
    yield f"{longer}; at equal tokens (for each sample the smaller of both{of}) {'; '.join(each)}"


def unjudged_lines(comparison: Comparison, pair: RunComparison) -> Iterator[str]:
    """Yield how much of each run is unjudged, and the worst and the best case of its means."""
    runs = {run: comparison.unjudged[run] for run in (pair.baseline, pair.run) if run in comparison.unjudged}
    for name in dict.fromkeys(name for unjudged in runs.values() for name in unjudged.shares):
        shares = [f"{run} {number(known.shares[name])}" for run, known in runs.items() if name in known.shares]
        yield f"{name}: {', '.join(shares)}"
    for name in pair.metrics:
        bounds = {run: unjudged.bounds[name] for run, unjudged in runs.items() if name in unjudged.bounds}
        ends = [f"{run} {number(worst)} to {number(best)}" for run, (worst, best) in bounds.items()]
        if ends:
            yield f"{name}, worst to best case: {', '.join(ends)}"


def contradiction(metric: MetricComparison, test: str, metrics: int, pairs: int) -> str:
    """Say why interval and verdict of one of some *metrics*, of one of some *pairs* of runs, seem to contradict."""
    if (metric.p or 0.0) <= 1 - metric.confidence < (metric.p_adjusted or 0.0):
        counts = [counted(metrics, "metric")] if metrics > 1 else []
        counts += [counted(pairs, "comparison")] if pairs > 1 else []
        after = f"p after correction for {' and '.join(counts)} {p_value(metric.p_adjusted)}"
        return f"interval before correction; {after}"
    if metric.interval_method == "betting" and metric.verdict != "undecided":
        return (
            f"the verdict is that of the {test} test (p {p_value(metric.p_adjusted)}); the exact interval has 0 in it, "
            "because it also allows for differences that are too rare to be among so few pairs"
        )
    by = "" if metric.interval_method is None else f" by {_INTERVALS[metric.interval_method]}"
    return f"interval{by}; p by the {test} test {p_value(metric.p_adjusted)}"


def dropped(pair: RunComparison, metric: MetricComparison) -> str:
    """Return how many samples make no pair, and why; empty if all do."""
    names = {"baseline": pair.baseline, "run": pair.run}
    counts = {reason: count for reason, count in metric.dropped.items() if count}
    if not counts:
        return ""
    n = sum(counts.values())
    reasons = [
        f"{f'{count:,} ' if len(counts) > 1 else ''}{_WHY[why].format(**names)}" for why, count in counts.items()
    ]
    return f"{counted(n, 'sample')} {'is' if n == 1 else 'are'} left out: {', '.join(reasons)}"


def notes(pair: RunComparison) -> Iterator[str]:
    """Yield what a reader of the numbers has to know, each note once for the metrics that share it."""
    sharing: dict[str, list[str]] = {}
    for metric in pair.metrics.values():
        edited = f"{metric.edits}, so that a difference may be one of the corpus" if metric.edits else ""
        for note in filter(None, (dropped(pair, metric), edited, *metric.notes)):
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
    facts = comparison.test_facts
    named = f"{comparison.test} {facts['version']} of {facts['by']}: {facts['summary'].rstrip('.')}" if facts else ""
    parts = [
        f"p: {named or _TESTS[comparison.test]}{drawn}",
        f"corrected: {comparison.correction}" if comparison.correction else "",
        f"intervals: {interval_names(comparison)}, {percent(comparison.confidence)}",
        "" if comparison.cluster is None else f"clusters: {comparison.cluster}",
    ]
    return "; ".join(filter(None, parts))
