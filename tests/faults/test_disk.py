"""A disk that is full: no output is cut short with exit code 0, and a folder is complete or absent."""

import itertools
import json
from pathlib import Path

import pytest

from child_processes import shell, variables
from draws import in_thorough_suite, some
from rankgauge import Result

COMMANDS = ["run --data s.jsonl -m MRR", "run --data s.jsonl -m MRR --json", "metrics list --json", "--help", "trec -h"]

pytestmark = [
    pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full"),
    pytest.mark.usefixtures("process"),
]


@pytest.fixture
def folder(tmp_path):
    rows = ({"id": f"query-{n}", "expected_output": ["a"], "actual_output": ["a", f"{n}"]} for n in range(300))
    (tmp_path / "s.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(("unbuffered", "call"), some(list(itertools.product(["", "1"], COMMANDS))))
def test_a_full_disk_behind_stdout_is_an_error(folder, call, unbuffered):
    done = shell(f"rankgauge {call} >/dev/full", cwd=folder, env=variables(PYTHONUNBUFFERED=unbuffered))
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: cannot write to standard output: No space left on device")


@in_thorough_suite()
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_output_that_is_cut_in_the_middle_never_ends_with_0(folder, unbuffered):
    script = "ulimit -f 4; rankgauge run --data s.jsonl -m MRR --format jsonl >cut.jsonl"  # in blocks of 1024 bytes
    done = shell(script, cwd=folder, env=variables(PYTHONUNBUFFERED=unbuffered))
    assert (done.returncode, (folder / "cut.jsonl").stat().st_size) == (2, 4096)
    assert "cannot write to standard output: File too large" in done.stderr


@pytest.mark.parametrize("blocks", [0, 1, 8, 24])
def test_a_result_folder_that_does_not_fit_is_absent(folder, blocks):
    done = shell(f"ulimit -f {blocks}; rankgauge run --data s.jsonl -m MRR -o out | cat", cwd=folder)
    assert "cannot save to" in done.stderr
    assert "nothing was written" in done.stderr
    assert [path.name for path in folder.iterdir()] == ["s.jsonl"]


@in_thorough_suite()
def test_a_full_disk_keeps_the_result_that_was_there(folder):
    assert shell("rankgauge run --data s.jsonl -m MRR -o out", cwd=folder).returncode == 0
    done = shell("ulimit -f 8; rankgauge run --data s.jsonl -m MRR -o out", cwd=folder)
    assert done.returncode == 2
    assert Result.load(folder / "out")["retrieval-mrr"].mean == 1.0
