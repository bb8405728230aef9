"""How ragas' users hand samples over: keyword arguments to a metric, and samples to `evaluate()`."""

from __future__ import annotations

import math
import warnings

from ragas import EvaluationDataset, SingleTurnSample, evaluate

from rankgauge.expression import safe_name
from rankgauge_hosts.ragas import RankgaugeMetric, retrieval_metric


class Experiment:
    cannot_say = frozenset()

    def scores(self, samples, metrics, arguments, folder):
        found = {sample["id"]: {} for sample in samples}
        for metric in metrics:
            made = retrieval_metric(metric, **arguments)
            for sample in samples:
                scored = made.score(
                    retrieved=sample.get("actual_output"),
                    expected=sample["expected_output"],
                    metadata=sample.get("metadata"),
                )
                found[sample["id"]][made.name] = scored.value
        return found


class Evaluate:
    # ragas' samples have no metadata, and lists of ids and texts that are well-formed or not there.
    cannot_say = frozenset({"own-k", "malformed", "unanswerable"})

    def scores(self, samples, metrics, arguments, folder):
        made = [
            RankgaugeMetric(
                metric=metric, ground_truth={sample["id"]: sample["expected_output"] for sample in samples}, **arguments
            )
            for metric in metrics
        ]
        dataset = EvaluationDataset(samples=[self.sample(sample) for sample in samples])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # evaluate() itself is deprecated, and what is tested
            result = evaluate(dataset, metrics=made, show_progress=False, raise_exceptions=True)
        found = {}
        for sample, row in zip(samples, result.scores, strict=True):
            found[sample["id"]] = {safe_name(name): None if math.isnan(value) else value for name, value in row.items()}
        return found

    def sample(self, sample):
        output = sample.get("actual_output")
        if output is None:
            return SingleTurnSample(user_input=sample["id"])
        items = output["retrieved"] if isinstance(output, dict) else output
        texts = [item["text"] for item in items if isinstance(item, dict)]
        return SingleTurnSample(
            user_input=sample["id"],
            retrieved_context_ids=[item["id"] if isinstance(item, dict) else item for item in items],
            retrieved_contexts=texts or None,
        )


DRIVERS = {"ragas experiment": Experiment(), "ragas evaluate": Evaluate()}
