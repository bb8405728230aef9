"""The README: its Python runs, and its config can be planned with an embedder in the default one's place."""

import re
from pathlib import Path

import pytest

from rankgauge import Catalog, Engine
from rankgauge_semantic import plugin

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def block(kind):
    (found,) = re.findall(rf"^```{kind}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    return found


def test_the_python_of_the_readme_runs():
    namespace = {}
    exec(compile(block("python"), "README.md", "exec"), namespace)  # noqa: S102  # our own page
    assert namespace["result"] is not None


def test_the_config_of_the_readme_can_be_planned(tmp_path, monkeypatch):
    (tmp_path / "rankgauge.yaml").write_text(block("yaml"))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: name)
    catalog = Catalog.discover(own_only=True, plugins={"semantic": plugin})
    plan = Engine.from_config(tmp_path / "rankgauge.yaml", catalog=catalog).dataset("mine").plan()
    assert ["paraphrase", "semantic-score", "semantic"] == [metric.targets[0].matcher for metric in plan.metrics]


@pytest.mark.parametrize("name", ["semantic", "semantic-score", "embedding-cosine", "answer-semantic-similarity"])
def test_the_readme_says_what_the_plugin_offers(name):
    assert f"`{name}" in README
