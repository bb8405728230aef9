"""
Placed rows: the results and the gold spans of a block as columns, which of these meet, and which results repeat others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain, count
from typing import NamedTuple

import numpy as np

from rankgauge.columns import Flags, Ints, Stretches, Words
from rankgauge.columns.judged_rows import distinct, stretches
from rankgauge.samples import PlacedBlock, Span

__all__ = ["Meetings", "PlacedRows"]

_MIXED = tuple(map(np.uint64, (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93)))
"""Odd numbers by which places become keys; what has the same key is compared."""


class Meetings(NamedTuple):
    """Which results meet which gold spans, in order of result, then gold span."""

    row: Ints  # the result
    gold: Ints  # the gold span
    start: Ints  # what is in both, from the beginning of the gold span
    end: Ints


class PlacedRows:
    """
    The rows of a block.

    Attributes:
        spans: The gold spans of each sample.

        items: Where each result is, in order of sample, then rank; documents have numbers.

        gold: Where each gold span is.

        starts: The row of the first result of each sample.
    """

    def __init__(self, block: PlacedBlock) -> None:
        self.block = block
        self.spans: list[tuple[Span, ...]] = [sample.expected.spans or () for sample in block.bare]
        self.counts = _column(block.counts, len(block.counts))
        self.starts: Ints = np.cumsum(self.counts) - self.counts
        self._documents, starts, ends = block.items.places or ([], [], [])
        places = [span.place for span in chain.from_iterable(self.spans)]
        named, begins, stops = zip(*places, strict=True)
        numbers = dict(zip(dict.fromkeys(chain(named, self._documents)), count()))
        self._n_documents = len(numbers)
        samples, n = np.arange(len(self.counts)), len(self._documents)
        items = (map(numbers.__getitem__, self._documents), starts, ends)
        gold = (map(numbers.__getitem__, named), begins, stops)
        self.items = Stretches(samples.repeat(self.counts), *(_column(each, n) for each in items))
        of_gold = samples.repeat(list(map(len, self.spans)))
        self.gold = Stretches(of_gold, *(_column(each, len(places)) for each in gold))

    @cached_property
    def has_spans(self) -> Flags:
        """Return which rows are of samples that have gold spans."""
        has = np.zeros(len(self.counts), dtype=np.bool_)
        has[self.gold.owner] = True
        return has[self.items.owner]

    @cached_property
    def _beside(self) -> tuple[Ints, Ints, Ints]:
        """Return the gold spans by sample and document; and for each row which of these are the first, and how many."""
        keys, rows = (each.owner * self._n_documents + each.document for each in (self.gold, self.items))
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        first = np.searchsorted(keys, rows, side="left")
        return order, first, np.searchsorted(keys, rows, side="right") - first

    @property
    def are_named(self) -> Flags:
        """Return which results are in a document that a gold span of their sample names."""
        return self._beside[2] > 0

    @property
    def n_beside(self) -> int:
        """Return how many pairs there are of a result and a gold span of its document."""
        return int(self._beside[2].sum())

    def document(self, row: int) -> str:
        """Return the document of a result."""
        return self._documents[row]

    def meetings(self) -> Meetings:
        """Return which results meet which gold spans."""
        order, first, beside = self._beside
        rows = np.arange(len(beside)).repeat(beside)
        gold = order[stretches(first, beside)]
        begin = self.gold.start[gold]
        start = np.maximum(self.items.start[rows], begin)
        end = np.minimum(self.items.end[rows], self.gold.end[gold])
        meet = np.flatnonzero(start < end)
        begin = begin[meet]
        return Meetings(rows[meet], gold[meet], start[meet] - begin, end[meet] - begin)

    @cached_property
    def repeats(self) -> Sequence[int]:
        """Return the rows that repeat an earlier one of their sample: its id and its place."""
        keys: Words = np.zeros(len(self._documents), dtype=np.uint64)
        for column, factor in zip(self.items, _MIXED, strict=True):
            keys += column.view(np.uint64) * factor
        order = np.argsort(keys)
        keys = keys[order]
        alike = order[1:][keys[1:] == keys[:-1]]
        return [row for sample in distinct(self.items.owner[alike]).tolist() for row in self._repeats_of(sample)]

    def _repeats_of(self, sample: int) -> Iterator[int]:
        first = int(self.starts[sample])
        own = slice(first, first + self.block.counts[sample])
        ids = self.block.items.ids
        columns = (*(self.block.items.places or ()), *(() if ids is None else (ids,)))
        seen = set()
        for row, names in enumerate(zip(*(column[own] for column in columns), strict=True), first):
            if names in seen:
                yield row
            seen.add(names)


def _column(values: Iterable[int], n: int) -> Ints:
    return np.fromiter(values, np.int64, n)
