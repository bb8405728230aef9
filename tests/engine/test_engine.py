import asyncio
import json
import logging
import signal
import threading

import numpy as np
import pytest

from rankgauge import Engine, Policy, Result, RunInterrupted, Sample
from rankgauge.errors import (
    DataError,
    MissingGoldError,
    NothingToEvaluateError,
    ParameterError,
    PlanError,
    PolicyError,
    ResultError,
)
from rankgauge.plugin import Judged, JudgedSample, Scores, metric
from rankgauge.policy import PROFILES
from rankgauge.samples import Expected, Output
from tables import rows

WAIT = 30  # what a test waits at the most for something that happens at once when the code is right


def sample(name, expected=("a",), output=None, **metadata):
    record = {"id": name, "input": name, "expected_output": list(expected), "metadata": metadata}
    return record if output is None else {**record, "actual_output": output}


def lines(path, rows):
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def values(result, name="MRR"):
    return dict(zip(result.sample_ids, result[name].values.tolist(), strict=True))


def assert_same_scores(expected, found):
    assert expected.sample_ids == found.sample_ids
    assert expected.tags == found.tags
    assert list(expected.metrics) == list(found.metrics)
    for name, column in expected.metrics.items():
        other = found.metrics[name]
        np.testing.assert_array_equal(column.values, other.values)
        np.testing.assert_array_equal(column.codes, other.codes)
        assert dict(column.reasons) == dict(other.reasons)
        assert (column.mean, column.std, column.info) == (other.mean, other.std, other.info)


class TestDataset:
    ROWS = (sample("q1", output=["a"]), sample("q2", output=["b", "a"]))

    def test_it_takes_samples(self, engine):
        assert values(engine.dataset(self.ROWS).with_metrics(["MRR"]).run()) == {"q1": 1.0, "q2": 0.5}

    def test_it_takes_an_iterator_that_can_be_read_once(self, engine):
        evaluation = engine.dataset(iter(self.ROWS)).with_metrics(["MRR"])
        assert values(evaluation.run()) == values(evaluation.run()) == {"q1": 1.0, "q2": 0.5}

    def test_it_takes_sample_values(self, engine):
        given = Sample("q", None, Expected(relevant={"a": 1.0}), Output(["b", "a"]))
        assert values(engine.dataset([given]).with_metrics(["MRR"]).run()) == {"q": 0.5}

    @pytest.mark.parametrize("kind", [str, lambda path: path])
    def test_it_takes_a_path(self, engine, tmp_path, kind):
        path = lines(tmp_path / "my.data.jsonl", self.ROWS)
        result = engine.dataset(kind(path)).with_metrics(["MRR"]).run()
        assert values(result) == {"q1": 1.0, "q2": 0.5}
        assert (result.manifest["dataset"]["name"], result.manifest["dataset"]["path"]) == ("my.data", str(path))

    def test_it_takes_a_registered_name(self, catalog, tmp_path):
        data = lines(tmp_path / "s.jsonl", [{"qid": "q1", "gold": ["a"]}])
        outputs = lines(tmp_path / "o.jsonl", [{"qid": "q1", "actual_output": ["b", "a"]}])
        engine = Engine(catalog=catalog)
        fields = {"id": "qid", "expected_output": "gold"}
        assert engine is engine.register("mine", data, outputs=outputs, fields=fields)
        assert values(engine.dataset("mine").with_metrics(["MRR"]).run()) == {"q1": 0.5}
        assert engine.dataset_names == ("mine",)

    def test_a_registered_name_beats_a_file_and_can_be_given_new_data(self, catalog, tmp_path, monkeypatch):
        lines(tmp_path / "mine", [])
        monkeypatch.chdir(tmp_path)
        engine = Engine(catalog=catalog).register("mine", self.ROWS).register("mine", self.ROWS[:1])
        assert values(engine.dataset("mine").with_metrics(["MRR"]).run()) == {"q1": 1.0}

    def test_engines_do_not_share_names(self, catalog):
        Engine(catalog=catalog).register("mine", self.ROWS)
        with pytest.raises(DataError):
            Engine(catalog=catalog).dataset("mine")

    def test_an_unknown_name_is_refused_with_a_suggestion(self, catalog):
        with pytest.raises(DataError, match=r"did you mean 'rag\.retrieval'\?") as caught:
            Engine(catalog=catalog).register("rag.retrieval", self.ROWS).dataset("rag.retreival")
        assert "neither a registered name nor a file" in str(caught.value)

    @pytest.mark.parametrize("given", [{"id": "q"}, 12])
    def test_what_is_no_dataset_is_refused(self, engine, given):
        with pytest.raises(DataError, match="a name, a file or a list of samples"):
            engine.dataset(given)

    def test_no_samples_are_nothing_to_evaluate(self, engine):
        with pytest.raises(NothingToEvaluateError):
            engine.dataset([]).with_metrics(["MRR"]).run()

    def test_problems_of_the_data_stop_the_run_before_anything_is_scored(self, engine):
        rows = [sample("q1", output=["a"]), {"id": "q2"}, {"expected_output": ["a"]}]
        with pytest.raises(DataError) as caught:
            engine.dataset(rows).with_metrics(["MRR"]).run(batch_size=1)
        assert [problem.path for problem in caught.value.problems] == ["samples[1].expected_output", "samples[2].id"]


