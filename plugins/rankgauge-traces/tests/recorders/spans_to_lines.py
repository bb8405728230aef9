"""What the recorders share: documents, questions, and an exporter that writes spans as OTLP JSON lines."""

import base64
import json
import random
from pathlib import Path

from google.protobuf.json_format import MessageToDict
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.id_generator import IdGenerator

DOCUMENTS = {
    "d1": "Ferries crossed the bay before the bridge was built.",
    "d2": "Toll on the bridge was collected in both directions.",
    "d3": "The bridge was opened to traffic in 1932.",
    "d4": "Its towers are built of granite from a quarry nearby.",
    "d5": "A train line once ran across the bay.",
}
QUESTIONS = ["When was the bridge opened?", "What are the towers built of?"]


class SeededIds(IdGenerator):
    """Ids that are the same in each recording."""

    def __init__(self):
        self._random = random.Random(28)

    def generate_trace_id(self):
        return self._random.getrandbits(128)

    def generate_span_id(self):
        return self._random.getrandbits(64)


class Lines(SpanExporter):
    """Writes each span as a line, with ids in hex as OTLP's JSON has them (protobuf's has base64)."""

    def __init__(self, path, only):
        self._path, self._only = Path(path), only
        self._path.write_text("", encoding="utf-8")

    def export(self, spans):
        request = MessageToDict(encode_spans(spans))
        for resource in request["resourceSpans"]:
            resource["resource"] = {"attributes": [{"key": "service.name", "value": {"stringValue": "recorded"}}]}
            for scope in resource["scopeSpans"]:
                for span in scope["spans"]:
                    span["attributes"] = [pair for pair in span["attributes"] if pair["key"].startswith(self._only)]
                    for key in {"traceId", "spanId", "parentSpanId"} & span.keys():
                        span[key] = base64.b64decode(span[key]).hex()
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(request, ensure_ascii=False) + "\n")
        return SpanExportResult.SUCCESS


def recording(path, *, only=""):
    """Return a tracer provider whose spans are written to a file, with attributes that begin with *only* so."""
    provider = TracerProvider(id_generator=SeededIds())
    provider.add_span_processor(SimpleSpanProcessor(Lines(path, only)))
    return provider


def by_words(question, *, letters=1):
    """Return the ids of documents that share words with a question, or runs of letters, most first."""

    def parts(text):
        words = "".join(letter if letter.isalnum() else " " for letter in text.lower()).split()
        if letters == 1:
            return set(words)
        return {word[at : at + letters] for word in words for at in range(len(word) - letters + 1)}

    asked = parts(question)
    shared = {name: len(asked & parts(text)) for name, text in DOCUMENTS.items()}
    return [(name, float(count)) for name, count in sorted(shared.items(), key=lambda pair: -pair[1]) if count]
