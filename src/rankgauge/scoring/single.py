"""
One sample at a time: the shortest way from a sample to its scores, for harnesses that call one by one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, cast

from rankgauge.columns.judged_rows import Relevance
from rankgauge.errors import PlanError
from rankgauge.judging import BY_ID, Evidence, Judge, Ranking, Target, make_judge
from rankgauge.judging.evidence import PlainEvidence
from rankgauge.judging.outputs import stands_as_given
from rankgauge.judging.ranking import relevance_of
from rankgauge.judging.units import LOOKED_AT
from rankgauge.planning.plan import Plan
from rankgauge.planning.resolve import PlannedMetric
from rankgauge.samples import Output, Sample
from rankgauge.scoring.refusal import refuse
from rankgauge.scoring.score import SCORED, JudgedBatch, Outcome, flaws, score_metric
from rankgauge.scoring.usual import OneQuery, Row, UsualMetric

__all__ = ["SingleScore", "SingleScorer", "check_stream"]


class SingleScore(NamedTuple):
    """One score of one sample."""

    value: float  # what counts; NaN if nothing does
    status: int = SCORED  # a code into `STATUSES`
    reason: str = ""  # why there is no score
    facts: Mapping[str, Any] | None = None  # behind it, if they were asked for


class SingleScorer:
    """Scores one sample at a time under a plan."""

    def __init__(self, plan: Plan) -> None:
        """Take a plan; raise `PlanError` for one that needs the whole data set."""
        check_stream(plan, "score()")
        self.plan = plan
        self.relevance = relevance_of(plan.profile)
        usual = map(UsualMetric.of, plan.metrics)
        cutoffs = [metric.cut.resolve([None], plan.default_k)[0] for metric in plan.metrics]
        self._columns = list(zip(plan.metrics, usual, cast("list[int | None]", cutoffs), strict=True))
        policy = plan.profile.policy
        is_by_id = all(usual is not None and metric.targets[0] == BY_ID for metric, usual, _ in self._columns)
        self._is_plain = is_by_id and stands_as_given(policy) and not policy.settles_ties_late

    def score(self, sample: Sample, *, details: bool) -> dict[str, SingleScore]:
        """Return the score of each column."""
        one = _OneSample(self, sample, _plainly_by_id(sample) if self._is_plain else None, details=details)
        scores: dict[str, SingleScore] = {}
        outcomes: dict[str, Outcome] = {}
        for metric, usual, cutoff in self._columns:
            k = sample.k if sample.k is not None and metric.cut.rule == "free" else cutoff
            score = None if usual is None else one.usual(metric, usual, k)
            if score is None:
                outcomes[metric.name], facts = one.in_columns(metric)
                score = _of_outcome(outcomes[metric.name], facts)
            scores[metric.name] = score
        if outcomes:
            refuse(outcomes, lambda: [sample.id], one.batch.flawed, self.plan)
        return scores


def _of_outcome(outcome: Outcome, facts: Mapping[str, Any] | None) -> SingleScore:
    return SingleScore(float(outcome.values[0]), int(outcome.status[0]), outcome.reasons.get(0, ""), facts)


_Judged = tuple[list[float], list[Row]]
"""The grades of what is judged, and the judged rows."""


def _plainly_by_id(sample: Sample) -> _Judged | None:
    """Return how a sample is judged by id; None if it lacks something, or has something else that judges look at."""
    gold, output = sample.expected.relevant, sample.output
    if not gold or sample.expected.faults is not None or not sample.answerable or not isinstance(output, Output):
        return None
    ids = output.ids
    if not output.is_ranked or None in ids or len(set(ids)) < len(ids):
        return None
    rows = [(rank, gold[name]) for rank, name in enumerate(cast("list[str]", ids), 1) if name in gold]
    return list(gold.values()), rows


class _OneSample:
    """A sample that is scored: how it is judged, found once for all metrics that ask."""

    def __init__(self, scorer: SingleScorer, sample: Sample, by_id: _Judged | None, *, details: bool) -> None:
        self._scorer = scorer
        self._sample = sample
        self._by_id = by_id
        self._details = details
        self._evidence: dict[Target, Evidence] = {}
        self._judges: dict[Target, Judge] = {}
        self._plain: dict[Target, PlainEvidence | None] = {}
        self._queries: dict[tuple[Target, Relevance | None], OneQuery | None] = {}
        self.batch = JudgedBatch(self._evidence, flaws([sample]), [sample.k], [sample])

    def usual(self, metric: PlannedMetric, usual: UsualMetric, k: int | None) -> SingleScore | None:
        """Return what a usual metric says of it; None if columns have to say it."""
        target = BY_ID if self._by_id is not None else self._target(metric)
        key = target, usual.rel
        if key not in self._queries:
            self._queries[key] = self._query(target, usual.rel)
        query = self._queries[key]
        said = None if query is None else usual.score(query, k)
        if said is None or query is None:
            return None
        value, facts = said
        if not self._details:
            return SingleScore(value)
        from rankgauge.scoring.details import joined  # seldom asked for

        joins = joined(metric, query.relevance, self._sample, self._ranking(target), k)
        return SingleScore(value, facts={**({} if k is None else {"k": k}), **facts, **joins})

    def in_columns(self, metric: PlannedMetric) -> tuple[Outcome, Mapping[str, Any] | None]:
        """Return the outcome of any metric, and the facts behind it, if they were asked for."""
        target = self._target(metric)
        self._judged(metric, target)
        scores = score_metric(self._scorer.plan, metric, target, self.batch, {})
        if not self._details:
            return scores.outcome, None
        from rankgauge.scoring.details import explain_batch  # as above

        return scores.outcome, explain_batch(scores, self.batch)[0]

    def _query(self, target: Target, rel: Relevance | None) -> OneQuery | None:
        if self._by_id is not None:
            return OneQuery(*self._by_id, rel or self._scorer.relevance)
        if self.batch.flawed:
            return None
        if (plain := self._plain.get(target)) is not None:
            relevance, own_ranks = rel or self._scorer.relevance, self._scorer.plan.profile.own_ranks
            return OneQuery(plain.gold, plain.rows, relevance, is_first=plain.is_first, own_ranks=own_ranks)
        evidence = self._evidence[target]
        if evidence.without_gold or evidence.faults or evidence.blanks or evidence.kept.lacks:
            return None
        return OneQuery.of(evidence.judged, rel or evidence.judged.relevance)

    def _ranking(self, target: Target) -> Ranking | None:
        if self._by_id is None:
            plain = self._plain.get(target)
            return self._evidence[target].kept.rankings[0] if plain is None else plain.ranking
        output = cast("Output", self._sample.output)
        return Ranking(output.ids, output.texts, places=output.places)

    def _target(self, metric: PlannedMetric) -> Target:
        """Judge against the first kind of gold that the sample has, or else the first; return which."""
        for target in metric.targets:
            if target == BY_ID and not self._sample.expected.relevant:
                continue  # as it would turn out
            if self._plainly(metric, target) is not None or self._judged(metric, target).has_gold:
                return target
        self._judged(metric, metric.targets[0])
        return metric.targets[0]

    def _plainly(self, metric: PlannedMetric, target: Target) -> PlainEvidence | None:
        """Return how it is judged by text; None if it is judged otherwise, or only columns can tell."""
        if target not in self._plain:
            self._plain[target] = None
            if target in metric.matchers:
                from rankgauge.judging.by_text import TextJudge  # judging by id does without matchers

                judging = self._judging(metric, target)
                self._plain[target] = judging.plain() if isinstance(judging, TextJudge) else None
        return self._plain[target]

    def _judged(self, metric: PlannedMetric, target: Target) -> Evidence:
        if target not in self._evidence:
            self._evidence[target] = self._judging(metric, target).evidence().trusting()
        return self._evidence[target]

    def _judging(self, metric: PlannedMetric, target: Target) -> Judge:
        if target not in self._judges:
            plan, matcher = self._scorer.plan, metric.matchers.get(target)
            keep = plan.keep(rankings=self._details)
            # as if the first samples had been doubted, which takes longer than to judge one, and is told of a run only
            judging = make_judge(target, plan.profile, matcher, keep=keep, looked=LOOKED_AT)
            judging.add([self._sample])
            self._judges[target] = judging
        return self._judges[target]


def check_stream(plan: Plan, where: str, *, merges: bool = False) -> None:
    """
    Raise `PlanError` for a plan that needs the whole data set, which *where* (what is called) never sees.

    Metrics of whole runs are allowed if it *merges*: where its parts can be merged to the result of the whole.
    """
    problems = [
        f"{metric.name!r} infers max_grade from the whole data set, which {where} never sees; "
        f"give it, with the highest grade of the scale: {metric.metric.alias}(max_grade=3)"
        for metric in plan.metrics
        if metric.infers_max_grade
    ]
    problems += [
        f"{metric.name!r} has one value for a whole run, which {where} never sees; leave it out, or use run()"
        for metric in plan.metrics
        if metric.metric.is_whole and not merges
    ]
    if problems:
        raise PlanError(f"{where} cannot be used with this plan:", problems)
