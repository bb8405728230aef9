"""Queries without judgments, ``{"q2": {}}``, are no topics: left out wherever judgments are mappings, with a remark."""

import json

import pytest

import rankgauge
from rankgauge import evaluate
from rankgauge.errors import DataError
from rankgauge.io.open_sources import open_qrels
from rankgauge.scale import ShardedRun

QRELS = {"q1": {"a": 1}, "q2": {}, "q3": {}}
INTENTS = {"q1": {"a": {"1": 1}}, "q2": {}, "q3": {}}
RUN = {"q1": {"a": 1.0}, "q2": {"a": 1.0}}
LEFT_OUT = "1 query of the run has no judgments and is left out"


@pytest.fixture(params=["dictionary", "file"])
def given(request, tmp_path):
    """Return a mapping as it is, or as a JSON file."""

    def write(mapping, name="qrels.json"):
        if request.param == "dictionary":
            return mapping
        (tmp_path / name).write_text(json.dumps(mapping))
        return tmp_path / name

    return write


@pytest.mark.parametrize("profile", ["trec9", "trec10", "default"])
@pytest.mark.parametrize("metrics", ["ndcg", ["ndcg", "alpha_ndcg@1"]])
def test_they_count_in_no_mean(given, profile, metrics):
    judgments = QRELS if metrics == "ndcg" else INTENTS
    result = evaluate(given(judgments), RUN, metrics, profile=profile)
    assert (result.sample_ids, result["ndcg"].mean, result.notes) == (("q1",), 1.0, (LEFT_OUT,))


def test_of_many_queries_they_are_left_out_as_of_few(given):
    some = {f"q{number}": {"a": 1} for number in range(300)}
    run = {query: {"a": 1.0} for query in (*some, "q-none")}
    result = evaluate(given({"q-none": {}} | some | {"q-other": {}}), run, "ndcg")
    assert (len(result.sample_ids), result["ndcg"].mean, result.notes) == (300, 1.0, (LEFT_OUT,))


def test_every_run_of_several_says_so(given):
    results = evaluate(given(QRELS), runs={"a": RUN, "b": {"q1": {"x": 1.0}}}, metrics="ndcg")
    assert [(result["ndcg"].mean, len(result.sample_ids)) for result in results.values()] == [(1.0, 1), (0.0, 1)]
    assert LEFT_OUT in results["a"].notes


def test_preflight_counts_them_as_queries_that_are_not_judged(given):
    checked = rankgauge.preflight(given(QRELS), RUN)
    assert checked.find("unjudged-queries").message == "1 of 2 queries of the run is not judged"
    assert not checked.find("missing-queries")


def test_a_comparison_pairs_judged_queries_only(given):
    comparison = rankgauge.compare(evaluate(given(QRELS), runs={"a": RUN, "b": RUN}, metrics="ndcg"))
    assert [pair["ndcg"].n for pair in comparison.comparisons] == [1]


def test_judgments_of_no_topic_at_all_are_an_error(given):
    with pytest.raises(DataError, match="there are no judgments"):
        evaluate(given({"q1": {}, "q2": {}}), RUN, "ndcg")


def test_the_fingerprint_is_that_of_what_is_judged(given):
    found = open_qrels(given(QRELS)).fingerprint
    assert found == open_qrels(given({"q1": {"a": 1}})).fingerprint


def test_an_empty_ranking_counts_as_0(given):
    result = evaluate({"q1": {"a": 1}, "q2": {"a": 1}}, given({"q1": {"a": 1.0}, "q2": {}}, "run.json"), "ndcg")
    assert (result["ndcg"].mean, len(result.sample_ids)) == (0.5, 2)


def test_a_list_is_no_empty_mapping(given):
    with pytest.raises(DataError, match="q2"):
        evaluate(given({"q1": {"a": 1}, "q2": []}), RUN, "ndcg")


def test_a_shard_whose_queries_are_not_judged():
    sharded = ShardedRun.plan("ndcg")
    parts = [sharded.shard({"q2": {}}, {"q2": {"a": 1.0}}), sharded.shard({"q1": {"a": 1}}, {"q1": {"a": 1.0}})]
    result = sharded.merge(parts)
    assert (result["ndcg"].mean, result.notes) == (1.0, (LEFT_OUT,))
