"""
rankgauge as a scorer of inspect_ai: ``inspect score LOG --scorer rankgauge_hosts/retrieval -S metrics=ndcg@10``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState

from rankgauge import HostScorer
from rankgauge.errors import DataError, ParameterError, Problem
from rankgauge.typing import SampleScore
from rankgauge_hosts.shared import MetricArgument

__all__ = ["retrieval"]

_TARGETS = ("relevant", "passages", "answer", "keywords", "nuggets")
"""The kinds of ground truth that texts can be."""

_COMMA = re.compile(r",(?![^(]*\))(?!\s*\d)")
"""A comma between two metrics: outside parentheses, and not before a further cutoff."""


@scorer(metrics={"*": [mean(), stderr()]})
def retrieval(
    metrics: MetricArgument | Sequence[MetricArgument] | None = None,
    *,
    retrieved: str = "retrieved",
    gold: str = "gold",
    target: str = "relevant",
    config: str | None = None,
    profile: str | None = None,
    k: int | None = None,
    policy: Mapping[str, Any] | None = None,
    matchers: Mapping[str, str] | None = None,
) -> Scorer:
    """
    Score what a task retrieved, each metric as a key of the score's value.

    Every sample has every key; where a metric has no value for a sample it is NaN, which inspect_ai leaves out of its
    metrics and counts (`unscored_samples`). The score's `metadata` says why, metric by metric.

    `config`, `profile`, `k`, `policy` and `matchers` are those of `rankgauge.HostScorer`. A sample's own `k`, in its
    metadata, comes first.

    Args:
        metrics: One or several metrics.

        retrieved: The key of the retrieved items in the sample's store, or else in its metadata. They are in any form
            of `actual_output` in a dataset of rankgauge. Without it, the sample has no output.

        gold: The key of the ground truth in the sample's metadata, in any form of `expected_output`. Without it, the
            sample's target is the ground truth.

        target: The kind of ground truth that the target is: `relevant` (ids), `passages`, `answer`, `keywords` or
            `nuggets`.

    Returns:
        The scorer. A completion of the model is the answer that ``answer-exact-match`` judges.

    Raises:
        RankgaugeError: The arguments cannot be used.
    """
    if target not in _TARGETS:
        msg = f"target is the kind of ground truth that a sample's target is: {', '.join(_TARGETS)}; not {target!r}"
        raise ParameterError(msg)
    suite = HostScorer(
        metrics=_rejoined(metrics), config=config, profile=profile, k=k, policy=policy, matchers=matchers
    )

    async def score(state: TaskState, target_: Target) -> Score:
        scores = suite.score(
            expected=_expected(state, target_, gold, target),
            retrieved=state.store.get(retrieved, state.metadata.get(retrieved)),
            answer=state.output.completion or None,
            sample_id=str(state.sample_id),
            metadata=state.metadata,
        )
        return Score(
            value={name: math.nan if found.value is None else found.value for name, found in scores.items()},
            explanation="\n".join(found.described(name) for name, found in scores.items()),
            reason=_common_status(scores),
            metadata={
                column.name: {**_facts(scores[column.name]), "provenance": column.provenance}
                for column in suite.columns
            },
        )

    return cast("Scorer", score)


def _expected(state: TaskState, target: Target, gold: str, kind: str) -> object:
    given = state.metadata.get(gold)
    if given is not None:
        return given
    texts = [text for text in target if text]
    if not texts and state.metadata.get("answerable") is not False:
        msg = "the sample cannot be scored:"
        problem = f"there is no {gold!r} in its metadata and no target; name the key with `-S gold=KEY`"
        raise DataError(msg, [Problem(problem, sample=str(state.sample_id))])
    return {kind: texts}


def _common_status(scores: Mapping[str, SampleScore]) -> str | None:
    """Return why there is no score, if no metric has one and all for the same reason."""
    statuses = {found.status for found in scores.values()}
    return statuses.pop() if len(statuses) == 1 and "scored" not in statuses else None


def _facts(score: SampleScore) -> dict[str, Any]:
    facts: dict[str, Any] = {"status": score.status}
    if score.reason:
        facts["reason"] = score.reason
    if score.details:
        facts["details"] = dict(score.details)
    return facts


def _rejoined(
    metrics: MetricArgument | Sequence[MetricArgument] | None,
) -> MetricArgument | Sequence[MetricArgument] | None:
    """
    Join what the command line split.

    ``-S metrics=recall@1,5,ndcg@10`` arrives as three strings, of which the second is not a metric.
    """
    if isinstance(metrics, str):
        metrics = [metrics]
    if not isinstance(metrics, list | tuple) or not all(isinstance(metric, str) for metric in metrics):
        return metrics
    return [part.strip() for part in _COMMA.split(",".join(cast("Sequence[str]", metrics)))]
