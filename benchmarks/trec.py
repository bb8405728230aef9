"""
Measure `rankgauge trec` and `rankgauge.evaluate` against other tools, on runs of typical shapes.

Whole processes run in turns in one session, on generated data with a fixed seed:

- `deep`: 6,980 queries x 1,000 results, about one relevant document per query, as in MS MARCO's development set;
- `many`: 200,000 queries x 20 results;
- `judged`: 250 queries x 1,000 results, about 200 judged documents per query, as in TREC's deep-learning tracks;
- `several`: 100 runs of 50 queries x 1,000 results with the same judgments, evaluated by one command, by one process
  for each run (trec_eval where it is on the path, otherwise pytrec_eval), and by one process of pytrec_eval.

Other tools are measured if installed: pytrec_eval (a development dependency), and the `ir_measures` command and
ranx with ``pip install ir-measures ranx``. ranx is measured once its compiled code is cached. Also measured: Parquet,
dictionaries in memory (one, eleven and a hundred queries again and again, too), how time and memory grow with the run,
and starts: of the command on two lines, of `rankgauge run` on the quickstart, and of `import rankgauge`, each beside
`import numpy`. Where rankgauge-fast is installed and compiled (`pip install ./plugins/rankgauge-fast`, a C compiler),
whole runs are measured with it and without it.

Run it with ``make bench`` or ``python benchmarks/trec.py [--runs N] [--only PARTS]``; parts are deep, many, judged,
several, start, memory, few (rankings that are never the same twice) and growth, separated by commas.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import os
import random
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from processes import Cost, alternated

from rankgauge.kernel import DISTRIBUTION, installed_kernel

METRICS = ("nDCG@10", "R@100", "RR", "AP", "P@10")
PARTS = ("deep", "many", "judged", "several", "start", "memory", "few", "growth")
SEED = 20261120
median = statistics.median


class Shape(NamedTuple):
    """How large a run is, and how much of it is judged."""

    queries: int
    depth: int
    judged: int
    pool: int


SHAPES = {
    "deep": Shape(6_980, 1_000, 1, 8_800_000),
    "many": Shape(200_000, 20, 2, 10_000_000),
    "judged": Shape(250, 1_000, 200, 500_000),
}

FEW = {
    "one": Shape(1, 100, 5, 1_000),
    "eleven": Shape(11, 3, 2, 10),
    "hundred": Shape(100, 100, 5, 1_000),
}
"""Queries that are evaluated in a loop, with the same ranking or another one each time."""

REPEATS = 200

PYTREC_EVAL = """
import sys, pytrec_eval
with open(sys.argv[1]) as lines: qrels = pytrec_eval.parse_qrel(lines)
with open(sys.argv[2]) as lines: run = pytrec_eval.parse_run(lines)
measures = {"ndcg_cut.10", "recall.100", "recip_rank", "map", "P.10"}
scores = pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(run)
for name in sorted(next(iter(scores.values()))):
    print(name, sum(own[name] for own in scores.values()) / len(qrels))
"""
PYTREC_EVAL_RUNS = """
import sys, pytrec_eval
with open(sys.argv[1]) as lines: qrels = pytrec_eval.parse_qrel(lines)
evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.10", "recall.100", "recip_rank", "map", "P.10"})
for path in sys.argv[2:]:
    with open(path) as lines: scores = evaluator.evaluate(pytrec_eval.parse_run(lines))
    print(path, {name: sum(own[name] for own in scores.values()) / len(qrels) for name in next(iter(scores.values()))})
