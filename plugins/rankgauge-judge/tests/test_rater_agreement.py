"""Agreement of judges: published worked examples, statsmodels, values by hand, and intervals."""

from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats.inter_rater import cohens_kappa

from rankgauge_judge.rater_agreement import (
    Coefficient,
    Weights,
    ac2,
    alpha,
    bootstrapped,
    counted_pairs,
    weighted_kappa,
)

ZERO_TO_THREE = np.arange(4.0)


def test_pairs_are_counted_for_each_question() -> None:
    counts = counted_pairs(np.array([0, 0, 1]), np.array([0, 1, 1]), np.array([0, 0, 1]), 2)
    assert counts.tolist() == [[[1, 0], [1, 0]], [[0, 0], [0, 1]]]


@pytest.mark.parametrize(("kind", "theirs"), [("linear", "linear"), ("quadratic", "quadratic"), ("identity", None)])
def test_kappa_is_that_of_statsmodels(kind: str, theirs: str | None) -> None:
    for seed in range(20):
        counts = np.random.default_rng(seed).integers(0, 20, (4, 4)).astype(np.float64)
        expected = cohens_kappa(counts, wt=theirs).kappa
        assert float(weighted_kappa(counts, ZERO_TO_THREE, kind)) == pytest.approx(expected, abs=1e-12)  # type: ignore[arg-type]


def test_kappa_by_hand() -> None:
    """Of 10, 4 and 3 agree: .7 against .5 * .6 + .5 * .4 = .5 by chance."""
    counts = np.array([[4.0, 1.0], [2.0, 3.0]])
    assert float(weighted_kappa(counts, np.array([0.0, 1.0]))) == pytest.approx((0.7 - 0.5) / 0.5)


def test_grades_count_by_their_distance_and_not_by_their_number() -> None:
    """On the scale 0, 1, 10 a disagreement of 0 and 1 costs a hundredth of one of 0 and 10, squared."""
    near, far = np.diag([5.0, 5.0, 5.0]), np.diag([5.0, 5.0, 5.0])
    near[0, 1] = far[0, 2] = 5
    scale = np.array([0.0, 1.0, 10.0])
    assert float(weighted_kappa(near, scale)) > 0.98
    assert float(weighted_kappa(far, scale)) < 0.8


def test_ac2_by_hand() -> None:
    """Prevalence 98 %: kappa is below 0, and AC2 (.96 - .0392) / (1 - .0392), with 2 * .98 * .02 by chance."""
    counts = np.array([[96.0, 2.0], [2.0, 0.0]])
    scale = np.array([0.0, 1.0])
    assert float(ac2(counts, scale)) == pytest.approx((0.96 - 0.0392) / (1 - 0.0392))
    assert float(weighted_kappa(counts, scale)) < 0


def test_alpha_is_that_of_krippendorffs_example() -> None:
    """Computing Krippendorff's Alpha-Reliability (2011): twelve units, four observers, some values missing; .815."""
    observers = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3],
        [0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0],
    ]
    counts = np.zeros((5, 5))
    for unit in zip(*observers, strict=True):
        values = [value - 1 for value in unit if value]
        for i, one in enumerate(values):
            for j, other in enumerate(values):
                if i != j:
                    counts[one, other] += 1 / (len(values) - 1)
    assert float(alpha(counts)) == pytest.approx(0.815, abs=5e-4)


def test_one_grade_throughout_is_no_agreement_beyond_chance() -> None:
    counts = np.array([[7.0]])
    assert np.isnan(weighted_kappa(counts, np.array([1.0])))
    assert np.isnan(ac2(counts, np.array([1.0])))
    assert np.isnan(alpha(counts))


def test_many_tables_are_computed_as_one_is() -> None:
    tables = np.random.default_rng(2).integers(0, 9, (5, 4, 4)).astype(np.float64)
    for function in (weighted_kappa, ac2):
        assert function(tables, ZERO_TO_THREE).tolist() == [float(function(each, ZERO_TO_THREE)) for each in tables]
    assert alpha(tables).tolist() == [float(alpha(each)) for each in tables]


def test_an_interval_needs_half_of_the_resamples() -> None:
    value = np.array(0.5)
    assert bootstrapped(value, np.array([0.0, 1.0, np.nan])) == Coefficient(
        0.5, pytest.approx(0.025), pytest.approx(0.975)
    )
    assert bootstrapped(value, np.array([0.0, np.nan, np.nan])) == Coefficient(0.5, None, None)
    assert bootstrapped(np.array(np.nan), np.array([0.0, 1.0])).value is None


def test_no_question_has_no_table() -> None:
    none = np.empty(0, dtype=np.int64)
    assert counted_pairs(none, none, none, 3).shape == (0, 3, 3)


def test_half_of_the_resamples_have_to_have_a_value() -> None:
    value, nan = np.array(0.5), np.nan
    assert bootstrapped(value, np.array([0.4, 0.6, nan, nan])).low is not None
    assert bootstrapped(value, np.array([0.4, nan, nan])).low is None


def test_ac2_of_unequal_judges_and_distances_by_hand() -> None:
    """
    On the scale 0, 1, 4 the weights are 3/4, 0 and 1/4 off the diagonal, so that all nine sum up to 5.

    Six of ten agree, one is 0 and 1, and three are 1 and 4: .6 + .1 * .75 + .3 * .25 = .75. The shares of the judges
    are .3 .5 .2 and .2 .3 .5, their means .25 .4 .35, and chance is 5 / 6 * (.1875 + .24 + .2275).
    """
    counts = np.array([[2.0, 1.0, 0.0], [0.0, 2.0, 3.0], [0.0, 0.0, 2.0]])
    expected = 5 / 6 * 0.655
    assert float(ac2(counts, np.array([0.0, 1.0, 4.0]), "linear")) == pytest.approx((0.75 - expected) / (1 - expected))


def test_alpha_does_not_ask_which_of_two_judges_comes_first() -> None:
    """A pair that counts in one order is the same as half a pair in each."""
    counts = np.array([[2.0, 3.0], [0.0, 1.0]])
    halves = np.array([[2.0, 1.5], [1.5, 1.0]])
    assert float(alpha(counts)) == float(alpha(counts.T)) == float(alpha(halves))


@pytest.mark.parametrize("kind", ["identity", "linear", "quadratic"])
def test_the_unit_of_a_scale_does_not_matter(kind: Weights) -> None:
    counts = np.array([[4.0, 1.0, 2.0], [2.0, 3.0, 0.0], [1.0, 0.0, 5.0]])
    scale = np.array([0.0, 1.0, 4.0])
    assert float(weighted_kappa(counts, scale / 16, kind)) == float(weighted_kappa(counts, scale, kind))


def test_tables_of_one_grade_have_one_ac2_each() -> None:
    assert ac2(np.ones((5, 1, 1)), np.array([1.0])).shape == (5,)


def test_without_a_value_or_a_resample_there_is_no_interval() -> None:
    assert bootstrapped(np.array(0.5), np.empty(0)) == Coefficient(0.5, None, None)
    assert bootstrapped(np.array(np.nan), np.array([0.0, 1.0])) == Coefficient(None, None, None)
