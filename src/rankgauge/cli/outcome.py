"""
Results on the command line: how they are printed, and why one is incomplete.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rankgauge.cli.console import complain, print_report, report_width, rule, show
from rankgauge.errors import counted

if TYPE_CHECKING:
    from rankgauge.engine.result import Result

__all__ = ["explain_incomplete", "print_tables", "print_texts"]


def print_tables(results: Sequence[Result], *, bands: bool) -> None:
    """Print tables for people."""
    from rankgauge.report.terminal import result_lines

    for result in results:
        show(result_lines(result, width=report_width(), bands=bands, rule=rule()))


def print_texts(texts: Sequence[str], form: str, *, is_list: bool) -> None:
    """Print reports; JSON of several datasets is one list."""
    if form == "json" and is_list:
        texts = [f"[{','.join(text.strip() for text in texts)}]\n"]
    print_report(form, texts)


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
