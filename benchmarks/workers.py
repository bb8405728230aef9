"""
Measure `rankgauge run --workers` on JSON lines with texts: one process against two, and as many as there are cores.

All sides run in turns, as whole processes, on the chunks and passages of ``matching.py``, which are about 15 kB a
sample. Processor time is that of all processes together, so it grows with workers; what counts on idle cores is wall
time. With more work on the machine than cores, the wall times say nothing.

Run it with ``make bench`` or ``python benchmarks/workers.py [--samples N] [--runs N]``.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
from pathlib import Path

import orjson
from matching import generated
from processes import Cost, alternated


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--samples", type=int, default=20_000)
    options.add_argument("--runs", type=int, default=5)
    given = options.parse_args()
    counts = sorted({1, 2, os.cpu_count() or 1})
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "samples.jsonl"
        write(data, given.samples)
        print(f"{given.samples:,} samples, {data.stat().st_size / 1e6:.0f} MB; medians of {given.runs}")
        for matcher in ("chunk", "fuzzy-chunk"):
            command = [
                sys.executable,
                "-m",
                "rankgauge",
                "run",
                "--data",
                str(data),
                "-m",
                f"hit(matcher={matcher})@10",
            ]
            costs = alternated({str(count): [*command, "--workers", str(count)] for count in counts}, given.runs)
            print(matcher)
            for count in counts:
                tell(count, costs[str(count)], costs["1"])


def write(path: Path, samples: int) -> None:
    """Write samples whose retrieved items have an id and a text."""
    with path.open("wb") as file:
        for number, question in enumerate(generated(samples)):
            retrieved = [{"id": f"d{rank}", "text": text} for rank, text in enumerate(question.chunks)]
            sample = {
                "id": f"q{number}",
                "input": "?",
                "expected_output": {"passages": question.golds},
                "actual_output": {"retrieved": retrieved},
            }
            file.write(orjson.dumps(sample) + b"\n")


def tell(count: int, costs: list[Cost], alone: list[Cost]) -> None:
    """Print medians, and how many times as fast as one process, turn by turn."""
    wall, cpu, peak = (statistics.median(cost[part] for cost in costs) for part in range(3))
    faster = statistics.median(one.wall / cost.wall for one, cost in zip(alone, costs, strict=True))
    print(
        f"  --workers {count}   wall {wall:6.2f} s   cpu {cpu:6.2f} s   peak of one process {peak:4.0f} MB   "
        f"{faster:.2f} times as fast"
    )


if __name__ == "__main__":
    main()
