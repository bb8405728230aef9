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
from rankgauge.visible import visible

__all__ = ["comparison_lines"]

_GAP = "  "
_COHORTS = 20
_NEVER_LEFT_OUT = 4
"""Means, difference and interval are shown however narrow the terminal is."""


def comparison_lines(comparison: Comparison, *, width: int) -> Iterator[str]:
    """Yield the lines: verdicts, then tables no wider than *width* where that is possible, then what limits them."""
    for line in _lines(comparison, width):
        yield visible(line)


def _lines(comparison: Comparison, width: int) -> Iterator[str]:
    yield from verdicts(comparison)
    is_corrected = bool(comparison.correction)
    for pair in comparison.comparisons:
        yield ""
        yield f"{pair.run} against {pair.baseline}"
        yield from _table(pair, width, is_corrected=is_corrected)
        yield from unjudged_lines(comparison, pair)
        for note in notes(pair):
            yield f"note: {note}"
        first = next(iter(pair.metrics.values()))
        if first.worst:
            yield f"lost most, {first.name}: {_changes(first.worst)}"
        if first.best:
            yield f"won most, {first.name}: {_changes(first.best)}"
        yield from _cohorts(first)
    yield ""
    yield method_line(comparison)


def _table(pair: RunComparison, width: int, *, is_corrected: bool) -> Iterator[str]:
    rows = {name: facts(metric) for name, metric in with_condensed(pair).items()}
    kept = [fact for fact in FACTS if is_corrected or fact != "corrected p"]
    while True:
        names = {"baseline": pair.baseline, "run": pair.run}
        table = [("metric", *(names.get(fact, fact) for fact in kept))]
        table += [(name, *(row[fact] for fact in kept)) for name, row in rows.items()]
        lines = list(_aligned(table))
        if len(kept) <= _NEVER_LEFT_OUT or max(map(len, lines)) <= width:
            yield from lines
            return
        kept.pop()


def _changes(changes: Sequence[Change]) -> str:
    return ", ".join(
        f"{change.sample_id} {signed(change.difference, 3)} ({number(change.baseline)} to {number(change.value)})"
        for change in changes[:3]
    )


def _cohorts(metric: MetricComparison) -> Iterator[str]:
    """Yield the differences by tag of one metric; of many tags those with the most pairs."""
    if not metric.cohorts:
        return
    shown = sorted(metric.cohorts, key=lambda each: -each.n)[:_COHORTS]
    yield ""
    table = [("tag", f"{metric.name} difference", "interval", "n")]
    for each in metric.cohorts:
        if each in shown:
            name = "(untagged)" if each.tag is None else each.tag
            interval = "-" if each.interval is None else span(each.interval)
            table.append((name, signed(each.difference), interval, f"{each.n:,}"))
    yield from _aligned(table)
    if len(metric.cohorts) > len(shown):
        yield f"... and {len(metric.cohorts) - len(shown):,} more tags; --json has all of them"


def _aligned(table: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, cells)) for cells in zip(*table, strict=True)]
    for row in table:
        cells = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        yield _GAP.join((row[0].ljust(widths[0]), *cells)).rstrip()