class TestWith:
    def test_every_with_returns_a_new_evaluation(self, engine):
        first = engine.dataset([sample("q", output=["b", "a"])])
        second = first.with_metrics(["recall@1"])
        third = second.with_metrics(["retrieval-recall-at-k"]).with_defaults(k=1)
        fourth = third.with_profile(duplicates="keep")
        assert (first.metrics, second.metrics, third.metrics) == ((), ("recall@1",), ("retrieval-recall-at-k",))
        assert (first.default_k, third.default_k.k) == (None, 1)
        assert (third.profile.policy.duplicates, fourth.profile.policy.duplicates) == ("first", "keep")
        assert [third.run()["retrieval-recall-at-k"].mean] == [0.0]
        assert third.with_defaults(k=2).run()["retrieval-recall-at-k"].mean == 1.0

    def test_one_metric_may_be_given_alone(self, engine):
        (column,) = engine.dataset([]).with_metrics("ndcg@10").plan().metrics
        assert column.name == "ndcg@10"

    def test_a_policy_keeps_the_other_conventions_of_the_profile(self, engine):
        evaluation = engine.dataset([]).with_profile("eval-harness").with_profile(Policy())
        assert evaluation.profile.policy == Policy()
        assert evaluation.profile.contract == PROFILES["eval-harness"].contract

    def test_an_unknown_profile_is_refused_with_a_suggestion(self, engine):
        with pytest.raises(PolicyError, match=r"did you mean 'eval-harness'\?"):
            engine.dataset([]).with_profile("eval_harness")

    def test_outputs_can_be_exchanged(self, engine, tmp_path):
        outputs = lines(tmp_path / "o.jsonl", [{"id": "q", "actual_output": ["b", "a"]}])
        evaluation = engine.dataset([sample("q", output=["a"])]).with_metrics(["MRR"])
        assert (evaluation.run()["MRR"].mean, evaluation.with_outputs(outputs).run()["MRR"].mean) == (1.0, 0.5)


class TestPlan:
    def test_all_problems_are_reported_before_data_is_read(self, engine, tmp_path):
        evaluation = engine.dataset(lines(tmp_path / "s.jsonl", ["no sample"])).with_defaults(k=0)
        with pytest.raises(PlanError) as caught:
            evaluation.with_metrics(["ndgc@10", "P", "ndcg(gain=cubic)@5", "MRR"]).run()
        assert len(caught.value.problems) == 4
        text = str(caught.value)
        assert "did you mean 'ndcg'" in text
        assert "P@5" in text
        assert "cubic" in text
        assert "with_defaults(k=)" in text

    @pytest.mark.parametrize("k", [0, -1, "5", 2.5, True])
    def test_a_cutoff_that_is_none_names_its_source(self, engine, k):
        with pytest.raises(PlanError, match=r"with_defaults\(k=\).*integer of 1 or more"):
            engine.dataset([]).with_metrics(["MRR"]).with_defaults(k=k).plan()
        with pytest.raises(PlanError, match=r"ndcg.*integer of 1 or more"):
            engine.dataset([]).with_metrics([{"metric": "ndcg", "k": k}]).plan()

    def test_no_metric_is_a_problem(self, engine):
        with pytest.raises(PlanError, match="no metrics given"):
            engine.dataset([sample("q")]).run()

    def test_gold_that_no_sample_has_is_an_error_before_anything_is_scored(self, engine):
        with pytest.raises(MissingGoldError, match="'answer-containment-at-k' needs ground truth of the kind answer"):
            engine.dataset([sample("q", output=["a"])]).with_metrics(["MRR", "answer-containment-at-k"]).run()

    def test_gold_that_some_samples_lack_leaves_those_undefined(self, engine):
        rows = [
            {"id": "q1", "expected_output": {"relevant": ["a"]}, "actual_output": ["a"]},
            {"id": "q2", "expected_output": {"answer": "x"}, "actual_output": ["a"]},
        ]
        column = engine.dataset(rows).with_metrics(["MRR"]).run()["MRR"]
        assert (column.mean, column.n, column.n_undefined) == (1.0, 1, 1)
        assert column.reasons == {1: "the sample has no ground truth of the kind 'relevant'"}

    def test_an_answer_that_no_sample_has_does_not_hide_behind_a_limit(self, engine):
        rows = [sample("q1", output=["a"]), {"id": "q2", "expected_output": "x", "actual_output": ["a"]}]
        with pytest.raises(MissingGoldError):
            engine.dataset(rows).with_metrics(["answer-containment-at-k"]).run(limit=1)


