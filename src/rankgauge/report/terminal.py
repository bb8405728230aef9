"""
The terminal report: tables for people, with a word for a mean where a reader may need one.
"""

from __future__ import annotations

from collections.abc import Iterator

from rankgauge.base.plain_text import visible
from rankgauge.base.tables import Line, left_out_line, ruled, without_least
from rankgauge.errors import counted
from rankgauge.plugin import reporter
from rankgauge.report.samples import listed_lines
from rankgauge.result import ResultValues
from rankgauge.result.wording import (
    FACTS,
    calls_line,
    cluster_line,
    column_lines,
    dataset_name,
    error_line,
    facts,
    listed_cohorts,
    mean,
    policy_line,
)

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
_LEAST = (("p95",), ("p50",), ("std",), ("k",), ("undefined",), ("se",), ("low", "high"))
"""What tables leave out first for want of room, beside counts that are all 0; an interval has both ends or none."""


@reporter("table", suffix=".txt")
def terminal_report(result: ResultValues) -> str:
    """Lay the result out as plain tables."""
    return "".join(f"{line.text}\n" for line in result_lines(result, width=_WIDTH))


def result_lines(result: ResultValues, *, width: int | None, bands: bool = False, rule: str = "─") -> Iterator[Line]:
    """Yield the lines of a result, tables no wider than *width*, with a word for each mean where *bands* are wanted."""
    columns = list(result.metrics.values())
    rows = [facts(column) for column in columns]
    cells = {heading: [row[heading] for row in rows] for heading in FACTS}
    if bands:
        cells["band"] = [band(column.info.alias, column.mean) for column in columns]
    wasted = [heading for heading in ("undefined", "missing", "failed") if set(cells[heading]) <= {"0"}]
    kept = without_least(
        [visible(name) for name in result.metrics], cells, ([*([name] for name in wasted), *_LEAST]), width
    )
    table = list(zip(result.metrics, *(cells[heading] for heading in kept), strict=True))
    title = f"{dataset_name(result)}: {counted(len(result), 'sample')}"
    yield from ruled(title, ("metric", *kept), table, width=width, rule=rule)
    if any(result.tags):
        yield from _cohorts(result, width, rule)
    yield from (Line(visible(line)) for line in _notes(result))
    left_out = left_out_line([heading for heading in cells if heading not in {*kept, *wasted}])
    small = [error_line(columns, kept), left_out, *column_lines(result), cluster_line(result), calls_line(result)]
    yield from (Line(line, "small") for line in (*small, policy_line(result)) if line)


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
    down = list(ruled("means by cohort", header, rows, width=width, rule=rule))
    header = ["metric", *(f"{tag} ({len(cohort):,})" for tag, cohort in cohorts)]
    means = [[name, *(mean(cohort.metrics[name]) for _, cohort in cohorts)] for name in result.metrics]
    across = list(ruled("means by cohort", header, means, width=width, rule=rule))
    is_in_one_part = len(down) == len(rows) + 5
    yield from down if is_in_one_part or len(down) <= len(across) else across
    if others:
        yield Line(f"... and {visible(others)}")
