"""What the ranks add to a score adds up to it: for every parameter form, policy and profile, over drawn rankings."""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from draws import draws, in_thorough_suite
from rankgauge import Engine, Policy
from rankgauge.catalog import Catalog
from rankgauge.explain import Explanation
from rankgauge.explain.one_score import Scorer, explain_sample
from rankgauge.samples import read_sample

CATALOG = Catalog.discover(own_only=True)
SUMS = [
    *("hit@3", "recall@3", "recall(rel=2)@4", "P@3", "P(rel=2)@5", "MRR", "MRR@2", "AP", "AP(rel=2)@3", "Rprec"),
    *("ndcg", "ndcg@3", "ndcg(gain=exponential)@4", "ndcg(discount=log2-from-2)@3", 'ndcg(gains="1=3,2=9")'),
    *(f"ndcg(ideal={ideal})@3" for ideal in ("gold", "retrieved", "retrieved-at-k")),
    *("ndcg(clamp=true)@3", "ndcg_any@3", "ndcg_any(credit=rank)@3", "err(max_grade=4)@5", "gm_map"),
    *("rbp", "rbp(p=0.5)@3", "rbp(rel=2)@3"),
]
BY_TEXT = [
    *(f"{name}(gold=passages, matcher=contains)@3" for name in ("hit", "recall", "P", "MRR", "AP", "ndcg", "rbp")),
    *("err(gold=passages, matcher=contains, max_grade=4)@3", "containment@3", "EM", "keyword_coverage@3"),
    "keyword_mrr",
]
NO_SUMS = ["f1@3", "bpref", "infAP", "set_F", "recall_all@3", "iprec@0.5", "unj@3"]

BY_SCORE = Policy(order="score")
POLICIES: list[str | Policy] = [
    *("default", "eval-harness", "trec9", "trec10"),
    *(Policy(duplicates=rule) for rule in ("last", "best", "credit-once", "keep")),
    *(dataclasses.replace(BY_SCORE, ties=rule) for rule in ("docno", "given")),
    *(Policy(depth=2), Policy(judged_only=True), Policy(exclude_self=True), Policy(order="score", judged_only=True)),
]

ITEMS = st.integers(0, 7)
GRADES = st.sampled_from([-1, 0, 1, 2, 3, 4])
RANKINGS = st.lists(st.tuples(ITEMS, st.sampled_from([0.5, 1.0, 2.0])), max_size=10)


@functools.cache
def plan(policy: str | Policy, metrics: tuple[str, ...]) -> Any:
    return Engine(catalog=CATALOG).dataset([]).with_metrics(list(metrics)).with_profile(policy).plan()


def explained(policy: str | Policy, metrics: list[str], record: dict[str, Any]) -> list[Explanation]:
    sample = read_sample(record, problems=[])
    assert sample is not None
    made = plan(policy, tuple(metrics))
    scorers = [Scorer(made, column, column.targets[0]) for column in made.metrics]
    return [explain_sample(scorer, sample, trials=False) for scorer in scorers]


def check(explanation: Explanation) -> None:
    """Hold a scored sum over ranks to its parts, and to its running total."""
    assert not explanation.notes
    if explanation.status != "scored":
        assert {rank.contribution for rank in explanation.ranks} <= {None}
        return
    parts = [rank.contribution for rank in explanation.ranks]
    if explanation.arithmetic is None:
        assert "clamp=true" in explanation.expression
        assert set(parts) <= {None}
        return
    assert explanation.score == pytest.approx(math.fsum(parts), rel=1e-12, abs=1e-12)
    if explanation.ranks:
        assert explanation.score == pytest.approx(explanation.ranks[-1].total, rel=1e-12, abs=1e-12)


@settings(max_examples=draws(400))
@given(
    gold=st.dictionaries(ITEMS, GRADES, min_size=1, max_size=6),
    ranking=RANKINGS,
    policy=st.sampled_from(POLICIES),
)
@in_thorough_suite()
def test_contributions_add_up_to_the_score(gold, ranking, policy):
    record = {
        "id": "d0",
        "expected_output": {f"d{item}": grade for item, grade in gold.items()},
        "actual_output": [{"id": f"d{item}", "score": score} for item, score in ranking],
    }
    for explanation in explained(policy, SUMS, record):
        check(explanation)


@in_thorough_suite()
@settings(max_examples=draws(200))
@given(
    gold=st.lists(st.sampled_from(["ab", "b", "cd", "bc", "e"]), min_size=1, max_size=4),
    texts=st.lists(st.text("abcde", min_size=1, max_size=5), max_size=8),
    policy=st.sampled_from(["default", Policy(duplicates="credit-once"), Policy(duplicates="keep")]),
)
def test_contributions_of_texts_add_up_to_the_score(gold, texts, policy):
    record = {
        "id": "q",
        "expected_output": {"passages": gold, "answer": gold, "keywords": gold},
        "actual_output": {"retrieved": [{"text": text} for text in texts], "answer": (texts or ["x"])[0]},
    }
    for explanation in explained(policy, BY_TEXT, record):
        check(explanation)


@pytest.mark.parametrize("metric", NO_SUMS)
def test_metric_that_is_no_sum_over_ranks_has_none(metric):
    record = {"id": "q", "expected_output": {"a": 1, "b": 0}, "actual_output": ["b", "a", "x"]}
    (explanation,) = explained("default", [metric], record)

    assert explanation.arithmetic is None
    assert [None, None, None] == [rank.contribution for rank in explanation.ranks]
    assert explanation.status == "scored"


def test_averaged_ties_have_none():
    averaged = Policy(order="score", ties="average")
    retrieved = [{"id": "a", "score": 1.0}, {"id": "x", "score": 1.0}]
    (explanation,) = explained(averaged, ["ndcg@1"], {"id": "q", "expected_output": ["a"], "actual_output": retrieved})

    assert explanation.score == 0.5
    assert explanation.arithmetic is None


def test_clipped_score_has_none():
    record = {"id": "q", "expected_output": {"a": -2, "b": 3}, "actual_output": ["a", "b"]}
    below, clipped = explained("eval-harness", ["ndcg(clamp=false)@2", "ndcg(clamp=true)@2"], record)

    assert below.score is not None
    assert below.score < 0
    assert below.ranks[-1].total == pytest.approx(below.score, abs=1e-12)
    assert clipped.score == 0.0
    assert clipped.ranks[-1].total is None
