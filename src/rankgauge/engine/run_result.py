"""
Results of runs, whose manifests are made when somebody asks for them; and of a few queries, again and again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np

from rankgauge.base.logs import logger
from rankgauge.columns import IdSketcher, Ints, Qrels, RunSource, Words
from rankgauge.engine.excluded_runs import narrowed_run
from rankgauge.engine.manifest import make_manifest, make_settings
from rankgauge.io.ir_datasets_names import is_named
from rankgauge.io.judgment_sources import sources_of
from rankgauge.io.nested_mappings import MappingRun, qrels_of_mapping
from rankgauge.io.query_groups import QueryGroups
from rankgauge.judging import RunCounts
from rankgauge.judging.few import FewQueries
from rankgauge.planning.plan import Plan
from rankgauge.result import MetricInfo, Origin, Result
from rankgauge.scoring.patterns import FewJudged, PatternScores
from rankgauge.scoring.scored import Scored, ScoredMetric
from rankgauge.scoring.sighting import depth_notes

__all__ = ["FewEvaluator", "RunOrigin", "ScoredRun", "grouped"]


class RunOrigin:
    """
    What a result of a run came from, and can be read from again.

    Attributes:
        plan: The plan.

        given: The run as it was given, which `evaluate_runs` takes.

        columns: The names of columns.
    """

    def __init__(
        self,
        plan: Plan,
        qrels: Qrels | Callable[[], Qrels],
        given: RunSource,
        columns: Mapping[str, str] | None = None,
    ) -> None:
        """Take what was evaluated; *qrels* may be a function that returns them, if they are seldom asked for."""
        self.plan = plan
        self.given = given
        self.columns = columns
        self._qrels = qrels

    @cached_property
    def qrels(self) -> Qrels:
        """Return the judgments."""
        return self._qrels if isinstance(self._qrels, Qrels) else self._qrels()

    @cached_property
    def run(self) -> RunSource:
        """Return the run without what the policy leaves out, and without what its filters drop."""
        return narrowed_run(self.given, self.plan.profile.policy)


class ScoredRun(NamedTuple):
    """A run that was scored, of which only the result is to be made."""

    evaluation: RunOrigin
    scored: Scored
    counts: RunCounts  # how the run fits the judgments
    origin: str  # where it was given: `argument` or `run`
    places: Ints | None = None  # which queries of the judgments were evaluated; None for all
    source: str = ""  # the file of the judgments
    remarks: Sequence[str] = ()  # what else is to be said of the judgments and the run
    sketcher: IdSketcher | None = None  # took the ids that judged queries retrieved

    def result(self, infos: Sequence[MetricInfo] | None = None) -> Result:
        """Return the result; *infos* say what its columns are, if that is known already."""
        evaluation, scored = self.evaluation, self.scored
        policy = evaluation.plan.profile.policy
        scored.notes.extend(
            [
                *evaluation.plan.notes,
                *self.remarks,
                *evaluation.given.notes,
                *self.counts.notes(policy),
                *scored.failures(policy),
            ]
        )
        scored.notes.extend(scored.incomplete(policy))
        scored.notes.extend(depth_notes(evaluation.plan, self.counts.deepest, lambda _: self.counts.lacks_gold))
        judges = sources_of(self.source, evaluation.qrels.n_judgments) if self.source else None
        if judges is not None and judges.by_models:
            scored.notes.append(judges.sentence)
        if scored.notes:
            log = logger("engine")
            for note in scored.notes:
                log.info(note)
        further: dict[str, Any] = {} if self.sketcher is None else {"retrieved_ids": self.sketcher.sketch().to_dict()}
        if judges is not None:
            further["judged_by"] = judges.to_dict()
        further["files"] = {
            "qrels": _absolute(self.source),
            "run": _absolute(evaluation.given.name),
            "columns": None if evaluation.columns is None else dict(evaluation.columns),
        }
        return Result.of(
            scored,
            partial(self._manifest, further, datetime.now(UTC)),
            Origin(evaluation),
            gold_keys=self._gold_keys,
            settings=self._settings,
            infos=infos,
        )

    def _gold_keys(self) -> Words:
        """Return the gold keys of the queries; asked for only if results are compared, saved or pickled."""
        keys = self.evaluation.qrels.gold_keys
        return keys if self.places is None else keys[self.places]

    def _manifest(self, further: Mapping[str, Any], created_at: datetime) -> dict[str, Any]:
        """Return the manifest, which takes longer to make than a few queries to evaluate, and is seldom asked for."""
        plan, qrels, source = self.evaluation.plan, self.evaluation.qrels, self.evaluation.given
        dataset = {
            "name": Path(qrels.source).name or None,
            "path": qrels.source or None,
            "queries": qrels.n_queries,
            "judgments": qrels.n_judgments,
            "fingerprint": qrels.fingerprint,
        }
        outputs = {
            "from": self.origin,
            "path": source.name or None,
            "tag": source.tag or None,
            **self.counts.facts(),
            "metadata": dict(source.metadata),
        }
        return {**make_manifest(plan, dataset, outputs, created_at=created_at), **_relevance(plan), **further}

    def _settings(self) -> dict[str, Any]:
        plan = self.evaluation.plan
        return {"interrupted": False, **make_settings(plan), **_relevance(plan)}


def _relevance(plan: Plan) -> dict[str, Any]:
    return {"relevance": plan.profile.relevance}


def _absolute(name: str) -> str | None:
    """Return the path of a file that can be read again; None for what was given in Python or on standard input."""
    if not name or is_named(name):
        return name or None
    return os.path.abspath(name) if os.path.isfile(name) else None  # noqa: PTH100, PTH113  # often in a loop; four times as fast


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

    def evaluate(self, qrels: object, runs: Mapping[str, object]) -> dict[str, Result] | None:
        """Evaluate runs; None if one of them or the judgments are large, unusual or wrong."""
        judged = self._judged(qrels, runs)
        return None if judged is None else {name: self._result(runs[name], few) for name, few in judged.items()}

    def _judged(self, qrels: object, runs: Mapping[str, object]) -> dict[str, FewJudged] | None:
        """Judge and score runs, by the compiled kernel if it takes all of them."""
        compiled: dict[str, FewJudged] = {}
        for name, run in runs.items():
            few = self._scores.judge(qrels, run)
            if few is None:
                break
            compiled[name] = few._replace(judgments=next(iter(compiled.values()), few).judgments)
        else:
            return compiled
        queries = FewQueries.of(qrels)
        if queries is None:
            return None
        found = {name: queries.judge(run, self._scores.plan.profile) for name, run in runs.items()}
        if None in found.values():
            return None
        return {
            name: FewJudged(queries.judgments, self._scores.score(few[0]), few[1])
            for name, few in found.items()
            if few is not None
        }

    def _result(self, run: object, few: FewJudged) -> Result:
        judgments, columns, counts = few
        n = len(judgments)
        scored = Scored(
            list(judgments), [()] * n, columns, [column.note for column in columns if column.note], _NO_KEYS
        )
        source = MappingRun(cast("Mapping[str, Mapping[str, float]]", run))
        evaluation = RunOrigin(self._scores.plan, lambda: qrels_of_mapping(judgments), source)
        done = ScoredRun(evaluation=evaluation, scored=scored, counts=counts, origin="argument")
        return done.result(self._described(columns, n))

    def _described(self, columns: Sequence[ScoredMetric], n: int) -> list[MetricInfo]:
        """Return what columns over *n* queries are, which is the same for all of them."""
        known = self._infos.get(n)
        if known is None:
            known = list(map(MetricInfo.of, columns))
            if len(self._infos) >= _SIZES:
                self._infos = {}
            self._infos[n] = known
        return known


def grouped(result: Result, groups: QueryGroups | None) -> Result:
    """Return a result whose queries belong to groups, beside their tags; a `DataError` if none does."""
    if groups is None:
        return result
    groups.check(result.sample_ids)
    tags = [groups.added(query, own) for query, own in zip(result.sample_ids, result.tags, strict=True)]
    named = result.with_tags(tags, notes=list(groups.notes(result.sample_ids)))
    return named.with_manifest({"groups": {"path": groups.path or None, "fingerprint": groups.fingerprint}})
