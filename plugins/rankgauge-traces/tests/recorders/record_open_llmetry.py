"""LangChain, by the instrumentation of OpenLLMetry."""

from langchain_pipeline import chain
from opentelemetry.instrumentation.langchain import LangchainInstrumentor
from spans_to_lines import QUESTIONS, recording

LangchainInstrumentor().instrument(tracer_provider=recording("open_llmetry.otlp.jsonl"))
for question in QUESTIONS:
    chain.invoke(question)
