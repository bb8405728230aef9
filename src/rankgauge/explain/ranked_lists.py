"""
`ResultLists`: the ranked lists of many samples as columns, and what each rank adds to each of their scores.

An `Explanation` is one score of one sample in plain values. These are the same facts of thousands of them, from which
a report shows any.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rankgauge.columns import Cutoff, Ints, Rows
from rankgauge.judging import Ranking, Target, judge
from rankgauge.planning.plan import Plan
from rankgauge.result import MetricSummary
from rankgauge.samples import Sample
from rankgauge.scoring.facts import gold_names
from rankgauge.scoring.score import JudgedBatch, MetricScores, flaws, judged_for, score_metric
from rankgauge.scoring.sums import RankSums, rank_sums

__all__ = ["ColumnFacts", "Items", "RankedLists", "ResultLists", "leaving", "lists_of_batch", "lists_of_samples"]


@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """
    The first results of some samples, rank 1 first, sample after sample.

    Attributes:
        starts: Where the items of each sample begin, and the end; shape (n + 1,).

        ids: The id of each item; None for one that has a text only.

        texts: The text of each item; None where no item has one.
    """

    starts: Ints
    ids: Sequence[str | None]
    texts: Sequence[str | None] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class RankedLists:
    """
    What some samples retrieved, judged against one kind of ground truth.

    Attributes:
        judged: What was judged against what, and how.

        by_id: Whether gold rows are called by ids, as items are.

        items: The first results of each sample.

        depth: How many results each sample has; shape (n,).

        rows: The judged rows of the whole rankings.

        gold: The gold rows, those of each sample best first; `rank` is the place in this order.

        names: What each gold row is called, by the number that `rows.gold` has: an id, or a text.
    """

    judged: str
    by_id: bool
    items: Items
    depth: Ints
    rows: Rows
    gold: Rows
    names: Sequence[str]


@dataclass(frozen=True, slots=True, eq=False)
class ColumnFacts:
    """
    How the scores of one column came about.

    Attributes:
        lists: What was judged.

        k: The cutoff, or one a sample; None for none.

        least: The lowest grade that is relevant for the metric; infinite where none is.

        sums: What each rank adds.
    """

    lists: RankedLists
    k: Cutoff | None
    least: float
    sums: RankSums


@dataclass(frozen=True, slots=True, eq=False)
class ResultLists:
    """
    The lists of one result.

    Attributes:
        sample_ids: The samples that they are of: all of the result, or some.

        columns: The facts of each column, by name.
    """

    sample_ids: Sequence[str]
    columns: Mapping[str, ColumnFacts]


def leaving(one: ResultLists, other: ResultLists, name: str) -> set[str]:
    """Return the samples that have a relevant item within the cutoff of a column in one result and not in the other."""
    found, there = _found(one, name), _found(other, name)
    both = set(one.sample_ids) & set(other.sample_ids)
    return {sample_id for sample_id, _ in found - there if sample_id in both}


def _found(lists: ResultLists, name: str) -> set[tuple[str, int]]:
    """Return the relevant items within the cutoff of a column: samples, and places among their gold, best first."""
    facts = lists.columns[name]
    rows, gold = facts.lists.rows.until(facts.k), facts.lists.gold
    nth = np.zeros(len(gold.gold), dtype=np.int64)
    nth[gold.gold] = gold.rank
    rows = rows.where(rows.grade >= facts.least)
    ids = lists.sample_ids
    return {(ids[at], place) for at, place in zip(rows.sample.tolist(), nth[rows.gold].tolist(), strict=True)}


Check = Callable[[MetricSummary, MetricScores], None]
"""Raises where scores are not those of a column."""


def lists_of_samples(
    plan: Plan, columns: Mapping[str, MetricSummary], samples: Sequence[Sample], check: Check, *, top: int
) -> ResultLists:
    """Return the lists of samples that were read again, of each its first *top* results."""
    planned = {column.name: column for column in plan.metrics}
    targets = {
        name: next(each for each in planned[name].targets if str(each) == column.info.judged)
        for name, column in columns.items()
    }
    evidence = {
        target: judge(samples, target, plan.profile, plan.targets[target], keep=plan.keep(rankings=True))
        for target in dict.fromkeys(targets.values())
    }
    batch = JudgedBatch(evidence, flaws(samples), [sample.k for sample in samples], list(samples))
    items = {target: _items(own.rankings, top) for target, own in evidence.items()}
    names = {target: [name for sample in samples for name in gold_names(sample, target)] for target in evidence}
    return lists_of_batch(plan, columns, [sample.id for sample in samples], batch, items, names, check)


def lists_of_batch(
    plan: Plan,
    columns: Mapping[str, MetricSummary],
    sample_ids: Sequence[str],
    batch: JudgedBatch,
    items: Mapping[Target, Items],
    names: Mapping[Target, Sequence[str]],
    check: Check,
) -> ResultLists:
    """Return the lists of a judged batch, by target their items and the names of their gold rows."""
    planned = {column.name: column for column in plan.metrics}
    lists: dict[str, RankedLists] = {}
    for target, own in items.items():
        judged = batch.evidence[target].judged
        lists[str(target)] = RankedLists(
            judged=str(target),
            by_id=target.gold == "relevant",
            items=own,
            depth=judged.depth,
            rows=judged.rows,
            gold=judged.gold.best_first(),
            names=names[target],
        )
    found: dict[str, ColumnFacts] = {}
    for name, column in columns.items():
        target = next(each for each in items if str(each) == column.info.judged)
        scores = score_metric(plan, planned[name], target, batch, column.info.inferred)
        check(column, scores)
        found[name] = _facts(scores, batch, lists[str(target)])
    return ResultLists(sample_ids, found)


def _items(rankings: Sequence[Ranking | None], top: int) -> Items:
    """Return the first results of rankings."""
    ids: list[str | None] = []
    texts: list[str | None] = []
    lengths = []
    for ranking in rankings:
        own = () if ranking is None else ranking.ids[:top]
        ids += own
        texts += [None] * len(own) if ranking is None or ranking.texts is None else ranking.texts[:top]
        lengths.append(len(own))
    starts = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    return Items(starts, ids, texts if any(text is not None for text in texts) else None)


def _facts(scores: MetricScores, batch: JudgedBatch, lists: RankedLists) -> ColumnFacts:
    evidence = batch.evidence[scores.target]
    judged = judged_for(scores.metric, evidence)
    relevant = judged if scores.metric.metric.judging.uses_rel is True else judged.by_gain()
    flags = relevant.relevance.of(relevant.gold.grade)
    least = float(evidence.judged.gold.grade[flags].min(initial=np.inf))
    return ColumnFacts(lists, scores.k, least, rank_sums(scores, judged))
