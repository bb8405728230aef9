"""Normalized discounted cumulative gain, graded and binary, with all its options."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rankgauge.errors import PlanError
from rankgauge.metrics.ndcg import ndcg, ndcg_any
from rankgauge.plugin.metric import declared
from rankgauge.policy import PROFILES
from tables import rows

ALIAS, ANY = "retrieval-ndcg-at-k", "retrieval-ndcg-any-at-k"
CLOSE = 1e-12

# Weights 1/log2(rank + 1): 1, 0.6309..., 0.5, 0.4306..., 0.3868...
SECOND = 0.6309297535714575
FOURTH = 0.43067655807339306
FIFTH = 0.3868528072345416


def close(value):
    return pytest.approx(value, rel=CLOSE)


def test_worked_check_with_relevant_ranks_two_and_four(score):
    # DCG = w2 + w4 = 1.0616063116448506; ideal = w1 + w2 = 1.6309297535714575
    found = score(ALIAS, ["doc-3", "doc-9"], ["doc-7", "doc-3", "doc-1", "doc-9", "doc-2"], k=5)

    assert close(0.6509209298071326) == found.value


def test_worked_check_with_one_of_five_found(score):
    # 1 / (1 + w2 + w3 + w4 + w5) = 1 / 2.9484591188793923
    assert close(0.3391602052736161) == score(ALIAS, [*"abcde"], ["a"], k=5).value


@pytest.mark.parametrize(
    ("k", "expected"),
    [
        (1, 1 / 3),  # b is worth 1, a would be worth 3
        (2, (1 + 3 * SECOND) / (3 + 1 * SECOND)),
        (10**9, (1 + 3 * SECOND) / (3 + 1 * SECOND)),
    ],
)
def test_graded_gains_in_the_wrong_order(score, k, expected):
    assert close(expected) == score(ALIAS, {"a": 3, "b": 1}, ["b", "a"], k=k).value


def test_ideal_is_cut_at_k(score):
    # Four gold items, k = 2: the ideal is w1 + w2 and a w1-only list gets 1 / 1.63.
    assert close(1 / (1 + SECOND)) == score(ALIAS, [*"abcd"], ["a", "x", "b"], k=2).value


def test_cutoff_of_each_sample_is_its_own(judged):
    batch = judged(*[(["x", "a"], ["a"])] * 3)

    assert ndcg(batch, k=np.array([1, 2, 10**9])).tolist() == close([0.0, SECOND, SECOND])
    assert ndcg(batch, k=1).tolist() == [0.0, 0.0, 0.0]
    assert ndcg_any(batch, k=np.array([1, 2, 10**9])).tolist() == close([0.0, SECOND, SECOND])


def test_short_name_without_cutoff_looks_at_every_rank(score):
    # Rank 7: 1 / log2(8); the default cutoff of 5 plays no part.
    assert close(1 / 3) == score("ndcg", ["a"], [*"uvwxyz", "a"]).value
    assert score(ALIAS, ["a"], [*"uvwxyz", "a"]).value == 0.0


@rows("alias", [ALIAS, ANY])
@rows("ideal", ["gold-at-k", "gold", "retrieved", "retrieved-at-k"])
def test_empty_list_and_list_without_a_hit_score_zero_under_every_ideal(score, alias, ideal):
    for ranking in ([], ["x", "y"]):
        found = score({"metric": alias, "ideal": ideal, "k": 3}, ["a"], ranking)
        assert (found.value, found.status) == (0.0, "scored")


@rows("alias", [ALIAS, ANY])
@rows("ideal", ["gold-at-k", "gold", "retrieved", "retrieved-at-k"])
@rows("gold", [[], {"a": 0, "b": -1}])
def test_gold_without_a_relevant_item_is_undefined_under_every_ideal(score, alias, ideal, gold):
    found = score({"metric": alias, "ideal": ideal, "k": 3}, gold, ["a", "b"])

    assert (found.value, found.status) == (None, "undefined")
    assert found.reason


def test_undefined_is_nan_inside_the_functions(judged):
    batch = judged((["a"], []), (["a"], {"a": 0}))

    for scores in (ndcg(batch, k=5), ndcg_any(batch, k=5)):
        assert all(math.isnan(value) for value in scores.tolist())


def test_gains_of_zero_and_below_earn_nothing_and_cost_their_rank(score):
    gold = {"a": 3, "b": 1, "nil": 0, "bad": -1}

    # 3 w2 over 3 w1 + 1 w2
    assert close(3 * SECOND / (3 + SECOND)) == score(ALIAS, gold, ["bad", "a"], k=5).value
    assert close(3 * SECOND / (3 + SECOND)) == score(ALIAS, gold, ["nil", "a"], k=5).value


def test_exponential_gain(score):
    # 2**1 - 1 = 1, 2**3 - 1 = 7
    found = score({"metric": ALIAS, "gain": "exponential", "k": 2}, {"a": 3, "b": 1}, ["b", "a"])

    assert close((1 + 7 * SECOND) / (7 + 1 * SECOND)) == found.value


def test_discount_from_rank_two_leaves_ranks_one_and_two_whole(score):
    metric = {"metric": ALIAS, "discount": "log2-from-2", "k": 4}

    assert score(metric, ["a"], ["x", "a"]).value == 1.0  # log2(2) = 1
    assert score(metric, ["a"], ["x", "y", "z", "a"]).value == 0.5  # 1 / log2(4)
    # a at 1, b at 3: (1 + 1/log2(3)) / (1 + 1)
    assert close((1 + SECOND) / 2) == score(metric, ["a", "b"], ["a", "x", "b"]).value


@pytest.mark.parametrize(
    ("ideal", "best"),
    [
        ("gold-at-k", 3 + 2 * SECOND),  # 3, 2 | 1 is cut off
        ("gold", 3 + 2 * SECOND + 1 * 0.5),
        ("retrieved", 2 + 1 * SECOND),  # 2 and 1 stand in the list, at any depth
        ("retrieved-at-k", 1.0),  # only 1 stands in the first 2
    ],
)
def test_four_ideals(score, ideal, best):
    # x c b with k = 2: DCG = 1 * w2
    metric = {"metric": ALIAS, "ideal": ideal, "k": 2}

    assert close(SECOND / best) == score(metric, {"a": 3, "b": 2, "c": 1}, ["x", "c", "b"]).value


@pytest.mark.parametrize(
    ("ideal", "best"), [("gold-at-k", 1 + SECOND), ("gold", 1 + SECOND + 0.5), ("retrieved-at-k", 1)]
)
def test_binary_gains_earn_one_each_whatever_the_grade(score, ideal, best):
    metric = {"metric": ANY, "ideal": ideal, "k": 2}

    assert close(SECOND / best) == score(metric, {"a": 3, "b": 2, "c": 0.5}, ["x", "c", "b"]).value


def test_binary_score_does_not_tell_grades_apart(score):
    gold = {"a": 3, "b": 1, "nil": 0, "bad": -1}

    assert score(ANY, gold, ["b", "a"], k=5).value == 1.0
    assert close((SECOND + FOURTH) / (1 + SECOND)) == score(ANY, gold, ["nil", "b", "bad", "a"], k=5).value


def test_rel_decides_what_earns_in_the_binary_score(score):
    gold = {"a": 1, "b": 2, "c": 3}

    # From 2 on b and c are relevant; b stands at rank 2: w2 / (1 + w2).
    assert close(SECOND / (1 + SECOND)) == score({"metric": ANY, "rel": 2, "k": 5}, gold, ["a", "b"]).value
    # From 1 on all are: (1 + w2) / (1 + w2 + w3).
    assert close((1 + SECOND) / (1.5 + SECOND)) == score({"metric": ANY, "rel": 1, "k": 5}, gold, ["a", "b"]).value
    assert score({"metric": ANY, "rel": 4, "k": 5}, gold, ["a", "b"]).status == "undefined"


def test_rel_of_zero_lets_gains_of_zero_earn_in_the_binary_score(score):
    # nil is relevant: 1 / (1 + w2)
    assert close(1 / (1 + SECOND)) == score({"metric": ANY, "rel": 0, "k": 5}, {"nil": 0, "a": 2}, ["nil"]).value


def test_rel_has_no_effect_on_the_graded_score_and_is_refused(score):
    with pytest.raises(PlanError, match="rel has no effect"):
        score({"metric": ALIAS, "rel": 2}, {"a": 3}, ["a"])


def test_negative_gains_can_leave_the_range_only_where_they_are_relevant_and_not_clamped(score):
    gold, ranking = '{"a": -1, "b": 1}', '["a", "b"]'

    # Under eval-harness every listed id counts: DCG = -1 + w2, ideal = 1 - w2.
    raw = score({"metric": ALIAS, "clamp": False, "k": 5}, gold, ranking, policy="eval-harness")
    assert close(-1.0) == raw.value
    assert score({"metric": ALIAS, "k": 5}, gold, ranking, policy="eval-harness").value == 0.0
    # By default only gains above 0 count: w2.
    assert close(SECOND) == score({"metric": ALIAS, "k": 5}, {"a": -1, "b": 1}, ["a", "b"]).value


def test_clamp_moves_a_score_above_one_to_one(judged):
    # Only b is retrieved: DCG = 1, ideal = 1 - w2.
    batch = judged((["b"], {"a": -1, "b": 1}), profile=PROFILES["eval-harness"])

    assert ndcg(batch, k=5).tolist() == close([1 / (1 - SECOND)])
    assert ndcg(batch, k=5, clamp=True).tolist() == [1.0]


@pytest.mark.parametrize("gain", ["linear", "exponential"])
def test_score_does_not_pass_one_where_gains_differ_in_the_last_bit_only(judged, gain):
    # Summed in different orders, the same gains may round to sums that differ in their last bit.
    below, above = math.nextafter(1.0, 0.0), math.nextafter(1.0, 2.0)
    orders = [
        (["b", "a", "c", "d"], {"a": above, "b": below, "c": 1.0, "d": above}),
        (["e", "b", "c", "d", "a", "f"], {"a": 1.0, "b": 1.0, "c": 1.0, "d": below, "e": 1.0, "f": 1.0}),
    ]

    assert (ndcg(judged(*orders), k=10, gain=gain) <= 1.0).all()


def test_clamp_leaves_undefined_scores_undefined(judged):
    assert math.isnan(ndcg(judged((["a"], [])), k=5, clamp=True)[0])


@pytest.mark.parametrize(
    "option", [{"gain": "cubic"}, {"discount": "ln"}, {"ideal": "best"}, {"clamp": "yes"}, {"base": 2}]
)
def test_unknown_options_and_values_are_refused_in_the_plan(score, option):
    with pytest.raises(PlanError, match=next(iter(option))):
        score({"metric": ALIAS, **option}, ["a"], ["a"])


def test_details_hold_both_sides_of_the_fraction(score):
    found = score(ALIAS, {"a": 3, "b": 1}, ["b", "a"], k=2, details=True)

    assert found.details == {"k": 2, "dcg": close(1 + 3 * SECOND), "idcg": close(3 + SECOND)}


def test_details_follow_the_options(score):
    metric = {"metric": ALIAS, "gain": "exponential", "discount": "log2-from-2", "ideal": "gold", "k": 2}
    found = score(metric, {"a": 3, "b": 1, "c": 1}, ["b", "a"], details=True)

    # DCG is 1 and 7 at whole weight, over an ideal of 7, 1 and a third gain of 1 at weight 0.63.
    assert found.details == {"k": 2, "dcg": close(8.0), "idcg": close(8 + SECOND)}


def test_details_of_the_binary_score_are_binary(score):
    found = score(ANY, {"a": 3, "b": 1}, ["x", "a"], k=2, details=True)

    assert found.details == {"k": 2, "dcg": close(SECOND), "idcg": close(1 + SECOND)}


@pytest.mark.parametrize("function", [ndcg, ndcg_any])
def test_range_is_declared_as_zero_to_one(function):
    assert declared(function).range == (0.0, 1.0)
    assert declared(function).higher_is_better
