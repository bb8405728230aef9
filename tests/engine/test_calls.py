"""Calling a system under test: retries, kept outputs, going on, stopping, and what is refused before the first call."""

from __future__ import annotations

import asyncio
import errno
import json
import logging
import math
import random
import threading
from pathlib import Path

import pytest

from draws import in_thorough_suite
from rankgauge import Catalog, Engine, RunInterrupted
from rankgauge.errors import DataError, ParameterError, ResultError
from rankgauge.io.kept_outputs import OutputsFile
from rankgauge.io.output_files import read_kept
from rankgauge.samples import Sample
from rankgauge.scoring.stop import Stop
from rankgauge.scoring.sut import Call, Calling, call_each

ENGINE = Engine(catalog=Catalog.discover(own_only=True))


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def samples(count=4):
    return [{"id": f"q{n}", "input": n, "expected_output": ["a"]} for n in range(count)]


def run(sut, count=4, **options):
    return ENGINE.dataset(samples(count)).with_metrics(["RR"]).run(sut=sut, concurrency=1, **options)


def values(result):
    (column,) = result.metrics.values()
    return column.values.tolist()


def calls(sut, count=1, **how) -> list[Call]:
    async def collect():
        made = call_each(
            [Sample(f"q{n}", n) for n in range(count)],
            sut,
            Calling(**{"concurrency": 8, "timeout": None, "retries": 0, **how}),
        )
        found = {place: call async for place, call in made}
        return [found[place] for place in sorted(found)]

    return asyncio.run(collect())


class Failing:
    """A system that fails some times before it answers."""

    def __init__(self, times):
        self.times = times
        self.calls = []

    def __call__(self, given):
        self.calls.append(given)
        if len(self.calls) <= self.times:
            msg = f"failure {len(self.calls)}"
            raise ConnectionError(msg)
        return ["a"]


class TestRetries:
    def pauses(self, sut, retries):
        slept = []

        async def sleep(seconds):
            slept.append(seconds)

        (call,) = calls(sut, retries=retries, sleep=sleep)
        return call, slept

    def test_a_call_that_fails_is_made_again_until_it_answers(self):
        call, slept = self.pauses(Failing(3), 5)
        assert (call.found, call.attempt, len(slept)) == (["a"], 4, 3)

    def test_pauses_double_with_jitter(self):
        _, slept = self.pauses(Failing(99), 9)
        longest = [min(60.0, 2.0**n) for n in range(9)]
        assert all(most / 2 <= pause <= most for pause, most in zip(slept, longest, strict=True))
        assert len(set(slept)) == 9

    def test_no_pause_is_longer_than_a_minute(self, monkeypatch):
        monkeypatch.setattr(random.SystemRandom, "uniform", lambda _, low, high: high)
        _, slept = self.pauses(Failing(99), 8)
        assert slept == [1, 2, 4, 8, 16, 32, 60, 60]

    def test_an_asynchronous_system_needs_no_thread(self, monkeypatch):
        async def answers(given):
            return ["a"]

        def started(thread):
            raise RuntimeError("a thread was started")

        monkeypatch.setattr(threading.Thread, "start", started)
        assert [call.found for call in calls(answers, 2)] == [["a"], ["a"]]

    def test_the_last_failure_is_what_counts(self):
        call, _ = self.pauses(Failing(99), 2)
        assert (call.found.type, call.found.message, call.attempt) == ("ConnectionError", "failure 3", 3)

    def test_nothing_waits_on_after_a_pause(self):
        tasks = []

        async def fails(given):
            tasks.append(len(asyncio.all_tasks()))
            raise ConnectionError("no answer")

        self.pauses(fails, 5)
        assert len(tasks) == 6
        assert len(set(tasks)) == 1

    def test_a_call_that_is_too_slow_is_cancelled(self):
        ended = []

        async def slow(given):
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                ended.append(given)
                raise

        async def sleep(seconds):
            ended.append("pause")

        calls(slow, timeout=0.001, retries=1, sleep=sleep)
        assert ended[0] == 0

    def test_a_thread_that_hangs_does_not_hold_up_the_end_of_the_process(self):
        found = calls(lambda given: [str(threading.current_thread().daemon)])
        assert [call.found for call in found] == [["True"]]

    def test_what_samples_raise_is_raised(self):
        class Broken(list):
            def __getitem__(self, place):
                raise LookupError("no such sample")

        async def collect():
            how = Calling(concurrency=1, timeout=None, retries=0)
            return [call async for call in call_each(Broken([Sample("q", 1)]), lambda given: ["a"], how)]

        with pytest.raises(LookupError, match="no such sample"):
            asyncio.run(collect())

    def test_without_retries_one_call_is_made(self):
        system = Failing(1)
        result = run(system, 1)
        assert len(system.calls) == 1
        assert result.outputs["q0"].attempt == 1

    def test_a_call_that_is_too_slow_is_made_again(self):
        async def slow(given):
            await asyncio.Event().wait()

        async def sleep(seconds):
            return None

        (call,) = calls(slow, timeout=0.001, retries=2, sleep=sleep)
        assert call.attempt == 3
        assert call.found.reason == "the system under test did not answer within 0.001 seconds"
        assert (call.found.type, call.found.traceback) == ("TimeoutError", "")

    @pytest.mark.parametrize("is_async", [True, False])
    @pytest.mark.parametrize("in_a_loop", [True, False])
    def test_a_traceback_is_of_the_system_alone(self, is_async: bool, in_a_loop: bool) -> None:
        async def late(given):
            await asyncio.sleep(0)
            raise TimeoutError("too late")

        def plain(given):
            raise TimeoutError("too late")

        async def inside():
            return run(late if is_async else plain, 1)

        result = asyncio.run(inside()) if in_a_loop else run(late if is_async else plain, 1)
        error = result.outputs["q0"].error
        assert error.reason == "the system under test raised TimeoutError: too late"
        assert error.traceback.count("Traceback (most recent call last)") == 1
        assert "event loop" not in error.traceback

    def test_an_answer_that_cannot_be_read_is_not_asked_for_again(self):
        system = iter([7, ["a"]]).__next__
        result = run(lambda _: system(), 1, retries=3)
        assert values(result) == [0.0]
        assert result.outputs["q0"].attempt == 1
        assert "found the integer 7" in result.errors[0].reason

    def test_the_manifest_counts_calls_and_measures_them(self):
        figures = run(lambda given: ["a"] if given else 1 / 0).manifest["outputs"]["calls"]
        assert (figures["n"], figures["failed"], figures["retries"]) == (4, 1, 0)
        assert 0 <= figures["seconds"]["p50"] <= figures["seconds"]["p95"]


