"""
Runs of words: the words of many texts as one array, which runs texts share, and the best of them in the same order.
"""

from __future__ import annotations

import functools
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import compress
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankgauge.kernel import Kernel, installed_kernel
from rankgauge.matchers.prepared_texts import prepared
from rankgauge.matchers.sharing import maybe_sharing
from rankgauge.matchers.spelling import (
    MARKS,
    PIECE,
    STARTS_CAPITAL,
    STARTS_STRONG,
    UNSPACED,
    cleaned_texts,
    folded_texts,
    plain_number,
)
from rankgauge.matchers.word_bytes import FIRST_BYTES, Integers, eight_bytes, found_words, in_words, padded

__all__ = [
    "BREAK",
    "CAPITAL",
    "NEW_PIECE",
    "SAYS",
    "STRONG",
    "UNSPACED_WORD",
    "Integers",
    "Layout",
    "Run",
    "Shared",
    "WordStream",
    "best_of",
    "best_runs",
    "common_points",
    "hashed_at",
    "hashed_runs",
    "plainly_written",
    "reaches",
    "read_sharing",
    "read_words",
    "shared_runs",
    "words_of_prepared",
]


BREAK, NEW_PIECE, CAPITAL, STRONG, UNSPACED_WORD = 1, 2, 4, 8, 16
"""
What is known of a word: a line, a sentence, a cell or what follows a colon begins with it; an ellipsis is before
it; it begins with a capital; it has a digit, an underscore or an inner capital; it is a character of a script without
spaces.
"""

_BREAKS = "\n\r\t\f\v.!?:;|#"


_OF_GAPS = {
    **dict.fromkeys(_BREAKS, BREAK),
    PIECE: BREAK | NEW_PIECE,
    STARTS_CAPITAL: CAPITAL,
    STARTS_STRONG: STRONG,
    UNSPACED: UNSPACED_WORD,
}
"""What a sign says of the word behind it."""
_IN_WORD = bytes(code >= 0x80 or chr(code).isalnum() for code in range(256))
_SPECIAL = bytes(
    code < 0x80 and (chr(code) in {*MARKS, *_OF_GAPS} or (chr(code).isalnum() and not chr(code).islower()))
    for code in range(256)
)
"""Which bytes are parts of words, and which say more than that or than that they are none."""
SAYS = np.zeros(256, np.uint8)
"""What a sign says of the word behind it, and a capital or a digit of its own."""
SAYS[[*range(ord("A"), ord("Z") + 1)]] = CAPITAL
SAYS[[*range(ord("0"), ord("9") + 1)]] = STRONG
SAYS[[*map(ord, _OF_GAPS)]] = [*_OF_GAPS.values()]
_IS_MARK = np.array([chr(code) in MARKS for code in range(256)])
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
_SALT = np.uint64(0xD1B54A32D192ED03)
_HALF = np.uint64(32)
_SPARSE = 4
"""How many places the table has for each run of words in gold texts, at least."""
_MANY = 1 << 13
"""How many characters texts have together before it saves time to look for those that share nothing."""


class WordStream(NamedTuple):
    """The words of many texts, one after the other."""

    words: NDArray[np.uint64]  # a hash of each
    text: Integers  # whose each is
    flags: NDArray[np.uint8]  # what is known of each: `BREAK` and the others
    ends: Integers  # how many characters all words before each have; one more for the end
    first: Integers  # the place of each text's first word; one more for the end
    data: bytes  # the words themselves
    starts: Integers  # where each begins in these
    stops: Integers  # and where it ends

    def spelled(self, at: int) -> str:
        """Return a word."""
        return self.data[self.starts[at] : self.stops[at]].decode("utf-8", "surrogatepass")

    def counts(self) -> Integers:
        """Return how many words each text has."""
        return np.diff(self.first)

    def sizes(self) -> Integers:
        """Return how many characters the words of each text have."""
        return np.diff(self.ends[self.first])


