"""
Scores by pattern: what a plan's metrics say of each judged query, computed once for all queries that look the same.

A metric sees nothing but judged columns, and its score of a query never depends on the others of a batch. So whoever
evaluates a few queries in a loop meets the same patterns again and again, and need not wait for numpy each time.
"""

from __future__ import annotations

import functools
import math
import struct
import threading
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple, cast

import numpy as np

from rankgauge.base.frozen import read_only
from rankgauge.catalog.claims import OWN
from rankgauge.columns import Floats, Relevance
from rankgauge.judging import Evidence, RunCounts
from rankgauge.judging.few import Pattern, judged_patterns, takes_few
from rankgauge.judging.ranking import relevance_of
from rankgauge.kernel import installed_kernel
from rankgauge.planning.plan import Plan
from rankgauge.planning.resolve import PlannedMetric
from rankgauge.plugin.metric import POOLED
from rankgauge.scoring.score import FAILED, LARGEST, JudgedBatch, Outcome, missing_queries, score_metric
from rankgauge.scoring.scored import ScoredMetric
from rankgauge.scoring.usual import LAST_BITS, OneQuery, UsualMetric, packed_discounts

__all__ = ["FewJudged", "PatternScores"]

_ROOM = 1 << 15
"""How many grades, ranks and scores are remembered; when there are more, all are forgotten."""


_LONGEST = 1 << 53
"""Up to which cutoff a float holds each."""

_KINDS = defaultdict, np.float64
"""What the kernel takes for a dictionary and a float, beside those."""


class FewJudged(NamedTuple):
    """A few queries in dictionaries that were judged and scored."""

    judgments: dict[str, dict[str, float]]  # by query, in byte order; as they were at that time
    columns: list[ScoredMetric]
    counts: RunCounts


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
        self._kernel = installed_kernel()  # as it is now: to ask the environment takes as long as to score a query

    @classmethod
    def of(cls, plan: Plan) -> PatternScores | None:
        """Return a memory; None if a score may depend on more than a pattern, or the policy is unusual."""
        takes = takes_few(plan.profile.policy) and all(map(_sees_patterns, plan.metrics))
        return cls(plan) if takes else None

    def score(self, patterns: Sequence[Pattern]) -> list[ScoredMetric]:
        """Return the columns over queries with these patterns; only new patterns are computed."""
        cells = self._cells(patterns)
        values = np.array(list(zip(*[cell.values for cell in cells], strict=True)))
        flawed = [(place, cell) for place, cell in enumerate(cells) if cell.codes is not None]
        return self._columns(values, flawed, patterns)

    def judge(self, qrels: object, run: object) -> FewJudged | None:
        """Judge and score dictionaries by the compiled kernel; None if there is none, or they are not plain."""
        if self._kernel is None:
            return None
        policy = self.plan.profile.policy
        found = self._kernel.score_few(
            qrels,
            run,
            _KINDS,
            self._kernel_columns,
            packed_discounts(),
            *self._relevance,
            policy.score_dtype != "float64",
            policy.queries != "judged",
            LARGEST,
            LAST_BITS,
        )
        if found is None:
            return None
        judgments, scores, odd, (n_missing, n_tied, n_matched, deepest, lacks_gold) = found
        n = len(judgments)
        patterns: list[Pattern] = [pattern for _, pattern in odd]
        if self._kernel_columns:
            values = np.frombuffer(scores).reshape(len(self._cuts), n)
            cells = zip([place for place, _ in odd], self._cells(patterns), strict=True) if odd else ()
            columns = self._columns(values, cells, patterns)
        else:
            columns = self.score(patterns)
        n_unjudged = len(cast("Mapping[str, object]", run)) - n + n_missing
        counts = RunCounts(n, n_missing, n_unjudged, n_tied, 0, n_matched, deepest, bool(lacks_gold))
        return FewJudged(judgments, columns, counts)

    @functools.cached_property
    def _kernel_columns(self) -> bytes:
        """Return the metrics as the kernel takes them; empty if one of them needs columns."""
        if self._usual is None or any(k is not None and k[0] > _LONGEST for k, _ in self._cuts):
            return b""
        packed = [
            (metric.number, math.inf if k is None else k[0], *(metric.rel or self._relevance))
            for metric, (k, _) in zip(self._usual, self._cuts, strict=True)
        ]
        return struct.pack(f"{4 * len(packed)}d", *chain.from_iterable(packed))

    def _cells(self, patterns: Sequence[Pattern]) -> list[_Cells]:
        """Return what the metrics say of patterns, and remember it."""
        cells = list(map(self._known.get, patterns))
        if None in cells:
            new = dict.fromkeys(pattern for pattern, known in zip(patterns, cells, strict=True) if known is None)
            computed = dict(zip(new, self._computed(list(new)), strict=True))
            cells = [known or computed[pattern] for pattern, known in zip(patterns, cells, strict=True)]
            self._remember(computed)
        return cast("list[_Cells]", cells)

    def _columns(
        self, values: Floats, cells: Iterable[tuple[int, _Cells]], patterns: Sequence[Pattern]
    ) -> list[ScoredMetric]:
        """Return columns with these values, to which some *cells* are added by place."""
        n = values.shape[1]
        codes = np.zeros(values.shape, dtype=np.uint8)
        reasons: list[dict[int, str]] = [{} for _ in values]
        for place, cell in cells:
            values[:, place] = cell.values
            if cell.codes is not None:
                codes[:, place] = cell.codes
                for column, reason in zip(reasons, cell.reasons, strict=True):
                    column.update({} if reason is None else {place: reason})
        top = max(chain([0.0], *(grades for _, grades, _ in patterns))) if self._has_scale else 0.0
        read_only(values)  # and so its rows, which are the columns
        read_only(codes)
        columns = self.plan.metrics, self._cuts, values, codes, reasons
        return [
            ScoredMetric(metric, metric.targets[0], Outcome(scores, status, why), k, {source: n}, {}, None, top)
            for metric, (k, source), scores, status, why in zip(*columns, strict=True)
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
