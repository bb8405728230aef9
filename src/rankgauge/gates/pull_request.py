"""
What a pull request shows of a run: the verdict first, then gates and means, as Markdown that fits into a comment.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from rankgauge.base.plain_text import visible
from rankgauge.base.tables import cell
from rankgauge.errors import counted
from rankgauge.gates.lines import baseline_line, headline, summary_line
from rankgauge.result.wording import counts, mean, number, policy_line

if TYPE_CHECKING:
    from rankgauge.gates.drop import ColumnChange
    from rankgauge.gates.outcomes import GateReport
    from rankgauge.result import ResultValues

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
    n = sum(map(len, results.values()))
    verdict = f"{', '.join(map(_text, results))}: {counted(n, 'sample')}"
    if report is not None and report.outcomes:
        verdict = summary_line(report)
    if report is not None and report.ids_changed:
        verdict = "the ids changed, not the ranking"
    lines = [f"## rankgauge: {verdict}", ""]
    if any(result.manifest.get("interrupted") for result in results.values()):
        lines += ["The run was interrupted: only these samples were done, and no gate was judged.", ""]
    if baseline:
        is_saved = "baseline" in next(iter(baseline.values())).manifest
        lines += [_text(f"baseline {first}" if first and not is_saved else baseline_line(baseline)), ""]
    if report is not None:
        lines += [
            f"{_text(name)}: {_text(why)}\n" if len(results) > 1 else f"{_text(why)}\n"
            for name, why in report.ids_changed.items()
        ]
        lines += _gates(report, several=len(results) > 1)
    if report is None or not report.ids_changed:
        for name, result in results.items():
            lines += _means(name, result)
            lines += _changes(changes.get(name, ()))
    return _cut(lines)


def _gates(report: GateReport, *, several: bool) -> Iterator[str]:
    if not report.outcomes:
        return
    rows = [
        (_MARKS[outcome.status], _text(str(outcome.gate)), _text(headline(outcome, of_dataset=several)))
        for status in ("error", "failed", "warned", "passed")
        for outcome in report.outcomes
        if outcome.status == status
    ]
    yield from _table(("", "gate", "result"), rows)


def _means(name: str, result: ResultValues) -> Iterator[str]:
    yield f"### {_text(name)}"
    yield ""
    rows = [
        (_text(column.name), mean(column), *(f"{count:,}" for count in counts(column).values()))
        for column in result.metrics.values()
    ]
    yield from _table(("metric", "mean", "n", "undefined", "missing", "failed"), rows)
    yield f"{counted(len(result), 'sample')}, {_text(policy_line(result))}"
    yield ""


def _changes(changes: Sequence[ColumnChange]) -> Iterator[str]:
    """Yield the changes since the baseline, and the samples that fell most."""
    if not changes:
        return
    rows = [
        (
            _text(each.column),
            number(each.baseline),
            number(each.value),
            f"{each.difference:+.4f}",
            "-" if each.interval is None else f"{each.interval[0]:+.4f} to {each.interval[1]:+.4f}",
            f"{each.n:,}",
        )
        for each in changes
    ]
    yield from _table(("since the baseline", "before", "now", "change", "95 % interval", "pairs"), rows)
    for each in changes:
        if each.fallen:
            yield f"<details><summary>{_text(each.column)}: what got worse most</summary>"
            yield ""
            fallen = ((_text(name), number(before), number(after)) for name, before, after in each.fallen)
            yield from _table(("sample", "before", "now"), fallen)
            yield "</details>"
            yield ""


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    for row in (header, ["---"] * len(header), *rows):
        yield f"| {' | '.join(row)} |"
    yield ""


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
