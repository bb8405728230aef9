"""
Scoring a judged batch: values with a status each, and a reason wherever there is no value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankgauge.errors import Problem, SampleRefusedError
from rankgauge.evaluation.resolve import PlannedMetric
from rankgauge.judged import Cutoff, Judged, Scores
from rankgauge.judging import Evidence
from rankgauge.policy import Policy
from rankgauge.samples import Fault, Sample

__all__ = ["FAILED", "MISSING", "SCORED", "STATUSES", "UNDEFINED", "Flaw", "Outcome", "flaws", "refuse", "score_batch"]

Status = Literal["scored", "undefined", "missing", "failed"]
STATUSES: tuple[Status, ...] = ("scored", "undefined", "missing", "failed")
SCORED, UNDEFINED, MISSING, FAILED = range(4)


class Flaw(NamedTuple):
    """Why a sample has no score of any metric: its status code and the reason."""

    status: int
    reason: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """
    The scores of one metric.

    Attributes:
        values: What counts in aggregates, NaN where nothing does; shape (n,).

        status: A code into `STATUSES` for each sample; shape (n,).

        reasons: Why a sample that is not `scored` has no score, by its place.
    """

    values: Scores
    status: NDArray[np.uint8]
    reasons: dict[int, str] = field(default_factory=dict)


def flaws(samples: Sequence[Sample], *, start: int = 0) -> dict[int, Flaw]:
    """
    Return which samples cannot be scored by any metric, and why.

    Args:
        samples: Some samples.

        start: The place of the first.

    Returns:
        Flaws by place.
    """
    found: dict[int, Flaw] = {}
    for place, sample in enumerate(samples, start):
        if not sample.answerable:
            found[place] = Flaw(UNDEFINED, "the sample is declared unanswerable (metadata.answerable: false)")
        elif sample.output is None:
            found[place] = Flaw(MISSING, "there is no output for this sample")
        elif isinstance(sample.output, Fault):
            found[place] = Flaw(FAILED, sample.output.reason)
    return found


def score_batch(
    column: PlannedMetric,
    evidence: Evidence,
    flawed: Mapping[int, Flaw],
    k: Cutoff | None,
    policy: Policy,
    extra: Mapping[str, float],
) -> Outcome:
    """
    Score one metric on one judged batch.

    Args:
        column: The metric.

        evidence: The judged batch.

        flawed: Samples that no metric can score.

        k: The cutoff; None for none.

        policy: How samples without a score count.

        extra: Further parameters, found in the data.

    Returns:
        A value or a reason for each sample.
    """
    judged = evidence.judged if column.rel is None else evidence.judged.at_least(column.rel)
    values, reasons = _call(column, judged, k, {**column.params, **extra})
    status = np.zeros(judged.n, dtype=np.uint8)
    if not (reasons or evidence.without_gold or evidence.faults or flawed or np.isnan(values).any()):
        return Outcome(values, status)  # the usual case: every sample is scored
    status[list(reasons)] = FAILED
    status[np.isnan(values) & (status == SCORED)] = UNDEFINED
    for place in evidence.without_gold:
        status[place] = UNDEFINED
        reasons[place] = f"the sample has no ground truth of the kind {column.targets[0].gold!r}"
    for place in np.flatnonzero(status == UNDEFINED).tolist():
        reasons.setdefault(place, column.metric.undefined)
    for place, reason in evidence.faults.items():
        status[place] = FAILED
        reasons[place] = reason
    for place, flaw in flawed.items():
        if flaw.status == UNDEFINED or status[place] != UNDEFINED:
            status[place] = flaw.status
            reasons[place] = flaw.reason
    for code, rule in ((UNDEFINED, policy.no_gold), (MISSING, policy.missing_output), (FAILED, policy.failed_output)):
        values[status == code] = 0.0 if rule == "zero" else np.nan
    values[[place for place, flaw in flawed.items() if flaw.status == UNDEFINED]] = np.nan
    return Outcome(values, status, reasons)


def refuse(
    outcomes: Mapping[str, Outcome], sample_ids: Sequence[str], flawed: Mapping[int, Flaw], policy: Policy
) -> None:
    """
    Raise what the policy turns into an error.

    Args:
        outcomes: The scores by column.

        sample_ids: The samples.

        flawed: Samples that no metric can score.

        policy: What is an error.

    Raises:
        SampleRefusedError: All such samples, each with its first reason.
    """
    rules = {"no_gold": (UNDEFINED, policy.no_gold), "missing_output": (MISSING, policy.missing_output)}
    rules["failed_output"] = (FAILED, policy.failed_output)
    refused = {code: option for option, (code, rule) in rules.items() if rule == "error"}
    if not refused:
        return
    problems: dict[int, Problem] = {}
    for name, outcome in outcomes.items():
        for place, reason in outcome.reasons.items():
            option = refused.get(int(outcome.status[place]))
            declared = place in flawed and flawed[place].status == UNDEFINED
            if option is not None and not declared and place not in problems:
                message = f"{reason} (metric {name!r}, policy {option}=error)"
                problems[place] = Problem(message, sample=sample_ids[place])
    if problems:
        count = len(problems)
        msg = f"the policy refuses {count} sample{'s' if count > 1 else ''}; nothing was scored:"
        raise SampleRefusedError(msg, [problems[place] for place in sorted(problems)])


def _call(
    column: PlannedMetric, judged: Judged, k: Cutoff | None, params: Mapping[str, object]
) -> tuple[Scores, dict[int, str]]:
    """Call a metric on a batch; when that fails, on each sample alone, so that one cannot spoil the others."""
    try:
        return _checked(column, judged, k, params), {}
    except Exception as error:  # noqa: BLE001  # plugin code may raise anything
        if judged.n == 1:
            return np.full(1, np.nan), {0: f"metric {column.name!r} (by {column.provider}) failed: {_told(error)}"}
    values = np.full(judged.n, np.nan)
    reasons: dict[int, str] = {}
    for place in range(judged.n):
        one = judged.take([place])
        value, failed = _call(column, one, k if k is None or isinstance(k, int) else k[place : place + 1], params)
        values[place] = value[0]
        if failed:
            reasons[place] = failed[0]
    return values, reasons


def _checked(column: PlannedMetric, judged: Judged, k: Cutoff | None, params: Mapping[str, object]) -> Scores:
    call: Callable[..., object] = column.metric.function
    cut = {} if column.metric.cutoff == "none" else {"k": k}
    values = np.array(call(judged, **cut, **params), dtype=np.float64)
    if values.shape != (judged.n,):
        msg = f"it returned the shape {values.shape} where ({judged.n},) is needed"
        raise ValueError(msg)
    if np.isinf(values).any():
        msg = "it returned an infinite score"
        raise ValueError(msg)
    return values


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
