"""Runs that stop early: which samples are called, what is decided and kept, and what the result says of it."""

from __future__ import annotations

import asyncio

import pytest

from draws import in_thorough_suite
from rankgauge import Catalog, Engine, Result, RunInterrupted, judge_gates, save_baseline
from rankgauge.errors import ParameterError, PlanError, ResultError
from rankgauge.gates.outcomes import outcome_line
from rankgauge.history import History
from rankgauge.scoring.stop import Stop

ENGINE = Engine(catalog=Catalog.discover(own_only=True))
N = 200


def evaluation(metrics=("hit@1",), n=N, **fields):
    samples = [
        {"id": f"q{number}", "input": number, "expected_output": ["a"], "metadata": {"tags": ["odd"] * (number % 2)}}
        for number in range(n)
    ]
    for number, sample in enumerate(samples):
        sample |= {name: make(number) for name, make in fields.items()}
    return ENGINE.dataset(samples).with_metrics(list(metrics))


class System:
    """A system that hits with every sample but each fifth, and remembers what it was called with."""

    def __init__(self, misses=5):
        self.misses = misses
        self.called = []

    def __call__(self, given):
        self.called.append(given)
        return ["a"] if given % self.misses else ["b"]


def gate_of(result, gate="hit@1 >= 0.5"):
    (outcome,) = judge_gates(result, gate).outcomes
    return outcome


def test_a_clear_gate_ends_the_calls_and_the_result_says_what_was_saved():
    system = System()
    result = evaluation().run(sut=system, until="hit@1 >= 0.5", concurrency=1)
    until = result.manifest["until"]
    assert len(result) == len(system.called) < N / 2
    assert until["saved"] == N - len(result)
    assert until["samples"] == N
    assert until["gates"]["hit@1 >= 0.5"] == {"verdict": "pass", "after": len(result), "of": N, "level": 0.05}
    assert not result.manifest["interrupted"]
    assert not result.is_incomplete
    (note,) = [note for note in result.notes if "stopped early" in note]
    assert f"saved {N - len(result)} calls" in note
    assert "partial" in note


def test_a_gate_that_is_missed_ends_them_too():
    result = evaluation().run(sut=System(misses=1), until="hit@1 >= 0.5")
    outcome = gate_of(result)
    assert (outcome.verdict, outcome.decision.verdict) == ("fail", "fail")
    assert judge_gates(result, "hit@1 >= 0.5").exit_code == 1


@in_thorough_suite()
def test_the_order_is_random_seeded_and_not_that_of_the_data():
    def called(seed):
        system = System()
        evaluation().run(sut=system, until="hit@1 >= 0.5", concurrency=1, seed=seed)
        return system.called

    assert called(0) == called(0)
    assert called(0)[:10] != called(1)[:10]
    assert sorted(called(0)) != called(0)


@in_thorough_suite()
def test_a_gate_that_stays_open_is_judged_over_all_samples():
    result = evaluation().run(sut=System(), until="hit@1 >= 0.8")
    outcome = gate_of(result, "hit@1 >= 0.8")
    assert len(result) == N
    assert result.manifest["until"]["saved"] == 0
    assert (outcome.verdict, outcome.value) == ("pass", 0.8)
    assert not any("stopped early" in note for note in result.notes)


@pytest.mark.parametrize("concurrency", [1, 7])
def test_calls_that_are_under_way_are_kept_and_do_not_decide(concurrency):
    """However calls end, the samples before the decision are the same ones: the first of the order."""
    result = evaluation().run(sut=System(), until="hit@1 >= 0.5", concurrency=concurrency)
    alone = evaluation().run(sut=System(), until="hit@1 >= 0.5", concurrency=1)
    after = result.manifest["until"]["gates"]["hit@1 >= 0.5"]["after"]
    assert after == len(alone)
    assert after <= len(result) < after + concurrency
    assert set(alone.sample_ids) <= set(result.sample_ids)


