"""
Lines and rows by the compiled kernel: what numpy does otherwise.

A kernel takes only what is plainly well-formed. It hands anything else back, here as None, and numpy's road decides
about it and words what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankgauge.columns import PADDING, Floats, Ints, Qrels, RankingBatch, Slices, Words
from rankgauge.kernel import installed_kernel

__all__ = ["JudgedRows", "LineColumns", "join_judged", "query_finder", "read_lines"]

_SHORTEST_LINE = {True: len("q 0 d 1 1 t\n"), False: len("q 0 d 1\n")}


class LineColumns(NamedTuple):
    """Lines of a run or of judgments as columns."""

    queries: Slices  # the query of each stretch of lines with one query
    first: Ints  # the first line of each stretch
    documents: Slices
    numbers: Floats  # scores or grades; NaN if the kernel cannot read one
    keys: Words  # of the documents of a run; none for judgments
    n_unread: int  # how many numbers the kernel cannot read


def read_lines(buffer: NDArray[np.uint8], end: int, *, is_run: bool) -> LineColumns | None:
    """Read the lines of a buffer from `PADDING` to *end*."""
    kernel = installed_kernel()
    if kernel is None:
        return None
    most = (end - PADDING) // _SHORTEST_LINE[is_run] + 1
    starts, lengths, query_starts, query_lengths, first = np.empty((5, most), dtype=np.int64)
    keys, numbers = np.empty(most if is_run else 0, dtype=np.uint64), np.empty(most)
    columns = starts, lengths, keys, numbers, query_starts, query_lengths, first
    counts = kernel.read_lines(buffer, PADDING, end, is_run, *columns)
    if counts is None:
        return None
    rows, queries, n_unread = counts
    return LineColumns(
        Slices(buffer, query_starts[:queries], query_lengths[:queries]),
        first[:queries],
        Slices(buffer, starts[:rows], lengths[:rows]),
        numbers[:rows],
        keys[:rows],
        n_unread,
    )


def query_finder(qrels: Qrels) -> Callable[[Slices], Ints] | None:
    """Return what `Qrels.places_of` is; None if there is no kernel, or the ids were not read from a file."""
    kernel, ids = installed_kernel(), qrels.ids
    if kernel is None or not isinstance(ids, Slices) or not len(ids.start):
        return None
    known = _words(ids)
    table = np.zeros(2 << len(ids.start).bit_length(), dtype=np.uint64)
    if not kernel.index_texts(*known, table):
        return None

    def find(names: Slices) -> Ints:
        places = np.empty(len(names.start), dtype=np.int64)
        kernel.find_texts(*known, table, *_words(names), places)
        return places

    return find


def _words(texts: Slices) -> tuple[NDArray[np.uint8], Ints, Ints]:
    """Return texts as the kernel takes them."""
    start, length = (np.ascontiguousarray(column, dtype=np.int64) for column in (texts.start, texts.length))
    return texts.buffer, start, length


class JudgedRows(NamedTuple):
    """The judged rows of a batch: the query of each in the batch, its judgment, rank, and first and last of its tie."""

    owners: Ints
    judgments: Ints
    rank: Ints
    tie_first: Ints
    tie_last: Ints


def join_judged(batch: RankingBatch, qrels: Qrels, places: Ints, *, by_id: bool, narrow: bool) -> JudgedRows | None:
    """
    Join whole queries, which are at *places* in the judgments, with these, and rank the rows that are judged.

    None also if a document is retrieved twice or scores rise. Ties go *by_id*, else as they are given; *narrow*
    scores are compared as C floats.
    """
    kernel = installed_kernel()
    if kernel is None or qrels.joinable is None:
        return None
    gold, begins = qrels.joinable
    most = int(np.minimum(qrels.lengths[places], batch.lengths).sum())
    columns = np.empty((len(JudgedRows._fields), most), dtype=np.int64)
    rows = (*_words(batch.documents), *map(np.ascontiguousarray, (batch.keys, batch.scores, batch.lengths, places)))
    count = kernel.join_judged(*rows, qrels.documents.buffer, gold, begins, by_id, narrow, *columns)
    return None if count is None else JudgedRows(*(column[:count] for column in columns))
