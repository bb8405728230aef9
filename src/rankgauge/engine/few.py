"""
Evaluating a few queries that are given as dictionaries, again and again: a plan with what it remembers of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

import numpy as np

from rankgauge.engine.run_result import RunEvaluation, ScoredRun
from rankgauge.io.nested_mappings import MappingRun, qrels_of_mapping
from rankgauge.judging import RunCounts
from rankgauge.judging.few import FewQueries, Pattern
from rankgauge.planning.plan import Plan
from rankgauge.result import MetricInfo, ResultValues
from rankgauge.scoring.patterns import PatternScores
from rankgauge.scoring.scored import Scored, ScoredMetric

__all__ = ["FewEvaluator"]

_NO_KEYS = np.empty(0, dtype=np.uint64)

_SIZES = 16
"""For how many numbers of queries it is remembered what the columns are."""


class FewEvaluator:
    """Evaluates small dictionaries under one plan."""

    def __init__(self, scores: PatternScores) -> None:
        self._scores = scores
        self._infos: dict[int, list[MetricInfo]] = {}

    @classmethod
    def of(cls, plan: Plan) -> FewEvaluator | None:
        """Return an evaluator; None for a plan whose scores cannot be remembered."""
        scores = PatternScores.of(plan)
        return None if scores is None else cls(scores)

    def evaluate(self, qrels: object, runs: Mapping[str, object]) -> dict[str, ResultValues] | None:
        """Evaluate runs; None where one of them or the judgments are large, unusual or wrong."""
        queries = FewQueries.of(qrels)
        if queries is None:
            return None
        judged = {name: queries.judge(run, self._scores.plan.profile) for name, run in runs.items()}
        if None in judged.values():
            return None
        return {name: self._result(queries, runs[name], *found) for name, found in judged.items() if found is not None}

    def _result(self, queries: FewQueries, run: object, patterns: Sequence[Pattern], counts: RunCounts) -> ResultValues:
        plan = self._scores.plan
        columns = self._scores.score(patterns)
        scored = Scored(
            queries.names, [()] * len(patterns), columns, [column.note for column in columns if column.note], _NO_KEYS
        )
        source = MappingRun(cast("Mapping[str, Mapping[str, float]]", run))
        evaluation = RunEvaluation(plan, lambda: qrels_of_mapping(queries.judgments), source)
        done = ScoredRun(evaluation=evaluation, scored=scored, counts=counts, origin="argument")
        return done.result(self._described(columns, len(patterns)))

    def _described(self, columns: Sequence[ScoredMetric], n: int) -> list[MetricInfo]:
        """Return what columns over *n* queries are, which is the same for all of them."""
        known = self._infos.get(n)
        if known is None:
            known = list(map(MetricInfo.of, columns))
            if len(self._infos) >= _SIZES:
                self._infos = {}
            self._infos[n] = known
        return known
