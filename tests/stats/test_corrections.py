"""Holm's correction."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from rankgauge.stats.effects import holm


def test_the_textbook_case() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02], rel=1e-14)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=9))
def test_it_is_that_of_statsmodels(p_values: list[float]) -> None:
    assert holm(p_values) == pytest.approx(list(multipletests(p_values, method="holm")[1]), rel=1e-12)


def test_one_test_is_not_corrected() -> None:
    assert holm([0.04]) == [0.04]
    assert holm([]) == []
