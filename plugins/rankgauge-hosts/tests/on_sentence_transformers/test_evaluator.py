"""The evaluator ranks as the library's own does, and its scores are those of the library where they mean the same."""

from __future__ import annotations

import csv
import math
import random

import pytest
from datasets import Dataset
from sentence_transformers import (
    SentenceTransformer,
    SentenceTransformerTrainer,
    SentenceTransformerTrainingArguments,
)
from sentence_transformers.base.modules import Dense
from sentence_transformers.sentence_transformer.evaluation import InformationRetrievalEvaluator, SequentialEvaluator
from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss
from sentence_transformers.sentence_transformer.modules import BoW

import rankgauge
from rankgauge.errors import DataError, NothingToEvaluateError, ParameterError, PlanError
from rankgauge_hosts.sentence_transformers import RankgaugeEvaluator

WORDS = [f"w{number}" for number in range(12)]
FRUIT = ["apple", "pear", "plum"]
QUERIES = {"q1": "apple", "q2": "pear"}
CORPUS = {"d1": "apple", "d2": "apple pear", "d3": "plum", "d4": "pear"}
"""By cosine, q1 ranks d1 (1), d2 (0.71), then d3 and d4 (0); q2 ranks d4, d2, then d1 and d3."""


def bag_of_words(words=FRUIT, *more):
    return SentenceTransformer(modules=[BoW(list(words)), *more], device="cpu")


def drawn(seed):
    """Return queries, a corpus of texts that are often equal, and relevant documents."""
    draw = random.Random(seed)
    corpus = {f"d{number:02}": " ".join(draw.choices(WORDS, k=3)) for number in range(60)}
    queries = {f"q{number}": " ".join(draw.choices(WORDS, k=2)) for number in range(20)}
    relevant = {query: set(draw.sample(sorted(corpus), draw.randrange(5))) for query in queries}
    return queries, corpus, relevant


SAME = {
    **{f"hit@{k}": f"accuracy@{k}" for k in (1, 3, 5, 10)},
    **{f"P@{k}": f"precision@{k}" for k in (1, 3, 5, 10)},
    **{f"R@{k}": f"recall@{k}" for k in (1, 3, 5, 10)},
    "nDCG@10": "ndcg@10",
    "MRR@10": "mrr@10",
    "AP(denominator=at-most-k)@100": "map@100",
}
"""Metrics of rankgauge by what the library calls them."""


@pytest.mark.parametrize("chunk", [7, 50_000])
@pytest.mark.parametrize("seed", range(3))
def test_scores_are_those_of_the_library(seed, chunk):
    model, data = bag_of_words(WORDS), drawn(seed)
    metrics = [{"metric": ours, "as": theirs} for ours, theirs in SAME.items()]

    ours = RankgaugeEvaluator(*data, metrics, name="dev", corpus_chunk_size=chunk)
    theirs = InformationRetrievalEvaluator(*data, name="dev")
    expected = theirs(model)

    assert ours(model) == pytest.approx(expected, abs=1e-12)
    assert any(0 < value < 1 for value in expected.values())


def test_scores_are_called_as_those_of_the_library():
    evaluator = RankgaugeEvaluator(QUERIES, CORPUS, {"q1": {"d1"}, "q2": {"d2"}}, ["MRR@10", "recall@1"], name="dev")
    assert evaluator(bag_of_words()) == {"dev_cosine_mrr@10": 0.75, "dev_cosine_recall@1": 0.5}
    assert evaluator.primary_metric == "dev_cosine_mrr@10"
    assert evaluator.greater_is_better is True


def test_grades_count():
    """q1 finds grade 1 first and grade 3 second; the best order is the other one."""
    evaluator = RankgaugeEvaluator(QUERIES, CORPUS, {"q1": {"d1": 1, "d2": 3}}, "ndcg@2")
    best = 3 + 1 / math.log2(3)
    assert evaluator(bag_of_words())["cosine_ndcg@2"] == pytest.approx((1 + 3 / math.log2(3)) / best, abs=1e-12)


def test_equal_similarities_are_ranked_by_id():
    evaluator = RankgaugeEvaluator(QUERIES, CORPUS, {"q1": {"d4"}, "q2": {"d1"}}, ["RR"])
    assert evaluator(bag_of_words())["cosine_rr"] == (1 / 4 + 1 / 3) / 2


def test_less_is_better_where_the_metric_says_so():
    """Dot products of unit vectors are their cosines; the sign turns them round, so d3 and d4 come first."""
    functions = {"turned": lambda queries, texts: -queries @ texts.T, "dot": lambda queries, texts: queries @ texts.T}
    evaluator = RankgaugeEvaluator(QUERIES, CORPUS, {"q1": {"d1"}}, "first_rank", score_functions=functions)
    assert evaluator(bag_of_words()) == {"dot_first_rank": 1.0, "turned_first_rank": 3.0}
    assert evaluator.primary_metric == "dot_first_rank"
    assert evaluator.greater_is_better is False


def test_the_similarity_that_was_chosen_is_the_primary_one():
    functions = {"cosine": lambda queries, texts: -queries @ texts.T, "dot": lambda queries, texts: queries @ texts.T}
    options = {"score_functions": functions, "main_score_function": "cosine"}
    evaluator = RankgaugeEvaluator(QUERIES, CORPUS, {"q1": {"d1"}}, "RR", **options)
    evaluator(bag_of_words())
    assert evaluator.primary_metric == "cosine_rr"


