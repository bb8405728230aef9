"""
Cover: how much of one text stands in another, in runs of words that both have in the same order.

Runs of *n* words that a retrieved text shares with a gold text of its sample are looked up for many samples at once
(`shared_runs`). For nearly all pairs they follow each other in both texts, and are added up as columns; for the others
`best_runs` searches the order with the most characters.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankgauge.matchers.other_facts import Pairs, Runs, without_other_facts
from rankgauge.matchers.word_runs import Integers, Layout, Shared, WordStream, best_runs, read_words, shared_runs
from rankgauge.matchers.words import plain_words
from rankgauge.plugin import comparer
from rankgauge.plugin.matching import Decided

__all__ = ["cover", "cover_batch", "covered_parts"]


def cover_batch(
    retrieved: Sequence[Sequence[str]],
    gold: Sequence[Sequence[str]],
    *,
    n: int = 3,
    of_retrieved: float = 0.5,
    cutoff: float = 0.0,
) -> list[Decided]:
    """Return what `cover` does, for each sample's texts."""
    texts = list(chain.from_iterable(chain.from_iterable(zip(gold, retrieved, strict=True))))
    stream, layout = read_words(texts), Layout.of(retrieved, gold)
    pairs = _pairs(stream, layout, n)
    runs = _all_runs(stream, layout, pairs, n, min(cutoff, of_retrieved))
    common = _common(stream, pairs, runs)
    shares = []
    for side in (pairs.gold, pairs.other):
        size, least = stream.sizes()[side], np.minimum(n, stream.counts()[side])
        share = common / np.maximum(size, 1)
        share[pairs.n < least] = 0  # the other text is shorter than a run of this one
        shares.append(share)
    for at in np.flatnonzero(pairs.n == 0).tolist():
        own, other = texts[pairs.gold[at]], texts[pairs.other[at]]
        shares[0][at] = float(bool(own) and own == other)  # signs alone
    accepted = shares[1] >= of_retrieved
    blocks, end = [], 0
    for shape in zip(map(len, retrieved), map(len, gold), strict=True):
        begin, end = end, end + math.prod(shape)
        blocks.append(Decided(shares[0][begin:end].reshape(shape), accepted[begin:end].reshape(shape)))
    return blocks


def _check(*, n: int = 3, **_: float) -> None:
    if n < 1:
        raise ValueError(f"n is the number of words that a run has at least, 1 or more, not {n}")


@comparer("cover", check=_check, batch=cover_batch)
def cover(
    retrieved: Sequence[str], gold: Sequence[str], *, n: int = 3, of_retrieved: float = 0.5, cutoff: float = 0.0
) -> Decided:
    """
    Score how much of a gold text stands in a retrieved one; accept a retrieved text that stands in the gold one, too.

    Formula: the characters of the gold text's words that stand in runs of at least *n* words which both texts have in
    the same order, over the characters of all its words; signs and white space do not count. A text of fewer words has
    to stand in the other one whole. Words are compared without case, compatibility forms, markup, JSON escapes and
    hyphens at line ends; in scripts without spaces each character is a word. Where at least as many numbers
    between and beside such runs differ as agree inside them, the runs next to these do not count: the texts say the
    like of other facts.
    The time is linear in the length of the texts but for a logarithm.

    Args:
        n: How many words a run has at least.

        of_retrieved: From which share of the retrieved text's characters on, counted in the same way, two texts match
            whatever the score is; above 1 for never.
    """
    return cover_batch([retrieved], [gold], n=n, of_retrieved=of_retrieved, cutoff=cutoff)[0]


def covered_parts(
    retrieved: Sequence[Sequence[str]], gold: Sequence[Sequence[str]], *, n: int = 3
) -> list[dict[tuple[int, int], list[tuple[int, int]]]]:
    """
    Return which parts of gold texts retrieved texts cover, for each sample, by the numbers of the two texts.

    Parts are characters of the gold text, end exclusive; a word has the signs and spaces behind it, so that two texts
    which share a gold text between them cover all of it. Only texts count that seem to be cut out of one document: of
    the words that both would have if they lay over each other as their runs do, at least half agree. A few common words
    in the middle of both are chance.
    """
    texts = list(chain.from_iterable(chain.from_iterable(zip(gold, retrieved, strict=True))))
    stream, layout = read_words(texts), Layout.of(retrieved, gold)
    pairs = _pairs(stream, layout, n)
    runs = _all_runs(stream, layout, pairs, n, 0.0)
    usable = pairs.n >= np.minimum(n, stream.counts()[pairs.gold])
    order = np.lexsort((runs.gold, runs.pair))
    runs = Runs(*(column[order] for column in runs))
    usable &= _lie_over(stream, pairs, runs)
    sizes = list(zip(map(len, gold), map(len, retrieved), strict=True))
    parts: list[dict[tuple[int, int], list[tuple[int, int]]]] = [{} for _ in sizes]
    ends = np.cumsum([golds * others for golds, others in sizes])
    words = functools.cache(plain_words)
    cut = [_cut_words(stream, _beside(stream, pairs, runs, after=after), after=after) for after in (False, True)]
    for after, columns in ((None, (runs.pair, runs.gold, runs.length)), (False, cut[0]), (True, cut[1])):
        kept = np.flatnonzero(usable[columns[0]])
        for pair, at, size in zip(*(column[kept].tolist() for column in columns), strict=True):
            sample = int(np.searchsorted(ends, pair, side="right"))
            golds, others = sizes[sample]
            place = divmod(pair - (int(ends[sample]) - golds * others), golds)
            text, begin = gold[sample][place[1]], at - int(stream.first[pairs.gold[pair]])
            known, end = words(text), begin + (size if after is None else 1)
            start, stop = known[begin].start if begin else 0, known[end].start if end < len(known) else len(text)
            if after is not None:  # the end or the beginning of a word
                word = known[begin]
                start, stop = (word.start, word.start + size) if after else (word.end - size, stop)
            parts[sample].setdefault(place, []).append((start, stop))
    return [{place: sorted(of_pair) for place, of_pair in of_sample.items()} for of_sample in parts]


