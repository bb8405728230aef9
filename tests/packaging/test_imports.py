"""What is loaded when: measured in fresh processes, on `sys.modules`."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import rankgauge
from rankgauge import policy
from rankgauge.cli.command_line import command_names
from rankgauge.metrics import FAMILIES

SOURCE = Path(rankgauge.__file__).parents[1]
PROFILES = ["default", "eval-harness", "remem", "haystack", "classic", "keyword", "trec9", "trec10"]
HEAVY = {"polars", "numpy", "pydantic", "scipy", "structlog", "rankgauge.metrics", "rankgauge.matchers"}
HELPLESS = HEAVY | {"dataclasses", "importlib.metadata", "inspect", "logging", "pathlib", "rich", "shutil"}
"""What no help needs, the smaller things because ten of them take longer than argparse."""


def modules_after(code, cwd=None):
    """Return the names of the modules that a fresh process has loaded when it has run some code."""
    script = f"{code}\nimport json, sys\nsys.stderr.write('MODULES' + json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=cwd)
    return set(json.loads(done.stderr.partition("MODULES")[2])), done.stdout


def command(*arguments, code=0):
    return (
        "from rankgauge.cli import main\n"
        f"try:\n    main({list(arguments)!r})\n"
        f"except SystemExit as done:\n    assert done.code == {code}, done.code\n"
    )


@pytest.mark.usefixtures("process")
@pytest.mark.promise
def test_importing_the_package_loads_nothing_heavy():
    loaded, _ = modules_after("import rankgauge")
    assert set() == HEAVY & loaded
    assert {name for name in loaded if name.startswith("rankgauge")} == {"rankgauge", "rankgauge.version"}


@pytest.mark.usefixtures("process")
@pytest.mark.promise
def test_importing_the_package_loads_nothing_that_python_has_not_loaded_by_itself():
    alone = "import sys\nbefore = set(sys.modules)\nimport rankgauge\nprint(*sorted(set(sys.modules) - before))"
    command = [sys.executable, "-S", "-E", "-c", f"import sys\nsys.path.insert(0, {str(SOURCE)!r})\n{alone}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["__future__", "rankgauge", "rankgauge.version"]


@pytest.mark.usefixtures("process")
@pytest.mark.parametrize("words", ["", "--version", "metrics --help", *(f"{name} -h" for name in command_names())])
def test_help_and_the_version_load_nothing_that_takes_long(words):
    loaded, text = modules_after(command(*(words.split() or ["--help"])))
    assert set() == HELPLESS & loaded
    assert "rankgauge" in text


@pytest.mark.usefixtures("process")
@pytest.mark.parametrize("name", ["run", "trec"])
def test_help_names_every_profile(name):
    assert list(PROFILES) == list(policy.PROFILES)
    _, text = modules_after(command(name, "--help"))
    assert ", ".join(PROFILES) in " ".join(text.split()).replace("- ", "-")  # a line may end within eval-harness


@pytest.mark.usefixtures("process")
@pytest.mark.promise
def test_a_usage_error_loads_nothing_heavy():
    loaded, _ = modules_after(command("run", "--no-such-option", code=2))
    assert set() == HEAVY & loaded


@pytest.mark.usefixtures("process")
def test_init_loads_nothing_heavy(tmp_path):
    loaded, _ = modules_after(command("init", "fresh"), cwd=tmp_path)
    assert set() == HEAVY & loaded
    assert (tmp_path / "fresh" / "rankgauge.yaml").is_file()


@pytest.mark.usefixtures("process")
def test_a_plain_run_of_json_lines_without_saving_loads_neither_polars_nor_yaml(tmp_path):
    row = {"id": "q", "expected_output": ["a"], "actual_output": ["b", "a"]}
    (tmp_path / "s.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    loaded, text = modules_after(command("run", "--data", "s.jsonl", "--metric", "MRR", "--json"), cwd=tmp_path)
    assert json.loads(text)["metrics"]["mrr"]["mean"] == 0.5
    assert {"polars", "yaml", "scipy", "structlog", "rankgauge.config"} & loaded == set()


@pytest.mark.usefixtures("process")
def test_running_a_config_loads_nothing_that_only_other_runs_need(tmp_path):
    row = {"id": "q", "expected_output": ["a"], "actual_output": ["b", "a"]}
    (tmp_path / "s.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    config = "version: 1\ndatasets: {mine: {path: s.jsonl}}\nmetrics: {use: [MRR]}\n"
    (tmp_path / "rankgauge.yaml").write_text(config, encoding="utf-8")
    loaded, text = modules_after(command("run", "rankgauge.yaml"), cwd=tmp_path)
    assert "0.5000" in text
    seldom = {
        "rankgauge.config.lock_file",
        "rankgauge.comparison",
        "rankgauge.gates.grammar",
        "rankgauge.scoring.details",
    }
    commands = {f"rankgauge.cli.{name}_command" for name in ("metrics", "trec", "judge")}
    assert (seldom | commands | {"asyncio", "scipy", "structlog", "jinja2"}) & loaded == set()


@pytest.mark.usefixtures("process")
def test_evaluating_two_trec_files_loads_numpy_alone_of_what_is_heavy(tmp_path):
    (tmp_path / "qrels").write_text("q 0 a 1\n", encoding="utf-8")
    (tmp_path / "run").write_text("q Q0 b 1 2.0 t\nq Q0 a 2 1.0 t\n", encoding="utf-8")
    code = "import rankgauge\nprint(rankgauge.evaluate('qrels', 'run', ['ndcg@10', 'RR'])['RR'].mean)"
    loaded, text = modules_after(code, cwd=tmp_path)
    assert float(text) == 0.5
    assert {"polars", "pydantic", "structlog", "scipy", "pandas", "pyarrow"} & loaded == set()


@pytest.mark.usefixtures("process")
def test_evaluating_a_run_from_the_command_line_loads_no_tables(tmp_path):
    (tmp_path / "qrels.txt").write_text("q 0 a 1\n", encoding="utf-8")
    (tmp_path / "run.txt").write_text("q Q0 a 1 2.0 t\n", encoding="utf-8")
    loaded, text = modules_after(command("trec", "qrels.txt", "run.txt", "-m", "RR"), cwd=tmp_path)
    assert "1.0000" in text
    assert {"polars", "pydantic", "scipy", "structlog", "rich", "rankgauge.config"} & loaded == set()
    slow = {"importlib.metadata", "logging", "tempfile", "shutil", "rankgauge.result.folder_reader"}
    slow |= {"rankgauge.explain", "rankgauge.explain.bounds", "rankgauge.judging.by_text", "rankgauge.judging.by_span"}
    assert slow & loaded == set()  # each costs some milliseconds, and nothing here needs them
    families = {name.rpartition(".")[2] for name in loaded if name.startswith("rankgauge.metrics.")} & FAMILIES.keys()
    assert families == {"reciprocal_rank"}


@pytest.mark.usefixtures("process")
def test_checking_a_run_loads_no_tables_and_no_metrics(tmp_path):
    (tmp_path / "qrels.txt").write_text("q 0 a 1\n", encoding="utf-8")
    (tmp_path / "run.txt").write_text("q Q0 a 1 2.0 t\n", encoding="utf-8")
    loaded, text = modules_after(command("validate", "qrels.txt", "run.txt"), cwd=tmp_path)
    assert "run.txt can be evaluated" in text
    heavy = {
        "polars",
        "scipy",
        "structlog",
        "rich.console",
        "rankgauge.config",
        "rankgauge.metrics",
        "rankgauge.report",
    }
    assert heavy & loaded == set()


@pytest.mark.usefixtures("process")
def test_checking_a_run_from_python_loads_nothing_heavy_but_numpy(tmp_path):
    (tmp_path / "qrels.txt").write_text("q 0 a 1\n", encoding="utf-8")
    (tmp_path / "run.txt").write_text("q Q0 a 1 2.0 t\n", encoding="utf-8")
    code = "import rankgauge\nassert rankgauge.preflight('qrels.txt', 'run.txt').ok"
    loaded, _ = modules_after(code, cwd=tmp_path)
    assert (HEAVY | {"rich", "zstandard"}) & loaded == {"numpy"}


@pytest.mark.usefixtures("process")
def test_declaring_a_metric_as_plugin_authors_do_loads_no_files_configs_or_reports():
    loaded, _ = modules_after("import rankgauge.plugin")
    assert {"polars", "rankgauge.io", "rankgauge.config", "rankgauge.report", "rankgauge.engine"} & loaded == set()


def test_all_is_sorted():
    assert sorted(rankgauge.__all__) == rankgauge.__all__


def test_all_is_complete_and_every_name_can_be_loaded():
    assert {*rankgauge._HOMES, "__version__"} == set(rankgauge.__all__)
    for name in rankgauge.__all__:
        assert getattr(rankgauge, name) is not None
    assert rankgauge.__all__ == dir(rankgauge)


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'Engin'"):
        _ = rankgauge.Engin


@pytest.mark.usefixtures("process")
def test_naming_the_checks_loads_no_hypothesis():
    loaded, _ = modules_after("import rankgauge.testing")
    assert {"hypothesis", "pytest"} & loaded == set()
