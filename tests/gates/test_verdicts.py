"""Gates judged against results: bounds of means, of cohorts, of single samples, and what cannot be judged."""

from __future__ import annotations

import re
from typing import Any

import pytest

from rankgauge import Result
from rankgauge.errors import ParameterError
from rankgauge.gates.outcomes import GateOutcome
from rankgauge.gates.verdicts import judge_gates
from tables import rows

ROWS = [
    {"id": "q1", "expected_output": ["a"], "actual_output": ["a"], "metadata": {"tags": ["legal", "new"]}},
    {"id": "q2", "expected_output": ["a"], "actual_output": ["b", "a"], "metadata": {"tags": ["legal"]}},
    {"id": "q3", "expected_output": ["a"], "actual_output": ["b"]},
    {"id": "q4", "expected_output": ["a"]},
    {"id": "q5", "expected_output": [], "actual_output": ["a"], "metadata": {"tags": ["void"]}},
]
"""Reciprocal ranks 1, 1/2, 0, 0 (missing) and none."""


@pytest.fixture(scope="module")
def result(engine) -> Result:
    return engine.dataset(ROWS).with_metrics(["MRR", "hit@1", "num_ret"]).with_profile(max_failed=1).run()


@pytest.fixture(scope="module")
def incomplete(engine) -> Result:
    return engine.dataset(ROWS).with_metrics(["MRR", "hit@1", "num_ret"]).run()


def judge(result: Result, gate: str | dict[str, Any]) -> GateOutcome:
    (outcome,) = judge_gates(result, [gate]).outcomes
    return outcome


@rows(
    ("gate", "verdict"),
    [
        ("MRR >= 0.375", "pass"),  # (1 + 1/2) / 4, the bound itself
        ("MRR >= 0.3751", "fail"),
        ("recip_rank <= 0.375", "pass"),
        ("RR <= 0.3749", "fail"),
        ("MRR >= 0.75 where tags=legal", "pass"),
        ("MRR >= 0.76 where tags=legal", "fail"),
        ("MRR >= 0.5 of q1,q3", "pass"),
        ("MRR >= 0.51 of q1,q3", "fail"),
        ("MRR >= 0.5 where tags=legal of q2", "pass"),
        ("num_ret <= 4", "pass"),  # a sum: 1 + 2 + 1 + 0
        ("num_ret <= 3", "fail"),
    ],
)
def test_a_bound_is_decided_by_the_mean_of_the_samples_that_it_is_for(result: Result, gate: str, verdict: str) -> None:
    assert judge(result, gate).verdict == verdict


@pytest.mark.parametrize("gate", ["MRR >= 1", "MRR <= 0"])
def test_a_bound_at_the_end_of_the_range_can_be_kept_and_is_judged(result: Result, gate: str) -> None:
    assert judge(result, gate).verdict == "fail"


def test_an_outcome_says_what_was_counted(result: Result) -> None:
    outcome = judge(result, "MRR >= 0.5")
    assert (outcome.value, outcome.counts) == (0.375, {"n": 4, "undefined": 1, "missing": 1, "failed": 0})
    assert outcome.gate.metric == result["MRR"].name
    plain = outcome.to_dict()
    assert {"minimum": 0.5, "value": 0.375, "n": 4, "n_missing": 1, "passed": False}.items() <= plain.items()


class TestPerSample:
    """Hits at rank 1: 1, 0, 0, 0 (missing) and none."""

    def test_each_sample_has_to_keep_the_bound(self, result: Result) -> None:
        outcome = judge(result, "hit@1 >= 1 per_sample")
        assert outcome.verdict == "fail"
        assert outcome.missed == (("q2", 0.0), ("q3", 0.0), ("q4", 0.0))  # q5 can have no value
        assert judge(result, "hit@1 >= 0 per_sample").verdict == "pass"

    def test_of_samples_named_by_id_each_needs_a_value(self, result: Result) -> None:
        assert judge(result, "hit@1 >= 1 per_sample of q1").verdict == "pass"
        assert judge(result, "hit@1 >= 0 per_sample of q1,q5").missed == (("q5", None),)

    def test_nothing_to_look_at_is_a_miss(self, result: Result) -> None:
        assert judge(result, "hit@1 >= 0 per_sample where tags=void").verdict == "fail"


