"""Worker processes: the same result, and what is said of those that cannot judge or are ended."""

from __future__ import annotations

import asyncio
import json
import subprocess

import numpy as np
import pytest

from draws import in_thorough_suite, some
from rankgauge import Engine
from rankgauge.engine import workers
from rankgauge.errors import DataError, NotPicklableError, ParameterError, PlanError, WorkerError
from rankgauge.io import file_records as lines

SAY_READY = f"import os, pickle, sys; sys.stdout.buffer.write({workers.READY!r}); "
REFUSE = "pickle.load(sys.stdin.buffer); pickle.dump('no plan', sys.stdout.buffer)"
ANSWER_THEN = f"{SAY_READY} pickle.load(sys.stdin.buffer); pickle.dump(None, sys.stdout.buffer); "
ANSWER_THEN += "sys.stdout.flush(); pickle.load(sys.stdin.buffer); "


def sample(number):
    """Return a sample whose first chunk comes from its passage in two of three cases."""
    passage = f"the pier of town {number % 3} and its boats"
    return {
        "id": f"s{number}",
        "input": "?",
        "expected_output": {"passages": [passage]},
        "actual_output": [{"text": f"user: {passage[: 16 + number % 2]}"}, {"text": f"town {number % 2}"}],
    }


@pytest.fixture
def data(tmp_path, monkeypatch):
    """Return a file of 40 samples, which is large enough for workers here, and makes seven portions."""
    monkeypatch.setattr(workers, "ENOUGH", 1)
    monkeypatch.setattr(lines, "_PORTION", 1500)
    path = tmp_path / "samples.jsonl"
    path.write_text("\n".join(json.dumps(sample(number)) for number in range(40)))
    return path


@pytest.fixture
def started(monkeypatch):
    """Return the processes that were started."""
    found = []

    class Recorded(subprocess.Popen):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            found.append(self)

    monkeypatch.setattr(subprocess, "Popen", Recorded)
    return found


def evaluation(data, *metrics):
    return Engine().dataset(data).with_metrics(metrics or ["hit@1", "recall@2"])


@pytest.mark.usefixtures("process")
@pytest.mark.promise
def test_two_workers_find_what_one_process_does(data, started):
    alone = evaluation(data).run()
    seen = []
    shared = evaluation(data).run(workers=2, progress=lambda done, _: seen.append(done))

    # The role is stripped, and the rest is a part of the passage.
    assert alone["hit@1"].mean == 1
    assert list(shared.sample_ids) == list(alone.sample_ids) == [f"s{number}" for number in range(40)]
    for name in ("hit@1", "recall@2"):
        assert np.array_equal(shared[name].values, alone[name].values)
    assert {**shared.manifest, "created_at": ""} == {**alone.manifest, "created_at": ""}
    assert seen == sorted(seen)
    assert seen[-1] == 40
    assert [process.returncode is not None for process in started] == [True, True]


@pytest.mark.usefixtures("process")
@in_thorough_suite()
def test_problems_of_all_pieces_are_found_with_their_lines(data):
    whole = data.read_text().split("\n")
    whole[3] = "{"
    whole[37] = whole[0]
    data.write_text("\n".join(whole))
    told = []
    for count in (1, 2):
        with pytest.raises(DataError) as caught:
            evaluation(data).run(workers=count)
        told.append(str(caught.value))

    assert told[0] == told[1]
    assert "samples.jsonl:4:" in told[0]
    assert "duplicate sample id 's0'" in told[0]


def test_a_metric_that_cannot_be_sent_is_refused(data, started):
    with pytest.raises(NotPicklableError, match="cannot be sent to another process"):
        evaluation(data, lambda ranking, *, k: 1.0).run(workers=2)

    assert started == []


