"""What some samples show that decides about all of them: each part says it, and all say it together."""

import json

import pytest

from rankgauge import Catalog, Engine
from rankgauge.errors import DataError, MissingGoldError
from rankgauge.judging import Target
from rankgauge.judging.text_doubts import Doubts, _Look
from rankgauge.samples import read_sample
from rankgauge.scoring.sighting import Sighting
from tables import rows

ENGINE = Engine(catalog=Catalog.discover(own_only=True))
ONE, TWO = Target("relevant"), Target("passages", matcher="passage")


@rows(
    ("one", "other", "both"),
    [
        ({"targets": {ONE}}, {"targets": {TWO}}, {"targets": {ONE, TWO}}),
        ({"met": frozenset({None})}, {"met": frozenset({"document"})}, {"met": {None, "document"}}),
        ({"looks": {None: ("a", "b")}}, {"looks": {None: ("c", "d")}}, {"looks": {None: ("a", "b")}}),
        ({}, {"looks": {None: ("c", "d")}}, {"looks": {None: ("c", "d")}}),
        ({"parts": ((True,),)}, {"parts": ((False,),)}, {"parts": ((True,), (False,))}),
        ({"refused": True}, {}, {"refused": True}),
        ({}, {"refused": True}, {"refused": True}),
        ({"keys": frozenset({"answer"})}, {"keys": frozenset({"support"})}, {"keys": {"answer", "support"}}),
        ({"keys": frozenset()}, {}, {"keys": frozenset()}),
        ({}, {"keys": frozenset({"support"})}, {"keys": {"support"}}),
        ({"is_filled": True}, {}, {"is_filled": True}),
        ({"stages": frozenset({"first"})}, {"stages": frozenset({"last"})}, {"stages": {"first", "last"}}),
        (
            {"remarks": frozenset({("a", "q")})},
            {"remarks": frozenset({("b", "q")})},
            {"remarks": {("a", "q"), ("b", "q")}},
        ),
        ({"rising": "here"}, {"rising": "there"}, {"rising": "here"}),
        ({}, {"rising": "there"}, {"rising": "there"}),
    ],
)
def test_parts_say_together_what_one_of_them_says(one, other, both):
    for facts in (one, other):
        if "targets" in facts:
            facts["targets"] = frozenset(facts["targets"])
    found = Sighting(**one) | Sighting(**other)
    usual = Sighting()
    for name in Sighting.__slots__:
        assert getattr(found, name) == both.get(name, getattr(usual, name)), name


def test_a_rise_of_scores_is_told_with_its_ranks():
    retrieved = [{"id": name, "score": score} for name, score in (("a", 4), ("b", 3), ("c", 5))]
    falling = {"id": "p", "expected_output": ["a"], "actual_output": retrieved[:2]}
    samples = [falling, {"id": "q", "expected_output": ["a"], "actual_output": retrieved}]
    (note,) = ENGINE.dataset(samples).with_metrics(["hit@1"]).run().notes
    assert note.startswith("scores rise along a ranking (sample 'q': 3 at rank 2, 5 at rank 3)")
    assert ENGINE.dataset(samples).with_metrics(["hit@1"]).with_profile(order="score").run().notes == ()


def test_an_option_without_effect_is_told():
    samples = [{"id": "q", "expected_output": ["a"], "actual_output": ["a"]}]
    chosen = ENGINE.dataset(samples).with_metrics(["hit@1"])
    (note,) = chosen.with_profile(ties="error", order="given").run().notes
    assert note.startswith("policy ties=error has no effect with order=given")
    assert chosen.run().notes == ()


def test_nobody_looked_at_texts_that_nobody_doubts():
    assert Sighting().looked(TWO) == 0
    assert Sighting().looked(ONE) == 0
    assert Sighting(parts=((True,), (False,))).looked(ONE) == 2
    assert Sighting(met=frozenset({None})).looked(ONE) == 300  # enough: an id that is met settles it