def hashed_runs(words: NDArray[np.uint64], n: int) -> NDArray[np.uint64]:
    """Return a hash of the *n* words from each place on."""
    count = max(len(words) - n + 1, 0)
    runs = words[:count].copy()
    for at in range(1, n):
        runs *= _SPREAD
        runs += words[at : at + count]
    return runs


def hashed_at(words: NDArray[np.uint64], places: Integers, n: int) -> NDArray[np.uint64]:
    """Return a hash of the *n* words from each of some places on."""
    runs = words[places]
    for at in range(1, n):
        runs *= _SPREAD
        runs += words[places + at]
    return runs


def read_words(texts: Sequence[str]) -> WordStream:
    """Return the words of texts, as `plain_words` finds them in each."""
    kernel = installed_kernel()
    if kernel is not None and texts:
        return _compiled(kernel, prepared(kernel, texts))
    return words_of_prepared(folded_texts(cleaned_texts(texts)))


def read_sharing(texts: Sequence[str], layout: Layout, n: int) -> tuple[WordStream, Layout]:
    """
    Return the words of texts, but for retrieved ones that share no run of words with a gold text, and their layout.

    Runs have *n* words; a gold text with fewer of them is shared whole. A few texts are all read.
    """
    cleaned = cleaned_texts(texts)
    if sum(map(len, cleaned)) >= _MANY:
        kept = maybe_sharing(cleaned, layout.sample, layout.is_gold, n)
        layout, cleaned = layout.where(kept), list(compress(cleaned, kept.tolist()))
    return words_of_prepared(folded_texts(cleaned)), layout


def words_of_prepared(parts: Sequence[str]) -> WordStream:
    """Return the words of prepared texts."""
    raw = padded(["\0".join(parts).encode("utf-8", "surrogatepass")])
    return _with_plain_numbers(*_found(raw, len(parts)))


def _found(raw: bytes, count: int) -> tuple[WordStream, Integers]:
    """Return the words of some prepared texts, and which of them are numbers with points or commas."""
    codes = np.frombuffer(raw, np.uint8)
    in_word, lines, pointed = in_words(codes)
    starts, stops = found_words(in_word)
    special = np.flatnonzero(np.frombuffer(raw.translate(_SPECIAL), np.bool_))
    flags = _flags(codes, in_word, special, starts, lines)
    data = raw.lower()
    sizes = stops - starts
    words = _hashes(data, starts, sizes)
    if not data.isascii():  # characters are counted, not bytes
        later = np.searchsorted(starts, np.flatnonzero((codes & 0xC0) == 0x80), "right") - 1
        sizes -= np.bincount(later, minlength=len(sizes))
    ends = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=ends[1:])
    parted = np.flatnonzero(codes == 0) if count > 1 else np.empty(0, np.int64)
    first = np.searchsorted(starts, np.concatenate([[0][:count], parted, [len(codes)]]))
    text = np.repeat(np.arange(count), np.diff(first))
    begins = first[:-1][first[:-1] < len(flags)]
    flags[begins] = (flags[begins] & ~np.uint8(NEW_PIECE)) | BREAK  # an ellipsis may be the end of the text before
    numbers = np.unique(np.searchsorted(starts, pointed) - 1) if len(pointed) else pointed
    return WordStream(words, text, flags, ends, first, data, starts, stops), numbers


def _compiled(kernel: Kernel, parts: Sequence[bytes]) -> WordStream:
    """Return the words of prepared texts, as `_found` does."""
    raw, count = padded(parts), len(parts)
    data, most = raw.lower(), len(raw) // 2
    words, flags = np.empty(most, np.uint64), np.empty(most, np.uint8)
    text, starts, stops = np.empty((3, most), np.int64)
    ends, first = np.empty(most + 1, np.int64), np.empty(count + 1, np.int64)
    n = kernel.read_words(raw, data, SAYS, words, text, flags, ends, first, starts, stops)
    return WordStream(words[:n], text[:n], flags[:n], ends[: n + 1], first, data, starts[:n], stops[:n])