@pytest.mark.usefixtures("process")
@pytest.mark.parametrize(
    ("start", "said"),
    some(
        [
            ("import os; os._exit(3)", r"ended with code 3 before it judged anything"),
            (f"{ANSWER_THEN} os.kill(os.getpid(), 9)", r"SIGKILL while it judged lines 1 to \d+ of .*fewer workers"),
            (
                f"{ANSWER_THEN} print('Initialising', flush=True); sys.stdin.read()",
                r"answer of a worker .* cannot be read",
            ),
            (f"{ANSWER_THEN} sys.exit(4)", r"ended with code 4 while it judged lines 1"),
            (f"{SAY_READY} {REFUSE}", r"cannot evaluate .*: no plan; what a script"),
            (f"{SAY_READY} sys.stdout.flush(); os.kill(os.getpid(), 40)", r"ended by signal 40 before it judged"),
        ]
    ),
)
def test_a_worker_that_is_ended_is_told_of(data, started, monkeypatch, start, said):
    monkeypatch.setattr(workers, "_START", start)
    with pytest.raises(WorkerError, match=said):
        evaluation(data).run(workers=2)

    assert all(process.returncode is not None for process in started)


@pytest.mark.usefixtures("process")
@in_thorough_suite()
def test_a_worker_with_other_plugins_refuses(data, monkeypatch):
    other = "from rankgauge.plugin import hookimpl; import rankgauge.metrics.recall as r, sys; "
    other += "r.recall.__rankgauge__ = __import__('dataclasses').replace(r.recall.__rankgauge__, version='other'); "
    monkeypatch.setattr(
        workers, "_START", workers._START.replace("from rankgauge.engine", other + "from rankgauge.engine")
    )
    with pytest.raises(PlanError, match="recall"):
        evaluation(data).run(workers=2)


READS_STDIN = """
import sys, rankgauge.engine.workers as worker
judged = worker.LineJudge.judged
worker.LineJudge.judged = lambda self, *lines: (sys.stdin.read(), judged(self, *lines))[1]
"""


@pytest.mark.usefixtures("process")
@pytest.mark.parametrize("before", ["print('cos ready', flush=True)", READS_STDIN], ids=["prints", "reads"])
@in_thorough_suite()
def test_what_else_runs_in_a_worker_may_print_and_read(data, monkeypatch, before):
    """Such as `sitecustomize`, before the worker's own code, or a program that a plugin starts."""
    path, main = workers._START.split("; from ")
    monkeypatch.setattr(workers, "_START", f"{path}\n{before}\nfrom {main}")
    assert evaluation(data).run(workers=2)["hit@1"].mean == evaluation(data).run()["hit@1"].mean


@pytest.mark.usefixtures("process")
@in_thorough_suite()
def test_workers_are_ended_with_the_run(data, started):
    def interrupt(done, _):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evaluation(data).run(workers=2, progress=interrupt)

    assert [process.returncode for process in started] == [-9, -9]


def test_nothing_is_started_where_it_does_not_pay_or_cannot_serve(data, started, monkeypatch):
    one = evaluation(data)
    rows = [json.loads(line) for line in data.read_text().splitlines()]
    outputs = {row["id"]: row["actual_output"] for row in rows}
    for how in ({"details": True}, {"sketch_ids": True}, {"limit": 9}, {"outputs": outputs}, {"sut": lambda _: []}):
        one.run(workers=2, **how)
    one.with_profile(queries="intersection").run(workers=2)
    evaluation(rows).run(workers=2)
    monkeypatch.setattr(workers, "ENOUGH", 1 << 20)
    one.run(workers=2)

    assert started == []


@pytest.mark.parametrize("count", [0, -1, 1.5, True, "2"])
def test_workers_are_a_whole_number(data, count):
    with pytest.raises(ParameterError, match="workers must be an integer of 1 or more"):
        evaluation(data).run(workers=count)
    with pytest.raises(ParameterError, match="workers must be an integer of 1 or more"):
        asyncio.run(evaluation(data).arun(workers=count))
