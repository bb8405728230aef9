"""
Judging by spans: which stretches of gold documents each result covers, by its offsets, or else by its text.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from rankgauge.columns import Cover, Stretches
from rankgauge.judging.evidence import Evidence
from rankgauge.judging.judged_columns import JudgedLists
from rankgauge.judging.keeping import NOTHING, Keep, Keeper
from rankgauge.judging.outputs import Ranking, n_dropped, prepare
from rankgauge.judging.ranking import JudgedBlock
from rankgauge.judging.text_doubts import Doubts
from rankgauge.policy import Profile
from rankgauge.samples import Fault, Place, Sample, Span

__all__ = ["Parts", "SpanJudge", "held_by", "united"]

Parts = Sequence[tuple[int, int]]
"""Stretches of one document: characters, end exclusive."""


class _Held(NamedTuple):
    """What one result holds: the parts of each gold span, by its number, and where it stands itself."""

    parts: Mapping[int, Parts]
    place: Place | None  # None for a result that was found by its text


class SpanJudge:
    """Judges a batch against its gold spans."""

    def __init__(self, profile: Profile, *, keep: Keep = NOTHING, joint: bool = False) -> None:
        self._profile = profile
        self._keep = keep
        self._keeper = Keeper(keep, profile)
        self._joint = joint
        self._lists = JudgedLists()
        self._faults: dict[int, str] = {}
        self._placeless: dict[int, int] = {}
        self._ways = Doubts()
        self._gold: list[tuple[int, int, int, int]] = []  # sample, document, start and end of each gold span
        self._items: list[tuple[int, int, int, int, int]] = []  # the same of each result, and its rank

    def add(self, samples: Sequence[Sample]) -> None:
        """Judge some more samples, in order of the batch."""
        lists = self._lists
        if self._keep == NOTHING and not any(sample.expected.spans or sample.expected.faults for sample in samples):
            lists.add_without_gold([0] * len(samples))
            return
        prepared = prepare(samples, self._profile, by="place")
        lists.n_dropped += n_dropped(samples, prepared, self._profile, by="place")
        self._keeper.add(samples, prepared, judged="retrieved")
        by_text = _parts_by_text(samples, prepared)
        for at, (sample, ranking) in enumerate(zip(samples, prepared, strict=True)):
            place, spans = len(lists.depth), sample.expected.spans or ()
            start = len(lists.gold_grade)
            fault = None if sample.expected.faults is None else sample.expected.faults.get("spans")
            ranked, flaw = lists.add_sample(ranking, [span.grade for span in spans])
            fault = fault or flaw
            if any(span.grade != 1.0 for span in spans):
                lists.graded.append(place)
            if ranked is not None and spans:
                fault = fault or next((each for each in ranked.places or () if isinstance(each, Fault)), None)
                self._add_rows(place, ranked, spans, start, by_text.get(at, {}))
            elif spans and "cover" in self._keep.needs:
                self._add_cover(place, spans, (), ())
            if fault is not None:
                self._faults[place] = fault.reason

    def add_block(self, judged: JudgedBlock) -> None:
        """Judge some more plain samples, which have no spans."""
        self._lists.add_without_gold(judged.depth.tolist())

    def evidence(self) -> Evidence:
        """Return the judged batch."""
        lists = self._lists
        judged = lists.build(self._profile)
        if "cover" in self._keep.needs:
            gold = np.array(self._gold, dtype=np.int64).reshape(-1, 4).T
            *items, ranks = np.array(self._items, dtype=np.int64).reshape(-1, 5).T
            judged = replace(judged, cover=Cover(Stretches(*gold), Stretches(*items), ranks))
        return Evidence.kept(
            self._keeper,
            judged,
            self._faults,
            textless=self._placeless,
            doubts=self._ways,
            n_dropped=lists.n_dropped,
        )

    def _add_rows(
        self,
        place: int,
        ranking: Ranking,
        spans: Sequence[Span],
        start: int,
        by_text: Mapping[int, Mapping[int, Parts]],
    ) -> None:
        """Add one sample's judged rows, in order of rank: where half of a gold span is covered."""
        lists = self._lists
        held = list(_held(ranking, spans, by_text))
        if "cover" in self._keep.needs:
            texts = ranking.texts or [None] * len(ranking.ids)
            self._add_cover(place, spans, held, [text or "" for text in texts])
        n_by_text = len(held) if ranking.places is None else sum(where is None for where in ranking.places)
        self._ways |= Doubts(placed=len(held) - n_by_text, by_text=n_by_text)
        if n_by_text and self._profile.missing_texts == "fail":
            self._look_for_placeless(place, ranking, held, spans)
        together: dict[int, Parts] = {}
        for rank, each in enumerate(held, 1):
            for number in sorted(each.parts):
                share = _share(each.parts[number], spans[number])
                if self._joint:
                    before = together.get(number, ())
                    together[number] = united([*before, *each.parts[number]])
                    joint = _share(together[number], spans[number])
                    share = share if share >= 0.5 or _share(before, spans[number]) >= 0.5 else joint
                if share >= 0.5:
                    if ranking.repeated is not None and ranking.repeated[rank - 1]:
                        lists.row_idle.append(len(lists.row_sample))
                    lists.add_row(place, rank, start + number)
                    lists.row_score.append(share)

    def _look_for_placeless(self, place: int, ranking: Ranking, held: Sequence[_Held], spans: Sequence[Span]) -> None:
        """Note the first rank that can be found neither by a place nor by its text."""
        texts = ranking.texts or [None] * len(held)
        no_texts = any(span.text is None for span in spans)
        places = ranking.places or [None] * len(held)
        for rank, (text, where) in enumerate(zip(texts, places, strict=True), 1):
            if where is None and (text is None or no_texts):
                self._placeless[place] = rank
                return

    def _add_cover(self, place: int, spans: Sequence[Span], held: Sequence[_Held], texts: Sequence[str]) -> None:
        """Add what gold spans and results of one sample take up."""
        numbers: dict[Hashable, int] = {}  # of documents, and of texts that stand in none

        def number(document: Hashable) -> int:
            return numbers.setdefault(document, len(numbers))

        for span in spans:
            document, start, end = span.place
            self._gold.append((place, number(document), start, end))
        for rank, (each, text) in enumerate(zip(held, texts, strict=True), 1):
            if each.place is not None:
                document, start, end = each.place
                self._items.append((place, number(document), start, end, rank))
                continue
            covered: dict[str, list[tuple[int, int]]] = {}
            for at, parts in each.parts.items():
                covered.setdefault(spans[at].place.document, []).extend(parts)
            rest = len(text)
            for document, stretches in covered.items():
                for start, end in united(stretches):
                    self._items.append((place, number(document), start, end, rank))
                    rest -= end - start
            if rest > 0:
                self._items.append((place, number((text,)), 0, rest, rank))


