"""
Subjects and cases: a metric as the laws see it, those that the engine scores, and the small rankings they score.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from rankgauge.base.guard import ForeignError, guarded
from rankgauge.catalog import Catalog
from rankgauge.columns import Judged, Scores
from rankgauge.engine.engine import Engine
from rankgauge.engine.evaluation import Evaluation
from rankgauge.engine.result import Result
from rankgauge.errors import MatcherError
from rankgauge.explain import Explanation, Scorer, explain_sample
from rankgauge.expression import Value
from rankgauge.judging import Keep, Target, judge
from rankgauge.plugin.metric import Metric
from rankgauge.policy import PROFILES, Policy
from rankgauge.samples import Sample, read_sample

__all__ = ["ANCHOR", "GRADES", "HUGE", "MOST_GOLD", "Case", "EngineMetric", "MetricSubject", "UnfitError"]

_MATCHER = "contains"

HUGE = 10**9
"""A cutoff beyond every list."""

TOP_GRADE = 4.0
GRADES = (1.0, 2.0, 3.0, 4.0, 0.5, 2.75, 0.0, -1.0)
MOST_GOLD = 6


@dataclass(frozen=True, slots=True)
class Case:
    """
    A ranking with its ground truth.

    Attributes:
        grades: The ground truth: item 0 has the first grade, and so on; items beyond it are unjudged.

        ranking: The items retrieved, rank 1 first.

        scores: The retriever's score of each of them; None for descending ones, which no law looks at.

        gold_order: The order in which the ground truth is listed; None for the order of the items.
    """

    grades: tuple[float, ...]
    ranking: tuple[int, ...]
    scores: tuple[float, ...] | None = None
    gold_order: tuple[int, ...] | None = None

    @property
    def distinct(self) -> tuple[int, ...]:
        """Return the items retrieved, each once."""
        return tuple(dict.fromkeys(self.ranking))

    @property
    def n_relevant(self) -> int:
        """Return how many items of the ground truth have a grade above 0."""
        return sum(grade > 0 for grade in self.grades)

    @property
    def best_first(self) -> list[int]:
        """Return the items of the ground truth, best first."""
        return sorted(range(len(self.grades)), key=lambda item: -self.grades[item])

    @property
    def gold(self) -> dict[str, float]:
        """Return the ground truth: the grade of each id, as listed."""
        order = range(len(self.grades)) if self.gold_order is None else self.gold_order
        return {_doc_id(item): self.grades[item] for item in order}

    @property
    def ids(self) -> list[str]:
        """Return the ids retrieved, rank 1 first."""
        return [_doc_id(item) for item in self.ranking]

    def is_judged(self, item: int) -> bool:
        """Return whether the ground truth names an item."""
        return item < len(self.grades)

    def grade(self, item: int) -> float:
        """Return an item's grade, 0 where it is unjudged."""
        return self.grades[item] if self.is_judged(item) else 0.0

    def ranked(self, ranking: Sequence[int]) -> Case:
        """Return the case with another ranking."""
        return replace(self, ranking=tuple(ranking))

    def padded(self, depth: int) -> Case:
        """Return the case with new unjudged items below, down to a depth of distinct items."""
        missing = max(0, depth - len(self.distinct))
        start = max((*self.ranking, len(self.grades) - 1)) + 1
        return self.ranked((*self.ranking, *range(start, start + missing)))

    def sample(self, name: str, k: int | None = None) -> dict[str, Any]:
        """Return a sample, in the form of the dataset contract, whose gold texts are those of the relevant items."""
        gold = self.gold
        texts = [_doc_text(name) for name, grade in gold.items() if grade > 0]
        scores = range(len(self.ranking), 0, -1) if self.scores is None else self.scores
        retrieved = [
            {"id": _doc_id(item), "text": _doc_text(_doc_id(item)), "score": score}
            for item, score in zip(self.ranking, scores, strict=True)
        ]
        answer = retrieved[0]["text"] if retrieved else ""
        return {
            "id": name,
            "input": f"The question of {name}?",
            "expected_output": {
                "relevant": gold,
                **dict.fromkeys(("passages", "answer", "keywords", "nuggets"), texts),
            },
            "actual_output": {"retrieved": retrieved, "answer": answer},
            "metadata": {"k": k},
        }


ANCHOR = Case((1.0,), (0, 7))
"""A case with gold of every kind, so that no part of a dataset lacks it."""


def _doc_id(item: int) -> str:
    """Return the id of an item."""
    return f"doc-{item}"


