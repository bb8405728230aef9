"""
Consoles: stdout carries the result, stderr everything else.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from rankgauge.cli.streams import results
from rankgauge.visible import visible, visible_json

if TYPE_CHECKING:
    from rich.console import Console

    from rankgauge.catalog import Catalog
    from rankgauge.engine.values import Progress
    from rankgauge.plugin.signature import Parameter

__all__ = [
    "complain",
    "debugging",
    "described_parameter",
    "echo",
    "emit",
    "is_debugging",
    "json_text",
    "parameter_line",
    "plain_table",
    "print_json",
    "print_report",
    "progress_bar",
    "remark",
    "stdout_console",
    "terminal_width",
    "warn_of_faults",
]

_PATIENCE = 0.5
"""Seconds before a progress bar shows."""

_PIPE_WIDTH = 160

_LAYOUT = "\n\t"
"""The control characters that texts for people are laid out with."""

_NARROWEST = 12
"""How narrow a column of a table is made so that the others fit."""


_DEBUG: ContextVar[bool] = ContextVar("rankgauge_debug", default=False)


@contextmanager
def debugging(*, wanted: bool) -> Iterator[None]:
    """Say for one call whether tracebacks are shown."""
    token = _DEBUG.set(wanted)
    try:
        yield
    finally:
        _DEBUG.reset(token)


def is_debugging() -> bool:
    """Return whether tracebacks are shown."""
    return _DEBUG.get()


def complain(message: str) -> None:
    """Print an error to stderr."""
    remark(f"error: {message}")


def remark(message: str) -> None:
    """Print a note to stderr."""
    if sys.stderr is None:  # a plugin has removed it
        return
    with contextlib.suppress(OSError, ValueError):  # nobody reads it any more: the result is what matters
        sys.stderr.write(f"{visible(message, keep=_LAYOUT)}\n")


def echo(text: str) -> None:
    """Print a text for people to stdout, with unsafe characters of outside text as escapes."""
    emit([f"{visible(text, keep=_LAYOUT)}\n"])


def emit(texts: Iterable[str]) -> None:
    """Print texts as they are to stdout: JSON, reports in other formats, and lines that are safe already."""
    stream = results()
    stream.writelines(texts)
    stream.flush()


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

    stream = results()
    return Stdout(file=stream, width=None if stream.isatty() else _PIPE_WIDTH, highlight=False, emoji=False)


def json_text(value: object, option: int = 0) -> str:
    """Return a value as JSON, with an option of orjson, whatever its strings hold."""
    import orjson

    try:
        return orjson.dumps(value, option=option).decode()
    except TypeError:  # half a surrogate pair, which JSON can escape and UTF-8 cannot encode
        import json

        return json.dumps(value, indent=2)


def print_json(value: object) -> None:
    """Print a value as JSON to stdout."""
    import orjson

    text = json_text(value, orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS | orjson.OPT_SERIALIZE_NUMPY)
    emit([visible_json(text), "\n"])


def print_report(form: str, texts: Iterable[str]) -> None:
    """Print reports of a format: as they are into a file or pipe, without control characters on a terminal."""
    if form in {"json", "jsonl"}:
        emit(map(visible_json, texts))
    elif results().isatty():
        emit(visible(text, keep=_LAYOUT) for text in texts)
    else:
        emit(texts)


def described_parameter(parameter: Parameter, **more: object) -> dict[str, Any]:
    """Return a parameter of a metric or comparer in plain values."""
    return {"name": parameter.name, **more, "default": parameter.default, "choices": list(parameter.choices)}


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
    cells = [[visible(cell, keep="\n").split("\n") for cell in row] for row in (header, *rows)]
    widths = [max(_width(line) for row in cells for line in row[place]) for place in range(len(header))]
    stream = results()
    room = terminal_width() if stream.isatty() else _PIPE_WIDTH
    while sum(widths) + 2 * len(widths) > room and (widest := max(widths[1:], default=0)) > _NARROWEST:
        widths[widths.index(widest, 1)] -= 1
    unicode = (stream.encoding or "").lower().startswith("utf")
    titles, *lines = (_row(row, widths) for row in cells)
    rule = "  ".join(("─" if unicode else "-") * width for width in widths)
    bold = (f"\x1b[1m{line}\x1b[0m" if stream.isatty() else line for line in titles)
    emit(f"{line}\n" for line in (*bold, rule, *(line for row in lines for line in row)))


def terminal_width(usual: int = 80) -> int:
    """Return how many columns the terminal has, or COLUMNS says, or else *usual*, as `shutil` does more slowly."""
    try:
        said = int(os.environ["COLUMNS"])
    except (KeyError, ValueError):
        said = 0
    if said > 0:
        return said
    try:
        return os.get_terminal_size(sys.__stdout__.fileno()).columns or usual  # type: ignore[union-attr]  # closed
    except (AttributeError, ValueError, OSError):
        return usual


def _row(cells: Sequence[Sequence[str]], widths: Sequence[int]) -> list[str]:
    """Return the lines of one row."""
    wrapped = [
        [piece for line in cell for piece in _wrapped(line, width)] for cell, width in zip(cells, widths, strict=True)
    ]
    return [
        "  ".join(piece + " " * (width - _width(piece)) for piece, width in zip(pieces, widths, strict=True)).rstrip()
        for pieces in zip_longest(*wrapped, fillvalue="")
    ]


def _width(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


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

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    bar = Bar(*columns, console=Console(stderr=True, emoji=False), transient=True)
    task = bar.add_task(visible(label), total=None)
    begun = time.monotonic()
    try:

        def report(done: int, total: int | None) -> None:
            if not bar.live.is_started and time.monotonic() - begun > _PATIENCE:
                bar.start()
            bar.update(task, completed=done, total=total)

        yield report
    finally:
        bar.stop()
