"""LlamaIndex, by OpenInference, with attributes of OpenTelemetry's GenAI conventions and no others."""

from llama_index_pipeline import engine
from openinference.instrumentation import TraceConfig
from openinference.instrumentation.llama_index import LlamaIndexInstrumentor
from spans_to_lines import QUESTIONS, recording

provider = recording("gen_ai.otlp.jsonl", only="gen_ai.")
LlamaIndexInstrumentor().instrument(tracer_provider=provider, config=TraceConfig(enable_genai_semconv=True))
for question in QUESTIONS:
    engine.query(question)
