"""Runs on Spark: the bits of one machine, whatever the partitions; and every way to be wrong."""

import os
import sys
from pathlib import Path

import polars as pl
import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed here; `make test-spark` has it")

import rankgauge
import rankgauge_spark
from rankgauge.catalog import Catalog
from rankgauge.errors import DataError, NothingToEvaluateError, PlanError, PolicyError, SampleRefusedError

METRICS = ["ndcg@10", "AP", "P@5", "RR", "bpref", "recall@100", "unjudged@5"]
TREC = Path(__file__).parents[3] / "configs" / "trec"


@pytest.mark.parametrize("broadcast", [10_000, 0], ids=["broadcast", "joined"])
@pytest.mark.parametrize("partitions", [1, 3, 7])
def test_the_bits_of_one_machine(data, qrels_df, run_df, bits_of, partitions, broadcast):
    one = rankgauge.evaluate(data.qrels, data.run, METRICS)
    found = rankgauge_spark.evaluate(qrels_df, run_df, METRICS, partitions=partitions, broadcast=broadcast)
    assert bits_of(one) == bits_of(found)
    assert one.notes == found.notes
    assert len(found.notes) == 3  # four queries without results, three that are not judged, and ties
    assert one.manifest["outputs"] == found.manifest["outputs"]
    assert one.gold_keys.tolist() == found.gold_keys.tolist()


@pytest.mark.parametrize("seed", [1, 2])
def test_rows_scattered_in_any_order(data, frame, bits_of, seed):
    one = rankgauge.evaluate(data.qrels, data.run, METRICS)
    qrels, run = (frame(each.sample(fraction=1.0, shuffle=True, seed=seed)) for each in (data.qrels, data.run))
    found = rankgauge_spark.evaluate(qrels, run.repartition(5), METRICS)
    assert bits_of(one) == bits_of(found)


@pytest.mark.parametrize("run", ["bm25", "char-ngram"])
def test_recorded_runs(spark, bits_of, run):
    """Read as Spark reads them: lines of text, split at white space."""
    from pyspark.sql import functions as F  # noqa: N812

    def lines(path, names):
        parts = F.split(F.col("value"), r"\s+")
        return spark.read.text(str(path)).select(*(parts[at].alias(name) for name, at in names.items()))

    qrels = lines(TREC / "qrels.txt", {"query": 0, "document": 2, "grade": 3}).withColumn("grade", F.expr("int(grade)"))
    table = lines(TREC / f"{run}.run", {"query": 0, "document": 2, "score": 4})
    one = rankgauge.evaluate(TREC / "qrels.txt", TREC / f"{run}.run", METRICS)
    found = rankgauge_spark.evaluate(qrels, table.withColumn("score", F.expr("double(score)")), METRICS)
    assert bits_of(one) == bits_of(found)


def test_scores_of_each_query_stay_a_dataframe(data, qrels_df, run_df):
    one = rankgauge.evaluate(data.qrels, data.run, ["ndcg@10", "AP"]).per_sample.drop("tags")
    table = rankgauge_spark.per_query(qrels_df, run_df, ["ndcg@10", "AP"])
    assert table.columns == ["query", "ndcg_at_10", "ndcg_at_10_status", "ap", "ap_status"]
    found = pl.DataFrame(table.toArrow()).sort("query").rename({"query": "sample_id"})
    assert found.to_dicts() == one.to_dicts()


@pytest.mark.parametrize("partitions", [1, 7])
def test_means_without_the_score_of_each_query(data, qrels_df, run_df, partitions):
    one = rankgauge.evaluate(data.qrels, data.run, METRICS)
    totals = rankgauge_spark.evaluate(qrels_df, run_df, METRICS, partitions=partitions, per_query=False)
    assert {name: (each.mean, each.n, each.info) for name, each in totals.metrics.items()} == {
        name: (each.mean, each.n, each.info) for name, each in one.metrics.items()
    }
    assert (totals.n, totals.notes) == (40, one.notes)
    assert totals["AP"].std == pytest.approx(one["AP"].std, rel=1e-14)
    assert totals["AP"].percentile(50) is None


