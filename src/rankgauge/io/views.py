"""
Views: the texts of a polars column where they stand in memory, as Arrow's C interface offers them.

Arrow keeps a text of up to 12 bytes in 16: its length in four, then itself, then zeros. Most ids are that short, and
read as two integers each they need not be taken apart one by one, or put together anew. The interface is a stable one
between processes of any library; `PyCapsule` and `ctypes` reach it without a package more.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Any, ClassVar, NamedTuple

import numpy as np
import polars as pl

from rankgauge.judged import Flags
from rankgauge.rankings import PADDING, Slices, Words, short_keys

__all__ = ["ShortViews", "short_views"]

_LONGEST = 12
_VIEW = 16
_TEXT_VIEWS = b"vu"
_LITTLE_ENDIAN = sys.byteorder == "little"


class ShortViews(NamedTuple):
    """
    Texts of up to 12 bytes.

    Attributes:
        buffer: The views, with `PADDING` bytes before and behind them.

        words: The same as integers: length and four bytes, then eight bytes; shape (n, 2).
    """

    buffer: np.ndarray
    words: Words

    def slices(self) -> Slices:
        """Return the texts."""
        n = len(self.words)
        return Slices(self.buffer, np.arange(PADDING + 4, PADDING + 4 + n * _VIEW, _VIEW), self._lengths())

    def keys(self) -> Words:
        """Return a hash of each text, the same as that of its slice."""
        low, high = self.words[:, 0] >> np.uint64(32), self.words[:, 1] << np.uint64(32)
        low |= high
        return short_keys(low, self.words[:, 1] >> np.uint64(32), self._lengths())

    def differ(self) -> Flags:
        """Return which texts differ from the one before; shape (n - 1,)."""
        first, second = self.words[:, 0], self.words[:, 1]
        different: Flags = (first[1:] != first[:-1]) | (second[1:] != second[:-1])
        return different

    def _lengths(self) -> np.ndarray:
        return (self.words[:, 0] & np.uint64(0xFFFFFFFF)).view(np.int64)


def short_views(texts: pl.Series) -> ShortViews | None:
    """
    Return the texts of a column.

    Args:
        texts: A column of strings, none of them null.

    Returns:
        The texts; None where one has more than 12 bytes, or polars keeps them otherwise.
    """
    if not len(texts) or not _LITTLE_ENDIAN:
        return None
    buffer = np.empty(len(texts) * _VIEW + 2 * PADDING, dtype=np.uint8)
    buffer[:PADDING] = 0
    buffer[-PADDING:] = 0
    if not _copy_views(texts, buffer[PADDING:-PADDING]):
        return None
    words = buffer[PADDING:-PADDING].view(np.uint64).reshape(-1, 2)
    if int((words[:, 0] & np.uint64(0xFFFFFFFF)).max()) > _LONGEST:
        return None
    return ShortViews(buffer, words)


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


def _copy_views(texts: pl.Series, target: np.ndarray) -> bool:
    """Copy the views of a column, if it has them; the capsule releases the stream when it goes."""
    capsule = texts.__arrow_c_stream__()
    stream = ctypes.cast(_capsule_pointer(capsule, b"arrow_array_stream"), ctypes.POINTER(_Stream))
    schema = _Schema()
    if stream.contents.get_schema(stream, ctypes.byref(schema)):
        return False
    has_views = schema.format == _TEXT_VIEWS
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
