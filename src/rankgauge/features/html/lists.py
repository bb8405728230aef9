"""
Ranked lists as the script of the report reads them: columns over all samples, which share one list of names a sample.

A sample's names are the items that any run lists near its top, and those of its ground truth, each once. Lists, judged
rows and gold items refer to them by their places, which are small numbers, so that a list takes a byte a rank.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankgauge.base.plain_text import all_visible, visible
from rankgauge.columns import Floats, Ints
from rankgauge.features.html.packing import Packer, Texts
from rankgauge.features.html.ranked_lists import ColumnFacts, RankedLists, ResultLists
from rankgauge.scoring.dropped import Dropped
from rankgauge.scoring.facts import covered_stretch, matched_stretch

__all__ = ["ListsWriter"]

_TOP = 20
"""Judged rows down to this rank are kept, and below it those that matter to a score."""

_Row = dict[str, Any]
_Key = str | tuple[str | None]
"""An id, or the text of an item that has no id."""


class ListsWriter:
    """
    Writes the lists of several runs, one kind of ground truth after the other.

    The samples are numbered by *place*; texts go to *texts* in the order that the samples have in *order*.
    """

    def __init__(self, packer: Packer, texts: Texts, place: Mapping[str, int], order: Sequence[str]) -> None:
        self._packer = packer
        self._texts = texts
        self._place = place
        self._order = [place[sample_id] for sample_id in order]

    def written(
        self, runs: Sequence[ResultLists | None], names: Sequence[str], documents: Mapping[str, str]
    ) -> tuple[list[_Row], list[list[_Row | None]]]:
        """Return what the header has on the kinds of ground truth, and on the columns *names* of every run."""
        columns: list[list[_Row | None]] = [[None] * len(names) for _ in runs]
        kinds = dict.fromkeys(facts.lists.judged for run in runs if run is not None for facts in run.columns.values())
        sets = []
        for number, judged in enumerate(kinds):
            kind = _Kind(judged, runs, self._place)
            sets.append(self._set(kind, documents))
            for run, part in kind.parts.items():
                columns[run] = [
                    {"set": number, **self._column(part, part.columns[name])} if name in part.columns else column
                    for name, column in zip(names, columns[run], strict=True)
                ]
        return sets, columns

    def _set(self, kind: _Kind, documents: Mapping[str, str]) -> _Row:
        packer = self._packer
        texts = self._item_texts(kind, documents)
        columns = [(part.item_keys(), part.item_counts) for part in kind.parts.values()]
        gold: _Row = {"count": packer.counts(kind.gold_counts), "grade": packer.floats(kind.gold_grades)}
        if kind.by_id:
            columns.append((kind.gold_names, kind.gold_counts))
        named, codes = _numbered(columns)
        if kind.by_id:
            gold["item"] = packer.counts(codes[-1])
        else:
            gold["text"] = packer.counts(self._gold_texts(kind))
        flat = ["" if isinstance(name, tuple) else name for name in chain.from_iterable(named)]
        runs: list[_Row | None] = [None] * kind.n_runs
        for (run, part), item_codes in zip(kind.parts.items(), codes, strict=False):
            runs[run] = {
                "listed": None if part.is_whole else packer.counts(part.listed),
                "count": packer.counts(part.item_counts),
                "item": packer.counts(item_codes),
                "depth": packer.counts(part.depth),
                **texts[run],
                "rows": packer.counts(part.row_counts),
                "rank": packer.counts(part.rank),
                "gold": packer.counts(part.gold),
                "dropped": self._dropped(part),
            }
        return {
            "judged": visible(kind.judged),
            "names": packer.texts(all_visible(flat)),
            "named": packer.counts(list(map(len, named))),
            "gold": gold,
            "runs": runs,
        }

    def _dropped(self, part: _Part) -> _Row | None:
        """Return which gold items are lost because a result was dropped, from which rank, and by which of the steps."""
        if not part.dropped:
            return None
        steps = list(dict.fromkeys(each.step for _, _, each in part.dropped))
        return {
            "sample": self._packer.counts([sample for sample, _, _ in part.dropped]),
            "gold": self._packer.counts([gold for _, gold, _ in part.dropped]),
            "rank": self._packer.counts([each.rank for _, _, each in part.dropped]),
            "step": self._packer.counts([steps.index(each.step) for _, _, each in part.dropped]),
            "steps": all_visible(steps),
        }

    def _item_texts(self, kind: _Kind, documents: Mapping[str, str]) -> dict[int, _Row]:
        """Return the texts of items, and where what matched begins and ends; sample by sample, so that runs share."""
        excerpts = {
            run: np.zeros((4, len(part.lists.items.ids)), dtype=np.int64)
            for run, part in kind.parts.items()
            if documents or part.lists.items.texts is not None or part.lists.items.covers is not None
        }
        gold = {run: kind.parts[run].gold_of_items() for run in excerpts}
        for sample_no in self._order if excerpts else ():
            for run, columns in excerpts.items():
                self._add_texts(kind.parts[run], sample_no, gold[run], documents, columns)
            if self._texts.is_full:
                break
        rows: dict[int, _Row] = {
            run: {"text": None, "from": None, "length": None, "beside": None} for run in kind.parts
        }
        for run, columns in excerpts.items():
            rows[run] |= zip(rows[run], map(self._packer.counts, columns[:, kind.parts[run].item_order]), strict=True)
        return rows

    def _add_texts(
        self,
        part: _Part,
        sample_no: int,
        gold: Mapping[int, Sequence[str]],
        documents: Mapping[str, str],
        excerpts: NDArray[np.int64],
    ) -> None:
        """Take the texts of one sample of one run, and note where they are."""
        sample, items = part.number.get(sample_no), part.lists.items
        if sample is None:
            return
        for item in range(int(items.starts[sample]), int(items.starts[sample + 1])):
            name, text = items.ids[item], None if items.texts is None else items.texts[item]
            text = documents.get(name) if text is None and name is not None else text
            covers = None if items.covers is None else items.covers[item]
            if text is not None:
                matched = matched_stretch(text, gold[item]) if item in gold and covers is None else None
                excerpts[:3, item] = self._texts.add(text, covered_stretch(text, covers) if covers else matched)
            if covers:
                lines = (
                    f"{span.share:.0%} of {span.gold}" + (f": {span.text}" if span.text else "") for span in covers
                )
                excerpts[3, item] = self._texts.add("\n".join(lines)).place

    def _gold_texts(self, kind: _Kind) -> Ints:
        """Return the places of gold texts."""
        places = np.zeros(len(kind.gold_names), dtype=np.int64)
        ends = np.cumsum(kind.gold_counts)
        for sample_no in self._order:
            for gold_no in range(int(ends[sample_no] - kind.gold_counts[sample_no]), int(ends[sample_no])):
                places[gold_no] = self._texts.add(kind.gold_names[gold_no]).place
        return places

    def _column(self, part: _Part, facts: ColumnFacts) -> _Row:
        packer, is_one = self._packer, facts.k is None or isinstance(facts.k, int)
        sums = zip(("gain", "discount", "divisor"), map(packer.floats, part.sums(facts)), strict=True)
        return {
            "k": facts.k if facts.k is None or isinstance(facts.k, int) else packer.counts(part.spread(facts.k)),
            "ks": not is_one,
            "least": facts.least if np.isfinite(facts.least) else None,
            **dict(sums),
            "unit": visible(facts.sums.divisor_is),
        }


def _numbered(columns: Sequence[tuple[Sequence[_Key], Ints]]) -> tuple[list[Collection[_Key]], list[list[int]]]:
    """Return the distinct keys of each sample, and for each column of keys the places of its own among them."""
    starts = [[0, *np.cumsum(counts).tolist()] for _, counts in columns]
    named: list[Collection[_Key]] = []
    codes: list[list[int]] = [[] for _ in columns]
    for sample_no in range(len(columns[0][1])):
        keys = [
            column[start[sample_no] : start[sample_no + 1]] for (column, _), start in zip(columns, starts, strict=True)
        ]
        distinct = dict.fromkeys(chain.from_iterable(keys))
        number = dict(zip(distinct, range(len(distinct)), strict=True))
        for numbers, of_column in zip(codes, keys, strict=True):
            numbers.extend(map(number.__getitem__, of_column))
        named.append(distinct)
    return named, codes


class _Kind:
    """All that was judged against one kind of ground truth, by number of the run."""

    def __init__(self, judged: str, runs: Sequence[ResultLists | None], place: Mapping[str, int]) -> None:
        self.judged = judged
        self.n_runs = len(runs)
        self.parts: dict[int, _Part] = {}
        for at, lists in enumerate(runs):
            if lists is not None and (columns := {n: x for n, x in lists.columns.items() if x.lists.judged == judged}):
                self.parts[at] = _Part(lists.sample_ids, columns, place)
        self.by_id = all(part.lists.by_id for part in self.parts.values())
        counts = np.zeros(len(place), dtype=np.int64)
        for part in self.parts.values():
            np.maximum.at(counts, part.at, np.bincount(part.lists.gold.sample, minlength=len(part.at)))
        first = np.cumsum(counts) - counts
        grades = np.zeros(int(counts.sum()))
        names = np.full(len(grades), "", dtype=object)
        least = min((facts.least for part in self.parts.values() for facts in part.columns.values()), default=np.inf)
        kept = np.zeros(len(grades), dtype=np.bool_)
        held: dict[int, Ints] = {}
        lost: dict[int, Ints] = {}
        for run, part in self.parts.items():
            where = part.place_gold(first)
            gold = part.lists.gold
            grades[where[gold.gold]] = gold.grade
            names[where[gold.gold]] = np.array(part.lists.names, dtype=object)[gold.gold]
            held[run] = where[part.choose_rows(least)]
            lost[run] = where[list(part.lists.dropped)]
            kept[held[run]] = True
        kept |= grades >= least
        number = np.cumsum(kept) - 1
        owners = np.repeat(np.arange(len(place)), counts)[kept]
        self.gold_counts = np.bincount(owners, minlength=len(place))
        self.gold_samples = owners
        self.gold_grades: Floats = grades[kept]
        self.gold_names: list[str] = names[kept].tolist()
        begins = np.cumsum(self.gold_counts) - self.gold_counts
        for run, part in self.parts.items():
            gold_rows = number[held[run]]
            part.gold = gold_rows - begins[owners[gold_rows]]
            for row, each in zip(lost[run].tolist(), part.lists.dropped.values(), strict=True):
                if kept[row]:
                    at = int(number[row])
                    part.dropped.append((int(owners[at]), int(at - begins[owners[at]]), each))


class _Part:
    """What one run was judged to be: its rows in the order of all samples."""

    def __init__(self, sample_ids: Sequence[str], columns: Mapping[str, ColumnFacts], place: Mapping[str, int]) -> None:
        self.columns = columns
        self.lists: RankedLists = next(iter(columns.values())).lists
        self.n = len(place)
        self.at = np.fromiter((place[sample_id] for sample_id in sample_ids), np.int64, len(sample_ids))
        self.number = {at: number for number, at in enumerate(self.at.tolist())}
        self.listed = np.bincount(self.at, minlength=self.n)
        self.is_whole = len(self.at) == self.n
        starts = self.lists.items.starts
        owners = self.at[np.repeat(np.arange(len(self.at)), np.diff(starts))]
        self.item_order = np.argsort(owners, kind="stable")
        self.item_counts = np.bincount(owners, minlength=self.n)
        self.depth = self.spread(self.lists.depth)
        self.gold: Ints = np.empty(0, dtype=np.int64)
        self.dropped: list[tuple[int, int, Dropped]] = []  # sample, place of a gold item in it, what was dropped

    def spread(self, values: Ints) -> Ints:
        """Return numbers of the run's samples for all samples."""
        spread = np.zeros(self.n, dtype=np.int64)
        spread[self.at] = values
        return spread

    def item_keys(self) -> Sequence[_Key]:
        """Return what tells the items apart, in the order of all samples: ids, and texts of those without."""
        items = self.lists.items
        keys: Sequence[_Key] = items.ids  # type: ignore[assignment]  # None is replaced below
        if None in items.ids:
            texts = items.texts or [None] * len(items.ids)
            keys = [(text,) if name is None else name for name, text in zip(items.ids, texts, strict=True)]
        if (self.item_order[1:] < self.item_order[:-1]).any():
            keys = [keys[place] for place in self.item_order.tolist()]
        return keys

    def gold_of_items(self) -> dict[int, list[str]]:
        """Return the gold texts that listed items hold."""
        rows, names, starts = self.lists.rows, self.lists.names, self.lists.items.starts
        gold_by_item: dict[int, list[str]] = {}
        within = starts[rows.sample] + rows.rank - 1 < starts[rows.sample + 1]
        places = (starts[rows.sample] + rows.rank - 1)[within].tolist()
        for item, gold in zip(places, rows.gold[within].tolist(), strict=True):
            gold_by_item.setdefault(item, []).append(names[gold])
        return gold_by_item

    def place_gold(self, first: Ints) -> Ints:
        """Return for each gold row of this run its place among those of all samples, the best of each sample first."""
        gold = self.lists.gold
        where = np.zeros(len(gold.gold), dtype=np.int64)
        where[gold.gold] = first[self.at[gold.sample]] + gold.rank - 1
        return where

    def choose_rows(self, least: float) -> Ints:
        """Keep the judged rows near the top and those that matter; return the gold row of each."""
        rows = self.lists.rows
        width = int(rows.rank.max(initial=0)) + 1
        keys = self.at[rows.sample] * width + rows.rank
        adding = [
            self.at[facts.sums.sample] * width + facts.sums.rank
            for facts in self.columns.values()
            if len(facts.sums.rank)
        ]
        counts: NDArray[np.bool_] = np.isin(keys, np.concatenate(adding)) if adding else np.zeros(len(keys), np.bool_)
        kept = np.flatnonzero((rows.rank <= _TOP) | (rows.grade >= least) | counts)
        kept = kept[np.argsort(keys[kept], kind="stable")]
        self._width, self._keys = width, keys[kept]
        self.rank = rows.rank[kept]
        self.row_counts = np.bincount(self.at[rows.sample[kept]], minlength=self.n)
        return rows.gold[kept]

    def sums(self, facts: ColumnFacts) -> tuple[Floats, Floats, Floats]:
        """Return gain and discount of each row, all of a rank in its first one; and the divisor of each sample."""
        sums = facts.sums
        wanted = self.at[sums.sample] * self._width + sums.rank
        spots = np.searchsorted(self._keys, wanted)
        there = np.append(self._keys, -1)[spots] == wanted
        gain, discounted = np.zeros(len(self._keys)), np.zeros(len(self._keys))
        np.add.at(gain, spots[there], sums.gain[there])
        np.add.at(discounted, spots[there], sums.discounted[there])
        discount = np.divide(discounted, gain, out=np.zeros(len(gain)), where=gain != 0)
        divisor = np.full(self.n, np.nan)
        divisor[self.at] = sums.divisor
        divisor[self.at[sums.sample[~there]]] = np.nan  # what a rank without a gold item adds is not in the file
        return gain, discount, divisor
