"""Which parts of CI run: those whose inputs changed since they last passed in full, and no others."""

import re
import sys
from pathlib import Path

import pytest

from draws import in_thorough_suite

ROOT = Path(__file__).parents[2]

FILES = {
    "pyproject.toml": (
        '[project]\nrequires-python = ">=3.11"\ndependencies = ["numpy>=2"]\n\n[tool.ruff]\nline-length = 120\n'
    ),
    "Makefile": "TORCH ?= torch==2.1\n\ntest-host:\n\tpip install $(TORCH)\n\tpytest plugins/host\n\nother:\n\techo\n",
    ".ci/parts.toml": (
        '[test-host]\nfiles = ["plugins/host/**/*", "docs/host.md"]\nunless = "NOT TESTED"\n\n'
        '[test-lowest]\nfiles = ["plugins/host/pyproject.toml"]\noutside = ["src/rankgauge/**/*.py"]\n'
    ),
    "docs/host.md": (
        "# In a host\n\nCall it.\n\n1. First:\n\n   ```python host=host\n   score(1)\n   ```\n\nSo it ends.\n"
    ),
    "plugins/host/pyproject.toml": '[project]\nname = "host"\ndependencies = ["ragas>=0.2"]\n',
    "plugins/host/src/host.py": (
        "import rankgauge\nfrom rankgauge import Engine\nfrom rankgauge.errors import describe as told\n\n\n"
        "def score(x):\n    from rankgauge import stats\n\n    return Engine().run(x), stats.mean(x), rankgauge.LEVEL\n"
    ),
    "src/rankgauge/__init__.py": (
        "LEVEL = 0.05\nif TYPE_CHECKING:\n    from rankgauge.engine import Engine\n"
        "    from rankgauge.other import Other\n"
    ),
    "src/rankgauge/engine.py": (
        "import numpy as np\nfrom rankgauge.result import Result\n\n\n"
        'class Engine:\n    """Scores."""\n\n'
        "    def __init__(self, *, seed: int = 0) -> None:\n        self.seed = seed\n\n"
        "    def run(self, data: object) -> Result:\n        return self._run(np.sort(data))\n\n"
        "    def _run(self, data):\n        return Result(data)\n\n\n"
        "def unused(x):\n    return x\n"
    ),
    "src/rankgauge/result.py": "@dataclass\nclass Result:\n    scores: list\n    cutoff: int = 10\n",
    "src/rankgauge/other.py": "class Other:\n    size: int = 3\n",
    "src/rankgauge/errors.py": "def describe(error: Exception) -> str:\n    return str(error)\n",
    "src/rankgauge/stats/__init__.py": "from rankgauge.stats.means import mean\n",
    "src/rankgauge/stats/means.py": "def mean(x, axis=0):\n    return sum(x) / len(x)\n",
}


@pytest.fixture
def ci(monkeypatch):
    """Return the module that decides."""
    monkeypatch.syspath_prepend(str(ROOT / ".ci"))
    import parts

    yield parts
    for name in ("parts", "inputs"):
        sys.modules.pop(name)


@pytest.fixture
def repository(tmp_path):
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


@pytest.fixture
def passed(ci, repository):
    """Return the repository once all its parts have passed in full."""
    for name in ci.parts_of(repository):
        assert ci.run(repository, name, made=lambda _root, _name: (0, "3 passed")) == 0
    return repository


def reasons(ci, root, **options):
    """Return why parts run, as their decisions say it; None for parts that do not run."""
    return {each.name: each.why if each.runs else None for each in ci.decisions(root, **options)}


def replace(root, name, old, new):
    path = root / name
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_a_part_without_a_record_runs(ci, repository):
    assert reasons(ci, repository) == dict.fromkeys(["test-host", "test-lowest"], "no pass in full is recorded")


def test_what_passed_is_left_out_and_the_line_says_why(ci, passed):
    assert reasons(ci, passed) == {"test-host": None, "test-lowest": None}
    assert str(ci.decisions(passed)[0]) == (
        "test-host is left out: its inputs are those with which it last passed in full (FULL=1 runs it)"
    )


def test_full_runs_everything(ci, passed):
    assert reasons(ci, passed, full=True) == dict.fromkeys(["test-host", "test-lowest"], "FULL=1 runs everything")


