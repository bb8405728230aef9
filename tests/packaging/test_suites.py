"""Which tests the quick suite leaves out, what it says of that, and what becomes of processes that nobody announced."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import suites
from draws import is_thorough

ROOT = Path(__file__).parents[2]

TESTS = """
import subprocess
import sys

import pytest

from draws import in_thorough_suite


@pytest.fixture
def started(process):
    return subprocess.run([sys.executable, "-S", "-c", ""], check=True)


def test_quick():
    pass


@in_thorough_suite()
def test_long():
    pass


def test_of_a_process(started):
    pass


@pytest.mark.promise
def test_of_a_promise(started):
    pass


@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.usefixtures("process")
def test_of_numbers(number):
    pass


def test_unannounced():
    try:
        subprocess.run([sys.executable, "-S", "-c", ""], check=True)
    except Exception:
        pass
"""


@pytest.fixture
def copied(tmp_path):
    """Return a project with the suites of this one, and tests of each kind."""
    (tmp_path / "tests").mkdir()
    for name in ("conftest.py", "pyproject.toml", "tests/suites.py", "tests/draws.py"):
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "tests/test_kinds.py").write_text(TESTS, encoding="utf-8")
    return tmp_path


@pytest.mark.usefixtures("process")
@pytest.mark.promise
def test_the_quick_suite_leaves_out_what_takes_long_or_starts_processes_and_says_so(copied):
    done = run(copied, "tests")
    assert (
        "not run: 1 test that takes long and 3 tests that start processes (make test-thorough); "
        "the plugins' tests (make test-plugins); the tests of the docs (make check-docs)"
    ) in done.splitlines()
    assert "1 failed, 2 passed, 4 deselected" in done
    assert "this test starts a process (subprocess.Popen), which takes" in done
    assert "FAILED tests/test_kinds.py::test_unannounced" in done


@pytest.mark.usefixtures("process")
@pytest.mark.parametrize(
    ("arguments", "counts", "told"),
    [
        (
            ["tests", "-n", "2"],
            "1 failed, 2 passed",
            "not run: 1 test that takes long and 3 tests that start processes",
        ),
        (["tests/test_kinds.py"], "1 failed, 2 passed", "processes (make test-thorough)\n"),
        (["tests", "--hypothesis-profile=thorough"], "1 failed, 6 passed", ""),
        (["tests", "-m", "not thorough"], "1 failed, 5 passed, 1 deselected", ""),
        (["tests/test_kinds.py::test_long"], "1 passed", ""),
        (["tests/test_kinds.py::test_of_numbers"], "2 passed", ""),
        (["tests/test_kinds.py::test_of_numbers[2]"], "1 passed", ""),
    ],
)
def test_whoever_names_tests_or_marks_gets_them(copied, arguments, counts, told):
    done = run(copied, *arguments)
    assert counts in done
    assert told in done
    assert ("not run:" in done) == bool(told)


def run(project, *arguments):
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:rankgauge", *arguments]
    return subprocess.run(command, cwd=project, capture_output=True, text=True, check=False).stdout


@pytest.mark.parametrize(
    ("left_out", "line"),
    [
        ({}, ""),
        ({"take long": 1}, "not run: 1 test that takes long (make test-thorough)"),
        ({"start processes": 1_205}, "not run: 1,205 tests that start processes (make test-thorough)"),
        ({"docs": 0}, "not run: the tests of the docs (make check-docs)"),
    ],
)
def test_the_last_line_has_counts_and_commands(left_out, line):
    assert suites.told(left_out) == line


def test_the_quick_suite_starts_about_a_dozen_processes(request):
    """Each of them for a promise that nothing shows in one process."""
    if is_thorough() or not suites.is_whole(request.config):
        pytest.skip("this is not the quick suite as a whole")
    kept = [item for item in request.session.items if item.get_closest_marker("process")]
    assert 8 <= len(kept) <= 20
