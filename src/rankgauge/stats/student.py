"""
Student's t distribution: tails and quantiles, without loading scipy.

The tail is the density's integral, taken by the double-exponential rule (Takahasi & Mori, 1974), which is as exact for
one degree of freedom as for a million. Quantiles invert it by Newton's method.
"""

from __future__ import annotations

import functools
import math

__all__ = ["gamma_ratio", "t_quantile", "t_two_sided"]

_SERIES_FROM = 50.0
"""From here on `gamma_ratio` uses its asymptotic series; below, `math.lgamma` loses no digit that matters."""

_SERIES = (-1 / 8, 1 / 128, 5 / 1024, -21 / 32768, -399 / 262144, 869 / 4194304)
"""Coefficients of x**-1, x**-2, ... in Gamma(x + 1/2) / (Gamma(x) sqrt(x))."""

_WIDTH = 1 / 16
_NODES = [
    (math.exp(math.pi / 2 * math.sinh(u)), math.pi / 2 * math.cosh(u))
    for u in (_WIDTH * step for step in range(-80, 81))
]
"""Abscissas of the rule on (0, infinity), and their weights relative to the abscissa."""

_MOST_STEPS = 200
"""More of Newton's steps than any quantile takes; a tail of 1e-15 with one degree of freedom takes about sixty."""


def t_two_sided(t: float, df: float) -> float:
    """
    Return the probability that a t variable lies at least as far from 0 as *t*.

    Args:
        t: The statistic; only its size counts.

        df: Degrees of freedom, above 0.

    Returns:
        A probability from 0 to 1, within a relative error of 1e-12.
    """
    t = abs(t)
    # The density at t + s over that at t is (1 + (2ts + s**2) / (df + t**2)) ** -power. Its scale makes s the unit.
    power, room = (df + 1) / 2, df + t * t
    unit = room / (math.sqrt(power * room) + power * t)
    total = math.fsum(
        weight * s * math.exp(-power * math.log1p(unit * s * (2 * t + unit * s) / room)) for s, weight in _NODES
    )
    return min(1.0, 2 * _density(t, df) * unit * _WIDTH * total)


@functools.lru_cache(maxsize=1024)  # every mean over the same samples asks for the same one
def t_quantile(probability: float, df: float) -> float:
    """
    Return the quantile of Student's t distribution.

    Args:
        probability: The probability of a smaller value, above 0 and below 1.

        df: Degrees of freedom, above 0.

    Returns:
        The value, within a relative error of 1e-12 for probabilities that are not within 0.01 of one half.

    Raises:
        ValueError: *probability* is not between 0 and 1, or *df* not above 0.
    """
    if not (0 < probability < 1 and df > 0):
        msg = (
            f"a t quantile needs a probability between 0 and 1 and degrees of freedom above 0, not {probability}, {df}"
        )
        raise ValueError(msg)
    if probability <= 0.5:
        return 0.0 if probability == 0.5 else -t_quantile(1 - probability, df)
    tail = 2 * (1 - probability)
    # The tail is convex above 0: begun there, Newton's method climbs to the root, and passes it by rounding only.
    t = 0.0
    for _ in range(_MOST_STEPS):
        step = (t_two_sided(t, df) - tail) / (2 * _density(t, df))
        t += step
        if step <= 1e-15 * t:
            break
    return t


def gamma_ratio(x: float) -> float:
    """Return Gamma(x + 1/2) / Gamma(x) for an *x* above 0."""
    if x < _SERIES_FROM:
        return math.exp(math.lgamma(x + 0.5) - math.lgamma(x))
    return math.sqrt(x) * (1 + sum(factor / x**power for power, factor in enumerate(_SERIES, 1)))


def _density(t: float, df: float) -> float:
    return gamma_ratio(df / 2) / math.sqrt(df * math.pi) * math.exp(-(df + 1) / 2 * math.log1p(t * t / df))
