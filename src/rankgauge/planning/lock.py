"""
Locks: what the metrics and matchers of an evaluation have to be, and how they differ from that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from rankgauge.base.entry_points import EntryPoint
from rankgauge.base.frozen import freeze_fields
from rankgauge.catalog import Catalog, Provider, ResolvedMatcher
from rankgauge.catalog.claims import OWN, spellings
from rankgauge.command_points import installed_commands
from rankgauge.errors import ExpressionError, NameClashError, RankgaugeError, UnknownNameError
from rankgauge.expression import parse
from rankgauge.pickling import reduced
from rankgauge.planning.identity import fingerprint_of, hash_of_source, matcher_definition
from rankgauge.planning.resolve import PlannedMetric

__all__ = ["Lock", "Locked", "LockedPart", "commands_to_lock", "lock_columns", "lock_for_sending"]


class LockedPart(NamedTuple):
    """Something that a distribution provides; the distribution is empty for what was given in Python or config."""

    name: str
    distribution: str
    version: str
    kind: str  # metric, tokenizer, aggregate, filter, gold kind, matcher, normalizer, comparer or command
    source: str = ""  # a hash of a plugin's functions; empty for built-in ones, and where there is none

    @classmethod
    def of(
        cls, kind: str, name: str, provider: Provider, functions: Iterable[Callable[..., Any] | None] = ()
    ) -> LockedPart:
        """Return a part with a hash of its functions, unless it is built in."""
        source = "" if provider.distribution == OWN else hash_of_source(functions)
        return cls(name, provider.distribution, provider.version, kind, source)

    @property
    def who(self) -> str:
        """Return the distribution and its version."""
        return f"{self.distribution} {self.version}".strip() or "no distribution"

    @property
    def install(self) -> str:
        """Return the command that installs it."""
        return f"`pip install {self.distribution}=={self.version}`"


@dataclass(frozen=True, slots=True)
class Locked:
    """A metric or a matcher as it was locked."""

    kind: str  # metric or matcher
    name: str  # of the column or the matcher; how a matcher without a name prints
    definition: Mapping[str, Any]
    fingerprint: str
    parts: tuple[LockedPart, ...]  # a metric and what it uses; or a matcher, its normalizers, its comparer
    names: tuple[str, ...] = ()  # every name of a metric
    __reduce__ = reduced

    def __post_init__(self) -> None:
        freeze_fields(self)

    @classmethod
    def metric(cls, column: PlannedMetric) -> Locked:
        """Lock a column."""
        metric, tokenizer = column.metric, None if column.cut.budget is None else column.cut.budget.tokenizer
        functions = [
            metric.source,
            metric.judging.defined,
            *(each for each in (metric.judging.matcher, metric.expectation) if callable(each)),
        ]
        parts = [LockedPart.of("metric", metric.alias, column.provider, functions)]
        parts += [
            LockedPart.of(claim.kind, claim.declaration.name, claim.provider, [claim.declaration.function])
            for claim in (tokenizer, column.aggregate, *column.filters)
            if claim is not None
        ]
        parts += [
            LockedPart.of(claim.kind, claim.declaration.name, claim.provider, claim.declaration.functions)
            for claim in column.kinds
        ]
        return cls(
            "metric", column.standard_name, column.definition, column.fingerprint, tuple(parts), column.metric.names
        )

    @classmethod
    def matcher(cls, matcher: ResolvedMatcher) -> Locked:
        """Lock a matcher."""
        definition = matcher_definition(matcher)
        parts = tuple(
            LockedPart.of(kind, name, by, functions)
            for (name, by), (kind, functions) in zip(matcher.providers, matcher.functions, strict=True)
        )
        name = matcher.name or str(matcher.matcher)
        return cls("matcher", name, definition, fingerprint_of(definition), parts)

    def called(self, part: LockedPart) -> str:
        """Return how messages call one of its parts."""
        return str(self) if part.kind == self.kind else f"{part.kind} {part.name!r} of {self}"

    def declared(self, part: LockedPart) -> str:
        """Return the version that the declaration of one of its parts says."""
        match part.kind:
            case "metric":
                return str(self.definition["version"])
            case "tokenizer":
                written = str(self.definition["cutoff"]["tokenizer"])
            case "gold kind":
                return str(self.definition["kinds"][part.name]["version"])
            case "aggregate":
                written = str(self.definition["aggregate"])
            case "filter":
                entries = self.definition["policy"]["filters"]
                written = next(entry for entry in entries if entry.startswith(f"{part.name} ")).partition(" (")[0]
            case _:
                written = str(self.definition["versions"][part.name])
        return written.rpartition(" ")[2]  # of `name version`

    def __str__(self) -> str:
        return f"{self.kind} {self.name!r}"


@dataclass(frozen=True, slots=True)
class Lock:
    """What metrics and matchers have to be; entries may share a name, if sets of a config define it differently."""

    origin: str  # what messages call it
    entries: tuple[Locked, ...]
    remedy: str  # what to do about an intended change, for messages
    path: str = ""
    digest: str = field(default="", compare=False)  # of the file
    commands: tuple[LockedPart, ...] | None = None  # those of plugins; None for a lock that says nothing of them

    def problems(self, columns: Iterable[PlannedMetric]) -> Iterator[tuple[str, str]]:
        """Yield columns and how they or their matchers differ; a difference that several share is reported once."""
        redefined: dict[str, list[tuple[str, Locked, Locked]]] = {}
        moved: dict[tuple[str, str, str], list[tuple[str, str]]] = {}
        distinct: dict[tuple[str, str, str], tuple[str, Locked]] = {}
        for column, current in _entries(columns):
            distinct.setdefault((current.kind, current.name, current.fingerprint), (column, current))
        for column, current in distinct.values():
            known = [entry for entry in self.entries if (entry.kind, entry.name) == (current.kind, current.name)]
            if not known:
                yield column, self._not_locked(current)
                continue
            nearest = _nearest(known, current)
            if nearest.fingerprint != current.fingerprint:
                differing = [f"{key} is {new!r}, locked is {old!r}" for key, old, new in _differences(nearest, current)]
                redefined.setdefault("; ".join(differing), []).append((column, nearest, current))
            for was, part in _moved(nearest.parts, current.parts):
                install = f"; {was.install}" if was.distribution else ""
                moved.setdefault((was.who, part.who, install), []).append((column, current.called(part)))
        for differing_in, entries in redefined.items():
            prints = ", ".join(
                f"{current} (fingerprint {current.fingerprint}, locked {locked.fingerprint})"
                for _, locked, current in entries
            )
            how = differing_in or "it does not say what differs"
            yield entries[0][0], f"not defined as the lock {self.origin} says: {prints}: {how}{self.remedy}"
        for (locked, installed, install), providing in moved.items():
            names = ", ".join(dict.fromkeys(name for _, name in providing))
            says = f"the lock {self.origin} says that {locked} provides {names}; found is {installed}"
            yield providing[0][0], f"{says}{install}{self.remedy}"

    def warnings(self, columns: Iterable[PlannedMetric]) -> Iterator[str]:
        """Yield what is other code than locked, though nothing that is declared differs."""
        for _, current in _entries(columns):
            meant = (current.kind, current.name, current.fingerprint)
            known = [entry for entry in self.entries if (entry.kind, entry.name, entry.fingerprint) == meant]
            for part in current.parts:
                sources = {was.source for entry in known for was in entry.parts if was[:4] == part[:4] and was.source}
                if part.source and sources and part.source not in sources:
                    yield (
                        f"{current.called(part)} of {part.who} has other source code than the lock {self.origin} "
                        f"knows, under the same version ({current.declared(part)}); "
                        f"if its scores changed, its author has to raise `version`{self.remedy}"
                    )

    def command_problems(self, disable: Iterable[str]) -> Iterator[str]:
        """Yield how installed commands of plugins differ from the locked ones, once for all of one distribution."""
        installed = {part.name: part for part in commands_to_lock(disable)}
        moved: dict[tuple[str, str, str], list[str]] = {}
        for was in self.commands or ():
            found = installed.get(was.name)
            if found != was:
                who = "none is installed and enabled" if found is None else f"found is {found.who}"
                moved.setdefault((was.who, who, was.install), []).append(repr(was.name))
        for (locked, found_is, install), names in moved.items():
            what = f"the command{'s' if len(names) > 1 else ''} {', '.join(names)}"
            yield f"the lock {self.origin} says that {locked} provides {what}; {found_is}; {install}{self.remedy}"

    def new_commands(self, disable: Iterable[str]) -> list[str]:
        """Return the commands of plugins that are not in the lock, and so refused with its config."""
        known = {was.name for was in self.commands or ()}
        return [part.name for part in commands_to_lock(disable) if part.name not in known]

    def command_problem(self, name: str, point: EntryPoint) -> str:
        """Return how a command of a plugin differs from what was locked; empty if it does not."""
        if self.commands is None:
            return ""
        found = _command(name, point)
        was = next((part for part in self.commands if part.name == name), None)
        if was is None:
            return f"command {name!r} is not in the lock {self.origin}; found is {found.who}{self.remedy}"
        if was == found:
            return ""
        says = f"the lock {self.origin} says that {was.who} provides command {name!r}; found is {found.who}"
        return f"{says}; {was.install}{self.remedy}"

    def hint(self, error: RankgaugeError, catalog: Catalog) -> str:
        """Return a clause for an error message: who the lock says provides a name, and what to install."""
        if not isinstance(error, UnknownNameError | NameClashError):
            return ""
        part = next(self._providing(error.kind, error.name), None)
        if part is None or not part.distribution:
            return ""
        if isinstance(error, NameClashError):
            what = "uninstall or disable the others"
        else:
            absent = "it is installed and no longer offers it; see `rankgauge plugins check`"
            what = catalog.state_of(part.distribution, part.version) or absent
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
            yield from (
                part for part in entry.parts if part.kind == kind != "metric" and part.name.casefold() in wanted
            )

    def _not_locked(self, current: Locked) -> str:
        same = [e.name for e in self.entries if (e.kind, e.fingerprint) == (current.kind, current.fingerprint)]
        hint = f" (it has the same one under the name {same[0]!r})" if same else ""
        who = ", ".join(dict.fromkeys(f"{part.name} of {part.who}" for part in current.parts))
        return f"{current} is not in the lock {self.origin}{hint}; found is {who}{self.remedy}"


def lock_columns(columns: Iterable[PlannedMetric], origin: str, remedy: str, *, path: str = "") -> Lock:
    """Lock columns as they are: every column and every matcher, each once, metrics first."""
    entries: dict[tuple[str, str, str], Locked] = {}
    for _, entry in _entries(columns):
        entries.setdefault((entry.kind, entry.name, entry.fingerprint), entry)
    return Lock(origin, tuple(sorted(entries.values(), key=lambda entry: entry.kind == "matcher")), remedy, path)


def commands_to_lock(disable: Iterable[str]) -> tuple[LockedPart, ...]:
    """Return the commands of plugins but those that are disabled, by the metadata of distributions; none is loaded."""
    return tuple(_command(name, point) for name, point in sorted(installed_commands(disable).usable.items()))


def _command(name: str, point: EntryPoint) -> LockedPart:
    """Return a command as it is locked, without a hash of its source, for which it would have to be loaded."""
    return LockedPart(name, point.distribution, point.version, "command")


def lock_for_sending(columns: Iterable[PlannedMetric]) -> Lock:
    """Lock columns as they are in this process, for an evaluation that goes to another one."""
    origin = "of the process that sent this evaluation"
    return lock_columns(columns, origin, "; install the same distributions in every process")


def _entries(columns: Iterable[PlannedMetric]) -> Iterator[tuple[str, Locked]]:
    """Yield every column and its matchers as they would be locked, with the name of the column."""
    for column in columns:
        yield column.standard_name, Locked.metric(column)
        yield from ((column.standard_name, Locked.matcher(matcher)) for matcher in column.matchers.values())


def _nearest(entries: Sequence[Locked], current: Locked) -> Locked:
    """Return the entry with the same fingerprint, or else the one that differs least."""
    return min(entries, key=lambda entry: (entry.fingerprint != current.fingerprint, len(_differences(entry, current))))


def _moved(locked: Sequence[LockedPart], current: Sequence[LockedPart]) -> Iterator[tuple[LockedPart, LockedPart]]:
    """Yield parts that another distribution or version provides now, as they were and as they are."""
    before = {(part.kind, part.name): part for part in locked}
    for part in current:
        was = before.get((part.kind, part.name))
        if was is not None and was.who != part.who:
            yield was, part


def _differences(locked: Locked, current: Locked) -> list[tuple[str, object, object]]:
    old, new = dict(_flat(locked.definition)), dict(_flat(current.definition))
    return [
        (key, old.get(key, "nothing"), new.get(key, "nothing"))
        for key in dict.fromkeys((*old, *new))
        if (key in old, old.get(key)) != (key in new, new.get(key))
    ]


def _flat(definition: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, object]]:
    for key, value in definition.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value
