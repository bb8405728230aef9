"""
Passages as objects: a text with a grade.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from rankgauge import Engine
from rankgauge.errors import DataError

FERRY = "The ferry to Bergen leaves from the old pier at nine."
TICKETS = "Tickets are sold on board, for cash only, by the mate."
BICYCLES = "Bicycles travel free of charge on all days but Sunday."


def sample(*passages: object, texts: tuple[str, ...] = (TICKETS, BICYCLES, FERRY)) -> dict[str, object]:
    retrieved = [{"text": text} for text in texts]
    return {"id": "q", "expected_output": {"passages": list(passages)}, "actual_output": {"retrieved": retrieved}}


def scores(data: object, *metrics: str) -> list[float | None]:
    return [column.mean for column in Engine().dataset(data).with_metrics([*metrics]).run().metrics.values()]


def test_a_grade_is_a_gain_and_grade_zero_is_judged_and_not_relevant(tmp_path: Path) -> None:
    graded = sample({"text": FERRY, "grade": 2}, {"text": TICKETS, "grade": 0, "id": "t"}, BICYCLES, {"text": FERRY})
    dcg = 1 / math.log2(3) + 2 / math.log2(4)
    expected = [1 / 2, 2 / 3, dcg, dcg / (2 + 1 / math.log2(3))]  # equal texts are one, with the highest grade
    metrics = ("recall@2", "P@3", "dcg@3", "ndcg@3")
    assert scores([graded], *metrics) == pytest.approx(expected)
    (tmp_path / "data.jsonl").write_text(json.dumps(graded) + "\n", encoding="utf-8")
    assert scores(tmp_path / "data.jsonl", *metrics) == pytest.approx(expected)


def test_objects_without_grades_are_texts() -> None:
    plain, objects = sample(FERRY, BICYCLES), sample({"text": FERRY}, {"text": BICYCLES, "id": 7})
    assert scores([plain], "ndcg@3", "recall@2") == scores([objects], "ndcg@3", "recall@2")


@pytest.mark.parametrize(
    ("passage", "place", "problem"),
    [
        ({"txt": FERRY}, "[0]", "a passage is a text, or an object with a 'text'"),
        ({"text": 5}, "[0].text", "expected a string"),
        ({"text": " "}, "[0].text", "the text is blank"),
        ({"text": FERRY, "grade": "high"}, "[0].grade", ""),
        ({"text": FERRY, "id": ""}, "[0].id", "must not be empty"),
    ],
)
def test_what_is_no_passage_is_a_problem_with_its_place(passage: object, place: str, problem: str) -> None:
    with pytest.raises(DataError) as raised:
        scores([sample(passage)], "recall@2")
    assert f"passages{place}" in str(raised.value)
    assert problem in str(raised.value)
