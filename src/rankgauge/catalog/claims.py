"""
Claims: what plugins offer under which spellings, who provides it, what is wrong with it, and which claims clash.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, TypeVar

from rankgauge.base.entry_points import EntryPoint, normalized
from rankgauge.base.frozen import freeze_fields
from rankgauge.expression import MetricExpression, parse
from rankgauge.plugin.declarations import Reader
from rankgauge.plugin.metric import Metric
from rankgauge.plugin.signature import Authored
from rankgauge.policy import PROFILES

__all__ = [
    "OWN",
    "Claim",
    "Claims",
    "Declaration",
    "Fault",
    "Index",
    "Plugin",
    "Provider",
    "drop_shadows",
    "ends_in_number",
    "indexed",
    "normalized",
    "plain_template",
    "plugin_id",
    "settle",
    "shadowed",
    "spellings",
]

OWN = "rankgauge"
"""The distribution whose names no other can take."""

Declaration = Metric | Authored


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


_SLOW = 2.0
"""From how many seconds on the import of a plugin is slow."""


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
    commands: tuple[EntryPoint, ...] = ()  # which are loaded when one of them runs
    faults: tuple[Fault, ...] = ()
    import_seconds: float = field(default=0.0, compare=False)

    def __post_init__(self) -> None:
        freeze_fields(self)

    @property
    def is_slow(self) -> bool:
        """Return whether its import takes seconds, which every command that looks for plugins waits for."""
        return self.import_seconds >= _SLOW

    @property
    def id(self) -> str:
        """Return ``distribution:name``."""
        return plugin_id(self.distribution, self.name)

    @property
    def failure(self) -> str:
        """Return why it cannot be used, or some of it; empty if it was loaded."""
        return "; ".join(fault.message for fault in self.faults if fault.stage in {"load", "api", "register", "hook"})

    def empty(self) -> Plugin:
        """Return the plugin without its offers, which is enough to find it again."""
        return dataclasses.replace(self, offers=(), observers={}, commands=(), faults=())


def plugin_id(distribution: str, name: str) -> str:
    """Return what messages call a plugin."""
    return f"{distribution or 'this process'}:{name}"


_MOST_DIGITS = 18
_TRAILING = re.compile(r"(?P<stem>.+?)(?P<at>_at)?_(?P<k>\d*\.?\d+)")
_TEMPLATE = re.compile(r"\{\w+\}")


def spellings(expression: MetricExpression) -> list[tuple[str, int | float | None]]:
    """Return what a spelling such as ``ndcg_cut_10`` may stand for, best first: (``ndcg_cut_{k}``, 10), ..."""
    found = [(expression.name, expression.k)]
    trailing = _TRAILING.fullmatch(expression.name)
    if trailing is not None and expression.k is None and len(trailing["k"]) <= _MOST_DIGITS:
        k = int(trailing["k"]) if trailing["k"].isdigit() else float(trailing["k"])
        if trailing["at"]:
            found.append((trailing["stem"], k))
        found.append((f"{trailing['stem']}{trailing['at'] or ''}_{{k}}", k))
    return found


def plain_template(name: str) -> str:
    """Return a name with ``{k}`` in place of any parameter, as `spellings` writes templates."""
    return _TEMPLATE.sub("{k}", name)


def ends_in_number(name: str) -> bool:
    """Return whether a name can be read as another one with a cutoff."""
    return _TRAILING.fullmatch(name) is not None


Claims = dict[tuple[str, str], list[Claim[Declaration]]]
"""What is claimed, by kind and lower-case name."""


def settle(kind: str, name: str, claims: list[Claim[Declaration]]) -> list[Fault]:
    """Give a name with several claims to the built-in one, if there is one; return a fault for each of the others."""
    if len(claims) < 2:
        return []
    own = [claim for claim in claims if claim.provider.distribution == OWN]
    if own:
        faults = [shadowed(kind, name, claim) for claim in claims if claim not in own]
        claims[:] = own[:1]
        return faults
    listed = "; ".join(str(claim.provider) for claim in claims)
    message = f"{kind} {name!r} is claimed by {len(claims)} plugins, so it works for none of them: {listed}"
    return [_fault(claim, message) for claim in claims]


def drop_shadows(claims: Claims, spelled: Mapping[tuple[str, str], str]) -> list[Fault]:
    """Remove names that read like a built-in one with a cutoff, such as ``recall_100``."""
    faults = []
    # Only a name that ends in a number can read like another one, and checking all of them is slow.
    for key in [key for key in claims if key[0] == "metric" and ends_in_number(key[1])]:
        own = claims[key]
        if any(claim.provider.distribution == OWN for claim in own):
            continue
        for name, _ in spellings(parse(spelled[key]))[1:]:
            built_in = claims.get(("metric", name.casefold()), [])
            if any(claim.provider.distribution == OWN for claim in built_in):
                faults += [shadowed("metric", spelled[key], claim) for claim in own]
                del claims[key]
                break
    return faults


def shadowed(kind: str, name: str, claim: Claim[Declaration]) -> Fault:
    """Return the fault of claiming a built-in name."""
    message = f"{kind} {name!r} is built in and cannot be replaced ({claim.provider}); choose another name"
    return _fault(claim, message)


def _fault(claim: Claim[Declaration], message: str) -> Fault:
    return Fault(claim.provider.plugin_id, claim.provider.version, "name", message)


class Index(NamedTuple):
    """
    The names that plugins claim.

    Attributes:
        claims: The claims of each name, by kind and name in lower case.

        spelled: How each name is written.

        faults: Everything that is wrong with any plugin, clashes of names included.
    """

    claims: Claims
    spelled: dict[tuple[str, str], str]
    faults: tuple[Fault, ...]


def indexed(plugins: Iterable[Plugin]) -> Index:
    """Return the index of some plugins."""
    claimed: Claims = {}
    spelled: dict[tuple[str, str], str] = {}
    faults: list[Fault] = []
    for plugin in plugins:
        faults += plugin.faults
        for offer in plugin.offers:
            for kind, written in offer.names:
                name = plain_template(written) if kind == "metric" else written
                key = (kind, name.casefold())
                spelled.setdefault(key, name)
                claims = claimed.setdefault(key, [])
                if all(claim.declaration is not offer.declaration for claim in claims):
                    claims.append(offer)
    for (kind, folded), claims in claimed.items():
        faults += settle(kind, spelled[kind, folded], claims)
    faults += drop_shadows(claimed, spelled)
    for name in PROFILES:
        faults += [shadowed("profile", name, claim) for claim in claimed.pop(("profile", name), ())]
    return Index(claimed, spelled, tuple(faults))
