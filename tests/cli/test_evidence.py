"""Kept outputs on the command line: going on, scoring again, folders, and what signals and kills leave behind."""

from __future__ import annotations

import errno
import json
import os
import py_compile
import select
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from child_processes import command, shell, variables
from draws import in_thorough_suite
from rankgauge import Result
from rankgauge.cli.result_folders import Folders
from rankgauge.engine.evaluation import Evaluation
from rankgauge.io import kept_outputs as kept_module
from rankgauge.io.output_files import read_kept
from rankgauge.result.staging import Staging, abandoned

SAMPLES = [{"id": f"q{n}", "input": n, "expected_output": ["a"]} for n in range(4)]

SUT = """\
calls = []

def search(given):
    calls.append(given)
    return [f"b{n}" for n in range(given)] + ["a"]

def other(given):
    return ["a"]

def flaky(given):
    import os
    if given == 1 and not os.path.exists("healed"):
        raise ConnectionError("index is gone")
    return ["a"]

def two(query, k):
    return ["a"]
"""

ARGUMENTS = ("run", "--data", "s.jsonl", "-m", "RR")
CALLING = (*ARGUMENTS, "--concurrency", "1", "--sut")


@pytest.fixture
def project(write, request):
    """Write samples and a module of systems with a name of its own, which Python imports once."""
    write("s.jsonl", SAMPLES)
    module = "sut_" + "".join(letter if letter.isalnum() else "_" for letter in request.node.name)[:60]
    write(f"{module}.py", SUT)
    return module


def rows(folder):
    return read_kept(Path(folder) / "outputs.jsonl")


def hidden(folder="."):
    return sorted(path.name for path in Path(folder).iterdir() if path.name.startswith("."))


def scores(folder):
    (column,) = Result.load(folder).metrics.values()
    return column.values.tolist()


