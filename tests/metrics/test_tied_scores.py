"""scikit-learn's two measures of tied scores; expected values are worked out by its formulas."""

import random
from itertools import permutations
from math import log2
from statistics import fmean

import pytest

import rankgauge
from tables import rows

NDCG, LRAP = "ndcg_score", "label_ranking_average_precision_score"


def score(gains, scores, metric):
    """Score one query whose documents all have a gain and a score."""
    names = [f"d{place}" for place in range(len(gains))]
    run = dict(zip(names, scores, strict=True))
    (column,) = rankgauge.evaluate({"q": dict(zip(names, gains, strict=True))}, {"q": run}, metric).metrics.values()
    return column.mean


def test_the_example_of_the_documentation_of_ndcg_score():
    # true relevance 10, 0, 0, 1, 5, scores .1, .2, .3, 4, 70: documented as 0.69...
    ideal = 10 + 5 / log2(3) + 1 / 2
    expected = (5 + 1 / log2(3) + 10 / log2(6)) / ideal
    assert score([10, 0, 0, 1, 5], [0.1, 0.2, 0.3, 4, 70], NDCG) == pytest.approx(expected, abs=1e-12)
    assert str(expected).startswith("0.69")


def test_ties_at_the_cutoff_share_it():
    # scores 1, 0, 0, 0, 1 with k=1, documented as 0.75: the tie of 10 and 5 at the top is worth 7.5 each
    assert score([10, 0, 0, 1, 5], [1, 0, 0, 0, 1], f"{NDCG}@1") == pytest.approx(0.75, abs=1e-12)


def test_the_example_of_the_documentation_of_label_ranking():
    # [[1, 0, 0], [0, 0, 1]] and [[0.75, 0.5, 1], [1, 0.2, 0.1]]: documented as 0.416...
    rows = [([1, 0, 0], [0.75, 0.5, 1]), ([0, 0, 1], [1, 0.2, 0.1])]
    assert fmean(score(*row, LRAP) for row in rows) == pytest.approx((1 / 2 + 1 / 3) / 2, abs=1e-12)


def test_tied_labels_stand_at_the_last_rank_of_their_tie():
    assert score([1, 0, 0], [0.5, 0.5, 0.1], LRAP) == 0.5
    assert score([1, 1, 0], [0.5, 0.5, 0.5], LRAP) == pytest.approx(2 / 3, abs=1e-12)


@rows("seed", range(20))
def test_ndcg_is_the_mean_over_all_orders_of_ties_and_label_ranking_the_worst(seed):
    draw = random.Random(seed)  # noqa: S311  # no secret
    gains = [draw.choice([0, 0, 1, 2, 3]) for _ in range(5)] + [1]
    scores = [float(draw.choice([1, 2, 3])) for _ in gains]
    k = draw.randint(1, 6)
    orders = [order for order in permutations(range(6)) if [scores[i] for i in order] == sorted(scores, reverse=True)]
    ideal = sum(gain / log2(rank + 1) for rank, gain in enumerate(sorted(gains, reverse=True)[:k], 1))
    dcg = fmean(sum(gains[i] / log2(rank + 1) for rank, i in enumerate(order[:k], 1)) for order in orders)
    assert score(gains, scores, f"{NDCG}@{k}") == pytest.approx(dcg / ideal, abs=1e-12)
    relevant = [i for i, gain in enumerate(gains) if gain]
    above = {i: [j for j in range(6) if scores[j] >= scores[i]] for i in relevant}
    expected = fmean(len(set(above[i]) & set(relevant)) / len(above[i]) for i in relevant)
    assert score(gains, scores, LRAP) == pytest.approx(expected, abs=1e-12)


def test_what_was_not_retrieved_counts_as_missed():
    qrels, run = {"q": {"a": 1, "b": 1}}, {"q": {"a": 1.0}}
    result = rankgauge.evaluate(qrels, run, [NDCG, LRAP])
    assert [column.mean for column in result.metrics.values()] == pytest.approx([1 / (1 + 1 / log2(3)), 0.5])


@pytest.mark.parametrize("name", ["SetRelP", "set_relative_P", "SetP", "set_P"])
def test_relative_chooses_one_of_two_set_precisions(name):
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 2.0, "x": 1.0}}
    results = [rankgauge.evaluate(qrels, run, f"{name}(relative={flag})") for flag in ("true", "False")]
    means = [column.mean for result in results for column in result.metrics.values()]
    assert means == [1.0, 0.5]
