"""
`rankgauge plugins`: which plugins there are, and what is wrong with them.
"""

from __future__ import annotations

from collections import Counter

import typer

from rankgauge.cli.console import plain_table
from rankgauge.cli.options import make_catalog

__all__ = ["app"]

app = typer.Typer(help="List plugins, or check that they are whole.", no_args_is_help=True)


@app.command("list")
def list_plugins() -> None:
    """List every plugin found: its distribution, what it offers, and whether it works."""
    catalog = make_catalog()
    faulty = Counter(fault.plugin for fault in catalog.faults)
    rows = []
    for plugin in catalog.plugins:
        offers = Counter(offer.kind for offer in plugin.offers)
        offered = ", ".join(f"{count} {kind}{'s' if count > 1 else ''}" for kind, count in offers.items())
        if plugin.observers:
            offered = f"{offered}, an observer" if offered else "an observer"
        count = faulty[plugin.id]
        state = "disabled" if plugin.disabled else f"{count} fault{'s' if count > 1 else ''}" if count else "ok"
        rows.append((plugin.name, f"{plugin.distribution} {plugin.version}", plugin.target, offered or "-", state))
    plain_table(("plugin", "distribution", "target", "offers", "state"), rows)


@app.command("check")
def check_plugins() -> None:
    """Report everything that is wrong with any plugin; exit 1 if anything is."""
    catalog = make_catalog()
    for fault in catalog.faults:
        typer.echo(str(fault))
    count = sum(not plugin.disabled for plugin in catalog.plugins)
    if catalog.faults:
        typer.echo(f"{len(catalog.faults)} fault{'s' if len(catalog.faults) > 1 else ''} in {count} plugins")
        raise typer.Exit(1)
    typer.echo(f"{count} plugins, no faults")
