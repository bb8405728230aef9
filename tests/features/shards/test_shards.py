"""Runs in shards: planned once, evaluated anywhere, merged to the bits of one evaluation; and what is refused."""

import pickle
import random
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import cloudpickle
import polars as pl
import pytest

import rankgauge
from draws import in_thorough_suite, is_thorough
from fake_plugins import metric_module
from pool_functions import shard
from rankgauge import Catalog, Result
from rankgauge.errors import (
    DataError,
    NothingToEvaluateError,
    PlanError,
    PolicyError,
    ResultError,
    SampleRefusedError,
)
from rankgauge.scale import RunShard, ShardedRun

METRICS = ["ndcg@10", "AP", "P@5", "RR", "bpref", "unjudged@5", "rbp(p=0.8)"]
QUERIES = 90


def tables(seed=7):
    """Return judgments and a run with ties, negative grades, queries of one side only, and ids in no order."""
    chance = random.Random(seed)  # noqa: S311  # data
    documents = [f"d{number}" for number in range(300)]
    judged = [
        (f"q{query}", document, chance.randrange(-1, 4))
        for query in range(QUERIES)
        for document in chance.sample(documents, 25)
    ]
    found = [
        (f"q{query}", document, chance.randrange(40) / 8)
        for query in range(5, QUERIES + 4)
        for document in chance.sample(documents, 60)
    ]
    chance.shuffle(judged)
    chance.shuffle(found)
    qrels = pl.DataFrame(judged, schema=["query", "document", "grade"], orient="row")
    return qrels, pl.DataFrame(found, schema=["query", "document", "score"], orient="row")


def parts(qrels, run, count):
    """Return the rows of each shard; a side without rows is None for judgments, an empty table for a run."""
    number = pl.col("query").str.slice(1).cast(pl.Int64) % count
    for place in range(count):
        judgments = qrels.filter(number == place)
        yield (judgments if judgments.height else None), run.filter(number == place)


def merged(sharded, qrels, run, count):
    return sharded.merge([sharded.shard(*part) for part in parts(qrels, run, count)])


def bits(result):
    return {
        name: (column.values.tobytes(), column.codes.tobytes(), dict(column.reasons), column.info, column.mean)
        for name, column in result.metrics.items()
    }


class TestSameBits:
    @pytest.mark.parametrize("count", [1, 3, 7, 200] if is_thorough() else [3, 7])
    def test_any_number_of_shards(self, count):
        qrels, run = tables()
        one = rankgauge.evaluate(qrels, run, METRICS)
        found = merged(ShardedRun.plan(METRICS), qrels, run, count)
        assert bits(one) == bits(found)
        assert one.sample_ids == found.sample_ids
        assert one.notes == found.notes
        assert one.gold_keys.tolist() == found.gold_keys.tolist()
        assert one.manifest["outputs"] == found.manifest["outputs"]
        sizes = [{key: each.manifest["dataset"][key] for key in ("queries", "judgments")} for each in (one, found)]
        assert sizes[0] == sizes[1] == {"queries": QUERIES, "judgments": qrels.height}

    @pytest.mark.parametrize(
        "options",
        [
            {"profile": "trec9"},
            {"policy": {"missing_output": "exclude", "ties": "average"}},
            {"policy": {"depth": 7, "judged_only": True}},
            {"policy": {"queries": "intersection", "no_gold": "undefined"}, "rel": 2},
            {"profile": "default", "policy": {"order": "score", "duplicates": "best"}, "k": 3},
        ],
        ids=str,
    )
    def test_any_convention(self, options):
        qrels, run = tables(seed=8)
        names = ["ndcg@10", "AP", "RR", "recall@5"] if "policy" in options else METRICS
        one = rankgauge.evaluate(qrels, run, names, **options)
        found = merged(ShardedRun.plan(names, **options), qrels, run, 4)
        assert bits(one) == bits(found)
        assert one.notes == found.notes
        assert {key: one.manifest[key] for key in ("policy", "profile", "relevance", "default_k")} == {
            key: found.manifest[key] for key in ("policy", "profile", "relevance", "default_k")
        }

    def test_any_order_of_shards_and_rows(self):
        qrels, run = tables()
        sharded = ShardedRun.plan(METRICS)
        first = merged(sharded, qrels, run, 3)
        mixed = [part.sample(fraction=1.0, shuffle=True, seed=3) for part in (qrels, run)]
        shards = [sharded.shard(*part) for part in parts(*mixed, 3)]
        second = sharded.merge(shards[::-1])
        assert bits(first) == bits(second)
        assert first.manifest["dataset"] == second.manifest["dataset"]

    @in_thorough_suite()
    def test_other_processes(self):
        qrels, run = tables()
        sharded = ShardedRun.plan(METRICS)
        jobs = [(sharded, *part) for part in parts(qrels, run, 3)]
        with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
            found = sharded.merge(list(pool.map(shard, jobs)))
        assert bits(rankgauge.evaluate(qrels, run, METRICS)) == bits(found)

    def test_mappings_and_the_worked_example(self):
        """AP of q1: precisions 1/1 and 2/3 at its two relevant documents; of q2, which is in another shard, 1/2."""
        sharded = ShardedRun.plan("AP")
        first = sharded.shard({"q1": {"a": 2, "b": 1}}, {"q1": {"b": 0.9, "x": 0.8, "a": 0.7}})
        second = sharded.shard({"q2": {"c": 1}}, {"q2": {"y": 0.5, "c": 0.4}})
        result = sharded.merge([second, first])
        assert result.sample_ids == ("q1", "q2")
        assert result["AP"].values.tolist() == [(1 + 2 / 3) / 2, 1 / 2]


