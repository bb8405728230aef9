"""
The Markdown report: tables as GitHub shows them, with everything that comes from data escaped.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rankgauge.plugin import reporter
from rankgauge.policy import option_text

if TYPE_CHECKING:
    from rankgauge.result import MetricSummary, Result

__all__ = ["cell", "cutoff", "markdown_report", "number", "policy_line"]

_BAR = 24
_LISTED = 50


@reporter("markdown", suffix=".md")
def markdown_report(result: Result) -> str:
    """Lay the result out as Markdown: metrics, cohorts, distributions, notes and failures."""
    dataset = result.manifest.get("dataset") or {}
    parts = [f"# Evaluation of {cell(dataset.get('name') or 'samples given in Python')}", ""]
    stopped = (
        " The run was interrupted; these are the samples that were done." if result.manifest.get("interrupted") else ""
    )
    parts += [f"{len(result):,} samples.{stopped} {cell(policy_line(result))}", ""]
    parts += _metrics(result)
    if any(result.tags):
        parts += _cohorts(result)
    parts += _distributions(result)
    if result.notes:
        parts += ["## Notes", "", *(f"- {cell(note)}" for note in result.notes), ""]
    parts += _failures(result)
    return "\n".join(parts).rstrip() + "\n"


def number(value: float | None, digits: int = 4) -> str:
    """Return a number as tables show it; a dash where there is none."""
    return "-" if value is None else f"{value:.{digits}f}"


def cutoff(column: MetricSummary) -> str:
    """Return a column's cutoff, or the lowest and the highest; a dash where there is none."""
    k = column.k
    return "-" if k is None else f"{k[0]}-{k[1]}" if isinstance(k, tuple) else str(k)


def policy_line(result: Result) -> str:
    """Return the profile and the policy in one line."""
    manifest = result.manifest
    options = " ".join(f"{key}={option_text(value)}" for key, value in (manifest.get("policy") or {}).items())
    return f"Profile {manifest.get('profile', 'default')}: {options}"


def cell(text: object) -> str:
    """Return a text that is safe in a Markdown table: no line breaks, no markup, no HTML."""
    flat = " ".join(str(text).split())
    return re.sub(r"([\\`*_\[\]|~#])", r"\\\1", html.escape(flat, quote=False))


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    rule = ["---"] + ["---:"] * (len(header) - 1)
    return [f"| {' | '.join(row)} |" for row in (header, rule, *rows)] + [""]


def _metrics(result: Result) -> list[str]:
    header = ("metric", "mean", "n", "k", "undefined", "missing", "failed", "std", "p50", "p95", "pass rate (>= 0.5)")
    rows = [
        (
            cell(name),
            number(column.mean),
            str(column.n),
            cutoff(column),
            str(column.n_undefined),
            str(column.n_missing),
            str(column.n_failed),
            number(column.std),
            number(column.percentile(50)),
            number(column.percentile(95)),
            number(column.pass_rate()),
        )
        for name, column in result.metrics.items()
    ]
    return ["## Metrics", "", *_table(header, rows)]


def _cohorts(result: Result) -> list[str]:
    header = ("tag", "samples", *map(cell, result.metrics))
    rows = [
        (
            "(untagged)" if tag is None else cell(tag),
            str(len(cohort)),
            *(number(column.mean) for column in cohort.metrics.values()),
        )
        for tag, cohort in result.by_tag().items()
    ]
    return ["## Cohorts", "", "A sample with several tags counts in each.", "", *_table(header, rows)]


def _distributions(result: Result) -> list[str]:
    parts = ["## Distributions", ""]
    for name, column in result.metrics.items():
        parts += [
            f"<details><summary>{html.escape(' '.join(name.split()))}</summary>",
            "",
            "```text",
            *_bars(column),
            "```",
            "",
            "</details>",
            "",
        ]
    return parts


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
    header, rule = ("sample", "metric", "status", "reason"), ("---", "---", "---", "---")
    table = [f"| {' | '.join(row)} |" for row in (header, rule, *rows)]
    return ["## Missing and failed", "", *table, "", *more]
