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

import edlib
import numpy as np
from numpy.typing import NDArray

__all__ = ["allowed_edits", "infix_distance", "infix_distance_any", "passes_filter"]

Codes = NDArray[np.uint64]

_Q = 8
_MOST_SYMBOLS = 255
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
_BASE = 0x100000001B3
_LEAST_BITS = 12


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
    if chunk.isascii() and gold.isascii():
        return _by_edlib(chunk.encode(), gold.encode(), most)
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
    lengths = np.array([len(chunk) for chunk in chunks], dtype=np.int64)
    needed = lengths - (_Q - 1) - _Q * np.asarray(most, dtype=np.int64)
    passes = np.ones((len(chunks), len(golds)), dtype=np.bool_)
    asked = np.flatnonzero(needed > 0)
    if not len(asked):
        return passes
    joined = "".join(chunks[place] for place in asked.tolist())
    is_ascii = joined.isascii() and all(gold.isascii() for gold in golds)
    grams = _grams(joined, is_ascii=is_ascii)
    starts = np.cumsum(lengths[asked]) - lengths[asked]
    # Grams that reach into the next chunk are none of the chunk's own: they are left out of its sum.
    ends = starts + lengths[asked] - (_Q - 1)
    for place, gold in enumerate(golds):
        bits = max(_LEAST_BITS, (16 * len(gold)).bit_length())
        shift = np.uint64(64 - bits)
        table = np.zeros(1 << bits, dtype=np.bool_)
        table[_grams(gold, is_ascii=is_ascii) >> shift] = True
        running = np.concatenate(([0], np.cumsum(table[grams >> shift], dtype=np.int64)))
        passes[asked, place] = running[ends] - running[starts] >= needed[asked]
    return passes


def _by_edlib(chunk: bytes, gold: bytes, most: int) -> int | None:
    distance = int(edlib.align(chunk, gold, mode="HW", task="distance", k=most)["editDistance"])
    return None if distance < 0 else distance


def _code_points(text: str) -> NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")


def _grams(text: str, *, is_ascii: bool) -> Codes:
    """Return a hash of every 8-gram of a text: spread over 64 bits, the high ones the best."""
    if len(text) < _Q:
        return np.empty(0, dtype=np.uint64)
    if is_ascii:  # eight characters are eight bytes of one number, and the number is the gram itself
        data = text.encode()
        grams: Codes = np.ndarray((len(data) - _Q + 1,), dtype="<u8", buffer=data, strides=(1,))
        return grams * _SPREAD
    codes = _code_points(text).astype(np.uint64)
    for step in (1, 2, 4):  # from hashes of 1 character to hashes of 2, of 4, of 8
        codes = codes[:-step] * np.uint64(pow(_BASE, step, 1 << 64)) + codes[step:]
    return codes * _SPREAD
