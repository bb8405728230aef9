"""
Slices: many short texts in one buffer, hashed and compared without an object for each.

A text is found by its start and its length. Eight bytes at a time are gathered from the buffer as one integer, so that
hashing a million ids takes a few passes of numpy, and an id becomes a Python object only when it is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankgauge.columns.judged_rows import Ints

__all__ = ["PADDING", "Slices", "Words", "are_texts", "encoded", "mixed", "short_keys", "words_at"]

PADDING = 32
"""How many bytes before the first and after the last text of a buffer may be read, without any effect."""

Words = NDArray[np.uint64]

_NEWLINE = ord("\n")
_WORD = 8
_COMPARED = 64
"""How many bytes of texts are compared as words before the rest of long ones is compared one by one."""

_WIDEST_TABLE = 1 << 26
"""How many bytes a table of texts may take before texts are compared one by one."""

_LOW_BYTES = np.array([(1 << (8 * n)) - 1 for n in range(9)], dtype=np.uint64)
"""Masks that keep the first n bytes of a word."""

_FIRST = np.uint64(0x9E3779B97F4A7C15)
_NEXT = np.uint64(0xC2B2AE3D27D4EB4F)
_SHIFT_FIRST = np.uint64(29)
_SHIFT_NEXT = np.uint64(31)


def words_at(buffer: NDArray[np.uint8], places: Ints) -> Words:
    """Return the eight bytes at each of some places of a buffer as one integer, the first byte lowest."""
    at_each: Words = np.ndarray((buffer.size - 7,), dtype="<u8", buffer=buffer.data, strides=(1,))
    return at_each[places]


def mixed(keys: Words, salts: Words) -> Words:
    """Return keys that depend on both, with their entropy in the high bits."""
    both = keys ^ salts
    both *= _FIRST
    both ^= both >> _SHIFT_FIRST
    both *= _NEXT
    return both


def short_keys(first: Words, second: NDArray[np.unsignedinteger[Any]], length: Ints) -> Words:
    """Return what `Slices.keys` does, from the first eight bytes of each text, those after them and its length."""
    keys = first * _FIRST
    keys ^= keys >> _SHIFT_FIRST
    if int(length.max(initial=0)) > 8:
        rest = np.flatnonzero(length > 8)
        further = second[rest].astype(np.uint64) ^ keys[rest]
        further *= _NEXT
        further ^= further >> _SHIFT_NEXT
        keys[rest] = further
    return keys


def encoded(text: str) -> bytes:
    """
    Return the bytes of an id; a file's bytes that are not text come back as they were.

    Other lone surrogates, which JSON and Python allow in a string, get three bytes of their own, so no id is an error.
    """
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def are_texts(ids: Iterable[object]) -> bool:
    """Return whether all of some ids are strings."""
    return all(issubclass(kind, str) for kind in set(map(type, ids)))


class Slices(NamedTuple):
    """Texts inside a buffer."""

    buffer: NDArray[np.uint8]  # bytes, with `PADDING` bytes before the first text and behind the last
    start: Ints  # where each text begins
    length: Ints  # how many bytes each has

    @classmethod
    def of(cls, texts: Iterable[bytes]) -> Slices:
        """Put texts into a buffer of their own."""
        listed = list(texts)
        length = np.fromiter(map(len, listed), np.int64, len(listed))
        return cls.of_joined(b"".join(listed), length)

    @classmethod
    def of_strings(cls, texts: Sequence[str]) -> Slices:
        """Put strings into a buffer of their own, as `of` does with what `encoded` makes of each."""
        joined = "".join(texts)
        if not joined.isascii():
            return cls.of(map(encoded, texts))
        length = np.fromiter(map(len, texts), np.int64, len(texts))
        return cls.of_joined(joined.encode(), length)

    @classmethod
    def of_joined(cls, joined: bytes, length: Ints) -> Slices:
        """Put texts that are one after the other into a buffer of their own."""
        buffer = np.frombuffer(b"".join((bytes(PADDING), joined, bytes(PADDING))), dtype=np.uint8)
        return cls(buffer, np.cumsum(length) - length + PADDING, length)

    @classmethod
    def of_lines(cls, lines: bytes) -> Slices:
        """Take lines that all have an end as texts of a buffer of their own."""
        buffer = np.frombuffer(b"".join((bytes(PADDING), lines, bytes(PADDING))), dtype=np.uint8)
        ends = np.flatnonzero(buffer == _NEWLINE)
        start = np.empty_like(ends)
        start[:1] = PADDING
        start[1:] = ends[:-1] + 1
        return cls(buffer, start, ends - start)

    def at(self, rows: Ints | slice | NDArray[np.bool_]) -> Slices:
        """Return some of the texts; nothing of the buffer is copied."""
        return Slices(self.buffer, self.start[rows], self.length[rows])

    def keys(self) -> Words:
        """Return a 64-bit hash of each text; those with equal hashes must be compared if it matters."""
        # The texts d12 and doc-7 are at 32: d12doc-7. The word at 32 has all eight bytes, the first one lowest:
        # 0x372d636f64323164. Length 3 keeps the lowest three, 0x323164, which is d12 whatever follows it.
        longest, shortest = int(self.length.max(initial=0)), int(self.length.min(initial=0))
        keys = words_at(self.buffer, self.start)
        if shortest < 8:
            keys &= _LOW_BYTES.take(self.length, mode="clip")
        keys *= _FIRST
        keys ^= keys >> _SHIFT_FIRST
        for done in range(8, longest, 8):
            if shortest >= done + 8:
                further = words_at(self.buffer, self.start + done)
                further ^= keys
                further *= _NEXT
                further ^= further >> _SHIFT_NEXT
                keys = further
                continue
            goes_on = self.length > done
            if done < PADDING and 2 * np.count_nonzero(goes_on) > len(goes_on):  # one pass for all is faster
                further = words_at(self.buffer, self.start + done)
                further &= _LOW_BYTES.take(self.length - done, mode="clip")
                further ^= keys
                further *= _NEXT
                further ^= further >> _SHIFT_NEXT
                np.copyto(keys, further, where=goes_on)
                continue
            rest = np.flatnonzero(goes_on)  # only texts that go on: the longest text sets no pace
            further = words_at(self.buffer, self.start[rest] + done)
            further &= _LOW_BYTES[np.minimum(self.length[rest] - done, 8)]
            further ^= keys[rest]
            further *= _NEXT
            further ^= further >> _SHIFT_NEXT
            keys[rest] = further
        return keys

    def begins(self) -> NDArray[np.bool_]:
        """Return which texts are not the same as the one before; compared in full, not by a hash."""
        begins = np.ones(len(self.start), dtype=np.bool_)
        longest = int(self.length.max(initial=0))
        if longest <= 2 * _WORD:  # the first eight bytes and the last eight are all of a text
            own = words_at(self.buffer, self.start)
            np.not_equal(own[1:], own[:-1], out=begins[1:])
            if longest > _WORD:
                own = words_at(self.buffer, self.start + self.length - _WORD)
                begins[1:] |= own[1:] != own[:-1]
            begins[1:] |= self.length[1:] != self.length[:-1]
        doubtful = np.flatnonzero(begins[1:]) + 1  # the bytes after a short text may differ, too
        begins[doubtful] = ~self.at(doubtful).equal(self.at(doubtful - 1))
        return begins

    def texts(self) -> list[bytes]:
        """Return each text as an object of its own."""
        starts, ends = self.start.tolist(), (self.start + self.length).tolist()
        view = self.buffer.data
        return [bytes(view[start:end]) for start, end in zip(starts, ends, strict=True)]

    def joined(self, separator: int) -> bytes:
        """Return the texts one after the other, with a byte between them."""
        ends = np.cumsum(self.length)
        number = np.arange(int(ends[-1])) if len(ends) else ends
        begins = ends - self.length
        whole = np.full(len(number) + len(ends), separator, dtype=np.uint8)
        places = np.repeat(np.arange(len(ends)), self.length) + number  # there is a separator for each text before
        whole[places] = self.buffer[np.repeat(self.start - begins, self.length) + number]
        return whole[: max(len(whole) - 1, 0)].tobytes()

    def strings(self) -> list[str]:
        """Return each text as a string; bytes that are not text become lone surrogates, as `encoded` takes them."""
        whole = self.buffer.tobytes()
        if not whole.isascii():
            return [text.decode("utf-8", "surrogateescape") for text in self.texts()]
        joined = whole.decode("ascii")
        ends = (self.start + self.length).tolist()
        return [joined[start:end] for start, end in zip(self.start.tolist(), ends, strict=True)]

    def table(self) -> NDArray[np.bytes_] | None:
        """Return the texts as a numpy array of byte strings; None when one of them is too long for that."""
        width = max(int(self.length.max(initial=0)), 1)
        if width * len(self.start) > _WIDEST_TABLE:
            return None
        places = np.minimum(self.start[:, None] + np.arange(width), self.buffer.size - 1)
        letters = self.buffer[places]
        letters[np.arange(width) >= self.length[:, None]] = 0
        table: NDArray[np.bytes_] = np.ascontiguousarray(letters).view(f"S{width}").ravel()
        return table

    def equal(self, other: Slices) -> NDArray[np.bool_]:
        """Return which texts are the same as those of *other*, one by one."""
        same: NDArray[np.bool_] = self.length == other.length
        rows = np.flatnonzero(same)
        for done in range(0, _COMPARED, _WORD):
            if len(rows) and done:
                rows = rows[same[rows] & (self.length[rows] > done)]
            if not len(rows):
                return same
            kept = _LOW_BYTES[np.minimum(self.length[rows] - done, _WORD)]
            differs = words_at(self.buffer, self.start[rows] + done)
            differs ^= words_at(other.buffer, other.start[rows] + done)
            differs &= kept
            same[rows] = differs == 0
        rows = rows[same[rows] & (self.length[rows] > _COMPARED)]
        same[rows] = [a == b for a, b in zip(self.at(rows).texts(), other.at(rows).texts(), strict=True)]
        return same

    def ascending(self) -> Ints:
        """Return the places of the texts in byte order."""
        longest = int(self.length.max(initial=0))
        if longest > 2 * _WORD:
            table = self.table()
            return np.argsort(_ranked(self.texts()) if table is None else table, kind="stable")
        keys: list[Any] = [words_at(self.buffer, self.start) & _LOW_BYTES[np.minimum(self.length, _WORD)]]
        if longest > _WORD:
            keys.append(words_at(self.buffer, self.start + _WORD) & _LOW_BYTES[np.maximum(self.length - _WORD, 0)])
        for key in keys:
            key.byteswap(inplace=True)  # the first byte of a text is the lowest of its word, and counts most
        return np.lexsort((self.length, *keys[::-1]))  # the shorter one first if the others end with zero bytes

    def order(self, groups: Ints) -> Ints:
        """Return the places of the texts by group, then by bytes, the highest first."""
        table = self.table()
        ranks = _ranked(self.texts()) if table is None else _ranked_in(table)
        return np.lexsort((-ranks, groups))


def _ranked(texts: Sequence[bytes]) -> Ints:
    """Return the place of each text among the distinct ones in byte order."""
    places = {text: place for place, text in enumerate(sorted(set(texts)))}
    return np.fromiter(map(places.__getitem__, texts), np.int64, len(texts))


def _ranked_in(table: NDArray[np.bytes_]) -> Ints:
    """Return the same for texts in a table."""
    order = np.argsort(table, kind="stable")
    ordered = table[order]
    ranks = np.zeros(len(table), dtype=np.int64)
    ranks[order[1:]] = np.cumsum(ordered[1:] != ordered[:-1])
    return ranks
