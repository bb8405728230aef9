"""Change points: found where they are, rarely where there is none, with intervals that hold them."""

import numpy as np
import pytest

from draws import in_thorough_suite, some
from rankgauge.features.history.change_point import change_point


def brute_force(scores):
    """Return where one step leaves the smallest sum of squares of the run means."""
    means = scores.mean(axis=0)
    runs = len(means)

    def squares(t):
        parts = means[:t], means[t:]
        return sum(((part - part.mean()) ** 2).sum() for part in parts)

    return min(range(1, runs), key=squares)


@pytest.mark.parametrize("seed", range(5))
def test_the_place_is_that_of_least_squares(seed):
    scores = np.random.default_rng(seed).random((30, 9))
    assert change_point(scores, resamples=100).place == brute_force(scores)


def test_a_plain_step():
    scores = np.array([[1, 1, 1, 0, 0]] * 20, dtype=float)
    found = change_point(scores)
    assert (found.place, found.first, found.last, found.difference) == (3, 3, 3, -1)
    assert found.p < 1e-3


def test_nothing_to_find():
    assert change_point(np.ones((1, 5))) is None
    assert change_point(np.ones((5, 1))) is None
    assert change_point(np.ones((5, 4))).p == 1


def test_a_confidence_near_1_holds_all_draws():
    found = change_point(np.array([[1, 1, 1, 0, 0]] * 20, dtype=float), confidence=0.9999)
    assert (found.first, found.last) == (3, 3)


def test_two_samples_of_two_runs_are_enough():
    """Both fall by 1 and by 0.5; of four patterns of signs two are as far from 0."""
    found = change_point(np.array([[1.0, 0.0], [1.0, 0.5]]))
    assert (found.place, found.difference, found.p) == (1, -0.75, 0.5)


def draws(rng, runs, n=50, change=None, size=0.0):
    chances = rng.beta(0.6, 0.6, (n, 1)) * np.ones(runs)
    if change is not None:
        chances[:, change:] *= 1 - size
    return (rng.random((n, runs)) < chances).astype(float)


@in_thorough_suite()
def test_false_alarms_are_as_rare_as_promised():
    rng = np.random.default_rng(1)
    alarms = [change_point(draws(rng, 8), resamples=400).p <= 0.05 for _ in range(400)]
    assert np.mean(alarms) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 400)


@in_thorough_suite()
def test_intervals_hold_the_change():
    rng = np.random.default_rng(2)
    held = []
    for _ in range(300):
        found = change_point(draws(rng, 10, change=6, size=0.35), resamples=100)
        held.append(found.first <= 6 <= found.last)
    assert np.mean(held) >= 0.95 - 3 * np.sqrt(0.05 * 0.95 / 300)


def test_the_same_on_every_run():
    scores = draws(np.random.default_rng(3), 6)
    assert change_point(scores) == change_point(scores)


@in_thorough_suite()
@pytest.mark.parametrize("seed", some([21, 22, 23]))
def test_an_interval_holds_as_much_as_its_confidence_of_resampled_places(seed):
    """Samples are drawn here by other random numbers; the middle 40 % of their places end where those do."""
    scores = np.random.default_rng(seed).random((8, 30))
    found = change_point(scores, confidence=0.4, resamples=100)
    rng = np.random.default_rng(0)
    places = [brute_force(scores[rng.integers(0, 8, 8)]) for _ in range(600)]
    low, high = np.quantile(places, [0.3, 0.7])
    assert (found.first, found.last) == (min(low, found.place), max(high, found.place))


def test_an_unclear_change_may_be_earlier_and_later_than_the_likeliest_place():
    scores = np.random.default_rng(0).normal(0.0, 1.0, (30, 12))
    scores[:, 6:] += 0.35
    found = change_point(scores)
    assert found.first < found.place < found.last