def _flags(
    codes: NDArray[np.uint8], in_word: NDArray[np.bool_], special: Integers, starts: Integers, lines: Integers
) -> NDArray[np.uint8]:
    """Return what is known of each word, by the bytes inside it and before it."""
    flags = np.zeros(len(starts) + 1, np.uint8)  # the signs behind all words belong to none
    inside, code = in_word[special], codes[special]
    says = SAYS[code]
    says[inside & _IS_MARK[code]] = 0
    says[inside & (says == CAPITAL) & in_word[special - 1]] = STRONG
    telling = np.flatnonzero(says)
    if len(telling):
        says, word = says[telling], np.searchsorted(starts, special[telling], "right") - inside[telling]
        first = np.flatnonzero(np.diff(word, prepend=-1))
        flags[word[first]] = np.bitwise_or.reduceat(says, first)
    if len(lines):
        flags[np.searchsorted(starts, lines, "right") - 1] |= STRONG
    return flags[:-1]


def _hashes(data: bytes, starts: Integers, sizes: Integers) -> NDArray[np.uint64]:
    """Return a hash of each word."""
    words = eight_bytes(data, starts)
    words &= FIRST_BYTES.take(sizes, mode="clip")
    for end in range(8, int(sizes.max(initial=0)), 8):  # the next eight bytes, of words that have so many
        longer = np.flatnonzero(sizes > end)
        more = eight_bytes(data, starts[longer] + end)
        more &= FIRST_BYTES.take(sizes[longer] - end, mode="clip")
        more += _SPREAD
        words[longer] = (words[longer] * _SALT) ^ more
    words *= _SPREAD
    words ^= words >> _HALF
    return words


def _with_plain_numbers(stream: WordStream, at: Integers) -> WordStream:
    """Give numbers that are written in several ways, at some places, the hash of one of them; return the words."""
    if not len(at):
        return stream
    data, words = stream.data, stream.words
    edges = zip(at.tolist(), stream.starts[at].tolist(), stream.stops[at].tolist(), strict=True)
    spelled = ((place, data[start:stop]) for place, start, stop in edges)
    plain = {place: plainly_written(word) for place, word in spelled}
    places = [place for place, word in plain.items() if word]
    if places:
        others = [plain[place] for place in places]
        sizes = np.fromiter(map(len, others), np.int64, len(others))
        words[places] = _hashes(padded([b"".join(others)]), np.cumsum(sizes) - sizes + 1, sizes)
    return stream


@functools.lru_cache(maxsize=1 << 14)
def plainly_written(word: bytes) -> bytes:
    """Return how a number is written plainly; empty for what is so already."""
    if not word.isascii():
        return b""
    plain = plain_number(word.decode("ascii")).encode("ascii")
    return b"" if plain == word else plain


class Layout(NamedTuple):
    """Which text is whose: the gold texts of a sample, then its retrieved ones, then those of the next sample."""

    sample: Integers  # of each text
    is_gold: NDArray[np.bool_]
    place: Integers  # of each text among those of its sample
    base: Integers  # of each retrieved text: the number of its first pair
    golds: Integers  # how many gold texts each sample has
    others: Integers  # and how many retrieved ones

    @classmethod
    def of(cls, retrieved: Sequence[Sequence[str]], gold: Sequence[Sequence[str]]) -> Layout:
        """Return the layout of some samples' texts; pairs are numbered as in blocks of (retrieved, gold)."""
        golds = np.fromiter(map(len, gold), np.int64, len(gold))
        others = np.fromiter(map(len, retrieved), np.int64, len(retrieved))
        both, pairs = golds + others, golds * others
        sample = np.repeat(np.arange(len(gold)), both)
        place = np.arange(len(sample)) - (np.cumsum(both) - both)[sample]
        base = (np.cumsum(pairs) - pairs)[sample] + (place - golds[sample]) * golds[sample]
        return cls(sample, place < golds[sample], place, base, golds, others)

    def where(self, kept: NDArray[np.bool_]) -> Layout:
        """Return the layout of some of the texts; places, and numbers of pairs, are those among all."""
        return self._replace(**{name: getattr(self, name)[kept] for name in ("sample", "is_gold", "place", "base")})


