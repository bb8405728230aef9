"""
What a pull request shows of a run: the verdict first, then gates and means, as Markdown that fits into a comment.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from rankgauge.base.plain_text import visible
from rankgauge.base.tables import cell, markdown_table
from rankgauge.comparison.sentences import signed, span
from rankgauge.errors import counted
from rankgauge.gates.drop import ColumnChange
from rankgauge.gates.outcomes import GateReport, baseline_line, headline, summary_line
from rankgauge.result import ResultValues
from rankgauge.result.wording import cluster_line, interval_text, mean, number, policy_line

__all__ = ["pull_request_markdown"]

_LARGEST = 64_000
"""How many bytes a comment on GitHub may have, and some to spare."""

_MARKS = {"passed": "✅ passed", "failed": "❌ failed", "warned": "⚠️ warning", "error": "❌ cannot be judged"}


def pull_request_markdown(
    results: Mapping[str, ResultValues],
    report: GateReport | None,
    baseline: Mapping[str, ResultValues] | None = None,
    changes: Mapping[str, Sequence[ColumnChange]] = MappingProxyType({}),
    *,
    first: str = "",
) -> str:
    """
    Lay out verdict, gates, changes and means of some results; where ids changed, that and no number.

    *first* is the name of a baseline that comes from no file or folder, which would know its own.
    """
    several = len(results) > 1
    lines = [f"## rankgauge: {_verdict(results, report)}", ""]
    if any(result.manifest.get("interrupted") for result in results.values()):
        lines += ["The run was interrupted: only these samples were done, and no gate was judged.", ""]
    if baseline:
        is_saved = "baseline" in next(iter(baseline.values())).manifest
        lines += [_text(f"baseline {first}" if first and not is_saved else baseline_line(baseline)), ""]
    if report is not None:
        for name, why in report.ids_changed.items():
            lines += [f"{f'{_text(name)}: ' if several else ''}{_text(why)}", ""]
        lines += _gates(report, several=several)
    if report is None or not report.ids_changed:
        for name, result in results.items():
            lines += [*_means(name, result), *_changes(changes.get(name, ()))]
    return _cut(lines)


def _verdict(results: Mapping[str, ResultValues], report: GateReport | None) -> str:
    if report is not None and report.ids_changed:
        return "the ids changed, not the ranking"
    if report is not None and report.outcomes:
        return summary_line(report)
    return f"{', '.join(map(_text, results))}: {counted(sum(map(len, results.values())), 'sample')}"


def _gates(report: GateReport, *, several: bool) -> list[str]:
    """Return the table of all gates, the worst first."""
    rows = [
        (_MARKS[status], _text(str(outcome.gate)), _text(headline(outcome, of_dataset=several)))
        for status in ("error", "failed", "warned", "passed")
        for outcome in report.of(status)
    ]
    return markdown_table(("", "gate", "result"), rows, "---") if rows else []


def _means(name: str, result: ResultValues) -> list[str]:
    rows = [
        (_text(column.name), mean(column), interval_text(column), *(f"{count:,}" for count in column.counts.values()))
        for column in result.metrics.values()
    ]
    means = markdown_table(("metric", "mean", "95 % interval", "n", "undefined", "missing", "failed"), rows, "---")
    notes = [line for note in result.notes for line in (f"- {_text(note)}", "")]
    of = f"{counted(len(result), 'sample')}, {_text(policy_line(result))}"
    clusters = [_text(line), ""] if (line := cluster_line(result)) else []
    return [f"### {_text(name)}", "", *means, of, "", *clusters, *notes]


def _changes(changes: Sequence[ColumnChange]) -> list[str]:
    """Return the changes since the baseline, and the samples that fell most."""
    if not changes:
        return []
    rows = [
        (
            _text(change.column),
            number(change.baseline),
            number(change.value),
            signed(change.difference),
            span(change.interval),
            f"{change.n:,}",
        )
        for change in changes
    ]
    lines = markdown_table(("since the baseline", "before", "now", "change", "95 % interval", "pairs"), rows, "---")
    for change in changes:
        if change.fallen:
            fallen = [(_text(name), number(before), number(after)) for name, before, after in change.fallen]
            lines += [f"<details><summary>{_text(change.column)}: what got worse most</summary>", ""]
            lines += [*markdown_table(("sample", "before", "now"), fallen, "---"), "</details>", ""]
    return lines


def _text(text: str) -> str:
    return cell(visible(text))


def _cut(lines: Sequence[str]) -> str:
    """Return the lines that fit, and say where some do not."""
    kept, size = [], 0
    for line in lines:
        size += len(line.encode()) + 1
        if size > _LARGEST:
            kept += ["", "... cut here, because a comment cannot be longer; the report in the log is complete"]
            break
        kept.append(line)
    return "\n".join(kept).rstrip() + "\n"
