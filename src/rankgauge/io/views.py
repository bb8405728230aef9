"""
Views: the texts of a polars column where they stand in memory, as Arrow's C interface offers them.

Arrow keeps a text of up to 12 bytes in 16: its length in four, then itself, then zeros. Most ids are that short, and
read as two integers each they need not be taken apart one by one, or put together anew. The interface is stable and
made for libraries that know nothing of each other; `ctypes` reaches it without a further package.
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

_LONGEST = 12
_VIEW, _TEXT = 16, 4
_PAST_EIGHT_DIGITS = 10**8
_TEXT_VIEWS = b"vu"


class ShortViews(NamedTuple):
    """
    Texts of up to 12 bytes.

    Attributes:
        buffer: The views, with `PADDING` bytes before and behind them.

        length: How many bytes each text has.
    """

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
        either: Flags = different[::2] | different[1::2]
        return either


def short_views(texts: pl.Series) -> ShortViews | None:
    """
    Return the texts of a column.

    Args:
        texts: A column of strings, none of them null.

    Returns:
        The texts; None where one has more than 12 bytes, or polars keeps them otherwise.
    """
    if not len(texts) or sys.byteorder != "little":
        return None
    buffer = np.empty(len(texts) * _VIEW + 2 * PADDING, dtype=np.uint8)
    buffer[:PADDING] = 0
    buffer[-PADDING:] = 0
    if not _copy_views(texts, buffer[PADDING:-PADDING]):
        return None
    length = buffer[PADDING:-PADDING].view(np.uint32)[::4].astype(np.int64)
    return ShortViews(buffer, length) if int(length.max()) <= _LONGEST else None


def number_views(numbers: pl.Series) -> ShortViews | None:
    """
    Return whole numbers as their decimal texts.

    Args:
        numbers: A column of integers, none of them null.

    Returns:
        The texts; None where a number is negative, or has more than eight digits.
    """
    if not len(numbers) or sys.byteorder != "little":
        return None
    if numbers.min() < 0 or numbers.max() >= _PAST_EIGHT_DIGITS:  # type: ignore[operator]  # integers, not null
        return None
    digits, n_digits = _four_digits()
    high, low = np.divmod(numbers.to_numpy().astype(np.int64, copy=False), 10_000)
    length = np.where(high > 0, n_digits[high] + 4, n_digits[low])
    words = digits[low] << np.uint64(32)
    words |= digits[high]
    words >>= ((8 - length) * 8).view(np.uint64)  # takes off leading zeros
    buffer = np.zeros(len(numbers) * _VIEW + 2 * PADDING, dtype=np.uint8)
    np.ndarray(len(numbers), "<u8", buffer.data, PADDING + _TEXT, (_VIEW,))[:] = words
    return ShortViews(buffer, length)


@functools.cache
def _four_digits() -> tuple[Words, Ints]:
    """Return the digits of the numbers below 10,000 as integers of four bytes, and how many count."""
    texts = "".join(f"{number:04d}" for number in range(10_000)).encode()
    n_digits = np.array([len(str(number)) for number in range(10_000)], dtype=np.int64)
    return np.frombuffer(texts, dtype=np.uint32).astype(np.uint64), n_digits


class _Schema(ctypes.Structure):
    """ArrowSchema, as the C data interface defines it."""


class _Array(ctypes.Structure):
    """ArrowArray, as the C data interface defines it."""


class _Stream(ctypes.Structure):
    """ArrowArrayStream, as the C stream interface defines it."""


_ReleaseSchema = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Schema))
_ReleaseArray = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Array))
_GetSchema = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Stream), ctypes.POINTER(_Schema))
_GetNext = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Stream), ctypes.POINTER(_Array))

_Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_void_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.c_void_p),
    ("dictionary", ctypes.c_void_p),
    ("release", _ReleaseSchema),
    ("private_data", ctypes.c_void_p),
]
_Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.c_void_p),
    ("dictionary", ctypes.c_void_p),
    ("release", _ReleaseArray),
    ("private_data", ctypes.c_void_p),
]
_Stream._fields_ = [
    ("get_schema", _GetSchema),
    ("get_next", _GetNext),
    ("get_last_error", ctypes.c_void_p),
    ("release", ctypes.c_void_p),
    ("private_data", ctypes.c_void_p),
]

_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype = ctypes.c_void_p
_capsule_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


def _copy_views(texts: pl.Series, target: NDArray[np.uint8]) -> bool:
    """Copy the views of a column, if it has them; the capsule releases the stream when it goes."""
    capsule = texts.__arrow_c_stream__()
    stream = ctypes.cast(_capsule_pointer(capsule, b"arrow_array_stream"), ctypes.POINTER(_Stream))
    schema = _Schema()
    if stream.contents.get_schema(stream, ctypes.byref(schema)):
        return False
    has_views: bool = schema.format == _TEXT_VIEWS
    schema.release(ctypes.byref(schema))
    done = 0
    while has_views and done < len(target):
        array = _Array()
        if stream.contents.get_next(stream, ctypes.byref(array)) or not array.release:
            return False
        size = array.length * _VIEW
        if size:
            ctypes.memmove(target[done:].ctypes.data, array.buffers[1] + array.offset * _VIEW, size)
        array.release(ctypes.byref(array))
        done += size
    return has_views
