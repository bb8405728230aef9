"""How the source is laid out: sizes and names of files, and that no files import each other in a circle."""

import ast
import tomllib
from collections import Counter
from fnmatch import fnmatch
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import rankgauge
from draws import in_thorough_suite

ROOT = Path(__file__).parents[2]
SOURCE = Path(rankgauge.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))
LONGEST, SHORTEST = 600, 40
MOST_OF_A_NAME = 2
MOST_PUBLIC_NAMES = 29
SHORT = {
    "__main__.py": "what `python -m rankgauge` runs",
    "version.py": "read by the build and by `import rankgauge`, which load nothing else",
    "base/logs.py": "imported by every room that logs, and by nothing that does not",
    **dict.fromkeys(
        [
            *(f"compat/{name}.py" for name in ("classic", "haystack", "keyword", "remem")),
            "history.py",
            "pytest_plugin.py",
        ],
        "the public name of what stands in `features`",
    ),
    **dict.fromkeys(("labels.py", "scale.py", "testing.py"), "as above"),
    **dict.fromkeys(("systems.py", "text.py"), "the public name of what stands in rooms"),
    "base/late_pattern.py": "one subject that is small, and that matchers share with nothing else",
    "features/preflight/validate_runs.py": "what the command does, beside what Python calls",
    "features/testing/check_options.py": "what the help of two commands loads, and nothing else",
    "scoring/stop.py": "imported by the command line before what calls a system under test",
}
"""Files that may be short, and why; an `__init__.py` may always be."""


def lines_of(file):
    return len(file.read_text(encoding="utf-8").splitlines())


def name_of(file):
    """Return a file by its path within the package, as messages show it."""
    return file.relative_to(SOURCE).as_posix()


def is_for_types(node):
    """Return whether a statement holds what only type checkers read."""
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def imports_by_module(folder, package):
    """Return what each module of a package imports of the others when it runs, wherever in the file that is written."""
    modules = {}
    for file in (folder / package).rglob("*.py"):
        dotted = ".".join(file.relative_to(folder).with_suffix("").parts)
        modules[dotted.removesuffix(".__init__")] = file
    imports = {}
    for module, file in modules.items():
        wanted = set()
        tree = ast.parse(file.read_text(encoding="utf-8"))
        types = {id(inner) for node in ast.walk(tree) if is_for_types(node) for inner in ast.walk(node)}
        for node in ast.walk(tree):
            if id(node) in types:
                continue
            if isinstance(node, ast.Import):
                wanted |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                assert not node.level, f"{module}: a relative import, line {node.lineno}"
                submodules = {f"{node.module}.{alias.name}" for alias in node.names}
                wanted |= submodules & modules.keys()
                if submodules - modules.keys():  # a name that stands in the file itself
                    wanted.add(node.module)
        imports[module] = wanted & modules.keys()
    return imports


def circle_of(imports):
    """Return modules that import each other in a circle, the first again at the end; none where there is no circle."""
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def test_no_file_is_long():
    assert [f"{name_of(file)}: {lines_of(file)}" for file in FILES if lines_of(file) > LONGEST] == []


def test_no_file_is_short_without_a_reason():
    short = {name_of(file) for file in FILES if file.name != "__init__.py" and lines_of(file) < SHORTEST}
    assert short == SHORT.keys()


def test_a_name_tells_a_file_without_its_folder():
    names = Counter(file.name for file in FILES if file.name != "__init__.py")
    assert [name for name, times in names.items() if times > MOST_OF_A_NAME] == []


def upward_of_result() -> list[str]:
    """Return the modules that a result may import though they import it, as the first contract lists them."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    arrows = [arrow.split(" -> ") for arrow in contracts[0]["ignore_imports"]]
    assert {importer for importer, _ in arrows} == {"rankgauge.result.result"}
    return [imported for _, imported in arrows]


@in_thorough_suite()
def test_no_files_import_each_other_in_a_circle():
    imports = imports_by_module(SOURCE.parent, "rankgauge")
    of_result = imports["rankgauge.result.result"]
    assert "rankgauge.result.folder_reader" in of_result  # within a function
    assert circle_of(imports) != []  # methods of a result import upward, as the contracts list them
    upward = {each for each in of_result if any(fnmatch(each, pattern) for pattern in upward_of_result())}
    assert circle_of({**imports, "rankgauge.result.result": of_result - upward}) == []


@pytest.mark.parametrize(
    "back",
    [
        "from house.room import door",
        "import house.room",
        "from house import room",
        "def open_door():\n    from house.room import door\n",
    ],
)
def test_a_circle_is_seen_wherever_an_import_is_written(tmp_path, back):
    house = tmp_path / "house"
    house.mkdir()
    (house / "__init__.py").write_text("", encoding="utf-8")
    (house / "room.py").write_text("from house.wall import brick\n\ndoor = 1\n", encoding="utf-8")
    (house / "wall.py").write_text("brick = 1\n", encoding="utf-8")
    assert circle_of(imports_by_module(tmp_path, "house")) == []
    (house / "wall.py").write_text(f"brick = 1\n{back}\n", encoding="utf-8")
    assert set(circle_of(imports_by_module(tmp_path, "house"))) == {"house.room", "house.wall"}

    for_types = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from house.room import door\n"
    (house / "wall.py").write_text(f"{for_types}brick = 1\n", encoding="utf-8")
    assert circle_of(imports_by_module(tmp_path, "house")) == []


def test_the_package_offers_few_names():
    assert len(rankgauge.__all__) <= MOST_PUBLIC_NAMES
