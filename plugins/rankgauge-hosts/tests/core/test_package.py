"""The package: what it imports, and how hosts find it."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import rankgauge_hosts

ROOT = Path(__file__).parent.parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
HOSTS = {"inspect", "deepeval", "haystack", "ir_measures", "mlflow", "ragas", "sentence_transformers"}
MODULES = sorted((ROOT / "src" / "rankgauge_hosts").glob("*.py"))


@pytest.mark.parametrize(
    ("old", "home", "new"), [("Suite", "rankgauge", "HostScorer"), ("Column", "rankgauge.typing", "HostColumn")]
)
def test_what_moved_into_rankgauge_still_works_and_warns(old, home, new):
    told = rf"rankgauge_hosts\.{old} is deprecated and goes in rankgauge-hosts 0\.3; use {re.escape(home)}\.{new}"
    with pytest.warns(DeprecationWarning, match=told):
        assert getattr(rankgauge_hosts, old) is getattr(importlib.import_module(home), new)


def test_importing_the_package_imports_no_host():
    script = "import sys, rankgauge_hosts, rankgauge_hosts.promptfoo; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=120)
    loaded = {name.split(".")[0] for name in done.stdout.split()}
    assert (
        loaded & {"inspect_ai", "deepeval", "haystack", "ir_measures", "mlflow", "ragas", "sentence_transformers"}
        == set()
    )


def test_every_host_has_an_extra_and_a_test_root():
    extras = {name for name in PROJECT["project"]["optional-dependencies"] if not name.startswith("test")}
    roots = {path.name.removeprefix("on_") for path in (ROOT / "tests").glob("on_*")}
    assert extras == HOSTS | {"platforms"}  # which take functions, and have no module here
    assert roots == HOSTS | {"platforms", "promptfoo", "pytest"}


def test_the_entry_point_is_called_as_the_package_is():
    """Otherwise inspect_ai does not find its scorers."""
    assert PROJECT["project"]["entry-points"]["inspect_ai"] == {"rankgauge_hosts": "rankgauge_hosts.inspect_ai"}
