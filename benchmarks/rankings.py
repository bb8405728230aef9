"""
Measure `rankgauge trec --against` on two large runs, and a loop over queries with scipy and sets beside it.

Whole processes, in turns; the median of several. The loop reads both runs into dictionaries, as a script does, and
computes the same measures: Kendall's tau with `scipy.stats.kendalltau`, and overlap and rank-biased overlap with sets.
Both sides print the same means, which is checked.

Run it with ``make bench`` or ``python benchmarks/rankings.py [--runs N] [--queries N] [--depth N]``.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from processes import alternated, environment

LOOP = """
import json, sys
from scipy.stats import kendalltau

def read(path):
    run = {}
    for line in open(path):
        query, _, document, _, score, _ = line.split()
        run.setdefault(query, {})[document] = float(score)
    return {query: sorted(own, key=lambda name: (own[name], name), reverse=True) for query, own in run.items()}

first, second = map(read, sys.argv[1:])
sums = [0.0, 0.0, 0.0]
for query in first:
    one, other = first[query], second[query]
    place = {name: rank for rank, name in enumerate(other)}
    shared = [name for name in one if name in place]
    sums[0] += kendalltau(range(len(shared)), [place[name] for name in shared]).statistic
    seen, its, both, weight, total = set(), set(), 0, 0.1, 0.0
    for depth, (own, theirs) in enumerate(zip(one, other), 1):
        both += (own == theirs) + (own in its) + (theirs in seen)
        seen.add(own)
        its.add(theirs)
        total += weight * both / depth
        weight *= 0.9
    sums[1] += total + both / depth * 0.9 ** depth
    sums[2] += len(set(one[:10]) & set(other[:10])) / 10
print(json.dumps([value / len(first) for value in sums]))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3, help="turns of each side")
    parser.add_argument("--queries", type=int, default=6_980)
    parser.add_argument("--depth", type=int, default=1_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="rankgauge-") as folder:
        first, second = written(Path(folder), options.queries, options.depth)
        ours = [sys.executable, "-m", "rankgauge", "trec", first, "--against", second, "--json"]
        ours += ["-m", "tau_b", "-m", "rbo", "-m", "overlap@10"]
        loop = [sys.executable, "-c", LOOP, first, second]
        check(ours, loop)
        for side, costs in alternated(
            {"rankgauge trec --against": ours, "a loop with scipy": loop}, options.runs
        ).items():
            wall, cpu, peak = (statistics.median(values) for values in zip(*costs, strict=True))
            print(f"  {side:<25} {wall:7.2f} s wall  {cpu:7.2f} s processor  {peak:7.0f} MB")


def written(folder: Path, queries: int, depth: int) -> tuple[str, str]:
    """Write two runs that share most of their documents, in another order."""
    chance = random.Random(7)
    paths = folder / "first.run", folder / "second.run"
    with paths[0].open("w") as first, paths[1].open("w") as second:
        for query in range(queries):
            pool = chance.sample(range(8_841_823), depth * 7 // 5)
            moved = sorted(range(len(pool)), key=lambda rank: rank + chance.gauss(0, depth / 5))
            for file, ranking in ((first, pool[:depth]), (second, [pool[rank] for rank in moved[:depth]])):
                file.writelines(
                    f"{query * 151} Q0 {document} {rank} {200 - rank * 0.05:.6f} t\n"
                    for rank, document in enumerate(ranking, 1)
                )
    return str(paths[0]), str(paths[1])


def check(ours: list[str], loop: list[str]) -> None:
    """Stop if the two sides do not compute the same."""
    texts = [subprocess.run(side, check=True, capture_output=True, env=environment()).stdout for side in (ours, loop)]
    means = [measure["mean"] for measure in json.loads(texts[0])["measures"].values()]
    if any(abs(mean - other) > 1e-9 for mean, other in zip(means, json.loads(texts[1]), strict=True)):
        sys.exit(f"the sides differ: {means} and {texts[1].decode()}")


if __name__ == "__main__":
    main()
