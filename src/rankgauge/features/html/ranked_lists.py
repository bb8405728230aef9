"""
`ResultLists`: the ranked lists of many samples as columns, and what each rank adds to each of their scores.

An `Explanation` is one score of one sample in plain values. These are the same facts of thousands of them, from which
a report shows any.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from rankgauge.columns import Cutoff, Ints, Rows
from rankgauge.judging import Evidence, Ranking, Target, judge
from rankgauge.planning.plan import Plan
from rankgauge.result import MetricSummary
from rankgauge.samples import Sample
from rankgauge.scoring.covered_spans import CoveredSpan, covered_spans
from rankgauge.scoring.dropped import Dropped, dropped_gold, drops
from rankgauge.scoring.facts import gold_names
from rankgauge.scoring.score import JudgedBatch, MetricScores, flaws, judged_for, score_metric
from rankgauge.scoring.sums import RankSums, rank_sums

__all__ = [
    "Check",
    "ColumnFacts",
    "Items",
    "RankedLists",
    "ResultLists",
    "WholeSamples",
    "leaving",
    "lists_of_batch",
    "lists_of_samples",
    "within_cutoff",
]


@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """The first results of some samples, rank 1 first, sample after sample."""

    starts: Ints  # where the items of each sample begin, and the end; shape (n + 1,)
    ids: Sequence[str | None]  # None for an item that has a text only
    texts: Sequence[str | None] | None = None  # None if no item has one
    covers: Sequence[tuple[CoveredSpan, ...]] | None = None  # of gold spans, what each item covers; None for others


@dataclass(frozen=True, slots=True, eq=False)
class RankedLists:
    """What some samples retrieved, judged against one kind of ground truth."""

    judged: str  # what was judged against what, and how
    by_id: bool  # whether gold rows are called by ids, as items are
    items: Items
    depth: Ints  # how many results each sample has; shape (n,)
    rows: Rows  # the judged rows of the whole rankings
    gold: Rows  # the gold rows, those of each sample best first; `rank` is the place in this order
    names: Sequence[str]  # what each gold row is called, by its number: an id, or a text
    dropped: Mapping[int, Dropped] = field(default_factory=dict)  # what was dropped of gold rows without a judged row

    @classmethod
    def of(cls, target: Target, evidence: Evidence, items: Items, names: Sequence[str]) -> RankedLists:
        """Return the lists of one target."""
        judged = evidence.judged
        is_by_id = target.gold == "relevant"
        return cls(str(target), is_by_id, items, judged.depth, judged.rows, judged.gold.best_first(), names)

    def with_dropped(self, plan: Plan, target: Target, samples: Callable[[Sequence[int]], Sequence[Sample]]) -> Self:
        """Return the same with what the policy dropped, by the *samples* of some places with all they retrieved."""
        if not drops(plan.profile.policy):
            return self
        gold = self.gold
        missing = ~np.isin(gold.gold, self.rows.gold)
        places = np.unique(gold.sample[missing]).tolist()
        lost = dropped_gold(plan, target, plan.targets[target], samples(places))
        first = np.searchsorted(np.sort(gold.sample), places).tolist()
        unseen = set(gold.gold[missing].tolist())
        dropped = {
            start + at: each
            for start, of_sample in zip(first, lost, strict=False)
            for at, each in of_sample.items()
            if start + at in unseen
        }
        return replace(self, dropped=dropped)


@dataclass(frozen=True, slots=True, eq=False)
class ColumnFacts:
    """How the scores of one column came about."""

    lists: RankedLists
    k: Cutoff | None  # the cutoff, or one a sample; None for none
    least: float  # the lowest grade that is relevant for the metric; infinite if none is
    sums: RankSums  # what each rank adds


@dataclass(frozen=True, slots=True, eq=False)
class ResultLists:
    """The lists of all or some samples of one result, and the facts of each column by name."""

    sample_ids: Sequence[str]
    columns: Mapping[str, ColumnFacts]


def leaving(before: Ints, after: Ints, samples: Ints) -> int:
    """Return of how many of the *samples* an item of *before* is not among those of *after*; see `within_cutoff`."""
    left = np.unique(np.setdiff1d(before, after) >> _BITS)
    return int(np.isin(left, samples).sum())


_BITS = 32


def within_cutoff(lists: ResultLists, numbers: Mapping[str, int]) -> dict[str, Ints]:
    """
    Return by column the relevant items within its cutoff, of the samples that have a number; shape (items,).

    Each is the number of its sample, shifted by 32 bits, plus its place among the gold of that sample, best first.
    """
    of_samples = np.array([numbers.get(sample_id, -1) for sample_id in lists.sample_ids], dtype=np.int64)
    return {name: _within(facts, of_samples) for name, facts in lists.columns.items()}


def _within(facts: ColumnFacts, of_samples: Ints) -> Ints:
    rows, gold = facts.lists.rows.until(facts.k), facts.lists.gold
    nth = np.zeros(len(gold.gold), dtype=np.int64)
    nth[gold.gold] = gold.rank
    rows = rows.where((rows.grade >= facts.least) & (of_samples[rows.sample] >= 0))
    return (of_samples[rows.sample] << _BITS) + nth[rows.gold]


WholeSamples = Callable[[Sequence[str]], Sequence[Sample]]
"""Returns samples by their ids with all that they retrieved, or the first of them."""

Check = Callable[[MetricSummary, MetricScores, Sequence[str]], None]
"""Raises where scores of some samples are not those of a column."""


def lists_of_samples(
    plan: Plan, columns: Mapping[str, MetricSummary], samples: Sequence[Sample], check: Check, *, top: int
) -> ResultLists:
    """Return the lists of samples that were read again, of each its first *top* results."""
    targets = dict.fromkeys(plan.column(name).target_called(column.info.judged) for name, column in columns.items())
    keep = plan.keep(rankings=True)
    evidence = {target: judge(samples, target, plan.profile, plan.targets[target], keep=keep) for target in targets}
    batch = JudgedBatch(evidence, flaws(samples), [sample.k for sample in samples], list(samples))
    lists: dict[Target, RankedLists] = {}
    for target, judged in evidence.items():
        items = _items(judged.kept.rankings, top)
        if target.identity == "place":
            covered = covered_spans(samples, judged.kept.rankings)
            items = replace(items, covers=[spans for held in covered for spans in held[:top]])
        names = [name for sample in samples for name in _labels(sample, target)]
        own = RankedLists.of(target, judged, items, names)
        own = own.with_dropped(plan, target, lambda places: [samples[place] for place in places]) if top else own
        lists[target] = own
    return _result_lists(plan, columns, [sample.id for sample in samples], batch, lists, check)


def _labels(sample: Sample, target: Target) -> Sequence[str]:
    """Return what a report calls the gold items of a sample: spans by place and text."""
    if target.identity != "place":
        return gold_names(sample, target)
    return [f"{span.place}: {span.text}" if span.text else str(span.place) for span in sample.expected.spans or ()]


def lists_of_batch(
    plan: Plan,
    columns: Mapping[str, MetricSummary],
    sample_ids: Sequence[str],
    batch: JudgedBatch,
    items: Items,
    names: Sequence[str],
    check: Check,
    whole: WholeSamples | None = None,
) -> ResultLists:
    """
    Return the lists of a judged batch, whose items and names of gold rows are those of every target.

    What the policy dropped is said if *whole* returns samples by their ids, with all that they retrieved.
    """
    lists = {target: RankedLists.of(target, judged, items, names) for target, judged in batch.evidence.items()}
    if whole is not None:
        lists = {
            target: own.with_dropped(plan, target, lambda places: whole([sample_ids[place] for place in places]))
            for target, own in lists.items()
        }
    return _result_lists(plan, columns, sample_ids, batch, lists, check)


def _result_lists(
    plan: Plan,
    columns: Mapping[str, MetricSummary],
    sample_ids: Sequence[str],
    batch: JudgedBatch,
    lists: Mapping[Target, RankedLists],
    check: Check,
) -> ResultLists:
    """Return lists by target with the facts of each column that is of ranks, with all scores held to the columns."""
    facts: dict[str, ColumnFacts] = {}
    for name, column in columns.items():
        planned = plan.column(name)
        target = planned.target_called(column.info.judged)
        scores = score_metric(plan, planned, target, batch, column.info.inferred)
        check(column, scores, sample_ids)
        if target.of_ranks:
            facts[name] = _facts(scores, batch, lists[target])
    return ResultLists(sample_ids, facts)


def _items(rankings: Sequence[Ranking | None], top: int) -> Items:
    """Return the first results of rankings."""
    ids: list[str | None] = []
    texts: list[str | None] = []
    lengths = []
    for ranking in rankings:
        first = () if ranking is None else ranking.ids[:top]
        ids += first
        texts += [None] * len(first) if ranking is None or ranking.texts is None else ranking.texts[:top]
        lengths.append(len(first))
    starts = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    return Items(starts, ids, texts if any(text is not None for text in texts) else None)


def _facts(scores: MetricScores, batch: JudgedBatch, lists: RankedLists) -> ColumnFacts:
    evidence = batch.evidence[scores.target]
    judged = judged_for(scores.metric, evidence)
    relevant = judged if scores.metric.metric.judging.uses_rel is True else judged.by_gain()
    flags = relevant.relevance.of(relevant.gold.grade)
    least = float(evidence.judged.gold.grade[flags].min(initial=np.inf))
    return ColumnFacts(lists, scores.k, least, rank_sums(scores, judged))
