"""
Probes: whether a text stands in another one, told from a small part of it.

`may_occur` asks for many parts in one step of numpy, each in a text of its own. Each 8 bytes of a text, at every 8th
place of it, are marked in a table that all texts share, salted so that each has its own marks. **No part that occurs is
held back:** let a part of 24 characters stand in its text at place *p*. Among its first 8 places there is one, *o*, for
which *p* + *o* is a multiple of 8. There and 8 places on, the part's 8 characters are 8 bytes that were marked. So a
part with no *o* below 8 for which both are marked does not occur. Bytes are looked up by hash, where a collision can
only make them seem to be marked.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["PART", "may_occur", "stands_in"]

PART = 24
"""How many characters a part has."""

_PATIENCE = 4
_GRAM = 8
_BITS = range(13, 21)
_SPARSE = 16
"""How many places the table has for each mark."""
_EIGHT_BYTES = np.dtype("<u8")
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
_SALT = np.uint64(0xD1B54A32D192ED03)


def may_occur(parts: Sequence[str], counts: NDArray[np.int64], texts: Sequence[str]) -> NDArray[np.bool_]:
    """
    Return which parts may occur in their texts; the module proves that none is missed.

    Args:
        parts: `PART` ASCII characters each, or empty: those for the first text, then those for the second, ...

        counts: How many parts there are for each text; shape (texts,).

        texts: What they may occur in.

    Returns:
        One verdict for each part, true for an empty one; shape (parts,).
    """
    asked = np.fromiter(map(bool, parts), np.bool_, len(parts))
    if not asked.any():
        return ~asked
    # UTF-8 keeps what is ASCII in one piece, so that bytes may stand for characters; each text begins at an 8th place.
    data = [text.encode("utf-8", "surrogatepass") for text in texts]
    padded = [each + bytes(-len(each) % _GRAM) for each in data]
    sizes = np.fromiter(map(len, padded), np.int64, len(padded)) // _GRAM
    bits = min(max((_SPARSE * int(sizes.sum())).bit_length(), _BITS.start), _BITS.stop - 1)
    shift = np.uint64(64 - bits)
    salts = np.arange(1, len(texts) + 1, dtype=np.uint64) * _SALT
    table = np.zeros(1 << bits, np.bool_)
    table[_hashes(np.frombuffer(b"".join(padded), _EIGHT_BYTES), np.repeat(salts, sizes), shift)] = True
    own = np.repeat(salts, counts)[asked][:, None]
    joined = "".join(parts).encode()
    windows = np.ndarray((len(own), _GRAM), _EIGHT_BYTES, joined, 0, (PART, 1))
    marked = table.take(_hashes(windows, own, shift))
    some = np.flatnonzero(marked.any(axis=1))  # few: most parts end here
    windows = np.ndarray((len(own), _GRAM), _EIGHT_BYTES, joined, _GRAM, (PART, 1))[some]
    found = np.zeros(len(own), np.bool_)
    found[some] = (marked[some] & table.take(_hashes(windows, own[some], shift))).any(axis=1)
    verdicts = ~asked
    verdicts[asked] = found
    return verdicts


def _hashes(words: NDArray[np.uint64], salts: NDArray[np.uint64], shift: np.uint64) -> NDArray[np.int64]:
    hashes = words ^ salts
    hashes *= _SPREAD
    hashes >>= shift
    return hashes.view(np.int64)


def stands_in(form: str, text: str, part: str, at: int) -> bool:
    """
    Return ``form in text``, from where a part of the form stands in the text.

    Wherever the form stands in the text, its first *part* does, so that it is enough to look there.
    """
    if not part:
        return form in text
    ahead = form.find(part)
    for _ in range(_PATIENCE):  # a text that says the same again and again is left to `in`, which stays linear
        if at >= ahead and text.startswith(form, at - ahead):
            return True
        at = text.find(part, at + 1)
        if at < 0:
            return False
    return form in text
