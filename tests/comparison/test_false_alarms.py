"""False alarms: a system compared with itself over its repeats; what is said of their pairs is given here."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from comparison.made import result
from rankgauge import Result, compare
from rankgauge.comparison.compare import is_itself, with_false_alarms
from rankgauge.comparison.estimate import Method


def made(repeats=((1.0, 0.5, np.nan),)):
    """Return a result of one metric with these repeats of each sample."""
    one = result([1.0] * len(repeats))
    column = replace(one["p@1"], repeats=None if repeats[0] is None else np.array(repeats))
    return one.with_columns([column])


@pytest.mark.parametrize(
    ("verdicts", "alarms", "advice"),
    [
        (["better", "worse", "undecided"], 2, True),
        (["worse", "same", "undecided"], 1, False),
        (["same", "same", "same"], 0, False),
    ],
)
def test_alarms_of_all_pairs_are_counted(verdicts, alarms, advice):
    """Three repeats make three pairs."""
    pair = compare({"a": result([1.0]), "b": result([1.0])}).comparisons[0]
    told = iter(verdicts)

    def compared(single):
        assert len(single) == 2
        metric = SimpleNamespace(verdict=next(told))
        return {name: SimpleNamespace(metrics={"p@1": metric}) for name in single}

    found = with_false_alarms(pair, made(), Method(), compared)
    assert found.false_alarms == {
        "pairs": 3,
        "alarms": alarms,
        "metrics": {"p@1": alarms},
        "allowed": pytest.approx(0.05),
        "rate": alarms / 3,
    }
    note = found.notes[-1]
    assert note.startswith(f"A against A: of 3 pairs of repeats {alarms} would be called different, a false-alarm ")
    assert note.endswith("so single runs are not to be compared") == advice


@pytest.mark.parametrize(("alarms", "advice"), [(3, False), (4, True)])
def test_as_many_alarms_as_the_tests_allow_are_no_reason_for_advice(alarms, advice):
    """Four repeats make six pairs, of which a level of a half allows three."""
    pair = compare({"a": result([1.0]), "b": result([1.0])}).comparisons[0]
    told = iter(["better"] * alarms + ["same"] * (6 - alarms))

    def compared(single):
        metric = SimpleNamespace(verdict=next(told))
        return dict.fromkeys(single, SimpleNamespace(metrics={"p@1": metric}))

    found = with_false_alarms(pair, made(((0.1, 0.2, 0.3, 0.4),)), Method(confidence=0.5), compared)
    assert found.notes[-1].endswith("so single runs are not to be compared") == advice


def test_of_many_repeats_fifty_pairs_are_compared():
    """Eleven repeats make 55 pairs."""
    pair = compare({"a": result([1.0]), "b": result([1.0])}).comparisons[0]
    same = SimpleNamespace(metrics={"p@1": SimpleNamespace(verdict="same")})
    found = with_false_alarms(pair, made((tuple(range(11)),)), Method(), lambda single: dict.fromkeys(single, same))
    assert found.false_alarms["pairs"] == 50


def test_every_metric_has_the_same_repeats():
    first, other = np.array([[1.0, 0.5]]), np.array([[1.0, 0.0]])
    both = result([1.0], [1.0])
    one, another = (
        both.with_columns(
            replace(column, repeats=repeats)
            for column, repeats in zip(both.metrics.values(), (first, second), strict=True)
        )
        for second in (first, other)
    )
    assert is_itself(one, one)
    assert not is_itself(one, another)


def test_only_the_same_repeats_are_those_of_one_run():
    one, none = made(), made([None])
    assert is_itself(one, made())  # where a call gave no score, neither has one
    assert not is_itself(one, made([(1.0, 0.5, 0.5)]))
    assert not any(is_itself(*pair) for pair in ((one, none), (none, one), (none, none)))
    bare = Result(one.sample_ids, one.tags, {}, one.manifest)
    assert not is_itself(bare, bare)
    other = Result(["another"], one.tags, one.metrics, one.manifest)
    assert not is_itself(one, other)
