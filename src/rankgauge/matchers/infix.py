r"""
Infix edit distance: how many edits lead from a chunk to some part of a gold text, and a filter before it.

**The filter is safe.** Let a chunk of length *m* lie within *e* edits (insertions, deletions, substitutions) of some
part of the gold text. Two counts follow, and a pair has to reach both.

*All 8-grams.* The chunk has *m* - 7 overlapping 8-grams. An edit touches one place of the chunk: a substituted or
deleted character belongs to at most 8 of its 8-grams, and an inserted one falls between two characters and so breaks
at most 7. Hence *e* edits break at most 8 *e*, and at least *m* - 7 - 8 *e* of the chunk's 8-grams, each counted at
every place it has there, are unbroken, that is, letter by letter, in the gold text (the q-gram lemma: Jokinen &
Ukkonen, Two algorithms for approximate string matching in static texts, MFCS 1991).

*Disjoint 8-grams.* From its start on the chunk is cut into floor(*m* / 8) pieces of 8 characters. A substituted or
deleted character belongs to at most one piece, and an inserted one falls within at most one. Hence *e* edits break at
most *e* pieces, and at least floor(*m* / 8) - *e* of them are in the gold text letter by letter. This count needs an
eighth of the work, so it is taken first; it demands something exactly where the other one does.

Grams are looked up by hash in a table of the gold text's, where a collision can only make a gram seem to occur; so the
filter may let a pair pass that does not match, and never holds one back that does.

*Short chunks.* Where floor(*m* / 8) - *e* is 0 or less these counts say nothing. There the chunk is cut into *e* + 1
pieces: by the same argument *e* edits break at most *e* of them, so one is in the gold text letter by letter.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

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


@lru_cache(maxsize=4096)
def allowed_edits(length: int, threshold: float) -> int:
    """Return ``floor((1 - threshold) * length)`` without rounding errors: the most edits that reach a threshold."""
    edits = min(int((1 - threshold) * length) + 1, length)
    while edits > 0 and (length - edits) / length < threshold:
        edits -= 1
    return edits


def infix_distance(chunk: str, gold: str, most: int) -> int | None:
    """Return the fewest edits from a chunk to some part of a gold text; None for more than *most*."""
    if (narrow := _narrow([chunk, gold])) is not None:
        return _by_edlib(narrow[0], narrow[1], most)
    chunk_codes, gold_codes = _code_points(chunk), _code_points(gold)
    symbols = np.unique(chunk_codes)
    if len(symbols) > _MOST_SYMBOLS:
        return infix_distance_any(chunk, gold, most)
    # Characters that the chunk does not contain match nothing in it, so they can share one symbol.
    places = np.minimum(np.searchsorted(symbols, gold_codes), len(symbols) - 1)
    gold_symbols = np.where(symbols[places] == gold_codes, places + 1, 0).astype(np.uint8)
    chunk_symbols = (np.searchsorted(symbols, chunk_codes) + 1).astype(np.uint8)
    return _by_edlib(chunk_symbols.tobytes(), gold_symbols.tobytes(), most)


def infix_distance_any(chunk: str, gold: str, most: int) -> int | None:
    """
    Return the same distance for any number of distinct symbols.

    Bit-parallel dynamic programming over whole columns (Myers, A fast bit-vector algorithm for approximate string
    matching based on dynamic programming, JACM 1999), on Python's integers of any length.
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


def passes_filter(
    chunks: Sequence[str], golds: Sequence[str], most: Sequence[int], asked: NDArray[np.bool_] | None = None
) -> NDArray[np.bool_]:
    """Return which pairs (all, or those *asked* for) may match; the module proves that no match is held back."""
    passes = np.ones((len(chunks), len(golds)), dtype=np.bool_) if asked is None else asked.copy()
    pieces = np.fromiter(map(len, chunks), np.int64, len(chunks)) // _Q
    needed = pieces - np.array(most, dtype=np.int64)
    for row in np.flatnonzero(needed <= 0).tolist():
        open_columns = passes[row].nonzero()[0].tolist()
        some_pieces = _cut(chunks[row], most[row] + 1)
        passes[row] = False
        passes[row, [column for piece in some_pieces for column in open_columns if piece in golds[column]]] = True
    rows = np.flatnonzero(needed > 0)
    if not len(rows):
        return passes
    pieces, needed = pieces[rows], needed[rows]
    starts = np.cumsum(pieces) - pieces
    asked_chunks = [chunks[row] for row in rows.tolist()]
    joined = "".join([chunk[: len(chunk) // _Q * _Q] for chunk in asked_chunks])  # whole pieces
    narrow = _narrow([joined, *golds])
    texts: Sequence[str | bytes] = golds if narrow is None else narrow[1:]
    grams_apart = _grams_apart(joined if narrow is None else narrow[0])
    left = passes[rows]
    for column, text in enumerate(texts):
        bits = max(_LEAST_BITS, (_SPARSE * len(text)).bit_length())
        shift = np.uint64(64 - bits)
        table = np.zeros(1 << bits, np.bool_)
        table[_places(_grams(text), shift)] = True
        still = left[:, column]  # a view: what is decided here is decided there
        still &= np.add.reduceat(table.take(_places(grams_apart, shift)).astype(np.int64), starts) >= needed
        for at in still.nonzero()[0].tolist():
            chunk = asked_chunks[at]
            grams = _grams(chunk if narrow is None else chunk.encode("latin-1"))
            count = np.count_nonzero(table.take(_places(grams, shift)))
            still[at] = count >= len(grams) - _Q * most[rows[at]]
    passes[rows] = left
    return passes


def _cut(text: str, count: int) -> list[str]:
    """Return a text in so many pieces of one length, without what is left at its end; empty ones if it is too short."""
    size = len(text) // count
    return [text[size * place : size * (place + 1)] for place in range(count)]


def _places(grams: Codes, shift: np.uint64) -> NDArray[np.int64]:
    """Return where grams are in a table: at their high bits."""
    return (grams >> shift).view(np.int64)


def _narrow(texts: Sequence[str]) -> list[bytes] | None:
    """Return texts with a byte for each character; None if one of them has characters that do not fit."""
    try:
        return [text.encode("latin-1") for text in texts]
    except UnicodeEncodeError:
        return None


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


def _grams_apart(text: str | bytes) -> Codes:
    """Return the same hash of every eighth 8-gram, for a text of whole pieces."""
    if isinstance(text, bytes):
        return np.frombuffer(text, _EIGHT_BYTES) * _SPREAD
    pieces = _code_points(text).astype(np.uint64).reshape(-1, _Q)
    codes: Codes = (pieces * _POWERS).sum(axis=1, dtype=np.uint64)
    return codes * _SPREAD
