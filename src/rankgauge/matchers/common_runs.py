"""
Common runs: which runs of words retrieved texts have in common with gold texts of their sample, and say the same.

They are looked up for many samples at once (`shared_runs`). Most pairs share one run, and nothing beside it can
contradict; the others are looked at one by one: which runs follow each other (`aligned`), and whether the texts say the
same between and beside them (`Facts`). Texts go in, and places of gold texts come out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankgauge.matchers.alignment import aligned, aligned_in_order
from rankgauge.matchers.other_facts import Bounds, Facts, Piece
from rankgauge.matchers.word_runs import (
    BREAK,
    UNSPACED_WORD,
    Integers,
    Layout,
    Run,
    Shared,
    WordStream,
    hashed_at,
    reaches,
    read_sharing,
    shared_runs,
)

__all__ = ["CommonRuns", "Texts", "common_runs"]

Texts = Sequence[Sequence[str]]
"""The texts of each of some samples."""
_SALT = np.uint64(0xD1B54A32D192ED03)


class _Pairs:
    """All pairs of texts, by their numbers: for each retrieved text of a sample, one with each gold text."""

    def __init__(self, layout: Layout) -> None:
        counts = layout.golds * layout.others
        self.count = int(counts.sum())
        self._golds = layout.golds
        self._ends = np.cumsum(counts)
        self._starts = self._ends - counts
        self._gold = np.flatnonzero(layout.is_gold)
        self._first_gold = np.cumsum(layout.golds) - layout.golds
        self._other = np.flatnonzero(~layout.is_gold)
        self._base = layout.base[self._other]

    def gold(self, pair: Integers) -> Integers:
        """Return the gold text of each pair."""
        sample = np.searchsorted(self._ends, pair, side="right")
        text: Integers = self._gold[self._first_gold[sample] + (pair - self._starts[sample]) % self._golds[sample]]
        return text

    def other(self, pair: Integers) -> Integers:
        """Return the retrieved text of each pair; only of those that are in the layout."""
        return self._other[np.searchsorted(self._base, pair, side="right") - 1]


class CommonRuns(NamedTuple):
    """What all pairs have in common: runs of words, and pieces of words beside them."""

    stream: WordStream
    layout: Layout
    pairs: _Pairs
    pair: Integers  # of each run
    run: Integers  # where it begins in the gold text and how many words it has; shape (runs, 2)
    piece_pair: Integers
    piece: Integers  # the gold word, how many characters, and whether its first ones; shape (pieces, 3)
    equal: Integers  # pairs of equal texts without a word

    def letters(self) -> tuple[Integers, Integers, Integers]:
        """Return what is covered as characters of the words of the gold text: pair, start and end."""
        ends, stream = self.stream.ends, self.stream
        word, size, begins = self.piece.T
        edge = np.where(begins, ends[word], ends[word + 1] - size)
        pair = np.concatenate([self.pair, self.piece_pair, self.equal])
        base = ends[stream.first[self.pairs.gold(pair)]]
        start = np.concatenate([ends[self.run[:, 0]], edge, base[len(base) - len(self.equal) :]])
        end = np.concatenate([ends[self.run.sum(axis=1)], edge + size, start[len(start) - len(self.equal) :] + 1])
        return pair, start - base, end - base

    def shares(self) -> tuple[NDArray[np.float64], Integers]:
        """Return the share of the gold text's letters of each pair, and how long its runs are, in units of `_units`."""
        pair, start, end = self.letters()
        count = self.pairs.count
        size = np.maximum(self.stream.sizes(), 1)[self.pairs.gold(np.arange(count))]
        letters = np.bincount(pair, end - start, count)
        lengths = np.concatenate([[0], np.cumsum(2 - ((self.stream.flags & UNSPACED_WORD) > 0))])
        first, length = self.run.T
        units = np.bincount(self.pair, lengths[first + length] - lengths[first], count)
        return letters / size, units.astype(np.int64)

    def words(self) -> Iterator[tuple[int, int, int, tuple[int, bool] | None]]:
        """Yield what is covered: pair, the first word in the gold text, how many, and how much of a piece of one."""
        runs, pieces = (
            (pair, own[:, 0] - self.stream.first[self.pairs.gold(pair)], *own.T[1:])
            for pair, own in ((self.pair, self.run), (self.piece_pair, self.piece))
        )
        for pair, at, size in zip(*(column.tolist() for column in runs), strict=True):
            yield pair, at, size, None
        for pair, at, size, begins in zip(*(column.tolist() for column in pieces), strict=True):
            yield pair, at, 1, (size, bool(begins))


