"""
Measure a whole `rankgauge run` over JSON lines against a process that only decodes them.

Both sides run in turns in one session, as whole processes. One side starts up, reads, scores and prints. The other
calls `orjson.loads` on every line and keeps the objects, once as it is and once with the cycle collector off. Also
measured: `Evaluation.score` on one sample, and `import rankgauge`.

Run it with ``make bench`` or ``python benchmarks/jsonl.py [--samples N] [--runs N]``.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

import orjson
from processes import alternated, measured

from rankgauge import Engine

METRICS = (
    "retrieval-hit-at-k",
    "retrieval-recall-at-k",
    "retrieval-mrr",
    "retrieval-map",
    "retrieval-ndcg-at-k",
)
DECODE = """
import orjson
with open({path!r}, "rb") as lines:
    kept = [orjson.loads(line) for line in lines]
"""


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--samples", type=int, default=100_000)
    options.add_argument("--runs", type=int, default=7)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for shape in ("ids", "objects"):
            compare(Path(folder) / f"{shape}.jsonl", given.samples, given.runs, as_objects=shape == "objects")
    print(f"score(sample), five metrics, warm: {single() * 1e6:.0f} us (best of 20 rounds of 100)")
    imports = [measured([sys.executable, "-c", "import rankgauge"]).wall for _ in range(15)]
    bare = [measured([sys.executable, "-c", "pass"]).wall for _ in range(15)]
    print(f"import rankgauge: {(median(imports) - median(bare)) * 1e3:.1f} ms over a bare interpreter")


def compare(data: Path, samples: int, runs: int, *, as_objects: bool) -> None:
    """Measure both sides on one shape of data, and print medians and ratios."""
    write(data, samples, as_objects=as_objects)
    decode = DECODE.format(path=str(data))
    command = [sys.executable, "-m", "rankgauge", "run", "--data", str(data)]
    sides = {
        "rankgauge run": [*command, *(word for metric in METRICS for word in ("-m", metric))],
        "orjson.loads, kept": [sys.executable, "-c", decode],
        "the same, gc off": [sys.executable, "-c", f"import gc\ngc.disable()\n{decode}"],
    }
    costs = alternated(sides, runs)
    items = "objects with id and score" if as_objects else "ids"
    print(f"{samples:,} samples x 20 {items}, {data.stat().st_size / 1e6:.0f} MB, five metrics; medians of {runs}")
    for side, each in costs.items():
        print(
            f"  {side:20} wall {median(c.wall for c in each):6.2f} s   cpu {median(c.cpu for c in each):6.2f} s   "
            f"peak {median(c.peak for c in each):6.0f} MB"
        )
    for other in list(sides)[1:]:
        pairs = list(zip(costs["rankgauge run"], costs[other], strict=True))
        wall, cpu, peak = (median(a[part] / b[part] for a, b in pairs) for part in range(3))
        print(f"  ratio to {other}: wall {wall:.2f}, cpu {cpu:.2f}, peak {peak:.2f}")


def write(path: Path, samples: int, *, as_objects: bool = False) -> None:
    """Write samples with one to three gold ids (two with objects) and twenty retrieved items, with a fixed seed."""
    chance = random.Random(7)
    with path.open("wb") as file:
        for number in range(samples):
            ids = [f"doc-{chance.randrange(1_000_000)}" for _ in range(20)]
            gold = {
                chance.choice(ids) if chance.random() < 0.7 else f"doc-{chance.randrange(1_000_000)}": 1
                for _ in range(2 if as_objects else chance.randint(1, 3))
            }
            scored = [{"id": name, "score": round(chance.random() + 20 - rank, 4)} for rank, name in enumerate(ids)]
            sample = {
                "id": f"q{number}",
                "input": {"question": f"what is number {number}?"},
                "expected_output": list(gold),
                "actual_output": {"retrieved": scored if as_objects else ids},
            }
            file.write(orjson.dumps(sample, option=orjson.OPT_APPEND_NEWLINE))


def single() -> float:
    """Return the seconds that one warm call of `score` takes."""
    retrieved = [{"id": f"d{n}", "text": f"passage number {n}"} for n in range(20)]
    sample = {
        "id": "q",
        "expected_output": {"relevant": ["d3", "d9"], "answer": "number 9"},
        "actual_output": {"retrieved": retrieved},
    }
    metrics = [*METRICS[:3], METRICS[4], "answer-containment-at-k"]
    evaluation = Engine().dataset([sample]).with_metrics(metrics)
    evaluation.score(sample)
    best = float("inf")
    for _ in range(20):
        begun = time.perf_counter()
        for _ in range(100):
            evaluation.score(sample)
        best = min(best, (time.perf_counter() - begun) / 100)
    return best


median = statistics.median


if __name__ == "__main__":
    main()
