"""
Common runs: which runs of words retrieved texts have in common with gold texts of their sample, and say the same.

The compiled kernel finds them, where there is one. Otherwise they are looked up for many samples at once
(`shared_runs`). Most pairs share one run, and nothing beside it can contradict; the others are looked at one by one:
which runs follow each other (`aligned`), and whether the texts say the same between and beside them (`Facts`). Texts go
in, and places of gold texts come out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankgauge.kernel import installed_kernel
from rankgauge.matchers.alignment import aligned_pairs
from rankgauge.matchers.other_facts import hashed_facts
from rankgauge.matchers.prepared_texts import prepared
from rankgauge.matchers.word_runs import (
    BREAK,
    SAYS,
    UNSPACED_WORD,
    Integers,
    Layout,
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
_AT_ONCE = 1 << 13
"""How many pairs are aligned at a time: dense blocks have very many."""


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
    """
    The parts of gold texts that retrieved ones have in common with them, of all samples' pairs.

    They are in order of the samples, then of the retrieved texts, then of the gold texts, then of where they begin.
    """

    row: Integers  # the retrieved text, among those of its sample
    column: Integers  # the gold text, likewise
    start: Integers  # where the part begins among the characters of the gold text's words
    end: Integers
    units: Integers  # how long it is if it is a run of words: two for a word, one for a character that is one
    word: Integers  # its first word in the gold text
    n_words: Integers  # how many it has; 0 where two texts without a word are equal
    piece: Integers  # whether it is a piece of a word: 1 of its first characters, 2 of its last ones
    counts: Integers  # how many parts each sample has
    sizes: Integers  # how many characters the words of each gold text have

    def samples(self) -> Integers:
        """Return whose each part is."""
        return np.repeat(np.arange(len(self.counts)), self.counts)


def common_runs(retrieved: Texts, gold: Texts, n: int, cutoff: float) -> CommonRuns:
    """Return what all pairs have in common; of gold texts that cannot reach the cutoff, maybe nothing."""
    texts = list(chain.from_iterable(chain.from_iterable(zip(gold, retrieved, strict=True))))
    golds, others = (np.fromiter(map(len, each), np.int64, len(each)) for each in (gold, retrieved))
    kernel = installed_kernel()
    if kernel is None:
        found = _by_columns(texts, Layout.of(retrieved, gold), n, cutoff)
    else:
        counts, sizes = np.empty(len(gold), np.int64), np.empty(int(golds.sum()), np.int64)
        parts = tuple(prepared(kernel, texts))
        raw = kernel.cover_texts(parts, golds, others, n, cutoff, SAYS, *hashed_facts(), counts, sizes)
        found = CommonRuns._make([*np.frombuffer(raw, np.int64).reshape(-1, _PART).T, counts, sizes])
    return found if found.sizes.all() else _with_equal(found, retrieved, gold)


_PART = 8
"""How many columns the parts of the kernel have."""


def _with_equal(found: CommonRuns, retrieved: Texts, gold: Texts) -> CommonRuns:
    """Return what was found, and the pairs of texts without a word that are equal."""
    golds = np.fromiter(map(len, gold), np.int64, len(gold))
    wordless = np.flatnonzero(found.sizes == 0)
    sample = np.searchsorted(np.cumsum(golds), wordless, side="right")
    places = wordless - (np.cumsum(golds) - golds)[sample]
    columns: defaultdict[int, defaultdict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for own, column in zip(sample.tolist(), places.tolist(), strict=True):
        columns[own][gold[own][column]].append(column)
    equal = [
        (own, row, column)
        for own, named in columns.items()
        for row, text in enumerate(retrieved[own])
        if text
        for column in named.get(text, ())
    ]
    if not equal:
        return found
    more = np.zeros((len(equal), _PART + 1), np.int64)
    more[:, :3] = equal
    more[:, 4] = 1  # the only unit of its text
    every = np.concatenate([np.stack([found.samples(), *found[:_PART]], axis=1), more])
    every = every[np.lexsort((every[:, 2], every[:, 1], every[:, 0]), axis=0)]
    return CommonRuns._make([*every.T[1:], np.bincount(every[:, 0], minlength=len(gold)), found.sizes])


def _by_columns(texts: Sequence[str], whole: Layout, n: int, cutoff: float) -> CommonRuns:
    """Return what all pairs have in common, but for equal texts without a word."""
    stream, layout = read_sharing(texts, whole, n)
    pairs = _Pairs(layout)
    units = _units(stream)
    is_short = layout.is_gold & (units < 4 * n)
    collected = _Collected(stream, pairs)
    if is_short.any():
        collected.add_whole(layout, is_short & (units > 0))
    if (layout.is_gold & ~is_short).any():
        collected.add_runs(layout, is_short, n, cutoff)
    return collected.found(layout)


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
        self._runs = [np.empty((0, 3), np.int64)]  # pair, place in the gold text, length
        self._pieces = [np.empty((0, 4), np.int64)]  # pair, gold word, size, whether its first characters

    def found(self, layout: Layout) -> CommonRuns:
        """Return everything, in order."""
        stream = self._stream
        runs, pieces = np.concatenate(self._runs), np.concatenate(self._pieces)
        pair, word, count = np.concatenate([runs, pieces[:, :3]]).T
        n_runs, size, begins = len(runs), pieces[:, 2], pieces[:, 3]
        count[n_runs:] = 1
        lengths = np.concatenate([[0], np.cumsum(2 - ((stream.flags & UNSPACED_WORD) > 0))])
        units = lengths[word + count] - lengths[word]
        units[n_runs:] = 0
        first = stream.first[self._pairs.gold(pair)]
        start, end = stream.ends[word], stream.ends[word + count]
        start[n_runs:] = np.where(begins, start[n_runs:], end[n_runs:] - size)
        end[n_runs:] = start[n_runs:] + size
        start -= stream.ends[first]
        end -= stream.ends[first]
        piece = np.zeros(len(pair), np.int64)
        piece[n_runs:] = np.where(begins, 1, 2)
        order = np.lexsort((start, pair))
        pair = pair[order]
        ends = np.cumsum(layout.golds * layout.others)
        stops = np.searchsorted(pair, ends)
        counts = np.diff(stops, prepend=0)
        golds = np.repeat(layout.golds, counts)
        row, column = np.divmod(pair - np.repeat(ends - layout.golds * layout.others, counts), golds)
        columns = (column[order] for column in (start, end, units, word - first, count, piece))
        return CommonRuns._make([row, column, *columns, counts, stream.sizes()[layout.is_gold]])

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
            self._runs.append(np.stack([pair, gold[whole][first], np.full(len(pair), length)], axis=1))

    def add_runs(self, layout: Layout, is_short: NDArray[np.bool_], n: int, cutoff: float) -> None:
        """Add the runs of all other pairs."""
        stream = self._stream
        reach = reaches(stream, n)
        shared = shared_runs(stream, layout, reach, ~is_short[stream.text])
        edges = _Edges.of(stream, layout, (layout.is_gold & ~is_short)[stream.text], n)
        edges, found = self._able_runs(layout, shared, edges, reach, cutoff)
        hashed = shared.runs
        del shared  # the places of a dense block take a tenth of all memory
        if len(edges.pair):
            self._align(hashed, reach, edges.runs(), edges.needed)
        is_clean = found.in_order & (found.end - found.begin == 1)
        is_clean[is_clean] = self._nothing_beside(found.pair[is_clean], *found.runs[found.begin[is_clean]].T)
        alone = found.runs[found.begin[is_clean]]
        self._runs.append(np.stack([found.pair[is_clean], alone[:, 0], alone[:, 2]], axis=1))
        rest = ~is_clean
        if rest.any():
            others = found.where(rest)
            self._align(hashed, reach, others, np.zeros(len(others.pair), np.int64))

    def _able_runs(
        self, layout: Layout, shared: Shared, edges: _Edges, reach: Integers, cutoff: float
    ) -> tuple[_Edges, _PairRuns]:
        """Return the runs that gold texts have that can reach the cutoff, and those of other pairs that lack a word."""
        pair, gold, other = _points(self._stream, layout, shared)
        edges = edges.where(~np.isin(edges.pair, pair))
        if cutoff > 0:
            able = _able(self._stream, self._pairs, shared, edges, pair, reach, cutoff)
            first = np.flatnonzero(np.diff(pair, prepend=-1))  # of each pair, of which there are fewer
            kept = np.repeat(able[self._pairs.gold(pair[first])], np.diff(first, append=len(pair)))
            if not kept.all():
                pair, gold, other = pair[kept], gold[kept], other[kept]
            edges = edges.where(able[self._pairs.gold(edges.pair)])
        return edges, _PairRuns.of(pair, gold, other, reach)

    def _nothing_beside(self, pair: Integers, i: Integers, j: Integers, length: Integers) -> NDArray[np.bool_]:
        """Return whether one of two texts ends at both ends of a run, or a line, a sentence or a cell does."""
        stream, pairs = self._stream, self._pairs
        breaks = np.append((stream.flags & BREAK) > 0, True)
        golds, others = pairs.gold(pair), pairs.other(pair)
        before = (i == stream.first[golds]) | (j == stream.first[others]) | breaks[i] | breaks[j]
        end, stop = i + length, j + length
        after = (end == stream.first[golds + 1]) | (stop == stream.first[others + 1]) | breaks[end] | breaks[stop]
        is_bare: NDArray[np.bool_] = before & after
        return is_bare

    def _align(self, hashed: NDArray[np.uint64], reach: Integers, own: _PairRuns, needed: Integers) -> None:
        """Add what pairs, in order, have that are looked at one by one, and how many pieces each of them needs."""
        first, done, pair = self._stream.first, 0, own.pair
        while done < len(pair):
            stop = int(np.searchsorted(pair, pair[min(done + _AT_ONCE, len(pair)) - 1], side="right"))
            here = pair[done:stop]
            gold, other = self._pairs.gold(here), self._pairs.other(here)
            pairs = np.empty((len(here), 9), np.int64)
            bounds = (here, first[gold], first[gold + 1], first[other], first[other + 1])
            rest = (column[done:stop] for column in (own.begin, own.end, own.in_order, needed))
            for at, column in enumerate((*bounds, *rest)):
                pairs[:, at] = column
            kept, pieces = aligned_pairs(self._stream, hashed, reach, pairs, own.runs)
            self._runs.append(kept)
            self._pieces.append(pieces)
            done = stop


class _PairRuns(NamedTuple):
    """Which runs each pair has, as far as its points go on in both texts."""

    runs: Integers  # where each begins in the gold text and in the other one, and its words; shape (runs, 3)
    pair: Integers
    begin: Integers  # the first run of each pair
    end: Integers
    in_order: NDArray[np.bool_]  # whether all places are known, and runs follow each other and overlap in neither text

    @classmethod
    def of(cls, pair: Integers, gold: Integers, other: Integers, reach: Integers) -> _PairRuns:
        """Return the runs of points, which are in order."""
        begun = np.ones(len(pair), np.bool_)
        begun[1:] = (pair[1:] != pair[:-1]) | (np.diff(gold) != 1) | (np.diff(other) != 1)
        begins = np.flatnonzero(begun)
        last = gold[np.append(begins[1:], len(pair))[: len(begins)] - 1]
        pair, i, j = pair[begins], gold[begins], other[begins]
        length = last + reach[last] - i
        first = np.ones(len(pair), np.bool_)
        first[1:] = pair[1:] != pair[:-1]
        follows = i >= 0
        follows[1:] &= ((i[1:] >= (i + length)[:-1]) & (j[1:] >= (j + length)[:-1])) | first[1:]
        begin = np.flatnonzero(first)
        in_order = np.logical_and.reduceat(follows, begin) if len(begin) else follows
        return cls(
            np.stack([i, j, length], axis=1),
            pair[begin],
            begin,
            np.append(begin[1:], len(pair))[: len(begin)],
            in_order,
        )

    def where(self, kept: NDArray[np.bool_]) -> _PairRuns:
        """Return some of the pairs, with all runs."""
        return _PairRuns(self.runs, self.pair[kept], self.begin[kept], self.end[kept], self.in_order[kept])


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

    def runs(self) -> _PairRuns:
        """Return each as the only run of its pair."""
        at = np.arange(len(self.pair))
        runs = np.stack([self.gold, self.other, self.length], axis=1)
        return _PairRuns(runs, self.pair, at, at + 1, np.ones(len(at), np.bool_))

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
    here = np.concatenate([_distinct(pair), _distinct(beside.pair)])  # of each, the first and the last word may be cut
    other = pairs.other(here)
    begin, end = stream.first[other], stream.first[other + 1]
    most += np.bincount(pairs.gold(here), ends[begin + 1] - ends[begin] + ends[end] - ends[end - 1], count)
    able: NDArray[np.bool_] = most >= cutoff * stream.sizes()
    return able


def _distinct(pair: Integers) -> Integers:
    """Return each of some pairs once, which are in order."""
    distinct: Integers = pair[np.diff(pair, prepend=-1) != 0]
    return distinct


def _points(stream: WordStream, layout: Layout, shared: Shared) -> tuple[Integers, Integers, Integers]:
    """Return the pair, the place in the gold text, -1 if it has several, and that in the retrieved text."""
    gold, other, place = shared.gold, shared.other, layout.place[stream.text[shared.gold]]
    if len(shared.repeated):
        is_repeated = np.zeros(len(stream.words), np.bool_)
        is_repeated[shared.repeated] = True
        once = ~is_repeated[other]
        text, at, counts = _again(stream, shared)
        place = np.concatenate([place[once], layout.place[text]])
        gold = np.concatenate([gold[once], at])
        other = np.concatenate([other[once], np.repeat(shared.repeated, counts)])
        del text, at, counts  # of a dense block these are large
    pair = place
    pair += layout.base[stream.text[other]]
    both = pair * len(stream.words)
    both += other
    order = np.argsort(both)
    del both
    pair = pair[order]
    gold = gold[order]
    other = other[order]
    return pair, gold, other


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
