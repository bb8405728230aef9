"""Spellings of ir_measures, ranx and ndeval."""

from pathlib import Path

import pytest

from rankgauge.catalog import Catalog
from rankgauge.catalog.other_tools import translated
from rankgauge.catalog.trec_eval import left_out_hint
from rankgauge.errors import PlanError
from rankgauge.expression import parse
from tables import rows


@rows(
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
        ("precision@5-l2", "precision(rel=2)@5"),
        ("ndcg@10-l3", 'ndcg(gains="1=0,2=0")@10'),
        ("ndcg@10-l1", "ndcg@10"),
        ("rbp.80-l2", "rbp(p=0.8, rel=2)"),
        ("SetP(relative=True)", "set_relative_P"),
        ("AP(judged_only=False, rel=2)", "AP(rel=2)"),
        ("ndcg_burges@10", "ndcg(gain=exponential)@10"),
        ("r-precision", "Rprec"),
        ("R_cap@2", "relative_P@2"),
        ("ERR-IA@20", "ERR_IA@20"),
        ("nERR-IA@5", "nERR_IA@5"),
        ("alpha-DCG@10", "alpha_DCG@10"),
        ("alpha-nDCG@10", "alpha_nDCG@10"),
        ("MAP-IA", "MAP_IA"),
        ("P-IA@5", "P_IA@5"),
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


PEERS = Path(__file__).parent / "peers"
"""Every measure that each tool registers, under each of its names, and with each parameter it takes."""


def listed(tool):
    return (PEERS / f"{tool}.txt").read_text(encoding="utf-8").split()


@rows("name", [*listed("ir_measures-0.4.3"), *listed("ranx-0.3.21")])
def test_every_measure_of_ir_measures_and_ranx_resolves(engine, name):
    assert len(engine.dataset([]).with_metrics([name]).plan().metrics) == 1


@rows(
    ("name", "reason"),
    [
        ("ERR", "needs a cutoff: ERR@5"),  # ir_measures has it only for show: none of its tools computes it
        ("alpha_nDCG", "needs a cutoff: alpha_nDCG@5"),
        ("precision", "needs a cutoff: precision@5, .*; over whole rankings it is set_P"),  # as ranx computes it
        ("f1", "over whole rankings it is set_F"),
        ("SDCG(dcg='exp-log2',max_rel=2)@5", "gains of SDCG are linear"),
        ("AP(judged_only=True)", "judged_only is an option of the policy"),
        ("ndcg_burges@5-l2", "grades below 2 are worth 0 here.*changes the number"),
        ("dcg-l2", "grades below 2 are worth 0 here.*changes the number"),
    ],
)
def test_what_does_not_resolve_says_why(engine, name, reason):
    with pytest.raises(PlanError, match=reason):
        engine.dataset([]).with_metrics([name]).plan()


def test_gains_below_the_level_of_ranx_are_worth_nothing(score):
    # ranx 0.3.21 gives ndcg@3-l2 of this ranking as 2 / log2(3) / 2.
    assert score("ndcg@3-l2", {"a": 2, "b": 1}, ["b", "a"]).value == pytest.approx(0.6309297535714575)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("prefs_simp", "pairs of preferences"),
        ("prefs_num_prefs_poss", "pairs of preferences"),
        ("num_rel_pref", "pairs of preferences"),
        ("prefs_avgjg", "several groups of judgments"),
        ("map_avgjg", "several groups of judgments"),
        ("qrels_jg", "several groups of judgments"),
        ("yaap", "experimental"),
    ],
)
def test_a_measure_of_trec_eval_that_is_left_out_says_why(engine, name, reason):
    with pytest.raises(PlanError, match=reason):
        engine.dataset([]).with_metrics([name]).plan()


def test_no_name_of_a_metric_is_taken_for_one_that_is_left_out():
    catalog = Catalog.discover(own_only=True)

    assert not [name for name in catalog.all("metric") if left_out_hint(name)]
