import dataclasses
from pathlib import Path

import pytest
import yaml

from fake_plugins import metric_module
from rankgauge import Engine
from rankgauge.config import load_config
from rankgauge.errors import ConfigError, PlanError, RequiredPluginError, UnknownNameError, UnreadableError
from rankgauge.policy import PROFILES, Policy

CONFIGS = Path(__file__).parents[2] / "configs"
SHIPPED = [path for path in sorted(CONFIGS.rglob("*.yaml")) if "version" in yaml.safe_load(path.read_text("utf-8"))]


def write(tmp_path, text, name="rankgauge.yaml"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def problems_of(tmp_path, text):
    path = write(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        Engine.from_config(path)
    assert all(str(path) == problem.file for problem in caught.value.problems)
    assert str(path) in str(caught.value)
    return caught.value.problems


def profile_of(path):
    return Engine.from_config(path).dataset([]).profile


def problem_of(tmp_path, text):
    (problem,) = problems_of(tmp_path, text)
    return problem


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.relative_to(CONFIGS).as_posix())
def test_every_config_that_is_shipped_loads_and_plans(path):
    engine = Engine.from_config(path)
    assert engine.dataset_names
    for name in engine.dataset_names:
        assert engine.dataset(name).plan().metrics


def test_the_quickstart_is_among_the_configs_that_are_shipped():
    assert CONFIGS / "quickstart" / "rankgauge.yaml" in SHIPPED


class TestProblems:
    def test_an_unknown_key_comes_with_line_path_and_suggestion(self, tmp_path):
        problem = problem_of(tmp_path, "version: 1\nmetrics:\n  uses: [ndcg@10]\n")
        assert problem.line == 3
        assert problem.path == "metrics.uses"
        assert "unknown key (did you mean 'use'?)" in problem.message
        assert "sets" in problem.message

    @pytest.mark.parametrize(
        ("text", "path", "meant"),
        [
            ("version: 1\ndataset: {}\n", "dataset", "datasets"),
            ("version: 1\ndatasets:\n  x: {path: a, ouputs: b}\n", "datasets.x.ouputs", "outputs"),
            ("version: 1\nmetrics:\n  retrieval: {defaultk: 3}\n", "metrics.retrieval.defaultk", "default_k"),
            ("version: 1\npolicy:\n  missing_outputs: zero\n", "policy.missing_outputs", "missing_output"),
            ("version: 1\nmatchers:\n  x: {treshold: 1}\n", "matchers.x.treshold", "threshold"),
            ("version: 1\nplugins:\n  disabled: [a]\n", "plugins.disabled", "disable"),
            ("version: 1\noutput:\n  dir: runs\n  detail: true\n", "output.detail", "details"),
        ],
    )
    def test_unknown_keys_are_found_at_every_level(self, tmp_path, text, path, meant):
        (problem,) = [problem for problem in problems_of(tmp_path, text) if problem.path == path]
        assert f"did you mean '{meant}'?" in problem.message

    def test_all_problems_come_in_one_report_each_with_its_line(self, tmp_path):
        text = (
            "version: 2\n"
            "metric: [ndcg]\n"
            "datasets:\n"
            "  one: {outputs: x}\n"
            "metrics:\n"
            "  retrieval:\n"
            "    default_k: '5'\n"
            "  use:\n"
            "    - ndcg@10\n"
            "    - 12\n"
            "policy:\n"
            "  duplicates: drop\n"
        )
        found = {(problem.path, problem.line) for problem in problems_of(tmp_path, text)}
        assert found == {
            ("version", 1),
            ("metric", 2),
            ("datasets.one.path", 4),
            ("metrics.retrieval.default_k", 7),
            ("metrics.use[1]", 10),
            ("policy.duplicates", 12),
        }

    def test_a_wrong_value_is_shown(self, tmp_path):
        problem = problem_of(tmp_path, "version: 1\nmetrics: {retrieval: {default_k: '5'}}\n")
        assert "found '5'" in problem.message

    def test_a_missing_version_is_a_problem(self, tmp_path):
        problem = problem_of(tmp_path, "datasets: {}\n")
        assert (problem.path, problem.message) == ("version", "the key is missing")

    @pytest.mark.parametrize("text", ["", "- a\n- b\n", "just words", "12"])
    def test_a_file_that_is_no_mapping_is_a_problem_with_a_way_out(self, tmp_path, text):
        assert "rankgauge init" in problem_of(tmp_path, text).message

    def test_an_unknown_profile_comes_with_a_suggestion_and_its_line(self, tmp_path):
        problem = problem_of(tmp_path, "version: 1\nprofile: eval-harnes\n")
        assert (problem.path, problem.line) == ("profile", 2)
        assert "did you mean 'eval-harness'?" in problem.message

    def test_policy_values_out_of_bounds_come_with_their_lines(self, tmp_path):
        text = "version: 1\npolicy:\n  max_failed: 1.5\n  depth: 0\n"
        problems = problems_of(tmp_path, text)
        assert {("policy.max_failed", 3), ("policy.depth", 4)} == {(each.path, each.line) for each in problems}

    def test_an_unknown_field_name_comes_with_a_suggestion_and_its_line(self, tmp_path):
        text = "version: 1\ndatasets:\n  x:\n    path: a\n    fields:\n      expected_outputs: gold\n"
        problem = problem_of(tmp_path, text)
        assert problem.line == 6
        assert "did you mean 'expected_output'?" in problem.message

    @pytest.mark.parametrize(
        ("place", "message"),
        [
            ("{path: contexts, strings: texts}", "Input should be 'id' or 'text'"),
            ("{strings: text}", "the key is missing"),
            ("{path: contexts, string: text}", "unknown key (did you mean 'strings'?)"),
            ("3", "expected your name for the field"),
        ],
    )
    def test_a_field_that_cannot_be_read_comes_with_its_line(self, tmp_path, place, message):
        text = f"version: 1\ndatasets:\n  x:\n    path: a\n    fields:\n      retrieved: {place}\n"
        problem = problem_of(tmp_path, text)
        assert (message in problem.message, problem.line) == (True, 6)

    def test_strings_of_a_field_without_any_are_refused(self, tmp_path):
        text = "version: 1\ndatasets:\n  x:\n    path: a\n    fields:\n      input: {path: q, strings: text}\n"
        problem = problem_of(tmp_path, text)
        assert "strings says what bare strings in retrieved are" in problem.message

    def test_a_matcher_that_cannot_be_built_is_a_problem_with_its_line(self, tmp_path):
        problem = problem_of(tmp_path, "version: 1\nmatchers:\n  mine: 'casefold > > contained'\n")
        assert (problem.path, problem.line) == ("matchers.mine", 3)

    def test_a_duplicate_key_is_refused_with_both_lines(self, tmp_path):
        path = write(tmp_path, "version: 1\nprofile: default\nprofile: eval-harness\n")
        with pytest.raises(UnreadableError, match=r":3: duplicate key 'profile'; it is also in line 2"):
            load_config(path)

    def test_broken_yaml_is_refused_with_its_line(self, tmp_path):
        with pytest.raises(UnreadableError, match="not valid YAML") as caught:
            load_config(write(tmp_path, "version: 1\nmetrics: [\n"))
        assert caught.value.problems[0].line is not None

    def test_a_file_that_is_not_utf8_is_refused(self, tmp_path):
        path = tmp_path / "rankgauge.yaml"
        path.write_bytes(b"version: 1\nprofile: \xe9\n")
        with pytest.raises(UnreadableError, match=r"byte 20 \(0xe9\)"):
            load_config(path)

    def test_a_missing_file_is_refused_with_a_way_out(self, tmp_path):
        with pytest.raises(UnreadableError, match="rankgauge init"):
            load_config(tmp_path / "rankgauge.yaml")

    def test_a_directory_is_refused(self, tmp_path):
        with pytest.raises(UnreadableError, match="directory"):
            load_config(tmp_path)

    def test_a_config_never_holds_code(self, tmp_path):
        with pytest.raises(UnreadableError, match="not allowed"):
            load_config(write(tmp_path, "version: 1\nprofile: !!python/name:os.system ''\n"))

    def test_a_byte_order_mark_and_carriage_returns_are_fine(self, tmp_path):
        path = tmp_path / "rankgauge.yaml"
        path.write_bytes(b"\xef\xbb\xbfversion: 1\r\nprofile: eval-harness\r\n")
        assert load_config(path).config.profile == "eval-harness"


class TestSets:
    TEXT = (
        "version: 1\n"
        "metrics:\n"
        "  use: [ndcg@10, {set: outer}]\n"
        "  sets:\n"
        "    outer: [P@5, {set: inner}]\n"
        "    inner:\n"
        "      - recall@1,5\n"
        "      - {metric: MRR, as: rank}\n"
    )

    def test_sets_include_sets(self, tmp_path):
        specs = Engine.from_config(write(tmp_path, self.TEXT)).metrics()
        assert [spec.spec for spec in specs] == ["ndcg@10", "P@5", "recall@1,5", {"metric": "MRR", "as": "rank"}]

    def test_metrics_know_their_line_in_the_set_that_holds_them(self, tmp_path):
        path = write(tmp_path, self.TEXT)
        specs = Engine.from_config(path).metrics()
        assert [spec.line for spec in specs] == [3, 5, 7, 8]
        assert {str(path)} == {spec.file for spec in specs}

    def test_sets_can_be_chosen_by_name(self, tmp_path):
        loaded = Engine.from_config(write(tmp_path, self.TEXT))
        assert [spec.spec for spec in loaded.metrics(["inner"])] == ["recall@1,5", {"metric": "MRR", "as": "rank"}]
        assert len(loaded.metrics(["inner", "outer"])) == 5  # two, and one with the two again

    def test_an_unknown_name_is_refused_with_a_suggestion(self, tmp_path):
        with pytest.raises(ConfigError, match=r"unknown metric set 'iner' \(did you mean 'inner'"):
            Engine.from_config(write(tmp_path, self.TEXT)).metrics(["iner"])

    def test_an_unknown_set_in_the_file_is_a_problem_with_its_line(self, tmp_path):
        problem = problem_of(tmp_path, "version: 1\nmetrics:\n  use:\n    - {set: innr}\n  sets: {inner: [MRR]}\n")
        assert (problem.path, problem.line) == ("metrics.use[0]", 4)
        assert "did you mean 'inner'?" in problem.message
        assert "; known are inner" in problem.message

    def test_a_set_that_includes_itself_is_a_problem(self, tmp_path):
        problem = problem_of(tmp_path, "version: 1\nmetrics:\n  sets:\n    a: [{set: a}]\n")
        assert (problem.path, problem.line) == ("metrics.sets.a[0]", 4)
        assert "a -> a" in problem.message

    def test_a_cycle_of_sets_is_a_problem_with_its_trail(self, tmp_path):
        text = "version: 1\nmetrics:\n  sets:\n    a: [{set: b}]\n    b: [{set: c}]\n    c: [MRR, {set: a}]\n"
        problems = problems_of(tmp_path, text)
        found = [(problem.path, problem.message.rpartition(": ")[2]) for problem in problems]
        closing = {"metrics.sets.c[1]": "a -> b -> c -> a", "metrics.sets.a[0]": "b -> c -> a -> b"}
        assert found == [*closing.items(), ("metrics.sets.b[0]", "c -> a -> b -> c")]

    def test_a_set_included_twice_is_no_cycle(self, tmp_path):
        text = (
            "version: 1\nmetrics:\n  use: [{set: a}]\n"
            "  sets:\n    a: [{set: b}, {set: c}]\n    b: [{set: d}]\n    c: [{set: d}]\n    d: [MRR]\n"
        )
        assert [spec.spec for spec in Engine.from_config(write(tmp_path, text)).metrics()] == ["MRR", "MRR"]


class TestPolicy:
    def test_a_profile_brings_its_policy(self, tmp_path):
        loaded = profile_of(write(tmp_path, "version: 1\nprofile: eval-harness\n"))
        assert PROFILES["eval-harness"] == loaded

    def test_policy_options_are_laid_over_the_profile(self, tmp_path):
        text = "version: 1\nprofile: eval-harness\npolicy: {failed_output: zero, max_failed: 0.25}\n"
        loaded = profile_of(write(tmp_path, text))
        wanted = Policy(no_gold="zero", missing_output="error", failed_output="zero", max_failed=0.25)
        assert wanted == loaded.policy
        assert PROFILES["eval-harness"].contract == loaded.contract

    def test_every_option_can_be_given(self, tmp_path):
        text = (
            "version: 1\npolicy:\n  order: score\n  duplicates: best\n  no_gold: error\n  missing_output: exclude\n"
            "  failed_output: error\n  max_failed: 1\n  queries: intersection\n  depth: 7\n  judged_only: true\n"
            "  exclude_self: true\n"
        )
        wanted = Policy(
            order="score",
            duplicates="best",
            no_gold="error",
            missing_output="exclude",
            failed_output="error",
            max_failed=1.0,
            queries="intersection",
            depth=7,
            judged_only=True,
            exclude_self=True,
        )
        assert wanted == profile_of(write(tmp_path, text)).policy

    def test_an_option_that_is_null_is_as_the_profile_has_it(self, tmp_path):
        text = "version: 1\nprofile: eval-harness\npolicy: {no_gold: null, max_failed: null, order: score}\n"
        wanted = dataclasses.replace(PROFILES["eval-harness"].policy, order="score")
        assert wanted == profile_of(write(tmp_path, text)).policy

    def test_no_depth_is_written_as_null(self, tmp_path):
        assert profile_of(write(tmp_path, "version: 1\npolicy: {depth: null}\n")).policy == Policy()


class TestEngine:
    def test_paths_are_relative_to_the_config_and_not_to_the_working_directory(self, tmp_path, monkeypatch):
        home, elsewhere = tmp_path / "project", tmp_path / "elsewhere"
        (home / "data").mkdir(parents=True)
        elsewhere.mkdir()
        (home / "data" / "s.jsonl").write_text('{"id": "q", "expected_output": ["a"]}\n', encoding="utf-8")
        (home / "out.jsonl").write_text('{"id": "q", "actual_output": ["a"]}\n', encoding="utf-8")
        text = "version: 1\ndatasets: {d: {path: data/s.jsonl, outputs: out.jsonl}}\nmetrics: {use: [MRR]}\n"
        path = write(home, text)
        monkeypatch.chdir(elsewhere)
        assert Engine.from_config(path).dataset("d").run()["MRR"].mean == 1.0

    def test_fields_matchers_metrics_and_defaults_reach_the_evaluation(self, tmp_path):
        row = '{"qid": 1, "gold": {"answer": "41 METRES"}, "hits": [{"text": "x"}, {"text": "41   metres tall"}]}\n'
        (tmp_path / "s.jsonl").write_text(row, encoding="utf-8")
        text = (
            "version: 1\n"
            "datasets:\n"
            "  d:\n"
            "    path: s.jsonl\n"
            "    fields: {id: qid, expected_output: gold, actual_output: hits}\n"
            "metrics:\n"
            "  retrieval: {default_k: 1}\n"
            "  use:\n"
            "    - {metric: answer-containment-at-k, matcher: mine, as: first}\n"
            "    - {metric: answer-containment-at-k, matcher: mine, k: 2, as: second}\n"
            "matchers:\n"
            "  mine: {normalize: [collapse-whitespace, casefold], compare: contained}\n"
        )
        result = Engine.from_config(write(tmp_path, text)).dataset("d").run()
        # The answer stands at rank 2, written otherwise.
        assert (result["first"].mean, result["second"].mean) == (0.0, 1.0)
        assert (result["first"].k, result["second"].k) == (1, 2)

    def test_a_metric_that_cannot_be_planned_is_reported_with_file_and_line(self, tmp_path):
        (tmp_path / "s.jsonl").write_text('{"id": "q", "expected_output": ["a"]}\n', encoding="utf-8")
        text = (
            "version: 1\ndatasets: {d: {path: s.jsonl}}\nmetrics:\n  use:\n    - ndgc@10\n    - MRR\n"
            "    - {metric: ndcg, k: '5'}\n    - P\n"
        )
        path = write(tmp_path, text)
        with pytest.raises(PlanError) as caught:
            Engine.from_config(path).dataset("d").plan()
        assert [(str(path), 5), (str(path), 7), (str(path), 8)] == [
            (problem.file, problem.line) for problem in caught.value.problems
        ]
        assert "did you mean 'ndcg'" in caught.value.problems[0].message

    def test_an_unknown_matcher_part_is_refused(self, tmp_path):
        text = "version: 1\nmatchers: {mine: {normalize: [casefolded], compare: contained}}\n"
        with pytest.raises(UnknownNameError, match=r"did you mean 'casefold'"):
            Engine.from_config(write(tmp_path, text)).catalog.matcher("mine")

    def test_a_required_plugin_that_is_absent_is_refused(self, tmp_path):
        with pytest.raises(RequiredPluginError, match="no-such-plugin"):
            Engine.from_config(write(tmp_path, "version: 1\nplugins: {require: [no-such-plugin]}\n"))

    def test_a_disabled_plugin_that_is_misspelled_is_refused_with_its_line(self, tmp_path, installed):
        installed.add("acme-tools", metric_module("acme-depth"))
        text = "version: 1\nplugins:\n  disable:\n    - Acme_Tools\n    - acme-tool\n    - rankgauge\n"
        path = write(tmp_path, text)
        with pytest.raises(ConfigError) as caught:
            Engine.from_config(path)
        misspelled, own = caught.value.problems
        assert (misspelled.file, misspelled.line, misspelled.path) == (str(path), 5, "plugins.disable")
        assert "no plugin 'acme-tool' is installed (did you mean 'acme-tools'?)" in misspelled.message
        assert (own.line, own.message) == (6, "rankgauge's own plugins cannot be disabled")
