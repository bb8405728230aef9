"""The suite: plain JSON in, scores out, and every mistake when it is made."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import rankgauge_hosts.suite
from rankgauge import SampleScore
from rankgauge.errors import DataError, ParameterError, RankgaugeError, SampleRefusedError
from rankgauge_hosts import Suite, explanation

PROJECT = tomllib.loads((Path(__file__).parent.parent.parent / "pyproject.toml").read_text(encoding="utf-8"))
HOSTS = {"inspect", "deepeval", "haystack", "mlflow", "ragas"}

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
    suite = Suite(metrics=["ndcg@10", {"metric": "recall", "k": [1, 2]}], k=3)
    scores = suite.score(expected={"a": 3, "b": 1}, retrieved=["x", "a"])
    # dcg 3 / log2(3) over 3 + 1 / log2(3)
    assert values(scores) == {"ndcg@10": pytest.approx(1.8927892607 / 3.6309297536), "recall@1": 0.0, "recall@2": 0.5}
    assert scores["ndcg@10"].details["k"] == 10


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda suite: pickle.loads(pickle.dumps(suite))])
def test_a_suite_is_nothing_but_its_arguments(copied):
    """Also when it has scored before."""
    suite = Suite(metrics={"metric": "ndcg", "k": [5]}, policy={"no_gold": "zero"}, matchers={"passages": "exact"})
    suite.score(expected=["a"], retrieved=["a"])
    again = copied(suite)
    assert again == suite
    assert vars(again) == vars(suite)
    assert values(again.score(expected=["a"], retrieved=["x", "a"])) == {"ndcg@5": pytest.approx(0.6309297536)}


def test_a_suite_made_again_is_not_planned_again(monkeypatch):
    first = Suite(metrics="ndcg@7", k=7)
    monkeypatch.setattr(rankgauge_hosts.suite, "Engine", None)
    assert Suite(metrics="ndcg@7", k=7).columns == first.columns


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({}, "no metrics given"),
        ({"metrics": []}, "no metrics given"),
        ({"metrics": "ndgc@10"}, "unknown metric 'ndgc'; did you mean 'ndcg'"),
        ({"metrics": ["ndcg@10", "P"]}, "'P' needs a cutoff"),
        ({"metrics": "ndcg(gain=cubic)@10"}, "cubic"),
        ({"metrics": "ERR@5"}, "infers max_grade"),
        ({"metrics": "recall(matcher=fuzy-chunk)@5"}, "fuzy-chunk"),
        ({"metrics": 5}, "metrics is an expression such as 'ndcg@10'"),
        ({"metrics": [lambda ranking: 1.0]}, r"metrics\[0\] must be plain JSON"),
        ({"metrics": [{"metric": "ndcg", "k": {5}}]}, r"metrics\[0\]\['k'\] must be plain JSON"),
        ({"metrics": "ndcg@10", "k": 0}, "an integer of 1 or more, not 0"),
        ({"metrics": "ndcg@10", "k": "5"}, "k is an integer of 1 or more, not '5'"),
        ({"metrics": "ndcg@10", "profile": "haystak"}, "unknown profile 'haystak'; did you mean 'haystack'"),
        ({"metrics": "ndcg@10", "policy": {"duplicate": "first"}}, "did you mean 'duplicates'"),
        ({"metrics": "ndcg@10", "policy": "first"}, "policy is a mapping"),
        ({"metrics": "ndcg@10", "matchers": {"relevant": "exact"}}, "not 'relevant'"),
        ({"config": "nowhere.yaml"}, "nowhere.yaml"),
    ],
)
def test_a_mistake_surfaces_when_the_suite_is_made(arguments, told):
    with pytest.raises(RankgaugeError, match=told):
        Suite(**arguments)


def test_one_score_at_a_time_needs_one_metric():
    suite = Suite(metrics="recall@1,5")
    with pytest.raises(ParameterError, match="makes 2: recall@1, recall@5"):
        _ = suite.column


def test_a_config_gives_what_arguments_do_not_say(tmp_path):
    path = tmp_path / "rankgauge.yaml"
    path.write_text(CONFIG)
    sample = {"expected": ["a", "b"], "retrieved": ["a", "b"]}
    assert values(Suite(config=str(path)).score(**sample)) == {"retrieval-recall-at-k": 0.5}
    assert values(Suite(config=str(path), k=2).score(**sample)) == {"retrieval-recall-at-k": 1.0}
    assert values(Suite(config=str(path), metrics="P@4").score(**sample)) == {"p@4": 0.5}
    assert Suite(config=str(path), metrics="P@4").score_only(expected=[], retrieved=["a"]).value == 0.0
    named = Suite(config=str(path), metrics="P@4", profile="default")
    assert named.score_only(expected=[], retrieved=["a"]).value == 0.0, "the config's own options stay, as in `run`"
    undefined = Suite(config=str(path), metrics="P@4", policy={"no_gold": "undefined"})
    assert undefined.score_only(expected=[], retrieved=["a"]).value is None


def test_a_config_is_found_from_where_the_process_stands_and_read_again_when_edited(tmp_path, monkeypatch):
    for name, k in (("one", 1), ("two", 2)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "rankgauge.yaml").write_text(CONFIG.replace("default_k: 1", f"default_k: {k}"))
    sample = {"expected": ["a", "b"], "retrieved": ["a", "b"]}
    monkeypatch.chdir(tmp_path / "one")
    suite = Suite(config="rankgauge.yaml")
    assert suite.score_only(**sample).value == 0.5
    monkeypatch.chdir(tmp_path / "two")
    assert suite.score_only(**sample).value == 1.0
    (tmp_path / "two" / "rankgauge.yaml").write_text(CONFIG.replace("use: [", "use: [P@4] # "))
    assert suite.columns[0].name == "p@4"


@pytest.mark.parametrize(
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
    score = Suite(metrics="recall@5", policy=policy).score_only(**sample)
    assert (score.value, score.status) == (value, status)
    assert bool(score.reason) == (status != "scored")


def test_of_the_metadata_only_what_rankgauge_knows_is_read():
    suite = Suite(metrics="retrieval-recall-at-k", k=5)
    about = {"k": 1, "tags": 3, "author": object()}
    assert suite.score_only(expected=["a"], retrieved=["x", "a"], metadata=about).value == 0.0
    with pytest.raises(DataError, match=r"sample 'q7': k must be an integer of 1 or more, not 'three'"):
        suite.score(expected=["a"], retrieved=["a"], metadata={"k": "three"}, sample_id="q7")


def test_an_answer_alone_is_no_ranking():
    suite = Suite(metrics=["recall@5", "answer-exact-match"])
    scores = suite.score(expected={"relevant": ["a"], "answer": "yes"}, answer="yes")
    assert {name: score.status for name, score in scores.items()} == {
        "recall@5": "missing",
        "answer-exact-match": "scored",
    }
    assert scores["answer-exact-match"].value == 1.0


@pytest.mark.parametrize(
    "retrieved", [["a"], {"retrieved": ["a"]}, '["a"]', '{"retrieved": ["a"]}', {"retrieved": ["a"], "answer": "yes"}]
)
def test_an_answer_that_stands_apart_joins_what_was_retrieved(retrieved):
    suite = Suite(metrics=["recall@5", "answer-exact-match"])
    scores = suite.score(expected={"relevant": ["a"], "answer": "yes"}, retrieved=retrieved, answer="yes")
    assert values(scores) == {"recall@5": 1.0, "answer-exact-match": 1.0}


def test_an_output_that_is_no_json_fails_with_an_answer_as_without():
    suite = Suite(metrics="recall@5")
    assert suite.score_only(expected=["a"], retrieved="[a", answer="yes").status == "failed"
    assert suite.score_only(expected=["a"], retrieved="[a").status == "failed"


def test_ground_truth_that_cannot_be_read_is_an_error_and_no_score():
    with pytest.raises(DataError, match="sample 'q7': the field is null"):
        Suite(metrics="recall@5").score(expected=None, retrieved=["a"], sample_id="q7")


def test_the_policy_can_refuse_a_sample():
    with pytest.raises(SampleRefusedError, match="missing_output=error"):
        Suite(metrics="recall@5", policy={"missing_output": "error"}).score(expected=["a"])


def test_a_suite_is_used_by_many_threads_at_once():
    """Hosts score in threads, and matchers remember texts."""
    suite = Suite(metrics=["recall(matcher=fuzzy-chunk)@5", "answer-containment-at-k"])
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
        found = list(pool.map(lambda sample: values(suite.score(**sample)), samples))
    assert found == [values(suite.score(**sample)) for sample in samples]
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
    assert explanation("x", score) == told


def test_importing_the_package_imports_no_host():
    script = "import sys, rankgauge_hosts, rankgauge_hosts.promptfoo; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    loaded = {name.split(".")[0] for name in done.stdout.split()}
    assert loaded & {"inspect_ai", "deepeval", "haystack", "mlflow", "ragas"} == set()


def test_every_host_has_an_extra_and_a_test_root():
    extras = set(PROJECT["project"]["optional-dependencies"]) - {"test"}
    roots = {path.name.removeprefix("on_") for path in Path(__file__).parent.parent.glob("on_*")}
    assert extras == HOSTS
    assert roots == HOSTS | {"promptfoo", "pytest"}


def test_the_entry_point_is_called_as_the_package_is():
    """Otherwise inspect_ai does not find its scorers."""
    assert PROJECT["project"]["entry-points"]["inspect_ai"] == {"rankgauge_hosts": "rankgauge_hosts.inspect_ai"}