def test_a_gate_without_a_value_fails(result: Result) -> None:
    outcome = judge(result, "MRR >= 0 where tags=void")
    assert (outcome.verdict, outcome.value) == ("fail", None)
    assert outcome.reason.startswith("the only sample has no value: ")


@pytest.mark.parametrize(
    ("gate", "reason"),
    [
        (
            "MRR >= 0 where tags=leagl",
            r"no sample has the tag 'leagl' \(did you mean 'legal'\?\); there are legal, new,",
        ),
        ("MRR >= 0 of q1,q77", "there is no sample 'q77'"),
        ("MRR >= 0 where tags=new of q2", "there is no sample 'q2' where tags=new"),
    ],
)
def test_a_gate_that_does_not_fit_the_data_is_an_error_of_its_own(result: Result, gate: str, reason: str) -> None:
    report = judge_gates(result, [gate, "MRR >= 0"])
    outcome = report.outcomes[0]
    assert (outcome.verdict, outcome.status) == ("error", "error")
    assert re.match(reason, outcome.reason)
    assert report.exit_code == 2


@pytest.mark.parametrize(
    ("gates", "code"),
    [
        ([], 0),
        (["MRR >= 0.1"], 0),
        (["MRR >= 0.9"], 1),
        (["MRR >= 0.9 level warn"], 0),
        (["MRR >= 0.9", "MRR >= 0 of nobody"], 2),
        (["MRR >= 0 of nobody level warn"], 2),  # a gate that measures nothing is not passed by any level
    ],
)
def test_the_exit_code_is_that_of_the_worst(result: Result, gates: list[str], code: int) -> None:
    assert judge_gates(result, gates).exit_code == code


def test_a_gate_holds_for_each_dataset_unless_it_names_one(result: Result) -> None:
    results = {"all": result, "first": result.take([0])}
    report = judge_gates(results, ["MRR >= 0.9", "MRR >= 0.9 dataset first"])
    assert [(outcome.dataset, outcome.verdict) for outcome in report.outcomes] == [
        ("all", "fail"),
        ("first", "pass"),
        ("first", "pass"),
    ]