@pytest.mark.parametrize(
    ("name", "old", "new", "changed"),
    [
        pytest.param("plugins/host/src/host.py", "return Engine", "return  Engine", "files", id="its own source"),
        pytest.param("plugins/host/pyproject.toml", "ragas>=0.2", "ragas>=0.3", "files", id="its own requirement"),
        pytest.param("pyproject.toml", "numpy>=2", "numpy>=2.1", "requirements", id="a requirement of all"),
        pytest.param("Makefile", "pytest plugins", "pytest -x plugins", "requirements", id="how it is made"),
        pytest.param("Makefile", "torch==2.1", "torch==2.2", "requirements", id="a variable of how it is made"),
        pytest.param("docs/host.md", "score(1)", "score(2)", "files", id="a code block of a page"),
        pytest.param("docs/host.md", "host=host", "host=other", "files", id="where a code block runs"),
        pytest.param("src/rankgauge/engine.py", "seed: int = 0", "seed: int = 1", "names", id="a default"),
        pytest.param("src/rankgauge/engine.py", "seed: int = 0", "seed: int = False", "names", id="a default like it"),
        pytest.param("src/rankgauge/engine.py", "def run(self", "def go(self", "names", id="a method"),
        pytest.param("src/rankgauge/result.py", "cutoff: int", "depth: int", "names", id="a field of what is returned"),
        pytest.param("src/rankgauge/errors.py", "-> str", "-> bytes", "names", id="a function under another name"),
        pytest.param("src/rankgauge/errors.py", "describe", "explain", "names", id="a name that is gone"),
        pytest.param("src/rankgauge/stats/means.py", "axis=0", "axis=1", "names", id="a name of a module"),
        pytest.param("src/rankgauge/__init__.py", "0.05", "0.01", "names", id="a constant"),
        pytest.param("src/rankgauge/engine.py", "self._run(np.sort(data))", "Result(data)", None, id="a body"),
        pytest.param("src/rankgauge/engine.py", "Scores.", "Scores runs.", None, id="a docstring"),
        pytest.param("src/rankgauge/engine.py", "def _run(self", "def _run_all(self", None, id="a private method"),
        pytest.param("src/rankgauge/engine.py", "unused(x)", "unused(x, y)", None, id="a name that it does not use"),
        pytest.param("src/rankgauge/other.py", "size: int = 3", "size: int = 4", None, id="an export it does not use"),
        pytest.param("docs/host.md", "Call it.", "Call it so:", None, id="the prose of a page"),
        pytest.param("docs/host.md", "ends.", "ends, as `score(1)` does.", None, id="the prose after a code block"),
        pytest.param("Makefile", "\techo", "\techo other", None, id="how others are made"),
        pytest.param("pyproject.toml", "line-length = 120", "line-length = 100", None, id="how files are formatted"),
    ],
)
def test_a_part_runs_for_its_files_interfaces_and_requirements_only(ci, passed, name, old, new, changed):
    replace(passed, name, old, new)
    expected = None if changed is None else f"its {changed} changed since it last passed in full"
    assert reasons(ci, passed)["test-host"] == expected


@pytest.mark.parametrize(
    ("old", "new", "runs"),
    [
        pytest.param("np.sort(data)", "np.unique_values(data)", True, id="another function"),
        pytest.param("np.sort(data)", "np.sort(data, stable=True)", True, id="another argument"),
        pytest.param("np.sort(data)", "np.sort(data).argsort()", True, id="a method of what it returns"),
        pytest.param("import numpy as np", "import tomllib\nimport numpy as np", True, id="another module of Python"),
        pytest.param("np.sort(data)", "np.sort(data[1:])", False, id="the same function"),
        pytest.param("import numpy as np", "import numpy as numbers", False, id="the same under another name"),
        pytest.param("def unused(x)", "def unused(x, y)", False, id="a function of its own"),
    ],
)
def test_versions_of_libraries_are_tried_again_where_the_source_uses_something_else_of_them(ci, passed, old, new, runs):
    replace(passed, "src/rankgauge/engine.py", old, new)
    if new.endswith("numbers"):
        replace(passed, "src/rankgauge/engine.py", "np.sort", "numbers.sort")
    assert (reasons(ci, passed)["test-lowest"] is not None) == runs


def test_digests_are_the_same_everywhere(ci, passed):
    """In another folder and in every version of Python, of which 3.12 writes this f-string otherwise than 3.11 does."""
    replace(passed, "src/rankgauge/result.py", "cutoff: int = 10", "cutoff: int = f\"{', '.join(LEVELS)}, {1:.2f}\"")
    part = ci.parts_of(passed)["test-host"]
    assert sys.modules["inputs"].Inputs(passed).digests("test-host", part) == {
        "files": "4e3d2dbe056038cf",
        "names": "62276cfb16d8c322",
        "requirements": "cdaa884083d364f6",
    }


