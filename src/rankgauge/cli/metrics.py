"""
`rankgauge metrics`: what metrics there are, and what exactly each one is.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankgauge.cli import checks, diff
from rankgauge.cli.console import described_parameter, echo, parameter_line, plain_table, print_json, warn_of_faults
from rankgauge.cli.options import make_catalog
from rankgauge.cli.typed import JSON

if TYPE_CHECKING:
    from rankgauge.catalog import Claim
    from rankgauge.plugin.metric import Metric

__all__ = ["app"]

app = typer.Typer(help="List, show, check and compare metrics.", no_args_is_help=True)
app.command("check", help=checks.CHECK_HELP)(checks.check_metric)
app.command("diff", help=diff.HELP)(diff.diff_metrics)

_PARAMETER = re.compile(r" {4}(?P<name>\w+): (?P<text>.*)")
_FREE = "pinned (@10, or a budget: @2000tok) > metadata.k of the sample > k of the metric > --k > 5"
_CUTOFFS = {
    "none": "takes no cutoff",
    "required": _FREE,
    "droppable": f"{_FREE}; a short name without @ has none",
    "optional": "none, unless pinned (@10, or a budget: @2000tok) or given to the metric as k",
}


@app.command("list")
def list_metrics(*, as_json: Annotated[bool, JSON] = False) -> None:
    """List every metric. Broken plugins are named on stderr."""
    catalog = make_catalog()
    warn_of_faults(catalog)
    if as_json:
        print_json([_described(claim) for claim in catalog.metrics.values()])
        return
    rows = []
    for alias, claim in catalog.metrics.items():
        metric, provider = claim.declaration, claim.provider
        short = " ".join(metric.plain_short)
        rows.append((alias, short, metric.summary, f"{provider.distribution} {provider.version}"))
    plain_table(("alias", "short names", "what it is", "provider"), rows)


@app.command("show")
def show_metric(
    name: Annotated[str, typer.Argument(help="Any name of the metric, such as ndcg.", show_default=False)],
    *,
    as_json: Annotated[bool, JSON] = False,
) -> None:
    """Show one metric. Its definition, parameters, inputs, cutoff and provider."""
    from rankgauge.expression import parse

    claim = make_catalog().read(parse(name)).claim
    described = _described(claim)
    if as_json:
        print_json(described)
        return
    metric = claim.declaration
    low, high = ("unbounded" if bound is None else f"{bound:g}" for bound in metric.range)
    definition, told = _read_docstring(described["definition"])
    parameters = described["parameters"]
    lines = [
        metric.alias,
        "",
        *definition,
        "",
        f"names       {', '.join(metric.names)}",
        f"inputs      {_inputs(metric)}",
        *([f"sees        {', '.join(metric.needs)}, besides judgments"] if metric.needs else ()),
        f"cutoff (k)  {_CUTOFFS[metric.cutoff]}",
        "parameters" if parameters else "parameters  none of its own",
        *(line for each in parameters for line in (parameter_line(each), *told.get(each["name"], ()))),
        f"  it also takes {', '.join(metric.engine_parameters)}",
        f"range       {low} to {high}; {'higher' if metric.higher_is_better else 'lower'} is better",
        f"aggregate   {metric.aggregate}",
        f"laws        {', '.join(sorted(metric.laws)) or 'none'}",
        f"version     {metric.version}",
        f"provider    {claim.provider}",
    ]
    echo("\n".join(lines))


def _read_docstring(text: str) -> tuple[list[str], dict[str, list[str]]]:
    """Return the lines of a definition, and those on each parameter, without the markup of docstrings."""
    plain = re.sub(r"``(.+?)``|`(.+?)`|(?<![\w*])\*(\w+)\*(?![\w*])", lambda found: found[found.lastindex or 0], text)
    definition = re.split(r"\n\n(?:Args|Returns|Raises):\n", plain)[0]
    rest = plain.partition("\n\nArgs:\n")[2]
    told: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in rest.partition("\n\nReturns:")[0].splitlines():
        if named := _PARAMETER.match(line):
            lines = told.setdefault(named["name"], [])
            line = named["text"]  # noqa: PLW2901  # the rest of it
        if line.strip():
            lines.append(f"      {line.strip()}")
    return definition.splitlines(), told


def _described(claim: Claim[Metric]) -> dict[str, Any]:
    metric = claim.declaration
    copied = ("alias", "summary", "judges", "cutoff", "higher_is_better", "aggregate", "version")
    return {
        **{name: getattr(metric, name) for name in copied},
        "names": list(metric.names),
        "definition": inspect.getdoc(metric.source) or "",
        "gold": list(metric.gold),
        "needs": list(metric.needs),
        "parameters": [described_parameter(each) for each in (*metric.parameters, *metric.matching)],
        "range": list(metric.range),
        "laws": sorted(metric.laws),
        "provider": dataclasses.asdict(claim.provider),
    }


def _inputs(metric: Metric) -> str:
    judged = "the retrieved items" if metric.judges == "retrieved" else "the generated answer (actual_output.answer)"
    matcher = "chosen by parameters" if callable(metric.matcher) else metric.matcher
    against = f"{judged}, against expected_output: {' or '.join(metric.gold)}"
    if metric.is_whole:
        return "the ids that all samples of a run retrieved; no ground truth"
    if metric.gold == ("nuggets",) and matcher is None:
        return f"{against}, by actual_output.support, or by a matcher if one is given"
    return against if matcher is None else f"{against}, matcher {matcher}"
