"""Too little address space (``ulimit -v``): a message and exit code 2, or a result; no hang, no crash, no bug."""

import io
import itertools
import json
import subprocess
import sys
import threading
from pathlib import Path

import polars as pl
import pytest

from child_processes import command, variables
from draws import in_thorough_suite, some
from rankgauge.cli import call

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems do not limit address space")

ROWS = [{"id": f"q{n}", "expected_output": ["a"], "actual_output": ["b", "a", "c"]} for n in range(4000)]


def parquet(rows):
    buffer = io.BytesIO()
    pl.DataFrame(rows).write_parquet(buffer)
    return buffer.getvalue()


FORMS = {
    "s.jsonl": lambda rows: "".join(f"{json.dumps(row)}\n" for row in rows).encode(),
    "s.json": lambda rows: json.dumps(rows).encode(),
    "s.yaml": lambda rows: "".join(f"- {json.dumps(row)}\n" for row in rows[:400]).encode(),
    "s.parquet": parquet,
}


def limited(megabytes, *arguments, cwd):
    line = ["prlimit", f"--as={megabytes << 20}", *command(*arguments)]
    return subprocess.run(line, cwd=cwd, env=variables(), capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.usefixtures("process")
@pytest.mark.parametrize(("megabytes", "form"), some(list(itertools.product([60, 150, 500, 900], FORMS))))
def test_a_file_is_read_or_refused(tmp_path, form, megabytes):
    (tmp_path / form).write_bytes(FORMS[form](ROWS))
    done = limited(megabytes, "run", "--data", form, "-m", "RR", "--json", cwd=tmp_path)
    assert done.returncode in {0, 2}, done.stderr
    if done.returncode == 0:
        assert megabytes > 150
        assert json.loads(done.stdout)["metrics"]["rr"]["mean"] == 0.5
    else:
        assert megabytes < (900 if form == "s.parquet" else 500)
        assert "MB of address space, and " in done.stderr
        assert "raise the limit (ulimit -v)" in done.stderr


@pytest.mark.usefixtures("process")
@in_thorough_suite()
def test_json_that_python_has_no_room_for_is_refused_before_orjson_crashes(tmp_path):
    (tmp_path / "s.json").write_text(json.dumps(ROWS * 40))
    done = limited(380, "run", "--data", "s.json", "-m", "RR", cwd=tmp_path)
    assert done.returncode == 2, done
    assert "s.json: reading s.json takes " in done.stderr


@pytest.mark.usefixtures("process")
@in_thorough_suite()
def test_a_result_for_which_there_is_no_room_keeps_outputs(tmp_path):
    (tmp_path / "s.jsonl").write_bytes(FORMS["s.jsonl"](ROWS[:3]))
    (tmp_path / "system.py").write_text("def search(given):\n    return ['a']\n")
    arguments = ["run", "--data", "s.jsonl", "-m", "RR", "--sut", "system.py:search", "-o", "out"]
    done = limited(400, *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert "error: there is not enough memory: loading polars takes 700 MB of address space" in done.stderr
    assert "go on with them: --resume" in done.stderr
    assert (
        subprocess.run(command(*arguments, "--resume", "out"), cwd=tmp_path, env=variables(), check=False).returncode
        == 0
    )


def test_threads_that_cannot_be_started_are_no_bug(tmp_path, monkeypatch, capsys):
    def refused(_):
        raise RuntimeError("can't start new thread")

    monkeypatch.chdir(tmp_path)
    Path("qrels").write_text("q1 0 a 1\n")
    Path("run").write_text("".join(f"q{n // 100} Q0 document-{n} 1 {-n}.5 t\n" for n in range(150_000)))
    monkeypatch.setattr(threading.Thread, "start", refused)
    assert call(["trec", "qrels", "run"]) == 2
    assert "error: no thread can be started" in capsys.readouterr().err
