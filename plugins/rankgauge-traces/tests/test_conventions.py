"""The conventions beside OpenInference, by spans written by hand as their documentation has them."""

import json
from pathlib import Path

import pytest

from rankgauge_traces.other_records import nanoseconds
from rankgauge_traces.spans import MalformedSpanError

DOCUMENTS = [{"id": "d1", "score": 0.95}, {"id": "d2", "score": 0.5, "content": "two"}]
FOUND = [("docs-index", ["d1", "d2"], [])]


@pytest.mark.parametrize("documents", [json.dumps(DOCUMENTS), DOCUMENTS], ids=["JSON text", "structured"])
def test_gen_ai_spans_have_their_documents_in_either_form(documents, span, write, samples_of, stages_of):
    attributes = {
        "gen_ai.operation.name": "retrieval",
        "gen_ai.data_source.id": "docs-index",
        "gen_ai.retrieval.query.text": "who?",
        "gen_ai.retrieval.documents": documents,
    }
    (sample,) = samples_of(write(span("retrieval docs-index", attributes)))
    assert stages_of(sample) == FOUND
    assert sample["input"] == "who?"
    assert sample["actual_output"]["stages"][0]["retrieved"] == [
        {"id": "d1", "score": 0.95},
        {"id": "d2", "score": 0.5, "text": "two"},
    ]


def test_gen_ai_documents_may_be_in_an_event(span, write, samples_of, stages_of):
    event = "gen_ai.client.operation.details", {"gen_ai.retrieval.documents": DOCUMENTS}
    file = write(span("retrieval docs-index", {"gen_ai.operation.name": "retrieval"}, events=[event]))
    assert stages_of(*samples_of(file)) == FOUND


MLFLOW_OUTPUT = [
    {"page_content": "one", "metadata": {"doc_uri": "one.md", "chunk_id": "7"}, "id": None},
    {"page_content": "two", "metadata": {"doc_uri": "two.md"}, "id": "d2"},
]


def mlflow_span(name, kind, outputs, *, inputs, parent=None, start=0):
    attributes = {"traceRequestId": "tr-1", "spanType": kind, "spanInputs": inputs, "spanOutputs": outputs}
    return {
        "trace_id": "8GzYkJv1qkW2gq1d0VqvUw==",
        "span_id": name,
        "parent_span_id": parent,
        "name": name,
        "start_time_unix_nano": 1_700_000_000_000_000_000 + start,
        "end_time_unix_nano": 1_700_000_000_250_000_000 + start,
        "attributes": {f"mlflow.{key}": json.dumps(value) for key, value in attributes.items()},
    }


def test_traces_of_mlflow_are_read(write, samples_of, stages_of):
    spans = [
        mlflow_span("ask", "CHAIN", "It was me.", inputs={"question": "who?"}),
        mlflow_span("search", "RETRIEVER", MLFLOW_OUTPUT, inputs={"query": "who"}, parent="ask", start=1),
        mlflow_span("sort", "RERANKER", MLFLOW_OUTPUT[1:], inputs={"documents": MLFLOW_OUTPUT}, parent="ask", start=2),
    ]
    (sample,) = samples_of(write({"info": {"trace_id": "tr-1"}, "data": {"spans": spans}}))
    assert stages_of(sample) == [("search", ["one.md", "two.md"], []), ("sort", ["two.md"], ["search"])]
    assert (sample["id"], sample["input"]) == ("tr-1", "who?")
    assert sample["actual_output"]["answer"] == "It was me."
    assert sample["actual_output"]["stages"][0]["seconds"] == 0.25


def test_documents_of_mlflow_without_an_address_have_their_own_id(write, samples_of, stages_of):
    found = [{"page_content": "two", "metadata": {}, "id": "d2"}, {"page_content": "three", "metadata": {"page": 3}}]
    spans = [
        mlflow_span("ask", "CHAIN", "It was me.", inputs={"question": "who?"}),
        mlflow_span("search", "RETRIEVER", found, inputs={"query": "who"}, parent="ask", start=1),
    ]
    (sample,) = samples_of(write({"info": {"trace_id": "tr-1"}, "data": {"spans": spans}}))
    assert [item.get("id") for item in sample["actual_output"]["stages"][0]["retrieved"]] == ["d2", None]