class TestKept:
    def test_a_result_folder_has_every_output(self, rankgauge, project):
        done = rankgauge(*CALLING, f"{project}:search", "-o", "out")
        assert done.code == 0
        assert {name: output.actual_output for name, output in rows("out").items()} == {
            "q0": ["a"],
            "q1": ["b0", "a"],
            "q2": ["b0", "b1", "a"],
            "q3": ["b0", "b1", "b2", "a"],
        }
        assert hidden() == []

    def test_the_manifest_names_the_system_and_no_file_that_was_not_read(self, rankgauge, project, write):
        write("o.jsonl", [{"id": "q0", "actual_output": ["x"]}])
        write("c.yaml", "version: 1\ndatasets: {d: {path: s.jsonl, outputs: o.jsonl}}\nmetrics: {use: [RR]}\n")
        done = rankgauge("run", "c.yaml", "--sut", f"{project}:search", "-o", "out", "--json")
        assert done.json["outputs"]["sut"] == f"{project}:search"
        manifest = json.loads(Path("out/manifest.json").read_text("utf-8"))
        assert manifest["outputs"]["path"] == "outputs.jsonl"
        assert "o.jsonl" not in json.dumps(manifest["outputs"])
        assert manifest["config"]["datasets"]["d"]["outputs"] == "outputs.jsonl"

    def test_the_folders_own_config_gives_the_same_scores_without_a_call(self, rankgauge, project):
        rankgauge(*CALLING, f"{project}:search", "-o", "out")
        again = rankgauge("run", "out/config.resolved.yaml", "-o", "again")
        assert again.code == 0
        assert scores("again") == scores("out") == [1, 1 / 2, 1 / 3, 1 / 4]

    def test_reports_say_how_often_the_system_was_called_and_how_long_it_took(self, rankgauge, project):
        done = rankgauge(*CALLING, f"{project}:flaky", "--max-failed", "1", "-o", "out")
        assert f"4 calls of {project}:flaky: 1 failed; seconds a call: p50 " in done.out
        assert "4 calls of " in Path("out/report.md").read_text("utf-8")

    def test_without_a_folder_it_is_said_that_outputs_are_not_kept(self, rankgauge, project):
        done = rankgauge(*CALLING, f"{project}:search")
        assert (done.code, "outputs are not kept; with -o FOLDER" in done.err) == (0, True)

    @pytest.mark.usefixtures("process")
    def test_debug_shows_tracebacks_of_failed_calls(self, project):
        arguments = (*CALLING, f"{project}:flaky", "--debug")
        done = subprocess.run(command(*arguments), env=variables(), capture_output=True, text=True, check=False)
        assert done.returncode == 3
        assert "sample 'q1':\nTraceback" in done.stderr
        assert 'raise ConnectionError("index is gone")' in done.stderr

    def test_a_wrong_signature_is_refused_before_the_data_is_read(self, rankgauge, project, write):
        write("s.jsonl", "{")
        done = rankgauge(*CALLING, f"{project}:two", "-o", "out")
        assert done.code == 2
        assert f"{project}:two(query, k) cannot be called with a sample's input alone" in done.err
        assert not Path("out").exists()

    def test_a_system_that_cannot_be_imported_leaves_nothing(self, rankgauge, project):
        done = rankgauge(*CALLING, "no_such_module_at_all:f", "-o", "out")
        assert (done.code, "cannot import 'no_such_module_at_all:f'" in done.err) == (2, True)
        assert not Path("out").exists()
        assert hidden() == []

    def test_half_of_a_bytecode_file_is_said_to_be_deleted(self, rankgauge, project, write):
        source = write("halved.py", "def search(given):\n    return []\n")
        whole = Path(py_compile.compile(str(source)))
        whole.write_bytes(whole.read_bytes()[:-8])
        done = rankgauge(*CALLING, "halved:search", "-o", "out")
        assert done.code == 2
        assert "cannot import 'halved:search': EOFError" in done.err
        assert "as on a full disk: delete the `__pycache__` beside it" in done.err

    @pytest.mark.parametrize(
        ("option", "words"),
        [
            (("--retries", "2"), "--retries is for calls of a system"),
            (("--resume", "x"), "--resume is for calls of a system"),
            (("--sut", "json:loads", "--retry-failed"), "--retry-failed goes with --resume"),
            (("--keep-data",), "--keep-data copies into a result folder"),
        ],
    )
    def test_options_that_do_nothing_are_refused(self, rankgauge, project, option, words):
        done = rankgauge(*ARGUMENTS, *option)
        assert (done.code, words in done.err) == (2, True)


