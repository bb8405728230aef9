"""Gain that is not normalized, and trec_eval's gain measures, worked out by hand."""

from __future__ import annotations

import math

import pytest

import rankgauge
from tables import rows

GOLD = {"a": 3, "b": 1, "c": 0}
RANKING = ["b", "x", "a"]


@rows(
    ("metric", "expected"),
    [
        ("dcg@1", 1.0),
        ("dcg@3", 1 + 3 / 2),
        ("dcg", 1 + 3 / 2),
        ("dcg(gain=exponential)@3", 1 + 7 / 2),
        ("dcg_burges@3", 1 + 7 / 2),
        ("dcg(discount=log2-from-2)@3", 1 + 3 / math.log2(3)),
        ("cg@2", 1.0),
        ("cg@3", 4.0),
        ("CG(gain=exponential)@3", 8.0),
    ],
)
def test_gains_are_summed_without_dividing_by_an_ideal(score, metric, expected):
    assert score(metric, {"relevant": GOLD}, RANKING).value == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("metric", ["dcg@3", "cg@3", "G", "ndcg_rel", "Rndcg"])
def test_ground_truth_without_a_gain_is_undefined(score, metric):
    assert score(metric, {"relevant": {"a": 0}}, ["a"]).status == "undefined"


def test_g_by_hand(score):
    # The ideal order gains 3, then 1, and each rank below costs 1: 3, 4, 5. Rank 1 holds 1, rank 3 holds 3.
    expected = (1 / math.log2(2 + 3 - 1) + 3 / math.log2(2 + 5 - 4)) / 4

    assert score("G", {"relevant": GOLD}, RANKING).value == pytest.approx(expected, rel=1e-12)


def test_binary_g_by_hand(score):
    # No irrelevant result stands above b, and one above a.
    assert score("binG", {"relevant": GOLD}, RANKING).value == pytest.approx((1 + 1 / math.log2(3)) / 2, rel=1e-12)


def test_ndcg_over_relevant_ranks_by_hand(score):
    # At rank 1: 1 of an ideal 3. At rank 3: 1 + 3/2 of 3 + 1/log2(3).
    ideal = 3 + 1 / math.log2(3)

    assert score("ndcg_rel", {"relevant": GOLD}, RANKING).value == pytest.approx((1 / 3 + 2.5 / ideal) / 2, rel=1e-12)
    # What was not found counts as the whole ranking.
    assert score("ndcg_rel", {"relevant": GOLD}, ["b"]).value == pytest.approx((1 / 3 + 1 / ideal) / 2, rel=1e-12)


def test_ndcg_over_levels_by_hand(score):
    # One item has gain 3, two have 1 or more: nDCG at 1 and at 2, and at 5, the end.
    ideal = 3 + 1 / math.log2(3)
    expected = (1 / 3 + 1 / ideal + 2.5 / ideal) / 3

    assert score("Rndcg", {"relevant": GOLD}, [*RANKING, "y", "z"]).value == pytest.approx(expected, rel=1e-12)
    assert score("Rndcg", {"relevant": GOLD}, RANKING).value == pytest.approx((1 / 3 + 1 / ideal) / 2, rel=1e-12)


def test_gains_of_grades_are_as_in_ndcg(score):
    by_gains = score("G(gains={1: 3, 3: 9})", {"relevant": GOLD}, RANKING).value

    assert by_gains == score("G", {"relevant": {"a": 9, "b": 3}}, RANKING).value


@pytest.mark.parametrize(
    ("multiple", "expected"),
    [(0.5, 1.0), (1, 1 / 2), (1.5, 2 / 3), (2, 2 / 4)],  # of R = 2: the cutoffs 1, 2, 3 and 4
)
def test_precision_at_a_multiple_of_r(score, multiple, expected):
    assert score(f"Rprec_mult@{multiple}", {"relevant": GOLD}, RANKING).value == pytest.approx(expected)


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("utility", 2 - 1),
        ('utility(weights="1,-0.5,-2,0")', 2 - 0.5),
        ('utility(weights="0,0,0,1", collection=100)', 100 - 3),  # two relevant and one irrelevant are retrieved
        ("utility.3,-1,0,0", 6 - 1),
    ],
)
def test_utility_weighs_each_kind_of_item(score, metric, expected):
    assert score(metric, {"relevant": GOLD}, RANKING).value == pytest.approx(expected)


def test_utility_of_a_topic_without_anything_relevant_is_the_cost_of_what_was_retrieved(score):
    assert score("utility", {"relevant": {"a": 0}}, ["a", "b"]).value == -2.0


@pytest.mark.parametrize("metric", ["G", "ndcg_rel", "Rndcg", "ndcg", "ndcg(gain=exponential)"])
def test_gains_whose_sum_no_float_holds_fail_their_query_alone_and_without_a_warning(metric):
    huge = {"a": 1e308, "b": 1e308, "c": 1e308}
    qrels, run = {"q1": huge, "q2": {"a": 1}}, {"q1": {"a": 3.0, "b": 2.0, "c": 1.0}, "q2": {"a": 1.0}}
    (column,) = rankgauge.evaluate(qrels, run, [metric]).metrics.values()
    assert (column.status(0), column.status(1)) == ("failed", "scored")
    assert column.values[1] == 1.0
    assert "gains as high as 1e+308 are too large for a float" in column.reasons[0]