def test_metadata_of_results_without_an_id_may_hold_any_values(span, write, rankgauge):
    """Their keys are counted, to say which may be the id; their values are numbers, texts, lists and nothing."""
    metadata = [{"source": "faq.md", "page": 3}, {"source": None, "tags": ["a"]}, {"page": 4.5, "source": {"a": 1}}]
    output = json.dumps([{"page_content": f"text {at}", "metadata": known} for at, known in enumerate(metadata)])
    attributes = {"openinference.span.kind": "RETRIEVER", "input.value": "who?", "output.value": output}
    documents = {f"retrieval.documents.{at}.document.content": f"text {at}" for at in range(3)}
    known = {f"retrieval.documents.{at}.document.metadata": json.dumps(each) for at, each in enumerate(metadata)}
    done = rankgauge("traces", "read", write(span("a", {**attributes, **documents, **known})), "-o", "out.jsonl")
    assert done.code == 0
    assert "--id-key (there is 'source', 'page', 'tags')" in done.err


def observation(name, kind, second, **more):
    return {
        "id": name,
        "traceId": "t1",
        "type": kind,
        "name": name,
        "startTime": f"2026-01-31T12:00:0{second}.000Z",
        "endTime": f"2026-01-31T12:00:0{second}.500Z",
        "parentObservationId": None,
        "metadata": {},
        **more,
    }


LANGFUSE = [
    observation("ask", "SPAN", 1, input={"question": "who?"}, output="It was me."),
    observation(
        "search",
        "RETRIEVER",
        2,
        input="who?",
        output=[{"page_content": "one", "metadata": {"source": "one.md"}, "type": "Document"}],
        parentObservationId="ask",
    ),
]


def test_observations_of_langfuse_are_read_line_by_line(write, samples_of, stages_of):
    (sample,) = samples_of(write(*LANGFUSE), "--id-key", "source")
    assert stages_of(sample) == [("search", ["one.md"], [])]
    assert (sample["input"], sample["actual_output"]["answer"]) == ("who?", "It was me.")
    assert sample["actual_output"]["stages"][0]["seconds"] == 0.5


def test_a_trace_of_langfuse_has_the_question_and_its_observations(samples_of, stages_of):
    trace = {"id": "t1", "name": "rag", "input": "who?", "output": "Me.", "observations": LANGFUSE[1:]}
    file = Path("trace.json")
    file.write_text(json.dumps(trace, indent=1), encoding="utf-8")
    (sample,) = samples_of(file, "--id-key", "source")
    assert stages_of(sample) == [("search", ["one.md"], [])]
    assert (sample["input"], sample["actual_output"]["answer"]) == ("who?", "Me.")


def test_spans_of_langfuse_over_otlp_are_read(span, write, samples_of, stages_of):
    attributes = {
        "langfuse.observation.type": "retriever",
        "langfuse.observation.input": '"who?"',
        "langfuse.observation.output": json.dumps([{"id": "d1", "content": "one", "score": 0.25}]),
    }
    (sample,) = samples_of(write(span("search", attributes)))
    assert stages_of(sample) == [("search", ["d1"], [])]
    assert sample["input"] == "who?"
    assert sample["actual_output"]["stages"][0]["retrieved"][0]["score"] == 0.25


def chroma(span, name="chroma.query", **more):
    results = [
        {"id": f"d{at}", "distance": 0.5 * at, "document": f"text {at}", "metadata": '{"n": 1}'} for at in (1, 2)
    ]
    events = [("db.query.result", {f"db.query.result.{key}": value for key, value in each.items()}) for each in results]
    return span(name, {"db.system": "chroma", "db.operation": "query", **more}, events=events)


