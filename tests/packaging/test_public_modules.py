"""What plugins may import: the plugins of this repository take public names of public modules, and nothing else."""

from __future__ import annotations

import ast
import functools
import importlib
import re
import runpy
import textwrap
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import get_args

import pytest

from rankgauge import errors
from rankgauge.plugin import Need
from rankgauge.plugin.hookspecs import why_unusable
from rankgauge.plugin.signature import RESERVED
from tables import rows

ROOT = Path(__file__).parents[2]
PAGE = SimpleNamespace(**runpy.run_path(str(ROOT / "docs/api.py")))
PUBLIC = {module for module in PAGE.MODULES if module.split(".")[0] == "rankgauge"}
PLUGINS = sorted(ROOT.glob("plugins/*/pyproject.toml"))


def imports_of(source: str) -> Iterator[tuple[str, str]]:
    """Yield module and name of what a file takes from rankgauge: by import, or as `rankgauge.name`; "" for a module."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found = [(alias.name, "") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found = [(node.module or "", alias.name) for alias in node.names]
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "rankgauge":
            found = [("rankgauge", node.attr)]
        else:
            continue
        yield from (pair for pair in found if pair[0].split(".")[0] == "rankgauge")


@functools.cache
def public_names(module: str) -> set[str]:
    """Return the names that the page of public names has of a module."""
    if module == "rankgauge.errors":  # which has a page of its own
        kinds = {name for name in errors.__all__ if isinstance(getattr(errors, name), type)}
        return kinds | {each.name for each in PAGE.public_names(module)}
    return {each.name for each in PAGE.public_names(module)}


def private(source: str) -> list[str]:
    """Return what a file imports of rankgauge that is not public."""
    return [
        f"{module}: {name}" if name else module
        for module, name in imports_of(source)
        if f"{module}.{name}" not in PUBLIC and not (module in PUBLIC and (not name or name in public_names(module)))
    ]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("from rankgauge import Engine\nimport rankgauge.files\nfrom rankgauge.errors import DataError, Problem", []),
        ("from rankgauge.io.files import read_bytes", ["rankgauge.io.files: read_bytes"]),
        ("def f():\n    import rankgauge.engine.job", ["rankgauge.engine.job"]),
        ("from rankgauge.files import corpus", ["rankgauge.files: corpus"]),
        ("from rankgauge.errors import counted", ["rankgauge.errors: counted"]),
        ("import rankgauge\nrankgauge.evaluate\nrankgauge.engine", ["rankgauge: engine"]),
        ("from rankgauge.compat import haystack\nfrom rankgauge_judge.rubric import Rubric", []),
    ],
)
def test_a_private_name_is_seen(source: str, expected: list[str]) -> None:
    assert private(source) == expected


@pytest.mark.parametrize("project", PLUGINS, ids=lambda project: project.parent.name)
def test_a_plugin_imports_public_names_alone(project: Path) -> None:
    files = sorted(project.parent.glob("src/**/*.py"))
    assert files
    found = {str(file.relative_to(ROOT)): private(file.read_text(encoding="utf-8")) for file in files}
    assert {file: names for file, names in found.items() if names} == {}


def test_the_page_on_plugins_lists_the_public_modules() -> None:
    text = (ROOT / "docs/reference/plugins.md").read_text(encoding="utf-8")
    table = text.partition("| module | what it is for |")[2].partition("\n\n")[0]
    listed = re.findall(r"^\| `([\w.]+)` \|", table, re.MULTILINE)
    assert len(listed) == len(set(listed))
    assert set(listed) == {".".join(module.split(".")[:2]) for module in PUBLIC}


@rows("module", sorted(PUBLIC))
def test_a_public_module_says_what_it_is_for(module: str) -> None:
    found = importlib.import_module(module)
    assert (found.__doc__ or "").strip()
    assert list(found.__all__) == sorted(found.__all__)


@rows("project", PLUGINS, ids=lambda project: project.parent.name)
def test_a_plugin_says_which_rankgauge_it_needs(project: Path) -> None:
    """The version has the plugin API that the plugin asks for, and Python is the one that rankgauge needs."""
    own = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = tomllib.loads(project.read_text(encoding="utf-8"))["project"]
    assert declared["requires-python"] == own["requires-python"]
    assert "rankgauge>=0.1.0" in declared["dependencies"], "the first version with this plugin API"
    groups = declared.get("entry-points", {})
    targets = [target for group in ("rankgauge", "rankgauge.commands") for target in groups.get(group, {}).values()]
    for module in {target.partition(":")[0] for target in targets}:
        place = project.parent / "src" / module.replace(".", "/")
        file = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
        wanted = re.search(r"^RANKGAUGE_API = (\(\d+, \d+\))$", file.read_text(encoding="utf-8"), re.MULTILINE)
        assert wanted is not None, f"{file} does not say which plugin API it needs"
        assert why_unusable(ast.literal_eval(wanted[1])) == ""


def test_the_page_on_plugins_lists_reserved_names_and_needs() -> None:
    text = (ROOT / "docs/reference/plugins.md").read_text(encoding="utf-8")
    reserved = text.partition("These names are reserved")[2].partition(":")[2].partition(". ")[0]
    assert set(re.findall(r"`(\w+)`", reserved)) == RESERVED
    expressions = (ROOT / "docs/reference/expressions.md").read_text(encoding="utf-8")
    every = expressions.partition("| parameter | |")[2].partition("\n\n")[0]
    cells = re.findall(r"^\| ([^|]+) \|", every, re.MULTILINE)
    names = [name for cell in cells for name in re.findall(r"`(\w+)`", cell)]
    assert sorted(names) == sorted({*RESERVED, "words"}), "a metric may read what an expression gives as words"
    table = text.partition("| need | in `seen` |")[2].partition("\n\n")[0]
    assert set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == set(get_args(Need))


PAGES = [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md")), *sorted(ROOT.glob("plugins/*/README.md"))]


@rows("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_shows_public_names_alone(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    shown = re.findall(r"^( *)```python\n(.*?)^\1```$", text, re.MULTILINE | re.DOTALL)
    assert [name for _, code in shown for name in private(textwrap.dedent(code))] == []
