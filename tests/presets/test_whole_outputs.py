"""Lists of bare strings, and what a system returns, under presets."""

import json

import pytest

from draws import some
from rankgauge import Engine
from rankgauge.catalog import Catalog

PRESETS = sorted(Catalog.discover(own_only=True).all("preset"))
GOLD = {"id": "a", "input": "x", "expected_output": {"relevant": ["d1"]}}
TEXT = "The lighthouse is 41 metres tall."
TEXT_GOLD = {"id": "a", "input": "x", "expected_output": {"passages": [TEXT]}}


def run(samples, preset, metric="recall@5", fields=None, **options):
    evaluation = Engine().dataset(samples).with_metrics(metric).with_preset(preset)
    result = (evaluation if fields is None else evaluation.with_fields(fields)).run(**options)
    return result[next(iter(result.metrics))]


def written(path, rows):
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize("preset", some(list(PRESETS)))
@pytest.mark.parametrize("emitted", [["d1", "d2"], [{"id": "d1"}, "d2"], '["d1", "d2"]', {"d1": 2.0, "d2": 1.0}])
def test_a_bare_list_as_the_whole_output_is_ids(preset, emitted, tmp_path):
    """By every road: in the sample, in files and maps of outputs, and from a system."""
    row = {"id": "a", "actual_output": emitted}
    columns = [
        run([{**GOLD, "metadata": {}}], preset, outputs={"a": emitted}),
        run([GOLD], preset, outputs=[row]),
        run([GOLD], preset, outputs=written(tmp_path / "o.jsonl", [row])),
        run([GOLD], preset, outputs=written(tmp_path / "o.json", [{"outputs": {"a": emitted}}])),
        run([GOLD], preset, sut=lambda _: emitted),
        run([{**GOLD, **row}], preset),
    ]
    assert [column.mean for column in columns] == [1.0] * len(columns)


def test_a_tuple_is_a_list():
    assert run([GOLD], "ragas", sut=lambda _: ("d1",)).mean == 1.0


@pytest.mark.parametrize(
    ("preset", "emitted"),
    [
        ("ragas", {"retrieved_contexts": [TEXT]}),
        ("deepeval", {"retrieval_context": [TEXT]}),
        ("langchain", {"context": [TEXT]}),
        ("langchain", {"source_documents": [{"page_content": TEXT, "metadata": {}}]}),
        ("llamaindex", {"retrieved_texts": [TEXT]}),
        ("haystack", {"retriever": {"documents": [{"content": TEXT, "meta": {}}]}}),
        ("trulens", {"contexts": [TEXT]}),
        ("promptfoo", {"response": {"output": {"context": [TEXT]}}}),
        ("langfuse", {"output": [TEXT]}),
        ("elasticsearch", {"hits": {"hits": [{"_id": "7", "_source": {"text": TEXT}}]}}),
        ("openai", {"contexts": [TEXT]}),
    ],
)
def test_what_a_system_returns_is_read_as_the_preset_says(preset, emitted, tmp_path):
    """Lists in a preset's own fields are texts; what is kept is read again without change."""
    assert run([TEXT_GOLD], preset, sut=lambda _: emitted, keep=tmp_path / "kept.jsonl").mean == 1.0
    assert run([TEXT_GOLD], preset, outputs={"a": emitted}).mean == 1.0
    assert run([TEXT_GOLD], preset, outputs=tmp_path / "kept.jsonl").mean == 1.0
    again = run([TEXT_GOLD], preset, sut=pytest.fail, keep=tmp_path / "kept.jsonl", resume=True)
    assert again.mean == 1.0


def test_an_answer_that_a_system_returns_stands_where_the_preset_has_it():
    gold = {"id": "a", "input": "x", "expected_output": "Paris"}
    assert run([gold], "deepeval", "EM", sut=lambda _: "Paris").mean == 1.0
    assert run([gold], "deepeval", "EM", outputs={"a": "Paris"}).mean == 1.0


def test_fields_of_ones_own_are_read_of_what_a_system_returns(tmp_path):
    fields = {"retrieved": {"path": "actual_output", "strings": "text"}}
    plain = Engine().dataset([TEXT_GOLD]).with_metrics("recall@5")
    for fields, emitted in (
        ({"retrieved": {"path": "actual_output", "strings": "text"}}, [TEXT]),
        ({"retrieved": {"path": "chunks", "strings": "text"}}, {"chunks": [TEXT]}),
        ({"retrieved": {"path": "actual_output.chunks", "strings": "text"}}, {"chunks": [TEXT]}),
    ):
        evaluation = plain.with_fields(fields)
        kept = tmp_path / f"{len(emitted)}-{len(str(fields))}.jsonl"
        found = [
            evaluation.run(sut=lambda _, emitted=emitted: emitted, keep=kept),
            evaluation.run(outputs=kept),
            evaluation.run(outputs={"a": emitted}),
        ]
        assert [result["recall@5"].mean for result in found] == [1.0] * 3
    answered = Engine().dataset([{**GOLD, "expected_output": "Paris"}]).with_metrics("EM")
    answered = answered.with_fields({"actual_output.answer": "actual_output"})
    kept = tmp_path / "answers.jsonl"
    assert answered.run(sut=lambda _: "Paris", keep=kept)["em"].mean == 1.0
    assert answered.run(outputs=kept)["em"].mean == 1.0


@pytest.mark.parametrize("preset", ["", "ragas", "langchain"])
def test_bare_strings_where_only_texts_are_judged_are_an_error_with_both_ways_out(preset):
    evaluation = Engine().dataset([TEXT_GOLD]).with_metrics("recall@5")
    evaluation = evaluation.with_preset(preset) if preset else evaluation
    result = evaluation.run(sut=lambda _: [TEXT])
    assert result["recall@5"].status(0) == "failed"
    reason = result.errors[0].reason
    assert "a bare string is an id; if yours are texts: --field retrieved=FIELD:text, or {text: ...} for each" in reason
    assert "if they are ids: ids in `expected_output.relevant`, or a text beside each" in reason