class TestFailures:
    def test_an_exception_that_cannot_be_shown_fails_its_sample(self):
        class SilentError(Exception):
            def __str__(self):
                raise SystemExit

        def system(given):
            if given == 1:
                raise SilentError
            return ["a"]

        result = run(system)
        assert values(result) == [1.0, 0.0, 1.0, 1.0]
        assert "__str__ raised SystemExit" in result.errors[0].reason

    def test_what_an_exception_says_can_always_be_written(self):
        def system(given):
            raise ValueError("half \ud800 a pair")

        folder = run(system, 1).save("folder")
        (row,) = [json.loads(line) for line in (folder / "outputs.jsonl").read_text("utf-8").splitlines()]
        assert row["error"]["message"] == "half \\ud800 a pair"

    def test_errors_of_a_folder_have_type_text_and_traceback(self):
        def system(given):
            raise KeyError("no index")

        folder = run(system, 1).save("folder")
        (error,) = [json.loads(line) for line in (folder / "errors.jsonl").read_text("utf-8").splitlines()]
        assert (error["error"]["type"], error["error"]["message"]) == ("KeyError", "'no index'")
        assert "in system" in error["error"]["traceback"]

    @pytest.mark.parametrize(
        "output", [[{"id": "a", "score": math.nan}], [{"id": "a", "text": "\ud800"}], {1}, object()]
    )
    def test_what_json_cannot_hold_scores_the_same_after_saving(self, output):
        result = run(lambda _: output, 1)
        again = ENGINE.dataset(samples(1)).with_metrics(["RR"]).run(outputs=result.save("folder") / "outputs.jsonl")
        assert values(again) == values(result) == [0.0]
        assert [error.reason for error in again.errors] == [error.reason for error in result.errors]

    def test_the_support_of_nuggets_is_kept_beside_what_json_cannot_hold(self):
        output = {"retrieved": ({"id": "a", "extra": object()},), "answer": "x", "support": {"n": "partial_support"}}
        kept = run(lambda _: output, 1).outputs["q0"].actual_output
        assert (kept["answer"], kept["support"]) == ("x", {"n": "partial_support"})

    def test_a_tuple_of_mappings_is_kept_as_a_list(self):
        assert run(lambda _: ({"id": "a"},), 1).outputs["q0"].actual_output == [{"id": "a"}]


