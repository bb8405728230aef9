"""
Measure the statistics of `rankgauge.compare` against ranx and evalstats, in turns in one process.

Our side compares 7,000 queries by 10 metrics with 100,000 resamples, and 200,000 queries by 5; with ``--runs N`` the
median of several turns is taken. The peers are measured where they are installed (``pip install ranx evalstats``, in an
environment of your own) on one metric, with as many resamples as they take by default. Their p values are printed
beside ours, because numbers that differ need a reason.

Also measured: evaluating two generated runs and comparing them as whole commands, to see what comparing adds.

Run it with ``make bench`` or ``python benchmarks/compare.py [--runs N] [--queries N]``.
"""

from __future__ import annotations

import argparse
import importlib.util
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from processes import alternated

from rankgauge.stats.paired_tests import flip_signs

METRICS = ("ndcg@10", "RR", "AP", "P@10", "R@100")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5, help="turns of each side")
    parser.add_argument("--queries", type=int, default=2_000, help="queries of the generated runs")
    options = parser.parse_args()
    print("statistics, seconds (median), one process")
    for queries, metrics in ((225, 10), (1_000, 10), (7_000, 10), (200_000, 5)):
        differences = drawn(queries, metrics)
        taken = median(lambda made=differences: flip_signs(made), options.runs)
        print(f"  rankgauge   {queries:>7,} x {metrics:<2}  sign-flip and max-T, 100,000 resamples  {taken:8.3f}")
    peers(options.runs)
    commands(options.queries, options.runs)


def drawn(queries: int, metrics: int) -> np.ndarray:
    """Return differences as metrics have them: correlated, in steps, many of them 0."""
    rng = np.random.default_rng(queries)
    shared = rng.normal(size=(queries, 1))
    steps = np.round(shared + rng.normal(size=(queries, metrics)), 1) / 10
    return steps * (rng.random((queries, metrics)) < 0.6) + 0.002


def median(call: Callable[[], object], runs: int) -> float:
    times = []
    for turn in range(runs + 1):
        begun = time.perf_counter()
        call()
        if turn:  # the first one loads and compiles
            times.append(time.perf_counter() - begun)
    return statistics.median(times)


def peers(runs: int) -> None:
    """Measure tests of one metric, each as its library does them by default, and print the p of each."""
    differences = drawn(7_000, 1)[:, 0]
    scores = np.stack([np.full(7_000, 0.5), 0.5 + differences])
    told("rankgauge", "sign flips, 100,000", lambda: float(flip_signs(differences[:, None]).p[0]), runs)
    if importlib.util.find_spec("ranx") is None:
        print("  ranx is not installed; not measured")
    else:
        from ranx.statistical_tests import fisher_randomization_test as fisher  # noqa: PLC0415  # a peer

        told("ranx", "permutations, 1,000", lambda: fisher(scores[0], scores[1], 1_000)[0], runs)
        print("    its p is b / B: it can be 0, and moves in steps of .001; ours is (b + 1) / (B + 1)")
    if importlib.util.find_spec("evalstats") is None:
        print("  evalstats is not installed; not measured")
    else:
        from evalstats.core.paired import pairwise_differences  # noqa: PLC0415  # a peer

        for method in ("permutation", "bca"):

            def test(method: str = method) -> float:
                return pairwise_differences(scores, 1, 0, method=method, rng=np.random.default_rng(0)).p_value

            told("evalstats", f"{method}, 10,000", test, runs)


def told(side: str, what: str, test: Callable[[], float], runs: int) -> None:
    """Print the time and the p of a test of one metric over 7,000 queries."""
    print(f"  {side:<11}   7,000 x 1   {what:<43}{median(test, runs):8.3f}  p {float(test()):.5f}")


def commands(queries: int, runs: int) -> None:
    """Compare evaluating two runs with evaluating and comparing them, as whole processes."""
    with tempfile.TemporaryDirectory() as folder:
        qrels, first, second = generated(Path(folder), queries)
        start = [sys.executable, "-m", "rankgauge"]
        wanted = [part for metric in METRICS for part in ("-m", metric)]
        sides = {
            "trec, two runs": [*start, "trec", qrels, first, second, *wanted],
            "compare, two runs": [*start, "compare", "--qrels", qrels, first, second, *wanted],
        }
        print(f"\nwhole commands, {queries:,} queries x 1,000 results, {len(METRICS)} metrics, seconds and MB (median)")
        for side, costs in alternated(sides, runs).items():
            wall, peak = (statistics.median(each) for each in zip(*((c.wall, c.peak) for c in costs), strict=True))
            print(f"  {side:<20} {wall:6.2f}  {peak:6.0f}")


def generated(folder: Path, queries: int) -> tuple[str, str, str]:
    """Write judgments and two runs of 1,000 results a query."""
    rng = np.random.default_rng(0)
    qrels = folder / "qrels.txt"
    qrels.write_text("".join(f"{q} 0 d{q * 7 % 5000} 1\n" for q in range(queries)), encoding="utf-8")
    paths = []
    for name in ("first", "second"):
        path = folder / f"{name}.run"
        with path.open("w", encoding="utf-8") as file:
            for query in range(queries):
                documents = rng.permutation(5_000)[:1_000].tolist()
                place = int(rng.integers(0, 100))
                relevant = query * 7 % 5_000
                documents = [each for each in documents if each != relevant]
                documents.insert(place, relevant)
                file.writelines(f"{query} Q0 d{d} {r} {2000 - r} {name}\n" for r, d in enumerate(documents[:1_000], 1))
        paths.append(str(path))
    return str(qrels), *paths


if __name__ == "__main__":
    main()
