"""How Haystack's users hand samples over: documents, through a pipeline with one evaluator a metric."""

from __future__ import annotations

import math
from typing import NamedTuple

from haystack import Document, Pipeline

from rankgauge.expression import safe_name
from rankgauge_hosts.haystack import RankgaugeEvaluator


def retrieved(sample):
    output = sample.get("actual_output") or []
    items = output["retrieved"] if isinstance(output, dict) else output
    entries = [{"id": item} if isinstance(item, str) else item for item in items]
    return [Document(id=item["id"], content=item.get("text"), score=item.get("score")) for item in entries]


class Haystack(NamedTuple):
    # A list of documents is there and well-formed, or there is no call.
    cannot_say: frozenset[str] = frozenset({"missing", "malformed", "blank-id"})

    def scores(self, samples, metrics, arguments, folder):
        pipeline = Pipeline()
        inputs = {
            "retrieved_documents": [retrieved(sample) for sample in samples],
            "expected_outputs": [sample["expected_output"] for sample in samples],
            "metadata": [sample.get("metadata", {}) for sample in samples],
        }
        for metric in metrics:
            pipeline.add_component(safe_name(metric), RankgaugeEvaluator(metric, **arguments))
        results = Pipeline.loads(pipeline.dumps(), allowed_modules=["rankgauge_hosts.haystack"]).run(
            {safe_name(metric): inputs for metric in metrics}
        )
        found = {sample["id"]: {} for sample in samples}
        for name, outputs in results.items():
            for sample, value in zip(samples, outputs["individual_scores"], strict=True):
                found[sample["id"]][name] = None if math.isnan(value) else value
        return found


DRIVERS = {"haystack": Haystack()}
