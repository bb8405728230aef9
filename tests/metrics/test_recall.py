"""Recall: how much of the ground truth was found, and whether all of it was."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rankgauge.metrics.recall import recall, recall_all
from rankgauge.plugin.metric import declared

RECALL, ALL = "retrieval-recall-at-k", "retrieval-recall-all-at-k"
RANKING = ["a", "x", "b", "y", "c"]  # relevant at ranks 1, 3 and 5


@pytest.mark.parametrize(
    ("k", "expected"),
    [
        (1, 1 / 4),  # a of a, b, c, d
        (2, 1 / 4),
        (3, 2 / 4),
        (5, 3 / 4),
        (10**9, 3 / 4),  # d was never retrieved
    ],
)
def test_recall_is_the_share_of_the_gold_found_up_to_k(score, k, expected):
    assert expected == score(RECALL, ["a", "b", "c", "d"], RANKING, k=k).value


def test_recall_is_divided_by_all_gold_even_when_k_is_smaller(score):
    # 1 of 3, not 1 of min(1, 3).
    assert score(RECALL, ["a", "b", "c"], ["a", "b", "c"], k=1).value == 1 / 3


@pytest.mark.parametrize(("k", "expected"), [(3, 0.0), (4, 0.0), (5, 1.0), (10**9, 1.0)])
def test_recall_all_is_one_from_the_rank_of_the_last_gold_item_on(score, k, expected):
    assert expected == score(ALL, ["a", "b", "c"], RANKING, k=k).value


def test_recall_all_is_zero_where_one_item_was_never_found(score):
    assert score(ALL, ["a", "b", "c", "d"], RANKING, k=10**9).value == 0.0


def test_cutoff_of_each_sample_is_its_own(judged):
    batch = judged(*[(RANKING, ["a", "b"])] * 3)

    assert recall(batch, k=np.array([1, 3, 10**9])).tolist() == [0.5, 1.0, 1.0]
    assert recall_all(batch, k=np.array([1, 3, 10**9])).tolist() == [0.0, 1.0, 1.0]
    assert recall(batch, k=1).tolist() == [0.5, 0.5, 0.5]
    assert recall_all(batch, k=3).tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("alias", [RECALL, ALL])
def test_empty_list_scores_zero(score, alias):
    assert score(alias, ["a"], [], k=5).value == 0.0


@pytest.mark.parametrize("alias", [RECALL, ALL])
@pytest.mark.parametrize("gold", [[], {"a": 0, "b": -1}])
def test_gold_without_a_relevant_item_is_undefined(score, alias, gold):
    found = score(alias, gold, ["a"], k=5)

    assert (found.value, found.status) == (None, "undefined")
    assert found.reason


def test_undefined_is_nan_inside_the_functions(judged):
    batch = judged((["a"], []), (["a"], ["a"]))

    for function in (recall, recall_all):
        none, one = function(batch, k=5).tolist()
        assert math.isnan(none)
        assert one == 1.0


def test_gains_of_zero_and_below_belong_to_neither_side(score):
    gold = {"a": 3, "b": 1, "nil": 0, "bad": -1}

    # Relevant: a, b; found: a.
    assert score(RECALL, gold, ["nil", "bad", "a"], k=5).value == 0.5
    assert score(ALL, gold, ["a", "b"], k=5).value == 1.0


def test_rel_changes_both_sides_of_the_fraction(score):
    gold = {"a": 1, "b": 2, "c": 3}

    # From 2 on: b and c are relevant, b is found.
    assert score(f"{RECALL}(rel=2)", gold, ["a", "b"], k=5).value == 0.5
    assert score(f"{ALL}(rel=2)", gold, ["b", "c"], k=5).value == 1.0
    assert score(f"{ALL}(rel=1)", gold, ["b", "c"], k=5).value == 0.0


def test_repeated_item_counts_once_and_frees_its_rank(score):
    # Distinct: a b. Both stand within the first 2.
    assert score(RECALL, ["a", "b"], ["a", "a", "b"], k=2).value == 1.0


def test_gold_id_listed_twice_is_one_gold_item(score):
    assert score(RECALL, ["a", "a", "b"], ["a"], k=5).value == 0.5


def test_details_count_the_relevant_and_the_found(score):
    expected = {"k": 3, "relevant_count": 4, "found": 2, "top_k": ["a", "x", "b"]}

    assert expected == score(RECALL, ["a", "b", "c", "d"], RANKING, k=3, details=True).details
    assert expected == score(ALL, ["a", "b", "c", "d"], RANKING, k=3, details=True).details


@pytest.mark.parametrize("function", [recall, recall_all])
def test_range_is_declared_as_zero_to_one(function):
    assert declared(function).range == (0.0, 1.0)
    assert declared(function).higher_is_better
