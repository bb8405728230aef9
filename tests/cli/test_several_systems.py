"""Several systems in the records of one file: results of promptfoo, with several providers or prompts."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from rankgauge import Engine, Result, compare
from rankgauge.catalog import Catalog
from rankgauge.errors import DataError, DeclarationError, ParameterError
from rankgauge.plugin import hookimpl, preset
from tables import rows

GOLD = ({"relevant": ["d1"]}, {"relevant": ["d2"]})
FOUND = {"gpt": (["d1", "d9"], ["d9", "d2"]), "rag": (["d9", "d1"], ["d8", "d9"])}
"""RR: 1 and 1/2 of gpt, 1/2 and 0 of rag."""


def result(provider, column, test, found, prompt="{{query}}", **more):
    """Return a result as promptfoo 0.123.1 writes it, without what is not read."""
    return {
        "id": f"{provider}-{column}-{test}",
        "promptIdx": column,
        "testIdx": test,
        "prompt": {"raw": "When?", "label": prompt},
        "provider": {"id": "file://mine.js", "label": provider},
        "response": {"output": "In 1932.", "metadata": {"retrieved": [{"id": name} for name in found]}},
        "vars": {"query": "When?"},
        "testCase": {"vars": {"query": "When?"}, "metadata": GOLD[test]},
        **more,
    }


def results(found=FOUND):
    return [result(name, column, test, found[name][test]) for test in range(2) for column, name in enumerate(found)]


@pytest.fixture(params=["json", "jsonl"])
def file(request, tmp_path):
    path = tmp_path / f"results.{request.param}"
    written = json.dumps({"results": {"version": 3, "results": results()}})
    path.write_text(written if request.param == "json" else "\n".join(map(json.dumps, results())))
    return path


def evaluation(source):
    return Engine().dataset(source, preset="promptfoo").with_metrics("RR")


class TestEachIsARun:
    def test_of_its_name(self, file):
        done = {name: each.run() for name, each in evaluation(file).by_system().items()}
        assert {name: run["RR"].values.tolist() for name, run in done.items()} == {"gpt": [1, 0.5], "rag": [0.5, 0]}
        assert done["gpt"].sample_ids == ("0", "1")  # by the number of the test, which providers share
        compared = compare(done)["rag"]["RR"]
        assert compared.difference == -0.5

    def test_of_rows_in_memory(self):
        assert list(evaluation(results()).by_system()) == ["gpt", "rag"]

    def test_with_workers(self, file):
        chosen = evaluation(file).with_preset("promptfoo", system="rag")
        assert chosen.run(workers=2)["RR"].values.tolist() == [0.5, 0]

    def test_of_one_system_that_is_chosen_or_is_alone(self, tmp_path):
        alone = evaluation([row for row in results() if row["provider"]["label"] == "gpt"])
        assert alone.run()["RR"].mean == 0.75
        assert list(alone.by_system()) == ["gpt"]

    def test_and_none_where_none_is_chosen(self, file):
        with pytest.raises(DataError, match=r"the records of 2 systems, 'gpt', 'rag'.*--system 'gpt'"):
            evaluation(file).run()

    def test_and_none_of_an_unknown_name(self, file):
        with pytest.raises(DataError, match=r"no system 'ragg' \(did you mean 'rag'\?\); there are 'gpt', 'rag'"):
            evaluation(file).with_preset("promptfoo", system="ragg").run()

    def test_and_none_of_a_preset_that_does_not_tell(self, file):
        with pytest.raises(ParameterError, match="the preset 'ragas' does not say which system"):
            Engine().dataset(file).with_preset("ragas", system="rag")
        assert Engine().dataset(file, preset="ragas").by_system() == {}

    def test_what_is_no_record_stays_a_problem(self, tmp_path):
        path = tmp_path / "results.jsonl"
        path.write_text("\n".join([*map(json.dumps, results()), "{"]))
        with pytest.raises(DataError, match=r"results.jsonl:5"):
            evaluation(path).with_preset("promptfoo", system="rag").run()


@rows(
    "given, expected",
    [
        ([("gpt", "a"), ("rag", "a")], ["gpt", "rag"]),
        ([("gpt", "a"), ("gpt", "b"), ("rag", "a")], ["gpt, a", "gpt, b", "rag"]),
        ([("gpt", "a"), ("gpt", "a")], ["gpt, 0", "gpt, 1"]),
        ([("", "a"), ("rag", "a")], ["file://mine.js", "rag"]),
        ([("gpt", "a" * 50), ("gpt", "b\n c")], [f"gpt, {'a' * 37}...", "gpt, b c"]),
    ],
    ids=["one name each", "two prompts", "twice the same", "without a label", "a long prompt"],
)
def test_names(given, expected):
    found = [result(name, column, 0, ["d1"], prompt) for column, (name, prompt) in enumerate(given)]
    assert list(evaluation(found).by_system()) == expected


@pytest.mark.parametrize("file", ["json"], indirect=True)
class TestCommands:
    def test_run_scores_and_saves_each(self, file, tmp_path, rankgauge):
        folder = tmp_path / "out"
        done = rankgauge("run", "--data", file, "--preset", "promptfoo", "-m", "RR", "-o", folder, "--json")
        assert [each["metrics"]["rr"]["mean"] for each in json.loads(done.out)] == [0.75, 0.25]
        assert sorted(path.name for path in folder.iterdir()) == ["gpt", "rag"]
        again = Result.load(folder / "rag").evaluation().run()
        assert again["RR"].mean == 0.25
        compared = rankgauge("compare", folder / "gpt", folder / "rag")
        assert "rag against gpt: 2 pairs" in compared.out

    def test_there_is_no_mean_over_systems(self, file, rankgauge):
        done = rankgauge("run", "--data", file, "--preset", "promptfoo", "-m", "RR")
        assert "gpt: 2 samples" in done.out
        assert "equal weight" not in done.out

    def test_one_is_chosen(self, file, rankgauge):
        command = ("run", "--data", file, "--preset", "promptfoo", "-m", "RR", "--system", "rag", "--json")
        assert json.loads(rankgauge(*command).out)["metrics"]["rr"]["mean"] == 0.25

    def test_validate_checks_each(self, file, rankgauge):
        done = rankgauge("validate", file, "--preset", "promptfoo")
        assert f"{file}, gpt: valid" in done.out
        assert f"{file}, rag: valid" in done.out

    def test_a_gate_is_on_each(self, file, rankgauge):
        command = ("run", "--data", file, "--preset", "promptfoo", "-m", "RR", "--gate", "RR >= 0.5")
        done = rankgauge(*command)
        assert done.code == 1
        assert "MISSED rag: rr" in done.out
        assert "MISSED gpt" not in done.out

    def test_compare_takes_them_as_outputs(self, file, tmp_path, rankgauge):
        config = tmp_path / "rankgauge.yaml"
        datasets = f"{{d: {{path: {file.name}, preset: promptfoo, system: gpt}}}}"
        config.write_text(f"version: 1\ndatasets: {datasets}\nmetrics: {{use: [RR]}}\n")
        assert json.loads(rankgauge("run", config, "--json").out)["metrics"]["rr"]["mean"] == 0.75
        assert rankgauge("compare", "--config", config, file).code == 2  # one system is chosen
        config.write_text(config.read_text().replace(", system: gpt", ""))
        compared = json.loads(rankgauge("compare", "--config", config, file, "--json").out)
        assert compared["baseline"] == "gpt"
        newer = tmp_path / "newer.json"
        newer.write_text(json.dumps({"results": results({"new": (["d1"], ["d2"])})}))
        compared = rankgauge("compare", "--config", config, file, newer)
        assert "newer.json against gpt: 2 pairs" in compared.out


@preset(
    "trials", fields={"id": "qid", "actual_output.retrieved": "hits"}, marks=[("qid",)], system=["engine", "prompt"]
)
def trials():
    """What several engines returned."""


@hookimpl
def rankgauge_presets():
    return [trials]


def test_a_preset_of_a_plugin_tells_systems_apart_in_outputs():
    catalog = Catalog.discover(plugins={"acme": SimpleNamespace(rankgauge_presets=rankgauge_presets)})
    samples = [{"id": "q1", "expected_output": {"relevant": ["d1"]}}]
    found = [{"qid": "q1", "hits": [{"id": name}], "engine": engine} for engine, name in (("a", "d1"), (None, "d2"))]
    chosen = Engine(catalog=catalog).dataset(samples, preset="trials").with_outputs(found).with_metrics("RR")
    assert {name: each.run()["RR"].mean for name, each in chosen.by_system().items()} == {"a": 1.0, "(none)": 0.0}
    with pytest.raises(DataError, match="of 2 systems, 'a', '\\(none\\)'"):
        chosen.run()
    with pytest.raises(DataError, match="it has no system 'zz'"):
        chosen.with_preset("trials", system="zz").run()
    with pytest.raises(DeclarationError, match="cannot be followed"):
        preset("other", fields={"id": "qid"}, marks=[("qid",)], system=["engine[x]"])(trials)
