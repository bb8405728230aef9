"""Keys that nothing reads: they are named, and a sample that lacks what a metric judges fails instead of scoring 0."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rankgauge import Engine
from rankgauge.errors import DataError
from rankgauge.io.field_names import read_field
from rankgauge.samples import Sample, read_sample
from rankgauge.samples.unread_keys import unread_notes
from tables import rows

RIGHT = {"retrieved": ["a"]}


def sample(number: int, output: object, **others: object) -> dict[str, object]:
    return {"id": f"q{number}", "expected_output": ["a"], "actual_output": output, **others}


def scored(samples: list[dict[str, object]], metric: str = "recall@5", *, path: Path | None = None, **options: int):
    source: object = samples
    if path is not None:
        source = path / "samples.jsonl"
        source.write_text("".join(json.dumps(each) + "\n" for each in samples))
    return Engine().dataset(source).with_metrics([metric]).run(**options)


def read(record: dict[str, object]) -> Sample:
    problems: list[object] = []
    found = read_sample(record, problems=problems)
    assert not problems
    assert found is not None
    return found


@rows("key", ["contexts", "documents", "retreived", "Retrieved", "retrieved_contexts", "hits"])
@rows("others", [{}, {"answer": "x"}])
def test_an_output_without_a_ranking_fails_and_names_the_key_that_was_meant(key: str, others: dict[str, str]) -> None:
    result = scored([sample(0, RIGHT), sample(1, {key: ["a"], **others})])
    column = result["recall@5"]
    assert (column.mean, column.counts["n"], column.counts["failed"]) == (0.5, 2, 1)
    reason = (
        f"the output has no 'retrieved'; is it {key!r}? rename it, or map it: --field retrieved=actual_output.{key}"
    )
    assert list(column.reasons) == [1]
    assert column.reasons[1].startswith(reason)


@pytest.mark.parametrize("others", [{}, {"answer": "x"}])
def test_where_no_output_has_a_ranking_nothing_is_scored(others: dict[str, str], tmp_path: Path) -> None:
    samples = [sample(number, {"contexts": ["a"], **others}) for number in range(3)]
    for path in (None, tmp_path):
        with pytest.raises(DataError, match="'recall@5': the output has no 'retrieved'; is it 'contexts'"):
            scored(samples, path=path)
    field = read_field("retrieved=actual_output.contexts")
    result = Engine().dataset(samples).with_fields(field).with_metrics(["recall@5"]).run()
    assert (result["recall@5"].mean, result.notes) == (1.0, ())


def test_an_answer_that_no_output_has_is_an_error_for_its_metric_only() -> None:
    samples = [
        {**sample(0, {"retrieved": ["a"], "response": "x"}), "expected_output": {"relevant": ["a"], "answer": "x"}}
    ]
    with pytest.raises(DataError, match="no 'answer'; is it 'response'"):
        scored(samples, "answer-exact-match")
    assert scored(samples)["recall@5"].mean == 1


def test_a_missing_output_is_no_output_without_a_ranking() -> None:
    assert scored([sample(0, None)])["recall@5"].counts["missing"] == 1


def test_an_empty_ranking_is_one() -> None:
    column = scored([sample(0, {"retrieved": [], "answer": "x"})])["recall@5"]
    assert (column.mean, column.counts["failed"]) == (0, 0)


@pytest.mark.parametrize(
    ("record", "path", "meant"),
    [
        (sample(0, {**RIGHT, "anwser": "x"}), "actual_output.anwser", "answer"),
        (
            sample(0, {"retrieved": [{"id": "a", "page_content": "x"}]}),
            "actual_output.retrieved[].page_content",
            "text",
        ),
        (sample(0, {"retrieved": [{"id": "a", "similarity": 1}]}), "actual_output.retrieved[].similarity", "score"),
        (sample(0, RIGHT, metdata={"k": 1}), "metdata", "metadata"),
        (
            sample(0, {"retrieved": [{"id": "a", "document": "d", "strat": 0, "end": 4}]}),
            "actual_output.retrieved[].strat",
            "start",
        ),
        (
            {**sample(0, RIGHT), "expected_output": {"relevant": [{"id": "a", "gian": 2}, "b"]}},
            "expected_output.relevant[].gian",
            "gain",
        ),
        ({**sample(0, RIGHT), "expected_output": [{"id": "a", "grade": 2}]}, "expected_output[].grade", "gain"),
        (sample(0, {**RIGHT, "contexts": ["a"]}), "actual_output.contexts", ""),
        (sample(0, {**RIGHT, "latency": 3}), "actual_output.latency", "seconds"),
        (sample(0, {**RIGHT, "mood": 3}), "actual_output.mood", ""),
        (sample(0, RIGHT, tenant="x"), "tenant", ""),
    ],
)
def test_a_key_that_nothing_reads_is_a_note(record: dict[str, object], path: str, meant: str, tmp_path: Path) -> None:
    found = read(record)
    unread = {*found.unread, *found.output.unread}
    assert {(each.path, each.meant) for each in unread} == {(path, meant)}
    notes = tuple(unread_notes(unread))
    assert len(notes) == 1
    assert path in notes[0]
    assert (f"did you mean {meant!r}?" in notes[0]) == bool(meant)
    for folder in (None, tmp_path):
        assert scored([record], path=folder).notes == notes
    assert Engine().dataset([record]).with_metrics(["judged@1"]).check(require_gold=False).notes == notes


def test_plain_samples_read_as_columns_name_the_same_keys(tmp_path: Path) -> None:
    items = [{"id": "a", "score": 1.0, "chunk": 3}, {"id": "b"}]
    records = [sample(number, {"retrieved": items, "model": "m"}, tenant="x") for number in range(100)]
    slow, fast = scored(records), scored(records, path=tmp_path)
    assert slow.notes == fast.notes
    assert len(fast.notes) == 2
    assert all(key in "".join(fast.notes) for key in ("tenant", "model", "chunk"))


def test_a_key_that_is_mapped_is_read() -> None:
    record = {"qid": "q0", "expected_output": ["a"], "actual_output": {"hits": ["a"]}}
    fields = read_field("id=qid") | read_field("retrieved=actual_output.hits")
    assert Engine().dataset([record]).with_fields(fields).with_metrics(["recall@5"]).run().notes == ()


def test_what_a_system_under_test_returns_is_looked_at_too() -> None:
    samples = [{"id": "q0", "input": "x", "expected_output": ["a"]}]
    evaluation = Engine().dataset(samples).with_metrics(["recall@5"])
    assert "retreived" in evaluation.run(sut=lambda _: {"retreived": ["a"], **RIGHT}).notes[0]
    with pytest.raises(DataError, match="no 'retrieved'"):
        evaluation.run(sut=lambda _: {"contexts": ["a"], "answer": "x"})


@pytest.mark.parametrize(
    ("gold", "path", "meant"),
    [
        ({"passages": ["x", {"text": "red", "garde": 2}, "y"]}, "expected_output.passages[].garde", "grade"),
        ({"relevant": {"a": 1}, "passages": ["x", {"text": "red", "b": 2}, "y"]}, "expected_output.passages[].b", ""),
        ({"relevant": ["a", {"id": "b", "gian": 2}, "c"]}, "expected_output.relevant[].gian", "gain"),
        (["a", {"id": "b", "gian": 2}, "c"], "expected_output[].gian", "gain"),
        ({"relevant": ["a"], "forbidden": ["x", {"id": "b", "tex": 2}]}, "expected_output.forbidden[].tex", "text"),
    ],
)  # fmt: skip
def test_keys_of_an_object_between_plain_items_of_gold_are_looked_at(gold, path, meant, tmp_path):
    records = [sample(number, {"retrieved": [{"id": "a", "text": "red"}]}, expected_output=gold) for number in range(3)]
    assert {(each.path, each.meant) for each in read(records[0]).unread} == {(path, meant)}
    metric = "recall(gold=passages)@5" if isinstance(gold, dict) and "relevant" not in gold else "recall@5"
    for folder in (None, tmp_path):
        (note,) = [note for note in scored(records, metric, path=folder).notes if path in note]
        assert (f"did you mean {meant!r}?" in note) == bool(meant)