class TestBareFunctions:
    """Functions over one `JudgedSample`, passed where a name is expected."""

    ROWS = (sample("q1", output=["a", "b"]), sample("q2", output=["b", "c", "a"]))

    def test_a_function_is_a_metric(self, engine):
        def hits(ranking):
            """Return how many ranks hold a relevant item, over the depth."""
            return sum(ranking.relevant) / ranking.depth

        (column,) = engine.dataset(self.ROWS).with_metrics([hits]).run().metrics.values()
        assert column.values.tolist() == [0.5, 1 / 3]

    def test_a_function_with_a_cutoff_is_given_one(self, engine):
        def hits(ranking, *, k: int) -> float:
            """Return how many of the first ranks hold a relevant item."""
            return float(sum(ranking.relevant[:k]))

        evaluation = engine.dataset(self.ROWS).with_metrics([hits]).with_defaults(k=2)
        (column,) = evaluation.run().metrics.values()
        assert (column.values.tolist(), column.k) == ([1.0, 0.0], 2)

    def test_none_is_undefined(self, engine):
        def picky(ranking: JudgedSample) -> float | None:
            """Return nothing for rankings of three."""
            return None if ranking.depth == 3 else 1.0

        (column,) = engine.dataset(self.ROWS).with_metrics([picky]).run().metrics.values()
        assert (column.mean, column.n, column.n_undefined) == (1.0, 1, 1)


class TestOutputs:
    def test_an_argument_beats_a_file_which_beats_the_sample(self, catalog, tmp_path):
        rows = [sample("q1", output=["a"]), sample("q2", output=["a"]), sample("q3")]
        file = lines(
            tmp_path / "o.jsonl",
            [{"id": "q1", "actual_output": ["b", "a"]}, {"id": "q3", "actual_output": ["b", "c", "d", "a"]}],
        )
        engine = Engine(catalog=catalog).register("bare", rows).register("filed", rows, outputs=file)
        found = {name: engine.dataset(name).with_metrics(["MRR"]) for name in ("bare", "filed")}
        from_samples, from_file = found["bare"].run(), found["filed"].run()
        argued = found["filed"].run(outputs={"q1": ["b", "c", "a"], "q3": ["a"]})
        assert values(from_samples) == {"q1": 1.0, "q2": 1.0, "q3": 0.0}
        assert values(from_file) == {"q1": 0.5, "q2": 1.0, "q3": 0.25}
        assert values(argued) == {"q1": 1 / 3, "q2": 1.0, "q3": 1.0}
        told = [result.manifest["outputs"] for result in (from_samples, from_file, argued)]
        assert [entry["from"] for entry in told] == ["samples", "file", "argument"]
        assert [entry["replaced_those_in_samples"] for entry in told] == [0, 1, 1]
        assert str(file) == told[1]["path"]
        assert told[1]["fingerprint"].startswith("sha256:")

    def test_an_argument_may_be_a_path(self, engine, tmp_path):
        file = lines(tmp_path / "o.jsonl", [{"id": "q", "actual_output": ["b", "a"]}])
        evaluation = engine.dataset([sample("q")]).with_metrics(["MRR"])
        assert values(evaluation.run(outputs=file)) == values(evaluation.run(outputs=str(file))) == {"q": 0.5}

    def test_outputs_for_unknown_samples_are_refused_with_a_look_at_both(self, engine):
        with pytest.raises(DataError, match="2 of 3 outputs") as caught:
            engine.dataset([sample("q1")]).with_metrics(["MRR"]).run(outputs={"q1": ["a"], "x": [], "Q1": []})
        for word in ("'Q1', 'x'", "'q1'", "intersection"):
            assert word in str(caught.value)

    def test_outputs_beyond_a_limit_are_not_unknown(self, engine):
        rows = [sample("q1"), sample("q2")]
        result = engine.dataset(rows).with_metrics(["MRR"]).run(outputs={"q1": ["a"], "q2": ["a"]}, limit=1)
        assert values(result) == {"q1": 1.0}

    def test_samples_without_outputs_count_as_zero_and_make_the_run_incomplete(self, engine):
        result = engine.dataset([sample("q1"), sample("q2", output=["a"])]).with_metrics(["MRR"]).run()
        column = result["MRR"]
        assert (column.mean, column.n, column.n_missing) == (0.5, 2, 1)
        assert result.is_incomplete
        assert [(e.sample_id, e.metric, e.status) for e in result.errors] == [("q1", None, "missing")]

    def test_a_malformed_output_is_the_failure_of_its_sample(self, engine):
        rows = [sample("q1", output="[oops"), sample("q2", output=["a"])]
        result = engine.dataset(rows).with_metrics(["MRR"]).run()
        assert (result["MRR"].mean, result["MRR"].n_failed) == (0.5, 1)
        assert "not valid JSON" in result.errors[0].reason


