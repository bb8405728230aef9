"""
The terminal report: tables for people.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankgauge.plugin import reporter
from rankgauge.report.bands import band
from rankgauge.report.markdown import number, policy_line

if TYPE_CHECKING:
    from rich.console import Console

    from rankgauge.result import Result

__all__ = ["print_result", "terminal_report"]

_LISTED = 10


@reporter("table", suffix=".txt")
def terminal_report(result: Result) -> str:
    """Lay the result out as plain tables."""
    from rich.console import Console  # noqa: PLC0415  # loads only when a table is wanted

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
    from rich import box  # noqa: PLC0415  # as above
    from rich.markup import escape  # noqa: PLC0415  # as above
    from rich.table import Table  # noqa: PLC0415  # as above

    dataset = result.manifest.get("dataset") or {}
    title = f"{dataset.get('name') or 'samples given in Python'}: {len(result):,} samples"
    table = Table(title=escape(title), title_justify="left", box=box.SIMPLE_HEAD)
    table.add_column("metric", no_wrap=True)
    for heading in ("mean", "n", "undefined", "missing", "failed", "std", "p50", "p95"):
        table.add_column(heading, justify="right", no_wrap=True)
    if bands:
        table.add_column("band")
    for name, column in result.metrics.items():
        row = [escape(name), number(column.mean), f"{column.n:,}"]
        row += [f"{count:,}" if count else "." for count in (column.n_undefined, column.n_missing, column.n_failed)]
        row += [number(column.std), number(column.percentile(50)), number(column.percentile(95))]
        table.add_row(*row, *([band(column.info.alias, column.mean)] if bands else []))
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


def _print_cohorts(result: Result, console: Console) -> None:
    from rich import box  # noqa: PLC0415  # as above
    from rich.markup import escape  # noqa: PLC0415  # as above
    from rich.table import Table  # noqa: PLC0415  # as above

    table = Table(title="means by tag", title_justify="left", box=box.SIMPLE_HEAD)
    table.add_column("tag")
    table.add_column("samples", justify="right")
    for name in result.metrics:
        table.add_column(escape(name), justify="right", overflow="fold")
    for tag, cohort in result.by_tag().items():
        means = (number(column.mean) for column in cohort.metrics.values())
        table.add_row("(untagged)" if tag is None else escape(tag), f"{len(cohort):,}", *means)
    console.print(table)
