"""
Discovery: the installed plugins behind entry points, of which rankgauge's own load in parts.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import os
import sys
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import NamedTuple

from rankgauge.base.entry_points import EntryPoint, installed_points, normalized
from rankgauge.catalog.claims import OWN, Fault, Plugin
from rankgauge.catalog.loading import load_plugin
from rankgauge.command_points import GROUP, disabled_plugins, no_plugins, settled
from rankgauge.plugin.hookspecs import PROJECT
from rankgauge.version import __version__

__all__ = [
    "OWN_POINTS",
    "Installed",
    "disabled_plugins",
    "discover_again",
    "further_points",
    "no_plugins",
    "state_of_installation",
]


OWN_POINTS = {
    "matchers": "rankgauge.matchers",
    "metrics": "rankgauge.metrics",
    "readers": "rankgauge.io.builtin_formats",
    "reporters": "rankgauge.report",
    "tests": "rankgauge.comparison.builtin_tests",
}
"""rankgauge's own entry points, as its pyproject.toml has them: known without reading what is installed."""

_POINT_OF = {
    **dict.fromkeys(("metric", "aggregate"), "metrics"),
    **dict.fromkeys(("normalizer", "comparer", "matcher", "tokenizer"), "matchers"),
    **dict.fromkeys(("reader", "file ending", "preset"), "readers"),
    "reporter": "reporters",
    "test": "tests",
}
"""Which of them declares each kind of thing."""


class _Point(NamedTuple):
    """An entry point of the group, and what loads it."""

    distribution: str
    version: str
    name: str
    target: str
    load: Callable[[], object]

    def plugin(self, *, disabled: bool = False) -> Plugin:
        """Return what it names, loaded unless it is disabled."""
        found = Plugin(self.distribution, self.version, self.name, self.target, disabled)
        return found if disabled else load_plugin(found, self.load)


class Installed:
    """The installed plugins. Those of rankgauge itself load in parts, when something is asked for that a part has."""

    def __init__(self, *, disable: Collection[str] = (), own_only: bool = False) -> None:
        """Take the distributions to disable; with *own_only*, all others than rankgauge are."""
        self._off = set(map(normalized, disable))
        self._own_only = own_only
        self._given: set[str] = set()  # entry points and families of metrics that `part` has returned

    @classmethod
    def allowed(cls, disable: Collection[str], *, own_only: bool) -> Installed:
        """Return what neither arguments nor environment variables switch off."""
        return cls(disable=[*disable, *disabled_plugins()], own_only=own_only or no_plugins())

    def part(self, kind: str, name: str) -> Plugin | None:
        """Load what of rankgauge's own may have a name in lower case; None if nothing may, or it was given."""
        point = _POINT_OF.get(kind)
        part = importlib.import_module(OWN_POINTS["metrics"]).family_of(name) if kind == "metric" else point
        if point is None or part is None or part in self._given:
            return None
        plugin = _own(point) if part == point else _own_family(part)
        self._given.add(part)
        return plugin

    def all(self) -> list[Plugin]:
        """Load every plugin, rankgauge's own first, then by distribution and name; a broken one is there, too."""
        return [*map(_own, OWN_POINTS), *self.others]

    @functools.cached_property
    def others(self) -> list[Plugin]:
        """The plugins of other distributions than rankgauge, which are loaded."""
        points, unreadable = self._further
        plugins = [_point(point).plugin(disabled=self._is_off(point)) for point in points if point.group == PROJECT]
        plugins += _with_commands(points, self._is_off)
        return sorted(plugins, key=lambda one: (one.distribution, one.name)) + unreadable

    @property
    def loaded_others(self) -> Sequence[Plugin]:
        """Return the plugins of other distributions if they are loaded already, and none if not."""
        loaded: Sequence[Plugin] = vars(self).get("others", ())
        return loaded

    @functools.cached_property
    def distributions(self) -> set[tuple[str, str]]:
        """Return names and versions of the distributions that have plugins and are not disabled, loading none."""
        points, unreadable = self._further
        used = {(point.distribution, point.version) for point in points if not self._is_off(point)}
        return {(OWN, __version__), *used, *((plugin.distribution, plugin.version) for plugin in unreadable)}

    @functools.cached_property
    def _further(self) -> tuple[list[EntryPoint], list[Plugin]]:
        return further_points()

    def _is_off(self, point: EntryPoint) -> bool:
        return self._own_only or point.distribution in self._off


