"""
rankgauge as a metric of DeepEval: ``RankgaugeMetric("ndcg@10", threshold=0.4)``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deepeval.errors import MissingTestCaseParamsError
from deepeval.metrics import BaseMetric
from deepeval.test_case import LLMTestCase, RetrievedContextData, SingleTurnParams

from rankgauge import HostScorer
from rankgauge.typing import SampleScore
from rankgauge_hosts.shared import MetricArgument

__all__ = ["RankgaugeMetric"]


class RankgaugeMetric(BaseMetric):
    """
    One metric of rankgauge, for test cases that hold what was retrieved.

    DeepEval rebuilds a metric from the attributes named like its arguments, so each argument is kept in one.

    After `measure`, `score` is the value and `reason` explains it. If a sample is declared unanswerable the metric is
    *skipped*, which leaves it out of DeepEval's results. If it is undefined for another reason, it has no score and an
    `error`: with a threshold it is not passed. A missing or failed output does not pass either, whatever the threshold,
    unless the policy allows it (``max_failed=1``).

    `config`, `profile`, `k`, `policy` and `matchers` are those of `rankgauge.HostScorer`. A sample's own `k`, in its
    metadata, comes first.

    Attributes:
        metric: The metric.

        threshold: The lowest score that passes, or the highest if lower is better. None gives no verdict.

        retrieved: The key of the test case's `metadata` that holds the retrieved items, in any form of `actual_output`
            in a dataset of rankgauge. Without it, they are the texts of `retrieval_context`.

        gold: The key of the ground truth there, in any form of `expected_output`. Without it, the texts of `context`
            are the gold passages, and `expected_output` is the accepted answer.

        flaky: As in DeepEval.
    """

    _required_params = (SingleTurnParams.INPUT,)
    score: float | None
    success: bool | None
    error: str | None

    def __init__(
        self,
        metric: MetricArgument,
        threshold: float | None = 0.5,
        *,
        retrieved: str = "retrieved",
        gold: str = "gold",
        config: str | None = None,
        profile: str | None = None,
        k: int | None = None,
        policy: Mapping[str, Any] | None = None,
        matchers: Mapping[str, str] | None = None,
        flaky: bool = False,
    ) -> None:
        self.metric = metric
        self.threshold = threshold
        self.retrieved = retrieved
        self.gold = gold
        self.config = config
        self.profile = profile
        self.k = k
        self.policy = policy
        self.matchers = matchers
        self.flaky = flaky
        self._found: SampleScore | None = None
        _ = self._suite.column

    def measure(self, test_case: LLMTestCase, *_args: object, **_options: object) -> float | None:
        """
        Score a test case.

        Args:
            test_case: The test case.

        Returns:
            The score, also in `score`; None if nothing counts.

        Raises:
            MissingTestCaseParamsError: It has no ground truth at all.

            RankgaugeError: Its ground truth cannot be read, or the policy refuses it.
        """
        self.score, self.error, self.success, self._found = None, None, None, None
        found = self._suite.score_only(
            expected=self._expected(test_case),
            retrieved=self._retrieved(test_case),
            answer=test_case.actual_output or None,
            sample_id=test_case.name or "test case",
            metadata=test_case.metadata,
        )
        self.score = found.value
        self.reason = found.described(self._suite.column.name)
        self.score_breakdown = {
            "status": found.status,
            **(found.details or {}),
            "provenance": self._suite.column.provenance,
        }
        is_exempt = (test_case.metadata or {}).get("answerable") is False
        if found.status == "undefined" and found.value is None and (is_exempt or self.threshold is None):
            self.skipped = True
        elif found.value is None:
            self.error = self.reason
        self._found = found
        self.is_successful()
        return self.score

    async def a_measure(self, test_case: LLMTestCase, *_args: object, **_options: object) -> float | None:
        """
        Score a test case from asynchronous code; see `measure`.

        Args:
            test_case: The test case.

        Returns:
            The score.

        Raises:
            RankgaugeError: As `measure`.
        """
        return self.measure(test_case)

    def is_successful(self) -> bool | None:
        """
        Return whether the test case passed.

        Returns:
            False after an error; None without a threshold, and where the metric does not apply.
        """
        if self.error is not None:
            self.success = False
        elif self.threshold is None or self.score is None or self._found is None:
            self.success = None
        else:
            self.success = self._suite.passes(self._found._replace(value=self.score), self.threshold)
        return self.success

    @property
    def __name__(self) -> str:
        return self._suite.column.name

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

    def _retrieved(self, test_case: LLMTestCase) -> object:
        given = (test_case.metadata or {}).get(self.retrieved)
        if given is not None or test_case.retrieval_context is None:
            return given
        return [_item(context) for context in test_case.retrieval_context]

    def _expected(self, test_case: LLMTestCase) -> object:
        metadata = test_case.metadata or {}
        if metadata.get(self.gold) is not None:
            return metadata[self.gold]
        expected: dict[str, object] = {}
        if test_case.context is not None:
            expected["passages"] = list(test_case.context)
        if test_case.expected_output:
            expected["answer"] = test_case.expected_output
        if expected or metadata.get("answerable") is False:
            return expected
        msg = (
            f"the test case {test_case.name or test_case.input!r} has no ground truth for {self.__name__}: "
            f"give metadata[{self.gold!r}], `context` (gold passages) or `expected_output` (the answer)"
        )
        self.error = msg
        raise MissingTestCaseParamsError(msg)


def _item(context: str | RetrievedContextData) -> dict[str, str]:
    if isinstance(context, str):
        return {"text": context}
    return {"id": context.source, "text": context.context}
