"""The component inside Haystack: pipelines, serialization, and Haystack's own numbers under its profile."""

from __future__ import annotations

import asyncio
import copy
import math
import random

import pytest
from haystack import Document, Pipeline
from haystack.components.evaluators import (
    DocumentMAPEvaluator,
    DocumentMRREvaluator,
    DocumentNDCGEvaluator,
    DocumentRecallEvaluator,
)
from haystack.evaluation import EvaluationRunResult

from rankgauge import __version__
from rankgauge.errors import PlanError, PolicyError
from rankgauge_hosts.haystack import RankgaugeEvaluator


def documents(*ids, scores=None, **fields):
    return [
        Document(id=name, content=f"text of {name}", score=scores[place] if scores else None, **fields)
        for place, name in enumerate(ids)
    ]


def test_telemetry_is_off_and_stays_off():
    from haystack.telemetry import _telemetry

    assert _telemetry.telemetry is None


def test_a_component_is_made_again_from_its_dictionary():
    made = RankgaugeEvaluator(
        {"metric": "recall", "k": 5}, "meta.source.url", profile="haystack", k=7, policy={"no_gold": "undefined"}
    )
    data = made.to_dict()
    assert data == {
        "type": "rankgauge_hosts.haystack.RankgaugeEvaluator",
        "init_parameters": {
            "metric": {"metric": "recall", "k": 5},
            "document_comparison_field": "meta.source.url",
            "config": None,
            "profile": "haystack",
            "k": 7,
            "policy": {"no_gold": "undefined"},
            "matchers": None,
        },
    }
    assert RankgaugeEvaluator.from_dict(data).to_dict() == data
    assert copy.deepcopy(made).to_dict() == data


def test_a_pipeline_with_it_is_dumped_loaded_and_run():
    pipeline = Pipeline()
    pipeline.add_component("ndcg", RankgaugeEvaluator("ndcg@10"))
    pipeline.add_component("recall", RankgaugeEvaluator("recall@1"))
    again = Pipeline.loads(pipeline.dumps(), allowed_modules=["rankgauge_hosts.haystack"])
    inputs = {"ground_truth_documents": [documents("a", "b")], "retrieved_documents": [documents("a", "x", "b")]}
    results = again.run({"ndcg": inputs, "recall": inputs})
    provenance = results["recall"].pop("provenance")
    assert provenance["rankgauge"] == __version__
    assert (provenance["metric"], provenance["profile"]) == ("retrieval-recall-at-k@1", "default")
    assert results["recall"] == {"score": 0.5, "individual_scores": [0.5], "statuses": ["scored"], "reasons": [""]}
    assert results["ndcg"]["score"] == pytest.approx((1 + 1 / 2) / (1 + 1 / math.log2(3)))


@pytest.mark.parametrize("field", ["id", "content", "meta.source.url"])
@pytest.mark.parametrize(
    ("metric", "theirs"),
    [
        ("ndcg", DocumentNDCGEvaluator),
        ("retrieval-mrr", DocumentMRREvaluator),
        ("retrieval-map", DocumentMAPEvaluator),
        ("hit@100", DocumentRecallEvaluator),
        ("recall@100", lambda **field: DocumentRecallEvaluator(mode="multi_hit", **field)),
    ],
)
def test_under_its_profile_the_numbers_are_haystacks(metric, theirs, field):
    random.seed(7)
    gold, retrieved = [], []
    for query in range(60):
        pool = [
            Document(id=f"d{name}", content=f"text {name}", meta={"source": {"url": f"u{name}"}}) for name in range(12)
        ]
        wanted = random.sample(pool, random.randint(1, 5))
        scores = [float(random.randint(1, 3)) for _ in wanted] if query % 2 else [None] * len(wanted)
        gold.append(
            [Document(id=d.id, content=d.content, meta=d.meta, score=s) for d, s in zip(wanted, scores, strict=True)]
        )
        retrieved.append(random.choices(pool, k=random.randint(1, 10)))  # with repeats
    sides = {"ground_truth_documents": gold, "retrieved_documents": retrieved}

    ours = RankgaugeEvaluator(metric, field, profile="haystack").run(**sides)

    expected = theirs(document_comparison_field=field).run(**sides)
    assert ours["individual_scores"] == pytest.approx(expected["individual_scores"], rel=1e-12)
    assert ours["score"] == pytest.approx(expected["score"], rel=1e-12)
    assert len(set(ours["individual_scores"])) > 1


