"""
Loading one plugin: importing it and calling its hooks, each inside a guard.

pluggy's own entry-point loader drops the second of two plugins with one name and dies on the first that is broken.
Here every plugin has its own plugin manager, so a plugin that fails leaves nothing behind, and its problems are kept as
`Fault`s beside what works.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pluggy

from rankgauge.base.guard import ForeignError, guarded, shown
from rankgauge.base.logs import logger
from rankgauge.catalog.claims import Claim, Declaration, Fault, Plugin, Provider
from rankgauge.errors import DeclarationError
from rankgauge.plugin import hookspecs
from rankgauge.plugin.declarations import Aggregate, Reader, Reporter, Tokenizer
from rankgauge.plugin.gate_kind import GateKind
from rankgauge.plugin.gold_kinds import DeclaredGold
from rankgauge.plugin.hookspecs import API, ATTRIBUTE, why_unusable
from rankgauge.plugin.matching import Comparer, NamedMatcher, Normalizer
from rankgauge.plugin.metric import Metric
from rankgauge.plugin.named_data import MetricSet, NamedProfile, Preset
from rankgauge.plugin.paired_test import PairedTest
from rankgauge.plugin.programs import System
from rankgauge.plugin.ranking_filter import RankingFilter
from rankgauge.plugin.sections import ReportSection

__all__ = ["load_plugin"]

_HOOKS: Mapping[str, tuple[str, type]] = {
    "rankgauge_metrics": ("metric", Metric),
    "rankgauge_normalizers": ("normalizer", Normalizer),
    "rankgauge_comparers": ("comparer", Comparer),
    "rankgauge_matchers": ("matcher", NamedMatcher),
    "rankgauge_tokenizers": ("tokenizer", Tokenizer),
    "rankgauge_readers": ("reader", Reader),
    "rankgauge_reporters": ("reporter", Reporter),
    "rankgauge_gold_kinds": ("gold kind", DeclaredGold),
    "rankgauge_aggregates": ("aggregate", Aggregate),
    "rankgauge_profiles": ("profile", NamedProfile),
    "rankgauge_metric_sets": ("metric set", MetricSet),
    "rankgauge_presets": ("preset", Preset),
    "rankgauge_report_sections": ("report section", ReportSection),
    "rankgauge_systems": ("system", System),
    "rankgauge_paired_tests": ("test", PairedTest),
    "rankgauge_gate_kinds": ("gate kind", GateKind),
    "rankgauge_ranking_filters": ("filter", RankingFilter),
}
_OBSERVERS = ("rankgauge_run_started", "rankgauge_run_finished")
_ALL_HOOKS = (*_HOOKS, *_OBSERVERS, "rankgauge_kernel")


def load_plugin(found: Plugin, load: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> Plugin:
    """
    Load a plugin and call its declaring hooks; whatever goes wrong becomes a fault of the plugin.

    One whose import takes seconds by the *clock* is named in a warning.
    """
    faults, begun = _Faults(found), clock()
    try:
        with guarded():
            plugin = load()
    except ForeignError as error:
        hint = f"; this rankgauge has plugin API {'.'.join(map(str, API))}" if _lacks_a_name_of_ours(error) else ""
        return faults.broken("load", f"importing {found.target!r} failed: {error}{hint}")
    found = dataclasses.replace(found, import_seconds=clock() - begun)
    if found.is_slow:
        logger("catalog").warning(
            "importing plugin %s (%s) took %.1f s; import what is slow where it is used, or leave the plugin out: "
            "RANKGAUGE_DISABLE_PLUGINS=%s",
            *(found.id, found.target, found.import_seconds, found.distribution),
        )
    if issubclass(type(plugin), type):
        message = f"{found.target!r} is a class; point the entry point to a module or to an instance"
        return faults.broken("register", message)
    try:
        with guarded():
            unusable = why_unusable(getattr(plugin, ATTRIBUTE, API))
    except ForeignError as error:
        return faults.broken("register", str(error))
    if unusable:
        return faults.broken("api", unusable)
    manager = _Manager(hookspecs.PROJECT)
    manager.add_hookspecs(hookspecs)
    try:
        with guarded():
            manager.register(plugin, name=f"{found.distribution}:{found.name}")
            misspelled = list(_misspelled(manager, plugin))
    except ForeignError as error:
        return faults.broken("register", str(error))
    for message in misspelled:
        faults.add("register", message)
    offers = tuple(offer for hook in _HOOKS for offer in _offers(hook, manager, faults))
    observers = {hook: observer for hook in _OBSERVERS for observer in _observers(manager, hook)}
    return dataclasses.replace(found, offers=offers, observers=observers, faults=tuple(faults.found))


def _lacks_a_name_of_ours(error: ForeignError) -> bool:
    """Return whether a plugin imported what `rankgauge.plugin` does not have, perhaps not yet."""
    cause = error.__cause__
    return issubclass(type(cause), ImportError) and getattr(cause, "name", None) == "rankgauge.plugin"


@dataclass(frozen=True, slots=True)
class _Faults:
    """Collects what is wrong with one plugin."""

    plugin: Plugin
    found: list[Fault] = field(default_factory=list)

    def add(self, stage: str, message: str) -> None:
        self.found.append(Fault(self.plugin.id, self.plugin.version, stage, message))

    def broken(self, stage: str, message: str) -> Plugin:
        """Return the plugin with one more fault, and without anything that it offers."""
        self.add(stage, message)
        return dataclasses.replace(self.plugin, faults=tuple(self.found))


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


def _offers(hook: str, manager: pluggy.PluginManager, faults: _Faults) -> Iterator[Claim[Declaration]]:
    """Yield what a hook declares, each declaration once."""
    kind, wanted = _HOOKS[hook]
    seen: set[int] = set()
    for implementation in getattr(manager.hook, hook).get_hookimpls():
        for item in _returned(hook, implementation.function, faults):
            try:
                with guarded():
                    offer = _claim(item, kind, wanted, faults.plugin)
            except ForeignError as error:
                faults.add("hook", f"{hook}() returned {shown(item)}, which cannot be used: {error}")
                continue
            if offer is None:
                name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", wanted.__name__).lower()
                decorator = getattr(wanted, "decorator", name)
                faults.add("hook", f"{hook}() returned {shown(item)}, which @{decorator} did not declare")
            elif id(offer.declaration) not in seen:
                seen.add(id(offer.declaration))
                yield offer


def _returned(hook: str, implementation: Callable[[], object], faults: _Faults) -> Sequence[object]:
    """Return what a hook returns, if that is a list."""
    try:
        with guarded():
            returned = implementation()
            items = list(returned) if isinstance(returned, Sequence) and not isinstance(returned, str | bytes) else None
    except ForeignError as error:
        faults.add("hook", f"{hook}() raised {error}")
        return ()
    if items is None:
        faults.add("hook", f"{hook}() must return a list of declared functions, not {type(returned).__name__}")
    return items or ()


def _claim(item: object, kind: str, wanted: type, plugin: Plugin) -> Claim[Declaration] | None:
    """Return the claim of a declared function, None for anything else; raise what its attributes raise."""
    declaration: Any = getattr(item, "__rankgauge__", None)
    kind_of_it: type = type(declaration)  # not `isinstance`, which asks an object of somebody else for its class
    if kind_of_it is not wanted:
        return None
    provider = Provider.of(declaration.source, plugin.distribution, plugin.version, plugin.name)
    offer: Claim[Any] = Claim(declaration, provider, kind)
    if strange := [name for _, name in offer.names if type(name) is not str or not name.strip()]:
        raise DeclarationError(f"{shown(strange[0])} is not a name")
    _ = declaration.summary  # documentation that raises does so here instead of in a listing
    return offer
