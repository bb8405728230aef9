"""
`rankgauge metrics`: what metrics there are, what exactly each one is, and whether one obeys the laws.
"""

from __future__ import annotations

import argparse
import dataclasses
import inspect
import re
from typing import Any

from rankgauge.base.tables import Line
from rankgauge.catalog import Claim
from rankgauge.cli.console import (
    described_parameter,
    parameter_line,
    plain_table,
    print_answer,
    print_json,
    show,
    warn_of_faults,
)
from rankgauge.cli.conventions import make_catalog
from rankgauge.cli.plugins_command import keep_files_away, print_verdicts, wanted_cases
from rankgauge.cli.system_under_test import imported
from rankgauge.errors import ParameterError, counted
from rankgauge.expression import parse
from rankgauge.plugin.metric import Metric
from rankgauge.policy import PROFILES

_ROOM = 20
"""How many letters two names of a metric may have together to stand in a list; else the first one stands alone."""

_PARAMETER = re.compile(r" {4}(?P<name>\w+): (?P<text>.*)")
_FREE = "pinned (@10, or a budget: @2000tok) > metadata.k of the sample > k of the metric > --k > 5"
_CUTOFFS = {
    "none": "takes no cutoff",
    "required": _FREE,
    "droppable": f"{_FREE}; a short name without @ has none",
    "optional": "none, unless pinned (@10, or a budget: @2000tok) or given to the metric as k",
}


def execute_list(given: argparse.Namespace) -> int:
    """List every metric."""
    catalog = make_catalog()
    warn_of_faults(catalog)
    if given.as_json:
        print_json([_described(claim) for claim in catalog.metrics.values()])
        return 0
    rows: list[tuple[str, ...]] = []
    for alias, claim in catalog.metrics.items():
        metric, provider = claim.declaration, f"{claim.provider.distribution} {claim.provider.version}"
        summary = _without_markup(metric.summary)
        if given.all_columns:
            rows.append((alias, " ".join(metric.plain_short), summary, provider))
            continue
        k = "@k" if metric.cutoff.kind in {"required", "droppable"} else ""
        names = [f"{name}{k}" for name in (metric.plain_short or (alias,))[:2]]
        name = ", ".join(names if sum(map(len, names)) <= _ROOM else names[:1])
        rows.append((name, summary if claim.provider.distribution == "rankgauge" else f"{summary} ({provider})"))
    plain_table(
        ("alias", "short names", "what it is", "provider") if given.all_columns else ("name", "what it is"), rows
    )
    lines = [f"{counted(len(rows), 'metric')}; rankgauge metrics show NAME says what exactly one is"]
    lines += [] if given.all_columns else ["--all-columns shows aliases and where each comes from"]
    show(Line(line, "small") for line in lines)
    return 0


def execute_show(given: argparse.Namespace) -> int:
    """Print what exactly one metric is."""
    claim = make_catalog().read(parse(given.name)).claim
    described = _described(claim)
    return print_answer(given, described, "\n".join(_lines(claim, described)))


def _lines(claim: Claim[Metric], described: dict[str, Any]) -> list[str]:
    metric = claim.declaration
    low, high = ("unbounded" if bound is None else f"{bound:g}" for bound in metric.range)
    definition, notes = _read_docstring(described["definition"])
    parameters = described["parameters"]
    return [
        metric.alias,
        "",
        *definition,
        "",
        f"names       {', '.join(metric.names)}",
        f"inputs      {_inputs(metric)}",
        *([f"sees        {', '.join(metric.judging.needs)}, besides judgments"] if metric.judging.needs else ()),
        f"cutoff (k)  {_CUTOFFS[metric.cutoff.kind]}",
        "parameters" if parameters else "parameters  none of its own",
        *(line for parameter in parameters for line in (parameter_line(parameter), *notes.get(parameter["name"], ()))),
        f"  it also takes {', '.join(metric.engine_parameters)}",
        f"range       {low} to {high}; {'higher' if metric.higher_is_better else 'lower'} is better",
        f"aggregate   {metric.aggregate}",
        f"laws        {', '.join(sorted(metric.laws)) or 'none'}",
        f"version     {metric.version}",
        f"provider    {claim.provider}",
    ]


