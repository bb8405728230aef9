"""
The Markdown report, and the small HTML table of notebooks, with everything that comes from data escaped.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

from rankgauge.base.plain_text import visible
from rankgauge.base.tables import cell, html_table, markdown_table, unlinked
from rankgauge.errors import counted
from rankgauge.plugin import reporter
from rankgauge.report.samples import listed_heading, listed_lines
from rankgauge.result import MetricSummary, Result
from rankgauge.result.health import broken_metrics, first_fault, unhealthy
from rankgauge.result.wording import (
    FACTS,
    calls_line,
    cluster_line,
    column_lines,
    dataset_name,
    doubt_lines,
    error_line,
    facts,
    listed_cohorts,
    mean,
    number,
    partial_line,
    policy_line,
    policy_options,
    short_lists_lines,
    weights_line,
)

__all__ = ["markdown_report", "notebook_table"]

_BAR = 24
_LISTED = 50


@reporter("markdown", suffix=".md")
def markdown_report(result: Result) -> str:
    """Lay the result out as Markdown: metrics, cohorts, distributions, notes and failures."""
    stopped = partial_line(result)
    parts = [f"# Evaluation of {cell(dataset_name(result))}", ""]
    parts += [f"{counted(len(result), 'sample')}, {cell(policy_line(result))}.{stopped}", ""]
    parts += [f"{cell(line)}.\n" for line in short_lists_lines(result)]
    parts += [f"{cell(line)}.\n" for line in (calls_line(result), weights_line(result), cluster_line(result)) if line]
    parts += _folded("All policy options", [f"{name}={value}" for name, value in policy_options(result).items()])
    parts += _metrics(result)
    if any(result.tags):
        parts += _cohorts(result)
    if result.listed:
        parts += [f"## {cell(listed_heading(result))}", "", *_fenced(list(listed_lines(result))[1:])]
    if doubts := [cell(line) for line in doubt_lines(result)]:
        parts += ["## Labels", "", f"{doubts[0].capitalize()}.", "", *(f"- {line}" for line in doubts[1:]), ""]
    parts += ["## Distributions", ""]
    for name, column in result.metrics.items():
        if column.rankings is None:
            parts += _folded(name, _bars(column))
    if result.notes:
        parts += ["## Notes", "", *(f"- {cell(note)}" for note in result.notes), ""]
    parts += _failures(result)
    return "\n".join(parts).rstrip() + "\n"


def _metrics(result: Result) -> list[str]:
    rows = [
        (cell(name), *facts(column).values(), number(column.pass_rate())) for name, column in result.metrics.items()
    ]
    lines = [f"- {cell(line)}" for line in column_lines(result)]
    metrics = markdown_table(("metric", *FACTS, "pass rate (>= 0.5)"), rows)
    return [
        "## Metrics",
        "",
        *metrics,
        f"{cell(error_line(result.metrics.values()))}.",
        "",
        *([*lines, ""] if lines else []),
    ]


def _cohorts(result: Result) -> list[str]:
    cohorts, others = listed_cohorts(result)
    rows = [(cell(name), str(len(cohort)), *map(mean, cohort.metrics.values())) for name, cohort in cohorts]
    means = markdown_table(("cohort", "samples", *map(cell, result.metrics)), rows)
    more = [f"... and {others}.", ""] if others else []
    return ["## Cohorts", "", "A sample of several cohorts counts in each.", "", *means, *more]


def _folded(summary: str, lines: Sequence[str]) -> list[str]:
    begin = f"<details><summary>{unlinked(html.escape(visible(' '.join(summary.split()))))}</summary>"
    return [begin, "", *_fenced(lines), "</details>", ""]


def _fenced(lines: Sequence[str]) -> list[str]:
    """Return lines in a fence that none of them can end."""
    longest = max((len(run) for line in lines for run in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}text", *map(visible, lines), fence, ""]


def _bars(column: MetricSummary) -> list[str]:
    buckets = column.histogram()
    most = max((count for _, _, count in buckets), default=0) or 1
    last = len(buckets) - 1
    return [
        f"[{low:.2f}, {high:.2f}{']' if place == last else ')'} {count:>6} {'#' * round(count / most * _BAR)}".rstrip()
        for place, (low, high, count) in enumerate(buckets)
    ]


def _failures(result: Result) -> list[str]:
    errors = result.errors
    if not errors:
        return []
    rows = [(cell(e.sample_id), cell(e.metric or "(all)"), e.status, cell(e.reason)) for e in errors[:_LISTED]]
    more = [f"... and {len(errors) - _LISTED:,} more in `errors.jsonl`.", ""] if len(errors) > _LISTED else []
    return ["## Missing and failed", "", *markdown_table(("sample", "metric", "status", "reason"), rows, "---"), *more]


def notebook_table(result: Result) -> str:
    """Return the metrics of a result as an HTML table without script or style."""
    title = f"{dataset_name(result)}: {counted(len(result), 'sample')}; {policy_line(result)}"
    rows = ((name, *facts(column).values()) for name, column in result.metrics.items())
    table = html_table(title, ("metric", *FACTS), rows)
    lines = [f"{line}: it failed for every sample" for line in broken_metrics({"": result})]
    if result.n_unhealthy or result.is_incomplete:
        why = result.incomplete_because or f"{counted(result.n_unhealthy, 'sample')} missing or failed"
        loud = "INCOMPLETE" if result.is_incomplete else ""
        lines = [": ".join(filter(None, [loud, why, unhealthy(result), first_fault(result)])), *lines]
    said = "".join(f"<p>{html.escape(visible(line))}</p>" for line in lines)
    return f"{said}{table}{'<p><code>errors</code> has the reasons.</p>' if lines else ''}"
