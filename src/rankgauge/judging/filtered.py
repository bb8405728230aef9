"""
Rankings without the results that the filters of a policy drop, before anything else of the policy applies.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Sequence
from functools import partial
from itertools import compress
from typing import Any

import numpy as np

from rankgauge.base.frozen import frozen
from rankgauge.base.guard import ForeignError, guarded, shown
from rankgauge.columns import encoded
from rankgauge.errors import counted
from rankgauge.judging.ranking import as_compared
from rankgauge.plugin.ranking_filter import RankedResults
from rankgauge.policy import Policy
from rankgauge.ranking_filters import Filter, FilterStep
from rankgauge.samples import Fault, Output, Sample
from rankgauge.samples.left_out import left_out, not_left_out, with_results
from rankgauge.samples.unread_keys import maybe_metadata

__all__ = ["FilterFailedError", "dropped_of", "narrowed", "stays"]


class FilterFailedError(Exception):
    """A filter cannot say which results stay; the message says why."""


def narrowed(sample: Sample, policy: Policy) -> Sample:
    """Return a sample without what a policy leaves out for it, and without what its filters drop."""
    sample = left_out(sample, policy.excluded)
    if not policy.filters or not isinstance(sample.output, Output):
        return sample
    return sample._replace(output=_output(sample, sample.output, policy))


def _output(sample: Sample, output: Output, policy: Policy) -> Output | Fault:
    """Return an output, and its stages, with the results that stay; or why a filter cannot say which."""
    if policy.order == "score" and None in (output.scores or [None] * len(output.ids)):
        return output  # which the policy refuses
    try:
        kept = stays(policy, output, sample)
    except FilterFailedError as error:
        return Fault(str(error), output.unread)
    return with_results(output, kept, lambda inner: _output(sample, inner, policy))


def dropped_of(sample: Sample, policy: Policy) -> dict[int, str]:
    """Return the step of a policy that leaves out or filters each result of a whole output, by their places."""
    output, dropped = sample.output, dict[int, str]()
    if not isinstance(output, Output):
        return dropped
    left = list(range(len(output.ids)))
    steps: list[tuple[str, Callable[[Output], list[bool]]]] = []
    if policy.excluded is not None:
        steps.append(("policy excluded", partial(not_left_out, names=policy.excluded.of_query(sample.id))))
    for each in policy.filters:
        alone = dataclasses.replace(policy, filters=(each,))
        steps.append((f"policy filter {each}", partial(stays, alone, sample=sample)))
    for step, kept_of in steps:
        kept = kept_of(output)
        dropped.update((place, step) for place, is_kept in zip(left, kept, strict=True) if not is_kept)
        left = list(compress(left, kept))
        output = with_results(output, kept, lambda inner: inner)
    return dropped


def stays(policy: Policy, output: Output, sample: Sample | None = None) -> list[bool]:
    """Return which results filters leave, in the order given; raise `FilterFailedError` if one fails."""
    places = _ranked(policy, output.ids, output.scores)
    for each in policy.filters:
        step = each.step
        if step is None:
            raise FilterFailedError(f"policy filter {each} is not part of a plan")
        needed = _needed(each, step.needs, output, places)
        if "input" in step.needs and sample is not None:
            needed["input"] = frozen(sample.input)
        if "sample_metadata" in step.needs:
            needed["sample_metadata"] = frozen((sample and sample.metadata) or {})
        flags = _flags(each, step, RankedResults(tuple(output.ids[place] for place in places), **needed))
        places = list(compress(places, flags))
    kept = set(places)
    return [place in kept for place in range(len(output.ids))]


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


def _needed(each: Filter, needs: Collection[str], output: Output, places: Sequence[int]) -> dict[str, Any]:
    """Return the columns of results that a filter needs; raise `FilterFailedError` if a result lacks one."""
    columns: dict[str, Sequence[Any] | None] = {
        "scores": output.scores,
        "texts": output.texts,
        "metadata": output.metadata,
    }
    needed: dict[str, Any] = {}
    for need in sorted(columns.keys() & needs):
        column = columns[need] or [None] * len(output.ids)
        if None in column:
            hint = maybe_metadata(output.unread) if need == "metadata" else ""
            where = f"retrieved[{column.index(None)}] has none"
            raise FilterFailedError(f"policy filter {each} needs {need}; {where}{hint}")
        needed[need] = tuple(frozen(column[place]) for place in places)
    return needed


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