class TestSystemUnderTest:
    ROWS = tuple(sample(f"q{n}") for n in range(4))

    def run(self, engine, sut, rows=ROWS, **options):
        return engine.dataset(rows).with_metrics(["MRR"]).run(sut=sut, **options)

    def test_a_function_is_called_with_each_input(self, engine):
        seen = []
        result = self.run(engine, lambda given: seen.append(given) or ["b", "a"])
        assert sorted(seen) == ["q0", "q1", "q2", "q3"]
        assert values(result) == {"q0": 0.5, "q1": 0.5, "q2": 0.5, "q3": 0.5}
        assert result.manifest["outputs"]["from"] == "sut"

    def test_an_asynchronous_function_is_awaited(self, engine):
        async def sut(given):
            return {"retrieved": ["a"] if given == "q0" else ["b", "a"]}

        assert values(self.run(engine, sut)) == {"q0": 1.0, "q1": 0.5, "q2": 0.5, "q3": 0.5}

    def test_an_object_with_an_asynchronous_call_is_awaited(self, engine):
        class System:
            async def __call__(self, given):
                return ["a"]

        assert self.run(engine, System())["MRR"].mean == 1.0

    def test_a_plain_function_that_returns_an_awaitable_is_awaited(self, engine):
        async def inner(given):
            return ["a"]

        assert self.run(engine, lambda given: inner(given))["MRR"].mean == 1.0  # noqa: PLW0108  # a plain function

    def test_an_output_may_be_a_json_string(self, engine):
        assert self.run(engine, lambda _: '["b", "a"]')["MRR"].mean == 0.5

    def test_what_it_raises_is_kept_with_its_sample_and_the_run_goes_on(self, engine):
        def sut(given):
            if given == "q1":
                msg = "index is gone"
                raise ConnectionError(msg)
            return ["a"]

        result = self.run(engine, sut)
        assert values(result) == {"q0": 1.0, "q1": 0.0, "q2": 1.0, "q3": 1.0}
        (error,) = result.errors
        assert (error.sample_id, error.status) == ("q1", "failed")
        assert "ConnectionError: index is gone" in error.reason

    @pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt])
    def test_a_function_that_tries_to_exit_fails_its_sample(self, engine, error):
        def sut(given):
            if given == "q1":
                raise error
            return ["a"]

        (found,) = self.run(engine, sut).errors
        assert found.sample_id == "q1"
        assert error.__name__ in found.reason

    def test_a_stop_iteration_fails_its_sample_and_does_not_hang(self, engine):
        def sut(given):
            return next(iter([])) if given == "q1" else ["a"]

        (error,) = self.run(engine, sut, timeout=WAIT).errors
        assert error.sample_id == "q1"
        assert "StopIteration" in error.reason

    @pytest.mark.parametrize("timeout", [None, WAIT])
    def test_its_own_timeout_is_not_taken_for_ours(self, engine, timeout):
        def sut(given):
            msg = "upstream"
            raise TimeoutError(msg)

        error = self.run(engine, sut, self.ROWS[:1], timeout=timeout).errors[0]
        assert "raised TimeoutError: upstream" in error.reason

    def test_a_cancellation_inside_of_it_fails_its_sample_and_does_not_hang(self, engine):
        async def sut(given):
            if given == "q1":
                raise asyncio.CancelledError
            return ["a"]

        async def main():
            evaluation = engine.dataset(self.ROWS).with_metrics(["MRR"])
            return await asyncio.wait_for(evaluation.arun(sut=sut), timeout=WAIT)

        (error,) = asyncio.run(main()).errors
        assert error.sample_id == "q1"

    @pytest.mark.parametrize(
        ("output", "words"),
        [(None, "returned None"), (3, "must be a list"), ("oops", "not valid JSON"), ([{}], "retrieved[0]")],
    )
    def test_a_malformed_answer_is_the_failure_of_its_sample(self, engine, output, words):
        result = self.run(engine, lambda given: output if given == "q0" else ["a"])
        assert (result["MRR"].mean, result["MRR"].n_failed) == (0.75, 1)
        assert words in result.errors[0].reason

    def test_a_function_that_hangs_is_left_behind_at_its_timeout(self, engine):
        release = threading.Event()
        try:
            result = self.run(engine, lambda given: given != "q1" or release.wait(WAIT), timeout=0.5)
        finally:
            release.set()
        reasons = {error.sample_id: error.reason for error in result.errors}
        assert "did not answer within 0.5 seconds" in reasons["q1"]

    def test_an_asynchronous_function_that_hangs_is_cancelled_at_its_timeout(self, engine):
        cancelled = []

        async def sut(given):
            if given == "q1":
                try:
                    await asyncio.Event().wait()
                except asyncio.CancelledError:
                    cancelled.append(given)
                    raise
            return ["a"]

        result = self.run(engine, sut, timeout=0.5)
        assert cancelled == ["q1"]
        assert values(result) == {"q0": 1.0, "q1": 0.0, "q2": 1.0, "q3": 1.0}

    def test_concurrency_keeps_the_order_of_the_samples(self, engine):
        # q0 answers only when q3 has, so the calls end in another order than they began.
        last = threading.Event()

        def sut(given):
            if given == "q0":
                assert last.wait(WAIT)
            if given == "q3":
                last.set()
            return ["a"] if given == "q0" else ["b", "a"]

        result = self.run(engine, sut, concurrency=2)
        assert result.sample_ids == ("q0", "q1", "q2", "q3")
        assert values(result) == {"q0": 1.0, "q1": 0.5, "q2": 0.5, "q3": 0.5}

    @pytest.mark.parametrize("concurrency", [1, 3])
    def test_no_more_calls_than_the_concurrency_are_under_way(self, engine, concurrency):
        running, most = 0, 0

        async def sut(given):
            nonlocal running, most
            running += 1
            most = max(most, running)
            for _ in range(5):  # let the others begin
                await asyncio.sleep(0)
            running -= 1
            return ["a"]

        assert self.run(engine, sut, concurrency=concurrency)["MRR"].mean == 1.0
        assert concurrency == most

    def test_it_replaces_what_the_samples_hold_and_says_so(self, engine):
        rows = [sample("q1", output=["a"]), sample("q2")]
        result = self.run(engine, lambda _: ["b", "a"], rows)
        assert values(result) == {"q1": 0.5, "q2": 0.5}
        assert result.manifest["outputs"]["replaced_those_in_samples"] == 1

    def test_progress_is_told_after_every_call(self, engine):
        told = []
        self.run(engine, lambda _: ["a"], progress=lambda done, total: told.append((done, total)))
        assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]

    def test_a_limit_holds(self, engine):
        seen = []
        assert self.run(engine, lambda given: seen.append(given) or ["a"], limit=2).sample_ids == ("q0", "q1")
        assert len(seen) == 2

    def test_problems_of_the_data_are_found_before_the_first_call(self, engine):
        seen = []
        with pytest.raises(DataError):
            self.run(engine, seen.append, [*self.ROWS, {"id": "bad"}])
        assert seen == []

    @rows(
        "options",
        [
            {"outputs": {}, "sut": print},
            {"sut": "module:function"},
            {"sut": print, "concurrency": 0},
            {"sut": print, "concurrency": 1.5},
            {"sut": print, "concurrency": True},
            {"sut": print, "timeout": 0},
            {"sut": print, "timeout": -1.0},
            {"limit": 0},
            {"batch_size": 0},
        ],
        ids=str,
    )
    def test_arguments_that_do_not_fit_are_refused(self, engine, options):
        with pytest.raises(ParameterError):
            engine.dataset(self.ROWS).with_metrics(["MRR"]).run(**options)

    def test_arun_takes_a_system(self, engine):
        async def sut(given):
            return ["b", "a"]

        evaluation = engine.dataset(self.ROWS).with_metrics(["MRR"])
        assert_same_scores(evaluation.run(sut=sut), asyncio.run(evaluation.arun(sut=sut)))

    def test_arun_takes_outputs(self, engine):
        evaluation = engine.dataset(self.ROWS).with_metrics(["MRR"])
        outputs = {f"q{n}": ["b"] * n + ["a"] for n in range(4)}
        assert_same_scores(evaluation.run(outputs=outputs), asyncio.run(evaluation.arun(outputs=outputs)))

    def test_arun_refuses_arguments_that_do_not_fit(self, engine):
        with pytest.raises(ParameterError):
            asyncio.run(engine.dataset(self.ROWS).with_metrics(["MRR"]).arun(outputs={}, sut=print))

    @pytest.mark.parametrize("is_async", [False, True])
    def test_run_works_where_a_loop_is_running_already(self, engine, is_async):
        async def asynchronous(given):
            return ["b", "a"]

        async def main():
            return self.run(engine, asynchronous if is_async else lambda _: ["b", "a"])

        assert asyncio.run(main())["MRR"].mean == 0.5

    def test_an_error_in_a_running_loop_reaches_the_caller(self, engine):
        async def main():
            return self.run(engine, lambda _: ["a"], [{"id": "bad"}])

        with pytest.raises(DataError):
            asyncio.run(main())


