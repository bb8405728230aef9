"""
Laws on the command line: what `rankgauge metrics check` and `rankgauge plugins check NAME` share.
"""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from rankgauge.cli.console import echo, print_json
from rankgauge.cli.shared_options import whole_number
from rankgauge.errors import ParameterError

if TYPE_CHECKING:
    from rankgauge.testing import PluginReport, Report

__all__ = ["add_law_options", "keep_files_away", "print_verdicts", "wanted_cases"]


def add_law_options(parser: argparse.ArgumentParser) -> None:
    """Add what is drawn, and which laws are left out."""
    add = parser.add_argument
    add("--without", action="append", metavar="LAW", help="A law not to check. Repeatable.")
    cases = "How many cases to draw for each law. [default: 100]"
    add("--cases", type=whole_number(1), metavar="N", help=cases)
    add("--quick", action="store_true", help="Draw 10 cases for each law, which takes about a tenth of the time.")


def wanted_cases(given: argparse.Namespace) -> int:
    """Return how many cases to draw for each law."""
    from rankgauge.testing.law_checks import CASES, QUICK_CASES

    if given.quick and given.cases is not None:
        raise ParameterError("--quick says how many cases are drawn, and so does --cases; give one of them")
    return QUICK_CASES if given.quick else given.cases or CASES


def print_verdicts(report: Report | PluginReport, *, as_json: bool) -> int:
    """Print a report, and return 1 if a law is broken."""
    if as_json:
        print_json(report.to_dict())
    else:
        echo(str(report))
    return 0 if report.ok else 1


def keep_files_away() -> None:
    """Let hypothesis keep its files elsewhere than in the working directory."""
    import tempfile
    from pathlib import Path

    os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", str(Path(tempfile.gettempdir()) / "rankgauge-hypothesis"))