class TestResume:
    def test_only_failures_are_called_again_and_the_folder_is_completed(self, rankgauge, project):
        arguments = (*CALLING, f"{project}:flaky")
        assert rankgauge(*arguments, "-o", "out").code == 3
        Path("healed").touch()
        assert rankgauge(*arguments, "--resume", "out").code == 3
        done = rankgauge(*arguments, "--resume", "out", "--retry-failed")
        assert done.code == 0
        assert scores("out") == [1.0] * 4
        assert hidden() == []

    def test_the_same_command_goes_on_in_its_own_folder(self, rankgauge, project):
        arguments = (*CALLING, f"{project}:search", "-o", "out")
        rankgauge(*arguments, "--limit", "2")
        done = rankgauge(*arguments, "--resume", "./out")
        assert done.code == 0, done.err
        assert len(scores("out")) == 4
        assert hidden() == []

    def test_another_folder_leaves_the_earlier_one_alone(self, rankgauge, project):
        arguments = (*CALLING, f"{project}:search")
        rankgauge(*arguments, "--limit", "2", "-o", "part")
        before = {path.name: path.read_bytes() for path in Path("part").iterdir()}
        assert rankgauge(*arguments, "--resume", "part", "-o", "whole").code == 0
        assert {path.name: path.read_bytes() for path in Path("part").iterdir()} == before
        assert rankgauge(*arguments, "-o", "once").code == 0
        whole, once = (Path(name) / "per_sample.parquet" for name in ("whole", "once"))
        assert whole.read_bytes() == once.read_bytes()

    @pytest.mark.parametrize(
        ("change", "difference"),
        [
            (("--sut", "{}:other"), "outputs.sut was"),
            (("--sut", "{}:search", "-m", "P@1"), "config.metrics.use has p@1, and had not"),
            (("--sut", "{}:search", "--policy", "depth=1"), "config.policy.depth was None and is 1"),
        ],
    )
    def test_another_system_or_config_is_refused_with_the_difference(self, rankgauge, project, change, difference):
        rankgauge(*CALLING, f"{project}:search", "-o", "out")
        done = rankgauge(*ARGUMENTS, *(each.format(project) for each in change), "--resume", "out")
        assert done.code == 2
        assert "cannot go on with out, which is of another run" in done.err
        assert difference in done.err
        assert hidden() == []

    def test_another_dataset_is_refused(self, rankgauge, project, write):
        rankgauge(*CALLING, f"{project}:search", "-o", "out")
        write("s.jsonl", SAMPLES[:3])
        done = rankgauge(*CALLING, f"{project}:search", "--resume", "out")
        assert (done.code, "dataset.fingerprint was" in done.err) == (2, True)
        assert len(scores("out")) == 4

    def test_a_folder_without_outputs_cannot_be_gone_on_with(self, rankgauge, project):
        done = rankgauge(*CALLING, f"{project}:search", "--resume", "nothing")
        assert (done.code, "nothing holds no outputs of a system under test" in done.err) == (2, True)

    def test_several_datasets_go_on_each_where_it_was(self, rankgauge, project, write):
        write("more.jsonl", [{**sample, "id": f"more {sample['id']}"} for sample in SAMPLES])
        datasets = "{a/b: {path: s.jsonl}, 'a:b': {path: more.jsonl}}"
        write("c.yaml", f"version: 1\ndatasets: {datasets}\nmetrics: {{use: [RR]}}\n")
        arguments = ("run", "c.yaml", "--sut", f"{project}:flaky")
        assert rankgauge(*arguments, "-o", "out").code == 3
        folders = sorted(path.name for path in Path("out").iterdir())
        assert len(folders) == 2
        assert all(name.startswith("a-b-") for name in folders)
        Path("healed").touch()
        assert rankgauge(*arguments, "--resume", "out", "--retry-failed").code == 0
        assert [scores(Path("out") / name) for name in folders] == [[1.0] * 4] * 2


