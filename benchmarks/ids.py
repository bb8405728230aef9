"""
Measure a whole `rankgauge run` over samples of ids against the scripts that people would write instead.

One script decodes each line with orjson and gives dictionaries to pytrec_eval; the other is a plain loop of orjson and
set arithmetic. All three read the same file, compute hit, recall, reciprocal rank, average precision and nDCG of 20
retrieved ids, and print five means, which have to agree. They run in turns, as whole processes; ratios are medians of
what pairs of turns took. Start-up is what `rankgauge run` takes with one sample.

Run it with ``make bench`` or ``python benchmarks/ids.py [--samples N ...] [--runs N]``.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import orjson
from jsonl import ITEMS, documented_forms, write
from processes import Cost, alternated, environment

CUT = 10
METRICS = (f"hit@{CUT}", f"recall@{CUT}", "mrr", "map", f"ndcg@{CUT}")
FORMS = ("list of ids", "map of gains")
BY_PYTREC_EVAL = """
import sys
import orjson
import pytrec_eval

qrels, run = {}, {}
with open(sys.argv[1], "rb") as lines:
    for line in lines:
        sample = orjson.loads(line)
        gold, retrieved = sample["expected_output"], sample["actual_output"]["retrieved"]
        qrels[sample["id"]] = gold if isinstance(gold, dict) else {doc: 1 for doc in gold}
        run[sample["id"]] = {doc: 1 / rank for rank, doc in enumerate(retrieved, 1)}
measures = ("success_10", "recall_10", "recip_rank", "map", "ndcg_cut_10")
scores = pytrec_eval.RelevanceEvaluator(qrels, set(measures)).evaluate(run)
for measure in measures:
    print(measure, sum(score[measure] for score in scores.values()) / len(scores))
"""
PLAIN_LOOP = """
import math
import sys
import orjson

def hit(relevant, retrieved, k):
    return float(bool(relevant & set(retrieved[:k])))

def recall(relevant, retrieved, k):
    return len(relevant & set(retrieved[:k])) / len(relevant)

def reciprocal_rank(relevant, retrieved):
    for rank, doc in enumerate(retrieved, 1):
        if doc in relevant:
            return 1 / rank
    return 0.0

def average_precision(relevant, retrieved):
    found, total = 0, 0.0
    for rank, doc in enumerate(retrieved, 1):
        if doc in relevant:
            found += 1
            total += found / rank
    return total / len(relevant)

def ndcg(gains, retrieved, k):
    dcg = sum(gains.get(doc, 0) / math.log2(rank + 1) for rank, doc in enumerate(retrieved[:k], 1))
    best = sorted(gains.values(), reverse=True)[:k]
    return dcg / sum(gain / math.log2(rank + 1) for rank, gain in enumerate(best, 1))

scores = {"hit": [], "recall": [], "mrr": [], "map": [], "ndcg": []}
with open(sys.argv[1], "rb") as lines:
    for line in lines:
        sample = orjson.loads(line)
        gold, retrieved = sample["expected_output"], sample["actual_output"]["retrieved"]
        gains = gold if isinstance(gold, dict) else dict.fromkeys(gold, 1)
        relevant = {doc for doc, gain in gains.items() if gain > 0}
        scores["hit"].append(hit(relevant, retrieved, 10))
        scores["recall"].append(recall(relevant, retrieved, 10))
        scores["mrr"].append(reciprocal_rank(relevant, retrieved))
        scores["map"].append(average_precision(relevant, retrieved))
        scores["ndcg"].append(ndcg(gains, retrieved, 10))
for name, values in scores.items():
    print(name, sum(values) / len(values))
"""


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--samples", type=int, nargs="+", default=[1, 6_000, 60_000, 600_000])
    options.add_argument("--runs", type=int, default=5)
    given = options.parse_args()
    print(f"{ITEMS} ids a sample, medians of {given.runs}; processor seconds, and how many times ours the others take")
    print(f"{'form':14}{'samples':>9}{'run':>8}{'pytrec_eval':>13}{'loop':>8}{'x':>8}{'x':>7}{'wall x':>9}{'x':>7}")
    for samples in given.samples:
        for form in FORMS:
            compare(form, samples, given.runs)


def compare(form: str, samples: int, runs: int) -> None:
    """Measure the three sides on one form, and print medians and ratios."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.jsonl"
        write([path], documented_forms()[form], samples)
        wanted = [word for metric in METRICS for word in ("-m", metric)]
        sides = {
            "run": [sys.executable, "-m", "rankgauge", "run", "--data", str(path), *wanted],
            "pytrec_eval": [sys.executable, "-c", BY_PYTREC_EVAL, str(path)],
            "loop": [sys.executable, "-c", PLAIN_LOOP, str(path)],
        }
        hold_together(sides)
        costs = alternated(sides, runs)
    cpu = [f"{statistics.median(cost.cpu for cost in each):8.2f}" for each in costs.values()]
    by_cpu, by_wall = ([times(costs, side, part) for side in ("pytrec_eval", "loop")] for part in (1, 0))
    print(
        f"{form:14}{samples:9,}{cpu[0]}{cpu[1]:>13}{cpu[2]}{by_cpu[0]:8.2f}{by_cpu[1]:7.2f}{by_wall[0]:9.2f}{by_wall[1]:7.2f}",
        flush=True,
    )


def times(costs: Mapping[str, Sequence[Cost]], side: str, part: int) -> float:
    """Return the median of what a side takes, divided pair by pair by what the run takes."""
    return statistics.median(b[part] / a[part] for a, b in zip(costs["run"], costs[side], strict=True))


def hold_together(sides: Mapping[str, Sequence[str]]) -> None:
    """Exit if the sides do not come to the same five means."""
    ours = orjson.loads(printed([*sides["run"], "--json"]))["metrics"]
    means = {"run": [metric["mean"] for metric in ours.values()]}
    for side in ("pytrec_eval", "loop"):
        means[side] = [float(line.split()[1]) for line in printed(sides[side]).splitlines()]
    if any(abs(mean - other) > 1e-9 for each in means.values() for mean, other in zip(means["run"], each, strict=True)):
        sys.exit(f"the sides do not agree: {means}")


def printed(command: Sequence[str]) -> str:
    return subprocess.run(command, env=environment(), capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    main()
