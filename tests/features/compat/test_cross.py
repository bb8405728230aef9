"""The same rankings score in every system as that system scores them."""

from __future__ import annotations

from types import SimpleNamespace

from features.compat.golden import cases, close
from rankgauge.compat.classic import GradedRetrievalMetrics, GradedRetrievalResult, RetrievalMetrics, RetrievalResult
from rankgauge.compat.haystack import DocumentMAPEvaluator, DocumentNDCGEvaluator
from rankgauge.compat.remem import RetrievalNDCGAny, RetrievalRecall, RetrievalRecallAll
from tables import rows


def documents(texts):
    return [[SimpleNamespace(content=text, score=None) for text in texts]]


def all_scores(gold, retrieved, k, score):
    binary = RetrievalResult("q", retrieved, set(gold), [])
    graded = GradedRetrievalResult("q", retrieved, dict.fromkeys(gold, 1))
    return {
        "remem recall": remem(RetrievalRecall, gold, retrieved, k),
        "remem recall all": remem(RetrievalRecallAll, gold, retrieved, k),
        "remem ndcg any": remem(RetrievalNDCGAny, gold, retrieved, k),
        "classic precision": RetrievalMetrics.precision_at_k(binary, k),
        "classic recall": RetrievalMetrics.recall_at_k(binary, k),
        "classic hit": RetrievalMetrics.hit_rate_at_k(binary, k),
        "classic average precision": RetrievalMetrics.average_precision(binary),
        "classic reciprocal rank": RetrievalMetrics.reciprocal_rank(binary),
        "classic ndcg": RetrievalMetrics.ndcg_at_k(binary, k),
        "classic graded ndcg": GradedRetrievalMetrics.graded_ndcg_at_k(graded, k),
        "haystack average precision": DocumentMAPEvaluator().run(documents(gold), documents(retrieved))["score"],
        "haystack ndcg of the first k": DocumentNDCGEvaluator().run(documents(gold), documents(retrieved[:k]))["score"],
        "eval-harness ndcg": score(f"ndcg@{k}", gold, retrieved, policy="eval-harness").value,
    }


def remem(metric, gold, retrieved, k):
    (example,) = metric().calculate_metric_scores([gold], [retrieved], k_list=[k])[1]
    (score,) = example.values()
    return score


@rows("case", cases("cross"))
def test_every_convention_gives_its_own_number(case, score):
    found = all_scores(case["gold"], case["retrieved"], case["k"], score)

    assert close(case["scores"]) == {name: found[name] for name in case["scores"]}
