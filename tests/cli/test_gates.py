"""Gates on the command line: `run` and `trec`, from options and from config, with every exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rankgauge import load_baseline

CONFIG = """\
version: 1
datasets:
  mine: {path: samples.jsonl}
  other: {path: other.jsonl}
metrics: {use: [hit@1]}
gates:
  - hit@1 >= 0.5 dataset mine
  - {metric: recall@2, min: 1, where: tags=x, dataset: other}
"""

QRELS = "q1 0 a 1\nq2 0 b 1\n"
RUN = "q1 Q0 a 1 2 t\nq1 Q0 b 2 1 t\nq2 Q0 a 1 2 t\nq2 Q0 b 2 1 t\n"


@pytest.fixture(autouse=True)
def _no_job(monkeypatch):
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)


@pytest.fixture
def data(write):
    """Write two samples, of whose hits at rank 1 the mean is 0.5."""
    rows = [
        {"id": "q1", "expected_output": ["a"], "actual_output": ["a", "b"], "metadata": {"tags": ["x"]}},
        {"id": "q2", "expected_output": ["b"], "actual_output": ["a", "b"]},
    ]
    write("other.jsonl", rows[:1])
    return write("samples.jsonl", rows)


@pytest.fixture
def config(data, write):
    return write("rankgauge.yaml", CONFIG)


@pytest.fixture
def trec(rankgauge, write):
    files = write("qrels.txt", QRELS), write("run.txt", RUN)
    return lambda *options: rankgauge("trec", *files, "-m", "RR", *options)


class TestRun:
    def test_gates_of_the_config_are_judged_with_those_that_are_typed(self, rankgauge, config):
        done = rankgauge("run", config)
        assert done.code == 0
        assert "all 2 gates passed" in done.out
        assert "ok     mine: hit@1:                  0.5000 meets the minimum 0.5 (mean of n=2)" in done.out
        done = rankgauge("run", config, "--gate", "hit@1 >= 0.6")
        assert done.code == 1
        assert "1 of 4 gates failed" in done.out
        assert "MISSED mine: hit@1:                  0.5000 is below the minimum 0.6 (mean of n=2)" in done.out
        assert "ok     other: hit@1:                 1.0000 meets the minimum 0.6 (mean of n=1)" in done.out

    def test_a_metric_that_only_a_gate_names_is_computed(self, rankgauge, data):
        done = rankgauge("run", "--data", data, "--gate", "RR >= 0.75", "--json")
        assert (done.code, list(done.json["metrics"])) == (0, ["rr"])
        assert [(gate["gate"], gate["value"]) for gate in done.json["gates"]] == [("rr >= 0.75", 0.75)]

    def test_a_metric_of_several_columns_is_as_many_gates(self, rankgauge, data):
        done = rankgauge("run", "--data", data, "--gate", "recall@1,2 >= 0.6", "--json")
        assert [(gate["metric"], gate["passed"]) for gate in done.json["gates"]] == [
            ("recall@1", False),
            ("recall@2", True),
        ]
        assert done.code == 1

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (["--gate", "hit@1 = 0.5"], "'=' is not a sign of gates"),
            (["--gate", "hti@1 >= 0.5"], "--gate: unknown metric 'hti' (did you mean 'hit'"),
            (["--gate", "hit@1 >= 1.5"], "--gate: no value of 'hit@1', which ranges from 0 to 1"),
            (["--gate", "hit@1 >= 0.5 dataset samplse"], "no dataset 'samplse' (did you mean 'samples'?)"),
            (["--gate", "hit@1 max_drop 0.1"], "needs a baseline; give --baseline FILE"),
            (["--gate", "hit@1 >= 1", "--baseline", "no.json"], "--save-baseline no.json` writes one"),
            (["--gate", "hit@1 >= 1", "--junit", "samples.jsonl/x"], "--junit samples.jsonl/x cannot be written"),
            (["--markdown", "."], "--markdown . cannot be written: it is a folder"),
            (["--junit", "x.xml"], "--junit reports on gates, and there are none"),
        ],
    )
    def test_what_cannot_be_used_is_said_before_anything_is_scored(self, rankgauge, data, write, options, message):
        write("sut.py", "def sut(given):\n    raise SystemExit('called')\n")
        done = rankgauge("run", "--data", data, "-m", "hit@1", "--sut", "sut.py:sut", *options)
        assert (done.code, done.out) == (2, "")
        assert message in done.err
        assert "called" not in done.err

    def test_a_gate_of_a_config_is_refused_at_its_line(self, rankgauge, data, write):
        text = "version: 1\ndatasets: {mine: {path: samples.jsonl}}\nmetrics: {use: [hit@1]}\ngates:\n"
        done = rankgauge("run", write("c.yaml", f"{text}  - hit@1 >= 0.5\n  - hit@1 > 0.5\n"))
        assert done.code == 2
        assert "c.yaml:6, gates[1]: 'hit@1 > 0.5' is not a gate" in done.err
        done = rankgauge("validate", write("c.yaml", f"{text}  - {{metric: hit@1, minn: 0.5}}\n"))
        assert "c.yaml:5, gates[0]: 'minn' is not a key of a gate (did you mean 'min'?)" in done.err
        done = rankgauge("run", write("c.yaml", f"{text}  - hit@1 >= 0.5\n  - hti@1 >= 0.5\n"))
        assert "c.yaml:6: unknown metric 'hti'" in done.err

    def test_incomplete_wins_over_missed(self, rankgauge, data, write):
        write("outputs.jsonl", [{"id": "q1", "actual_output": ["a"]}, {"id": "q2", "actual_output": "[oops"}])
        options = ["-m", "hit@1", "--outputs", "outputs.jsonl", "--save-baseline", "b.json", "--gate", "hit@1 >= 0.9"]
        done = rankgauge("run", "--data", data, *options)
        assert done.code == 3
        assert "MISSED hit@1" in done.out
        assert "b.json was not saved" in done.err
        assert not Path("b.json").exists()

    def test_a_gate_that_does_not_fit_the_data_exits_with_2(self, rankgauge, data):
        done = rankgauge("run", "--data", data, "--gate", "hit@1 >= 0 where tags=y")
        assert done.code == 2
        assert "cannot be judged: no sample has the tag 'y'" in done.out

    def test_a_gate_on_a_dataset_that_is_left_out_is_counted(self, rankgauge, config):
        done = rankgauge("run", config, "--dataset", "mine")
        assert done.code == 0
        assert "1 gate not judged, because the dataset is not evaluated" in done.err

    def test_reports_are_written(self, rankgauge, data):
        done = rankgauge(
            "run",
            "--data",
            data,
            "--gate",
            "hit@1 >= 0.9",
            "--junit",
            "deep/j.xml",
            "--markdown",
            "m.md",
            "-f",
            "jsonl",
        )
        assert done.code == 1
        assert len(done.out.splitlines()) == 2  # stdout carries the result, and nothing else
        assert "MISSED hit@1" in done.err
        assert '<testcase classname="samples" name="hit@1 &gt;= 0.9">' in Path("deep/j.xml").read_text(encoding="utf-8")
        assert Path("m.md").read_text(encoding="utf-8").startswith("## rankgauge: the gate failed")

    def test_one_baseline_holds_all_datasets(self, rankgauge, config):
        done = rankgauge("run", config, "--save-baseline", "b/main.json")
        assert done.code == 0
        assert "saved the baseline b/main.json" in done.err
        assert list(load_baseline("b/main.json")) == ["mine", "other"]
        assert "baseline b/main.json: saved just now" in rankgauge("run", config, "--baseline", "b/main.json").err

    def test_a_change_is_judged_against_the_baseline(self, rankgauge, data, write):
        gate = ["--gate", "hit@1 max_drop 0.1"]
        assert rankgauge("run", "--data", data, "-m", "hit@1", "--save-baseline", "b.json").code == 0
        done = rankgauge("run", "--data", data, *gate, "--baseline", "b.json")
        assert done.code == 0
        assert "ok     hit@1: 0.5000 against 0.5000, +0.0000, within the margin 0.1" in done.out
        outputs = write("worse.jsonl", [{"id": "q1", "actual_output": ["b"]}, {"id": "q2", "actual_output": ["a"]}])
        done = rankgauge("run", "--data", data, *gate, "--baseline", "b.json", "--outputs", outputs, "--json")
        assert done.code == 0  # two samples cannot tell
        assert done.json["gates"][0]["verdict"] == "inconclusive"
        assert done.json["gates"][0]["change"]["difference"] == -0.5
        done = rankgauge("run", "--data", data, "--gate", f"{gate[1]} require proof", "--baseline", "b.json")
        assert done.code == 0
        done = rankgauge(
            "run", "--data", data, "--gate", f"{gate[1]} require proof", "--baseline", "b.json", "--outputs", outputs
        )
        assert done.code == 1

    @pytest.mark.parametrize(
        ("declared", "typed", "code"),
        [("", "", 0), ("", "fail", 1), ("fail", "", 1), ("fail", "warn", 0), ("pass", "fail", 1), ("warn", "pass", 0)],
    )
    def test_one_default_for_all_gates_is_typed_or_declared(self, rankgauge, data, write, declared, typed, code):
        """Two samples cannot tell whether hit@1 fell by more than 0.1; what is typed beats the config."""
        assert rankgauge("run", "--data", data, "-m", "hit@1", "--save-baseline", "b.json").code == 0
        outputs = write("worse.jsonl", [{"id": "q1", "actual_output": ["b"]}, {"id": "q2", "actual_output": ["a"]}])
        text = "version: 1\ndatasets: {mine: {path: samples.jsonl}}\nmetrics: {use: [hit@1]}\nbaseline: b.json\n"
        text += f"inconclusive: {declared}\n" if declared else ""
        option = ["--inconclusive", typed] if typed else []
        gated = write("gated.yaml", f"{text}gates: [hit@1 max_drop 0.1]\n")
        assert rankgauge("run", gated, "--outputs", outputs, *option).code == code
        bare = write("bare.yaml", text)
        gate = ["--gate", "hit@1 max_drop 0.1"]
        assert rankgauge("run", bare, "--outputs", outputs, *gate, *option).code == code
        explicit = ["--gate", "hit@1 max_drop 0.1 inconclusive warn"]
        assert rankgauge("run", bare, "--outputs", outputs, *explicit, *option).code == 0

    def test_a_comparison_takes_the_default_for_all_gates_too(self, rankgauge, write):
        qrels, old = write("q.txt", QRELS), write("old.txt", RUN)
        new = write("new.txt", "q1 Q0 b 1 2 t\nq2 Q0 a 1 2 t\n")
        command = ["compare", "--qrels", qrels, old, new, "-m", "P@1", "--gate", "P@1 max_drop 0.1"]
        assert [rankgauge(*command, *more).code for more in ([], ["--inconclusive", "fail"])] == [0, 1]

    def test_the_first_baseline_is_saved_where_none_is_yet(self, rankgauge, data, write):
        text = (
            "version: 1\ndatasets: {mine: {path: samples.jsonl}}\nmetrics: {use: [hit@1]}\nbaseline: b/main.json\n"
            "gates: [hit@1 max_drop 2%, hit@1 >= 0.5]\n"
        )
        config = write("eval/c.yaml", text.replace("samples", "../samples"))
        done = rankgauge("run", config)
        assert done.code == 2
        assert f"{config}:4, baseline: " in done.err
        assert "there is no baseline eval/b/main.json; `rankgauge run --save-baseline eval/b/main.json`" in done.err
        done = rankgauge("run", config, "--save-baseline", "eval/b/main.json")
        assert done.code == 0
        assert "no baseline yet: 1 gate on changes not judged; this run becomes the baseline" in done.err
        assert "all 2 gates passed" in rankgauge("run", config).out

    def test_a_baseline_of_another_definition_cannot_be_used(self, rankgauge, data):
        assert rankgauge("run", "--data", data, "-m", "hit@1", "--save-baseline", "b.json").code == 0
        options = ["--gate", "hit@1 max_drop 0.1", "--baseline", "b.json", "--policy", "duplicates=last"]
        done = rankgauge("run", "--data", data, *options)
        assert done.code == 2
        assert "hit@1 does not mean the same in both: policy duplicates=first in one" in done.out

    def test_a_baseline_without_the_dataset_is_refused_before_scoring(self, rankgauge, config, data):
        assert rankgauge("run", config, "--save-baseline", "b.json").code == 0
        done = rankgauge("run", "--data", data, "--gate", "hit@1 max_drop 0.1", "--baseline", "b.json")
        assert (done.code, done.out) == (2, "")
        assert "the baseline b.json has no dataset 'samples'" in done.err

    def test_a_gate_may_select_by_any_field_of_the_metadata(self, rankgauge, write):
        rows = [
            {"id": f"q{n}", "expected_output": ["a"], "actual_output": ["a" if n else "b"], "metadata": {"lang": lang}}
            for n, lang in enumerate(["de", "de", "en"])
        ]
        data = write("langs.jsonl", rows)
        done = rankgauge("run", "--data", data, "--gate", "hit@1 >= 1 where metadata.lang=en", "--json")
        assert (done.code, done.json["gates"][0]["n"]) == (0, 1)
        done = rankgauge("run", "--data", data, "--gate", "hit@1 >= 1 where metadata.lang=den")
        assert done.code == 2
        assert "no sample has the tag 'lang=den' (did you mean" in done.out
        assert "not by 'lang'" in rankgauge("run", "--data", data, "--gate", "hit@1 >= 1 where lang=en").err

    def test_gates_hold_for_rescored_outputs_too(self, rankgauge, data):
        assert rankgauge("run", "--data", data, "-m", "hit@1", "-o", "kept").code == 0
        done = rankgauge("rescore", "kept", "--gate", "RR >= 0.8", "--save-baseline", "b.json")
        assert done.code == 1
        assert "MISSED" in done.out
        assert list(load_baseline("b.json")) == ["samples"]

    def test_a_lock_covers_what_gates_need(self, rankgauge, config):
        assert rankgauge("plugins", "lock", config).code == 0
        with Path(config).open("a", encoding="utf-8") as file:
            file.write("plugins: {locked: rankgauge.lock.yaml}\n")
        assert rankgauge("run", config).code == 0


class TestTrec:
    def test_gates_are_judged_and_their_metrics_computed(self, trec):
        """Reciprocal ranks 1 and 1/2."""
        done = trec("--gate", "RR >= 0.75", "--gate", "P_1 >= 0.6 level warn")
        assert done.code == 0
        assert "ok     rr:  0.7500 meets the minimum 0.75 (mean of n=2)" in done.out
        assert "warn   p@1: 0.5000 is below the minimum 0.6 (mean of n=2)" in done.out

    def test_trec_evals_format_stays_what_it_is(self, trec):
        without, done = trec("-f", "trec"), trec("-f", "trec", "--gate", "P_1 >= 0.6")
        assert (without.out, done.code) == (done.out, 1)
        assert "MISSED p@1" in done.err

    def test_every_run_has_its_gates_in_the_json_report(self, rankgauge, write):
        files = write("qrels.txt", QRELS), write("run.txt", RUN), write("one.txt", RUN.replace("q2 Q0 b", "q2 Q0 c"))
        done = rankgauge("trec", *files, "-m", "P_1", "--gate", "RR >= 0.6", "--json")
        assert {each["run"]: each["gates"][0]["passed"] for each in done.json} == {"run.txt": True, "one.txt": False}
        assert done.code == 1

    def test_ids_that_changed_are_told_before_any_number(self, trec, rankgauge, write):
        assert trec("--save-baseline", "b.json").code == 0
        moved = write("moved.txt", "".join(f"q{q} Q0 chunk-{d} 1 {-d} t\n" for q in (1, 2) for d in range(5)))
        options = ["--baseline", "b.json", "--gate", "RR >= 0.5", "--junit", "j.xml", "--markdown", "m.md"]
        done = rankgauge("trec", "qrels.txt", moved, "-m", "RR", *options, "-f", "trec", "-o", "kept")
        assert (done.code, done.out) == (2, "")
        assert "error: the ids changed, not the ranking: 100% of the retrieved ids are new" in done.err
        assert "<error" in Path("j.xml").read_text(encoding="utf-8")
        assert "the ids changed, not the ranking" in Path("m.md").read_text(encoding="utf-8")
        assert Path("kept/summary.json").exists()  # what was computed is kept

    def test_several_runs_share_the_baseline_of_one(self, trec, rankgauge, write):
        assert trec("--save-baseline", "b.json").code == 0
        moved = write("moved.txt", "".join(f"q{q} Q0 chunk-{d} 1 {-d} t\n" for q in (1, 2) for d in range(5)))
        done = rankgauge("trec", "qrels.txt", "run.txt", moved, "--baseline", "b.json", "--gate", "RR >= 0.5")
        assert done.code == 2
        assert "error: moved.txt: the ids changed" in done.err

    def test_nothing_of_gates_is_loaded_without_one(self, trec):
        assert json.loads(trec("--json").out).get("gates") is None


class TestCompare:
    def test_the_first_is_the_baseline_of_the_others(self, rankgauge, write):
        better = write("better.txt", RUN.replace("b 2 1", "b 2 3"))
        files = ["--qrels", write("qrels.txt", QRELS), better, write("run.txt", RUN), "-m", "RR"]
        done = rankgauge("compare", *files, "--gate", "RR max_drop 0.1 require proof", "--junit", "j.xml", "--json")
        assert done.code == 1
        assert [(gate["dataset"], gate["verdict"]) for gate in done.json["gates"]] == [("run.txt", "inconclusive")]
        assert 'failures="1"' in Path("j.xml").read_text(encoding="utf-8")
        assert rankgauge("compare", *files, "--gate", "RR >= 0.7").code == 0
        assert "'=' is not a sign of gates" in rankgauge("compare", *files, "--gate", "RR = 0.7").err

    def test_a_metric_that_only_a_gate_names_is_computed(self, rankgauge, write, data):
        files = ["--qrels", write("qrels.txt", QRELS), write("run.txt", RUN), write("new.txt", RUN), "-m", "RR"]
        done = rankgauge("compare", *files, "--gate", "P@1,2 max_drop 0", "--gate", "unjudged@10 <= 1", "--json")
        assert [gate["metric"] for gate in done.json["gates"]] == ["p@1", "p@2", "unjudged@10"]
        text = "version: 1\ndatasets: {mine: {path: samples.jsonl}}\nmetrics: {use: [hit@1]}\n"
        outputs = [write(name, json.dumps({"q1": ["a"], "q2": ["a"]})) for name in ("a.json", "b.json")]
        gates = ["--gate", "recall@2 max_drop 0 where tags=x", "--gate", "hit@1 >= 0.4"]
        done = rankgauge("compare", "--config", write("c.yaml", text), *outputs, *gates, "--json")
        assert [gate["verdict"] for gate in done.json["gates"]] == ["pass", "pass"]

    @pytest.mark.parametrize(
        ("gate", "message"),
        [
            ("hti@1 >= 0.5", "unknown metric 'hti' (did you mean 'hit'?)"),
            ("RR >= 2", "no value of 'rr', which ranges from 0 to 1, can keep the bound 2"),
            ("RR >= 0.5 dataset mine", "no dataset 'mine'; there are new.txt"),
        ],
    )
    def test_what_cannot_be_used_is_said_before_anything_is_scored(self, rankgauge, write, gate, message):
        files = ["--qrels", write("qrels.txt", QRELS), write("run.txt", RUN), write("new.txt", "no run\n")]
        done = rankgauge("compare", *files, "-m", "RR", "--gate", gate)
        assert (done.code, done.err.count(message)) == (2, 1)

    def test_reports_name_what_is_compared(self, rankgauge, write):
        runs = [write("run.txt", RUN), write("new.txt", RUN), write("moved.txt", RUN.replace("Q0 ", "Q0 chunk-"))]
        files = ["--qrels", write("qrels.txt", QRELS), "-m", "RR", "--gate", "RR max_drop 0.1", "--markdown", "m.md"]
        assert rankgauge("compare", *files, *runs[:2]).code == 0
        assert "\n\nbaseline run.txt\n\n" in Path("m.md").read_text(encoding="utf-8")
        for run in runs[:2]:
            assert rankgauge("trec", files[1], run, "-m", "RR", "--save-baseline", f"{run}.json").code == 0
        assert rankgauge("compare", *files[4:], "run.txt.json", "new.txt.json").code == 0
        assert "\n\nbaseline run.txt.json: saved " in Path("m.md").read_text(encoding="utf-8")
        done = rankgauge("compare", *files, *runs)
        assert (done.code, done.err.count("error: moved.txt: the ids changed")) == (2, 1)


class TestValidate:
    def test_gates_of_a_config_are_checked(self, rankgauge, data, write):
        text = "version: 1\ndatasets: {mine: {path: samples.jsonl}}\nmetrics: {use: [hit@1]}\n"
        done = rankgauge("validate", write("c.yaml", f"{text}gates:\n  - hti@1 >= 0.5\n"))
        assert done.code == 2
        assert "c.yaml:5: unknown metric 'hti'" in done.err
        done = rankgauge("validate", write("c.yaml", f"{text}gates: [hit@1 >= 0.5 dataset mien]\n"))
        assert "no dataset 'mien' (did you mean 'mine'?); there are mine" in done.err
        assert rankgauge("validate", write("c.yaml", f"{text}gates: [hit@1 >= 0.5]\n")).code == 0

    def test_ids_that_changed_are_told_of_configs_samples_and_runs(self, trec, rankgauge, data, write):
        assert rankgauge("run", "--data", data, "-m", "hit@1", "--save-baseline", "b.json").code == 0
        assert rankgauge("validate", data, "--baseline", "b.json").code == 0
        rows = [
            {"id": f"q{n}", "expected_output": [gold], "actual_output": [f"chunk-{n}-{m}" for m in range(5)]}
            for n, gold in enumerate(["a", "b"], 1)
        ]
        config = write("c.yaml", "version: 1\ndatasets: {samples: {path: samples.jsonl}}\nmetrics: {use: [hit@1]}\n")
        assert rankgauge("validate", config, "--baseline", "b.json").code == 0
        write("samples.jsonl", rows)
        for file in (data, config):
            done = rankgauge("validate", file, "--baseline", "b.json")
            assert (done.code, done.out) == (2, "")
            assert "samples: the ids changed, not the ranking" in done.err
        assert trec("--save-baseline", "t.json").code == 0
        assert rankgauge("validate", "qrels.txt", "run.txt", "--baseline", "t.json").code == 0
        moved = write("moved.txt", "".join(f"q{q} Q0 chunk-{d} 1 {-d} t\n" for q in (1, 2) for d in range(5)))
        done = rankgauge("validate", "qrels.txt", moved, "--baseline", "t.json")
        assert (done.code, done.out) == (2, "")
        assert "moved.txt: the ids changed" in done.err


class TestGithub:
    def test_a_job_is_annotated_and_its_summary_is_added_to(self, rankgauge, config, monkeypatch):
        monkeypatch.setenv("GITHUB_ACTIONS", "true")
        monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
        Path("summary.md").write_text("before\n", encoding="utf-8")
        done = rankgauge("run", config, "--gate", "hit@1 >= 0.6", "--json")
        assert done.code == 1
        assert "::error title=rankgauge%3A hit@1 >= 0.6::mine: hit@1: 0.5000 is below the minimum 0.6" in done.err
        assert Path("summary.md").read_text(encoding="utf-8").startswith("before\n## rankgauge: 1 of 4 gates failed\n")
        assert isinstance(done.json, list)

    def test_a_gate_of_the_config_is_annotated_at_its_line(self, rankgauge, data, write, monkeypatch):
        monkeypatch.setenv("GITHUB_ACTIONS", "true")
        text = CONFIG.replace("0.5 dataset mine", "0.9 dataset mine")
        assert f"::error file={write('c.yaml', text)},line=7,title=" in rankgauge("run", "c.yaml").err

    def test_a_summary_that_cannot_be_written_stops_nothing(self, rankgauge, config, monkeypatch):
        monkeypatch.setenv("GITHUB_ACTIONS", "true")
        monkeypatch.setenv("GITHUB_STEP_SUMMARY", "no/such/folder/summary.md")
        done = rankgauge("run", config)
        assert done.code == 0
        assert "the step summary cannot be written: No such file or directory" in done.err

    def test_elsewhere_nothing_is_annotated(self, rankgauge, config):
        assert "::error" not in rankgauge("run", config, "--gate", "hit@1 >= 0.6").err