def common_runs(retrieved: Texts, gold: Texts, n: int, cutoff: float) -> CommonRuns:
    """Return what all pairs have in common; of gold texts that cannot reach the cutoff, maybe nothing."""
    texts = list(chain.from_iterable(chain.from_iterable(zip(gold, retrieved, strict=True))))
    stream, layout = read_sharing(texts, Layout.of(retrieved, gold), n)
    pairs = _Pairs(layout)
    units = _units(stream)
    is_short = layout.is_gold & (units < 4 * n)
    collected = _Collected(stream, pairs)
    if is_short.any():
        collected.add_whole(layout, is_short & (units > 0))
    if (layout.is_gold & ~is_short).any():
        collected.add_runs(layout, is_short, n, cutoff)
    return collected.found(layout, _equal(layout, np.flatnonzero(units == 0), retrieved, gold))


def _equal(layout: Layout, wordless: Integers, retrieved: Texts, gold: Texts) -> Integers:
    """Return the pairs of texts without a word that are equal."""
    pairs: list[int] = []
    golds: defaultdict[tuple[int, str], list[int]] = defaultdict(list)
    columns = (column[wordless].tolist() for column in (layout.sample, layout.is_gold, layout.place, layout.base))
    for sample, is_gold, place, base in zip(*columns, strict=True):
        if is_gold:
            golds[sample, gold[sample][place]].append(place)
        elif text := retrieved[sample][place - len(gold[sample])]:
            pairs += [base + column for column in golds.get((sample, text), ())]
    return np.array(pairs, dtype=np.int64)


def _units(stream: WordStream) -> Integers:
    """Return how long each text is: two for a word, one for a character of a script without spaces."""
    single = (stream.flags & UNSPACED_WORD) > 0
    units = 2 * stream.counts()
    if single.any():
        units -= np.diff(np.concatenate([[0], np.cumsum(single)])[stream.first])
    return units


