"""Config files that include others, and variables in paths."""

from __future__ import annotations

from pathlib import Path

import pytest

from rankgauge import Engine
from rankgauge.config import load_config
from rankgauge.errors import ConfigError, UnreadableError

ROW = '{"id": "q", "expected_output": ["a"], "actual_output": ["x", "a"]}\n'


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Run every test in a folder of its own, where files are named without it."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(name, text):
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def problems_of(name="c.yaml"):
    with pytest.raises(ConfigError) as caught:
        load_config(Path(name))
    return [str(problem) for problem in caught.value.problems]


class TestVariables:
    def test_paths_have_variables_and_a_home(self, folder, monkeypatch):
        monkeypatch.setenv("DATA_DIR", str(folder / "data"))
        monkeypatch.setenv("KIND", "dev")
        monkeypatch.setenv("HOME", str(folder / "home"))
        write("data/dev.jsonl", ROW)
        write("home/out.jsonl", '{"id": "q", "actual_output": ["a"]}\n')
        text = 'version: 1\ndatasets:\n  d: {path: "${DATA_DIR}/${KIND}.jsonl", outputs: ~/out.jsonl}\n'
        path = write("c.yaml", f"{text}metrics: {{use: [MRR]}}\noutput: {{directory: ~/runs}}\n")
        assert Engine.from_config(path).dataset("d").run()["MRR"].mean == 1.0
        assert load_config(path).config.output.directory == str(folder / "home" / "runs")

    def test_nothing_else_is_replaced(self, monkeypatch):
        monkeypatch.setenv("K", "3")
        write("c.yaml", "version: 1\ndatasets: {d: {path: $K.jsonl, fields: {id: '${K}'}}}\n")
        entry = load_config(Path("c.yaml")).config.datasets["d"]
        assert (entry.path, entry.fields) == ("$K.jsonl", {"id": "${K}"})

    def test_every_missing_variable_comes_with_its_line(self, monkeypatch):
        monkeypatch.delenv("NO_SUCH", raising=False)
        write("c.yaml", 'version: 1\ndatasets:\n  d:\n    path: ${NO_SUCH}/s.jsonl\n    outputs: "${3d}"\n')
        assert problems_of() == [
            "c.yaml:4, datasets.d.path: the environment variable NO_SUCH is not set; '${NO_SUCH}/s.jsonl' needs it",
            "c.yaml:5, datasets.d.outputs: '${3d}' is not a variable, which looks like ${DATA_DIR}",
        ]


