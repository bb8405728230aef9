"""
Following relevant items through the stages of a pipeline, batch by batch.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

import numpy as np

from rankgauge.columns import Floats, Ints, Judged, Parts, Rows
from rankgauge.columns.judged_rows import distinct, first_of_each
from rankgauge.comparison.compare import compare_results
from rankgauge.comparison.estimate import Method
from rankgauge.errors import NothingToEvaluateError, counted
from rankgauge.features.funnel.fates import FOUND, Fates, Pipeline, Traced
from rankgauge.features.funnel.funnel import Funnel, FunnelStage, fate_names
from rankgauge.judging import Evidence, Ranking, Target, judge
from rankgauge.planning.plan import Plan
from rankgauge.planning.resolve import PlannedMetric
from rankgauge.plugin.metric import Metric
from rankgauge.result import MetricSummary, Result
from rankgauge.samples import Output, Sample, kind_called
from rankgauge.scoring.facts import gold_names
from rankgauge.scoring.score import JudgedBatch, MetricScores, Outcome, judged_for, score_metric
from rankgauge.scoring.scored import ScoredMetric, add_counts, join_outcomes

__all__ = ["Following", "best_order", "can_be_reordered", "order_of", "reordered"]


@dataclass(slots=True)
class _Stage:
    """What is collected of one stage, batch by batch."""

    target: Target
    scores: list[MetricScores] = field(default_factory=list)
    ceilings: list[MetricScores] = field(default_factory=list)
    is_exact: bool = True  # whether no order scores higher than these
    as_given: list[MetricScores] = field(default_factory=list)
    ranks: list[Floats] = field(default_factory=list)  # of relevant items
    depth: list[Ints] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    costs: list[float] = field(default_factory=list)


class Following:
    """Samples that are followed through every stage."""

    def __init__(
        self,
        plan: Plan,
        column: PlannedMetric,
        target: Target,
        pipeline: Pipeline,
        inferred: Mapping[str, float],
    ) -> None:
        self._plan = plan
        self._column = column
        self._target = target
        self._inferred = inferred
        self._sources = dict(pipeline.sources)
        self._pipeline = pipeline
        self._stages = {name: _Stage(target._replace(stage=name)) for name in pipeline.sources}
        self._left_out: Counter[str] = Counter()
        self._ids: list[str] = []
        self._tags: list[tuple[str, ...]] = []
        self._names: list[str] = []
        self._gold: list[Ints] = []  # the sample of each relevant item
        self._grades: list[Floats] = []

    def add(self, samples: Sequence[Sample]) -> None:
        """Judge some more samples at every stage, those that have them all."""
        reasons = [self._lacks(sample) for sample in samples]
        self._left_out.update(filter(None, reasons))
        kept = [sample for sample, reason in zip(samples, reasons, strict=True) if not reason]
        if not kept:
            return
        matcher = self._column.matchers.get(self._target)
        keep = self._plan.keep(rankings=True)
        evidence = {
            name: judge(kept, stage.target, self._plan.profile, matcher, keep=keep)
            for name, stage in self._stages.items()
        }
        names = [gold_names(sample, self._target) for sample in kept]

        def named(judged: Judged, chosen: Ints) -> Iterator[str]:
            places = zip(judged.gold.sample[chosen].tolist(), judged.gold.rank[chosen].tolist(), strict=True)
            return (names[owner][place - 1] for owner, place in places)

        self.take([sample.id for sample in kept], evidence, named, [sample.k for sample in kept])
        self._tags += [sample.tags for sample in kept]
        for sample in kept:
            stages = sample.output.stages if isinstance(sample.output, Output) else None
            for name, stage in (stages or {}).items():
                if stage.seconds is not None:
                    self._stages[name].seconds.append(stage.seconds)
                if stage.cost is not None:
                    self._stages[name].costs.append(stage.cost)

    def take(
        self,
        ids: Sequence[str],
        evidence: Mapping[str, Evidence],
        named: Callable[[Judged, Ints], Iterable[str]],
        ks: list[int | None],
    ) -> None:
        """Take questions that were judged at every stage; *named* says what some of the gold rows are called."""
        first = next(iter(evidence.values()))
        judged = first.judged
        chosen = np.flatnonzero(judged_for(self._column, first).relevance.of(judged.gold.grade))
        self._names += named(judged, chosen)
        self._gold.append(judged.gold.sample[chosen] + len(self._ids))
        self._grades.append(judged.gold.grade[chosen])
        self._ids += ids
        for name in self._stages:
            self._add(name, evidence, chosen, ks)

    def leave_out(self, why: str, count: int) -> None:
        """Note questions that cannot be followed."""
        self._left_out[why] += count

    def _lacks(self, sample: Sample) -> str:
        """Return why a sample is not followed; empty if it is."""
        if not sample.answerable:
            return "no answer to be found"
        gold = {"relevant": sample.expected.relevant}.get(self._target.gold, gold_names(sample, self._target))
        return self._pipeline.lacks(sample) or ("" if gold else "no ground truth")

    def _add(self, name: str, evidence: Mapping[str, Evidence], chosen: Ints, ks: list[int | None]) -> None:
        stage, of_stage = self._stages[name], evidence[name]
        judged = of_stage.judged
        ranks = np.full(len(judged.gold.grade), np.inf)
        np.minimum.at(ranks, judged.rows.gold, judged.rows.rank)
        stage.ranks.append(ranks[chosen])
        stage.depth.append(judged.depth)

        def scored(other: Judged) -> MetricScores:
            batch = JudgedBatch({stage.target: replace(of_stage, judged=other)}, {}, ks, [])
            return score_metric(self._plan, self._column, stage.target, batch, self._inferred)

        stage.scores.append(scored(judged))
        if self._column.cut.budget is None and can_be_reordered(self._column.metric, judged):
            stage.ceilings.append(scored(reordered(judged, best_order(judged))))
            stage.is_exact &= is_exact(judged)
            if len(self._sources[name]) == 1 and of_stage.kept.rankings:
                earlier = evidence[self._sources[name][0]].kept.rankings
                stage.as_given.append(scored(reordered(judged, order_of(of_stage.kept.rankings, earlier))))

    def _summary(self, parts: Sequence[MetricScores]) -> MetricSummary | None:
        """Return scores of all samples as the column that they are of."""
        if not parts:
            return None
        outcome: Outcome = join_outcomes([part.outcome for part in parts]).marked()
        sources, k = add_counts(part.k_sources for part in parts), _cutoffs(parts)
        spread = None if k is None else (int(k.min()), int(k.max()))
        scored = ScoredMetric(self._column, self._target, outcome, spread, sources, dict(self._inferred), None, top=0.0)
        return MetricSummary.of(scored)

    def funnel(self, dataset: str, manifest: Mapping[str, Any], traced: int) -> Funnel:
        """Return what was followed; raise `NothingToEvaluateError` if no sample has every stage."""
        if not self._ids:
            left_out = [f"{counted(count, 'sample')} with {why}" for why, count in self._left_out.items()]
            raise NothingToEvaluateError("no sample can be followed through every stage:", left_out)
        fates, k = self._fates(), self._ks[-1]
        names = fate_names(fates.stages)
        results = {name: self._result(stage, manifest) for name, stage in self._stages.items()}
        has_steps = any(self._sources.values())
        return Funnel(
            dataset=dataset,
            metric=self._column.name,
            k="" if k is None else _in_words(k),
            samples=len(self._ids),
            left_out=dict(self._left_out),
            items=len(fates.sample),
            stages=tuple(self._stage(name, fates, results[name].metrics[self._column.name]) for name in self._stages),
            fates=_named(fates.counts(), names),
            cohorts={
                tag: _named(fates.counts(np.array([tag in tags for tags in self._tags])[fates.sample]), names)
                for tag in dict.fromkeys(chain.from_iterable(self._tags))
            },
            traced=tuple(self.traced(traced)),
            comparison=compare_results(results, method=Method(), all_pairs=True) if has_steps else None,
        )

    def _stage(self, name: str, fates: Fates, score: MetricSummary) -> FunnelStage:
        stage, sources = self._stages[name], self._sources[name]
        held = fates.held(name)
        given = np.zeros(len(held), dtype=np.bool_)
        for source in sources or (other for other, its in self._sources.items() if not its and other != name):
            given |= fates.held(source)
        return FunnelStage(
            name=name,
            sources=sources,
            results=float(np.concatenate(stage.depth).mean()),
            held=int(held.sum()),
            added=int((held & ~given).sum()),
            lost=int((given & ~held).sum()) if sources else 0,
            score=score,
            ceiling=self._summary(stage.ceilings),
            ceiling_is_exact=stage.is_exact,
            as_given=self._summary(stage.as_given),
            seconds=_typical(stage.seconds),
            cost=float(np.mean(stage.costs)) if stage.costs else None,
        )

    def _result(self, stage: _Stage, manifest: Mapping[str, Any]) -> Result:
        """Return the scores of one stage as a result of its own, which can be compared with those of others."""
        score = self._summary(stage.scores)
        columns = {} if score is None else {score.name: score}
        alike = np.zeros(len(self._ids), dtype=np.uint64)  # every stage is judged against the same ground truth
        return Result(self._ids, self._tags or [()] * len(self._ids), columns, manifest, [], alike)

    @property
    def _ks(self) -> list[Ints | None]:
        """Return the cutoffs of each stage, which only budgets make differ."""
        return [_cutoffs(stage.scores) for stage in self._stages.values()]

    def _fates(self) -> Fates:
        owners = np.concatenate(self._gold)
        ranks = np.stack([np.concatenate(stage.ranks) for stage in self._stages.values()])
        within = np.stack(
            [
                np.isfinite(of_stage) if k is None else of_stage <= k[owners]
                for of_stage, k in zip(ranks, self._ks, strict=True)
            ]
        )
        return Fates.of(self._sources, ranks, owners, np.concatenate(self._grades), within)

    def traced(self, most: int) -> Iterator[Traced]:
        """Yield lost items: of each fate at *most* so many, the highest grades first."""
        fates = self._fates()
        depths = {name: np.concatenate(stage.depth) for name, stage in self._stages.items()}
        cutoffs = self._ks
        for fate in fates.counts():
            if fate == FOUND:
                continue
            places = np.flatnonzero(fates.lost == fate)
            best = places[np.argsort(-fates.grade[places], kind="stable")][:most]
            yield from fates.traced(self._ids, self._names, depths, cutoffs, best)


def _typical(seconds: Sequence[float]) -> tuple[float, float] | None:
    """Return the median and the 95th percentile."""
    return (float(np.median(seconds)), float(np.quantile(seconds, 0.95))) if seconds else None


def _named(counts: Mapping[int, int], names: Mapping[int, str]) -> dict[str, int]:
    return {names[fate]: count for fate, count in counts.items()}


def _cutoffs(parts: Sequence[MetricScores]) -> Ints | None:
    """Return the cutoff of each sample; None if there is none."""
    if parts[0].k is None:
        return None
    sizes = [len(part.outcome.values) for part in parts]
    return np.concatenate([np.broadcast_to(part.k or 0, size) for part, size in zip(parts, sizes, strict=True)])


def _in_words(k: Ints) -> str:
    low, high = int(k.min()), int(k.max())
    return f"rank {low:,}" if low == high else f"rank {low:,} to {high:,}"


def can_be_reordered(metric: Metric, judged: Judged) -> bool:
    """Return whether a metric sees nothing but judged rows, which follow from what each result holds."""
    is_plain = not metric.judging.needs and all(kind_called(kind).has_rows_alone for kind in metric.gold)
    return is_plain and judged.low is None and judged.cover is None and bool(judged.earns.all())


def reordered(judged: Judged, ranks: Ints) -> Judged:
    """
    Return a batch whose results have other *ranks*, those of one sample after those of another; shape (results,).

    What results find together is found again, from what each of them holds.
    """
    rows, starts, score = judged.rows, np.cumsum(judged.depth) - judged.depth, judged.score
    parts = judged.parts
    if parts is not None:
        parts = parts._replace(rank=ranks[starts[parts.sample] + parts.rank - 1])
        found = parts.found()
        changed = Rows(found.sample, found.rank, judged.gold.grade[found.gold], found.gold)
        score = found.score
    else:
        moved = ranks[starts[rows.sample] + rows.rank - 1]
        order = np.lexsort((moved, rows.sample))
        changed = Rows(rows.sample[order], moved[order], rows.grade[order], rows.gold[order])
        score = score[order]
    by_gold = np.argsort(changed.gold, kind="stable")
    first = np.zeros(len(changed.rank), dtype=np.bool_)
    first[by_gold] = first_of_each(changed.gold[by_gold])
    earns = np.ones(len(first), dtype=np.bool_)  # as `can_be_reordered` makes sure
    return replace(judged, rows=changed, first=first, earns=earns, score=score, parts=parts)


def best_order(judged: Judged) -> Ints:
    """
    Return ranks for `reordered`: what has the highest grade first, of equal grades what holds more gold items.

    What repeats a gold item counts as nothing. Of gold items that several results find together, those come first that
    the fewest results find. Where `is_exact` says so, no order scores higher.
    """
    starts = np.cumsum(judged.depth) - judged.depth
    if judged.parts is not None:
        return _with_pieces_together(judged, judged.parts, starts)
    rows, n_results = judged.rows.where(judged.first), int(judged.depth.sum())
    places = starts[rows.sample] + rows.rank - 1
    grade, count = np.zeros(n_results), np.zeros(n_results, dtype=np.int64)
    np.maximum.at(grade, places, rows.grade)
    np.add.at(count, places, 1)
    owner = np.repeat(np.arange(judged.n), judged.depth)
    order = np.lexsort((-count, -grade, owner))
    ranks = np.empty(n_results, dtype=np.int64)
    ranks[order] = np.arange(n_results) - starts[owner[order]] + 1
    return ranks


def is_exact(judged: Judged) -> bool:
    """Return whether `best_order` is the best: each result holds one gold item at most, and each is found by one."""
    held = judged.rows.where(judged.first)
    if np.count_nonzero((held.rank[1:] == held.rank[:-1]) & (held.sample[1:] == held.sample[:-1])):
        return False
    if judged.parts is None:
        return True
    alone = judged.parts._replace(joint=False).found()
    return set(judged.rows.gold.tolist()) == set(alone.gold.tolist())


def _with_pieces_together(judged: Judged, parts: Parts, starts: Ints) -> Ints:
    """Return ranks in which the results that find a gold item together follow each other."""
    needed: dict[int, list[tuple[float, Sequence[int]]]] = {}
    for gold in distinct(judged.rows.gold).tolist():
        own = parts.where(parts.gold == gold)
        needed.setdefault(int(own.sample[0]), []).append((float(judged.gold.grade[gold]), own.fewest()))
    ranks = np.empty(int(judged.depth.sum()), dtype=np.int64)
    for sample, (start, depth) in enumerate(zip(starts.tolist(), judged.depth.tolist(), strict=True)):
        chosen: dict[int, None] = {}
        left = needed.get(sample, [])
        while left:
            best = min(left, key=lambda item: (-item[0], len(set(item[1]) - chosen.keys())))
            left.remove(best)
            chosen |= dict.fromkeys(best[1])
        order = [*chosen, *(rank for rank in range(1, depth + 1) if rank not in chosen)]
        ranks[start + np.array(order, dtype=np.int64) - 1] = np.arange(1, depth + 1)
    return ranks


def order_of(rankings: Sequence[Ranking | None], earlier: Sequence[Ranking | None]) -> Ints:
    """Return ranks for `reordered`: those of an earlier stage; what it does not have follows in its present order."""
    ranks: list[int] = []
    for ranking, before in zip(rankings, earlier, strict=True):
        if ranking is None:
            continue
        items = _items(ranking)
        places = {} if before is None else {item: at for at, item in reversed(list(enumerate(_items(before))))}
        order = sorted(
            range(len(items)),
            key=lambda at, items=items, places=places: (  # type: ignore[misc]
                places.get(items[at], len(places)),
                at,
            ),
        )
        new = dict(zip(order, range(1, len(order) + 1), strict=True))
        ranks += [new[at] for at in range(len(items))]
    return np.array(ranks, dtype=np.int64)


def _items(ranking: Ranking) -> list[str | None]:
    """Return what tells results apart: the id of each, or its text."""
    if ranking.texts is None:
        return list(ranking.ids)
    return [text if name is None else name for name, text in zip(ranking.ids, ranking.texts, strict=True)]
