"""Evaluations, plans, catalogs, results and errors in other processes: what arrives is what was sent, or an error."""

import copy
import inspect
import pickle
import random
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from types import SimpleNamespace

import cloudpickle
import pytest

import pool_functions
from draws import in_thorough_suite, some
from fake_plugins import metric_module
from rankgauge import Engine, Result, errors
from rankgauge.catalog import Catalog
from rankgauge.errors import (
    ExpressionError,
    MissingGoldError,
    NameClashError,
    NotPicklableError,
    PlanError,
    Problem,
    RunInterrupted,
    UnknownNameError,
)
from rankgauge.plugin import Cutoff, Judged, Scores, hookimpl, metric, sample_metric
from rankgauge.policy import PROFILES
from rankgauge.samples import read_sample
from tables import rows

OWN_METRICS = sorted(Catalog.discover(own_only=True).metrics)


def samples(count, seed=20):
    chance = random.Random(seed)  # noqa: S311  # data

    def words():
        return " ".join(chance.choice(["pier", "boat", "net", "tide", "lamp"]) for _ in range(4))

    return [
        {
            "id": f"q{number}",
            "expected_output": {
                "relevant": {f"d{chance.randrange(12)}": chance.randrange(4) for _ in range(3)} | {"d12": 1},
                "passages": [words(), words()],
                "answer": words(),
                "keywords": ["pier", "lamp"],
                "nuggets": [{"id": "n1", "text": words()}, {"id": "n2", "importance": "okay"}],
                "spans": [{"document": "d", "start": 20, "end": 60, "text": words()}],
                "forbidden": ["d13", {"text": "net"}],
                "sets": [["d12"]],
            },
            "actual_output": {
                "retrieved": [
                    {"id": f"d{chance.randrange(14)}", "text": words(), "metadata": {"valid_from": "2024-01-01"}}
                    for _ in range(8)
                ],
                "answer": words(),
                "support": {"n1": chance.choice(["support", "partial_support"]), "n2": "not_support"},
            },
            "metadata": {"asked_at": "2023-07-01"},
        }
        for number in range(count)
    ]


def received(data):
    return pickle.loads(data)  # noqa: S301  # our own


def sent(value):
    return received(pickle.dumps(value))


def bits(result):
    return {
        name: (column.values.tobytes(), column.codes.tobytes(), column.mean, column.info.fingerprint)
        for name, column in result.metrics.items()
    }


def plugin_of(*functions):
    @hookimpl
    def rankgauge_metrics():
        return list(functions)

    return SimpleNamespace(rankgauge_metrics=rankgauge_metrics)