def _doc_text(name: str) -> str:
    """Return the text of an id; none of them occurs in another."""
    return f"The text of {name}, whole."


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

        sees_more: Whether it is shown ids, texts or the answer, so that items of one grade differ for it.

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
    sees_more: bool = False
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

        params: Parameter values that are not the defaults; those of the metric's example among them.
    """

    metric: Metric
    catalog: Catalog
    given: Callable[..., Any] | None = None
    written: Callable[..., Any] | None = None
    params: Mapping[str, Value] = field(default_factory=dict)
    _evaluations: dict[object, Evaluation] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "params", {**self.metric.example, **self.params})

    @property
    def unusable(self) -> str:
        """Return why its own matcher cannot work here; empty where it can, or does not exist, which `usable` finds."""
        if all(kind == "relevant" for kind in self.metric.judging.gold):
            return ""
        try:
            with guarded():
                name = (
                    self.metric.judging.matcher()
                    if callable(self.metric.judging.matcher)
                    else self.metric.judging.matcher or "contains"
                )
                matcher = self.catalog.matcher(name)
        except ForeignError:
            return ""
        try:
            matcher.check_usable()
        except MatcherError as error:
            return str(error)
        return ""

    @property
    def needs_parameters(self) -> str:
        """Return why it cannot be called with these parameters, such as a file that it needs; empty where it can."""
        names = {parameter.name: parameter.default for parameter in self.metric.parameters}
        try:
            with guarded():
                if self.metric.check is not None:
                    self.metric.check(**{**names, **{key: each for key, each in self.params.items() if key in names}})
        except ForeignError as error:
            if not issubclass(type(error.__cause__), ValueError):
                return ""  # a mistake of the check, which the law `usable` tells
            return (
                f"{error.reason}; check it with parameters, such as `rankgauge metrics check 'NAME(parameter=value)'`"
            )
        return ""

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
            takes_k=metric.cutoff.kind != "none" and not (self.given is not None and metric.cutoff.kind == "optional"),
            sees_scores=metric.judging.judges == "retrieved",  # retrieved items have scores, answers have none
            sees_more=bool(set(metric.judging.needs) - {"scores", "intents"}),
        )

    def evaluation(self, k: int | None, policy: Policy | str, *, own_matcher: bool = False) -> Evaluation:
        """Return an evaluation of this metric alone, without data; *k* counts where the cutoff is optional."""
        own = k if self.metric.cutoff.kind == "optional" else None
        key = (own, policy, own_matcher)
        if key not in self._evaluations:
            spec: Any = self.given
            if spec is None:
                spec = {"metric": self.metric.alias, **self.params}
                if self.metric.needs_max_grade:
                    spec["max_grade"] = TOP_GRADE
                if own is not None:
                    spec["k"] = own
            evaluation = Engine(catalog=self.catalog).dataset([]).with_metrics([spec]).with_profile(policy)
            if not own_matcher:
                by_text = [kind for kind in self.metric.judging.gold if kind != "relevant"]
                evaluation = evaluation.with_matchers(dict.fromkeys(by_text, _MATCHER))
            self._evaluations[key] = evaluation
        return self._evaluations[key]

    def score(self, case: Case, k: int, policy: Policy | str = "default") -> float | None:
        """Return the score of a case, None where it is undefined; raise `UnfitError` when it fails."""
        (found,) = self.evaluation(k, policy).score(case.sample("s", k)).values()
        if found.status not in {"scored", "undefined"}:
            raise UnfitError(found.reason)
        return found.value if found.status == "scored" else None

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
        read = [read_sample(sample, problems=[]) for sample in samples]
        kept = [sample for sample in read if sample is not None]
        if empty:
            kept = [Sample(sample.id, output=sample.output) for sample in kept]
        found = []
        for kind in self.metric.judging.gold:
            name = None if kind == "relevant" else _MATCHER
            matcher = None if name is None else self.catalog.matcher(name)
            target, keep = (
                Target(kind, self.metric.judging.judges, name),
                Keep(needs=frozenset(self.metric.judging.needs)),
            )
            found.append(judge(kept, target, PROFILES["default"], matcher, keep=keep).judged)
        return found

    def call(self, judged: Judged, k: int) -> Scores:
        """Return what the function itself makes of a judged batch."""
        names = {parameter.name for parameter in self.metric.parameters}
        cut: dict[str, Any] = {name: value for name, value in self.params.items() if name in names}
        if self.metric.cutoff.kind != "none":
            cut["k"] = k
        if self.metric.needs_max_grade:
            cut["max_grade"] = TOP_GRADE
        return np.asarray(self.metric.function(judged, **cut), dtype=np.float64)
