"""
Discovery: finding the installed plugins behind entry points.
"""

from __future__ import annotations

import dataclasses
import importlib.metadata
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

from rankgauge.catalog.claims import OWN, Fault, Plugin, normalized
from rankgauge.catalog.environment import disabled_plugins, no_plugins
from rankgauge.catalog.loading import load_plugin
from rankgauge.guard import ForeignError, guarded
from rankgauge.plugin.hookspecs import PROJECT

__all__ = ["discover", "discover_again"]


def discover(
    *, disable: Collection[str] = (), own_only: bool = False, own: Collection[str] | None = None
) -> list[Plugin]:
    """
    Find and load every installed plugin, rankgauge's own first, then by distribution and name.

    *disable* names distributions, and so does the environment; *own* says which of rankgauge's own entry points to
    load, None for all. A broken plugin does not make this fail.
    """
    own_only = own_only or no_plugins()
    off = {normalized(name) for name in (*disable, *disabled_plugins())}
    plugins: list[Plugin] = []
    unreadable: list[Plugin] = []
    for distribution, version, point in _entry_points(unreadable):
        if distribution == OWN and own is not None and point.name not in own:
            continue
        disabled = distribution != OWN and (own_only or distribution in off)
        plugin = Plugin(distribution, version, point.name, point.value, disabled)
        plugins.append(plugin if disabled else load_plugin(plugin, point.load))
    return plugins + unreadable


def discover_again(wanted: Sequence[Plugin]) -> list[Plugin]:
    """
    Find the plugins that another process had, and no others.

    One that is not installed here has a fault that says so; one that is disabled here or there is disabled.
    """
    off = set(map(normalized, disabled_plugins()))
    here = {(distribution, point.name): (version, point) for distribution, version, point in _entry_points([])}
    plugins = []
    for plugin in wanted:
        found = here.get((plugin.distribution, plugin.name))
        if plugin.disabled or (plugin.distribution != OWN and (no_plugins() or plugin.distribution in off)):
            plugins.append(dataclasses.replace(plugin, disabled=True))
        elif found is not None:
            version, point = found
            plugins.append(load_plugin(Plugin(plugin.distribution, version, point.name, point.value), point.load))
        else:
            message = (
                "it is installed where this catalog was pickled, but not here; "
                f"run `pip install {plugin.distribution}=={plugin.version}` here too"
            )
            fault = Fault(plugin.id, plugin.version, "load", message)
            plugins.append(dataclasses.replace(plugin, faults=(fault,)))
    return plugins


def _entry_points(unreadable: list[Plugin]) -> Iterator[tuple[str, str, importlib.metadata.EntryPoint]]:
    """
    Yield the entry points of the group; of two distributions with one name the first wins, as on import.

    Distributions that cannot be read are added to *unreadable*.
    """
    found: dict[str, list[tuple[str, str, importlib.metadata.EntryPoint]]] = {}
    for distribution in importlib.metadata.distributions():
        try:
            with guarded():
                points = [point for point in distribution.entry_points if point.group == PROJECT]
                if not points:
                    continue
                metadata: Any = distribution.metadata  # a Message that may lack any field, against its type
                name = normalized(metadata.get("Name") or "unknown")
                found.setdefault(name, [(name, metadata.get("Version") or "unknown", point) for point in points])
        except ForeignError as error:
            folder = str(getattr(distribution, "_path", "") or distribution.locate_file(""))
            broken = Plugin("unknown", "unknown", Path(folder).name, folder)
            fault = Fault(broken.id, broken.version, "load", f"its entry points in {folder} cannot be read: {error}")
            unreadable.append(dataclasses.replace(broken, faults=(fault,)))
    for name in sorted(found, key=lambda name: (name != OWN, name)):
        yield from sorted(found[name], key=lambda entry: entry[2].name)
