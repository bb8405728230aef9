"""
Probes: whether a text stands in another one, told from a small part of it.

`may_occur` asks for many parts in one step of numpy. Each 8 bytes of the text, at every 8th place of it, are marked
in a table. **No part that occurs is held back:** let a part of 24 characters stand in the text at place *p*. Among
its first 8 places there is one, *o*, for which *p* + *o* is a multiple of 8. There and 8 places on, the part's 8
characters are 8 bytes that were marked. So a part with no *o* below 8 for which both are marked does not occur. Bytes
are looked up by hash, where a collision can only make them seem to be marked.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

__all__ = ["PART", "may_occur", "stands_in"]

PART = 24
"""How many characters a part has."""

_PATIENCE = 4
_GRAM = 8
_BITS = 13
_EIGHT_BYTES = np.dtype("<u8")
_SHIFT = np.uint64(64 - _BITS)
_SPREAD = np.uint64(0x9E3779B97F4A7C15)


def may_occur(parts: Sequence[str], text: str) -> list[bool]:
    """Return which parts, each `PART` ASCII characters or empty, may occur; the module proves that none is missed."""
    asked = [part for part in parts if part]
    if not asked:
        return [True] * len(parts)
    # UTF-8 keeps what is ASCII in one piece, so that bytes may stand for characters.
    data = text.encode("utf-8", "surrogatepass")
    table = np.zeros(1 << _BITS, np.bool_)
    marks = np.frombuffer(data, _EIGHT_BYTES, len(data) // _GRAM) * _SPREAD
    marks >>= _SHIFT
    table[marks.view(np.int64)] = True
    windows = np.ndarray((len(asked), 2 * _GRAM), _EIGHT_BYTES, "".join(asked).encode(), 0, (PART, 1)) * _SPREAD
    windows >>= _SHIFT
    hits = table.take(windows.view(np.int64))
    found: list[bool] = np.logical_or.reduce(hits[:, :_GRAM] & hits[:, _GRAM:], axis=1).tolist()
    if len(asked) == len(parts):
        return found
    rest = iter(found)
    return [not part or next(rest) for part in parts]


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
