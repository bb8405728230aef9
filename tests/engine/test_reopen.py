"""The road back from a result to its data: in memory, from a folder, and refused where something has changed."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

import rankgauge
from rankgauge import Catalog, Engine, Result
from rankgauge.engine.reopen import check_definitions, evaluation_of, is_of_run, run_evaluation_of
from rankgauge.engine.runs import evaluate_runs
from rankgauge.errors import DataError, ResultError

CATALOG = Catalog.discover(own_only=True)
SAMPLES = [
    {"id": "q1", "input": "one", "expected_output": ["a"], "actual_output": ["b", "a"]},
    {"id": "q2", "input": "two", "expected_output": ["a"], "actual_output": ["a"]},
]
QRELS = "q1 0 a 1\nq1 0 b 0\nq2 0 a 2\n"
RUN = "q1 Q0 b 1 3 t\nq1 Q0 a 2 2 t\nq2 Q0 a 1 1 t\n"


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def written(rows=SAMPLES, name="samples.jsonl"):
    Path(name).write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    return name


def evaluation(source=None):
    return Engine(catalog=CATALOG).dataset(source or written()).with_metrics(["RR", "P@1"])


def again(result):
    """Score a result again from where it came, and return its scores."""
    reopened = evaluation_of(result, catalog=CATALOG)
    check_definitions(reopened.plan(), result)
    scored = reopened.run()
    return scores(scored)


def scores(result):
    """Return the scores of each column."""
    return [column.values.tolist() for column in result.metrics.values()]


def system(given):
    if given == "two":
        msg = "no index"
        raise ConnectionError(msg)
    return [{"id": "a", "text": "the text"}]


class TestSamples:
    @pytest.mark.parametrize("saved", [False, True])
    def test_a_data_file_is_read_again(self, saved):
        result = evaluation().run()
        if saved:
            result = Result.load(result.save("folder"))
        assert again(result) == scores(result) == [[0.5, 1.0], [0.0, 1.0]]

    @pytest.mark.parametrize("saved", [False, True])
    def test_an_outputs_file_given_to_run_is_read_again(self, saved):
        outputs = written([{"id": "q1", "actual_output": ["a"]}], "outputs.jsonl")
        result = evaluation().run(outputs=outputs)
        if saved:
            result = Result.load(result.save("folder"))
        assert again(result) == scores(result) == [[1.0, 1.0], [1.0, 1.0]]

    @pytest.mark.parametrize("saved", [False, True])
    def test_what_a_system_returned_is_scored_again_without_a_call(self, saved):
        result = evaluation().run(sut=system)
        if saved:
            result = Result.load(result.save("folder"))
        assert again(result) == scores(result) == [[1.0, 0.0], [1.0, 0.0]]
        assert result.outputs["q1"].actual_output == [{"id": "a", "text": "the text"}]
        failure = result.outputs["q2"].error
        assert (failure.type, failure.message) == ("ConnectionError", "no index")
        assert "in system" in failure.traceback

    def test_outputs_given_in_python_are_there_as_long_as_the_result(self):
        result = evaluation().run(outputs={"q1": ["a"], "q2": ["x"]})
        assert again(result) == [[1.0, 0.0], [1.0, 0.0]]
        with pytest.raises(ResultError, match=r"outputs of .* were given in Python"):
            evaluation_of(Result.load(result.save("folder")))

    def test_samples_given_in_python_are_there_as_long_as_the_result(self):
        result = evaluation(SAMPLES).run()
        assert again(result.take([1])) == [[0.5, 1.0], [0.0, 1.0]]
        with pytest.raises(ResultError, match=r"samples of .* were given in Python"):
            evaluation_of(Result.load(result.save("folder")))

    def test_the_folder_works_from_another_working_directory(self, tmp_path, monkeypatch):
        outputs = written([{"id": "q1", "actual_output": ["a"]}], "outputs.jsonl")
        folder = evaluation().with_outputs(outputs).run().save("folder")
        (tmp_path / "elsewhere").mkdir()
        monkeypatch.chdir(tmp_path / "elsewhere")
        assert again(Result.load(folder)) == [[1.0, 1.0], [1.0, 1.0]]

    def test_profile_policy_and_cutoffs_come_back(self):
        profiled = evaluation().with_profile("eval-harness").with_metrics(["retrieval-hit-at-k"]).with_defaults(k=1)
        result = profiled.run()
        loaded = Result.load(result.save("folder"))
        reopened = evaluation_of(loaded, catalog=CATALOG)
        assert reopened.profile == profiled.profile
        assert again(loaded) == scores(result) == [[0.0, 1.0]]

    @pytest.mark.parametrize("saved", [False, True])
    def test_a_changed_dataset_is_refused(self, saved):
        result = evaluation().run()
        if saved:
            result = Result.load(result.save("folder"))
        written(SAMPLES[:1])
        with pytest.raises(ResultError, match=r"the dataset .*samples\.jsonl is not what the result was computed from"):
            evaluation_of(result, catalog=CATALOG)

    def test_a_changed_outputs_file_is_refused(self):
        outputs = written([{"id": "q1", "actual_output": ["a"]}], "outputs.jsonl")
        result = evaluation().run(outputs=outputs)
        written([{"id": "q1", "actual_output": ["b"]}], "outputs.jsonl")
        with pytest.raises(ResultError, match=r"the outputs file outputs\.jsonl is not what"):
            evaluation_of(result)

    def test_a_missing_dataset_is_refused(self):
        result = Result.load(evaluation().run().save("folder"))
        Path("samples.jsonl").unlink()
        with pytest.raises((DataError, ResultError), match=r"samples\.jsonl"):
            evaluation_of(result, catalog=CATALOG)

    def test_other_definitions_are_refused(self):
        result = evaluation().run()
        other = evaluation().with_profile("eval-harness")
        with pytest.raises(ResultError, match="cannot be computed as it was"):
            check_definitions(other.plan(), result)

    def test_a_merged_or_sent_result_has_no_road_back(self):
        result = evaluation().run()
        with pytest.raises(ResultError, match="it has 1 parts"):
            evaluation_of(Result.merge([result]))
        with pytest.raises(ResultError, match="from another process"):
            evaluation_of(pickle.loads(pickle.dumps(result)))  # noqa: S301  # our own

    def test_a_result_of_samples_is_not_one_of_a_run(self):
        result = evaluation().run()
        assert not is_of_run(result)
        with pytest.raises(ResultError, match="a result of samples"):
            run_evaluation_of(result)


class TestRuns:
    def files(self):
        Path("qrels.txt").write_text(QRELS, "utf-8")
        Path("run.txt").write_text(RUN, "utf-8")
        return "qrels.txt", "run.txt"

    def again(self, result):
        found = run_evaluation_of(result, catalog=CATALOG)
        (scored,) = evaluate_runs(found.plan, found.qrels, {"run": found.run}, columns=found.columns).values()
        return scores(scored)

    @pytest.mark.parametrize("saved", [False, True])
    @pytest.mark.parametrize("options", [{}, {"rel": 2, "k": 1}, {"profile": "trec9", "policy": {"ties": "average"}}])
    def test_files_are_read_again(self, saved, options):
        metrics = ["AP", "retrieval-ndcg-at-k", "P@1", "recall(rel=2)@1"]
        result = rankgauge.evaluate(*self.files(), metrics, catalog=CATALOG, **options)
        if saved:
            result = Result.load(result.save("folder"))
        assert is_of_run(result)
        assert self.again(result) == scores(result)

    def test_mappings_are_there_as_long_as_the_result(self):
        result = rankgauge.evaluate({"q": {"a": 1}}, {"q": {"b": 2.0, "a": 1.0}}, "RR", catalog=CATALOG)
        assert self.again(result) == [[0.5]]
        with pytest.raises(ResultError, match="its judgments came from memory or standard input"):
            run_evaluation_of(Result.load(result.save("folder")))

    def test_tables_keep_their_column_names(self):
        Path("qrels.csv").write_text("topic,url,grade\nq1,a,1\n", "utf-8")
        Path("run.csv").write_text("topic,url,s\nq1,b,2\nq1,a,1\n", "utf-8")
        columns = {"document": "url", "run.score": "s"}
        result = rankgauge.evaluate("qrels.csv", "run.csv", "RR", columns=columns, catalog=CATALOG)
        loaded = Result.load(result.save("folder"))
        assert self.again(loaded) == scores(result)
        assert scores(result) == [[0.5]]

    def test_changed_judgments_are_refused(self):
        loaded = Result.load(rankgauge.evaluate(*self.files(), "AP", catalog=CATALOG).save("folder"))
        Path("qrels.txt").write_text(QRELS.replace("b 0", "b 1"), "utf-8")
        with pytest.raises(ResultError, match=r"the judgments .*qrels\.txt is not what the result was computed from"):
            run_evaluation_of(loaded, catalog=CATALOG)

    def test_a_result_of_a_run_is_not_one_of_samples(self):
        with pytest.raises(ResultError, match="a result of a run and judgments"):
            evaluation_of(rankgauge.evaluate(*self.files(), "AP", catalog=CATALOG))
