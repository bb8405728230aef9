"""Haystack: two BM25 retrievers, a joiner and a ranker without a model, in a pipeline."""

from haystack import Document, Pipeline
from haystack.components.joiners import DocumentJoiner
from haystack.components.rankers import MetaFieldRanker
from haystack.components.retrievers import InMemoryBM25Retriever
from haystack.document_stores.in_memory import InMemoryDocumentStore
from openinference.instrumentation.haystack import HaystackInstrumentor
from spans_to_lines import DOCUMENTS, QUESTIONS, recording

HaystackInstrumentor().instrument(tracer_provider=recording("haystack.otlp.jsonl"))
documents = [Document(id=name, content=text, meta={"order": at}) for at, (name, text) in enumerate(DOCUMENTS.items())]
parts = {"okapi": documents[:3], "long": documents[2:]}
pipeline = Pipeline()
for name, part in parts.items():
    store = InMemoryDocumentStore(bm25_algorithm="BM25Okapi" if name == "okapi" else "BM25L")
    store.write_documents(part)
    pipeline.add_component(name, InMemoryBM25Retriever(store, top_k=3))
pipeline.add_component("joiner", DocumentJoiner(join_mode="reciprocal_rank_fusion"))
pipeline.add_component("ranker", MetaFieldRanker("order", top_k=2))
pipeline.connect("okapi", "joiner")
pipeline.connect("long", "joiner")
pipeline.connect("joiner.documents", "ranker.documents")
for question in QUESTIONS:
    pipeline.run({"okapi": {"query": question}, "long": {"query": question}})
