"""Processes that are forked: where polars was used before, they are refused what they would wait for forever."""

import subprocess
import sys

import pytest

from child_processes import variables
from draws import in_thorough_suite

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="threads of a process are only seen there"),
    pytest.mark.usefixtures("process"),
]

SCRIPT = """
import os, signal, sys
from pathlib import Path
import polars as pl
from rankgauge import Engine, Result, evaluate

SAMPLES = [{"id": f"q{n}", "expected_output": ["a"], "actual_output": ["a"]} for n in range(50)]
rows = pl.DataFrame([{"query_id": f"q{n}", "doc_id": "a", "score": 1.0} for n in range(5000)])
Path("qrels").write_text("q1 0 a 1\\n")
Path("s.csv").write_text('id,expected_output,actual_output\\nq1,"[""a""]","[""a""]"\\n')
result = Engine().dataset(SAMPLES).with_metrics("RR").run()
if "used" in sys.argv:
    pl.DataFrame(SAMPLES).write_parquet("s.parquet")
    rows.write_parquet("run.parquet")
    rows.write_csv("run.csv")
    result.save("saved")
calls = {
    "samples": lambda: Engine().dataset(SAMPLES).with_metrics("RR").run(),
    "frame of scores": lambda: result.per_sample,
    "save": lambda: result.save("again"),
    "load": lambda: Result.load("saved"),
    "Parquet": lambda: Engine().dataset("s.parquet").with_metrics("RR").run(),
    "CSV": lambda: Engine().dataset("s.csv").with_metrics("RR").run(),
    "run in Parquet": lambda: evaluate("qrels", "run.parquet", "RR"),
    "run in CSV": lambda: evaluate("qrels", "run.csv", "RR"),
    "table": lambda: evaluate("qrels", rows, "RR"),
}
for name, call in calls.items():
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        try:
            call()
            call()
            print(f"{name}: done", flush=True)
        except BaseException as error:
            words = "was forked from one that had used polars"
            print(f"{name}: {type(error).__name__} {words if words in str(error) else ''}", flush=True)
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code:
        print(f"{name}: ended with {code}", flush=True)
"""


def forked(folder, *words):
    line = [sys.executable, "-W", "ignore:This process:DeprecationWarning", "-c", SCRIPT, *words]
    done = subprocess.run(line, cwd=folder, env=variables(), capture_output=True, text=True, timeout=120, check=True)
    return dict(line.split(": ", 1) for line in done.stdout.splitlines())


@in_thorough_suite()
def test_a_child_of_a_process_that_used_polars_is_refused_what_it_would_wait_for(tmp_path):
    told = forked(tmp_path, "used")
    assert (told.pop("samples"), told.pop("frame of scores")) == ("done", "done")
    refused = "Error was forked from one that had used polars"
    assert told.keys() == {"save", "load", "Parquet", "CSV", "run in Parquet", "run in CSV", "table"}
    assert all(words.endswith(refused) for words in told.values()), told


@in_thorough_suite()
def test_a_child_of_a_process_that_only_loaded_it_may_use_it(tmp_path):
    told = forked(tmp_path)
    assert [told[name] for name in ("samples", "frame of scores", "CSV", "table")] == ["done"] * 4, told
    assert "forked" not in str(told)
    assert "ended with" not in str(told)
