"""Prediction-powered means: ordinary regression worked out otherwise, its limits, and coverage."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import t as student

from draws import in_thorough_suite, some
from rankgauge.features.labels.prediction_powered import LEAST_LABELLED, PoweredMean, powered_mean


def drawn(seed: int, n: int = 20, total: int = 100) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return what a model says of all questions, what people say of some, and which those are."""
    chance = np.random.default_rng(seed)
    truth = chance.normal(0.3, 0.2, total)
    model = 0.1 + 0.8 * truth + chance.normal(0, 0.1, total)
    labelled = chance.permutation(total)[:n]
    return model, truth[labelled], labelled


def test_the_mean_is_what_a_regression_line_predicts_at_the_mean_of_the_model() -> None:
    for seed in range(20):
        model, people, labelled = drawn(seed)
        slope, start = np.polyfit(model[labelled], people, 1)
        found = powered_mean(model, people, labelled)
        assert found.both.mean == pytest.approx(start + slope * model.mean(), abs=1e-12)
        assert found.weight == pytest.approx(slope, abs=1e-12)
        assert found.correlation == pytest.approx(np.corrcoef(model[labelled], people)[0, 1], abs=1e-12)


def test_the_standard_error_by_hand() -> None:
    """
    Model 0, 1, 2, 3 of four questions and 2, 4 of two others; people say 0, 2, 2, 4 of the first four.

    The slope is 6/5, from sums of 6 and 5 about the means 1.5 and 2, and leaves .2 -.6 .6 -.2 -> .8 over 2 degrees. The
    mean of all six is 2: 2 + 1.2 * .5 = 2.6. The model's squares about 2 are 4 + 1 + 0 + 1 + 0 + 4 = 10, over 5 and 6.
    """
    model = np.array([0.0, 1.0, 2.0, 3.0, 2.0, 4.0])
    found = powered_mean(model, np.array([0.0, 2.0, 2.0, 4.0]), np.arange(4))
    assert found.both.mean == pytest.approx(2.6)
    unknown, varying = 0.4 * (1 / 4 + 0.25 / 5), 1.44 * (10 / 5 / 6)
    assert found.both.standard_error == pytest.approx((unknown + varying) ** 0.5)
    assert found.both.df == int((unknown + varying) ** 2 / (unknown**2 / 2 + varying**2 / 5))
    assert found.people.mean == 2
    assert found.model.mean == 2
    assert found.bias.mean == pytest.approx(-0.5)


def test_parts_of_questions_are_a_second_variable_whose_true_mean_is_zero() -> None:
    model, people, labelled = drawn(3)
    chance = np.random.default_rng(9).normal(0, 0.3, len(people))
    noisy = people + 0.9 * chance
    design = np.stack([np.ones(len(people)), model[labelled], chance], axis=1)
    (start, slope, _), *_ = np.linalg.lstsq(design, noisy, rcond=None)
    found = powered_mean(model, noisy, labelled, chance)
    assert found.both.mean == pytest.approx(start + slope * model.mean(), abs=1e-12)
    alone = powered_mean(model, noisy, labelled)
    assert (found.both.standard_error or 1) < 0.5 * (alone.both.standard_error or 0)


def test_chance_of_whole_questions_changes_nothing() -> None:
    model, people, labelled = drawn(4)
    assert powered_mean(model, people, labelled, np.zeros(len(people))) == powered_mean(model, people, labelled)


@pytest.mark.parametrize("constant", ["model", "model up to rounding", "people"])
def test_what_does_not_vary_adds_nothing(constant: str) -> None:
    model, people, labelled = drawn(5)
    if constant == "model":
        model = np.full(len(model), 0.7)
    elif constant == "model up to rounding":
        model = np.where(np.arange(len(model)) % 2, 0.3, 0.1 + 0.2)
    else:
        people = np.full(len(people), 0.7)
    found = powered_mean(model, people, labelled)
    assert found.both == found.people
    assert (found.weight, found.correlation) == (0.0, None)


def test_a_model_that_says_nothing_costs_little_and_one_that_says_all_counts_as_people() -> None:
    chance = np.random.default_rng(6)
    truth = chance.normal(0, 1, 400)
    labelled = np.arange(40)
    useless = powered_mean(chance.normal(0, 1, 400), truth[:40], labelled)
    perfect = powered_mean(truth * 2 - 3, truth[:40], labelled)
    assert worth(useless) == pytest.approx(40, rel=0.15)
    assert perfect.both.mean == pytest.approx(truth.mean())
    assert worth(perfect) > 300


@pytest.mark.parametrize(("people", "both", "count"), [(0.2, 0.1, 80), (0.0, 0.1, None), (0.2, 0.0, None)])
def test_half_the_error_is_worth_four_times_the_people(people: float, both: float, count: float | None) -> None:
    model, values, labelled = drawn(4)
    found = powered_mean(model, values, labelled)
    errors = {"people": replace(found.people, standard_error=people), "both": replace(found.both, standard_error=both)}
    told = replace(found, **errors).worth
    assert told == (None if count is None else pytest.approx(count))


