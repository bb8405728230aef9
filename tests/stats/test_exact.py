"""Exact sums: what fsum finds for all values, whatever the parts; and squares without rounding."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge.stats import ExactSum, exact_sum, sum_of_squares
from tables import rows

scores = st.lists(st.floats(-1e100, 1e100), max_size=40)


def exactly(values):
    return sum(map(Fraction, values), Fraction())


@given(st.lists(scores, max_size=6))
def test_parts_add_up_to_what_all_values_come_to(parts):
    values = [value for part in parts for value in part]
    total = ExactSum.total(ExactSum.of(part) for part in parts)
    assert total.rounded == math.fsum(values)
    assert exactly(total.parts) == exactly(values)


@given(st.lists(st.floats(-1e6, 1e6).filter(lambda value: value == 0 or abs(value) > 1e-100), max_size=40))
def test_squares_are_not_rounded(values):
    assert exactly(sum_of_squares(values).parts) == sum((Fraction(value) ** 2 for value in values), Fraction())


def test_a_sum_has_few_parts():
    values = [1 / (number + 3) for number in range(10_000)]
    assert len(ExactSum.of(values).parts) <= 3


def test_what_is_rounded_away_comes_next():
    """1e16 is even, so that 1e16 + 1 rounds to 1e16; the 1 is kept beside it."""
    assert ExactSum.of([1e16, 1.0]).parts == (1e16, 1.0)
    assert ExactSum.of([1e16, 1.0, 1.0]).rounded == 1e16 + 2


@pytest.mark.parametrize("values", [[], [0.0, -0.0], [1e100, -1e100]])
def test_nothing_is_nothing(values):
    assert ExactSum.of(values) == ExactSum(())
    assert ExactSum.of(values).rounded == 0.0


@st.composite
def many_values(draw):
    """Some hundred floats of very different sizes, of which only a few were drawn."""
    some = draw(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=30))
    seed = draw(st.integers(0, 1000))
    chance = np.random.default_rng(seed)
    return np.concatenate([chance.choice(some, 400) / 1000, chance.random(400) ** draw(st.integers(1, 60))])


@given(many_values())
def test_an_array_adds_up_to_what_its_fractions_do(values):
    assert exact_sum(values) == float(exactly(values.tolist()))


def test_a_sum_of_many_is_exact_where_floats_are_not():
    assert exact_sum(np.array([1e16, *[0.1] * 1000, -1e16])) == 100.0
    assert exact_sum(np.zeros(1000)) == 0.0
    assert exact_sum(np.full(1000, 5e-324)) == 1000 * 5e-324


@rows("seed", range(8))
def test_as_many_values_below_0_as_bits_can_count_add_up_exactly(seed):
    """All 44 bits of each are needed, and those of 1,023 values take 54."""
    values = np.random.default_rng(seed).integers(1, 2**20, 1_023) * 2.0**-44 - 1
    assert exact_sum(values) == math.fsum(values.tolist())


def test_a_sum_of_what_is_no_number_ends():
    assert math.isnan(exact_sum(np.full(1000, math.nan)))
    assert exact_sum(np.full(1000, math.inf)) == math.inf
    with pytest.raises(OverflowError):
        exact_sum(np.full(1000, 1e308))
