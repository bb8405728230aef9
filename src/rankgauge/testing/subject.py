"""
Subjects: a metric as the laws see it, whether the engine scores it or it is called as it was found.
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

__all__ = ["EngineSubject", "MetricSubject", "UnfitError"]

_MATCHER = "contains"


class UnfitError(Exception):
    """A metric failed on a case, or returned what is no score."""


class MetricSubject(Protocol):
    """A metric under a law."""

    @property
    def name(self) -> str:
        """Return what reports call it."""
        ...

    @property
    def range(self) -> tuple[float | None, float | None]:
        """Return the lowest and the highest score; None for no bound."""
        ...

    @property
    def higher_is_better(self) -> bool:
        """Return whether more is better."""
        ...

    @property
    def describes(self) -> bool:
        """Return whether it tells about the data rather than how good a ranking is."""
        ...

    @property
    def takes_k(self) -> bool:
        """Return whether it has a cutoff."""
        ...

    @property
    def sees_ids(self) -> bool:
        """Return whether it can tell items apart, rather than their grades only."""
        ...

    @property
    def sees_repeats(self) -> bool:
        """Return whether it can be given an item twice."""
        ...

    @property
    def sees_scores(self) -> bool:
        """Return whether it is given the scores of a retriever."""
        ...

    @property
    def graded(self) -> bool:
        """Return whether it is given grades, rather than a plain list of relevant items."""
        ...

    @property
    def slack(self) -> float:
        """Return by how much two scores may differ and still be the same; 0 where the last bit is promised."""
        ...

    @property
    def huge(self) -> int:
        """Return a cutoff beyond every list that it should bear."""
        ...

    @property
    def function(self) -> Callable[..., Any]:
        """Return the function that stands behind it."""
        ...

    def score(self, case: Case, k: int, policy: Policy | str = "default") -> float | None:
        """Return the score of a case, None where there is none; `UnfitError` when it fails."""
        ...


@dataclass(frozen=True, eq=False)
class EngineSubject:
    """
    A metric that the engine scores.

    Texts are judged by the matcher `contains`, whatever the metric's own: what a matcher makes of texts is the business
    of its own laws, and it may need a model that is not there.

    Attributes:
        metric: Its declaration.

        catalog: Where its matchers are looked up, and the metric itself unless it is *given*.

        given: The function, where it stands in no catalog.

        written: The function as its author wrote it, where that is not the one over a batch.

        params: Values of its parameters that are not the default ones.

        unusable: Why its own matcher cannot work here; empty where it can.
    """

    metric: Metric
    catalog: Catalog
    given: Callable[..., Any] | None = None
    written: Callable[..., Any] | None = None
    params: Mapping[str, Value] = field(default_factory=dict)
    unusable: str = ""
    _evaluations: dict[object, Evaluation] = field(default_factory=dict, init=False, repr=False)

    @property
    def name(self) -> str:
        """Return its alias."""
        return self.metric.alias

    @property
    def range(self) -> tuple[float | None, float | None]:
        """Return its declared range."""
        return self.metric.range

    @property
    def higher_is_better(self) -> bool:
        """Return whether more is better, as declared."""
        return self.metric.higher_is_better

    @property
    def describes(self) -> bool:
        """Return whether it only describes, as declared."""
        return self.metric.describes

    @property
    def takes_k(self) -> bool:
        """Return whether it has a cutoff, as its signature says, and whether it can be given one."""
        return self.metric.cutoff != "none" and not (self.given is not None and self.metric.cutoff == "optional")

    @property
    def sees_ids(self) -> bool:
        """Return that judging tells items apart."""
        return True

    @property
    def sees_repeats(self) -> bool:
        """Return that the policy says what a repeated item does."""
        return True

    @property
    def sees_scores(self) -> bool:
        """Return whether the engine can order by score what is judged: retrieved items have scores, answers none."""
        return self.metric.judges == "retrieved"

    @property
    def graded(self) -> bool:
        """Return that samples have grades."""
        return True

    @property
    def slack(self) -> float:
        """Return that the last bit is promised."""
        return 0.0

    @property
    def huge(self) -> int:
        """Return the highest cutoff that is tried: nothing may take time or room by its size."""
        return HUGE

    @property
    def function(self) -> Callable[..., Any]:
        """Return the function as it was written."""
        return self.written or self.metric.function

    @property
    def sent(self) -> object:
        """Return what travels to another process: the declaration, which knows how."""
        return self.written or self.metric

    def evaluation(self, k: int | None, policy: Policy | str, *, own_matcher: bool = False) -> Evaluation:
        """
        Return an evaluation of nothing but this metric, made once.

        Args:
            k: A cutoff to be given to the metric, where it has one only when given.

            policy: The policy.

            own_matcher: Whether texts are judged by the metric's own matcher.

        Returns:
            The evaluation; it has no data.
        """
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
            engine = Engine(catalog=self.catalog)
            evaluation = engine.dataset([]).with_metrics([spec]).with_policy(policy)
            if not own_matcher:
                evaluation = evaluation.with_matchers(
                    {kind: _MATCHER for kind in self.metric.gold if kind != "relevant"}
                )
            self._evaluations[key] = evaluation
        return self._evaluations[key]

    def score(self, case: Case, k: int, policy: Policy | str = "default") -> float | None:
        """Return the score of a case, None where it is undefined; `UnfitError` when it fails."""
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
        """
        Judge samples against every kind of gold that the metric takes, without scoring them.

        Args:
            samples: In the form of the dataset contract.

            empty: Whether to take all ground truth away.

        Returns:
            The judged columns, one for each kind of gold.
        """
        read = [read_sample(sample, problems=[]) for sample in samples]
        kept = [sample for sample in read if sample is not None]
        if empty:
            kept = [Sample(sample.id, output=sample.output) for sample in kept]
        found = []
        for kind in self.metric.gold:
            by_text = kind != "relevant"
            target = Target(kind, self.metric.judges, _MATCHER if by_text else None)
            matcher = self.catalog.matcher(_MATCHER) if by_text else None
            found.append(judge(kept, target, PROFILES["default"], matcher).judged)
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
