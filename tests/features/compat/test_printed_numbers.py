"""Numbers that the systems' own pages print, with what their code computes where the two differ."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pytest

from rankgauge.compat.classic import RetrievalMetrics, RetrievalResult
from rankgauge.compat.haystack import DocumentNDCGEvaluator
from rankgauge.compat.keyword import calculate_dcg, calculate_mrr, calculate_ndcg, calculate_recall_at_k
from rankgauge.compat.remem import RetrievalNDCGAny, RetrievalRecall, RetrievalRecallAll

PAGES = ["Company Overview mentions HomeProtect", "Team Page", "AutoInsure Product Page", "News Article"]
PRODUCTS = ["HomeProtect", "AutoInsure", "CarePlus", "TravelGuard"]


def texts(*contents):
    return [SimpleNamespace(page_content=content, metadata={"id": content}) for content in contents]


def mean(values):
    return sum(values) / len(values)


def test_remem_recall_of_the_usage_example():
    gold, chunks = [["doc1", "doc2"], ["doc3"]], [["doc1", "doc3", "doc2"], ["doc4", "doc3"]]

    pooled, _ = RetrievalRecall().calculate_metric_scores(gold_docs=gold, retrieved_chunks=chunks, k_list=[1, 5, 10])

    # The page prints Recall@1 = 0.5; it is the mean of 1/2 and 0/1.
    assert pooled == {"Recall@1": 0.25, "Recall@5": 1.0, "Recall@10": 1.0}


def test_remem_recall_all_of_the_usage_example():
    gold, chunks = [["doc1", "doc2"], ["doc3"]], [["doc1", "doc3", "doc2"], ["doc3", "doc4"]]

    pooled, _ = RetrievalRecallAll().calculate_metric_scores(gold, chunks, k_list=[1, 5, 10])

    # The page prints Recall_all@1 = 0.0; the second query has all of its gold at rank 1.
    assert pooled == {"Recall_all@1": 0.5, "Recall_all@5": 1.0, "Recall_all@10": 1.0}


def test_remem_ndcg_of_the_usage_example():
    gold, chunks = [["doc1", "doc2"], ["doc3"]], [["doc1", "doc2", "doc4"], ["doc3", "doc5"]]

    pooled, _ = RetrievalNDCGAny().calculate_metric_scores(gold, chunks, k_list=[1, 5, 10])

    # The page prints 0.75, 0.85 and 0.87; both orders are perfect, and 5 and 10 cut nothing off either.
    assert pooled == {"NDCG_any@1": 1.0, "NDCG_any@5": 1.0, "NDCG_any@10": 1.0}


def test_remem_means_are_those_of_the_printed_examples():
    gold = [["a", "b"], ["c"]]
    chunks = [["a", "x", "y", "z", "w", "b"], ["x", "c"]]

    pooled, examples = RetrievalRecall().calculate_metric_scores(gold, chunks, k_list=[1, 5, 10])

    assert [list(example.values()) for example in examples] == [[0.5, 0.5, 1.0], [0.0, 1.0, 1.0]]
    # The page prints the means 0.3333, 0.6667 and 0.8333 over two such examples.
    assert pooled == {"Recall@1": 0.25, "Recall@5": 0.75, "Recall@10": 1.0}


def test_remem_ndcg_of_the_output_example_can_be_reached():
    ranking = ["-", "-", "one", "two", "-", "-", "-", "three"]
    chunks = [ranking, ["four"]]

    pooled, examples = RetrievalNDCGAny().calculate_metric_scores(
        [["one", "two", "three"], ["four"]], chunks, k_list=[1, 5, 10]
    )

    assert [round(score, 2) for score in examples[0].values()] == [0.0, 0.43, 0.56]
    assert [round(score, 3) for score in pooled.values()] == [0.5, 0.715, 0.778]  # printed 0.78, of rounded examples


def test_remem_matches_neither_in_recall_nor_fuzzily():
    """Recall compares whole texts, though the page says that every metric matches chunks, prefixes stripped."""
    gold, chunks = [["I like tea."]], [["user: I like tea."]]

    assert RetrievalRecall().calculate_metric_scores(gold, chunks, k_list=[1])[0] == {"Recall@1": 0.0}
    assert RetrievalRecallAll().calculate_metric_scores(gold, chunks, k_list=[1])[0] == {"Recall_all@1": 1.0}
    altered = [["I like tee."]]
    assert RetrievalRecallAll().calculate_metric_scores(gold, altered, k_list=[1])[0] == {"Recall_all@1": 0.0}


def test_remem_ranks_one_and_two_weigh_the_same():
    """The page says that a higher position scores higher."""
    _, examples = RetrievalNDCGAny().calculate_metric_scores([["a"]] * 3, [["a"], ["x", "a"], ["x", "y", "a"]], [3])

    assert [example["NDCG_any@3"] for example in examples] == [1.0, 1.0, pytest.approx(1 / math.log2(3), rel=1e-12)]


def test_haystack_ndcg_of_the_docstring():
    gold = [[SimpleNamespace(content="France", score=1.0), SimpleNamespace(content="Paris", score=0.5)]]
    found = [[SimpleNamespace(content=text) for text in ("France", "Germany", "Paris")]]

    # The docstring prints 0.8869.
    assert round(DocumentNDCGEvaluator().run(gold, found)["score"], 4) == 0.9502


def test_keyword_dcg_and_ndcg_of_the_example():
    earned, best = calculate_dcg([0, 1, 0, 1, 1], 5), calculate_dcg([1, 1, 1], 5)

    assert round(earned, 3) == 1.448  # printed 1.449, the sum of rounded terms
    assert round(best, 3) == 2.131
    assert earned / best == pytest.approx(0.6797310500037655, abs=1e-9)  # printed 0.680


def test_keyword_mean_reciprocal_ranks_of_the_examples():
    results = [("avery", texts("Company Overview", "Product Info", "Avery's Profile", "Team Page"))]
    results += [("homeprotect", texts("HomeProtect")), ("address", texts("Team Page", "Company address"))]
    pages = texts(*PAGES, "CarePlus Details")

    ranks = [calculate_mrr(keyword, documents) for keyword, documents in results]

    assert mean(ranks) == pytest.approx(0.611111111111111, abs=1e-9)  # printed 0.611
    # The mean over one question's keywords, which the page calls average MRR: printed 0.383.
    assert mean([calculate_mrr(product, pages) for product in PRODUCTS]) == pytest.approx(0.3833333333333333, abs=1e-9)
    assert mean([calculate_ndcg(product, pages, 5) for product in PRODUCTS]) == pytest.approx(0.471713, abs=1e-6)


def test_keyword_recall_of_the_example_is_coverage(score):
    """The page divides found keywords by keywords and calls it Recall@5; its function divides ids."""
    retrieved = [{"id": str(rank), "text": text} for rank, text in enumerate([*PAGES, "CarePlus Details"])]

    covered = score("keyword-coverage-at-k", {"keywords": PRODUCTS}, retrieved, k=5, policy="keyword")

    assert covered.value == 0.75
    assert calculate_recall_at_k(texts("1", "2", "3"), ["1", "2", "3", "4", "5"], 10) == 0.6


def test_keyword_example_judged_by_document(score):
    """Three relevant pages at ranks 1, 3 and 5; and the same where a fourth was never retrieved."""
    ranking = ["a", "-", "b", "+", "c"]

    assert score("ndcg@5", ["a", "b", "c"], ranking).value == pytest.approx(0.885460, abs=1e-6)
    assert score("ndcg@5", ["a", "b", "c", "d"], ranking).value == pytest.approx(0.736590, abs=1e-6)


def test_recall_at_one_is_no_hit():
    """The page asks of Recall@1 whether the top result is relevant; with four relevant it is at most a quarter."""
    found = RetrievalResult("q", ["1"], {"1", "2", "3", "4"}, [1.0])

    assert calculate_recall_at_k(texts("1"), ["1", "2", "3", "4"], 1) == 0.25
    assert RetrievalMetrics.hit_rate_at_k(found, 1) == 1.0


def test_reciprocal_ranks_of_the_bands():
    """0.75 and more is not "usually within the top 3", nor is 0.5 "often within the top 4"."""
    always_second, always_third = texts("-", "x"), texts("-", "-", "x")

    assert calculate_mrr("x", always_second) == 0.5
    assert round(calculate_mrr("x", always_third), 3) == 0.333


def test_precision_can_rise_with_k():
    """The page says that a higher k makes precision lower."""
    found = RetrievalResult("q", ["x", "a"], {"a"}, [1.0, 0.5])

    assert RetrievalMetrics.precision_at_k(found, 1) < RetrievalMetrics.precision_at_k(found, 2)


def test_average_precision_is_no_area_and_may_pass_one():
    """The docstring calls it the area under the precision-recall curve."""
    assert RetrievalMetrics.average_precision(RetrievalResult("q", ["d1", "d1", "d2"], {"d1"}, [])) == 2.0


def test_eval_harness_worked_comparison_is_right(score):
    found = score(
        "retrieval-ndcg-at-k",
        ["doc-3", "doc-9"],
        ["doc-7", "doc-3", "doc-1", "doc-9", "doc-2"],
        k=5,
        policy="eval-harness",
        details=True,
    )

    assert [round(found.details[name], 2) for name in ("dcg", "idcg")] == [1.06, 1.63]
    assert round(found.value, 2) == 0.65
