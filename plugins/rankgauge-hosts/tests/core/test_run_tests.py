"""The runner of the hosts' tests: what it could not test is said last, and what failed fails."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

PLUGIN = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def runner():
    spec = importlib.util.spec_from_file_location("hosts_runner", PLUGIN / "run_tests.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def run(runner, monkeypatch, capsys):
    """Return a function that runs hosts with these outcomes, and returns the exit code and what was printed."""

    def run_with(**statuses):
        def tested(host, environment):
            return runner.Outcome(host, statuses[host], f"why {host}", 1.0)

        monkeypatch.setattr(runner, "tested", tested)
        monkeypatch.setattr(sys, "argv", ["run_tests.py", *statuses])
        return runner.main(), capsys.readouterr().out

    return run_with


def test_every_host_is_run(runner):
    of_samples = ["inspect", "deepeval", "haystack", "mlflow", "ragas"]
    assert runner.known_hosts() == [*of_samples, "ir_measures", "sentence_transformers", "platforms"]


def test_a_host_that_could_not_be_tested_is_said_last_and_fails_nothing(run):
    code, printed = run(inspect="passed", ragas="not tested")
    assert code == 0
    *_, heading, told, frame = printed.splitlines()
    assert (heading, told) == ("!!  1 OF 2 HOSTS WERE NOT TESTED", "!!  ragas: why ragas")
    assert set(frame) == {"!"}


@pytest.mark.parametrize(
    ("statuses", "code"),
    [
        ({"inspect": "passed", "ragas": "passed"}, 0),
        ({"inspect": "passed", "ragas": "failed"}, 1),
        ({"inspect": "not tested", "ragas": "not tested"}, 1),
    ],
)
def test_the_exit_code_is_1_for_failing_tests_and_where_nothing_was_tested(run, statuses, code):
    assert run(**statuses)[0] == code


def test_nothing_is_framed_where_everything_was_tested(run):
    assert "NOT TESTED" not in run(inspect="passed")[1]


def test_an_unknown_host_is_refused(runner, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["run_tests.py", "langsmith"])
    with pytest.raises(SystemExit):
        runner.main()
    assert "no host 'langsmith'; there are inspect, deepeval" in capsys.readouterr().err


def test_an_environment_that_cannot_be_made_is_no_failing_test(runner, monkeypatch, tmp_path):
    def installed(host, environment):
        command = ["pip"]
        raise subprocess.TimeoutExpired(command, 1800)

    monkeypatch.setattr(runner, "_installed", installed)
    outcome = runner.tested("ragas", tmp_path)
    assert outcome.status == "not tested"
    assert "its environment could not be made: TimeoutExpired" in outcome.told


@pytest.mark.parametrize(
    "call", ["socket.create_connection(('192.0.2.1', 80), 1)", "socket.getaddrinfo('example.org', 80)"]
)
def test_hosts_are_tested_offline(call):
    """Also in child processes, which find the guard on their path."""
    script = f"import socket, sitecustomize as s\ntry:\n    {call}\nexcept OSError as e:\n    print(e, s.ATTEMPTS)"
    environment = {"PYTHONPATH": str(PLUGIN / "tests" / "offline")}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment, timeout=60
    )
    assert "the tests are offline, and something tried to reach" in done.stdout
    assert done.stdout.count("192.0.2.1") + done.stdout.count("example.org") == 2