def worth(found: PoweredMean) -> float:
    assert found.worth is not None
    return found.worth


def test_questions_that_were_not_drawn_at_random_are_noticed() -> None:
    model, _, _ = drawn(7)
    top, odd = np.argsort(-model)[:20], np.arange(20)
    assert (powered_mean(model, model[top] + odd / 100, top).looks_drawn or 0) < 1e-6
    assert (powered_mean(model, model[:20] + odd / 100, odd).looks_drawn or 0) > 0.05
    assert powered_mean(model[:20], model[:20] + odd / 100, odd).looks_drawn is None


def test_too_few_are_refused() -> None:
    few = LEAST_LABELLED - 1
    with pytest.raises(ValueError, match=f"{LEAST_LABELLED} values from people are needed, and there are {few}"):
        powered_mean(np.arange(9.0), np.arange(float(few)), np.arange(few))


@in_thorough_suite()
@pytest.mark.parametrize("n", some([10, 40], of=2))
def test_intervals_cover_where_the_model_is_biased(n: int) -> None:
    """Nominal 95 %: of 600, the share has a standard error of .009."""
    covered, of_model, sets = 0, 0, 600
    for seed in range(sets):
        model, people, labelled = drawn(1000 + seed, n=n, total=200)
        found = powered_mean(model, people, labelled)
        low, high = found.both.interval() or (0, 0)
        covered += low <= 0.3 <= high
        low, high = found.model.interval() or (0, 0)
        of_model += low <= 0.3 <= high
    assert 0.92 <= covered / sets <= 0.98
    assert of_model / sets < 0.5


def test_four_parts_of_questions_leave_one_degree_of_freedom() -> None:
    """
    Model 1 1 -1 -1 and chance 1 -1 1 -1 are apart from each other, and so is what is left of 3 0 1 0.

    Their slopes are (3 + 0 - 1 - 0) / 4 = 1/2 and (3 - 0 + 1 - 0) / 4 = 1, and the mean is 1, at a model of 0. It is
    left 1/2 -1/2 -1/2 1/2, a sum of squares of 1. What model and chance say too much is 2 0 0 -2 less 3 0 1 0, which is
    -1 0 -1 -2; they have products of 6, and squares of 8 and 6 about their means.
    """
    model = np.array([1.0, 1.0, -1.0, -1.0, 1.0, -1.0])
    found = powered_mean(model, np.array([3.0, 0.0, 1.0, 0.0]), np.arange(4), np.array([1.0, -1.0, 1.0, -1.0]))
    assert (found.weight, found.both.mean, found.both.df) == (0.5, 1.0, 1)
    assert found.both.standard_error == pytest.approx((1 / 4 + 0.25 * (6 / 5 / 6)) ** 0.5)
    assert (found.bias.mean, found.bias.std) == (-1, pytest.approx((2 / 3) ** 0.5))
    assert found.correlation == pytest.approx(6 / 48**0.5)


def test_two_other_questions_tell_whether_some_were_drawn() -> None:
    """Four of one value against 1 and 3: t is 2 over an error of 1 with one degree of freedom, which is Cauchy's."""
    found = powered_mean(np.array([0.0, 0.0, 0.0, 0.0, 1.0, 3.0]), np.array([0.0, 1.0, 2.0, 3.0]), np.arange(4))
    assert found.looks_drawn == pytest.approx(1 - 2 / np.pi * np.arctan(2.0))


@pytest.mark.parametrize(
    ("drawn_ones", "others", "squared_error", "df"),
    [
        # variances 5/3 of four and 4 of three: 5/12 and 4/3 make 7/4, with 3.36 degrees of freedom
        ([0, 1, 2, 3], [1, 3, 5], 7 / 4, 3),
        # variances 20/3 of four and 1 of three: 5/3 and 1/3 make 2, with 4.08 degrees of freedom
        ([0, 2, 4, 6], [1, 2, 3], 2, 4),
    ],
)
def test_whether_questions_were_drawn_is_welchs_test(
    drawn_ones: list[int], others: list[int], squared_error: float, df: int
) -> None:
    model = np.array([*drawn_ones, *others], dtype=np.float64)
    t = (sum(drawn_ones) / 4 - sum(others) / 3) / squared_error**0.5
    found = powered_mean(model, np.array([0.0, 1.0, 2.0, 3.0]), np.arange(4))
    assert found.looks_drawn == pytest.approx(2 * student.sf(abs(t), df))


def test_people_whom_chance_explains_leave_no_error() -> None:
    """People say what chance does, the slope of the model is 0, and nothing is left: the degrees are those of that."""
    model, chance = np.array([1.0, 1.0, -1.0, -1.0, 1.0, -1.0]), np.array([1.0, -1.0, 1.0, -1.0])
    found = powered_mean(model, chance, np.arange(4), chance)
    assert (found.weight, found.both.mean, found.both.standard_error, found.both.df) == (0, 0, 0, 1)
