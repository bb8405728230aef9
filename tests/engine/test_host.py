"""Scoring inside other harnesses: plain JSON in, scores out, and every mistake when the scorer is made."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import rankgauge.engine.host
from draws import in_thorough_suite
from rankgauge import Engine, HostScorer, __version__
from rankgauge.engine.host import SampleScore
from rankgauge.errors import DataError, ParameterError, RankgaugeError, SampleRefusedError
from tables import rows

CONFIG = """
version: 1
metrics:
  retrieval: {default_k: 1}
  use: [retrieval-recall-at-k]
policy: {no_gold: zero}
"""


def values(scores):
    return {name: score.value for name, score in scores.items()}


def test_a_sample_is_scored_by_every_metric():
    scorer = HostScorer(metrics=["ndcg@10", {"metric": "recall", "k": [1, 2]}], k=3)
    scores = scorer.score(expected={"a": 3, "b": 1}, retrieved=["x", "a"])
    # dcg 3 / log2(3) over 3 + 1 / log2(3)
    assert values(scores) == {"ndcg@10": pytest.approx(1.8927892607 / 3.6309297536), "recall@1": 0.0, "recall@2": 0.5}
    assert scores["ndcg@10"].details["k"] == 10


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda scorer: pickle.loads(pickle.dumps(scorer))])  # noqa: S301  # our own
def test_a_scorer_is_nothing_but_its_arguments(copied):
    """Also when it has scored before."""
    scorer = HostScorer(
        metrics={"metric": "ndcg", "k": [5]}, policy={"no_gold": "zero"}, matchers={"passages": "exact"}
    )
    scorer.score(expected=["a"], retrieved=["a"])
    again = copied(scorer)
    assert again == scorer
    assert vars(again) == vars(scorer)
    assert values(again.score(expected=["a"], retrieved=["x", "a"])) == {"ndcg@5": pytest.approx(0.6309297536)}


def test_a_scorer_made_again_is_not_planned_again(monkeypatch):
    first = HostScorer(metrics="ndcg@7", k=7)
    monkeypatch.setattr(rankgauge.engine.host, "Engine", None)
    assert HostScorer(metrics="ndcg@7", k=7).columns == first.columns


@rows(
    ("arguments", "told"),
    [
        ({}, "no metrics given"),
        ({"metrics": []}, "no metrics given"),
        ({"metrics": "ndgc@10"}, r"unknown metric 'ndgc' \(did you mean 'ndcg'"),
        ({"metrics": ["ndcg@10", "P"]}, "'P' needs a cutoff"),
        ({"metrics": "ndcg(gain=cubic)@10"}, "cubic"),
        ({"metrics": "ERR@5"}, "infers max_grade"),
        ({"metrics": "recall(matcher=fuzy-chunk)@5"}, "fuzy-chunk"),
        ({"metrics": 5}, "metrics is an expression such as 'ndcg@10'"),
        ({"metrics": [lambda ranking: 1.0]}, r"metrics\[0\] must be plain JSON"),
        ({"metrics": [{"metric": "ndcg", "k": {5}}]}, r"metrics\[0\]\['k'\] must be plain JSON"),
        ({"metrics": "ndcg@10", "k": 0}, "an integer of 1 or more, not 0"),
        ({"metrics": "ndcg@10", "k": "5"}, "k is an integer of 1 or more, not '5'"),
        ({"metrics": "ndcg@10", "profile": "haystak"}, r"unknown profile 'haystak' \(did you mean 'haystack'"),
        ({"metrics": "ndcg@10", "policy": {"duplicate": "first"}}, "did you mean 'duplicates'"),
        ({"metrics": "ndcg@10", "policy": "first"}, "policy is a mapping"),
        ({"metrics": "ndcg@10", "matchers": {"relevant": "exact"}}, "not 'relevant'"),
        ({"config": "nowhere.yaml"}, "nowhere.yaml"),
    ],
)
def test_a_mistake_surfaces_when_the_scorer_is_made(arguments, told):
    with pytest.raises(RankgaugeError, match=told):
        HostScorer(**arguments)


def test_one_score_at_a_time_needs_one_metric():
    scorer = HostScorer(metrics="recall@1,5")
    with pytest.raises(ParameterError, match="makes 2: recall@1, recall@5"):
        _ = scorer.column


def test_a_config_gives_what_arguments_do_not_say(tmp_path):
    path = tmp_path / "rankgauge.yaml"
    path.write_text(CONFIG)
    sample = {"expected": ["a", "b"], "retrieved": ["a", "b"]}
    assert values(HostScorer(config=str(path)).score(**sample)) == {"retrieval-recall-at-k": 0.5}
    assert values(HostScorer(config=str(path), k=2).score(**sample)) == {"retrieval-recall-at-k": 1.0}
    assert values(HostScorer(config=str(path), metrics="P@4").score(**sample)) == {"p@4": 0.5}
    assert HostScorer(config=str(path), metrics="P@4").score_only(expected=[], retrieved=["a"]).value == 0.0
    named = HostScorer(config=str(path), metrics="P@4", profile="default")
    assert named.score_only(expected=[], retrieved=["a"]).value == 0.0, "the config's own options stay, as in `run`"
    undefined = HostScorer(config=str(path), metrics="P@4", policy={"no_gold": "undefined"})
    assert undefined.score_only(expected=[], retrieved=["a"]).value is None


def test_a_config_is_found_from_where_the_process_stands_and_read_again_when_edited(tmp_path, monkeypatch):
    for name, k in (("one", 1), ("two", 2)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "rankgauge.yaml").write_text(CONFIG.replace("default_k: 1", f"default_k: {k}"))
    sample = {"expected": ["a", "b"], "retrieved": ["a", "b"]}
    monkeypatch.chdir(tmp_path / "one")
    scorer = HostScorer(config="rankgauge.yaml")
    assert scorer.score_only(**sample).value == 0.5
    monkeypatch.chdir(tmp_path / "two")
    assert scorer.score_only(**sample).value == 1.0
    (tmp_path / "two" / "rankgauge.yaml").write_text(CONFIG.replace("use: [", "use: [P@4] # "))
    assert scorer.columns[0].name == "p@4"


@rows(
    ("sample", "policy", "value", "status"),
    [
        ({"expected": ["a"], "retrieved": ["a"]}, {}, 1.0, "scored"),
        ({"expected": ["a"], "retrieved": []}, {}, 0.0, "scored"),
        ({"expected": ["a"]}, {}, 0.0, "missing"),
        ({"expected": ["a"]}, {"missing_output": "exclude"}, None, "missing"),
        ({"expected": ["a"], "retrieved": 7}, {}, 0.0, "failed"),
        ({"expected": ["a"], "retrieved": 7}, {"failed_output": "exclude"}, None, "failed"),
        ({"expected": [], "retrieved": ["a"]}, {}, None, "undefined"),
        ({"expected": [], "retrieved": ["a"]}, {"no_gold": "zero"}, 0.0, "undefined"),
        ({"expected": ["a"], "retrieved": ["a"], "metadata": {"answerable": False}}, {}, None, "undefined"),
    ],
)
def test_what_counts_is_what_the_policy_says(sample, policy, value, status):
    score = HostScorer(metrics="recall@5", policy=policy).score_only(**sample)
    assert (score.value, score.status) == (value, status)
    assert bool(score.reason) == (status != "scored")


def test_of_the_metadata_only_what_rankgauge_knows_is_read():
    scorer = HostScorer(metrics="retrieval-recall-at-k", k=5)
    about = {"k": 1, "tags": 3, "author": object()}
    assert scorer.score_only(expected=["a"], retrieved=["x", "a"], metadata=about).value == 0.0
    with pytest.raises(DataError, match=r"sample 'q7': k must be an integer of 1 or more, not 'three'"):
        scorer.score(expected=["a"], retrieved=["a"], metadata={"k": "three"}, sample_id="q7")


def test_when_it_was_asked_is_read_by_metrics_that_need_it():
    gold = [{"id": "a", "valid_to": "2024-01-01"}, {"id": "b", "valid_to": "2025-01-01"}]
    sample = {"expected": gold, "retrieved": ["a", "b"]}
    assert HostScorer(metrics="stale@2").score_only(**sample, metadata={"asked_at": "2024-05-01"}).value == 0.5
    assert HostScorer(metrics="hit@2").score_only(**sample, metadata={"asked_at": "in spring"}).value == 1.0


def test_an_answer_alone_is_no_ranking():
    scorer = HostScorer(metrics=["recall@5", "answer-exact-match"])
    scores = scorer.score(expected={"relevant": ["a"], "answer": "yes"}, answer="yes")
    assert {name: score.status for name, score in scores.items()} == {
        "recall@5": "missing",
        "answer-exact-match": "scored",
    }
    assert scores["answer-exact-match"].value == 1.0


@pytest.mark.parametrize(
    "retrieved", [["a"], {"retrieved": ["a"]}, '["a"]', '{"retrieved": ["a"]}', {"retrieved": ["a"], "answer": "yes"}]
)
def test_an_answer_that_stands_apart_joins_what_was_retrieved(retrieved):
    scorer = HostScorer(metrics=["recall@5", "answer-exact-match"])
    scores = scorer.score(expected={"relevant": ["a"], "answer": "yes"}, retrieved=retrieved, answer="yes")
    assert values(scores) == {"recall@5": 1.0, "answer-exact-match": 1.0}


def test_an_output_that_is_no_json_fails_with_an_answer_as_without():
    scorer = HostScorer(metrics="recall@5")
    assert scorer.score_only(expected=["a"], retrieved="[a", answer="yes").status == "failed"
    assert scorer.score_only(expected=["a"], retrieved="[a").status == "failed"


def test_ground_truth_that_cannot_be_read_is_an_error_and_no_score():
    with pytest.raises(DataError, match="sample 'q7': the field is null"):
        HostScorer(metrics="recall@5").score(expected=None, retrieved=["a"], sample_id="q7")


def test_the_policy_can_refuse_a_sample():
    with pytest.raises(SampleRefusedError, match="missing_output=error"):
        HostScorer(metrics="recall@5", policy={"missing_output": "error"}).score(expected=["a"])


@in_thorough_suite()
def test_a_scorer_is_used_by_many_threads_at_once():
    """Hosts score in threads, and matchers remember texts."""
    scorer = HostScorer(metrics=["recall(matcher=fuzzy-chunk)@5", "answer-containment-at-k"])
    samples = [
        {
            "expected": {
                "passages": [f"The lighthouse number {place} is {place} metres tall."],
                "answer": f"{place} metres",
            },
            "retrieved": [{"text": f"number {place + shift} is {place + shift} metres tall"} for shift in (1, 0)],
        }
        for place in range(100, 300)
    ]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda sample: values(scorer.score(**sample)), samples))
    assert found == [values(scorer.score(**sample)) for sample in samples]
    assert all(scores["answer-containment-at-k"] == 1.0 for scores in found)


@pytest.mark.parametrize(
    ("score", "told"),
    [
        (SampleScore(0.44710, "scored", "", {"k": 10, "dcg": 2.25, "relevant": ["a"]}), "x is 0.4471 (k 10, dcg 2.25)"),
        (SampleScore(1.0, "scored"), "x is 1"),
        (SampleScore(0.0, "failed", "no JSON"), "x is failed, 0 counts: no JSON"),
        (SampleScore(None, "undefined", "no gold"), "x is undefined, nothing counts: no gold"),
    ],
)
def test_an_explanation_says_why_and_what_counts(score, told):
    assert score.described("x") == told


def test_a_column_says_by_whom_and_how_it_is_computed():
    scorer = HostScorer(metrics={"metric": "ndcg@10", "gain": "exponential"}, profile="haystack")
    (planned,) = (
        Engine().dataset([]).with_metrics(["ndcg(gain=exponential)@10"]).with_profile("haystack").plan().metrics
    )
    assert scorer.column.provenance == {
        "rankgauge": __version__,
        "metric": "retrieval-ndcg-at-k(gain=exponential, ideal=gold)@10",
        "provider": f"rankgauge {__version__}",
        "fingerprint": planned.fingerprint,
        "profile": "haystack",
    }


def test_many_scores_become_one_number_as_in_the_engine():
    assert HostScorer(metrics="recall@5").aggregated([1.0, None, 0.0, 0.5]) == 0.5
    assert HostScorer(metrics="num_rel").aggregated([1.0, None, 3.0]) == 4.0  # a count is added up
    assert HostScorer(metrics="recall@5").aggregated([None]) is None
    with pytest.raises(ParameterError, match="makes 2"):
        HostScorer(metrics="recall@1,5").aggregated([1.0])


class TestPasses:
    """What hosts with a verdict ask: a bound on one sample, which undefined, missing and failed ones do not keep."""

    def verdict(self, expected, retrieved, bound, metric="recall@5", **options):
        scorer = HostScorer(metrics=metric, **options)
        return scorer.passes(scorer.score_only(expected=expected, retrieved=retrieved), bound)

    @pytest.mark.parametrize(("bound", "passes"), [(None, True), (0.5, True), (0.51, False)])
    def test_a_score_is_held_to_the_bound(self, bound, passes):
        assert self.verdict(["a", "b"], ["a"], bound) is passes

    def test_where_less_is_better_it_is_the_highest_that_passes(self):
        assert self.verdict(["a"], ["x", "a"], 2, "first_rank") is True
        assert self.verdict(["a"], ["x", "a"], 1, "first_rank") is False

    @pytest.mark.parametrize("bound", [None, 0.0])
    @pytest.mark.parametrize(("expected", "retrieved"), [([], ["a"]), (["a"], None), (["a"], 5)])
    def test_undefined_missing_and_failed_never_pass(self, expected, retrieved, bound):
        assert self.verdict(expected, retrieved, bound) is False
        allowed = self.verdict(expected, retrieved, bound, policy={"max_failed": 1})
        assert allowed is bool(expected)
        assert self.verdict(expected, retrieved, bound, policy={"missing_output": "exclude", "max_failed": 1}) is (
            retrieved == 5
        )

    def test_several_columns_are_named(self):
        scorer = HostScorer(metrics=["recall@1,5"])
        score = scorer.score(expected=["a"], retrieved=["x", "a"])["recall@5"]
        assert scorer.passes(score, 1.0, column="recall@5") is True
        with pytest.raises(ParameterError, match=r"there is no column 'recall@6' \(did you mean"):
            scorer.passes(score, 1.0, column="recall@6")


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ({"metadata": 5}, "metadata, sample 'q7': expected an object, found the integer 5"),
        ({"metadata": "k"}, "metadata, sample 'q7': expected an object, found the string 'k'"),
        ({"metadata": ["k"]}, r"metadata, sample 'q7': expected an object, found the list \['k'\]"),
        ({"metadata": []}, r"metadata, sample 'q7': expected an object, found the list \[\]"),
        ({"metadata": 0}, "metadata, sample 'q7': expected an object, found the integer 0"),
        ({"sample_id": None}, "the id is null"),
        ({"sample_id": ["q7"]}, r"an id must be a string or an integer, not the list \['q7'\]"),
        ({"expected": object()}, "ground truth is a list of ids, a map id -> gain"),
    ],
)
def test_an_argument_of_another_type_is_an_error_of_ours(argument, message):
    scorer = HostScorer(metrics="ndcg@10")
    with pytest.raises(DataError, match=message):
        scorer.score_only(**{"expected": ["d1"], "retrieved": ["d1"], "sample_id": "q7", **argument})


@pytest.mark.parametrize("output", [5, object(), {"retrieved": 5}, "no JSON"])
def test_an_output_of_another_type_is_a_failed_score_with_its_reason(output):
    score = HostScorer(metrics="ndcg@10").score_only(expected=["d1"], retrieved=output)
    assert (score.value, score.status) == (0.0, "failed")
    assert score.reason


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (5, "values are many numbers, such as .*, not 5"),
        (None, "values are many numbers, such as .*, not None"),
        ([1.0, "0.5"], r"values\[1\] is a number or None, not '0.5'"),
        ("12", r"values\[0\] is a number or None, not '1'"),
        ([[1.0]], r"values\[0\] is a number or None, not \[1.0\]"),
    ],
)
def test_only_numbers_are_aggregated(values, message):
    with pytest.raises(ParameterError, match=message):
        HostScorer(metrics="mrr").aggregated(values)


def test_numbers_of_numpy_are_aggregated():
    assert HostScorer(metrics="mrr").aggregated([np.float32(0.5), None, np.float64(1), np.int64(0)]) == 0.5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"score": 0.5}, "score is a SampleScore, as `HostScorer.score` returns them, not 0.5"),
        ({"bound": "0.5"}, "bound is a number or None, not '0.5'"),
        ({"bound": [1]}, r"bound is a number or None, not \[1\]"),
        ({"column": 5}, "column is the name of a column, not 5"),
        ({"column": ["mrr"]}, r"column is the name of a column, not \['mrr'\]"),
        ({"column": "mr"}, r"there is no column 'mr' \(did you mean 'mrr'\?\)"),
    ],
)
def test_what_passes_is_asked_with_a_score_a_number_and_a_name(arguments, message):
    with pytest.raises(ParameterError, match=message):
        HostScorer(metrics="mrr").passes(**{"score": SampleScore(1.0, "scored"), **arguments})
