"""From how many samples a relevant result leaves the cutoff: all losses are looked at, listed or not."""

from __future__ import annotations

import numpy as np
import pytest

import rankgauge
from draws import in_thorough_suite
from rankgauge import Engine
from rankgauge.features.html import html_report

N, K = 120, 5


@pytest.fixture(autouse=True)
def few_lists(monkeypatch):
    """Ranked lists of a few of the samples only, as reports have of more than 20,000."""
    monkeypatch.setattr(html_report, "_ALL", 20)
    monkeypatch.setattr(html_report, "_MOST", 7)


def drawn(seed):
    """Return judgments and two runs without ties; the second lacks two queries, and ranks at random."""
    rng = np.random.default_rng(seed)
    pool = [f"d{number}" for number in range(20)]
    qrels = {
        f"q{n}": {str(name): int(rng.integers(0, 3)) for name in rng.choice(pool, 6, replace=False)} for n in range(N)
    }
    runs = [
        {query: {str(name): 100.0 - rank for rank, name in enumerate(rng.permutation(pool)[:15])} for query in qrels}
        for _ in range(2)
    ]
    del runs[1]["q3"], runs[1]["q50"]
    return qrels, runs


def counted(qrels, runs, *, unit=lambda name: name):
    """Return how many queries lose in ndcg@5, and how many of them lose a relevant result from the first five."""
    losses = left = 0
    for query, grades in qrels.items():
        gold = {}
        for name, grade in grades.items():
            gold[unit(name)] = max(grade, gold.get(unit(name), 0))
        tops = [list(dict.fromkeys(map(unit, run.get(query, {}))))[:K] for run in runs]
        ideal = sum(grade / np.log2(2 + at) for at, grade in enumerate(sorted(gold.values(), reverse=True)[:K]))
        scores = [sum(gold.get(name, 0) / np.log2(2 + at) for at, name in enumerate(top)) for top in tops]
        if ideal and scores[1] < scores[0] - 1e-9:
            losses += 1
            held = [{name for name in top if gold.get(name, 0) > 0} for top in tops]
            left += bool(held[0] - held[1])
    return losses, left


def of_run(qrels, runs, metric=f"ndcg@{K}"):
    return rankgauge.evaluate(qrels, runs=dict(zip("ab", runs, strict=True)), metrics=[metric])


def of_samples(qrels, runs):
    """Return the same by samples, in the order of their scores."""

    def result(run):
        samples = [
            {"id": query, "expected_output": {"relevant": gold}, "actual_output": {"retrieved": list(run[query])}}
            for query, gold in qrels.items()
        ]
        return Engine().dataset(samples).with_metrics([f"ndcg@{K}"]).run()

    return dict(zip("ab", map(result, runs), strict=True))


def lost(results, **options):
    """Return why the only run that is compared is lost, by the only metric."""
    (losses,) = html_report.gather(results, **options).losses.values()
    return tuple(losses)


@pytest.mark.parametrize("seed", range(3))
def test_every_loss_of_a_run_is_looked_at(seed):
    qrels, runs = drawn(seed)
    n, left, k = lost(of_run(qrels, runs))

    assert (n, left, k) == (*counted(qrels, runs), K)
    assert n > left > 7


@in_thorough_suite()
def test_every_loss_of_several_runs_and_metrics_is_looked_at():
    qrels, (first, second) = drawn(8)
    _, (third, _) = drawn(9)
    metrics = ["RR", f"ndcg@{K}", "P@2"]
    results = rankgauge.evaluate(qrels, runs={"a": first, "b": second, "c": third}, metrics=metrics)
    losses = html_report.gather(results).losses

    assert set(losses) == {(run, metric) for run in "bc" for metric in ("rr", f"ndcg@{K}", "p@2")}
    assert losses["b", f"ndcg@{K}"] == (*counted(qrels, [first, second]), K)
    assert losses["c", f"ndcg@{K}"] == (*counted(qrels, [first, third]), K)
    assert losses["b", "p@2"].n == losses["b", "p@2"].left  # with fewer of two, one has left


def test_every_loss_of_samples_is_looked_at_in_every_batch(monkeypatch):
    monkeypatch.setattr("rankgauge.features.html.rereading._AT_ONCE", 16)
    qrels, runs = drawn(5)
    for query in ("q3", "q50"):
        del qrels[query], runs[0][query]

    assert lost(of_samples(qrels, runs)) == (*counted(qrels, runs), K)


def test_every_loss_of_a_run_that_is_rolled_up_is_looked_at():
    qrels, runs = drawn(6)
    chunks = [
        {
            query: {f"{name}#{number % 2}": score for number, (name, score) in enumerate(ranking.items())}
            for query, ranking in run.items()
        }
        for run in runs
    ]
    result = of_run(qrels, chunks, f"ndcg(unit=document)@{K}")

    assert lost(result) == (
        *counted(qrels, chunks, unit=lambda name: name.partition("#")[0]),
        K,
    )


def test_only_samples_that_are_compared_are_counted():
    """Of two samples that lose, the judgments of one changed."""
    before = {f"q{n}": {"a": 1} for n in range(40)}
    runs = {query: {"a": 2.0, "b": 1.0} for query in before}, {query: {"a": 2.0, "b": 1.0} for query in before}
    runs[1]["q1"] = runs[1]["q2"] = {"b": 2.0, "c": 1.0}
    old = rankgauge.evaluate(before, runs[0], ["RR"])
    new = rankgauge.evaluate({**before, "q2": {"a": 1, "x": 1}}, runs[1], ["RR"])
    comparison = rankgauge.compare({"old": old, "new": new}, common="unchanged")

    assert lost({"old": old, "new": new}, comparison=comparison) == (1, 1, None)


def test_a_run_whose_column_has_another_name_is_looked_at_too():
    qrels, runs = drawn(7)
    one, other = (
        rankgauge.evaluate(qrels, run, [metric])
        for run, metric in zip(runs, ("ndcg@5", {"metric": "ndcg@5", "as": "mine"}), strict=True)
    )

    assert lost({"a": one, "b": other}) == (*counted(qrels, runs), K)
