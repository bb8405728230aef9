"""
Consoles: stdout carries the result, stderr everything else.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeVar

from rankgauge.base.plain_text import no_command, visible, visible_json
from rankgauge.cli.streams import results

if TYPE_CHECKING:
    import argparse

    from rankgauge.base.tables import Line
    from rankgauge.catalog import Catalog
    from rankgauge.engine.sample_score import Progress
    from rankgauge.plugin.signature import Parameter
    from rankgauge.result import Result

_PATIENCE = 0.5
"""Seconds before a progress bar shows."""

_PIPE_WIDTH = 160

_T = TypeVar("_T")

_LAYOUT = "\n\t"
"""The control characters that texts for people are laid out with."""

_DEBUG: ContextVar[bool] = ContextVar("rankgauge_debug", default=False)
_PLAIN: ContextVar[bool] = ContextVar("rankgauge_plain", default=False)
_REWORDED: ContextVar[Callable[[str], str]] = ContextVar("rankgauge_reworded", default=str)


@contextmanager
def plain(*, wanted: bool) -> Iterator[None]:
    """Say for one call whether output is for logs: no colour, no bar, one line a row however long it is."""
    token = _PLAIN.set(wanted)
    try:
        yield
    finally:
        _PLAIN.reset(token)


@contextmanager
def debugging(*, wanted: bool) -> Iterator[None]:
    """Say for one call whether tracebacks are shown; and how its errors are worded is its own matter."""
    token, reworded = _DEBUG.set(wanted), _REWORDED.set(str)
    try:
        yield
    finally:
        _DEBUG.reset(token)
        _REWORDED.reset(reworded)


def is_debugging() -> bool:
    """Return whether tracebacks are shown."""
    return _DEBUG.get()


def reword_errors(reworded: Callable[[str], str]) -> None:
    """Say how errors of this call are worded, such as with the names of variables instead of their values."""
    _REWORDED.set(reworded)


def complain(message: str) -> None:
    """Print an error to stderr."""
    remark(f"error: {_REWORDED.get()(message)}")


def remark(message: str, *, is_command: bool = False) -> None:
    """Print a note to stderr; only what *is_command* is one to GitHub Actions."""
    if sys.stderr is None:  # a plugin has removed it
        return
    with contextlib.suppress(OSError, ValueError):  # there is no reader any more: the result is what matters
        text = visible(message, keep=_LAYOUT)
        sys.stderr.write(f"{text if is_command else no_command(text)}\n")


def echo(text: str) -> None:
    """Print a text for people to stdout, with unsafe characters of outside text as escapes."""
    emit([f"{visible(text, keep=_LAYOUT)}\n"])


def tell_notes(results: Mapping[str, Result]) -> None:
    """Say on stderr what limits the numbers of runs, each note once for all runs of which it is true."""
    sharing: dict[str, list[str]] = {}
    for name, result in results.items():
        failures = [column.failure for column in result.metrics.values() if column.failure]
        for note in dict.fromkeys([*result.notes, *failures]):
            sharing.setdefault(note, []).append(name)
    for note, names in sharing.items():
        runs = f"{len(names)} runs" if len(names) > 1 else names[0]
        remark(visible(f"{runs}: {note}" if len(results) > 1 else note))


def tell_broken(results: Mapping[str, Result]) -> int:
    """Say which metrics failed for every sample, and return the exit code of that; 0 if none did."""
    from rankgauge.errors import MetricFailedError
    from rankgauge.result.health import broken_metrics  # loaded by then, as there are results

    broken = broken_metrics(results)
    for line in broken:
        complain(f"a metric failed for every sample: {line}")
    return MetricFailedError.exit_code if broken else 0


def emit(texts: Iterable[str]) -> None:
    """Print texts as they are to stdout: JSON, reports in other formats, and lines that are safe already."""
    stream = results()
    stream.writelines(map(no_command, texts))
    stream.flush()


def warn_of_faults(catalog: Catalog) -> None:
    """Print a line to stderr for each broken plugin, which explains what a list lacks."""
    for fault in catalog.faults:
        remark(f"warning: plugin {fault.plugin} {fault.version} is broken: {' '.join(fault.message.split())}")


_PAINTS = {"head": "1", "verdict": "1", "small": "2", "good": "32", "bad": "31", "open": "33"}
"""How lines of a role are painted; a colour never is without a word that says the same."""


def show(lines: Iterable[Line]) -> None:
    """Print the lines of a report: by role in bold, dim or in colour on a terminal, notes folded to its width."""
    from rankgauge.base.tables import folded

    paints = _PAINTS if has_colour() else {}
    width = report_width() if results().isatty() else None
    texts = []
    for text, role, word in lines:
        first, *rest = [text] if role in {"head", "row"} or not text else folded(text, width)
        paint = paints.get(role)
        texts.append(f"{_painted(first, paint, word)}\n")
        texts += [f"{part if word else _painted(part, paint, '')}\n" for part in rest]
    emit(texts)


def _painted(text: str, paint: str | None, word: str) -> str:
    """Return a text in some colour, or a word that it begins with, or else that word's last occurrence in it."""
    if paint is None:
        return text
    if not word:
        return f"\x1b[{paint}m{text}\x1b[0m"
    before, _, after = ("", word, text[len(word) :]) if text.startswith(word) else text.rpartition(word)
    return f"{before}\x1b[{paint}m{word}\x1b[0m{after}"