class TestNothingOfOthers:
    """The target is what the command line says; what rankgauge did not write, and finished results, stay."""

    def left(self, rankgauge, project, name="out"):
        """Make what a killed run leaves: outputs of two samples, and what was run."""
        assert rankgauge(*CALLING, f"{project}:search", "-o", "made", "--limit", "2").code == 0
        manifest = json.loads(Path("made/manifest.json").read_text())
        folder = Path(f".{name}.0123456789ab.partial")
        folder.mkdir()
        record = {"target": str(Path("victim").resolve()), **{key: manifest[key] for key in ("dataset", "outputs")}}
        (folder / "begun.json").write_text(json.dumps({**record, "config": manifest["config"]}))
        (folder / "outputs.jsonl").write_bytes(Path("made/outputs.jsonl").read_bytes())
        return folder

    def test_a_target_that_a_file_names_is_not_believed(self, rankgauge, project):
        Path("victim").mkdir()
        Path("victim/thesis.tex").write_text("mine")
        folder = self.left(rankgauge, project)
        assert rankgauge(*CALLING, f"{project}:search", "--resume", folder).code == 0
        assert [path.name for path in Path("victim").iterdir()] == ["thesis.tex"]
        assert scores("out") == [1, 1 / 2, 1 / 3, 1 / 4]
        assert hidden() == []

    @pytest.mark.parametrize("place", ["made", ".out.0123456789ab.partial"])
    def test_a_folder_with_files_of_others_is_refused_with_their_names(self, rankgauge, project, place):
        self.left(rankgauge, project)
        for name in ("notes.md", "outputs.csv.bak"):
            (Path(place) / name).write_text("mine")
        done = rankgauge(*CALLING, f"{project}:search", "--resume", place)
        assert done.code == 2
        assert "it holds notes.md, outputs.csv.bak, which rankgauge did not write" in done.err
        assert (Path(place) / "notes.md").read_text() == "mine"

    def test_a_newer_result_is_replaced_by_force_alone(self, rankgauge, project):
        folder = self.left(rankgauge, project)
        assert rankgauge(*CALLING, f"{project}:other", "-o", "out").code == 0
        before = Path("out/outputs.jsonl").read_bytes()
        arguments = (*CALLING, f"{project}:search", "--resume", folder)
        done = rankgauge(*arguments)
        assert (done.code, "replace the result in it with --force" in done.err) == (2, True)
        assert Path("out/outputs.jsonl").read_bytes() == before
        assert rankgauge(*arguments, "--force").code == 0
        assert scores("out") == [1, 1 / 2, 1 / 3, 1 / 4]

    def test_force_replaces_no_folder_that_is_not_a_result(self, rankgauge, project):
        Path("out").mkdir()
        Path("out/report.md").write_text("mine")
        done = rankgauge(*CALLING, f"{project}:search", "-o", "out", "--force")
        assert (done.code, "is not an empty folder" in done.err) == (2, True)
        assert Path("out/report.md").read_text() == "mine"

    def test_copies_of_data_are_no_other_run(self, rankgauge, project):
        arguments = (*CALLING, f"{project}:search", "--keep-data", "-o", "out")
        assert rankgauge(*arguments, "--limit", "2").code == 0
        assert rankgauge(*arguments, "--resume", "out").code == 0
        assert scores("out") == [1, 1 / 2, 1 / 3, 1 / 4]

    def test_what_a_resumed_run_had_paid_for_when_it_was_killed_is_used(self, rankgauge, project):
        folder = self.left(rankgauge, project, "made")
        with (folder / "outputs.jsonl").open("a") as file:
            file.write('{"id":"q2","actual_output":["a"],"attempt":1}\n')
        assert rankgauge(*CALLING, f"{project}:search", "--resume", "made").code == 0
        assert scores("made") == [1, 1 / 2, 1, 1 / 4]  # by search, q2 would have 1/3
        assert hidden() == []

    def test_several_datasets_go_on_with_what_one_of_them_left(self, rankgauge, project, write):
        write("c.yaml", "version: 1\ndatasets: {a: {path: s.jsonl}, b: {path: s.jsonl}}\nmetrics: {use: [RR]}\n")
        arguments = ("run", "c.yaml", "--concurrency", "1", "--sut", f"{project}:search", "-o", "out")
        assert rankgauge(*arguments, "--limit", "2").code == 0
        folder = Path("out/.b.0123456789ab.partial")
        Path("out/b").rename(folder)
        assert rankgauge(*arguments, "--resume", folder).code == 0
        assert [scores(f"out/{name}") for name in "ab"] == [[1, 1 / 2, 1 / 3, 1 / 4]] * 2
        assert [path.name for path in sorted(Path("out").iterdir())] == ["a", "b"]


