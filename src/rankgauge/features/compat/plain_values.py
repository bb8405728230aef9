"""
Judging another system's plain values under a profile, and calling our metrics with its parameters.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable, Sequence
from itertools import repeat
from typing import Literal, NamedTuple, SupportsIndex

import numpy as np

from rankgauge.catalog import Catalog, ResolvedMatcher
from rankgauge.columns import Judged, Scores
from rankgauge.expression import Value
from rankgauge.judging import BY_ID, Target, judge
from rankgauge.plugin.metric import declared
from rankgauge.policy import PROFILES
from rankgauge.samples import Expected, Output, Sample

__all__ = ["ByText", "ByValue", "cutoff", "judge_by_text", "judge_by_value", "scores_of"]


class ByValue(NamedTuple):
    """
    One query whose items are distinguished by equality.

    Attributes:
        gold: The values that are relevant.

        retrieved: The retrieved values, rank 1 first.

        gains: One gain for each gold value; None for 1 each. A value listed twice has its highest gain.
    """

    gold: Sequence[object]
    retrieved: Sequence[object]
    gains: Sequence[float] | None = None


class ByText(NamedTuple):
    """One query whose texts a matcher compares: the gold texts, and the retrieved ones, rank 1 first."""

    gold: Sequence[str]
    retrieved: Sequence[str]


def judge_by_value(queries: Iterable[ByValue], profile: str) -> Judged:
    """Judge queries by equality of their values, hashable or not."""
    samples = []
    for number, query in enumerate(queries):
        labels = _Labels()
        gains: dict[str, float] = {}
        for value, gain in zip(query.gold, query.gains or repeat(1.0), strict=False):
            label = labels.of(value)
            gains[label] = max(gain, gains.get(label, gain))
        output = Output([labels.of(value) for value in query.retrieved])
        samples.append(Sample(str(number), expected=Expected(gains, query.gains is not None), output=output))
    return judge(samples, BY_ID, PROFILES[profile]).judged


def judge_by_text(
    queries: Iterable[ByText], gold: Literal["passages", "keywords"], profile: str, metric: Callable[..., Scores]
) -> Judged:
    """Judge queries by the matcher that a profile has for a metric; raise `ValueError` for what is not a text."""
    samples = []
    for number, query in enumerate(queries):
        gold_texts = tuple(_text(text, number) for text in query.gold)
        expected = Expected(passages=gold_texts) if gold == "passages" else Expected(keywords=gold_texts)
        output = Output([None] * len(query.retrieved), [_text(text, number) for text in query.retrieved])
        samples.append(Sample(str(number), expected=expected, output=output))
    matcher = _matcher(str(_parameters(metric, profile)["matcher"]))
    return judge(samples, Target(gold, matcher=matcher.name), PROFILES[profile], matcher).judged


def scores_of(metric: Callable[..., Scores], judged: Judged, profile: str, **given: object) -> list[float]:
    """Call a metric with a profile's parameters, *given* ones first; a query without a value scores 0."""
    parameters = {name: value for name, value in _parameters(metric, profile).items() if name != "matcher"}
    scores = metric(judged, **{**parameters, **given})
    values: list[float] = np.where(np.isnan(scores), 0.0, scores).tolist()
    return values


def cutoff(k: SupportsIndex) -> int:
    """Return a cutoff as an integer of 0 or more; a slice would count a negative one from the end."""
    try:
        number = operator.index(k)
    except TypeError:
        number = -1
    if number < 0:
        raise ValueError(f"k must be an integer of 0 or more, not {k!r}")
    return number


class _Labels:
    """Ids for values of any kind; equal values share one."""

    def __init__(self) -> None:
        self._known: dict[object, str] = {}
        self._unhashable: list[object] = []

    def of(self, value: object) -> str:
        try:
            return self._known.setdefault(value, f"value {len(self._known)}")
        except TypeError:
            if value not in self._unhashable:
                self._unhashable.append(value)
            return f"unhashable value {self._unhashable.index(value)}"


def _text(value: object, number: int) -> str:
    if not isinstance(value, str):
        wrong = f"query {number} (counted from 0) holds {value!r}, which is not a text"
        raise ValueError(wrong)  # noqa: TRY004  # public functions promise a ValueError
    return value


@functools.cache
def _matcher(name: str) -> ResolvedMatcher:
    return Catalog.discover(own_only=True).matcher(name)


def _parameters(metric: Callable[..., Scores], profile: str) -> dict[str, Value]:
    declaration = declared(metric)
    if declaration is None:
        raise TypeError(f"{metric!r} is not a metric")
    return dict(PROFILES[profile].parameters.get(declaration.alias, {}))
