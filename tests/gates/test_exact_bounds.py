"""Bounds are met by means that equal them, whatever floats make of the sum."""

from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

import rankgauge
from comparison.made import result
from rankgauge.gates.grammar import Bound
from rankgauge.gates.outcomes import headline
from rankgauge.gates.verdicts import judge_gates
from rankgauge.stats.aggregates import exact_reading

SHARES = sorted({Fraction(hits, k) for k in (3, 5, 7, 10) for hits in range(k + 1)})


def decimal_of(fraction):
    """Return a fraction as a short decimal; None where there is none."""
    text = f"{float(fraction):.6f}".rstrip("0")
    return text if Fraction(text) == fraction else None


def sets_of_equal_means():
    """Yield (scores, bound) where the exact mean of shares can be written as a decimal."""
    for n in (1, 2, 3, 4):
        for shares in combinations_with_replacement(SHARES, n):
            bound = decimal_of(sum(shares) / n)
            if bound is not None:
                yield [float(share) for share in shares], bound


CASES = list(sets_of_equal_means())


@pytest.mark.parametrize("side", ["minimum", "maximum"])
def test_every_mean_that_equals_its_bound_keeps_it(side):
    assert len(CASES) > 1000
    missed = 0
    for scores, text in CASES:
        mean, number = float(np.sum(scores)) / len(scores), float(text)
        missed += not (mean <= number if side == "maximum" else mean >= number)
        assert Bound(number, side).holds(mean, scores), (scores, text)
    assert missed, "floats alone would do, so the test says nothing"


def test_a_mean_that_floats_round_to_its_bound_keeps_it():
    """0.7 and the float below it have a mean of 0.7 in floats, and a smaller one in decimals."""
    scores = [0.7, float(np.nextafter(0.7, 0))]
    mean = float(np.sum(scores)) / 2
    assert mean == 0.7
    assert Bound(0.7, "minimum").holds(mean, scores)


def test_a_mean_that_reads_as_no_simple_fraction_is_added_up():
    """The mean of 0.12348 and 0.123481 is 246961/2000000, and as a float a little less."""
    assert (0.12348 + 0.123481) / 2 < 0.1234805
    assert Bound(0.1234805, "minimum").holds((0.12348 + 0.123481) / 2, [0.12348, 0.123481])
    assert not Bound(0.1234805, "minimum").holds((0.12348 + 0.123481) / 2)
    scores = result([0.12348, 0.123481])
    assert judge_gates(scores, ["P@1 >= 0.1234805"]).outcomes[0].verdict == "pass"


@pytest.mark.parametrize("side", ["minimum", "maximum"])
def test_no_mean_beyond_its_bound_keeps_it(side):
    """A bound beside the mean, by 1e-9 and by two units in the 16th digit of 1, which exact arithmetic sees."""
    sign = 1 if side == "minimum" else -1
    for scores, text in CASES[::7]:
        for step in ("0.000000001", "0.0000000000000004"):
            number = float(Fraction(text) + sign * Fraction(step))
            if Fraction(repr(number)) == Fraction(text):
                continue
            exact = sum(map(exact_reading, scores)) / len(scores)
            assert sign * exact < sign * Fraction(repr(number))
            mean = float(np.sum(scores)) / len(scores)
            assert not Bound(number, side).holds(mean, scores) or sign * mean >= sign * number


def test_scores_are_read_as_what_they_stand_for():
    assert exact_reading(0.6) == Fraction(3, 5)
    assert exact_reading(1 / 3) == Fraction(1, 3)
    assert exact_reading((1 + 2 / 3 + 3 / 5) / 3) == Fraction(34, 45)
    assert exact_reading(2**-0.5) == Fraction(2**-0.5)
    assert exact_reading(0.0) == 0


@pytest.mark.parametrize("hits", [(0, 0, 3), (1, 1, 1), (0, 1, 2)])
@pytest.mark.parametrize("gate", ["P@5 >= 0.2", "P@5 <= 0.2"])
def test_a_gate_passes_at_its_own_value(hits, gate):
    qrels = {f"q{number}": {"a": 1, "b": 1, "c": 1} for number in range(3)}
    run = {
        query: {document: 5.0 - rank for rank, document in enumerate([*"abc"[:n], *"vwxyz"][:5])}
        for query, n in zip(qrels, hits, strict=True)
    }
    report = judge_gates(rankgauge.evaluate(qrels, run, ["P@5"]), gate)

    (outcome,) = report.outcomes
    assert outcome.verdict == "pass"
    assert "0.2000 meets" in headline(outcome)


def test_averages_of_precision_keep_their_bounds():
    """AP of two relevant documents in all places of six, in pairs whose mean is a decimal."""
    values = {
        ranks: (Fraction(1, ranks[0]) + Fraction(2, ranks[1])) / 2
        for ranks in product(range(1, 7), repeat=2)
        if ranks[0] < ranks[1]
    }
    seen = 0
    for one, two in combinations_with_replacement(values, 2):
        bound = decimal_of((values[one] + values[two]) / 2)
        if bound is None:
            continue
        qrels = {"q1": {"a": 1, "b": 1}, "q2": {"a": 1, "b": 1}}
        run = {
            query: {
                ("a" if rank == ranks[0] else "b" if rank == ranks[1] else f"x{rank}"): -rank for rank in range(1, 7)
            }
            for query, ranks in zip(qrels, (one, two), strict=True)
        }
        result = rankgauge.evaluate(qrels, run, ["AP"])
        for sign in (">=", "<="):
            assert judge_gates(result, f"AP {sign} {bound}").exit_code == 0
        seen += 1
    assert seen > 10
