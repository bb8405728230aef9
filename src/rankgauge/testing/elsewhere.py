"""
Metrics from elsewhere: calling a function in its own convention, and the laws that need a check of their own for that.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from random import Random
from typing import Any, cast

from hypothesis import strategies as st

from rankgauge.base.guard import ForeignError, guarded
from rankgauge.errors import ParameterError
from rankgauge.policy import Policy
from rankgauge.testing.calling import Calling, Role
from rankgauge.testing.subject import Case, MetricSubject, UnfitError
from rankgauge.testing.trial import Law, MetricTrial, Strategies, case_and_k, cases, unless

__all__ = ["ELSEWHERE_LAWS", "ForeignMetric", "fit"]

_SLACK = 1e-9
"""Rounding is forgiven, because nobody promised the last bit."""

_HUGE = 100_000
"""The highest cutoff that is tried; many functions loop up to it."""

_FORMS: tuple[Role, ...] = ("set", "gains", "list")
_PROBE = Case((2.0, 1.0), (0, 2, 1))


@dataclass(frozen=True, eq=False)
class ForeignMetric:
    """
    A metric that was not written for rankgauge, and is called as it is.

    Attributes:
        function: The function.

        calling: How it is called.

        changed: The arguments that the function has changed so far.
    """

    function: Callable[..., Any]
    calling: Calling
    changed: dict[str, None] = field(default_factory=dict, init=False, repr=False)

    def subject(self, bounds: tuple[float | None, float | None], *, higher_is_better: bool) -> MetricSubject:
        """Return the metric as the laws see it."""
        has = self.calling.has
        return MetricSubject(
            name=str(getattr(self.function, "__qualname__", type(self.function).__qualname__)),
            scorer=self,
            sent=self.function,
            range=bounds,
            higher_is_better=higher_is_better,
            takes_k=has("k"),
            sees_ids=has("retrieved", "scores"),
            sees_repeats=has("retrieved"),
            sees_scores=has("scores"),
            graded=has("gains", "relevances", "ideal"),
            slack=_SLACK,
            huge=_HUGE,
        )

    def score(self, case: Case, k: int, policy: Policy | str = "default") -> float | None:  # noqa: ARG002  # it has none
        """Return the score of a case, None where there is none; raise `UnfitError` when it fails."""
        if not self.calling.batch:
            return _number(self._call(self._arguments([case], k)))
        (found,) = self.over([case], k)[0] or [None]
        return found

    def over(self, cases: Sequence[Case], k: int) -> tuple[list[float | None] | None, float | None]:
        """Return the scores of a batch, or None and their mean where that is what the function returns."""
        returned = self._call(self._arguments(cases, k))
        if isinstance(returned, Mapping):
            returned = list(returned.values())
        if hasattr(returned, "tolist"):
            returned = returned.tolist()
        if not isinstance(returned, list | tuple):
            mean = _number(returned)
            return ([mean], mean) if len(cases) == 1 else (None, mean)
        if len(returned) != len(cases):
            msg = f"it returned {len(returned)} scores for {len(cases)} rankings"
            raise UnfitError(msg)
        return [_number(each) for each in returned], None

    def _arguments(self, cases: Sequence[Case], k: int) -> list[tuple[str, object]]:
        found: list[tuple[str, object]] = []
        for name, role in self.calling.roles:
            values = [_rendered(role, case, k) for case in cases]
            found.append((name, values if self.calling.batch and role != "k" else values[0]))
        return found

    def _call(self, arguments: list[tuple[str, object]]) -> object:
        """Call the function, and keep which arguments it changed."""
        before = deepcopy(arguments)
        by_name = {name: value for name, value in arguments if name in self.calling.by_name}
        try:
            with guarded():
                returned = self.function(*(value for name, value in arguments if name not in by_name), **by_name)
        except ForeignError as error:
            msg = f"it raised {error.told}"
            raise UnfitError(msg) from error
        changed = [name for (name, was), (_, now) in zip(before, arguments, strict=True) if not _same(was, now)]
        self.changed.update(dict.fromkeys(changed))
        return returned


def fit(function: Callable[..., Any], calling: Calling) -> ForeignMetric:
    """Find the form of ground truth that a function takes; raise `ParameterError` if it fails on the plainest case."""
    callings = [calling.with_gold(form) for form in _FORMS] if calling.has("gold") else [calling]
    problems: list[str] = []
    for each in callings:
        metric = ForeignMetric(function, each)
        try:
            metric.score(_PROBE, 2)
        except UnfitError as error:
            problems.append(f"given {each}, {error}")
        else:
            return metric
    name = getattr(function, "__qualname__", type(function).__qualname__)
    msg = (
        f"cannot use {name} as a metric; on a plain case it fails:\n  " + "\n  ".join(problems) + "\n"
        "say what its parameters are (calls=, or --calls on the command line; batch: before them for lists of "
        "rankings), or wrap it in a function of your own that returns one number"
    )
    raise ParameterError(msg)


def _rendered(role: Role, case: Case, k: int) -> object:
    relevant = {name: _whole(grade) for name, grade in case.gold.items() if grade > 0}
    match role:
        case "retrieved":
            return case.ids
        case "scores":
            scores = case.scores or [float(len(case.ranking) - place) for place in range(len(case.ranking))]
            return dict(zip(case.ids, scores, strict=True))
        case "relevances":
            return [_whole(max(0.0, case.grade(item))) for item in case.ranking]
        case "set":
            return set(relevant)
        case "list":
            return list(relevant)
        case "gains" | "gold":
            return relevant
        case "ideal":
            return sorted(relevant.values(), reverse=True)
        case "n-gold":
            return len(relevant)
        case "k":
            return k


def _whole(grade: float) -> float:
    """Return a grade as qrels have it: an int where it is one."""
    return int(grade) if grade.is_integer() else grade


def _number(value: object) -> float | None:
    """Return a score as a float, None where there is none."""
    if isinstance(value, Mapping) and len(value) == 1:
        (value,) = value.values()
    if value is None:
        return None
    try:
        number = value.__float__()  # type: ignore[attr-defined]  # float() would read text, too; no method: not a number
    except (AttributeError, TypeError, ValueError) as error:
        msg = f"it returned {value!r}, which is not a number"
        raise UnfitError(msg) from error
    if math.isinf(number):
        msg = "it returned an infinite score"
        raise UnfitError(msg)
    return None if math.isnan(number) else number


def _same(one: object, other: object) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        return list(one.items()) == list(other.items())  # their order counts
    return one == other


def _foreign(trial: MetricTrial) -> ForeignMetric:
    return cast("ForeignMetric", trial.subject.scorer)  # these laws are given to no other


def _over(
    trial: MetricTrial, batch: Sequence[Case], k: int, note: str
) -> tuple[list[float | None] | None, float | None]:
    for case in batch:
        trial.note(gold=case.gold, retrieved=case.ids, k=k, note=note)
    try:
        return _foreign(trial).over(batch, k)
    except UnfitError as error:
        trial.fail(str(error))


def _order_of_samples(trial: MetricTrial, batch: list[Case], k: int, order: Random) -> None:
    places = list(range(len(batch)))
    before, mean = _over(trial, batch, k, "in one batch")
    order.shuffle(places)
    after, other_mean = _over(trial, [batch[place] for place in places], k, "in another order")
    if before is not None and after is not None:
        for now, place in enumerate(places):
            trial.same(before[place], after[now], "in another order, a ranking scores differently")
    trial.same(mean, other_mean, "in another order, the mean changes")


def _one_by_one(trial: MetricTrial, batch: list[Case], k: int) -> None:
    together, mean = _over(trial, batch, k, "in one batch")
    alone = [trial.score(case, k, note="alone") for case in batch]
    if together is not None:
        for one, other in zip(together, alone, strict=True):
            trial.same(one, other, f"in a batch it is {one!r}, and alone {other!r}")
    elif None not in alone:
        expected = sum(score for score in alone if score is not None) / len(alone)
        trial.same(mean, expected, f"the batch has {mean!r}, and the mean of its scores is {expected!r}")


def _arguments(trial: MetricTrial, at: tuple[Case, int]) -> None:
    _foreign(trial).changed.clear()
    trial.score(*at)
    changed = list(_foreign(trial).changed)

    trial.demand(not changed, f"it changed {', '.join(changed)}, which belongs to the caller; work on a copy")


def _batches(subject: MetricSubject, *more: st.SearchStrategy[Any]) -> Strategies:
    return (st.lists(cases(subject), min_size=2, max_size=4), st.integers(1, 5), *more)


_ORDER = st.randoms(use_true_random=False)
_NEEDS_BATCH = unless(lambda subject: subject.scorer.calling.batch, "it takes one ranking at a time")

ELSEWHERE_LAWS: dict[str, Law] = {
    "order-of-samples": Law(_order_of_samples, lambda subject: _batches(subject, _ORDER), _NEEDS_BATCH),
    "one-by-one": Law(_one_by_one, _batches, _NEEDS_BATCH),
    "arguments": Law(_arguments, lambda subject: (case_and_k(subject),)),
}
"""The laws by name; all others are those of `metric_laws`."""
