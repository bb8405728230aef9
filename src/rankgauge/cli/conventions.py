"""
Conventions: what two profiles do differently for one metric.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rankgauge.policy import option_text

if TYPE_CHECKING:
    from rankgauge.planning.resolve import PlannedMetric
    from rankgauge.policy import Profile

__all__ = ["Convention", "conventions_of"]

_Set = Callable[["Profile", str, Any], "Profile"]


@dataclass(frozen=True, slots=True)
class Convention:
    """Something that two profiles do differently: its name and each one's value."""

    name: str
    values: tuple[str, str]
    adopt: Callable[[Profile, int], Profile] | None
    """Gives a profile the value of the first or the second one; None where the data would have to be read again."""


def conventions_of(
    planned: Sequence[PlannedMetric], judged: Sequence[str], profiles: Sequence[Profile]
) -> list[Convention]:
    """Return the conventions that differ for a metric, from each profile's plan of it and what it judged."""
    alias = planned[0].metric.alias

    def set_parameter(profile: Profile, name: str, value: Any) -> Profile:  # noqa: ANN401  # of any parameter
        own = {**profile.parameters.get(alias, {}), name: value}
        return dataclasses.replace(profile, parameters={**profile.parameters, alias: own})

    def found() -> Iterator[Convention | None]:
        for parameter in planned[0].metric.parameters:
            values = [column.params.get(parameter.name, parameter.default) for column in planned]
            yield _convention(parameter.name, values, set_parameter)
        matchers = [_matcher_of(column, target) for column, target in zip(planned, judged, strict=True)]
        if None in matchers:
            yield _convention("judged", judged)
        else:
            yield _convention("matcher", matchers, set_parameter) or _convention("judged", judged)
        policies, contracts = [each.policy for each in profiles], [each.contract for each in profiles]
        for option in dataclasses.fields(policies[0]):
            if option.name != "max_failed":
                values = [getattr(policy, option.name) for policy in policies]
                yield _convention(option.name, values, None if option.name == "queries" else _set_option)
        for name in ("relevance", "duplicate_texts", "missing_texts"):
            yield _convention(name, [getattr(profile, name) for profile in profiles], _set_field)
        for name in contracts[0]._fields:
            yield _convention(name, [getattr(contract, name) for contract in contracts])

    return [convention for convention in found() if convention is not None]


def _convention(name: str, values: Sequence[Any], change: _Set | None = None) -> Convention | None:
    """Return a convention if its values differ; *change* sets it in a profile."""
    first, second = values
    if first == second:
        return None
    adopt = None if change is None else lambda profile, side: change(profile, name, values[side])
    return Convention(name, (option_text(first), option_text(second)), adopt)


def _set_option(profile: Profile, name: str, value: Any) -> Profile:  # noqa: ANN401  # of any option
    return profile.adapted({name: value})


def _set_field(profile: Profile, name: str, value: Any) -> Profile:  # noqa: ANN401  # of any field
    return dataclasses.replace(profile, **{name: value})


def _matcher_of(column: PlannedMetric, judged: str) -> str | None:
    for target, matcher in column.matchers.items():
        if str(target) == judged:
            return matcher.name or str(matcher.matcher)
    return None