def test_further_batches_look_at_as_many_texts_fewer():
    look = _Look(
        gold=1, found=1, within=0, around=0, by_passage=0, by_document=0, gold_size=5, retrieved=1, retrieved_size=9
    )
    assert Sighting(doubts={TWO: Doubts((look,) * 3)}).looked(TWO) == 3
    assert Sighting(doubts={TWO: Doubts((look._replace(retrieved_size=1 << 22),))}).looked(TWO) == 100  # enough


def test_texts_that_are_found_do_not_excuse_ids_that_never_meet():
    expected = {"relevant": ["doc-1"], "answer": "Bern"}
    sample = {"id": "q", "expected_output": expected, "actual_output": [{"id": "1", "text": "Bern it is"}]}
    chosen = ENGINE.dataset([sample]).with_metrics(["hit@1", "containment@1"])
    assert any(note.startswith("no retrieved id is ever a relevant id") for note in chosen.run().notes)


def test_nothing_is_seen_where_nothing_was_looked_at():
    nothing = Sighting()
    assert (set(nothing.met), nothing.refused, nothing.is_filled) == (set(), False, False)


def test_one_output_with_an_answer_is_enough():
    gold = {"answer": "x"}
    outputs = [{"answer": "x"}, ["a"]]
    samples = [{"id": f"q{n}", "expected_output": gold, "actual_output": each} for n, each in enumerate(outputs)]
    (made,) = ENGINE.dataset(samples).with_metrics(["answer-exact-match"]).run().metrics.values()
    assert made.values[0] == 1


