"""
`rankgauge plugins`: which plugins there are, what is wrong with them, and locking what a config uses of them.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rankgauge.cli import checks
from rankgauge.cli.console import echo, plain_table, print_json, remark
from rankgauge.cli.options import make_catalog, make_engine
from rankgauge.cli.typed import JSON
from rankgauge.errors import counted

if TYPE_CHECKING:
    from rankgauge.catalog import Catalog
    from rankgauge.catalog.claims import Fault, Plugin

__all__ = ["app"]

app = typer.Typer(help="List and check plugins, and lock what a config uses.", no_args_is_help=True)


@app.command("list")
def list_plugins(
    *,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Name everything that each plugin offers, with file and line.")
    ] = False,
    as_json: Annotated[bool, JSON] = False,
) -> None:
    """List every plugin, what it offers, and whether it works."""
    catalog = make_catalog()
    if as_json:
        print_json([_described(plugin, catalog.faults) for plugin in catalog.plugins])
        return
    faulty = Counter(fault.plugin for fault in catalog.faults)
    rows = []
    for plugin in catalog.plugins:
        offers = [*_counts(offer.kind for offer in plugin.offers), *(["an observer"] if plugin.observers else ())]
        faults = faulty[plugin.id]
        state = "disabled" if plugin.disabled else counted(faults, "fault") if faults else "ok"
        rows.append((plugin.name, _who(plugin), plugin.target, ", ".join(offers) or "-", state))
    plain_table(("plugin", "distribution", "target", "offers", "state"), rows)
    if verbose:
        echo("\n".join(line for plugin in catalog.plugins for line in _offers(plugin)))


def _who(plugin: Plugin) -> str:
    return f"{plugin.distribution} {plugin.version}".strip() or "this process"


def _offers(plugin: Plugin) -> Iterator[str]:
    """Yield a plugin, and everything that it offers with its place; lines, because a table would break paths."""
    from rankgauge.catalog import Provider

    observers = {hook: Provider.of(getattr(each, "func", each), "", "", "") for hook, each in plugin.observers.items()}
    found = [(offer.kind, offer.names[0][1], offer.provider) for offer in plugin.offers]
    found += [("observer", hook, place) for hook, place in observers.items()]
    if not found:
        return
    yield f"\n{plugin.name} ({_who(plugin)})"
    width = max(len(f"{kind} {name}") for kind, name, _ in found)
    for kind, name, provider in found:
        yield f"  {f'{kind} {name}':{width}}  {provider.place}".rstrip()


def _described(plugin: Plugin, faults: Iterable[Fault]) -> dict[str, object]:
    """Return a plugin in plain values."""
    own = [{"stage": fault.stage, "message": fault.message} for fault in faults if fault.plugin == plugin.id]
    return {
        "plugin": plugin.name,
        "distribution": plugin.distribution,
        "version": plugin.version,
        "target": plugin.target,
        "state": "disabled" if plugin.disabled else "faulty" if own else "ok",
        "offers": [
            {
                "kind": offer.kind,
                "name": offer.names[0][1],
                "names": [name for kind, name in offer.names if kind == offer.kind],
                "summary": offer.declaration.summary,
                "file": offer.provider.file,
                "line": offer.provider.line,
            }
            for offer in plugin.offers
        ],
        "observers": sorted(plugin.observers),
        "faults": own,
    }


def _counts(kinds: Iterable[str]) -> list[str]:
    return [counted(count, kind) for kind, count in Counter(kinds).items()]


@app.command("check")
def check_plugins(
    name: Annotated[
        str | None,
        typer.Argument(
            help="One plugin, by its distribution or entry point; everything it offers is checked against the laws.",
            show_default=False,
        ),
    ] = None,
    *,
    without: Annotated[list[str] | None, checks.WITHOUT] = None,
    cases: Annotated[int | None, checks.CASES] = None,
    quick: Annotated[bool, checks.QUICK] = False,
    as_json: Annotated[bool, JSON] = False,
) -> None:
    """
    Check that plugins can be used. With NAME, check one against the laws. Exit code 1 if anything is wrong.

    Readers and reporters are tried on tiny data.
    """
    if name is not None:
        checks.check_one_plugin(name, without=without or [], cases=cases, quick=quick, as_json=as_json)
        return
    catalog = make_catalog()
    faults = [*catalog.faults, *_format_faults(catalog)]
    plugins = counted(sum(not plugin.disabled for plugin in catalog.plugins), "plugin")
    if as_json:
        print_json({"ok": not faults, "faults": [dataclasses.asdict(fault) for fault in faults]})
    else:
        told = f"{counted(len(faults), 'fault')} in {plugins}" if faults else f"{plugins}, no faults"
        echo("\n".join([*map(str, faults), told]))
    raise typer.Exit(1 if faults else 0)


def _format_faults(catalog: Catalog) -> Iterator[Fault]:
    """Yield what readers and reporters of plugins do wrong with tiny data."""
    from rankgauge.catalog.claims import OWN, Fault
    from rankgauge.testing.plugin_checks import check_format

    for plugin in catalog.plugins:
        formats = [offer for offer in plugin.offers if offer.kind in {"reader", "reporter"}]
        for offer in formats if plugin.distribution != OWN else ():
            for verdict in check_format(offer).verdicts:
                if verdict.state == "broken":
                    message = f"{offer.kind} {offer.names[0][1]!r}: {verdict.reason}"
                    yield Fault(plugin.id, plugin.version, "call", message)


@app.command("lock")
def lock_plugins(
    config: Annotated[Path, typer.Argument(help="The config file.")] = Path("rankgauge.yaml"),
    *,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="The lock file; by default the one named in the config, or rankgauge.lock.yaml beside it.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Write a lock file. It holds what a config's metrics and matchers mean, and who provides them."""
    engine = make_engine(config)
    lock = engine.lock()
    from rankgauge.config.lock_file import write_lock

    path = output or Path(lock.path)
    write_lock(lock, path)
    counts = ", ".join(_counts(entry.kind for entry in lock.entries))
    providers = sorted({part.who for entry in lock.entries for part in entry.parts})
    echo(f"wrote {path}: {counts}, from {', '.join(providers)}")
    loaded = engine.config
    if loaded is None or loaded.config.plugins.locked is None or loaded.lock_file.resolve() != path.resolve():
        beside = path.resolve().parent == config.resolve().parent
        remark(
            f"to make runs check it, add to {config}:\nplugins:\n  locked: {path.name if beside else path.resolve()}"
        )
