"""
Measure what each shortcut of judging and scoring buys: the same work with and without it, in turns in one process.

A shortcut is switched off by replacing the function or number that takes it, and the general road must come to the same
means. Times are processor times, so that other work on the machine counts less; of each pair of turns the ratio is
taken, and of these the median. Data is generated with a fixed seed; rankings in dictionaries are new for each call.

Run it with ``python benchmarks/shortcuts.py [--runs N] [--only WORDS]``; what stands in a line's name selects it.
"""

# ruff: noqa: SLF001  # what is switched off is private

from __future__ import annotations

import argparse
import contextlib
import functools
import json
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import polars as pl
import pytrec_eval

import rankgauge
from rankgauge.columns import Floats, Ints, Qrels, RankingBatch, Slices, Words, pairs
from rankgauge.columns import pairs as directory
from rankgauge.engine import run_result, runs
from rankgauge.io import output_files, table_rankings, table_rows
from rankgauge.judging import by_text as texts
from rankgauge.judging import mappings, outputs, ranks
from rankgauge.judging import ranks as repeats
from rankgauge.result import MetricInfo
from rankgauge.scoring import collect, patterns
from trec import METRICS, Shape, write

DICTIONARIES = [(queries, results) for queries in (1, 2, 5, 11, 20, 40, 100) for results in (10, 40, 100, 1000)]
FILES = {
    "TREC files, 1,000 x 1,000, 1 judged": Shape(1_000, 1_000, 1, 8_800_000),
    "TREC files, 100 x 1,000, 200 judged": Shape(100, 1_000, 200, 500_000),
    "TREC files, 200,000 x 20, 2 judged": Shape(200_000, 20, 2, 10_000_000),
}
MEMORY = {
    "dictionaries, 250 x 1,000, 200 judged": Shape(250, 1_000, 200, 500_000),
    "dictionaries, 50,000 x 20, 2 judged": Shape(50_000, 20, 2, 10_000_000),
    "dictionaries, 2,000 x 1,000, 1 judged": Shape(2_000, 1_000, 1, 8_800_000),
}


class Load(NamedTuple):
    """Some work: `make` returns what a turn calls, and how often; both sides of a turn call the same."""

    name: str
    make: Callable[[int], list[Callable[[], object]]]


class Shortcut(NamedTuple):
    """A shortcut: what replaces it, and the work that it is for."""

    name: str
    without: Callable[[], contextlib.AbstractContextManager[object]]
    loads: list[Load]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=7, help="turns of each side")
    parser.add_argument("--only", default="", help="a part of the name of shortcuts")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for shortcut in shortcuts(Path(folder)):
            if options.only in shortcut.name:
                print(f"\n{shortcut.name}; median ratio of {options.runs} turns", flush=True)
                for load in shortcut.loads:
                    measure(shortcut, load, options.runs)


def measure(shortcut: Shortcut, load: Load, turns: int) -> None:
    """Let both sides work in turns, of which the first one warms."""
    times: dict[str, list[float]] = {"with": [], "without": []}
    for turn in range(turns + 1):
        means = {}
        for side in sorted(times, reverse=bool(turn % 2)):
            with contextlib.nullcontext() if side == "with" else shortcut.without():
                calls = load.make(turn)
                begun = time.process_time()
                means[side] = [call() for call in calls]
                times[side].append((time.process_time() - begun) / len(calls))
        if means["with"] != means["without"]:
            raise SystemExit(f"{shortcut.name}: the sides differ on {load.name}")
    (_, *fast), (_, *slow) = times.values()
    ratio = statistics.median(other / own for own, other in zip(fast, slow, strict=True))
    milliseconds = [statistics.median(each) * 1e3 for each in (fast, slow)]
    print(
        f"  {load.name:44} {milliseconds[0]:10.3f} ms, without it {milliseconds[1]:10.3f} ms   {ratio:5.2f}", flush=True
    )


