import json
import re
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from rankgauge import Result
from rankgauge.catalog import Catalog
from rankgauge.cli import main
from rankgauge.engine.evaluation import Evaluation

_INTERRUPTING = """\
import asyncio, signal

async def sut(given):
    signal.raise_signal(signal.SIGINT)
    await asyncio.Event().wait()
"""

SUT = """\
def echo(given):
    return ["a"]

async def later(given):
    return ["b", "a"]

class Systems:
    @staticmethod
    def inner(given):
        return ["a"]

def broken(given):
    raise ConnectionError("index is gone")

number = 3
"""

FRESH = '''
from rankgauge.plugin import JudgedSample, sample_metric


@sample_metric("fresh-share-at-k", gold=(), needs="result_metadata")
def fresh(ranking: JudgedSample, *, k: int = 5, since: int = 2025) -> float:
    """Share of the first k results that are from a year or later."""
    known = ranking.seen.result_metadata[:k]
    return sum(each["year"] >= since for each in known) / len(known)
'''


class TestExitCodes:
    def test_0_when_everything_was_scored(self, rankgauge, project):
        done = rankgauge("run", project)
        assert done.code == 0
        assert "mrr" in done.out
        assert "0.7500" in done.out  # (1 + 1/2) / 2

    def test_eval_is_the_same_as_run(self, rankgauge, project):
        assert (
            rankgauge("run", project, "--json").json["metrics"] == rankgauge("eval", project, "--json").json["metrics"]
        )

    @pytest.mark.parametrize(
        "arguments",
        [
            ["run"],
            ["run", "rankgauge.yaml", "--data", "samples.jsonl"],
            ["run", "rankgauge.yaml", "--no-such-option"],
            ["run", "rankgauge.yaml", "--k", "five"],
            ["run", "rankgauge.yaml", "--k", "0"],
            ["run", "rankgauge.yaml", "--limit", "0"],
            ["run", "rankgauge.yaml", "--max-failed", "2"],
            ["run", "rankgauge.yaml", "--metric", "ndgc@10"],
            ["run", "rankgauge.yaml", "--metric", "ndcg(gain=cubic)@10"],
            ["run", "rankgauge.yaml", "--set", "strikt"],
            ["run", "rankgauge.yaml", "--profile", "eval_harness"],
            ["run", "rankgauge.yaml", "--dataset", "yours"],
            ["run", "rankgauge.yaml", "--format", "html"],
            ["run", "rankgauge.yaml", "--outputs", "nowhere.jsonl"],
            ["run", "rankgauge.yaml", "--outputs", "samples.jsonl", "--sut", "mod:f"],
            ["run", "rankgauge.yaml", "--sut", "no colon"],
            ["run", "rankgauge.yaml", "--sut", "no_such_module_at_all:f"],
            ["run", "rankgauge.yaml", "--concurrency", "0", "--sut", "json:dumps"],
            ["run", "rankgauge.yaml", "--workers", "2", "--sut", "json:dumps"],
            ["run", "nowhere.yaml"],
            ["run", "--data", "nowhere.jsonl", "--metric", "MRR"],
            ["run", "--data", "samples.jsonl"],
            ["run", "--data", "samples.jsonl", "--set", "strict"],
            ["no-such-command"],
            ["--log-level", "loud", "run", "rankgauge.yaml"],
            ["--log-format", "xml", "run", "rankgauge.yaml"],
        ],
        ids=" ".join,
    )
    def test_2_for_usage_config_and_unreadable_input(self, rankgauge, project, arguments):
        done = rankgauge(*arguments)
        assert done.code == 2
        assert done.out == ""
        assert "rror: " in done.err
        assert "internal error" not in done.err

    def test_3_when_the_run_is_incomplete(self, rankgauge, write):
        data = write("s.jsonl", [{"id": "q1", "expected_output": ["a"]}])
        done = rankgauge("run", "--data", data, "--metric", "MRR")
        assert done.code == 3
        assert "mrr" in done.out
        assert "the run is incomplete: 1 of 1 sample is missing" in done.err
        assert "--max-failed" in done.err

    def test_3_when_the_run_was_interrupted_with_what_was_done(self, rankgauge, project, write, monkeypatch):
        write("interrupting_sut.py", _INTERRUPTING)
        done = rankgauge("run", project, "--sut", "interrupting_sut:sut", "--json")
        assert done.code == 3
        assert "interrupted" in done.err
        assert done.json["samples"] == 0

    def test_3_when_a_run_without_system_was_interrupted(self, rankgauge, project, monkeypatch):
        def interrupted(*_args, **_options):
            raise KeyboardInterrupt

        monkeypatch.setattr(Evaluation, "run", interrupted)
        done = rankgauge("run", project)
        assert (done.code, done.err.strip()) == (3, "error: interrupted; nothing was scored")

    def test_4_when_there_is_nothing_to_evaluate(self, rankgauge, write):
        done = rankgauge("run", "--data", write("s.jsonl", ""), "--metric", "MRR")
        assert done.code == 4
        assert "s.jsonl" in done.err

    def test_4_for_a_config_without_datasets(self, rankgauge, write):
        done = rankgauge("run", write("c.yaml", "version: 1\nmetrics: {use: [MRR]}\n"))
        assert done.code == 4
        assert "declares no dataset" in done.err

    def test_5_for_a_bug_of_ours_without_a_traceback(self, rankgauge, project, monkeypatch):
        def broken(*_args, **_options):
            msg = "the sky fell"
            raise RuntimeError(msg)

        monkeypatch.setattr(Evaluation, "run", broken)
        done = rankgauge("run", project)
        assert (done.code, done.out) == (5, "")
        assert "internal error: RuntimeError: the sky fell" in done.err
        assert "--debug" in done.err

    @pytest.mark.usefixtures("process")
    def test_debug_shows_the_traceback_wherever_it_stands(self):
        for arguments in (["--debug", "run", "no.yaml"], ["run", "no.yaml", "--debug"]):
            found = subprocess.run(
                [sys.executable, "-m", "rankgauge", *arguments], capture_output=True, text=True, check=False
            )
            assert found.returncode != 0
            assert "Traceback" in found.stderr
            assert "UnreadableError" in found.stderr

    def test_without_debug_main_exits_with_the_code(self, project, capsys):
        with pytest.raises(SystemExit) as done:
            main(["run", project, "--metric", "ndgc@10"])
        assert done.value.code == 2
        assert "did you mean" in capsys.readouterr().err

    def test_with_debug_a_traceback_is_added_and_the_code_stays(self, project, capsys):
        with pytest.raises(SystemExit) as done:
            main(["run", project, "--metric", "ndgc@10", "--debug"])
        told = capsys.readouterr().err
        assert (done.value.code, "Traceback" in told, "did you mean" in told.splitlines()[-1]) == (2, True, True)

    def test_the_version_is_printed(self, rankgauge):
        done = rankgauge("--version")
        assert done.code == 0
        assert done.out.startswith("rankgauge ")


