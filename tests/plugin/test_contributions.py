"""Contributions: gain times discount over divisor, and the scores that they add up to."""

import numpy as np

from rankgauge.columns import Rows
from rankgauge.judging import Target, judge
from rankgauge.plugin import Contributions
from rankgauge.policy import PROFILES
from rankgauge.samples import Expected, Output, Sample

SAMPLES = [Sample(name, expected=Expected({"a": 1.0}), output=Output(["a"])) for name in ("one", "two", "three")]
JUDGED = judge(SAMPLES, Target("relevant"), PROFILES["default"]).judged
ROWS = Rows(np.array([0, 0, 1]), np.array([1, 3, 2]), np.ones(3), np.array([0, 0, 1]))


def test_gains_alone_are_the_values():
    found = Contributions(ROWS, np.array([1.0, 2.0, 4.0]))
    assert found.values().tolist() == [1.0, 2.0, 4.0]
    assert found.scores(JUDGED).tolist() == [3.0, 4.0, 0.0]


def test_discounts_multiply_and_divisors_divide_each_sample():
    found = Contributions(ROWS, np.array([1.0, 2.0, 4.0]), np.array([1.0, 0.5, 0.25]), np.array([2.0, 4.0, 8.0]))
    assert found.values().tolist() == [0.5, 0.5, 0.25]
    assert found.scores(JUDGED).tolist() == [1.0, 0.25, 0.0]


def test_a_divisor_of_0_adds_nothing_and_one_that_is_nan_is_no_sum():
    found = Contributions(ROWS, np.ones(3), None, np.array([0.0, np.nan, 1.0]))
    assert found.values()[:2].tolist() == [0.0, 0.0]
    assert np.isnan(found.values()[2])
    np.testing.assert_array_equal(found.scores(JUDGED), [0.0, np.nan, 0.0])
