"""
Discovery: finding plugins behind entry points, and calling their hooks, each inside a guard.

pluggy's own entry-point loader drops the second of two plugins with one name and dies on the first that is broken.
Here every plugin has its own plugin manager, so a plugin that fails leaves nothing behind, and its problems are kept as
`Fault`s beside what works.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib.metadata
import inspect
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import pluggy

from rankgauge.plugin import hookspecs
from rankgauge.plugin.formats import Reader, Reporter
from rankgauge.plugin.matching import Comparer, NamedMatcher, Normalizer
from rankgauge.plugin.metric import Metric

__all__ = [
    "OWN",
    "Claim",
    "Declaration",
    "Fault",
    "Plugin",
    "Provider",
    "discover",
    "discover_again",
    "load_plugin",
    "normalized",
]

OWN = "rankgauge"
"""The distribution whose names no other can take."""

Declaration = Metric | Normalizer | Comparer | NamedMatcher | Reader | Reporter

_HOOKS: Mapping[str, tuple[str, type]] = {
    "rankgauge_metrics": ("metric", Metric),
    "rankgauge_normalizers": ("normalizer", Normalizer),
    "rankgauge_comparers": ("comparer", Comparer),
    "rankgauge_matchers": ("matcher", NamedMatcher),
    "rankgauge_readers": ("reader", Reader),
    "rankgauge_reporters": ("reporter", Reporter),
}
_OBSERVERS = ("rankgauge_run_started", "rankgauge_run_finished")
_ALL_HOOKS = (*_HOOKS, *_OBSERVERS)


@dataclass(frozen=True, slots=True)
class Provider:
    """Who provides something, and where it is defined."""

    distribution: str  # empty for what was given in Python or config
    version: str
    plugin: str  # the name of its entry point
    file: str = ""
    line: int = 0

    @classmethod
    def of(cls, source: Callable[..., Any], distribution: str, version: str, plugin: str) -> Provider:
        """Return the provider of a function, with the place of its definition if it is written in Python."""
        code = getattr(inspect.unwrap(source), "__code__", None)
        where = (code.co_filename, code.co_firstlineno) if code is not None else ("", 0)
        return cls(distribution, version, plugin, *where)

    @property
    def plugin_id(self) -> str:
        """Return ``distribution:plugin``."""
        return plugin_id(self.distribution, self.plugin)

    def __str__(self) -> str:
        who = f"{self.distribution} {self.version}".strip() or "this process"
        where = f", {self.file}:{self.line}" if self.file else ""
        return f"{who} (plugin {self.plugin}){where}"


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that is wrong with a plugin."""

    plugin: str  # as distribution:name
    version: str
    stage: str  # load, register, hook or name
    message: str  # what is wrong and what to do

    def __str__(self) -> str:
        return f"{self.plugin} {self.version} [{self.stage}]: {self.message}"


T_co = TypeVar("T_co", bound=Declaration, covariant=True)


@dataclass(frozen=True, slots=True)
class Claim(Generic[T_co]):
    """A declaration with its provider."""

    declaration: T_co
    provider: Provider
    kind: str  # metric, normalizer, comparer, matcher, reader or reporter


@dataclass(frozen=True, slots=True)
class Plugin:
    """One plugin as it was found."""

    distribution: str
    version: str
    name: str  # of its entry point
    target: str  # the module or object that the entry point names
    disabled: bool = False
    offers: tuple[Claim[Declaration], ...] = ()
    observers: Mapping[str, Callable[[object], None]] = field(default_factory=dict)  # by hook
    faults: tuple[Fault, ...] = ()

    @property
    def id(self) -> str:
        """Return ``distribution:name``."""
        return plugin_id(self.distribution, self.name)

    def empty(self) -> Plugin:
        """Return the plugin without its offers, which is enough to find it again."""
        return dataclasses.replace(self, offers=(), observers={}, faults=())


def plugin_id(distribution: str, name: str) -> str:
    """Return what messages call a plugin."""
    return f"{distribution or 'this process'}:{name}"


def normalized(distribution: str) -> str:
    """Return a distribution's name as package indexes compare it."""
    return re.sub(r"[-_.]+", "-", distribution).lower()


def discover(
    *, disable: Collection[str] = (), own_only: bool = False, own: Collection[str] | None = None
) -> list[Plugin]:
    """
    Find and load every installed plugin, rankgauge's own first, then by distribution and name.

    *disable* names distributions; *own* says which of rankgauge's own entry points to load, None for all. A broken
    plugin does not make this fail.
    """
    off = {normalized(name) for name in disable}
    plugins = []
    for distribution, version, point in _entry_points():
        if distribution == OWN and own is not None and point.name not in own:
            continue
        disabled = distribution != OWN and (own_only or distribution in off)
        plugin = Plugin(distribution, version, point.name, point.value, disabled)
        plugins.append(plugin if disabled else load_plugin(plugin, point.load))
    return plugins


def discover_again(wanted: Sequence[Plugin]) -> list[Plugin]:
    """
    Find the plugins that another process had, and no others.

    One that is not installed here has a fault that says so; one that was disabled there stays disabled.
    """
    here = {(distribution, point.name): (version, point) for distribution, version, point in _entry_points()}
    plugins = []
    for plugin in wanted:
        found = here.get((plugin.distribution, plugin.name))
        if plugin.disabled:
            plugins.append(plugin)
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


