"""How a command's process starts and ends: asked in fresh processes, which say what became of them at their exit."""

import json
import os
import platform
import signal
import subprocess
import sys
import threading
from argparse import Namespace
from pathlib import Path
from types import SimpleNamespace

import pytest

from child_processes import run, variables
from draws import in_thorough_suite
from rankgauge.cli.catalog_options import INIT
from rankgauge.cli.interrupts import kept_interrupts
from rankgauge.cli.scoring_options import RUN

THREADS = ("OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS")
TOLD = """
import atexit, gc, json, os, sys
def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
def kept():
    import numpy
    before = resident() if os.path.exists("/proc/self/statm") else 0
    numpy.ones(16_000_000, dtype="u1")
    return resident() - before if before else 0
def tell():
    facts = {
        "frozen": gc.get_freeze_count(),
        "collects": gc.isenabled(),
        "variables": {name: os.environ[name] for name in %r if name in os.environ},
        "kept": kept(),
        "threads": len(os.listdir("/proc/self/task")) if os.path.isdir("/proc/self/task") else None,
    }
    sys.stderr.write("FACTS" + json.dumps(facts))
atexit.register(tell)
from rankgauge.cli import main
main(%r)
"""


@pytest.fixture
def facts_of(tmp_path):
    (tmp_path / "qrels.txt").write_text("q 0 a 1\n", encoding="utf-8")
    (tmp_path / "run.txt").write_text("q Q0 a 1 2.0 t\n", encoding="utf-8")

    def call(*arguments, **variables):
        own = {name: value for name, value in os.environ.items() if name not in THREADS}
        script = TOLD % (THREADS, list(arguments))
        command = [sys.executable, "-c", script]
        done = subprocess.run(
            command, capture_output=True, text=True, check=True, cwd=tmp_path, env={**own, **variables}
        )
        assert "1.0000" in done.stdout
        return json.loads(done.stderr.partition("FACTS")[2])

    return call


@pytest.mark.usefixtures("process")
def test_the_exit_of_a_command_searches_no_cycles_among_what_is_loaded(facts_of):
    facts = facts_of("trec", "qrels.txt", "run.txt", "-m", "RR")
    assert facts["frozen"] > 10_000
    assert facts["collects"]


@pytest.mark.usefixtures("process")
def test_a_run_is_evaluated_in_one_thread_and_nobody_inherits_the_variable_that_says_so(facts_of):
    facts = facts_of("trec", "qrels.txt", "run.txt", "-m", "RR")
    assert facts["threads"] in {1, None}
    assert facts["variables"] == {}


