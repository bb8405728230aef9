"""
Effect sizes, power and sample sizes of paired differences, and corrections of several p values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from rankgauge.stats.estimates import gamma_ratio, t_quantile

if TYPE_CHECKING:
    from statistics import NormalDist

__all__ = [
    "detectable_by_signs",
    "detectable_effect",
    "effect_sizes",
    "holm",
    "pairs_for_level",
    "pairs_for_margin",
    "unseen_difference",
]

_POWER = 0.80

_NEGLIGIBLE = 40.0
"""Densities below exp of minus this, relative to the highest one, are left out."""

_STEPS = 128


def effect_sizes(mean: float, std: float | None, n: int) -> tuple[float | None, float | None]:
    """
    Return Cohen's d_z, None if *std* is 0 or unknown, and Hedges' g, None also below three pairs.

    For n pairs of a mean difference ``d_z = mean / std``, and ``g = J d_z`` takes out its bias in small sets, with
    ``J = Gamma(v / 2) / (sqrt(v / 2) Gamma((v - 1) / 2))`` and v = n - 1.
    """
    if not std:
        return None, None
    d = mean / std
    if n < 3:
        return d, None
    v = n - 1
    return d, d * gamma_ratio((v - 1) / 2) / math.sqrt(v / 2)


@lru_cache(maxsize=64)
def detectable_effect(df: float, confidence: float = 0.95, power: float = _POWER) -> float | None:
    """
    Return the smallest true difference, in standard errors, that a two-sided t test finds with some power.

    It is the noncentrality of the t distribution, about 2.80 for many pairs; None below one degree of freedom.
    """
    if df < 1:
        return None
    critical = t_quantile((1 + confidence) / 2, df)
    return _root(lambda shift: _power(shift, critical, df) - power, 0.0, 2 * (critical + 10))


_DRAWS = 2_000
_FEW_PAIRS = 10


@lru_cache(maxsize=64)
def detectable_by_signs(n: int, level: float, power: float = _POWER) -> float | None:
    """
    Return what `detectable_effect` does for a two-sided sign-flip test of *n* normal differences, in standard errors.

    Up to ten pairs it is found among drawn differences, the same on every machine, by the exact test; above, Student's
    test has the same power. None if no pattern of signs is as rare as *level*.
    """
    patterns = 2.0 ** min(n - 1, 900)  # beyond, the level itself is one that signs attain
    attainable = math.floor(level * patterns * (1 + 1e-9)) / patterns
    if not attainable:
        return None
    if n > _FEW_PAIRS:
        return detectable_effect(n - 1, 1 - attainable, power)
    uniform = (np.random.Philox(key=n).random_raw(_DRAWS * n) >> np.uint64(11)).astype(np.float64) + 0.5
    normal = _normal()
    drawn = np.array([normal.inv_cdf(share) for share in (uniform * 2.0**-53).tolist()]).reshape(_DRAWS, n)
    signs = 1.0 - 2.0 * (np.arange(2 ** (n - 1))[:, None] >> np.arange(n) & 1)  # the last keeps its sign

    def missing(shift: float) -> float:
        moved = drawn + shift / math.sqrt(n)
        least = np.abs(moved.sum(axis=1))[:, None] - 1e-9
        p = np.count_nonzero(np.abs(moved @ signs.T) >= least, axis=1) / len(signs)
        return float(np.count_nonzero(p <= attainable * (1 + 1e-9)) / _DRAWS - power)

    return _step_up(missing, 0.0, 64.0, 1e-3)


def pairs_for_level(level: float) -> int:
    """Return how many pairs at least give a two-sided sign-flip p at this level."""
    return 1 + math.ceil(-math.log2(level) - 1e-9)


def pairs_for_margin(std: float, margin: float, confidence: float = 0.95, power: float = _POWER) -> int:
    """
    Return how many pairs, at least 2, decide whether a difference stays above a margin, if its true value is 0.

    ``((z_confidence + z_power) std / margin)**2``, by the normal approximation, for a one-sided bound. The *margin* is
    above 0, and *std* that of the differences.
    """
    normal = _normal()
    reach = normal.inv_cdf(confidence) + normal.inv_cdf(power)
    return max(2, math.ceil((reach * std / margin) ** 2))


def unseen_difference(n: int, width: float | None, confidence: float = 0.95) -> float | None:
    """
    Return how far from 0 a mean difference can be when none of *n* pairs differs; None if *width* is.

    At this confidence at most a share of ``1 - (1 - confidence)**(1 / n)`` of all pairs differs, and none by more than
    *width*, the metric's highest minus its lowest value.
    """
    return None if width is None else -width * math.expm1(math.log1p(-confidence) / n)


def _power(shift: float, critical: float, df: float) -> float:
    """
    Return the probability that a noncentral t variable lies outside of both critical values.

    For few degrees of freedom it is averaged over the normal numerator, given which the variable is outside where the
    sample standard deviation is small. Otherwise, given the sample standard deviation s, in units of the true one, the
    variable is above c where a normal one is above ``c s - shift``. That is averaged over s, whose logarithm u has a
    density that is proportional to ``exp(df (u - exp(2 u) / 2))``, by the trapezoidal rule: it converges faster than
    any power of its step here.
    """
    if df <= _FEW_DEGREES:
        parts = (_density(z) * _below((z + shift) / critical, int(df)) for z in _NUMERATORS)
        return _STEP * math.fsum(parts)
    total = weights = 0.0
    for scale, weight in _scales(df):
        above, below = critical * scale - shift, critical * scale + shift
        total += weight * (math.erfc(above / math.sqrt(2)) + math.erfc(below / math.sqrt(2))) / 2
        weights += weight
    return total / weights


_FEW_DEGREES = 8
_STEP = 1 / 32
_NUMERATORS = tuple(_STEP * place for place in range(-288, 289))


def _density(z: float) -> float:
    return math.exp(-z * z / 2) / math.sqrt(2 * math.pi)


def _below(scale: float, df: int) -> float:
    """Return the probability that a sample standard deviation is below *scale* times the true one."""
    half = df * scale * scale / 2  # a chi-square variable below twice that, by the recurrence of the incomplete gamma
    share, shape = (math.erf(math.sqrt(half)), 0.5) if df % 2 else (-math.expm1(-half), 1.0)
    while shape < df / 2:
        share -= half**shape * math.exp(-half) / math.gamma(shape + 1)
        shape += 1
    return share


@lru_cache(maxsize=64)
def _scales(df: float) -> list[tuple[float, float]]:
    """Return values of s over which to average, and the weight of each."""
    spread = math.sqrt(_NEGLIGIBLE / df)  # near 0 the exponent is -df u**2
    low = -(spread + spread * spread)  # far below, it is df u
    high = 0.5 * math.log1p(2 * spread + 2 * spread * spread)
    step = (high - low) / _STEPS
    logs = (low + step * place for place in range(_STEPS + 1))
    return [(math.exp(u), math.exp(df * (u - math.expm1(2 * u) / 2))) for u in logs]


def _root(rising: Callable[[float], float], low: float, high: float) -> float:
    """
    Return where a smooth rising function is 0: *low* where it is above there already, and perhaps beyond *high*.

    By false position, in which an end that stays again counts half (the Illinois method).
    """
    below, above = rising(low), rising(high)
    if below >= 0:
        return low
    while above < 0:
        low, below = high, above
        high *= 2
        above = rising(high)
    before, was_below = low, None
    while True:
        at = high - above * (high - low) / (above - below)
        if not low < at < high or abs(at - before) <= 2 * math.ulp(at):
            return at
        before, value = at, rising(at)
        is_below = value < 0
        if is_below:
            low, below = at, value
            above = above / 2 if was_below else above
        else:
            high, above = at, value
            below = below / 2 if was_below is False else below
        was_below = is_below


def _step_up(rising: Callable[[float], float], low: float, high: float, to: float) -> float:
    """Return where a rising function of steps reaches 0, by bisection to some precision."""
    while high - low >= to:
        middle = (low + high) / 2
        low, high = (middle, high) if rising(middle) < 0 else (low, middle)
    return (low + high) / 2


def holm(p_values: Sequence[float]) -> list[float]:
    """
    Return p values, in the same order, adjusted by Holm's step-down method (Scandinavian Journal of Statistics, 1979).

    The smallest is multiplied by the number of tests, the next by one less, and so on; none is below the one before it,
    nor above 1.
    """
    count = len(p_values)
    adjusted = [0.0] * count
    highest = 0.0
    for rank, place in enumerate(sorted(range(count), key=lambda place: p_values[place])):
        highest = max(highest, min(1.0, (count - rank) * p_values[place]))
        adjusted[place] = highest
    return adjusted


def _normal() -> NormalDist:
    from statistics import NormalDist  # loads decimals and fractions

    return NormalDist()
