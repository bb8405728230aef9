"""LangChain, by the instrumentation of OpenInference."""

from langchain_pipeline import chain
from openinference.instrumentation.langchain import LangChainInstrumentor
from spans_to_lines import QUESTIONS, recording

LangChainInstrumentor().instrument(tracer_provider=recording("langchain.otlp.jsonl"))
for question in QUESTIONS:
    chain.invoke(question)
