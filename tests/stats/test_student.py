"""Student's t without scipy: as close to scipy.special as its own digits go."""

from __future__ import annotations

import math

import pytest
from scipy import special

from rankgauge.stats.estimates import gamma_ratio, t_quantile, t_two_sided
from tables import rows

DF = [1, 2, 3, 9, 49, 99, 100, 224, 198.15, 6_999, 199_999, 1_000_000]


@rows("df", DF)
def test_quantiles_are_those_of_scipy(df: float) -> None:
    for probability in (0.55, 0.75, 0.9, 0.95, 0.975, 0.995, 0.9995, 0.999999, 0.025):
        assert t_quantile(probability, df) == pytest.approx(special.stdtrit(df, probability), rel=1e-12)


@rows("df", DF)
def test_tails_are_those_of_scipy(df: float) -> None:
    for t in (0.001, 0.5, 1.5, -2.0, 3.0, 10.0, 30.0):
        assert t_two_sided(t, df) == pytest.approx(2 * special.stdtr(df, -abs(t)), rel=1e-12)
    assert t_two_sided(0.0, df) == pytest.approx(1.0, rel=1e-12)


def test_quantiles_with_one_degree_of_freedom_are_those_of_cauchy() -> None:
    for probability in (0.6, 0.975, 1 - 1e-9):
        wanted = 1 / math.tan(math.pi * (1 - probability))
        assert t_quantile(probability, 1) == pytest.approx(wanted, rel=1e-12)


def test_the_median_is_0() -> None:
    assert t_quantile(0.5, 7) == 0.0


@pytest.mark.parametrize(("probability", "df"), [(0.0, 5), (1.0, 5), (1.2, 5), (0.9, 0)])
def test_a_quantile_that_does_not_exist_is_refused(probability: float, df: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        t_quantile(probability, df)


@pytest.mark.parametrize("x", [0.5, 1, 4.5, 20])
def test_small_ratios_of_gammas_are_those_of_scipy(x: float) -> None:
    assert gamma_ratio(x) == pytest.approx(special.poch(x, 0.5), rel=1e-13)


@pytest.mark.parametrize("x", [1.0, 49.5, 49.9, 50.0, 3_499.5, 1e6])
def test_two_ratios_half_apart_make_a_factor(x: float) -> None:
    """Gamma(x + 1) is x Gamma(x), on both sides of where the series begins."""
    assert gamma_ratio(x) * gamma_ratio(x + 0.5) == pytest.approx(x, rel=2e-13)


@pytest.mark.parametrize("probability", [0.0, 1.0])
def test_the_ends_have_no_quantile(probability: float) -> None:
    with pytest.raises(ValueError, match="a probability between 0 and 1"):
        t_quantile(probability, 3)


def test_no_probability_is_above_1() -> None:
    assert {t_two_sided(0.0, df) <= 1 for df in range(1, 60)} == {True}


@pytest.mark.parametrize("probability", [0.0, 1.0])
def test_a_refusal_names_what_was_asked_for(probability: float) -> None:
    with pytest.raises(ValueError, match=f"not {probability}, 3"):
        t_quantile(probability, 3)