class TestInclude:
    def test_what_a_file_says_wins_over_what_it_includes(self):
        write("base.yaml", "version: 1\nprofile: remem\nmetrics: {retrieval: {default_k: 3}, use: [MRR, ndcg@5]}\n")
        write("c.yaml", "version: 1\ninclude: base.yaml\nprofile: default\nmetrics: {use: [hit@1]}\n")
        config = load_config(Path("c.yaml")).config
        found = (config.profile, config.metrics.retrieval.default_k, config.metrics.use)
        assert found == ("default", 3, ["hit@1"])

    def test_paths_are_relative_to_the_file_that_names_them(self):
        write("shared/data/s.jsonl", ROW)
        write("shared/base.yaml", "datasets: {d: {path: data/s.jsonl}}\nbaseline: old\n")
        write("project/c.yaml", "version: 1\ninclude: [../shared/base.yaml]\nmetrics: {use: [MRR]}\n")
        engine = Engine.from_config("project/c.yaml")
        assert engine.dataset("d").run()["MRR"].mean == 0.5
        assert engine.config.file(engine.config.config.baseline).resolve() == Path("shared/old").resolve()

    def test_an_included_file_may_include_others(self, monkeypatch):
        monkeypatch.setenv("LEVEL", "two")
        write("two/c.yaml", "include: ../three.yaml\nmetrics: {retrieval: {default_k: 2}}\n")
        write("three.yaml", "metrics: {retrieval: {default_k: 3}, use: [MRR]}\n")
        write("c.yaml", "version: 1\ninclude: ['${LEVEL}/c.yaml']\n")
        config = load_config(Path("c.yaml")).config
        assert (config.metrics.retrieval.default_k, config.metrics.use) == (2, ["MRR"])

    def test_a_problem_has_the_file_and_line_it_stands_in(self):
        write("base.yaml", "metrics:\n  use:\n    - ndgc@10\npolicy:\n  depth: 0\n")
        write("c.yaml", "version: 1\ninclude: base.yaml\npolicy:\n  order: given\n  ties: never\n")
        first, second = problems_of()
        assert first.startswith("c.yaml:5, policy.ties: ")
        assert second.startswith("base.yaml:5, policy.depth: ")
        write("c.yaml", "version: 1\ninclude: base.yaml\npolicy: {depth: 3}\n")
        assert "base.yaml:3: unknown metric 'ndgc'" in str(_plan_error("c.yaml"))

    def test_files_that_include_each_other_are_refused(self):
        write("a.yaml", "version: 1\n\ninclude: b.yaml\n")
        write("b.yaml", "include: [a.yaml]\n")
        assert problems_of("a.yaml") == [
            "b.yaml:1, include[0]: the files include each other: a.yaml -> b.yaml -> a.yaml",
        ]
        write("self.yaml", "version: 1\ninclude: ./self.yaml\n")
        assert problems_of("self.yaml") == [
            "self.yaml:2, include: the files include each other: self.yaml -> self.yaml",
        ]

    def test_a_file_that_is_included_twice_is_refused(self):
        write("base.yaml", "profile: remem\n")
        write("c.yaml", "version: 1\ninclude:\n  - base.yaml\n  - ./base.yaml\n")
        assert problems_of() == ["c.yaml:4, include[1]: ./base.yaml is included twice; it is also include[0]"]

    def test_two_included_files_that_say_different_things_are_refused_unless_the_file_itself_decides(self):
        write("a.yaml", "profile: remem\nmetrics:\n  retrieval: {default_k: 3}\n")
        write("b.yaml", "metrics:\n  retrieval:\n    default_k: 4\nprofile: remem\n")
        write("c.yaml", "version: 1\ninclude: [a.yaml, b.yaml]\n")
        (problem,) = problems_of()
        assert problem.startswith("b.yaml:3, metrics.retrieval.default_k: a.yaml:3 says something else; take one of")
        write("c.yaml", "version: 1\ninclude: [a.yaml, b.yaml]\nmetrics: {retrieval: {default_k: 5}}\n")
        assert load_config(Path("c.yaml")).config.metrics.retrieval.default_k == 5

    def test_a_file_that_two_others_include_is_no_conflict(self):
        write("base.yaml", "profile: remem\n")
        write("a.yaml", "include: base.yaml\n")
        write("b.yaml", "include: base.yaml\n")
        write("c.yaml", "version: 1\ninclude: [a.yaml, b.yaml]\n")
        assert load_config(Path("c.yaml")).config.profile == "remem"

    def test_an_included_file_that_is_not_there_comes_with_the_line(self):
        write("c.yaml", "version: 1\ninclude:\n  - nowhere.yaml\n")
        (problem,) = problems_of()
        assert problem.startswith("c.yaml:3, include[0]: cannot read nowhere.yaml: no such file")

    def test_broken_yaml_of_an_included_file_is_told_with_its_own_line(self):
        write("base.yaml", "profile: remem\n\tx: 1\n")
        write("c.yaml", "version: 1\ninclude: base.yaml\n")
        assert problems_of() == [
            "base.yaml:2: not valid YAML: the line is indented with a tab; YAML takes spaces only",
        ]

    def test_an_included_file_that_is_no_mapping_is_refused(self):
        write("base.yaml", "- MRR\n")
        write("c.yaml", "version: 1\ninclude: base.yaml\n")
        (problem,) = problems_of()
        assert problem.startswith("base.yaml:1: a config file is a mapping")

    @pytest.mark.parametrize("given", ["3", "[3]", "{a: b}"])
    def test_what_is_no_path_is_refused(self, given):
        write("c.yaml", f"version: 1\ninclude: {given}\n")
        (problem,) = problems_of()
        assert problem.startswith("c.yaml:2, include: expected the path of a config file, or a list of them")

    def test_lines_of_a_file_that_is_no_config_are_not_shown(self):
        """As those of `/etc/shadow`, whose lines YAML takes for keys."""
        write("secrets", "root:x1$2y:19000:0:99999:7:::\nda emon:*:1: 2\nprofil: default\n")
        write("c.yaml", "version: 1\ninclude: secrets\n")
        with pytest.raises(ConfigError) as caught:
            load_config(Path("c.yaml"))
        assert [(problem.line, problem.path) for problem in caught.value.problems] == [(1, ""), (2, ""), (3, "profil")]
        assert "x1$2y" not in str(caught.value)
        assert "emon" not in str(caught.value)


def _plan_error(name):
    with pytest.raises(Exception, match="cannot be planned") as caught:
        Engine.from_config(name).dataset([]).plan()
    return caught.value


class TestMissingData:
    def test_a_missing_file_comes_with_the_line_that_names_it(self):
        write(
            "c.yaml", "version: 1\ndatasets:\n  d:\n    path: no.jsonl\n    outputs: out.jsonl\nmetrics: {use: [MRR]}\n"
        )
        with pytest.raises(UnreadableError) as caught:
            Engine.from_config("c.yaml").dataset("d").run()
        assert [str(problem) for problem in caught.value.problems] == [
            "c.yaml:4, datasets.d.path: no.jsonl: no such file; the folder has c.yaml",
            "c.yaml:5, datasets.d.outputs: out.jsonl: no such file; the folder has c.yaml",
        ]

    def test_outputs_that_are_replaced_need_not_be_there(self):
        write("s.jsonl", ROW)
        write("c.yaml", "version: 1\ndatasets: {d: {path: s.jsonl, outputs: no.jsonl}}\nmetrics: {use: [MRR]}\n")
        assert Engine.from_config("c.yaml").dataset("d").run(outputs={"q": ["a"]})["MRR"].mean == 1.0

    def test_the_place_in_an_included_file_is_told(self):
        write("shared/base.yaml", "datasets:\n  d:\n    path: no.jsonl\n")
        write("c.yaml", "version: 1\ninclude: shared/base.yaml\nmetrics: {use: [MRR]}\n")
        with pytest.raises(UnreadableError, match=r"shared/base\.yaml:3, datasets\.d\.path: shared/no\.jsonl: no such"):
            Engine.from_config("c.yaml").dataset("d").run()
