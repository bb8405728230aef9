"""
Where texts are in a corpus: word for word, and in which documents large parts of them do.

Runs of words are looked up by their hashes, for all texts at once and some thousand documents at a time. A run that
many of the texts have says little, so each text is looked up by its rarer runs, its seeds. If all seeds of a text
are at the same distance from each other, all its words are compared; if some do, `best_runs` measures how
much of it the document has. A text that was cut by characters begins and ends within words, so that the seeds of its
inner words are enough, and its first and last word may be parts of the document's.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankgauge.matchers.spelling import plain_words
from rankgauge.matchers.word_runs import Integers, Run, WordStream, best_runs, hashed_runs, read_words

__all__ = ["Near", "Place", "Traced", "batches", "is_cut_from", "trace"]

N = 3
"""How many words a run has; a text of fewer words is one run."""

_BATCH = 4_000_000
"""About how many characters of documents are looked at together."""

_CUTTABLE = N + 2
"""How many words a text has at least whose first and last one may be parts of words."""

_COMMON = 8
"""A run that occurs more often in the texts is no seed, but the rarest of a text that has no other."""

_PRIME = np.uint64(0x9E3779B97F4A7C15)

_KEPT = 12
"""In how many documents each text is looked at closely."""

_SPARE = 50
"""How many words an edited text may have beside twice its own."""

_LEAST = 0.1
"""Which share of its seeds a document has to have for that."""


class Place(NamedTuple):
    """Where a text occurs word for word; its first and its last word may be parts of those there."""

    document: int
    start: int  # in words of the document
    stop: int


class Near(NamedTuple):
    """A document that has a part of a text."""

    document: int
    cover: float  # share of the text's characters, in runs of words that both have in the same order
    covered: float  # share of the document's characters, in the same runs
    runs: tuple[Run, ...]  # these: the place in the text, in the document, and the length, in words


class Traced(NamedTuple):
    """What is known of one text."""

    places: tuple[Place, ...]  # by document
    near: tuple[Near, ...]  # those with most of it first


class _Hits(NamedTuple):
    """Runs of words that are in a text and in a document, by their places in both streams."""

    text: Integers
    seed: Integers
    document: Integers
    other: Integers

    def where(self, chosen: NDArray[np.bool_]) -> _Hits:
        """Return some of them."""
        return _Hits(*(column[chosen] for column in self))


class _Texts(NamedTuple):
    """The texts that are looked up."""

    stream: WordStream
    is_cuttable: NDArray[np.bool_]  # whether the first and the last word may be parts of words

    def is_inner(self, places: Integers, n: int) -> NDArray[np.bool_]:
        """Return whether the runs of *n* words from some places on decide where a text is."""
        text, first = self.stream.text[places], self.stream.first
        inner: NDArray[np.bool_] = (places > first[text]) & (places + n < first[text + 1])
        return inner | ~self.is_cuttable[text]


class _Seeds(NamedTuple):
    """The seeds of the texts that need runs of the same length, sorted by their hashes."""

    n: int
    hashes: NDArray[np.uint64]
    places: Integers  # in the stream of the texts
    table: NDArray[np.bool_]  # whether any hash begins with these bits
    shift: np.uint64

    def hits(self, texts: WordStream, documents: WordStream, first: int) -> _Hits:
        """Return where the seeds are in some documents, of which the first has this number."""
        runs = hashed_runs(documents.words, self.n)
        there = np.flatnonzero(self.table[runs >> self.shift])
        there = there[documents.text[there] == documents.text[there + self.n - 1]]
        runs = runs[there]
        low, high = (np.searchsorted(self.hashes, runs, side) for side in ("left", "right"))
        times = high - low
        other = np.repeat(there, times)
        rank = np.arange(len(other)) - np.repeat(np.cumsum(times) - times, times)
        seed = self.places[np.repeat(low, times) + rank]
        return _Hits(texts.text[seed], seed, documents.text[other] + first, other)


def trace(
    texts: Sequence[str],
    documents: Sequence[str],
    *,
    itself: Sequence[int] | None = None,
    exact: Sequence[bool] | None = None,
    is_verbatim: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> list[Traced]:
    """
    Return where texts are in documents.

    *itself* is, for each text, the number of the document whose text it is, which is no finding; -1 for none. Documents
    near a text, which have parts of it, are not looked for where it is looked up as it is, *exact*, and for no text if
    only places are wanted, *is_verbatim*. *progress*
    is called with how many documents were read of how many.
    """
    stream = read_words(texts)
    own = np.full(len(texts), -1) if itself is None else np.array(itself, dtype=np.int64)
    is_exact = np.zeros(len(texts), np.bool_) if exact is None else np.array(exact, dtype=np.bool_)
    ours = _Texts(stream, (stream.counts() >= _CUTTABLE) & ~is_exact & (own < 0))
    groups = list(_seeds(ours))
    counts, inner = np.zeros(len(texts), np.int64), np.zeros(len(texts), np.int64)
    for group in groups:
        counts += np.bincount(stream.text[group.places], minlength=len(texts))
        chosen = group.places[ours.is_inner(group.places, group.n)]
        inner += np.bincount(stream.text[chosen], minlength=len(texts))
    places: list[list[Place]] = [[] for _ in texts]
    near = np.empty((0, 3), np.int64)  # text, document, seeds
    for first, batch in batches(documents):
        words = read_words(batch)
        for group in groups:
            hits = group.hits(stream, words, first)
            hits = hits.where(hits.document != own[hits.text])
            for text, place in _verbatim(ours, words, hits.where(ours.is_inner(hits.seed, group.n)), inner, first):
                places[text].append(place)
            near = _nearest(np.concatenate([near, _shared(hits, counts)]), counts)
        if progress is not None:
            progress(first + len(batch), len(documents))
    unseen = ours.is_cuttable & ~np.fromiter(map(bool, places), np.bool_, len(places))
    for number, document, _ in near[unseen[near[:, 0]]].tolist():
        if (found := _as_it_is(texts[number], documents[document])) is not None:
            places[number].append(Place(document, *found))
    wanted = ~is_exact & (not is_verbatim)
    close = _measured(stream, near[wanted[near[:, 0]]], documents)
    return [Traced(tuple(sorted(stands)), tuple(close.get(text, ()))) for text, stands in enumerate(places)]


def batches(documents: Sequence[str]) -> Iterator[tuple[int, Sequence[str]]]:
    """Yield the documents some at a time, each time with the number of the first."""
    first = size = 0
    for number, text in enumerate(documents):
        size += len(text)
        if size >= _BATCH:
            yield first, documents[first : number + 1]
            first, size = number + 1, 0
    if first < len(documents):
        yield first, documents[first:]


def _seeds(ours: _Texts) -> Iterator[_Seeds]:
    """Yield the seeds of all texts, by the length of their runs; each text has one that decides."""
    stream = ours.stream
    words = stream.counts()
    for n in np.unique(np.minimum(words, N)).tolist():
        if not n:
            continue  # signs alone
        runs = hashed_runs(stream.words, n)
        text = stream.text[: len(runs)]
        inside = np.flatnonzero((text == stream.text[n - 1 :]) & (np.minimum(words, N)[text] == n))
        order = np.argsort(runs[inside], kind="stable")
        places, hashes = inside[order], runs[inside[order]]
        _, where, times = np.unique(hashes, return_inverse=True, return_counts=True)
        rarity, inner = times[where], ours.is_inner(places, n)
        best = np.full(len(words), np.iinfo(np.int64).max)
        np.minimum.at(best, text[places[inner]], rarity[inner])
        keep = rarity <= _COMMON
        rest = np.flatnonzero((rarity == best[text[places]]) & ~keep & inner)
        keep[rest[np.unique(text[places[rest]], return_index=True)[1]]] = True
        places, hashes = places[keep], hashes[keep]
        bits = np.uint64(64 - max((4 * len(hashes)).bit_length(), 10))
        table = np.zeros(1 << (64 - int(bits)), np.bool_)
        table[hashes >> bits] = True
        yield _Seeds(n, hashes, places, table, bits)


def _verbatim(
    ours: _Texts, words: WordStream, hits: _Hits, counts: Integers, first: int
) -> Iterator[tuple[int, Place]]:
    """Yield the texts that are in documents word for word, by the hits of the seeds that decide."""
    stream = ours.stream
    begin = hits.other - hits.seed + stream.first[hits.text]
    span = len(words.words) + 1
    keys, times = np.unique((hits.text * span + begin)[begin >= 0], return_counts=True)
    text, begin = keys // span, keys % span
    size = stream.counts()[text]
    able = (times == counts[text]) & (begin + size <= len(words.words))
    text, begin, size = text[able], begin[able], size[able]
    able = words.text[begin] == words.text[begin + size - 1] if len(begin) else np.empty(0, np.bool_)
    text, begin, size = text[able], begin[able], size[able]
    edge = ours.is_cuttable[text].astype(np.int64)
    at = stream.first[text]
    whole = _are_same(stream.words, at + edge, words.words, begin + edge, size - 2 * edge)
    is_cut = (stream.words[at] != words.words[begin]) | (stream.words[at + size - 1] != words.words[begin + size - 1])
    for row in np.flatnonzero(whole & is_cut).tolist():
        sides = [(int(at[row]), int(begin[row])), (int(at[row] + size[row] - 1), int(begin[row] + size[row] - 1))]
        pairs = [(stream.spelled(own), words.spelled(other)) for own, other in sides]
        whole[row] = is_cut_from(*pairs)
    document = words.text[begin[whole]]
    start = begin[whole] - words.first[document]
    rows = zip(text[whole].tolist(), (document + first).tolist(), start.tolist(), size[whole].tolist(), strict=True)
    for number, doc, at_word, length in rows:
        yield number, Place(doc, at_word, at_word + length)


def _as_it_is(text: str, document: str) -> tuple[int, int] | None:
    """
    Return where a text is in a document letter by letter, as words of that; None if it is not.

    Its words may be others than those of the document where it is cut within markup, as within the address of a link.
    """
    text = text.strip()
    at = document.find(text)
    if at < 0:
        return None
    end = at + len(text)
    words = plain_words(document)
    start = bisect_right(words, at, key=lambda word: word.end)
    stop = bisect_left(words, end, start, key=lambda word: word.start)
    if start == stop:
        return None
    sides = [(document[max(word.start, at) : min(word.end, end)], word) for word in (words[start], words[stop - 1])]
    pairs = [(part, document[word.start : word.end]) for part, word in sides]
    return (start, stop) if is_cut_from(pairs[0], pairs[1]) else None


def is_cut_from(first: tuple[str, str], last: tuple[str, str]) -> bool:
    """
    Return whether the first and the last word of a text may be parts of a document's words; each pair has both.

    A number that ends the text is no part of a longer one, unless the text is cut within a word at its other end, too.
    """
    if not first[1].endswith(first[0]) or not last[1].startswith(last[0]):
        return False
    cut = [own != other for own, other in (first, last)]
    parts_number = any(own != other and any(map(str.isdigit, own)) for own, other in (first, last))
    return all(cut) or not parts_number


def _are_same(
    ours: NDArray[np.uint64], at: Integers, theirs: NDArray[np.uint64], places: Integers, sizes: Integers
) -> NDArray[np.bool_]:
    """
    Return whether so many words from some places on are the same as from others, by their hashes.

    Of words w the sums of w[i] * p**i up to each place are kept, so that a text of a million equal words in a document
    of as many takes no longer than any other: ours from a on and theirs from b on are the same where the difference of
    our sums times p**b is the difference of theirs times p**a.
    """
    powers = np.full(max(len(ours), len(theirs)) + 1, _PRIME)
    powers[0] = 1
    np.cumprod(powers, out=powers)
    sums = []
    for words, begin in ((ours, at), (theirs, places)):
        upto = np.zeros(len(words) + 1, np.uint64)
        np.cumsum(words * powers[: len(words)], out=upto[1:])
        sums.append(upto[begin + sizes] - upto[begin])
    same: NDArray[np.bool_] = sums[0] * powers[places] == sums[1] * powers[at]
    return same


def _shared(hits: _Hits, counts: Integers) -> Integers:
    """Return how many seeds of texts are in documents, wherever: rows of text, document and number."""
    if not len(hits.text):
        return np.empty((0, 3), np.int64)
    low = int(hits.document.min())
    span = int(hits.document.max()) - low + 1
    pairs = np.unique(hits.seed * span + hits.document - low)
    text_of = np.zeros(int(hits.seed.max()) + 1, np.int64)
    text_of[hits.seed] = hits.text
    keys, times = np.unique(text_of[pairs // span] * span + pairs % span, return_counts=True)
    text = keys // span
    able = times >= _LEAST * counts[text]
    return np.stack([text[able], keys[able] % span + low, times[able]], axis=1)


def _nearest(near: Integers, counts: Integers) -> Integers:
    """Return for each text the documents with most of its seeds."""
    near = near[np.lexsort((near[:, 1], -near[:, 2], near[:, 0]))]
    begins = np.searchsorted(near[:, 0], np.arange(len(counts)))
    return near[np.arange(len(near)) - begins[near[:, 0]] < _KEPT]


def _measured(stream: WordStream, near: Integers, documents: Sequence[str]) -> dict[int, list[Near]]:
    """Return how much of each text documents have in one place, most first."""
    measured: dict[int, list[Near]] = {}
    sizes, ends = stream.sizes().tolist(), stream.ends
    ours = {n: hashed_runs(stream.words, n) for n in range(1, N + 1)}
    near = near[np.argsort(near[:, 1], kind="stable")]
    numbers, begins = np.unique(near[:, 1], return_index=True)
    for number, texts in zip(numbers.tolist(), np.split(near[:, 0], begins)[1:], strict=True):
        words = read_words([documents[number]])
        sorted_runs: dict[int, _Sorted] = {}
        for text in texts.tolist():
            begin, stop = stream.first[text : text + 2].tolist()
            n = min(N, stop - begin)
            wanted = ours[n][begin : stop - n + 1]
            if n not in sorted_runs:
                sorted_runs[n] = _Sorted.of(hashed_runs(words.words, n))
            at, theirs = sorted_runs[n].window(wanted, 2 * (stop - begin) + _SPARE)
            runs = best_runs(wanted.tolist(), theirs.tolist(), n, ends[begin : stop + 1].tolist())
            common = sum(int(ends[begin + place + length] - ends[begin + place]) for place, _, length in runs)
            if common:
                covered = common / int(words.ends[-1])
                moved = tuple((place, other + at, length) for place, other, length in runs)
                measured.setdefault(text, []).append(Near(number, common / sizes[text], covered, moved))
    return {text: sorted(found, key=lambda row: (-row.cover, row.document)) for text, found in measured.items()}


class _Sorted(NamedTuple):
    """The runs of a document."""

    runs: NDArray[np.uint64]
    order: Integers  # their places in the order of their hashes
    hashes: NDArray[np.uint64]  # these

    @classmethod
    def of(cls, runs: NDArray[np.uint64]) -> _Sorted:
        """Sort runs."""
        order = np.argsort(runs, kind="stable")
        return cls(runs, order, runs[order])

    def window(self, wanted: NDArray[np.uint64], size: int) -> tuple[int, NDArray[np.uint64]]:
        """Return the part with most of the runs that are wanted, and where it begins."""
        if len(self.runs) <= size:
            return 0, self.runs
        low, high = (np.searchsorted(self.hashes, np.unique(wanted), side) for side in ("left", "right"))
        times = high - low
        rank = np.arange(int(times.sum())) - np.repeat(np.cumsum(times) - times, times)
        places = np.sort(self.order[np.repeat(low, times) + rank])
        counts = np.searchsorted(places, places + size) - np.arange(len(places))
        begin = int(places[np.argmax(counts)]) if len(places) else 0
        return begin, self.runs[begin : begin + size]
