"""
Scores by pattern: what a plan's metrics say of each judged query, computed once for all queries that look the same.

A metric sees nothing but judged columns, and its score of a query never depends on the others of a batch. So whoever
evaluates a few queries in a loop meets the same patterns again and again, and need not wait for numpy each time.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import NamedTuple, cast

import numpy as np

from rankgauge.base.frozen import read_only
from rankgauge.catalog.claims import OWN
from rankgauge.columns import Relevance
from rankgauge.judging import Evidence
from rankgauge.judging.few import Pattern, judged_patterns, takes_few
from rankgauge.judging.ranking import relevance_of
from rankgauge.planning.plan import Plan
from rankgauge.planning.resolve import PlannedMetric
from rankgauge.plugin.metric import POOLED
from rankgauge.scoring.score import FAILED, JudgedBatch, Outcome, missing_queries, score_metric
from rankgauge.scoring.scored import ScoredMetric
from rankgauge.scoring.usual import OneQuery, UsualMetric

__all__ = ["PatternScores"]

_ROOM = 1 << 15
"""How many grades, ranks and scores are remembered; when there are more, all are forgotten."""


class _Cells(NamedTuple):
    """What each metric says of one pattern: its value, its status and why it has no score; the latter two seldom."""

    values: tuple[float, ...]
    codes: tuple[int, ...] | None = None
    reasons: tuple[str | None, ...] = ()


class PatternScores:
    """The scores of patterns under one plan, for any thread."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan  # what is computed
        self._known: dict[Pattern, _Cells] = {}
        self._size = 0
        self._remembering = threading.Lock()
        self._has_scale = any(metric.clips_above is not None for metric in plan.metrics)
        cuts = (metric.cut.resolve([None], plan.default_k) for metric in plan.metrics)
        self._cuts = [(None if k is None else (int(k), int(k)), next(iter(sources))) for k, sources in cuts]
        usual = [UsualMetric.of(metric) for metric in plan.metrics]
        self._usual = None if None in usual else cast("list[UsualMetric]", usual)  # None if one needs columns
        self._relevance = relevance_of(plan.profile)

    @classmethod
    def of(cls, plan: Plan) -> PatternScores | None:
        """Return a memory; None if a score may depend on more than a pattern, or the policy is unusual."""
        takes = takes_few(plan.profile.policy) and all(map(_sees_patterns, plan.metrics))
        return cls(plan) if takes else None

    def score(self, patterns: Sequence[Pattern]) -> list[ScoredMetric]:
        """Return the columns over queries with these patterns; only new patterns are computed."""
        cells = list(map(self._known.get, patterns))
        if None in cells:
            new = dict.fromkeys(pattern for pattern, known in zip(patterns, cells, strict=True) if known is None)
            computed = dict(zip(new, self._computed(list(new)), strict=True))
            cells = [known or computed[pattern] for pattern, known in zip(patterns, cells, strict=True)]
            self._remember(computed)
        every = cast("list[_Cells]", cells)
        n = len(patterns)
        values = np.array(list(zip(*[cell.values for cell in every], strict=True)))
        codes = np.zeros(values.shape, dtype=np.uint8)
        reasons: list[dict[int, str]] = [{} for _ in values]
        for place, cell in enumerate(every):
            if cell.codes is not None:
                codes[:, place] = cell.codes
                for column, reason in zip(reasons, cell.reasons, strict=True):
                    column.update({} if reason is None else {place: reason})
        top = max(chain([0.0], *(grades for _, grades, _ in patterns))) if self._has_scale else 0.0
        read_only(values)  # and so its rows, which are the columns
        read_only(codes)
        return [
            ScoredMetric(metric, metric.targets[0], Outcome(*column), k, {source: n}, {}, None, top=top)
            for metric, (k, source), *column in zip(self.plan.metrics, self._cuts, values, codes, reasons, strict=True)
        ]

    def _computed(self, patterns: Sequence[Pattern]) -> list[_Cells]:
        """Return what the metrics say of some patterns."""
        cells = [None if self._usual is None else self._plain(pattern, self._usual) for pattern in patterns]
        others = iter(
            self._in_columns([pattern for pattern, cell in zip(patterns, cells, strict=True) if cell is None])
        )
        return [known or next(others) for known in cells]

    def _plain(self, pattern: Pattern, usual: Sequence[UsualMetric]) -> _Cells | None:
        """Return what usual metrics say of a pattern; None if one of them needs columns for it."""
        depth, grades, ranks = pattern
        if depth is None:
            return None
        rows = sorted([row for row in zip(ranks, grades, strict=True) if row[0]])
        queries: dict[Relevance | None, OneQuery] = {}
        values: list[float] = []
        for metric, (k, _) in zip(usual, self._cuts, strict=True):
            query = queries.get(metric.rel)
            if query is None:
                query = queries[metric.rel] = OneQuery(grades, rows, metric.rel or self._relevance)
            said = metric.score(query, None if k is None else k[0])
            if said is None:
                return None
            values.append(said[0])
        return _Cells(tuple(values))

    def _in_columns(self, patterns: Sequence[Pattern]) -> list[_Cells]:
        """Return the same by columns, which know what counts without a score, and why there is none."""
        if not patterns:
            return []
        flawed = missing_queries(place for place, pattern in enumerate(patterns) if pattern[0] is None)
        evidence = Evidence(judged_patterns(patterns, self.plan.profile))
        batch = JudgedBatch(dict.fromkeys(self.plan.targets, evidence), flawed, [None] * len(patterns))
        outcomes = [
            score_metric(self.plan, metric, metric.targets[0], batch, {}).outcome for metric in self.plan.metrics
        ]
        values = zip(*(outcome.values.tolist() for outcome in outcomes), strict=True)
        codes = zip(*(outcome.status.tolist() for outcome in outcomes), strict=True)
        return [
            _Cells(of_pattern, status, tuple(outcome.reasons.get(place) for outcome in outcomes))
            if any(status)
            else _Cells(of_pattern)
            for place, (of_pattern, status) in enumerate(zip(values, codes, strict=True))
        ]

    def _remember(self, computed: Mapping[Pattern, _Cells]) -> None:
        """Keep new patterns, but for failures: a lack of memory, say, may be over the next time."""
        kept = {pattern: cells for pattern, cells in computed.items() if FAILED not in (cells.codes or ())}
        size = sum(2 * len(grades) + len(self._cuts) for _, grades, _ in kept)
        if size > _ROOM:
            return
        with self._remembering:  # so that the size is that of what is kept, whichever thread forgets
            if self._size + size > _ROOM:
                self._known, self._size = {}, 0
            self._known |= kept
            self._size += size


def _sees_patterns(metric: PlannedMetric) -> bool:
    """Return whether a metric is known to read nothing but judged columns: one of ours, as others can do anything."""
    reads_more = metric.needs or metric.infers_max_grade or metric.metric.aggregate == POOLED
    # a budget is refused, as runs have no texts
    return metric.provider.distribution == OWN and not reads_more and metric.unit is None