class TestRescore:
    def test_other_metrics_need_no_call(self, rankgauge, project):
        rankgauge(*CALLING, f"{project}:search", "-o", "out")
        Path(f"{project}.py").unlink()
        done = rankgauge("rescore", "out", "-m", "P@1", "-m", "hit@2", "--json")
        assert [metric["mean"] for metric in done.json["metrics"].values()] == [1 / 4, 2 / 4]

    def test_without_options_the_scores_are_those_of_the_folder(self, rankgauge, project):
        rankgauge(*CALLING, f"{project}:search", "-o", "out")
        assert rankgauge("rescore", "out", "-o", "again").code == 0
        again = (Path("again") / "per_sample.parquet").read_bytes()
        assert again == (Path("out") / "per_sample.parquet").read_bytes()
        assert rankgauge("rescore", "again").code == 0

    def test_a_profile_and_a_cutoff_may_be_others(self, rankgauge, project):
        rankgauge(
            *ARGUMENTS, "-m", "retrieval-hit-at-k", "--sut", f"{project}:search", "--policy", "depth=3", "-o", "out"
        )
        done = rankgauge("rescore", "out", "--profile", "eval-harness", "-k", "2", "--json")
        assert done.json["profile"] == "eval-harness"
        assert done.json["policy"]["depth"] == 3
        assert done.json["metrics"]["retrieval-hit-at-k"]["mean"] == 2 / 4

    def test_a_limit_is_kept(self, rankgauge, project):
        rankgauge(*CALLING, f"{project}:search", "--limit", "2", "-o", "out")
        assert rankgauge("rescore", "out", "--json").json["samples"] == 2

    def test_a_folder_of_several_datasets_is_scored_at_once(self, rankgauge, project, write):
        write("c.yaml", "version: 1\ndatasets: {a: {path: s.jsonl}, b: {path: s.jsonl}}\nmetrics: {use: [RR]}\n")
        rankgauge("run", "c.yaml", "--sut", f"{project}:search", "-o", "out")
        done = rankgauge("rescore", "out", "-m", "P@1", "--json")
        assert [each["dataset"]["name"] for each in done.json] == ["a", "b"]

    def test_changed_data_is_refused(self, rankgauge, project, write):
        rankgauge(*CALLING, f"{project}:search", "-o", "out")
        write("s.jsonl", SAMPLES[:2])
        done = rankgauge("rescore", "out")
        assert done.code == 2
        assert "s.jsonl is not what the result was computed from" in done.err

    def test_data_that_have_gone_are_called_that(self, rankgauge, project):
        rankgauge(*CALLING, f"{project}:search", "-o", "out")
        Path("s.jsonl").unlink()
        done = rankgauge("rescore", "out")
        assert done.code == 2
        assert "s.jsonl: no such file" in done.err

    def test_a_result_of_a_run_points_at_trec(self, rankgauge, write):
        write("qrels.txt", "q1 0 a 1\n")
        write("run.txt", "q1 Q0 a 1 1 t\n")
        rankgauge("trec", "qrels.txt", "run.txt", "-m", "RR", "-o", "out")
        done = rankgauge("rescore", "out", "-m", "AP")
        assert done.code == 2
        assert "compute other metrics from its files: rankgauge trec " in done.err

    def test_what_is_no_result_folder_is_refused(self, rankgauge, tmp_path):
        assert rankgauge("rescore", tmp_path).code == 2
        assert rankgauge("rescore", "nowhere").code == 2


class TestKeepData:
    @pytest.mark.parametrize("outputs", [None, "o.jsonl"])
    def test_a_folder_with_its_data_stands_alone(self, rankgauge, project, write, outputs):
        write("o.jsonl", [{"id": f"q{n}", "actual_output": [f"b{m}" for m in range(n)] + ["a"]} for n in range(4)])
        source = ("--sut", f"{project}:search") if outputs is None else ("--outputs", outputs)
        assert rankgauge(*ARGUMENTS, *source, "-o", "out", "--keep-data").code == 0
        for name in ("s.jsonl", "o.jsonl"):
            Path(name).unlink()
        Path("out").rename("moved")
        assert rankgauge("rescore", "moved", "-o", "again").code == 0
        assert scores("again") == [1, 1 / 2, 1 / 3, 1 / 4]

    def test_samples_given_in_python_are_written_down(self, rankgauge):
        from rankgauge import Engine

        evaluation = Engine().dataset(SAMPLES).with_metrics(["RR"])
        evaluation.run(outputs={f"q{n}": ["a"] for n in range(4)}).save("out", keep_data=True)
        assert rankgauge("rescore", "out", "-o", "again").code == 0
        assert scores("again") == [1.0] * 4
        Path("out/samples.jsonl").write_text("", "utf-8")
        assert "is not what the result was computed from" in rankgauge("rescore", "out").err


