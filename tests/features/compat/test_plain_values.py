"""Values of any kind are judged by equality, and cutoffs are checked."""

from __future__ import annotations

import numpy as np
import pytest

from rankgauge.features.compat.plain_values import ByValue, cutoff, judge_by_value, scores_of
from rankgauge.metrics.recall import recall


@pytest.mark.parametrize(
    ("gold", "retrieved", "share"),
    [
        (["a", None], [None], 0.5),
        ([1], [True, 1.0], 1.0),
        (["1"], [1], 0.0),
        ([[1], [2]], [[2], [2]], 0.5),
        ([{"x": [1]}, "x"], ["x", {"x": [1]}], 1.0),
        ([""], [""], 1.0),
        ([], ["a"], 0.0),
    ],
)
def test_equal_values_are_the_same_item(gold, retrieved, share):
    judged = judge_by_value([ByValue(gold, retrieved)], "remem")

    assert scores_of(recall, judged, "remem", k=5) == [share]


def test_a_value_listed_twice_has_its_highest_gain():
    judged = judge_by_value([ByValue(["a", "a", "b"], ["a"], [1.0, 3.0, 2.0])], "haystack")

    assert judged.gold.grade.tolist() == [3.0, 2.0]
    assert judged.graded.tolist() == [True]


@pytest.mark.parametrize("k", [0, 1, 2**70, np.int64(3)])
def test_cutoffs_are_integers_from_zero(k):
    assert cutoff(k) == k


@pytest.mark.parametrize("k", [-1, 1.5, "5", None])
def test_other_cutoffs_are_refused(k):
    with pytest.raises(ValueError, match="integer of 0 or more"):
        cutoff(k)


def test_only_a_declared_metric_can_be_called():
    with pytest.raises(TypeError, match="is not a metric"):
        scores_of(len, judge_by_value([], "remem"), "remem")
