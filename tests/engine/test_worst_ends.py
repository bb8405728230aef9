"""A law over the catalog: a missing or failed sample has the worst end of its metric's range, and no better value."""

from __future__ import annotations

import numpy as np
import pytest

from draws import some
from rankgauge import Catalog, Engine, evaluate, judge_gates
from rankgauge.features.testing.drawn_cases import ANCHOR, TOP_GRADE, Case
from rankgauge.plugin import Judged, Scores, metric
from rankgauge.samples import OF_SOME
from tables import rows

ENGINE = Engine(catalog=Catalog.discover(own_only=True))
METRICS = [alias for alias, claim in ENGINE.catalog.metrics.items() if not claim.declaration.is_whole]
CASES = [ANCHOR, Case((2.0, 0.0), (0, 5)), Case((0.0, -1.0), (0,)), Case((0.0,), ()), Case((), (3,))]
"""Something relevant, nothing relevant, nothing retrieved, nothing judged."""


@rows("no_gold", ["undefined", "zero"])
@rows("output", [None, 5], ids=["missing", "malformed"])
@rows("alias", some(METRICS))
def test_what_is_missing_or_failed_has_the_worst_end_whatever_the_gold(alias, output, no_gold):
    declared = ENGINE.catalog.metrics[alias].declaration
    spec = {"metric": alias, **({"max_grade": TOP_GRADE} if declared.needs_max_grade else {})}
    evaluation = ENGINE.dataset([]).with_metrics([spec]).with_profile(no_gold=no_gold)
    worst = declared.range[0 if declared.higher_is_better else 1]
    for number, case in enumerate(CASES):
        sample = case.sample(f"s{number}", 5)
        (score,) = evaluation.score({**sample, "actual_output": output}).values()
        if score.status not in {"missing", "failed"}:
            assert score.status == "undefined"
            assert declared.describes or score.value in {None, worst}
        elif declared.describes:
            (empty,) = evaluation.score({**sample, "actual_output": []}).values()
            assert score.value in {empty.value, 0.0}
        else:
            assert score.value in ({None} if set(declared.gold) & OF_SOME else {worst})


@metric("nothing-wrong", defined=lambda judged: np.ones(judged.n, dtype=bool))
def nothing_wrong(judged: Judged) -> Scores:
    """Return 1 where nothing is relevant, else the recall."""
    relevant = judged.n_gold()
    return np.where(relevant == 0, 1.0, judged.found(10) / np.maximum(relevant, 1))


@metric("never-defined", defined=lambda judged: np.zeros(judged.n, dtype=bool))
def never_defined(judged: Judged) -> Scores:
    """Return 1, though `defined` says that no ground truth allows a score."""
    return np.ones(judged.n)


@metric("at-best-1", range=(-1.0, 1.0), defined=lambda judged: np.ones(judged.n, dtype=bool))
def at_best_1(judged: Judged) -> Scores:
    """Return 0 for an empty ranking, which is in the middle of the range."""
    return np.zeros(judged.n)


QRELS = {"q1": {"a": 0}, "q2": {"b": 1}}
RUN = {"q2": {"b": 1.0}}
SAMPLES = [
    {"id": name, "expected_output": QRELS[name], "actual_output": list(RUN.get(name, [])) or None} for name in QRELS
]


@pytest.mark.parametrize("no_gold", ["undefined", "zero"])
@pytest.mark.parametrize(("made", "worst"), [(nothing_wrong, 0.0), (never_defined, 0.0), (at_best_1, -1.0)])
def test_a_metric_that_is_1_where_nothing_is_relevant_says_nothing_of_a_missing_sample(made, worst, no_gold):
    evaluation = ENGINE.dataset(SAMPLES).with_metrics(made).with_profile(no_gold=no_gold)
    results = [
        evaluation.run(),
        ENGINE.dataset([*SAMPLES[1:], {**SAMPLES[0], "actual_output": 5}]).with_metrics(made).run().take([1, 0]),
        evaluate(QRELS, RUN, made, policy={"no_gold": no_gold}),
        evaluate({**QRELS, **{f"r{n}": {"x": 1} for n in range(40)}}, RUN, made).take([0, 1]),
    ]
    for result in results:
        (column,) = result.metrics.values()
        assert (column.values[0], column.status(0)) in {(worst, "missing"), (worst, "failed")}
        assert column.status(1) == "scored"


def test_a_mean_that_has_no_worst_value_is_incomplete_and_its_gates_are_missed():
    """The mean of first ranks 1, 2 and none is 1.5 over two of three queries."""
    qrels = {name: {"a": 1} for name in ("q1", "q2", "q3")}
    run = {"q1": {"a": 1.0}, "q2": {"b": 1.0, "a": 0.5}}
    why = "the value is incomplete: 1 of 3 samples is missing or failed, and there is no worst value"
    for metrics in ("first_rank", ["first_rank", "RR"]):
        result = evaluate(qrels, run, metrics)
        assert result["first_rank"].mean == 1.5
        assert "first_rank=1.5000 (incomplete)" in repr(result)
        assert any(note.startswith(f"first_rank: {why}") for note in result.notes)
        (outcome,) = judge_gates(result, "first_rank <= 2").outcomes
        assert (outcome.verdict, outcome.by_numbers, outcome.reason.startswith(why)) == ("fail", "pass", True)
    assert judge_gates(result, "RR >= 0.5").exit_code == 0
    assert judge_gates(evaluate(qrels, {**run, "q3": {"a": 1.0}}, "first_rank"), "first_rank <= 2").exit_code == 0


def test_a_policy_that_leaves_them_out_is_asked_for_it():
    qrels, run = {"q1": {"a": 1}, "q2": {"a": 1}}, {"q1": {"a": 1.0}}
    result = evaluate(qrels, run, "first_rank", policy={"missing_output": "exclude"})
    assert judge_gates(result, "first_rank <= 2").exit_code == 0
    assert "incomplete" not in repr(result)


def test_a_saved_result_still_says_so(tmp_path):
    result = evaluate({"q1": {"a": 1}, "q2": {"a": 1}}, {"q1": {"a": 1.0}}, "first_rank")
    result.save(tmp_path / "out")
    loaded = type(result).load(tmp_path / "out")
    assert (repr(loaded), loaded.gate("first_rank <= 2").exit_code) == (repr(result), 1)