"""
RANX = """
import sys
from ranx import Qrels, Run, evaluate
qrels = Qrels.from_file(sys.argv[1], kind="trec")
run = Run.from_file(sys.argv[2], kind="trec")
print(evaluate(qrels, run, ["ndcg@10", "recall@100", "mrr", "map", "precision@10"], make_comparable=True))
"""


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--runs", type=int, default=5)
    options.add_argument("--only", default=",".join(PARTS))
    options.add_argument("--write", nargs=4, help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.write:
        write_here(*given.write)
        return
    wanted = given.only.split(",")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part, shape in SHAPES.items():
            if part in wanted:
                whole_processes(part, shape, folder, given.runs)
        if "several" in wanted:
            several(folder, given.runs)
        if "start" in wanted:
            start(folder, given.runs)
        if "memory" in wanted:
            in_memory(folder, given.runs)
        if "few" in wanted:
            never_seen(given.runs)
        if "growth" in wanted:
            growth(folder, given.runs)


def whole_processes(part: str, shape: Shape, folder: Path, runs: int) -> None:
    """Compare the commands on one shape."""
    qrels, run = folder / f"{part}.qrels", folder / f"{part}.run"
    parquet = folder / f"{part}.parquet" if part == "deep" else None
    size = write(shape, qrels, run, parquet)
    sides = {"rankgauge trec": rankgauge(qrels, run)}
    if installed_kernel() is not None:
        off = f"RANKGAUGE_DISABLE_PLUGINS={DISTRIBUTION}"
        sides["without rankgauge-fast"] = ["env", off, *rankgauge(qrels, run)]
    if part == "many":
        sides["rankgauge trec --json"] = [*rankgauge(qrels, run), "--json"]
    if parquet is not None:
        sides["rankgauge trec, Parquet"] = rankgauge(qrels, parquet)
    if importlib.util.find_spec("pytrec_eval"):
        sides["pytrec_eval"] = [sys.executable, "-c", PYTREC_EVAL, str(qrels), str(run)]
    if part == "deep" and (command := shutil.which("ir_measures", path=f"{Path(sys.executable).parent}:{os.defpath}")):
        sides["ir_measures"] = [command, str(qrels), str(run), *METRICS]
    if part == "deep" and importlib.util.find_spec("ranx"):
        sides["ranx"] = [sys.executable, "-c", RANX, str(qrels), str(run)]
    print(f"\n{part}: {shape.queries:,} queries x {shape.depth:,}, {size / 1e6:.0f} MB; medians of {runs}")
    report(alternated(sides, runs), "rankgauge trec")


def several(folder: Path, runs: int) -> None:
    """Compare evaluating many runs against the same judgments."""
    shape, count = SHAPES["judged"]._replace(queries=50), 100
    qrels, paths = folder / "several.qrels", [folder / f"several-{number:03}.run" for number in range(count)]
    size = write(shape, qrels, paths[0])
    for number, path in enumerate(paths[1:], 1):  # the same documents with scores of their own
        path.write_text(paths[0].read_text().replace(" generated", f"{number} generated"))
    words = [str(qrels), *map(str, paths)]
    command = shutil.which("trec_eval")
    each = f"{command} -m ndcg_cut.10 -m recall.100 -m recip_rank -m map -m P.10" if command else None
    each = each or f"{shlex.quote(sys.executable)} -c {shlex.quote(PYTREC_EVAL)}"
    sides = {
        "rankgauge trec": rankgauge(qrels, *paths),
        f"{'trec_eval' if command else 'pytrec_eval'}, a process a run": [
            "sh", "-c", f'qrels=$1; shift; for run; do {each} "$qrels" "$run" || exit 1; done', "sh", *words,
        ],
        "pytrec_eval, one process": [sys.executable, "-c", PYTREC_EVAL_RUNS, *words],
    }  # fmt: skip
    print(
        f"\nseveral: {count} runs of {shape.queries} queries x {shape.depth:,}, {size / 1e6:.1f} MB each; "
        f"medians of {runs}"
    )
    report(alternated(sides, runs), "rankgauge trec")


def start(folder: Path, runs: int) -> None:
    """Measure the command on two lines, and the run of the quickstart, which saves a result folder."""
    quickstart = folder / "quickstart"
    shutil.copytree(Path(__file__).parents[1] / "configs" / "quickstart", quickstart)
    qrels, run = folder / "two.qrels", folder / "two.run"
    qrels.write_text("q1 0 d1 1\n")
    run.write_text("q1 Q0 d1 1 2.5 tag\nq1 Q0 d2 2 1.5 tag\n")
    sides = {
        "import numpy": [sys.executable, "-c", "import numpy"],
        "rankgauge trec": rankgauge(qrels, run),
        "rankgauge run": [sys.executable, "-m", "rankgauge", "run", str(quickstart / "rankgauge.yaml")],
        "import rankgauge": [sys.executable, "-c", "import rankgauge"],
        "a bare interpreter": [sys.executable, "-c", "pass"],
    }
    print(f"\nstart, of trec on two lines and of run on the quickstart; medians of {3 * runs}")
    report(alternated(sides, 3 * runs), "import numpy")


def in_memory(folder: Path, runs: int) -> None:
    """Compare evaluating dictionaries."""
    import pytrec_eval  # noqa: PLC0415  # a peer

    print(f"\nmemory: dictionaries; processor time, medians of {runs}; how many times faster than pytrec_eval")
    for part, shape in {**SHAPES, **FEW}.items():
        paths = folder / f"{part}.qrels", folder / f"{part}.run"
        if not paths[1].exists():
            write(shape, *paths)
        with paths[0].open() as lines:
            qrels = pytrec_eval.parse_qrel(lines)
        with paths[1].open() as lines:
            run = pytrec_eval.parse_run(lines)
        if part not in FEW:
            in_turns(part, [[(qrels, run)]] * (runs + 1))
            continue
        in_turns(part, [[(qrels, run)] * REPEATS] * (runs + 1))
        others = [
            [(qrels, shuffled(run, turn * REPEATS + each)) for each in range(REPEATS)] for turn in range(runs + 1)
        ]
        in_turns(f"{part}, another ranking each time", others)


def never_seen(runs: int) -> None:
    """Compare evaluating dictionaries whose judgments and rankings are new for each call."""
    print(
        f"\nfew: dictionaries, never the same twice; processor time, medians of {runs}; times faster than pytrec_eval"
    )
    for queries, depth in itertools.product((1, 3, 11, 40, 100), (10, 100, 1_000)):
        chance, count = random.Random(SEED), max(3, min(REPEATS, 30_000 // (queries * depth)))
        given = [[new_pair(chance, queries, depth) for _ in range(count)] for _ in range(runs + 1)]
        in_turns(f"{queries} x {depth:,}", given)


def new_pair(chance: random.Random, queries: int, depth: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return judgments, two to six a query, and rankings in order of score."""
    pool = [f"d{number}" for number in range(10 * depth)]
    qrels, run = {}, {}
    for name in map("q{}".format, range(queries)):
        documents = chance.sample(pool, depth)
        scores = sorted((chance.random() for _ in documents), reverse=True)
        run[name] = dict(zip(documents, scores, strict=True))
        qrels[name] = dict.fromkeys((*chance.sample(documents, chance.randint(1, 5)), chance.choice(pool)), 1)
    return qrels, run


