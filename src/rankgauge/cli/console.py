"""
Consoles: stdout carries the result, stderr everything else.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

    from rankgauge.catalog import Catalog
    from rankgauge.engine.values import Progress

__all__ = [
    "complain",
    "parameter_line",
    "plain_table",
    "print_json",
    "progress_bar",
    "remark",
    "stdout_console",
    "warn_of_faults",
]

_PATIENCE = 0.5
"""Seconds before a progress bar shows."""

_PIPE_WIDTH = 160

_NARROWEST = 12
"""How narrow a column of a table is made so that the others fit."""


def complain(message: str) -> None:
    """Print an error to stderr."""
    print(f"error: {message}", file=sys.stderr)  # noqa: T201  # this is where printing belongs


def remark(message: str) -> None:
    """Print a note to stderr."""
    print(message, file=sys.stderr)  # noqa: T201  # to stderr, of which nothing is piped on


def warn_of_faults(catalog: Catalog) -> None:
    """Print a line to stderr for each broken plugin, which explains what a list lacks."""
    for fault in catalog.faults:
        remark(f"warning: plugin {fault.plugin} {fault.version} is broken: {' '.join(fault.message.split())}")


def stdout_console() -> Console:
    """Return a console for stdout: as wide as the terminal, and wide enough for tables where there is none."""
    from rich.console import Console

    class Stdout(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # `exit_code` handles it; rich would exit with 1

    return Stdout(width=None if sys.stdout.isatty() else _PIPE_WIDTH, highlight=False)


def print_json(value: object) -> None:
    """Print a value as JSON to stdout."""
    import orjson
    import typer

    options = orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS | orjson.OPT_SERIALIZE_NUMPY
    try:
        text = orjson.dumps(value, option=options).decode()
    except TypeError:  # half a surrogate pair, which JSON can escape and UTF-8 cannot encode
        import json

        text = json.dumps(value, indent=2)
    typer.echo(text)


def parameter_line(parameter: Mapping[str, Any]) -> str:
    """Return a parameter of a metric or comparer: its value, the default where it differs, and its choices."""
    value, default = (_written(parameter.get(key, parameter["default"])) for key in ("value", "default"))
    usual = "" if value == default else f" (default {default})"
    choices = f", one of {', '.join(map(str, parameter['choices']))}" if parameter["choices"] else ""
    return f"  {parameter['name']} = {value}{usual}{choices}"


def _written(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value) or "(empty)"


def plain_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """
    Print a table to stdout: as wide as a terminal, the first column in one piece.

    By hand, because a listing may have a thousand rows, over which rich takes half a second.
    """
    import typer

    lines = [[_lines(cell) for cell in row] for row in rows]
    widths = [
        max([_width(title), *(_width(line) for row in lines for line in row[place])])
        for place, title in enumerate(header)
    ]
    room = shutil.get_terminal_size().columns if sys.stdout.isatty() else _PIPE_WIDTH
    excess = sum(widths) + 2 * len(widths) - room
    while excess > 0 and (widest := max(widths[1:], default=0)) > _NARROWEST:
        widths[widths.index(widest, 1)] -= 1
        excess -= 1
    unicode = (sys.stdout.encoding or "").lower().startswith("utf")
    shown = [
        "  ".join(typer.style(_padded(title, width), bold=True) for title, width in zip(header, widths, strict=True))
    ]
    shown.append("  ".join(("─" if unicode else "-") * width for width in widths))
    for row in lines:
        wrapped = [
            [piece for line in cell for piece in (_wrapped(line, width) if place else [line])]
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        shown += (
            "  ".join(_padded(piece, width) for piece, width in zip(pieces, widths, strict=True)).rstrip()
            for pieces in zip_longest(*wrapped, fillvalue="")
        )
    typer.echo("\n".join(shown))


def _lines(cell: str) -> list[str]:
    return cell.splitlines() or [""]


def _width(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def _padded(text: str, width: int) -> str:
    return text + " " * (width - _width(text))


def _wrapped(text: str, width: int) -> list[str]:
    """Return a line of text as lines of at most some width, broken between words where that is possible."""
    if _width(text) <= width:
        return [text]
    from rich.cells import chop_cells

    found = [""]
    for word in text.split():
        if found[-1] and _width(found[-1]) + 1 + _width(word) <= width:
            found[-1] += f" {word}"
        else:
            found += chop_cells(word, width)
    return found[1:]


@contextmanager
def progress_bar(label: str, *, wanted: bool) -> Iterator[Progress | None]:
    """Show a progress bar on stderr if it is *wanted*, that is a terminal and the work takes long; else yield None."""
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