@pytest.mark.usefixtures("process")
def test_outputs_that_are_there_are_scored_in_one_thread(facts_of, tmp_path):
    row = {"id": "q", "expected_output": ["a"], "actual_output": ["a"]}
    (tmp_path / "s.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    assert facts_of("run", "s.jsonl", "-m", "RR")["threads"] in {1, None}
    assert facts_of("compare", "run.txt", "run.txt", "--qrels", "qrels.txt", "-m", "RR")["threads"] in {1, None}


def test_commands_that_may_call_a_system_leave_numpy_its_threads():
    def alone(*, config=None, data=None, sut=None):
        return RUN.calls_nothing(Namespace(config=config and Path(config), data=data and Path(data), sut=sut))

    assert alone(data="s.jsonl")
    assert alone(config="s.jsonl.gz")
    assert not alone(config="rankgauge.yaml")
    assert not alone(data="s.jsonl", sut="mine.py:search")
    assert not INIT.calls_nothing(Namespace())


@pytest.mark.usefixtures("process")
@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other allocators decide for themselves")
def test_memory_that_a_run_frees_stays_with_the_process_of_the_command(facts_of):
    """Of 16 MB that are written and freed; by default glibc returns a block of this size to the kernel."""
    assert facts_of("trec", "qrels.txt", "run.txt", "-m", "RR")["kept"] > 12_000_000


@pytest.mark.usefixtures("process")
def test_whoever_says_how_many_threads_openblas_has_is_obeyed(facts_of):
    facts = facts_of("trec", "qrels.txt", "run.txt", "-m", "RR", OPENBLAS_NUM_THREADS="2")
    assert facts["variables"] == {"OPENBLAS_NUM_THREADS": "2"}


@pytest.mark.usefixtures("process")
def test_a_system_under_test_runs_with_the_collector_as_python_has_it(tmp_path):
    (tmp_path / "s.jsonl").write_text('{"id": "q", "input": "x", "expected_output": ["a"]}\n', encoding="utf-8")
    source = "import gc\ndef system(input):\n    print('SEEN', *gc.get_threshold())\n    return ['a']\n"
    (tmp_path / "mine.py").write_text(source, encoding="utf-8")
    script = (
        "import gc, sys\nprint('USUAL', *gc.get_threshold(), file=sys.stderr)\n"
        "from rankgauge.cli import main\nmain(['run', '--data', 's.jsonl', '--sut', 'mine.py:system', '-m', 'RR'])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path, check=True)
    told = dict(line.split(maxsplit=1) for line in done.stderr.splitlines() if line.startswith(("USUAL", "SEEN")))
    assert told["SEEN"] == told["USUAL"]


@pytest.mark.usefixtures("process")
def test_a_call_from_python_leaves_the_collector_as_it_is():
    code = (
        "import gc\nfrom rankgauge.cli import call\nbefore = gc.get_threshold(), gc.get_freeze_count()\n"
        "assert call(['--version']) == 0\nassert (gc.get_threshold(), gc.get_freeze_count()) == before"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.usefixtures("process")
@pytest.mark.promise
def test_ctrl_c_that_python_would_drop_ends_the_command(tmp_path):
    """What is raised in a callback of a weak reference is ignored; `pause` would wait for ever for a second signal."""
    (tmp_path / "s.jsonl").write_text('{"id": "q", "input": "x", "expected_output": ["a"]}\n', encoding="utf-8")
    source = (
        "import signal, weakref\nclass Thing: pass\nthing = Thing()\n"
        "reference = weakref.ref(thing, lambda _: signal.raise_signal(signal.SIGINT))\ndel thing\nsignal.pause()\n"
    )
    (tmp_path / "dropping.py").write_text(source, encoding="utf-8")
    command = [sys.executable, "-m", "rankgauge", "run", "--data", "s.jsonl", "--sut", "dropping.py:sut", "-m", "RR"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=120, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (3, "", "error: interrupted\n")


@pytest.mark.usefixtures("process")
@in_thorough_suite()
def test_every_metric_computes_the_same_without_docstrings(tmp_path):
    """``python -OO`` removes them, and asserts."""
    sample = {
        "id": "q",
        "expected_output": {
            "relevant": {"a": 1, "b": 2},
            "answer": ["forty-one metres"],
            "passages": ["The lighthouse is forty-one metres tall."],
            "keywords": ["tall"],
            "spans": [{"document": "d", "start": 5, "end": 9}],
            "forbidden": ["c"],
            "sets": [["a"]],
            "nuggets": [{"id": "n", "text": "41 metres tall", "importance": "vital"}],
        },
        "actual_output": {
            "retrieved": [
                {"id": "c", "text": "A rock."},
                {"id": "a", "text": "It is tall.", "document": "d", "start": 0, "end": 11},
            ],
            "answer": "Forty-one metres.",
            "support": {"n": "support"},
        },
        "metadata": {"asked_at": "2024-05-01"},
    }
    (tmp_path / "s.jsonl").write_text(json.dumps(sample), encoding="utf-8")

    def called(*arguments, optimize):
        done = run(*arguments, cwd=tmp_path, env=variables(PYTHONOPTIMIZE=optimize, PYTHONDONTWRITEBYTECODE="1"))
        assert done.returncode == 0, done.stderr
        return done

    listed = [called("metrics", "list", "--json", optimize=level) for level in ("", "2")]
    names, names_without = ([metric["names"] for metric in json.loads(done.stdout)] for done in listed)
    assert names == names_without
    assert "summaries and definitions are missing" not in listed[0].stderr
    assert "summaries and definitions are missing" in listed[1].stderr
    wanted = [part for first, *_ in names for part in ("-m", first)]
    assert len(wanted) > 2 * 70
    scores = [
        called("run", "--data", "s.jsonl", *wanted, "--max-failed", "1", "--json", optimize=level).stdout
        for level in ("", "2")
    ]
    assert scores[0] == scores[1]


def test_ctrl_c_that_comes_while_it_is_sent_again_is_sent_once_more(monkeypatch):
    """What is raised within the hook is dropped as well."""
    started = []

    class Early:
        def __init__(self, seconds, function, arguments):
            self.sends = (function, arguments)

        def start(self):
            started.append(self.sends)
            if len(started) == 1:
                raise KeyboardInterrupt

    monkeypatch.setattr(threading, "Timer", Early)
    with kept_interrupts():
        sys.unraisablehook(SimpleNamespace(exc_type=KeyboardInterrupt))
    assert started == [(os.kill, (os.getpid(), signal.SIGINT))] * 2
