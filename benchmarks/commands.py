"""
Measure the commands that people wait for, on small and on large input, as whole processes.

Small is the quickstart, and its two systems as TREC runs; large are 20,000 samples with 20 ids each, and two runs of
1,000 queries with 100 results each. Times are those of the processor, as multiples of `import numpy` in the same turns.
Also measured: what the pytest plugin adds to collecting a test, and a process that calls `score()` once or 1,000 times.

Run it with ``make bench`` or ``python benchmarks/commands.py [--runs N] [--only NAME]``.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import tempfile
from pathlib import Path

from processes import alternated, measured

CONFIGS = Path(__file__).parent.parent / "configs"
METRICS = ["-m", "ndcg@10", "-m", "recall@10", "-m", "RR"]
SCORE = """
import time
from rankgauge import Engine
items = [{{"id": f"d{{n}}", "score": 1 - n / 30}} for n in range(20)]
sample = {{"id": "q", "expected_output": ["d3", "d9"], "actual_output": items}}
evaluation = Engine().dataset([sample]).with_metrics(["hit@5", "recall@10", "RR", "AP", "ndcg@10"])
for _ in range({times}):
    evaluation.score(sample)
"""


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--runs", type=int, default=5)
    options.add_argument("--only", default="", help="commands whose name holds this")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        sides = {name: side for name, side in commands(Path(folder)).items() if given.only in name}
        costs = alternated({"import numpy": [sys.executable, "-c", "import numpy"], **sides}, given.runs)
    print(f"{'command':42}{'cpu s':>8}{'x numpy':>9}{'wall s':>8}{'MB':>6}")
    for name, each in costs.items():
        median = [statistics.median(part) for part in zip(*each, strict=True)]
        pairs = zip(each, costs["import numpy"], strict=True)
        times = statistics.median(cost.cpu / numpy.cpu for cost, numpy in pairs)
        print(f"{name:42}{median[1]:8.3f}{times:9.2f}{median[0]:8.3f}{median[2]:6.0f}")


def commands(folder: Path) -> dict[str, list[str]]:
    """Return the command lines by name, with their input in a folder."""
    config = str(CONFIGS / "quickstart/rankgauge.yaml")
    samples, results = folder / "samples.jsonl", {size: folder / f"result-{size}" for size in ("small", "large")}
    write_samples(samples)
    small = [str(CONFIGS / "trec" / name) for name in ("qrels.txt", "bm25.run", "char-ngram.run")]
    large = [str(folder / name) for name in ("qrels", "a.run", "b.run")]
    write_runs(*map(Path, large))
    saved = ["-o", str(folder / "saved"), "--force"]
    first = {"small": "q01", "large": "q1"}
    every = {
        "--help": ["--help"],
        "plugins list": ["plugins", "list"],
        "metrics list": ["metrics", "list"],
        "run, quickstart": ["run", config, *saved],
        "run, 20,000 samples": ["run", "--data", str(samples), *METRICS, *saved],
        "validate, quickstart": ["validate", config],
        "validate, 20,000 samples": ["validate", str(samples)],
        "validate, two runs, 50 x 10": ["validate", *small],
        "validate, two runs, 1,000 x 100": ["validate", *large],
        "trec, 50 x 10": ["trec", *small[:2]],
        "trec, 1,000 x 100": ["trec", *large[:2]],
        "compare, 50 x 10": ["compare", "--qrels", *small, *METRICS],
        "compare, 1,000 x 100": ["compare", "--qrels", *large, *METRICS],
    }
    run = [sys.executable, "-m", "rankgauge"]
    prepare(run, config, samples, results)
    for size, result in results.items():
        name = "quickstart" if size == "small" else "20,000 samples"
        every[f"explain, {name}"] = ["explain", str(result), first[size], "-m", "ndcg@10"]
        every[f"report, {name}"] = ["report", str(result), "-o", str(folder / "report.html")]
    sides = {name: [*run, *arguments] for name, arguments in every.items()}
    test = folder / "test_one.py"
    test.write_text("def test_one():\n    pass\n", encoding="utf-8")
    collect = [
        sys.executable,
        "-m",
        "pytest",
        "--collect-only",
        "-q",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        str(folder),
    ]
    sides["pytest --collect-only"] = [*collect, str(test)]
    sides["pytest --collect-only, without the plugin"] = [*collect, "-p", "no:rankgauge", str(test)]
    for times in (1, 1_000):
        sides[f"score(), {times:,} times"] = [sys.executable, "-c", SCORE.format(times=times)]
    return sides


def prepare(run: list[str], config: str, samples: Path, results: dict[str, Path]) -> None:
    """Write the result folders that are explained and reported."""
    for size, arguments in (("small", [config]), ("large", ["--data", str(samples), *METRICS])):
        measured([*run, "run", *arguments, "-o", str(results[size])])


def write_samples(path: Path) -> None:
    chance = random.Random(7)
    with path.open("w", encoding="utf-8") as file:
        for number in range(20_000):
            items = [f"d{place}" for place in chance.sample(range(1_000), 20)]
            gold = [*chance.sample(items, 2), "d-elsewhere"]
            file.write(json.dumps({"id": f"q{number}", "expected_output": gold, "actual_output": items}) + "\n")


def write_runs(qrels: Path, *runs: Path) -> None:
    chance = random.Random(8)
    judged = (
        f"q{query} 0 d{place} {chance.randrange(3)}\n"
        for query in range(1_000)
        for place in chance.sample(range(200), 10)
    )
    qrels.write_text("".join(judged), encoding="utf-8")
    for run in runs:
        lines = (
            f"q{query} Q0 d{place} {rank} {1 - rank / 200:.6f} t\n"
            for query in range(1_000)
            for rank, place in enumerate(chance.sample(range(200), 100), 1)
        )
        run.write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
