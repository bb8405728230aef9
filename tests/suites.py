"""
Which tests run: the quick suite by default, every test with ``--hypothesis-profile=thorough``.

The quick suite (``make test``) leaves out what takes long (the marker ``thorough``, by `in_thorough_suite`) and what
starts processes (the marker ``process``, which the fixture `process` brings along), but for one test a promise
(``promise``). Whoever names a test (``tests/test_x.py::test_y``) or writes ``-m`` gets what they ask for. The last line
says what was left out, and which command runs it.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

try:
    from draws import is_thorough, register_profiles
except ImportError:  # an environment without hypothesis, of a plugin whose tests draw nothing
    is_thorough = None
else:
    register_profiles()

TESTS = Path(__file__).parent
DOCS, BROWSER, PLUGINS = TESTS / "docs", TESTS / "browser", TESTS.parent / "plugins"
LEFT_OUT = pytest.StashKey[dict[str, int]]()
STARTING = {"os.fork", "os.forkpty", "os.posix_spawn", "os.system", "subprocess.Popen"}

os.environ.pop("COLUMNS", None)  # pytest-xdist sets it, and no output in a test depends on somebody's terminal

_started: list[str] = []


def _listen(event: str, arguments: tuple[object, ...]) -> None:
    if event in STARTING and arguments[:1] != ("uname",):  # which the module `platform` asks once, whoever comes first
        _started.append(event)


sys.addaudithook(_listen)


@pytest.fixture
def process() -> None:
    """Let a test, or a fixture of it, start processes. The quick suite leaves such tests out."""


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark what may start processes."""
    if "process" in getattr(item, "fixturenames", ()):
        item.add_marker("process")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Any:
    """Begin to listen."""
    _started.clear()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Any:
    """Fail a test that starts processes and does not say so, but for those of a browser and of plugins."""
    done = yield
    is_guarded = item.path.is_relative_to(TESTS) and not item.path.is_relative_to(BROWSER)
    if _started and is_guarded and item.get_closest_marker("process") is None:
        pytest.fail(
            f"this test starts a process ({_started[0]}), which takes a hundred times as long as a call: call the "
            "command here (the fixture `rankgauge`), or ask for the fixture `process`, which leaves the test to "
            '`make test-thorough`: @pytest.mark.usefixtures("process")',
            pytrace=False,
        )
    return done


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what only the thorough suite runs, and note how much that is."""
    if is_thorough is None or is_thorough() or config.option.markexpr:
        return
    left_out: dict[str, list[pytest.Item]] = {"take long": [], "start processes": []}
    kept = []
    for item in items:
        why = _reason_to_leave_out(item)
        (kept if why is None or _is_named(item, config) else left_out[why]).append(item)
    items[:] = kept
    config.hook.pytest_deselected(items=[item for group in left_out.values() for item in group])
    counts = {why: len(group) for why, group in left_out.items() if group}
    if is_whole(config):
        places = Counter(_place(item) for item in items)
        counts |= {place: 0 for place in ("plugins", "docs") if not places[place]}
    config.stash[LEFT_OUT] = counts
    if hasattr(config, "workeroutput"):
        config.workeroutput["left_out"] = counts


def is_whole(config: pytest.Config) -> bool:
    """Return whether all tests of the project are asked for, and not only some of their files."""
    return any((config.invocation_params.dir / argument).resolve() == TESTS for argument in config.args)


def _reason_to_leave_out(item: pytest.Item) -> str | None:
    if item.get_closest_marker("thorough"):
        return "take long"
    if item.get_closest_marker("process") and not item.get_closest_marker("promise"):
        return "start processes"
    return None


def _is_named(item: pytest.Item, config: pytest.Config) -> bool:
    """Return whether the command line names the test itself, not only its file or folder."""
    names = item.nodeid.partition("::")[2]
    for argument in config.args:
        path, _, wanted = argument.partition("::")
        if wanted and (names == wanted or names.startswith((f"{wanted}[", f"{wanted}::"))):
            return (config.invocation_params.dir / path).resolve() == item.path
    return False


def _place(item: pytest.Item) -> str:
    return next((place.name for place in (PLUGINS, DOCS) if item.path.is_relative_to(place)), "tests")


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take over what a worker of pytest-xdist left out; each of them collects the same."""
    if found := getattr(node, "workeroutput", {}).get("left_out"):
        node.config.stash[LEFT_OUT] = found


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Say what was left out."""
    if line := told(config.stash.get(LEFT_OUT, {})):
        terminalreporter.write_line(line)


def told(left_out: dict[str, int]) -> str:
    """Return the line that says what was left out, by reason or place; an empty one if that is nothing."""
    one = {"take long": "takes long", "start processes": "starts processes"}
    counts = " and ".join(
        f"1 test that {one[why]}" if count == 1 else f"{count:,} tests that {why}"
        for why, count in left_out.items()
        if count
    )
    parts = [f"{counts} (make test-thorough)"] if counts else []
    commands = {"plugins": "the plugins' tests (make test-plugins)", "docs": "the tests of the docs (make check-docs)"}
    parts += [command for place, command in commands.items() if place in left_out]
    return f"not run: {'; '.join(parts)}" if parts else ""