class TestSignature:
    @pytest.mark.parametrize(
        ("system", "words"),
        [
            (lambda: ["a"], "too many positional arguments"),
            (lambda query, *, k: ["a"], "missing a required (keyword-only )?argument: 'k'"),
            (lambda given: (yield "a"), "is a generator"),
        ],
    )
    def test_a_system_that_cannot_take_an_input_is_refused_before_anything_is_read(self, system, words):
        Path("broken.jsonl").write_text("{", "utf-8")
        with pytest.raises(ParameterError, match=words):
            ENGINE.dataset("broken.jsonl").with_metrics(["RR"]).run(sut=system)

    @pytest.mark.parametrize("system", [Failing(0), Failing(0).__call__, lambda given, k=3: ["a"], lambda *args: ["a"]])
    def test_anything_that_takes_one_input_is_called(self, system):
        assert values(run(system, 1)) == [1.0]

    @pytest.mark.parametrize(
        "options", [{"retries": -1}, {"retries": 1.0}, {"retries": True}, {"timeout": True}, {"resume": True}]
    )
    def test_options_out_of_bounds_are_refused(self, options):
        with pytest.raises(ParameterError, match=next(iter(options))):
            run(lambda _: ["a"], **options)


class TestKept:
    def test_every_output_is_on_the_disk_before_the_next_call(self):
        on_disk = []

        def system(given):
            on_disk.append(Path("kept.jsonl").read_bytes().count(b"\n"))
            return ["a"]

        run(system, keep="kept.jsonl")
        assert on_disk == [0, 1, 2, 3]

    def test_a_kept_file_is_an_outputs_file(self):
        def system(given):
            return ["a"] if given != 1 else 1 / 0

        result = run(system, keep="kept.jsonl")
        again = ENGINE.dataset(samples()).with_metrics(["RR"]).run(outputs="kept.jsonl")
        assert values(again) == values(result) == [1.0, 0.0, 1.0, 1.0]
        assert again.errors == result.errors

    def test_going_on_calls_only_for_the_rest(self):
        run(lambda _: ["a"], 2, keep="kept.jsonl")
        system = Failing(0)
        result = run(system, keep="kept.jsonl", resume=True)
        assert system.calls == [2, 3]
        assert values(result) == [1.0] * 4
        assert list(result.outputs) == ["q0", "q1", "q2", "q3"]

    def test_going_on_ends_with_the_bytes_of_a_run_in_one_piece(self):
        def system(given):
            return ["b"] * given + ["a"]

        run(system, 2, keep="kept.jsonl")
        pieces = run(system, keep="kept.jsonl", resume=True).save("pieces")
        whole = run(system).save("whole")
        assert (pieces / "per_sample.parquet").read_bytes() == (whole / "per_sample.parquet").read_bytes()
        assert (pieces / "per_sample.jsonl").read_bytes() == (whole / "per_sample.jsonl").read_bytes()

    def test_failures_stay_unless_they_are_to_be_retried(self):
        def broken(given):
            if given == 1:
                raise ConnectionError
            return 3 if given == 2 else ["a"]

        assert values(run(broken, keep="kept.jsonl")) == [1.0, 0.0, 0.0, 1.0]
        assert values(run(Failing(0), keep="kept.jsonl", resume=True)) == [1.0, 0.0, 0.0, 1.0]
        system = Failing(0)
        assert values(run(system, keep="kept.jsonl", resume=True, retry_failed=True)) == [1.0] * 4
        assert system.calls == [1, 2]
        assert len(read_kept(Path("kept.jsonl"))) == 4

    def test_a_file_with_outputs_is_not_gone_on_with_by_accident(self):
        run(lambda _: ["a"], keep="kept.jsonl")
        with pytest.raises(ParameterError, match="holds outputs already; use resume=True"):
            run(lambda _: ["a"], keep="kept.jsonl")

    def test_a_last_line_that_is_cut_off_is_told_and_called_again(self, caplog):
        run(lambda _: ["a"], 3, keep="kept.jsonl")
        whole = Path("kept.jsonl").read_bytes()
        Path("kept.jsonl").write_bytes(whole[:-9])
        system = Failing(0)
        with caplog.at_level(logging.WARNING, logger="rankgauge"):
            result = run(system, keep="kept.jsonl", resume=True)
        assert system.calls == [2, 3]
        assert values(result) == [1.0] * 4
        assert "kept.jsonl:3: the last line is cut off" in caplog.text
        assert sorted(read_kept(Path("kept.jsonl"))) == ["q0", "q1", "q2", "q3"]

    @in_thorough_suite()
    def test_wherever_a_file_is_cut_the_rest_is_called_and_the_scores_are_the_same(self):
        def system(given):
            return [f"b{n}" for n in range(given)] + ["a"]

        whole = values(run(system, keep="whole.jsonl"))
        kept = Path("whole.jsonl").read_bytes()
        ends = [place for place, byte in enumerate(kept) if byte == ord("\n")]
        for cut in sorted({*range(0, len(kept) + 1, 11), *ends}):
            Path("cut.jsonl").write_bytes(kept[:cut])
            result = run(system, keep="cut.jsonl", resume=True)
            assert values(result) == whole == [1, 1 / 2, 1 / 3, 1 / 4]
            assert list(read_kept(Path("cut.jsonl"))) == ["q0", "q1", "q2", "q3"]

    def test_a_cut_outputs_file_is_scored_without_its_last_line(self):
        run(lambda _: ["a"], keep="kept.jsonl")
        Path("kept.jsonl").write_bytes(Path("kept.jsonl").read_bytes()[:-9])
        again = ENGINE.dataset(samples()).with_metrics(["RR"]).run(outputs="kept.jsonl")
        assert again.n_unhealthy == 1
        assert values(again) == [1.0, 1.0, 1.0, 0.0]

    def test_outputs_of_another_dataset_are_refused(self):
        run(lambda _: ["a"], 4, keep="kept.jsonl")
        with pytest.raises(DataError, match="2 of 4 outputs are for samples that the dataset lacks"):
            run(lambda _: ["a"], 2, keep="kept.jsonl", resume=True)

    def test_a_file_that_cannot_be_written_is_found_before_the_first_call(self):
        system = Failing(0)
        with pytest.raises(ResultError, match=r"cannot write no/such/folder: .* nothing was called"):
            run(system, keep="no/such/folder")
        assert system.calls == []

    def test_a_full_disk_stops_the_calls_and_keeps_what_is_there(self, monkeypatch):
        add = OutputsFile.add

        def full(file, sample_id, output):
            if sample_id == "q2":
                raise OSError(errno.ENOSPC, "No space left on device")
            add(file, sample_id, output)

        monkeypatch.setattr(OutputsFile, "add", full)
        system = Failing(0)
        with pytest.raises(RunInterrupted, match=r"outputs cannot be kept \(No space left on device\)") as stopped:
            run(system, 9, keep="kept.jsonl")
        assert system.calls == [0, 1, 2]
        assert values(stopped.value.result) == [1.0] * 3
        assert stopped.value.result.is_incomplete
        assert list(read_kept(Path("kept.jsonl"))) == ["q0", "q1"]