def report_width() -> int | None:
    """Return how wide tables may be: as the terminal, wide enough for all if there is none, without end if plain."""
    if _PLAIN.get():
        return None
    return terminal_width() if results().isatty() else terminal_width(_PIPE_WIDTH)


def row_width() -> int | None:
    """Return how wide tables may be that have a row a query: without end in a pipe, where each row is one line."""
    return None if _PLAIN.get() else terminal_width(0) or None


def rule() -> str:
    """Return what lines under headings are drawn with: a hyphen if output is plain or cannot show others."""
    return "─" if not _PLAIN.get() and (results().encoding or "").lower().startswith("utf") else "-"


def has_colour() -> bool:
    """Return whether to print bold, dim and coloured text: on a terminal or with FORCE_COLOR, unless not wanted."""
    if _PLAIN.get() or os.environ.get("NO_COLOR"):
        return False
    forced = os.environ.get("FORCE_COLOR", "")
    if forced:
        return forced != "0"
    return os.environ.get("TERM") != "dumb" and results().isatty()


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


def print_answer(given: argparse.Namespace, facts: object, text: Iterable[Line] | str) -> int:
    """Print an answer as JSON if ``--json`` was typed, else as a text for people; return 0, the exit code."""
    if given.as_json:
        print_json(facts)
    elif isinstance(text, str):
        echo(text)
    else:
        show(text)
    return 0


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
    """Return a parameter of a metric or comparer: its value, the default if it differs, and its choices."""
    value, default = (_written(parameter.get(key, parameter["default"])) for key in ("value", "default"))
    usual = "" if value == default else f" (default {default})"
    choices = f", one of {', '.join(map(str, parameter['choices']))}" if parameter["choices"] else ""
    return f"  {parameter['name']} = {value}{usual}{choices}"


def _written(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value) or "(empty)"


def plain_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table to stdout: as wide as a terminal, the first column in one piece."""
    from rankgauge.base.tables import listing

    show(listing(header, rows, width=report_width(), rule=rule()))


def terminal_width(usual: int = 80) -> int:
    """Return how many columns the terminal has, or COLUMNS says, or else *usual*, as `shutil` does more slowly."""
    try:
        said = int(os.environ["COLUMNS"])
    except (KeyError, ValueError):
        said = 0
    if said > 0:
        return said
    try:
        return os.get_terminal_size(results().fileno()).columns or usual
    except (AttributeError, ValueError, OSError):
        return usual


@contextmanager
def progress_bar(label: str, *, wanted: bool) -> Iterator[Progress | None]:
    """
    Show a progress bar on stderr if it is *wanted*, that is a terminal and the work takes long; else yield None.

    It has what is done, the rate and the remaining time, and is gone in the end.
    """
    if not wanted or _PLAIN.get() or not sys.stderr.isatty():
        yield None
        return
    import time

    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    rate = TextColumn("{task.fields[rate]}", markup=False)
    times = (TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn())
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), rate, *times)
    bar = Bar(*columns, console=Console(stderr=True, emoji=False), transient=True, redirect_stdout=False)
    task = bar.add_task(visible(label), total=None, rate="")
    begun = time.monotonic()
    try:

        def report(done: int, total: int | None) -> None:
            seconds = time.monotonic() - begun
            if not bar.live.is_started and seconds > _PATIENCE and done != total:
                bar.start()
            bar.update(task, completed=done, total=total, rate=f"{done / max(seconds, _PATIENCE):,.3g}/s")

        yield report
    finally:
        bar.stop()


def in_steps(label: str, items: Sequence[_T]) -> Iterator[_T]:
    """Yield items, with a progress bar that counts those whose turn is over."""
    with progress_bar(label, wanted=True) as report:
        for done, item in enumerate(items, 1):
            yield item
            if report is not None:
                report(done, len(items))