class TestTotals:
    @pytest.mark.parametrize("count", [1, 4, 30])
    def test_without_the_score_of_each_query_means_are_the_same(self, count):
        qrels, run = tables()
        sharded = ShardedRun.plan(METRICS)
        shards = [sharded.shard(*part) for part in parts(qrels, run, count)]
        whole = sharded.merge(shards)
        half = len(shards) // 2
        added = [sharded.added_up(some) for some in (shards[half:], shards[:half]) if some]
        totals = sharded.merge_totals([pickle.loads(pickle.dumps(each)) for each in added])  # noqa: S301  # our own
        assert {name: (each.mean, each.n, each.n_missing, each.info) for name, each in totals.metrics.items()} == {
            name: (each.mean, each.n, each.n_missing, each.info) for name, each in whole.metrics.items()
        }
        assert (totals.n, totals.notes) == (len(whole), whole.notes)
        assert totals.manifest["outputs"] == whole.manifest["outputs"]
        assert totals.manifest["dataset"] == {**whole.manifest["dataset"], "fingerprint": None}

    def test_what_was_added_up_has_no_scores_any_more(self):
        sharded = ShardedRun.plan("AP")
        shard = sharded.shard({"q1": {"a": 1}}, {"q1": {"a": 1.0}})
        added = sharded.added_up([shard])
        with pytest.raises(ResultError, match=r"was added up.*use merge_totals\(\)"):
            sharded.merge([added])
        assert sharded.merge_totals([added])["AP"].mean == 1.0
        assert sharded.added_up([added]).totals.n == 1

    def test_shards_without_a_judged_query_are_counted(self):
        sharded = ShardedRun.plan("AP")
        shards = [sharded.shard(None, {"x": {"a": 1.0}}), sharded.shard({"q": {"a": 1}}, {"q": {"a": 1.0}})]
        totals = sharded.merge_totals([sharded.added_up(shards[:1]), *shards[1:]])
        assert totals.manifest["outputs"]["queries_unjudged"] == 1
        with pytest.raises(NothingToEvaluateError, match="the run's look like `x`"):
            sharded.merge_totals(shards[:1])

    @pytest.mark.parametrize("qrels", [None, {}, {"other": {"a": 1}}])
    def test_a_shard_without_a_judged_query_is_made_and_merged(self, qrels):
        sharded = ShardedRun.plan(["AP", "ndcg@10"])
        empty = sharded.shard(qrels, {"x": {"a": 1.0}})
        whole = sharded.merge([empty, sharded.shard({"q": {"a": 1}}, {"q": {"a": 1.0}})])
        assert whole["AP"].values.tolist()[whole.sample_ids.index("q")] == 1.0
        assert set(whole.sample_ids) == {"q", *(qrels or {})}
        assert whole.manifest["outputs"]["queries_unjudged"] == 1


class TestWhatTravels:
    def test_a_shard_takes_nine_bytes_a_query_and_metric_beside_its_ids(self):
        qrels = {f"q{number:05}": {"a": 1} for number in range(2000)}
        run = {query: {"a": 1.0} for query in qrels}
        sharded = ShardedRun.plan(["ndcg@10", "AP", "RR", "P@5"])
        sent = len(pickle.dumps(sharded.shard(qrels, run)))
        ids, keys = 2000 * 9, 2000 * 8
        assert sent < 2000 * 4 * 9 + ids + keys + 2000 * 3 + 4000

    def test_a_shard_arrives_as_it_was_sent(self):
        qrels, run = tables()
        sharded = ShardedRun.plan(METRICS)
        shards = [sharded.shard(*part) for part in parts(qrels, run, 2)]
        again = pickle.loads(pickle.dumps(shards))  # noqa: S301  # our own
        assert bits(sharded.merge(shards)) == bits(sharded.merge(again))

    def test_a_function_goes_by_cloudpickle(self):
        weight = 3

        def depth_over_three(ranking) -> float:
            return ranking.depth / weight

        sharded = pickle.loads(cloudpickle.dumps(ShardedRun.plan([depth_over_three])))  # noqa: S301  # our own
        result = sharded.merge([sharded.shard({"q": {"a": 1}}, {"q": {"a": 1.0, "b": 0.5}})])
        assert result.metrics["depth-over-three"].mean == 2 / 3

    def test_another_version_of_a_plugin_is_refused_where_it_arrives(self, installed):
        folder = installed.add("acme", metric_module("acme-depth"), version="1.0")
        sent = pickle.dumps(ShardedRun.plan(["acme-depth"], catalog=Catalog.discover()))
        metadata = folder.parent / "acme-1.0.dist-info" / "METADATA"
        metadata.write_text(metadata.read_text("utf-8").replace("Version: 1.0", "Version: 2.0"), "utf-8")
        received = pickle.loads(sent)  # noqa: S301  # our own
        with pytest.raises(PlanError, match=r"acme 1\.0 provides .*acme-depth.*found is acme 2\.0.*install the same"):
            received.shard({"q": {"a": 1}}, {"q": {"a": 1.0}})

    def test_scores_of_a_shard_are_rows(self):
        sharded = ShardedRun.plan(["AP", "P@2"])
        rows = sharded.scores(sharded.shard({"b": {"x": 1}, "a": {"y": 1}}, {"b": {"x": 1.0}}))
        assert rows["sample_id"].to_list() == ["a", "b"]
        assert rows["p_at_2"].to_list() == [0.0, 0.5]
        assert rows["ap_status"].to_list() == ["missing", "scored"]
        assert sharded.scores(RunShard()).schema == rows.schema