def test_quick_calls_do_not_go_before_slow_ones():
    """Misses answer at once and hits later; a decision by what came first would see misses alone."""

    async def system(given):
        for _ in range(50 if given % 5 else 0):
            await asyncio.sleep(0)
        return ["a"] if given % 5 else ["b"]

    result = evaluation().run(sut=system, until="hit@1 >= 0.5", concurrency=40)
    assert gate_of(result).verdict == "pass"


@in_thorough_suite()
def test_a_kept_run_goes_on_and_an_answer_that_decides_needs_no_call(tmp_path):
    kept = tmp_path / "kept.jsonl"
    first = evaluation().run(sut=System(), until="hit@1 >= 0.5", keep=kept, concurrency=1)
    again = System()
    same = evaluation().run(sut=again, until="hit@1 >= 0.5", keep=kept, resume=True)
    assert again.called == []
    assert same.manifest["until"] == first.manifest["until"]
    harder = System()
    more = evaluation().run(sut=harder, until="hit@1 >= 0.7", keep=kept, resume=True, concurrency=1)
    assert len(more) == len(first) + len(harder.called)
    assert not set(harder.called) & {int(name[1:]) for name in first.sample_ids}
    everything = evaluation().run(sut=System(), keep=kept, resume=True)
    assert len(everything) == N
    assert "until" not in everything.manifest


def test_with_repeats_a_sample_counts_once_all_its_calls_are_done():
    system = System()
    result = evaluation().run(sut=system, until="hit@1 >= 0.5", repeat=3, concurrency=1)
    once = evaluation().run(sut=System(), until="hit@1 >= 0.5", concurrency=1)
    assert result.sample_ids == once.sample_ids
    assert len(system.called) == 3 * len(once)
    assert result.manifest["until"]["saved"] == 3 * (N - len(once))


@in_thorough_suite()
def test_failed_calls_count_as_the_policy_says():
    def fails(given):
        if given % 4 == 0:
            raise ValueError(given)
        return ["a"]

    zero = evaluation().run(sut=fails, until="hit@1 >= 0.9")
    assert gate_of(zero, "hit@1 >= 0.9").verdict == "fail"
    left_out = evaluation().with_profile(failed_output="exclude").run(sut=fails, until="hit@1 >= 0.9")
    outcome = gate_of(left_out, "hit@1 >= 0.9")
    assert left_out.is_incomplete
    assert (outcome.verdict, outcome.by_numbers, "incomplete" in outcome.reason) == ("fail", "pass", True)
    allowed = evaluation().with_profile(failed_output="exclude", max_failed=1)
    assert gate_of(allowed.run(sut=fails, until="hit@1 >= 0.9"), "hit@1 >= 0.9").verdict == "pass"


def test_a_call_that_would_have_been_made_again_is_no_failure():
    """Retries of calls that are under way are not made once the gates are decided."""
    tries = {}

    async def flaky(given):
        tries[given] = tries.get(given, 0) + 1
        await asyncio.sleep(0)
        if given % 3 == 0 and tries[given] == 1:
            raise ValueError(given)
        return ["a"]

    samples = [{"id": f"q{number}", "input": number, "expected_output": ["a"]} for number in range(12)]
    run = ENGINE.dataset(samples).with_metrics(["hit@1"]).run(sut=flaky, until="hit@1 >= 0", concurrency=12, retries=3)
    assert run["hit@1"].n_failed == 0


def test_lower_is_better_metrics_and_maxima_are_decided_alike():
    good = evaluation().run(sut=System(), until={"metric": "hit@1", "max": 0.95})
    bad = evaluation().run(sut=System(), until={"metric": "hit@1", "max": 0.5})
    assert gate_of(good, "hit@1 <= 0.95").verdict == "pass"
    assert gate_of(bad, "hit@1 <= 0.5").verdict == "fail"
    assert max(len(good), len(bad)) < N


