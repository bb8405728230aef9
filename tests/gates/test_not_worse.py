"""Gates that ask for proof that nothing got worse: `not_worse`, also where few scores changed."""

from __future__ import annotations

import numpy as np
import pytest

from comparison.made import result
from rankgauge import judge_gates
from rankgauge.config.schema import Config
from rankgauge.errors import ParameterError
from rankgauge.gates.grammar import MaxDrop, read_gates
from rankgauge.gates.outcomes import outcome_line
from rankgauge.stats.intervals import betting_interval

RNG = np.random.default_rng(2)
BASE = RNG.random(60)


def judged(after, gate, before=BASE, **options):
    (outcome,) = judge_gates(result(after), [gate], baseline=result(before), **options).outcomes
    return outcome


def test_it_is_read_and_written_as_a_text_and_as_a_mapping() -> None:
    for written in ("ndcg@10 not_worse 0.01", {"metric": "ndcg@10", "not_worse": 0.01}):
        (gate,) = read_gates(written)
        assert gate.rule == MaxDrop(0.01, inconclusive="fail", word="not_worse")
        assert str(gate) == "ndcg@10 not_worse 0.01"
        assert Config.model_validate({"version": 1, "gates": [written]}).gates == [written]
    (gate,) = read_gates("ndcg@10 not_worse 2% inconclusive warn")
    assert str(gate) == "ndcg@10 not_worse 2% inconclusive warn"
    both = read_gates({"metric": "AP", "max_drop": 0.1, "not_worse": 0.2})
    assert [gate.rule.word for gate in both] == ["max_drop", "not_worse"]
    with pytest.raises(ParameterError, match="not_worse is 0 or more"):
        read_gates("ndcg@10 not_worse -1")


def test_what_is_open_fails_whatever_holds_for_other_gates() -> None:
    after = BASE + RNG.normal(0.0, 0.2, 60)
    assert judged(after, "P@1 max_drop 0.01").status == "warned"
    outcome = judged(after, "P@1 not_worse 0.01", inconclusive="pass")
    assert (outcome.verdict, outcome.status) == ("inconclusive", "failed")
    assert outcome.to_dict()["not_worse"] == "0.01"
    assert outcome_line(outcome).startswith("MISSED p@1: ")


def test_many_changed_scores_are_judged_by_t_as_max_drop_does() -> None:
    after = BASE + RNG.normal(0.0, 0.01, 60)
    gates = [judged(after, f"P@1 {word} 0.02") for word in ("max_drop", "not_worse")]
    assert gates[0].drop == gates[1].drop
    assert gates[1].verdict == "pass"


def test_few_changed_scores_are_judged_by_bets() -> None:
    """Two of 100 hits lost: Student's bound is -.043, and bets say what so few can."""
    before, after = np.ones(100), np.r_[0.0, 0.0, np.ones(98)]
    low, high = betting_interval((after - before + 1) / 2, 0.9)
    outcome = judged(after, "P@1 not_worse 0.05", before)
    assert outcome.verdict == "inconclusive"
    assert (outcome.drop.worst, outcome.drop.best) == pytest.approx((2 * low - 1, 2 * high - 1))
    assert judged(after, "P@1 max_drop 0.05", before).verdict == "pass"


def test_nothing_changed_is_not_worse() -> None:
    assert judged(BASE, "P@1 not_worse 0.01").verdict == "pass"
