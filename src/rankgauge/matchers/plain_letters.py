"""
Plain letters: texts beyond ASCII, folded a character at a time, if no other one beside it matters.

That is so for letters of scripts with spaces between words, most signs, and accents that are one character with their
letter. Words are the same as those of `joined_words`, but what is said before them is not there.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rankgauge.base.late_pattern import late_pattern
from rankgauge.matchers.spelling import PLAIN_SIGNS, UNSPACED_CHARACTER, folded_wide

__all__ = ["plainly_folded"]

_UNKNOWN, _ODD = 0xFFFF, 0xFFFE
"""What is no character: codes that nobody asked for yet, and characters that are not folded alone."""
_JAMO = late_pattern("[\u1100-\u11ff\ua960-\ua97f\ud7b0-\ud7ff]")
"""Parts of Korean letters: those beside each other are one."""
_HALVES = slice(0xD800, 0xE000)
"""What characters with higher codes consist of."""


@functools.cache
def _table() -> NDArray[np.uint16]:
    """Return what each character is folded to, as far as is known."""
    table = np.full(1 << 16, _UNKNOWN, np.uint16)
    table[:0x80] = np.arange(0x80)
    table[_HALVES] = _ODD
    return table


def plainly_folded(texts: Sequence[str]) -> list[bytes | None]:
    """Return texts folded a character at a time, in UTF-8; None for those that have characters that are not."""
    whole = "\0".join(texts)
    codes = np.frombuffer(whole.encode("utf-16-le", "surrogatepass"), "<u2")
    folded = _looked_up(codes)
    odd = _distinct(codes[folded == _ODD])
    longer = {code: each for code in odd if (each := _folded(code)).isalpha() and each.isascii()}  # ss, ligatures
    for code, letters in longer.items():
        whole = whole.replace(chr(code), letters)
    if longer:
        folded = _looked_up(np.frombuffer(whole.encode("utf-16-le", "surrogatepass"), "<u2"))
    parts = folded.tobytes().decode("utf-16-le").split("\0")
    return [None if chr(_ODD) in part else part.encode() for part in parts]


def _looked_up(codes: NDArray[np.uint16]) -> NDArray[np.uint16]:
    """Return what each code is folded to, `_ODD` if it is not folded alone."""
    table = _table()
    folded = table.take(codes)
    unknown = folded == _UNKNOWN
    if unknown.any():
        for code in _distinct(codes[unknown]):
            letters = _folded(code)
            table[code] = ord(letters) if len(letters) == 1 else _ODD
        folded = table.take(codes)
    return folded


def _distinct(codes: NDArray[np.uint16]) -> list[int]:
    """Return each code once."""
    is_there = np.zeros(1 << 16, np.bool_)
    is_there[codes] = True
    distinct: list[int] = np.flatnonzero(is_there).tolist()
    return distinct


@functools.cache
def _folded(code: int) -> str:
    """Return what a character is in folded words, or between words; empty if that depends on those beside it."""
    plain = chr(PLAIN_SIGNS[code])
    if plain.isascii():
        return plain
    folded = folded_wide(plain) if plain.isalpha() else ""
    depends = not folded.isalpha() or any(each.search(plain + folded) for each in (UNSPACED_CHARACTER, _JAMO))
    return "" if depends else folded
