"""
The laws of metrics from elsewhere that need a check of their own: batches, and what happens to the arguments.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any, cast

from hypothesis import strategies as st

from rankgauge.testing.cases import Case
from rankgauge.testing.draws import case_and_k, cases
from rankgauge.testing.elsewhere import ForeignMetric
from rankgauge.testing.subject import MetricSubject, UnfitError
from rankgauge.testing.trial import Law, MetricTrial, Strategies

__all__ = ["ELSEWHERE_LAWS"]


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


def _needs_batch(subject: MetricSubject) -> str:
    takes_batch = isinstance(subject.scorer, ForeignMetric) and subject.scorer.calling.batch
    return "" if takes_batch else "it takes one ranking at a time"


def _batches(subject: MetricSubject, *more: st.SearchStrategy[Any]) -> Strategies:
    return (st.lists(cases(subject), min_size=2, max_size=4), st.integers(1, 5), *more)


_ORDER = st.randoms(use_true_random=False)

ELSEWHERE_LAWS: dict[str, Law] = {
    "order-of-samples": Law(_order_of_samples, lambda subject: _batches(subject, _ORDER), _needs_batch),
    "one-by-one": Law(_one_by_one, _batches, _needs_batch),
    "arguments": Law(_arguments, lambda subject: (case_and_k(subject),)),
}
"""The laws by name; all others are those of `metric_laws`."""
