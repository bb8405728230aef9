"""Average precision: precision at every relevant item, over all of the ground truth."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rankgauge import Policy
from rankgauge.metrics.average_precision import average_precision
from rankgauge.plugin.metric import declared

ALIAS = "retrieval-map"
RANKING = ["a", "x", "b", "y", "c"]  # relevant at ranks 1, 3 and 5
CLOSE = 1e-12


@pytest.mark.parametrize(
    ("gold", "expected"),
    [
        (["a", "b", "c"], (1 / 1 + 2 / 3 + 3 / 5) / 3),
        (["a", "b", "c", "d"], (1 / 1 + 2 / 3 + 3 / 5) / 4),  # d was never retrieved
        (["b", "c"], (1 / 3 + 2 / 5) / 2),
        (["a"], 1.0),
        (["d"], 0.0),
    ],
)
def test_score_is_the_mean_precision_over_the_gold(score, gold, expected):
    assert pytest.approx(expected, rel=CLOSE) == score(ALIAS, gold, RANKING).value


@pytest.mark.parametrize(
    ("k", "expected"),
    [
        (1, 1 / 3),  # 1/1 over 3, not over min(k, 3)
        (3, (1 + 2 / 3) / 3),
        (5, (1 + 2 / 3 + 3 / 5) / 3),
        (10**9, (1 + 2 / 3 + 3 / 5) / 3),
    ],
)
def test_cutoff_leaves_the_denominator_alone(score, k, expected):
    assert pytest.approx(expected, rel=CLOSE) == score({"metric": ALIAS, "k": k}, ["a", "b", "c"], RANKING).value


def test_cutoffs_of_samples_and_defaults_do_not_cut_it(score):
    uncut = score(ALIAS, ["a", "b", "c"], RANKING).value

    assert uncut == score(ALIAS, ["a", "b", "c"], RANKING, k=1).value
    assert uncut == score(ALIAS, ["a", "b", "c"], RANKING, default_k=1).value


def test_cutoff_of_each_sample_is_its_own(judged):
    batch = judged(*[(RANKING, ["a", "b"])] * 3)

    expected = [1 / 2, (1 + 2 / 3) / 2, (1 + 2 / 3) / 2]
    assert expected == average_precision(batch, k=np.array([1, 3, 10**9])).tolist()
    assert average_precision(batch, k=1).tolist() == [0.5, 0.5, 0.5]


def test_perfect_order_scores_one(score):
    assert score(ALIAS, ["a", "b", "c"], ["c", "a", "b", "x"]).value == 1.0


def test_empty_list_scores_zero(score):
    assert score(ALIAS, ["a"], []).value == 0.0


@pytest.mark.parametrize("gold", [[], {"a": 0, "b": -1}])
def test_gold_without_a_relevant_item_is_undefined(score, judged, gold):
    found = score(ALIAS, gold, ["a"])

    assert (found.value, found.status) == (None, "undefined")
    assert found.reason
    assert math.isnan(average_precision(judged((["a"], gold)))[0])


def test_grades_are_read_as_relevant_or_not(score):
    graded = score(ALIAS, {"a": 4, "b": 0.5, "nil": 0, "bad": -1}, ["nil", "a", "bad", "b"])

    # relevant at ranks 2 and 4
    assert graded.value == (1 / 2 + 2 / 4) / 2


def test_rel_raises_the_bar(score):
    # From 2 on: b at rank 2, c never found.
    assert score("retrieval-map(rel=2)", {"a": 1, "b": 2, "c": 3}, ["a", "b"]).value == (1 / 2) / 2


def test_repeat_earns_nothing_but_keeps_its_rank_under_credit_once(score):
    ranking = ["a", "a", "b"]

    assert score(ALIAS, ["a", "b"], ranking).value == 1.0
    # a at 1, b at 3
    assert (
        pytest.approx((1 + 2 / 3) / 2, rel=CLOSE)
        == score(ALIAS, ["a", "b"], ranking, policy=Policy(duplicates="credit-once")).value
    )


def test_kept_repeats_may_lift_the_score_above_one(score):
    # a counts at ranks 1 and 2: (1 + 1) / 1
    assert score(ALIAS, ["a"], ["a", "a"], policy=Policy(duplicates="keep")).value == 2.0


def test_details_list_the_ranks_of_the_relevant(score):
    found = score("AP@3", ["a", "b", "c"], RANKING, details=True)

    assert found.details == {"k": 3, "relevant_count": 3, "relevant_at": [1, 3], "relevant": ["a", "b", "c"]}


def test_range_is_declared_as_zero_to_one():
    assert declared(average_precision).range == (0.0, 1.0)
    assert declared(average_precision).higher_is_better


@pytest.mark.parametrize(
    ("denominator", "k", "expected"),
    [
        # a at 1 and c at 3 of four relevant: precisions 1 and 2/3.
        ("relevant", 3, (1 + 2 / 3) / 4),
        ("at-most-k", 3, (1 + 2 / 3) / 3),
        ("found", 3, (1 + 2 / 3) / 2),
        ("at-most-k", 9, (1 + 2 / 3) / 4),
        ("at-most-k", None, (1 + 2 / 3) / 4),
        ("found", 1, 1.0),
    ],
)
def test_denominators_that_tools_disagree_about(score, denominator, k, expected):
    metric = {"metric": "AP", "denominator": denominator, **({} if k is None else {"k": k})}

    assert score(metric, ["a", "b", "c", "d"], ["a", "x", "c"]).value == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("denominator", ["relevant", "at-most-k", "found"])
def test_nothing_found_is_zero_and_nothing_relevant_undefined_whatever_the_denominator(score, denominator):
    metric = {"metric": "AP", "denominator": denominator, "k": 3}

    assert score(metric, ["a"], ["x", "y"]).value == 0.0
    assert score(metric, {"relevant": {"a": 0}}, ["a"]).status == "undefined"