class TestEvaluations:
    @pytest.mark.parametrize("alias", some(OWN_METRICS, of=9))
    def test_every_metric_scores_the_same_once_sent(self, engine, alias):
        evaluation = engine.dataset(samples(6)).with_metrics([alias])
        assert bits(evaluation.run()) == bits(sent(evaluation).run())

    @in_thorough_suite()
    @rows("profile", sorted(PROFILES))
    def test_every_profile_can_be_sent(self, engine, profile):
        evaluation = engine.dataset(samples(6)).with_metrics(["ndcg@5", "recall@5"]).with_profile(profile)
        again = sent(evaluation)
        assert evaluation.profile == again.profile
        assert bits(evaluation.run()) == bits(again.run())

    @in_thorough_suite()
    def test_results_of_worker_processes_merge_to_the_bits_of_one_run(self, tmp_path):
        config = tmp_path / "rankgauge.yaml"
        config.write_text(
            "version: 1\nprofile: remem\nmatchers: {mine: casefold > contained >= 1}\n"
            "metrics: {use: ['ndcg@3', retrieval-recall-at-k, retrieval-mrr, 'EM(matcher=mine)', 'judged@4']}\n",
            encoding="utf-8",
        )
        engine = Engine.from_config(config, own_only=True)
        rows = samples(90)

        def evaluation(part):
            plain = engine.dataset(part)
            return plain.with_metrics([*plain.metrics, pool_functions.depth_share])

        parts = [evaluation(rows[start : start + 30]) for start in (0, 30, 60)]
        with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
            merged = Result.merge(list(pool.map(pool_functions.run, parts)))
        whole = evaluation(rows).run()
        assert (6, 90) == (len(whole.metrics), len(whole))
        assert bits(whole) == bits(merged)
        assert whole.sample_ids == merged.sample_ids

    @in_thorough_suite()
    def test_an_error_of_a_worker_process_arrives_whole(self, engine):
        row = {"id": "q", "expected_output": {"keywords": ["pier"]}, "actual_output": ["d1"]}
        evaluation = engine.dataset([row]).with_metrics(["ndcg@3"])
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            failed = pool.submit(pool_functions.run, evaluation)
            with pytest.raises(MissingGoldError) as caught:
                failed.result()
        assert "'ndcg@3' needs ground truth of the kind relevant or passages" in caught.value.problems[0].message

    def test_one_that_cannot_be_planned_fails_the_same_once_sent(self, engine):
        evaluation = engine.dataset(samples(1)).with_metrics(["no-such-metric"])
        with pytest.raises(PlanError, match="unknown metric 'no-such-metric'"):
            sent(evaluation).plan()

    def test_a_lambda_is_refused_with_a_reason_and_advice(self, engine):
        evaluation = engine.dataset(samples(1)).with_metrics([lambda ranking: 1.0])
        with pytest.raises(NotPicklableError, match=r"'<lambda>' cannot be sent.*define the function at the top"):
            pickle.dumps(evaluation)

    def test_samples_that_were_read_already_can_be_sent(self, engine):
        rows = [read_sample(row, problems=[]) for row in samples(4)]
        evaluation = engine.dataset(rows).with_metrics(["ndcg@3", "keyword-mrr"])
        assert bits(evaluation.run()) == bits(sent(evaluation).run())

    def test_one_sent_on_is_held_to_where_it_came_from(self, installed):
        file = installed.add("alpha-tools", metric_module("alpha-depth"), version="1.2")
        data = pickle.dumps(Engine().dataset(samples(1)).with_metrics(["alpha-depth"]))
        installed.upgrade(file, "1.3")
        with pytest.raises(PlanError, match=r"alpha-tools 1\.2 provides metric"):
            sent(received(data)).plan()

    def test_whoever_gets_one_may_ask_it_for_other_metrics(self, engine):
        evaluation = engine.dataset(samples(3)).with_metrics(["ndcg@3"])
        other = sent(evaluation).with_metrics(["recall@2"]).with_profile("remem")
        assert ["recall@2"] == list(other.run().metrics)

    def test_a_copy_is_the_same_also_where_nothing_could_be_sent(self, engine):
        evaluation = engine.dataset(samples(1)).with_metrics([lambda ranking: 1.0])
        for value in (evaluation, evaluation.plan(), evaluation.plan().metrics[0].metric, engine.catalog):
            assert value is copy.copy(value)
            assert value is copy.deepcopy(value)


class TestOtherEnvironments:
    def test_a_distribution_that_is_missing_there_is_named_with_its_version(self, installed):
        file = installed.add("alpha-tools", metric_module("alpha-depth", short=("adepth",)), version="1.2")
        data = pickle.dumps(Engine().dataset(samples(1)).with_metrics(["adepth"]))
        installed.uninstall(file)
        evaluation = received(data)
        with pytest.raises(PlanError) as caught:
            evaluation.run()
        message = caught.value.problems[0].message
        assert "unknown metric 'adepth'" in message
        assert "names alpha-tools 1.2 as the provider of 'alpha-depth'" in message
        assert "`pip install alpha-tools==1.2`" in message

    def test_another_version_there_is_refused(self, installed):
        file = installed.add("alpha-tools", metric_module("alpha-depth"), version="1.2")
        data = pickle.dumps(Engine().dataset(samples(1)).with_metrics(["alpha-depth"]))
        installed.upgrade(file, "1.3")
        with pytest.raises(
            PlanError, match=r"alpha-tools 1\.2 provides metric 'alpha-depth'; found is alpha-tools 1\.3"
        ):
            received(data).plan()

    def test_a_plan_is_refused_where_another_version_is_installed(self, installed):
        file = installed.add("alpha-tools", metric_module("alpha-depth"), version="1.2")
        data = pickle.dumps(Engine().dataset([]).with_metrics(["alpha-depth"]).plan())
        assert "alpha-depth" in received(data).describe()
        installed.upgrade(file, "1.3")
        with pytest.raises(PlanError, match=r"metric 'alpha-depth' is of alpha-tools 1\.2; here is 1\.3"):
            received(data)

    def test_what_is_missing_there_and_not_used_does_not_matter(self, installed):
        file = installed.add("alpha-tools", metric_module("alpha-depth"))
        data = pickle.dumps(Engine().dataset(samples(2)).with_metrics(["hit@3"]))
        installed.uninstall(file)
        assert ["hit@3"] == list(received(data).run().metrics)

    def test_what_is_installed_there_only_takes_no_part(self, installed):
        data = pickle.dumps(Catalog.discover())
        installed.add("alpha-tools", metric_module("alpha-depth"))
        assert "alpha-depth" not in received(data).metrics


