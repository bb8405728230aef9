"""
Simulate what docs/explanation/comparing.md promises of intervals, equivalence, plans and runs that stop early.

Nothing is timed. Sets of scores are drawn with a fixed seed from distributions whose mean is known; the share of sets
in which an interval covers it, or a procedure decides, is printed with its standard error.

Run it with ``make bench`` or ``python benchmarks/intervals.py [--sets N] [--only WORD]``.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

import rankgauge
from rankgauge import Result
from rankgauge.comparison.estimate import Method
from rankgauge.comparison.power import plan_power
from rankgauge.stats import estimate_mean, interval_of_mean, is_binary
from rankgauge.stats.sequential import BoundTest

Draw = Callable[[np.random.Generator, int], np.ndarray]
SIZES = (5, 10, 30, 100)


class Scores(NamedTuple):
    """Scores from 0 to 1, and their true mean."""

    draw: Draw
    mean: float


def rarely(rng: np.random.Generator, n: int) -> np.ndarray:
    return (rng.random(n) < 0.05) * rng.beta(2, 2, n)


SCORES: Mapping[str, Scores] = {
    "hits, half of them": Scores(lambda rng, n: (rng.random(n) < 0.5).astype(float), 0.5),
    "hits, 2 %": Scores(lambda rng, n: (rng.random(n) < 0.02).astype(float), 0.02),
    "hits, 98 %": Scores(lambda rng, n: (rng.random(n) < 0.98).astype(float), 0.98),
    "like nDCG": Scores(lambda rng, n: rng.beta(2, 1.5, n), 2 / 3.5),
    "skewed": Scores(lambda rng, n: rng.beta(0.5, 3, n), 0.5 / 3.5),
    "almost all 0": Scores(rarely, 0.025),
    "almost all 1": Scores(lambda rng, n: 1 - rarely(rng, n), 0.975),
}


def coverage(sets: int) -> None:
    """Print how often 95 % intervals of means cover them, and how wide they are."""
    print("scores               n   standard (none)  width   exact  width")
    for name, scores in SCORES.items():
        for n in SIZES:
            rng = np.random.default_rng(n)
            drawn = [scores.draw(rng, n) for _ in range(sets)]
            cells = [covered(drawn, scores.mean, exact=exact) for exact in (False, True)]
            (share, none, width), (exact_share, _, exact_width) = cells
            print(f"{name:<18} {n:>3}   {share:.3f}  ({none:.3f})  {width:.3f}   {exact_share:.3f}  {exact_width:.3f}")


def covered(drawn: list[np.ndarray], mean: float, *, exact: bool, clusters: np.ndarray | None = None) -> list[float]:
    """Return the shares of sets whose interval covers a mean, and that have none, and the width of the others."""
    hits, widths = 0, []
    for values in drawn:
        estimate = estimate_mean(values, clusters)
        settings = {"binary": is_binary(values), "exact": exact, "values": values, "clusters": clusters}
        found = interval_of_mean(estimate, (0.0, 1.0), **settings)
        if found is not None:
            hits += found.low <= mean <= found.high
            widths.append(found.high - found.low)
    return [hits / len(drawn), 1 - len(widths) / len(drawn), float(np.mean(widths)) if widths else math.nan]


def clustered(sets: int) -> None:
    """Print the same of hits in clusters of five, whose chance is drawn for each cluster."""
    print("clusters of 5 hits     standard (none)  width   exact  width")
    for mean, groups in ((0.5, 6), (0.5, 20), (0.5, 40), (0.95, 6), (0.95, 20), (0.95, 40)):
        rng, codes = np.random.default_rng(groups), np.repeat(np.arange(groups), 5)
        chances = [rng.beta(2 * mean, 2 * (1 - mean), groups) for _ in range(sets)]
        drawn = [(rng.random(5 * groups) < np.repeat(chance, 5)).astype(float) for chance in chances]
        cells = [covered(drawn, mean, exact=exact, clusters=codes) for exact in (False, True)]
        (share, none, width), (exact_share, _, exact_width) = cells
        name = f"mean {mean:g}, {groups} of them"
        print(f"{name:<20}   {share:.3f}  ({none:.3f})  {width:.3f}   {exact_share:.3f}  {exact_width:.3f}")


def result(*columns: np.ndarray) -> Result:
    """Return a result with one column for each array of scores: P@1, P@2, ..."""
    names = [f"q{place}" for place in range(len(columns[0]))]
    judged = {name: {"a": 1} for name in names}
    made = rankgauge.evaluate(judged, judged, [f"P@{place}" for place in range(1, len(columns) + 1)])
    given = zip(made.metrics.items(), columns, strict=True)
    metrics = {name: replace(column, values=scores.copy()) for (name, column), scores in given}
    return Result(made.sample_ids, made.tags, metrics, made.manifest, made.notes)


def normal(rng: np.random.Generator, n: int, metrics: int, mean: float) -> np.ndarray:
    """Return differences of metrics that correlate by one half, each with a standard deviation of 0.2."""
    return mean + 0.2 * math.sqrt(0.5) * (rng.normal(size=(n, 1)) + rng.normal(size=(n, metrics)))


def hits(rng: np.random.Generator, n: int, metrics: int, mean: float) -> np.ndarray:
    """Return differences of hits of which 10 % differ; where the mean is 0, as many won as lost."""
    won = rng.random((n, metrics)) < 0.05 + mean / 2
    return won * 1.0 - ~won * (rng.random((n, metrics)) < (0.05 - mean / 2) / (0.95 - mean / 2))


def rare(rng: np.random.Generator, n: int, metrics: int, mean: float) -> np.ndarray:
    """Return differences of hits that are won only, as rarely as the mean says."""
    return (rng.random((n, metrics)) < mean).astype(float)


EQUIVALENCE = (
    ("normal", normal, 50, 1, 0.1),
    ("normal", normal, 50, 5, 0.1),
    ("normal", normal, 200, 1, 0.05),
    ("normal", normal, 200, 5, 0.05),
    ("hits, 10 % differ", hits, 100, 1, 0.1),
    ("hits, 10 % differ", hits, 400, 1, 0.05),
    ("hits won only", rare, 30, 1, 0.05),
    ("hits won only", rare, 100, 1, 0.05),
    ("hits won only", rare, 400, 1, 0.05),
)


def equivalence(sets: int) -> None:
    """Print how often systems are called equivalent whose true difference is what matters, and 0."""
    print("differences            n  metrics  matters   called equivalent at the margin   at 0")
    for name, draw, n, metrics, matters in EQUIVALENCE:
        shares = []
        for mean in (matters, 0.0):
            rng, found = np.random.default_rng([n, metrics]), 0
            for _ in range(sets):
                base = np.zeros((n, metrics))
                columns = (base + draw(rng, n, metrics, mean)).T
                compared = rankgauge.compare({"a": result(*base.T), "b": result(*columns)}, **few(matters))
                found += any(metric.verdict == "equivalent" for metric in compared["b"].metrics.values())
            shares.append(found / sets)
        print(f"{name:<18} {n:>5}  {metrics:>7}  {matters:>7g}   {shares[0]:>31.3f}  {shares[1]:>5.3f}")


def few(matters: float) -> dict[str, float | int]:
    return {"matters": matters, "resamples": 2_000}


def plans(sets: int) -> None:
    """Print how often the difference is shown that a plan from a pilot promises, over pilots and comparisons."""
    print("metrics  systems  difference   questions planned (mean)   shown")
    for metrics, systems, size in ((1, 1, 0.1), (5, 1, 0.1), (1, 3, 0.1), (5, 3, 0.1)):
        rng, shown, planned = np.random.default_rng([metrics, systems]), 0, []
        for _ in range(sets):
            pilot = {"a": result(*np.zeros((metrics, 60))), "b": result(*normal(rng, 60, metrics, 0.0).T)}
            method = Method(resamples=2_000)
            needed = plan_power(pilot, method=method, sizes=[size], systems=systems).metrics["p@1"].needed[0].n
            planned.append(needed)
            results = {"base": result(*np.zeros((metrics, needed)))}
            for place in range(systems):
                differences = normal(rng, needed, metrics, 0.0)
                differences[:, 0] += 0 if place else size
                results[f"run{place}"] = result(*differences.T)
            compared = rankgauge.compare(results, metrics=None, resamples=2_000)
            shown += compared["run0"].metrics["p@1"].verdict == "better"
        print(f"{metrics:>7}  {systems:>7}  {size:>10g}   {np.mean(planned):>24.1f}   {shown / sets:.3f}", flush=True)


STOPPED = ("hits, half of them", "hits, 98 %", "like nDCG", "skewed")


def early(sets: int) -> None:
    """Print how often a decision on the mean of n samples in random order is wrong, and after how many it is made."""
    print("                          wrong decisions          share of samples until it is decided")
    print("scores               n    mean = bound   just below    0.05 away   0.1 away   0.2 away")
    for name in STOPPED:
        for n in (50, 300):
            rng = np.random.default_rng(n)
            drawn = [SCORES[name].draw(rng, n) for _ in range(sets)]
            cells = [stopped(drawn, away) for away in (0.0, 1e-6, 0.05, 0.1, 0.2)]
            shares = [f"{share:>10.2f}" for _, share in cells[2:]]
            print(f"{name:<18} {n:>3}   {cells[0][0]:>13.3f}   {cells[1][0]:>10.3f}   {' '.join(shares)}", flush=True)


def stopped(drawn: list[np.ndarray], away: float) -> tuple[float, float]:
    """Return how often the bound that is *away* from the mean is decided wrongly, and after which share of samples."""
    wrong, seen = 0, 0
    for number, values in enumerate(drawn):
        mean = math.fsum(values) / len(values)
        is_above = away < 0.01 or mean < away or (number % 2 and mean + away < 1)
        bound = mean + away if is_above else mean - away
        test = BoundTest(len(values), bound)
        for value in values[:-1].tolist():
            if test.add(value) is not None:
                break
        seen += test.seen if test.verdict is not None else len(values)
        wrong += test.verdict is (mean < bound)
    return wrong / len(drawn), seen / len(drawn) / len(drawn[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=1_000, help="simulated sets of each line")
    parser.add_argument("--only", default="", help="coverage, clustered, equivalence, plans or early")
    given = parser.parse_args()
    print(f"{given.sets:,} sets each; a share of .95 has a standard error of {math.sqrt(0.95 * 0.05 / given.sets):.4f}")
    for simulate in (coverage, clustered, equivalence, plans, early):
        if given.only in simulate.__name__:
            print()
            simulate(given.sets)


if __name__ == "__main__":
    main()