def test_files_that_come_and_go_count_and_what_tools_leave_does_not(ci, passed):
    made = passed / "plugins/host/src/__pycache__/host.pyc"
    made.parent.mkdir()
    made.write_bytes(b"x")
    assert reasons(ci, passed)["test-host"] is None

    added = passed / "plugins/host/tests/test_more.py"
    added.parent.mkdir()
    added.write_text("", encoding="utf-8")
    assert reasons(ci, passed)["test-host"] == "its files changed since it last passed in full"

    added.unlink()
    assert reasons(ci, passed)["test-host"] is None


@pytest.mark.parametrize(("code", "output"), [(2, "1 failed"), (0, "!! 1 OF 9 HOSTS WERE NOT TESTED")])
def test_only_a_pass_in_full_is_recorded(ci, repository, capsys, code, output):
    assert ci.run(repository, "test-host", made=lambda _root, _name: (code, output)) == code
    assert "so nothing was recorded" in capsys.readouterr().out
    assert reasons(ci, repository)["test-host"] == "no pass in full is recorded"


def test_what_changes_while_a_part_runs_is_not_recorded_as_tried(ci, repository):
    def made(root, _name):
        replace(root, "plugins/host/src/host.py", "score", "score_all")
        return 0, "3 passed"

    ci.run(repository, "test-host", made=made)
    assert reasons(ci, repository)["test-host"] == "its files changed since it last passed in full"


def test_a_record_of_a_part_that_is_gone_goes_with_the_next_one(ci, passed):
    replace(passed, ".ci/parts.toml", "[test-lowest]", "[test-newest]")
    ci.record(passed, "test-host", {"files": "1", "names": "2", "requirements": "3"})
    assert ci.passed_of(passed) == {"test-host": {"files": "1", "names": "2", "requirements": "3"}}


def test_a_glob_that_finds_nothing_is_an_error(ci, repository):
    replace(repository, ".ci/parts.toml", "plugins/host/**/*", "plugins/hosts/**/*")
    with pytest.raises(FileNotFoundError, match=r"plugins/hosts/\*\*/\*: correct \.ci/parts\.toml"):
        ci.decisions(repository)


def test_every_part_is_a_target_whose_inputs_exist(ci):
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    parts = ci.parts_of(ROOT)
    assert [name for name in parts if f"\n{name}:" not in makefile] == []
    for part in parts.values():
        for glob in (*part["files"], *part.get("outside", ())):
            if (ROOT / "src").exists() or not glob.startswith("src/"):  # wheels are tested away from it
                assert sys.modules["inputs"].files_of(ROOT, [glob])
    assert ci.passed_of(ROOT).keys() <= parts.keys()


BY_HAND = {
    "test-model": "the model is a download of a gigabyte",
    "test-plugins": "part of the thorough suite",
    "test-promptfoo": "npm has an index of its own, and CI reaches that of packages only",
}
"""Targets that neither CI runs by its own name nor a part does, and why."""


def test_every_target_that_tests_is_run_by_ci_or_a_part_of_it(ci):
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    script = (ROOT / ".ci/run").read_text(encoding="utf-8")
    named = {"test", *ci.parts_of(ROOT), *BY_HAND}
    for name in ("suite", "always"):
        (words,) = re.findall(rf"^{name}=\((.*?)\)", script, re.MULTILINE)
        named |= set(words.split())
    targets = set(re.findall(r"^(test[\w-]*|check|build|site|audit):", makefile, re.MULTILINE))
    assert sorted(targets - named) == [], "name it in .ci/parts.toml or in .ci/run"
    assert {"test-thorough", "check", "build", "site", "audit"} <= named


@in_thorough_suite()
@pytest.mark.skipif(not (ROOT / "src").exists(), reason="wheels are tested away from the source")
def test_no_name_that_a_part_uses_is_missing(ci):
    """A name that cannot be found would hide that it changes; two tests name a variable as they do a module."""
    variables = {"rankgauge.io.trec.run_text.items"}
    inputs = sys.modules["inputs"]
    found = inputs.Inputs(ROOT)
    for part in ci.parts_of(ROOT).values():
        used = found.interfaces(inputs.files_of(ROOT, part["files"]))
        assert {key for key, text in used.items() if text == inputs.NOT_DEFINED} <= variables