class TestOutput:
    def test_json_makes_stdout_json_only(self, rankgauge, write):
        # A note about ids that never meet, and a missing output: both go to stderr.
        rows = [
            {"id": "q1", "expected_output": ["Doc 17"], "actual_output": ["chunk_17"]},
            {"id": "q2", "expected_output": ["a"]},
        ]
        done = rankgauge("run", "--data", write("s.jsonl", rows), "--metric", "MRR", "--json", "--output", "run")
        assert done.code == 3
        assert done.json["schema_version"] == "rankgauge.report.v1"
        assert "chunk_17" in done.err
        assert "saved to" in done.err

    def test_json_is_the_same_as_format_json(self, rankgauge, project):
        assert rankgauge("run", project, "--json").out == rankgauge("run", project, "--format", "json").out

    def test_several_datasets_make_one_json_document(self, rankgauge, project, write):
        config = write("two.yaml", "version: 1\ndatasets: {a: {path: samples.jsonl}, b: {path: samples.jsonl}}\n")
        done = rankgauge("run", config, "--metric", "MRR", "--json")
        assert [each["dataset"]["name"] for each in done.json] == ["a", "b"]
        one = rankgauge("run", config, "--metric", "MRR", "--json", "--dataset", "b")
        assert one.json["dataset"]["name"] == "b"

    @pytest.mark.parametrize(
        ("form", "beginning"), [("markdown", "# Evaluation of mine"), ("jsonl", '{"sample_id":"q1"')]
    )
    def test_other_formats(self, rankgauge, project, form, beginning):
        done = rankgauge("run", project, "--format", form)
        assert done.code == 0
        assert done.out.startswith(beginning)

    def test_an_unknown_format_comes_with_the_known_ones(self, rankgauge, project):
        assert "did you mean 'markdown'?" in rankgauge("run", project, "--format", "markdwn").err

    def test_bands_are_shown_on_request(self, rankgauge, project):
        assert "good" not in rankgauge("run", project).out
        assert "good" in rankgauge("run", project, "--bands").out  # a mean reciprocal rank of 0.75

    def test_nothing_is_coloured_where_there_is_no_terminal(self, rankgauge, project):
        done = rankgauge("run", project)
        assert "\x1b" not in done.out + done.err

    def test_log_lines_are_json_on_request(self, rankgauge, write):
        rows = [{"id": "q1", "expected_output": ["Doc 17"], "actual_output": ["chunk_17"]}]
        data = write("s.jsonl", rows)
        done = rankgauge("--log-format", "json", "run", "--data", data, "--metric", "MRR", "--json")
        (line,) = done.err.splitlines()
        logged = json.loads(line)
        assert "chunk_17" in logged["event"]
        assert (logged["level"], logged["logger"]) == ("warning", "rankgauge.engine")
        plain = rankgauge("run", "--data", data, "--metric", "MRR", "--json")
        assert "chunk_17" in plain.err
        with pytest.raises(json.JSONDecodeError):
            json.loads(plain.err)

    def test_the_log_level_silences(self, rankgauge, write):
        rows = [{"id": "q1", "expected_output": ["Doc 17"], "actual_output": ["chunk_17"]}]
        done = rankgauge("--log-level", "error", "run", "--data", write("s.jsonl", rows), "--metric", "MRR")
        assert done.err == ""