@pytest.mark.parametrize(
    ("gates", "message"),
    [
        (["ndcg@10 >= 0.5"], "ndcg@10 >= 0.5: no column 'ndcg@10'"),
        (["MRR >= 0 dataset al"], r"no dataset 'al' \(did you mean 'all'\?\); there are all"),
        (["MRR >= 1.5"], "no value of .*, which ranges from 0 to 1, can keep the bound 1.5"),
        (["MRR <= -0.5"], "can keep the bound -0.5"),
        (["MRR max_drop 0.1"], "a change is judged against a baseline, and none is given"),
        (["num_ret max_drop 1"], "max_drop compares means, and .* is a sum over the samples"),
        (["MRR = 1"], "is not a sign of gates"),
    ],
)
def test_what_can_never_be_judged_is_refused_before(result: Result, gates: list[str], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        judge_gates({"all": result}, gates)


class TestIdsChanged:
    """Somebody splits the documents anew: every id is new, every score by id is 0, and nothing got worse."""

    METRICS = ("recall@5", "answer-containment-at-k")

    @staticmethod
    def rows(prefix: str, *, found: int = 20, kept: int = 0) -> list[dict[str, Any]]:
        """Return 20 samples with three results; *found* have the relevant one on top, *kept* ids without the prefix."""
        return [
            {
                "id": f"q{n}",
                "expected_output": {"relevant": [f"d{n}"], "answer": "x"},
                "actual_output": [
                    {"id": f"{'' if n < kept else prefix}d{n + 100 * rank}", "text": "x"}
                    for rank in range(n >= found, 3 + (n >= found))
                ],
            }
            for n in range(20)
        ]

    def run(self, engine, prefix: str, **options: int) -> Result:
        evaluation = engine.dataset(self.rows(prefix, **options)).with_metrics(list(self.METRICS))
        found: Result = evaluation.run(sketch_ids=True)
        return found

    def test_it_is_said_instead_of_a_number(self, engine) -> None:
        report = judge_gates(self.run(engine, "new-"), ["recall@5 >= 0.5"], baseline=self.run(engine, ""))
        (told,) = report.ids_changed.values()
        assert told.startswith(
            "the ids changed, not the ranking: 100% of the retrieved ids are new since the baseline, and 0% of the "
            "relevant ids are retrieved, where it was 100%."
        )
        assert "gold passages or answers" in told
        assert report.exit_code == 2
        assert [(outcome.verdict, outcome.value) for outcome in report.outcomes] == [("error", None)]

    def test_gates_on_texts_go_on(self, engine) -> None:
        baseline, now = self.run(engine, ""), self.run(engine, "new-")
        report = judge_gates(now, ["answer-containment-at-k >= 1"], baseline=baseline)
        assert (report.ids_changed, report.exit_code) == ({}, 0)
        both = judge_gates(now, ["answer-containment-at-k >= 1", "recall@5 >= 0.5"], baseline=baseline)
        assert [outcome.verdict for outcome in both.outcomes] == ["pass", "error"]

    def test_a_retriever_that_got_worse_on_the_same_ids_is_just_worse(self, engine) -> None:
        report = judge_gates(self.run(engine, "", found=4), ["recall@5 >= 0.5"], baseline=self.run(engine, ""))
        assert [outcome.verdict for outcome in report.outcomes] == ["fail"]

    def test_a_retriever_that_finds_other_documents_and_the_relevant_ones_is_fine(self, engine) -> None:
        """Half of the samples meet their ids: half of the retrieved ids are new, half of the relevant ones found."""
        report = judge_gates(self.run(engine, "new-", kept=10), ["recall@5 >= 0.5"], baseline=self.run(engine, ""))
        assert [outcome.verdict for outcome in report.outcomes] == ["pass"]

    def test_a_dataset_that_was_hard_before_is_not_suspected(self, engine) -> None:
        before, now = self.run(engine, "", found=0), self.run(engine, "new-", found=0)
        assert judge_gates(now, ["recall@5 >= 0.5"], baseline=before).ids_changed == {}

    def test_without_sketches_nothing_is_claimed(self, engine) -> None:
        now = engine.dataset(self.rows("new-")).with_metrics(["recall@5"]).run()
        assert judge_gates(now, ["recall@5 >= 0.5"], baseline=self.run(engine, "")).ids_changed == {}

    @pytest.mark.parametrize(
        ("now", "suspected"),
        [
            ("r0 x0 x1 x2 n0 n1 n2 n3", False),  # half of the ids are new: no more than half
            ("r0 x0 x1 n0 n1 n2 n3 n4", True),  # five of eight are new, and 1/4 is found where it was 1
            ("r0 r1 n0 n1 n2 n3 n4 n5", False),  # six of eight are new, but 1/2 is found: no less than half of 1
        ],
    )
    def test_most_ids_are_new_and_less_than_half_as_many_are_found(self, engine, now: str, *, suspected: bool) -> None:
        """Once all four relevant documents r0 to r3 were retrieved."""

        def run(retrieved: str) -> Result:
            rows = [{"id": "q", "expected_output": ["r0", "r1", "r2", "r3"], "actual_output": retrieved.split()}]
            made: Result = engine.dataset(rows).with_metrics(["recall@8"]).run(sketch_ids=True)
            return made

        before = run("r0 r1 r2 r3 x0 x1 x2 x3")
        report = judge_gates(run(now), ["recall@8 >= 0"], baseline=before)
        assert bool(report.ids_changed) == suspected

    def test_fewer_found_than_before_but_more_than_half_is_just_worse(self, engine) -> None:
        """16 of 20 relevant documents were found, now 9 are: 11 of 20 ids are new, and 9 is more than half of 16."""
        before, now = self.run(engine, "", found=16), self.run(engine, "new-", kept=9)
        assert judge_gates(now, ["recall@5 >= 0"], baseline=before).ids_changed == {}
        assert judge_gates(self.run(engine, "new-", kept=7), ["recall@5 >= 0"], baseline=before).ids_changed
