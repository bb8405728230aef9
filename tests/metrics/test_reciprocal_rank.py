"""Reciprocal rank: how far down the first relevant item stands."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rankgauge.metrics.reciprocal_rank import reciprocal_rank
from rankgauge.plugin.metric import declared

ALIAS = "retrieval-mrr"


@pytest.mark.parametrize(
    ("ranking", "expected"),
    [
        (["a", "x"], 1.0),
        (["x", "a"], 1 / 2),
        (["x", "y", "b", "a"], 1 / 3),  # b counts, a behind it does not
        ([f"x{place}" for place in range(99)] + ["a"], 1 / 100),
        (["x", "y"], 0.0),
        ([], 0.0),
    ],
)
def test_score_is_one_over_the_first_relevant_rank(score, ranking, expected):
    found = score(ALIAS, ["a", "b"], ranking)

    assert (expected, "scored") == (found.value, found.status)


def test_cutoffs_of_samples_and_defaults_do_not_cut_it(score):
    assert score(ALIAS, ["a"], ["x", "y", "a"], k=2).value == 1 / 3
    assert score(ALIAS, ["a"], ["x", "y", "a"], default_k=1).value == 1 / 3


@pytest.mark.parametrize("metric", ["MRR@2", "RR@2", {"metric": ALIAS, "k": 2}])
def test_cutoff_of_its_own_cuts_it(score, metric):
    assert score(metric, ["a"], ["x", "a"]).value == 1 / 2
    assert score(metric, ["a"], ["x", "y", "a"]).value == 0.0


def test_huge_cutoff_is_none(score):
    assert score({"metric": ALIAS, "k": 10**9}, ["a"], ["x", "y", "a"]).value == 1 / 3


def test_cutoff_of_each_sample_is_its_own(judged):
    batch = judged(*[(["x", "a", "b"], ["a", "b"])] * 3)

    assert reciprocal_rank(batch, k=np.array([1, 2, 10**9])).tolist() == [0.0, 0.5, 0.5]
    assert reciprocal_rank(batch, k=1).tolist() == [0.0, 0.0, 0.0]
    assert reciprocal_rank(batch).tolist() == [0.5, 0.5, 0.5]


@pytest.mark.parametrize("gold", [[], {"a": 0, "b": -1}])
def test_gold_without_a_relevant_item_is_undefined(score, judged, gold):
    found = score(ALIAS, gold, ["a"])

    assert (found.value, found.status) == (None, "undefined")
    assert found.reason
    assert math.isnan(reciprocal_rank(judged((["a"], gold)))[0])


def test_items_judged_irrelevant_are_passed_over(score):
    assert score(ALIAS, {"nil": 0, "bad": -1, "a": 0.5}, ["nil", "bad", "a"]).value == 1 / 3


def test_rel_raises_the_bar(score):
    assert score("retrieval-mrr(rel=2)", {"a": 1, "b": 2}, ["a", "x", "b"]).value == 1 / 3


def test_dropped_repeats_free_their_ranks(score):
    assert score(ALIAS, ["a"], ["x", "x", "x", "a"]).value == 1 / 2


def test_mean_over_samples_is_mrr(engine):
    samples = [
        {"id": "1", "expected_output": ["a"], "actual_output": ["a"]},
        {"id": "2", "expected_output": ["a"], "actual_output": ["x", "a"]},
        {"id": "4", "expected_output": ["a"], "actual_output": ["x", "y", "z", "a"]},
    ]

    # Three samples of 1, 1/2 and 1/4 add up to 1.75.
    mean = engine.dataset(samples).with_metrics(["MRR"]).run()["MRR"].mean

    assert pytest.approx(1.75 / 3, rel=1e-12) == mean


def test_details_name_the_first_relevant_rank(score):
    assert score(ALIAS, ["a"], ["x", "a"], details=True).details == {"first_relevant_rank": 2}
    assert score(ALIAS, ["a"], ["x"], details=True).details == {"first_relevant_rank": None}
    assert score("MRR@1", ["a"], ["x", "a"], details=True).details == {"k": 1, "first_relevant_rank": None}


def test_range_is_declared_as_zero_to_one():
    assert declared(reciprocal_rank).range == (0.0, 1.0)
    assert declared(reciprocal_rank).higher_is_better


def test_first_rank_is_the_rank_itself_over_samples_that_have_one(engine):
    samples = [
        {"id": "second", "expected_output": ["a"], "actual_output": ["x", "a"]},
        {"id": "never", "expected_output": ["a"], "actual_output": ["x"]},
    ]
    result = engine.dataset(samples).with_metrics(["first_rank", "first_rank@1"]).run()

    assert result["first_rank"].mean == 2.0
    assert result["first_rank"].n == 1
    assert result["first_rank@1"].mean is None