class TestOverrides:
    def test_metric_replaces_the_metrics_of_the_config(self, rankgauge, project):
        done = rankgauge("run", project, "--metric", "P@1", "-m", "recall@1,2", "--json")
        assert list(done.json["metrics"]) == ["p@1", "recall@1", "recall@2"]
        assert [done.mean(name) for name in ("p@1", "recall@1", "recall@2")] == [0.5, 0.5, 1.0]

    def test_set_takes_a_set_of_the_config(self, rankgauge, project):
        assert list(rankgauge("run", project, "--set", "strict", "--json").json["metrics"]) == ["p@1"]
        both = rankgauge("run", project, "--set", "strict", "--set", "wide", "--metric", "MRR", "--json")
        assert list(both.json["metrics"]) == ["p@1", "recall@7", "mrr"]

    def test_k_overrides_the_default_cutoff(self, rankgauge, project):
        column = rankgauge("run", project, "--k", "1", "--json").json["metrics"]["retrieval-recall-at-k"]
        assert (column["k"], column["mean"]) == (1, 0.5)

    def test_profile_overrides_that_of_the_config(self, rankgauge, project):
        done = rankgauge("run", project, "--profile", "eval-harness", "--json")
        assert done.json["profile"] == "eval-harness"
        assert done.json["policy"]["no_gold"] == "zero"

    def test_policy_options_of_the_config_stay_under_another_profile(self, rankgauge, project, write):
        write("c.yaml", Path(project).read_text("utf-8") + "policy: {duplicates: keep}\n")
        policy = rankgauge("run", "c.yaml", "--profile", "eval-harness", "--json").json["policy"]
        assert (policy["duplicates"], policy["no_gold"]) == ("keep", "zero")

    def test_outputs_replace_what_the_samples_hold(self, rankgauge, project, write):
        outputs = write("o.jsonl", [{"id": f"q{n}", "actual_output": ["b", "b2", "a"]} for n in (1, 2)])
        done = rankgauge("run", project, "--outputs", outputs, "--json")
        assert done.mean("mrr") == pytest.approx(1 / 3, rel=1e-12)
        assert done.json["outputs"]["path"] == outputs
        assert done.json["outputs"]["replaced_those_in_samples"] == 2

    @pytest.mark.parametrize(("name", "mean"), [("echo", 1.0), ("later", 0.5), ("Systems.inner", 1.0)])
    def test_sut_is_imported_from_the_working_directory(self, rankgauge, project, write, name, mean):
        write("my_system_under_test.py", SUT)
        done = rankgauge("run", project, "--metric", "MRR", "--sut", f"my_system_under_test:{name}", "--json")
        assert (done.code, done.mean("mrr")) == (0, mean)
        assert done.json["outputs"]["from"] == "sut"

    def test_a_failing_system_makes_the_run_incomplete(self, rankgauge, project, write):
        write("my_system_under_test.py", SUT)
        done = rankgauge("run", project, "--sut", "my_system_under_test:broken", "--json")
        assert done.code == 3
        assert "ConnectionError: index is gone" in done.json["errors"][0]["reason"]

    @pytest.mark.parametrize(("name", "words"), [("number", "cannot be called"), ("no_such_name", "no_such_name")])
    def test_what_is_no_system_is_a_usage_error(self, rankgauge, project, write, name, words):
        write("my_system_under_test.py", SUT)
        done = rankgauge("run", project, "--sut", f"my_system_under_test:{name}")
        assert done.code == 2
        assert words in done.err

    @pytest.mark.parametrize(
        ("module", "text", "words"),
        [
            ("sut_with_a_typo", "def f(:\n", "SyntaxError"),
            ("sut_that_raises", "raise ValueError('no key')\n", "no key"),
        ],
    )
    def test_a_module_that_cannot_be_imported_is_a_usage_error(self, rankgauge, project, write, module, text, words):
        write(f"{module}.py", text)
        done = rankgauge("run", project, "--sut", f"{module}:f")
        assert done.code == 2
        assert module in done.err
        assert words in done.err

    def test_limit_takes_the_first_samples(self, rankgauge, project):
        done = rankgauge("run", project, "--limit", "1", "--json")
        assert (done.json["samples"], done.mean("mrr")) == (1, 1.0)

    def test_max_failed_allows_a_share(self, rankgauge, write):
        rows = [
            {"id": "q1", "expected_output": ["a"], "actual_output": ["a"]},
            {"id": "q2", "expected_output": ["a"]},
        ]
        arguments = ("run", "--data", write("s.jsonl", rows), "--metric", "MRR")
        found = [rankgauge(*arguments, "--max-failed", share).code for share in ("0", "0.49", "0.5", "1")]
        assert found == [3, 3, 0, 0]

    def test_a_data_file_needs_no_config(self, rankgauge, project):
        done = rankgauge("run", "--data", "samples.jsonl", "--metric", "MRR", "--json")
        assert done.json["dataset"] == {**done.json["dataset"], "name": "samples", "path": "samples.jsonl"}
        assert done.mean("mrr") == 0.75


