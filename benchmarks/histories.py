"""
Simulate what repeats and histories promise, and measure how fast a long history opens.

False alarms of the change point and of A against A, and how often the interval of a change point holds the change; with
standard errors, on binary scores of samples that differ in difficulty. Seeds are fixed.

Run it with ``python benchmarks/histories.py [--draws N]``.
"""

from __future__ import annotations

import argparse
import math
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from rankgauge import Engine
from rankgauge.features.history.change_point import change_point
from rankgauge.history import History
from rankgauge.stats.paired_tests import flip_signs

ENTRIES = 10_000


def drawn(rng: np.random.Generator, runs: int, n: int, change: int = 0, size: float = 0.0) -> np.ndarray:
    """Return 0/1 scores of samples in some runs, lower by a share from one run on."""
    chances = rng.beta(0.6, 0.6, (n, 1)) * np.ones(runs)
    chances[:, change:] *= 1 - size
    return (rng.random((n, runs)) < chances).astype(np.float64)


def said(what: str, share: float, draws: int) -> None:
    """Print a share with its standard error."""
    print(f"{what}: {share:.3f} (standard error {math.sqrt(share * (1 - share) / draws):.3f})")


def simulate(draws: int) -> None:
    """Print the shares of false alarms, of changes that are found, and of intervals that hold the change."""
    for runs, n in ((5, 30), (10, 50), (20, 100)):
        rng = np.random.default_rng(1)
        alarms = sum(change_point(drawn(rng, runs, n), resamples=999).p <= 0.05 for _ in range(draws))
        said(f"change point, {runs} entries of {n} samples, nothing changed: alarms", alarms / draws, draws)
        found = held = 0
        for _ in range(draws):
            point = change_point(drawn(rng, runs, n, runs // 2, 0.3), resamples=999)
            found += point.p <= 0.05
            held += point.first <= runs // 2 <= point.last
        said(f"change point, {runs} entries of {n} samples, 30 % worse: found", found / draws, draws)
        said(f"change point, {runs} entries of {n} samples, 30 % worse: interval holds it", held / draws, draws)
    rng = np.random.default_rng(2)
    alarms = sum(flip_signs(np.diff(drawn(rng, 2, 50), axis=1), resamples=999).p[0] <= 0.05 for _ in range(10 * draws))
    said("A against A, 50 samples: alarms", alarms / (10 * draws), 10 * draws)


def measure_opening() -> None:
    """Print how long a history with many entries takes to open."""
    samples = [{"id": str(n), "expected_output": ["a"], "actual_output": ["a"]} for n in range(30)]
    with tempfile.TemporaryDirectory() as folder:
        history = History(Path(folder) / "index")
        result = Engine().dataset(samples).with_metrics(["hit@1", "ndcg@10", "MRR", "recall@5", "P@5"]).run()
        entry = history.add(result.save(Path(folder) / "result"))
        with history._writing() as index:  # noqa: SLF001  # ten thousand folders would take long to write
            rows = [
                (f"{n}", "data", f"{n:08}", None, history._written(replace(entry, id=f"{n}")))  # noqa: SLF001
                for n in range(ENTRIES)
            ]
            index.executemany("INSERT INTO entries VALUES (?, ?, ?, ?, ?)", rows)
        begun = time.perf_counter()
        count = len(history.entries())
        print(f"a history of {count:,} entries opens in {time.perf_counter() - begun:.2f} s")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=1000)
    given = parser.parse_args()
    simulate(given.draws)
    measure_opening()
