"""The tutorial and the example plugin are one, and what the tutorial promises happens."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from draws import in_thorough_suite
from fake_plugins import FakePlugins
from rankgauge import Engine
from rankgauge.catalog import Catalog
from rankgauge.cli import call
from rankgauge.errors import UnknownNameError
from rankgauge.expression import MetricExpression
from rankgauge.testing import check_metric

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "plugins/rankgauge-example"
PAGE = (ROOT / "docs/tutorial/write-a-plugin.md").read_text(encoding="utf-8")
MODULE = EXAMPLE / "src/rankgauge_example/__init__.py"
FENCE = re.compile(r"^```(?P<kind>[^\n]*)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(kind: str) -> list[str]:
    return [found["code"] for found in FENCE.finditer(PAGE) if found["kind"] == kind]


@pytest.mark.parametrize(
    ("kind", "path"),
    [
        ("toml", "pyproject.toml"),
        ("python", "src/rankgauge_example/__init__.py"),
        ("python", "tests/test_example.py"),
    ],
)
def test_the_page_builds_the_package_piece_by_piece(kind, path):
    built = "\n\n\n".join(code.rstrip("\n") for code in blocks(f"{kind} {path}")) + "\n"

    assert built == (EXAMPLE / path).read_text(encoding="utf-8")


def test_the_example_stays_short():
    files = [EXAMPLE / "pyproject.toml", *EXAMPLE.glob("src/**/*.py"), *EXAMPLE.glob("tests/**/*.py")]

    assert len(files) == 3
    assert sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files) <= 120


@in_thorough_suite()
def test_the_mistake_that_the_page_makes_is_reported_as_it_says(monkeypatch):
    source = MODULE.read_text(encoding="utf-8")
    faulty = source.replace("found / min(k, ranking.n_gold)", "found / k")
    assert faulty != source
    module = ModuleType("rankgauge_example_faulty")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(compile(faulty, "faulty.py", "exec"), module.__dict__)  # noqa: S102  # our own example
    (shown,) = blocks("text")
    report = check_metric(module.capped_recall, cases=30)

    assert shown in f"{report}\n"


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Install the example as a distribution of another name, as somebody who copied it would."""
    plugins = FakePlugins(tmp_path / "sites", monkeypatch)
    source = MODULE.read_text(encoding="utf-8")
    for name in ("retrieval-ncg-at-k", '"ncg"', "capped-recall", "capped_recall", "plain-typography", "contains-plain"):
        source = source.replace(name, f'"my_{name[1:]}' if name[0] == '"' else name.replace("-", "-my-", 1))
    source = source.replace('short=("capped_recall",)', 'short=("my_capped_recall",)')
    file = plugins.add("my-metrics", source, version="2.5")
    monkeypatch.chdir(tmp_path)
    row = {
        "id": "q",
        "expected_output": {"relevant": {"a": 3, "b": 1}, "answer": "it's late..."},
        "actual_output": {
            "retrieved": [{"id": "b", "text": "\u201cIt\u2019s late\u2026\u201d"}, {"id": "x", "text": "no"}]
        },
    }
    (tmp_path / "samples.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    yield file
    plugins.forget()


def test_its_names_work_from_yaml_the_command_line_and_python(installed, tmp_path, capsys):
    config = blocks("yaml example")[0].replace("ncg@10", "my_ncg@10").replace("capped_recall@5", "my_capped_recall@5")
    config = config.replace("contains-plain", "contains-my-plain").replace("rankgauge-example", "my-metrics")
    (tmp_path / "rankgauge.yaml").write_text(config, encoding="utf-8")

    assert call(["run", "rankgauge.yaml", "--json"], debug=True) == 0
    by_config = json.loads(capsys.readouterr().out)["metrics"]
    assert call(["run", "--data", "samples.jsonl", "-m", "my_ncg@10", "--json"], debug=True) == 0
    by_command = json.loads(capsys.readouterr().out)["metrics"]
    result = Engine().dataset("samples.jsonl").with_metrics(["my_ncg@10"]).run()

    assert by_config["my_ncg@10"]["mean"] == by_command["my_ncg@10"]["mean"] == result["my_ncg@10"].mean == 0.25
    assert by_config["my_capped_recall@5"]["mean"] == 0.5
    assert [each["mean"] for name, each in by_config.items() if "containment" in name] == [1.0]


def test_metrics_show_says_where_it_comes_from(installed, capsys):
    assert call(["metrics", "show", "my_ncg"], debug=True) == 0

    assert f"provider    my-metrics 2.5 (plugin main), {installed}:" in capsys.readouterr().out


def test_without_the_plugin_its_names_are_unknown_and_nothing_is_read(tmp_path, monkeypatch):
    with pytest.raises(UnknownNameError, match="unknown metric 'my_ncg'"):
        Catalog.discover(own_only=True).read(MetricExpression("my_ncg"))