class TestSaving:
    def test_output_writes_a_result_folder_and_says_where(self, rankgauge, project):
        done = rankgauge("run", project, "--output", "runs/one", "--details")
        assert done.code == 0
        assert str(Path("runs/one")) in done.err
        loaded = Result.load("runs/one")
        assert loaded["MRR"].mean == 0.75
        assert loaded["MRR"].details is not None

    def test_an_incomplete_run_is_saved_too(self, rankgauge, write):
        data = write("s.jsonl", [{"id": "q1", "expected_output": ["a"]}])
        assert rankgauge("run", "--data", data, "--metric", "MRR", "--output", "one").code == 3
        assert Result.load("one").is_incomplete

    def test_the_config_can_name_a_folder_for_all_runs(self, rankgauge, project, write):
        write("c.yaml", Path(project).read_text("utf-8") + "output: {directory: runs}\n")
        for _ in range(2):
            assert rankgauge("run", "c.yaml").code == 0
        folders = sorted(Path("runs").iterdir())
        assert len(folders) == 2
        assert all(Result.load(folder)["MRR"].mean == 0.75 for folder in folders)
        assert all("mine" in folder.name for folder in folders)

    def test_several_datasets_have_a_folder_each(self, rankgauge, project, write):
        config = write("two.yaml", "version: 1\ndatasets: {a: {path: samples.jsonl}, b: {path: samples.jsonl}}\n")
        assert rankgauge("run", config, "--metric", "MRR", "--output", "both").code == 0
        assert sorted(path.name for path in Path("both").iterdir()) == ["a", "b"]

    def test_a_folder_that_is_in_use_is_refused_and_left_alone(self, rankgauge, project, write):
        write("full/notes.txt", "mine")
        done = rankgauge("run", project, "--output", "full")
        assert done.code == 2
        assert "choose another" in done.err
        assert [path.name for path in Path("full").iterdir()] == ["notes.txt"]


