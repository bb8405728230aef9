"""
Trusted places: which of the places that retrieved items give in documents are taken, corrected or refused.

Splitters write places of other texts, in other units, or of a part of their text, and no field says so. Without the
document only the letters of the text can be held to a place: where it meets a gold span, both have to be the same
there. A splitter that fails does so everywhere, so that a run in which more than a few places fail takes none.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankgauge.base.frozen import FrozenMap
from rankgauge.judging.evidence import Evidence
from rankgauge.judging.place_counts import OTHER_TEXT, Firsts, PlaceCounts, join_firsts
from rankgauge.judging.ranking import JudgedBlock
from rankgauge.judging.text_doubts import Doubts
from rankgauge.samples import Fault, Output, Place, PlacedBlock, Sample, Span
from rankgauge.samples.sample_values import Misplaced

if TYPE_CHECKING:
    from rankgauge.judging.by_span import SpanJudge
    from rankgauge.judging.placed_rows import PlacedRows

__all__ = ["PlaceJudge", "Settled", "distrusted", "settled"]

_NAMES = (
    *("source", "file_path", "file_name", "filename", "file", "path", "name", "url"),
    *("document", "document_id", "doc_id"),
)
"""Where metadata may name a document otherwise than by the id that the library gave it."""
_PROBE = 12
"""Characters of a gold text that are looked for in a text whose place misses it."""
_LONG = 20
"""Letters and digits of a gold text that hardly occur in a text by chance."""
_FIRST = 24
"""Characters by which the texts of two results at one place are distinguished, white space left out."""

_BYTES = "it counts bytes"
_PLACES = {Place}
_DOCUMENT = itemgetter(0)
_NONE: Firsts = FrozenMap()
_NO_LETTER = re.compile(r"[\W_]+")


class PlaceJudge:
    """Judges by places that are trusted; beside that, what the batch is worth if none of them is taken."""

    def __init__(self, make: Callable[[], SpanJudge], *, checks: bool) -> None:
        self._checks, self._settle = checks, settled if checks else _as_given
        self._judge = make()
        self._without: SpanJudge | None = None  # made of the other where the first sample differs
        self._n: dict[str, int] = {}
        self._reasons: dict[str, int] = {}
        self._example = ""
        self._looks: tuple[str, str] | None = None
        self._firsts: dict[tuple[str, int], str | None] = {}

    def add(self, samples: Sequence[Sample]) -> None:
        """Judge some more samples, in order of the batch."""
        found = list(map(self._settle, samples))
        if self._without is None and any(each.is_doubtful for each in found):
            self._without = copy.deepcopy(self._judge)
        self._judge.add([each.sample for each in found])
        if self._without is not None:
            self._without.add([without_places(each.sample) if each.is_doubtful else each.sample for each in found])
        for each in found:
            self._add(each)

    def _add(self, found: Settled) -> None:
        """Count some more places; in place, as there is one for each result."""
        n, reasons, _, example, looks = found.counts
        for total, further in ((self._n, n), (self._reasons, reasons)):
            for name, count in further.items():
                total[name] = total.get(name, 0) + count
        join_firsts(self._firsts, found.firsts)
        self._example, self._looks = self._example or example, self._looks or looks

    def add_block(self, judged: JudgedBlock) -> None:
        """Judge some more plain samples, which have no spans."""
        for judge in filter(None, (self._judge, self._without)):
            judge.add_block(judged)

    def add_placed(self, block: PlacedBlock) -> None:
        """Judge a block, of which every place is taken: nothing beside a place says that it is wrong."""
        from rankgauge.judging.placed_rows import PlacedRows  # reading samples does without

        rows = PlacedRows(block)
        for judge in filter(None, (self._judge, self._without)):
            judge.add_placed(rows)
        if self._checks:
            self._count(rows)

    def _count(self, rows: PlacedRows) -> None:
        """Count the places of a block as `settled` does."""
        n, named = self._n, rows.are_named
        if (rows.counts[rows.gold.owner] == 0).any():
            n["missing"] = n.get("missing", 0)
        for kind, count in (("named", np.count_nonzero(named)), ("taken", np.count_nonzero(rows.has_spans))):
            if count:
                n[kind] = n.get(kind, 0) + int(count)
        others = np.flatnonzero(rows.has_spans & ~named)
        if self._looks is None and len(others):
            owners = rows.items.owner[others]
            last = int(np.searchsorted(owners, owners[0], side="right")) - 1
            self._looks = rows.document(int(others[last])), rows.spans[owners[0]][0].place.document

    def evidence(self) -> Evidence:
        """Return the judged batch."""
        evidence = self._judge.evidence()
        without = None if self._without is None else self._without.evidence()
        counts = PlaceCounts(self._n, self._reasons, self._firsts, self._example, self._looks)
        return replace(evidence, doubts=(evidence.doubts or Doubts())._replace(places=counts), without_places=without)


class Settled(NamedTuple):
    """A sample with the places of its output that are taken."""

    sample: Sample
    counts: PlaceCounts
    is_doubtful: bool = False  # whether it would be judged otherwise if no place were taken
    firsts: Firsts = _NONE  # of the places that may be compared


def settled(sample: Sample) -> Settled:
    """Hold the places of a sample's output to the texts beside them, by its gold spans; what fails is no place."""
    output, spans = sample.output, sample.expected.spans
    if not isinstance(output, Output) or not spans:
        return Settled(sample, PlaceCounts())
    if output.places is None:
        return Settled(sample, PlaceCounts({"missing": len(output.ids)}))
    look = _Look(spans, output)
    if output.texts is None and output.metadata is None and set(map(type, output.places)) == _PLACES:
        look.take(output.places)
        return Settled(sample, look.counts(sample.id))
    places = look.all(output.places)
    counts = look.counts(sample.id)
    if places != output.places:
        sample = sample._replace(output=output._replace(places=places))
    return Settled(sample, counts, look.is_doubtful, look.firsts)


