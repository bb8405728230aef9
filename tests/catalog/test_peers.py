"""Spellings of ir_measures and ranx."""

import pytest

from rankgauge.catalog.peers import translated
from rankgauge.errors import PlanError
from rankgauge.expression import parse


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("nDCG(dcg='exp-log2')@10", "nDCG(gain=exponential)@10"),
        ("nDCG(dcg='log2')@10", "nDCG@10"),
        ("nDCG(gains={1: 3, 2: 9})@10", 'nDCG(gains="1=3,2=9")@10'),
        ("INST(T=2, max_rel=3, min_rel=0)", "INST(goal=2, max_grade=3, min_grade=0)"),
        ("NumRet(rel=2)", "num_rel_ret(rel=2)"),
        ("SetP(relative=true)", "set_relative_P"),
        ("SetP(relative=false)", "SetP"),
        ("AP(judged_only=false, rel=2)", "AP(rel=2)"),
        ("precision-l2@5", "precision(rel=2)@5"),
        ("map-l3", "map(rel=3)"),
        ("ndcg_burges@10", "ndcg(gain=exponential)@10"),
        ("r-precision", "Rprec"),
        ("ndcg@10", "ndcg@10"),
    ],
)
def test_a_spelling_of_another_tool_is_an_expression_of_ours(theirs, ours):
    assert translated(parse(theirs)) == parse(ours)


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [("rbp.80", "rbp(p=0.8)"), ("hits@5", "retrieval-hits-at-5"), ("RBP(rel=1, p=0.8)", "rbp(p=0.8, rel=1)")],
)
def test_a_column_is_found_by_either_spelling(engine, theirs, ours):
    sample = {"id": "q", "expected_output": {"a": 2, "b": 1}, "actual_output": ["b", "x", "a"]}
    result = engine.dataset([sample]).with_metrics([theirs]).run()

    assert result[theirs] is result[ours]


def test_rbp_with_a_threshold_is_binary(score):
    # 0.2 * (1 + 0.8**2): both grades count 1, where grades would be divided by the highest.
    assert score("RBP(rel=1, p=0.8)", {"a": 2, "b": 1}, ["b", "x", "a"]).value == pytest.approx(0.2 * 1.64)
    assert score("RBP(p=0.8)", {"a": 2, "b": 1}, ["b", "x", "a"]).value == pytest.approx(0.2 * (0.5 + 0.64))
    assert score("RBP(rel=2, p=0.8)", {"a": 2, "b": 1}, ["b", "x", "a"]).value == pytest.approx(0.2 * 0.64)


def test_judged_only_is_said_to_be_an_option_of_the_policy(engine):
    with pytest.raises(PlanError, match="judged_only is an option of the policy"):
        engine.dataset([]).with_metrics(["AP(judged_only=true)"]).plan()


@pytest.mark.parametrize("written", ["ndcg(gains={1})", "ndcg(gains={1: x})", "ndcg(gains={1: 2", "ndcg(gains={a: 2})"])
def test_gains_that_cannot_be_read_are_refused(engine, written):
    with pytest.raises(PlanError, match="cannot read"):
        engine.dataset([]).with_metrics([written]).plan()
