"""Writes nodes and a response of LlamaIndex, and the result of a retrieval that it evaluated."""

import json
from pathlib import Path

from llama_index.core.evaluation import RetrievalEvalResult
from llama_index.core.schema import NodeWithScore, TextNode

nodes = [
    NodeWithScore(node=TextNode(id_="d3", text="The bridge was opened in 1932."), score=0.8),
    NodeWithScore(node=TextNode(id_="d1", text="Ferries ran before."), score=0.5),
]
with Path("llamaindex.json").open("w", encoding="utf-8") as file:
    json.dump({"q1": [node.to_dict() for node in nodes]}, file)
with Path("llamaindex_response.jsonl").open("w", encoding="utf-8") as file:
    response = {"query": "When was the bridge opened?", "response": "In 1932."}
    file.write(json.dumps({"id": "q1", **response, "source_nodes": [node.to_dict() for node in nodes]}))
result = RetrievalEvalResult(
    query="When was the bridge opened?",
    expected_ids=["d3"],
    expected_texts=["The bridge was opened in 1932."],
    retrieved_ids=["d3", "d1"],
    retrieved_texts=["The bridge was opened in 1932.", "Ferries ran before."],
    metric_dict={},
)
with Path("llamaindex_result.jsonl").open("w", encoding="utf-8") as file:
    file.write(result.model_dump_json())
