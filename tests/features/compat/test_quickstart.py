"""The quickstart's samples score in a module of rankgauge.compat as in an evaluation under its profile, one by one."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import orjson
import yaml

from rankgauge.compat import classic, haystack, keyword, remem
from tables import rows

QUICKSTART = Path(__file__).parents[3] / "configs" / "quickstart"


def samples():
    """Return ids, gains, keywords, and the retrieved items of each sample; what it says of itself, no system reads."""
    rows = map(orjson.loads, (QUICKSTART / "outputs.bm25.jsonl").read_bytes().splitlines())
    emitted = {row["id"]: row["actual_output"]["retrieved"] for row in rows}
    found = []
    for sample in yaml.safe_load((QUICKSTART / "dataset.yaml").read_text(encoding="utf-8"))["samples"]:
        gold = dict(sample["expected_output"])
        gold["relevant"] = {name: float(gain) for name, gain in dict(gold["relevant"] or {}).items()}
        found.append({"id": sample["id"], "expected_output": gold, "actual_output": emitted[sample["id"]]})
    return found


SAMPLES = samples()


def relevant(sample):
    """Return the gold ids that every system takes for relevant: those with a gain."""
    return [name for name, gain in sample["expected_output"]["relevant"].items() if gain > 0]


def retrieved(sample):
    return [item["id"] for item in sample["actual_output"]]


def documents(names, gains=None):
    return [SimpleNamespace(id=name, content=name, meta={}, score=gains and gains[name]) for name in names]


def by_remem(sample, k=5):
    _, (example,) = remem.RetrievalRecall().calculate_metric_scores([relevant(sample)], [retrieved(sample)], k_list=[k])
    return example[f"Recall@{k}"]


def by_haystack(evaluator):
    def score(sample):
        return evaluator.run([documents(relevant(sample))], [documents(retrieved(sample))])["individual_scores"][0]

    return score


def by_haystack_with_gains(sample):
    gains = sample["expected_output"]["relevant"]
    gold = documents(relevant(sample), gains)
    return haystack.DocumentNDCGEvaluator().run([gold], [documents(retrieved(sample))])["individual_scores"][0]


def by_classic(method, *cutoff):
    def score(sample):
        result = classic.RetrievalResult("q", retrieved(sample), set(relevant(sample)), [])
        return getattr(classic.RetrievalMetrics, method)(result, *cutoff)

    return score


def by_graded_classic(sample):
    gains = {name: int(gain) for name, gain in sample["expected_output"]["relevant"].items()}
    return classic.GradedRetrievalMetrics.graded_ndcg_at_k(
        classic.GradedRetrievalResult("q", retrieved(sample), gains), 10
    )


def by_keyword(sample):
    found = [SimpleNamespace(page_content=item["text"], metadata={}) for item in sample["actual_output"]]
    (word,) = sample["expected_output"]["keywords"][:1]
    return keyword.calculate_ndcg(word, found, 5)


@rows(
    ("profile", "metric", "score", "kind"),
    [
        ("remem", "recall@5", by_remem, "ids"),
        ("haystack", "retrieval-mrr", by_haystack(haystack.DocumentMRREvaluator()), "ids"),
        ("haystack", "retrieval-map", by_haystack(haystack.DocumentMAPEvaluator()), "ids"),
        ("haystack", "recall@1000", by_haystack(haystack.DocumentRecallEvaluator("multi_hit")), "ids"),
        ("haystack", "ndcg", by_haystack_with_gains, "gains"),
        ("classic", "P@5", by_classic("precision_at_k", 5), "ids"),
        ("classic", "ndcg_any@10", by_classic("ndcg_at_k", 10), "ids"),
        ("classic", "retrieval-map", by_classic("average_precision"), "ids"),
        ("classic", "ndcg@10", by_graded_classic, "gains"),
        ("keyword", "keyword_ndcg@5", by_keyword, "keyword"),
    ],
)
def test_a_system_and_its_profile_agree_on_every_sample(profile, metric, score, kind, engine):
    evaluation = engine.dataset([]).with_metrics([metric]).with_profile(profile)
    theirs, ours = [], []
    for sample in SAMPLES:
        gold = sample["expected_output"]
        given = {
            "ids": {"relevant": relevant(sample)},
            "gains": {"relevant": {name: gold["relevant"][name] for name in relevant(sample)}},
            "keyword": {"keywords": gold.get("keywords", [])[:1]},
        }[kind]
        if kind == "keyword" and not given["keywords"]:
            continue
        theirs.append(score(sample))
        (found,) = evaluation.score({**sample, "expected_output": given}).values()
        ours.append(found.value)
    assert theirs == ours
    assert len(ours) >= 30
    assert len(set(ours)) >= 3
