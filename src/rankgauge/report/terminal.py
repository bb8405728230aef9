"""
The terminal report: tables for people.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rankgauge.errors import counted
from rankgauge.plugin import reporter
from rankgauge.report.bands import band
from rankgauge.report.samples import listed_lines
from rankgauge.report.wording import (
    ERROR_LINE,
    FACTS,
    calls_line,
    column_lines,
    facts,
    listed_cohorts,
    mean,
    policy_line,
)
from rankgauge.visible import visible

if TYPE_CHECKING:
    from rich.console import Console

    from rankgauge.result import Result

__all__ = ["print_result", "terminal_report"]

_LISTED = 10
_PADDING = 3


@reporter("table", suffix=".txt")
def terminal_report(result: Result) -> str:
    """Lay the result out as plain tables."""
    from rich.console import Console  # a run that prints JSON goes without rich

    console = Console(
        width=120, no_color=True, highlight=False, emoji=False, force_terminal=False, legacy_windows=False
    )
    with console.capture() as captured:
        print_result(result, console)
    return "\n".join(line.rstrip() for line in captured.get().splitlines()) + "\n"


def print_result(result: Result, console: Console, *, bands: bool = False) -> None:
    """Print a result, with a word for each mean where *bands* are wanted."""
    dataset = result.manifest.get("dataset") or {}
    columns = list(result.metrics.values())
    table = [facts(column) for column in columns]
    numbers = {heading: [row[heading] for row in table] for heading in FACTS}
    if bands:
        numbers["band"] = [band(column.info.alias, column.mean) for column in columns]
    kept = _fitting(list(result.metrics), numbers, console.width)
    rows = [(name, *(numbers[heading][place] for heading in kept)) for place, name in enumerate(result.metrics)]
    title = f"{dataset.get('name') or 'samples given in Python'}: {counted(len(result), 'sample')}"
    _print_table(console, title, ("metric", *kept), rows)
    if any(result.tags):
        _print_cohorts(result, console)
    errors = result.errors
    for error in errors[:_LISTED]:
        where = f" ({error.metric})" if error.metric else ""
        line = visible(f"{error.status}: sample {error.sample_id!r}{where}: {error.reason}")
        console.print(line, markup=False, soft_wrap=True)
    if len(errors) > _LISTED:
        console.print(f"... and {len(errors) - _LISTED:,} more; a saved result lists them all", markup=False)
    for line in listed_lines(result):
        console.print(line, markup=False, soft_wrap=True)
    if "se" in kept:
        console.print(ERROR_LINE, markup=False, soft_wrap=True, style="dim")
    for line in column_lines(result):
        console.print(line, markup=False, soft_wrap=True, style="dim")
    if line := calls_line(result):
        console.print(line, markup=False, soft_wrap=True, style="dim")
    console.print(policy_line(result), markup=False, soft_wrap=True, style="dim")


def _fitting(names: Sequence[str], numbers: Mapping[str, Sequence[str]], width: int) -> list[str]:
    """Return the columns that fit, leaving out what says least first: counts of nothing, then the finer statistics."""
    kept = list(numbers)
    wasted = [heading for heading in ("undefined", "missing", "failed") if set(numbers[heading]) <= {"0"}]
    for least in (*wasted, "p95", "p50", "std", "k", "undefined", "high", "low", "se"):
        taken = [max(map(len, (heading, *numbers[heading])), default=0) + _PADDING for heading in kept]
        if max(map(len, names), default=0) + 2 * _PADDING + sum(taken) <= width:
            break
        if least in kept:
            kept.remove(least)
    return kept


def _print_cohorts(result: Result, console: Console) -> None:
    """Print the means by cohort; metrics down instead of across where they do not fit and are more than the cohorts."""
    cohorts, others = listed_cohorts(result)
    longest = max(len(tag) for tag, _ in cohorts)
    width = sum(max(len(name), 6) + _PADDING for name in result.metrics) + longest + 5 * _PADDING
    if width <= console.width or len(cohorts) > len(result.metrics):
        header = ["cohort", "samples", *result.metrics]
        rows = [(tag, f"{len(cohort):,}", *map(mean, cohort.metrics.values())) for tag, cohort in cohorts]
    else:
        header = ["metric", *(f"{tag} ({len(cohort):,})" for tag, cohort in cohorts)]
        rows = [(name, *(mean(cohort.metrics[name]) for _, cohort in cohorts)) for name in result.metrics]
    _print_table(console, "means by cohort", header, rows, folds=width > console.width)
    if others:
        console.print(f"... and {visible(others)}", markup=False, soft_wrap=True)


def _print_table(
    console: Console, title: str, header: Sequence[str], rows: Iterable[Sequence[str]], *, folds: bool = False
) -> None:
    """Print a table, whose first column may take several lines, and the others too if it *folds*."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    def shown(text: str) -> str:
        return escape(visible(text))

    table = Table(title=shown(title), title_justify="left", box=box.SIMPLE_HEAD)
    table.add_column(shown(header[0]), overflow="fold")
    shape: dict[str, Any] = {"overflow": "fold", "min_width": 6} if folds else {"no_wrap": True}
    for heading in header[1:]:
        table.add_column(shown(heading), justify="right", **shape)
    for row in rows:
        table.add_row(*map(shown, row))
    console.print(table)
