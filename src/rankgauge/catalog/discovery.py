"""
Discovery: the installed plugins behind entry points, and names, for which others load only where they are not built in.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import os
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

from rankgauge.base.guard import ForeignError, guarded
from rankgauge.catalog.claims import OWN, Claim, Fault, Plugin, indexed, normalized
from rankgauge.catalog.loading import load_plugin
from rankgauge.catalog.other_tools import elsewhere_hint
from rankgauge.catalog.trec_eval import left_out_hint
from rankgauge.errors import NameClashError, RequiredPluginError, UnknownNameError, did_you_mean, suggest
from rankgauge.plugin.hookspecs import PROJECT
from rankgauge.version import __version__

__all__ = [
    "OWN_POINTS",
    "Installed",
    "Names",
    "disabled_plugins",
    "discover_again",
    "no_plugins",
]


def disabled_plugins() -> list[str]:
    """Return the distributions that RANKGAUGE_DISABLE_PLUGINS lists, separated by commas."""
    return [name.strip() for name in os.environ.get("RANKGAUGE_DISABLE_PLUGINS", "").split(",") if name.strip()]


def no_plugins() -> bool:
    """Return whether RANKGAUGE_NO_PLUGINS disables every plugin except rankgauge's own."""
    return os.environ.get("RANKGAUGE_NO_PLUGINS", "") not in {"", "0"}


OWN_POINTS = {
    "matchers": "rankgauge.matchers",
    "metrics": "rankgauge.metrics",
    "readers": "rankgauge.io.builtin_formats",
    "reporters": "rankgauge.report",
}
"""rankgauge's own entry points, as its pyproject.toml has them: known without reading what is installed."""

_POINT_OF = {
    **dict.fromkeys(("metric", "aggregate"), "metrics"),
    **dict.fromkeys(("normalizer", "comparer", "matcher", "tokenizer"), "matchers"),
    **dict.fromkeys(("reader", "file ending", "preset"), "readers"),
    "reporter": "reporters",
}
"""Which of them declares each kind of thing."""


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


class Installed:
    """The installed plugins. Those of rankgauge itself load in parts, when something is asked for that a part has."""

    def __init__(self, *, disable: Collection[str] = (), own_only: bool = False) -> None:
        """Take the distributions to disable; with *own_only*, all others than rankgauge are."""
        self._off = set(map(normalized, disable))
        self._own_only = own_only
        self._loaded: dict[str, Plugin] = {}  # by entry point, and by family of metrics

    @classmethod
    def allowed(cls, disable: Collection[str], *, own_only: bool) -> Installed:
        """Return what neither arguments nor environment variables switch off."""
        return cls(disable=[*disable, *disabled_plugins()], own_only=own_only or no_plugins())

    def part(self, kind: str, name: str) -> Plugin | None:
        """Load what of rankgauge's own may have a name in lower case; None where nothing may, or it was loaded."""
        point = _POINT_OF.get(kind)
        part = importlib.import_module(OWN_POINTS["metrics"]).family_of(name) if kind == "metric" else point
        if point is None or part is None or part in self._loaded:
            return None
        self._loaded[part] = _own(point) if part == point else _own_family(part)
        return self._loaded[part]

    def all(self) -> list[Plugin]:
        """Load every plugin, rankgauge's own first, then by distribution and name; a broken one is there, too."""
        return [self._loaded.get(name) or _own(name) for name in OWN_POINTS] + self.others

    @functools.cached_property
    def others(self) -> list[Plugin]:
        """The plugins of other distributions than rankgauge, which are loaded."""
        unreadable: list[Plugin] = []
        return [point.plugin(disabled=self._is_off(point)) for point in _further_points(unreadable)] + unreadable

    @functools.cached_property
    def distributions(self) -> set[tuple[str, str]]:
        """Return names and versions of the distributions that have plugins and are not disabled, loading none."""
        unreadable: list[Plugin] = []
        found = {(OWN, __version__)}
        found |= {(each.distribution, each.version) for each in _further_points(unreadable) if not self._is_off(each)}
        return found | {(each.distribution, each.version) for each in unreadable}

    def _is_off(self, point: _Point) -> bool:
        return self._own_only or point.distribution in self._off


def discover_again(wanted: Sequence[Plugin]) -> list[Plugin]:
    """
    Find the plugins that another process had, and no others.

    One that is not installed here has a fault that says so; one that is disabled here or there is disabled.
    """
    off = set(map(normalized, disabled_plugins()))
    own = map(_own_point, OWN_POINTS)
    here = {(point.distribution, point.name): point for point in (*own, *_further_points([]))}
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


def _own_point(name: str) -> _Point:
    target = OWN_POINTS[name]
    return _Point(OWN, __version__, name, target, functools.partial(importlib.import_module, target))


def _own(name: str) -> Plugin:
    return _own_point(name).plugin()


def _own_family(family: str) -> Plugin:
    """Return rankgauge's metrics with one family of them."""
    metrics = importlib.import_module(OWN_POINTS["metrics"])
    return _own_point("metrics")._replace(load=functools.partial(metrics.Family, family)).plugin()


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


