"""Chroma, by the instrumentation of OpenLLMetry, under a span of our own that has the question."""

import chromadb
from opentelemetry import trace
from opentelemetry.instrumentation.chromadb import ChromaInstrumentor
from spans_to_lines import DOCUMENTS, QUESTIONS, recording


def letters(texts):
    """Return vectors: how often each letter occurs in a text."""
    return [[text.lower().count(letter) for letter in "abcdefghijklmnopqrstuvwxyz"] for text in texts]


collection = chromadb.EphemeralClient().create_collection("bay", embedding_function=None)
collection.add(list(DOCUMENTS), embeddings=letters(DOCUMENTS.values()), documents=list(DOCUMENTS.values()))
provider = recording("chroma.otlp.jsonl")
trace.set_tracer_provider(provider)
ChromaInstrumentor().instrument(tracer_provider=provider)
for question in QUESTIONS:
    with trace.get_tracer("recorder").start_as_current_span("ask") as span:
        span.set_attribute("traceloop.entity.input", question)
        collection.query(query_embeddings=letters([question]), n_results=3)