class TestBadInput:
    """Each message names the place and the way out; nothing is half-written."""

    METRICS = ("--metric", "MRR")

    def refused(self, rankgauge, *arguments, code=2):
        before = self.files()
        done = rankgauge("run", *arguments, "--output", "result")
        assert code == done.code
        assert done.out == ""
        assert before == self.files()
        return done.err

    def files(self):
        """Return all files but the bytecode of modules that were imported."""
        return sorted(path for path in Path().rglob("*") if "__pycache__" not in path.parts)

    def test_malformed_json(self, rankgauge, write):
        data = write("s.json", '{"samples": [\n  {"id": "q1",}\n]}')
        error = self.refused(rankgauge, "--data", data, *self.METRICS)
        assert "s.json:2: not valid JSON" in error

    def test_malformed_json_line(self, rankgauge, write):
        data = write("s.jsonl", '{"id": "q1", "expected_output": ["a"]}\n{"id": \n')
        assert "s.jsonl:2: not valid JSON" in self.refused(rankgauge, "--data", data, *self.METRICS)

    def test_malformed_yaml(self, rankgauge, write):
        data = write("s.yaml", "samples:\n  - {id: q1\n  - x: ]\n")
        assert "not valid YAML" in self.refused(rankgauge, "--data", data, *self.METRICS)

    def test_malformed_yaml_of_a_config(self, rankgauge, write):
        config = write("c.yaml", "version: 1\nmetrics: [\n")
        error = self.refused(rankgauge, config)
        assert "c.yaml:" in error
        assert "not valid YAML" in error

    def test_a_missing_field(self, rankgauge, write):
        data = write("s.jsonl", [{"id": "q1", "expected": ["a"]}, {"qid": "q2", "expected_output": ["a"]}])
        error = self.refused(rankgauge, "--data", data, *self.METRICS)
        assert "s.jsonl:1, expected_output, sample 'q1': the field is missing" in error
        assert "s.jsonl:2, id: the field is missing (did you mean 'qid'?)" in error

    def test_the_names_of_others_are_told_with_the_option_that_maps_them(self, rankgauge, write):
        data = write("s.jsonl", [{"id": "q1", "question": "?", "contexts": [], "ground_truth": "yes"}])
        error = self.refused(rankgauge, "--data", data, *self.METRICS)
        assert "map one of yours (question, contexts, ground_truth) onto it" in error
        assert "--field expected_output=..." in error

    def test_a_wrong_type(self, rankgauge, write):
        data = write("s.jsonl", [{"id": "q1", "expected_output": {"relevant": "a"}}])
        error = self.refused(rankgauge, "--data", data, *self.METRICS)
        assert "s.jsonl:1, expected_output.relevant, sample 'q1': expected a list of ids" in error
        assert "found the string 'a'" in error

    def test_duplicate_ids(self, rankgauge, write):
        data = write("s.jsonl", [{"id": "q1", "expected_output": ["a"]}] * 2)
        error = self.refused(rankgauge, "--data", data, *self.METRICS)
        assert "s.jsonl:2, sample 'q1': duplicate sample id 'q1'; ids must be unique" in error

    def test_an_unknown_metric(self, rankgauge, project):
        error = self.refused(rankgauge, project, "--metric", "retrieval-ndgc-at-k")
        assert "unknown metric 'retrieval-ndgc-at-k' (did you mean 'retrieval-ndcg-at-k'" in error

    def test_an_unknown_metric_of_a_config(self, rankgauge, project, write):
        write("c.yaml", "version: 1\ndatasets: {d: {path: samples.jsonl}}\nmetrics:\n  use:\n    - ndgc@10\n")
        error = self.refused(rankgauge, "c.yaml")
        assert "c.yaml:5: unknown metric 'ndgc'" in error

    def test_a_bad_parameter(self, rankgauge, project):
        error = self.refused(rankgauge, project, "--metric", "ndcg(gain=cubic)@10")
        for word in ("retrieval-ndcg-at-k", "gain", "cubic", "linear", "exponential"):
            assert word in error

    def test_an_unknown_parameter(self, rankgauge, project):
        error = self.refused(rankgauge, project, "--metric", "ndcg(gian=linear)@10")
        assert "gian" in error
        assert "'gain'" in error

    @pytest.mark.parametrize("k", ["0", "-3"])
    def test_a_cutoff_of_zero_or_less_on_the_command_line(self, rankgauge, project, k):
        error = self.refused(rankgauge, project, "--k", k)
        assert f"the cutoff of --k must be an integer of 1 or more, not {k}" in error

    @pytest.mark.parametrize("k", ["0", "'5'", "2.5", "true"])
    def test_a_cutoff_that_is_none_in_a_config(self, rankgauge, project, write, k):
        metric = "{metric: retrieval-recall-at-k, k: " + k + "}"
        write("c.yaml", f"version: 1\ndatasets: {{d: {{path: samples.jsonl}}}}\nmetrics:\n  use:\n    - {metric}\n")
        error = self.refused(rankgauge, "c.yaml")
        assert "c.yaml:5" in error
        assert "integer of 1 or more" in error

    @pytest.mark.parametrize("k", ["0", "'5'"])
    def test_a_default_cutoff_that_is_none_in_a_config(self, rankgauge, project, write, k):
        write("c.yaml", f"version: 1\nmetrics:\n  retrieval:\n    default_k: {k}\n")
        assert "c.yaml:4, metrics.retrieval.default_k" in self.refused(rankgauge, "c.yaml")

    @pytest.mark.parametrize("k", [0, "5"])
    def test_a_cutoff_that_is_none_in_a_sample(self, rankgauge, write, k):
        data = write("s.jsonl", [{"id": "q1", "expected_output": ["a"], "metadata": {"k": k}}])
        error = self.refused(rankgauge, "--data", data, *self.METRICS)
        assert f"s.jsonl:1, metadata.k, sample 'q1': k must be an integer of 1 or more, not {k!r}" in error

    def test_outputs_for_unknown_samples(self, rankgauge, project, write):
        outputs = write("o.jsonl", [{"id": "q1", "actual_output": []}, {"id": "Q2", "actual_output": []}])
        error = self.refused(rankgauge, project, "--outputs", outputs)
        assert "o.jsonl: 1 of 2 outputs are for samples that the dataset lacks, such as 'Q2'" in error
        assert "queries=intersection" in error

    def test_a_data_file_may_be_given_as_the_config_is(self, rankgauge, write):
        data = write("s.jsonl", [{"id": "q1", "expected_output": ["a"], "actual_output": ["b", "a"]}])
        assert (
            rankgauge("run", data, "-m", "RR", "--json").out
            == rankgauge("run", "--data", data, "-m", "RR", "--json").out
        )
        outputs = write("o.jsonl", [{"id": "q1", "actual_output": ["a"]}])
        assert 1.0 == rankgauge("run", data, outputs, "-m", "RR", "--json").json["metrics"]["rr"]["mean"]
        twice = self.refused(rankgauge, data, outputs, "--outputs", outputs, *self.METRICS)
        assert f"outputs are given twice: {outputs} and --outputs {outputs}" in twice
        error = self.refused(rankgauge, data, "--data", data, *self.METRICS)
        assert f"two data files are given: {data} and --data {data}" in error

    def test_a_function_of_a_file_is_a_metric(self, rankgauge, write, request):
        """By hand: of the first 1 and 2 results of q1 one is new, and none of q2."""
        module = f"own_{request.node.name}"
        write(f"{module}.py", FRESH)
        items = [{"id": "a", "metadata": {"year": 2026}}, {"id": "b", "metadata": {"year": 2019}}]
        data = write(
            "s.jsonl",
            [
                {"id": "q1", "expected_output": ["a"], "actual_output": items},
                {"id": "q2", "expected_output": ["b"], "actual_output": items[1:]},
            ],
        )
        own = f"{module}.py:fresh"
        asked = [f"{own}@1,2", f"{own}(since=2019, as=old)@2", f"{module}:fresh", "recall@1"]
        metrics = [part for metric in asked for part in ("-m", metric)]
        done = rankgauge("run", data, *metrics, "--gate", "old >= 1", "--json")
        assert 0 == done.code
        means = {name: column["mean"] for name, column in done.json["metrics"].items()}
        assert {
            "fresh-share-at-k@1": 0.5,
            "fresh-share-at-k@2": 0.25,
            "old": 1.0,
            "fresh-share-at-k": 0.25,
            "recall@1": 1.0,
        } == means

    def test_a_saved_score_of_a_function_of_a_file_says_how_it_can_be_explained(self, rankgauge, write, request):
        module = f"own_{request.node.name}"
        write(f"{module}.py", FRESH)
        items = [{"id": "a", "metadata": {"year": 2026}}]
        data = write("s.jsonl", [{"id": "q1", "expected_output": ["a"], "actual_output": items}])
        own = ("-m", f"{module}.py:fresh@1")
        assert 0 == rankgauge("run", data, *own, "-m", "RR", "-o", "out", "--worst", "1").code
        error = rankgauge("explain", "out", "q1").err
        assert "fresh-share-at-k@1 is a function of " in error
        assert f"{module}.py, which no plugin offers, so that it cannot be computed again" in error
        assert "rr of q1: 1.0000" in rankgauge("explain", "out", "q1", "-m", "rr").out
        assert "ranked lists are not shown" not in rankgauge("compare", "out", "out", "--html", "page.html").err
        assert 0 == rankgauge("run", data, *own, "-o", "alone").code
        assert "is a function of " in rankgauge("compare", "alone", "alone", "--html", "page.html").err

    @pytest.mark.parametrize(
        ("metric", "words"),
        [
            ("lost.py:fresh", "-m: cannot import 'lost.py:fresh': there is no file 'lost.py' in "),
            ("neer.py:fresh@5", "(did you mean 'near.py'?)"),
            ("deep.py:fresh", "(did you mean 'inner/deep.py'?)"),
            ("inner/deep.py:hits@5", "(ranking, *, k)` does; retrieved, k can be given by place"),
            ("none/near.py:fresh", "there is no folder "),
            ("inner.py:fresh", "inner.py is a folder"),
            ("near.py:fresh", "module 'near' has no attribute 'fresh' (did you mean 'fresk'?)"),
            ("json:loads@5", "parameter"),
            ("json:loads@x", "expected a number after @, found 'x'"),
            ("sys:version", "-m: 'sys:version' is str, which cannot be called"),
        ],
    )
    def test_what_is_no_metric_of_a_file_is_refused(self, rankgauge, write, metric, words):
        data = write("s.jsonl", [{"id": "q1", "expected_output": ["a"], "actual_output": ["a"]}])
        for name in ("near.py", "inner/deep.py", "inner.py/beside"):
            write(name, "fresk = 3\ndef hits(gold, retrieved, k): return 0\n")
        assert words in self.refused(rankgauge, data, "-m", metric)
        sys.modules.pop("near", None)

    def test_a_run_without_metrics_names_some_to_copy(self, rankgauge, write):
        data = write("s.jsonl", [{"id": "q1", "expected_output": ["a"], "actual_output": ["b", "a"]}])
        error = self.refused(rankgauge, "--data", data)
        written = re.findall("(?:-m [^ ]+ )+", error)
        assert ["-m ndcg@10 -m recall@10 -m RR@10 ", "-m answer_f1 -m EM "] == written
        assert 0 == rankgauge("run", "--data", data, *written[0].split()).code

    def test_failures_alike_but_for_numbers_are_one_line(self, rankgauge, write):
        """With the number of all, the first three, and the reason of the first."""
        timed_out = [(f"q{n}", {"error": f"timed out after {n} s"}) for n in range(1, 31)]
        outputs = [*timed_out, ("q31", {"error": "refused"}), ("q32", {"actual_output": ["a"]})]
        data = write("s.jsonl", [{"id": name, "expected_output": ["a"]} for name, _ in outputs])
        answered = write("o.jsonl", [{"id": name, **output} for name, output in outputs])
        lines = rankgauge("run", "--data", data, "--outputs", answered, *self.METRICS).out.splitlines()
        assert [
            "failed: 30 samples, 'q1', 'q2', 'q3' and 27 more: the system under test failed: timed out after 1 s",
            "failed: sample 'q31': the system under test failed: refused",
        ] == [line for line in lines if line.startswith("failed: ")]

    def test_samples_without_outputs(self, rankgauge, write):
        data = write(
            "s.jsonl",
            [{"id": "q1", "expected_output": ["a"], "actual_output": ["a"]}]
            + [{"id": f"q{n}", "expected_output": ["a"]} for n in (2, 3)],
        )
        done = rankgauge("run", "--data", data, *self.METRICS)
        assert done.code == 3
        assert "missing: 2 samples, 'q2', 'q3': there is no output for this sample" in done.out
        assert "2 of 3 samples are missing or failed" in done.err

    def test_an_empty_dataset(self, rankgauge, write):
        data = write("s.json", '{"samples": []}')
        error = self.refused(rankgauge, "--data", data, *self.METRICS, code=4)
        assert "s.json has no samples; there is nothing to evaluate" in error

    @pytest.mark.parametrize("name", ["folder", "folder.jsonl"])
    def test_a_directory_as_data(self, rankgauge, name):
        Path(name).mkdir()
        assert "directory" in self.refused(rankgauge, "--data", name, *self.METRICS)

    def test_a_directory_as_config(self, rankgauge):
        Path("folder").mkdir()
        error = self.refused(rankgauge, "folder")
        assert "folder" in error
        assert "directory" in error

    def test_a_data_file_that_a_config_names_and_that_is_not_there(self, rankgauge, write):
        config = write("c.yaml", "version: 1\ndatasets: {d: {path: data.jsonl}}\nmetrics: {use: [MRR]}\n")
        error = self.refused(rankgauge, config)
        assert "data.jsonl" in error
        assert "no such file" in error

    def test_gold_that_no_sample_has(self, rankgauge, write):
        data = write("s.jsonl", [{"id": "q1", "expected_output": ["a"], "actual_output": ["a"]}])
        error = self.refused(rankgauge, "--data", data, "--metric", "answer-containment-at-k")
        assert "needs ground truth of the kind answer" in error
        assert "leave the metric out" in error

    def test_a_full_disk_while_saving(self, rankgauge, project, monkeypatch):
        def full(*_args, **_options):
            msg = "parquet: File out of specification: underlying IO error: No space left on device (os error 28)"
            raise pl.exceptions.ComputeError(msg)  # what polars raises on a full device

        monkeypatch.setattr(pl.DataFrame, "write_parquet", full)
        done = rankgauge("run", project, "--output", "result")
        assert done.code == 2
        assert "cannot save to" in done.err
        assert "No space left on device" in done.err
        assert sorted(path.name for path in Path().iterdir()) == ["rankgauge.yaml", "samples.jsonl"]