class Shared(NamedTuple):
    """Where runs of words of retrieved texts are in gold texts of their sample, in order of the retrieved texts."""

    gold: Integers
    other: Integers
    repeated: Integers  # places in retrieved texts whose run of words may be in gold texts more than once
    again: Integers  # places in gold texts where these runs are
    runs: NDArray[np.uint64]  # a hash of the run of words from each place on


def reaches(stream: WordStream, n: int) -> Integers:
    """Return how many words a run from each place on has at least: *n*, of characters that stand for words two each."""
    single = (stream.flags & UNSPACED_WORD) > 0
    count = len(single)
    if not single.any():
        return np.broadcast_to(np.int64(n), count)
    ends = np.concatenate([[0], np.cumsum(2 - single)])
    lengths: Integers = np.searchsorted(ends, ends[:-1] + 2 * n) - np.arange(count)
    return lengths


def shared_runs(stream: WordStream, layout: Layout, reach: Integers, wanted: NDArray[np.bool_]) -> Shared:
    """
    Return which runs of words are shared.

    *reach* says how many words the run from each place on has; *wanted* are the places in gold texts that count.
    """
    longest, shortest = int(reach.max(initial=1)), int(reach.min(initial=1))
    count = max(len(reach) - shortest + 1, 0)
    runs = stream.words[:count].copy()
    for at in range(1, longest):
        able = min(count, max(len(reach) - at, 0))
        if at < shortest:
            runs[:able] *= _SPREAD
            runs[:able] += stream.words[at : at + able]
        else:
            long = np.flatnonzero(reach[:able] > at)
            runs[long] = runs[long] * _SPREAD + stream.words[at + long]
    text = stream.text[:count]
    runs ^= (layout.sample.astype(np.uint64) * _SALT)[text]
    runs *= _SPREAD
    if longest == shortest:
        inside = stream.text[longest - 1 :] == text
    else:
        last = np.arange(count) + reach[:count] - 1
        inside = (last < len(reach)) & (stream.text.take(last, mode="clip") == text)
    of_gold = layout.is_gold[text]
    gold = np.flatnonzero(inside & of_gold & wanted[:count])
    bits = max((_SPARSE * len(gold)).bit_length(), 10)
    slots = (runs >> np.uint64(64 - bits)).view(np.int64)
    table = np.full(1 << bits, -1, np.int32)
    table[slots[gold]] = gold
    holder = table.take(slots)
    there = np.flatnonzero((holder >= 0) & inside & ~of_gold)
    holder = holder[there]
    same = runs[holder] == runs[there]
    hidden = gold[table[slots[gold]] != gold]  # whose place in the table another one took
    repeated = again = np.empty(0, np.int64)
    if len(hidden):
        is_taken = np.zeros(1 << bits, np.bool_)
        is_taken[slots[hidden]] = True
        maybe = there[is_taken[slots[there]]]
        repeated = maybe[np.isin(runs[maybe], runs[hidden])]
        is_taken[:] = False
        is_taken[slots[repeated]] = True
        maybe = gold[is_taken[slots[gold]]]
        again = maybe[np.isin(runs[maybe], runs[repeated])]
    return Shared(holder[same].astype(np.int64), there[same], repeated, again, runs)


Run = tuple[int, int, int]
"""Where a run begins in the first text and in the second, and how long it is; all in words."""

_POINTS = 8
"""How many shared places there may be for each word, before repetitions are paired in their order."""
_SHIFTS = 4
"""In how many ways texts that repeat themselves are laid over each other."""


def best_runs(first: Sequence[Hashable], second: Sequence[Hashable], n: int, ends: Sequence[int]) -> list[Run]:
    """
    Return runs of at least *n* words that both texts have in the same order, with the most characters in all.

    Args:
        first: For each place of the first text, something that is equal where the *n* words from there on are.

        second: The same for the second text.

        n: How many words a run has at least.

        ends: How many characters the first text has before each word, and at its end.

    Returns:
        Runs that overlap in neither text, in order.
    """
    return best_of(sorted(common_points(first, second)), lambda _: n, ends)


