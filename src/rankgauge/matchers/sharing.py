"""
Sharing: which retrieved texts may share a run of words with a gold text of their sample.

Most share none, and nothing more has to be known of their words. Here a word is known by its first eight bytes, and a
number by its first digit, since 12,500.0 and 12500 are the same. What is equal is so here, too: no text is missed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rankgauge.matchers.plain_letters import plainly_folded
from rankgauge.matchers.spelling import folded_texts
from rankgauge.matchers.word_bytes import FIRST_BYTES, Integers, eight_bytes, found_words, in_words, is_digit, padded

__all__ = ["maybe_sharing"]

_SPREAD = np.uint64(0x9E3779B97F4A7C15)
_SALT = np.uint64(0xD1B54A32D192ED03)
_MOST = 1 << 21
"""How many characters are looked at together, which take fifteen times as much memory."""
_LONGEST = 3
"""How many words of a run are looked at, at most."""
_BITS = 18
_SHIFT = np.uint64(64 - _BITS)


def maybe_sharing(texts: Sequence[str], sample: Integers, is_gold: NDArray[np.bool_], n: int) -> NDArray[np.bool_]:
    """
    Return which texts are gold, or may share a run of *n* words with gold, or all of a shorter one.

    A run may lack a word where a retrieved text begins or ends, which may have a piece of that word there. Texts of up
    to *n* words are kept, too, and those with characters that are not folded alone.

    Args:
        texts: The texts, without noise.

        sample: Whose each is.

        is_gold: Whether it is a gold text.

        n: How many words a run has.
    """
    if sum(map(len, texts)) > _MOST:
        half = int(np.searchsorted(sample, sample[len(sample) // 2])) or int(
            np.searchsorted(sample, sample[0], "right")
        )
        if half == len(texts):
            return np.ones(len(texts), np.bool_)  # where one sample has so many texts, most share something
        halves = (slice(half), slice(half, None))
        return np.concatenate([maybe_sharing(texts[each], sample[each], is_gold[each], n) for each in halves])
    parts = _parts(texts)
    is_odd = np.array([part is None for part in parts], np.bool_)
    kept = is_gold | is_odd
    if kept.all():
        return kept
    odd = np.flatnonzero(is_gold & is_odd).tolist()
    for at, text in zip(odd, folded_texts([texts[at] for at in odd]), strict=True):
        parts[at] = text.encode("utf-8", "surrogatepass")
    runs = _Runs([part or b"" for part in parts], sample, is_gold)
    counts = runs.counts
    kept |= counts <= n
    whole = min(n, _LONGEST)
    for length in {whole, *counts[is_gold & (counts < whole)].tolist()} - {0}:
        kept[runs.shared(length, is_gold & (counts >= whole if length == whole else counts == length))] = True
    if 1 < n <= whole:
        rest = np.flatnonzero(~kept)
        golds = is_gold & (counts >= 2 * n)  # shorter ones have to be there whole
        for places in (runs.first[rest] + 1, runs.first[rest + 1] - n):
            kept[rest[runs.found(places, n - 1, golds)]] = True
    return kept


def _parts(texts: Sequence[str]) -> list[bytes | None]:
    """Return texts folded; None for those with characters that are not folded alone."""
    parts = [text.encode() if text.isascii() else None for text in texts]
    wide = [at for at, part in enumerate(parts) if part is None]
    if wide:
        for at, folded in zip(wide, plainly_folded([texts[at] for at in wide]), strict=True):
            parts[at] = folded
    return parts


class _Runs:
    """Runs of words of some texts."""

    def __init__(self, parts: Sequence[bytes], sample: Integers, is_gold: NDArray[np.bool_]) -> None:
        raw = padded(parts)
        starts, stops = found_words(in_words(np.frombuffer(raw, np.uint8))[0])
        sizes = np.fromiter(map(len, parts), np.int64, len(parts))
        self.first = np.searchsorted(starts, np.concatenate([[0], np.cumsum(sizes + 1)]))
        self.counts = np.diff(self.first)
        self._words = _known_by(raw.lower(), starts, stops - starts)
        self._is_gold = is_gold
        self._salts = np.repeat(sample.astype(np.uint64) * _SALT, self.counts)

    def shared(self, length: int, golds: NDArray[np.bool_]) -> Integers:
        """Return texts that may share runs of words with some gold texts of their sample."""
        count = max(len(self._words) - length + 1, 0)
        runs = self._hashed(slice(0, count), length)
        slots = (runs >> _SHIFT).view(np.int64)
        gold = self._places(golds, count)
        table = np.zeros(1 << _BITS, np.bool_)
        table[slots[gold]] = True
        maybe = np.flatnonzero(table[slots])
        text = np.searchsorted(self.first, maybe, "right") - 1
        other = ~self._is_gold[text]
        found: Integers = text[other][_among(runs[maybe[other]], runs[gold])]
        return found

    def found(self, places: Integers, length: int, golds: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return whether the runs from some places on may be in some gold texts of their sample."""
        wanted = self._hashed(self._places(golds, len(self._words) - length + 1), length)
        return _among(self._hashed(places, length), wanted)

    def _places(self, golds: NDArray[np.bool_], count: int) -> Integers:
        """Return where the words of some gold texts are, among the first ones of all."""
        chosen = np.flatnonzero(golds)
        counts = self.counts[chosen]
        at: Integers = np.arange(int(counts.sum())) + np.repeat(
            self.first[chosen] - (np.cumsum(counts) - counts), counts
        )
        kept: Integers = at[at < count]
        return kept

    def _hashed(self, places: Integers | slice, length: int) -> NDArray[np.uint64]:
        """Return hashes of the runs from some places on."""
        words = self._words
        if isinstance(places, slice):
            runs = words[places].copy()
            following = [words[places.start + at : places.stop + at] for at in range(1, length)]
        else:
            runs = words[places]
            following = [words[places + at] for at in range(1, length)]
        for each in following:
            runs *= _SPREAD
            runs += each
        runs ^= self._salts[places]
        runs *= _SPREAD
        return runs


def _known_by(data: bytes, starts: Integers, sizes: Integers) -> NDArray[np.uint64]:
    """Return what each word is known by."""
    words = eight_bytes(data, starts)
    sizes[is_digit(np.frombuffer(data, np.uint8)[starts])] = 1
    words &= FIRST_BYTES.take(sizes, mode="clip")
    return words


def _among(keys: NDArray[np.uint64], wanted: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Return which keys are wanted."""
    if not len(wanted):
        return np.zeros(len(keys), np.bool_)
    wanted = np.sort(wanted)
    is_wanted: NDArray[np.bool_] = wanted.take(np.searchsorted(wanted, keys), mode="clip") == keys
    return is_wanted