class TestCatalogs:
    def test_disabled_plugins_stay_disabled(self, installed):
        installed.add("alpha-tools", metric_module("alpha-depth"))
        catalog = sent(Catalog.discover(disable=["alpha-tools"]))
        assert [True] == [plugin.disabled for plugin in catalog.plugins if plugin.distribution == "alpha-tools"]
        assert "alpha-depth" not in catalog.metrics

    def test_what_is_disabled_where_a_catalog_arrives_stays_disabled_there(self, installed, monkeypatch):
        installed.add("alpha-tools", metric_module("alpha-depth"))
        data = pickle.dumps(Catalog.discover())
        monkeypatch.setenv("RANKGAUGE_DISABLE_PLUGINS", "Alpha_Tools")
        assert "alpha-depth" not in received(data).metrics

    def test_matchers_of_a_config_are_kept(self, catalog):
        again = sent(catalog.with_matchers({"mine": "casefold > equal >= 1"}))
        assert "mine (casefold > equal >= 1)" == str(again.matcher("mine"))

    def test_a_plugin_given_in_python_is_sent_if_its_functions_can_be(self):
        catalog = sent(Catalog.discover(own_only=True, plugins={"mine": plugin_of(pool_functions.declared_depth)}))
        assert pool_functions.declared_depth.__rankgauge__ is catalog.metrics["pool-depth"].declaration

    def test_a_plugin_given_in_python_that_cannot_be_sent_is_refused(self):
        @sample_metric("inner-depth")
        def inner(ranking):
            """Count."""
            return float(ranking.depth)

        catalog = Catalog.discover(own_only=True, plugins={"mine": plugin_of(inner)})
        with pytest.raises(NotPicklableError, match="plugin 'mine', which was given in Python, cannot be sent"):
            pickle.dumps(catalog)

    def test_a_plan_does_not_mind_faults_that_leave_a_plugin_working(self, installed):
        source = metric_module("alpha-depth") + "\n@hookimpl\ndef rankgauge_metric():\n    return []\n"
        installed.add("alpha-tools", source)
        plan = Engine().dataset([]).with_metrics(["alpha-depth"]).plan()
        assert plan.catalog.faults
        assert plan.describe() == sent(plan).describe()


class TestPlans:
    def test_a_sent_plan_says_the_same(self, engine):
        evaluation = engine.dataset([]).with_metrics(OWN_METRICS).with_profile("haystack")
        plan = evaluation.plan()
        again = sent(plan)
        assert plan.describe() == again.describe()
        assert [column.fingerprint for column in plan.metrics] == [column.fingerprint for column in again.metrics]
        assert list(plan.targets) == list(again.targets)

    def test_its_mappings_are_read_only_again(self, engine):
        column = sent(engine.dataset([]).with_metrics(["ndcg(gain=exponential)@3"]).plan()).metrics[0]
        with pytest.raises(TypeError, match="this dict cannot be changed"):
            column.params["gain"] = "linear"
        assert {"gain": "exponential"} == dict(column.params)

    def test_a_declaration_is_found_again_and_not_copied(self, engine):
        column = engine.dataset([]).with_metrics(["judged@3"]).plan().metrics[0]
        assert column.metric is sent(column).metric

    def test_a_function_that_cannot_be_sent_is_named(self, engine):
        plan = engine.dataset([]).with_metrics([lambda ranking: 1.0]).plan()
        with pytest.raises(NotPicklableError, match="metric 'lambda' cannot be sent to another process"):
            pickle.dumps(plan)

    def test_a_bare_function_of_a_module_can_be_sent(self, engine):
        (column,) = sent(engine.dataset([]).with_metrics([pool_functions.depth_share]).plan()).metrics
        assert ("depth-share-at-k", 7) == (column.name, column.cut.k)


