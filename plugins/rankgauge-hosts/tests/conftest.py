"""
What the tests of all hosts share: no telemetry, no network, and the quickstart data.

`RANKGAUGE_HOST` names the host whose environment this is; without it, only what needs no host is tested.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
HOST = os.environ.get("RANKGAUGE_HOST", "")
KNOWN = ("inspect", "deepeval", "haystack", "ir_measures", "mlflow", "platforms", "ragas", "sentence_transformers")

# Before any host is imported: each reads its own switch, most of them once.
QUIET = {
    "ANONYMIZED_TELEMETRY": "False",
    "DEEPEVAL_DISABLE_DOTENV": "1",
    "DEEPEVAL_TELEMETRY_ENABLED": "0",
    "DEEPEVAL_TELEMETRY_OPT_OUT": "1",
    "DO_NOT_TRACK": "true",
    "HAYSTACK_TELEMETRY_ENABLED": "False",
    "HF_HUB_OFFLINE": "1",
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "LANGFUSE_TRACING_ENABLED": "false",
    "LANGSMITH_ENDPOINT": "http://127.0.0.1:9",  # it looks for its server even where it is told to send nothing
    "RAGAS_DO_NOT_TRACK": "true",
    # One thread, because rows that many of them write at once to a small database get lost.
    "MLFLOW_ENABLE_ASYNC_TRACE_LOGGING": "false",
    "MLFLOW_GENAI_EVAL_MAX_WORKERS": "1",
}
if HOST:
    os.environ.update(QUIET)

collect_ignore = [f"on_{host}" for host in KNOWN if host != HOST]


def load(name, path):
    """Import a file that is no test module."""
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session", autouse=True)
def offline():
    """Whatever tries to reach the network fails the run, also where a host swallows the error."""
    if not HOST:
        yield  # the project's own tests share this process
        return
    guard = load("rankgauge_offline", TESTS / "offline" / "sitecustomize.py")
    yield
    assert guard.ATTEMPTS == []


@pytest.fixture(scope="session")
def driver():
    """Return how users of this host hand samples over: `driver.py` of its folder."""
    return load(f"rankgauge_driver_of_{HOST}", TESTS / f"on_{HOST}" / "driver.py")


@pytest.fixture
def child_environment():
    """Return the environment for child processes: offline and quiet."""
    return {**os.environ, **QUIET, "PYTHONPATH": str(TESTS / "offline")}


@pytest.fixture
def lateness(tmp_path, monkeypatch):
    """Install a plugin with a metric of which less is better; return its name."""
    folder = tmp_path / "installed"
    info = folder / "lateness-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: lateness\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[rankgauge]\nmetrics = lateness\n")
    (folder / "lateness.py").write_text(LATENESS)
    monkeypatch.syspath_prepend(folder)
    yield "lateness"
    sys.modules.pop("lateness", None)


LATENESS = '''
"""How late the first relevant result comes."""

from rankgauge.plugin import JudgedSample, hookimpl, sample_metric


@sample_metric("lateness", higher_is_better=False, range=(0.0, None))
def lateness(ranking: JudgedSample) -> float | None:
    """Rank of the first relevant result, counted from 0."""
    return next((float(rank) for rank, relevant in enumerate(ranking.relevant) if relevant), None)


@hookimpl
def rankgauge_metrics():
    return [lateness]
'''
