"""Samples on Spark: the bits of one machine, also where texts are judged; and every way to be wrong."""

import random

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed here; `make test-spark` has it")

import rankgauge_spark
from rankgauge import Engine
from rankgauge.errors import DataError, MissingGoldError, PlanError, ResultError, SampleRefusedError

METRICS = ["recall@3", "ndcg@5", "MRR", "answer-containment-at-k", "retrieval-recall-at-k(matcher=fuzzy-chunk)"]
WORDS = ["pier", "boat", "net", "tide", "lamp", "rope"]
SCHEMA = (
    "id string, input string, "
    "expected_output struct<passages: array<string>, answer: string>, "
    "actual_output struct<retrieved: array<struct<id: string, text: string>>, answer: string>, "
    "metadata struct<k: int, tags: array<string>, answerable: boolean>"
)


def samples(count=60):
    chance = random.Random(9)

    def text(length=6):
        return " ".join(chance.choice(WORDS) for _ in range(length))

    rows = []
    for number in range(count):
        gold = [text(), text()]
        found = [text() for _ in range(5)] + [gold[0]]
        chance.shuffle(found)
        row = {
            "id": f"s{number}",
            "input": text(),
            "expected_output": {"passages": gold, "answer": chance.choice(WORDS)},
            "metadata": {"tags": [chance.choice("ab")]},
        }
        if number % 7:
            row["actual_output"] = {"retrieved": [{"id": f"d{at}", "text": each} for at, each in enumerate(found)]}
        if number % 5 == 0:
            row["metadata"]["k"] = 2
        if number % 11 == 3:
            row["metadata"]["answerable"] = False
        rows.append(row)
    return rows


def sorted_bits(bits_of, result):
    return bits_of(result.take(sorted(range(len(result)), key=result.sample_ids.__getitem__)))


@pytest.mark.parametrize("partitions", [1, 3, 7])
def test_the_bits_of_one_machine(spark, bits_of, partitions):
    rows = samples()
    one = Engine().dataset(rows).with_metrics(METRICS).run()
    df = spark.createDataFrame(rows, SCHEMA)
    found = rankgauge_spark.evaluate_samples(df, METRICS, partitions=partitions)
    assert bits_of(found) == sorted_bits(bits_of, one)
    assert found.notes == one.notes
    assert 0 < found["recall@3"].mean < 1
    assert sorted(found.by_tag()) == ["a", "b"]


def test_a_map_of_gains_and_a_list_of_ids(spark):
    """Gains 2 and 1; the first result has gain 1, so that DCG@1 is 1 of 2."""
    df = spark.createDataFrame(
        [("s1", {"a": 2.0, "b": 1.0}, ["b", "x"]), ("s2", {"c": 1.0}, None)],
        "id string, expected_output map<string, double>, actual_output array<string>",
    )
    result = rankgauge_spark.evaluate_samples(df, ["ndcg@1", "recall@2"])
    assert result["ndcg@1"].values.tolist() == [1 / 2, 0.0]
    assert result["recall@2"].values.tolist() == [1 / 2, 0.0]
    assert [result["ndcg@1"].status(place) for place in (0, 1)] == ["scored", "missing"]


def test_ground_truth_of_two_kinds_is_judged_alike_everywhere(spark, bits_of):
    """Passages count only where no sample has ids, and the partition with passages cannot know of the other one."""
    rows = [
        {"id": f"s{number}", "expected_output": gold, "actual_output": [{"id": "d", "text": "pier"}]}
        for number, gold in enumerate([{"passages": ["pier"]}] * 4 + [{"relevant": ["d"]}])
    ]
    schema = (
        "id string, expected_output struct<passages: array<string>, relevant: array<string>>, "
        "actual_output array<struct<id: string, text: string>>"
    )
    df = spark.createDataFrame(rows, schema).repartition(5, "id")
    found = rankgauge_spark.evaluate_samples(df, ["recall@3"])
    assert bits_of(found) == bits_of(Engine().dataset(rows).with_metrics(["recall@3"]).run())
    assert found["recall@3"].n_undefined == 4


def test_options_go_along(spark):
    rows = [("s1", ["Pier 7"], ["pier 7"], "de"), ("s2", ["Pier 8"], ["boat"], "en")]
    df = spark.createDataFrame(rows, "qid string, gold array<string>, contexts array<string>, lang string")
    df = df.selectExpr("qid", "struct(gold as passages) as gold", "contexts", "struct(lang) as metadata")
    result = rankgauge_spark.evaluate_samples(
        df,
        ["retrieval-recall-at-k"],
        k=1,
        matchers={"passages": "folded"},
        fields={"id": "qid", "expected_output": "gold", "retrieved": {"path": "contexts", "strings": "text"}},
        cohorts=["metadata.lang"],
    )
    assert result["retrieval-recall-at-k"].values.tolist() == [1.0, 0.0]
    assert result["retrieval-recall-at-k"].k == 1
    assert sorted(result.by_tag()) == ["lang=de", "lang=en"]


class TestRefused:
    def test_missing_columns_before_any_job(self, spark):
        df = spark.createDataFrame([("s1", ["a"])], "id string, expected_outputs array<string>")
        with pytest.raises(DataError, match=r"no column 'expected_output'.*did you mean 'expected_outputs'"):
            rankgauge_spark.evaluate_samples(df, ["recall@3"])
        with pytest.raises(PlanError, match="recal"):
            rankgauge_spark.evaluate_samples(df.withColumnRenamed("expected_outputs", "expected_output"), ["recal@3"])

    def test_every_sample_that_cannot_be_read(self, spark):
        df = spark.createDataFrame(
            [("s1", [""]), ("s2", ["a"]), (None, ["a"]), ("s4", [""])], "id string, expected_output array<string>"
        )
        with pytest.raises(DataError) as caught:
            rankgauge_spark.evaluate_samples(df.repartition(1), ["recall@3"])
        told = [(problem.sample, problem.path) for problem in caught.value.problems]
        assert len(told) == 3
        assert {sample for sample, _ in told} >= {"s1", "s4"}
        assert not any("samples[" in path for _, path in told)

    def test_an_id_that_comes_twice(self, spark):
        df = spark.createDataFrame([("s1", ["a"]), ("s1", ["b"])], "id string, expected_output array<string>")
        with pytest.raises(ResultError, match="'s1' is in two shards"):
            rankgauge_spark.evaluate_samples(df, ["recall@3"])
        with pytest.raises(DataError, match=r"sample 's1': duplicate sample id 's1'; ids must be unique$"):
            rankgauge_spark.evaluate_samples(df.coalesce(1), ["recall@3"])

    def test_ground_truth_that_no_sample_has(self, spark):
        df = spark.createDataFrame([("s1", ["a"])], "id string, expected_output array<string>")
        with pytest.raises(MissingGoldError, match="keyword-coverage"):
            rankgauge_spark.evaluate_samples(df, ["keyword-coverage-at-k"])

    def test_what_the_policy_refuses(self, spark):
        df = spark.createDataFrame([("s1", ["a"])], "id string, expected_output array<string>")
        with pytest.raises(SampleRefusedError, match="missing_output=error"):
            rankgauge_spark.evaluate_samples(df, ["recall@3"], policy={"missing_output": "error"})
