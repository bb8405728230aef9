"""
`Cover`: which stretches of documents the results of a batch take up, and how much of gold spans these cover together.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankgauge.base.frozen import read_only
from rankgauge.columns.judged_rows import Cutoff, Flags, Floats, Ints, gather

__all__ = ["Cover", "Lengths", "Stretches"]


class Lengths(NamedTuple):
    """
    How many characters are in stretches, each once; shape (n,) for samples, (gold,) for gold spans.

    Attributes:
        gold: In gold spans.

        retrieved: In results.

        both: In both.
    """

    gold: Floats
    retrieved: Floats
    both: Floats


class Stretches(NamedTuple):
    """
    Stretches of documents.

    Attributes:
        owner: The sample of each.

        document: A number that each document of a sample has.

        start: The first character.

        end: The last one, exclusive.
    """

    owner: Ints
    document: Ints
    start: Ints
    end: Ints

    def where(self, chosen: Flags | Ints) -> Stretches:
        """Return some of them, by a mask or an index."""
        return Stretches(*(column[chosen] for column in self))

    def owned(self, owner: Ints) -> Stretches:
        """Return the same with other owners."""
        return self._replace(owner=owner)


class Cover(NamedTuple):
    """
    The stretches of documents that gold spans and results of a batch take up.

    A result that was found by its text takes up the parts of gold spans that it holds, and the rest of its characters
    in a document of its own, which equal texts share.

    Attributes:
        gold: One stretch for each gold row.

        items: The stretches of results, in order of sample, then rank.

        rank: The rank of each of these.
    """

    gold: Stretches
    items: Stretches
    rank: Ints

    def marked(self) -> Cover:
        """Return the same columns, which from now on are read-only."""
        for column in (*self.gold, *self.items, self.rank):
            read_only(column)
        return self

    def until(self, k: Cutoff | None) -> Cover:
        """Return the same for the results within the cutoff."""
        return self if k is None else self.kept(self.rank <= (k if isinstance(k, int) else k[self.items.owner]))

    def kept(self, items: Flags) -> Cover:
        """Return the same for some stretches of results."""
        return self._replace(items=self.items.where(items), rank=self.rank[items])

    def take(self, samples: Ints) -> Cover:
        """Return a batch of some of the samples, in the order wanted."""
        gold, gold_owner = gather(self.gold.owner, samples)
        items, item_owner = gather(self.items.owner, samples)
        return Cover(
            self.gold.where(gold).owned(gold_owner), self.items.where(items).owned(item_owner), self.rank[items]
        )

    def of_samples(self, n: int, relevant: Flags) -> Lengths:
        """Return the lengths of each of *n* samples: of its relevant gold spans and of its results."""
        return _lengths(self.gold.where(relevant), self.items, n)

    def of_spans(self) -> Lengths:
        """Return the lengths of each gold span: of the span, and of the results that meet it, whole."""
        items, spans = gather(self.items.owner, self.gold.owner)  # every result beside every gold span of its sample
        beside, span = self.items.where(items).owned(spans), self.gold.where(spans)
        meets = (beside.document == span.document) & (np.minimum(beside.end, span.end) > beside.start)
        meets &= np.minimum(beside.end, span.end) > span.start
        first = np.ones(len(items), dtype=np.bool_)  # of the stretches of one result beside one gold span
        rank = self.rank[items]
        first[1:] = (rank[1:] != rank[:-1]) | (spans[1:] != spans[:-1])
        number = np.cumsum(first) - 1
        met = np.bincount(number, weights=meets) > 0
        n = len(self.gold.owner)
        return _lengths(self.gold.owned(np.arange(n)), beside.where(met[number]), n)


def _lengths(gold: Stretches, items: Stretches, n: int) -> Lengths:
    """
    Return the lengths of the stretches of each of *n* owners.

    All ends are swept in order. Stretches that begin minus stretches that ended, so far, say what is inside: gold
    [0, 8) and results [5, 9) and [7, 12) have ends 0 5 7 8 9 12; between 5 and 8 both are inside, 3 characters.
    """
    both = [np.concatenate(pair) for pair in zip(gold, items, strict=True)]
    owner, document = (np.concatenate([column, column]) for column in both[:2])
    place = np.concatenate(both[2:])
    order = _in_order(owner, document, place)
    is_gold = np.arange(len(both[0])) < len(gold.owner)
    inside = [_inside(kind, order) for kind in (is_gold, ~is_gold)]
    width = np.zeros(len(order), dtype=np.int64)
    place = place[order]
    width[:-1] = place[1:] - place[:-1]  # from one document to the next nothing is inside
    owner = owner[order]
    in_gold, in_items = inside
    return Lengths(
        *(
            np.bincount(owner[flags], weights=width[flags], minlength=n).astype(np.float64, copy=False)
            for flags in (in_gold, in_items, in_gold & in_items)
        )
    )


def _in_order(owner: Ints, document: Ints, place: Ints) -> Ints:
    """Return the order of ends by owner, document and place; that of equal ones is any, as nothing is between them."""
    sizes = [int(column.max(initial=0)) + 1 for column in (owner, document, place)]
    if math.prod(sizes) <= np.iinfo(np.int64).max:  # one number for each end is sorted in a fifth of the time
        return np.argsort((owner * sizes[1] + document) * sizes[2] + place)
    return np.lexsort((place, document, owner))


def _inside(kind: Flags, order: Ints) -> NDArray[np.bool_]:
    """Return between which ends, in order, at least one stretch of a kind lies."""
    begins = kind.astype(np.int64)
    inside: NDArray[np.bool_] = np.cumsum(np.concatenate([begins, -begins])[order]) > 0
    return inside