def in_turns(name: str, given: Sequence[Sequence[tuple[Any, Any]]]) -> None:
    """Let both sides evaluate the runs of each turn, of which the first one plans and warms, and print how long."""
    import pytrec_eval  # noqa: PLC0415  # a peer

    import rankgauge  # noqa: PLC0415  # beside it

    def peer(qrels: dict[str, dict[str, int]], run: dict[str, dict[str, float]]) -> None:
        measures = {"ndcg_cut.10", "recall.100", "recip_rank", "map", "P.10"}
        scores = pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(run)
        for measure in next(iter(scores.values())):
            _ = sum(own[measure] for own in scores.values()) / len(scores)

    def ours(qrels: dict[str, dict[str, int]], run: dict[str, dict[str, float]]) -> None:
        result = rankgauge.evaluate(qrels, run, METRICS)
        _ = [column.mean for column in result.metrics.values()]

    times: dict[str, list[float]] = {"rankgauge.evaluate": [], "pytrec_eval": []}
    for pairs in given:
        for side, call in zip(times, (ours, peer), strict=True):
            begun = time.process_time()
            for qrels, run in pairs:
                call(qrels, run)
            times[side].append((time.process_time() - begun) / len(pairs))
    (_, *own), (_, *its) = times.values()
    ratio = median(other / mine for mine, other in zip(own, its, strict=True))
    print(f"  {name:36} rankgauge {median(own) * 1e3:9.3f} ms   pytrec_eval {median(its) * 1e3:9.3f} ms   {ratio:.2f}")


def shuffled(run: Mapping[str, Mapping[str, float]], seed: int) -> dict[str, dict[str, float]]:
    """Return a run with the scores of each query in another order."""
    chance = random.Random(seed)
    return {query: dict(zip(own, chance.sample([*own.values()], len(own)), strict=True)) for query, own in run.items()}


