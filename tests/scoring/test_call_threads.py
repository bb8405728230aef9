"""Calls that hang are left behind: a bounded number in a process, and none of them holds up an end."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Iterator
from textwrap import dedent

import pytest

from rankgauge import Engine
from rankgauge.samples import Sample
from rankgauge.scoring import call_threads, sut
from rankgauge.scoring.call_threads import MOST, left_behind, may_begin
from rankgauge.scoring.stop import Stop
from rankgauge.scoring.sut import Call, Calling, call_each

ENGINE = Engine()
WAIT = 60.0
FULL = "the system under test was not called: 64 calls that were given up in this process have not ended"

FULL_FOR_THREADS = (
    "the system under test raised RuntimeError: no thread was started: 64 calls that were given up in this process "
    "have not ended"
)


class Hanging:
    """A system whose calls end when they are released."""

    def __init__(self) -> None:
        self.release = threading.Event()
        self.threads: list[threading.Thread] = []

    def __call__(self, given: object) -> list[str]:
        self.threads.append(threading.current_thread())
        self.release.wait(WAIT)
        return ["a"]

    async def awaited(self, given: object) -> list[str]:
        return await asyncio.to_thread(self, given)

    def end(self) -> None:
        self.release.set()
        for thread in self.threads:
            thread.join(WAIT)


@pytest.fixture
def hanging() -> Iterator[Hanging]:
    system = Hanging()
    yield system
    system.end()
    assert left_behind() == 0


def calls(system: sut.SystemUnderTest, count: int = 1, **how: object) -> list[Call]:
    async def collect() -> list[Call]:
        options = {"concurrency": MOST, "timeout": 0.01, "retries": 0, **how}
        made = call_each([Sample(f"q{n}", n) for n in range(count)], system, Calling(**options))
        found = {place: call async for place, call in made}
        return [found[place] for place in sorted(found)]

    return asyncio.run(collect())


def reasons(system: sut.SystemUnderTest, count: int, **how: object) -> list[str]:
    return [call.found.reason for call in calls(system, count, **how)]


def answers(given: object) -> list[str]:
    return ["a"]


def test_calls_beyond_the_bound_fail_with_that_reason(hanging):
    found = reasons(hanging, MOST + 6, concurrency=1, timeout=0.002)
    assert found[:MOST] == ["the system under test did not answer within 0.002 seconds"] * MOST
    assert found[MOST:] == [f"{FULL}, nor did any end within 0.002 seconds"] * 6
    assert len(hanging.threads) == left_behind() == MOST


def test_the_bound_is_that_of_the_process(hanging):
    calls(hanging, MOST)
    assert reasons(answers, 2) == [f"{FULL}, nor did any end within 0.01 seconds"] * 2
    assert reasons(answers, 2, timeout=None) == [FULL] * 2  # which could wait for ever
    hanging.end()
    assert [call.found for call in calls(answers, 2, timeout=None)] == [["a"], ["a"]]


def test_retries_start_no_further_thread(hanging):
    async def sleep(seconds):
        return None

    found = calls(hanging, MOST, retries=2, sleep=sleep, concurrency=1)
    assert {call.attempt for call in found} == {3}
    assert len(hanging.threads) == MOST  # of 3 x 64 attempts


def test_a_run_is_scored_with_what_failed(hanging):
    calls(hanging, MOST)
    rows = [{"id": f"q{n}", "input": n, "expected_output": ["a"]} for n in range(3)]
    result = ENGINE.dataset(rows).with_metrics("mrr").run(sut=answers)
    assert (result["mrr"].n_failed, result["mrr"].mean) == (3, 0.0)
    assert {error.reason for error in result.errors} == {FULL}


def test_a_call_that_waits_begins_when_another_ends(hanging):
    async def wait() -> bool:
        waiting = asyncio.create_task(may_begin(WAIT))
        await asyncio.sleep(0)  # until it waits
        assert call_threads._waiting
        hanging.release.set()
        return await waiting

    calls(hanging, MOST)
    assert asyncio.run(wait())
    assert not call_threads._waiting


def test_a_stop_ends_the_wait_and_calls_nothing(hanging, monkeypatch):
    stop = Stop()

    async def waits(seconds):
        stop.request()
        return await may_begin(seconds)

    calls(hanging, MOST)
    monkeypatch.setattr(sut, "may_begin", waits)
    assert calls(answers, 3, timeout=WAIT, stop=stop) == []


def test_an_asynchronous_system_needs_no_thread_of_ours(hanging):
    async def answers_later(given):
        return ["a"]

    calls(hanging, MOST)
    assert [call.found for call in calls(answers_later)] == [["a"]]


@pytest.mark.parametrize("in_a_loop", [False, True])
def test_threads_of_an_asynchronous_system_are_left_behind_too(hanging, in_a_loop):
    rows = [{"id": f"q{n}", "input": n, "expected_output": ["a"]} for n in range(MOST)]
    evaluation = ENGINE.dataset(rows).with_metrics("mrr")

    def run():
        return evaluation.run(sut=hanging.awaited, concurrency=MOST, timeout=0.01)

    async def within():
        return run()

    for reason in ("the system under test did not answer within 0.01 seconds", FULL_FOR_THREADS):
        result = asyncio.run(within()) if in_a_loop else run()
        assert {error.reason for error in result.errors} == {reason}
    assert len(hanging.threads) == MOST


def test_what_a_thread_of_an_asynchronous_system_returns_or_raises_arrives():
    async def system(given):
        return await asyncio.to_thread({0: ["a"]}.__getitem__, given)

    rows = [{"id": f"q{n}", "input": n, "expected_output": ["a"]} for n in range(2)]
    result = ENGINE.dataset(rows).with_metrics("mrr").run(sut=system)
    assert result["mrr"].values.tolist() == [1.0, 0.0]
    assert result.errors[0].reason == "the system under test raised KeyError: 1"


@pytest.mark.parametrize("system", ["lambda given: forever.wait()", "hang"])
def test_the_process_ends_when_the_run_has(system, process):
    script = f"""
        import asyncio, threading
        from rankgauge import Engine
        forever = threading.Event()
        async def hang(given):
            await asyncio.to_thread(forever.wait)
        rows = [{{"id": "q", "input": "?", "expected_output": ["a"]}}]
        result = Engine().dataset(rows).with_metrics("mrr").run(sut={system}, timeout=0.01, retries=1)
        print(result.errors[0].reason)
    """
    done = subprocess.run(
        [sys.executable, "-c", dedent(script)], capture_output=True, text=True, timeout=WAIT, check=True
    )
    assert (done.stdout, done.stderr) == ("the system under test did not answer within 0.01 seconds\n", "")