def _lie_over(stream: WordStream, pairs: Pairs, runs: Runs) -> NDArray[np.bool_]:
    """Return whether at least half of the words agree where the texts of each pair would lie over each other."""
    first = np.ones(len(runs.pair), np.bool_)
    np.not_equal(runs.pair[1:], runs.pair[:-1], out=first[1:])
    sides = [(runs.gold, pairs.gold[runs.pair]), (runs.other, pairs.other[runs.pair])]
    # The words between a run and the one before it, or the text's beginning, and behind a pair's last run.
    before = [np.where(first, at - stream.first[text], at - np.roll(at + runs.length, 1)) for at, text in sides]
    behind = [stream.first[text + 1] - at - runs.length for at, text in sides]
    last = np.roll(first, -1)
    apart = np.minimum(*before) + np.where(last, np.minimum(*behind), 0)
    total, agreeing = (np.bincount(runs.pair, weights, minlength=len(pairs.n)) for weights in (apart, runs.length))
    return agreeing >= total


def _pairs(stream: WordStream, layout: Layout, n: int) -> Pairs:
    others = np.flatnonzero(~layout.is_gold)
    counts = layout.golds[layout.sample[others]]
    other = np.repeat(others, counts)
    column = np.arange(len(other)) - np.repeat(np.cumsum(counts) - counts, counts)
    gold = other - layout.place[other] + column
    words = stream.counts()
    return Pairs(gold, other, np.minimum(np.minimum(words[gold], words[other]), n))


def _all_runs(stream: WordStream, layout: Layout, pairs: Pairs, n: int, cutoff: float) -> Runs:
    """Return the runs of all pairs; pairs that cannot reach the cutoff on either side may have none."""
    lengths = {n, *np.unique(stream.counts()[stream.counts() < n]).tolist()} - {0}
    found = [_runs(stream, layout, pairs, length, cutoff) for length in sorted(lengths)]
    return without_other_facts(stream, pairs, Runs(*map(np.concatenate, zip(*found, strict=True))))


def _runs(stream: WordStream, layout: Layout, pairs: Pairs, n: int, cutoff: float) -> Runs:
    """Return the runs of the pairs that need *n* words for one, if any of the sample's pairs can reach the cutoff."""
    shared = shared_runs(stream, layout, n)
    pair, gold, other = _points(stream, layout, pairs, shared, n)
    first = np.ones(len(pair), np.bool_)
    np.not_equal(pair[1:], pair[:-1], out=first[1:])
    begins = np.flatnonzero(first)
    stops = np.append(begins[1:], len(pair))
    # What a retrieved text can have in common at the most: every run that stands anywhere in the gold text.
    before = np.where(first, 0, np.concatenate([[0], other[:-1] + n])[: len(other)])
    new = stream.ends[other + n] - stream.ends[np.maximum(other, before)]
    most = np.add.reduceat(new, begins) if len(begins) else new
    here = pair[begins]
    sizes = stream.sizes()
    ends = np.diff(stream.ends)
    whole = stream.first[pairs.other[here]], stream.first[pairs.other[here] + 1] - 1
    most += ends[whole[0]] + ends[whole[1]]  # words that may be cut
    able = most >= cutoff * np.minimum(sizes[pairs.gold[here]], sizes[pairs.other[here]])
    # Runs that all go on, or follow behind each other in both texts, reach that.
    gold = _settled(stream, shared, gold, other, np.cumsum(first))
    right, down = np.diff(gold), np.diff(other)
    goes_on = (right == 1) & (down == 1) & ~first[1:]
    wrong = (gold < 0) | np.concatenate([[False], ~goes_on & ~first[1:] & ((right < n) | (down < n))])[: len(gold)]
    in_order = ~np.logical_or.reduceat(wrong, begins) if len(begins) else able
    keep = np.repeat(able & in_order, stops - begins)
    starts = keep & ~np.concatenate([[False], goes_on])[: len(pair)]
    ends = keep & ~np.concatenate([goes_on, [False]])[: len(pair)]
    begin = np.flatnonzero(starts)
    runs = [Runs(pair[begin], gold[begin], other[begin], gold[ends] - gold[begin] + n)]
    for at in here[able & ~in_order].tolist():
        (g0, g1), (o0, o1) = (stream.first[side[at] : side[at] + 2].tolist() for side in (pairs.gold, pairs.other))
        own, theirs = (shared.runs[start : stop - n + 1].tolist() for start, stop in ((g0, g1), (o0, o1)))
        if best := best_runs(own, theirs, n, stream.ends[g0 : g1 + 1].tolist()):
            begin, place, length = np.array(best, dtype=np.int64).T
            runs.append(Runs(np.full(len(best), at), begin + g0, place + o0, length))
    return Runs(*map(np.concatenate, zip(*runs, strict=True)))


