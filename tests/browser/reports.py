"""Reports that several files of browser tests open."""

from __future__ import annotations

import functools
from typing import Any

import rankgauge
from rankgauge import Engine
from rankgauge.catalog import Catalog
from rankgauge.features.html.html_report import gather
from rankgauge.features.html.page import lay_out

CATALOG = Catalog.discover(own_only=True)

__all__ = ["CATALOG", "laid_out", "of_runs", "of_samples", "page_of_runs", "page_of_samples", "page_of_stages"]


def laid_out(results: Any, **options: Any) -> str:
    """Return a report of results."""
    return lay_out(gather(results, catalog=CATALOG, **options))


@functools.cache
def of_runs(count: int = 40, runs: int = 2) -> dict[str, rankgauge.Result]:
    """Return results in which run 0 has its relevant document at rank 3, others ever higher by turns; run 3 lower."""
    qrels = {f"q{n:04}": {"a": 2, "b": 1, "c": 0} for n in range(count)}
    bodies = {}
    for run in range(runs):
        first = {0: lambda n: 7.0, 1: lambda n: 9.5 if n % 3 else 7.0, 2: lambda n: 9.5, 3: lambda n: 5.5}.get(
            run, lambda n: 7.0
        )
        bodies[f"run{run}"] = {
            query: {"x": 9.0, "y": 8.0, "a": first(n), "b": 6.0, "c": 5.0 - run} for n, query in enumerate(qrels)
        }
    return rankgauge.evaluate(qrels, runs=bodies, metrics=["ndcg@10", "RR", "P@1"])


@functools.cache
def page_of_runs(count: int = 40, runs: int = 2) -> str:
    """Return the report of `of_runs`."""
    return laid_out(of_runs(count, runs))


@functools.cache
def of_samples() -> dict[str, rankgauge.Result]:
    """Return results of samples with texts, answers and tags, some without output and one unanswerable."""
    return {
        name: Engine(catalog=CATALOG)
        .dataset([_sample(number, shift) for number in range(40)])
        .with_metrics(["RR", "token_f1", "recall(gold=passages,matcher=contains)@3"])
        .run()
        for shift, name in enumerate(("old", "new"))
    }


def _sample(number: int, shift: int) -> dict[str, Any]:
    is_good = (number + shift) % 3 != 0
    listed = (1, 2, 3) if is_good else (2, 4, 1)
    texts = {at: f"Title {at}\n{f'the fox jumps over {at} dogs ' * 40}" for at in listed}
    sample: dict[str, Any] = {
        "id": f"\u05e9\u05dc\u05d5\u05dd-{number}" if number % 5 == 0 else f"s{number}",
        "input": f"what does the fox do {number}?",
        "expected_output": {"relevant": ["c1"], "answer": ["quick brown fox", "the fox"], "passages": ["over 1 dogs"]},
        "metadata": {"tags": ["law" if number % 2 else "tax"], **({"answerable": False} if number == 9 else {})},
    }
    if number not in {3, 7} or shift:
        sample["actual_output"] = {
            "retrieved": [{"id": f"c{at}", "text": texts[at]} for at in listed],
            "answer": "a quick fox" if is_good else "no idea",
        }
    return sample


@functools.cache
def page_of_samples() -> str:
    """Return the report of `of_samples`."""
    return laid_out(of_samples())


@functools.cache
def page_of_stages() -> str:
    """Return the report of three runs of two stages: the second drops 3, 2 and 1 of 8 documents, at rank 3 before."""
    results = {}
    for run in range(3):
        samples = [
            {
                "id": f"q{number}",
                "expected_output": {"a": 1, "b": 1},
                "actual_output": {
                    "stages": [
                        {"name": "dense", "retrieved": ["a", "x", "b"]},
                        {"name": "rerank", "from": ["dense"], "retrieved": ["a"] if number < 3 - run else ["b", "a"]},
                    ]
                },
            }
            for number in range(4)
        ]
        results[f"run{run}"] = Engine(catalog=CATALOG).dataset(samples).with_metrics(["recall@2", "RR"]).run()
    return laid_out(results)