class _Collected:
    """Runs and pieces of pairs, as they are found."""

    def __init__(self, stream: WordStream, pairs: _Pairs) -> None:
        self._stream, self._pairs = stream, pairs
        self._runs: list[tuple[Integers, Integers, Integers]] = []  # pair, place in the gold text, length
        self._doubtful: list[tuple[int, int, int]] = []  # the same, of pairs that were looked at one by one
        self._pieces: list[tuple[int, int, int, bool]] = []  # pair, gold word, size, whether its first characters

    def found(self, layout: Layout, equal: Integers) -> CommonRuns:
        """Return everything."""
        one_by_one = np.array(self._doubtful, dtype=np.int64).reshape(-1, 3)
        pair, at, length = map(np.concatenate, zip(one_by_one.T, *self._runs, strict=True))
        pieces = np.array(self._pieces, dtype=np.int64).reshape(-1, 4)
        run = np.stack([at, length], axis=1)
        return CommonRuns(self._stream, layout, self._pairs, pair, run, pieces[:, 0], pieces[:, 1:], equal)

    def add_whole(self, layout: Layout, wanted: NDArray[np.bool_]) -> None:
        """Add the pairs whose gold text is in the retrieved one as it is."""
        stream = self._stream
        counts = stream.counts()
        for length in np.unique(counts[wanted]).tolist():
            golds = np.flatnonzero(wanted & (counts == length))
            shared = shared_runs(stream, layout, np.full(len(stream.words), length), np.isin(stream.text, golds))
            pair, gold, _ = _points(stream, layout, shared)
            whole = gold == stream.first[stream.text[gold]]  # a text without a repetition has just one place
            pair, first = np.unique(pair[whole], return_index=True)
            self._runs.append((pair, gold[whole][first], np.full(len(pair), length)))

    def add_runs(self, layout: Layout, is_short: NDArray[np.bool_], n: int, cutoff: float) -> None:
        """Add the runs of all other pairs."""
        stream, pairs = self._stream, self._pairs
        reach = reaches(stream, n)
        shared = shared_runs(stream, layout, reach, ~is_short[stream.text])
        pair, gold, other = _points(stream, layout, shared)
        edges = _Edges.of(stream, layout, (layout.is_gold & ~is_short)[stream.text], n)
        edges = edges.where(~np.isin(edges.pair, pair))
        if cutoff > 0:
            able = _able(stream, pairs, shared, edges, pair, reach, cutoff)
            kept = able[pairs.gold(pair)]
            pair, gold, other = pair[kept], gold[kept], other[kept]
            edges = edges.where(able[pairs.gold(edges.pair)])
        if len(edges.pair):
            self._add_edges(edges)
        if not len(pair):
            return
        first = np.ones(len(pair), np.bool_)
        np.not_equal(pair[1:], pair[:-1], out=first[1:])
        begun = first.copy()
        begun[1:] |= (np.diff(gold) != 1) | (np.diff(other) != 1)
        begins = np.flatnonzero(begun)
        ends = np.append(begins[1:], len(pair)) - 1
        i, j = gold[begins], other[begins]
        length = gold[ends] + reach[gold[ends]] - i
        first = first[begins]
        follows = i >= 0
        follows[1:] &= ((i[1:] >= (i + length)[:-1]) & (j[1:] >= (j + length)[:-1])) | first[1:]
        firsts = np.flatnonzero(first)
        in_order = np.logical_and.reduceat(follows, firsts)
        here = pair[begins[firsts]]
        is_clean = in_order & (np.diff(firsts, append=len(i)) == 1)
        some = firsts[is_clean]
        is_clean[is_clean] = self._nothing_beside(i[some], j[some], length[some], here[is_clean])
        some = firsts[is_clean]
        self._runs.append((here[is_clean], i[some], length[some]))
        doubtful = np.flatnonzero(~is_clean)
        lasts = np.append(firsts[1:], len(i))
        runs = list(zip(i.tolist(), j.tolist(), length.tolist(), strict=True))
        facts = Facts(stream)
        for at, own, theirs, begin, end, ordered in zip(
            here[doubtful].tolist(),
            *self._bounds(here[doubtful]),
            firsts[doubtful].tolist(),
            lasts[doubtful].tolist(),
            in_order[doubtful].tolist(),
            strict=True,
        ):
            if ordered:
                self._take(at, *aligned_in_order(facts, runs[begin:end], own, theirs))
            else:
                self._take(at, *aligned(stream, facts, shared.runs, reach, own, theirs))

    def _nothing_beside(self, i: Integers, j: Integers, length: Integers, pair: Integers) -> NDArray[np.bool_]:
        """Return whether one of two texts ends at both ends of a run, or a line, a sentence or a cell does."""
        stream, pairs = self._stream, self._pairs
        breaks = np.append((stream.flags & BREAK) > 0, True)
        golds, others = pairs.gold(pair), pairs.other(pair)
        before = (i == stream.first[golds]) | (j == stream.first[others]) | breaks[i] | breaks[j]
        end, stop = i + length, j + length
        after = (end == stream.first[golds + 1]) | (stop == stream.first[others + 1]) | breaks[end] | breaks[stop]
        is_bare: NDArray[np.bool_] = before & after
        return is_bare

    def _add_edges(self, edges: _Edges) -> None:
        """Add runs that have their full number of words only with those that their text cuts."""
        facts = Facts(self._stream)
        done: set[int] = set()
        columns = (column.tolist() for column in edges)
        for pair, i, j, size, needed, gold, other in zip(*columns, *self._bounds(edges.pair), strict=True):
            if pair in done:
                continue
            runs, pieces = facts.agreed([(i, j, size)], gold, other)
            if runs and len(pieces) >= needed:
                done.add(pair)
                self._take(pair, runs, pieces)

    def _bounds(self, pairs: Integers) -> tuple[list[Bounds], list[Bounds]]:
        """Return where the gold texts of some pairs begin and end, and where the retrieved ones do."""
        first = self._stream.first
        gold, other = (
            list(zip(first[text].tolist(), first[text + 1].tolist(), strict=True))
            for text in (self._pairs.gold(pairs), self._pairs.other(pairs))
        )
        return gold, other

    def _take(self, pair: int, runs: Sequence[Run], pieces: Sequence[Piece]) -> None:
        self._doubtful += [(pair, at, size) for at, _, size in runs]
        self._pieces += [(pair, *piece) for piece in pieces]


