"""
rankgauge as a component of Haystack: `RankgaugeEvaluator` in an evaluation pipeline.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from haystack import Document, component, default_from_dict, default_to_dict

from rankgauge import HostScorer
from rankgauge.compat.haystack import value_of
from rankgauge_hosts.shared import MetricArgument

__all__ = ["RankgaugeEvaluator"]

Value = TypeVar("Value")


@component
class RankgaugeEvaluator:
    """
    One metric of rankgauge over lists of documents.

    Its conventions are those of *profile*, by default rankgauge's own; ``profile="haystack"`` gives the numbers of
    Haystack's evaluators.
    """

    def __init__(
        self,
        metric: MetricArgument,
        document_comparison_field: str = "id",
        config: str | None = None,
        profile: str | None = None,
        k: int | None = None,
        policy: dict[str, Any] | None = None,
        matchers: dict[str, str] | None = None,
    ) -> None:
        """
        Make the component.

        `config`, `profile`, `k`, `policy` and `matchers` are those of `rankgauge.HostScorer`.

        Args:
            metric: The metric.

            document_comparison_field: The field by which retrieved and gold documents match: `id`, a key of the
                metadata (``meta.file_id``, ``meta.source.url``), or the whole text (`content`). A metric with a
                matcher, such as ``recall(matcher=passage)@5``, compares texts with that instead.

        Raises:
            RankgaugeError: The arguments cannot be used.

            ValueError: Documents have no such field.
        """
        self.metric = metric
        self.document_comparison_field = document_comparison_field
        self.config = config
        self.profile = profile
        self.k = k
        self.policy = policy
        self.matchers = matchers
        self._suite = HostScorer(metrics=metric, config=config, profile=profile, k=k, policy=policy, matchers=matchers)
        _ = self._suite.column
        value_of(Document(content=""), document_comparison_field)

    @component.output_types(
        score=float, individual_scores=list[float], statuses=list[str], reasons=list[str], provenance=dict[str, str]
    )
    def run(
        self,
        retrieved_documents: list[list[Document]],
        ground_truth_documents: list[list[Document]] | None = None,
        ground_truth_answers: list[str] | None = None,
        predicted_answers: list[str] | None = None,
        expected_outputs: list[Any] | None = None,
        metadata: list[dict[str, Any]] | None = None,
    ) -> dict[str, Any]:
        """
        Score every query.

        Args:
            retrieved_documents: The documents retrieved for each query, best first.

            ground_truth_documents: The gold documents of each query. A document's score is its gain; either none or
                all of a query have one.

            ground_truth_answers: The accepted answer of each query.

            predicted_answers: The generated answer of each query.

            expected_outputs: The ground truth of each query in any form that `expected_output` has in a dataset of
                rankgauge, instead of the two above.

            metadata: The metadata of each query, of which `k`, `answerable` and `asked_at` are read.

        Returns:
            `score`, the mean; `individual_scores`; and for each query its status and, where it was not scored, the
            reason. If nothing counts the score is NaN, as in Haystack's own evaluators, and not in the mean.
            `provenance` says by whom and how it was computed.

        Raises:
            ValueError: There are no queries, the lists differ in length, there is no ground truth, or some gold
                documents of a query have a score and others do not.

            RankgaugeError: The ground truth cannot be read, or the policy refuses a query.
        """
        sides = {
            "ground_truth_documents": ground_truth_documents,
            "ground_truth_answers": ground_truth_answers,
            "predicted_answers": predicted_answers,
            "expected_outputs": expected_outputs,
            "metadata": metadata,
        }
        _check_lengths(retrieved_documents, sides)
        found = []
        for place, documents in enumerate(retrieved_documents):
            expected = _at(expected_outputs, place)
            if expected is None:
                gold, answer = _at(ground_truth_documents, place), _at(ground_truth_answers, place)
                expected = self._expected(gold, answer, place)
            scored = self._suite.score_only(
                expected=expected,
                retrieved=[self._item(document) for document in documents],
                answer=_at(predicted_answers, place),
                sample_id=f"query {place}",
                metadata=_at(metadata, place),
            )
            found.append(scored)
        mean = self._suite.aggregated(scored.value for scored in found)
        return {
            "score": math.nan if mean is None else mean,
            "individual_scores": [math.nan if scored.value is None else scored.value for scored in found],
            "statuses": [scored.status for scored in found],
            "reasons": [scored.reason for scored in found],
            "provenance": self._suite.column.provenance,
        }

    @component.output_types(
        score=float, individual_scores=list[float], statuses=list[str], reasons=list[str], provenance=dict[str, str]
    )
    async def run_async(
        self,
        retrieved_documents: list[list[Document]],
        ground_truth_documents: list[list[Document]] | None = None,
        ground_truth_answers: list[str] | None = None,
        predicted_answers: list[str] | None = None,
        expected_outputs: list[Any] | None = None,
        metadata: list[dict[str, Any]] | None = None,
    ) -> dict[str, Any]:
        """
        Score every query for `Pipeline.run_async`, in a thread, so that other components go on; see `run`.

        Returns:
            What `run` returns.

        Raises:
            RankgaugeError: As `run`.
        """
        return await asyncio.to_thread(
            self.run,
            retrieved_documents,
            ground_truth_documents,
            ground_truth_answers,
            predicted_answers,
            expected_outputs,
            metadata,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return a dictionary from which `from_dict` makes this component again."""
        data: dict[str, Any] = default_to_dict(
            self,
            metric=self.metric,
            document_comparison_field=self.document_comparison_field,
            config=self.config,
            profile=self.profile,
            k=self.k,
            policy=self.policy,
            matchers=self.matchers,
        )
        return data

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> RankgaugeEvaluator:
        """Make a component from what `to_dict` returned."""
        made: RankgaugeEvaluator = default_from_dict(cls, data)
        return made

    def _item(self, document: Document) -> dict[str, Any]:
        """Return a retrieved document in rankgauge's form; without the field its id matches none."""
        item: dict[str, Any] = {"text": document.content or "", "score": document.score}
        value = value_of(document, self.document_comparison_field)
        unknown = f"no {self.document_comparison_field}: {document.id}"
        return {**item, "id": unknown if value in (None, "") else str(value)}

    def _expected(self, documents: Sequence[Document] | None, answer: str | None, place: int) -> dict[str, Any]:
        expected: dict[str, Any] = {}
        if documents is not None:
            expected["relevant"] = self._gains(documents, place)
            expected["passages"] = [document.content for document in documents if (document.content or "").strip()]
        if answer:
            expected["answer"] = answer
        return expected

    def _gains(self, documents: Sequence[Document], place: int) -> dict[str, float]:
        if len({document.score is None for document in documents}) > 1:
            msg = f"either none or all ground_truth_documents of query {place} must have a score, which is their gain"
            raise ValueError(msg)
        gains: dict[str, float] = {}
        for document in documents:
            value = value_of(document, self.document_comparison_field)
            if value not in (None, ""):
                gain = 1.0 if document.score is None else document.score
                gains[str(value)] = max(gain, gains.get(str(value), gain))
        return gains


def _at(side: Sequence[Value] | None, place: int) -> Value | None:
    return None if side is None else side[place]


def _check_lengths(retrieved: Sequence[object], sides: Mapping[str, Sequence[object] | None]) -> None:
    if not retrieved:
        raise ValueError("retrieved_documents is empty; there is nothing to score")
    if all(sides[name] is None for name in ("ground_truth_documents", "ground_truth_answers", "expected_outputs")):
        msg = "there is no ground truth; give ground_truth_documents, ground_truth_answers or expected_outputs"
        raise ValueError(msg)
    for name, side in sides.items():
        if side is not None and len(side) != len(retrieved):
            msg = f"{name} has {len(side)} entries, and retrieved_documents {len(retrieved)}; each query needs one"
            raise ValueError(msg)
