"""
rankgauge in both metric systems of ragas: `retrieval_metric` for experiments, `RankgaugeMetric` for `evaluate()`.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragas.dataset_schema import SingleTurnSample
from ragas.metrics import MetricResult, NumericMetric, numeric_metric
from ragas.metrics.base import MetricType, SingleTurnMetric
from ragas.run_config import RunConfig

from rankgauge import HostScorer
from rankgauge.errors import DataError, Problem
from rankgauge.typing import HostColumn, SampleScore
from rankgauge_hosts.shared import MetricArgument

__all__ = ["RankgaugeMetric", "UnscoredError", "retrieval_metric"]

_logger = logging.getLogger("rankgauge_hosts.ragas")


class UnscoredError(Exception):
    """
    A sample for which nothing counts; ragas turns it into a result without a value, with the reason.

    Attributes:
        score: Its status and reason.
    """

    def __init__(self, message: str, score: SampleScore) -> None:
        self.score = score
        super().__init__(message)


def retrieval_metric(
    metric: MetricArgument,
    *,
    config: str | None = None,
    profile: str | None = None,
    k: int | None = None,
    policy: Mapping[str, Any] | None = None,
    matchers: Mapping[str, str] | None = None,
) -> NumericMetric:
    """
    Make a metric for `@experiment`, under its safe name (``ndcg_at_10``).

    Its `score()` and `ascore()` take what ragas calls `retrieved_context_ids`, `retrieved_contexts`,
    `reference_context_ids`, `reference_contexts`, `reference` and `response`. What ragas has no field for, such as
    gains, goes into `retrieved` and `expected`, in any form of `actual_output` and `expected_output` in a dataset of
    rankgauge, and into `metadata`, of which `k`, `answerable` and `asked_at` are
    read.

    `config`, `profile`, `k`, `policy` and `matchers` are those of `rankgauge.HostScorer`.

    Args:
        metric: The metric.

    Returns:
        The metric. If nothing counts its result has the value None, and the reason says why.

    Raises:
        RankgaugeError: The arguments cannot be used.
    """
    suite = HostScorer(metrics=metric, config=config, profile=profile, k=k, policy=policy, matchers=matchers)
    column = suite.column

    def scored(
        retrieved: Any = None,  # noqa: ANN401  # any form of an output
        expected: Any = None,  # noqa: ANN401  # any form of ground truth
        retrieved_context_ids: Any = None,  # noqa: ANN401  # checked by the engine, which says what is wrong
        retrieved_contexts: Any = None,  # noqa: ANN401  # checked by the engine, too
        reference_context_ids: Any = None,  # noqa: ANN401  # checked by the engine, too
        reference_contexts: Any = None,  # noqa: ANN401  # checked by the engine, too
        reference: Any = None,  # noqa: ANN401  # checked by the engine, too
        response: Any = None,  # noqa: ANN401  # checked by the engine, too
        metadata: Any = None,  # noqa: ANN401  # checked by the engine, too
    ) -> MetricResult:
        if retrieved is None:
            retrieved = _retrieved(retrieved_context_ids, retrieved_contexts)
        if expected is None:
            expected = _expected(reference_context_ids, reference_contexts, reference, metadata)
        found = suite.score_only(expected=expected, retrieved=retrieved, answer=response or None, metadata=metadata)
        if found.value is None:
            raise UnscoredError(found.described(column.name), found)
        return MetricResult(value=found.value, reason=found.described(column.name))

    _logger.info("%s is computed by %s", column.name, column.provenance)
    made: NumericMetric = numeric_metric(name=column.safe_name, allowed_values=_allowed(suite, column))(scored)
    return made


@dataclass(kw_only=True)
class RankgaugeMetric(SingleTurnMetric):
    """
    One metric of rankgauge for `ragas.evaluate()`, over `SingleTurnSample`.

    ragas has fields for retrieved and reference ids and texts, the reference answer and the response, but not for
    gains, which go into *ground_truth*.

    If nothing counts the score is NaN, which ragas leaves out of its means; the reason is logged at level INFO,
    because ragas has no place for it.

    `config`, `profile`, `k`, `policy` and `matchers` are those of `rankgauge.HostScorer`.

    Attributes:
        metric: The metric.

        ground_truth: The ground truth by `user_input`, in any form of `expected_output`; samples that it lacks use
            their reference fields.

        name: The column's name in ragas; by default the metric's safe name.
    """

    metric: MetricArgument
    ground_truth: Mapping[str, Any] | None = None
    config: str | None = None
    profile: str | None = None
    k: int | None = None
    policy: Mapping[str, Any] | None = None
    matchers: Mapping[str, str] | None = None
    name: str = ""

    def __post_init__(self) -> None:
        column = self._suite.column
        self.name = self.name or column.safe_name
        _logger.info("%s is computed by %s", column.name, column.provenance)
        needed = {
            "response" if column.judges_answer else "retrieved_context_ids" if column.gold == ("relevant",) else ""
        }
        # The public setter refuses the columns of ids.
        self._required_columns = {
            MetricType.SINGLE_TURN: {name if name in needed else f"{name}:optional" for name in _FIELDS}
        }

    def init(self, run_config: RunConfig) -> None:
        """Do nothing: there is no model to prepare."""

    async def _single_turn_ascore(self, sample: SingleTurnSample, callbacks: object) -> float:  # noqa: ARG002  # ragas' own
        expected = (self.ground_truth or {}).get(sample.user_input or "")
        if expected is None:
            expected = _expected(
                sample.reference_context_ids, sample.reference_contexts, sample.reference, None, sample.user_input
            )
        found = self._suite.score_only(
            expected=expected,
            retrieved=_retrieved(sample.retrieved_context_ids, sample.retrieved_contexts),
            answer=sample.response or None,
            sample_id=sample.user_input or "sample",
        )
        if found.value is None:
            _logger.info("%r: %s", sample.user_input, found.described(self._suite.column.name))
            return math.nan
        return found.value

    @property
    def _suite(self) -> HostScorer:
        return HostScorer(
            metrics=self.metric,
            config=self.config,
            profile=self.profile,
            k=self.k,
            policy=self.policy,
            matchers=self.matchers,
        )


_FIELDS = (
    "user_input",
    "retrieved_context_ids",
    "retrieved_contexts",
    "reference_context_ids",
    "reference_contexts",
    "reference",
    "response",
)


def _allowed(suite: HostScorer, column: HostColumn) -> tuple[float, float]:
    """Return the range that ragas checks: the metric's, unless the policy lets scores leave it."""
    low, high = (None, None) if suite.may_pass_bounds else column.range
    return (-math.inf if low is None else low, math.inf if high is None else high)


def _retrieved(ids: Sequence[object] | None, texts: Sequence[object] | None) -> object:
    if ids is None or texts is None:
        return ids if texts is None else [{"text": text} for text in texts]
    if len(ids) != len(texts):
        # An output that cannot be read is a failed one, and the engine says so.
        return {"retrieved": f"{len(ids)} ids and {len(texts)} texts"}
    return [{"id": name, "text": text} for name, text in zip(ids, texts, strict=True)]


def _expected(
    ids: Sequence[object] | None,
    texts: Sequence[object] | None,
    answer: str | None,
    metadata: Mapping[str, Any] | None,
    name: str | None = None,
) -> dict[str, object]:
    given = {"relevant": ids, "passages": texts, "answer": answer or None}
    expected: dict[str, object] = {kind: value for kind, value in given.items() if value is not None}
    if not expected and not (metadata and metadata.get("answerable") is False):
        msg = "the sample cannot be scored:"
        problem = "it has no ground truth; give reference_context_ids, reference_contexts or reference"
        raise DataError(msg, [Problem(problem, sample=name)])
    return expected
