"""
Judging by spans: which stretches of gold documents each result covers, by its offsets, or else by its text.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, compress

import numpy as np

from rankgauge.columns import Cover, Ints, Stretches
from rankgauge.columns.parts import united
from rankgauge.judging.evidence import Evidence
from rankgauge.judging.judged_columns import JudgedLists
from rankgauge.judging.keeping import NOTHING, Keep, Keeper
from rankgauge.judging.outputs import Ranking, n_dropped, prepare, stands_as_given
from rankgauge.judging.placed_rows import PlacedRows
from rankgauge.judging.ranking import JudgedBlock
from rankgauge.judging.text_doubts import Doubts
from rankgauge.policy import Profile
from rankgauge.samples import Fault, Output, Place, Sample, Span

__all__ = ["Held", "SpanJudge", "held_by"]

_HALF = 0.5
_WORDS = 6
"""How many words a gold text has at least that is no chance where it occurs word for word."""

_MOST_PAIRS = 1_000_000
"""Of so many pairs of a result and a gold span in the document of both the rest is looked at one by one."""

Held = Sequence[tuple[int, int]]
"""Stretches of one document: characters, end exclusive."""

Met = Mapping[int, Held]
"""What one result holds: the parts of each gold span, by its number."""


class SpanJudge:
    """Judges a batch against its gold spans."""

    def __init__(self, profile: Profile, *, keep: Keep = NOTHING, joint: bool = True) -> None:
        self._profile = profile
        self._keep = keep
        self._keeper = Keeper(keep, profile)
        self._joint = joint
        self._lists = JudgedLists()
        self._faults: dict[int, str] = {}
        self._placeless: dict[int, int] = {}
        self._stale = 0  # how many gold spans are in a retrieved text whose offsets miss them
        self._placed = self._by_text = 0  # how many results say where they are, and how many do not
        self._gold = _Columns()
        self._items = _Columns()

    def add(self, samples: Sequence[Sample]) -> None:
        """Judge some more samples, in order of the batch."""
        lists = self._lists
        meant = list(map(_is_meant, samples))
        if self._keep == NOTHING and not any(meant) and not any(sample.expected.faults for sample in samples):
            lists.add_without_gold([0] * len(samples))
            return
        prepared = prepare(samples, self._profile, by="place")
        counted, ranked = list(compress(samples, meant)), list(compress(prepared, meant))
        lists.n_dropped += n_dropped(counted, ranked, self._profile, by="place")
        self._keeper.add(samples, prepared, judged="retrieved")
        by_text = _parts_by_text(samples, prepared)
        for at, (sample, ranking) in enumerate(zip(samples, prepared, strict=True)):
            place, spans = len(lists.depth), sample.expected.spans or ()
            start, grades = len(lists.gold_grade), [span.grade for span in spans]
            lists.gold_size += [span.place.end - span.place.start for span in spans]
            fault = None if sample.expected.faults is None else sample.expected.faults.get("spans")
            own, flaw = lists.add_sample(ranking, grades)
            fault = fault or flaw
            if grades.count(1.0) < len(grades):
                lists.graded.append(place)
            if own is not None and spans:
                if Fault in set(map(type, own.places or ())):
                    fault = fault or next(each for each in own.places or () if isinstance(each, Fault))
                self._add_rows(place, own, spans, start, by_text.get(at, {}))
            elif spans and "cover" in self._keep.needs:
                self._add_gold(place, spans)
            if fault is not None:
                self._faults[place] = fault.reason

    def add_block(self, judged: JudgedBlock) -> None:
        """Judge some more plain samples, which have no spans."""
        self._lists.add_without_gold(judged.depth.tolist())

    def add_placed(self, rows: PlacedRows) -> None:
        """Judge a block as columns, unless more is asked for than which results meet which gold spans."""
        rule = self._profile.policy.duplicates
        takes_rows = self._keeper.is_idle and stands_as_given(self._profile.policy)
        if not takes_rows or rows.n_beside > _MOST_PAIRS or (rule not in {"keep", "first"} and rows.repeats):
            self.add(rows.block.samples)
            return
        lists, first, start = self._lists, len(self._lists.depth), len(self._lists.gold_grade)
        kept = np.ones(len(rows.items.owner), dtype=np.bool_)
        if rule == "first":
            kept[rows.repeats] = False
            lists.n_dropped += len(rows.repeats)
        until: Ints = np.cumsum(kept)
        ranks = until - (until - kept)[rows.starts[rows.items.owner]]
        lists.depth += np.bincount(rows.items.owner[kept], minlength=len(rows.spans)).tolist()
        grades = [[span.grade for span in spans] for spans in rows.spans]
        lists.gold_count += map(len, grades)
        lists.gold_grade += chain.from_iterable(grades)
        lists.gold_size += (rows.gold.end - rows.gold.start).tolist()
        lists.graded += [first + at for at, own in enumerate(grades) if own.count(1.0) < len(own)]
        kept &= rows.has_spans
        self._placed += int(np.count_nonzero(kept))
        if "cover" in self._keep.needs:
            gold, items = rows.gold, rows.items.where(kept)
            self._gold.add_all(gold.owned(gold.owner + first), np.zeros_like(gold.owner))
            self._items.add_all(items.owned(items.owner + first), ranks[kept])
        row, gold_no, begin, end = rows.meetings()
        stay = kept[row]
        columns = (rows.items.owner[row] + first, ranks[row], gold_no + start, begin, end)
        lists.parts += zip(*(column[stay].tolist() for column in columns), strict=True)

    def evidence(self) -> Evidence:
        """Return the judged batch."""
        lists = self._lists
        parts = lists.add_parts(_HALF, joint=self._joint)
        judged = lists.build(self._profile, own_ranks=True)
        if self._joint:
            judged = replace(judged, parts=parts)
        if "cover" in self._keep.needs:
            judged = replace(judged, cover=Cover(self._gold.columns()[0], *self._items.columns()))
        return Evidence(
            self._keeper.shown_in(judged),
            self._faults,
            self._placeless,
            kept=self._keeper.kept(),
            doubts=Doubts(placed=self._placed, by_text=self._by_text, stale=self._stale),
            n_dropped=lists.n_dropped,
        )

    def _add_rows(
        self,
        place: int,
        ranking: Ranking,
        spans: Sequence[Span],
        start: int,
        by_text: Mapping[int, Met],
    ) -> None:
        """Add what one sample's results cover of its gold spans; one is found where half of it is covered."""
        lists, places = self._lists, ranking.places or ()
        met = _met(ranking, spans, by_text)
        if "cover" in self._keep.needs:
            self._add_cover(place, ranking, spans, met)
        n_by_text = 0 if places and all(places) else len(ranking.ids) - sum(map(bool, places))
        self._placed += len(ranking.ids) - n_by_text
        self._by_text += n_by_text
        if n_by_text and self._profile.missing_texts == "fail":
            self._look_for_placeless(place, ranking, spans)
        self._stale += len(_stale(ranking, spans, met))
        for item, parts in met.items():
            for number, held in parts.items():
                begin = spans[number].place.start
                found = ((place, item + 1, start + number, first - begin, last - begin) for first, last in held)
                lists.parts.extend(found)
        if ranking.repeated is not None:
            lists.repeats.update((place, rank) for rank, repeats in enumerate(ranking.repeated, 1) if repeats)

    def _look_for_placeless(self, place: int, ranking: Ranking, spans: Sequence[Span]) -> None:
        """Note the first rank that can be found neither by a place nor by its text."""
        nothing = [None] * len(ranking.ids)
        no_texts = any(span.text is None for span in spans)
        texts, places = ranking.texts or nothing, ranking.places or nothing
        for rank, (text, where) in enumerate(zip(texts, places, strict=True), 1):
            if where is None and (text is None or no_texts):
                self._placeless[place] = rank
                return

    def _add_gold(self, place: int, spans: Sequence[Span]) -> dict[Hashable, int]:
        """Add what gold spans of one sample take up; return the numbers of their documents."""
        numbers: dict[Hashable, int] = {}
        for span in spans:
            document, start, end = span.place
            self._gold.add(place, numbers.setdefault(document, len(numbers)), start, end)
        return numbers

    def _add_cover(self, place: int, ranking: Ranking, spans: Sequence[Span], met: Mapping[int, Met]) -> None:
        """Add what gold spans and results of one sample take up."""
        numbers = self._add_gold(place, spans)  # of documents, and of texts that are in none
        if ranking.places is not None and set(map(type, ranking.places)) == {Place}:
            documents, starts, ends = zip(*ranking.places, strict=True)
            numbered = [numbers.setdefault(document, len(numbers)) for document in documents]
            self._items.extend(place, numbered, starts, ends)
            return
        nothing = [None] * len(ranking.ids)
        each = zip(ranking.places or nothing, ranking.texts or nothing, strict=True)
        for at, (where, text) in enumerate(each):
            if isinstance(where, Place):
                document, start, end = where
                self._items.add(place, numbers.setdefault(document, len(numbers)), start, end, rank=at + 1)
                continue
            covered: dict[str, list[tuple[int, int]]] = {}
            for number, parts in met.get(at, {}).items():
                covered.setdefault(spans[number].place.document, []).extend(parts)
            rest = len(text or "")
            for document, stretches in covered.items():
                for start, end in united(stretches):
                    self._items.add(place, numbers.setdefault(document, len(numbers)), start, end, rank=at + 1)
                    rest -= end - start
            if rest > 0:
                self._items.add(place, numbers.setdefault((text or "",), len(numbers)), 0, rest, rank=at + 1)


