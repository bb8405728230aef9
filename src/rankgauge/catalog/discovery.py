"""
Discovery: finding the installed plugins behind entry points.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rankgauge.catalog.claims import OWN, Fault, Plugin, normalized
from rankgauge.catalog.environment import disabled_plugins, no_plugins
from rankgauge.catalog.loading import load_plugin
from rankgauge.guard import ForeignError, guarded
from rankgauge.plugin.hookspecs import PROJECT
from rankgauge.version import __version__

__all__ = ["OWN_POINTS", "discover_again", "discover_further", "discover_own"]

OWN_POINTS = {
    "matchers": "rankgauge.matchers",
    "metrics": "rankgauge.metrics",
    "readers": "rankgauge.io.formats",
    "reporters": "rankgauge.report",
}
"""rankgauge's own entry points, as its pyproject.toml has them: known without reading what is installed."""


class _Point(NamedTuple):
    """An entry point of the group."""

    distribution: str
    version: str
    name: str
    target: str
    load: Callable[[], object]

    def plugin(self, *, disabled: bool = False) -> Plugin:
        """Return what it names, loaded unless it is disabled."""
        found = Plugin(self.distribution, self.version, self.name, self.target, disabled)
        return found if disabled else load_plugin(found, self.load)


def discover_own(wanted: Collection[str] | None = None) -> list[Plugin]:
    """Load rankgauge's own plugins by name; *wanted* says which, None for all."""
    return [point.plugin() for point in _own_points() if wanted is None or point.name in wanted]


def discover_further(*, disable: Collection[str] = (), own_only: bool = False) -> list[Plugin]:
    """
    Find and load every other installed plugin, by distribution and name; a broken one does not make this fail.

    *disable* names distributions; with *own_only*, all are disabled.
    """
    off = set(map(normalized, disable))
    unreadable: list[Plugin] = []
    found = [point.plugin(disabled=own_only or point.distribution in off) for point in _further_points(unreadable)]
    return found + unreadable


def discover_again(wanted: Sequence[Plugin]) -> list[Plugin]:
    """
    Find the plugins that another process had, and no others.

    One that is not installed here has a fault that says so; one that is disabled here or there is disabled.
    """
    off = set(map(normalized, disabled_plugins()))
    here = {(point.distribution, point.name): point for point in (*_own_points(), *_further_points([]))}
    plugins = []
    for plugin in wanted:
        found = here.get((plugin.distribution, plugin.name))
        if plugin.disabled or (plugin.distribution != OWN and (no_plugins() or plugin.distribution in off)):
            plugins.append(dataclasses.replace(plugin, disabled=True))
        elif found is not None:
            plugins.append(found.plugin())
        else:
            message = (
                "it is installed where this catalog was pickled, but not here; "
                f"run `pip install {plugin.distribution}=={plugin.version}` here too"
            )
            fault = Fault(plugin.id, plugin.version, "load", message)
            plugins.append(dataclasses.replace(plugin, faults=(fault,)))
    return plugins


def _own_points() -> Iterator[_Point]:
    for name, target in OWN_POINTS.items():
        yield _Point(OWN, __version__, name, target, functools.partial(importlib.import_module, target))


def _further_points(unreadable: list[Plugin]) -> Iterator[_Point]:
    """
    Yield the entry points of other distributions; of two with one name the first wins, as on import.

    Distributions that cannot be read are added to *unreadable*.
    """
    import importlib.metadata as installed  # slower to load than a small run takes to evaluate

    found: dict[str, list[_Point]] = {}
    for distribution in installed.distributions():
        try:
            with guarded():
                points = [point for point in distribution.entry_points if point.group == PROJECT]
                if not points:
                    continue
                metadata: Any = distribution.metadata  # a Message that may lack any field, against its type
                name, version = normalized(metadata.get("Name") or "unknown"), metadata.get("Version") or "unknown"
                own = [_Point(name, version, point.name, point.value, point.load) for point in points]
                found.setdefault(name, own)
        except ForeignError as error:
            folder = str(getattr(distribution, "_path", "") or distribution.locate_file(""))
            broken = Plugin("unknown", "unknown", Path(folder).name, folder)
            fault = Fault(broken.id, broken.version, "load", f"its entry points in {folder} cannot be read: {error}")
            unreadable.append(dataclasses.replace(broken, faults=(fault,)))
    found.pop(OWN, None)
    for name in sorted(found):
        yield from sorted(found[name], key=lambda point: point.name)