_ROW = {"qid": "q", "gold": "41 metres", "contexts": ["none", "It is 41 metres tall."], "response": "41 metres"}


class TestFields:
    def test_fields_of_other_systems_are_typed(self, rankgauge, write):
        done = rankgauge(
            *("run", "--data", write("s.jsonl", [_ROW]), "--json", "-m", "containment@1,2", "-m", "EM"),
            *("--field", "id=qid", "--field", "expected_output=gold", "--field", "retrieved=contexts:text"),
            *("--field", "actual_output.answer=response"),
        )
        assert (done.code, done.err) == (0, "")
        assert [done.mean(name) for name in ("containment@1", "containment@2", "em")] == [0.0, 1.0, 1.0]

    def test_they_add_to_those_of_a_config(self, rankgauge, write):
        write("s.jsonl", [_ROW])
        text = "version: 1\ndatasets: {d: {path: s.jsonl, fields: {id: qid, expected_output: nothing}}}\n"
        config = write("c.yaml", text)
        typed = ("--field", "expected_output=gold", "--field", "retrieved=contexts:text")
        done = rankgauge("run", config, "-m", "containment@2", "--json", *typed, "--output", "kept")
        assert done.mean("containment@2") == 1.0
        again = rankgauge("run", "kept/config.resolved.yaml", "--json")
        assert again.mean("containment@2") == 1.0

    def test_a_field_that_cannot_be_read_is_a_usage_error(self, rankgauge, write):
        done = rankgauge("run", "--data", write("s.jsonl", [_ROW]), "-m", "MRR", "--field", "answer=response")
        assert (done.code, "did you mean expected_output.answer or actual_output.answer?" in done.err) == (2, True)