class TestCloudpickle:
    """What Spark, Ray and Dask send functions with: also functions that nobody can import."""

    def test_functions_of_a_notebook_arrive(self):
        @metric("inner-share-at-k")
        def share(judged: Judged, *, k: Cutoff) -> Scores:
            """Share of k ranks that hold something relevant."""
            return judged.relevant_ranks(k) / k

        @sample_metric("inner-depth")
        def depth(ranking):
            """Count."""
            return float(ranking.depth)

        catalog = Catalog.discover(own_only=True, plugins={"mine": plugin_of(share, depth)})
        row = {"id": "q", "expected_output": ["a"], "actual_output": ["b", "a"]}
        wanted = ["inner-share-at-2", "inner-depth", share, lambda ranking: 0.25]
        evaluation = Engine(catalog=catalog).dataset([row]).with_metrics(wanted)
        again, plan = received(cloudpickle.dumps((evaluation, evaluation.plan())))
        found = {name: column.mean for name, column in again.run().metrics.items()}
        assert {"inner-share-at-k@2": 0.5, "inner-depth": 2.0, "inner-share-at-k": 0.2, "lambda": 0.25} == found
        assert evaluation.plan().describe() == plan.describe()

    def test_a_function_of_the_main_program_arrives_where_another_program_runs(self, monkeypatch):
        def share(judged: Judged, *, k: Cutoff) -> Scores:
            """Share of k ranks that hold something relevant."""
            return judged.relevant_ranks(k) / k

        share.__module__, share.__qualname__ = "__main__", "share"
        metric("main-share-at-k", details=lambda judged: {"n": [judged.n]})(share)
        row = {"id": "q", "expected_output": ["a"], "actual_output": ["b", "a"]}
        monkeypatch.setattr(sys.modules["__main__"], "share", share, raising=False)
        data = cloudpickle.dumps(Engine().dataset([row]).with_metrics([share]).with_defaults(k=2))
        monkeypatch.delattr(sys.modules["__main__"], "share")
        column = received(data).run(details=True)["main-share-at-k"]
        (facts,) = column.details
        assert (0.5, 2, 1) == (column.mean, facts["k"], facts["n"])


class TestResults:
    def test_a_sent_result_has_the_same_bits_reasons_and_manifest(self, engine):
        rows = [*samples(3), {"id": "none", "expected_output": ["d1"]}]
        result = engine.dataset(rows).with_metrics(["ndcg@3", "recall@2"]).run(details=True)
        again = sent(result)
        assert bits(result) == bits(again)
        assert (result.unscored, result.manifest, result.tags) == (again.unscored, again.manifest, again.tags)
        assert result["ndcg@3"].details == again["ndcg@3"].details

    def test_what_it_has_cached_is_not_sent(self, engine):
        result = engine.dataset(samples(50)).with_metrics(["ndcg@3"]).run()
        before = len(pickle.dumps(result))
        assert 50 == len(result["ndcg@3"].counted) == len(result.per_sample)
        assert before == len(pickle.dumps(result))


class TestErrors:
    @pytest.mark.parametrize(
        ("error", "attributes"),
        [
            (ExpressionError("no", text="a@@", position=2), {"text": "a@@", "position": 2}),
            (UnknownNameError("metric", "ndgc", suggestions=["ndcg"]), {"name": "ndgc", "suggestions": ("ndcg",)}),
            (NameClashError("matcher", "x", ["a", "b"]), {"kind": "matcher", "claims": ("a", "b")}),
            (PlanError("t:", [Problem("p", "f", 3)]), {"problems": (Problem("p", "f", 3),)}),
            (RunInterrupted("stopped", "the result"), {"result": "the result"}),
        ],
        ids=lambda each: type(each).__name__,
    )
    def test_an_error_arrives_with_its_message_and_attributes(self, error, attributes):
        again = sent(error)
        assert (type(error), str(error)) == (type(again), str(again))
        assert attributes == {name: getattr(again, name) for name in attributes}

    def test_every_error_can_be_sent(self):
        kinds = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, BaseException)]
        assert len(kinds) > 15
        for kind in kinds:
            error = kind.__new__(kind, "why")
            error.args = ("why",)
            error.fact = 1
            assert (kind, ("why",), 1) == (type(sent(error)), sent(error).args, sent(error).fact)
