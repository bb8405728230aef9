"""
Sections that plugins add to the HTML report, as its template shows them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rankgauge.base.plain_text import visible
from rankgauge.plugin.sections import Cell, ReportBars, ReportTable, View
from rankgauge.report.html.packing import clipped
from rankgauge.report.html.report_data import Section
from rankgauge.report.html.words import score

__all__ = ["laid_out"]


def laid_out(section: Section) -> dict[str, Any]:
    """Return what the template shows of a plugin's section; it escapes every text, and nothing is markup."""
    return {
        "title": visible(section.title),
        "how": visible(f"{section.summary} Added by {section.provider}.".strip()),
        "views": [_view(view) for view in section.views],
    }


def _view(view: View) -> dict[str, Any]:
    if isinstance(view, ReportTable):
        columns: list[Sequence[Cell]] = [[row[at] for row in view.rows] for at in range(len(view.columns))]
        are_numbers = [_are_numbers(column) for column in columns]
        rows = zip(*map(_texts, columns), strict=True)
        return {
            "kind": "table",
            "columns": list(zip(map(_text, view.columns), are_numbers, strict=True)),
            "rows": [list(zip(row, are_numbers, strict=True)) for row in rows],
        }
    if isinstance(view, ReportBars):
        most = max((abs(value) for _, value in view.bars), default=0.0) or 1.0
        bars = zip(view.bars, _texts([value for _, value in view.bars]), strict=True)
        return {
            "kind": "bars",
            "bars": [(_text(label), number, f"{100 * abs(value) / most:.2f}%") for (label, value), number in bars],
        }
    return {"kind": "text", "paragraphs": [visible(part.strip(), keep="\n") for part in view.text.split("\n\n")]}


def _are_numbers(column: Sequence[Cell]) -> bool:
    return any(cell is not None for cell in column) and not any(isinstance(cell, str) for cell in column)


def _texts(column: Sequence[Cell]) -> list[str]:
    """Return the cells of a column as texts; its numbers have one number of decimals."""
    is_whole = all(float(cell).is_integer() for cell in column if cell is not None and not isinstance(cell, str))
    return [
        "" if cell is None else _text(cell) if isinstance(cell, str) else _number(cell, is_whole) for cell in column
    ]


def _number(value: float, is_whole: bool) -> str:  # noqa: FBT001  # of a whole column
    return f"{value:,.0f}".replace("-", "\N{MINUS SIGN}") if is_whole else score(value)


def _text(text: str) -> str:
    return visible(clipped(text))
