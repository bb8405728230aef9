"""Judged@k: how much of what was retrieved the ground truth has an opinion on."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rankgauge.metrics.counts import judged_at_k
from rankgauge.plugin.metric import declared

ALIAS = "retrieval-judged-at-k"
GOLD = {"a": 2, "nil": 0, "bad": -1}
RANKING = ["x", "nil", "a", "y", "bad"]  # judged at ranks 2, 3 and 5


@pytest.mark.parametrize(
    ("k", "expected"),
    [
        (1, 0.0),
        (2, 1 / 2),
        (3, 2 / 3),
        (5, 3 / 5),
        (10, 3 / 5),  # min(10, 5) were looked at
        (10**9, 3 / 5),
    ],
)
def test_score_is_the_judged_share_of_what_was_looked_at(score, k, expected):
    assert expected == score(ALIAS, GOLD, RANKING, k=k).value


def test_cutoff_of_each_sample_is_its_own(judged):
    batch = judged(*[(RANKING, GOLD)] * 3)

    assert judged_at_k(batch, k=np.array([2, 5, 10**9])).tolist() == [1 / 2, 3 / 5, 3 / 5]
    assert judged_at_k(batch, k=2).tolist() == [1 / 2, 1 / 2, 1 / 2]


def test_gold_with_gains_of_zero_and_below_only_is_defined(score):
    found = score(ALIAS, {"nil": 0, "bad": -1}, ["nil", "x"], k=5)

    assert (found.value, found.status) == (1 / 2, "scored")


@pytest.mark.parametrize(
    ("gold", "ranking"),
    [
        (["a"], ["a", "x"]),  # a plain list judges nothing but what it lists
        (GOLD, []),  # nothing was retrieved
        ([], ["a"]),
        ({}, ["a"]),
    ],
)
def test_plain_lists_empty_rankings_and_empty_gold_are_undefined(score, gold, ranking):
    found = score(ALIAS, gold, ranking, k=5)

    assert (found.value, found.status) == (None, "undefined")
    assert found.reason


def test_undefined_is_nan_inside_the_function(judged):
    scores = judged_at_k(judged((["a"], ["a"]), ([], GOLD), (["a"], GOLD)), k=5).tolist()

    assert [math.isnan(value) for value in scores] == [True, True, False]


def test_repeats_are_looked_at_once(score):
    # Distinct: a x -> 1 of 2.
    assert score(ALIAS, GOLD, ["a", "a", "x"], k=5).value == 1 / 2


def test_entries_with_gains_make_a_list_graded(score):
    assert (
        score(ALIAS, {"relevant": [{"id": "a", "gain": 1}, {"id": "nil", "gain": 0}]}, ["nil", "x"], k=5).value == 0.5
    )


def test_details_hold_both_sides_of_the_fraction(score):
    found = score(ALIAS, GOLD, RANKING, k=3, details=True)

    assert found.details == {"k": 3, "judged_ranks": 2, "depth": 5, "top_k": ["x", "nil", "a"]}


def test_range_is_declared_as_zero_to_one():
    assert declared(judged_at_k).range == (0.0, 1.0)
    assert declared(judged_at_k).higher_is_better