def discover_again(wanted: Sequence[Plugin]) -> list[Plugin]:
    """
    Find the plugins that another process had, and no others.

    One that is not installed here has a fault that says so; one that is disabled here or there is disabled.
    """
    off = set(map(normalized, disabled_plugins()))
    points = further_points()[0]
    read = (*map(_own_point, OWN_POINTS), *(_point(point) for point in points if point.group == PROJECT))
    here = {(point.distribution, point.name): point.plugin for point in read}
    for each in _with_commands(points, lambda _point: False):
        here[each.distribution, each.name] = functools.partial(lambda found: found, each)
    plugins = []
    for plugin in wanted:
        found = here.get((plugin.distribution, plugin.name))
        if plugin.disabled or (plugin.distribution != OWN and (no_plugins() or plugin.distribution in off)):
            plugins.append(dataclasses.replace(plugin, disabled=True))
        elif found is not None:
            plugins.append(found())
        else:
            message = (
                "it is installed where this catalog was pickled, but not here; "
                f"run `pip install {plugin.distribution}=={plugin.version}` here too"
            )
            fault = Fault(plugin.id, plugin.version, "load", message)
            plugins.append(dataclasses.replace(plugin, faults=(fault,)))
    return plugins


def _own_point(name: str) -> _Point:
    target = OWN_POINTS[name]
    return _Point(OWN, __version__, name, target, functools.partial(importlib.import_module, target))


@functools.cache
def _own(name: str) -> Plugin:
    return _own_point(name).plugin()


@functools.cache
def _own_family(family: str) -> Plugin:
    """Return rankgauge's metrics with one family of them."""
    metrics = importlib.import_module(OWN_POINTS["metrics"])
    return _own_point("metrics")._replace(load=functools.partial(metrics.Family, family)).plugin()


def _point(point: EntryPoint) -> _Point:
    return _Point(point.distribution, point.version, point.name, point.target, point.load)


def _with_commands(points: Sequence[EntryPoint], is_off: Callable[[EntryPoint], bool]) -> list[Plugin]:
    """Return a plugin for each distribution with commands, which are its entry points of that group, and not loaded."""
    own = [point for point in points if point.group == GROUP]
    found = settled(own, is_off)
    plugins = []
    for distribution in dict.fromkeys(point.distribution for point in own):
        mine = [point for point in own if point.distribution == distribution]
        plugin = Plugin(
            distribution=distribution,
            version=mine[0].version,
            name=GROUP,
            target=", ".join(dict.fromkeys(point.module for point in mine)),
            disabled=is_off(mine[0]),
            commands=tuple(point for point in found.usable.values() if point.distribution == distribution),
        )
        told = dict.fromkeys(fault for point, fault in found.faults if point.distribution == distribution)
        faults = tuple(Fault(plugin.id, plugin.version, "name", fault) for fault in told)
        plugins.append(dataclasses.replace(plugin, faults=faults))
    return plugins


def state_of_installation() -> object:
    """Return a value that is another one if other plugins may be found, or may be used."""
    return tuple(map(_state_of_place, sys.path)), tuple(disabled_plugins()), no_plugins()


def _state_of_place(place: str) -> tuple[str, int]:
    """Return a folder, the working one by its own name, and when something was added to it or taken away."""
    folder = place or os.getcwd()  # noqa: PTH109  # pathlib takes three times as long, as below
    try:
        return folder, os.stat(folder).st_mtime_ns  # noqa: PTH116
    except OSError:
        return folder, 0


def further_points() -> tuple[list[EntryPoint], list[Plugin]]:
    """Return the entry points of other distributions, and the plugins whose entry points cannot be read."""
    points, unreadable = installed_points((PROJECT, GROUP))
    broken = []
    for folder, why in unreadable:
        plugin = Plugin("unknown", "unknown", Path(folder).name, folder)
        fault = Fault(plugin.id, plugin.version, "load", f"its entry points in {folder} cannot be read: {why}")
        broken.append(dataclasses.replace(plugin, faults=(fault,)))
    return [point for point in points if point.distribution != OWN], broken
