"""What the unit of an id is, how metadata say it, what is refused, and what is said where ids name parts."""

import json

import pytest

from rankgauge import Engine, evaluate
from rankgauge.errors import PlanError
from rankgauge.judging.units import PARTS, unit_rule
from tables import rows


@rows(
    ("unit", "name", "expected"),
    [
        ("document", "doc7#3", "doc7"),
        ("document", "doc7#p2#3", "doc7"),
        ("document", "http://a.b/c#intro", "http://a.b/c"),
        ("document", "doc7:3", "doc7"),
        ("document", "doc7_chunk_3", "doc7"),
        ("document", "doc7-Passage-12", "doc7"),
        ("document", "doc7.p3", "doc7"),
        ("document", "doc7", "doc7"),
        ("document", "#3", "#3"),
        ("document", "MED-10", "MED-10"),
        ("document", "MED-10#2", "MED-10"),
        ("document", "2020.acl-main.5", "2020.acl-main.5"),
        ("document", "line\nend#1", "line\nend"),
        (r"^(\w+)/", "kb/12", "kb"),
        (r"^(\w+)/", "12", "12"),
        (r"^[^/]+", "kb/12", "kb"),
        (r"^(x)?", "kb", "kb"),
        (r"x*", "kb", "kb"),
    ],
)
def test_the_unit_of_an_id(unit, name, expected):
    assert unit_rule(unit).of_id(name) == expected


@pytest.mark.parametrize(
    ("metric", "reason"),
    [
        ("recall(unit=doc)@5", "a unit is document, a field such as metadata.session, or a regular expression"),
        ('recall(unit="(")@5', "missing )"),
        ("recall(unit=3)@5", "the unit of 'recall(unit=3)@5' is a text, not 3"),
        ("recall(unit=document, matcher=chunk)@5", "unit is for judging by id"),
        ("recall(unit=document, gold=passages)@5", "unit is for judging by id"),
        ("containment(unit=document)@5", "unit is for judging by id"),
    ],
)
def test_what_is_no_unit_is_refused_before_anything_is_read(metric, reason):
    with pytest.raises(PlanError, match="cannot be planned") as error:
        Engine().dataset([]).with_metrics(metric).plan()
    assert reason in str(error.value)


def test_a_run_has_no_metadata():
    with pytest.raises(PlanError, match="needs the metadata of items, and a run has only ids and scores"):
        evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "recall(unit=metadata.session)@5")


SESSIONS = [
    {
        "id": "q1",
        "expected_output": {"relevant": [{"id": "t9", "gain": 2, "metadata": {"session": "s1"}}, "s2", "t7"]},
        "actual_output": {
            "retrieved": [
                {"id": "t1", "metadata": {"session": "s3"}},
                {"id": "t2", "metadata": {"session": "s3"}},
                {"id": "t3", "metadata": {"session": "s1"}},
                {"id": "t7", "metadata": {"session": "s4"}},
                {"id": "t5", "metadata": {"session": 5, "other": [1]}},
                {"text": "without an id", "metadata": {"session": "s2"}},
                {"id": "t8"},
            ]
        },
    }
]


@pytest.mark.parametrize("road", ["memory", "JSONL", "workers", "score", "strings"])
def test_turns_are_rolled_up_to_the_sessions_that_metadata_state(tmp_path, road):
    """By hand: retrieved s3, s1, s4, 5, s2, t8; relevant s1 (2), s2, and s4, which is what the output says of t7."""
    metrics = ["recall(unit=metadata.session)@2", "recall(unit=metadata.session)@5", "ndcg(unit=metadata.session)@6"]
    by_hand = [
        {
            "id": "q1",
            "expected_output": {"relevant": {"s1": 2, "s2": 1, "s4": 1}},
            "actual_output": ["s3", "s1", "s4", "5", "s2", "t8"],
        }
    ]
    expected = Engine().dataset(by_hand).with_metrics(["recall@2", "recall@5", "ndcg@6"]).run()
    assert [expected[name].mean for name in ("recall@2", "recall@5")] == [1 / 3, 1.0]
    samples = SESSIONS
    if road == "strings":
        samples = [{**SESSIONS[0], "actual_output": json.dumps(SESSIONS[0]["actual_output"])}]
    path = tmp_path / "samples.jsonl"
    path.write_text("".join(json.dumps(sample) + "\n" for sample in samples), "utf-8")
    evaluation = Engine().dataset(path if road in {"JSONL", "workers"} else samples).with_metrics(metrics)
    if road == "score":
        values = [score.value for score in evaluation.score(samples[0]).values()]
    else:
        result = evaluation.run(workers=2) if road == "workers" else evaluation.run()
        values = [column.mean for column in result.metrics.values()]
        assert not result.notes
    assert values == [column.mean for column in expected.metrics.values()]