def test_results_of_vector_stores_are_events_of_open_llmetry(span, write, samples_of, stages_of):
    (sample,) = samples_of(write(chroma(span)))
    assert stages_of(sample) == [("chroma", ["d1", "d2"], [])]
    first = sample["actual_output"]["stages"][0]["retrieved"][0]
    assert first == {"id": "d1", "text": "text 1", "metadata": {"n": 1}}  # a distance is no score: less is better


def test_results_of_several_queries_in_one_call_are_not_mixed(span, write, rankgauge):
    file = write(chroma(span, **{"db.chroma.query.texts_count": 2}))
    assert rankgauge("traces", "read", file, "-o", "out.jsonl").code == 4


def test_lines_of_the_console_exporter_are_read(write, samples_of, stages_of):
    line = {
        "name": "search",
        "context": {"trace_id": "0x0a", "span_id": "0x0b", "trace_state": "[]"},
        "parent_id": None,
        "start_time": "2026-01-31T12:00:00.000000Z",
        "end_time": "2026-01-31T12:00:00.250000Z",
        "attributes": {
            "openinference.span.kind": "RETRIEVER",
            "input.value": "who?",
            "retrieval.documents.0.document.id": "d1",
        },
        "events": [],
    }
    (sample,) = samples_of(write(line))
    assert stages_of(sample) == [("search", ["d1"], [])]
    assert (sample["id"], sample["actual_output"]["stages"][0]["seconds"]) == ("0a", 0.25)


FORMS = {
    "LangChain, as it is logged": [{"page_content": "one", "metadata": {}, "id": "d1", "type": "Document"}],
    "LangChain, serialized": [
        {"lc": 1, "type": "constructor", "id": ["langchain", "Document"], "kwargs": {"page_content": "one", "id": "d1"}}
    ],
    "LangChain, with scores": [[{"page_content": "one", "id": "d1"}, 0.5]],
    "LlamaIndex": {"source_nodes": [{"node": {"id_": "d1", "text": "one"}, "score": 0.5}]},
    "Haystack": {"documents": [{"id": "d1", "content": "one", "meta": {}, "score": 0.5}]},
    "ids as whole numbers": [{"id": 1, "text": "one"}],
}


@pytest.mark.parametrize("form", FORMS)
def test_documents_of_frameworks_are_read_in_the_forms_in_which_they_are_logged(form, span, write, samples_of):
    logged = {"langfuse.observation.type": "retriever", "langfuse.observation.output": json.dumps(FORMS[form])}
    (sample,) = samples_of(write(span("search", logged)))
    (item,) = sample["actual_output"]["stages"][0]["retrieved"]
    assert (item["id"], item["text"]) in {("d1", "one"), ("1", "one")}
    assert item.get("score", 0.5) == 0.5


def test_what_repr_made_of_objects_is_no_text(span, write, rankgauge):
    logged = {"openinference.span.kind": "RETRIEVER", "output.value": '["<NodeWithScore(node=...)>"]'}
    done = rankgauge("traces", "read", write(span("search", logged)), "-o", "out.jsonl")
    assert "no results are logged by 1 retrieval" in done.err


TIMES = {
    "text": ("2026-01-31T12:00:00Z", 1_769_860_800_000_000_000),  # 20,484 days and a half after 1970
    "milliseconds, as pandas writes them": (1_769_860_800_000, 1_769_860_800_000_000_000),
    "nanoseconds": (1_769_860_800_000_000_001, 1_769_860_800_000_000_001),
    "none": (None, 0),
    "a cell that is empty": (float("nan"), 0),
}


@pytest.mark.parametrize("what", TIMES)
def test_times_are_read_in_every_form(what):
    written, expected = TIMES[what]
    assert nanoseconds(written) == expected


@pytest.mark.parametrize("written", ["noon", float("inf")])
def test_what_is_no_time_is_refused(written):
    with pytest.raises(MalformedSpanError, match="is not a time such as"):
        nanoseconds(written)
