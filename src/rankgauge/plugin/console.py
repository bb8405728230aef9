"""
`Console`: what a command of a plugin is given, to print with and to find what is installed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from rankgauge.catalog import Catalog
    from rankgauge.engine.engine import Engine

__all__ = ["Console", "Role"]

Role = Literal["head", "note", "small", "good", "bad", "open"]
"""What a line is: a heading, a note that is folded to the terminal's width, small print, or a verdict in its colour."""


class Console(Protocol):
    """
    What a command prints with: its result goes to stdout, what is about the result to stderr.

    It heeds ``--plain``, ``NO_COLOR``, the width of the terminal and ``COLUMNS``, and prints unsafe characters of
    outside text as escapes. A command is given one; a test can give it anything with the same methods.
    """

    def echo(self, text: str, *, role: Role | None = None, word: str = "") -> None:
        """
        Print a text to stdout.

        Args:
            text: One line or several.

            role: How to show it on a terminal: in bold, dim, or in the colour of a verdict.

            word: The part of a line that has the colour, which is all of it by default.
        """

    def json(self, value: object) -> None:
        """
        Print a value as JSON to stdout; a command that was given ``--json`` prints nothing else there.

        Args:
            value: Plain values, dataclasses and numpy arrays, also within each other. NaN and infinity become null.
        """

    def note(self, message: str) -> None:
        """
        Print what is about the result, such as what was left out, to stderr.

        Args:
            message: One line or several.
        """

    def table(self, header: Sequence[str], rows: Sequence[Sequence[str]], *, title: str = "") -> None:
        """
        Print a table to stdout, no wider than the terminal: what does not fit goes on below.

        Args:
            header: What each column is.

            rows: A cell for each column.

            title: A heading. A table with one has its numbers, which is all but the first column, to the right; one
                without is a list of texts, to the left.
        """

    def progress(self, label: str) -> AbstractContextManager[Callable[[int, int | None], None]]:
        """
        Show a progress bar on stderr, if that is a terminal and the work takes long, until the context ends.

            with console.progress("asking") as report:
                for done, question in enumerate(questions, 1):
                    ask(question)
                    report(done, len(questions))

        Args:
            label: What is done.

        Returns:
            A context with a function that takes how many are done, and of how many, or None if that is not known.
        """

    def catalog(self) -> Catalog:
        """Return what is installed and not disabled. From here on, what anything prints by itself goes to stderr."""

    def engine(self, config: Path | None = None) -> Engine:
        """
        Return an engine.

        Args:
            config: A config file; without one, an engine of what is installed.

        Raises:
            ConfigError: The config cannot be used.
        """
