"""
Other facts: whether two texts that share runs of words say the same beside and between these.

If both texts have words of their own between two runs, or beside the first or the last one within its sentence, they
say another thing if a number, a negation or a name differs, or if too many words were replaced. Nothing contradicts
where one of them has no words: at its end, across a line break, the end of a sentence, a colon or an ellipsis, or in a
word that is cut there. A word is a name where it has a digit, an underscore or an inner capital, or a capital where no
sentence begins; in scripts without spaces two characters may be one.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankgauge.matchers.word_runs import (
    BREAK,
    CAPITAL,
    NEW_PIECE,
    STRONG,
    UNSPACED_WORD,
    Run,
    WordStream,
    read_words,
)

__all__ = ["NUMBER_WORDS", "Facts", "Piece", "hashed_facts"]

_NEARBY = 5
"""How many words beside a run are compared."""
_REPLACED = 0.1
"""Which share of the words from the first run to the last one may be replaced."""
_BLANK = 0x20
_HAS_DIGITS = re.compile(b"[0-9]").search

_NEGATIONS = """
not no none never neither nor without cannot nobody nothing nicht nichts kein keine keinen keinem keiner nie niemals
ohne weder ne pas jamais aucun aucune sans nunca sin ningun ninguna tampoco ni non mai senza nessun nessuna nao sem
nenhum niet geen nooit zonder не нет без ни никогда 不 没 沒 無 无 未 非 否 勿
"""
_NUMBERS = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion trillion dozen half
twice first second third fourth fifth sixth seventh eighth ninth tenth
zwei drei vier funf sechs sieben acht neun zehn elf zwolf zwanzig hundert tausend million millionen milliarde milliarden
deux trois quatre cinq sept huit neuf dix onze douze vingt cent mille
dos tres cuatro cinco seis siete ocho nueve diez once doce veinte cien ciento mil
零 一 二 三 四 五 六 七 八 九 十 百 千 万 萬 亿 億 两 兩
"""
NUMBER_WORDS = frozenset(_NUMBERS.split())
"""Words that are numbers, in some languages."""


class Piece(NamedTuple):
    """A part of a gold word, of which a text has no more because one of the two ends there."""

    gold: int  # the word
    size: int  # how many characters
    begins: bool  # whether these are its first ones, or its last


