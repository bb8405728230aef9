"""
Simulate what docs/explanation/comparing.md promises of comparisons by a model's judgments and few of people.

Nothing is timed. The judgments of a collection are taken for the truth. Models judge the first 20 results of two runs
and make mistakes of several kinds, drawn anew for each question; people tell the truth about some. A set is as many
questions as the collection has, drawn with repeats; printed is in how many sets the 95 % interval of the difference
covers its true mean, and the mean width.

Run it with ``make bench`` or ``python benchmarks/human_judged.py [QRELS RUN RUN] [--sets N]``; the table in the docs is
of Cranfield, with two runs of 100 documents.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

import rankgauge
from rankgauge.columns import Qrels
from rankgauge.features.labels.human_judged import grades_of
from rankgauge.features.labels.prediction_powered import powered_mean
from rankgauge.features.labels.queue_files import decoded
from rankgauge.io.open_sources import open_qrels, open_run

METRICS = ("P@10", "ndcg@10", "AP")
DEPTH = 20
MODELS = 60
"""How many times each kind of model judges the collection; questions are drawn from any of them."""

Judgments = dict[str, dict[str, float]]
Rankings = Mapping[str, Mapping[str, Mapping[str, float]]]


class Collection(NamedTuple):
    """Two runs of some depth, and whether each of their documents is relevant."""

    runs: Rankings
    truth: Judgments

    @property
    def rank_of_new(self) -> dict[str, dict[str, int]]:
        """Return at which rank the second run has each document."""
        (_, new) = self.runs.values()
        return {query: {document: at for at, document in enumerate(rows, 1)} for query, rows in new.items()}


def read(qrels: Path, runs: list[Path]) -> Collection:
    """Read judgments and runs."""
    judged: Qrels = open_qrels(qrels)
    grades = grades_of(judged)
    rankings: dict[str, dict[str, dict[str, float]]] = {}
    for run in runs:
        own = rankings.setdefault(str(run), {})
        for batch in open_run(run).grouped():
            names, end = batch.documents.texts(), 0
            for query, length in zip(map(decoded, batch.queries), batch.lengths.tolist(), strict=True):
                begin, end = end, end + length
                best = sorted(range(begin, end), key=lambda row: -batch.scores[row])[:DEPTH]  # used at once
                own[query] = {decoded(names[row]): float(-at) for at, row in enumerate(best)}
    queries = [query for query in grades if all(query in own for own in rankings.values())]
    pool = {query: dict.fromkeys(name for own in rankings.values() for name in own[query]) for query in queries}
    truth = {q: {name: float(grades[q].get(name, 0) > 0) for name in names} for q, names in pool.items()}
    return Collection(rankings, truth)


Mistakes = Callable[[np.random.Generator, bool, int], bool]

KINDS: Mapping[str, Mistakes] = {
    "right in 97 %": lambda rng, relevant, _: relevant != (rng.random() < 0.03),
    "right in 85 %": lambda rng, relevant, _: relevant != (rng.random() < 0.15),
    "mild": lambda rng, relevant, _: bool(rng.random() < (0.95 if relevant else 0.25)),
    "believes the new run": lambda rng, relevant, rank: bool(
        rng.random() < (0.9 if relevant else 0.6 / (1 + 0.3 * (rank - 1)))
    ),
    "guesses": lambda rng, *_: bool(rng.random() < 0.2),
}
"""Whether a model finds a document relevant: by chance, by whether it is, and by its rank in the second run."""


def judged(rng: np.random.Generator, collection: Collection, mistakes: Mistakes) -> Judgments:
    """Return what a model says."""
    ranks = collection.rank_of_new
    return {
        query: {name: float(mistakes(rng, grade > 0, ranks[query].get(name, 101))) for name, grade in grades.items()}
        for query, grades in collection.truth.items()
    }


def differences(collection: Collection, judgments: Judgments) -> np.ndarray:
    """Return the difference of both runs; shape (metrics, questions)."""
    results = rankgauge.evaluate(judgments, runs=dict(collection.runs), metrics=list(METRICS))
    old, new = (
        np.array([np.nan_to_num(column.values) for column in result.metrics.values()]) for result in results.values()
    )
    return new - old


def part_of(rng: np.random.Generator, judgments: Judgments, size: int) -> Judgments:
    """Return some documents of each question, drawn at random."""
    return {query: dict.fromkeys(rng.permutation(list(grades))[:size], 0.0) for query, grades in judgments.items()}


def simulate(collection: Collection, sets: int) -> None:
    """Print coverage and width of people alone, of the model alone, and of both."""
    of_truth = differences(collection, collection.truth)
    total = of_truth.shape[1]
    sizes = [n for n in (10, 20, 40, 80) if n <= total // 2]
    print("model                 metric     n   covers: people  model   both   width: people  model   both")
    for kind, mistakes in KINDS.items():
        rng = np.random.default_rng(7)
        models = [judged(rng, collection, mistakes) for _ in range(MODELS)]
        tables = np.array([differences(collection, model) for model in models])
        for at, metric in enumerate(METRICS):
            for n in sizes:
                found = []
                for _ in range(sets):
                    drawn, model = rng.integers(0, total, total), rng.integers(0, MODELS, total)
                    labelled = rng.permutation(total)[:n]
                    values = tables[model, at, drawn]
                    found.append((values, of_truth[at, drawn][labelled], labelled, None))
                report(kind, metric, str(n), found, float(of_truth[at].mean()))
        in_part(rng, kind, collection, models, tables[:, 0], of_truth[0], sets)


def in_part(
    rng: np.random.Generator,
    kind: str,
    collection: Collection,
    models: list[Judgments],
    of_model: np.ndarray,
    of_truth: np.ndarray,
    sets: int,
) -> None:
    """Print the same for four documents of every question, by the metric that adds up."""
    total, size = len(of_truth), 4
    sizes = np.array([len(grades) for grades in collection.truth.values()])
    times = sizes / np.minimum(size, sizes)
    people, chance = np.empty_like(of_model), np.empty_like(of_model)
    for at, model in enumerate(models):
        part = part_of(rng, collection.truth, size)
        of_part = [
            differences(
                collection, {query: {name: judge[query][name] for name in names} for query, names in part.items()}
            )[0]
            for judge in (collection.truth, model)
        ]
        people[at] = times * of_part[0]
        chance[at] = times * of_part[1] - of_model[at]
    found = []
    for _ in range(sets):
        drawn, model = rng.integers(0, total, total), rng.integers(0, len(models), total)
        found.append((of_model[model, drawn], people[model, drawn], np.arange(total), chance[model, drawn]))
    report(kind, METRICS[0], f"all/{size}", found, float(of_truth.mean()))


Found = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray | None]


def report(kind: str, metric: str, n: str, found: list[Found], truth: float) -> None:
    covered, widths, counted = np.zeros(3), np.zeros(3), 0
    for each in found:
        estimate = powered_mean(*each)
        intervals = [one.interval() for one in (estimate.people, estimate.model, estimate.both)]
        if None in intervals:  # nothing differs
            continue
        counted += 1
        ends = np.array(intervals, dtype=np.float64)
        covered += (ends[:, 0] <= truth) & (truth <= ends[:, 1])
        widths += ends[:, 1] - ends[:, 0]
    cells = (*(covered / counted), *(widths / counted))
    print(
        f"{kind:<21} {metric:<8} {n:>5}           "
        + "   ".join(f"{cell:.3f}" for cell in cells[:3])
        + "           "
        + "   ".join(f"{cell:.3f}" for cell in cells[3:])
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    here = Path(__file__).parents[1] / "configs" / "trec"
    names = [here / name for name in ("qrels.txt", "bm25.run", "char-ngram.run")]
    parser.add_argument("files", type=Path, nargs="*", default=names, metavar="QRELS RUN RUN")
    parser.add_argument("--sets", type=int, default=1000)
    given = parser.parse_args()
    qrels, *runs = given.files
    simulate(read(qrels, runs), given.sets)


if __name__ == "__main__":
    main()
