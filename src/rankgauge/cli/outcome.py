"""
What becomes of results on the command line: where they are saved, and how they are printed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from rankgauge.cli.console import complain, remark, stdout_console

if TYPE_CHECKING:
    from rankgauge.result import Result

__all__ = ["Folders", "explain_incomplete", "print_tables", "print_texts"]


class Folders:
    """Where results are saved."""

    def __init__(self, output: Path | None, directory: str | None, *, several: bool) -> None:
        """
        Decide where.

        Args:
            output: The folder that was asked for; None for none.

            directory: The folder of the config for result folders, used when no other was asked for.

            several: Whether there are several datasets, so that each needs a folder of its own.
        """
        self.output = output
        self.directory = directory
        self.several = several
        self.saved: list[Path] = []

    def check(self, names: Sequence[str]) -> None:
        """
        Refuse folders that are taken, before anything is computed.

        Args:
            names: The datasets.

        Raises:
            ResultError: One of the folders has something in it.
        """
        from rankgauge.report.folder import check_target

        for name in names if self.output is not None else ():
            check_target(self._folder(name))

    def save(self, name: str, result: Result) -> None:
        """Save the result of one dataset, if results are to be saved."""
        if self.output is not None:
            self.saved.append(result.save(self._folder(name)))
        elif self.directory is not None:
            stamp = result.manifest["created_at"][:19].replace(":", "").replace("-", "")
            self.saved.append(result.save(_fresh(Path(self.directory), f"{stamp}-{_plain(name)}")))

    def tell(self) -> None:
        """Say where results were saved."""
        for folder in self.saved:
            remark(f"saved to {folder}")

    def _folder(self, name: str) -> Path:
        folder = self.output or Path()
        return folder / _plain(name) if self.several else folder


def print_tables(results: Sequence[Result], *, bands: bool) -> None:
    """Print tables for people."""
    from rankgauge.report.terminal import print_result

    console = stdout_console()
    for result in results:
        print_result(result, console, bands=bands)


def print_texts(report: Callable[[Any], str], form: str, results: Sequence[Result], *, is_list: bool) -> None:
    """Print what a reporter lays out; as JSON a list where there are several datasets."""
    texts = [report(result) for result in results]
    if form == "json" and is_list:
        typer.echo(f"[{','.join(text.strip() for text in texts)}]")
    else:
        typer.echo("".join(texts), nl=False)


def _fresh(parent: Path, name: str) -> Path:
    count, folder = 2, parent / name
    while folder.exists():
        folder, count = parent / f"{name}-{count}", count + 1
    return folder


def explain_incomplete(results: Sequence[Result]) -> None:
    """Say why the exit code is 3."""
    for result in results:
        if result.manifest["interrupted"]:
            complain(f"the run was interrupted after {len(result):,} samples")
        elif result.is_incomplete:
            allowed = float(result.manifest["policy"]["max_failed"])
            complain(
                f"the run is incomplete: {result.n_unhealthy:,} of {len(result):,} samples are missing or failed, "
                f"and max_failed allows a share of {allowed:g} (--max-failed)"
            )


def _plain(name: str) -> str:
    """Return a dataset's name as the name of one folder: no separators, no dots at the ends."""
    return re.sub(r"[^\w.-]+", "-", name).strip(".-") or "data"
