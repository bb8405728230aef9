"""Processes that are interrupted or killed at any moment, and several at once: no traceback and no half folder."""

import json
import random
import signal
import subprocess
import sys
import time

import pydantic_core
import pytest

from child_processes import command, run, variables
from draws import in_thorough_suite
from rankgauge import Result
from rankgauge.cli.own_process import exit_code

MOMENTS = 3
_READY = "import sys; from rankgauge.cli import main; print('ready', file=sys.stderr, flush=True); main(sys.argv[1:])"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with data that takes a moment to evaluate."""
    path = tmp_path_factory.mktemp("data")
    row = {
        "expected_output": {"relevant": ["a"], "answer": "x"},
        "actual_output": {"retrieved": ["b", "a"], "answer": "x"},
    }
    lines = (json.dumps({"id": f"query-{n}", **row}) for n in range(4000))
    (path / "s.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    (path / "qrels.txt").write_text("".join(f"{n} 0 a 1\n" for n in range(4000)), encoding="utf-8")
    (path / "run.txt").write_text("".join(f"{n} Q0 a 1 1.5 tag\n" for n in range(4000)), encoding="utf-8")
    return path


CALLS = (
    ["run", "--data", "s.jsonl", "-m", "ndcg@5", "-m", "EM", "--json"],
    ["trec", "qrels.txt", "run.txt", "--json"],
    ["metrics", "list", "--json"],
    ["validate", "qrels.txt", "run.txt", "--json"],
)


def started(arguments, cwd):
    """Return a process of the command line that has begun, which is from where on a signal is ours to handle."""
    pipe = subprocess.PIPE
    line = [sys.executable, "-c", _READY, *arguments]
    process = subprocess.Popen(line, cwd=cwd, env=variables(), stdout=pipe, stderr=pipe, text=True)
    assert process.stderr.readline() == "ready\n"
    return process


def after(process, moment, number):
    """Send a signal to a process when it has run for some time, unless it is done; return what came out."""
    try:
        process.wait(timeout=moment)
    except subprocess.TimeoutExpired:
        process.send_signal(number)
    return process.communicate(timeout=120)


@pytest.fixture(scope="module")
def duration(folder):
    """Return how long the longest of the calls takes here, in seconds."""
    begun = time.monotonic()
    started(CALLS[0], folder).communicate(timeout=120)
    return time.monotonic() - begun


@pytest.mark.usefixtures("process")
@pytest.mark.parametrize("call", CALLS, ids=lambda call: call[0])
@in_thorough_suite()
def test_ctrl_c_at_any_moment_leaves_one_line_and_code_3_or_a_whole_result(folder, duration, call):
    rng = random.Random(f"ctrl-c {call[0]}")  # noqa: S311  # not for secrets
    for moment in (rng.uniform(0, duration) for _ in range(MOMENTS)):
        process = started(call, folder)
        out, err = after(process, moment, signal.SIGINT)
        assert process.returncode in {0, 3, -signal.SIGINT}, err
        assert "Traceback" not in err
        assert "Exception ignored" not in err
        if process.returncode == 3:
            assert "interrupted" in err
        else:  # it was done: from then on the signal ends the process without a word
            json.loads(out)


@pytest.mark.usefixtures("process")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
@in_thorough_suite()
def test_a_process_that_is_killed_leaves_a_whole_folder_or_none(folder, duration, tmp_path, number):
    rng = random.Random(number)  # noqa: S311  # not for secrets
    means = set()
    for turn in range(MOMENTS):
        target = tmp_path / f"out-{turn}"
        process = started([*CALLS[0], "-o", str(target)], folder)
        after(process, rng.uniform(0.3, 1.3) * duration, number)
        assert process.returncode in {0, 3, -number}  # 3: SIGTERM interrupts a run in good order
        if target.exists():
            means.add(Result.load(target)["ndcg@5"].mean)
        else:
            assert process.returncode != 0
    assert len(means) <= 1


@pytest.mark.usefixtures("process")
@in_thorough_suite()
def test_of_several_that_save_in_one_place_one_does_and_the_others_say_so(folder, tmp_path):
    line = command(*CALLS[0], "-o", tmp_path / "out")
    pipe = subprocess.PIPE
    several = [
        subprocess.Popen(line, cwd=folder, env=variables(), stdout=pipe, stderr=pipe, text=True) for _ in range(3)
    ]
    told = [process.communicate(timeout=120)[1] for process in several]
    assert sorted(process.returncode for process in several) == [0, 2, 2]
    assert sum("saved to" in each for each in told) == 1
    assert sum("cannot save to" in each for each in told) == 2
    assert len(Result.load(tmp_path / "out")) == 4000
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.usefixtures("process")
def test_ctrl_c_while_a_plugin_is_called_is_no_fault_of_the_plugin(folder, tmp_path):
    code = "import signal\n\ndef sut(given):\n    signal.raise_signal(signal.SIGINT)\n    return ['a']\n"
    (tmp_path / "interrupting.py").write_text(f"{code}\nsut(None)\n", encoding="utf-8")
    arguments = ["run", "--data", folder / "s.jsonl", "-m", "hit@1", "--sut", f"{tmp_path / 'interrupting.py'}:sut"]
    done = run(*arguments, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (3, "error: interrupted\n")


def test_ctrl_c_that_pydantic_wraps_while_it_builds_a_schema_is_no_bug(capsys):
    def building(_):
        raise pydantic_core.SchemaError('Error building "model" validator:\n  KeyboardInterrupt: ')

    assert exit_code(building, [], debug=False) == 3
    assert capsys.readouterr().err == "error: interrupted\n"