class _Columns:
    """Stretches of documents as columns that grow; a result's has its rank."""

    def __init__(self) -> None:
        self._done: list[tuple[Ints, ...]] = []
        self._owners: list[int] = []  # a sample, and how many of the stretches it has that come next
        self._counts: list[int] = []
        self._columns: tuple[list[int], ...] = ([], [], [], [])  # document, start, end and rank of each

    def add(self, place: int, *stretch: int, rank: int = 0) -> None:
        """Add a stretch: the number of its document, where it starts and ends."""
        self._owners.append(place)
        self._counts.append(1)
        for column, value in zip(self._columns, (*stretch, rank), strict=True):
            column.append(value)

    def extend(self, place: int, *stretches: Sequence[int]) -> None:
        """Add those of every result of a sample, in order of rank."""
        count = len(stretches[0])
        self._owners.append(place)
        self._counts.append(count)
        for column, values in zip(self._columns, (*stretches, range(1, count + 1)), strict=True):
            column.extend(values)

    def add_all(self, stretches: Stretches, rank: Ints) -> None:
        """Add those of some samples."""
        self._close()
        self._done.append((*stretches, rank))

    def _close(self) -> None:
        if self._owners:
            owner = np.array(self._owners, dtype=np.int64).repeat(self._counts)
            self._done.append((owner, *(np.array(column, dtype=np.int64) for column in self._columns)))
            self._owners, self._counts, self._columns = [], [], ([], [], [], [])

    def columns(self) -> tuple[Stretches, Ints]:
        """Return them, and their ranks."""
        self._close()
        parts = zip(*self._done, strict=True) if self._done else [[np.zeros(0, dtype=np.int64)]] * 5
        *stretches, rank = map(np.concatenate, parts)
        return Stretches(*stretches), rank