_BY_LANGUAGE = [
    {"id": "q1", "expected_output": ["a"], "actual_output": ["a"], "metadata": {"language": "de"}},
    {"id": "q2", "expected_output": ["a"], "actual_output": ["x"], "metadata": {"language": "en", "level": 2}},
]


class TestCohorts:
    def test_cohorts_are_typed(self, rankgauge, write):
        data = write("s.jsonl", _BY_LANGUAGE)
        done = rankgauge("run", "--data", data, "-m", "MRR", "--json", "--cohort", "metadata.language")
        assert {"language=de": 1.0, "language=en": 0.0} == {
            each["tag"]: each["metrics"]["mrr"]["mean"] for each in done.json["cohorts"]
        }

    def test_those_of_the_config_count_unless_others_are_typed(self, rankgauge, write):
        write("s.jsonl", _BY_LANGUAGE)
        text = "version: 1\ndatasets: {d: {path: s.jsonl}}\nmetrics: {use: [MRR]}\ncohorts: [metadata.language]\n"
        config = write("c.yaml", text)
        told = [each["tag"] for each in rankgauge("run", config, "--json").json["cohorts"]]
        typed = rankgauge("run", config, "--json", "--cohort", "metadata.level").json["cohorts"]
        assert (told, [each["tag"] for each in typed]) == (["language=de", "language=en"], ["level=(none)", "level=2"])

    def test_a_field_that_is_no_metadata_is_refused(self, rankgauge, write):
        done = rankgauge("run", "--data", write("s.jsonl", _BY_LANGUAGE), "-m", "MRR", "--cohort", "language")
        assert (done.code, "such as metadata.language; found 'language'" in done.err) == (2, True)
        config = write("c.yaml", "version: 1\ncohorts: [language]\n")
        assert "c.yaml:2, cohorts[0]: cohorts are made by a field of the metadata" in rankgauge("run", config).err


def test_the_worst_samples_are_listed(rankgauge, project):
    done = rankgauge("run", project, "--worst", "1", "--worst-by", "MRR", "-o", "out")
    assert done.code == 0
    assert "1 sample with the lowest mrr:\n  q2: 0.5000\n    retrieved  b, a\n    expected   a (rank 2)\n" in done.out
    assert [each["sample"] for each in rankgauge("run", project, "--worst", "1", "--json").json["worst"]] == ["q2"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--worst-by", "MRR"), "--worst-by needs --worst N"),
        (("--worst", "1", "--worst-by", "MMR"), "--worst-by: no metric 'MMR' (did you mean 'MRR'?); computed are mrr"),
        (("--worst", "0"), "argument --worst: takes a whole number from 1 on, not '0'"),
    ],
)
def test_worst_samples_that_cannot_be_listed_are_refused_before_the_run(rankgauge, project, options, message):
    done = rankgauge("run", project, *options)
    assert (done.code, done.out) == (2, "")
    assert message in done.err