class TestStop:
    def test_once_no_new_call_begins_and_those_under_way_end(self):
        stop = Stop()
        begun = []

        async def system(given):
            begun.append(given)
            if given == 1:
                stop.request()
            await asyncio.sleep(0)
            return ["a"]

        found = calls(system, 9, concurrency=2, stop=stop)
        assert begun == [0, 1]
        assert [call.found for call in found] == [["a"], ["a"]]

    def test_twice_those_under_way_are_left_behind(self):
        stop = Stop()

        async def system(given):
            if given == 1:
                stop.request()
                stop.request()
                await asyncio.Event().wait()
            return ["a"]

        assert [call.found for call in calls(system, 9, concurrency=1, stop=stop)] == [["a"]]

    def test_a_stop_ends_the_pause_before_a_retry(self):
        stop = Stop()

        async def sleep(seconds):
            stop.request()
            await asyncio.Event().wait()

        (call,) = calls(Failing(9), retries=9, sleep=sleep, stop=stop)
        assert (call.found.message, call.attempt) == ("failure 1", 1)

    def test_a_stop_during_a_call_that_fails_leaves_no_pause(self):
        stop, slept = Stop(), []

        async def fails(given):
            stop.request()
            raise ConnectionError("no answer")

        async def sleep(seconds):
            slept.append(seconds)

        (call,) = calls(fails, retries=9, sleep=sleep, stop=stop)
        assert (call.attempt, slept) == (1, [])

    def test_a_stop_after_the_calls_reaches_nobody(self):
        stop = Stop()
        (call,) = calls(lambda given: ["a"], stop=stop)
        stop.request()  # of a loop that is closed by now
        assert (call.found, stop.requests) == (["a"], 1)

    def test_a_stop_before_the_first_call_prevents_it(self):
        stop = Stop()
        stop.request()
        assert calls(Failing(0), 3, stop=stop) == []

    def test_the_result_has_what_was_done_and_says_so(self):
        stop = Stop()

        def system(given):
            if given == 1:
                stop.request()
            return ["a"]

        with pytest.raises(RunInterrupted) as stopped:
            run(system, stop=stop)
        assert values(stopped.value.result) == [1.0, 1.0]
        assert stopped.value.result.manifest["interrupted"]

    def test_a_stop_after_the_last_call_changes_nothing(self):
        stop = Stop()

        def system(given):
            if given == 3:
                stop.request()
            return ["a"]

        assert values(run(system, stop=stop)) == [1.0] * 4
