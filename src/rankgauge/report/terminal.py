"""
The terminal report: tables for people.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rankgauge.plugin import reporter
from rankgauge.report.bands import band
from rankgauge.report.markdown import cutoff, number, policy_line

if TYPE_CHECKING:
    from rich.console import Console

    from rankgauge.result import Result

__all__ = ["print_result", "terminal_report"]

_LISTED = 10
_PADDING = 3


@reporter("table", suffix=".txt")
def terminal_report(result: Result) -> str:
    """Lay the result out as plain tables."""
    from rich.console import Console  # loads only when a table is wanted

    console = Console(width=120, no_color=True, highlight=False, force_terminal=False, legacy_windows=False)
    with console.capture() as captured:
        print_result(result, console)
    return "\n".join(line.rstrip() for line in captured.get().splitlines()) + "\n"


def print_result(result: Result, console: Console, *, bands: bool = False) -> None:
    """
    Print a result.

    Args:
        result: The scores.

        console: Where to.

        bands: Whether to add a word for each mean.
    """
    from rich import box  # as above
    from rich.markup import escape  # as above
    from rich.table import Table  # as above

    dataset = result.manifest.get("dataset") or {}
    title = f"{dataset.get('name') or 'samples given in Python'}: {len(result):,} samples"
    numbers = {
        "mean": [number(column.mean) for column in result.metrics.values()],
        "n": [f"{column.n:,}" for column in result.metrics.values()],
        "k": [cutoff(column) for column in result.metrics.values()],
        "undefined": [f"{column.n_undefined:,}" for column in result.metrics.values()],
        "missing": [f"{column.n_missing:,}" for column in result.metrics.values()],
        "failed": [f"{column.n_failed:,}" for column in result.metrics.values()],
        "std": [number(column.std) for column in result.metrics.values()],
        "p50": [number(column.percentile(50)) for column in result.metrics.values()],
        "p95": [number(column.percentile(95)) for column in result.metrics.values()],
    }
    if bands:
        numbers["band"] = [band(column.info.alias, column.mean) for column in result.metrics.values()]
    kept = _fitting(list(result.metrics), numbers, console.width)
    table = Table(title=escape(title), title_justify="left", box=box.SIMPLE_HEAD)
    table.add_column("metric", overflow="fold")
    for heading in kept:
        table.add_column(heading, justify="right", no_wrap=True)
    for row, name in enumerate(result.metrics):
        table.add_row(escape(name), *(numbers[heading][row] for heading in kept))
    console.print(table)
    if any(result.tags):
        _print_cohorts(result, console)
    errors = result.errors
    for error in errors[:_LISTED]:
        where = f" ({error.metric})" if error.metric else ""
        console.print(
            f"{error.status}: sample {error.sample_id!r}{where}: {error.reason}", markup=False, soft_wrap=True
        )
    if len(errors) > _LISTED:
        console.print(f"... and {len(errors) - _LISTED:,} more; a saved result lists them all", markup=False)
    console.print(policy_line(result), markup=False, soft_wrap=True, style="dim")


def _fitting(names: Sequence[str], numbers: Mapping[str, Sequence[str]], width: int) -> list[str]:
    """Return the columns that fit, leaving out what says least first: counts of nothing, then the finer statistics."""
    kept = list(numbers)
    wasted = [heading for heading in ("undefined", "missing", "failed") if set(numbers[heading]) <= {"0"}]
    for least in (*wasted, "p95", "p50", "std", "k", "undefined"):
        taken = [max(map(len, (heading, *numbers[heading])), default=0) + _PADDING for heading in kept]
        if max(map(len, names), default=0) + 2 * _PADDING + sum(taken) <= width:
            break
        if least in kept:
            kept.remove(least)
    return kept


def _print_cohorts(result: Result, console: Console) -> None:
    from rich import box  # as above
    from rich.markup import escape  # as above
    from rich.table import Table  # as above

    cohorts = result.by_tag()
    labels = ["(untagged)" if tag is None else tag for tag in cohorts]
    width = sum(max(len(name), 6) + _PADDING for name in result.metrics) + max(map(len, labels)) + 5 * _PADDING
    table = Table(title="means by tag", title_justify="left", box=box.SIMPLE_HEAD)
    if width <= console.width:
        table.add_column("tag")
        for heading in ("samples", *result.metrics):
            table.add_column(escape(heading), justify="right", no_wrap=True)
        for label, cohort in zip(labels, cohorts.values(), strict=True):
            means = (number(column.mean) for column in cohort.metrics.values())
            table.add_row(escape(label), f"{len(cohort):,}", *means)
    else:  # metrics down instead of across
        table.add_column("metric", overflow="fold")
        for label, cohort in zip(labels, cohorts.values(), strict=True):
            table.add_column(f"{escape(label)} ({len(cohort):,})", justify="right", overflow="fold", min_width=6)
        for name in result.metrics:
            table.add_row(escape(name), *(number(cohort.metrics[name].mean) for cohort in cohorts.values()))
    console.print(table)