class TestInterrupt:
    def interrupted(self, engine, after, sut=lambda _: ["a"]):
        def progress(done, _total):
            if done == after:
                raise KeyboardInterrupt

        rows = [sample(f"q{n}") for n in range(4)]
        with pytest.raises(RunInterrupted) as caught:
            engine.dataset(rows).with_metrics(["MRR"]).run(sut=sut, concurrency=1, progress=progress)
        return caught.value

    def test_what_was_done_is_kept(self, engine):
        error = self.interrupted(engine, 2)
        assert error.result.sample_ids == ("q0", "q1")
        assert values(error.result) == {"q0": 1.0, "q1": 1.0}
        assert "2 of 4 samples" in str(error)

    def test_the_result_says_that_it_is_incomplete(self, engine):
        error = self.interrupted(engine, 3)
        assert error.result.manifest["interrupted"] is True
        assert error.result.is_incomplete
        assert error.exit_code == 3

    def test_it_is_a_keyboard_interrupt_so_that_nothing_swallows_it(self, engine):
        assert isinstance(self.interrupted(engine, 1), KeyboardInterrupt)

    def test_it_may_be_saved(self, engine, tmp_path):
        result = self.interrupted(engine, 2).result
        assert_same_scores(result, Result.load(result.save(tmp_path / "run")))

    def test_an_interrupt_before_the_first_answer_leaves_an_empty_result(self, engine):
        async def sut(_given):
            signal.raise_signal(signal.SIGINT)
            await asyncio.Event().wait()

        result = self.interrupted(engine, 99, sut).result
        assert (len(result), result["MRR"].mean) == (0, None)

    def test_a_system_that_raises_it_by_itself_fails_for_that_sample(self, engine):
        async def sut(given):
            if given == 1:
                raise KeyboardInterrupt
            return ["a"]

        rows = [{**sample(f"q{n}"), "input": n} for n in range(3)]
        result = engine.dataset(rows).with_metrics(["MRR"]).run(sut=sut, concurrency=1)
        assert values(result) == {"q0": 1.0, "q1": 0.0, "q2": 1.0}
        assert "KeyboardInterrupt" in result.errors[0].reason


