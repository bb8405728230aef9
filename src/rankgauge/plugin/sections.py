"""
Section declarations: what a plugin adds to HTML reports, as data and a kind of view, never markup or script.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rankgauge.base.frozen import freeze_fields
from rankgauge.errors import DeclarationError, ParameterError, counted
from rankgauge.plugin.signature import Authored, declaring, plain_name

__all__ = ["ReportBars", "ReportSection", "ReportTable", "ReportText", "View", "report_section"]

_MOST_ROWS, _MOST_COLUMNS, _MOST_LETTERS = 1_000, 30, 20_000

Cell = str | float | None


@dataclass(frozen=True, slots=True)
class ReportTable:
    """
    A table of a report.

    Attributes:
        columns: What each column is called; 1 to 30.

        rows: Rows of as many cells, at most 1,000: texts, finite numbers, or None for an empty cell. Columns of numbers
            are to the right, with three decimals unless all are whole.

    Raises:
        ParameterError: Anything else.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]

    def __post_init__(self) -> None:
        columns = _listed("the columns of a ReportTable", self.columns, _MOST_COLUMNS)
        if not columns or not all(isinstance(name, str) for name in columns):
            raise ParameterError(f"the columns of a ReportTable are one text or more, not {self.columns!r}")
        for number, row in enumerate(_listed("the rows of a ReportTable", self.rows, _MOST_ROWS), 1):
            cells = _listed(f"row {number} of a ReportTable", row, _MOST_COLUMNS)
            if len(cells) != len(columns):
                raise ParameterError(
                    f"row {number} of a ReportTable has {counted(len(cells), 'cell')} for {len(columns)} columns"
                )
            for cell in cells:
                if not (cell is None or isinstance(cell, str) or _is_number(cell)):
                    raise ParameterError(
                        f"row {number} of a ReportTable has {cell!r}; a cell is a text, a finite number or None"
                    )
        freeze_fields(self)


@dataclass(frozen=True, slots=True)
class ReportBars:
    """
    Bars of a report, which start at 0.

    Attributes:
        bars: A label and a finite number for each, at most 1,000.

    Raises:
        ParameterError: Anything else.
    """

    bars: Sequence[tuple[str, float]]

    def __post_init__(self) -> None:
        for bar in _listed("the bars of ReportBars", self.bars, _MOST_ROWS):
            pair = _listed("a bar", bar, 2)
            if len(pair) != 2 or not isinstance(pair[0], str) or not _is_number(pair[1]):
                raise ParameterError(f"a bar is a label and a finite number, not {bar!r}")


@dataclass(frozen=True, slots=True)
class ReportText:
    """
    Plain text of a report.

    Attributes:
        text: Paragraphs with a blank line between, at most 20,000 characters. Markup in it is shown as it is written.

    Raises:
        ParameterError: Anything else.
    """

    text: str

    def __post_init__(self) -> None:
        if not isinstance(self.text, str) or len(self.text) > _MOST_LETTERS:
            given = f"{len(self.text):,} characters" if isinstance(self.text, str) else repr(self.text)
            raise ParameterError(f"a ReportText is a text of at most {_MOST_LETTERS:,} characters, not {given}")


View = ReportTable | ReportBars | ReportText
SectionFunction = Callable[[Mapping[str, Any]], View | Sequence[View] | None]


@dataclass(frozen=True, slots=True)
class ReportSection(Authored):
    """A section of HTML reports; the fields are the arguments of `report_section`."""

    name: str
    title: str
    function: SectionFunction


def report_section(name: str, *, title: str) -> Callable[[SectionFunction], SectionFunction]:
    """
    Declare a section of HTML reports: ``(results: Mapping[str, FinishedRun]) -> view``.

    The function is given the results of the report by run, the baseline first, and returns a `ReportTable`,
    `ReportBars` or `ReportText`, a list of these, or None if it has nothing to show. The first line of its docstring
    is below the title. If it fails, the report says so and is complete without it.

    Args:
        name: Lower-case words joined by hyphens.

        title: The heading.

    Returns:
        A decorator that leaves the function as it is.

    Raises:
        DeclarationError: When applied: the name or the title cannot be used.
    """

    def declare(function: SectionFunction) -> ReportSection:
        if not isinstance(title, str) or not title.strip():
            raise DeclarationError(f"the title of report section {name!r} must be a text, not {title!r}")
        return ReportSection(plain_name(name), title, function)

    return declaring(declare)


def _listed(what: str, given: object, most: int) -> Sequence[Any]:
    """Return what was given as a list of at most so many; refuse anything else."""
    if not isinstance(given, Sequence) or isinstance(given, str | bytes):
        raise ParameterError(f"{what} must be a list, not {given!r}")
    if len(given) > most:
        raise ParameterError(f"{what} must be at most {most:,}, not {len(given):,}")
    return given


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
