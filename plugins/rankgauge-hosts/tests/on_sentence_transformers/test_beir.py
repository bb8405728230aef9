"""`rankgauge_hosts.beir.evaluate` returns what BEIR's own function returns."""

from __future__ import annotations

import copy
import random

import pytest
from beir.retrieval.evaluation import EvaluateRetrieval

from rankgauge.errors import NothingToEvaluateError
from rankgauge_hosts.beir import evaluate


def drawn(seed):
    """Return graded judgments and results with ties; some queries are in one of the two only, or have no gold."""
    draw = random.Random(seed)
    documents = [f"d{number}" for number in range(60)]
    qrels = {f"q{number}": {name: draw.randrange(4) for name in draw.sample(documents, 8)} for number in range(30)}
    qrels["q5"] = dict.fromkeys(documents[:3], 0)
    results = {
        f"q{number}": {name: draw.randrange(20) / 7 for name in draw.sample(documents, 30)} for number in range(3, 33)
    }
    results["q9"]["q9"] = 9.0
    qrels["q9"]["q9"] = 3
    return qrels, results


@pytest.mark.parametrize("ignore_identical_ids", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_the_four_dictionaries_are_those_of_beir(seed, ignore_identical_ids):
    qrels, results = drawn(seed)
    given = copy.deepcopy((qrels, results))
    found = evaluate(qrels, results, [1, 3, 10, 100], ignore_identical_ids)
    assert (qrels, results) == given
    assert found == EvaluateRetrieval.evaluate(qrels, results, [1, 3, 10, 100], ignore_identical_ids)


def test_it_stands_in_for_it(monkeypatch):
    """The relevant document has rank 2; 1 / log2(3) is 0.63093."""
    monkeypatch.setattr(EvaluateRetrieval, "evaluate", staticmethod(evaluate))
    evaluator = EvaluateRetrieval(k_values=[2])
    qrels, results = {"1": {"b": 1}}, {"1": {"1": 9.0, "a": 8.0, "b": 7.0}}
    expected = ({"NDCG@2": 0.63093}, {"MAP@2": 0.5}, {"Recall@2": 1.0}, {"P@2": 0.5})
    assert evaluator.evaluate(qrels, results, evaluator.k_values) == expected


def test_results_of_other_queries_are_refused():
    with pytest.raises(NothingToEvaluateError):
        evaluate({"1": {"a": 1}}, {"2": {"a": 1.0}}, [10])
