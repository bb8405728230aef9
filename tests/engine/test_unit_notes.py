"""Remarks on ids that never meet look at ids as metrics do: rolled up to their units."""

import json

import pytest

from rankgauge import Engine, evaluate

QRELS = {"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 1}}
CHUNKS = {"q1": {"d1#3": 2.0, "d2#1": 1.0}, "q2": {"d3#1": 1.0}}
OF_UNIT, AS_IT_IS = "P(unit=document)@1", "P@1"
NEVER, PARTLY = "no retrieved document is judged, so nothing", "no retrieved document is judged as it is"


@pytest.fixture(params=["dictionaries", "TREC"])
def files(request, tmp_path):
    if request.param == "dictionaries":
        return QRELS, CHUNKS
    qrels = "".join(f"{query} 0 {name} {grade}\n" for query, judged in QRELS.items() for name, grade in judged.items())
    run = "".join(
        f"{query} Q0 {name} 1 {score} t\n" for query, found in CHUNKS.items() for name, score in found.items()
    )
    (tmp_path / "qrels.txt").write_text(qrels)
    (tmp_path / "run.txt").write_text(run)
    return tmp_path / "qrels.txt", tmp_path / "run.txt"


@pytest.mark.parametrize("profile", ["trec9", "trec10", "default"])
class TestRuns:
    def test_units_that_meet_are_no_reason_for_a_remark(self, files, profile):
        result = evaluate(*files, OF_UNIT, profile=profile)
        assert result[OF_UNIT].mean == 0.5
        assert not any("is judged" in note for note in result.notes)

    def test_ids_as_they_are_keep_theirs(self, files, profile):
        assert any(NEVER in note for note in evaluate(*files, AS_IT_IS, profile=profile).notes)

    def test_of_both_the_one_that_does_not_meet_is_said(self, files, profile):
        notes = evaluate(*files, [OF_UNIT, AS_IT_IS], profile=profile).notes
        assert [PARTLY in note for note in notes if "is judged" in note] == [True]
        notes = evaluate(*files, [AS_IT_IS, "P(unit='^(.+)@')@1", OF_UNIT], profile=profile).notes
        assert sum("is judged by unit=^(.+)@, so its metrics count nothing" in note for note in notes) == 1

    def test_where_no_unit_meets_it_is_said_once(self, files, profile):
        notes = evaluate({"q1": {"other": 1}}, files[1], [OF_UNIT, AS_IT_IS], profile=profile).notes
        assert sum("is judged" in note for note in notes) == sum(NEVER in note for note in notes) == 1


class TestSamples:
    SAMPLES = tuple(
        {"id": query, "expected_output": {"relevant": QRELS[query]}, "actual_output": [{"id": name} for name in found]}
        for query, found in CHUNKS.items()
    )

    @pytest.fixture(params=["memory", "JSONL"])
    def notes(self, request, tmp_path):
        (tmp_path / "s.jsonl").write_text("".join(f"{json.dumps(sample)}\n" for sample in self.SAMPLES))
        data = list(self.SAMPLES) if request.param == "memory" else tmp_path / "s.jsonl"
        return lambda *metrics: Engine().dataset(data).with_metrics(metrics).run().notes

    def test_units_that_meet_are_no_reason_for_a_remark(self, notes):
        assert notes(OF_UNIT) == ()

    def test_of_both_the_one_that_does_not_meet_is_said(self, notes):
        assert "every score by id is 0; do both" in notes(AS_IT_IS)[0]
        (note,) = notes(OF_UNIT, AS_IT_IS)
        assert "every score by id without a unit is 0" in note
        (note,) = notes(OF_UNIT, "P(unit='^(.+)@')@1")
        assert "every score of unit=^(.+)@ is 0" in note
