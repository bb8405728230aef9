"""Writes a span of a retriever with Phoenix's attributes: as a frame of spans, and as JSON of its client."""

import json
from pathlib import Path

import pandas as pd
from openinference.semconv.trace import DocumentAttributes, SpanAttributes

documents = [
    {
        DocumentAttributes.DOCUMENT_ID: name,
        DocumentAttributes.DOCUMENT_CONTENT: text,
        DocumentAttributes.DOCUMENT_SCORE: score,
    }
    for name, text, score in [("d3", "The bridge was opened in 1932.", 0.8), ("d1", "Ferries ran before.", 0.5)]
]
values = {
    SpanAttributes.INPUT_VALUE: "When was the bridge opened?",
    SpanAttributes.OUTPUT_VALUE: "In 1932.",
    SpanAttributes.RETRIEVAL_DOCUMENTS: documents,
}
row = {"context.span_id": "q1", "context.trace_id": "t1", "span_kind": "RETRIEVER"}
frame = pd.DataFrame([row | {f"attributes.{name}": value for name, value in values.items()}])
frame.to_json("phoenix.jsonl", orient="records", lines=True)
frame.to_csv("phoenix.csv", index=False)
with Path("phoenix_spans.json").open("w", encoding="utf-8") as file:
    json.dump({"data": [{"context": {"span_id": "q1", "trace_id": "t1"}, "attributes": values}]}, file)