def test_a_metric_that_is_undefined_everywhere_is_nan():
    evaluator = RankgaugeEvaluator(QUERIES, {"d1": "apple"}, {"q1": {"d9"}}, "first_rank")
    assert math.isnan(evaluator(bag_of_words())["cosine_first_rank"])


def test_two_models_are_compared_query_by_query():
    """The model that knows no pear ranks all documents of q2 alike, so that d4 comes last."""
    evaluator = RankgaugeEvaluator(QUERIES, CORPUS, {"q1": {"d1"}, "q2": {"d4"}}, "RR")
    evaluator(bag_of_words())
    all_words = evaluator.results["cosine"]
    evaluator(bag_of_words(["apple", "plum"]))
    comparison = rankgauge.compare({"all words": all_words, "no pear": evaluator.results["cosine"]})
    assert comparison["no pear"]["rr"].difference == -3 / 8
    assert [change.sample_id for change in comparison["no pear"]["rr"].worst] == ["q2"]


class TestCsv:
    def test_each_call_is_a_row(self, tmp_path):
        metrics = ["RR", "ndcg(gain=linear,ideal=gold)@5"]
        evaluator = RankgaugeEvaluator(QUERIES, CORPUS, {"q1": {"d1"}, "q2": {"d2"}}, metrics, name="dev")
        evaluator(bag_of_words(), str(tmp_path / "eval"))
        scores = evaluator(bag_of_words(), str(tmp_path / "eval"), 1, 50)
        with (tmp_path / "eval" / "rankgauge_evaluation_dev_results.csv").open(newline="") as file:
            header, first, second = csv.reader(file)
        assert header == ["epoch", "steps", "cosine-rr", "cosine-ndcg(ideal=gold)@5"]
        assert first == ["-1", "-1", *map(str, scores.values())]
        assert second == ["1", "50", *map(str, scores.values())]

    def test_a_file_with_other_columns_is_left_alone(self, tmp_path, caplog):
        (tmp_path / "rankgauge_evaluation_results.csv").write_text("epoch,steps,cosine-mrr@10\n")
        evaluator = RankgaugeEvaluator(QUERIES, CORPUS, {"q1": {"d1"}}, "RR")
        assert evaluator(bag_of_words(), str(tmp_path)) == {"cosine_rr": 1.0}
        assert (tmp_path / "rankgauge_evaluation_results.csv").read_text() == "epoch,steps,cosine-mrr@10\n"
        assert "has other columns, so nothing is added to it; give another name=" in caplog.text

    def test_none_is_written_where_it_is_not_wanted(self, tmp_path):
        RankgaugeEvaluator(QUERIES, CORPUS, {"q1": {"d1"}}, "RR", write_csv=False)(bag_of_words(), str(tmp_path))
        assert list(tmp_path.iterdir()) == []


def test_a_training_loop_calls_it(tmp_path):
    """It chooses the best epoch by the primary metric."""
    model = bag_of_words(FRUIT, Dense(3, 3, bias=False))
    evaluator = RankgaugeEvaluator(QUERIES, CORPUS, {"q1": {"d1"}, "q2": {"d4"}}, ["RR", "hit@1"], name="dev")
    arguments = SentenceTransformerTrainingArguments(
        output_dir=str(tmp_path),
        num_train_epochs=2,
        per_device_train_batch_size=2,
        eval_strategy="epoch",
        save_strategy="epoch",
        load_best_model_at_end=True,
        metric_for_best_model="eval_dev_cosine_rr",
        report_to=[],
        use_cpu=True,
        disable_tqdm=True,
    )
    pairs = Dataset.from_dict({"anchor": ["apple", "plum"], "positive": ["apple pear", "plum"]})
    trainer = SentenceTransformerTrainer(
        model=model,
        args=arguments,
        train_dataset=pairs,
        loss=MultipleNegativesRankingLoss(model),
        evaluator=SequentialEvaluator([evaluator]),
    )
    trainer.train()
    rows = (tmp_path / "eval" / "rankgauge_evaluation_dev_results.csv").read_text().splitlines()
    assert [row.split(",")[0] for row in rows] == ["epoch", "1.0", "2.0"]
    assert trainer.state.best_metric == max(float(row.split(",")[2]) for row in rows[1:])


class TestMistakes:
    """They show before a model is trained."""

    def test_an_unknown_metric(self):
        with pytest.raises(PlanError, match="ndgc"):
            RankgaugeEvaluator(QUERIES, CORPUS, {"q1": {"d1"}}, "ndgc@10")

    def test_a_metric_of_texts(self):
        with pytest.raises(PlanError, match="containment"):
            RankgaugeEvaluator(QUERIES, CORPUS, {"q1": {"d1"}}, "containment@10")

    def test_a_cutoff_below_what_is_retrieved(self):
        with pytest.raises(ParameterError, match="metrics look at 3 results, and top_k=2 are retrieved; give top_k=3"):
            RankgaugeEvaluator(QUERIES, CORPUS, {"q1": {"d1"}}, ["hit@1", "ndcg@3"], top_k=2)

    def test_no_relevant_document(self):
        with pytest.raises(NothingToEvaluateError, match="names a document for none of the queries"):
            RankgaugeEvaluator(QUERIES, CORPUS, {"q9": {"d1"}, "q1": set()}, "RR")

    def test_ids_that_are_no_texts(self):
        with pytest.raises(DataError, match="ids are strings"):
            RankgaugeEvaluator({1: "apple"}, {2: "apple"}, {1: {2}}, "RR")
