"""
Rankings without the results that the filters of a policy drop, before anything else of the policy applies.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from typing import TypeVar

import numpy as np

from rankgauge.base.guard import ForeignError, guarded, shown
from rankgauge.columns import encoded
from rankgauge.errors import counted
from rankgauge.judging.ranking import as_compared
from rankgauge.plugin.ranking_filter import RankedResults
from rankgauge.policy import Policy
from rankgauge.ranking_filters import Filter, FilterStep
from rankgauge.samples import Fault, Output, Sample
from rankgauge.samples.left_out import left_out, with_results

__all__ = ["FilterFailedError", "narrowed", "stays"]

V = TypeVar("V")


class FilterFailedError(Exception):
    """A filter cannot say which results stay; the message says why."""


def narrowed(sample: Sample, policy: Policy) -> Sample:
    """Return a sample without what a policy leaves out for it, and without what its filters drop."""
    sample = left_out(sample, policy.excluded)
    if not policy.filters or not isinstance(sample.output, Output):
        return sample
    return sample._replace(output=_output(sample.output, policy))


def _output(output: Output, policy: Policy) -> Output | Fault:
    """Return an output, and its stages, with the results that stay; or why a filter cannot say which."""
    if policy.order == "score" and None in (output.scores or [None] * len(output.ids)):
        return output  # which the policy refuses
    try:
        kept = stays(policy, output.ids, output.scores, output.texts)
    except FilterFailedError as error:
        return Fault(str(error), output.unread)
    return with_results(output, kept, lambda inner: _output(inner, policy))


def stays(
    policy: Policy,
    ids: Sequence[str | None],
    scores: Sequence[float | None] | None,
    texts: Sequence[str | None] | None = None,
) -> list[bool]:
    """Return which results filters leave, in the order given; raise `FilterFailedError` if one fails."""
    places = _ranked(policy, ids, scores)
    for each in policy.filters:
        step = each.step
        if step is None:
            raise FilterFailedError(f"policy filter {each} is not part of a plan")
        columns = {"scores": scores, "texts": texts}
        needed = {need: _column(each, need, columns[need], len(ids)) for need in step.needs}
        ranked = {need: tuple(column[place] for place in places) for need, column in needed.items()}
        flags = _flags(each, step, RankedResults(tuple(ids[place] for place in places), **ranked))  # type: ignore[arg-type]  # complete
        places = list(compress(places, flags))
    kept = set(places)
    return [place in kept for place in range(len(ids))]


def _ranked(policy: Policy, ids: Sequence[str | None], scores: Sequence[float | None] | None) -> list[int]:
    """Return the places of results, rank 1 first."""
    places = list(range(len(ids)))
    if policy.order == "given" or scores is None:
        return places
    compared = as_compared(np.array(scores, dtype=np.float64), policy).tolist()
    if policy.ties != "given":
        names = [b"" if name is None else encoded(name) for name in ids]
        places.sort(key=names.__getitem__, reverse=True)
    return sorted(places, key=lambda place: -compared[place])


def _column(each: Filter, need: str, column: Sequence[V | None] | None, size: int) -> Sequence[V]:
    """Return a column that every result has; raise `FilterFailedError` for one that lacks it."""
    found = [None] * size if column is None else column
    lacking = next((place for place, value in enumerate(found) if value is None), None)
    if lacking is not None:
        raise FilterFailedError(f"policy filter {each} needs {need}; retrieved[{lacking}] has none")
    return [value for value in found if value is not None]


def _flags(each: Filter, step: FilterStep, results: RankedResults) -> list[bool]:
    try:
        with guarded():
            returned: object = step.keep(results)
            flags = list(returned)  # type: ignore[call-overload]  # anything else raises
            are_flags = all(type(flag) in {bool, np.bool_} for flag in flags)
    except ForeignError as error:
        raise FilterFailedError(f"policy filter {each} (by {step.claim.provider}) failed: {error}") from error
    if not are_flags or len(flags) != len(results.ids):
        wanted = f"{counted(len(results.ids), 'flag')}, true for what stays, is needed"
        msg = f"policy filter {each} (by {step.claim.provider}) failed: it returned {shown(returned)} where {wanted}"
        raise FilterFailedError(msg)
    return [bool(flag) for flag in flags]