class _Edges(NamedTuple):
    """
    Runs that lack a word or two, which the end of a retrieved text may have in part.

    Of gold `how the mouse fell`, `the mou` has `the` and a piece, and `e mouse fe` has `mouse` between two pieces.
    """

    pair: Integers
    gold: Integers
    other: Integers
    length: Integers
    needed: Integers  # how many pieces have to be there

    def where(self, chosen: NDArray[np.bool_] | Integers) -> _Edges:
        """Return some of them."""
        return _Edges(*(column[chosen] for column in self))

    @classmethod
    def of(cls, stream: WordStream, layout: Layout, in_gold: NDArray[np.bool_], n: int) -> _Edges:
        """Return the runs beside which a piece of the next word is, by its first or last letter."""
        none = cls(*[np.empty(0, np.int64)] * len(cls._fields))
        others = np.flatnonzero(~layout.is_gold)
        begin, count = stream.first[others], stream.counts()[others]
        long = count >= n
        if n < 2 or not long.any() or not in_gold.any():
            return none
        begin, count = begin[long], count[long]
        end = begin + count
        found = [
            cls._beside(stream, layout, in_gold, begin + 1, n - 1, before=True, behind=False),
            cls._beside(stream, layout, in_gold, end - n, n - 1, before=False, behind=True),
        ]
        if n > 2 and (count == n).any():
            found.append(cls._beside(stream, layout, in_gold, begin[count == n] + 1, n - 2, before=True, behind=True))
        edges = cls(*map(np.concatenate, zip(*found, strict=True)))
        singles = np.concatenate([[0], np.cumsum((stream.flags & UNSPACED_WORD) > 0)])
        stop = np.minimum(edges.other + n, stream.first[stream.text[edges.other] + 1])  # the next text does not matter
        edges = edges.where(singles[stop] == singles[edges.other])
        return edges.where(np.argsort(edges.pair, kind="stable"))

    @classmethod
    def _beside(
        cls,
        stream: WordStream,
        layout: Layout,
        in_gold: NDArray[np.bool_],
        places: Integers,
        length: int,
        *,
        before: bool,
        behind: bool,
    ) -> _Edges:
        salts = layout.sample.astype(np.uint64) * _SALT
        gold = np.flatnonzero(in_gold[: max(len(in_gold) - length + 1, 0)])
        wanted, keys = ((hashed_at(stream.words, at, length) ^ salts[stream.text[at]]) * _SALT for at in (gold, places))
        bits = np.uint64(64 - 16)
        table = np.zeros(1 << 16, np.bool_)
        table[keys >> bits] = True
        able = table[wanted >> bits]
        gold, wanted = gold[able], wanted[able]
        order = np.argsort(keys, kind="stable")
        places, keys = places[order], keys[order]
        low, high = (np.searchsorted(keys, wanted, side) for side in ("left", "right"))
        counts = high - low
        at = np.arange(int(counts.sum())) + np.repeat(low - (np.cumsum(counts) - counts), counts)
        gold, other = np.repeat(gold, counts), places[at]
        text, codes = stream.text[gold], np.frombuffer(stream.data, np.uint8)
        inside = (gold + length < len(stream.words)) & (gold >= before)
        first, last = gold - before, np.minimum(gold + length - 1 + behind, len(stream.words) - 1)
        inside &= (stream.text[first] == text) & (stream.text[last] == text)
        if before:
            inside &= codes[stream.stops[first] - 1] == codes[stream.stops[other - 1] - 1]
        if behind:
            inside &= codes[stream.starts[last]] == codes[stream.starts[other + length]]
        gold, other, text = gold[inside], other[inside], text[inside]
        pair = layout.base[stream.text[other]] + layout.place[text]
        count = len(pair)
        return cls(pair, gold, other, np.full(count, length), np.full(count, before + behind))