def _as_given(sample: Sample) -> Settled:
    """Take every place of a sample's output but those that are known to be of another text."""
    output = sample.output
    if isinstance(output, Output) and any(isinstance(place, Misplaced) for place in output.places or ()):
        places = [None if isinstance(place, Misplaced) else place for place in output.places or ()]
        sample = sample._replace(output=output._replace(places=places))
    return Settled(sample, PlaceCounts())


def distrusted(sample: Sample, stages: Collection[str]) -> Sample:
    """Return a sample as it is judged if no place of some stages is taken; an empty name is the whole output's."""
    if "" in stages:
        sample = _distrusted(sample)
    output = sample.output
    if not isinstance(output, Output) or not output.stages:
        return sample
    changed = {
        name: stage._replace(output=_distrusted(sample._replace(output=stage.output)).output or stage.output)
        for name, stage in output.stages.items()
        if name in stages
    }
    return sample._replace(output=output._replace(stages={**output.stages, **changed})) if changed else sample


def _distrusted(sample: Sample) -> Sample:
    found = settled(sample)
    return without_places(found.sample) if found.is_doubtful else sample


def without_places(sample: Sample) -> Sample:
    """Return a sample none of whose items gives a place, unless a place is all that it gives."""
    output = sample.output
    if not isinstance(output, Output) or output.places is None or output.texts is None:
        return sample
    if any(span.text is None for span in sample.expected.spans or ()):
        return sample  # by text it could not be found
    places = [place if text is None else None for place, text in zip(output.places, output.texts, strict=True)]
    return sample._replace(output=output._replace(places=places))


