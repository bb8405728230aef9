"""
Measure HTML reports: how long writing one takes, how large it is, and when it can be used in headless Chromium.

The sizes are a small set and 7,000 queries by 3 runs by 10 metrics, of TREC files with 100 results a query, and of
samples with texts. Time is that of `html_report` and the comparison in it; reading the result before that is not in it.
The browser is measured where Playwright and Chromium are installed: from opening the file until every view is drawn.

Run it with ``make bench`` or ``python benchmarks/report.py [--runs N] [--queries N]``.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np

import rankgauge

METRICS = ["ndcg@10", "ndcg@20", "RR", "AP", "P@5", "P@10", "recall@10", "recall@100", "hit@1", "err@20"]
SYSTEMS, RESULTS, RELEVANT = 3, 100, 4
PATIENCE = 60_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3, help="turns of each")
    parser.add_argument("--queries", type=int, default=7_000)
    options = parser.parse_args()
    print(f"{SYSTEMS} systems, {len(METRICS)} metrics; medians of {options.runs}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for queries in dict.fromkeys((10, options.queries)):
            measure(f"{queries:,} queries of TREC files", of_files(queries, folder), options.runs, folder)
        measure("1,000 samples with texts", of_samples(1_000), options.runs, folder)


def measure(what: str, results: dict[str, rankgauge.Result], runs: int, folder: Path) -> None:
    """Print one line."""
    taken = []
    for _ in range(runs):
        begun = time.perf_counter()
        text = rankgauge.html_report(results)
        taken.append(time.perf_counter() - begun)
    file = folder / "report.html"
    file.write_text(text, encoding="utf-8")
    opened = until_interactive(file, runs)
    browser = "no browser" if opened is None else f"interactive after {opened:5.2f} s"
    size = file.stat().st_size / 1e6
    print(f"  {what:28} written in {statistics.median(taken):5.2f} s   {size:6.2f} MB   {browser}")


def until_interactive(file: Path, runs: int) -> float | None:
    """Return seconds from opening a file until the report is ready; None where there is no browser."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None or importlib.util.find_spec("playwright") is None:
        return None
    from playwright.sync_api import sync_playwright  # noqa: PLC0415  # may not be installed

    options = ["--no-sandbox"] if os.geteuid() == 0 else []
    taken = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=options)
        for _ in range(runs):
            page = browser.new_page()
            begun = time.perf_counter()
            page.goto(file.as_uri())
            page.wait_for_selector("html[data-ready]", timeout=PATIENCE)
            taken.append(time.perf_counter() - begun)
            page.close()
        browser.close()
    return statistics.median(taken)


def drawn(queries: int) -> tuple[dict[str, dict[str, int]], list[dict[str, list[str]]]]:
    """Return judgments, and rankings of systems that share many results."""
    rng = np.random.default_rng(queries)
    qrels: dict[str, dict[str, int]] = {}
    systems: list[dict[str, list[str]]] = [{} for _ in range(SYSTEMS)]
    for number in range(queries):
        pool = [f"{document}" for document in rng.integers(0, 8_841_823, size=2 * RESULTS)]
        likely = np.arange(len(pool)) * 0.02
        qrels[f"{number + 100_000}"] = {pool[at]: int(rng.integers(1, 4)) for at in rng.integers(0, 40, size=RELEVANT)}
        for system in systems:
            order = np.argsort(likely + rng.normal(size=len(pool)))
            system[f"{number + 100_000}"] = list(dict.fromkeys(pool[at] for at in order[:RESULTS]))
    return qrels, systems


def of_files(queries: int, folder: Path) -> dict[str, rankgauge.Result]:
    """Return results of TREC files, which a report reads again."""
    qrels, systems = drawn(queries)
    lines = [f"{query} 0 {document} {grade}\n" for query, own in qrels.items() for document, grade in own.items()]
    judgments = folder / f"qrels-{queries}.txt"
    judgments.write_text("".join(lines), encoding="utf-8")
    results = {}
    for number, system in enumerate(systems):
        run = folder / f"run-{queries}-{number}.txt"
        with run.open("w", encoding="utf-8") as file:
            for query, own in system.items():
                file.writelines(
                    f"{query} Q0 {each} {rank} {1 - rank / 1000:.3f} s\n" for rank, each in enumerate(own, 1)
                )
        results[f"system {number}"] = rankgauge.evaluate(judgments, run, METRICS)
    return results


def of_samples(count: int) -> dict[str, rankgauge.Result]:
    """Return results of samples whose results have texts."""
    qrels, systems = drawn(count)
    rng = np.random.default_rng(0)
    words = np.array([f"word{number}" for number in range(5_000)])
    texts: dict[str, str] = {}
    results = {}
    for number, system in enumerate(systems):
        samples = []
        for query, own in system.items():
            items = []
            for document in own[:20]:
                if document not in texts:
                    texts[document] = " ".join(rng.choice(words, 80))
                items.append({"id": document, "text": texts[document]})
            sample = {"id": query, "input": f"What about {query}?", "expected_output": qrels[query]}
            samples.append({**sample, "actual_output": items})
        evaluation = rankgauge.Engine().dataset(samples).with_metrics(METRICS)
        results[f"system {number}"] = evaluation.run()
    return results


if __name__ == "__main__":
    main()