def test_an_explanation_takes_away_a_unit_whole_and_adds_a_missing_one():
    """Retrieved a, b (twice), with b and c relevant: without a b is first; c on top is found as c."""
    sample = {
        "id": "q",
        "expected_output": {"relevant": ["b#9", "c#1"]},
        "actual_output": ["a#1", "a#2", "b#1", "b#2", "x"],
    }
    result = Engine().dataset([sample]).with_metrics("RR(unit=document)").run()
    explanation = result.explain("q")
    ranks = [(fact.rank, fact.id, fact.grade) for fact in explanation.ranks]
    assert ranks == [
        (1, "a", None),
        (2, "b", 1),
        (3, "x", None),
    ]
    assert {trial.id: trial.score for trial in explanation.without} == {"a": 1.0, "b": 0.0, "x": 0.5}
    assert {trial.id: trial.score for trial in explanation.with_missing_on_top} == {"c": 1.0}


def test_scores_of_different_units_are_not_taken_for_each_other():
    sample = {"id": "q", "expected_output": ["a"], "actual_output": ["a#1"]}
    columns = [
        Engine().dataset([sample]).with_metrics([{"metric": "recall", "k": 5, "as": "found", **unit}]).plan().metrics[0]
        for unit in ({}, {"unit": "document"}, {"unit": "^(.+)#"}, {"unit": "metadata.a"})
    ]
    assert len({column.fingerprint for column in columns}) == len(columns)
    assert {column.name for column in columns} == {"found"}


def chunks(form):
    """Return samples whose gold names documents, and whose output names parts of these."""
    return [
        {
            "id": f"q{number}",
            "expected_output": [f"doc{number}"],
            "actual_output": [form.format(f"doc{number + 1}", 1), form.format(f"doc{number}", 2)],
        }
        for number in range(10)
    ]


@pytest.mark.parametrize(("form", "part"), [("{}#{}", PARTS[0]), ("{}_{}", PARTS[1])])
@pytest.mark.parametrize("road", ["memory", "one by one", "JSONL", "workers", "check"])
def test_ids_that_are_parts_of_documents_are_pointed_out_with_the_option(tmp_path, form, part, road):
    path = tmp_path / "samples.jsonl"
    path.write_text("".join(json.dumps(sample) + "\n" for sample in chunks(form)), "utf-8")
    evaluation = Engine().dataset(path if road in {"JSONL", "workers", "check"} else chunks(form))
    evaluation = evaluation.with_metrics("recall@5")
    how = {"workers": {"workers": 2}, "one by one": {"batch_size": 1}}.get(road, {})
    notes = evaluation.check(require_gold=False).notes if road == "check" else evaluation.run(**how).notes
    (note,) = (note for note in notes if note.startswith("no retrieved id is ever a relevant id"))
    assert note.endswith(f"would meet in 10 of 10 samples: chunks of gold documents? {part.option} {part.says}")
    advised = Engine().dataset(chunks(form)).with_metrics(f"recall({part.option})@5").run()
    assert next(iter(advised.metrics.values())).mean == 1.0
    assert not advised.notes


def test_nothing_is_said_where_ids_have_nothing_to_do_with_each_other():
    samples = [{"id": "q", "expected_output": ["a"], "actual_output": ["b#1", "c"]}]
    (note,) = Engine().dataset(samples).with_metrics("recall@5").run().notes
    assert "parts" not in note
