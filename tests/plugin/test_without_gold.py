"""Metrics that need no ground truth: declared with ``gold=()``, over samples that may have none."""

import json

import pytest

from draws import draws, in_thorough_suite
from rankgauge import Engine
from rankgauge.errors import DeclarationError, RankgaugeError
from rankgauge.plugin import Cutoff, metric, run_metric, sample_metric
from rankgauge.testing import check_metric


@sample_metric("list-length-at-k", gold=(), range=(0, None))
def length(ranking, *, k: Cutoff):
    """Number of results in the first k."""
    return float(min(ranking.depth, k))


@sample_metric("redundancy-at-k", gold=(), needs="texts", higher_is_better=False)
def redundancy(ranking, *, k: Cutoff):
    """Share of the first k texts that an earlier one repeats."""
    texts = ranking.seen.texts[:k]
    return 1 - len(set(texts)) / len(texts) if texts else None


@sample_metric("answer-length", gold=(), judges="answer", needs="answer", range=(0, None))
def answer_length(ranking):
    """Number of words of the answer."""
    return float(len(ranking.seen.answer.split()))


@run_metric("distinct-at-k", range=(0, None))
def distinct(rankings, *, k: Cutoff):
    """Number of different items that a run retrieved."""
    return float(len({item for ranking in rankings for item in ranking}))


BARE = [
    {"id": "a", "actual_output": {"retrieved": [{"id": "1", "text": "x"}, {"id": "2", "text": "x"}]}},
    {"id": "b", "actual_output": {"retrieved": [{"id": "1", "text": "x"}]}},
]


def values(result, name):
    column = result[name]
    return [(column.status(row), column.values[row].item()) for row in range(len(result.sample_ids))]


@pytest.mark.parametrize(
    ("given", "expected"),
    [(length, [2.0, 1.0]), (redundancy, [0.5, 0.0])],
)
def test_samples_need_no_ground_truth(given, expected):
    result = Engine().dataset(BARE).with_metrics([given]).run()
    (name,) = result.metrics
    assert values(result, name) == [("scored", value) for value in expected]
    evaluation = Engine().dataset([]).with_metrics([given])
    assert [evaluation.score(sample)[name].value for sample in BARE] == expected


def test_a_whole_run_needs_none_either():
    (column,) = Engine().dataset(BARE).with_metrics([distinct]).run().metrics.values()
    assert column.mean == 2


def test_an_answer_alone_is_enough():
    samples = [{"id": "a", "actual_output": {"answer": "in two thousand"}}, {"id": "b"}]
    result = Engine().dataset(samples).with_metrics([answer_length]).run()
    assert values(result, "answer-length")[0] == ("scored", 3.0)
    assert values(result, "answer-length")[1][0] == "missing"


def test_a_file_is_read_without_ground_truth_by_lines_and_workers(tmp_path):
    file = tmp_path / "bare.jsonl"
    file.write_text("".join(json.dumps(sample) + "\n" for sample in BARE))
    for workers in (1, 2):
        result = Engine().dataset(str(file)).with_metrics([length]).run(workers=workers)
        assert result["list-length-at-k"].mean == 1.5


def test_ground_truth_of_any_kind_changes_nothing():
    kinds = [["1"], {"passages": ["x"]}, {"answer": "x"}, [], {"relevant": {"9": 0}}]
    for gold in kinds:
        samples = [{**sample, "expected_output": gold} for sample in BARE]
        result = Engine().dataset(samples).with_metrics([length]).run()
        assert values(result, "list-length-at-k") == [("scored", 2.0), ("scored", 1.0)]


def test_missing_outputs_never_count_as_the_best_value():
    samples = [*BARE, {"id": "c"}]
    result = Engine().dataset(samples).with_metrics([redundancy]).run()
    assert values(result, "redundancy-at-k")[2] == ("missing", 1.0)


def test_beside_a_metric_that_needs_ground_truth_samples_need_some():
    with pytest.raises(RankgaugeError, match=r"expected_output, sample .a.: the field is missing"):
        Engine().dataset(BARE).with_metrics([length, "recall@5"]).run()


def test_a_run_is_described_and_relevance_cannot_be_asked_for():
    evaluation = Engine().dataset(BARE).with_metrics([length])
    assert "over      the retrieved items, without ground truth" in evaluation.plan().describe()

    @metric("lengths", gold=(), range=(0, None))
    def lengths(judged):
        """Number of results."""
        return judged.depth.astype(float)

    catalog = Engine().dataset(BARE).with_metrics([lengths]).run()
    assert [column.mean for column in catalog.metrics.values()] == [1.5]


@pytest.mark.parametrize("option", [{"matcher": "contains"}, {"defined": lambda judged: judged.depth > 0}])
def test_what_has_no_effect_is_refused(option):
    with pytest.raises(DeclarationError, match="needs no ground truth"):
        sample_metric("odd", gold=(), **option)(lambda ranking: 0.0)


@in_thorough_suite()
def test_the_laws_hold_and_find_one_that_reads_ground_truth():
    assert check_metric(length, cases=draws(20)).ok

    @sample_metric("hidden-hits", gold=(), range=(0, None), needs="ids")
    def hidden(ranking):
        """Number of judged results, which needs ground truth."""
        return float(sum(ranking.relevant))

    report = check_metric(hidden, cases=20)
    assert "gold=()" in str(report)
