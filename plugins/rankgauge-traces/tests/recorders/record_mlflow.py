"""MLflow: a retriever and a reranker under its decorators, in a store of its own, and its traces as records."""

import json
from pathlib import Path

import mlflow
from mlflow.entities import Document, SpanType
from spans_to_lines import DOCUMENTS, QUESTIONS, by_words

mlflow.set_tracking_uri(f"sqlite:///{Path('mlflow.db').absolute()}")
mlflow.set_experiment("recorded")


@mlflow.trace(span_type=SpanType.RETRIEVER)
def search(query):
    found = by_words(query)[:3]
    return [Document(page_content=DOCUMENTS[name], metadata={"doc_uri": name}) for name, _ in found]


@mlflow.trace(span_type=SpanType.RERANKER)
def rerank(query, documents):
    return documents[::-1][:2]


@mlflow.trace
def ask(question):
    return f"According to {rerank(question, search(question))[0].metadata['doc_uri']}."


for question in QUESTIONS:
    ask(question)
mlflow.flush_trace_async_logging()
traces = [trace.to_dict() for trace in reversed(mlflow.search_traces(return_type="list"))]
records = [{"data": trace["data"]} for trace in traces]  # without the rest, which tells of the machine
Path("mlflow.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