def test_one_ranking_with_an_item_is_enough(tmp_path):
    lines = (json.dumps({"id": f"q{n}", "expected_output": ["a"], "actual_output": ["a"] * n}) for n in range(2))
    (tmp_path / "data.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    assert ENGINE.dataset(str(tmp_path / "data.jsonl")).with_metrics(["hit@1"]).run().notes == ()


def test_rankings_that_are_all_empty_are_noted_unless_there_is_one():
    samples = [{"id": f"q{n}", "expected_output": ["a"], "actual_output": []} for n in range(2)]
    for n, notes in ((2, ["every ranking is empty, so nothing was retrieved for any sample"]), (1, [])):
        assert list(ENGINE.dataset(samples[:n]).with_metrics(["hit@1"]).run().notes) == notes


def test_ground_truth_that_can_be_used_is_missed_where_faults_fail_their_pair():
    """Only ground truth that was refused excuses its absence."""
    samples = [{"id": "q", "expected_output": {"answer": "x"}, "actual_output": ["a"]}]
    evaluation = ENGINE.dataset(samples).with_metrics(["hit@1"]).with_profile("eval-harness")
    with pytest.raises(MissingGoldError, match="1 of 1 metrics cannot score any sample"):
        evaluation.run()


def test_a_key_is_missed_for_metrics_whose_ground_truth_is_there():
    plan = ENGINE.dataset([]).with_metrics(["answer-exact-match"]).plan()
    (target,) = plan.metrics[0].targets
    Sighting(keys=frozenset({"retrieved"})).check_keys(plan.metrics)
    with pytest.raises(DataError, match="1 of 1 metrics judge a key that no output has"):
        Sighting(keys=frozenset({"retrieved"}), targets=frozenset({target})).check_keys(plan.metrics)


def read(output):
    return read_sample({"id": "q", "expected_output": ["a"], "actual_output": output}, problems=[])


def test_a_key_is_there_where_one_output_has_it():
    answer, ranked = read({"answer": "x"}), read(["a"])
    supported = read({"retrieved": ["a"], "support": {"n1": "support"}})
    assert Sighting.of([ranked]).keys == {"retrieved"}
    assert Sighting.of([answer, ranked]).keys == {"answer", "retrieved"}
    assert Sighting.of([ranked, supported]).keys == {"retrieved", "support"}
    assert Sighting.of([read({"results": ["a"]})]).keys == set()
    assert Sighting.of([read(None)]).keys is None


def test_answers_are_no_empty_rankings():
    samples = [{"id": f"q{n}", "expected_output": {"answer": "x"}, "actual_output": {"answer": "x"}} for n in range(2)]
    assert ENGINE.dataset(samples).with_metrics(["EM"]).run().notes == ()


def test_a_metric_without_ground_truth_misses_what_it_measures():
    samples = [{"id": "q", "expected_output": {"answer": "x"}, "actual_output": {"answer": "x"}}]
    with pytest.raises(DataError, match="judge a key that no output has"):
        ENGINE.dataset(samples).with_metrics(["search_count"]).run()


def test_a_stage_is_missed_where_no_output_has_any():
    samples = [{"id": "q", "expected_output": ["a"], "actual_output": ["a"]}]
    with pytest.raises(DataError, match="no output has the stage 'dense'; none has 'stages'"):
        ENGINE.dataset(samples).with_metrics(["recall(stage=dense)@1"]).run()


def test_sets_whose_ids_never_meet_are_told_and_those_that_stay_incomplete_are_not():
    for retrieved, is_told in ((["x"], True), (["a"], False)):
        expected = {"relevant": ["a", "b"], "sets": [{"all_of": ["a", "b"]}]}
        samples = [{"id": f"q{n}", "expected_output": expected, "actual_output": retrieved} for n in range(2)]
        result = ENGINE.dataset(samples).with_metrics(["complete_sets@2"]).run(batch_size=1)
        assert any("no retrieved id is ever a relevant id" in note for note in result.notes) == is_told


class TestRemarks:
    """What a system says of its own answers, under `remarks`, is counted and shown."""

    def notes(self, *outputs):
        samples = [
            {"id": f"q{number}", "expected_output": ["a"], "actual_output": output}
            for number, output in enumerate(outputs, 1)
        ]
        return ENGINE.dataset(samples).with_metrics(["hit@1"]).run().notes

    def test_samples_with_the_same_remark_are_counted(self):
        tie, short = "the ranking ends inside a tie", "there are more documents"
        outputs = [{"retrieved": ["a"], "remarks": [tie]} for _ in range(4)]
        outputs[2]["remarks"] = [short, tie]
        assert self.notes(*outputs, ["a"], {"retrieved": ["b"], "remarks": []}) == (
            f"the system says of 4 samples (q1, q2, q3, ...): {tie}",
            f"the system says of 1 sample (q3): {short}",
        )

    def test_many_different_ones_are_cut(self):
        notes = self.notes(*({"retrieved": ["a"], "remarks": [f"took {number} tries"]} for number in range(9)))
        assert len(notes) == 6
        assert notes[-1] == "the system has 4 other remarks, under `remarks` in its outputs"

    def test_those_of_a_pipeline_count(self):
        staged = {"stages": [{"name": "dense", "retrieved": ["a"]}], "remarks": ["dense: short"]}
        assert self.notes(staged, ["a"]) == ("the system says of 1 sample (q1): dense: short",)

    @pytest.mark.parametrize("remarks", ["text", [3], {"a": "b"}])
    def test_what_is_no_list_of_texts_fails_the_sample(self, remarks):
        notes = self.notes({"retrieved": ["a"], "remarks": remarks}, ["a"])
        assert any("'remarks' must be a list of texts" in note for note in notes)

    def test_lines_of_a_file_say_the_same(self, tmp_path):
        path = tmp_path / "s.jsonl"
        lines = [
            {"id": "q1", "expected_output": ["a"], "actual_output": {"retrieved": ["a"], "remarks": ["late"]}},
            {"id": "q2", "expected_output": ["a"], "actual_output": {"retrieved": ["a"]}},
        ]
        path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
        assert ENGINE.dataset(path).with_metrics(["hit@1"]).run().notes == ("the system says of 1 sample (q1): late",)
        (tmp_path / "o.jsonl").write_text(
            "".join(f"{json.dumps({key: line[key] for key in ('id', 'actual_output')})}\n" for line in lines)
        )
        plain = [{key: line[key] for key in ("id", "expected_output")} for line in lines]
        path.write_text("".join(f"{json.dumps(line)}\n" for line in plain), encoding="utf-8")
        result = ENGINE.dataset(path).with_metrics(["hit@1"]).run(outputs=tmp_path / "o.jsonl")
        assert result.notes == ("the system says of 1 sample (q1): late",)
