"""
Views: short ids of a polars column where they are in memory, read over Arrow's C stream interface.

Arrow keeps a text of up to 12 bytes in 16: its length in four bytes, then the text, then zeros. `ctypes` reads those
bytes as they are; every public way of polars writes each id anew first, which makes a Parquet run of seven million rows
take a fifth longer (``benchmarks/trec.py``).
"""

from __future__ import annotations

import ctypes
import functools
import sys
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rankgauge.columns import PADDING, Flags, Ints, Slices, Words, short_keys

__all__ = ["ShortViews", "number_views", "short_views"]

# whether a word of Arrow's structures has eight bytes, and the lowest of them first
_IS_READABLE = sys.byteorder == "little" and sys.maxsize > 1 << 32
_LONGEST = 12
_VIEW, _TEXT = 16, 4
_PAST_EIGHT_DIGITS = 10**8


class ShortViews(NamedTuple):
    """Texts of up to 12 bytes: their views, with `PADDING` bytes before and behind them, and the length of each."""

    buffer: NDArray[np.uint8]
    length: Ints

    def slices(self) -> Slices:
        """Return the texts."""
        begin = PADDING + _TEXT
        return Slices(self.buffer, np.arange(begin, begin + len(self.length) * _VIEW, _VIEW), self.length)

    def keys(self) -> Words:
        """Return a hash of each text, the same as that of its slice."""
        n, begin = len(self.length), PADDING + _TEXT
        first: Words = np.ndarray(n, "<u8", self.buffer.data, begin, (_VIEW,))
        second: NDArray[np.uint32] = np.ndarray(n, "<u4", self.buffer.data, begin + 8, (_VIEW,))
        return short_keys(first, second, self.length)

    def differ(self) -> Flags:
        """Return which texts differ from the one before; shape (n - 1,)."""
        words = self.buffer[PADDING:-PADDING].view(np.uint64)
        different = words[2:] != words[:-2]
        differ: Flags = different[::2] | different[1::2]
        return differ


def short_views(texts: pl.Series) -> ShortViews | None:
    """Return the texts of a column without nulls; None if one has more than 12 bytes, or views are not to be had."""
    if not len(texts) or not _IS_READABLE:
        return None
    buffer = np.empty(len(texts) * _VIEW + 2 * PADDING, dtype=np.uint8)
    buffer[:PADDING] = buffer[-PADDING:] = 0
    views = buffer[PADDING:-PADDING]
    if not _copy_views(texts, views):
        return None
    length = views.view(np.uint32)[::4].astype(np.int64)
    return ShortViews(buffer, length) if int(length.max()) <= _LONGEST else None


def number_views(numbers: pl.Series) -> ShortViews | None:
    """Return integers, none of them null, as decimal texts; None if one is negative or has more than 8 digits."""
    if not len(numbers) or not _IS_READABLE:
        return None
    if numbers.min() < 0 or numbers.max() >= _PAST_EIGHT_DIGITS:  # type: ignore[operator]  # integers, not null
        return None
    # 70512: high 7, low 512; digits "0007" "0512", of which 1 + 4 count; the word "00070512" loses three zeros
    digits, n_digits = _four_digits()
    high, low = np.divmod(numbers.to_numpy().astype(np.int64, copy=False), 10_000)
    length = np.where(high > 0, n_digits[high] + 4, n_digits[low])
    words = digits[low] << np.uint64(32)
    words |= digits[high]
    words >>= ((8 - length) * 8).view(np.uint64)  # the first digit is in the lowest byte
    buffer = np.zeros(len(numbers) * _VIEW + 2 * PADDING, dtype=np.uint8)
    np.ndarray(len(numbers), "<u8", buffer.data, PADDING + _TEXT, (_VIEW,))[:] = words
    return ShortViews(buffer, length)


@functools.cache
def _four_digits() -> tuple[Words, Ints]:
    """Return the digits of the numbers below 10,000 as integers of four bytes, and how many count."""
    texts = "".join(f"{number:04d}" for number in range(10_000)).encode()
    n_digits = np.array([len(str(number)) for number in range(10_000)], dtype=np.int64)
    return np.frombuffer(texts, dtype=np.uint32).astype(np.uint64), n_digits


# Arrow's structures are made of eight-byte words: ArrowArrayStream begins with get_schema and get_next; ArrowSchema
# has its format string in word 0 and its release function in word 7; ArrowArray has its length in word 0, its offset
# in word 2, the addresses of its buffers (validity, then views) behind word 5, and its release function in word 8.
_Schema, _Array = ctypes.c_size_t * 9, ctypes.c_size_t * 10
_Get = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
_Release = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_TEXT_VIEWS = b"vu"

_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype = ctypes.c_void_p
_capsule_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


def _copy_views(texts: pl.Series, target: NDArray[np.uint8]) -> bool:
    """Copy the views of a column, if it has them; the capsule releases the stream when it goes."""
    capsule = texts.__arrow_c_stream__()
    stream = _capsule_pointer(capsule, b"arrow_array_stream")
    get_schema, get_next = map(_Get, (ctypes.c_size_t * 2).from_address(stream))
    schema, array = _Schema(), _Array()
    if get_schema(stream, ctypes.byref(schema)):
        return False
    has_views = ctypes.string_at(schema[0]) == _TEXT_VIEWS
    _Release(schema[7])(ctypes.byref(schema))
    done = 0
    while has_views and done < len(target):
        if get_next(stream, ctypes.byref(array)) or not array[8]:
            return False
        length, offset = array[0] * _VIEW, array[2] * _VIEW
        if length:
            views = ctypes.c_size_t.from_address(array[5] + ctypes.sizeof(ctypes.c_size_t)).value
            ctypes.memmove(target[done:].ctypes.data, views + offset, length)
        _Release(array[8])(ctypes.byref(array))
        done += length
    return has_views