class TestRefused:
    def test_a_query_in_two_shards(self):
        sharded = ShardedRun.plan("AP")
        one = sharded.shard({"q1": {"a": 1}}, {"q1": {"a": 1.0}})
        with pytest.raises(ResultError, match="'q1' is in two shards; rows of one query"):
            sharded.merge([one, one])

    def test_nothing(self):
        with pytest.raises(ResultError, match="nothing to merge"):
            ShardedRun.plan("AP").merge([])

    def test_a_run_that_meets_no_judged_query_anywhere(self):
        sharded = ShardedRun.plan("AP")
        judged = sharded.shard({"q1": {"a": 1}, "q2": {"a": 1}}, {})
        foreign = sharded.shard(None, {"1": {"a": 1.0}, "2": {"b": 1.0}})
        assert (judged.counts.missing, foreign.counts.unjudged) == (2, 2)
        with pytest.raises(NothingToEvaluateError, match="0 of 2 query ids overlap; the run's look like `1`"):
            sharded.merge([judged, foreign])

    def test_tables_that_meet_nowhere(self):
        qrels, run = tables()
        sharded = ShardedRun.plan("AP")
        shards = [sharded.shard(some, run.head(0)) for some, _ in parts(qrels, run, 3)]
        with pytest.raises(NothingToEvaluateError, match=f"0 of {QUERIES} query ids overlap; the run has no query"):
            sharded.merge(shards)

    def test_a_metric_that_has_to_see_everything(self):
        with pytest.raises(PlanError, match=r"infers max_grade from the whole data set.*max_grade=3"):
            ShardedRun.plan("err@10")
        assert ShardedRun.plan("err(max_grade=3)@10").metrics == ("err(max_grade=3)@10",)

    @pytest.mark.parametrize(
        ("options", "told"),
        [
            ({"profile": "default"}, r"order=given \(choose order=score\), duplicates=first \(choose best or error\)"),
            ({"policy": {"ties": "given"}}, "ties=given"),
            ({"policy": {"duplicates": "last"}}, "duplicates=last"),
        ],
        ids=str,
    )
    def test_a_policy_that_depends_on_the_order_of_rows_where_they_have_none(self, options, told):
        ShardedRun.plan("AP", **options)
        with pytest.raises(PolicyError, match=told):
            ShardedRun.plan("AP", row_order=False, **options)

    def test_rows_that_the_policy_refuses(self):
        twice = pl.DataFrame({"query": ["q", "q"], "document": ["a", "a"], "score": [1.0, 2.0]})
        sharded = ShardedRun.plan("AP")
        with pytest.raises(DataError, match="query 'q': document 'a' is retrieved 2 times"):
            sharded.shard({"q": {"a": 1}}, twice)
        strict = ShardedRun.plan("AP", policy={"missing_output": "error"})
        with pytest.raises(SampleRefusedError, match="the run has no results for this query"):
            strict.shard({"q": {"a": 1}}, {})


def test_a_merged_result_goes_where_others_go(tmp_path):
    qrels, run = tables()
    sharded = ShardedRun.plan(["ndcg@10", "AP"])
    result = merged(sharded, qrels, run, 3)
    assert result.manifest["merged_from"] == 3
    loaded = Result.load(result.save(tmp_path / "result"))
    assert bits(loaded)["ap"][0] == bits(result)["ap"][0]
    one = rankgauge.evaluate(qrels, run, ["ndcg@10", "AP"])
    assert rankgauge.compare({"one": one, "shards": loaded})["shards"]["AP"].difference == 0
    with pytest.raises(ResultError):
        result.explain("q7")
