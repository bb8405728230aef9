"""
Doubts: signs that a matcher asks another question of the texts than its user means.

Either it looks in the wrong direction, since retrieved texts are longer than gold texts where it looks for a part of
the gold text, or the other way round; or it takes whole documents for evidence; or it finds a short gold text only
inside longer words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import accumulate, islice
from typing import NamedTuple

from rankgauge.catalog import ResolvedMatcher
from rankgauge.columns.parts import length, united
from rankgauge.errors import counted
from rankgauge.judging.place_counts import PlaceCounts
from rankgauge.judging.script_doubts import ScriptCounts, look_at_scripts
from rankgauge.plugin.matching import Covers

__all__ = ["Doubter", "Doubts"]

Texts = Sequence[Sequence[str]]

_LOOKED_AT = 100
"""Of how many samples it is looked at what another matcher would find, unless fewer have so many `_CHARACTERS`."""
_CHARACTERS = 1 << 22
"""After so many characters of samples no further one is looked at: another matcher takes 0.2 s for them."""
_AT_ONCE = 32
"""How many samples another matcher takes at a time, which bounds the memory."""
_LEAST = 20
"""How many characters a retrieved text has at least that counts as cut out of a gold text."""
_SHORT = 40
"""How many characters a gold text has at most that is looked for inside words."""
_WORTH_A_NOTE = 0.05
_LONGER = 3
"""How many times as long as results gold texts are on average that may be documents."""
_PASSAGE = 0.5


class _Look(NamedTuple):
    """What one sample's gold passages and retrieved texts are like."""

    gold: int  # how many gold texts there are
    found: int  # how many of them the matcher finds
    within: int  # how many it does not find, though they are in a retrieved text
    around: int  # how many it does not find, though a retrieved text is in them
    by_passage: int  # how many `passage` finds; only counted if any is not found so
    by_document: int  # of evidence, how many `document` finds; of a sample with short gold texts those that are found
    gold_size: int  # characters
    retrieved: int
    retrieved_size: int

    @property
    def refused(self) -> int:
        """Return how many gold texts are not found for the direction alone; 0 if these are too few for a note."""
        refused = max(self.within, self.around)
        return refused if refused >= _WORTH_A_NOTE * self.gold else 0

    @property
    def size(self) -> int:
        """Return how many characters there are."""
        return self.gold_size + self.retrieved_size

    @property
    def is_long(self) -> bool:
        """Return whether gold texts are several times as long as results, on average."""
        return 0 < _LONGER * self.retrieved_size * self.gold <= self.gold_size * self.retrieved


class Doubts(NamedTuple):
    """What makes the matcher of one target doubtful, in some samples."""

    looks: tuple[_Look, ...] = ()  # at the first samples
    found: int = 0  # how many short gold texts were found
    whole: int = 0  # how many of them between word boundaries
    inside: int = 0  # how many samples have one that was found only inside words
    example: tuple[str, str] | None = None  # one of these, and a word that it was found in
    placed: int = 0  # how many retrieved items were looked for in gold spans by their offsets
    by_text: int = 0  # how many by their text
    stale: int = 0  # how many gold spans occur word for word in a retrieved text whose offsets miss them
    places: PlaceCounts = PlaceCounts()  # what their offsets are worth
    scripts: ScriptCounts = ScriptCounts()  # what does not match for reasons of its script
    of_answers: bool = False  # whether generated answers are judged

    @property
    def looked(self) -> int:
        """Return at how many samples it was looked; `_LOOKED_AT` if that is enough."""
        return _LOOKED_AT if _are_enough(self.looks) else len(self.looks)

    def __or__(self, other: Doubts) -> Doubts:
        return Doubts(
            _first(self.looks + other.looks),
            self.found + other.found,
            self.whole + other.whole,
            self.inside + other.inside,
            self.example or other.example,
            self.placed + other.placed,
            self.by_text + other.by_text,
            self.stale + other.stale,
            self.places | other.places,
            self.scripts | other.scripts,
            self.of_answers or other.of_answers,
        )

    def notes(self, matcher: str | None) -> Iterator[str]:
        """Yield what users should know."""
        total = _total(self.looks)
        if refused := total.refused:
            longer = total.within >= total.around
            yield (
                f"{refused:,} of {counted(total.gold, 'gold text')} "
                f"{'are in' if longer else 'hold'} a retrieved text that `{matcher}` does not accept, because "
                f"that is {'longer' if longer else 'shorter'} (characters on average: "
                f"{total.gold_size / total.gold:,.0f} gold, {total.retrieved_size / total.retrieved:,.0f} retrieved); "
                f"it finds {total.found / total.gold:.2f} of them, matcher=passage would find "
                f"{total.by_passage / total.gold:.2f}"
            )
        yield from self._of_documents(total)
        yield from self.scripts.notes(matcher, of_answers=self.of_answers)
        yield from self.places.notes()
        if self.stale and not self.places.distrust:  # by text they are found
            yield (
                f"offsets of retrieved items miss {counted(self.stale, 'gold span')} whose text the items hold word "
                "for word: offsets are stale, or documents have other names on the two sides; `rankgauge gold check` "
                "says where gold texts are"
            )
        by_text, placed = self.by_text, self.placed
        if self.places.n:  # those that were refused have words of their own
            by_text, placed = self.places.n.get("missing", 0), self.places.given
        if by_text:
            every = counted(placed + by_text, "retrieved item")
            of = f"{by_text:,} of {every}" if placed else f"all of {every}"
            yield f"gold spans were found by text in {of}, which give no offsets ('document', 'start' and 'end')"
        if self.example is not None:
            text, word = self.example
            yield (
                f"in {counted(self.inside, 'sample')} `{matcher}` finds a short gold text only inside a longer "
                f"word, such as {text!r} in {word!r}; it finds {self.found:,} of these texts, matcher=words would find "
                f"{self.whole:,}"
            )

    @staticmethod
    def _of_documents(total: _Look) -> Iterator[str]:
        """Yield that gold texts which are taken as evidence are as long as documents."""
        if not total.by_document or not total.is_long:
            return
        gold, retrieved = total.gold_size / total.gold, total.retrieved_size / total.retrieved
        yield (
            f"gold texts are {gold / retrieved:.1f} times as long as results (characters on average: {gold:,.0f} gold, "
            f"{retrieved:,.0f} retrieved); as evidence {total.found / total.gold:.2f} of them are found, as documents "
            f"from which results were cut, with gold=documents, {total.by_document / total.gold:.2f} would be"
        )


