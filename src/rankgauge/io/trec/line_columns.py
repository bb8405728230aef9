"""
The seam between bytes and columns: a block of lines, of a run or of judgments, becomes columns in one function.

Behind it are numpy's passes over the block (`line_fields`, `decimal_texts`), or the compiled kernel where it is
installed and the block is plain: one blank between fields, and no comments.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankgauge.base.plain_text import read_number
from rankgauge.catalog import compiled_kernel
from rankgauge.columns import PADDING, Floats, Ints, Slices, Words
from rankgauge.io.problems import MalformedError
from rankgauge.io.trec.decimal_texts import parse_floats
from rankgauge.io.trec.line_fields import Fields, find_fields

__all__ = ["QRELS", "RUN", "Lines", "read_lines"]


class Form(NamedTuple):
    """What stands where in a line; its query is field 0, its document field 2."""

    fields: int
    number: int  # the field of the score or grade
    is_run: bool  # further fields are allowed, and documents are hashed


RUN, QRELS = Form(6, 4, is_run=True), Form(4, 3, is_run=False)
_QUERY, _DOCUMENT, _RANK = 0, 2, 3
_MOST_UNREAD = 8  # numpy reads a block in which one in so many numbers has another notation
_NEAR = 256  # within how many bytes such a number is looked for


class Lines(NamedTuple):
    """Lines as columns: stretches of one query each, and the lines."""

    queries: Slices  # the query of each stretch
    first: Ints  # the first line of each
    documents: Slices
    numbers: Floats  # scores or grades, all finite
    keys: Words  # of the documents of a run; none for judgments
    left: Ints  # where the lines of the last query begin, if they were left out
    stated: Floats | None = None  # the ranks that lines state, NaN where that is no number; None where nobody asked

    @property
    def lengths(self) -> Ints:
        """Return how many lines each stretch has."""
        return np.diff(np.append(self.first, len(self.numbers)))


def read_lines(
    buffer: NDArray[np.uint8], end: int, form: Form, *, is_whole: bool = True, ranks: bool = False
) -> Lines | None:
    """
    Read the lines of a buffer from `PADDING` to *end*; None if there are none but comments and empty ones.

    Unless the block *is_whole*, its last query may go on behind it, and is left out. Raises `MalformedError` for lines
    that `explain` finds wrong.
    """
    if end > PADDING and not ranks and (lines := _compiled(buffer, end, form, is_whole=is_whole)) is not None:
        return lines
    fields = find_fields(buffer, end, form.fields, more=form.is_run) if end > PADDING else None
    return _columns(fields, form, is_whole=is_whole, ranks=ranks) if fields else None


def _columns(fields: Fields, form: Form, *, is_whole: bool, ranks: bool) -> Lines:
    """Return the columns of fields."""
    begins, left = fields.column(_QUERY).begins(), fields.begin[:0]
    if not is_whole:
        last = int(np.flatnonzero(begins)[-1])
        left, fields, begins = fields.begin[last:], fields.until(last), begins[:last]
    first, documents = np.flatnonzero(begins), fields.column(_DOCUMENT)
    numbers, wrong = parse_floats(fields.column(form.number))
    if len(wrong):
        raise MalformedError
    stated = parse_floats(fields.column(_RANK))[0] if ranks else None
    keys = documents.keys() if form.is_run else np.empty(0, dtype=np.uint64)
    return Lines(fields.column(_QUERY).at(first), first, documents, numbers, keys, left, stated)


def _compiled(buffer: NDArray[np.uint8], end: int, form: Form, *, is_whole: bool) -> Lines | None:
    """Return what a compiled kernel makes of lines; None where there is none, or numpy has to decide."""
    columns = compiled_kernel.read_lines(buffer, end, is_run=form.is_run)
    if columns is None or (not is_whole and len(columns.first) < 2):
        return None
    queries, first, documents, numbers, keys, n_unread = columns
    if n_unread * _MOST_UNREAD > len(numbers) or not _read_others(columns, form):
        return None
    left = first[:0]
    if not is_whole:
        last = int(first[-1])
        left, queries, first = queries.start[-1:], queries.at(slice(-1)), first[:-1]
        documents, numbers, keys = documents.at(slice(last)), numbers[:last], keys[:last]
    return Lines(queries, first, documents, numbers, keys, left)


def _read_others(columns: compiled_kernel.LineColumns, form: Form) -> bool:
    """Read the numbers that the kernel left, such as 1e-5; return whether all are finite."""
    documents, numbers = columns.documents, columns.numbers
    for row in np.flatnonzero(np.isnan(numbers)).tolist() if columns.n_unread else ():
        behind = int(documents.start[row] + documents.length[row])
        line, newline, _ = bytes(documents.buffer[behind : behind + _NEAR]).partition(b"\n")
        if not newline:
            return False
        numbers[row] = read_number(line.split()[form.number - _DOCUMENT - 1])
    return not columns.n_unread or not np.isnan(numbers).any()
