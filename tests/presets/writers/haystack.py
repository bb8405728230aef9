"""Writes documents and an answer of Haystack, the output of a pipeline, and a detailed report."""

import json
from pathlib import Path

from haystack import Document, Pipeline
from haystack.components.retrievers import InMemoryBM25Retriever
from haystack.dataclasses import GeneratedAnswer
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.evaluation import EvaluationRunResult

question = "When was the bridge opened?"
found = [
    Document(id="d3", content="The bridge was opened in 1932.", score=0.8),
    Document(id="d1", content="Ferries ran before.", score=0.5),
]
with Path("haystack.json").open("w", encoding="utf-8") as file:
    json.dump({"q1": [document.to_dict() for document in found]}, file)
with Path("haystack_answer.json").open("w", encoding="utf-8") as file:
    json.dump({"q1": GeneratedAnswer(data="In 1932.", query=question, documents=found).to_dict()}, file)
store = InMemoryDocumentStore()
store.write_documents(found)
pipeline = Pipeline()
pipeline.add_component("retriever", InMemoryBM25Retriever(store))
output = pipeline.run({"retriever": {"query": "was the bridge opened before"}})
with Path("haystack_pipeline.json").open("w", encoding="utf-8") as file:
    documents = [document.to_dict() for document in output["retriever"]["documents"]]
    json.dump({"q1": {"retriever": {"documents": documents}}}, file)
inputs = {
    "question": [question],
    "ground_truth_answer": ["1932"],
    "contexts": [[document.content for document in found]],
    "answer": ["In 1932."],
}
report = EvaluationRunResult("run", inputs=inputs, results={"m": {"score": 1.0, "individual_scores": [1.0]}})
report.detailed_report(output_format="csv", csv_file="haystack_report.csv")
with Path("haystack_report.json").open("w", encoding="utf-8") as file:
    json.dump(report.detailed_report(output_format="json"), file)
