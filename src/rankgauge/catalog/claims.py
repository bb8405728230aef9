"""
Claims: what a plugin offers, who provides it, and what is wrong with it.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from rankgauge.plugin.aggregates import Aggregate
from rankgauge.plugin.formats import Reader, Reporter
from rankgauge.plugin.matching import Comparer, NamedMatcher, Normalizer
from rankgauge.plugin.metric import Metric
from rankgauge.plugin.profiles import MetricSet, NamedProfile
from rankgauge.plugin.sections import ReportSection
from rankgauge.plugin.tokenizing import Tokenizer

__all__ = ["OWN", "Claim", "Declaration", "Fault", "Plugin", "Provider", "normalized", "plugin_id"]

OWN = "rankgauge"
"""The distribution whose names no other can take."""

Declaration = (
    Metric
    | Normalizer
    | Comparer
    | NamedMatcher
    | Tokenizer
    | Reader
    | Reporter
    | Aggregate
    | NamedProfile
    | MetricSet
    | ReportSection
)


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

    @property
    def place(self) -> str:
        """Return file and line of the definition; empty if it is not written in Python."""
        return f"{self.file}:{self.line}" if self.file else ""

    def __str__(self) -> str:
        who = f"{self.distribution} {self.version}".strip() or "this process"
        return f"{who} (plugin {self.plugin}){f', {self.place}' if self.file else ''}"


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that is wrong with a plugin."""

    plugin: str  # as distribution:name
    version: str
    stage: str  # load, api, register, hook, name or call
    message: str  # what is wrong and what to do

    def __str__(self) -> str:
        return f"{self.plugin} {self.version} [{self.stage}]: {self.message}"


T_co = TypeVar("T_co", bound=Declaration, covariant=True)


@dataclass(frozen=True, slots=True)
class Claim(Generic[T_co]):
    """A declaration with its provider."""

    declaration: T_co
    provider: Provider
    kind: str  # metric, normalizer, ..., as `Catalog.all` takes it

    @property
    def names(self) -> list[tuple[str, str]]:
        """Return every name that the declaration claims, each with its kind."""
        declaration = self.declaration
        if isinstance(declaration, Metric):
            return [(self.kind, name) for name in declaration.names]
        names = [(self.kind, declaration.name)]
        if isinstance(declaration, Reader):
            names += [("file ending", suffix) for suffix in declaration.suffixes]
        return names


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