class TestScore:
    def test_one_sample_is_scored_at_a_time(self, engine):
        scores = engine.dataset([]).with_metrics(["MRR", "ndcg@10"]).score(sample("q", output=["b", "a"]))
        assert list(scores) == ["mrr", "ndcg@10"]
        assert (scores["mrr"].value, scores["mrr"].status) == (0.5, "scored")

    def test_it_takes_a_sample_value(self, engine):
        given = Sample("q", None, Expected(relevant={"a": 1.0}), Output(["b", "a"]))
        assert engine.dataset([]).with_metrics(["MRR"]).score(given)["mrr"].value == 0.5

    @pytest.mark.parametrize(
        ("change", "value", "status"),
        [
            ({"actual_output": None}, 0.0, "missing"),
            ({"actual_output": "[oops"}, 0.0, "failed"),
            ({"expected_output": []}, None, "undefined"),
            ({"metadata": {"answerable": False}}, None, "undefined"),
        ],
    )
    def test_statuses_come_with_a_reason(self, engine, change, value, status):
        found = engine.dataset([]).with_metrics(["MRR"]).score({**sample("q", output=["a"]), **change})["mrr"]
        assert (value, status) == (found.value, found.status)
        assert found.reason

    def test_details_come_on_request(self, engine):
        evaluation = engine.dataset([]).with_metrics(["ndcg@2"])
        row = sample("q", output=["a", "b", "c"])
        assert evaluation.score(row)["ndcg@2"].details is None
        assert evaluation.score(row, details=True)["ndcg@2"].details["k"] == 2

    def test_a_sample_that_breaks_the_contract_is_refused(self, engine):
        with pytest.raises(DataError, match="expected_output"):
            engine.dataset([]).with_metrics(["MRR"]).score({"id": "q"})

    def test_a_metric_that_has_to_see_all_data_first_is_refused(self, engine):
        with pytest.raises(PlanError, match="max_grade"):
            engine.dataset([]).with_metrics(["err@10"]).score(sample("q", output=["a"]))
        evaluation = engine.dataset([]).with_metrics(["err(max_grade=3)@10"])
        assert evaluation.score(sample("q", output=["a"]))

    def test_it_agrees_with_run(self, engine):
        evaluation = engine.dataset(MIXED).with_metrics(METRICS)
        result = evaluation.run()
        for place, row in enumerate(MIXED):
            for name, score in evaluation.score(row).items():
                column = result[name]
                value = column.values[place]
                assert (None if np.isnan(value) else value) == score.value
                assert (column.status(place), column.reasons.get(place, "")) == (score.status, score.reason)


METRICS = ("ndcg@10", "retrieval-recall-at-k", "MRR", "AP", "P@3", "err(max_grade=4)@5")

MIXED = tuple(
    {
        "id": f"q{n}",
        "expected_output": {f"d{(n * 7 + m) % 11}": (m * n) % 5 for m in range(1 + n % 4)},
        "actual_output": [f"d{(n * 3 + m * 5) % 11}" for m in range(n % 9)] if n % 6 else ("[oops" if n % 4 else None),
        "metadata": {"k": 1 + n % 7, "tags": [f"t{n % 3}"]} if n % 2 else {"answerable": n % 10 != 4},
    }
    for n in range(37)
)


