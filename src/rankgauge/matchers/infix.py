r"""
Infix edit distance: how many edits lead from a chunk to some part of a gold text, and a filter before it.

**The filter is safe.** Let a chunk of length *m* lie within *e* edits (insertions, deletions, substitutions) of some
part of the gold text. The chunk has *m* - 7 overlapping 8-grams. An edit touches one place of the chunk: a substituted
or deleted character belongs to at most 8 of its 8-grams, and an inserted one falls between two characters and so
breaks at most 7. Hence *e* edits break at most 8 *e*, and at least *m* - 7 - 8 *e* of the chunk's 8-grams stand
unbroken, that is, letter by letter, in the gold text (the q-gram lemma: Jokinen & Ukkonen, Two algorithms for
approximate string matching in static texts, MFCS 1991). A pair in which fewer of the chunk's 8-grams, each counted at
every place it has there, occur in the gold text cannot match. Grams are looked up by hash in a table of bits, where a
collision can only make a gram seem to occur; so the filter may let a pair pass that does not match, and never holds
one back that does. Where *m* - 7 - 8 *e* is 0 or less it says nothing, and every pair passes.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import edlib
import numpy as np
from numpy.typing import NDArray

__all__ = ["allowed_edits", "infix_distance", "infix_distance_any", "passes_filter"]

Codes = NDArray[np.uint64]

_Q = 8
_MOST_SYMBOLS = 255
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
_BASE = 0x100000001B3
_POWERS = np.array([pow(_BASE, 7 - place, 1 << 64) for place in range(8)], dtype=np.uint64)
_EIGHT_BYTES = np.dtype("<u8")
_LEAST_BITS = 12
_SPARSE = 16


def allowed_edits(length: int, threshold: float) -> int:
    """
    Return the most edits at which a chunk still reaches a threshold.

    Args:
        length: The length of the chunk, 1 or more.

        threshold: The score to reach; the score is ``(length - edits) / length``.

    Returns:
        ``floor((1 - threshold) * length)``, without the rounding errors of that expression.
    """
    edits = min(int((1 - threshold) * length) + 1, length)
    while edits > 0 and (length - edits) / length < threshold:
        edits -= 1
    return edits


def infix_distance(chunk: str, gold: str, most: int) -> int | None:
    """
    Return the fewest edits from a chunk to some part of a gold text.

    Args:
        chunk: Not empty.

        gold: Not empty.

        most: How many edits are of interest.

    Returns:
        The distance; None when it is larger than *most*.
    """
    if (narrow := _latin(chunk, gold)) is not None:
        return _by_edlib(*narrow, most)
    chunk_codes, gold_codes = _code_points(chunk), _code_points(gold)
    symbols = np.unique(chunk_codes)
    if len(symbols) > _MOST_SYMBOLS:
        return infix_distance_any(chunk, gold, most)
    # What the chunk does not contain can equal nothing in it, so that all of it may share one symbol.
    places = np.minimum(np.searchsorted(symbols, gold_codes), len(symbols) - 1)
    gold_symbols = np.where(symbols[places] == gold_codes, places + 1, 0).astype(np.uint8)
    chunk_symbols = (np.searchsorted(symbols, chunk_codes) + 1).astype(np.uint8)
    return _by_edlib(chunk_symbols.tobytes(), gold_symbols.tobytes(), most)


def infix_distance_any(chunk: str, gold: str, most: int) -> int | None:
    """
    Return the same distance for any number of distinct symbols.

    Bit-parallel dynamic programming over whole columns (Myers, A fast bit-vector algorithm for approximate string
    matching based on dynamic programming, JACM 1999), on Python's integers of any length.

    Args:
        chunk: Not empty.

        gold: Any text.

        most: How many edits are of interest.

    Returns:
        The distance; None when it is larger than *most*.
    """
    length = len(chunk)
    ones, top = (1 << length) - 1, 1 << (length - 1)
    where: dict[str, int] = {}
    for place, symbol in enumerate(chunk):
        where[symbol] = where.get(symbol, 0) | (1 << place)
    rises, falls = ones, 0
    score = best = length
    for symbol in gold:
        same = where.get(symbol, 0)
        diagonal = (((same & rises) + rises) ^ rises) | same | falls
        across_up = falls | (ones & ~(diagonal | rises))
        across_down = rises & diagonal
        if across_up & top:
            score += 1
        elif across_down & top:
            score -= 1
        across_up <<= 1
        rises = ((across_down << 1) | ~(diagonal | across_up)) & ones
        falls = across_up & diagonal & ones
        best = min(best, score)
    return best if best <= most else None


def passes_filter(chunks: Sequence[str], golds: Sequence[str], most: Sequence[int]) -> NDArray[np.bool_]:
    """
    Return which pairs may lie within a number of edits; see the module for the proof that no match is held back.

    Args:
        chunks: The chunks.

        golds: The gold texts.

        most: How many edits are of interest, for each chunk.

    Returns:
        Shape (chunks, golds).
    """
    passes = np.ones((len(chunks), len(golds)), dtype=np.bool_)
    # Where a chunk has no more disjoint 8-grams than edits are allowed, nothing can be told.
    asked = [place for place, chunk in enumerate(chunks) if len(chunk) // _Q > most[place]]
    if not asked or not golds:
        return passes
    held = np.flatnonzero(~_hold_apart([chunks[place] for place in asked], golds, [most[place] for place in asked]))
    passes[[asked[place] for place in held.tolist()]] = False
    left = sorted(set(asked) - {asked[place] for place in held.tolist()})
    if left:
        passes[left] = _hold_overlapping([chunks[place] for place in left], golds, [most[place] for place in left])
    return passes


def _hold_apart(chunks: Sequence[str], golds: Sequence[str], most: Sequence[int]) -> NDArray[np.bool_]:
    """Return which chunks have enough of their disjoint 8-grams somewhere in the gold texts."""
    pieces = [len(chunk) // _Q for chunk in chunks]
    joined = "".join([chunk[: count * _Q] for chunk, count in zip(chunks, pieces, strict=True)])
    everything = "".join(golds)  # a gram across a seam can only make one more seem to occur
    narrow = _latin(joined, everything)
    if narrow is not None:
        asked: Codes = np.frombuffer(narrow[0], _EIGHT_BYTES) * _SPREAD
    else:
        asked = (_code_points(joined).astype(np.uint64).reshape(-1, _Q) * _POWERS).sum(axis=1, dtype=np.uint64)
        asked *= _SPREAD
    hits = _marked(everything if narrow is None else narrow[1], asked)
    starts = list(accumulate(pieces, initial=0))[:-1]
    counts = np.add.reduceat(hits, starts, dtype=np.int64)
    return counts >= np.array(pieces) - np.array(most)


def _hold_overlapping(chunks: Sequence[str], golds: Sequence[str], most: Sequence[int]) -> NDArray[np.bool_]:
    """Return which chunks have enough of all their 8-grams in which gold text."""
    lengths = np.array([len(chunk) for chunk in chunks], dtype=np.int64)
    needed = lengths - (_Q - 1) - _Q * np.array(most, dtype=np.int64)
    joined = "".join(chunks)
    # Grams that reach into the next chunk are none of the chunk's own: every second sum is of those, and dropped.
    starts = np.cumsum(lengths) - lengths
    bounds = np.column_stack((starts, starts + lengths - (_Q - 1))).ravel()[: 2 * len(chunks)]
    passes = np.empty((len(chunks), len(golds)), dtype=np.bool_)
    for column, gold in enumerate(golds):
        narrow = _latin(joined, gold)
        asked = _grams(joined if narrow is None else narrow[0])
        hits = np.append(_marked(gold if narrow is None else narrow[1], asked), [False] * _Q)
        passes[:, column] = np.add.reduceat(hits, bounds, dtype=np.int64)[::2] >= needed
    return passes


def _latin(one: str, other: str) -> tuple[bytes, bytes] | None:
    """Return two texts with a byte for each character, None where one has others."""
    try:
        return one.encode("latin-1"), other.encode("latin-1")
    except UnicodeEncodeError:
        return None


def _marked(text: str | bytes, asked: Codes) -> NDArray[np.bool_]:
    """Return which grams a text seems to have; every one that it has is among them."""
    bits = max(_LEAST_BITS, (_SPARSE * len(text)).bit_length())
    shift = np.uint64(64 - bits)
    table = np.zeros(1 << bits, np.bool_)
    table[(_grams(text) >> shift).view(np.int64)] = True
    return table.take((asked >> shift).view(np.int64))


def _by_edlib(chunk: bytes, gold: bytes, most: int) -> int | None:
    distance = int(edlib.align(chunk, gold, mode="HW", task="distance", k=most)["editDistance"])
    return None if distance < 0 else distance


def _code_points(text: str) -> NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")


def _grams(text: str | bytes) -> Codes:
    """Return a hash of every 8-gram of a text, the high bits the best; of bytes, other ones than of characters."""
    if len(text) < _Q:
        return np.empty(0, dtype=np.uint64)
    if isinstance(text, bytes):  # eight bytes are one number, and the number is the gram itself
        return np.ndarray((len(text) - _Q + 1,), _EIGHT_BYTES, text, 0, (1,)) * _SPREAD
    codes = _code_points(text).astype(np.uint64)
    for step in (1, 2, 4):  # from hashes of 1 character to hashes of 2, of 4, of 8
        codes = codes[:-step] * np.uint64(pow(_BASE, step, 1 << 64)) + codes[step:]
    return codes * _SPREAD
