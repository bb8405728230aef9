"""
`rankgauge plugins`: which plugins there are, what is wrong with them, and locking what a config uses of them.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from rankgauge.cli import checks
from rankgauge.cli.console import plain_table, remark
from rankgauge.cli.options import make_catalog, make_engine
from rankgauge.cli.typed import JSON

__all__ = ["app"]

app = typer.Typer(help="List plugins, check that they are whole, or lock what a config uses.", no_args_is_help=True)


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
def check_plugins(
    name: Annotated[
        str | None,
        typer.Argument(
            help="A plugin, by its distribution or its entry point: everything it offers is checked against the laws.",
            show_default=False,
        ),
    ] = None,
    *,
    without: Annotated[list[str] | None, checks.WITHOUT] = None,
    cases: Annotated[int, checks.CASES] = 100,
    as_json: Annotated[bool, JSON] = False,
) -> None:
    """Report everything that is wrong with any plugin, or check one against the laws; exit 1 if anything is wrong."""
    if name is not None:
        checks.check_one_plugin(name, without=without or [], cases=cases, as_json=as_json)
        return
    catalog = make_catalog()
    if as_json:
        import orjson

        faults = [dataclasses.asdict(fault) for fault in catalog.faults]
        typer.echo(orjson.dumps({"ok": not faults, "faults": faults}, option=orjson.OPT_INDENT_2).decode())
        raise typer.Exit(1 if faults else 0)
    for fault in catalog.faults:
        typer.echo(str(fault))
    count = sum(not plugin.disabled for plugin in catalog.plugins)
    if catalog.faults:
        typer.echo(f"{len(catalog.faults)} fault{'s' if len(catalog.faults) > 1 else ''} in {count} plugins")
        raise typer.Exit(1)
    typer.echo(f"{count} plugins, no faults")


@app.command("lock")
def lock_plugins(
    config: Annotated[Path, typer.Argument(help="The config file.")] = Path("rankgauge.yaml"),
    *,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="The lock file; by default the one that the config names, else rankgauge.lock.yaml beside it.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Write down what a config's metrics and matchers mean and who provides them, so that runs can be held to it."""
    engine = make_engine(config)
    lock = engine.lock()
    from rankgauge.config import write_lock

    path = output or Path(lock.path)
    write_lock(lock, path)
    kinds = Counter(entry.kind for entry in lock.entries)
    counts = ", ".join(f"{count} {kind}{'s' if count > 1 else ''}" for kind, count in kinds.items())
    providers = sorted({part.who for entry in lock.entries for part in entry.parts})
    typer.echo(f"wrote {path}: {counts}, of {', '.join(providers)}")
    named = engine.config is not None and engine.config.config.plugins.locked is not None
    if not named or (engine.config is not None and engine.config.lock_file.resolve() != path.resolve()):
        beside = path.resolve().parent == config.resolve().parent
        remark(f"to hold runs to it, say in {config}:\nplugins:\n  locked: {path.name if beside else path.resolve()}")
