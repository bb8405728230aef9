"""
Units: what ids of samples and runs are rolled up to before they are judged, as chunks to documents, turns to sessions.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from rankgauge.columns import ChangedRun, Qrels, RankingBatch, RunSource, Slices
from rankgauge.columns.judged_rows import intents_of
from rankgauge.errors import ParameterError
from rankgauge.policy import Policy, Profile
from rankgauge.samples import Expected, Output, Sample
from rankgauge.samples.gold_items import distinct

__all__ = [
    "LOOKED_AT",
    "PARTS",
    "Part",
    "UnitRule",
    "met_as_parts",
    "parts_note",
    "rolled_judgments",
    "rolled_run",
    "unit_rule",
]

_DOCUMENT = r"^(.+?)(?:#.*|[_:.\-](?:chunk|passage|segment|part|p|c)[_\-]?[0-9]+|:[0-9]+)$"
_NUMBERED = r"^(.+)[_.-][0-9]+$"


@dataclass(frozen=True, slots=True)
class Part:
    """One way in which ids name parts of documents."""

    unit: str  # what `unit` has to be
    says: str  # what that does

    def whole(self, name: str) -> str:
        """Return the document of an id; the id itself if it names no part."""
        return unit_rule(self.unit).of_id(name)

    @property
    def option(self) -> str:
        """Return the option as it is written in an expression."""
        written = self.unit if self.unit == "document" else f'"{self.unit}"'
        return f"unit={written}"

    @property
    def advice(self) -> str:
        """Return what to do if one side names parts of what the other side names."""
        return f"chunks of gold documents? {self.option} {self.says}"


PARTS = (
    Part("document", "strips `#...`, `:3`, `_chunk_3` and the like"),
    Part(_NUMBERED, "strips a number behind `_`, `-` or `.`"),
)
"""
How ids name parts of documents, the surest first: a bare number, as in `MED-10`, is as often the name of a document,
so that `unit=document` leaves it.
"""

LOOKED_AT = 300
"""In how many samples ids are looked at that do not match."""
_LEAST_SHARE = 0.1
"""In which share of the samples ids have to meet as documents for it to be no coincidence."""


def met_as_parts(retrieved: Iterable[str | None], gold: Iterable[str]) -> tuple[bool, ...]:
    """Return for each of `PARTS` whether an id of one side is the document of one of the other, or both have one."""
    names, wanted = [name for name in retrieved if name is not None], list(gold)
    return tuple(not {*map(part.whole, names)}.isdisjoint(map(part.whole, wanted)) for part in PARTS)


def parts_note(met: Sequence[tuple[bool, ...]]) -> str:
    """Say what `met_as_parts` found in some samples; empty if that is nothing."""
    counts = [sum(column) for column in zip(*met, strict=True)] or [0]
    best = max(range(len(counts)), key=counts.__getitem__)
    if not counts[best] or counts[best] < _LEAST_SHARE * len(met):
        return ""
    return f"; as parts of documents they would meet in {counts[best]:,} of {len(met):,} samples: {PARTS[best].advice}"


_FORMS = (
    "a unit is document, a field such as metadata.session, or a regular expression whose first group is the unit, such "
    'as "^(.+?)/"'
)
_FIELD = "metadata."
_WORD = re.compile(r"[\w.\-]*")


@dataclass(frozen=True)
class UnitRule:
    """What the unit of each item is, by its id."""

    written: str  # as in an expression

    @property
    def is_field(self) -> bool:
        """Return whether it is a field of the items' metadata, so that ids alone do not say it."""
        return self.written.startswith(_FIELD) and _WORD.fullmatch(self.written) is not None

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        if self.written == "document":
            return re.compile(_DOCUMENT, re.IGNORECASE | re.DOTALL)
        if _WORD.fullmatch(self.written):
            raise ParameterError(f"{_FORMS}; not {self.written!r}")
        try:
            return re.compile(self.written)
        except re.error as error:
            raise ParameterError(f"{_FORMS}; {self.written!r} is none: {error}") from None

    def check(self) -> None:
        """Raise `ParameterError` for what is no unit."""
        if not self.is_field:
            _ = self._pattern

    def of_id(self, name: str) -> str:
        """Return the unit of an id, which is its own if the pattern does not match, or matches nothing."""
        found = self._pattern.search(name)
        if found is None:
            return name
        return (found[1] if found.re.groups else found[0]) or name

    def profile(self, profile: Profile) -> Profile:
        """
        Return the profile under which units are judged.

        The first result of a unit is the one with the highest score if scores decide the order, and results of one
        unit are no error: `checked` refuses ids that are listed twice.
        """
        policy: Policy = profile.policy
        if policy.duplicates not in {"first", "error"}:
            return profile
        return profile.adapted({"duplicates": "best" if policy.order == "score" else "first"})

    def checked(self, profile: Profile) -> Profile | None:
        """Return the profile under which ids are refused that are listed twice; None if none are."""
        return profile.adapted({"order": "given"}) if profile.policy.duplicates == "error" else None

    def sample(self, sample: Sample) -> Sample:
        """Return a sample whose ids are those of units, on both sides."""
        output, unit_of = sample.output, self._units(sample)
        if isinstance(output, Output):
            stated: list[str | None] = [None] * len(output.ids)
            if self.is_field and output.metadata is not None:
                stated = list(map(self._field, output.metadata))
            pairs = zip(stated, output.ids, strict=True)
            output = output._replace(ids=[unit or (None if name is None else unit_of(name)) for unit, name in pairs])
        return sample._replace(output=output, expected=_rolled_gold(sample.expected, unit_of))

    def gold(self, sample: Sample) -> dict[str, str]:
        """Return the first relevant id of each unit that a sample has."""
        unit_of = self._units(sample)
        return {unit_of(name): name for name in reversed(list(sample.expected.relevant or ()))}

    def _units(self, sample: Sample) -> Callable[[str], str]:
        """Return what gives the unit of an id: of a relevant one what it states, or else what the output does."""
        if not self.is_field:
            return self.of_id
        output, units = sample.output, {}
        if isinstance(output, Output) and output.metadata is not None:
            units = dict(zip(reversed(output.ids), map(self._field, reversed(output.metadata)), strict=True))
        units |= {name: self._field(known) for name, known in (sample.expected.metadata or {}).items()}
        return lambda name: units.get(name) or name

    def _field(self, metadata: Mapping[str, Any] | None) -> str | None:
        """Return what an item's metadata state as its unit."""
        value: object = metadata
        for key in self.written.removeprefix(_FIELD).split("."):
            value = value.get(key) if isinstance(value, Mapping) else None
        return str(value) if isinstance(value, str | int) and not isinstance(value, bool) and value != "" else None


