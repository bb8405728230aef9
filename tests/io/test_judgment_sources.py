"""Who gave judgments: what results say of it, and what gates make of a model's."""

import json

import pytest

import rankgauge
from rankgauge.errors import DataError
from rankgauge.io.judgment_sources import sources_of

RUN = {"q1": {"d1": 2.0, "d2": 1.0}, "q2": {"d1": 1.0}}
ROWS = [
    {"query": "q1", "document": "d1", "grade": 1, "judge": "model:house", "rubric": "b2"},
    {"query": "q1", "document": "d2", "grade": 0, "judge": "Model:house", "rubric": "a1"},
    {"query": "q2", "document": "d1", "grade": 1, "judge": "ada", "when": "2026-01-01T00:00:00Z"},
]


@pytest.fixture
def qrels(tmp_path):
    """Return a function that writes judgments, with a side file of some rows or texts."""

    def write(rows=ROWS):
        (tmp_path / "qrels").write_text("q1 0 d1 1\nq1 0 d2 0\nq2 0 d1 1\nq2 0 d9 0\n")
        lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
        (tmp_path / "qrels.provenance.jsonl").write_text("\n".join(lines))
        return tmp_path / "qrels"

    return write


def test_results_say_who_judged(qrels, tmp_path):
    result = rankgauge.evaluate(qrels(), RUN, "P@1")
    note = "4 judgments: 1 by Model:house (rubric a1), 1 by ada, 1 by model:house (rubric b2), 1 without a name"
    assert note in result.notes
    assert result.manifest["judged_by"] == {
        "judgments": 4,
        "judges": {"Model:house": 1, "ada": 1, "model:house": 1},
        "rubrics": {"Model:house": ["a1"], "model:house": ["b2"]},
    }
    result.save(tmp_path / "saved")
    assert note in rankgauge.Result.load(tmp_path / "saved").notes


def test_people_alone_are_no_note(qrels):
    result = rankgauge.evaluate(qrels(ROWS[2:]), RUN, "P@1")
    assert not any("judgments:" in note for note in result.notes)
    assert result.manifest["judged_by"]["judges"] == {"ada": 1}


@pytest.mark.parametrize("row", ["no json", "[1]", '{"judge": "x"}', "[" * 100_000, '"text"'])
def test_a_side_file_that_cannot_be_read_is_told_with_its_line(qrels, row):
    """A gate on a model's judgments would pass, were it taken for one that is not there."""
    with pytest.raises(DataError, match=rf"(?s)who judged .* cannot be read.*jsonl:{len(ROWS) + 1}: it is no line of"):
        sources_of(str(qrels([*ROWS, row])), 4)


def test_judgments_in_memory_or_without_a_side_file_have_no_sources(tmp_path):
    (tmp_path / "qrels").write_text("q1 0 d1 1\n")
    assert sources_of(str(tmp_path / "qrels"), 1) is None
    assert sources_of("", 1) is None
    assert "judged_by" not in rankgauge.evaluate({"q1": {"d1": 1}}, RUN, "P@1").manifest


def test_a_document_that_was_judged_again_counts_once(qrels):
    found = sources_of(str(qrels([ROWS[0], ROWS[0] | {"judge": "ada"}])), 4)
    assert found is not None
    assert (found.judges, found.by_models) == ({"ada": 1}, 0)


def test_gates_refuse_what_a_model_judged(qrels):
    result = rankgauge.evaluate(qrels(), RUN, "P@1")
    (outcome,) = result.gate("P@1 >= 0.1").outcomes
    assert outcome.verdict == "error"
    assert outcome.reason.startswith("2 of 4 judgments are by Model:house, model:house, which no person has confirmed;")
    (change,) = result.gate("P@1 max_drop 0.1", baseline=result).outcomes
    assert change.verdict == "error"


@pytest.mark.parametrize("rows", [ROWS, ROWS[2:]])
def test_gates_take_what_was_allowed_and_what_people_judged(qrels, rows):
    policy = {"unverified_judges": "allow"} if rows == ROWS else {}
    result = rankgauge.evaluate(qrels(rows), RUN, "P@1", policy=policy)
    assert result.gate("P@1 >= 0.1").exit_code == 0


def test_the_option_changes_no_number_and_no_definition(qrels):
    refused = rankgauge.evaluate(qrels(), RUN, "P@1")
    allowed = rankgauge.evaluate(qrels(), RUN, "P@1", policy={"unverified_judges": "allow"})
    assert refused["P@1"].mean == allowed["P@1"].mean
    assert refused["P@1"].info.fingerprint == allowed["P@1"].info.fingerprint


def test_judging_keeps_when_and_by_which_rubric(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    from rankgauge.cli import call

    header = {"schema_version": "rankgauge.queue.v1", "judgments": None, "grades": [0, 1], "guideline": ""}
    row = {
        "query": "q1",
        "document": "d1",
        "grade": 1,
        "judge": "model:house",
        "rubric": "a1",
        "when": "now",
        "votes": [1],
    }
    (tmp_path / "filled").write_text(f"{json.dumps(header)}\n{json.dumps(row)}\n")
    assert call(["judge", "read", "filled", "--with-models", "-o", "new.qrels"]) == 0
    told = json.loads((tmp_path / "new.qrels.provenance.jsonl").read_text())
    del row["votes"]
    assert told == row