class TestFolders:
    def test_runs_that_start_in_one_second_have_folders_of_their_own(self, tmp_path):
        several = [Folders(output=None, directory=str(tmp_path / "runs"), several=False) for _ in range(3)]
        with several[0].staged(["d"]), several[1].staged(["d"]), several[2].staged(["d"]):
            targets = [folders.staging("d").target for folders in several]
        assert len(set(targets)) == 3

    @pytest.mark.parametrize("arguments", [("-o", "file/out"), ("--resume", "file/out", "--sut", "json:dumps")])
    def test_a_folder_that_cannot_be_written_is_found_before_the_first_call(self, rankgauge, project, write, arguments):
        write("file", "no folder")
        done = rankgauge(*CALLING, f"{project}:search", *arguments)
        assert (done.code, done.out) == (2, "")
        assert "file" in done.err

    def test_a_full_disk_stops_the_calls_and_leaves_the_outputs_so_far(self, rankgauge, project, monkeypatch):
        line, refused = kept_module.kept_line, []

        def full(sample_id, output):
            if sample_id == "q2" and not refused:
                refused.append(sample_id)
                raise OSError(errno.ENOSPC, "No space left on device")
            return line(sample_id, output)

        arguments = (*CALLING, f"{project}:search")
        with monkeypatch.context() as patched:
            patched.setattr(kept_module, "kept_line", full)
            done = rankgauge(*arguments, "-o", "out")
        assert done.code == 3
        assert "no more calls were made: outputs cannot be kept (No space left on device)" in done.err
        assert "the run was interrupted after 3 samples" in done.err
        assert list(rows("out")) == ["q0", "q1", "q2"]  # there was room again when the result was saved
        assert rankgauge(*arguments, "--resume", "out").code == 0
        assert scores("out") == [1, 1 / 2, 1 / 3, 1 / 4]

    @pytest.mark.usefixtures("process")
    @in_thorough_suite()
    def test_a_disk_that_is_really_full_loses_nothing_that_was_paid_for(self, rankgauge, project, write):
        write(f"{project}.py", "def search(given):\n    return [{'id': 'a', 'text': 'x' * 3000}]\n")
        arguments = (*CALLING, f"{project}:search")
        done = shell(f"ulimit -f 8; rankgauge {' '.join(arguments)} -o out", cwd=Path.cwd())  # blocks of 1024 bytes
        assert done.returncode == 2
        assert "outputs cannot be kept (File too large)" in done.stderr
        assert "rr" in done.stdout
        assert not Path("out").exists()
        assert len(rows(*abandoned(Path(), "out"))) == 2
        resumed = rankgauge(*arguments, "--resume", "out")
        assert resumed.code == 0
        assert len(rows("out")) == 4
        assert hidden() == []

    def test_an_interrupt_after_a_result_never_says_that_nothing_was_scored(
        self, rankgauge, project, write, monkeypatch
    ):
        write("c.yaml", "version: 1\ndatasets: {a: {path: s.jsonl}, b: {path: s.jsonl}}\nmetrics: {use: [RR]}\n")
        evaluate = Evaluation.run

        def interrupted(evaluation, **options):
            if evaluation.data.name == "b":
                raise KeyboardInterrupt
            return evaluate(evaluation, **options)

        monkeypatch.setattr(Evaluation, "run", interrupted)
        done = rankgauge("run", "c.yaml", "--max-failed", "1", "-o", "out", "--json")
        assert done.code == 3
        assert [each["dataset"]["name"] for each in done.json] == ["a"]
        assert "interrupted: b was not scored" in done.err
        assert "nothing was scored" not in done.err
        assert [path.name for path in Path("out").iterdir()] == ["a"]

    def test_a_result_that_cannot_be_saved_leaves_its_outputs_and_says_where(self, rankgauge, project, monkeypatch):
        def full(self, files):
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(Staging, "finish", full)
        done = rankgauge(*CALLING, f"{project}:search", "-o", "out")
        assert done.code == 2
        assert "cannot save to" in done.err
        (left,) = abandoned(Path())
        assert f"the outputs so far are in {left.resolve()}; go on with them: --resume" in done.err
        assert len(rows(left)) == 4