def test_a_comparison_is_that_of_one_machine(data, qrels_df, run_df):
    worse = data.run.filter(pl.col("document") < "d5")
    one = rankgauge.compare(
        rankgauge.evaluate(data.qrels, runs={"all": data.run, "some": worse}, metrics=["AP", "RR"]), seed=3
    )
    runs = {"all": run_df, "some": run_df.filter("document < 'd5'")}
    found = rankgauge_spark.compare(qrels_df, runs, ["AP", "RR"], seed=3)
    assert {name: found["some"][name].p_adjusted for name in ("AP", "RR")} == {
        name: one["some"][name].p_adjusted for name in ("AP", "RR")
    }
    assert found["some"]["AP"] == one["some"]["AP"]


def test_integer_ids_and_named_columns(spark):
    qrels = spark.createDataFrame([(1, 10, 2), (1, 11, 0), (2, 10, 1)], ["my.topic", "doc", "rel"])
    run = spark.createDataFrame([(1, 11, 0.5), (1, 10, 0.25)], ["my.topic", "doc", "sim"])
    result = rankgauge_spark.evaluate(qrels, run, "RR", columns={"query": "my.topic"})
    assert result.sample_ids == ("1", "2")
    assert result["RR"].values.tolist() == [1 / 2, 0.0]


def test_without_scores_ranks_order(spark):
    qrels = spark.createDataFrame([("q1", "a", 1)], ["qid", "doc", "rel"])
    run = spark.createDataFrame([("q1", "b", 2), ("q1", "a", 1)], ["qid", "doc", "rank"])
    assert rankgauge_spark.evaluate(qrels, run, "RR")["RR"].values.tolist() == [1.0]


class TestRefused:
    @pytest.mark.parametrize("broadcast", [10_000, 0], ids=["broadcast", "joined"])
    def test_duplicated_rows_are_all_told(self, qrels_df, run_df, broadcast):
        twice = run_df.union(run_df.filter("query in ('q5', 'q20') and document < 'd12'"))
        with pytest.raises(DataError) as caught:
            rankgauge_spark.evaluate(qrels_df, twice, METRICS, broadcast=broadcast)
        assert {problem.message.split(":")[0] for problem in caught.value.problems} == {"query 'q20'", "query 'q5'"}
        assert "is retrieved 2 times (ranks" in str(caught.value)

    def test_duplicated_rows_may_be_dropped(self, data, qrels_df, run_df, bits_of):
        policy = {"duplicates": "best"}
        one = rankgauge.evaluate(data.qrels, data.run, ["AP", "P@5"], policy=policy)
        found = rankgauge_spark.evaluate(qrels_df, run_df.union(run_df), ["AP", "P@5"], policy=policy)
        assert bits_of(one) == bits_of(found)
        assert (
            found.manifest["outputs"]["results_dropped"]
            == data.run.filter(pl.col("query").is_in(data.qrels["query"].unique().to_list())).height
        )

    @pytest.mark.parametrize("broadcast", [10_000, 0], ids=["broadcast", "joined"])
    def test_a_document_that_is_judged_twice(self, qrels_df, run_df, data, broadcast):
        query, document, _ = data.qrels.row(0)
        again = qrels_df.filter(f"query = '{query}' and document = '{document}'")
        with pytest.raises(DataError, match=f"query '{query}' judges document '{document}' more than once"):
            rankgauge_spark.evaluate(qrels_df.union(again), run_df, "AP", broadcast=broadcast)

    @pytest.mark.parametrize("broadcast", [10_000, 0], ids=["broadcast", "joined"])
    def test_rows_without_an_id_or_a_number(self, qrels_df, run_df, broadcast):
        damaged = qrels_df.selectExpr("query", "nullif(document, 'd7') as document", "grade")
        with pytest.raises(DataError, match=r"a judgment of query 'q\d+' has no document"):
            rankgauge_spark.evaluate(damaged, run_df, "AP", broadcast=broadcast)
        damaged = run_df.selectExpr("query", "document", "if(document = 'd8', double('NaN'), score) as score")
        with pytest.raises(DataError, match=r"a result of query 'q\d+' and document 'd8' has the score nan"):
            rankgauge_spark.evaluate(qrels_df, damaged, "AP", broadcast=broadcast)

    def test_columns_of_a_wrong_type_before_any_job(self, qrels_df, run_df):
        with pytest.raises(DataError, match="ids in column 'query' are of type double; make them strings or integers"):
            rankgauge_spark.evaluate(qrels_df.selectExpr("1.5D as query", "document", "grade"), run_df, "AP")
        with pytest.raises(DataError, match="scores in column 'score' are of type string; make them numbers"):
            rankgauge_spark.evaluate(qrels_df, run_df.withColumn("score", run_df.score.cast("string")), "AP")
        with pytest.raises(DataError, match="no column for the score"):
            rankgauge_spark.evaluate(qrels_df, run_df.drop("score"), "AP")

    def test_empty_sides(self, qrels_df, run_df):
        with pytest.raises(DataError, match="there are no judgments"):
            rankgauge_spark.evaluate(qrels_df.limit(0), run_df, "AP")
        with pytest.raises(NothingToEvaluateError, match="0 of 40 query ids overlap; the run has no query"):
            rankgauge_spark.evaluate(qrels_df, run_df.limit(0), "AP")

    @pytest.mark.parametrize("broadcast", [10_000, 0], ids=["broadcast", "joined"])
    def test_ids_that_do_not_meet(self, qrels_df, run_df, broadcast):
        other = run_df.selectExpr("replace(query, 'q', 't') as query", "document", "score")
        with pytest.raises(NothingToEvaluateError, match="0 of 40 query ids overlap; the run's look like `t"):
            rankgauge_spark.evaluate(qrels_df, other, "AP", broadcast=broadcast)

    def test_a_policy_that_needs_an_order_of_rows(self, qrels_df, run_df):
        with pytest.raises(PolicyError, match="order=given"):
            rankgauge_spark.evaluate(qrels_df, run_df, "AP", profile="default")

    def test_what_the_policy_refuses_arrives_as_on_one_machine(self, qrels_df, run_df):
        with pytest.raises(SampleRefusedError) as caught:
            rankgauge_spark.evaluate(qrels_df, run_df, "AP", policy={"missing_output": "error"}, partitions=7)
        assert sorted(problem.sample for problem in caught.value.problems) == ["q0", "q1", "q2", "q3"]

    def test_unknown_metrics_before_any_job(self, qrels_df, run_df):
        with pytest.raises(PlanError, match="ncdg"):
            rankgauge_spark.evaluate(qrels_df, run_df, ["ncdg@10"])


