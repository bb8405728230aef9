"""
A comparison as plain text for terminals.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rankgauge.comparison.values import Change, Comparison, MetricComparison, RunComparison
from rankgauge.report.comparison.wording import (
    FACTS,
    facts,
    method_line,
    notes,
    signed,
    span,
    unjudged_lines,
    verdicts,
    with_condensed,
)
from rankgauge.report.wording import number
from rankgauge.tables import Line, aligned, left_out_line, text_width
from rankgauge.visible import visible

__all__ = ["comparison_lines"]

_COHORTS = 20
_NEVER_LEFT_OUT = 4
"""Means, difference and interval are shown however narrow the terminal is."""


def comparison_lines(comparison: Comparison, *, width: int | None) -> Iterator[Line]:
    """Yield the lines: verdicts, then tables no wider than *width* where that is possible, then what limits them."""
    yield from (Line(visible(verdict), "head") for verdict in verdicts(comparison))
    is_corrected = bool(comparison.correction)
    for pair in comparison.comparisons:
        yield Line("")
        yield Line(visible(f"{pair.run} against {pair.baseline}"))
        yield from _table(pair, width, is_corrected=is_corrected)
        first = next(iter(pair.metrics.values()))
        lines = [*unjudged_lines(comparison, pair), *(f"note: {note}" for note in notes(pair))]
        if first.worst:
            lines.append(f"lost most, {first.name}: {_changes(first.worst)}")
        if first.best:
            lines.append(f"won most, {first.name}: {_changes(first.best)}")
        yield from (Line(visible(line)) for line in lines)
        yield from _cohorts(first)
    yield Line("")
    yield Line(visible(method_line(comparison)), "small")


def _table(pair: RunComparison, width: int | None, *, is_corrected: bool) -> Iterator[Line]:
    rows = {name: facts(metric) for name, metric in with_condensed(pair).items()}
    kept = [fact for fact in FACTS if is_corrected or fact != "corrected p"]
    while True:
        names = {"baseline": pair.baseline, "run": pair.run}
        table = [("metric", *(names.get(fact, fact) for fact in kept))]
        table += [(name, *(row[fact] for fact in kept)) for name, row in rows.items()]
        lines = list(aligned(table))
        if len(kept) <= _NEVER_LEFT_OUT or width is None or max(map(text_width, lines)) <= width:
            yield from (Line(line, "row") for line in lines)
            left_out = [fact for fact in FACTS[len(kept) :] if is_corrected or fact != "corrected p"]
            yield from (Line(line, "small") for line in [left_out_line(left_out)] if line)
            return
        kept.pop()


def _changes(changes: Sequence[Change]) -> str:
    return ", ".join(
        f"{change.sample_id} {signed(change.difference, 3)} ({number(change.baseline)} to {number(change.value)})"
        for change in changes[:3]
    )


def _cohorts(metric: MetricComparison) -> Iterator[Line]:
    """Yield the differences by tag of one metric; of many tags those with the most pairs."""
    if not metric.cohorts:
        return
    shown = sorted(metric.cohorts, key=lambda each: -each.n)[:_COHORTS]
    yield Line("")
    table = [("tag", f"{metric.name} difference", "interval", "n")]
    for each in metric.cohorts:
        if each in shown:
            name = "(untagged)" if each.tag is None else each.tag
            interval = "-" if each.interval is None else span(each.interval)
            table.append((name, signed(each.difference), interval, f"{each.n:,}"))
    yield from (Line(line, "row") for line in aligned(table))
    if len(metric.cohorts) > len(shown):
        more = f"... and {len(metric.cohorts) - len(shown):,} more tags; --json has all of them"
        yield Line(more)