def held_by(
    samples: Sequence[Sample], rankings: Sequence[Ranking | None]
) -> Iterator[list[tuple[Mapping[int, Parts], Place | None, str | None]]]:
    """Yield for each sample what each result holds of its gold spans, by their numbers, its place and its text."""
    by_text = _parts_by_text(samples, rankings)
    for at, (sample, ranking) in enumerate(zip(samples, rankings, strict=True)):
        if ranking is None:
            yield []
            continue
        held = _held(ranking, sample.expected.spans or (), by_text.get(at, {}))
        texts = ranking.texts or [None] * len(ranking.ids)
        yield [(parts, place, text) for (parts, place), text in zip(held, texts, strict=True)]


def _held(ranking: Ranking, spans: Sequence[Span], by_text: Mapping[int, Mapping[int, Parts]]) -> Iterator[_Held]:
    """Yield what each result of a ranking holds."""
    in_document: dict[str, list[int]] = {}
    for number, span in enumerate(spans):
        in_document.setdefault(span.place.document, []).append(number)
    for at, place in enumerate(ranking.places or [None] * len(ranking.ids)):
        if not isinstance(place, Place):
            yield _Held(by_text.get(at, {}), None)
            continue
        parts: dict[int, Parts] = {}
        for number in in_document.get(place.document, ()):
            wanted = spans[number].place
            start, end = max(place.start, wanted.start), min(place.end, wanted.end)
            if start < end:
                parts[number] = ((start, end),)
        yield _Held(parts, place)


def _parts_by_text(
    samples: Sequence[Sample], prepared: Sequence[Ranking | Fault | None]
) -> dict[int, dict[int, dict[int, Parts]]]:
    """Return the parts of gold spans that results without a place hold: by sample, result and span, from 0."""
    asked: list[tuple[int, list[int], list[int]]] = []
    retrieved: list[list[str]] = []
    gold: list[list[str]] = []
    for at, (sample, ranking) in enumerate(zip(samples, prepared, strict=True)):
        spans = sample.expected.spans
        if not spans or not isinstance(ranking, Ranking) or ranking.texts is None:
            continue
        places = ranking.places or [None] * len(ranking.ids)
        items = [number for number, text in enumerate(ranking.texts) if text and places[number] is None]
        texts = {number: span.text for number, span in enumerate(spans) if span.text is not None}
        if items and texts:
            asked.append((at, items, list(texts)))
            retrieved.append([ranking.texts[number] or "" for number in items])
            gold.append(list(texts.values()))
    if not asked:
        return {}
    from rankgauge.matchers.cover import covered_parts  # judging by offsets does without matchers

    parts: dict[int, dict[int, dict[int, Parts]]] = {}
    for (at, items, numbers), covered in zip(asked, covered_parts(retrieved, gold), strict=True):
        for (row, column), stretches in covered.items():
            span = (samples[at].expected.spans or ())[numbers[column]]
            of_item = parts.setdefault(at, {}).setdefault(items[row], {})
            of_item[numbers[column]] = [_in_document(span, *stretch) for stretch in stretches]
    return parts


def _in_document(span: Span, start: int, end: int) -> tuple[int, int]:
    """Return where a stretch of a span's text stands in its document; by proportion where the text was edited."""
    begin, size, length = span.place.start, span.place.end - span.place.start, len(span.text or "")
    return begin + round(start * size / length), begin + round(end * size / length)


def _share(parts: Parts, span: Span) -> float:
    """Return which share of a span its parts are."""
    return sum(end - start for start, end in parts) / (span.place.end - span.place.start)


def united(parts: Parts) -> list[tuple[int, int]]:
    """Return stretches of one document, in order, each character once."""
    union: list[tuple[int, int]] = []
    for start, end in sorted(parts):
        if union and start <= union[-1][1]:
            union[-1] = (union[-1][0], max(end, union[-1][1]))
        else:
            union.append((start, end))
    return union