class _Look:
    """Looks at the places of one output."""

    def __init__(self, spans: Sequence[Span], output: Output) -> None:
        nothing = [None] * len(output.ids)
        self._texts = output.texts or nothing
        self._metadata: Sequence[Mapping[str, Any] | None] = output.metadata or nothing
        self._spans: dict[str, list[Span]] = {}
        for span in spans:
            self._spans.setdefault(span.place.document, []).append(span)
        self._probes: dict[Place, list[str]] = {}
        self._n: dict[str, int] = {}
        self._reasons: dict[str, int] = {}
        self.firsts: dict[tuple[str, int], str | None] = {}
        self._example = ""
        self._looks: Place | None = None  # in a document that no gold span names
        self.is_doubtful = False

    def all(self, places: Sequence[Place | Fault | Misplaced | None]) -> list[Place | Fault | None]:
        """Return the places of all items as they are taken; None if one is refused or missing."""
        spans, plain = self._spans, 0
        found: list[Place | Fault | None] = []
        for place, text, metadata in zip(places, self._texts, self._metadata, strict=True):
            if not isinstance(place, Place):
                found.append(self._not_given(place))
            elif metadata or place[0] in spans or place[2] - place[1] != len(text or ""):
                found.append(self._at(place, text or "", metadata))
            else:  # most are so, and nothing can be held to them
                plain, self._looks = plain + 1, place
                found.append(place)
        if plain:
            self._count("taken", plain)
        return found

    def take(self, places: Sequence[Any]) -> None:
        """Take the places of items that have neither a text nor metadata, to which nothing can be held."""
        are_named = list(map(self._spans.__contains__, map(_DOCUMENT, places)))
        if named := sum(are_named):
            self._count("named", named)
        if named < len(places):
            self._looks = places[len(places) - 1 - are_named[::-1].index(False)]
        self._count("taken", len(places))

    def _not_given(self, place: Fault | Misplaced | None) -> Fault | None:
        if isinstance(place, Fault):
            return place
        if place is None:
            self._count("missing")
        else:
            self._refuse(place.reason, None)
        return None

    def _at(self, place: Place, text: str, metadata: Mapping[str, Any] | None) -> Place | None:
        place = self._named(place, metadata)
        is_named = place.document in self._spans
        if is_named:
            self._count("named")
        else:
            self._looks = place
        if not text:
            self._count("taken")
            return place
        size, length = place.end - place.start, len(text)
        if size != length and not text.isascii() and size == len(text.encode("utf-8", "surrogatepass")):
            self._refuse(_BYTES, place)
            return None
        is_corrected = size == length - 1
        if is_corrected:  # its end is the last character
            place = place._replace(end=place.end + 1)
        if is_named and place.end - place.start >= length:
            at, first = place[:2], "".join(text[: 2 * _FIRST].split())[:_FIRST]
            if self.firsts.setdefault(at, first) != first:
                join_firsts(self.firsts, {at: first})
        if not self._holds(place, text):
            self._count("differed")
            self._refuse(OTHER_TEXT, place)
            return None
        self._count("corrected" if is_corrected else "taken")
        return place

    def _count(self, kind: str, n: int = 1) -> None:
        self._n[kind] = self._n.get(kind, 0) + n

    def counts(self, sample_id: str) -> PlaceCounts:
        """Return what was found."""
        example = f"{self._example} of sample {sample_id!r}" if self._example else ""
        looks = None if self._looks is None else (self._looks.document, next(iter(self._spans)))
        return PlaceCounts(self._n, self._reasons, example=example, looks=looks)

    def _named(self, place: Place, metadata: Mapping[str, Any] | None) -> Place:
        """Return a place whose document is called as gold spans call it, if the item's metadata say so, too."""
        if place.document in self._spans or not metadata:
            return place
        names = (metadata.get(key) for key in _NAMES)
        return next(
            (place._replace(document=name) for name in names if isinstance(name, str) and name in self._spans), place
        )

    def _refuse(self, reason: str, place: Place | None) -> None:
        self._count("refused")
        self._reasons[reason] = self._reasons.get(reason, 0) + 1
        self._example = self._example or ("" if place is None else str(place))
        self.is_doubtful = True

    def _holds(self, place: Place, text: str) -> bool:
        """Return whether the letters of a text and of the gold spans that its place meets are the same there."""
        met = False
        for span in self._spans.get(place.document, ()):
            gold, begin = span.text, span.place.start
            if gold is None:
                continue
            start, end = max(place.start, begin), min(place.end, span.place.end)
            if start >= end:
                self._look_elsewhere(span.place, gold, text)
                continue
            if len(gold) != span.place.end - begin:
                continue  # an edited text says nothing of single characters
            stands = gold[start - begin : end - begin]
            if place.end - place.start == len(text):
                own = text[start - place.start : end - place.start]
                is_held = own == stands or _letters(own) == _letters(stands)
            else:  # something was put before it or behind it, or white space was folded
                is_held = _letters(stands) in _letters(text)
            if not is_held:
                self._count("met")
                return False
            met = True
        if met:
            self._count("met")
        return True

    def _look_elsewhere(self, place: Place, gold: str, text: str) -> None:
        """Note a text that holds a gold text which its place misses: a wrong place, or a copy."""
        probes = self._probes.get(place)
        if probes is None:
            size = len(gold)
            middles = (size // 4, size // 2, size - size // 4) if size >= 2 * _PROBE else ()
            starts = (middle - _PROBE // 2 for middle in middles)
            probes = self._probes[place] = [gold[max(0, at) : max(0, at) + _PROBE] for at in starts]
        for probe in probes:
            if probe in text:
                self.is_doubtful = True
                letters = _letters(gold)
                if len(letters) >= _LONG and letters in _letters(text):
                    self._count("elsewhere")
                break


def _letters(text: str) -> str:
    """Return the letters and digits of a text, whatever their case."""
    return _NO_LETTER.sub("", text).casefold()
