"""What is read and scored as it stands, but hardly meant: a line says so."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from rankgauge import Engine
from rankgauge.errors import DataError, Problem
from rankgauge.io.problems import once


def scored(outputs: list[object], path: Path | None = None, metric: str = "P@2", gold: object = ("c",), **policy: str):
    samples = [{"id": f"q{n}", "expected_output": gold, "actual_output": output} for n, output in enumerate(outputs)]
    source: object = samples
    if path is not None:
        source = path / "s.jsonl"
        source.write_text("".join(json.dumps(sample) + "\n" for sample in samples))
    return Engine().dataset(source).with_metrics([metric]).with_profile(**policy).run()


@pytest.mark.parametrize("form", [[], {"retrieved": []}, {"retrieved": [], "answer": "x"}])
def test_every_ranking_empty_is_a_note(form: object, tmp_path: Path) -> None:
    for path in (None, tmp_path):
        assert any("every ranking is empty" in note for note in scored([form] * 3, path).notes)
        assert not any("empty" in note for note in scored([form, ["c"]], path).notes)


def items(*scores: float | None) -> list[dict[str, object]]:
    return [{"id": f"d{n}"} | ({} if score is None else {"score": score}) for n, score in enumerate(scores)]


@pytest.mark.parametrize(
    ("outputs", "where"),
    [
        ([items(0.1, 0.2, 0.3)], "sample 'q0': 0.1 at rank 1, 0.2 at rank 2"),
        ([items(3, 2), items(9, 8, 8.5)], "sample 'q1': 8 at rank 2, 8.5 at rank 3"),
        ([items(3, 2), [], items(9, 8, 8), items(1)], ""),
        ([items(3, None, 4)], ""),
        ([items(1), items(2), items(3, 1), items(5)], ""),
        ([items(None, None), items(1, 2)], "sample 'q1': 1 at rank 1, 2 at rank 2"),
        ([["a", "b"]], ""),
    ],
)
def test_scores_that_rise_along_the_list_are_a_note(outputs: list[object], where: str, tmp_path: Path) -> None:
    for path in (None, tmp_path):
        notes = [note for note in scored(outputs, path).notes if "rise" in note]
        assert len(notes) == bool(where)
        assert all(where in note for note in notes)


def test_where_scores_decide_their_order_is_no_note() -> None:
    assert not any("rise" in note for note in scored([items(1, 2)], order="score").notes)


def test_repeats_are_dropped_before_the_cutoff_and_counted(tmp_path: Path) -> None:
    """Of x x x c one x is left, so that c is within the first two; y y is one more."""
    for path in (None, tmp_path):
        result = scored([["x", "x", "x", "c"], ["y", "y"], ["c"]], path)
        assert result["P@2"].mean == pytest.approx((0.5 + 0 + 0.5) / 3)
        assert any(note.startswith("3 retrieved items were dropped before the cutoff") for note in result.notes)
    assert not any("dropped" in note for note in scored([["x", "x", "c"]], duplicates="keep").notes)
    texts = [{"text": "a"}, {"text": "a"}, {"text": "c"}]
    notes = scored([texts], gold={"passages": ["c"]}, metric="recall(gold=passages)@2").notes
    assert len([note for note in notes if "dropped" in note]) <= 1


@dataclass
class Passage:
    body: str


def test_the_key_of_an_item_is_named() -> None:
    gold, metric = {"passages": ["c"]}, "recall(gold=passages)@2"
    (reason,) = next(iter(scored([[Passage("c")]], gold=gold, metric=metric).metrics.values())).reasons.values()
    assert "its text in item.body: give {'text': item.body} for each item" in reason
    (column,) = scored([[{"page_content": "c"}]], gold=gold, metric=metric).metrics.values()
    assert "its text in 'page_content': rename it in your data" in column.reasons[0]


@pytest.mark.parametrize(
    "text",
    [
        '[{"id": "q", "expected_output": ["a"]}]',
        '[\n{"id": "q"},\n{"id": "r"}\n]\n',
        json.dumps([{"id": f"q{number}", "expected_output": ["a"]} for number in range(60)], indent=1),
    ],
    ids=["a line", "a line for each", "more lines than are read at once"],
)
@pytest.mark.parametrize("name", ["s.jsonl", "s.ndjson"])
def test_an_array_in_a_file_of_lines_is_one_problem(text: str, name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(DataError) as caught:
        Engine().dataset(tmp_path / name).with_metrics(["P@2"]).run()
    (problem,) = caught.value.problems
    assert (problem.line, "the file is a JSON array" in problem.message) == (1, True)


def test_swapped_samples_and_outputs_are_suspected(tmp_path: Path) -> None:
    samples, outputs = tmp_path / "s.jsonl", tmp_path / "o.jsonl"
    samples.write_text("".join(f'{{"id": "q{n}", "expected_output": ["a"]}}\n' for n in range(3)))
    outputs.write_text("".join(f'{{"id": "q{n}", "actual_output": ["a"]}}\n' for n in range(3)))
    with pytest.raises(DataError, match="--data") as caught:
        Engine().dataset(outputs).with_metrics(["P@2"]).run(outputs=samples)
    assert len(caught.value.problems) == 1
    with pytest.raises(DataError, match="it goes with --outputs") as caught:
        Engine().dataset(outputs).with_metrics(["P@2"]).run()
    assert len(caught.value.problems) == 1


def test_a_missing_field_is_one_problem_however_many_lack_it() -> None:
    lacks = [Problem("the field is missing", "f", line, "id") for line in range(1, 4)]
    other = Problem("the field is missing", "f", 2, "expected_output")
    wrong = [Problem("an id must not be empty", "f", line, "id") for line in (7, 8)]
    found = once([lacks[0], other, *lacks[1:], *wrong])
    assert [(each.line, each.message) for each in found] == [
        (1, "the field is missing (so in 2 more)"),
        (2, "the field is missing"),
        (7, "an id must not be empty"),
        (8, "an id must not be empty"),
    ]
