"""Writes one golden as DeepEval does (JSON, JSON lines, CSV), and a test run."""

import json
from pathlib import Path

from deepeval.dataset import EvaluationDataset, Golden
from deepeval.test_run.api import LLMApiTestCase

texts = {
    "input": "When was the bridge opened?",
    "expected_output": "1932",
    "actual_output": "In 1932.",
    "context": ["The bridge was opened in 1932."],
    "retrieval_context": ["The bridge was opened in 1932.", "Ferries ran before."],
}
dataset = EvaluationDataset(goldens=[Golden(**texts)])
for form in ("json", "jsonl", "csv"):
    dataset.save_as(form, directory=".", file_name="deepeval")
aliases = {
    "expected_output": "expectedOutput",
    "actual_output": "actualOutput",
    "retrieval_context": "retrievalContext",
}
case = LLMApiTestCase(name="bridge", **{aliases.get(name, name): value for name, value in texts.items()})
case = case.model_dump(mode="json", by_alias=True, exclude_none=True)
with Path("deepeval_run.json").open("w", encoding="utf-8") as file:
    json.dump({"testCases": [case], "metricsScores": []}, file)