class TestStreamAndMerge:
    @pytest.mark.parametrize("size", [1, 2, 5, 36, 37, 4096])
    def test_merged_batches_equal_one_run_to_the_last_bit(self, engine, size):
        evaluation = engine.dataset(MIXED).with_metrics(METRICS)
        parts = list(evaluation.stream(batch_size=size))
        assert -(-37 // size) == len(parts)
        assert_same_scores(evaluation.run(), Result.merge(parts))

    @pytest.mark.parametrize("size", [1, 3, 36])
    def test_the_batch_size_of_a_run_changes_nothing(self, engine, size):
        evaluation = engine.dataset(MIXED).with_metrics([*METRICS, "err@10"])
        assert_same_scores(evaluation.run(), evaluation.run(batch_size=size))

    def test_the_order_of_parts_changes_no_aggregate(self, engine):
        parts = list(engine.dataset(MIXED).with_metrics(METRICS).stream(batch_size=5))
        forth, back = Result.merge(parts), Result.merge(parts[::-1])
        assert [column.mean for column in forth.metrics.values()] == [column.mean for column in back.metrics.values()]

    def test_stream_takes_outputs_and_a_limit(self, engine):
        rows = [sample(f"q{n}") for n in range(4)]
        stream = engine.dataset(rows).with_metrics(["MRR"]).stream(batch_size=2, outputs={"q0": ["a"]}, limit=3)
        assert [part.sample_ids for part in stream] == [("q0", "q1"), ("q2",)]

    def test_stream_raises_a_problem_where_it_reaches_it(self, engine):
        stream = engine.dataset([sample("q1", output=["a"]), {"id": "bad"}]).with_metrics(["MRR"]).stream(batch_size=1)
        assert next(stream).sample_ids == ("q1",)
        with pytest.raises(DataError):
            next(stream)

    def test_stream_refuses_a_metric_that_has_to_see_all_data_first(self, engine):
        with pytest.raises(PlanError, match=r"stream\(\).*\n.*max_grade=3"):
            next(engine.dataset(MIXED).with_metrics(["err@10"]).stream())

    def test_parts_judged_against_different_gold_are_never_merged_into_other_scores_than_a_run(self, engine):
        # By itself the first part would be judged by text, against its answer; a run judges by id throughout.
        @metric("either-found", gold=("relevant", "answer"))
        def either_found(judged: Judged) -> Scores:
            """Count what was found."""
            return judged.found().astype(float)

        rows = [
            {"id": "q1", "expected_output": {"answer": "one"}, "actual_output": [{"id": "a", "text": "one"}]},
            {"id": "q2", "expected_output": {"relevant": ["a"]}, "actual_output": [{"id": "a", "text": "one"}]},
        ]
        evaluation = engine.dataset(rows).with_metrics([either_found])
        whole = evaluation.run()["either-found"]
        assert (whole.n, whole.n_undefined, whole.info.judged) == (1, 1, "relevant by id")
        with pytest.raises(ResultError, match=r"cannot merge.*different ground truth"):
            Result.merge(list(evaluation.stream(batch_size=1)))

    def test_a_merged_stream_knows_the_fingerprint_of_its_file(self, engine, tmp_path):
        path = lines(tmp_path / "s.jsonl", [sample(f"q{n}", output=["a"]) for n in range(3)])
        evaluation = engine.dataset(path).with_metrics(["MRR"])
        merged = Result.merge(list(evaluation.stream(batch_size=1)))
        assert evaluation.run().manifest["dataset"]["fingerprint"] == merged.manifest["dataset"]["fingerprint"]

    def test_nothing_cannot_be_merged(self):
        with pytest.raises(ResultError, match="nothing to merge"):
            Result.merge([])

    def test_one_result_is_merged_into_itself(self, engine):
        result = engine.dataset(MIXED).with_metrics(METRICS).run()
        assert_same_scores(result, Result.merge([result]))

    def test_a_sample_in_two_parts_is_refused(self, engine):
        result = engine.dataset([sample("q1", output=["a"])]).with_metrics(["MRR"]).run()
        with pytest.raises(ResultError, match="sample 'q1' is in two"):
            Result.merge([result, result])

    def test_parts_may_ask_for_a_column_by_different_names(self, engine):
        parts = [
            engine.dataset([sample(name, output=["x", "a"][start:])]).with_metrics([metric]).run()
            for name, metric, start in (("q1", "MRR", 0), ("q2", "RR", 1))
        ]
        merged = Result.merge(parts)
        assert (0.75, ["mrr"]) == (merged["RR"].mean, list(merged.metrics))
        assert ("MRR", "RR") == merged["mrr"].info.spellings

    def test_different_columns_are_refused(self, engine):
        one = engine.dataset([sample("q1", output=["a"])]).with_metrics(["MRR"]).run()
        two = engine.dataset([sample("q2", output=["a"])]).with_metrics(["ndcg@10"]).run()
        with pytest.raises(ResultError, match="columns differ: mrr and ndcg@10"):
            Result.merge([one, two])

    @pytest.mark.parametrize(
        "change",
        [
            lambda evaluation: evaluation.with_profile(duplicates="keep"),
            lambda evaluation: evaluation.with_profile("eval-harness"),
            lambda evaluation: evaluation.with_metrics([{"metric": "ndcg(gain=exponential)@10", "as": "ndcg@10"}]),
        ],
    )
    def test_columns_of_one_name_that_mean_different_things_are_refused(self, engine, change):
        one = engine.dataset([sample("q1", output=["a"])]).with_metrics(["ndcg@10"])
        two = change(engine.dataset([sample("q2", output=["a"])]).with_metrics(["ndcg@10"]))
        with pytest.raises(ResultError, match="does not mean the same"):
            Result.merge([one.run(), two.run()])

    def test_a_merged_column_says_which_cutoffs_its_parts_used(self, engine):
        rows = [sample("q1", output=["a"]), sample("q2", output=["a"], k=9)]
        evaluation = engine.dataset(rows).with_metrics(["retrieval-recall-at-k"])
        column = Result.merge(list(evaluation.stream(batch_size=1)))["retrieval-recall-at-k"]
        assert column.k == (5, 9)
        assert column.info.k_sources == {"default": 1, "sample metadata": 1}

    def test_columns_without_pinned_cutoff_under_different_defaults_are_refused(self, engine):
        one = engine.dataset([sample("q1", output=["a"])]).with_metrics(["retrieval-recall-at-k"]).with_defaults(k=1)
        two = engine.dataset([sample("q2", output=["a"])]).with_metrics(["retrieval-recall-at-k"]).with_defaults(k=9)
        with pytest.raises(ResultError, match="does not mean the same"):
            Result.merge([one.run(), two.run()])

    def test_inferred_parameters_that_differ_are_refused(self, engine):
        parts = [
            engine.dataset([{"id": f"q{g}", "expected_output": {"a": g}, "actual_output": ["a"]}])
            .with_metrics(["err@10"])
            .run()
            for g in (1, 3)
        ]
        with pytest.raises(ResultError, match="inferred different parameters"):
            Result.merge(parts)


class TestLimitDetailsAndNotes:
    def test_a_limit_takes_the_first_samples(self, engine):
        result = engine.dataset(MIXED).with_metrics(["MRR"]).run(limit=3)
        assert result.sample_ids == ("q0", "q1", "q2")

    def test_details_are_kept_on_request_only(self, engine):
        evaluation = engine.dataset([sample("q", output=["b", "a"])]).with_metrics(["ndcg@2"])
        assert evaluation.run()["ndcg@2"].details is None
        (facts,) = evaluation.run(details=True)["ndcg@2"].details
        # The only relevant item stands at rank 2: 1 / log2(3) against 1 / log2(2).
        assert facts["explanation"]["arithmetic"] == "ndcg@2 = 0.6309 / 1 (ideal DCG) = 0.6309"
        assert {name: fact for name, fact in facts.items() if name != "explanation"} == {
            "k": 2,
            "dcg": pytest.approx(1 / np.log2(3), rel=1e-12),
            "idcg": 1.0,
        }

    def test_details_change_no_score(self, engine):
        evaluation = engine.dataset(MIXED).with_metrics(METRICS)
        assert_same_scores(evaluation.run(), evaluation.run(details=True))

    def test_ids_that_never_meet_give_a_note_with_both_looks(self, engine):
        rows = [sample("q1", ["Doc 17"], ["chunk_17"]), sample("q2", ["Doc 3"], ["chunk_3"])]
        result = engine.dataset(rows).with_metrics(["MRR", "ndcg@1"]).run()
        (note,) = result.notes
        assert "outputs: `chunk_17`; ground truth: `Doc 17`" in note
        assert result["MRR"].mean == 0.0

    def test_ids_that_meet_once_give_no_note(self, engine):
        rows = [sample("q1", ["Doc 17"], ["chunk_17"]), sample("q2", ["Doc 3"], ["Doc 3"])]
        assert engine.dataset(rows).with_metrics(["MRR"]).run(batch_size=1).notes == ()

    def test_empty_rankings_give_no_note(self, engine):
        assert engine.dataset([sample("q1", ["a"], [])]).with_metrics(["MRR"]).run().notes == ()

    def test_notes_are_logged_as_well(self, engine, caplog):
        with caplog.at_level(logging.WARNING, logger="rankgauge"):
            engine.dataset([sample("q1", ["Doc 17"], ["chunk_17"])]).with_metrics(["MRR"]).run()
        assert "chunk_17" in caplog.text

    def test_a_grade_that_was_inferred_gives_a_note(self, engine):
        rows = [{"id": "q", "expected_output": {"a": 3}, "actual_output": ["a"]}]
        (note,) = engine.dataset(rows).with_metrics(["err@10"]).run().notes
        assert "max_grade was inferred from the data: 3" in note


class TestManifest:
    def test_it_says_what_a_reader_has_to_know(self, engine, tmp_path):
        path = lines(tmp_path / "s.jsonl", [sample("q", output=["a"])])
        result = engine.dataset(path).with_metrics(["nDCG@10"]).with_profile("eval-harness").run()
        manifest = result.manifest
        assert manifest["profile"] == "eval-harness"
        assert manifest["policy"]["no_gold"] == "zero"
        assert manifest["interrupted"] is False
        assert manifest["dataset"]["fingerprint"].startswith("sha256:")
        assert {"rankgauge", "python", "numpy"} <= set(manifest["versions"])
        assert "rankgauge" in {plugin["distribution"] for plugin in manifest["plugins"]}
        info = result["ndcg@10"].info
        assert info.provider["distribution"] == "rankgauge"
        assert info.provider["file"].endswith("ndcg.py")
        assert info.expression == "retrieval-ndcg-at-k(clamp=true)@10"

    def test_the_sources_of_cutoffs_are_counted(self, engine):
        rows = [sample("q1", output=["a"], k=3), sample("q2", output=["a"]), sample("q3", output=["a"])]
        evaluation = engine.dataset(rows).with_metrics(
            ["retrieval-recall-at-k", "recall@7", {"metric": "retrieval-hit-at-k", "k": 4}]
        )
        result = evaluation.with_defaults(k=9).run()
        columns = [result[name] for name in ("retrieval-recall-at-k", "recall@7", "retrieval-hit-at-k")]
        assert [column.k for column in columns] == [(3, 9), 7, (3, 4)]
        assert [column.info.k_sources for column in columns] == [
            {"sample metadata": 1, "default": 2},
            {"pinned": 3},
            {"sample metadata": 1, "metric": 2},
        ]
