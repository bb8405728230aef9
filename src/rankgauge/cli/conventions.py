"""
Conventions: what two profiles do differently for one metric.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rankgauge.planning.resolve import PlannedMetric
    from rankgauge.policy import Profile

__all__ = ["Convention", "conventions_of"]


@dataclass(frozen=True, slots=True)
class Convention:
    """
    Something that two profiles do differently for one metric.

    Attributes:
        name: What it is called.

        values: How each profile has it.

        adopt: Gives a profile the way of the first or the second one; None where the data would have to be read anew.
    """

    name: str
    values: tuple[str, str]
    adopt: Callable[[Profile, int], Profile] | None


def conventions_of(
    planned: Sequence[PlannedMetric], judged: Sequence[str], profiles: Sequence[Profile]
) -> list[Convention]:
    """
    Return what two profiles do differently for one metric.

    Args:
        planned: The metric as each of them plans it.

        judged: What it was judged against under each, as results say it.

        profiles: The two profiles.

    Returns:
        The parameters of the metric that differ, its matcher, the policy options, and how data is read.
    """
    first, second = profiles
    return [
        *_of_metric(planned, judged),
        *_of_policy(first, second),
        *(
            Convention(name, told, None)
            for name, value in first.contract._asdict().items()
            if (told := _told(value, getattr(second.contract, name))) is not None
        ),
    ]


def _of_metric(planned: Sequence[PlannedMetric], judged: Sequence[str]) -> Iterator[Convention]:
    metric = planned[0].metric
    for parameter in metric.parameters:
        values = [column.params.get(parameter.name, parameter.default) for column in planned]
        if (told := _told(*values)) is not None:
            yield Convention(parameter.name, told, _parameter(metric.alias, parameter.name, values))
    matchers = [_matcher_of(column, target) for column, target in zip(planned, judged, strict=True)]
    if None not in matchers and (told := _told(*matchers)) is not None:
        yield Convention("matcher", told, _parameter(metric.alias, "matcher", matchers))
    elif judged[0] != judged[1]:
        yield Convention("judged", (judged[0], judged[1]), None)


def _of_policy(first: Profile, second: Profile) -> Iterator[Convention]:
    for item in dataclasses.fields(first.policy):
        values = [getattr(profile.policy, item.name) for profile in (first, second)]
        if item.name != "max_failed" and (told := _told(*values)) is not None:
            yield Convention(item.name, told, None if item.name == "queries" else _policy(item.name, values))
    for name in ("relevance", "duplicate_texts", "missing_texts"):
        values = [getattr(profile, name) for profile in (first, second)]
        if (told := _told(*values)) is not None:
            yield Convention(name, told, _field(name, values))


def _matcher_of(column: PlannedMetric, judged: str) -> str | None:
    for target, matcher in column.matchers.items():
        if str(target) == judged:
            return matcher.name or str(matcher.matcher)
    return None


def _parameter(alias: str, name: str, values: Sequence[Any]) -> Callable[[Profile, int], Profile]:
    def adopt(profile: Profile, side: int) -> Profile:
        own = MappingProxyType({**profile.parameters.get(alias, {}), name: values[side]})
        return dataclasses.replace(profile, parameters=MappingProxyType({**profile.parameters, alias: own}))

    return adopt


def _policy(name: str, values: Sequence[Any]) -> Callable[[Profile, int], Profile]:
    return lambda profile, side: dataclasses.replace(profile, policy=profile.policy.with_options({name: values[side]}))


def _field(name: str, values: Sequence[Any]) -> Callable[[Profile, int], Profile]:
    def adopt(profile: Profile, side: int) -> Profile:
        changes: dict[str, Any] = {name: values[side]}
        return dataclasses.replace(profile, **changes)

    return adopt


def _told(first: object, second: object) -> tuple[str, str] | None:
    """Return how two values are written; None where they are the same."""
    return None if first == second else (_written(first), _written(second))


def _written(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) or value is None else str(value)
