"""
The terminal report: tables for people, with a word for a mean where a reader may need one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rankgauge.base.plain_text import visible
from rankgauge.base.tables import Line, left_out_line, ruled, without_least
from rankgauge.errors import counted
from rankgauge.plugin import reporter
from rankgauge.report.samples import listed_lines
from rankgauge.result.wording import (
    ERROR_LINE,
    FACTS,
    calls_line,
    column_lines,
    facts,
    listed_cohorts,
    mean,
    policy_line,
)

if TYPE_CHECKING:
    from rankgauge.result import ResultValues

__all__ = ["band", "result_lines", "terminal_report"]

_RANKED = ((1.0, "perfect"), (0.9, "excellent"), (0.75, "good"), (0.5, "acceptable"), (0.0, "poor"))
_RECALL = ((1.0, "complete"), (0.75, "good"), (0.5, "acceptable"), (0.0, "missing much"))
_BANDS = {
    "retrieval-mrr": _RANKED,
    "keyword-mrr": _RANKED,
    "retrieval-ndcg-at-k": _RANKED,
    "retrieval-ndcg-any-at-k": _RANKED,
    "keyword-ndcg-at-k": _RANKED,
    "retrieval-recall-at-k": _RECALL,
    "keyword-coverage-at-k": _RECALL,
}


def band(alias: str, mean: float | None) -> str:
    """Return the word for a mean of the metric with this alias; empty for a metric without bands."""
    if mean is None:
        return ""
    return next((word for least, word in _BANDS.get(alias, ()) if mean >= least), "")


_LISTED = 10
_WIDTH = 120
_LEAST = ("p95", "p50", "std", "k", "undefined", "high", "low", "se")
"""What tables leave out first for want of room, beside counts that are all 0."""


@reporter("table", suffix=".txt")
def terminal_report(result: ResultValues) -> str:
    """Lay the result out as plain tables."""
    return "".join(f"{line.text}\n" for line in result_lines(result, width=_WIDTH))


def result_lines(result: ResultValues, *, width: int | None, bands: bool = False, rule: str = "─") -> Iterator[Line]:
    """Yield the lines of a result, tables no wider than *width*, with a word for each mean where *bands* are wanted."""
    dataset = result.manifest.get("dataset") or {}
    columns = list(result.metrics.values())
    table = [facts(column) for column in columns]
    numbers = {heading: [row[heading] for row in table] for heading in FACTS}
    if bands:
        numbers["band"] = [band(column.info.alias, column.mean) for column in columns]
    wasted = [heading for heading in ("undefined", "missing", "failed") if set(numbers[heading]) <= {"0"}]
    kept = without_least([visible(name) for name in result.metrics], numbers, (*wasted, *_LEAST), width)
    rows = [(name, *(numbers[heading][place] for heading in kept)) for place, name in enumerate(result.metrics)]
    title = f"{dataset.get('name') or 'samples given in Python'}: {counted(len(result), 'sample')}"
    yield from ruled(title, ("metric", *kept), rows, width=width, rule=rule)
    if any(result.tags):
        yield from _cohorts(result, width, rule)
    for line in _notes(result):
        yield Line(visible(line))
    left_out = [heading for heading in numbers if heading not in kept and heading not in wasted]
    small = [ERROR_LINE if "se" in kept else "", left_out_line(left_out), *column_lines(result), calls_line(result)]
    for line in (*small, policy_line(result)):
        if line:
            yield Line(line, "small")


def _notes(result: ResultValues) -> Iterator[str]:
    """Yield the first samples without a score, and the samples that were asked for."""
    errors = result.errors
    for error in errors[:_LISTED]:
        where = f" ({error.metric})" if error.metric else ""
        yield f"{error.status}: sample {error.sample_id!r}{where}: {error.reason}"
    if len(errors) > _LISTED:
        yield f"... and {len(errors) - _LISTED:,} more; a saved result lists them all"
    yield from listed_lines(result)


def _cohorts(result: ResultValues, width: int | None, rule: str) -> Iterator[Line]:
    """Yield the means by cohort: cohorts down, unless metrics down take fewer lines."""
    cohorts, others = listed_cohorts(result)
    header = ["cohort", "samples", *result.metrics]
    rows = [[tag, f"{len(cohort):,}", *map(mean, cohort.metrics.values())] for tag, cohort in cohorts]
    lines = list(ruled("means by cohort", header, rows, width=width, rule=rule))
    turned = ["metric", *(f"{tag} ({len(cohort):,})" for tag, cohort in cohorts)]
    means = [[name, *(mean(cohort.metrics[name]) for _, cohort in cohorts)] for name in result.metrics]
    across = list(ruled("means by cohort", turned, means, width=width, rule=rule))
    is_whole = len(lines) == len(rows) + 5  # in one part
    yield from lines if is_whole or len(lines) <= len(across) else across
    if others:
        yield Line(f"... and {visible(others)}")
