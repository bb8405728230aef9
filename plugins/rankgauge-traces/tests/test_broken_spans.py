"""Spans that are broken, or meant to break something: each is named with its file and line, or told about."""

import json
from pathlib import Path

import pytest


def refused(rankgauge, file, *options):
    done = rankgauge("traces", "read", file, "-o", "out.jsonl", *options)
    assert done.code == 2
    assert "Traceback" not in done.err
    assert not Path("out.jsonl").exists()
    return done.err


def test_parents_in_a_circle_are_named(search, write, rankgauge):
    spans = [search("a", ["x"], parent="c"), search("b", ["x"], parent="a"), search("c", ["x"], parent="b")]
    message = refused(rankgauge, write(search("fine", ["x"], trace="t0"), *spans))
    assert "spans.jsonl:2: the parents of spans of trace 't1' go in a circle: 'a' -> 'c' -> 'b' -> 'a'" in message


def test_a_span_that_is_its_own_parent_is_a_circle(search, write, rankgauge):
    assert "circle: 'a' -> 'a'" in refused(rankgauge, write(search("a", ["x"], parent="a")))


def test_a_span_that_is_there_twice_counts_once_unless_it_differs(search, write, rankgauge):
    done = rankgauge("traces", "read", write(search("a", ["x"]), search("a", ["x"])), "-o", "out.jsonl")
    assert done.code == 0
    assert "1 span there twice, counted once" in done.err
    Path("out.jsonl").unlink()
    message = refused(rankgauge, write(search("a", ["x"]), search("b", ["x"]), search("a", ["y"])))
    assert "spans.jsonl:3: span 'a' of trace 't1' is there twice, and differs (first in spans.jsonl, line 1)" in message


def test_spans_that_differ_in_a_long_text_alone_differ(span, write, rankgauge):
    def told(text):
        documents = {"retrieval.documents.0.document.id": "a", "retrieval.documents.0.document.content": text}
        return span("a", {"openinference.span.kind": "RETRIEVER", **documents})

    message = refused(rankgauge, write(told("x" * 500 + "1"), told("x" * 500 + "2")))
    assert "is there twice, and differs" in message


def test_spans_without_their_parents_are_roots(search, write, rankgauge):
    done = rankgauge("traces", "read", write(search("a", ["x"], parent="gone")), "-o", "out.jsonl")
    assert done.code == 0
    assert "parents are missing of 1 span, which count as roots of their trace" in done.err


def dropped(span, numbers, *, kind="RETRIEVER"):
    """Return a retrieval that lost attributes: documents of these numbers have an id and a text, 36 a text alone."""
    texts = {f"retrieval.documents.{at}.document.content": f"text {at}" for at in (36, *numbers)}
    ids = {f"retrieval.documents.{at}.document.id": f"d{at}" for at in numbers}
    kinds = {"openinference.span.kind": kind} if kind else {}
    return span("dense", {"input.value": "who?", **texts, **ids, **kinds}, droppedAttributesCount=73)


def test_a_retrieval_that_lost_its_first_documents_fails_and_is_not_scored_as_if_it_had_not(span, write, rankgauge):
    file = write(dropped(span, (37, 38)))
    Path("gold.jsonl").write_text('{"id": "q1", "input": "who?", "expected_output": ["d37"]}\n', encoding="utf-8")
    done = rankgauge("traces", "read", file, "--gold", "gold.jsonl", "-o", "out.jsonl")
    assert "attributes of 1 retrieval were dropped; stages that lack results fail" in done.err
    assert "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT" in done.err
    done = rankgauge("run", "--data", "out.jsonl", "-m", "mrr@5", "--json")
    assert done.code == 3
    assert done.json["metrics"]["mrr@5"]["n_failed"] == 1


def test_attributes_that_were_dropped_beside_the_documents_harm_nothing(search, write, samples_of, stages_of):
    file = write(search("dense", ["x", "y"], droppedAttributesCount=3))
    assert stages_of(*samples_of(file)) == [("dense", ["x", "y"], [])]


def test_a_retrieval_that_lost_its_kind_is_known_by_its_documents(span, write, samples_of, stages_of):
    (stage,) = stages_of(*samples_of(write(dropped(span, (37, 38), kind=None))))
    assert stage == ("dense", [None, None, "d37", "d38"], [])  # a gap before 36, and 36 itself, which lost its id


def test_retrievals_can_be_nested_deeply_and_not_endlessly(search, span, write, rankgauge):
    chain = [span(f"s{at}", {}, parent=f"s{at - 1}" if at else "") for at in range(3000)]
    file = write(*chain, search("a", ["x"], parent="s2999"))
    assert rankgauge("traces", "read", file, "-o", "out.jsonl").code == 0
    Path("out.jsonl").unlink()
    file = write(*[search(f"s{at}", ["x"], parent=f"s{at - 1}" if at else "") for at in range(200)])
    assert "nested more than 100 times" in refused(rankgauge, file)


def one(**more):
    span = {"traceId": "t", "spanId": "s", "attributes": [], **more}
    return {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}


def attribute(value):
    return one(attributes=[{"key": "k", "value": value}])


def deep(levels):
    value = {"stringValue": "x"}
    for _ in range(levels):
        value = {"arrayValue": {"values": [value]}}
    return value


