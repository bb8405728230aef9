"""
Measure rankgauge against the pytrec_eval provider of ir_measures, behind the same call.

Rankings are random and have no equal scores; three judgments a query on average. Both providers compute five measures
from the same rows, in turn: mappings, pandas frames, and an iterator of named tuples. Figures are medians, in seconds.

Run it with ``python benchmarks/ir_measures_provider.py [--queries N] [--depth N]``, where `rankgauge_hosts`,
ir_measures and pandas are installed; `make bench` leaves it out.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Iterator
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
from ir_measures import AP, RR, P, Qrel, R, ScoredDoc, nDCG

from rankgauge_hosts.ir_measures import RankgaugeProvider

MEASURES = [nDCG @ 10, AP, RR, R @ 100, P @ 10]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--queries", type=int, default=7_000)
    options.add_argument("--depth", type=int, default=1_000)
    options.add_argument("--repeats", type=int, default=3)
    given = options.parse_args()
    print(f"{given.queries:,} x {given.depth:,}: processor time and wall time, and how many times as fast")
    for form, qrels, run in forms(given.queries, given.depth):
        seconds: dict[str, list[tuple[float, float]]] = {"rankgauge": [], "pytrec_eval": []}
        for _ in range(given.repeats):
            for name, provider in (("rankgauge", RankgaugeProvider()), ("pytrec_eval", ir_measures.pytrec_eval)):
                began, wall = time.process_time(), time.perf_counter()
                provider.calc_aggregate(MEASURES, qrels, iter(run) if form == "tuples" else run)
                seconds[name].append((time.process_time() - began, time.perf_counter() - wall))
        ours, theirs = ([statistics.median(of) for of in zip(*times, strict=True)] for times in seconds.values())
        cells = (f"{one:.2f} to {other:.2f} ({other / one:.1f})" for one, other in zip(ours, theirs, strict=True))
        print(f"  {form:8}  {'  '.join(cells)}", flush=True)


def forms(queries: int, depth: int) -> Iterator[tuple[str, Any, Any]]:
    """Yield the same judgments and run in each form."""
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "query_id": np.repeat([f"q{number}" for number in range(queries)], depth),
            "doc_id": np.array([f"D{number:07}" for number in range(200_000)])[
                random.integers(0, 200_000, queries * depth)
            ],
            "score": np.tile(np.linspace(20, 1, depth), queries),
        }
    ).drop_duplicates(["query_id", "doc_id"])
    judged = frame.sample(3 * queries, random_state=0)[["query_id", "doc_id"]].assign(relevance=1)
    qrels = [Qrel(*row) for row in judged.itertuples(index=False)]
    rows = [ScoredDoc(*row) for row in frame.itertuples(index=False)]
    of_mappings = (
        ir_measures.util.QrelsConverter(qrels).as_dict_of_dict(),
        ir_measures.util.RunConverter(rows).as_dict_of_dict(),
    )
    yield "mappings", *of_mappings
    yield "frames", judged, frame
    yield "tuples", qrels, rows


if __name__ == "__main__":
    main()
