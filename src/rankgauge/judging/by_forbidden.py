"""
Judging what must not be retrieved: by id, by metadata, and by text if a matcher finds it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from rankgauge.base.guard import ForeignError, guarded
from rankgauge.catalog import ResolvedMatcher
from rankgauge.judging.by_text import TextScorer
from rankgauge.judging.evidence import Evidence
from rankgauge.judging.judged_columns import JudgedLists
from rankgauge.judging.keeping import NOTHING, Keep, Keeper
from rankgauge.judging.leaks import Leak, Leaks
from rankgauge.judging.outputs import Ranking, prepare
from rankgauge.policy import Profile
from rankgauge.samples import Forbidden, Output, Sample
from rankgauge.samples.sample_records import value_at

__all__ = ["ForbiddenJudge"]

_LONGEST = 80
"""How many characters of an item without an id are shown."""


class ForbiddenJudge:
    """
    Judges a batch against what is forbidden: the gold items are rules, and an item that breaks several has a row each.

    An item without a text breaks no rule on texts, and one whose metadata lack a field none on that field: a rule on
    metadata asks for equal values, of which a list has to hold one.
    """

    def __init__(self, profile: Profile, matcher: ResolvedMatcher, *, keep: Keep = NOTHING) -> None:
        # under `judged_only` what is neither relevant nor judged would not be looked at
        self._profile = profile = replace(profile, policy=replace(profile.policy, judged_only=False))
        self._matcher = matcher
        self._scorer = TextScorer(matcher)
        self._keeper = Keeper(keep, profile)
        self._lists = JudgedLists()
        self._faults: dict[int, str] = {}
        self._leaks: list[tuple[int, Leak]] = []
        self._untried: list[str] = []

    def add(self, samples: Sequence[Sample]) -> None:
        """Judge some more samples, in order of the batch."""
        lists = self._lists
        prepared = prepare(samples, self._profile, by="id")
        self._keeper.add(samples, prepared, judged="retrieved")
        for place, (sample, ranking) in enumerate(zip(samples, prepared, strict=True), len(lists.depth)):
            rules = sample.expected.forbidden or ()
            start = len(lists.gold_grade)
            ranked, fault = lists.add_sample(ranking, [1.0] * len(rules))
            flaw = None if fault is None else fault.reason
            if sample.expected.faults is not None and "forbidden" in sample.expected.faults:
                flaw = sample.expected.faults["forbidden"].reason
            if ranked is not None and ranked.ids and rules and isinstance(sample.output, Output):
                try:
                    with guarded():
                        self._add_rows(place, sample, sample.output, ranked, start)
                except ForeignError as error:
                    flaw = f"{self._matcher.blame} failed: {error}"
            if flaw is not None:
                self._faults[place] = flaw

    def evidence(self) -> Evidence:
        """Return the judged batch."""
        judged = self._lists.build(self._profile)
        leaks = Leaks(tuple(self._leaks), tuple(self._untried))
        return Evidence(self._keeper.shown_in(judged), self._faults, kept=self._keeper.kept(), leaks=leaks)

    def _add_rows(self, place: int, sample: Sample, output: Output, ranking: Ranking, start: int) -> None:
        """Add one sample's judged rows, in order of rank; a matcher that raises does so before any is added."""
        rules = sample.expected.forbidden or ()
        matched = self._matched(ranking, rules)
        metadata = output.metadata or [None] * len(output.ids)
        retrieved = [metadata[ranking.entry(rank)] or {} for rank in range(1, len(ranking.ids) + 1)]
        self._untried += dict.fromkeys(filter(None, (_untried(rule, ranking, retrieved) for rule in rules)))
        for at, (name, known) in enumerate(zip(ranking.ids, retrieved, strict=True)):
            broken = [
                number for number, rule in enumerate(rules) if _breaks(name, known, rule) or (at, number) in matched
            ]
            for number in broken:
                if ranking.ties is not None:
                    self._lists.row_ties.append(ranking.ties[at])
                self._lists.add_row(place, at + 1, start + number)
            if broken:
                text = ranking.texts[at] if ranking.texts is not None else None
                item = name if name is not None else (text or "(no id)")[:_LONGEST]
                self._leaks.append((place, Leak(sample.id, at + 1, item, str(rules[broken[0]]))))

    def _matched(self, ranking: Ranking, rules: Sequence[Forbidden]) -> frozenset[tuple[int, int]]:
        """Return which items, from 0, hold the texts of which rules."""
        wanted = [(number, rule.text) for number, rule in enumerate(rules) if rule.text is not None]
        if not wanted or ranking.texts is None:
            return frozenset()
        scores = self._scorer.one([text or "" for text in ranking.texts], [text for _, text in wanted])
        matches = scores >= self._matcher.matcher.threshold
        return frozenset(_places(matches.tolist(), [number for number, _ in wanted]))


def _places(matches: Sequence[Sequence[bool]], numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    for at, row in enumerate(matches):
        yield from ((at, number) for number, matches_it in zip(numbers, row, strict=True) if matches_it)


def _untried(rule: Forbidden, ranking: Ranking, retrieved: Sequence[Mapping[str, Any]]) -> str:
    """Return what a rule looks at, where no item has it; empty for a rule that can be broken."""
    if rule.id is not None:
        return "" if any(name is not None for name in ranking.ids) else "an id"
    if rule.text is not None:
        return "" if any(ranking.texts or ()) else "a text"
    fields = rule.metadata or {}
    if any(all(value_at(known, field, _NOTHING) is not _NOTHING for field in fields) for known in retrieved):
        return ""
    return " and ".join(f"metadata.{field}" for field in fields)


def _breaks(name: str | None, metadata: Mapping[str, Any], rule: Forbidden) -> bool:
    """Return whether an item is forbidden by its id or its metadata."""
    if rule.id is not None:
        return name == rule.id
    if rule.metadata is None:
        return False
    return all(_holds(value_at(metadata, field, _NOTHING), value) for field, value in rule.metadata.items())


_NOTHING = object()


def _holds(value: object, wanted: object) -> bool:
    """Return whether a value of metadata is the one that is wanted, or a list that has it; 1 is not true."""
    values = value if isinstance(value, list | tuple) and not isinstance(wanted, list | tuple) else [value]
    return any(each == wanted and isinstance(each, bool) == isinstance(wanted, bool) for each in values)
