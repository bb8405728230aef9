"""
`rankgauge metrics check` and `rankgauge plugins check NAME`: laws from the command line.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankgauge.cli.console import echo, print_json, remark
from rankgauge.cli.options import make_catalog
from rankgauge.cli.typed import JSON, imported
from rankgauge.errors import ParameterError

if TYPE_CHECKING:
    from rankgauge.testing import PluginReport, Report

__all__ = ["CASES", "CHECK_HELP", "LAW", "QUICK", "WITHOUT", "check_metric", "check_one_plugin"]

CHECK_HELP = "Check a metric against laws. Takes any function, too; the exit code is 1 if a law is broken."

WITHOUT = typer.Option("--without", metavar="LAW", help="A law not to check. Repeatable.", show_default=False)
LAW = typer.Option("--law", metavar="LAW", help="A law to check, instead of all. Repeatable.", show_default=False)
CASES = typer.Option(
    "--cases", metavar="N", min=1, help="How many cases to draw for each law; 100 by default.", show_default=False
)
QUICK = typer.Option("--quick", help="Draw 10 cases for each law, which takes about a tenth of the time.")


def check_metric(
    name: Annotated[
        str,
        typer.Argument(help="A metric, or a function of your own: module:function or file.py:function."),
    ],
    *,
    calls: Annotated[
        str | None,
        typer.Option(
            metavar="ROLES",
            help="What the parameters of your function are, in order: gold,retrieved,k (also set, list, gains, ideal, "
            "n-gold, relevances, scores); batch: before it for lists of rankings; or sample. Not needed where the "
            "parameters have these names.",
            show_default=False,
        ),
    ] = None,
    bounds: Annotated[
        str, typer.Option("--range", metavar="LOW..HIGH", help="The range of your function; 0.. has no highest value.")
    ] = "0..1",
    lower_is_better: Annotated[
        bool, typer.Option("--lower-is-better", help="Say that lower scores of your function are better.")
    ] = False,
    law: Annotated[list[str] | None, LAW] = None,
    without: Annotated[list[str] | None, WITHOUT] = None,
    cases: Annotated[int | None, CASES] = None,
    quick: Annotated[bool, QUICK] = False,
    as_json: Annotated[bool, JSON] = False,
) -> None:
    """Check one metric, print the report, and exit 1 if a law is broken."""
    _keep_files_away()
    from rankgauge.testing import check_metric as check

    options: dict[str, Any] = {"laws": law or None, "without": without or (), "cases": _drawn(cases, quick=quick)}
    if ":" in name:
        function = imported(name, "a metric")
        report = check(function, calls=calls, range=_range(bounds), higher_is_better=not lower_is_better, **options)
    else:
        report = check(name, catalog=make_catalog(), **options)
    _end(report, as_json=as_json)


def check_one_plugin(name: str, *, without: list[str], cases: int | None, quick: bool, as_json: bool) -> None:
    """Check everything that one plugin offers, print the report, and exit 1 if anything is wrong."""
    drawn = _drawn(cases, quick=quick)
    _keep_files_away()
    from rankgauge.testing import check_plugin
    from rankgauge.testing.law_checks import QUICK_CASES

    catalog = make_catalog()
    ending = "; --quick takes less" if drawn > QUICK_CASES else ""
    told = False

    def progress(what: str) -> None:
        nonlocal told
        if sys.stderr.isatty() or not told:  # the first line says how long all of it takes
            remark(f"checking {what}{'' if told else ending}")
        told = True

    _end(check_plugin(name, without=without, cases=drawn, catalog=catalog, progress=progress), as_json=as_json)


def _drawn(cases: int | None, *, quick: bool) -> int:
    """Return how many cases to draw for each law."""
    from rankgauge.testing.law_checks import CASES as USUAL
    from rankgauge.testing.law_checks import QUICK_CASES

    if quick and cases is not None:
        msg = "--quick says how many cases are drawn, and so does --cases; give one of them"
        raise ParameterError(msg)
    return QUICK_CASES if quick else cases or USUAL


def _range(written: str) -> tuple[float | None, float | None]:
    low, dots, high = written.partition("..")
    try:
        if dots:
            return (float(low) if low.strip() else None, float(high) if high.strip() else None)
    except ValueError:
        pass
    msg = f"--range is LOW..HIGH (0.. has no highest value), not {written!r}"
    raise ParameterError(msg)


def _end(report: Report | PluginReport, *, as_json: bool) -> None:
    if as_json:
        print_json(report.to_dict())
    else:
        echo(str(report))
    if not report.ok:
        raise typer.Exit(1)


def _keep_files_away() -> None:
    """Let hypothesis keep its files elsewhere than in the working directory."""
    os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", str(Path(tempfile.gettempdir()) / "rankgauge-hypothesis"))
