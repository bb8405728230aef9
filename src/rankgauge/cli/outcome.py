"""
Results on the command line: where they are saved, and how they are printed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from rankgauge.cli.console import complain, emit, remark, stdout_console
from rankgauge.errors import counted

if TYPE_CHECKING:
    from rankgauge.catalog import Claim
    from rankgauge.plugin.formats import Reporter
    from rankgauge.result import Result

__all__ = ["Folders", "explain_incomplete", "print_tables", "print_texts"]


@dataclass(kw_only=True)
class Folders:
    """Where results are saved: in the folder that was asked for, else in a new one below the config's *directory*."""

    output: Path | None
    directory: str | None = None
    several: bool
    saved: list[Path] = field(default_factory=list)

    def check(self, names: Iterable[str]) -> None:
        """Refuse folders with something in them, before anything is computed."""
        from rankgauge.report.folder import check_target

        if self.output is not None:
            for name in names:
                check_target(self._folder(self.output, name))

    def save(self, name: str, result: Result) -> None:
        """Save the result of one dataset, if results are to be saved."""
        if self.output is not None:
            self.saved.append(result.save(self._folder(self.output, name)))
        elif self.directory is not None:
            stamp = result.manifest["created_at"][:19].replace(":", "").replace("-", "")
            self.saved.append(result.save(_fresh(Path(self.directory), f"{stamp}-{_plain(name)}")))

    def tell(self) -> None:
        """Say where results were saved."""
        for folder in self.saved:
            remark(f"saved to {folder}")

    def _folder(self, folder: Path, name: str) -> Path:
        return folder / _plain(name) if self.several else folder


def print_tables(results: Sequence[Result], *, bands: bool) -> None:
    """Print tables for people."""
    from rankgauge.report.terminal import print_result

    console = stdout_console()
    for result in results:
        print_result(result, console, bands=bands)


def print_texts(reporter: Claim[Reporter], results: Sequence[Result], *, is_list: bool) -> None:
    """Print reports; JSON of several datasets is one list."""
    from rankgauge.report.rendering import rendered

    texts = [rendered(reporter, result) for result in results]
    if reporter.declaration.name == "json" and is_list:
        texts = [f"[{','.join(text.strip() for text in texts)}]\n"]
    emit(texts)


def _fresh(parent: Path, name: str) -> Path:
    count, folder = 2, parent / name
    while folder.exists():
        folder, count = parent / f"{name}-{count}", count + 1
    return folder


def explain_incomplete(results: Sequence[Result]) -> None:
    """Say why the exit code is 3."""
    for result in results:
        if result.manifest["interrupted"]:
            complain(f"the run was interrupted after {counted(len(result), 'sample')}")
        elif result.is_incomplete:
            allowed = float(result.manifest["policy"]["max_failed"])
            n, of = result.n_unhealthy, counted(len(result), "sample")
            complain(
                f"the run is incomplete: {n:,} of {of} {'is' if n == 1 else 'are'} missing or failed, and max_failed "
                f"allows a share of {allowed:g} (--max-failed)"
            )


def _plain(name: str) -> str:
    """Return a dataset's name as the name of one folder: no separators, no dots at the ends."""
    return re.sub(r"[^\w.-]+", "-", name).strip(".-") or "data"
