"""
Consoles: stdout carries the result, stderr everything else.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from rankgauge.catalog import Catalog
    from rankgauge.engine.values import Progress

__all__ = ["complain", "plain_table", "progress_bar", "remark", "stdout_console", "warn_of_faults"]

_PATIENCE = 0.5
"""Seconds before a progress bar shows."""

_PIPE_WIDTH = 160


def complain(message: str) -> None:
    """Print an error to stderr."""
    print(f"error: {message}", file=sys.stderr)  # noqa: T201  # this is where printing belongs


def remark(message: str) -> None:
    """Print something worth knowing to stderr."""
    print(message, file=sys.stderr)  # noqa: T201  # as above


def warn_of_faults(catalog: Catalog) -> None:
    """Print to stderr which plugins are broken, so that what a listing lacks is no riddle; one line each."""
    for fault in catalog.faults:
        remark(f"warning: plugin {fault.plugin} {fault.version} is broken: {' '.join(fault.message.split())}")


def stdout_console() -> Console:
    """Return a console for stdout: as wide as a terminal, and wide enough for tables where there is none."""
    from rich.console import Console

    class Stdout(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # which `main` knows what to do with; rich would exit with 1

    return Stdout(width=None if sys.stdout.isatty() else _PIPE_WIDTH, highlight=False)


def plain_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table to stdout."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD)
    for place, title in enumerate(header):
        table.add_column(title, no_wrap=place == 0, overflow="fold")
    for row in rows:
        table.add_row(*map(escape, row))
    stdout_console().print(table)


@contextmanager
def progress_bar(label: str, *, wanted: bool) -> Iterator[Progress | None]:
    """
    Show a progress bar on stderr, when that is a terminal and the work takes long.

    Args:
        label: What is done.

        wanted: Whether a bar may be shown at all.

    Yields:
        What to call as samples are done; None when no bar is shown.
    """
    if not wanted or not sys.stderr.isatty():
        yield None
        return
    import time

    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    bar = Bar(*columns, console=Console(stderr=True), transient=True)
    task = bar.add_task(label, total=None)
    begun = time.monotonic()
    try:

        def report(done: int, total: int | None) -> None:
            if not bar.live.is_started and time.monotonic() - begun > _PATIENCE:
                bar.start()
            bar.update(task, completed=done, total=total)

        yield report
    finally:
        bar.stop()