@pytest.fixture
def begun(write) -> Iterator[subprocess.Popen]:
    """Begin a run in a process of its own and wait until its third call is under way, which waits to be let go."""
    write("s.jsonl", SAMPLES)
    write(
        "blocking.py",
        """\
def search(given):
    if given == 2:
        with open("reached", "w") as reached:
            reached.write("x")
        with open("go") as go:
            go.read()
    return ["a"]
""",
    )
    os.mkfifo("reached")
    os.mkfifo("go")
    arguments = (*CALLING, "blocking.py:search", "-o", "out", "--json")
    process = subprocess.Popen(
        command(*arguments), env=variables(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    reached = os.open("reached", os.O_RDONLY | os.O_NONBLOCK)
    ready, _, _ = select.select([reached], [], [], 60)
    assert ready
    os.close(reached)
    yield process
    process.kill()
    process.communicate()


def ended(process) -> tuple[int, dict, str]:
    out, err = process.communicate(timeout=120)
    return process.returncode, json.loads(out), err


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes and signals")
class TestSignals:
    @pytest.mark.usefixtures("process")
    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
    @in_thorough_suite()
    def test_once_calls_under_way_end_and_everything_is_scored_and_saved(self, begun, number):
        begun.send_signal(number)
        assert "no new calls" in begun.stderr.readline()
        Path("go").write_text("", "utf-8")
        code, report, err = ended(begun)
        assert (code, report["samples"], report["interrupted"]) == (3, 3, True)
        assert "nothing was scored" not in err
        assert "saved to" in err
        assert list(rows("out")) == ["q0", "q1", "q2"]
        assert hidden() == []

    @pytest.mark.usefixtures("process")
    @in_thorough_suite()
    def test_twice_calls_under_way_are_left_and_the_rest_is_saved_all_the_same(self, begun):
        begun.send_signal(signal.SIGINT)
        assert "no new calls" in begun.stderr.readline()
        begun.send_signal(signal.SIGINT)
        code, report, err = ended(begun)
        assert (code, report["samples"]) == (3, 2)
        assert "nothing was scored" not in err
        assert pl.read_parquet("out/per_sample.parquet")["sample_id"].to_list() == ["q0", "q1"]
        assert hidden() == []

    @pytest.mark.usefixtures("process")
    @pytest.mark.promise
    def test_killed_its_outputs_are_named_by_the_next_run_and_gone_on_with(self, begun, rankgauge):
        assert abandoned(Path()) == []  # in use
        begun.kill()
        begun.wait()
        (left,) = abandoned(Path())
        assert list(rows(left)) == ["q0", "q1"]
        other = rankgauge(*ARGUMENTS, "--outputs", left / "outputs.jsonl", "-o", "out")
        assert "has 2 outputs of a run that was killed; go on with it: --resume" in other.err
        Path("blocking.py").write_text("calls = []\ndef search(given):\n    calls.append(given)\n    return ['a']\n")
        for name in ("reached", "go"):
            Path(name).unlink()
        done = rankgauge(*CALLING, "blocking.py:search", "--resume", left, "-o", "whole")
        assert done.code == 0
        assert __import__("sys").modules["blocking"].calls == [2, 3]
        assert scores("whole") == [1.0] * 4
        assert hidden() == []