def test_texts_are_saved_beside_the_scores(rankgauge, project, tmp_path):
    assert rankgauge("run", project, "--with-text", "-o", "out").code == 0
    frame = pl.read_parquet(tmp_path / "out" / "per_sample.parquet")
    assert [each["text"] for each in frame["retrieved"].to_list()[1]] == ["y", "x"]
    lines = rankgauge("run", project, "--with-text", "--format", "jsonl").out.splitlines()
    assert [json.loads(line)["retrieved"][0]["text"] for line in lines] == ["x", "y"]


class TestOptionsWithoutEffect:
    @pytest.mark.parametrize("option", [("--timeout", "3"), ("--concurrency", "2"), ("--retries", "1")])
    def test_options_of_calls_need_a_system_under_test(self, rankgauge, project, option):
        done = rankgauge("run", project, *option)
        assert (done.code, f"{option[0]} is for calls of a system under test" in done.err) == (2, True)

    @pytest.mark.parametrize("option", ["--details", "--near-misses", "--with-text"])
    def test_what_only_a_folder_shows_is_told_where_none_is_written(self, rankgauge, project, option):
        told = f"{option} shows in a result folder (--output) or with --format jsonl"
        assert told in rankgauge("run", project, option).err
        assert told not in rankgauge("run", project, option, "--format", "jsonl").err
        assert told not in rankgauge("run", project, option, "--output", "kept").err
        assert told in rankgauge("rescore", "kept", option).err

    def test_worst_samples_are_not_in_json_lines(self, rankgauge, project):
        done = rankgauge("run", project, "--worst", "1", "--format", "jsonl")
        assert "--worst shows in a result folder (--output) or with other formats" in done.err

    @pytest.mark.parametrize(
        ("policy", "is_told"), [("ties=error", True), ("ties=average", True), ("ties=given", False)]
    )
    def test_ties_without_an_order_by_score_are_told(self, rankgauge, write, policy, is_told):
        rows = [{"id": "q", "expected_output": ["a"], "actual_output": [{"id": "a", "score": 1}]}]
        arguments = ("run", "--data", write("s.jsonl", rows), "-m", "MRR", "--json", "--policy", policy)
        notes = rankgauge(*arguments).json["notes"]
        assert any("has no effect with order=given" in note for note in notes) is is_told
        assert rankgauge(*arguments, "--policy", "order=score").json["notes"] == []


@pytest.mark.parametrize("option", [("--max-failed", "50%"), ("--policy", "max_failed=50%"), ("--max-failed", "0.5")])
def test_a_share_may_be_a_percentage(rankgauge, write, option):
    rows = [{"id": "q1", "expected_output": ["a"], "actual_output": ["a"]}, {"id": "q2", "expected_output": ["a"]}]
    arguments = ("run", "--data", write("s.jsonl", rows), "-m", "MRR")
    assert rankgauge(*arguments, *option).code == 0
    assert rankgauge(*arguments, option[0], option[1].replace("50", "49").replace("0.5", "0.49")).code == 3
    config = "version: 1\ndatasets: {d: {path: s.jsonl}}\nmetrics: {use: [MRR]}\npolicy: {max_failed: 50%}\n"
    assert rankgauge("run", write("c.yaml", config)).code == 0


@pytest.mark.parametrize("option", [("--max-failed", "half"), ("--policy", "max_failed=half"), ("--max-failed", "10")])
def test_what_is_no_share_is_refused(rankgauge, project, option):
    done = rankgauge("run", project, *option)
    assert (done.code, "10%" in done.err) == (2, True)


def test_a_name_with_colons_is_printed_as_it_is(rankgauge, tmp_path):
    (tmp_path / "a:b.jsonl").write_text('{"id": ":bug:", "expected_output": ["x"]}\n')
    done = rankgauge("run", "--data", "a:b.jsonl", "-m", "RR")
    assert "a:b: 1 sample" in done.out
    assert "missing: sample ':bug:'" in done.out


def test_a_file_is_called_whatever_is_imported_under_its_name(rankgauge, write):
    """Both files are called `answers.py`, and `json.py` is called as a module that Python has imported already."""
    write("samples.jsonl", [{"id": "q", "input": "?", "expected_output": ["a"]}])
    for name, found in (("one/answers.py", "a"), ("two/answers.py", "b"), ("two/json.py", "a")):
        write(name, f"from dataclasses import dataclass\n\n@dataclass\nclass Given:\n    x: 'int'\n\n"
                    f"def answer(given):\n    return ['{found}']\n")  # fmt: skip
    for name, mean in (("one/answers.py", 1.0), ("two/answers.py", 0.0), ("two/json.py", 1.0)):
        done = rankgauge("run", "--data", "samples.jsonl", "-m", "hit@1", "--sut", f"{name}:answer", "--json")
        assert json.loads(done.out)["metrics"]["hit@1"]["mean"] == mean


def test_help_names_every_built_in_preset(rankgauge):
    said = " ".join(rankgauge("run", "--help").out.split())
    assert [name for name in Catalog.discover(own_only=True).all("preset") if f"{name}," not in said] == ["beir"]
    assert "beir (also MTEB)" in said
