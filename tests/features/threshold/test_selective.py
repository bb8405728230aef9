"""Risk by coverage, its area, and calibration: by hand, by brute force, and how often the interval covers."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from draws import in_thorough_suite
from rankgauge.features.threshold.selective import calibration, risk_area, risk_area_interval, risks


def test_risks_by_hand() -> None:
    """In order of score the losses are 0, 1, 0, 1: of the first one 0, of two 1/2, of three 1/3, of all 1/2."""
    scores, losses = np.array([0.2, 0.9, 0.8, 0.4]), np.array([1.0, 0.0, 1.0, 0.0])
    assert risks(scores, losses).tolist() == pytest.approx([0, 1 / 2, 1 / 3, 1 / 2])
    assert risk_area(scores, losses) == pytest.approx((1 / 2 + 1 / 3 + 1 / 2) / 4)


def test_equal_scores_are_the_mean_over_all_their_orders() -> None:
    scores, losses = [0.5, 0.5, 0.5, 0.9], [1.0, 0.0, 0.25, 0.5]
    areas = [np.mean([np.mean([0.5, *order][:n]) for n in range(1, 5)]) for order in itertools.permutations(losses[:3])]
    assert risk_area(np.array(scores), np.array(losses)) == pytest.approx(np.mean(areas))


def test_scores_that_tell_nothing_have_the_mean_loss() -> None:
    assert risk_area(np.ones(5), np.array([1.0, 0.0, 0.0, 0.5, 0.0])) == pytest.approx(0.3)


@in_thorough_suite()
def test_its_interval_covers_about_as_often_as_it_says() -> None:
    """300 sets of 150, so that .95 has a standard error of .0126; a percentile bootstrap is known to miss it a bit."""
    chance = np.random.default_rng(11)

    def drawn(n: int) -> tuple[np.ndarray, np.ndarray]:
        scores = chance.random(n)
        return scores, (chance.random(n) > scores).astype(np.float64)

    true = risk_area(*drawn(400_000))
    intervals = [risk_area_interval(*drawn(150), resamples=200, seed=seed) for seed in range(300)]
    covered = np.mean([low <= true <= high for low, high in intervals])
    assert 0.90 <= covered <= 0.99


@in_thorough_suite()
def test_clusters_are_drawn_whole() -> None:
    """Ten copies of each question tell no more than one."""
    chance = np.random.default_rng(3)
    scores, losses = chance.random(40), chance.random(40)
    copies = np.repeat(scores, 10), np.repeat(losses, 10)
    low, high = risk_area_interval(*copies, np.repeat(np.arange(40), 10))
    alone = risk_area_interval(scores, losses)
    assert high - low == pytest.approx(alone[1] - alone[0], rel=0.15)
    narrow = risk_area_interval(*copies)
    assert narrow[1] - narrow[0] < (high - low) / 2


def test_calibration_by_hand() -> None:
    """.1 and .2 have the values 0 and 1, .95 has 1: |.15 - .5| * 2/3 if both share a bin; here each has its own."""
    found = calibration(np.array([0.1, 0.2, 0.95]), np.array([0.0, 1.0, 1.0]))
    assert found is not None
    assert [(each.low, each.high, each.n) for each in found.bins] == [(0.0, 0.1, 1), (0.1, 0.2, 1), (0.9, 1.0, 1)]
    assert found.error == pytest.approx((0.1 + 0.8 + 0.05) / 3)
    assert found.brier == pytest.approx((0.01 + 0.64 + 0.0025) / 3)
    both = calibration(np.array([0.1, 0.2, 0.95]), np.array([0.0, 1.0, 1.0]), bins=2)
    assert both is not None
    assert both.error == pytest.approx(abs(0.15 - 0.5) * 2 / 3 + 0.05 / 3)


@pytest.mark.parametrize("scores", [[0.5, 1.01], [-0.1, 0.5]])
def test_scores_outside_of_0_to_1_are_no_probabilities(scores: list[float]) -> None:
    assert calibration(np.array(scores), np.array([0.0, 1.0])) is None


def test_0_and_1_have_a_bin() -> None:
    found = calibration(np.array([0.0, 1.0]), np.array([0.0, 1.0]))
    assert found is not None
    assert [each.n for each in found.bins] == [1, 1]
    assert found.error == found.brier == 0


@pytest.mark.parametrize(("confidence", "expected"), [(0.4, (0.5, 0.5)), (0.6, (0.0, 1.0)), (0.95, (0.0, 1.0))])
def test_an_interval_of_two_clusters_by_hand(confidence: float, expected: tuple[float, float]) -> None:
    """Of four ways to draw two clusters one has losses of 0, one of 1, and two have both, whose mean is 1/2."""
    scores, losses = np.full(4, 0.5), np.array([0.0, 1.0, 0.0, 1.0])
    assert risk_area_interval(scores, losses, np.array([5, 7, 5, 7]), confidence=confidence) == expected
