"""
``rankgauge plugins``: what is installed, whether it works, and what a config locks.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from rankgauge.catalog import Provider
from rankgauge.catalog.claims import Fault, Plugin
from rankgauge.cli.console import echo, plain_table, print_json, remark
from rankgauge.cli.conventions import make_catalog, make_engine
from rankgauge.commands import words
from rankgauge.errors import counted
from rankgauge.kernel import DISTRIBUTION, installed_kernel


def execute_list(given: argparse.Namespace) -> int:
    """List every plugin."""
    catalog = make_catalog()
    if given.as_json:
        print_json([_described(plugin, catalog.faults) for plugin in catalog.plugins])
        return 0
    faulty = Counter(fault.plugin for fault in catalog.faults)
    rows = []
    for plugin in catalog.plugins:
        kinds = [*(offer.kind for offer in plugin.offers), *("command" for _ in plugin.commands)]
        offers = [*_counts(kinds), *(["an observer"] if plugin.observers else ())]
        if plugin.distribution == DISTRIBUTION:
            offers.append("no kernel: not compiled" if installed_kernel() is None else "a kernel")
        faults = faulty[plugin.id]
        usual = "not loaded" if plugin.commands else "ok"  # a command is loaded when it is typed
        state = "disabled" if plugin.disabled else counted(faults, "fault") if faults else usual
        slow = f", {plugin.import_seconds:.1f} s to import" if plugin.is_slow else ""
        rows.append((plugin.name, _who(plugin), plugin.target, ", ".join(offers) or "-", f"{state}{slow}"))
    plain_table(("plugin", "distribution", "target", "offers", "state"), rows)
    if given.verbose:
        echo("\n".join(line for plugin in catalog.plugins for line in _offers(plugin)))
    if names := sorted({plugin.distribution for plugin in catalog.plugins if faulty[plugin.id]}):
        remark(f"`rankgauge plugins check {' '.join(names)}` says what is wrong")
    return 0


def _who(plugin: Plugin) -> str:
    return f"{plugin.distribution} {plugin.version}".strip() or "this process"


def _offers(plugin: Plugin) -> Iterator[str]:
    """
    Yield a plugin, and everything that it offers with its place; lines, because a table would break paths.

    Commands are not loaded for that: their place is the target of their entry point.
    """
    observers = {hook: Provider.of(getattr(call, "func", call), "", "", "") for hook, call in plugin.observers.items()}
    offers = [(offer.kind, offer.names[0][1], offer.provider.place) for offer in plugin.offers]
    offers += [("command", words(point.name), point.target) for point in plugin.commands]
    offers += [("observer", hook, provider.place) for hook, provider in observers.items()]
    if not offers:
        return
    yield f"\n{plugin.name} ({_who(plugin)})"
    width = max(len(f"{kind} {name}") for kind, name, _ in offers)
    for kind, name, place in offers:
        yield f"  {f'{kind} {name}':{width}}  {place}".rstrip()


def _described(plugin: Plugin, faults: Iterable[Fault]) -> dict[str, object]:
    """Return a plugin in plain values."""
    own_faults = [{"stage": fault.stage, "message": fault.message} for fault in faults if fault.plugin == plugin.id]
    return {
        "plugin": plugin.name,
        "distribution": plugin.distribution,
        "version": plugin.version,
        "target": plugin.target,
        "state": "disabled" if plugin.disabled else "faulty" if own_faults else "ok",
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
        "commands": [{"name": words(point.name), "target": point.target} for point in plugin.commands],
        "observers": sorted(plugin.observers),
        "is_slow": plugin.is_slow,
        "faults": own_faults,
    }


def _counts(kinds: Iterable[str]) -> list[str]:
    return [counted(count, kind) for kind, count in Counter(kinds).items()]


def execute_lock(given: argparse.Namespace) -> int:
    """Write a lock file."""
    config: Path = given.config
    engine = make_engine(config)
    lock = engine.lock()
    from rankgauge.config.lock_file import write_lock
    from rankgauge.io.files import real_path

    file = given.output or Path(lock.path)
    write_lock(lock, file)
    commands = lock.commands or ()
    counts = ", ".join(_counts([*(entry.kind for entry in lock.entries), *(part.kind for part in commands)]))
    providers = sorted({part.who for parts in (*(entry.parts for entry in lock.entries), commands) for part in parts})
    echo(f"wrote {file}: {counts}, from {', '.join(providers)}")
    loaded = engine.config
    if loaded is None or loaded.config.plugins.locked is None or real_path(loaded.lock_file) != real_path(file):
        beside = real_path(file).parent == real_path(config).parent
        named = file.name if beside else real_path(file)
        remark(f"to make runs check it, add to {config}:\nplugins:\n  locked: {named}")
    return 0
