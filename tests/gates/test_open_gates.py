"""Gates that too few samples leave open, and those among them whose mean fell for certain."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from draws import in_thorough_suite
from rankgauge import evaluate, judge_gates
from rankgauge.comparison.pairing import PairedColumn
from rankgauge.gates.drop import judge_drop
from rankgauge.gates.grammar import Effect, Gate, MaxDrop
from rankgauge.gates.outcomes import GateOutcome, GateReport, outcome_line, summary_line

QRELS = {f"q{n:02}": {"d": 1} for n in range(74)}


def judged(lost: int, gate: str = "recall@5 max_drop 0.02", *, won: int = 0, effect: Effect = "fell") -> GateOutcome:
    """Judge 74 questions, of which some lose the only relevant document and others win it."""
    before = {name: {"d": 1.0} if n >= won else {"x": 1.0} for n, name in enumerate(QRELS)}
    after = {name: {"x": 1.0} if n >= len(QRELS) - lost else {"d": 1.0} for n, name in enumerate(QRELS)}
    results = [evaluate(QRELS, run, ["recall@5", "num_ret"]) for run in (before, after)]
    return judge_gates(results[1], gate, baseline=results[0], inconclusive=effect).outcomes[0]


def test_an_open_gate_whose_mean_fell_for_certain_fails() -> None:
    """
    Five of 74 fall and none rises: p is 2**-5, below .05.

    The differences have the mean -5/74 = -.0676 and the standard error .2528 / sqrt(74) = .0294, so that the bounds are
    -.0676 -+ 1.666 * .0294, and -.02 lies between them.
    """
    outcome = judged(5)
    assert (outcome.verdict, outcome.status, outcome.has_fallen, outcome.is_open) == (
        *("inconclusive", "failed"),
        *(True, False),
    )
    assert outcome.drop is not None
    assert outcome.drop.p_fall == 2**-5
    assert outcome.to_dict()["change"]["p_fall"] == 2**-5
    line = outcome_line(outcome)
    assert line.startswith(
        "MISSED recall@5: 0.9324 against 1.0000, fell for certain, by about 0.0676 (one-sided p 0.0312); whether by "
        "more than the margin 0.02 is open, about 175 "
    )
    assert "samples would decide; one-sided 95 % bounds: -0.1165 to -0.0186 (n=74; " in line


def test_a_fall_that_may_be_chance_leaves_the_gate_open() -> None:
    """Four of four have p = 1/16. Six falls and one rise: of 128 patterns 1 + 7 fall as far, p = 1/16 as well."""
    for outcome in (judged(4), judged(6, won=1)):
        assert (outcome.verdict, outcome.status, outcome.is_open) == ("inconclusive", "warned", True)
        assert outcome.drop is not None
        assert outcome.drop.p_fall == 1 / 16
        assert "cannot tell, nor whether it fell at all (one-sided p 0.0625), " in outcome_line(outcome)
        assert summary_line(GateReport((outcome,))) == "no gate failed: 1 open"


def test_a_rise_is_no_fall() -> None:
    """One falls and five rise, which leaves a margin of 0 open."""
    outcome = judged(1, "recall@5 max_drop 0", won=5)
    assert outcome.drop is not None
    assert (outcome.status, outcome.drop.p_fall) == ("warned", None)


def test_the_level_is_that_of_the_gate() -> None:
    assert judged(5, "recall@5 max_drop 0.02 confidence 0.97").is_open
    assert judged(5, "recall@5 max_drop 0.02 confidence 0.96875").status == "failed"  # which is 1 - 2**-5
    assert judged(4, "recall@5 max_drop 0.02 confidence 0.9").status == "failed"


@pytest.mark.parametrize(("effect", "status"), [("warn", "warned"), ("pass", "passed"), ("fail", "failed")])
def test_other_effects_do_not_ask_whether_it_fell(effect: Effect, status: str) -> None:
    outcomes = (
        judged(5, effect=effect),
        judged(5, f"recall@5 max_drop 0.02 inconclusive {effect}"),
        judged(4, effect=effect),
    )
    assert [outcome.status for outcome in outcomes] == [status] * 3


def test_a_gate_of_level_warn_warns() -> None:
    assert judged(5, "recall@5 max_drop 0.02 level warn").status == "warned"


def test_a_metric_for_which_less_is_better_rises() -> None:
    """Five of 74 questions retrieve something that nobody judged."""
    runs = ({name: {"x" if n < bad else "d": 1.0} for n, name in enumerate(QRELS)} for bad in (0, 5))
    before, after = (evaluate(QRELS, run, "unjudged@1") for run in runs)
    (outcome,) = judge_gates(after, "unjudged@1 max_drop 0.02", baseline=before).outcomes
    assert outcome.status == "failed"
    assert "rose for certain, by about 0.0676" in outcome_line(outcome)


def _red(n: int, margin: float, draws: int, seed: int) -> float:
    """Return how many of so many A/A changes are red: of one system whose scores vary by chance."""
    random, red = np.random.default_rng(seed), 0
    info: Any = SimpleNamespace(range=(0.0, 1.0), higher_is_better=True)
    rule = MaxDrop(margin)
    gate = Gate(metric="hit@5", rule=rule)
    for _ in range(draws):
        common, moved = random.random(n) < 0.7, random.random((2, n)) < 0.07
        before, after = (common ^ moved).astype(np.float64)
        pairs = PairedColumn(info, before, after, {})
        verdict, drop = judge_drop(rule, pairs, higher_is_better=True)
        red += GateOutcome(gate=gate, verdict=verdict, drop=drop).status == "failed"
    return red / draws


@in_thorough_suite()
@pytest.mark.parametrize(("n", "margin"), [(30, 0.05), (74, 0.02), (74, 0.05)])
def test_a_a_changes_are_red_no_more_often_than_the_level_says(n: int, margin: float) -> None:
    """Of 500 draws at most 5 %, and three standard errors of that: .05 + 3 * .0097."""
    assert _red(n, margin, 500, seed=n) <= 0.079
