"""Outputs as ``{id: score}``, and files of them as ``{query: {id: score}}``: what pytrec_eval and BEIR hold as runs."""

import json
import random

import numpy as np
import pytest

from rankgauge import Engine, evaluate
from rankgauge.policy import PROFILES
from rankgauge.samples import Fault, Output, read_output

RUN = {"q1": {"d1": 0.2, "d2": 0.9}, "q2": {"d9": 1, "d3": 2.5}}
GOLD = [{"id": f"q{n}", "expected_output": {"relevant": [gold]}} for n, gold in ((1, "d2"), (2, "d9"))]


def ranks_of(outputs, data=GOLD, **policy):
    evaluation = Engine().dataset(data).with_metrics("RR")
    return (evaluation.with_profile(**policy) if policy else evaluation).run(outputs=outputs)["RR"].values.tolist()


class TestOneOutput:
    def test_scores_by_id_are_a_ranking_by_descending_score_and_id(self):
        assert Output(["b", "a", "c"], None, [0.5, 0.5, 0.1]) == read_output({"a": 0.5, "c": 0.1, "b": 0.5})
        assert ["7", "8"] == list(read_output({7: np.float32(2), 8: 1}).ids)

    @pytest.mark.parametrize("key", ["seconds", "cost", "latency", "answer"])
    def test_what_an_output_has_otherwise_is_no_id(self, key):
        assert isinstance(read_output({key: 1.5}), Fault)

    def test_a_value_that_is_no_number_is_named(self):
        fault = read_output({"d1": 0.5, "d2": "0.2"})
        assert (
            "of a ranking as {id: score} every value is a number, and that of 'd2' is the string '0.2'" in fault.reason
        )
        assert "every value" not in read_output({"d1": "0.2"}).reason

    def test_a_profile_that_takes_what_another_tool_takes_is_as_strict_as_that(self):
        assert isinstance(read_output({"d1": 0.5}, contract=PROFILES["eval-harness"].contract), Fault)


class TestFiles:
    @pytest.mark.parametrize("form", ["run.json", "indented.json", "run.jsonl", "run.yaml", "wrapped.json"])
    def test_a_file_of_them_is_a_run(self, form, tmp_path):
        value = {"outputs": RUN} if form == "wrapped.json" else RUN
        (tmp_path / form).write_text(json.dumps(value, indent=1 if form == "indented.json" else None))
        assert ranks_of(tmp_path / form) == [1.0, 0.5]

    def test_they_may_come_from_python_from_a_sample_and_from_a_system(self):
        assert ranks_of(RUN) == [1.0, 0.5]
        assert ranks_of(None, [{**sample, "actual_output": RUN[sample["id"]]} for sample in GOLD]) == [1.0, 0.5]
        called = Engine().dataset([{**GOLD[0], "input": "x"}]).with_metrics("RR").run(sut=lambda _: RUN["q1"])
        assert called["RR"].mean == 1.0

    def test_an_empty_one_retrieved_nothing_and_did_not_fail(self, tmp_path):
        (tmp_path / "run.json").write_text(json.dumps({**RUN, "q2": {}}))
        for outputs in (tmp_path / "run.json", {**RUN, "q2": {}}):
            result = Engine().dataset(GOLD).with_metrics("RR").run(outputs=outputs)
            assert (result["RR"].values.tolist(), result["RR"].n_failed) == ([1.0, 0.0], 0)

    def test_a_score_that_is_no_number_fails_its_sample(self, tmp_path):
        (tmp_path / "run.json").write_text(json.dumps({**RUN, "q2": {"d9": float("nan")}}))
        result = Engine().dataset(GOLD).with_metrics("RR").run(outputs=tmp_path / "run.json")
        assert (result["RR"].values.tolist(), result["RR"].n_failed) == ([1.0, 0.0], 1)

    @pytest.mark.parametrize("policy", [{}, {"order": "score"}, {"order": "score", "ties": "average"}])
    def test_they_have_the_numbers_of_the_same_run(self, policy):
        drawn = random.Random(4)  # noqa: S311  # draws cases
        names = [f"d{n}" for n in range(12)]
        run = {f"q{n}": {name: drawn.randrange(3) / 2 for name in drawn.sample(names, 8)} for n in range(20)}
        qrels = {query: dict.fromkeys(drawn.sample(names, 3), 1) for query in run}
        data = [{"id": query, "expected_output": {"relevant": judged}} for query, judged in qrels.items()]
        ties = {"ties": "average"} if "ties" in policy else {}
        wanted = evaluate(qrels, run, ["ndcg@5"], policy=ties)
        given = Engine().dataset(data).with_metrics("ndcg@5").with_profile(**policy).run(outputs=run)
        for name, value in zip(given.sample_ids, given["ndcg@5"].values.tolist(), strict=True):
            assert value == wanted["ndcg@5"].values[list(wanted.sample_ids).index(name)]