def _able(
    stream: WordStream, pairs: _Pairs, shared: Shared, beside: _Edges, pair: Integers, reach: Integers, cutoff: float
) -> NDArray[np.bool_]:
    """Return which texts, as gold, all retrieved texts of their sample together could cover so far."""
    places = np.concatenate([shared.gold, shared.again, beside.gold])
    lengths = np.concatenate([reach[shared.gold], reach[shared.again], beside.length])
    is_covered = np.zeros(len(stream.words), np.bool_)
    for at in range(int(lengths.max(initial=0))):
        is_covered[(places + at)[lengths > at]] = True
    covered, ends, count = np.flatnonzero(is_covered), stream.ends, len(stream.first) - 1
    most = np.bincount(stream.text[covered], ends[covered + 1] - ends[covered], count)
    here = np.unique(np.concatenate([pair, beside.pair]))  # of each, the first and the last word may be cut
    other = pairs.other(here)
    begin, end = stream.first[other], stream.first[other + 1]
    most += np.bincount(pairs.gold(here), ends[begin + 1] - ends[begin] + ends[end] - ends[end - 1], count)
    able: NDArray[np.bool_] = most >= cutoff * stream.sizes()
    return able


def _points(stream: WordStream, layout: Layout, shared: Shared) -> tuple[Integers, Integers, Integers]:
    """Return the pair, the place in the gold text, -1 if it has several, and that in the retrieved text."""
    once = ~np.isin(shared.other, shared.repeated) if len(shared.repeated) else np.ones(len(shared.other), np.bool_)
    gold, other = shared.gold[once], shared.other[once]
    pair = layout.base[stream.text[other]] + layout.place[stream.text[gold]]
    if len(shared.repeated):
        text, place, counts = _again(stream, shared)
        again = np.repeat(shared.repeated, counts)
        pair = np.concatenate([pair, layout.base[stream.text[again]] + layout.place[text]])
        gold = np.concatenate([gold, place])
        other = np.concatenate([other, again])
        order = np.lexsort((other, pair))
    else:
        order = np.argsort(pair, kind="stable")
    return pair[order], gold[order], other[order]


def _again(stream: WordStream, shared: Shared) -> tuple[Integers, Integers, Integers]:
    """Return the gold texts that have each repeated run, its place in each, -1 for several, and how many texts."""
    places = shared.again[np.argsort(shared.runs[shared.again], kind="stable")]
    run, text = shared.runs[places], stream.text[places]
    first = np.ones(len(places), np.bool_)
    first[1:] = (run[1:] != run[:-1]) | (text[1:] != text[:-1])
    heads = np.flatnonzero(first)
    place = np.where(np.diff(np.append(heads, len(places))) == 1, places[heads], -1)
    low, high = (np.searchsorted(run[heads], shared.runs[shared.repeated], side) for side in ("left", "right"))
    counts = high - low
    at = np.arange(int(counts.sum())) + np.repeat(low - (np.cumsum(counts) - counts), counts)
    return text[heads][at], place[at], counts
