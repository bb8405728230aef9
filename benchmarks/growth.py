"""
Growth: time and memory for inputs of ten times the length, which has to grow about ten times.

Each line runs the command line in a process of its own, at a tenth of a length and at the whole of it, and prints the
processor time and the peak of memory of both, and the exponent of their growth without what any call takes: 1 is
linear, and 0 does not grow at all. What is refused in words counts as bounded, and says so. ``--small`` takes a tenth
of everything, ``--large`` ten times as much of what has many lines.
"""

from __future__ import annotations

import json
import math
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import zstandard
from processes import environment

_TIMES = 10


Files = tuple[Mapping[str, bytes], Sequence[str]]
"""The files of a call by name, and its options."""


def passages(count: int) -> Files:
    gold = {"passages": [f"passage {place} of many" for place in range(count)]}
    output = [{"id": "d1", "text": f"passage {count // 2} of many"}]
    return {"data.jsonl": _sample(gold, output)}, ["-m", "recall(gold=passages,matcher=folded)@5"]


def keywords(count: int) -> Files:
    gold = {"keywords": [f"word{place}" for place in range(count)]}
    sample = _sample(gold, [{"id": "d1", "text": "word1 word22"}])
    return {"data.jsonl": sample}, ["-m", "keyword-coverage-at-k"]


def long_line(count: int) -> Files:
    return {"data.jsonl": _sample(["d1"], [{"id": "d1", "text": "x" * count}])}, ["-m", "P@1"]


def tied(count: int) -> Files:
    return {"run": b"".join(b"q1 Q0 d%d 1 1.0 t\n" % place for place in range(count))}, []


def blank_lines(count: int) -> Files:
    return {"data.jsonl.zst": zstandard.compress(b"\n" * count + _sample(["d1"], ["d1"]))}, ["-m", "P@1"]


def run_lines(count: int) -> Files:
    """Return a run of queries with 100 results each."""
    return {"run": _run(count, 1)}, []


