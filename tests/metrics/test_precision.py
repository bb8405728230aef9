"""Precision, F1 and R-precision."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rankgauge.metrics.precision import f1, precision, r_precision
from rankgauge.plugin.metric import declared

PRECISION, F1, R_PRECISION = "retrieval-precision-at-k", "retrieval-f1-at-k", "retrieval-r-precision"
RANKING = ["a", "x", "b", "y", "c"]  # relevant at ranks 1, 3 and 5
CLOSE = 1e-12


@pytest.mark.parametrize(
    ("k", "expected"),
    [
        (1, 1 / 1),
        (2, 1 / 2),
        (3, 2 / 3),
        (4, 2 / 4),
        (5, 3 / 5),
        (10, 3 / 10),  # divided by 10, though 5 were retrieved
        (10**9, 3 / 10**9),
    ],
)
def test_precision_divides_the_relevant_ranks_by_k(score, k, expected):
    assert expected == score(PRECISION, ["a", "b", "c", "d"], RANKING, k=k).value


def test_short_list_is_divided_by_k_all_the_same(score):
    # The worked check: one of five relevant at rank 1 of a list of one.
    assert score(PRECISION, [*"abcde"], ["a"], k=5).value == 0.2


@pytest.mark.parametrize(
    ("k", "expected"),
    [
        # F1 = 2 * relevant / (k + |gold|) with 4 gold items
        (1, 2 * 1 / (1 + 4)),
        (2, 2 * 1 / (2 + 4)),
        (5, 2 * 3 / (5 + 4)),
        (10**9, 2 * 3 / (10**9 + 4)),
    ],
)
def test_f1_is_the_harmonic_mean_of_precision_and_recall(score, k, expected):
    assert expected == pytest.approx(score(F1, ["a", "b", "c", "d"], RANKING, k=k).value, rel=CLOSE)


def test_f1_is_zero_where_precision_and_recall_are(score):
    found = score(F1, ["a"], ["x"], k=5)

    assert (found.value, found.status) == (0.0, "scored")


def test_perfect_f1_needs_as_many_gold_items_as_k(score):
    assert score(F1, ["a", "b"], ["a", "b"], k=2).value == 1.0
    # Two of four ranks and both of the gold make 4/6.
    assert pytest.approx(2 / 3, rel=CLOSE) == score(F1, ["a", "b"], ["a", "b"], k=4).value


@pytest.mark.parametrize(
    ("gold", "expected"),
    [
        (["a"], 1.0),  # R = 1: a
        (["a", "b"], 1 / 2),  # R = 2: a x
        (["a", "b", "c"], 2 / 3),  # R = 3: a x b
        (["a", "b", "c", "d", "e", "f"], 3 / 6),  # R = 6, only 5 retrieved
        (["e", "f"], 0.0),
    ],
)
def test_r_precision_cuts_at_the_number_of_relevant_items(score, gold, expected):
    assert expected == score(R_PRECISION, gold, RANKING).value


def test_r_precision_ignores_the_cutoff_of_the_sample(score):
    assert score(R_PRECISION, ["a", "b", "c"], RANKING, k=1).value == 2 / 3


def test_cutoff_of_each_sample_is_its_own(judged):
    batch = judged(*[(RANKING, ["a", "b"])] * 3)

    # relevant ranks 1, 2, 2 over k
    assert precision(batch, k=np.array([1, 4, 10**9])).tolist() == [1.0, 0.5, 2 / 10**9]
    assert precision(batch, k=4).tolist() == [0.5, 0.5, 0.5]
    # At k = 1 one of two is found, at k = 4 both: 2/3 and 4/6.
    assert f1(batch, k=np.array([1, 4, 4])).tolist() == pytest.approx([2 / 3, 2 / 3, 2 / 3], rel=CLOSE)


@pytest.mark.parametrize("alias", [PRECISION, F1, R_PRECISION])
def test_empty_list_scores_zero(score, alias):
    assert score(alias, ["a"], [], k=5).value == 0.0


@pytest.mark.parametrize("alias", [PRECISION, F1, R_PRECISION])
@pytest.mark.parametrize("gold", [[], {"a": 0, "b": -1}])
def test_gold_without_a_relevant_item_is_undefined(score, alias, gold):
    found = score(alias, gold, ["a"], k=5)

    assert (found.value, found.status) == (None, "undefined")
    assert found.reason


def test_undefined_is_nan_inside_the_functions(judged):
    batch = judged((["a"], []), (["a"], {"a": 0}))

    for scores in (precision(batch, k=5), f1(batch, k=5), r_precision(batch)):
        assert all(math.isnan(value) for value in scores.tolist())


@pytest.mark.parametrize(
    ("alias", "expected"),
    [
        (PRECISION, 1 / 3),  # a of nil, bad, a
        (F1, 2 * 1 / (3 + 2)),
        (R_PRECISION, 0.0),  # R = 2: nil, bad
    ],
)
def test_gains_of_zero_and_below_are_not_relevant(score, alias, expected):
    gold = {"a": 3, "b": 1, "nil": 0, "bad": -1}

    assert pytest.approx(expected, rel=CLOSE) == score(alias, gold, ["nil", "bad", "a"], k=3).value


@pytest.mark.parametrize(
    ("alias", "expected"),
    [
        (f"{PRECISION}(rel=2)", 1 / 3),  # b of a, b, x
        (f"{F1}(rel=2)", 2 * 1 / (3 + 2)),
        (f"{R_PRECISION}(rel=2)", 1 / 2),  # R = 2: b of a, b
    ],
)
def test_rel_raises_the_bar(score, alias, expected):
    gold = {"a": 1, "b": 2, "c": 3}

    assert pytest.approx(expected, rel=CLOSE) == score(alias, gold, ["a", "b", "x"], k=3).value


def test_repeats_keep_their_rank_and_earn_nothing_under_credit_once(score):
    from rankgauge import Policy

    ranking = ["a", "a", "b"]

    # first: a b -> 2 of 3; credit-once: a - b -> 2 of 3 at k=3, 1 of 2 at k=2; keep: a a b -> 3 of 3.
    assert score(PRECISION, ["a", "b"], ranking, k=3).value == 2 / 3
    assert score(PRECISION, ["a", "b"], ranking, k=2, policy=Policy(duplicates="credit-once")).value == 1 / 2
    assert score(PRECISION, ["a", "b"], ranking, k=3, policy=Policy(duplicates="keep")).value == 1.0


def test_details_count_what_the_scores_are_made_of(score):
    gold = ["a", "b", "c", "d"]

    assert score(PRECISION, gold, RANKING, k=3, details=True).details == {
        "k": 3,
        "relevant_ranks": 2,
        "top_k": ["a", "x", "b"],
    }
    assert score(F1, gold, RANKING, k=3, details=True).details == {
        "k": 3,
        "relevant_ranks": 2,
        "found": 2,
        "top_k": ["a", "x", "b"],
    }
    assert score(R_PRECISION, gold, RANKING, details=True).details == {
        "relevant_count": 4,
        "relevant_ranks": 2,
        "relevant": gold,
    }


@pytest.mark.parametrize("function", [precision, f1, r_precision])
def test_range_is_declared_as_zero_to_one(function):
    assert declared(function).range == (0.0, 1.0)
    assert declared(function).higher_is_better