def load_plugin(found: Plugin, load: Callable[[], object]) -> Plugin:
    """Load a plugin and call its declaring hooks; whatever goes wrong becomes a fault of the plugin."""
    faults: list[Fault] = []

    def fault(stage: str, message: str) -> None:
        faults.append(Fault(found.id, found.version, stage, message))

    def broken(stage: str, message: str) -> Plugin:
        fault(stage, message)
        return dataclasses.replace(found, faults=tuple(faults))

    try:
        plugin = load()
    except (Exception, SystemExit) as error:  # noqa: BLE001  # plugin code may raise anything, and must break only itself
        return broken("load", f"importing {found.target!r} failed: {_told(error)}")
    if inspect.isclass(plugin):
        return broken("register", f"{found.target!r} is a class; point the entry point to a module or to an instance")
    manager = _Manager(hookspecs.PROJECT)
    manager.add_hookspecs(hookspecs)
    try:
        manager.register(plugin, name=f"{found.distribution}:{found.name}")
    except (Exception, SystemExit) as error:  # noqa: BLE001  # plugin code
        return broken("register", _told(error))
    for message in _misspelled(manager, plugin):
        fault("register", message)
    offers: list[Claim[Declaration]] = []
    for hook, (kind, wanted) in _HOOKS.items():
        for implementation in getattr(manager.hook, hook).get_hookimpls():
            try:
                returned = implementation.function()
            except (Exception, SystemExit) as error:  # noqa: BLE001  # plugin code
                fault("hook", f"{hook}() raised {_told(error)}")
                continue
            offers += (
                Claim(declaration, Provider.of(declaration.source, found.distribution, found.version, found.name), kind)
                for declaration in _declarations(hook, returned, wanted, fault)
            )
    observers = {hook: observer for hook in _OBSERVERS for observer in _observers(manager, hook)}
    return dataclasses.replace(found, offers=tuple(offers), observers=observers, faults=tuple(faults))


class _Manager(pluggy.PluginManager):
    """
    A plugin manager that looks only at what can be a hook: inspecting everything else took most of its time.
    """

    def parse_hookimpl_opts(self, plugin: object, name: str) -> pluggy.HookimplOpts | None:
        """Return what a plugin's attribute is marked with, if it is a function."""
        if inspect.ismodule(plugin) and not inspect.isroutine(vars(plugin).get(name)):
            return None
        return super().parse_hookimpl_opts(plugin, name)

    def parse_hookspec_opts(self, module_or_class: object, name: str) -> pluggy.HookspecOpts | None:
        """Return what one of our specifications is marked with."""
        return super().parse_hookspec_opts(module_or_class, name) if name in _ALL_HOOKS else None  # type: ignore[arg-type]


def _entry_points() -> Iterator[tuple[str, str, importlib.metadata.EntryPoint]]:
    """Yield the entry points of the group; of two distributions with one name the first wins, as on import."""
    found: dict[str, list[tuple[str, str, importlib.metadata.EntryPoint]]] = {}
    for distribution in importlib.metadata.distributions():
        points = [point for point in distribution.entry_points if point.group == hookspecs.PROJECT]
        if not points:
            continue
        metadata: Any = distribution.metadata  # a Message that may lack any field, against its type
        name = normalized(metadata.get("Name") or "unknown")
        found.setdefault(name, [(name, metadata.get("Version") or "unknown", point) for point in points])
    for name in sorted(found, key=lambda name: (name != OWN, name)):
        yield from sorted(found[name], key=lambda entry: entry[2].name)


def _misspelled(manager: pluggy.PluginManager, plugin: object) -> Iterator[str]:
    try:
        manager.check_pending()
    except pluggy.PluginValidationError as error:
        yield f"{error}; known hooks are {', '.join(_ALL_HOOKS)}"
    for name in dir(plugin):
        if not name.startswith("rankgauge_"):
            continue
        function = getattr(plugin, name, None)
        if inspect.isroutine(function) and not hasattr(function, "rankgauge_impl"):
            yield f"{name}() lacks the @hookimpl marker, so it is never called"


def _observers(manager: pluggy.PluginManager, hook: str) -> Iterator[Callable[[object], None]]:
    """Yield observers, each callable with one argument even if its function takes none."""
    for implementation in getattr(manager.hook, hook).get_hookimpls():
        function = implementation.function
        yield function if implementation.argnames else functools.partial(_without_argument, function)


def _without_argument(function: Callable[[], object], _argument: object) -> None:
    function()


def _declarations(
    hook: str, returned: object, wanted: type, fault: Callable[[str, str], None]
) -> Iterator[Declaration]:
    if not isinstance(returned, Sequence) or isinstance(returned, str | bytes):
        fault("hook", f"{hook}() must return a list of declared functions, not {type(returned).__name__}")
        return
    decorator = "named_matcher" if wanted is NamedMatcher else wanted.__name__.lower()
    seen: set[int] = set()
    for item in returned:
        declaration = getattr(item, "__rankgauge__", None)
        if not isinstance(declaration, wanted):
            fault("hook", f"{hook}() returned {item!r}, which @{decorator} did not declare")
        elif id(declaration) not in seen:
            seen.add(id(declaration))
            yield declaration  # type: ignore[misc]  # `wanted` is one of the members of the union


def _told(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"