def _points(
    stream: WordStream, layout: Layout, pairs: Pairs, shared: Shared, n: int
) -> tuple[Integers, Integers, Integers]:
    """Return the pair, the place in the gold text, -1 where it has to be chosen, and that in the retrieved text."""
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
    order = order[pairs.n[pair[order]] == n]
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


def _settled(stream: WordStream, shared: Shared, gold: Integers, other: Integers, group: Integers) -> Integers:
    """Return the places in gold texts; those to be chosen where the run before goes on, or the one behind begins."""
    to_choose = np.flatnonzero(gold < 0)
    if not len(to_choose):
        return gold
    gold = gold.copy()
    places = np.arange(len(gold))
    before = np.maximum.accumulate(np.where(gold >= 0, places, -1))[to_choose]
    behind = np.minimum.accumulate(np.where(gold >= 0, places, len(gold))[::-1])[::-1][to_choose]
    for near in (behind, before):  # the one before has the last word
        near = near.clip(0, len(gold) - 1)  # noqa: PLW2901  # what is clipped belongs to another pair, or has no place
        usable = (group[to_choose] == group[near]) & (gold[near] >= 0)
        at, known = to_choose[usable], near[usable]
        wanted = gold[known] + other[at] - other[known]
        inside = (wanted >= 0) & (wanted < len(shared.runs))
        at, known, wanted = at[inside], known[inside], wanted[inside]
        same = (shared.runs[wanted] == shared.runs[other[at]]) & (stream.text[wanted] == stream.text[gold[known]])
        gold[at[same]] = wanted[same]
    return gold


class _Beside(NamedTuple):
    """Words that stand beside runs in both texts of a pair, and differ."""

    pair: Integers
    gold: Integers
    other: Integers
    is_edge: NDArray[np.bool_]  # whether the retrieved text begins or ends with the word, and may have it in part


def _beside(stream: WordStream, pairs: Pairs, runs: Runs, *, after: bool) -> _Beside:
    """Return the words before all runs, or after them."""
    step = runs.length if after else -1
    gold, other = runs.gold + step, runs.other + step
    first, last = (stream.first[pairs.other[runs.pair] + at] - at for at in (0, 1))
    at = np.flatnonzero((other >= first) & (other <= last))
    first = stream.first[pairs.gold[runs.pair[at]]]
    at = at[(gold[at] >= first) & (gold[at] < stream.first[pairs.gold[runs.pair[at]] + 1])]
    at = at[stream.words[gold[at]] != stream.words[other[at]]]
    edge = stream.first[pairs.other[runs.pair[at]] + after] - after
    return _Beside(runs.pair[at], gold[at], other[at], other[at] == edge)


def _cut_words(stream: WordStream, beside: _Beside, *, after: bool) -> tuple[Integers, Integers, Integers]:
    """Return pairs, a gold word that their retrieved text begins or ends within, and how many characters it has."""
    cut: list[tuple[int, int, int]] = []
    at = np.flatnonzero(beside.is_edge)
    for number, gold, other in zip(*(part[at].tolist() for part in beside[:3]), strict=True):
        whole, piece = stream.spelled(gold), stream.spelled(other)
        if whole.startswith(piece) if after else whole.endswith(piece):
            cut.append((number, gold, len(piece)))
    pair, word, size = np.array(cut, dtype=np.int64).reshape(-1, 3).T
    return pair, word, size


def _common(stream: WordStream, pairs: Pairs, runs: Runs) -> NDArray[np.float64]:
    """Return how many characters each pair has in common."""
    of_pairs = functools.partial(np.bincount, minlength=len(pairs.n))
    stops = runs.gold + runs.length
    common = of_pairs(runs.pair, weights=stream.ends[stops] - stream.ends[runs.gold]).astype(np.float64)
    for after in (False, True):
        beside = _beside(stream, pairs, runs, after=after)
        pair, _, size = _cut_words(stream, beside, after=after)
        common += of_pairs(pair, weights=size)
    return common
