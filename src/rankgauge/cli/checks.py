"""
`rankgauge metrics check` and `rankgauge plugins check NAME`: laws from the command line.
"""

from __future__ import annotations

import importlib
import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankgauge.cli.console import remark
from rankgauge.cli.options import make_catalog

if TYPE_CHECKING:
    from rankgauge.testing import PluginReport, Report

__all__ = ["CASES", "CHECK_HELP", "JSON", "LAW", "WITHOUT", "check_metric", "check_one_plugin"]

CHECK_HELP = "Check a metric, or any function, against the laws that metrics obey; exit 1 if one is broken."

WITHOUT = typer.Option("--without", help="A law not to check; may be given several times.", show_default=False)
LAW = typer.Option("--law", help="A law to check instead of the usual ones; may be repeated.", show_default=False)
CASES = typer.Option("--cases", min=1, help="How many cases to draw for each law.")
JSON = typer.Option("--json", help="Print JSON.")


def check_metric(
    name: Annotated[
        str,
        typer.Argument(help="A metric, or module:function, or file.py:function of one taken from elsewhere."),
    ],
    *,
    calls: Annotated[
        str | None,
        typer.Option(
            help="What the parameters of a function from elsewhere are, in order: gold,retrieved,k (also set, list, "
            "gains, ideal, n-gold, relevances, scores); batch: before it for lists of rankings; or sample. Not needed "
            "where the parameters have these names.",
            show_default=False,
        ),
    ] = None,
    bounds: Annotated[
        str, typer.Option("--range", help="The range of a function from elsewhere; 0.. has no highest value.")
    ] = "0..1",
    lower_is_better: Annotated[bool, typer.Option("--lower-is-better", help="For a function from elsewhere.")] = False,
    law: Annotated[list[str] | None, LAW] = None,
    without: Annotated[list[str] | None, WITHOUT] = None,
    cases: Annotated[int, CASES] = 100,
    as_json: Annotated[bool, JSON] = False,
) -> None:
    """Check one metric, print the report, and exit 1 if a law is broken."""
    _keep_files_away()
    from rankgauge.testing import check_metric as check

    options: dict[str, Any] = {"laws": law or None, "without": without or (), "cases": cases}
    if ":" in name:
        function = imported(name, "a metric")
        report = check(function, calls=calls, range=_range(bounds), higher_is_better=not lower_is_better, **options)
    else:
        report = check(name, catalog=make_catalog(), **options)
    _end(report, as_json=as_json)


def check_one_plugin(name: str, *, without: list[str], cases: int, as_json: bool) -> None:
    """
    Check everything that one plugin offers, print the report, and exit 1 if anything is wrong.

    Args:
        name: What the plugin is called.

        without: Laws not to check.

        cases: How many cases to draw for each law.

        as_json: Whether to print JSON.
    """
    _keep_files_away()
    from rankgauge.testing import check_plugin

    catalog = make_catalog()
    progress: Callable[[str], None] | None = None
    if sys.stderr.isatty():

        def progress(what: str) -> None:
            remark(f"checking {what}")

    _end(check_plugin(name, without=without, cases=cases, catalog=catalog, progress=progress), as_json=as_json)


def imported(name: str, what: str) -> Callable[..., Any]:
    """
    Import a function from the working directory on.

    Args:
        name: ``module:function`` or ``file.py:function``.

        what: What it is to be, for messages.

    Returns:
        The function.

    Raises:
        typer.BadParameter: There is none of that name.
    """
    module_name, _, attribute = name.rpartition(":")
    folder = Path.cwd()
    if module_name.endswith(".py"):
        file = Path(module_name)
        folder, module_name = file.parent.resolve(), file.stem
    sys.path.insert(0, str(folder))
    try:
        found: Any = importlib.import_module(module_name)
        for part in attribute.split("."):
            found = getattr(found, part)
    except (Exception, SystemExit) as error:
        msg = f"{what} cannot be had from {name!r}: {type(error).__name__}: {error} (write module:function or "
        raise typer.BadParameter(
            f"{msg}file.py:function; modules are looked up from the working directory on)"
        ) from error
    if not callable(found):
        msg = f"{name!r} is {type(found).__name__}, which cannot be called"
        raise typer.BadParameter(msg)
    return found  # type: ignore[no-any-return]  # whatever the module holds


def _range(written: str) -> tuple[float | None, float | None]:
    low, dots, high = written.partition("..")
    try:
        if dots:
            return (float(low) if low.strip() else None, float(high) if high.strip() else None)
    except ValueError:
        pass
    msg = f"--range is LOW..HIGH, either of which may be left out, not {written!r}"
    raise typer.BadParameter(msg)


def _end(report: Report | PluginReport, *, as_json: bool) -> None:
    if as_json:
        import orjson

        described: Mapping[str, Any] = report.to_dict()
        typer.echo(orjson.dumps(described, option=orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS).decode())
    else:
        typer.echo(str(report))
    if not report.ok:
        raise typer.Exit(1)


def _keep_files_away() -> None:
    """Let hypothesis keep its tables of characters somewhere else than in the working directory."""
    os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", str(Path(tempfile.gettempdir()) / "rankgauge-hypothesis"))
