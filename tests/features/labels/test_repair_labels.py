"""Repaired labels: every form of ground truth with the new places of what moved, and nothing else changed."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from rankgauge.features.labels.check_labels import check_labels
from rankgauge.features.labels.label_findings import GoldReport, LabelFinding
from rankgauge.features.labels.repair_labels import Repaired, change_lines, repair_labels
from rankgauge.io.corpus import Corpus
from rankgauge.samples import read_sample
from tables import rows

PUMP = "The pump costs 12 euros and weighs four kilograms."
BREAD = "Knead the dough for ten minutes, let it rest in a bowl under a wet towel, and bake it in a very hot oven."
CORPUS = Corpus(
    ("pump#1", "bread", "loaf"), ("", "", ""), (PUMP.replace("12", "15"), BREAD, BREAD.replace("wet", "damp"))
)


def repaired(expected: Any, **options: bool) -> Repaired:
    record = {"id": "q1", "expected_output": expected, "input": "?", "more": [1]}
    before = copy.deepcopy(record)
    sample = read_sample(record, problems=[])
    assert sample is not None
    done = repair_labels([record], check_labels([sample], CORPUS), CORPUS, **options)
    assert record == before  # nothing is changed in place
    (row,) = done.records
    assert {**row, "expected_output": None} == {**record, "expected_output": None}
    return done


@rows(
    ("expected", "now"),
    [
        (["pump", "bread"], ["pump#1", "bread"]),
        ({"pump": 2, "bread": 1}, {"pump#1": 2, "bread": 1}),
        ({"relevant": ["pump"], "answer": ["euros"]}, {"relevant": ["pump#1"], "answer": ["euros"]}),
        ([{"id": "pump", "gain": 2, "intent": "i"}], [{"id": "pump#1", "gain": 2, "intent": "i"}]),
        (["pump", "pump#1"], ["pump#1"]),
        (
            [{"id": "pump", "intent": "i"}, {"id": "pump", "intent": "j"}],
            [{"id": "pump#1", "intent": "i"}, {"id": "pump#1", "intent": "j"}],
        ),
        ({"pump": 1, "pump#1": 3}, {"pump#1": 3}),
        (
            {"relevant": ["pump", "bread"], "sets": [["pump", "bread"], {"any_of": [["pump"], "bread"]}]},
            {"relevant": ["pump#1", "bread"], "sets": [["pump#1", "bread"], {"any_of": [["pump#1"], "bread"]}]},
        ),
        ({"sets": {"all_of": ["pump"]}}, {"sets": {"all_of": ["pump#1"]}}),
    ],
)
def test_what_moved_gets_its_new_place_in_the_form_that_it_had(expected, now) -> None:
    done = repaired(expected)
    assert done.records[0]["expected_output"] == now
    (change,) = done.changes
    assert (change.was, change.now) == ("pump", ("pump#1",))


class TestSetsOfPassagesAndSpans:
    """The passage was about 12 euros before, and the span stood ten characters further to the left."""

    def test_a_passage_that_was_edited_is_another_one_in_sets_too(self) -> None:
        listed = repaired({"passages": [PUMP], "sets": [[PUMP], {"any_of": [[{"text": PUMP}]]}]}, edited=True)
        now = listed.records[0]["expected_output"]
        edited = PUMP.replace("12", "15")
        assert now == {"passages": [edited], "sets": [[edited], {"any_of": [[{"text": edited}]]}]}

    def test_a_passage_that_only_sets_have(self) -> None:
        held, pump = {"text": BREAD}, {"text": PUMP, "id": "p"}
        done = repaired({"sets": [[held, pump], [pump]]}, edited=True)
        now = {**pump, "text": PUMP.replace("12", "15")}
        assert done.records[0]["expected_output"] == {"sets": [[held, now], [now]]}
        assert len(done.changes) == 1

    @pytest.mark.parametrize("is_listed", [False, True])
    def test_a_span_moves_in_sets_too(self, is_listed: bool) -> None:
        at = BREAD.index("let it rest")
        span = {"document": "bread", "start": at - 10, "end": at + 5, "text": BREAD[at : at + 15]}
        moved = {**span, "start": at, "end": at + 15}
        before = {"sets": [[span, "bread[23:38]"]], "spans": [span]} if is_listed else {"sets": [[span], [span]]}
        now = {"sets": [[moved, f"bread[{at}:{at + 15}]"]], "spans": [moved]} if is_listed else {"sets": [[moved]] * 2}
        assert repaired(before).records[0]["expected_output"] == now


@pytest.mark.parametrize(
    ("forbidden", "now"),
    [
        (["pump", {"text": "salary"}], ["pump#1", {"text": "salary"}]),
        ({"id": "pump"}, [{"id": "pump#1"}]),
        ([{"metadata": {"tenant": "b"}}, {"id": "pump"}], [{"metadata": {"tenant": "b"}}, {"id": "pump#1"}]),
        (["deleted", "bread"], None),  # it may be gone, and what is there holds
    ],
)
def test_what_is_forbidden_is_followed_too(forbidden, now) -> None:
    done = repaired({"relevant": [], "forbidden": forbidden})
    assert done.records[0]["expected_output"]["forbidden"] == (forbidden if now is None else now)
    assert [change.finding.kind for change in done.changes] == ["forbidden"] * (now is not None)
    assert done.left == ()


def test_every_part_of_what_is_forbidden_is_forbidden() -> None:
    record = {"id": "q1", "expected_output": {"forbidden": ["pump"]}}
    corpus = Corpus(("pump#1", "pump#2"), ("", ""), ("The pump", "costs 12 euros"))
    sample = read_sample(record, problems=[])
    assert sample is not None
    done = repair_labels([record], check_labels([sample], corpus), corpus)
    assert done.records[0]["expected_output"] == {"forbidden": ["pump#1", "pump#2"]}


def test_a_near_duplicate_that_is_forbidden_is_no_twin() -> None:
    done = repaired({"relevant": ["bread"], "forbidden": ["loaf"]}, twins=True)
    assert (done.changes, done.left) == ((), ())


def test_twins_are_added_on_request_with_the_same_gain() -> None:
    assert repaired({"bread": 2}).records[0]["expected_output"] == {"bread": 2}
    assert [finding.status for finding in repaired({"bread": 2}).left] == ["twin"]
    done = repaired({"bread": 2}, twins=True)
    assert done.records[0]["expected_output"] == {"bread": 2, "loaf": 2}
    assert done.left == ()
    assert list(change_lines(done)) == [
        "q1, relevant: twin, loaf says the same, without a label",
        "    bread",
        "  + loaf",
        "",
        "1 change",
    ]


@pytest.mark.parametrize("form", [list, lambda texts: texts[0]])
def test_edited_texts_get_the_wording_of_the_corpus_on_request(form) -> None:
    gold = {"passages": form([PUMP])}
    assert repaired(gold).records[0]["expected_output"] == gold
    done = repaired(gold, edited=True)
    assert done.records[0]["expected_output"] == {"passages": form([PUMP.replace("12", "15")])}
    assert "[12 -> 15]" in "\n".join(change_lines(done))
    assert done.changes[0].was == PUMP


def test_what_is_gone_is_left_to_a_person() -> None:
    done = repaired(["cellar"], twins=True, edited=True)
    assert done.records[0]["expected_output"] == ["cellar"]
    assert list(change_lines(done)) == ["0 changes; left as they are: 1 gone"]


def test_a_span_gets_its_new_place() -> None:
    finding = LabelFinding(
        sample="q1", kind="spans", number=1, label="a[0:4]", status="moved", reason="", documents=("b",), place=(3, 7)
    )
    report = GoldReport(samples=1, documents=1, labels={}, valid={}, findings=(finding,))
    spans = [{"document": "z", "start": 0, "end": 1}, {"document": "a", "start": 0, "end": 4, "text": "abcd"}]
    done = repair_labels([{"id": "q1", "expected_output": {"spans": spans, "answer": "x"}}], report, CORPUS)
    now = done.records[0]["expected_output"]
    assert now == {"spans": [spans[0], {**spans[1], "document": "b", "start": 3, "end": 7}], "answer": "x"}


def test_the_id_of_an_edited_document_stays() -> None:
    record = {"id": "q1", "expected_output": ["pump#1"]}
    sample = read_sample(record, problems=[])
    assert sample is not None
    before = Corpus(("pump#1",), ("",), (PUMP,))
    report = check_labels([sample], CORPUS, before=before)
    assert [finding.status for finding in report.findings] == ["edited"]
    done = repair_labels([record], report, CORPUS, edited=True)
    assert (done.records[0], done.changes) == (record, ())