def _is_meant(sample: Sample) -> bool:
    """Return whether a sample has something to do with places: gold spans, or a result that says where it is."""
    output = sample.output
    return bool(sample.expected.spans) or (isinstance(output, Output) and output.places is not None)


def _stale(ranking: Ranking, spans: Sequence[Span], met: Mapping[int, Met]) -> list[int]:
    """Return the gold spans that no result meets, and that occur word for word in the text of one that has a place."""
    if ranking.places is None or ranking.texts is None:
        return []
    found = {number for parts in met.values() for number in parts}
    missed = [number for number in range(len(spans)) if number not in found]
    wanted = {number: (spans[number].text or "").casefold().split() for number in missed}
    wanted = {number: words for number, words in wanted.items() if len(words) >= _WORDS}
    if not wanted:
        return []
    placed = (text for text, place in zip(ranking.texts, ranking.places, strict=True) if text and place is not None)
    whole = " \0 ".join(" ".join(text.casefold().split()) for text in placed)
    return [number for number, words in wanted.items() if " ".join(words) in whole]


def held_by(
    samples: Sequence[Sample], rankings: Sequence[Ranking | None]
) -> Iterator[list[tuple[Met, Place | None, str | None]]]:
    """Yield for each sample what each result holds of its gold spans, by their numbers, its place and its text."""
    by_text = _parts_by_text(samples, rankings)
    for at, (sample, ranking) in enumerate(zip(samples, rankings, strict=True)):
        if ranking is None:
            yield []
            continue
        met, nothing = _met(ranking, sample.expected.spans or (), by_text.get(at, {})), [None] * len(ranking.ids)
        each = zip(ranking.places or nothing, ranking.texts or nothing, strict=True)
        yield [
            (met.get(item, {}), place if isinstance(place, Place) else None, text)
            for item, (place, text) in enumerate(each)
        ]


def _met(ranking: Ranking, spans: Sequence[Span], by_text: Mapping[int, Met]) -> dict[int, Met]:
    """Return what those results of a ranking hold that hold anything, by their places from 0."""
    met: dict[int, dict[int, Held]] = {}
    in_document: dict[str, list[tuple[int, int, int]]] = {}
    for number, span in enumerate(spans):
        document, begin, stop = span.place
        in_document.setdefault(document, []).append((number, begin, stop))
    for at, place in enumerate(ranking.places or ()):
        there = None if place is None else in_document.get(place[0])
        if there is None or not isinstance(place, Place):
            continue
        _, start, end = place
        for number, begin, stop in there:
            if start < stop and begin < end and start < end:
                met.setdefault(at, {})[number] = ((max(start, begin), min(end, stop)),)
    return {**by_text, **met}


def _parts_by_text(
    samples: Sequence[Sample], prepared: Sequence[Ranking | Fault | None]
) -> dict[int, dict[int, dict[int, Held]]]:
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

    parts: dict[int, dict[int, dict[int, Held]]] = {}
    for (at, items, numbers), covered in zip(asked, covered_parts(retrieved, gold), strict=True):
        for (row, column), stretches in covered.items():
            span = (samples[at].expected.spans or ())[numbers[column]]
            of_item = parts.setdefault(at, {}).setdefault(items[row], {})
            of_item[numbers[column]] = [_in_document(span, *stretch) for stretch in stretches]
    return parts


def _in_document(span: Span, start: int, end: int) -> tuple[int, int]:
    """Return where a stretch of a span's text is in its document; by proportion if the text was edited."""
    begin, size, length = span.place.start, span.place.end - span.place.start, len(span.text or "")
    return begin + round(start * size / length), begin + round(end * size / length)
