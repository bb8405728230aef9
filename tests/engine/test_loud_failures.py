"""Missing and failed samples: results, notebooks, notes and gates say them as loudly as the command line."""

from __future__ import annotations

import pytest

from rankgauge import Engine, HostScorer, Result, evaluate, judge_gates
from rankgauge.errors import NothingToEvaluateError
from rankgauge.gates.outcomes import outcome_line
from rankgauge.scale import ShardedSamples

QUESTIONS = [{"id": f"q{number}", "input": number, "expected_output": ["a"]} for number in range(4)]
BROKEN = [
    {**sample, "actual_output": output} for sample, output in zip(QUESTIONS, [["a"], None, 5, ["b"]], strict=True)
]
"""Reciprocal ranks 1, 0 (missing), 0 (malformed), 0."""


def unauthorized(given):
    raise OSError(401, "Unauthorized")


def of(samples, *metrics, **policy):
    return Engine().dataset(samples).with_metrics(metrics or ["RR", "P@1"]).with_profile(**policy)


@pytest.fixture
def down() -> Result:
    return of(QUESTIONS).run(sut=unauthorized)


def gate(result, written, **options):
    (outcome,) = judge_gates(result, [written], **options).outcomes
    return outcome


def test_a_result_of_a_system_that_always_fails_says_so(down):
    reason = "q0: the system under test raised OSError: [Errno 401] Unauthorized"
    assert repr(down) == f"<Result of 4 samples, INCOMPLETE, 4 failed ({reason}): rr=0.0000, p@1=0.0000>"
    assert down.notes == (f"4 of 4 samples failed, counted as the worst score; the first is {reason}",)
    page = down._repr_html_()
    assert page.startswith("<p>INCOMPLETE: the run is incomplete: 4 of 4 samples are missing or failed")
    assert "Unauthorized" in page


def test_a_gate_on_it_is_missed_with_the_reason_unless_the_policy_allows_it(down):
    outcome = gate(down, "RR >= 0")
    assert (outcome.verdict, outcome.status, outcome.value) == ("fail", "failed", 0.0)
    assert outcome.reason == "the run is incomplete: 4 of 4 samples are missing or failed, and max_failed allows 0 %"
    assert down.gate(["RR >= 0"]).exit_code == 1
    line = "MISSED rr: 0.0000 meets the minimum 0 (mean of n=4, 4 failed), but the run is incomplete: 4 of 4 samples"
    assert outcome_line(outcome).startswith(line)
    for policy in ({"max_failed": 1}, {"name": "trec10"}):
        name = policy.pop("name", None)
        allowed = Engine().dataset(QUESTIONS).with_metrics("RR").with_profile(name, **policy).run(sut=unauthorized)
        assert gate(allowed, "RR >= 0").verdict == "pass"
        assert repr(allowed).startswith("<Result of 4 samples, 4 failed (q0: ")


@pytest.mark.parametrize("written", ["RR >= 0", "RR >= 0 per_sample", "RR >= 1 of q0", "RR max_drop 0.9", "RR <= 1"])
def test_no_gate_on_an_incomplete_run_is_passed(written):
    before = of(BROKEN, max_failed=1).run()
    outcome = gate(of(BROKEN).run(), written, baseline=before)
    assert (outcome.verdict, outcome.by_numbers) == ("fail", "pass")
    assert "2 of 4 samples are missing or failed" in outcome_line(outcome)
    assert gate(before, written, baseline=before).verdict == "pass"


def test_a_gate_that_the_numbers_miss_says_so_and_keeps_the_reason():
    outcome = gate(of(BROKEN).run(), "RR >= 0.5")
    assert outcome_line(outcome) == "MISSED rr: 0.2500 is below the minimum 0.5 (mean of n=4, 1 missing, 1 failed)"
    assert "incomplete" in outcome.reason
    assert "incomplete" in outcome.to_dict()["reason"]


def test_a_warning_stays_one():
    assert gate(of(BROKEN).run(), "RR >= 0 level warn").status == "warned"


def test_nothing_is_judged_against_an_incomplete_baseline():
    complete = of([sample for sample in BROKEN if sample["id"] in {"q0", "q3"}]).run()
    outcome = gate(complete, "RR max_drop 0.9", baseline=of(BROKEN).run())
    assert outcome.verdict == "error"
    assert "the run is incomplete: 2 of 4 samples are missing or failed" in outcome.reason


def test_missing_and_failed_are_counted_apart_with_the_first_failure():
    result = of(BROKEN).run()
    assert repr(result).startswith("<Result of 4 samples, INCOMPLETE, 1 missing, 1 failed (q2: ")
    assert [note.partition(",")[0] for note in result.notes] == ["1 of 4 samples is missing", "1 of 4 samples failed"]
    left_out = of(BROKEN, missing_output="exclude").run()
    assert left_out.notes[0].startswith("1 of 4 samples is missing, left out of the mean; the first is q1: ")


def test_what_failed_for_one_metric_alone_stands_behind_it():
    def picky(ranking):
        return 1 / (ranking.n_gold - 1)

    samples = [{"id": str(n), "expected_output": ["a", "b"][: n % 2 + 1], "actual_output": ["a"]} for n in range(4)]
    result = of(samples, "RR", picky).run()
    assert repr(result).startswith("<Result of 4 samples, INCOMPLETE, 2 failed (0: metric 'picky' (by ")
    assert repr(result).endswith(": rr=1.0000, picky=0.5000 (2 failed)>")
    assert result.notes[0].startswith("picky: 2 of 4 samples failed, counted as the worst score")


def test_a_run_with_missing_queries_says_so_and_is_never_incomplete():
    result = evaluate({"q1": {"a": 1}, "q2": {"a": 1}}, {"q1": {"a": 1.0}}, "RR")
    assert repr(result) == "<Result of 2 samples, 1 missing (q2: the run has no results for this query): rr=0.5000>"
    assert (result.is_incomplete, result.gate("RR >= 0.5").exit_code) == (False, 0)


def test_a_healthy_result_says_nothing_of_it():
    result = of([BROKEN[0], BROKEN[3]]).run()
    assert repr(result) == "<Result of 2 samples: rr=0.5000, p@1=0.5000>"
    assert ("INCOMPLETE" in result._repr_html_(), result.notes) == (False, ())


def test_shards_have_the_notes_of_one_run():
    sharded = ShardedSamples(of(BROKEN))
    merged = sharded.merge([sharded.shard(BROKEN[2:]), sharded.shard(BROKEN[:2])])
    assert (merged.notes, repr(merged)) == (of(BROKEN).run().notes, repr(of(BROKEN).run()))


@pytest.mark.parametrize("policy", [{}, {"max_failed": 1}, {"missing_output": "exclude"}])
def test_neither_outputs_nor_a_system_is_an_error_with_the_result(policy):
    with pytest.raises(
        NothingToEvaluateError, match=r"no sample of the samples has an output \(`actual_output`\)"
    ) as no:
        of(QUESTIONS, **policy).run()
    assert no.value.result["RR"].n_missing == 4


def test_outputs_that_say_nothing_are_missing_ones():
    for run in (
        lambda: of(QUESTIONS).run(outputs={}),
        lambda: of(QUESTIONS).run(sut=lambda given: None),
        lambda: of([{**sample, "actual_output": None} for sample in QUESTIONS]).run(),
        lambda: of([*QUESTIONS[:3], BROKEN[3]]).run(),
    ):
        assert run().is_incomplete


def test_a_host_scores_a_missing_output_as_before():
    assert HostScorer(metrics="RR").score(expected=["a"])["rr"].status == "missing"