class Names:
    """The names that plugins claim, as far as these are loaded."""

    plugins: tuple[Plugin, ...]  # those that are loaded
    faults: tuple[Fault, ...]  # what is wrong with any of them

    def __init__(self, plugins: Iterable[Plugin], installed: Installed | None) -> None:
        """Index what plugins offer; *installed* is what else there is, which is loaded when it is needed."""
        self._installed = installed
        self._loading = threading.RLock()
        self._index(plugins)

    def _index(self, plugins: Iterable[Plugin]) -> None:
        self.plugins = tuple(plugins)
        self._claims, self._spelled, self.faults = indexed(self.plugins)

    def complete(self) -> Self:
        """Load everything that was not needed so far."""
        with self._loading:
            installed, self._installed = self._installed, None  # a plugin may ask for a name while it loads
            if installed is None:
                return self
            try:
                self._index(installed.all())
            except BaseException:
                self._installed = installed
                raise
        return self

    def foreign(self) -> Sequence[Plugin]:
        """Return all plugins but those of rankgauge's own that nothing was asked of, which observe no run."""
        with self._loading:
            installed, self._installed = self._installed, None  # as above
            try:
                return self.plugins if installed is None else (*self.plugins, *installed.others)
            finally:
                self._installed = installed

    def is_loaded(self, kind: str, name: str) -> bool:
        """Return whether a name is claimed, by something built in or by a plugin that is loaded."""
        with self._loading:
            part = None if self._installed is None else self._installed.part(kind, name.casefold())
            if part is not None:
                self._index((*self.plugins, part))
            return (kind, name.casefold()) in self._claims

    def has(self, kind: str, name: str) -> bool:
        """Return whether a name is claimed; only one that is not built in makes other plugins load."""
        return self.is_loaded(kind, name) or (kind, name.casefold()) in self.complete()._claims  # noqa: SLF001  # itself

    def claims(self, kind: str, name: str) -> Sequence[Claim[Any]]:
        """Return the claims of a name among what is loaded."""
        return self._claims.get((kind, name.casefold()), ())

    def get(self, kind: str, name: str, more: Iterable[str] = ()) -> Claim[Any]:
        """Return the only claim of a name; an error that it is unknown names also *more* that there is."""
        if not self.has(kind, name):
            raise self.unknown(kind, name, more)
        claims = self.claims(kind, name)
        if len(claims) > 1:
            raise NameClashError(kind, name, [str(claim.provider) for claim in claims])
        return claims[0]

    def all(self, kind: str) -> dict[str, Claim[Any]]:
        """Return the claims of everything usable of one kind by name, sorted."""
        found = {
            self._spelled[key]: claims[0] for key, claims in self._claims.items() if key[0] == kind and len(claims) == 1
        }
        return dict(sorted(found.items()))

    def distributions(self) -> list[tuple[str, str]]:
        """Return names and versions of the distributions whose plugins are not disabled, loaded or not."""
        with self._loading:
            found = {(plugin.distribution, plugin.version) for plugin in self.plugins if not plugin.disabled}
            return sorted(found if self._installed is None else found | self._installed.distributions)

    def unknown(self, kind: str, name: str, more: Iterable[str] = ()) -> UnknownNameError:
        """Return the error of a name that nobody claims, with what it may have been meant to be."""
        self.complete()
        known = [spelled for key, spelled in self._spelled.items() if key[0] == kind and "{k}" not in spelled]
        known += more
        broken = sorted({fault.plugin for fault in self.faults if fault.stage in {"load", "api", "register", "hook"}})
        disabled = sorted({plugin.distribution for plugin in self.plugins if plugin.disabled})
        if kind == "metric":
            hints = [left_out_hint(name) or elsewhere_hint(name), "`rankgauge metrics list` lists the installed ones"]
        else:
            hints = [f"known are {', '.join(sorted(known))}" if known else f"no installed plugin has a {kind}"]
        if kind == "system" and "http" not in known:
            hints.append("`pip install rankgauge-systems` brings http, command, pipeline and engines")
        if broken:
            hints.append(f"it may come from a plugin that failed ({', '.join(broken)}: see `rankgauge plugins check`)")
        if disabled:
            hints.append(f"it may come from one that is disabled ({', '.join(disabled)})")
        return UnknownNameError(kind, name, suggestions=suggest(name, known), hint="; ".join(filter(None, hints)))

    def require(self, distributions: Iterable[str]) -> None:
        """Raise `RequiredPluginError` for a distribution whose plugin is absent, disabled or broken."""
        self.complete()
        for wanted in distributions:
            own = [plugin for plugin in self.plugins if plugin.distribution == normalized(wanted)]
            ids = {plugin.id for plugin in own}
            if not own:
                state = f"not installed; `pip install {wanted}`"
            elif any(plugin.disabled for plugin in own):
                state = "disabled; take it off the list of disabled plugins"
            elif broken := [str(fault) for fault in self.faults if fault.plugin in ids]:
                state = f"broken: {'; '.join(broken)}"
            else:
                continue
            raise RequiredPluginError(f"the plugin {wanted!r} is required and {state}")

    def not_installed(self, distributions: Iterable[str]) -> dict[str, str]:
        """Return which distributions have no plugin here, each with what to say of it."""
        installed = sorted({plugin.distribution for plugin in self.complete().plugins} - {OWN, ""})
        known = f"installed are {', '.join(installed)}" if installed else "none is installed"
        return {
            name: (
                "rankgauge's own plugins cannot be disabled"
                if normalized(name) == OWN
                else f"no plugin {name!r} is installed{did_you_mean(normalized(name), installed)}; {known}"
            )
            for name in distributions
            if normalized(name) not in installed
        }