BROKEN = {
    "a list": ([], "expected an object with resourceSpans"),
    "a number": (5, "expected an object with resourceSpans"),
    "anything": ({"spans": 1}, "this is none of resourceSpans (OTLP)"),
    "no list of resources": ({"resourceSpans": 5}, "resourceSpans of the request must be a list of objects, not 5"),
    "no object": ({"resourceSpans": [5]}, "must be a list of objects, not [5]"),
    "an id that is none": (one(traceId=5), "a span needs a traceId, a text; found 5"),
    "an id that is a list": (one(spanId=[1]), "a span needs a spanId, a text; found [1]"),
    "no id": (one(spanId=None), "a span needs a spanId, a text; found nothing"),
    "a time that is none": (one(startTimeUnixNano=-1.5), "startTimeUnixNano must be a whole number, not -1.5"),
    "attributes that are none": (one(attributes={"a": 1}), "attributes must be a list of key and value"),
    "an attribute without a key": (one(attributes=[{"value": {}}]), "an attribute must be an object with a key"),
    "a value of no form": (attribute({"x": 1}), "the value of attribute 'k' has no form of OTLP"),
    "a bare value": (attribute("x"), "the value of attribute 'k' must be such as"),
    "a number of 65 bits": (attribute({"intValue": str(1 << 63)}), "no whole number of 64 bits"),
    "a number of 400 digits": (attribute({"intValue": "9" * 400}), "no whole number"),
    "a list that is none": (attribute({"arrayValue": 5}), "the arrayValue of attribute 'k' has no list of values"),
    "values nested too deeply": (attribute(deep(70)), "the value of attribute 'k' is nested too deeply"),
    "a time of Langfuse": ({"id": "1", "traceId": "t", "type": "SPAN", "startTime": "noon"}, "'noon' is not a time"),
    "a context that is none": ({"context": 5, "attributes": {}}, "context must be an object, not 5"),
    "spans of MLflow that are none": ({"data": {"spans": [5]}}, "a span must be an object, not 5"),
    "observations that are none": ({"id": "t", "observations": [5]}, "an observation must be an object, not 5"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_records_that_are_no_spans_are_named_with_their_line(what, search, rankgauge):
    record, message = BROKEN[what]
    Path("spans.jsonl").write_text("\n" + json.dumps(record) + "\n", encoding="utf-8")
    found = refused(rankgauge, "spans.jsonl")
    assert "spans.jsonl:2: " in found
    assert message in found


def test_bytes_that_are_no_text_and_lines_that_are_no_json_are_named(rankgauge):
    Path("spans.jsonl").write_bytes(b'{"a": "\xff"}\n{"resourceSpans": [\n{}\n')
    message = refused(rankgauge, "spans.jsonl")
    assert "spans.jsonl:1: byte 7 (0xff) is not UTF-8" in message
    assert "spans.jsonl:2: not valid JSON" in message
    assert "spans.jsonl:3: this is none of" in message


def test_a_document_on_many_lines_needs_its_ending(search, rankgauge, samples_of, write):
    request = json.loads(write(search("a", ["x"])).read_text(encoding="utf-8"))
    Path("many.jsonl").write_text(json.dumps(request, indent=1), encoding="utf-8")
    assert "a file of one JSON document needs a name that ends in .json" in refused(rankgauge, "many.jsonl")
    Path("many.jsonl").rename("many.json")
    assert len(samples_of("many.json")) == 1


def test_broken_lines_can_be_skipped_and_are_counted(search, write, rankgauge):
    file = write(search("a", ["x"]))
    file.write_text(file.read_text(encoding="utf-8") + '{"resourceSpans": [{"sco', encoding="utf-8")
    assert "spans.jsonl:2" in refused(rankgauge, file)
    done = rankgauge("traces", "read", file, "-o", "out.jsonl", "--skip-broken")
    assert done.code == 0
    assert "1 problem skipped; the first is in spans.jsonl, line 2: not valid JSON" in done.err


def test_logs_and_metrics_in_the_same_file_are_passed_over(search, write, samples_of):
    assert len(samples_of(write({"resourceLogs": []}, search("a", ["x"]), {"resourceMetrics": []}))) == 1


def test_a_file_without_a_retrieval_is_nothing_to_evaluate(span, write, rankgauge):
    done = rankgauge("traces", "read", write(span("a", {})), "-o", "out.jsonl")
    assert done.code == 4
    assert "no trace can be used: of 1 span in 1 trace, none is a RETRIEVER or RERANKER" in done.err
    assert not Path("out.jsonl").exists()


def test_nothing_is_overwritten(search, write, rankgauge):
    file = write(search("a", ["x"]))
    done = rankgauge("traces", "read", file, "-o", file)
    assert done.code == 2
    assert "spans.jsonl exists; choose another name, or delete it" in done.err
    assert rankgauge("traces", "read", file, "-o", "no/out.jsonl").code == 2


def test_a_file_that_cannot_be_written_is_refused(search, write, rankgauge):
    done = rankgauge("traces", "read", write(search("a", ["x"])), "-o", "x" * 300)
    assert done.code == 2
    assert "cannot write xxx" in done.err


OPTIONS = {
    "--by id": "--by is about ground truth; name it with --gold FILE",
    "--with-missing": "--with-missing is about ground truth",
    "--name x": "--name takes SPAN=STAGE, not 'x'",
    "--name a=b --name a=c": "--name names 'a' twice",
}


@pytest.mark.parametrize("typed", OPTIONS)
def test_options_that_mean_nothing_are_refused(typed, search, write, rankgauge):
    assert OPTIONS[typed] in refused(rankgauge, write(search("a", ["x"])), *typed.split())