def _total(looks: Sequence[_Look]) -> _Look:
    return _Look(*map(sum, zip(*looks, strict=True))) if looks else _Look(*[0] * len(_Look._fields))


def _first(looks: Sequence[_Look]) -> tuple[_Look, ...]:
    """Return the looks at as many of the first samples as are enough."""
    sizes = accumulate((look.size for look in looks), initial=0)
    return tuple(look for look, before in zip(looks[:_LOOKED_AT], sizes, strict=False) if before < _CHARACTERS)


def _are_enough(looks: Sequence[_Look]) -> bool:
    return len(looks) >= _LOOKED_AT or sum(look.size for look in looks) >= _CHARACTERS


def _found(covers: Covers) -> int:
    """Return how many gold texts `passage` finds in all results together."""
    parts: dict[int, list[tuple[int, int]]] = {}
    for column, *part in zip(*(each.tolist() for each in covers[1:4]), strict=True):
        parts.setdefault(column, []).append((part[0], part[1]))
    return sum(length(united(held)) >= _PASSAGE * covers.size[column] for column, held in parts.items())


class Doubter:
    """Collects the doubts about one target's matcher, sample by sample."""

    def __init__(
        self,
        matcher: ResolvedMatcher,
        normalize: Callable[[str], str],
        *,
        of_passages: bool,
        of_answers: bool = False,
        looked: int = 0,
        keeps_words: bool = False,
    ) -> None:
        self._matcher, self._normalize = matcher, normalize
        self._short = Doubts(of_answers=of_answers)
        comparer = matcher.matcher.comparer
        self._of_evidence = comparer == "cover"
        self._is_first, self._keeps_words = not looked, keeps_words
        self._to_look_at = _LOOKED_AT - looked if of_passages else 0
        self._size = 0  # of what was looked at
        self._looks_inside = comparer == "contained" and matcher.settings["direction"] == "gold-in-retrieved"
        self._looks: list[_Look] = []
        self._texts: list[tuple[Sequence[str], Sequence[str]]] = []

    def add(self, retrieved: Sequence[str], gold: Sequence[str], hits: Sequence[tuple[int, int, float]]) -> None:
        """Take one sample's texts, and which of them match: places of both, and the score."""
        if self._looks_on():
            found = {wanted for _, wanted, _ in hits}
            if self._of_evidence:
                self._look_at_evidence(retrieved, gold, len(found))
            else:
                self._look(retrieved, gold, found)
        scripts = look_at_scripts(self._matcher.matcher.comparer, retrieved, gold, hits)
        if any(scripts):
            self._short |= Doubts(scripts=scripts)
        if self._looks_inside and hits:
            self._look_inside(retrieved, gold, hits)

    def add_evidence(self, retrieved: Sequence[str], gold: Sequence[str], covers: Covers) -> None:
        """Take one sample's texts, and what the retrieved ones cover of the gold ones."""
        if self._looks_on():
            self._look_at_evidence(retrieved, gold, _found(covers))

    def doubts(self) -> Doubts:
        """Return the doubts about all samples that were added."""
        from rankgauge.matchers.cover import cover_batch, cut_from_batch  # judging by id does without matchers

        looks = self._looks
        if self._of_evidence:
            for at, (retrieved, gold) in self._some(at for at, look in enumerate(looks) if look.is_long):
                blocks = cut_from_batch(retrieved, gold, cutoff=_PASSAGE)
                counts = [int((block >= _PASSAGE).any(axis=0).sum()) for block in blocks]
                for place, count in zip(at, counts, strict=True):
                    looks[place] = looks[place]._replace(by_document=count)
        elif any(look.within or look.around for look in looks) and self._may_be_worth_a_note():
            for at, (retrieved, gold) in self._some(range(len(looks))):
                counts = [_found(covers) for covers in cover_batch(retrieved, gold, cutoff=_PASSAGE)]
                for place, count in zip(at, counts, strict=True):
                    looks[place] = looks[place]._replace(by_passage=count)
        return self._short._replace(looks=tuple(looks))

    def _looks_on(self) -> bool:
        return len(self._looks) < self._to_look_at and self._size < _CHARACTERS

    def _may_be_worth_a_note(self) -> bool:
        """Return whether there may be a note, which is certain if no samples before or behind count."""
        is_all = self._is_first and _are_enough(self._looks)
        return not is_all or _total(self._looks).refused > 0

    def _keep(self, look: _Look, retrieved: Sequence[str], gold: Sequence[str]) -> None:
        self._looks.append(look)
        self._texts.append((retrieved, gold))
        self._size += look.size

    def _some(self, places: Iterable[int]) -> Iterator[tuple[Sequence[int], tuple[Texts, Texts]]]:
        """Yield places of samples, as many as are looked at together, with their retrieved and gold texts."""
        rest = iter(places)
        while at := list(islice(rest, _AT_ONCE)):
            retrieved, gold = zip(*(self._texts[place] for place in at), strict=True)
            yield at, (retrieved, gold)

    def _look_at_evidence(self, retrieved: Sequence[str], gold: Sequence[str], found: int) -> None:
        sizes = sum(map(len, gold)), len(retrieved), sum(map(len, retrieved))
        self._keep(_Look(len(gold), found, 0, 0, 0, found, *sizes), retrieved, gold)

    def _look(self, retrieved: Sequence[str], gold: Sequence[str], found: AbstractSet[int]) -> None:
        within = around = 0
        refused = [text.casefold() for at, text in enumerate(gold) if at not in found]
        if refused:
            texts = list(map(str.casefold, retrieved))
            whole = "\0".join(texts)
            within = sum(bool(text) and text in whole for text in refused)
            cut = [text for text in texts if len(text) >= _LEAST]
            around = sum(any(text in wanted for text in cut) for wanted in refused)
        sizes = sum(map(len, gold)), len(retrieved), sum(map(len, retrieved))
        self._keep(_Look(len(gold), len(found), within, around, 0, 0, *sizes), retrieved, gold)

    def _look_inside(
        self, retrieved: Sequence[str], gold: Sequence[str], hits: Sequence[tuple[int, int, float]]
    ) -> None:
        from rankgauge.matchers.words import stands_whole, word_around

        found = whole = 0
        example = None
        rows: dict[int, list[int]] = {}
        for row, column, _ in hits:
            rows.setdefault(column, []).append(row)
        for column, text in enumerate(gold):
            if len(text) > _SHORT or column not in rows:
                continue
            found += 1
            nearest = retrieved[rows[column][0]]
            if self._keeps_words and text.isascii() and nearest.isascii() and stands_whole(text, nearest):
                whole += 1  # as it is, and so once both are folded
                continue
            wanted = self._normalize(text)
            there = (self._normalize(retrieved[row]) for row in rows[column])
            first = next(there)
            if stands_whole(wanted, first) or any(stands_whole(wanted, other) for other in there):
                whole += 1
            else:
                example = example or self._short.example or (text, word_around(first, first.find(wanted), len(wanted)))
        short = self._short
        self._short = short._replace(
            found=short.found + found,
            whole=short.whole + whole,
            inside=short.inside + int(example is not None),
            example=short.example or example,
        )
