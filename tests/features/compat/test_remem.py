"""rankgauge.compat.remem gives REMem's numbers, and refuses what REMem stumbles over."""

from __future__ import annotations

import logging

import pytest

from features.compat.golden import cases, close
from rankgauge.compat.remem import RetrievalNDCGAny, RetrievalRecall, RetrievalRecallAll, is_chunk_from_original
from tables import rows

METRICS = {
    "recall": (RetrievalRecall, "Recall"),
    "recall all": (RetrievalRecallAll, "Recall_all"),
    "ndcg any": (RetrievalNDCGAny, "NDCG_any"),
}


@rows("case", cases("remem", "scores"))
def test_means_and_examples_are_the_same(case):
    metric, name = METRICS[case["metric"]]
    given = {"k_list": case["k"]} if "k" in case else {}
    if "refused" in case:
        with pytest.raises(ValueError, match=case["refused"]):
            metric().calculate_metric_scores(case["gold"], case["chunks"], **given)
        return

    pooled, examples = metric().calculate_metric_scores(case["gold"], case["chunks"], **given)

    keys = [f"{name}@{k}" for k in sorted(set(case.get("k", [1, 5, 10, 20])))]
    assert list(pooled) == keys
    assert close(case["mean"]) == list(pooled.values())
    assert [list(example) for example in examples] == [keys] * len(examples)
    assert close(case["each"]) == [list(example.values()) for example in examples]


@rows("case", cases("remem", "matching"))
def test_a_chunk_comes_from_the_same_originals(case):
    assert is_chunk_from_original(case["chunk"], case["original"]) is case["same"]


def test_names_and_configuration_are_those_of_the_original():
    names = [metric.metric_name for metric, _ in METRICS.values()]

    assert names == ["retrieval_recall", "retrieval_recall_all", "retrieval_ndcg_any"]
    assert RetrievalRecall(global_config={"any": "thing"}).global_config == {"any": "thing"}
    assert RetrievalNDCGAny().global_config is None


def test_short_rankings_are_mentioned_in_the_log(caplog):
    with caplog.at_level(logging.WARNING, logger="rankgauge"):
        RetrievalRecall().calculate_metric_scores([["a"], ["a"]], [["a"], ["a", "b"]], k_list=[2])

    assert caplog.messages == ["1 of 2 examples have fewer than k = 2 chunks"]


def test_something_else_than_a_text_names_the_query():
    with pytest.raises(ValueError, match="query 1 "):
        RetrievalNDCGAny().calculate_metric_scores([["a"], ["a"]], [["a"], [None]], k_list=[1])
    with pytest.raises(ValueError, match="query 0 "):
        RetrievalRecallAll().calculate_metric_scores([[7]], [["a"]], k_list=[1])