@functools.cache
def hashed_facts() -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return hashes of the words that are negations, and of those that are numbers."""
    negations, numbers = (np.unique(read_words([words]).words) for words in (_NEGATIONS, _NUMBERS))
    return negations, numbers


@functools.cache
def _sets() -> tuple[frozenset[int], frozenset[int]]:
    negations, numbers = (frozenset(words.tolist()) for words in hashed_facts())
    return negations, numbers


Bounds = tuple[int, int]
"""Where a text begins and ends in the stream."""


class Facts:
    """What the texts of one stream say beside their runs."""

    def __init__(self, stream: WordStream) -> None:
        self._data = stream.data
        # Single numbers are read faster from these than from arrays.
        self._words, self._flags = stream.words.data, stream.flags.data
        self._starts, self._stops = stream.starts.data, stream.stops.data
        self._negations, self._numbers = _sets()

    def agreed(self, runs: Sequence[Run], gold: Bounds, other: Bounds) -> tuple[list[Run], list[Piece]]:
        """Return the runs of two texts that nothing contradicts; those between two ellipses are judged together."""
        kept: list[Run] = []
        pieces: list[Piece] = []
        for segment in self._segments(runs):
            found: list[Piece] = []
            if self._agrees(segment, gold, other, found):
                kept += segment
                pieces += found
        return kept, pieces

    def _segments(self, runs: Sequence[Run]) -> Iterator[Sequence[Run]]:
        begin = 0
        for at, ((i, j, size), (gold, other, _)) in enumerate(pairwise(runs), 1):
            gaps = (self._flags[i + size : gold + 1], self._flags[j + size : other + 1])
            if any(each & NEW_PIECE for gap in gaps for each in gap):
                yield runs[begin:at]
                begin = at
        yield runs[begin:]

    def _agrees(self, runs: Sequence[Run], gold: Bounds, other: Bounds, pieces: list[Piece]) -> bool:
        """Return whether nothing contradicts some runs; add the pieces of words at their ends."""
        first, last = runs[0], runs[-1]
        ends = last[0] + last[2], last[1] + last[2]
        gaps = [
            following[0] - i - size
            for (i, j, size), following in pairwise(runs)
            if following[0] > i + size and following[1] > j + size
        ]
        if sum(gaps) > _REPLACED * (ends[0] - first[0] + sum(gaps)):
            return False  # as the last line would find
        replaced = 0
        for (i, j, size), following in pairwise(runs):
            count = self._between(range(i + size, following[0]), range(j + size, following[1]))
            if count is None:
                return False
            replaced += count
        for at, step in (((first[0] - 1, first[1] - 1), -1), (ends, 1)):
            count = self._beside(at, gold, other, step, pieces)
            if count is None:
                return False
            replaced += count
        return replaced <= _REPLACED * (ends[0] - first[0] + replaced)

    def _between(self, gold: Sequence[int], other: Sequence[int]) -> int | None:
        """Return how many gold words were replaced between two runs, None if that changes what is said."""
        if gold and other:
            return None if self.contradict(gold, other) else len(gold)
        own = gold or other
        return None if own and self.negates(self._within_sentence(own)) else 0

    def _within_sentence(self, between: Sequence[int]) -> Iterator[int]:
        """Yield the words of a gap that are in one sentence with the run before it, or with the one behind it."""
        for at in between:
            if self._flags[at] & BREAK:
                break
            yield at
        behind = between[-1] + 1
        while behind > between[0] and not self._flags[behind] & BREAK:
            behind -= 1
            yield behind

    def _beside(self, at: Bounds, gold: Bounds, other: Bounds, step: int, pieces: list[Piece]) -> int | None:
        """Return how many words beside a run differ, away from it by *step*; None if that changes what is said."""
        i, j = at
        if step < 0 and (self._flags[i + 1] | self._flags[j + 1]) & BREAK:
            return 0
        own, theirs = self._stretch(i, gold, step), self._stretch(j, other, step)
        if not own or not theirs:
            return 0
        if self._words[own[0]] != self._words[theirs[0]]:
            cut = self._cut(own[0], theirs[0], gold, other, step)
            if cut is not None:
                pieces += cut
                return 0
        if self.negates(own) != self.negates(theirs):
            return None
        count = min(len(own), len(theirs))
        own, theirs = own[:count], theirs[:count]
        if self.contradict(own, theirs):
            return None
        return sum(self._words[first] != self._words[second] for first, second in zip(own, theirs, strict=True))

    def _stretch(self, at: int, text: Bounds, step: int) -> list[int]:
        """Return the words from a place on, away from a run, within its sentence."""
        words: list[int] = []
        while text[0] <= at < text[1] and len(words) < _NEARBY:
            breaks = self._flags[at] & BREAK
            if step > 0 and breaks:
                break
            words.append(at)
            if breaks:
                break
            at += step
        return words

    def _cut(self, own: int, theirs: int, gold: Bounds, other: Bounds, step: int) -> list[Piece] | None:
        """Return the piece of a gold word that both texts have, if one of them ends within it; None if none does."""
        data = self._data
        first, second = (data[self._starts[word] : self._stops[word]] for word in (own, theirs))
        short, long, at, text = (
            (second, first, theirs, other) if len(second) < len(first) else (first, second, own, gold)
        )
        beyond = self._starts[at] - 1 if step < 0 else self._stops[at]
        if data[beyond] > _BLANK:  # 12, may be cut from 12,500
            sign = data[beyond : beyond + 1]
            short = sign + short if step < 0 else short + sign
        if not (long.startswith(short) if step > 0 else long.endswith(short)) or not self._ends(at, text, step):
            return None
        if _HAS_DIGITS(long):
            return []  # 3 is no other number than 30, and no part of it
        part = min(short, first, key=len)  # the sign is none of the gold word's, if that is the one that is cut
        return [Piece(own, len(part.decode("utf-8", "surrogatepass")), step > 0)]

    def _ends(self, at: int, text: Bounds, step: int) -> bool:
        """Return whether a text, or a line of it, ends with a word."""
        if step < 0:
            return at == text[0] or bool(self._flags[at] & BREAK)
        return at == text[1] - 1 or bool(self._flags[at + 1] & BREAK)

    def negates(self, words: Iterable[int]) -> bool:
        """Return whether some words, by their places in the stream, have a negation among them."""
        return not self._negations.isdisjoint([self._words[at] for at in words])

    def contradict(self, own: Sequence[int], theirs: Sequence[int]) -> bool:
        """Return whether a number, a negation or a name is in one of two stretches only."""
        mine, others = [self._words[at] for at in own], [self._words[at] for at in theirs]
        if mine == others:
            return False
        if self._negations.isdisjoint(mine) != self._negations.isdisjoint(others):
            return True
        return self._have_facts(own, mine, others) or self._have_facts(theirs, others, mine)

    def _have_facts(self, places: Sequence[int], words: Sequence[int], others: Sequence[int]) -> bool:
        """Return whether a fact, or two characters that are words, are among words but not among others."""
        single = 0
        for at, word in zip(places, words, strict=True):
            if word not in others:  # both are few
                if self.is_fact(at):
                    return True
                single += self._flags[at] & UNSPACED_WORD > 0
        return single > 1

    def is_number(self, at: int) -> bool:
        """Return whether a word, by its place in the stream, is a number, in digits or as a word."""
        first = self._data[self._starts[at]]
        return 0x30 <= first <= 0x39 or self._words[at] in self._numbers

    def is_fact(self, at: int) -> bool:
        """Return whether a word, by its place in the stream, is a number or a name."""
        flags = self._flags[at]
        return bool(flags & STRONG) or flags & (CAPITAL | BREAK) == CAPITAL or self._words[at] in self._numbers
