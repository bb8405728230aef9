"""
What a request asks for one metric against the policy: samples without a value or an output, low scores, ties.
"""

from __future__ import annotations

import math
from typing import NamedTuple, cast, get_args

from rankgauge.errors import ParameterError
from rankgauge.expression import Value
from rankgauge.planning.requests import Bound
from rankgauge.policy import MissingRule, Policy

__all__ = ["NO_OVERRIDES", "Overrides", "overrides_of"]


class Overrides(NamedTuple):
    """What is asked for one metric against the policy; None if the policy holds."""

    undefined: float | None = None  # what a sample with an output counts as if the metric is undefined
    missing: MissingRule | None = None  # what a sample without output counts as
    score_above: float | None = None  # results with no higher score count as not relevant
    averages_ties: bool = False  # whether scores are expectations over the orders of ties

    def definition(self, bound: Bound) -> dict[str, Value]:
        """Return what was asked for, as part of what the scores mean."""
        names = ("undefined", "missing", "score_above", "ties")
        return {name: value for name in names if (value := bound.request.engine.get(name)) is not None}


NO_OVERRIDES = Overrides()


def overrides_of(bound: Bound, policy: Policy) -> Overrides:
    """Return what a request asks against the policy; raise a `ParameterError` for what cannot be."""
    return Overrides(_undefined(bound), _missing(bound), _score_above(bound), _averages_ties(bound, policy))


def _score_above(bound: Bound) -> float | None:
    """Return the score that a result has to be above of, to count as relevant; None if all may."""
    value, written = bound.request.engine.get("score_above"), repr(bound.request.written)
    if value is None:
        return None
    if "score_above" not in bound.metric.engine_parameters:
        raise ParameterError(f"{bound.metric.alias!r} does not judge one ranking; leave score_above out of {written}")
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ParameterError(f"score_above of {written} is a score, such as 0, not {value!r}")
    return float(value)


def _missing(bound: Bound) -> MissingRule | None:
    """Return what a sample without output counts as; `exclude` leaves it out of the mean."""
    value, written = bound.request.engine.get("missing"), repr(bound.request.written)
    if value is None:
        return None
    if "missing" not in bound.metric.engine_parameters:
        raise ParameterError(f"{bound.metric.alias!r} has one value for a whole run; leave missing out of {written}")
    if value not in get_args(MissingRule):
        raise ParameterError(f"missing of {written} is {' or '.join(get_args(MissingRule))}, not {value!r}")
    return cast("MissingRule", value)


def _undefined(bound: Bound) -> float | None:
    """Return what a sample counts as that has an output, and of which the metric has no value."""
    value, metric, written = bound.request.engine.get("undefined"), bound.metric, repr(bound.request.written)
    if value is None:
        return None
    if "undefined" not in metric.engine_parameters:
        raise ParameterError(f"{metric.alias!r} needs no ground truth; leave undefined={value} out of {written}")
    low, high = metric.range
    number = math.nan if isinstance(value, bool | str) else float(value)
    if not (-math.inf if low is None else low) <= number <= (math.inf if high is None else high):
        within = f"from {'any' if low is None else f'{low:g}'} to {'any' if high is None else f'{high:g}'}"
        msg = f"undefined of {written} is what a sample counts as without a value, {within}, not {value!r}"
        raise ParameterError(msg)
    return number


def _averages_ties(bound: Bound, policy: Policy) -> bool:
    """Return whether scores are expectations over the orders of ties: by the policy, or by the request beside it."""
    ties, written = bound.request.engine.get("ties"), repr(bound.request.written)
    if ties is None:
        return policy.averages_ties
    if ties != "average" or not policy.settles_ties_late:
        raise ParameterError(
            f"ties of {written} can be average, where the policy settles ties by grade (ties=worst or best), not {ties}"
        )
    return True