def short_queries(count: int) -> Files:
    """Return a run of queries with 2 results each, all of them judged."""
    run = b"".join(b"q%d Q0 d%d %d %d t\n" % (place // 2, place % 2, place % 2, -place) for place in range(count))
    return {"run": run, "qrels": b"".join(b"q%d 0 d1 1\n" % place for place in range(count // 2))}, []


def runs(count: int) -> Files:
    """Return runs of 10 queries."""
    return {f"run{number}": _run(1_000, number) for number in range(count)}, []


def samples(count: int) -> Files:
    """Return samples with 10 ids each."""
    return {"data.jsonl": _samples(count, is_text=False)}, ["-m", "ndcg@10"]


def samples_and_outputs(count: int) -> Files:
    """Return the same with their outputs in a file of their own."""
    rows = [json.loads(line) for line in _samples(count, is_text=False).splitlines()]
    outputs = "".join(json.dumps({"id": row["id"], "actual_output": row.pop("actual_output")}) + "\n" for row in rows)
    data = "".join(json.dumps(row) + "\n" for row in rows)
    files = {"data.jsonl": data.encode(), "outputs.jsonl": outputs.encode()}
    return files, ["-m", "ndcg@10", "--outputs", "outputs.jsonl"]


def samples_with_texts(count: int) -> Files:
    """Return samples with 10 texts each and a gold passage."""
    return {"data.jsonl": _samples(count, is_text=True)}, ["-m", "recall(gold=passages,matcher=chunk)@10"]


def gold_texts(count: int) -> Files:
    """Return one sample with gold texts of 90 characters, of which each of 20 chunks of 2,000 characters holds some."""
    chance = random.Random(7)
    words = ["".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(2, 11))) for _ in range(20_000)]
    gold = [" ".join(chance.choices(words, k=13)) for _ in range(count)]
    texts = [" ".join(chance.choices(gold, k=22))[:2_000] for _ in range(20)]
    sample = _sample({"passages": gold}, [{"id": f"d{place}", "text": text} for place, text in enumerate(texts)])
    return {"data.jsonl": sample}, ["-m", "recall(gold=passages,matcher=passage)@20"]


def open_quote(count: int) -> Files:
    return {"run.csv": b'query_id,doc_id,score\nq1,"d1,1\n' + b"q2,d2,1\n" * (count // 8)}, []


CASES: dict[str, tuple[Callable[[int], Files], int]] = {
    "lines of a run, 100 a query": (run_lines, 1_000_000),
    "lines of a run, 2 a query": (short_queries, 1_000_000),
    "runs of 1,000 lines": (runs, 100),
    "samples of 10 ids": (samples, 100_000),
    "the same, outputs apart": (samples_and_outputs, 100_000),
    "samples of 10 texts": (samples_with_texts, 10_000),
    "gold texts of one sample": (gold_texts, 100_000),
    "gold passages of one sample": (passages, 1_000_000),
    "keywords of one sample": (keywords, 1_000_000),
    "bytes of one line": (long_line, 50_000_000),
    "tied documents of one query": (tied, 1_000_000),
    "blank lines in a compressed file": (blank_lines, 100_000_000),
    "bytes behind an open quote": (open_quote, 50_000_000),
}
LARGE = ("lines of a run, 100 a query", "lines of a run, 2 a query", "samples of 10 ids", "the same, outputs apart")


def main() -> None:
    is_large, is_small = "--large" in sys.argv, "--small" in sys.argv
    print(f"{'input':34}{'length':>13}{'cpu seconds':>16}{'MB':>14}{'exponents':>12}: time, memory")
    bases = {"trec": _measured(tied, 1), "run": _measured(samples, 1)}
    for name, (make, length) in CASES.items():
        if is_large and name not in LARGE:
            continue
        whole = length * 10 if is_large else length // 10 if is_small else length
        short, long = (_measured(make, size) for size in (whole // _TIMES, whole))
        base = bases["trec" if make in {tied, open_quote, run_lines, short_queries, runs} else "run"]
        exponents = (_exponent(*parts) for parts in zip(base[:2], short[:2], long[:2], strict=True))
        shown = "".join("     -" if each is None else f"{each:6.2f}" for each in exponents)
        refused = f"  (refused, exit code {long[2]})" if long[2] else ""
        times, peaks = (
            f"{short[at]:8.2f}{long[at]:8.2f}" if not at else f"{short[at]:7,.0f}{long[at]:7,.0f}" for at in (0, 1)
        )
        print(f"{name:34}{whole:13,}{times}{peaks}{shown}{refused}", flush=True)


def _exponent(base: float, short: float, long: float) -> float | None:
    """Return the exponent of growth over what every call takes; None where that is most of it."""
    less, more = short - base, long - base
    return math.log(more / less, _TIMES) if less > base / 10 and more > 0 else None


def _measured(make: Callable[[int], Files], length: int) -> tuple[float, float, int]:
    """Return the seconds of processor time, the peak memory in MB and the exit code of one call."""
    with tempfile.TemporaryDirectory() as folder:
        with ProcessPoolExecutor(1) as apart:  # a process counts the memory of the one that starts it, too
            names, options = apart.submit(_write, make, length, folder).result()
        if names[0].startswith("run"):
            arguments = ["trec", "qrels", *(name for name in names if name.startswith("run")), "--json"]
        else:
            arguments = ["run", "--data", names[0], *options, "--json"]
        process = subprocess.Popen(
            [sys.executable, "-m", "rankgauge", *arguments],
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**environment(), "RANKGAUGE_NO_PLUGINS": "1"},
        )
        _, status, usage = os.wait4(process.pid, 0)
        seconds = usage.ru_utime + usage.ru_stime
        return seconds, usage.ru_maxrss / 1024, os.waitstatus_to_exitcode(status)


def _write(make: Callable[[int], Files], length: int, folder: str) -> tuple[list[str], Sequence[str]]:
    """Write the files of a call; return their names and the options of the call."""
    files, options = make(length)
    for name, data in {"qrels": _QRELS, **files}.items():
        (Path(folder) / name).write_bytes(data)
    return list(files), options


_QRELS = b"".join(b"q%d 0 d7 1\n" % place for place in range(1, 11))


def _run(count: int, seed: int) -> bytes:
    chance = random.Random(seed)
    rows = (
        b"q%d Q0 d%d 1 %.6f t\n" % (place // 100, place * 7919 % 100_003, chance.random()) for place in range(count)
    )
    return b"".join(rows)


def _samples(count: int, *, is_text: bool) -> bytes:
    chance = random.Random(7)
    text = " ".join("".join(chance.choices("abcdefgh", k=6)) for _ in range(20_000))

    def item(place: int) -> object:
        start = chance.randrange(100_000)
        return {"id": f"d{place}", "text": text[start : start + 400]} if is_text else f"d{place}"

    lines = []
    for number in range(count):
        items = [item(place) for place in chance.sample(range(100), 10)]
        start = chance.randrange(100_000)
        gold: object = {"passages": [text[start : start + 1_000]]} if is_text else ["d7", "d9"]
        lines.append(json.dumps({"id": f"q{number}", "expected_output": gold, "actual_output": items}) + "\n")
    return "".join(lines).encode()


def _sample(gold: object, output: object) -> bytes:
    return json.dumps({"id": "s1", "expected_output": gold, "actual_output": output}).encode() + b"\n"


if __name__ == "__main__":
    main()
