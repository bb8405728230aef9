"""
Shards: the scores of a part of the data, without what all parts share; and how they are put together.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankgauge.columns.slices import Words
from rankgauge.errors import ResultError
from rankgauge.judging import Target
from rankgauge.planning.cutoffs import CutSource
from rankgauge.planning.plan import Plan
from rankgauge.planning.resolve import PlannedMetric
from rankgauge.scoring.score import Outcome
from rankgauge.scoring.scored import Scored, ScoredMetric, add_counts, join_outcomes, widest

__all__ = ["ShardScores", "fingerprint_of_gold", "join_scores", "shard_scores"]


@dataclass(frozen=True, slots=True)
class _Column:
    """One metric over a shard: a `ScoredMetric` without what the plan says."""

    target: Target
    outcome: Outcome
    k: tuple[int, int] | None
    k_sources: dict[CutSource, int]
    top: float


@dataclass(frozen=True, slots=True)
class ShardScores:
    """The scores of some samples, small enough to be sent: ids, and nine bytes a sample and metric."""

    sample_ids: Sequence[str]  # in any order
    tags: Sequence[tuple[str, ...]]  # the cohorts of each
    gold_keys: Words  # a hash of what each was judged against
    columns: Sequence[_Column]  # in order of the plan


def shard_scores(scored: Scored, gold_keys: Words) -> ShardScores:
    """Return the scores of a shard."""
    columns = [
        _Column(metric.target, metric.outcome, metric.k, metric.k_sources, metric.top) for metric in scored.metrics
    ]
    return ShardScores(scored.sample_ids, scored.tags, gold_keys, columns)


def join_scores(plan: Plan, shards: Sequence[ShardScores], notes: Sequence[str]) -> Scored:
    """Return the scores of all shards in order of sample ids; refuse a sample that comes twice."""
    ids = [sample_id for shard in shards for sample_id in shard.sample_ids]
    order = sorted(range(len(ids)), key=ids.__getitem__)
    ordered = [ids[place] for place in order]
    if len(set(ids)) < len(ids):
        twice = next(sample_id for sample_id, times in Counter(ids).items() if times > 1)
        raise ResultError(
            f"cannot merge: {twice!r} is in two shards; rows of one query or sample belong into one shard"
        )
    tags = [cohorts for shard in shards for cohorts in shard.tags]
    places = np.array(order, dtype=np.int64)
    metrics = [
        _joined(metric, [shard.columns[at] for shard in shards], places) for at, metric in enumerate(plan.metrics)
    ]
    clipped = filter(None, (metric.note for metric in metrics))
    gold_keys: Words = np.concatenate([np.empty(0, np.uint64), *(shard.gold_keys for shard in shards)])[places]
    return Scored(ordered, [tags[place] for place in order], metrics, [*notes, *clipped], gold_keys)


def _joined(metric: PlannedMetric, columns: Sequence[_Column], places: NDArray[np.int64]) -> ScoredMetric:
    """Return the scores of one metric with the one of *places* first, and so on."""
    outcome = join_outcomes([column.outcome for column in columns])
    reasons = outcome.reasons
    if reasons:
        moved = np.empty(len(places), dtype=np.int64)
        moved[places] = np.arange(len(places))
        reasons = dict(sorted((int(moved[place]), reason) for place, reason in reasons.items()))
    shares = None if outcome.denominators is None else outcome.denominators[places]
    ordered = Outcome(outcome.values[places], outcome.status[places], reasons, denominators=shares)
    target = columns[0].target if columns else metric.targets[0]
    spread = widest(column.k for column in columns if column.k is not None)
    sources = add_counts(column.k_sources for column in columns)
    top = max((column.top for column in columns), default=0.0)
    return ScoredMetric(metric, target, ordered.marked(), spread, sources, {}, None, top=top)


def fingerprint_of_gold(sample_ids: Sequence[str], gold_keys: Words) -> str:
    """Return a hash of all ground truth that is the same in any order and any shards; *sample_ids* are in order."""
    digest = hashlib.sha256(gold_keys.tobytes())
    digest.update("\n".join(sample_ids).encode("utf-8", "surrogatepass"))
    return f"sha256:{digest.hexdigest()}"
