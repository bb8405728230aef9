"""Effect sizes and power: reference values, statsmodels, and what a small set cannot show."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist

import pytest
from scipy import special
from statsmodels.stats.power import TTestPower

from rankgauge.stats.effects import (
    _root,
    detectable_by_signs,
    detectable_effect,
    effect_sizes,
    pairs_for_level,
    pairs_for_margin,
    unseen_difference,
)
from stats.reference import SLEEP_1, SLEEP_2
from tables import rows


def test_effects_of_students_sleep() -> None:
    differences = SLEEP_1 - SLEEP_2
    d, g = effect_sizes(float(differences.mean()), float(differences.std(ddof=1)), 10)
    assert (d, g) == (pytest.approx(-1.2845576, abs=5e-8), pytest.approx(-1.1739249, abs=5e-8))


def test_the_correction_of_three_pairs_by_hand() -> None:
    """J = Gamma(1) / (sqrt(1) Gamma(1/2))."""
    assert effect_sizes(2.0, 4.0, 3) == (0.5, pytest.approx(0.5 / math.sqrt(math.pi), rel=1e-14))


def test_small_or_even_sets_have_no_effect_size() -> None:
    assert effect_sizes(2.0, 4.0, 2) == (0.5, None)
    assert effect_sizes(2.0, 0.0, 9) == (None, None)
    assert effect_sizes(2.0, None, 1) == (None, None)


def test_fifty_pairs_detect_four_tenths_of_a_standard_deviation() -> None:
    effect = detectable_effect(49)
    assert effect is not None
    assert effect / math.sqrt(50) == pytest.approx(0.4042, abs=5e-5)


@pytest.mark.parametrize(("n", "confidence", "power"), [(3, 0.95, 0.8), (50, 0.99, 0.9), (7_000, 0.95, 0.8)])
def test_power_is_that_of_statsmodels(n: int, confidence: float, power: float) -> None:
    theirs = TTestPower().solve_power(nobs=n, alpha=1 - confidence, power=power)
    effect = detectable_effect(n - 1, confidence, power)
    assert effect == pytest.approx(theirs * math.sqrt(n), rel=1e-5)


@rows("df", [4, 9, 39, 41, 224, 6_999, 199_999])
@rows("confidence", [0.8, 0.95, 0.999])
def test_power_is_that_of_the_noncentral_t_distribution(df: int, confidence: float) -> None:
    """Below four degrees of freedom scipy has no number for the far tail."""
    effect = detectable_effect(df, confidence)
    assert effect is not None
    critical = special.stdtrit(df, (1 + confidence) / 2)
    power = 1 - special.nctdtr(df, effect, critical) + special.nctdtr(df, effect, -critical)
    assert power == pytest.approx(0.8, abs=1e-9)


def test_one_pair_detects_nothing() -> None:
    assert detectable_effect(0) is None


def test_one_degree_of_freedom_at_a_strict_level_needs_a_huge_effect() -> None:
    """t = (Z + shift) / |Y| is above c where |Y| < shift / c, nearly: shift = c z, where P(|Y| < z) is the power."""
    critical = math.tan(math.pi / 2 * 0.999999)
    z = NormalDist().inv_cdf((1 + 0.99) / 2)
    assert detectable_effect(1, 0.999999, 0.99) == pytest.approx(critical * z, rel=1e-5)


def test_what_is_shown_by_chance_often_enough_needs_no_effect() -> None:
    assert detectable_effect(29, 0.5, 0.5) == 0


def test_pairs_for_a_margin_by_hand() -> None:
    """(1.6448536 + 0.8416212)**2 = 6.1825572, times (0.3 / 0.01)**2."""
    assert pairs_for_margin(0.3, 0.01) == math.ceil(6.1825572 * 900)
    assert pairs_for_margin(0.3, 30.0) == 2


def test_the_unseen_difference_by_hand() -> None:
    """Ten pairs that do not differ: a share of 1 - 0.05**0.1 may. With one pair it is the confidence itself."""
    assert unseen_difference(10, 1.0) == pytest.approx(1 - 0.05**0.1, rel=1e-12)
    assert unseen_difference(1, 2.0, 0.9) == pytest.approx(1.8, rel=1e-12)
    assert unseen_difference(10, None) is None


@pytest.mark.parametrize("power", [0.8, 0.9])
def test_three_pairs_by_signs_need_one_sign_throughout(power: float) -> None:
    """The rarest of four patterns up to sign is found with a probability of F(x)**3 for a shift of x sqrt(3)."""
    shift = NormalDist().inv_cdf(power ** (1 / 3)) * math.sqrt(3)
    assert detectable_by_signs(3, 0.25, power) == pytest.approx(shift, abs=0.15)


def test_two_pairs_by_signs_are_found_on_either_side() -> None:
    """Both are above 0 or both below with a probability of F(x)**2 + (1 - F(x))**2 for a shift of x sqrt(2)."""
    share = (1 + math.sqrt(2 * 0.6 - 1)) / 2
    assert detectable_by_signs(2, 0.5, 0.6) == pytest.approx(NormalDist().inv_cdf(share) * math.sqrt(2), abs=0.1)


def test_many_pairs_by_signs_detect_what_t_does() -> None:
    """Of 2**19 patterns 26,214 are within 5 %."""
    assert detectable_by_signs(20, 0.05) == pytest.approx(detectable_effect(19, 1 - 26_214 / 2**19), rel=1e-9)


@pytest.mark.parametrize(("level", "pairs"), [(0.5, 2), (0.25, 3), (0.05, 6), (0.03125, 6), (0.0312415, 7), (0.031, 7)])
def test_pairs_for_a_level_by_hand(level: float, pairs: int) -> None:
    """Two of 2**n patterns have one sign throughout: 2 / 2**6 is 0.03125."""
    assert pairs_for_level(level) == pairs


@pytest.mark.parametrize(("curve", "root"), [(lambda x: x**5 - 1, 1.0), (lambda x: 1 - (10 - x) ** 5, 9.0)])
def test_a_bent_curve_takes_few_steps_to_its_root(curve: Callable[[float], float], root: float) -> None:
    """False position alone moves one end only, by some ten thousandth of the rest at a time."""
    asked: list[float] = []
    found = _root(lambda x: asked.append(x) or curve(x), 0.0, 10.0)  # type: ignore[func-returns-value]
    assert found == pytest.approx(root, rel=1e-14)
    assert len(asked) < 50
