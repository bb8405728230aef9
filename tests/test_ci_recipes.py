"""The action and the jobs of the how-to page: their steps run here as a runner would run them, on this wheel."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import yaml

from draws import in_thorough_suite
from environments import Environment, build_wheel, plain_variables

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs/how-to/gate-in-ci.md").read_text(encoding="utf-8")
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))

pytestmark = [
    pytest.mark.skipif(shutil.which("bash") is None, reason="the steps are written for bash"),
    pytest.mark.usefixtures("process"),
]


def block(kind: str) -> Any:
    (code,) = re.findall(rf"^```{kind}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return code


class Runner:
    """Runs shell steps in a checkout, with an environment of its own in place of the runner's Python."""

    def __init__(self, checkout: Path, environment: Environment, wheel: Path) -> None:
        self.checkout = checkout
        self.temp = checkout / "temp"
        self.temp.mkdir()
        self.command = environment.scripts / "rankgauge"
        own = {
            "PATH": f"{environment.scripts}{os.pathsep}{os.environ['PATH']}",
            "PIP_NO_DEPS": "1",
            "PIP_NO_INDEX": "1",
            "PIP_IGNORE_INSTALLED": "1",
            "PIP_FIND_LINKS": str(wheel.parent),
            "RANKGAUGE_NO_PLUGINS": "1",
        }
        self.variables = {**plain_variables(), **own}
        for name in ("GITHUB_ACTIONS", "GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"):
            self.variables.pop(name, None)

    @property
    def has_rankgauge(self) -> bool:
        return self.command.exists()

    def run(self, script: str, **variables: str) -> subprocess.CompletedProcess[str]:
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
        environment = {**self.variables, **variables}
        return subprocess.run(
            command, cwd=self.checkout, env=environment, capture_output=True, text=True, check=False, timeout=120
        )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    given = os.environ.get("RANKGAUGE_TEST_WHEEL")
    return Path(given) if given else build_wheel(ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    return Environment(tmp_path_factory.mktemp("ci") / "environment")


@pytest.fixture
def runner(tmp_path: Path, environment: Environment, wheel: Path) -> Runner:
    """Return a runner whose checkout has the page's config, the quickstart's questions, and a retriever."""
    quickstart = ROOT / "configs/quickstart"
    folder = tmp_path / "eval"
    folder.mkdir()
    (folder / "rankgauge.yaml").write_text(block("yaml"), encoding="utf-8")
    shutil.copy(quickstart / "dataset.yaml", folder)
    shutil.copy(quickstart / "outputs.bm25.jsonl", tmp_path / "good.jsonl")
    (folder / "retrieve.py").write_text("print(open('good.jsonl').read(), end='')\n", encoding="utf-8")
    return Runner(tmp_path, environment, wheel)


def spoil(checkout: Path) -> None:
    """Turn every ranking of the retriever upside down, and cut it."""
    lines = (checkout / "good.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    for row in rows:
        output = row["actual_output"]
        output["retrieved"] = output["retrieved"][::-1][:3]
    (checkout / "good.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")


def of_action(runner: Runner, given: Mapping[str, str], wheel: Path) -> list[subprocess.CompletedProcess[str]]:
    """Run the steps of the action as far as they succeed; expressions are those that it uses, and no others."""
    inputs = {name: each.get("default", "") for name, each in ACTION["inputs"].items()} | dict(given)
    values = {f"inputs.{name}": value for name, value in inputs.items()}
    values |= {"inputs.package || github.action_path": inputs["package"] or str(wheel), "runner.temp": str(runner.temp)}

    def filled(text: str) -> str:
        return re.sub(r"\$\{\{ (.*?) \}\}", lambda found: values[found[1]], text)

    github = {
        "GITHUB_ACTIONS": "true",
        "GITHUB_OUTPUT": str(runner.temp / "output"),
        "GITHUB_STEP_SUMMARY": str(runner.temp / "summary"),
    }
    done = []
    for step in ACTION["runs"]["steps"]:
        if "pip install" in step.get("run", "") and runner.has_rankgauge:
            continue  # once is enough: pip takes longer than everything else
        if "run" not in step:
            assert step["uses"].startswith("actions/setup-python@")
            continue
        assert "${{" not in step["run"]  # values reach a script by variables, so that none is run as code
        variables = {name: filled(value) for name, value in step.get("env", {}).items()}
        done.append(runner.run(step["run"], **github, **variables))
        if done[-1].returncode:
            break
    return done


@in_thorough_suite()
def test_the_workflow_of_the_page_gates_with_the_action(runner: Runner, wheel: Path) -> None:
    (job,) = yaml.safe_load(block("yaml workflow"))["jobs"].values()
    checkout, retrieve, action = job["steps"]
    assert checkout["uses"].startswith("actions/checkout@")
    assert action["uses"] == "OWNER/rankgauge@REF"
    assert set(action["with"]) <= set(ACTION["inputs"])
    assert runner.run(retrieve["run"]).returncode == 0

    *_, first = of_action(runner, action["with"], wheel)
    assert first.returncode == 2  # as the page says: there is no baseline yet
    assert "--save-baseline eval/baselines/main.json" in first.stderr
    save = f"{action['with']['arguments']} --save-baseline eval/baselines/main.json"
    assert [done.returncode for done in of_action(runner, {**action["with"], "arguments": save}, wheel)] == [0]

    assert [done.returncode for done in of_action(runner, action["with"], wheel)] == [0]
    outputs = dict(line.split("=", 1) for line in (runner.temp / "output").read_text("utf-8").splitlines())
    assert set(outputs) == set(ACTION["outputs"])
    assert "all 4 gates passed" in Path(outputs["markdown"]).read_text(encoding="utf-8")
    assert "all 4 gates passed" in (runner.temp / "summary").read_text(encoding="utf-8")

    spoil(runner.checkout)
    assert runner.run(retrieve["run"]).returncode == 0
    *_, missed = of_action(runner, action["with"], wheel)
    assert missed.returncode == 1
    line = next(n for n, text in enumerate(block("yaml").splitlines(), 1) if "max_drop" in text)
    assert f"::error file=eval/rankgauge.yaml,line={line},title=" in missed.stderr
    (suite,) = ET.parse(outputs["junit"]).getroot()  # noqa: S314  # our own
    assert int(suite.get("failures", "0")) >= 2


@in_thorough_suite()
def test_arguments_of_the_action_are_split_as_a_shell_would_and_never_run(runner: Runner, wheel: Path) -> None:
    assert runner.run("python eval/retrieve.py > outputs.jsonl").returncode == 0
    arguments = (
        """--outputs outputs.jsonl --save-baseline eval/baselines/main.json --gate 'ndcg@10 >= 0.99' -m '$(touch x)'"""
    )
    *_, done = of_action(runner, {"config": "eval/rankgauge.yaml", "arguments": arguments}, wheel)
    assert done.returncode == 2
    assert "$(touch x)" in done.stderr
    assert not (runner.checkout / "x").exists()


@in_thorough_suite()
def test_the_job_of_the_page_gates_on_gitlab(runner: Runner) -> None:
    (job,) = yaml.safe_load(block("yaml gitlab")).values()
    install, retrieve, gate = job["script"]
    assert install == "python -m pip install rankgauge"
    runner.command.unlink(missing_ok=True)
    first = [install, retrieve, f"{gate} --save-baseline eval/baselines/main.json"]
    assert [runner.run(line).returncode for line in first] == [0, 0, 0]
    spoil(runner.checkout)
    done = runner.run(f"{retrieve}\n{gate}")
    assert done.returncode == 1
    assert "::error" not in done.stdout + done.stderr  # which only GitHub reads
    for path in (job["artifacts"]["reports"]["junit"], *job["artifacts"]["paths"]):
        assert (runner.checkout / path).stat().st_size > 0
