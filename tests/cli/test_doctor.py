"""What ``rankgauge doctor`` finds: here, where packages are missing or too old, and where parts do not work."""

import importlib.metadata
import subprocess
import sys
import webbrowser

import pytest

from draws import in_thorough_suite
from rankgauge.cli import setup_commands
from rankgauge.engine import workers
from rankgauge.errors import WorkerError

_LINES = [
    "numpy>=1.26.4",
    "absent-package>=2",
    "fastexcel>=0.16; extra == 'excel'",
    'another-absent[more]>=1; extra == "pandas"',
    "bm25s==0.3.16; extra == 'record'",
]


@pytest.fixture
def facts(rankgauge):
    """Return a function that returns the facts by name, and the exit code."""

    def look():
        done = rankgauge("doctor", "--json")
        return {fact["what"]: (fact["state"], fact["more"]) for fact in done.json["facts"]}, done.code

    return look


@pytest.fixture
def without_processes(monkeypatch):
    """Leave out what starts processes, where a test is about something else."""
    for look in ("_imports", "_workers"):
        monkeypatch.setattr(setup_commands, look, lambda: iter(()))


@pytest.fixture
def versions(monkeypatch, without_processes):
    """Let packages have the versions of a mapping; the others are missing."""

    def install(required, **known):
        def version(name):
            if name not in known:
                raise importlib.metadata.PackageNotFoundError(name)
            return known[name]

        monkeypatch.setattr(importlib.metadata, "requires", lambda _: required)
        monkeypatch.setattr(importlib.metadata, "version", version)

    return install


@pytest.mark.usefixtures("process")
def test_a_working_installation_is_ok(rankgauge):
    done = rankgauge("doctor")
    assert done.code == 0
    assert done.out.splitlines()[-1] == "nothing is broken"
    assert f"Python {sys.version.split()[0]}" in done.out


@pytest.mark.usefixtures("process")
@in_thorough_suite()
def test_everything_that_was_looked_at_is_a_fact(facts):
    found, code = facts()
    assert code == 0
    assert {"python", "packages", "extra excel", "plugins", "imports", "terminal", "workers", "browser"} <= set(found)
    assert found["plugins"][0] == "ok"
    assert all(each.endswith("(disabled)") for each in found["plugins"][1].split(", "))
    assert found["workers"] == ("ok", "one judged a sample")
    assert "RANKGAUGE_NO_PLUGINS" in found["python"][1]
    assert f"numpy {importlib.metadata.version('numpy')}" in found["packages"][1]


def test_a_package_that_is_missing_is_broken_and_one_of_an_extra_is_not(facts, versions):
    versions(_LINES, numpy="2.0.0", fastexcel="0.20")
    found, code = facts()
    assert code == 1
    assert found["packages"] == ("broken", "absent-package is missing: pip install rankgauge")
    assert found["extra excel"] == ("ok", "fastexcel 0.20")
    assert found["extra pandas"] == ("missing", "another-absent: pip install 'rankgauge[pandas]'")
    assert "extra record" not in found


@pytest.mark.parametrize(
    ("version", "state"), [("1.26.3", "broken"), ("1.9", "broken"), ("1.26.4", "ok"), ("1.26.4rc1", "ok"), ("2", "ok")]
)
def test_a_package_below_its_floor_is_broken(facts, versions, version, state):
    versions(["numpy>=1.26.4"], numpy=version)
    assert facts()[0]["packages"][0] == state


@pytest.mark.usefixtures("process")
@in_thorough_suite()
def test_workers_that_cannot_be_started_are_broken(facts, monkeypatch):
    def refuse(*_, **__):
        raise WorkerError("no process can be started")

    monkeypatch.setattr(workers, "judging_lines", refuse)
    found, code = facts()
    assert (found["workers"], code) == (("broken", "--workers cannot be used here: no process can be started"), 1)


@pytest.mark.usefixtures("process")
def test_packages_that_cannot_be_imported_are_broken(facts, monkeypatch):
    def refuse(command, **_):
        raise subprocess.CalledProcessError(1, command)

    monkeypatch.setattr(subprocess, "run", refuse)
    assert facts()[0]["imports"] == ("broken", "a new interpreter cannot load them: CalledProcessError")


@pytest.mark.usefixtures("without_processes")
@pytest.mark.parametrize("is_there", [True, False])
def test_a_browser_is_there_or_missing(facts, monkeypatch, is_there):
    def get():
        if not is_there:
            raise webbrowser.Error("none")

    monkeypatch.setattr(webbrowser, "get", get)
    found, code = facts()
    assert (found["browser"][0], code) == ("ok" if is_there else "missing", 0)


@pytest.mark.usefixtures("without_processes")
def test_a_broken_plugin_is_named(rankgauge, monkeypatch, tmp_path):
    info = tmp_path / "broken_plugin-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken-plugin\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[rankgauge]\nbroken = no_such_module_anywhere\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delenv("RANKGAUGE_NO_PLUGINS")
    done = rankgauge("doctor")
    assert done.code == 1
    assert "No module named 'no_such_module_anywhere'" in " ".join(done.out.split())
    assert done.out.splitlines()[-1].startswith("broken: ")
