"""
Metrics as laws see them: what a law may know of one, those that the engine scores, and the trial of a case.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from rankgauge.base.guard import ForeignError, guarded
from rankgauge.catalog import Catalog
from rankgauge.columns import Judged, Scores, unmasked
from rankgauge.engine.engine import Engine
from rankgauge.engine.evaluation import Evaluation
from rankgauge.errors import MatcherError, PlanError
from rankgauge.explain import Explanation
from rankgauge.explain.one_score import Scorer, explain_sample
from rankgauge.expression import Value
from rankgauge.features.testing.drawn_cases import HUGE, TOP_GRADE, Case
from rankgauge.features.testing.law import Trial
from rankgauge.judging import Keep, Target, judge
from rankgauge.plugin.metric import Metric
from rankgauge.plugin.signature import Parameter
from rankgauge.policy import PROFILES, Policy
from rankgauge.result import Result
from rankgauge.samples import KINDS, TEXT_KINDS, Sample, kind_called, read_sample

__all__ = ["AVERAGE", "EngineMetric", "MetricSubject", "MetricTrial", "UnfitError"]

AVERAGE = Policy(order="score", ties="average")
"""The policy under which scores are expectations over the orders of ties."""

_MATCHER = "contains"


class UnfitError(Exception):
    """A metric failed on a case, or returned something that is not a score."""


class _Scorer(Protocol):
    def score(self, case: Case, k: int, policy: Policy | str) -> float | None: ...


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MetricSubject:
    """
    A metric under a law.

    Attributes:
        name: What reports call it.

        scorer: Computes its scores: an `EngineMetric`, or a `ForeignMetric`.

        function: What has to survive pickling.

        range: The lowest and the highest score; None for no bound.

        higher_is_better: Whether more is better.

        describes: Whether it describes the data rather than how good a ranking is.

        needs_gold: Whether it is judged against anything.

        takes_k: Whether it has a cutoff.

        sees_ids: Whether it can tell items apart, not only their grades.

        sees_repeats: Whether it can be given an item twice.

        sees_scores: Whether it is given the retriever's scores.

        graded: Whether it is given grades, not only a list of relevant items.

        sees_more: Whether it sees ids, texts or the answer, or reads sets, so that items of one grade differ for it.

        slack: How far two equal scores may differ; 0 if they must agree to the last bit.

        like: Metrics that it equals, and where.

        reference: A plain function with the same scores.

        catalog: Where the metrics that it is like are looked up.

        huge: A cutoff beyond every list, which it has to cope with.
    """

    name: str
    scorer: _Scorer
    function: object
    range: tuple[float | None, float | None]
    higher_is_better: bool
    describes: bool = False
    needs_gold: bool = True
    takes_k: bool
    sees_ids: bool = True
    sees_repeats: bool = True
    sees_scores: bool
    graded: bool = True
    sees_more: bool = False
    slack: float = 0.0
    like: tuple[str, ...] = ()
    reference: Callable[..., Any] | None = None
    catalog: Catalog
    huge: int = HUGE

    @property
    def best(self) -> float | None:
        """Return the best score; None for no bound."""
        return self.range[1 if self.higher_is_better else 0]

    def score(self, case: Case, k: int, policy: Policy | str = "default") -> float | None:
        """Return the score of a case, None if it has none; raise `UnfitError` when the metric fails."""
        return self.scorer.score(case, k, policy)


class MetricTrial(Trial[MetricSubject]):
    """One drawn case on its way through a law of metrics."""

    def score(self, case: Case, k: int, *, policy: Policy | str | None = None, note: str = "") -> float | None:
        """Score a case, and keep what came out for the report; a metric that fails breaks the law."""
        scores = {} if case.scores is None else {"scores": list(case.scores)}
        facts = {"gold": case.gold, "retrieved": case.ids, **scores, **({"k": k} if self.subject.takes_k else {})}
        if policy is not None and policy != "default":
            note = f"{note}, policy {_differing(policy)}".removeprefix(", ")
        try:
            value = self.subject.score(case, k, policy or "default")
        except UnfitError as error:
            self.note(**facts, note=note)
            self.fail(str(error))
        self.note(**facts, score="none" if value is None else value, note=note)
        return value

    def score_holding(self, case: Case, results: Sequence[Sequence[int]], k: int, *, note: str) -> float | None:
        """Score a case whose results hold some items each, by text or by places."""
        scorer: Any = self.subject.scorer  # an `EngineMetric`, as nothing else is judged so
        sample = case.holding(results, scorer.kind_by_text, k)
        gold = {_name(item): case.grades[item] for item in case.relevant}
        held = [list(map(_name, items)) for items in results]
        facts = {"gold": gold, "retrieved": held, **({"k": k} if self.subject.takes_k else {})}
        try:
            value: float | None = scorer.score_of(sample, k)
        except UnfitError as error:
            self.note(**facts, note=note)
            self.fail(str(error))
        self.note(**facts, score="none" if value is None else value, note=note)
        return value

    def within_range(self, value: float | None) -> None:
        """Demand that the last score lies within the declared range."""
        low, high = self.subject.range
        slack = self.subject.slack
        if value is None:
            return
        before, self._seen = self._seen, self._seen[-1:]  # this one alone is to blame
        self.demand(low is None or value >= low - slack, f"{value!r} is below {low!r}, the lowest score allowed")
        self.demand(high is None or value <= high + slack, f"{value!r} is above {high!r}, the highest allowed")
        self._seen = before

    def same(self, one: float | None, other: float | None, what: str, *, exact: bool = True) -> None:
        """Demand that two scores are the same: to the last bit, if the subject promises that and *exact* is set."""
        if one is None or other is None or (exact and not self.subject.slack):
            self.demand(one == other, what)
        else:
            self.demand(abs(one - other) <= max(self.subject.slack, 1e-12) * max(1.0, abs(one)), what)

    def at_most(self, one: float | None, other: float | None, what: str, *, exact: bool = True) -> None:
        """Demand that one score is not above another, and that both exist or neither does."""
        self.demand((one is None) == (other is None), "one of the two has no score")
        if one is not None and other is not None and one > other:
            slack = self.subject.slack if exact else max(self.subject.slack, 1e-12 * max(1.0, abs(other)))
            self.demand(one <= other + slack, what)

    def no_better(self, one: float | None, other: float | None, what: str, *, exact: bool = True) -> None:
        """Demand that one score is not better than another, and that both exist or neither does."""
        lower, higher = (one, other) if self.subject.higher_is_better else (other, one)
        self.at_most(lower, higher, what, exact=exact)


def _can_average(metric: EngineMetric) -> bool:
    try:
        metric.evaluation(None, AVERAGE).plan()
    except PlanError:
        return False
    return True


def _name(item: int) -> str:
    return f"doc-{item}"


def _is_choice(parameter: Parameter) -> bool:
    return bool(parameter.choices) or parameter.annotation is bool


def _differing(policy: Policy | str) -> str:
    if isinstance(policy, str):
        return policy
    usual = str(Policy()).split()
    return " ".join(option for option in str(policy).split() if option not in usual) or "default"


@dataclass(frozen=True, eq=False)
class EngineMetric:
    """
    A metric that the engine scores.

    Texts are judged by the matcher `contains`, whatever the metric's own, because that one may need a model that is
    not installed; matchers have laws of their own.

    Attributes:
        metric: Its declaration.

        catalog: Where its matchers are looked up, and the metric itself unless it is *given*.

        given: The function, if no catalog has it.

        written: The function as its author wrote it, if that is not the one over a batch.

        params: Parameter values that are not the defaults; those of the metric's example among them.
    """

    metric: Metric
    catalog: Catalog
    given: Callable[..., Any] | None = None
    written: Callable[..., Any] | None = None
    params: Mapping[str, Value] = field(default_factory=dict)
    _evaluations: dict[object, Evaluation] = field(default_factory=dict, init=False, repr=False)
    _averaged: list[EngineMetric] = field(default_factory=list, init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "params", {**self.metric.example, **self.params})
        object.__setattr__(self, "catalog", self.catalog.without_observers())

    @classmethod
    def of(cls, metric: Metric, catalog: Catalog, written: Callable[..., Any] | None = None) -> EngineMetric:
        """Return a metric; its function is given if the catalog lacks it or has its names taken."""
        known = any(claim.declaration is metric for claim in catalog.metrics.values())
        return cls(metric, catalog, None if known else metric.function, written)

    @property
    def unusable(self) -> str:
        """Return why its own matcher cannot work here; empty if it can, or does not exist, which `usable` finds."""
        if not set(TEXT_KINDS).intersection(self.metric.gold):
            return ""
        declared = self.metric.judging.matcher
        try:
            with guarded():
                matcher = self.catalog.matcher(declared() if callable(declared) else declared or "passage")
        except ForeignError:
            return ""
        try:
            matcher.check_usable()
        except MatcherError as error:
            return str(error)
        return ""

    @property
    def needs_gold_of_plugins(self) -> str:
        """Return that it is judged against what a plugin reads, of which no case can be drawn; empty if it is not."""
        foreign = [kind for kind in self.metric.gold if kind not in KINDS and self.catalog.gold_kind(kind)]
        return (
            f"no ground truth of the kind {' or '.join(foreign)} can be drawn, which a plugin reads" if foreign else ""
        )

    @property
    def needs_parameters(self) -> str:
        """Return why it cannot be called with these parameters, such as a file that it needs; empty if it can."""
        defaults = {parameter.name: parameter.default for parameter in self.metric.parameters}
        try:
            with guarded():
                if self.metric.check is not None:
                    self.metric.check(**{**defaults, **self._declared_params})
        except ForeignError as error:
            advice = "check it with parameters, such as `rankgauge metrics check 'NAME(parameter=value)'`"
            # any other error is a mistake of the check, which the law `usable` tells
            return f"{error.reason}; {advice}" if issubclass(type(error.__cause__), ValueError) else ""
        return ""

    def averaged(self) -> Sequence[EngineMetric]:
        """Return the metric as it is, and with other values of parameters that ties=average is not refused for."""
        if not self._averaged:
            chosen = {each.name: each.choices or (False, True) for each in self.metric.parameters if _is_choice(each)}
            drawn = [dict(zip(chosen, values, strict=True)) for values in itertools.product(*chosen.values())]
            others = [replace(self, params={**self.params, **params}) for params in drawn if self.given is None]
            self._averaged.extend([self, *filter(_can_average, others)])
        return self._averaged

    @property
    def _declared_params(self) -> dict[str, Value]:
        names = {parameter.name for parameter in self.metric.parameters}
        return {name: value for name, value in self.params.items() if name in names}

    def subject(self) -> MetricSubject:
        """Return the metric as the laws see it."""
        metric = self.metric
        return MetricSubject(
            name=metric.alias,
            scorer=self,
            function=self.written or metric,
            range=metric.range,
            higher_is_better=metric.higher_is_better,
            describes=metric.describes,
            needs_gold=metric.needs_gold,
            takes_k=metric.cutoff.kind != "none" and not (self.given is not None and metric.cutoff.kind == "optional"),
            sees_scores=metric.judging.judges == "retrieved",  # retrieved items have scores, answers have none
            sees_more=bool(set(metric.judging.needs) - {"scores", "intents"})
            or not all(kind_called(kind).has_rows_alone for kind in metric.judging.gold),
            like=metric.like,
            reference=metric.reference,
            catalog=self.catalog,
        )

    def evaluation(self, k: int | None, policy: Policy | str, *, own_matcher: bool = False) -> Evaluation:
        """Return an evaluation of this metric alone, without data; *k* counts if the cutoff is optional."""
        cutoff = k if self.metric.cutoff.kind == "optional" else None
        key = (cutoff, policy, own_matcher)
        if key not in self._evaluations:
            spec: Any = self.given
            if spec is None:
                spec = {"metric": self.metric.alias, **self.params}
                if self.metric.needs_max_grade:
                    spec["max_grade"] = TOP_GRADE
                if cutoff is not None:
                    spec["k"] = cutoff
            evaluation = Engine(catalog=self.catalog).dataset([]).with_metrics([spec]).with_profile(policy)
            if not own_matcher:
                by_text = [kind for kind in self.metric.gold if kind in TEXT_KINDS]
                evaluation = evaluation.with_matchers(dict.fromkeys(by_text, _MATCHER))
            self._evaluations[key] = evaluation
        return self._evaluations[key]

    def score(self, case: Case, k: int, policy: Policy | str = "default") -> float | None:
        """Return the score of a case, None if it is undefined; raise `UnfitError` when it fails."""
        return self.score_of(case.sample("s", k), k, policy)

    @property
    def kind_by_text(self) -> str | None:
        """Return a kind of gold that results hold as places, or else as texts; None if it takes neither."""
        kinds = ("spans", *TEXT_KINDS) if self.metric.judging.judges == "retrieved" else ()
        return next((kind for kind in kinds if kind in self.metric.gold), None)

    def score_of(self, sample: Mapping[str, Any], k: int, policy: Policy | str = "default") -> float | None:
        """Return the score of a sample, as `score` does of a case."""
        (score,) = self.evaluation(k, policy).score(sample).values()
        if score.status not in {"scored", "undefined"}:
            raise UnfitError(score.reason)
        return score.value if score.status == "scored" else None

    def explained(self, case: Case, k: int, policy: Policy | str = "default") -> list[Explanation]:
        """Return how the score of a case comes about, for each kind of gold that the metric takes."""
        plan = self.evaluation(k, policy).plan()
        sample = read_sample(case.sample("s", k), problems=[])
        (column,) = plan.metrics
        scorers = [Scorer(plan, column, target) for target in column.targets]
        return [explain_sample(scorer, sample, trials=False) for scorer in scorers if sample is not None]

    def over(self, samples: Sequence[Mapping[str, Any]]) -> Evaluation:
        """Return an evaluation of some samples."""
        evaluation = self.evaluation(None, "default")
        return replace(evaluation, data=Engine(catalog=self.catalog).dataset(samples).data)

    def run(self, samples: Sequence[Mapping[str, Any]], *, batch_size: int = 4096) -> Result:
        """Return the result over some samples."""
        return self.over(samples).run(batch_size=batch_size)

    def judged(self, samples: Sequence[Mapping[str, Any]], *, empty: bool = False) -> list[Judged]:
        """Judge samples against each kind of gold that the metric takes; *empty* takes all ground truth away."""
        read = [sample for sample in (read_sample(sample, problems=[]) for sample in samples) if sample is not None]
        if empty:
            read = [Sample(sample.id, output=sample.output) for sample in read]
        keep = Keep(needs=frozenset(self.metric.judging.needs))
        judged = []
        for kind in self.metric.gold:
            name = _MATCHER if kind in TEXT_KINDS else None
            matcher = None if name is None else self.catalog.matcher(name)
            target = Target(kind, self.metric.judging.judges, name)
            judged.append(judge(read, target, PROFILES["default"], matcher, keep=keep).judged)
        return judged

    def call(self, judged: Judged, k: int) -> Scores:
        """Return what the function itself makes of a judged batch."""
        options: dict[str, Any] = dict(self._declared_params)
        if self.metric.cutoff.kind != "none":
            options["k"] = k
        if self.metric.needs_max_grade:
            options["max_grade"] = TOP_GRADE
        return unmasked(self.metric.function(judged, **options))