def shortcuts(folder: Path) -> Iterator[Shortcut]:
    """Yield every shortcut."""
    fresh = {shape: fresh_rankings(*shape) for shape in DICTIONARIES}
    lookups = [in_memory(folder, name, shape) for name, shape in MEMORY.items()]
    many_lookups = lookups[1:2]
    deep, judged, many = (trec_files(folder, name, shape) for name, shape in FILES.items())
    some = [fresh[1, 10], fresh[11, 10], fresh[1, 100], fresh[11, 100]]
    loop = run_result.FewEvaluator
    for name, work, *replaced in (
        ("few queries one by one", [*fresh.values()], NO_FEW),
        # the same with and without where rankgauge-fast is not installed
        ("dictionaries judged and scored in C", [*fresh.values()], (patterns.PatternScores, "judge", lambda *_: None)),
        ("scores by pattern", some, (runs.RunEvaluator, "few", property(lambda planned: loop.of(planned.plan)))),
        (
            "columns described once",
            some[:2],
            (loop, "_described", lambda _, columns, __: [*map(MetricInfo.of, columns)]),
        ),
        ("plans kept", [fresh[100, 100]], (runs, "_planned_once", planned_anew)),
        ("dictionaries looked up", [fresh[100, 100], *lookups], (runs, "MappingRun", bytes), NO_FEW),
        (
            "some queries at a time",
            lookups,
            *((mappings, name, 1 << 60) for name in ("_SCORES", "_QUERIES", "_FIRST_QUERIES")),
        ),
        ("long rankings one by one", lookups, (mappings, "_LONG", 1 << 60)),
        ("queries in the order of judgments", many_lookups, (mappings, "islice", lambda *_: ())),
        ("dictionaries in order of score", lookups, (mappings, "_descending", sorted_always)),
        ("rows in order of score", [deep, many], (ranks, "_order", ordered_always)),
        ("masks of few judgments", [deep, many], (Qrels, "are_few", property(lambda _: False))),
        ("bitmap of judged pairs", [judged], (pairs.JudgedPairs, "find", found_by_search)),
        ("table of query ids", [deep, many], (directory.Directory, "find", found_by_text)),
        (
            "table of repeated rows",
            [deep, many],
            (repeats.RepeatFinder, "find", lambda _, *rows: repeats.grouped(*rows)),
        ),
        (
            "short ids where they stand",
            [parquet(folder, integers=False), parquet(folder, integers=True)],
            (table_rankings, "short_views", lambda _: None),
            (table_rankings, "number_views", lambda _: None),
            (table_rows, "short_views", lambda _: None),
        ),
        ("outputs of a file as ids", [with_outputs(folder)], (output_files, "_read_as_ids", lambda _: None)),
        ("plain samples as blocks", [jsonl(folder)], (collect, "takes_blocks", lambda *_: False)),
        ("outputs as they are given", [samples()], (outputs, "stands_as_given", lambda _: False)),
        ("texts compared together", [with_texts()], (texts.TextScorer, "_together", lambda *_: None)),
    ):
        yield Shortcut(name, functools.partial(replacing, replaced), work)


NO_FEW = (runs.RunEvaluator, "few", property(lambda _: None))


@contextlib.contextmanager
def replacing(replaced: Sequence[tuple[object, str, object]]) -> Iterator[None]:
    """Put something else in the place of attributes."""
    with contextlib.ExitStack() as stack:
        for owner, name, other in replaced:
            stack.enter_context(patch.object(owner, name, other))
        yield


def planned_anew(request: runs._Request) -> runs.RunEvaluator:
    return runs.RunEvaluator(request.plan(), is_kept=False)


def sorted_always(scores: Floats, starts: Ints, lengths: Ints) -> Floats:
    ordered = scores.copy()
    for start, length in zip(starts.tolist(), lengths.tolist(), strict=True):
        ordered[start : start + length] = np.sort(ordered[start : start + length])[::-1]
    return ordered


def ordered_always(batch: RankingBatch, *_: object) -> ranks._Order:
    row_at = np.lexsort((-batch.scores, batch.owners()))
    position_of = np.empty_like(row_at)
    position_of[row_at] = np.arange(len(row_at))
    return ranks._Order(batch.scores[row_at], row_at, position_of)


def found_by_search(index: pairs.JudgedPairs, asked: Words) -> tuple[Ints, Ints]:
    first = np.searchsorted(index.pairs, asked)
    rows = np.flatnonzero(index.pairs[np.minimum(first, len(index.pairs) - 1)] == asked)
    return rows, index.judgment[first[rows]]


def found_by_text(known: directory.Directory, asked: Slices) -> Ints:
    return np.array([known._by_text.get(text, -1) for text in asked.texts()], dtype=np.int64)


def evaluated(qrels: object, run: object) -> list[float | None]:
    """Return the means of five metrics."""
    return [column.mean for column in rankgauge.evaluate(qrels, run, METRICS).metrics.values()]


