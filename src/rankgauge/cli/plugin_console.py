"""
The console of a command that is not part of rankgauge itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rankgauge.base.plain_text import visible
from rankgauge.cli.console import (
    echo,
    plain_table,
    print_json,
    progress_bar,
    remark,
    report_width,
    rule,
    show,
)

if TYPE_CHECKING:
    from rankgauge.base.entry_points import EntryPoint
    from rankgauge.catalog import Catalog
    from rankgauge.engine.engine import Engine
    from rankgauge.plugin.console import Role

__all__ = ["PluginConsole"]


class PluginConsole:
    """A `rankgauge.plugin.Console` over the streams of this call; its methods load what they need."""

    def __init__(self, command: str, point: EntryPoint) -> None:
        self._command = command
        self._point = point

    def echo(self, text: str, *, role: Role | None = None, word: str = "") -> None:
        """Print a text to stdout."""
        if role is None:
            echo(text)
            return
        from rankgauge.base.tables import Line

        show(Line(visible(line), role, visible(word)) for line in text.split("\n"))

    def json(self, value: object) -> None:
        """Print a value as JSON to stdout."""
        print_json(value)

    def note(self, message: str) -> None:
        """Print what is about the result to stderr."""
        remark(message)

    def table(self, header: Sequence[str], rows: Sequence[Sequence[str]], *, title: str = "") -> None:
        """Print a table to stdout."""
        if not title:
            plain_table(header, rows)
            return
        from rankgauge.base.tables import ruled

        show(ruled(title, header, rows, width=report_width(), rule=rule()))

    @contextmanager
    def progress(self, label: str) -> Iterator[Callable[[int, int | None], None]]:
        """Show a progress bar on stderr while the context lasts."""
        with progress_bar(label, wanted=True) as report:
            yield report or _no_bar

    def catalog(self) -> Catalog:
        """Return what is installed and not disabled."""
        from rankgauge.cli.conventions import make_catalog

        return make_catalog()

    def engine(self, config: Path | None = None) -> Engine:
        """Return an engine, from a config file if one is given, whose lock the command has to be in."""
        from rankgauge.cli.conventions import make_engine

        engine = make_engine(config)
        if engine.config is not None:
            from rankgauge.engine.configured import lock_of
            from rankgauge.errors import ConfigError

            lock = lock_of(engine.config)
            if lock is not None and (problem := lock.command_problem(self._command, self._point)):
                raise ConfigError(f"{config} is locked for other commands:", [problem])
        return engine


def _no_bar(_done: int, _total: int | None) -> None:
    """Show nothing."""
