"""Stages of a pipeline: how they are read, and that a stage is judged as an output that is nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from draws import draws, in_thorough_suite
from rankgauge import Engine
from rankgauge.errors import DataError, PlanError
from rankgauge.samples import Fault, read_output
from tables import rows

DENSE = {"name": "dense", "retrieved": ["a", "b"]}


def staged(*stages, **rest):
    return read_output({"stages": list(stages), **rest})


def test_the_last_stage_is_what_was_retrieved():
    output = staged(DENSE, {"name": "rerank", "retrieved": ["b"], "seconds": 0.5, "cost": 2}, answer="yes")
    assert (output.ids, output.answer) == (["b"], "yes")
    assert output.stages["rerank"].sources == ("dense",)
    assert (output.stages["rerank"].seconds, output.stages["rerank"].cost) == (0.5, 2.0)
    assert output.at("dense").ids == ["a", "b"]
    assert output.at("dense").answer == "yes"
    assert staged(DENSE, retrieved=["a", "b"]).ids == ["a", "b"]


def test_branches_say_where_they_come_from():
    sparse = {"name": "sparse", "retrieved": ["c"], "from": []}
    output = staged(DENSE, sparse, {"name": "fused", "retrieved": ["a"], "from": ["dense", "sparse"]})
    assert {name: stage.sources for name, stage in output.stages.items()} == {
        "dense": (),
        "sparse": (),
        "fused": ("dense", "sparse"),
    }
    assert staged(DENSE, sparse, {"name": "cut", "retrieved": [], "from": "dense"}).stages["cut"].sources == ("dense",)


@rows(
    ("output", "words"),
    [
        ({"stages": []}, "must be a list of"),
        ({"stages": "dense"}, "must be a list of"),
        ({"stages": ["dense"]}, "stages[0] must be an object"),
        ({"stages": [{"nam": "dense", "retrieved": []}]}, "stages[0] needs a 'name'; found the object {'nam'"),
        ({"stages": [{"name": " ", "retrieved": []}]}, "stages[0].name must be a text that is not empty"),
        ({"stages": [DENSE, DENSE]}, "stages[1].name is 'dense', as that of an earlier stage"),
        ({"stages": [{"name": "dense"}]}, "stages[0].retrieved must be a list, not null"),
        ({"stages": [{"name": "dense", "retrieved": [""]}]}, "stages[0].retrieved[0] is an empty id"),
        ({"stages": [DENSE, {"name": "x", "retrieved": [], "from": ["dens"]}]}, "no earlier stage (did you mean 'de"),
        ({"stages": [{**DENSE, "from": ["dense"]}]}, "stages[0].from names 'dense', which is no earlier stage"),
        ({"stages": [{**DENSE, "from": 3}]}, "stages[0].from must be a list of names"),
        ({"stages": [{**DENSE, "seconds": -1}]}, "stages[0].seconds must be a number of 0 or more, not the integer -1"),
        ({"stages": [{**DENSE, "cost": "2"}]}, "stages[0].cost must be a number of 0 or more, not the string '2'"),
        ({"stages": [DENSE], "retrieved": ["b"]}, "not what the last stage, 'dense', retrieved (at rank 1)"),
        ({"stages": [DENSE], "retrieved": ["a"]}, "'dense', retrieved (1 items and 2); leave 'retrieved' out"),
        ({"stages": [DENSE], "retrieved": "a"}, "must be a list"),
        ({"stages": [DENSE], "answer": 3.5}, "'answer' must be a string"),
    ],
)
def test_stages_that_cannot_be_read_fail_their_sample(output, words):
    fault = read_output(output)
    assert isinstance(fault, Fault)
    assert words in fault.reason


def test_a_broken_stage_harms_only_what_is_judged_there():
    broken = {"name": "dense", "retrieved": [{"score": 1}]}
    samples = [{"id": "q", "expected_output": ["b"], "actual_output": {"stages": [broken, {**DENSE, "name": "last"}]}}]
    evaluation = Engine().dataset(samples).with_metrics(["recall@5", "recall(stage=dense)@5"])
    scores = evaluation.with_profile(max_failed=1).run()
    assert scores["recall@5"].mean == 1.0
    assert scores["recall(stage=dense)@5"].reasons[0].startswith("stages[0].retrieved[0] needs an 'id' or a text")


def test_keys_that_nothing_reads_are_said():
    output = staged({**DENSE, "latency": 2})
    assert [(each.path, each.meant) for each in output.unread] == [("actual_output.stages[].latency", "seconds")]


RANKING = st.lists(st.sampled_from("abcdefg"), max_size=6)


@in_thorough_suite()
@settings(max_examples=draws(60))
@given(
    st.lists(st.tuples(RANKING, RANKING, st.dictionaries(st.sampled_from("abcdefg"), st.integers(0, 2))), min_size=1)
)
@pytest.mark.parametrize("policy", [{}, {"duplicates": "keep"}, {"exclude_self": True, "duplicates": "last"}])
def test_a_stage_is_judged_as_an_output_that_is_nothing_else(policy, drawn):
    if not any(gold for *_, gold in drawn):
        return
    metrics = ["recall@3", "ndcg@3", "AP", "bpref"]
    common = [{"id": f"q{at}", "expected_output": gold} for at, (*_, gold) in enumerate(drawn)]
    alone = [{**each, "actual_output": first} for each, (first, *_) in zip(common, drawn, strict=True)]
    told = [
        {**each, "actual_output": {"stages": [{"name": "a b", "retrieved": first}, {"name": "z", "retrieved": last}]}}
        for each, (first, last, _) in zip(common, drawn, strict=True)
    ]
    one = Engine().dataset(alone).with_metrics(metrics).with_profile(**policy).run()
    evaluation = Engine().dataset(told).with_metrics([{"metric": each, "stage": "a b", "as": each} for each in metrics])
    other = evaluation.with_profile(**policy).run()
    for each in metrics:
        assert other[each].values.tolist() == pytest.approx(one[each].values.tolist(), abs=0, nan_ok=True)
        assert other[each].info.fingerprint != one[each].info.fingerprint


def test_a_stage_that_no_output_has_is_an_error_with_those_there_are():
    samples = [{"id": "q", "expected_output": ["a"], "actual_output": {"stages": [DENSE]}}]
    with pytest.raises(DataError, match=r"no output has the stage 'dens'; the stages are dense \(did you mean 'dense'"):
        Engine().dataset(samples).with_metrics(["recall(stage=dens)@5"]).run()


@pytest.mark.parametrize("expression", ["EM(stage=dense)", "recall(stage=3)@5", "coverage(stage=dense)@5"])
def test_a_stage_where_there_is_none_is_refused(expression):
    samples = [{"id": "q", "expected_output": {"relevant": ["a"], "answer": "b"}, "actual_output": ["a"]}]
    with pytest.raises(PlanError, match="stage"):
        Engine().dataset(samples).with_metrics([expression]).plan()


def test_every_metric_of_an_evaluation_is_also_taken_at_stages():
    samples = [{"id": "q", "expected_output": {"relevant": ["b"], "answer": "b"}, "actual_output": {"stages": [
        DENSE, {"name": "last", "retrieved": ["b"]}], "answer": "b"}}]  # fmt: skip
    metrics = ["ndcg@1,2", {"metric": "recall", "k": 1, "as": "mine"}, "AP", "EM"]
    result = Engine().dataset(samples).with_metrics(metrics).with_stages(["dense"]).run()
    assert {name: column.mean for name, column in result.metrics.items()} == pytest.approx(
        {
            "ndcg@1": 1.0,
            "ndcg@2": 1.0,
            "mine": 1.0,
            "ap": 1.0,
            "em": 1.0,
            "ndcg(stage=dense)@1": 0.0,
            "ndcg(stage=dense)@2": 0.6309297535714575,
            "mine at dense": 0.0,
            "ap(stage=dense)": 0.5,
        }
    )
