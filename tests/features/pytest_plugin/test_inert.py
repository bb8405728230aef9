"""A project that does not use the plugin does not notice it."""

import json
import re
import subprocess
import sys
from importlib.metadata import entry_points

import pytest

from draws import in_thorough_suite

HEAVY = {"numpy", "polars", "pydantic", "orjson", "rankgauge.catalog", "rankgauge.engine", "rankgauge.samples"}

CONFTEST = """
import json, sys

def pytest_unconfigure(config):
    with open("modules.json", "w") as file:
        json.dump(sorted(sys.modules), file)
"""


def run(path, body, *options):
    (path / "conftest.py").write_text(CONFTEST)
    (path / "test_q.py").write_text(body)
    (path / "pytest.ini").write_text(
        "[pytest]\naddopts = --strict-markers -p no:cacheprovider\nfilterwarnings = error\n"
    )
    command = [sys.executable, "-m", "pytest", *options]
    done = subprocess.run(command, cwd=path, capture_output=True, text=True, check=False)
    return done, set(json.loads((path / "modules.json").read_text()))


def test_the_entry_point_leads_to_the_plugin():
    (point,) = (point for point in entry_points(group="pytest11") if point.name == "rankgauge")
    assert "rankgauge.pytest_plugin" == point.value


@pytest.mark.usefixtures("process")
@in_thorough_suite()
def test_a_project_that_does_not_use_it_loads_nothing_heavy_and_sees_no_difference(tmp_path):
    body = "import pytest\n\n@pytest.mark.parametrize('n', [1, 2])\ndef test_it(n): assert n\n"
    with_it, loaded = run(tmp_path, body, "-v")
    without_it, bare = run(tmp_path, body, "-v", "-p", "no:rankgauge")
    assert with_it.returncode == without_it.returncode == 0
    assert set() == HEAVY & loaded
    assert {name for name in loaded - bare if not name.startswith("rankgauge")} <= {"difflib"}

    def told(done):  # but for the list of plugins, and how long it took, which shortens a line of `=`
        return re.sub(r"in \d+\.\d+s|rankgauge-[\d.]+(, )?|=+", "", done.stdout)

    assert told(without_it) == told(with_it)
    assert "" == with_it.stderr == without_it.stderr


@pytest.mark.usefixtures("process")
@in_thorough_suite()
def test_a_project_that_uses_it_loads_the_engine_and_no_polars(tmp_path):
    """The counterpart of the test above: it would see a load."""
    body = "def test_it(rankgauge_eval):\n    rankgauge_eval.log('q', retrieved=['a'], expected=['a'])\n"
    done, loaded = run(tmp_path, body)
    assert done.returncode == 0
    assert {"rankgauge.engine", "rankgauge.samples", "orjson"} <= loaded


@pytest.mark.usefixtures("process")
@in_thorough_suite()
def test_fixture_marker_and_options_are_documented_by_pytest_itself(tmp_path):
    done, loaded = run(tmp_path, "", "--help")
    assert all(f"--rankgauge-{name}" in done.stdout for name in ("min", "max", "metric", "json", "config"))
    assert set() == HEAVY & loaded
    assert "@pytest.mark.rankgauge(metrics=None, gates=None): " in run(tmp_path, "", "--markers")[0].stdout
    assert "rankgauge_eval" in run(tmp_path, "", "--fixtures")[0].stdout
