"""How DeepEval's users hand samples over: test cases with ids in their metadata, and one metric object each."""

from __future__ import annotations

import json
from typing import NamedTuple

from deepeval import evaluate
from deepeval.evaluate.configs import AsyncConfig, CacheConfig, DisplayConfig, ErrorConfig
from deepeval.test_case import LLMTestCase

from rankgauge.expression import safe_name
from rankgauge_hosts.deepeval import RankgaugeMetric


def case_of(sample):
    metadata = {**sample.get("metadata", {}), "gold": sample["expected_output"]}
    if sample.get("actual_output") is not None:
        metadata["retrieved"] = sample["actual_output"]
    return LLMTestCase(input=json.dumps(sample.get("input", "?")), name=sample["id"], metadata=metadata)


def evaluated(samples, metrics, *, run_async=True, ignore_errors=False):
    """Evaluate as DeepEval does, and return the test results by name."""
    result = evaluate(
        test_cases=[case_of(sample) for sample in samples],
        metrics=metrics,
        async_config=AsyncConfig(run_async=run_async),
        display_config=DisplayConfig(show_indicator=False, print_results=False),
        cache_config=CacheConfig(write_cache=False, use_cache=False),
        error_config=ErrorConfig(ignore_errors=ignore_errors),
    )
    return {test.name: test for test in result.test_results}


class DeepEval(NamedTuple):
    run_async: bool
    cannot_say: frozenset[str] = frozenset()

    def scores(self, samples, metrics, arguments, folder):
        made = [RankgaugeMetric(metric, **arguments) for metric in metrics]
        tests = evaluated(samples, made, run_async=self.run_async)
        found = {}
        for sample in samples:
            shown = {data.name: data.score for data in tests[sample["id"]].metrics_data or []}
            found[sample["id"]] = {safe_name(metric.__name__): shown.get(metric.__name__) for metric in made}
        return found


DRIVERS = {"deepeval": DeepEval(run_async=True), "deepeval, one after the other": DeepEval(run_async=False)}