@in_thorough_suite()
def test_several_gates_share_the_error_and_all_have_to_be_decided():
    both = evaluation().run(sut=System(), until=["hit@1 >= 0.5", "ndcg@2 >= 0.6"])
    gates = both.manifest["until"]["gates"]
    assert {gate["level"] for gate in gates.values()} == {0.025}
    assert {gate["verdict"] for gate in gates.values()} == {"pass"}
    assert len(both) >= len(evaluation().run(sut=System(), until="hit@1 >= 0.5"))
    one_open = evaluation().run(sut=System(), until=["hit@1 >= 0.5", "hit@1 >= 0.8"])
    assert len(one_open) == N


def test_a_gate_on_some_samples_is_decided_by_them():
    result = evaluation().run(sut=System(), until="hit@1 >= 0.5 where tags=odd")
    decision = gate_of(result, "hit@1 >= 0.5 where tags=odd").decision
    assert decision.of == N / 2
    assert decision.after < len(result) < N


def test_samples_without_ground_truth_do_not_count_as_misses():
    """A third has no score; the others hit in four of five."""
    gold = {"expected_output": lambda number: {"relevant": {} if number % 3 == 0 else {"a": 1}}}
    result = evaluation(**gold).run(sut=System(), until="hit@1 >= 0.6")
    assert gate_of(result, "hit@1 >= 0.6").verdict == "pass"
    assert len(result) < N


def test_other_gates_are_judged_over_what_was_called_and_say_so():
    result = evaluation(["hit@1", "rr"]).run(sut=System(), until="hit@1 >= 0.5", concurrency=1)
    outcome = gate_of(result, "rr >= 0.1")
    assert outcome.verdict == "pass"
    assert (outcome.decision.verdict, outcome.decision.after, outcome.decision.of) == ("open", len(result), N)
    assert f"(mean of n={len(result)}; {len(result)} of {N} samples were called)" in outcome_line(outcome)


def test_it_works_from_asynchronous_code():
    result = asyncio.run(evaluation().arun(sut=System(), until="hit@1 >= 0.5"))
    assert gate_of(result).decision.verdict == "pass"
    assert len(result) < N


def test_who_stops_the_run_before_leaves_it_interrupted():
    stop = Stop()

    def system(given):
        stop.request()
        return ["a"]

    with pytest.raises(RunInterrupted) as raised:
        evaluation().run(sut=system, until="hit@1 >= 0.5", stop=stop, concurrency=1)
    assert raised.value.result.manifest["interrupted"]
    assert raised.value.result.manifest["until"]["gates"]["hit@1 >= 0.5"]["verdict"] == "open"


@pytest.mark.parametrize(
    ("gate", "why"),
    [
        ("dcg@10 >= 1", "'dcg@10' has no highest value"),
        ("hit@1 >= 0.5 per_sample", "it is per_sample"),
        ("hit@1 max_drop 0.01", "it is on a change"),
        ("hit@1 >= 2", "no value of 'hit@1'"),
        ("err@5 >= 0.1", "infers max_grade"),
    ],
)
def test_a_gate_that_no_part_of_the_samples_decides_is_refused_before_the_first_call(gate, why):
    system = System()
    with pytest.raises(PlanError) as raised:
        evaluation().run(sut=system, until=gate)
    assert why in str(raised.value)
    assert system.called == []


def test_until_without_a_system_and_a_bad_seed_are_refused():
    with pytest.raises(ParameterError, match="name the system with sut="):
        evaluation().run(outputs={}, until="hit@1 >= 0.5")
    with pytest.raises(ParameterError, match="seed must be"):
        evaluation().run(sut=System(), until="hit@1 >= 0.5", seed=-1)


def test_the_decision_stays_with_the_folder_and_a_part_is_no_baseline(tmp_path):
    result = evaluation().run(sut=System(), until="hit@1 >= 0.5")
    folder = result.save(tmp_path / "run")
    loaded = Result.load(folder)
    assert gate_of(loaded).decision == gate_of(result).decision
    with pytest.raises(ResultError, match="stopped early"):
        save_baseline({"data": loaded}, tmp_path / "baseline.json")
    with pytest.raises(ResultError, match="stopped early"):
        History(tmp_path / "history").add(folder)
