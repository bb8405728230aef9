"""
`rankgauge metrics`: what metrics there are, and what exactly each one is.
"""

from __future__ import annotations

import dataclasses
import inspect
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

_FREE = "pinned (@10) > metadata.k of the sample > k of the metric > --k > 5"
_CUTOFFS = {
    "none": "takes no cutoff",
    "required": _FREE,
    "droppable": f"{_FREE}; a short name without @ has none",
    "optional": "none, unless pinned (@10) or given to the metric as k",
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
    lines = [
        metric.alias,
        "",
        described["definition"],
        "",
        f"names       {', '.join(metric.names)}",
        f"inputs      {_inputs(metric)}",
        f"cutoff (k)  {_CUTOFFS[metric.cutoff]}",
        "parameters" if described["parameters"] else "parameters  none of its own",
        *map(parameter_line, described["parameters"]),
        f"  it also takes {', '.join(metric.engine_parameters)}",
        f"range       {low} to {high}; {'higher' if metric.higher_is_better else 'lower'} is better",
        f"aggregate   {metric.aggregate}",
        f"laws        {', '.join(sorted(metric.laws)) or 'none'}",
        f"version     {metric.version}",
        f"provider    {claim.provider}",
    ]
    echo("\n".join(lines))


def _described(claim: Claim[Metric]) -> dict[str, Any]:
    metric = claim.declaration
    copied = ("alias", "summary", "judges", "cutoff", "higher_is_better", "aggregate", "version")
    return {
        **{name: getattr(metric, name) for name in copied},
        "names": list(metric.names),
        "definition": inspect.getdoc(metric.source) or "",
        "gold": list(metric.gold),
        "parameters": [described_parameter(each) for each in (*metric.parameters, *metric.matching)],
        "range": list(metric.range),
        "laws": sorted(metric.laws),
        "provider": dataclasses.asdict(claim.provider),
    }


def _inputs(metric: Metric) -> str:
    judged = "the retrieved items" if metric.judges == "retrieved" else "the generated answer (actual_output.answer)"
    matcher = "chosen by parameters" if callable(metric.matcher) else metric.matcher
    against = f"{judged}, against expected_output: {' or '.join(metric.gold)}"
    return against if matcher is None else f"{against}, matcher {matcher}"
