"""What the tests share: the command line in this process, spans as OTLP writes them, and what was recorded."""

import json
from pathlib import Path
from typing import NamedTuple

import pytest

from rankgauge.cli import call

RECORDED = Path(__file__).parent / "recorded"


class Done(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


@pytest.fixture(autouse=True)
def _surroundings(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def rankgauge(capsys):
    """Return a function that calls the command line in this process."""

    def run(*arguments):
        code = call([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Done(code, captured.out, captured.err)

    return run


@pytest.fixture
def samples_of(rankgauge):
    """Return a function that reads spans by the command, and returns the samples that it writes."""

    def read(*arguments):
        output = Path("read.jsonl")
        output.unlink(missing_ok=True)
        done = rankgauge("traces", "read", *arguments, "-o", output)
        assert done.code == 0, done.err
        return [json.loads(line) for line in output.read_text(encoding="utf-8").splitlines()]

    return read


def value_of(value):
    """Return an attribute's value in the form of OTLP."""
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, list):
        return {"arrayValue": {"values": [value_of(each) for each in value]}}
    if isinstance(value, dict):
        return {"kvlistValue": {"values": [{"key": key, "value": value_of(each)} for key, each in value.items()]}}
    return {"stringValue": value}


@pytest.fixture
def span():
    """Return a function that makes a span; its children follow it in time unless they say otherwise."""

    def make(name, attributes, *, id=None, parent="", trace="t1", start=0, events=(), **more):  # noqa: A002
        pairs = [{"key": key, "value": value_of(value)} for key, value in attributes.items()]
        logged = [
            {"name": event, "attributes": [{"key": key, "value": value_of(value)} for key, value in held.items()]}
            for event, held in events
        ]
        return {
            "traceId": trace,
            "spanId": id or name,
            "parentSpanId": parent,
            "name": name,
            "startTimeUnixNano": str(1_000_000_000 + start),
            "endTimeUnixNano": str(1_500_000_000 + start),
            "attributes": pairs,
            "events": logged,
            **more,
        }

    return make


@pytest.fixture
def search(span):
    """Return a function that makes a span of a retriever, as OpenInference has it, that found documents by id."""

    def make(name, found, *, query="who?", **more):
        documents = {f"retrieval.documents.{at}.document.id": each for at, each in enumerate(found)}
        return span(name, {"openinference.span.kind": "RETRIEVER", "input.value": query, **documents}, **more)

    return make


@pytest.fixture
def rerank(span):
    """Return a function that makes a span of a reranker, as OpenInference has it."""

    def make(name, given, kept, **more):
        parts = {"input": given, "output": kept}
        documents = {
            f"reranker.{part}_documents.{at}.document.id": each
            for part, ids in parts.items()
            for at, each in enumerate(ids or ())
        }
        return span(name, {"openinference.span.kind": "RERANKER", "reranker.query": "who?", **documents}, **more)

    return make


@pytest.fixture
def write():
    """Return a function that writes spans as OTLP JSON lines, one a line, and other records as they are."""

    def lines(*records, name="spans.jsonl"):
        file = Path(name)
        requests = [
            {"resourceSpans": [{"scopeSpans": [{"spans": [record]}]}]} if "spanId" in record else record
            for record in records
        ]
        file.write_text("".join(json.dumps(request) + "\n" for request in requests), encoding="utf-8")
        return file

    return lines


def stages_of(sample):
    """Return the stages of a sample: name, ids in order, sources."""
    stages = sample["actual_output"]["stages"]
    return [(stage["name"], [item.get("id") for item in stage["retrieved"]], stage["from"]) for stage in stages]


@pytest.fixture(name="stages_of")
def _stages_of():
    return stages_of
