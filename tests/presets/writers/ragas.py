"""Writes one sample as ragas does: JSON lines, CSV, and the JSON of its frame."""

from ragas import EvaluationDataset, SingleTurnSample

sample = SingleTurnSample(
    user_input="When was the bridge opened?",
    retrieved_contexts=["The bridge was opened in 1932.", "Ferries ran before."],
    retrieved_context_ids=["d3", "d1"],
    reference_contexts=["The bridge was opened in 1932."],
    reference_context_ids=["d3"],
    response="In 1932.",
    reference="1932",
)
dataset = EvaluationDataset(samples=[sample])
dataset.to_jsonl("ragas.jsonl")
dataset.to_csv("ragas.csv")
dataset.to_pandas().to_json("ragas.json")
