"""LlamaIndex, by the instrumentation of OpenInference."""

from llama_index_pipeline import engine
from openinference.instrumentation.llama_index import LlamaIndexInstrumentor
from spans_to_lines import QUESTIONS, recording

LlamaIndexInstrumentor().instrument(tracer_provider=recording("llama_index.otlp.jsonl"))
for question in QUESTIONS:
    engine.query(question)
