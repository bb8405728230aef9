"""Hit rate: whether anything relevant stands in the first k ranks."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rankgauge.metrics.recall import any_found, hit
from rankgauge.plugin.metric import declared

ALIAS = "retrieval-hit-at-k"


@pytest.mark.parametrize(
    ("k", "expected"),
    [
        (1, 0.0),  # x
        (2, 0.0),  # x y
        (3, 1.0),  # x y a
        (10**9, 1.0),
    ],
)
def test_hit_is_one_from_the_rank_of_the_first_relevant_item_on(score, k, expected):
    assert expected == score(ALIAS, ["a", "b"], ["x", "y", "a"], k=k).value


def test_second_relevant_item_adds_nothing(score):
    assert score(ALIAS, ["a", "b"], ["a"], k=2).value == 1.0
    assert score(ALIAS, ["a", "b"], ["a", "b"], k=2).value == 1.0


def test_cutoff_of_each_sample_is_its_own(judged):
    batch = judged((["x", "a"], ["a"]), (["x", "a"], ["a"]), (["x", "a"], ["a"]))

    assert hit(batch, k=np.array([1, 2, 10**9])).tolist() == [0.0, 1.0, 1.0]
    assert hit(batch, k=1).tolist() == [0.0, 0.0, 0.0]
    assert hit(batch, k=2).tolist() == [1.0, 1.0, 1.0]


def test_empty_list_scores_zero(score):
    found = score(ALIAS, ["a"], [], k=5)

    assert (found.value, found.status) == (0.0, "scored")


def test_empty_gold_is_undefined_with_a_reason(score):
    found = score(ALIAS, [], ["a"], k=5)

    assert (found.value, found.status) == (None, "undefined")
    assert "no ground truth of the kind 'relevant'" in found.reason


def test_gold_without_a_positive_gain_is_undefined(score):
    found = score(ALIAS, {"a": 0, "b": -1}, ["a", "b"], k=5)

    assert (found.value, found.status, found.reason) == (None, "undefined", "the ground truth has no relevant item")


@pytest.mark.parametrize("gain", [0, -2])
def test_item_judged_irrelevant_is_no_hit(score, gain):
    assert score(ALIAS, {"a": gain, "b": 1}, ["a"], k=5).value == 0.0


def test_rel_raises_the_bar(score):
    gold = {"a": 1, "b": 2}

    assert score("retrieval-hit-at-k(rel=2)", gold, ["a"], k=5).value == 0.0
    assert score("retrieval-hit-at-k(rel=2)", gold, ["a", "b"], k=5).value == 1.0
    assert score("retrieval-hit-at-k(rel=3)", gold, ["a", "b"], k=5).status == "undefined"


def test_rel_of_zero_makes_gains_of_zero_relevant(score):
    assert score("retrieval-hit-at-k(rel=0)", {"a": 0, "b": 1}, ["a"], k=5).value == 1.0


def test_every_listed_item_is_relevant_under_the_eval_harness_profile(score):
    assert score(ALIAS, {"a": 0, "b": 1}, '["a"]', k=5, policy="eval-harness").value == 1.0


def test_mean_over_samples_leaves_out_the_undefined(engine):
    samples = [
        {"id": "found", "expected_output": ["a"], "actual_output": ["a"]},
        {"id": "missed", "expected_output": ["a"], "actual_output": ["x"]},
        {"id": "undefined", "expected_output": {"a": 0}, "actual_output": ["a"]},
    ]

    column = engine.dataset(samples).with_metrics(["hit@5"]).run()["hit@5"]

    assert (column.mean, column.n, column.n_undefined) == (0.5, 2, 1)


def test_details_list_the_relevant_and_the_retrieved_ids(score):
    found = score(ALIAS, {"a": 1, "nil": 0, "b": 2}, ["x", "a", "y"], k=2, details=True)

    assert found.details == {"k": 2, "relevant": ["a", "b"], "top_k": ["x", "a"]}


def test_any_found_without_a_cutoff_looks_at_every_rank(judged):
    batch = judged(([*"xyzuvw", "a"], ["a"]), (["x"], ["a"]), (["a"], []))

    found = any_found(batch, None).tolist()

    assert found[:2] == [1.0, 0.0]
    assert math.isnan(found[2])


def test_range_is_declared_as_zero_to_one():
    assert declared(hit).range == (0.0, 1.0)
    assert declared(hit).higher_is_better


@pytest.mark.parametrize(("k", "expected"), [(1, 1.0), (2, 1.0), (3, 2.0), (10**9, 2.0)])
def test_hits_are_counted(score, k, expected):
    assert score(f"hits@{k}", ["a", "b", "c"], ["a", "x", "b", "b"]).value == expected