def test_it_runs_in_an_asynchronous_pipeline_with_the_same_numbers():
    pipeline = Pipeline()
    pipeline.add_component("ndcg", RankgaugeEvaluator("ndcg@10"))
    sides = {
        "ground_truth_documents": [documents("a", "b"), documents("c")],
        "retrieved_documents": [documents("b", "x", "a"), documents("y", "c")],
    }
    found = asyncio.run(pipeline.run_async({"ndcg": sides}))["ndcg"]
    assert found == RankgaugeEvaluator("ndcg@10").run(**sides)


def test_where_nothing_counts_is_no_number_and_in_no_mean():
    result = RankgaugeEvaluator("recall@5").run(
        ground_truth_documents=[documents("a"), [], documents("a")],
        retrieved_documents=[documents("a"), documents("a"), documents("x")],
    )
    assert result["individual_scores"] == [1.0, pytest.approx(math.nan, nan_ok=True), 0.0]
    assert result["score"] == 0.5
    assert result["statuses"] == ["scored", "undefined", "scored"]
    assert "no ground truth" in result["reasons"][1]
    nothing = RankgaugeEvaluator("recall@5").run(ground_truth_documents=[[]], retrieved_documents=[documents("a")])
    assert math.isnan(nothing["score"])


def test_the_outputs_make_an_evaluation_run_result():
    gold, retrieved = [documents("a"), []], [documents("a"), documents("a")]
    recall = RankgaugeEvaluator("recall@5").run(retrieved, gold)
    result = EvaluationRunResult("run", {"question": ["?", "??"]}, {"recall@5": recall})
    assert result.aggregated_report() == {"metrics": ["recall@5"], "score": [1.0]}
    assert result.detailed_report()["recall@5"] == [1.0, pytest.approx(math.nan, nan_ok=True)]


def test_gains_are_the_scores_of_gold_documents():
    gold = documents("a", "b", scores=[3.0, 1.0])
    result = RankgaugeEvaluator("ndcg@10").run([documents("b")], [gold])
    assert result["score"] == pytest.approx(1 / (3 + 1 / math.log2(3)))


def test_texts_and_answers_are_judged_by_matchers():
    retrieved = [[Document(id="x", content="The lighthouse is 41 metres tall.")]]
    gold = [[Document(id="y", content="Built in 1890. The lighthouse is 41 metres tall. It is white.")]]
    assert RankgaugeEvaluator("recall(matcher=chunk)@5").run(retrieved, gold)["score"] == 1.0
    assert RankgaugeEvaluator("recall@5").run(retrieved, gold)["score"] == 0.0
    answers = RankgaugeEvaluator("answer-containment-at-k").run(retrieved, ground_truth_answers=["41 Metres"])
    assert answers["score"] == 1.0
    said = RankgaugeEvaluator("answer-exact-match").run(
        retrieved, ground_truth_answers=["41 metres"], predicted_answers=["41 metres"]
    )
    assert said["score"] == 1.0


def test_documents_without_the_compared_field_match_nothing():
    gold = [[Document(content="a", meta={"page": 1}), Document(content="b")]]
    retrieved = [[Document(content="b"), Document(content="c", meta={"page": 1})]]
    result = RankgaugeEvaluator("retrieval-mrr", "meta.page").run(retrieved, gold)
    assert result["individual_scores"] == [0.5]


@pytest.mark.parametrize(
    ("sides", "told"),
    [
        ({"retrieved_documents": [], "ground_truth_documents": []}, "retrieved_documents is empty"),
        ({"retrieved_documents": [[]]}, "there is no ground truth"),
        ({"retrieved_documents": [[]], "ground_truth_documents": [[], []]}, "has 2 entries, and retrieved_documents 1"),
        (
            {
                "retrieved_documents": [[]],
                "ground_truth_documents": [[Document(content="a", score=1.0), Document(content="b")]],
            },
            "query 0 must have a score",
        ),
    ],
)
def test_lists_that_do_not_fit_are_errors(sides, told):
    with pytest.raises(ValueError, match=told):
        RankgaugeEvaluator("recall@5").run(**sides)


def test_mistakes_surface_when_the_component_is_made():
    with pytest.raises(PlanError, match="unknown metric"):
        RankgaugeEvaluator("ndgc@10")
    with pytest.raises(PolicyError, match="haystak"):
        RankgaugeEvaluator("ndcg@10", profile="haystak")
    with pytest.raises(ValueError, match="document_comparison_field: 'contents'"):
        RankgaugeEvaluator("ndcg@10", "contents")
    broken = RankgaugeEvaluator("ndcg@10").to_dict()
    broken["init_parameters"]["metric"] = "ndgc@10"
    with pytest.raises(PlanError):
        RankgaugeEvaluator.from_dict(broken)