def _read_docstring(text: str) -> tuple[list[str], dict[str, list[str]]]:
    """Return the lines of a definition, and those on each parameter, without the markup of docstrings."""
    plain = _without_markup(text)
    definition = re.split(r"\n\n(?:Args|Returns|Raises):\n", plain)[0]
    rest = plain.partition("\n\nArgs:\n")[2]
    notes: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in rest.partition("\n\nReturns:")[0].splitlines():
        if named := _PARAMETER.match(line):
            lines = notes.setdefault(named["name"], [])
            line = named["text"]  # noqa: PLW2901  # the rest of it
        if line.strip():
            lines.append(f"      {line.strip()}")
    return definition.splitlines(), notes


def _without_markup(text: str) -> str:
    return re.sub(r"``(.+?)``|`(.+?)`|(?<![\w*])\*(\w+)\*(?![\w*])", lambda match: match[match.lastindex or 0], text)


def _described(claim: Claim[Metric]) -> dict[str, Any]:

    metric = claim.declaration
    copied = ("alias", "summary", "higher_is_better", "aggregate", "version")
    return {
        **{name: getattr(metric, name) for name in copied},
        "judges": metric.judging.judges,
        "cutoff": metric.cutoff.kind,
        "names": list(metric.names),
        "definition": inspect.getdoc(metric.source) or "",
        "gold": list(metric.judging.gold),
        "needs": list(metric.judging.needs),
        "parameters": list(map(described_parameter, metric.all_parameters)),
        "range": list(metric.range),
        "laws": sorted(metric.laws),
        "provider": dataclasses.asdict(claim.provider),
    }


def _inputs(metric: Metric) -> str:
    judged = (
        "the retrieved items" if metric.judging.judges == "retrieved" else "the generated answer (actual_output.answer)"
    )

    matcher = "chosen by parameters" if callable(metric.judging.matcher) else metric.judging.matcher
    if matcher is None and "passages" in metric.judging.gold:
        matcher = PROFILES["default"].passages  # other profiles may have another
    if metric.judging.gold == ("answerable",):
        return f"whether the output says anything, against metadata: {metric.judging.gold[0]}"
    place = "metadata" if metric.judging.gold == ("asked_at",) else "expected_output"
    against = f"{judged}, against {place}: {' or '.join(metric.judging.gold)}"
    if not metric.needs_gold:
        return f"{'the ids that all samples of a run retrieved' if metric.is_whole else judged}; no ground truth"
    if metric.judging.gold == ("nuggets",) and matcher is None:
        return f"{against}, by actual_output.support, or by a matcher if one is given"
    return against if matcher is None else f"{against}, matcher {matcher}"


def execute_check(given: argparse.Namespace) -> int:
    """Print which laws a metric obeys."""
    keep_files_away()
    from rankgauge.testing import check_metric

    options: dict[str, Any] = {"laws": given.law, "without": given.without or (), "cases": wanted_cases(given)}
    reference = None if given.reference is None else imported(given.reference, "a reference")
    options |= {"like": given.like or (), "reference": reference}
    if ":" in given.name:
        function = imported(given.name, "a metric")
        options |= {"calls": given.calls, "range": _range(given.range)}
        report = check_metric(function, higher_is_better=not given.lower_is_better, **options)
    else:
        report = check_metric(given.name, catalog=make_catalog(), **options)
    return print_verdicts(given, report)


def _range(written: str) -> tuple[float | None, float | None]:
    low, dots, high = written.partition("..")
    try:
        if dots:
            return (float(low) if low.strip() else None, float(high) if high.strip() else None)
    except ValueError:
        pass
    raise ParameterError(f"--range is LOW..HIGH (0.. has no highest value), not {written!r}")