@lru_cache(maxsize=64)
def unit_rule(written: str) -> UnitRule:
    """Return the rule of a unit; raise `ParameterError` for what is none."""
    rule = UnitRule(written)
    rule.check()
    return rule


def _rolled_gold(expected: Expected, unit_of: Callable[[str], str]) -> Expected:
    """Return ground truth in which each unit is once, with the highest of its grades."""
    if not expected.relevant:
        return expected
    relevant: dict[str, float] = {}
    intents: dict[str, dict[str, float]] = {}
    for name, grade in expected.relevant.items():
        _keep_highest(relevant, {unit_of(name): grade})
    for name, by_intent in (expected.intents or {}).items():
        _keep_highest(intents.setdefault(unit_of(name), {}), by_intent)
    sets = None if expected.sets is None else distinct(each.renamed(unit_of) for each in expected.sets)
    return expected._replace(relevant=relevant, repeats=None, intents=intents or None, sets=sets)


def _keep_highest(grades: dict[str, float], others: Mapping[str, float]) -> None:
    """Take further grades, of which the higher one stays if there is one already."""
    for name, grade in others.items():
        grades[name] = max(grade, grades.get(name, grade))


def rolled_run(source: RunSource, rule: UnitRule) -> RunSource:
    """Return a run with units in place of its documents."""

    def rolled(batch: RankingBatch) -> RankingBatch:
        documents = Slices.of_strings(list(map(rule.of_id, batch.documents.strings())))
        return dataclasses.replace(batch, documents=documents, keys=documents.keys())

    return ChangedRun(source, rolled)


def rolled_judgments(qrels: Qrels, rule: UnitRule) -> Qrels:
    """Return judgments of units, each once for a query, with the highest of its grades."""
    rows: dict[tuple[int, str], int] = {}
    names = map(rule.of_id, qrels.names)
    unit_of = np.array([rows.setdefault(pair, len(rows)) for pair in zip(qrels.owners.tolist(), names, strict=True)])
    grades = np.full(len(rows), -np.inf)
    np.maximum.at(grades, unit_of, qrels.grades)
    owners = np.array([owner for owner, _ in rows], dtype=np.int64)
    documents = Slices.of_strings([name for _, name in rows])
    rolled = Qrels.of(qrels.queries, owners, documents, grades, qrels.source)
    if qrels.intents is None:
        return rolled
    by_intent: list[dict[str, float]] = [{} for _ in rows]
    item, intent, grade, _ = qrels.intents
    for row, number, own in zip(unit_of[item].tolist(), intent.tolist(), grade.tolist(), strict=True):
        _keep_highest(by_intent[row], {f"{number:09}": own})  # sorted as the intents are numbered
    return dataclasses.replace(rolled, intents=intents_of(owners.tolist(), documents.texts(), by_intent))