def growth(folder: Path, runs: int) -> None:
    """Measure the command on one, two, four and eight times the first shape."""
    print(f"\ngrowth: the first shape, and more of it; medians of {runs}")
    base = SHAPES["deep"]
    for times in (1, 2, 4, 8):
        qrels, run = folder / "growth.qrels", folder / "growth.run"
        write(base._replace(queries=base.queries * times), qrels, run)
        costs = alternated({"rankgauge trec": rankgauge(qrels, run)}, runs)["rankgauge trec"]
        wall, peak = median(cost.wall for cost in costs), median(cost.peak for cost in costs)
        print(f"  x{times}: {base.queries * times * base.depth:12,} lines   wall {wall:6.2f} s   peak {peak:5.0f} MB")
        run.unlink()


def rankgauge(qrels: Path, *runs: Path) -> list[str]:
    asked = (word for metric in METRICS for word in ("-m", metric))
    return [sys.executable, "-m", "rankgauge", "trec", str(qrels), *map(str, runs), *asked]


def report(costs: Mapping[str, Sequence[Cost]], own: str) -> None:
    """Print medians, and ratios of each pair of turns."""
    for side, each in costs.items():
        wall, cpu, peak = (median(cost[part] for cost in each) for part in range(3))
        line = f"  {side:24} wall {wall:7.3f} s   cpu {cpu:7.3f} s   peak {peak:6.0f} MB"
        if side != own:
            pairs = list(zip(each, costs[own], strict=True))
            times, cpu_times = (median(a[part] / b[part] for a, b in pairs) for part in range(2))
            line += f"   takes {times:.2f} times as long, {cpu_times:.2f} times the processor time"
        print(line)


def write(shape: Shape, qrels: Path, run: Path, parquet: Path | None = None) -> int:
    """
    Write a run and its judgments in a process of its own; return how many bytes the run has.

    What this process ever held would count as the memory of those that it starts.
    """
    arguments = (",".join(map(str, shape)), qrels, run, parquet or "")
    subprocess.run([sys.executable, __file__, "--write", *map(str, arguments)], check=True)
    return run.stat().st_size


def write_here(shape: str, qrels: str, run: str, parquet: str) -> None:
    """Write what `write` was asked for."""
    write_texts(Shape(*map(int, shape.split(","))), Path(qrels), Path(run))
    if parquet:
        write_parquet(Path(run), Path(parquet))


def write_texts(shape: Shape, qrels: Path, run: Path) -> None:
    """Write a run and its judgments with a fixed seed."""
    chance = np.random.default_rng(SEED)
    with qrels.open("w") as judgments, run.open("w") as lines:
        for query in range(shape.queries):
            name = f"q{1_000_000 + query * 7919 % 9_000_000}"
            retrieved = draw(chance, shape)
            scores = np.round(np.sort(chance.gamma(2.0, 4.0, shape.depth))[::-1], 6)
            lines.writelines(
                f"{name} Q0 {document} {rank} {score:.6f} generated\n"
                for rank, (document, score) in enumerate(zip(retrieved, scores.tolist(), strict=True), 1)
            )
            judgments.writelines(
                f"{name} 0 {document} {grade}\n" for document, grade in judge(chance, shape, retrieved)
            )
    return run.stat().st_size


def draw(chance: np.random.Generator, shape: Shape) -> list[int]:
    """Return distinct documents."""
    wanted = shape.depth
    if shape.pool < 4 * wanted:
        return chance.permutation(shape.pool)[:wanted].tolist()
    found = np.unique(chance.integers(0, shape.pool, 2 * wanted))
    return chance.permutation(found)[:wanted].tolist()


def judge(chance: np.random.Generator, shape: Shape, retrieved: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield judgments, most of them for documents that rank high, some for documents that were not retrieved."""
    count = shape.judged if shape.judged > 10 else 1 + int(chance.integers(0, 2 * shape.judged))
    places = np.unique((chance.random(count) ** 3 * shape.depth).astype(np.int64))
    for place in places.tolist():
        found = chance.random() < 0.8
        document = retrieved[place] if found else shape.pool + place
        yield document, int(chance.integers(0, 4)) if shape.judged > 10 else 1


def write_parquet(run: Path, target: Path) -> None:
    """Write a run again, as Parquet."""
    import polars as pl  # noqa: PLC0415  # loads only where Parquet is measured

    columns = ("query_id", "q0", "doc_id", "rank", "score", "tag")
    frame = pl.read_csv(run, separator=" ", has_header=False, new_columns=columns, infer_schema=False)
    frame.select("query_id", "doc_id", frame["score"].cast(pl.Float64)).write_parquet(target)


if __name__ == "__main__":
    main()
