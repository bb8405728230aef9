"""Holm's correction."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge.stats.effects import holm


def test_the_textbook_case() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02], rel=1e-14)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6))
def test_it_closes_bonferroni(p_values: list[float]) -> None:
    """A hypothesis is rejected where each set that has it is; of a set the smallest p counts, as often as it has p."""
    places = range(len(p_values))
    sets = [chosen for size in range(1, len(p_values) + 1) for chosen in combinations(places, size)]
    p_of = {chosen: min(1.0, len(chosen) * min(p_values[place] for place in chosen)) for chosen in sets}
    assert holm(p_values) == pytest.approx([max(p_of[each] for each in sets if place in each) for place in places])


def test_one_test_is_not_corrected() -> None:
    assert holm([0.04]) == [0.04]
    assert holm([]) == []
