"""
Filters of a policy, resolved: each with the function that a plugin declares, and its parameters checked.
"""

from __future__ import annotations

import dataclasses
import functools

from rankgauge.catalog import Catalog, Claim, check_parameters
from rankgauge.errors import PolicyError, listed
from rankgauge.expression import MetricExpression
from rankgauge.plugin.ranking_filter import RankingFilter
from rankgauge.policy import Profile
from rankgauge.ranking_filters import Filter, FilterStep

__all__ = ["with_filters"]


def with_filters(profile: Profile, catalog: Catalog, *, by_id: bool) -> Profile:
    """Return a profile whose filters can be called; raise a `RankgaugeError` for one that cannot, *by_id* for texts."""
    if not profile.policy.filters:
        return profile
    filters = tuple(_resolved(each, catalog, by_id=by_id) for each in profile.policy.filters)
    return dataclasses.replace(profile, policy=dataclasses.replace(profile.policy, filters=filters))


def _resolved(each: Filter, catalog: Catalog, *, by_id: bool) -> Filter:
    claim: Claim[RankingFilter] = catalog.ranking_filter(each.expression.name)
    declared, given = claim.declaration, dict(each.expression.params)
    params = check_parameters(f"filter {declared.name!r}", declared.parameters, given)
    if by_id and (lacking := sorted(declared.needs - {"scores"})):
        what = listed([need.replace("_", " ") for need in lacking])
        raise PolicyError(
            f"policy filter {each} needs {what}, and a run has only ids and scores; evaluate samples, or leave the "
            "filter out"
        )
    everything = {parameter.name: parameter.default for parameter in declared.parameters} | params
    full = ", ".join(f"{name}={value!r}" for name, value in sorted(everything.items()))
    step = FilterStep(
        functools.partial(declared.function, **params),
        frozenset(declared.needs),
        f"{declared.name} {declared.version} ({full})",
        claim,
    )
    return Filter(MetricExpression(declared.name, params), step)
