"""Writes ground truth as TruLens keeps it, and the attributes of a retrieval's span."""

import json
from pathlib import Path

import pandas as pd
from trulens.core import TruSession
from trulens.otel.semconv.trace import SpanAttributes

gold = {
    "query": "When was the bridge opened?",
    "query_id": "q1",
    "expected_response": "1932",
    "expected_chunks": [{"text": "The bridge was opened in 1932.", "title": "Bridge"}],
}
session = TruSession(database_url="sqlite:///trulens.sqlite")
session.add_ground_truth_to_dataset("bridges", pd.DataFrame([gold]))
frame = session.get_ground_truth("bridges")
frame.to_json("trulens.json", orient="records")
frame.to_csv("trulens.csv", index=False)
attributes = {
    SpanAttributes.RETRIEVAL.QUERY_TEXT: gold["query"],
    SpanAttributes.RETRIEVAL.RETRIEVED_CONTEXTS: ["The bridge was opened in 1932.", "Ferries ran before."],
}
with Path("trulens_spans.jsonl").open("w", encoding="utf-8") as file:
    file.write(json.dumps({"record_id": "q1", "record_attributes": attributes}))
