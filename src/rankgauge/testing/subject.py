"""
Subjects: a metric as the laws see it, and the metrics among them that the engine scores.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from rankgauge.catalog import Catalog
from rankgauge.columns import Judged, Scores
from rankgauge.engine.engine import Engine
from rankgauge.engine.evaluation import Evaluation
from rankgauge.expression import Value
from rankgauge.judging import Target, judge
from rankgauge.plugin.metric import Metric
from rankgauge.policy import PROFILES, Policy
from rankgauge.result import Result
from rankgauge.samples import Sample, read_sample
from rankgauge.testing.cases import HUGE, TOP_GRADE, Case

__all__ = ["EngineMetric", "MetricSubject", "UnfitError"]

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

        sent: What has to survive pickling.

        range: The lowest and the highest score; None for no bound.

        higher_is_better: Whether more is better.

        describes: Whether it describes the data rather than how good a ranking is.

        takes_k: Whether it has a cutoff.

        sees_ids: Whether it can tell items apart, not only their grades.

        sees_repeats: Whether it can be given an item twice.

        sees_scores: Whether it is given the retriever's scores.

        graded: Whether it is given grades, not only a list of relevant items.

        slack: How far two equal scores may differ; 0 where they must agree to the last bit.

        huge: A cutoff beyond every list, which it has to cope with.
    """

    name: str
    scorer: _Scorer
    sent: object
    range: tuple[float | None, float | None]
    higher_is_better: bool
    describes: bool = False
    takes_k: bool
    sees_ids: bool = True
    sees_repeats: bool = True
    sees_scores: bool
    graded: bool = True
    slack: float = 0.0
    huge: int = HUGE

    def score(self, case: Case, k: int, policy: Policy | str = "default") -> float | None:
        """Return the score of a case, None where it has none; raise `UnfitError` when the metric fails."""
        return self.scorer.score(case, k, policy)


@dataclass(frozen=True, eq=False)
class EngineMetric:
    """
    A metric that the engine scores.

    Texts are judged by the matcher `contains`, whatever the metric's own, because that one may need a model that is
    not installed; matchers have laws of their own.

    Attributes:
        metric: Its declaration.

        catalog: Where its matchers are looked up, and the metric itself unless it is *given*.

        given: The function, where no catalog has it.

        written: The function as its author wrote it, where that is not the one over a batch.

        params: Parameter values that are not the defaults.

        unusable: Why its own matcher cannot work here; empty where it can.
    """

    metric: Metric
    catalog: Catalog
    given: Callable[..., Any] | None = None
    written: Callable[..., Any] | None = None
    params: Mapping[str, Value] = field(default_factory=dict)
    unusable: str = ""
    _evaluations: dict[object, Evaluation] = field(default_factory=dict, init=False, repr=False)

    def subject(self) -> MetricSubject:
        """Return the metric as the laws see it."""
        metric = self.metric
        return MetricSubject(
            name=metric.alias,
            scorer=self,
            sent=self.written or metric,
            range=metric.range,
            higher_is_better=metric.higher_is_better,
            describes=metric.describes,
            takes_k=metric.cutoff != "none" and not (self.given is not None and metric.cutoff == "optional"),
            sees_scores=metric.judges == "retrieved",  # retrieved items have scores, answers have none
        )

    def evaluation(self, k: int | None, policy: Policy | str, *, own_matcher: bool = False) -> Evaluation:
        """Return an evaluation of this metric alone, without data; *k* counts where the cutoff is optional."""
        own = k if self.metric.cutoff == "optional" else None
        key = (own, policy, own_matcher)
        if key not in self._evaluations:
            spec: Any = self.given
            if spec is None:
                spec = {"metric": self.metric.alias, **self.params}
                if self.metric.needs_max_grade:
                    spec["max_grade"] = TOP_GRADE
                if own is not None:
                    spec["k"] = own
            evaluation = Engine(catalog=self.catalog).dataset([]).with_metrics([spec]).with_policy(policy)
            if not own_matcher:
                by_text = [kind for kind in self.metric.gold if kind != "relevant"]
                evaluation = evaluation.with_matchers(dict.fromkeys(by_text, _MATCHER))
            self._evaluations[key] = evaluation
        return self._evaluations[key]

    def score(self, case: Case, k: int, policy: Policy | str = "default") -> float | None:
        """Return the score of a case, None where it is undefined; raise `UnfitError` when it fails."""
        (found,) = self.evaluation(k, policy).score(case.sample("s", k)).values()
        if found.status not in {"scored", "undefined"}:
            raise UnfitError(found.reason)
        return found.value if found.status == "scored" else None

    def over(self, samples: Sequence[Mapping[str, Any]]) -> Evaluation:
        """Return an evaluation of some samples."""
        evaluation = self.evaluation(None, "default")
        return replace(evaluation, data=Engine(catalog=self.catalog).dataset(samples).data)

    def run(self, samples: Sequence[Mapping[str, Any]], *, batch_size: int = 4096) -> Result:
        """Return the result over some samples."""
        return self.over(samples).run(batch_size=batch_size)

    def judged(self, samples: Sequence[Mapping[str, Any]], *, empty: bool = False) -> list[Judged]:
        """Judge samples against each kind of gold that the metric takes; *empty* takes all ground truth away."""
        read = [read_sample(sample, problems=[]) for sample in samples]
        kept = [sample for sample in read if sample is not None]
        if empty:
            kept = [Sample(sample.id, output=sample.output) for sample in kept]
        found = []
        for kind in self.metric.gold:
            name = None if kind == "relevant" else _MATCHER
            matcher = None if name is None else self.catalog.matcher(name)
            found.append(judge(kept, Target(kind, self.metric.judges, name), PROFILES["default"], matcher).judged)
        return found

    def call(self, judged: Judged, k: int) -> Scores:
        """Return what the function itself makes of a judged batch."""
        names = {parameter.name for parameter in self.metric.parameters}
        cut: dict[str, Any] = {name: value for name, value in self.params.items() if name in names}
        if self.metric.cutoff != "none":
            cut["k"] = k
        if self.metric.needs_max_grade:
            cut["max_grade"] = TOP_GRADE
        return np.asarray(self.metric.function(judged, **cut), dtype=np.float64)
