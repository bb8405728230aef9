"""Items of LangChain, LlamaIndex, Haystack and chonkie, in the shapes that their current versions have."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from rankgauge import Engine
from rankgauge.catalog import Catalog
from rankgauge.io.output_files import kept
from rankgauge.policy import DEFAULT_CONTRACT
from rankgauge.samples import Output, Place, read_output
from rankgauge.samples.sample_values import Fault, Misplaced
from tables import rows

CATALOG = Catalog.discover(own_only=True)
TEXT = "Boats run at night."
AT = Place("d.md", 30, 49)


def as_object(value: Any) -> Any:
    """Return a mapping as an object with attributes; what is in `metadata`, `meta` and `relationships` stays one."""
    if not isinstance(value, dict):
        return value
    plain = {"metadata", "meta", "relationships"}
    return SimpleNamespace(**{key: held if key in plain else as_object(held) for key, held in value.items()})


LANGCHAIN = {
    "id": None,
    "metadata": {"source": "d.md", "start_index": 30},
    "page_content": TEXT,
    "type": "Document",
}
DUMPED = {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "document", "Document"], "kwargs": LANGCHAIN}
NODE = {
    "id_": "n1",
    "metadata": {"file_name": "d.md"},
    "relationships": {"1": {"node_id": "d.md", "node_type": "4", "metadata": {}, "class_name": "RelatedNodeInfo"}},
    "text": TEXT,
    "start_char_idx": 30,
    "end_char_idx": 49,
    "class_name": "TextNode",
}
META = {"file_path": "x/d.md", "source_id": "d.md", "split_id": 1, "split_idx_start": 30}
HAYSTACK = {"id": "h1", "content": TEXT, "blob": None, "meta": META, "score": 0.25, "embedding": None}
FLAT = {**META, **{key: value for key, value in HAYSTACK.items() if key != "meta"}}
CHONKIE = {
    "id": "c1",
    "text": TEXT,
    "start_index": 30,
    "end_index": 49,
    "token_count": 4,
    "context": None,
    "embedding": None,
    "metadata": {"source": "d.md"},
}


@rows(
    ("item", "name", "score"),
    [
        (LANGCHAIN, None, None),
        (as_object(LANGCHAIN), None, None),
        (DUMPED, None, None),
        ({**LANGCHAIN, "id": "l1"}, "l1", None),
        ({**LANGCHAIN, "metadata": {**LANGCHAIN["metadata"], "doc_id": "l2"}}, "l2", None),
        ([LANGCHAIN, 0.5], None, 0.5),
        ((as_object(LANGCHAIN), 0.5), None, 0.5),
        ({"pageContent": TEXT, "metadata": LANGCHAIN["metadata"]}, None, None),
        (NODE, "n1", None),
        (as_object(NODE), "n1", None),
        ({"node": NODE, "score": 0.5}, "n1", 0.5),
        (SimpleNamespace(node=as_object(NODE), score=0.5), "n1", 0.5),
        ({"node": {"__data__": NODE}, "score": 0.5}, "n1", 0.5),
        ({**NODE, "text": None, "text_resource": {"text": TEXT}}, "n1", None),
        (HAYSTACK, "h1", 0.25),
        (as_object(HAYSTACK), "h1", 0.25),
        (FLAT, "h1", 0.25),
        (CHONKIE, "c1", None),
        (as_object(CHONKIE), "c1", None),
        ({**CHONKIE, "metadata": {}, "document": "d.md"}, "c1", None),
    ],
)
def test_an_item_of_a_library_is_read_by_what_it_is(item: Any, name: str | None, score: float | None) -> None:
    outputs = [read_output([item]), read_output({"retrieved": [item, {"id": "ours", "text": "as it is"}]})]
    for output in outputs:
        assert isinstance(output, Output)
        assert output.texts is not None
        assert output.places is not None
        assert (output.ids[0], output.texts[0], output.places[0]) == (name, TEXT, AT)
        assert (None if output.scores is None else output.scores[0]) == score
        assert output.unread == ()


@pytest.mark.parametrize(
    ("item", "why"),
    [
        ({**NODE, "relationships": {**NODE["relationships"], "4": {"node_id": "parent"}}}, "parent node's text"),
        ({**HAYSTACK, "meta": {**META, "header": "Night", "parent_headers": []}}, "a section's text"),
        ({**FLAT, "__level": 2}, "the parent document's text"),
    ],
)
def test_a_place_of_another_text_is_not_taken(item: dict[str, Any], why: str) -> None:
    output = read_output([item])
    assert isinstance(output, Output)
    (place,) = output.places or ()
    assert isinstance(place, Misplaced)
    assert why in place.reason
    assert output.texts == [TEXT]


@rows(
    ("place", "expected"),
    [
        ({"document": "d", "start": 30, "end": 49}, Place("d", 30, 49)),
        ({"document": "d", "start": 30.0, "end": 49.0}, Place("d", 30, 49)),
        ({"document": "d", "start": 30}, Place("d", 30, 49)),
        ({"document": "d", "start": 30.0, "end": float("nan")}, Place("d", 30, 49)),
        ({"document": "d", "start": -1, "end": -1}, None),
        ({"document": "d", "start": float("nan"), "end": 49}, None),
        ({"document": "d", "start": None, "end": 49}, None),
        ({"start": 30}, None),
        ({"start": 30, "end": 49}, None),
        ({"document": "d", "start": 30.5, "end": 49}, Fault),
        ({"document": "d", "start": True, "end": 49}, Fault),
        ({"document": "d", "start": "30", "end": 49}, Fault),
        ({"document": "d", "start": 49, "end": 30}, Fault),
    ],
)
def test_a_missing_place_is_missing(place: dict[str, Any], expected: Any) -> None:
    for others in ([], [{"document": "d", "start": 1, "end": 2, "text": "x", "id": "a"}]):
        output = read_output([{"text": TEXT, **place}, *others])
        assert isinstance(output, Output)
        found = None if output.places is None else output.places[0]
        assert isinstance(found, Fault) if expected is Fault else found == expected


def test_a_response_of_llamaindex_is_its_nodes_and_its_answer() -> None:
    nodes = [SimpleNamespace(node=as_object(NODE), score=0.5)]
    output = read_output(SimpleNamespace(response="yes", source_nodes=nodes, metadata={}))
    assert isinstance(output, Output)
    assert (output.ids, output.answer, output.places) == (["n1"], "yes", [AT])
    assert read_output({"response": "yes", "source_nodes": [{"node": NODE, "score": 0.5}]}) == output


@pytest.mark.parametrize("item", [as_object(LANGCHAIN), (as_object(LANGCHAIN), 0.5), as_object(NODE), CHONKIE])
def test_what_a_system_returned_is_kept_with_places(item: Any) -> None:
    read, value = read_output([item]), kept([item], DEFAULT_CONTRACT).actual_output
    assert read_output(json.loads(json.dumps(value))) == read


def test_a_bare_page_content_stays_unread() -> None:
    output = read_output([{"id": "a", "page_content": "x"}])
    assert isinstance(output, Output)
    assert [(each.key, each.meant) for each in output.unread] == [("page_content", "text")]


def test_documents_of_a_system_are_judged_by_their_places_and_by_text(tmp_path: Any) -> None:
    """The system of the first sample returns objects, the file of the second has them as dictionaries."""
    gold = {"spans": [{"document": "d.md", "start": 30, "end": 49, "text": TEXT}]}
    sample = {"id": "q", "input": "?", "expected_output": gold}
    metrics = ["span-recall@1", "recall(gold=passages)@1"]
    expected = {**gold, "passages": [TEXT]}
    evaluation = Engine(catalog=CATALOG).dataset([{**sample, "expected_output": expected}]).with_metrics(metrics)
    result = evaluation.run(sut=lambda _: [as_object(LANGCHAIN)])
    assert [column.mean for column in result.metrics.values()] == [1.0, 1.0]
    for item in (LANGCHAIN, DUMPED, NODE, HAYSTACK, FLAT, CHONKIE):
        (tmp_path / "s.jsonl").write_text(json.dumps({**sample, "actual_output": [item]}) + "\n")
        result = Engine(catalog=CATALOG).dataset(tmp_path / "s.jsonl").with_metrics(["span-recall@1"]).run()
        assert (result["span-recall@1"].mean, result.notes) == (1.0, ())


def test_a_preset_keeps_places_and_metadata(tmp_path: Any) -> None:
    (tmp_path / "o.json").write_text(json.dumps({"q": [LANGCHAIN]}))
    gold = {"spans": [{"document": "d.md", "start": 30, "end": 49}]}
    (tmp_path / "s.jsonl").write_text(json.dumps({"id": "q", "expected_output": gold}) + "\n")
    engine = Engine(catalog=CATALOG).dataset(tmp_path / "s.jsonl", preset="langchain").with_metrics(["span-recall@1"])
    assert engine.run(outputs=tmp_path / "o.json")["span-recall@1"].mean == 1.0
