"""Compatibility: the figures of ir_measures, by hand, and against a restatement depth by depth."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.strategies import cases
from rankgauge import Engine
from rankgauge.catalog import Catalog
from rankgauge.errors import PlanError

ENGINE = Engine(catalog=Catalog.discover(own_only=True))
GOLD = {"a": 3, "b": 1, "c": 1, "d": 0, "e": 2}

IR_MEASURES = {
    ("a", "e", "b", "c"): (1.0, 1.0),
    ("b", "x", "a"): (0.2630125036347776, 0.2630125036347776),
    ("c", "b", "e", "a", "x", "y"): (0.5020126034413913, 0.46686543210140025),
    ("x", "d"): (0.0, 0.0),
}
"""What ir_measures 0.4.3 gives for `GOLD` as Compat(p=0.9), and without normalization."""


def value(metric, gold, ranking):
    sample = {"id": "s", "expected_output": {"relevant": dict(gold)}, "actual_output": list(ranking)}
    (score,) = ENGINE.dataset([]).with_metrics([metric]).score(sample).values()
    return score.value


@pytest.mark.parametrize(("ranking", "expected"), IR_MEASURES.items())
def test_figures_of_ir_measures(ranking, expected):
    found = [value(metric, GOLD, ranking) for metric in ("Compat(p=0.9)", "Compat(p=0.9, normalize=False)")]

    assert found == pytest.approx(expected, rel=1e-12)


def test_worked_out_by_hand():
    # b stands first where a should; both are there from depth 2 on: (0/1 + p * 2/2) / (1/1 + p * 2/2)
    assert value("Compat(p=0.5)", {"a": 2, "b": 1}, ["b", "a"]) == pytest.approx(0.5 / 1.5)
    assert value("Compat(p=0.5)@1", {"a": 2, "b": 1}, ["b", "a"]) == 0.0
    # Depth 3 adds p**2 * 2/3 to both.
    assert value("Compat(p=0.5)@3", {"a": 2, "b": 1}, ["b", "a"]) == pytest.approx((0.5 + 1 / 6) / (1.5 + 1 / 6))


def test_items_of_one_level_may_stand_in_any_order():
    gold = {"a": 2, "b": 1, "c": 1, "d": 1}

    assert value("Compat", gold, ["a", "d", "b", "c"]) == value("Compat", gold, ["a", "c", "d", "b"]) == 1.0


def restated(ranking, gold, k, p):
    """Overlap of sets, depth by depth."""
    at = {item: rank for rank, item in reversed(list(enumerate(ranking)))}
    ideal = sorted(
        (item for item in gold if gold[item] > 0), key=lambda item: (-gold[item], at.get(item, len(ranking)))
    )
    ranking = list(dict.fromkeys(ranking))
    if not ideal:
        return None

    def overlap(one, other):
        depths = range(1, (k or max(len(ranking), len(ideal))) + 1)
        return sum(p ** (depth - 1) * len(set(one[:depth]) & set(other[:depth])) / depth for depth in depths)

    return overlap(ranking, ideal) / overlap(ideal, ideal)


@given(case=cases(), k=st.none() | st.integers(1, 40), p=st.sampled_from([0.05, 0.5, 0.95, 0.999]))
def test_agrees_with_sets_depth_by_depth(case, k, p):
    ranking, gold = case
    expected = restated(ranking, gold, k, p)
    found = value({"metric": "Compat", "p": p, **({} if k is None else {"k": k})}, gold, ranking)

    assert found == (None if expected is None else pytest.approx(expected, rel=1e-9, abs=1e-12))


@pytest.mark.parametrize("p", [0, 1, 0.99999])
def test_a_persistence_that_cannot_be_used_is_refused(p):
    with pytest.raises(PlanError, match="above 0 and at most"):
        ENGINE.dataset([]).with_metrics([f"Compat(p={p})"]).plan()
