"""
Growth: time and memory for inputs of ten times the length, which has to grow about ten times.

Each line runs the command line in a process of its own, at a tenth of a length and at the whole of it, and prints both
times, both peaks of memory, and how many times longer the whole took. Anything well above 10 is not linear. What is
refused in words counts as bounded, and says so. ``--small`` takes a tenth of everything.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import zstandard

_TIMES = 10


def passages(count: int) -> list[bytes]:
    gold = {"passages": [f"passage {place} of many" for place in range(count)]}
    output = [{"id": "d1", "text": f"passage {count // 2} of many"}]
    return [b"data.jsonl", _sample(gold, output), b"-m recall(gold=passages,matcher=folded)@5"]


def keywords(count: int) -> list[bytes]:
    gold = {"keywords": [f"word{place}" for place in range(count)]}
    return [b"data.jsonl", _sample(gold, [{"id": "d1", "text": "word1 word22"}]), b"-m keyword-coverage-at-k"]


def long_line(count: int) -> list[bytes]:
    return [b"data.jsonl", _sample(["d1"], [{"id": "d1", "text": "x" * count}]), b"-m P@1"]


def tied(count: int) -> list[bytes]:
    return [b"run", b"".join(b"q1 Q0 d%d 1 1.0 t\n" % place for place in range(count)), b""]


def blank_lines(count: int) -> list[bytes]:
    return [b"data.jsonl.zst", zstandard.compress(b"\n" * count + _sample(["d1"], ["d1"])), b"-m P@1"]


def open_quote(count: int) -> list[bytes]:
    return [b"run.csv", b'query_id,doc_id,score\nq1,"d1,1\n' + b"q2,d2,1\n" * (count // 8), b""]


CASES: dict[str, tuple[Callable[[int], list[bytes]], int]] = {
    "gold passages of one sample": (passages, 1_000_000),
    "keywords of one sample": (keywords, 1_000_000),
    "bytes of one line": (long_line, 50_000_000),
    "tied documents of one query": (tied, 1_000_000),
    "blank lines in a compressed file": (blank_lines, 100_000_000),
    "bytes behind an open quote": (open_quote, 50_000_000),
}


def main() -> None:
    share = 10 if "--small" in sys.argv else 1
    print(f"{'input':34}{'length':>13}{'seconds':>16}{'MB':>14}  growth")
    for name, (make, whole) in CASES.items():
        figures = [_measured(make(length)) for length in (whole // share // _TIMES, whole // share)]
        (short, less, _), (long, more, code) = figures
        growth = f"{long / short:5.1f}" if short else "    -"
        refused = "" if code == 0 else f"  (refused, exit code {code})"
        print(
            f"{name:34}{whole // share:13,}{short:8.2f}{long:8.2f}{less:7,.0f}{more:7,.0f}  {growth}{refused}",
            flush=True,
        )


def _measured(case: list[bytes]) -> tuple[float, float, int]:
    """Return the seconds, the peak memory in MB and the exit code of one call, without what any call takes."""
    file, data, options = case
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / file.decode()).write_bytes(data)
        (Path(folder) / "qrels").write_bytes(b"q1 0 d7 1\n")
        if file.startswith(b"run"):
            arguments = ["trec", "qrels", file.decode(), "--json"]
        else:
            arguments = ["run", "--data", file.decode(), *options.decode().split(" ", 1), "--json"]
        begun = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, "-m", "rankgauge", *arguments],
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "RANKGAUGE_NO_PLUGINS": "1"},
        )
        _, status, usage = os.wait4(process.pid, 0)
        return time.perf_counter() - begun, usage.ru_maxrss / 1024, os.waitstatus_to_exitcode(status)


def _sample(gold: object, output: object) -> bytes:
    return json.dumps({"id": "s1", "expected_output": gold, "actual_output": output}).encode() + b"\n"


if __name__ == "__main__":
    main()
