"""A distribution of somebody else's: built, installed beside rankgauge's wheel, found, locked, uninstalled."""

import json
import os
from pathlib import Path
from typing import NamedTuple

import pytest

from draws import in_thorough_suite
from environments import Environment, build_wheel

ROOT = Path(__file__).parent.parent.parent
PROJECT = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "rankgauge-tides"
version = "1.2"
dependencies = ["rankgauge"]

[project.entry-points.rankgauge]
tides = "rankgauge_tides"
"""
MODULE = '''\
"""Metrics about tides."""

from rankgauge.plugin import Cutoff, Judged, Scores, hookimpl, metric, normalizer


@metric("tides-waste-at-k", short=("waste",), higher_is_better=False)
def waste(judged: Judged, *, k: Cutoff) -> Scores:
    """Share of the first *k* ranks that hold nothing relevant."""
    return 1 - judged.relevant_ranks(k) / k


@normalizer("drop-salt", stage="strip")
def drop_salt(text):
    """Remove salt."""
    return text.replace("salt", "")


@hookimpl
def rankgauge_metrics():
    return [waste]


@hookimpl
def rankgauge_normalizers():
    return [drop_salt]
'''
METRIC_LINE = 6
CONFIG = """\
version: 1
datasets: {sea: {path: samples.jsonl}}
metrics:
  use: [waste@2, "EM(matcher=unsalted)"]
matchers: {unsalted: drop-salt > equal}
plugins: {locked: rankgauge.lock.yaml}
"""
SAMPLE = {
    "id": "q",
    "expected_output": {"relevant": ["a"], "answer": "water"},
    "actual_output": {"retrieved": ["b", "a"], "answer": "saltwater"},
}
SCORES = {"waste@2": 0.5, "em(matcher=unsalted)": 1.0}
PYTHON = """\
import json
from rankgauge import Engine
evaluation = Engine().dataset("samples.jsonl").with_metrics(["tides-waste-at-2", "EM(matcher='drop-salt > equal')"])
print(json.dumps([column.mean for column in evaluation.run().metrics.values()]))
"""


pytestmark = [in_thorough_suite(), pytest.mark.usefixtures("process")]


class Installed(NamedTuple):
    """The environment, and the wheel of the other distribution, which is installed in it."""

    environment: Environment
    wheel: Path


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Install the wheels of rankgauge and of the other distribution into a fresh environment."""
    root = tmp_path_factory.mktemp("external")
    project = root / "project"
    project.mkdir()
    (project / "pyproject.toml").write_text(PROJECT, encoding="utf-8")
    (project / "rankgauge_tides.py").write_text(MODULE, encoding="utf-8")
    environment = Environment(root / "environment")
    given = os.environ.get("RANKGAUGE_TEST_WHEEL")  # `make test WHEEL=1` has built it already
    environment.install(Path(given) if given else build_wheel(ROOT, root / "own"))
    wheel = build_wheel(project, root / "other")
    environment.install(wheel)
    return Installed(environment, wheel)


@pytest.fixture(scope="module")
def environment(installed):
    return installed.environment


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("work")
    (made / "samples.jsonl").write_text(json.dumps(SAMPLE) + "\n", encoding="utf-8")
    (made / "c.yaml").write_text(CONFIG, encoding="utf-8")
    return made


@pytest.fixture(scope="module")
def rankgauge(environment, folder):
    """Return what calls rankgauge in the environment; it must exit with a code and may say nothing else on stderr."""

    def call(*arguments, code=0):
        done = environment.run("-m", "rankgauge", *arguments, cwd=folder)
        assert code == done.returncode, done.stderr
        return done

    return call


@pytest.fixture(scope="module")
def _locked(rankgauge):
    rankgauge("plugins", "lock", "c.yaml")


def means(report):
    return {name: column["mean"] for name, column in json.loads(report)["metrics"].items()}


def test_the_environment_has_the_wheel_and_not_the_sources(environment, folder):
    done = environment.run("-c", "import rankgauge; print(rankgauge.__file__)", cwd=folder)
    assert environment.site / "rankgauge" / "__init__.py" == Path(done.stdout.strip())


def test_show_names_distribution_version_file_and_line(rankgauge, environment):
    provider = json.loads(rankgauge("metrics", "show", "waste", "--json").stdout)["provider"]
    expected = {
        "distribution": "rankgauge-tides",
        "version": "1.2",
        "plugin": "tides",
        "file": str(environment.site / "rankgauge_tides.py"),
        "line": METRIC_LINE,
    }
    assert expected == provider
    shown = rankgauge("metrics", "show", "tides-waste-at-k").stdout
    assert f"rankgauge-tides 1.2 (plugin tides), {expected['file']}:{METRIC_LINE}" in shown


@pytest.mark.usefixtures("_locked")
def test_its_names_resolve_from_a_config(rankgauge):
    assert SCORES == means(rankgauge("run", "c.yaml", "--json").stdout)


def test_its_names_resolve_on_the_command_line(rankgauge):
    wanted = ["-m", "waste@2", "-m", "tides-waste-at-1"]
    found = means(rankgauge("run", "--data", "samples.jsonl", *wanted, "--json").stdout)
    assert {"waste@2": 0.5, "waste@1": 1.0} == found


def test_its_names_resolve_in_python(environment, folder):
    done = environment.run("-c", PYTHON, cwd=folder)
    assert [0.5, 1.0] == json.loads(done.stdout)


@pytest.mark.usefixtures("_locked")
def test_the_lock_names_it(folder):
    text = (folder / "rankgauge.lock.yaml").read_text(encoding="utf-8")
    assert '  alias: tides-waste-at-k\n  distribution: rankgauge-tides\n  version: "1.2"\n' in text
    assert '{name: drop-salt, distribution: rankgauge-tides, version: "1.2", kind: normalizer, source: ' in text


@pytest.mark.usefixtures("_locked")
def test_uninstalled_the_same_config_fails_before_data_is_read_and_says_what_is_missing(rankgauge, installed, folder):
    (folder / "samples.jsonl").rename(folder / "gone.jsonl")  # whoever reads it fails with another error
    installed.environment.uninstall("rankgauge-tides")
    try:
        done = rankgauge("run", "c.yaml", code=2)
    finally:
        installed.environment.install(installed.wheel)
        (folder / "gone.jsonl").rename(folder / "samples.jsonl")
    assert "" == done.stdout
    metric, normalizer = done.stderr.splitlines()[1:]
    assert "c.yaml:4: unknown metric 'waste'" in metric
    assert (
        "the lock rankgauge.lock.yaml names rankgauge-tides 1.2 as the provider of 'tides-waste-at-k': "
        "it is not installed; `pip install rankgauge-tides==1.2`"
    ) in metric
    assert "unknown normalizer 'drop-salt'" in normalizer
    assert "names rankgauge-tides 1.2 as the provider of 'drop-salt'" in normalizer
    assert SCORES == means(rankgauge("run", "c.yaml", "--json").stdout)