def best_of(points: Sequence[tuple[int, int]], reach: Callable[[int], int], ends: Sequence[int]) -> list[Run]:
    """
    Return runs in the same order in two texts, with the most characters in all, made of places that both share.

    Args:
        points: The places in both texts, in order.

        reach: How many words both texts share from a place of the first text on.

        ends: How many characters the first text has before each word, and at its end.

    Returns:
        Runs that overlap in neither text, in order.
    """
    place = {point: at for at, point in enumerate(points)}
    values: list[int] = []
    before: list[int] = []  # the place of the point before on the best way, -1 for none
    keys, best, holders = [-1], [0], [-1]  # the most characters of ways that end at or before a word of the second text
    closed = 0
    for i, j in points:
        while points[closed][0] + reach(points[closed][0]) <= i:
            _offer(keys, best, holders, points[closed][1] + reach(points[closed][0]), values[closed], closed)
            closed += 1
        end = i + reach(i)
        at = bisect_right(keys, j) - 1
        value, source = best[at] + ends[end] - ends[i], holders[at]
        neighbour = place.get((i - 1, j - 1), -1)
        if neighbour >= 0:
            longer = values[neighbour] + ends[end] - ends[i - 1 + reach(i - 1)]
            if longer >= value:
                value, source = longer, neighbour
        values.append(value)
        before.append(source)
    return _traced(points, before, max(range(len(points)), key=values.__getitem__, default=-1), reach)


def common_points(first: Sequence[Hashable], second: Sequence[Hashable]) -> Iterator[tuple[int, int]]:
    """
    Yield the places that both texts share.

    Texts that repeat themselves very often have too many of them to try them all: there, the first occurrence in one
    text is paired with the first one in the other, the second with the second, and so on; and the texts are laid over
    each other in the few ways in which most first occurrences meet. That keeps the time linear.
    """
    where: defaultdict[Hashable, list[int]] = defaultdict(list)
    for j, words in enumerate(second):
        where[words].append(j)
    shared = [(i, where[words]) for i, words in enumerate(first) if words in where]
    if sum(len(places) for _, places in shared) <= _POINTS * (len(first) + len(second)):
        for i, places in shared:
            yield from ((i, j) for j in places)
        return
    times: Counter[Hashable] = Counter()
    shifts: Counter[int] = Counter()
    points = set()
    for i, places in shared:
        time = times[first[i]]
        times[first[i]] += 1
        if time < len(places):
            points.add((i, places[time]))
        if time == 0:
            shifts[places[0] - i] += 1
    for shift, _ in shifts.most_common(_SHIFTS):
        begin, end = max(0, -shift), min(len(first), len(second) - shift)
        points.update((i, i + shift) for i in range(begin, end) if first[i] == second[i + shift])
    yield from points


def _offer(keys: list[int], best: list[int], holders: list[int], key: int, value: int, holder: int) -> None:
    """Add a way that ends at *key*, unless another one that ends there or before is as good."""
    at = bisect_right(keys, key)
    if best[at - 1] >= value:
        return
    end = at
    while end < len(keys) and best[end] <= value:
        end += 1
    keys[at:end], best[at:end], holders[at:end] = [key], [value], [holder]


def _traced(
    points: Sequence[tuple[int, int]], before: Sequence[int], last: int, reach: Callable[[int], int]
) -> list[Run]:
    """Return the runs of the way that ends at a point, the last one."""
    runs: list[Run] = []
    while last >= 0:
        i, j = points[last]
        length = reach(i)
        while before[last] >= 0 and points[before[last]] == (i - 1, j - 1):
            i, j, length, last = i - 1, j - 1, length + 1, before[last]
        runs.append((i, j, length))
        last = before[last]
    return runs[::-1]
