"""
`rankgauge metrics`: what metrics there are, and what exactly each one is.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankgauge.cli import checks, diff
from rankgauge.cli.console import plain_table, warn_of_faults
from rankgauge.cli.options import make_catalog

if TYPE_CHECKING:
    from rankgauge.catalog import Claim
    from rankgauge.plugin.metric import Metric

__all__ = ["app"]

app = typer.Typer(help="List metrics, show what one is, check one, or compare two profiles.", no_args_is_help=True)
app.command("check", help=checks.CHECK_HELP)(checks.check_metric)
app.command("diff", help=diff.HELP)(diff.diff_metrics)

_CUTOFFS = {
    "none": "takes no cutoff",
    "required": "pinned (@10) > the sample's metadata.k > k: given to the metric > the default (--k) > 5",
    "droppable": "as for every metric with a cutoff; the short name without @ has none",
    "optional": "none, unless pinned (@10) or k: given to the metric",
}


@app.command("list")
def list_metrics(*, as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """List every usable metric: alias, short names, what it is, and who provides it."""
    catalog = make_catalog()
    warn_of_faults(catalog)
    claims = catalog.metrics
    if as_json:
        import orjson

        typer.echo(orjson.dumps([_described(claim) for claim in claims.values()], option=orjson.OPT_INDENT_2).decode())
        return
    rows = [
        (
            alias,
            " ".join(claim.declaration.plain_short),
            claim.declaration.summary,
            f"{claim.provider.distribution} {claim.provider.version}",
        )
        for alias, claim in claims.items()
    ]
    plain_table(("alias", "short names", "what it is", "provider"), rows)


@app.command("show")
def show_metric(
    name: Annotated[str, typer.Argument(help="Any name of the metric, such as ndcg.", show_default=False)],
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show a metric's definition, parameters, inputs, cutoff and provider."""
    from rankgauge.expression import parse

    claim = make_catalog().read(parse(name)).claim
    described = _described(claim)
    if as_json:
        import orjson

        typer.echo(orjson.dumps(described, option=orjson.OPT_INDENT_2).decode())
        return
    metric = claim.declaration
    lines = [metric.alias, "", described["definition"], ""]
    lines.append(f"names       {', '.join(metric.names)}")
    lines.append(f"inputs      {_inputs(metric)}")
    lines.append(f"cutoff (k)  {_CUTOFFS[metric.cutoff]}")
    lines.append("parameters  " + ("" if described["parameters"] else "none of its own"))
    for parameter in described["parameters"]:
        choices = f", one of {', '.join(map(str, parameter['choices']))}" if parameter["choices"] else ""
        lines.append(f"  {parameter['name']} = {parameter['default']}{choices}")
    lines.append(f"  it also takes {', '.join(metric.engine_parameters)}")
    low, high = metric.range
    bounds = f"{'unbounded' if low is None else f'{low:g}'} to {'unbounded' if high is None else f'{high:g}'}"
    lines.append(f"range       {bounds}; {'higher' if metric.higher_is_better else 'lower'} is better")
    lines.append(f"aggregate   {metric.aggregate}")
    lines.append(f"laws        {', '.join(sorted(metric.laws)) or 'none'}")
    lines.append(f"version     {metric.version}")
    lines.append(f"provider    {claim.provider}")
    typer.echo("\n".join(lines))


def _described(claim: Claim[Metric]) -> dict[str, Any]:
    metric, provider = claim.declaration, claim.provider
    return {
        "alias": metric.alias,
        "names": list(metric.names),
        "summary": metric.summary,
        "definition": inspect.getdoc(metric.source) or "",
        "gold": list(metric.gold),
        "judges": metric.judges,
        "cutoff": metric.cutoff,
        "parameters": [
            {"name": parameter.name, "default": parameter.default, "choices": list(parameter.choices)}
            for parameter in (*metric.parameters, *metric.matching)
        ],
        "range": list(metric.range),
        "higher_is_better": metric.higher_is_better,
        "aggregate": metric.aggregate,
        "laws": sorted(metric.laws),
        "version": metric.version,
        "provider": {
            "distribution": provider.distribution,
            "version": provider.version,
            "plugin": provider.plugin,
            "file": provider.file,
            "line": provider.line,
        },
    }


def _inputs(metric: Metric) -> str:
    judged = "the retrieved items" if metric.judges == "retrieved" else "the generated answer (actual_output.answer)"
    matcher = (
        ""
        if metric.matcher is None
        else f", matcher {'chosen by parameters' if callable(metric.matcher) else metric.matcher}"
    )
    return f"{judged}, against expected_output: {' or '.join(metric.gold)}{matcher}"
