"""
Findings of labels and changes to them, laid out for a terminal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from rankgauge.base.tables import Line, listing, ruled
from rankgauge.errors import counted
from rankgauge.gold.label_findings import GoldReport, LabelFinding
from rankgauge.gold.repair_labels import LabelChange, Repaired

__all__ = ["change_lines", "finding_lines"]

_OF_LABELS = ("moved", "edited", "split", "ambiguous", "gone")


def finding_lines(report: GoldReport, *, most: int | None, width: int | None) -> Iterator[Line]:
    """Yield how many labels hold, and the first findings; *most* is how many, None for all."""
    title = f"labels of {counted(report.samples, 'sample')} against {counted(report.documents, 'document')}"
    counts: Counter[tuple[str, str]] = Counter((finding.kind, finding.status) for finding in report.findings)
    rows = [
        [kind, f"{number:,}", f"{report.valid[kind]:,}", *(f"{counts[kind, status]:,}" for status in _OF_LABELS)]
        for kind, number in report.labels.items()
    ]
    yield from ruled(title, ["gold", "labels", "valid", *_OF_LABELS], rows, width=width)
    others = {status: number for status, number in report.counts().items() if status not in _OF_LABELS}
    if others:
        yield Line(f"also: {', '.join(f'{number:,} {status}' for status, number in others.items())}\n")
    if not report.findings:
        yield Line("every label holds")
        return
    shown = report.findings[:most]
    yield from listing(["sample", "label", "status", "what"], [_row(finding) for finding in shown], width=width)
    if more := len(report.findings) - len(shown):
        yield Line(f"\nand {more:,} more; --limit 0 shows all, --json has them")


def _row(finding: LabelFinding) -> list[str]:
    what = f"{finding.reason}\n{finding.difference}" if finding.difference else finding.reason
    return [finding.sample, f"{finding.kind}: {finding.label}", finding.status, what]


def change_lines(repaired: Repaired) -> Iterator[str]:
    """Yield each change as a difference, and what is left to a person."""
    for change in repaired.changes:
        yield from _difference(change)
    left = Counter(finding.status for finding in repaired.left)
    yield f"{counted(len(repaired.changes), 'change')}" + (
        f"; left as they are: {', '.join(f'{number:,} {status}' for status, number in left.most_common())}"
        if left
        else ""
    )


def _difference(change: LabelChange) -> Sequence[str]:
    finding = change.finding
    head = f"{finding.sample}, {finding.kind}: {finding.status}, {finding.reason}"
    if finding.kind == "passages":
        return [head, f"  {finding.difference}", ""]
    kept = [f"  + {name}" for name in change.now if name != change.was]
    return [head, f"  {' ' if change.was in change.now else '-'} {change.was}", *kept, ""]
