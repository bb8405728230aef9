"""
`rankgauge metrics check` and `rankgauge plugins check`: whether metrics and plugins obey the laws.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankgauge.catalog import Catalog
from rankgauge.catalog.claims import OWN, Fault
from rankgauge.cli.console import print_answer, remark
from rankgauge.cli.conventions import make_catalog
from rankgauge.cli.system_under_test import imported
from rankgauge.errors import ParameterError, counted

if TYPE_CHECKING:
    from rankgauge.features.testing.law_report import PluginReport, Report

__all__ = ["check_metrics", "check_plugins"]


def check_metrics(given: argparse.Namespace) -> int:
    """Print which laws a metric obeys."""
    _keep_files_away()
    from rankgauge.features.testing.metric_checks import check_metric

    options: dict[str, Any] = {"laws": given.law, "without": given.without or (), "cases": _wanted_cases(given)}
    reference = None if given.reference is None else imported(given.reference, "a reference")
    options |= {"like": given.like or (), "reference": reference}
    if ":" in given.name:
        function = imported(given.name, "a metric")
        options |= {"calls": given.calls, "range": _range(given.range)}
        report = check_metric(function, higher_is_better=not given.lower_is_better, **options)
    else:
        report = check_metric(given.name, catalog=make_catalog(), **options)
    return _print_verdicts(given, report)


def check_plugins(given: argparse.Namespace) -> int:
    """Check that plugins can be used, or one against the laws."""
    if given.name is not None:
        return _check_laws(given)
    catalog = make_catalog()
    faults = [*catalog.faults, *_part_faults(catalog)]
    plugins = counted(sum(not plugin.disabled for plugin in catalog.plugins), "plugin")
    summary = f"{counted(len(faults), 'fault')} in {plugins}" if faults else f"{plugins}, no faults"
    facts = {"ok": not faults, "faults": list(map(dataclasses.asdict, faults))}
    print_answer(given, facts, "\n".join([*map(str, faults), summary]))
    return 1 if faults else 0


def _wanted_cases(given: argparse.Namespace) -> int:
    """Return how many cases to draw for each law."""
    from rankgauge.features.testing.law_checks import CASES, QUICK_CASES

    if given.quick and given.cases is not None:
        raise ParameterError("--quick says how many cases are drawn, and so does --cases; give one of them")
    return QUICK_CASES if given.quick else given.cases or CASES


def _print_verdicts(given: argparse.Namespace, report: Report | PluginReport) -> int:
    """Print a report, and return 1 if a law is broken."""
    print_answer(given, report.to_dict(), str(report))
    return 0 if report.ok else 1


def _keep_files_away() -> None:
    """Let hypothesis keep its files elsewhere than in the working directory."""
    os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", str(Path(tempfile.gettempdir()) / "rankgauge-hypothesis"))


def _range(written: str) -> tuple[float | None, float | None]:
    low, dots, high = written.partition("..")
    try:
        if dots:
            return (float(low) if low.strip() else None, float(high) if high.strip() else None)
    except ValueError:
        pass
    raise ParameterError(f"--range is LOW..HIGH (0.. has no highest value), not {written!r}")


def _check_laws(given: argparse.Namespace) -> int:
    """Check everything that one plugin offers against the laws."""
    cases = _wanted_cases(given)
    _keep_files_away()
    from rankgauge.features.testing.law_checks import QUICK_CASES
    from rankgauge.features.testing.plugin_checks import check_plugin

    hint: str | None = "; --quick takes less" if cases > QUICK_CASES else ""

    def progress(what: str) -> None:
        nonlocal hint
        if sys.stderr.isatty() or hint is not None:  # the first line says how long all of it takes
            remark(f"checking {what}{hint or ''}")
        hint = None

    without = given.without or []
    report = check_plugin(given.name, without=without, cases=cases, catalog=make_catalog(), progress=progress)
    return _print_verdicts(given, report)


def _part_faults(catalog: Catalog) -> Iterator[Fault]:
    """Yield what parts of plugins do wrong with tiny data."""
    from rankgauge.features.testing.part_laws import PART_LAWS, check_part, parts_of

    for plugin in catalog.plugins:
        parts = parts_of(plugin, catalog) if plugin.distribution != OWN else ()
        for part in parts:
            for verdict in check_part(part).verdicts if part.kind in PART_LAWS else ():
                if verdict.state == "broken":
                    message = f"{part.kind} {part.name!r}: {verdict.reason}"
                    yield Fault(plugin.id, plugin.version, "call", message)
