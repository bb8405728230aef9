"""
Locks: what the metrics and matchers of an evaluation have to be, and what is different.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from rankgauge.catalog import Catalog, Provider, ResolvedMatcher
from rankgauge.catalog.spelling import spellings
from rankgauge.errors import ExpressionError, NameClashError, RankgaugeError, UnknownNameError
from rankgauge.expression import parse
from rankgauge.pickling import reduced
from rankgauge.planning.fingerprint import fingerprint_of, matcher_definition
from rankgauge.planning.resolve import PlannedMetric

__all__ = ["Lock", "Locked", "LockedPart", "lock_columns"]


class LockedPart(NamedTuple):
    """
    Something that a distribution provides.

    Attributes:
        name: What it is called.

        distribution: The distribution; empty for what was given in Python or config.

        version: The version of the distribution.
    """

    name: str
    distribution: str
    version: str

    @classmethod
    def of(cls, name: str, provider: Provider) -> LockedPart:
        """Return what a provider provides."""
        return cls(name, provider.distribution, provider.version)

    @property
    def who(self) -> str:
        """Return the distribution and its version."""
        return f"{self.distribution} {self.version}".strip() or "no distribution"


@dataclass(frozen=True, slots=True)
class Locked:
    """
    A metric or a matcher as it was locked.

    Attributes:
        kind: `metric` or `matcher`.

        name: The column's name, or the matcher's; for a matcher without one, how it prints.

        definition: What it was, as plain data.

        fingerprint: Of the definition.

        parts: Who provided what: the metric under its alias; or the matcher (where a plugin named it), its normalizers
            and its comparer.

        names: Every name of the metric; none for a matcher.
    """

    kind: str
    name: str
    definition: Mapping[str, Any]
    fingerprint: str
    parts: tuple[LockedPart, ...]
    names: tuple[str, ...] = ()
    __reduce__ = reduced

    @classmethod
    def metric(cls, column: PlannedMetric) -> Locked:
        """Lock a column."""
        part = LockedPart.of(column.metric.alias, column.provider)
        return cls("metric", column.name, column.definition, column.fingerprint, (part,), column.metric.names)

    @classmethod
    def matcher(cls, matcher: ResolvedMatcher) -> Locked:
        """Lock a matcher."""
        definition = matcher_definition(matcher)
        parts = tuple(LockedPart.of(name, provider) for name, provider in matcher.providers)
        name = matcher.name or str(matcher.matcher)
        return cls("matcher", name, definition, fingerprint_of(definition), parts)

    def __str__(self) -> str:
        return f"{self.kind} {self.name!r}"


@dataclass(frozen=True, slots=True)
class Lock:
    """
    What metrics and matchers have to be.

    Attributes:
        origin: What messages call it.

        entries: The metrics and matchers. Several of one name may take part, where the sets of a config define it
            differently.

        remedy: What to do about a change that is meant, for messages.

        path: The file it stands in; empty for none.

        digest: A hash of that file.
    """

    origin: str
    entries: tuple[Locked, ...]
    remedy: str
    path: str = ""
    digest: str = field(default="", compare=False)

    def problems(self, columns: Iterable[PlannedMetric]) -> Iterator[tuple[str, str]]:
        """
        Find what is not as it was locked.

        Args:
            columns: The columns of an evaluation.

        Yields:
            The name of a column, and what is different about it or its matchers. What several have in common, such as
            a policy option or a distribution, is told once for all of them.
        """
        moved: dict[tuple[LockedPart, LockedPart], list[tuple[str, Locked]]] = {}
        redefined: dict[str, list[tuple[str, Locked, Locked]]] = {}
        done: set[tuple[str, str]] = set()
        for column in columns:
            for found in (Locked.metric(column), *map(Locked.matcher, column.matchers.values())):
                if (found.kind, found.name) in done:
                    continue
                done.add((found.kind, found.name))
                known = [entry for entry in self.entries if (entry.kind, entry.name) == (found.kind, found.name)]
                if not known:
                    yield column.name, self._not_locked(found)
                    continue
                nearest = _nearest(known, found)
                if nearest.fingerprint != found.fingerprint:
                    differing = [
                        f"{key} is {new!r}, locked is {old!r}" for key, old, new in _differences(nearest, found)
                    ]
                    redefined.setdefault("; ".join(differing), []).append((column.name, nearest, found))
                for pair in _moved(nearest.parts, found.parts):
                    moved.setdefault(pair, []).append((column.name, found))
        for differing_in, entries in redefined.items():
            yield entries[0][0], self._redefined(differing_in, [(locked, found) for _, locked, found in entries])
        for (locked, installed), providing in moved.items():
            yield providing[0][0], self._moved(locked, installed, [found for _, found in providing])

    def hint(self, error: RankgaugeError, catalog: Catalog) -> str:
        """
        Return who the lock says provides a name that cannot be used.

        Args:
            error: Why a metric could not be resolved.

            catalog: What there is.

        Returns:
            A clause to append to the error's message, saying what to install; empty when the lock knows nothing of it.
        """
        if not isinstance(error, UnknownNameError | NameClashError):
            return ""
        part = next(self._providing(error.kind, error.name), None)
        if part is None or not part.distribution:
            return ""
        known = [plugin for plugin in catalog.plugins if plugin.distribution == part.distribution]
        versions = {plugin.version for plugin in known}
        install = f"`{_install(part)}`"
        if isinstance(error, NameClashError):
            what = "uninstall or disable the others"
        elif not known:
            what = f"it is not installed; {install}"
        elif all(plugin.disabled for plugin in known):
            what = "it is disabled; take it off the list of disabled plugins"
        elif faults := [fault.message for plugin in known for fault in plugin.faults if fault.stage == "load"]:
            what = f"it cannot be used: {'; '.join(faults)}"
        elif part.version not in versions:
            what = f"installed is {', '.join(sorted(versions))}; {install}"
        else:
            what = "it is installed and does not offer it any more; see `rankgauge plugins check`"
        return f"; the lock {self.origin} names {part.who} as the provider of {part.name!r}: {what}"

    def _providing(self, kind: str, name: str) -> Iterator[LockedPart]:
        """Yield who provided a metric under any of its names, or a matcher or part of one."""
        wanted = {name.casefold()}
        if kind == "metric":
            try:
                wanted |= {spelling.casefold() for spelling, _ in spellings(parse(name))}
            except ExpressionError:
                return
        for entry in self.entries:
            if kind == "metric" and entry.kind == "metric" and wanted & {known.casefold() for known in entry.names}:
                yield entry.parts[0]
            elif kind != "metric" and entry.kind == "matcher":
                yield from (part for part in entry.parts if part.name.casefold() in wanted)

    def _not_locked(self, found: Locked) -> str:
        same = [entry.name for entry in self.entries if (entry.kind, entry.fingerprint) == _identity(found)]
        hint = f" (it has the same one under the name {same[0]!r})" if same else ""
        who = ", ".join(dict.fromkeys(f"{part.name} of {part.who}" for part in found.parts))
        return f"{found} is not in the lock {self.origin}{hint}; found is {who}{self.remedy}"

    def _redefined(self, differing: str, entries: Sequence[tuple[Locked, Locked]]) -> str:
        prints = ", ".join(
            f"{found} (fingerprint {found.fingerprint}, locked {locked.fingerprint})" for locked, found in entries
        )
        told = differing or "it does not say what differs"
        return f"not defined as the lock {self.origin} says: {prints}: {told}{self.remedy}"

    def _moved(self, locked: LockedPart, found: LockedPart, providing: Sequence[Locked]) -> str:
        names = ", ".join(dict.fromkeys(map(str, providing)))
        install = f"; `{_install(locked)}`" if locked.distribution else ""
        told = f"the lock {self.origin} says that {locked.who} provides {names}; found is {found.who}"
        return f"{told}{install}{self.remedy}"


def lock_columns(columns: Iterable[PlannedMetric], origin: str, remedy: str, *, path: str = "") -> Lock:
    """
    Lock columns as they are.

    Args:
        columns: The columns.

        origin: What messages call the lock.

        remedy: What to do about a change that is meant.

        path: The file it will stand in; empty for none.

    Returns:
        The lock: every column and every matcher, each once, metrics first.
    """
    metrics: dict[tuple[str, str], Locked] = {}
    matchers: dict[tuple[str, str], Locked] = {}
    for column in columns:
        entry = Locked.metric(column)
        metrics.setdefault((entry.name, entry.fingerprint), entry)
        for matcher in column.matchers.values():
            entry = Locked.matcher(matcher)
            matchers.setdefault((entry.name, entry.fingerprint), entry)
    return Lock(origin, (*metrics.values(), *matchers.values()), remedy, path)


def _identity(entry: Locked) -> tuple[str, str]:
    return entry.kind, entry.fingerprint


def _install(part: LockedPart) -> str:
    return f"pip install {part.distribution}=={part.version}"


def _nearest(entries: Sequence[Locked], found: Locked) -> Locked:
    """Return the entry that says what was found, or else the one that differs least."""
    return min(entries, key=lambda entry: (entry.fingerprint != found.fingerprint, len(_differences(entry, found))))


def _moved(locked: Sequence[LockedPart], found: Sequence[LockedPart]) -> Iterator[tuple[LockedPart, LockedPart]]:
    """Yield what another distribution, or version of it, provides than did; without names, which come later."""
    before = {part.name: part for part in locked}
    for part in found:
        was = before.get(part.name)
        if was is not None and was != part:
            yield was._replace(name=""), part._replace(name="")


def _differences(locked: Locked, found: Locked) -> list[tuple[str, object, object]]:
    old, new = dict(_flat(locked.definition)), dict(_flat(found.definition))
    nothing = "nothing"
    return [
        (key, old.get(key, nothing), new.get(key, nothing))
        for key in dict.fromkeys((*old, *new))
        if (key in old, old.get(key)) != (key in new, new.get(key))
    ]


def _flat(definition: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, object]]:
    for key, value in definition.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value
