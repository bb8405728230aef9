"""Streams that are closed, or that close early: what succeeds stays a success, and nothing is an internal error."""

import json
import shutil

import pytest

from child_processes import SHELL, shell

pytestmark = [
    pytest.mark.skipif(shutil.which(SHELL) is None, reason="needs a shell"),
    pytest.mark.usefixtures("process"),
]

COMMANDS = {
    "run --json": "run --data many.jsonl -m MRR --json",
    "run --format jsonl": "run --data many.jsonl -m MRR --format jsonl",
    "metrics list": "metrics list",
    "matchers list": "matchers list",
    "plugins list": "plugins list",
    "validate": "validate qrels.txt run.txt",
    "trec": "trec qrels.txt run.txt -q",
    "--help": "--help",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with samples whose report is longer than a pipe holds, and a run with its judgments."""
    path = tmp_path_factory.mktemp("data")
    rows = ({"id": f"query-{n}", "expected_output": ["a"], "actual_output": ["a", f"{n}"]} for n in range(2000))
    (path / "many.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    (path / "missing.jsonl").write_text('{"id": "q", "expected_output": ["a"]}\n', encoding="utf-8")
    (path / "qrels.txt").write_text("".join(f"{n} 0 a 1\n" for n in range(2000)), encoding="utf-8")
    (path / "run.txt").write_text("".join(f"{n} Q0 a 1 1.5 tag\n" for n in range(2000)), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", COMMANDS)
def test_a_reader_that_closes_early_changes_no_exit_code(folder, name):
    done = shell(f"rankgauge {COMMANDS[name]} | head -1; echo ${{PIPESTATUS[0]}}", cwd=folder)
    assert done.stdout.splitlines()[-1] == "0"
    assert len(done.stdout.splitlines()) == 2
    assert "Error" not in done.stderr


@pytest.mark.promise
def test_a_reader_that_closes_early_does_not_hide_that_a_run_is_incomplete(folder):
    done = shell("rankgauge run --data missing.jsonl -m MRR | true; echo ${PIPESTATUS[0]}", cwd=folder)
    assert done.stdout == "3\n"
    assert "incomplete" in done.stderr


@pytest.mark.promise
def test_a_closed_stderr_neither_fails_nor_moves_messages_into_the_result(folder):
    done = shell("rankgauge run --data missing.jsonl -m MRR --json 2>&-; echo $? >&2", cwd=folder)
    assert json.loads(done.stdout)["samples"] == 1
    assert done.stderr == "3\n"


def test_messages_that_nobody_reads_are_no_failure(folder):
    # The first line of stderr is read, the rest of it meets a closed pipe.
    script = "(rankgauge trec qrels.txt run.txt -m P.5 2>&1 >/dev/null; echo $? >code) | true; sleep 0; cat code"
    assert shell(f"rm -f code; {script}", cwd=folder).stdout in {"", "0\n"}  # empty where `cat` was quicker
    assert shell("rankgauge trec qrels.txt run.txt -m P.5 2>/dev/full >/dev/null", cwd=folder).returncode == 0


@pytest.mark.parametrize("name", ["run --json", "trec", "metrics list"])
def test_a_closed_stdout_is_an_error_that_says_so(folder, name):
    done = shell(f"rankgauge {COMMANDS[name]} >&-", cwd=folder)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("error: cannot write to standard output: it is closed")


def test_a_closed_stdin_is_unreadable_input_for_who_reads_it(folder):
    done = shell("rankgauge trec qrels.txt - <&-", cwd=folder)
    assert done.returncode == 2
    assert "it is closed; name a file" in done.stderr
    assert shell("rankgauge trec qrels.txt run.txt -m P.5 <&-", cwd=folder).returncode == 0


def test_an_empty_stdin_is_nothing_to_evaluate_not_a_hang(folder):
    done = shell("rankgauge trec qrels.txt - </dev/null", cwd=folder)
    assert done.returncode in {2, 4}
    assert "internal error" not in done.stderr
