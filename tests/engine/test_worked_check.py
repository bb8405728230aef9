"""The worked check: five metrics from their aliases alone, all on one sample."""

from __future__ import annotations

import pytest

from rankgauge import Engine

FIVE = [
    "retrieval-hit-at-k",
    "retrieval-recall-at-k",
    "retrieval-mrr",
    "retrieval-ndcg-at-k",
    "answer-containment-at-k",
]
RETRIEVED = ["doc-7", "doc-3", "doc-1", "doc-9", "doc-2"]
SAMPLE = {
    "id": "worked",
    "input": {"question": "Where is it?"},
    "expected_output": {"relevant": ["doc-3", "doc-9"], "answer": "behind the old mill"},
    "actual_output": {
        "retrieved": [
            {"id": name, "text": "It is Behind the\nold mill." if name == "doc-9" else f"Nothing about it in {name}."}
            for name in RETRIEVED
        ]
    },
    "metadata": {"k": 5},
}
EXPECTED = {
    "retrieval-hit-at-k": 1.0,
    "retrieval-recall-at-k": 1.0,
    "retrieval-mrr": 0.5,
    "retrieval-ndcg-at-k": 0.6509209298071326,
    "answer-containment-at-k": 1.0,
}


def close(value):
    return pytest.approx(value, rel=1e-12)


def test_five_aliases_score_one_sample_without_further_setup():
    result = Engine().dataset([SAMPLE]).with_metrics(FIVE).run()

    assert list(result.metrics) == FIVE
    assert close(EXPECTED) == {name: column.mean for name, column in result.metrics.items()}
    assert [column.n for column in result.metrics.values()] == [1] * 5
    assert result.errors == ()
    assert not result.is_incomplete


def test_single_sample_scores_the_same():
    scores = Engine().dataset([]).with_metrics(FIVE).score(SAMPLE)

    assert close(EXPECTED) == {name: score.value for name, score in scores.items()}
    assert {score.status for score in scores.values()} == {"scored"}


def test_default_cutoff_is_five():
    sample = {name: value for name, value in SAMPLE.items() if name != "metadata"}

    scores = Engine().dataset([]).with_metrics(FIVE).score(sample)

    assert close(EXPECTED) == {name: score.value for name, score in scores.items()}


def test_one_relevant_of_five_at_rank_one_of_a_list_of_one():
    sample = {"id": "short", "expected_output": [*"abcde"], "actual_output": ["a"], "metadata": {"k": 5}}

    scores = Engine().dataset([]).with_metrics(["retrieval-ndcg-at-k", "retrieval-precision-at-k"]).score(sample)

    assert close(0.3391602052736161) == scores["retrieval-ndcg-at-k"].value
    assert scores["retrieval-precision-at-k"].value == 0.2
