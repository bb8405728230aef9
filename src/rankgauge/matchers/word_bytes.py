"""
Words in bytes: where the words of prepared texts begin and end, and which bytes they begin with.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["FIRST_BYTES", "Integers", "eight_bytes", "found_words", "in_words", "is_digit", "padded"]

Integers = NDArray[np.int64]
_WINDOW = np.dtype("<u8")
FIRST_BYTES = np.array([(1 << 8 * size) - 1 for size in range(9)], dtype=np.uint64)
"""What leaves so many of eight bytes."""
_PADDING = b" " * 16
"""Behind all words, so that the eight bytes from any place on can be read."""


def padded(parts: Sequence[bytes]) -> bytes:
    """Return prepared texts with null characters between them and with blanks around them."""
    return b" ".join([b"", b"\0".join(parts), _PADDING])


def in_words(codes: NDArray[np.uint8]) -> tuple[NDArray[np.bool_], Integers, Integers]:
    """Return which bytes of padded texts are parts of words, and where underscores are, and points and commas."""
    letters = codes | 0x20
    letters -= ord("a")
    inside = letters < 26
    inside |= is_digit(codes)
    inside |= codes >= 0x80
    between = inside[:-2] & inside[2:]
    between &= _is_mark(codes[1:-1])
    at = np.flatnonzero(between)
    at += 1
    before, behind, sign = is_digit(codes[at - 1]), is_digit(codes[at + 1]), codes[at]
    is_line, is_hyphen = sign == ord("_"), (sign == ord("-")) | (sign == ord("/"))
    inside[at[is_line | (is_hyphen & (before | behind)) | (before & behind)]] = True
    return inside, at[is_line], at[before & behind & ((sign == ord(".")) | (sign == ord(",")))]


def is_digit(codes: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Return which bytes are ASCII digits."""
    return codes - np.uint8(ord("0")) < 10


def _is_mark(codes: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Return which bytes are `MARKS`, of which four are in a row."""
    found = codes - np.uint8(ord(",")) < 4
    found |= codes == ord(":")
    found |= codes == ord("_")
    return found


def found_words(inside: NDArray[np.bool_]) -> tuple[Integers, Integers]:
    """Return where words begin and end."""
    edges = np.flatnonzero(inside[1:] != inside[:-1])
    edges += 1
    return edges[::2], edges[1::2]


def eight_bytes(data: bytes, starts: Integers) -> NDArray[np.uint64]:
    """Return the eight bytes from each place on."""
    from_each = np.ndarray((len(data) - 7,), _WINDOW, data, strides=(1,))
    windows: NDArray[np.uint64] = from_each[starts]  # a third of the time that `take` needs, which copies all of them
    return windows
