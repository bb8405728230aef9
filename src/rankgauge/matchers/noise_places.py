r"""
Noise places: where markup, entities, cut words, numbers of lists and negations may begin, in many texts at once.

All characters are compared with a sign together. Of ``a [b](c)\n 2. d<br>`` the places are those of ``(``, the line end
before ``2.`` and ``<``; a pattern has to say whether anything begins there.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["negation_places", "noise_places"]

Codes = NDArray[np.unsignedinteger]
Integers = NDArray[np.int64]
_SOFT_HYPHEN, _HYPHEN, _APOSTROPHE = 0xAD, 0x2010, 0x2019
_LETTERS = ord("A")
"""All letters come from here on."""
_LONGEST_NUMBER = 3


def noise_places(whole: str) -> list[int]:
    """Return where noise may begin in texts."""
    codes = _codes(whole)
    if len(codes) < 3:
        return list(range(len(codes)))
    before, here, behind = codes[:-2], codes[1:-1], codes[2:]
    found = np.zeros(len(codes), np.bool_)
    middle = found[1:-1]
    _add_cut_words(found, codes)
    middle |= (before == ord("]")) & (here == ord("("))
    signs = here == ord("<")
    signs |= here == ord("&")
    signs &= behind > ord(" ")
    middle |= signs
    ends = here == ord(".")
    ends |= here == ord(")")
    blank = behind == ord(" ")
    blank |= behind == ord("\t")
    ends &= blank
    ends &= _is_digit(before)
    middle |= ends
    found[0], found[-1] = True, True  # at which it is not looked
    at = np.flatnonzero(found)
    is_end = (codes[at] == ord(".")) | (codes[at] == ord(")"))
    return [*at[~is_end].tolist(), *_list_lines(codes, at[is_end]).tolist()]


def negation_places(whole: str) -> list[int]:
    """Return where what stands for `not` may begin in texts."""
    codes = _codes(whole)
    if len(codes) < 3:
        return list(range(len(codes)))
    low = codes | 0x20
    is_n, is_t = low == ord("n"), low == ord("t")
    found = codes == ord("'")
    if codes.dtype.itemsize > 1:
        found |= codes == _APOSTROPHE
    found[1:-1] &= is_n[:-2] & is_t[2:]
    found[1:-2] |= is_n[:-3] & is_n[1:-2] & (low[2:-1] == ord("o")) & is_t[3:]
    places: list[int] = np.flatnonzero(found).tolist()
    return places


def _codes(whole: str) -> Codes:
    """Return the code of each character."""
    if whole.isascii():
        return np.frombuffer(whole.encode(), np.uint8)
    short = np.frombuffer(whole.encode("utf-16-le", "surrogatepass"), "<u2")
    return short if len(short) == len(whole) else np.frombuffer(whole.encode("utf-32-le", "surrogatepass"), "<u4")


def _add_cut_words(found: NDArray[np.bool_], codes: Codes) -> None:
    """Add hyphens behind a letter at the end of a line, and soft hyphens."""
    is_end = codes == ord("\n")
    is_end |= codes == ord("\r")
    near = is_end[1:].copy()
    near[:-1] |= is_end[2:] & (codes[1:-1] == ord(" "))
    hyphens = codes == ord("-")
    if codes.dtype.itemsize > 1:
        hyphens |= codes == _HYPHEN
        found |= codes == _SOFT_HYPHEN
    found[1:-1] |= hyphens[1:-1] & near[1:] & (codes[:-2] >= _LETTERS)


def _is_digit(codes: Codes) -> NDArray[np.bool_]:
    return codes - codes.dtype.type(ord("0")) < 10


def _list_lines(codes: Codes, ends: Integers) -> Integers:
    """Return the line ends before numbers of lists, of which the signs behind the numbers are known."""
    start = ends - 1
    for _ in range(_LONGEST_NUMBER - 1):
        start = start - _is_digit(codes[np.maximum(start - 1, 0)])
    start = start[start > 0]
    sign = codes[start - 1]
    blank = start[(sign == ord(" ")) | (sign == ord("\t"))]
    lines = start[sign == ord("\n")] - 1
    if len(blank):
        all_lines = np.flatnonzero(codes == ord("\n"))
        number = np.searchsorted(all_lines, blank) - 1
        lines = np.concatenate([lines, all_lines[number[number >= 0]]])
    return np.unique(lines)