def fresh_rankings(queries: int, results: int) -> Load:
    """Make dictionaries of another ranking for each call, with two judgments a query on average."""
    pool = [f"d{number}" for number in range(10 * results)]

    def make(turn: int) -> list[Callable[[], object]]:
        chance = random.Random(turn * len(DICTIONARIES) + queries * results)
        count = max(3, min(100, 10_000 // (queries * results)))
        return [functools.partial(evaluated, *drawn(chance)) for _ in range(count)]

    def drawn(chance: random.Random) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
        qrels, run = {}, {}
        for query in range(queries):
            documents = chance.sample(pool, results)
            run[f"q{query}"] = dict(
                zip(documents, sorted((chance.random() for _ in documents), reverse=True), strict=True)
            )
            qrels[f"q{query}"] = dict.fromkeys(
                (*chance.sample(documents, chance.randint(0, 2)), chance.choice(pool)), 1
            )
        return qrels, run

    return Load(f"dictionaries, {queries} x {results}, another ranking each time", make)


def trec_files(folder: Path, name: str, shape: Shape) -> Load:
    """Write a run and its judgments when they are first asked for."""
    paths = folder / f"{name}.qrels", folder / f"{name}.run"

    def make(_: int) -> list[Callable[[], object]]:
        if not paths[0].exists():
            write(shape, *paths)
        return [lambda: evaluated(*paths)]

    return Load(name, make)


def in_memory(folder: Path, name: str, shape: Shape) -> Load:
    """Read the same into dictionaries."""
    held: list[Any] = []

    def make(_: int) -> list[Callable[[], object]]:
        if not held:
            paths = folder / f"{name}.qrels", folder / f"{name}.run"
            write(shape, *paths)
            with paths[0].open() as judgments, paths[1].open() as results:
                held.extend((pytrec_eval.parse_qrel(judgments), pytrec_eval.parse_run(results)))
        return [lambda: evaluated(*held)]

    return Load(name, make)


def parquet(folder: Path, *, integers: bool) -> Load:
    """Write a run with short ids as a table, as texts or as integers."""
    queries, results = 2_000, 1_000
    path = folder / f"run-{integers}.parquet"
    judged: dict[str, dict[str, int]] = {}

    def make(_: int) -> list[Callable[[], object]]:
        if not judged:
            chance = np.random.default_rng(7)
            documents = pl.Series("doc_id", chance.permutation(8_800_000)[: queries * results])
            documents = documents if integers else documents.cast(pl.String)
            names = np.repeat(np.arange(queries), results).astype(str)
            scores = -np.sort(-chance.random((queries, results))).ravel()
            pl.DataFrame({"query_id": names, "doc_id": documents, "score": scores}).write_parquet(path)
            judged.update({str(query): {str(documents[query * results + 3]): 1} for query in range(queries)})
        return [lambda: evaluated(judged, path)]

    ids = "integers" if integers else "texts of up to 12 bytes"
    return Load(f"Parquet, {queries:,} x {results:,}, ids are {ids}", make)


def sample(number: int, chance: random.Random) -> dict[str, Any]:
    """Return a sample of ids, of which one is relevant and another one was not retrieved."""
    documents = chance.sample(range(100), 11)
    return {
        "id": f"s{number}",
        "input": "?",
        "expected_output": [f"d{documents[0]}", f"d{documents[-1]}"],
        "actual_output": [f"d{each}" for each in documents[:10]],
    }


def jsonl(folder: Path) -> Load:
    """Write plain samples."""
    path = folder / "samples.jsonl"

    def make(_: int) -> list[Callable[[], object]]:
        if not path.exists():
            chance = random.Random(7)
            path.write_text("".join(json.dumps(sample(number, chance)) + "\n" for number in range(20_000)))
        return [lambda: run(path)]

    return Load("a file of 20,000 samples x 10 ids", make)


def with_outputs(folder: Path) -> Load:
    """Write plain samples, and their outputs into a file of their own."""
    data, outputs = folder / "without.jsonl", folder / "outputs.jsonl"

    def make(_: int) -> list[Callable[[], object]]:
        if not data.exists():
            chance = random.Random(7)
            given = [sample(number, chance) for number in range(20_000)]
            rows = [{"id": each["id"], "actual_output": each.pop("actual_output")} for each in given]
            for path, lines in ((data, given), (outputs, rows)):
                path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return [lambda: run(data, outputs=outputs)]

    return Load("files of 20,000 samples and their outputs x 10 ids", make)


def run(data: object, metrics: Sequence[str] = METRICS, outputs: Path | None = None) -> list[float | None]:
    """Evaluate samples, and return the means."""
    result = rankgauge.Engine().dataset(data).with_metrics(metrics).run(outputs=outputs)
    return [column.mean for column in result.metrics.values()]


def samples() -> Load:
    """Make plain samples."""
    chance = random.Random(7)
    given = [sample(number, chance) for number in range(20_000)]
    return Load("20,000 samples x 10 ids in memory", lambda _: [lambda: run(given)])


def with_texts() -> Load:
    """Make samples that are judged by text."""
    chance = random.Random(7)
    words = [f"w{number}" for number in range(3_000)]
    pool = [" ".join(chance.choices(words, k=60)) for _ in range(20_000)]
    given = []
    for number in range(1_000):
        retrieved = chance.sample(pool, 10)
        passages = [retrieved[0][20:200], chance.choice(pool)]
        output = [{"text": text} for text in retrieved]
        given.append({"id": f"s{number}", "expected_output": {"passages": passages}, "actual_output": output})
    return Load("1,000 samples x 10 texts", lambda _: [lambda: run(given, ["recall@5", "RR"])])


if __name__ == "__main__":
    main()