class TestWorkers:
    def test_a_plugin_that_workers_lack_is_named(self, qrels_df, run_df, tmp_path, monkeypatch):
        (tmp_path / "acme_depth.py").write_text(
            "from rankgauge.plugin import hookimpl, sample_metric\n\n"
            '@sample_metric("acme-depth")\ndef depth(ranking):\n    """Count."""\n    return float(ranking.depth)\n\n'
            "@hookimpl\ndef rankgauge_metrics():\n    return [depth]\n",
            encoding="utf-8",
        )
        info = tmp_path / "acme_rankgauge-1.4.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-rankgauge\nVersion: 1.4\n", encoding="utf-8")
        (info / "entry_points.txt").write_text("[rankgauge]\nacme = acme_depth\n", encoding="utf-8")
        monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])  # of the driver alone
        catalog = Catalog.discover()
        with pytest.raises(PlanError, match=r"names acme-rankgauge 1\.4 as the provider of 'acme-depth'.* not here"):
            rankgauge_spark.evaluate(qrels_df, run_df, ["acme-depth"], catalog=catalog)

    def test_a_task_that_dies_is_run_again_and_counts_once(self, qrels_df, run_df, tmp_path):
        marks = str(tmp_path)

        def depth(ranking) -> float:
            try:
                mark = os.open(os.path.join(marks, "died"), os.O_CREAT | os.O_EXCL)  # noqa: PTH118  # sent as code
            except FileExistsError:
                return float(ranking.depth)
            os.close(mark)
            os._exit(1)

        result = rankgauge_spark.evaluate(qrels_df, run_df, [depth], partitions=3)
        assert (tmp_path / "died").exists()
        assert len(result) == 40
        judged = run_df.filter("query not in ('q40', 'q41', 'q42')").count()
        assert sum(result.metrics["depth"].values.tolist()) == judged

    def test_a_metric_that_fails_fails_its_queries_alone(self, qrels_df, run_df):
        def picky(ranking) -> float:
            if ranking.depth > 100:
                raise ValueError("too deep")
            return 1.0

        result = rankgauge_spark.evaluate(qrels_df, run_df, [picky])
        (error,) = [each for each in result.errors if each.status == "failed"]
        assert error.sample_id == "q9"
        assert "too deep" in error.reason
