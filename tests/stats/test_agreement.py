"""Cohen's kappa against values worked out by hand."""

from fractions import Fraction

import pytest

from draws import in_thorough_suite
from rankgauge.stats import agreement


def test_kappa_of_a_worked_table():
    """
    Two judges and fifty documents: 20 yes/yes, 5 yes/no, 10 no/yes, 15 no/no.

    p_o = 35/50 = .7; yes is given 25 and 30 times, no 25 and 20 times, so p_e = (25*30 + 25*20) / 2500 = .5; kappa .4.
    """
    first = ["yes"] * 25 + ["no"] * 25
    second = ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15
    assert agreement(first, second) == (50, 35, pytest.approx(0.4, rel=1e-15))


def test_kappa_of_three_grades():
    """Grades 0 0 1 1 2 2 against 0 1 1 1 2 0: p_o = 4/6; p_e = (2*2 + 2*3 + 2*1) / 36 = 1/3; kappa 1/2."""
    assert agreement([0, 0, 1, 1, 2, 2], [0, 1, 1, 1, 2, 0]) == (6, 4, 0.5)


def test_judges_who_never_agree_are_below_chance():
    """p_o = 0 and p_e = 1/2: kappa -1."""
    assert agreement([0, 1], [1, 0]).kappa == -1.0


@in_thorough_suite()
def test_kappa_is_exact_for_large_counts():
    """1,000,003 pairs, one of them different: kappa = (p_o - p_e) / (1 - p_e) in fractions."""
    n = 1_000_003
    first, second = [0] * (n - 2) + [1, 1], [0] * (n - 2) + [1, 0]
    by_chance = Fraction((n - 2) * (n - 1) + 2, n * n)
    kappa = (Fraction(n - 1, n) - by_chance) / (1 - by_chance)
    assert agreement(first, second).kappa == pytest.approx(float(kappa), rel=1e-15)


@pytest.mark.parametrize("labels", [[], [1, 1, 1]])
def test_kappa_is_undefined_without_variety(labels):
    assert agreement(labels, labels) == (len(labels), len(labels), None)
