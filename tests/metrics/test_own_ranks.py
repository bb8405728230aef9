"""
Own ranks: gold items that one result holds each earn, as if they stood one below the other.

Where ground truth is texts or places, a score is that of a ranking by id in which every item stands at its own rank.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle import formulas
from oracle.own_ranks import Item, every_placing, own_ranks, unrolled
from rankgauge import Engine, Policy
from rankgauge.catalog import Catalog
from rankgauge.errors import PlanError
from rankgauge.expression import parse
from rankgauge.plugin import Judged, Scores, metric
from rankgauge.policy import PROFILES

ENGINE = Engine(catalog=Catalog.discover(own_only=True))
WHOLE = ["ndcg", "ndcg_any", "AP", "gm_map", "Rprec", "Rprec_mult@0.5", "Rprec_mult@2", "11pt_avg", "G", "binG"]
WHOLE += ["iprec@0.3", "iprec(rounding=exact)@0.6", "ndcg_rel", "ndcg(gain=exponential)", "ndcg(ideal=retrieved)"]
CUT = ["ndcg@{k}", "ndcg_any@{k}", "dcg@{k}", "cg@{k}", "relative_P@{k}", "AP@{k}", "AP(denominator=at-most-k)@{k}"]
CUT += [
    "AP(denominator=found)@{k}",
    "ndcg(ideal=retrieved)@{k}",
    "ndcg(ideal=retrieved-at-k)@{k}",
    "ndcg(ideal=gold)@{k}",
]
OF_ONE = ["ndcg@5", "ndcg_any@5", "AP", "gm_map", "Rprec", "Rprec_mult@1", "relative_P@5", "iprec@1", "11pt_avg", "G"]
OF_ONE += ["ndcg_rel", "Rndcg", "binG", "recall@5", "hit@5", "recall_all@5", "set_recall", "RR", "ndcg@1", "ndcg@40tok"]

ITEMS = st.lists(
    st.tuples(st.sampled_from([1.0, 1.0, 2.0, 3.0]), st.sampled_from([None, 1, 1, 2, 3, 4, 6])), min_size=1, max_size=6
)


def sample_of(items: Sequence[Item], depth: int = 0) -> dict[str, Any]:
    """Return a sample with a gold span for each item, and a result at each rank that holds what was found there."""
    order = sorted(range(len(items)), key=lambda place: items[place][1] or 0)
    start = {place: 10 * number for number, place in enumerate(order)}
    length = max([depth, *(rank for _, rank in items if rank is not None)])
    retrieved = [
        {"id": f"r{rank}", "document": "else", "start": 10 * rank, "end": 10 * rank + 9} for rank in range(length)
    ]
    for rank in {rank for _, rank in items if rank is not None}:
        held = [start[place] for place in order if items[place][1] == rank]
        retrieved[rank - 1] |= {"document": "gold", "start": min(held), "end": max(held) + 10}
    spans = [
        {"document": "gold", "start": start[place], "end": start[place] + 10, "grade": grade}
        for place, (grade, _) in enumerate(items)
    ]
    return {"id": "s", "expected_output": {"spans": spans}, "actual_output": {"retrieved": retrieved}}


def scores(metrics: Sequence[str], sample: Mapping[str, Any], profile: Any = "default") -> dict[str, float | None]:
    found = ENGINE.dataset([]).with_profile(profile).with_metrics(metrics).score(sample)
    assert {score.status for score in found.values()} <= {"scored", "undefined"}, found
    return {metric: score.value for metric, score in zip(metrics, found.values(), strict=True)}


def by_id(ranking: Sequence[str], gold: Mapping[str, float]) -> dict[str, Any]:
    return {"id": "s", "expected_output": {"relevant": gold}, "actual_output": list(ranking)}


def agree(one: Mapping[str, float | None], other: Mapping[str, float | None]) -> bool:
    return one == pytest.approx(other, rel=1e-12, abs=1e-15)


@given(items=ITEMS, depth=st.integers(0, 8), k=st.sampled_from([1, 2, 3, 5, 10]))
def test_score_is_that_of_a_ranking_with_every_item_at_its_own_rank(items, depth, k):
    metrics = [*WHOLE, *(metric.format(k=k) for metric in CUT)]

    assert agree(scores(metrics, sample_of(items, depth)), scores(metrics, by_id(*unrolled(items, depth))))


@given(items=ITEMS, k=st.sampled_from([1, 2, 3, 5, 10]))
def test_score_agrees_with_formulas_written_apart(items, k):
    case = unrolled(items)
    expected = {
        f"ndcg@{k}": formulas.ndcg(*case, k),
        f"AP@{k}": formulas.average_precision(*case, k),
        "AP": formulas.average_precision(*case, None),
        "Rprec": formulas.r_precision(*case),
    }

    assert agree(scores(list(expected), sample_of(items)), expected)


@given(items=st.lists(ITEMS.map(lambda items: items[0]), min_size=1, max_size=4), k=st.sampled_from([1, 2, 3, 9]))
def test_no_other_placing_earns_more(items, k):
    # Discounts fall with the rank, so that the best grade first is best at every cutoff.
    best = max(sum(grade / math.log2(rank + 1) for grade, rank in ranks if rank <= k) for ranks in every_placing(items))

    assert scores([f"dcg@{k}"], sample_of(items)) == {f"dcg@{k}": pytest.approx(best)}


def test_values_worked_out_by_hand():
    # Rank 2 holds the grades 1, 2 and 1, rank 3 the grade 3: own ranks 4, 2, 5 and 3; one item is not found.
    items = [(1.0, 2), (2.0, 2), (1.0, 2), (3.0, 3), (2.0, None)]
    ideal = 3 + 2 / math.log2(3) + 2 / 2 + 1 / math.log2(5)
    earned = 2 / math.log2(3) + 3 / 2 + 1 / math.log2(5)
    found = scores(["ndcg@4", "cg@4", "AP", "Rprec", "iprec@0.8", "binG"], sample_of(items))

    assert own_ranks(items) == [4, 2, 5, 3, None]
    assert found["ndcg@4"] == pytest.approx(earned / ideal)
    assert found["cg@4"] == 6
    assert found["AP"] == pytest.approx((1 / 2 + 2 / 3 + 3 / 4 + 4 / 5) / 5)
    assert found["Rprec"] == 4 / 5
    assert found["iprec@0.8"] == 4 / 5
    assert found["binG"] == pytest.approx(4 / math.log2(3) / 5)


PASSAGES = ["alpha beta gamma delta epsilon zeta", "one two three four five six", "red green blue white black pink"]


def by_text(*texts: str) -> dict[str, Any]:
    return {"id": "s", "expected_output": {"passages": PASSAGES}, "actual_output": [{"text": text} for text in texts]}


@pytest.mark.parametrize(
    "pieces", [[". ".join(PASSAGES)], PASSAGES, [" ".join(PASSAGES[:2]), PASSAGES[2], "and so on"]]
)
def test_one_result_that_holds_all_is_as_good_as_perfect_pieces(pieces):
    assert set(scores(OF_ONE, by_text(*pieces)).values()) == {1.0}


def test_splitting_pays_only_where_each_result_has_one_gain():
    metrics = ["P@3", "err(max_grade=1)@5", "rbp", "inst(max_grade=1)", "sdcg(max_grade=1)@5"]
    lower, higher = scores(metrics, by_text(". ".join(PASSAGES))), scores(metrics, by_text(*PASSAGES))

    assert [metric for metric in metrics if not lower[metric] < higher[metric]] == []


@metric("own-ap", gold=("nuggets", "answer", "keywords"), own_ranks=True)
def own_ap(judged: Judged) -> Scores:
    """Be average precision of gold that other metrics do not rank."""
    rows = judged.at_own_ranks()
    return judged.sum(rows, rows.nth() / rows.rank) / judged.n_gold()


@pytest.mark.parametrize("kind", ["nuggets", "answer", "keywords"])
def test_all_gold_that_is_text_takes_own_ranks(kind):
    sample = {"id": "s", "expected_output": {kind: PASSAGES}, "actual_output": [{"text": " ".join(PASSAGES[:2])}]}
    if kind == "nuggets":  # the answer is a ranking of one item
        nuggets = [{"id": name, "text": text} for name, text in zip("abc", PASSAGES, strict=True)]
        output = {"answer": "...", "support": dict.fromkeys("ac", "support")}
        sample = {"id": "s", "expected_output": {"nuggets": nuggets}, "actual_output": output}
    (found,) = ENGINE.dataset([]).with_metrics([own_ap]).score(sample).values()

    assert found.value == pytest.approx(2 / 3)


def test_budget_counts_all_that_the_results_within_it_hold():
    # 20 tokens: the first result of 18 fits, and holds all three; the ideal is not cut.
    whole = by_text(" ".join(PASSAGES), "and so it goes on")
    metrics = [f"{name}@20tok" for name in ("ndcg", "AP", "recall", "relative_P", "AP(denominator=at-most-k)")]

    assert set(scores(metrics, whole).values()) == {1.0}
    assert scores(["cg@20tok", "ndcg@2tok"], whole) == {"cg@20tok": 3, "ndcg@2tok": 0}


def test_best_grade_is_not_pushed_down_by_what_does_not_fit():
    # The third result holds the best grade, and does not fit: the second item of rank 1 then has own rank 2.
    texts = ["aa bb cc dd ee ff gg hh ii jj kk ll", "and then", "mm nn oo pp qq rr"]
    spans = [
        {"document": "d", "start": 0, "end": 17, "text": texts[0][:17], "grade": 1},
        {"document": "d", "start": 18, "end": 35, "text": texts[0][18:], "grade": 1},
        {"document": "e", "start": 0, "end": 17, "text": texts[2], "grade": 3},
    ]
    sample = {"id": "s", "expected_output": {"spans": spans}, "actual_output": [{"text": text} for text in texts]}
    found = scores(["dcg@14tok", "dcg@2", "dcg@20tok"], sample)

    assert found["dcg@14tok"] == pytest.approx(1 + 1 / math.log2(3))
    assert found["dcg@2"] == pytest.approx(1 + 1 / math.log2(3))
    assert found["dcg@20tok"] == pytest.approx(1 + 1 / math.log2(3) + 3 / 2)


@pytest.mark.parametrize("profile", ["eval-harness", "remem", "haystack", "classic", "keyword"])
def test_profiles_of_other_tools_keep_one_gain_for_each_result(profile):
    # Their numbers are those of before: rank 1 earns once, of three.
    gold = {"passages": ["alpha", "beta", "gamma"]}
    sample = {"id": "s", "expected_output": gold, "actual_output": [{"id": "c", "text": "alpha beta gamma"}]}
    found = scores(["AP(matcher=contains)", "Rprec(matcher=contains)"], sample, profile)

    assert not PROFILES[profile].own_ranks
    assert list(found.values()) == [1 / 3, 1 / 3]


def test_profile_may_set_it():
    alone = dataclasses.replace(PROFILES["default"], name="alone", own_ranks=False)

    assert scores(["AP"], sample_of([(1.0, 1)] * 2), alone) == {"AP": 0.5}


@given(items=ITEMS, depth=st.integers(0, 8))
def test_repeats_that_count_again_take_own_ranks_too(items, depth):
    # Under duplicates=keep what is found again earns again, at a rank of its own; by id that is the rank it has.
    sample = sample_of(items, depth)
    retrieved = sample["actual_output"]["retrieved"]
    sample["actual_output"] = {"retrieved": [*retrieved, *retrieved]}
    again = [(grade, None if rank is None else rank + len(retrieved)) for grade, rank in items]
    own = [rank for rank in own_ranks([*items, *again]) if rank is not None]

    expected = sum(1 / math.log2(2 + rank - nth) for nth, rank in enumerate(sorted(own), 1)) / len(items)
    assert scores(["binG"], sample, Policy(duplicates="keep")) == {"binG": pytest.approx(expected)}


def test_expectation_over_ties_is_refused_by_text():
    evaluation = (
        ENGINE.dataset([]).with_metrics(["AP(gold=passages)"]).with_profile(Policy(order="score", ties="average"))
    )
    with pytest.raises(PlanError, match="ties=average is for judging by id"):
        evaluation.plan()


def test_page_lists_the_metrics_that_take_own_ranks():
    page = (Path(__file__).parents[2] / "docs/explanation/why-numbers-differ.md").read_text(encoding="utf-8")
    (row,) = (line for line in page.splitlines() if line.startswith("| how early"))
    listed = {ENGINE.catalog.read(parse(f"{name}")).claim.declaration.alias for name in re.findall("`(.+?)`", row)}

    assert listed == {alias for alias, claim in ENGINE.catalog.metrics.items() if claim.declaration.judging.own_ranks}
