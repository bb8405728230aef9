"""
Changes of the source that no test sees: ``make mutants ROOM=stats``.

A process imports everything, collects the tests, and runs them once in a fork, to learn which of them execute which
line. For each mutant, another fork gives the functions of the file their changed code, and runs the tests that execute
the line, those of the room first, until one of them fails. A change outside functions, or one that survived in a
function that runs during imports, is tried in a process that imports the changed source. Nothing is written to it.
`mutants_explained.toml` says of survivors why no test can or need see them.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import importlib
import json
import os
import pkgutil
import random
import re
import shutil
import signal
import sys
import tempfile
import threading
import time
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from functools import partial
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NamedTuple

import coverage
import pytest
from hypothesis import Phase, settings

from mutant_changes import ROOT, SOURCES, Mutant, mutants_of, text_of

TESTS = ROOT / "tests"
EXPLAINED = TESTS / "mutants_explained.toml"
LIBRARIES = ("numpy", "orjson", "polars", "pydantic", "scipy.stats", "structlog")
"""What forked processes need not import again. rankgauge itself is not among it: some of them import it changed."""


class Known(NamedTuple):
    """Which tests execute which line of which file ("" for imports), and how many seconds each test takes."""

    lines: dict[str, dict[str, list[str]]]
    seconds: dict[str, float]

    def contexts(self, mutant: Mutant) -> set[str]:
        lines = self.lines.get(str(mutant.path), {})
        return {test for line in mutant.lines for test in lines.get(str(line), ())}

    def tests(self, mutant: Mutant, first: Sequence[str]) -> list[str]:
        """Return the tests of a line; for one that only imports execute, those of the whole file."""
        own = self.contexts(mutant)
        if own == {""}:
            own = {test for tests in self.lines[str(mutant.path)].values() for test in tests}
        return sorted(
            own - {""},
            key=lambda test: (
                next(place for place, path in enumerate([*first, ""]) if test.startswith(path)),
                self.seconds[test],
            ),
        )

    def limit(self, test: str) -> int:
        """Return after how many seconds a test counts as endless."""
        return 20 + int(5 * self.seconds[test])


class _Chosen:
    """A plugin of pytest: runs some tests only, in their order, each for so many seconds at most."""

    def __init__(self, limits: Mapping[str, int]) -> None:
        self.limits = limits
        self.order = {test: place for place, test in enumerate(limits)}

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        signal.alarm(self.limits[item.nodeid])

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted(
            (item for item in items if item.nodeid in self.order), key=lambda item: self.order[item.nodeid]
        )


class _Unshrunk:
    """A plugin of pytest: makes no failing example small, which takes long and tells nothing here."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> None:
        quick = settings.get_profile("quick")
        settings.register_profile("mutants", quick, phases=[Phase.explicit, Phase.generate])
        settings.load_profile("mutants")


class _Trials:
    """A plugin of pytest: instead of the tests, runs those of each mutant in a fork, and reports to a pipe."""

    def __init__(
        self, mutants: Sequence[Mutant], first: Sequence[str], covered: coverage.Coverage, at: Path, pipe: int
    ) -> None:
        self.mutants, self.first, self.covered, self.at, self.pipe = mutants, first, covered, at, pipe

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        items = {item.nodeid: item for item in session.items}
        if forked(partial(self._learn, session)):
            return True
        self.covered.stop()
        sys.settrace(None)
        threading.settrace(None)
        known = Known(*json.loads(self.at.read_text(encoding="utf-8")))
        functions = _functions({mutant.path for mutant in self.mutants})
        gc.freeze()
        kills, killer = Counter[str](), self.at.with_name("killer.txt")
        for mutant in self.mutants:
            tests = known.tests(mutant, self.first)
            tests.sort(key=lambda test: -kills[test])  # what killed most is likely to kill again
            code = _UNCHANGED
            if tests and mutant.in_function:
                limited = [(items[test], known.limit(test)) for test in tests]
                code = forked(partial(_trial, mutant, functions, session, limited, killer))
                if code == _KILLED:
                    kills[killer.read_text(encoding="utf-8")] += 1
            self._tell(str(code))
        return True

    def _learn(self, session: pytest.Session) -> int:
        seconds, left_out = {}, []
        caches = [value for value in gc.get_objects() if isinstance(value, _Cached) and _is_ours(value)]
        for item, then in zip(session.items, [*session.items[1:], None], strict=True):
            for cached in caches:  # else only the first test that asks executes the lines
                cached.cache_clear()
            self.covered.switch_context(item.nodeid)
            started = time.perf_counter()
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=then)
            seconds[item.nodeid] = time.perf_counter() - started
            if session.testsfailed:
                session.testsfailed = 0
                left_out.append(item.nodeid)
                del seconds[item.nodeid]
        self.covered.stop()
        data = self.covered.get_data()
        lines = {
            path: {line: [test for test in tests if not test or test in seconds] for line, tests in found.items()}
            for path, found in ((path, data.contexts_by_lineno(path)) for path in data.measured_files())
        }
        self.at.write_text(json.dumps([lines, seconds]), encoding="utf-8")
        self._tell(json.dumps({"tests": len(seconds), "left out": left_out}))
        return 0

    def _tell(self, line: str) -> None:
        os.write(self.pipe, f"{line}\n".encode())


_Cached = type(text_of)


def _is_ours(value: Any) -> bool:
    return str(getattr(value, "__module__", "")).startswith("rankgauge.")


_Functions = dict[tuple[str, str, int], list[FunctionType]]

_KNOWN = "tests.json"
_KILLED = 1
_UNCHANGED = 71
"""The exit code of a process that could not change functions in memory."""


def _trial(
    mutant: Mutant,
    functions: _Functions,
    session: pytest.Session,
    limited: Sequence[tuple[pytest.Item, int]],
    killer: Path,
) -> int:
    """Run tests with the change until one fails, whose name is written to a file."""
    if not _change(mutant, functions):
        return _UNCHANGED
    following = [*(item for item, _ in limited[1:]), None]
    for (item, seconds), then in zip(limited, following, strict=True):
        signal.alarm(seconds)
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=then)
        if session.testsfailed:
            killer.write_text(item.nodeid, encoding="utf-8")
            return _KILLED
    return 0


def _change(mutant: Mutant, functions: _Functions) -> bool:
    """Give functions in memory their changed code, and return whether the one around the change has it."""
    sources = text_of(mutant.path), mutant.source
    modules = (compile(source, str(mutant.path), "exec", dont_inherit=True) for source in sources)
    has_it = False
    for old, new in _pairs(*modules):
        for function in functions.get(_place(old), ()):
            if len(old.co_freevars) != len(new.co_freevars):
                return False
            function.__code__ = new
            has_it |= old.co_firstlineno <= mutant.line <= max(line or 0 for *_, line in old.co_lines())
    return has_it


def _pairs(old: CodeType, new: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    """Yield what is defined within both, wherever both define the same."""
    olds, news = ([value for value in code.co_consts if isinstance(value, CodeType)] for code in (old, new))
    if [code.co_name for code in olds] == [code.co_name for code in news]:
        for pair in zip(olds, news, strict=True):
            yield pair
            yield from _pairs(*pair)


def _functions(paths: set[Path]) -> _Functions:
    """Return the functions of files that are in memory, by file, name and first line."""
    names = {str(path) for path in paths}
    found = defaultdict(list)
    for value in gc.get_objects():
        if isinstance(value, FunctionType) and value.__code__.co_filename in names:
            found[_place(value.__code__)].append(value)
    return found


def _place(code: CodeType) -> tuple[str, str, int]:
    return code.co_filename, code.co_qualname, code.co_firstlineno


def forked(work: Callable[[], int]) -> int:
    """Return the exit code of work in a process of its own; below 0 for the signal that ended it."""
    child = fork(work)
    try:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)


def fork(work: Callable[[], int]) -> int:
    """Start work in a process and a group of its own."""
    if (child := os.fork()) == 0:
        os.setsid()
        quiet = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(quiet, stream)
        code = 70
        try:
            code = work()
        finally:
            os._exit(code)
    return child


def run_tests(paths: Sequence[str], temporary: Path, *plugins: object) -> int:
    options = ["-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", f"--basetemp={temporary}"]
    options += ["-W", "ignore:Module already imported"]
    return int(pytest.main([*options, *paths], plugins=[_Unshrunk(), *plugins]))


def try_all(mutants: Sequence[Mutant], tests: Sequence[str], first: Sequence[str], folder: Path, pipe: int) -> int:
    """Report how many tests there are, then of each mutant whether they pass, to a pipe."""
    covered = coverage.Coverage(data_file=None, config_file=False, include=[str(mutant.path) for mutant in mutants])
    covered.start()
    import_all()
    return run_tests(tests, folder / "warm", _Trials(mutants, first, covered, folder / _KNOWN, pipe))


def import_all() -> None:
    """Import what tests import while they run, too: what a change of a function alters must not be there before."""
    package = importlib.import_module("rankgauge")
    for module in pkgutil.walk_packages(package.__path__, "rankgauge."):
        if not module.name.endswith("__main__"):
            with contextlib.suppress(ImportError):  # a harness that is not installed
                importlib.import_module(module.name)


def trial_of_import(mutant: Mutant, limits: Mapping[str, int], folder: Path) -> int:
    """Import the changed source, and return 0 if all of these tests pass."""
    import_it = SourceFileLoader.get_code

    def get_code(loader: SourceFileLoader, name: str) -> Any:
        return (
            compile(mutant.source, loader.path, "exec") if loader.path == str(mutant.path) else import_it(loader, name)
        )

    SourceFileLoader.get_code = get_code  # type: ignore[method-assign]
    parts = mutant.path.relative_to(SOURCES.parent).with_suffix("").parts
    importlib.import_module(".".join(parts).removesuffix(".__init__"))  # here, because pytest imports in another way
    signal.alarm(300)  # for imports and collection
    return run_tests(sorted({test.split("::")[0] for test in limits}), folder / "cold", _Chosen(limits))


def explained() -> dict[tuple[str, str, str], str]:
    """Return why no test sees a change, by function, text of the line, and change."""
    entries = tomllib.loads(EXPLAINED.read_text(encoding="utf-8"))
    return {
        (scope, entry["line"], change): entry["reason"]
        for scope, lines in entries.items()
        for entry in lines
        for change in entry["changes"]
    }


def rooms_tests(source: Path) -> list[str]:
    """Return the tests of a folder or file, the most specific ones first."""
    folder = TESTS / source.relative_to(SOURCES).with_suffix("")
    found = [folder, folder.with_name(f"test_{folder.name}.py"), *([folder.parent] if source.suffix else [])]
    return [str(path.relative_to(ROOT)) for path in found if path.exists()]


def main() -> int:
    parser = argparse.ArgumentParser(description="List the changes of a room's source that its tests do not see.")
    parser.add_argument(
        "room", help="What to change: a folder or file of src/rankgauge, such as stats or judging/ranking."
    )
    parser.add_argument("tests", nargs="*", help="Further tests that see changes.")
    parser.add_argument("--minutes", type=float, default=25.0, help="When to stop. [default: 25]")
    parser.add_argument("--seed", type=int, default=1, help="Which mutants come first. [default: 1]")
    parser.add_argument("--again", type=Path, help="Try only the changes that an earlier run wrote to this file.")
    given = parser.parse_intermixed_args()
    os.chdir(ROOT)
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    sys.path.insert(0, str(TESTS))
    for name in LIBRARIES:
        importlib.import_module(name)
    source = SOURCES / given.room
    source = source if source.is_dir() else source.with_suffix(".py")
    files = sorted(source.rglob("*.py")) if source.is_dir() else [source]
    first = rooms_tests(source)
    mutants = [mutant for path in files for mutant in mutants_of(path)]
    reasons = explained()
    explanations = {mutant: reasons[mutant.key] for mutant in mutants if mutant.key in reasons}
    for mutant, reason in explanations.items():
        print(f"explained: {mutant}: {reason}")
    scopes = {mutant.scope for mutant in mutants}
    others = [path for path in SOURCES.rglob("*.py") if path not in files]  # where a function may have the same name
    elsewhere = {line.strip() for path in others for line in text_of(path).splitlines()}
    for key in sorted(reasons.keys() - {mutant.key for mutant in mutants}):
        if key[0] in scopes and key[1] not in elsewhere:
            print(f"explains no mutant: {' | '.join(key)}")
    waiting = [mutant for mutant in mutants if mutant.key not in reasons]
    if given.again is not None:
        listed = {without_line(printed) for printed in given.again.read_text(encoding="utf-8").splitlines()}
        waiting = [mutant for mutant in waiting if without_line(str(mutant)) in listed]
    random.Random(given.seed).shuffle(waiting)  # noqa: S311  # which come first
    ends, until = Counter[str](), time.monotonic() + 60 * given.minutes
    with contextlib.suppress(KeyboardInterrupt), contextlib.closing(trials(waiting, first, given.tests)) as tried:
        for mutant, end in tried:
            ends[end] += 1
            if end == "survived":
                print(mutant, flush=True)
            if time.monotonic() > until:
                break
    print(
        f"{given.room}: {len(mutants)} mutants, {ends['killed']} killed by tests, {ends['stopped']} stopped by a time "
        f"limit, {len(explanations)} explained, {ends['survived']} survived, {len(waiting) - ends.total()} not tried"
    )
    return 0


def without_line(printed: str) -> str:
    """Return a change as it is printed, without the number of its line, which others move."""
    return re.sub(r"^([^:]+):\d+:", r"\1:", printed)


def trials(mutants: Sequence[Mutant], first: Sequence[str], further: Sequence[str]) -> Generator[tuple[Mutant, str]]:
    """Yield each mutant with its end: killed, stopped or survived."""
    started = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix="mutants-"))
    reading, writing = os.pipe()
    tests = [*first, *further]
    child = fork(lambda: try_all(mutants, tests, first, folder, writing))
    os.close(writing)
    try:
        with os.fdopen(reading) as reports:
            if not (begun := next(reports, "")):
                sys.exit(f"pytest cannot collect or run {' '.join(tests)}")
            learned = json.loads(begun)
            print(f"{len(mutants)} to try, {learned['tests']} tests in {time.monotonic() - started:.0f} s", flush=True)
            if left_out := learned["left out"]:
                print(f"{len(left_out)} tests fail as they are, or because of how they run here: {', '.join(left_out)}")
            known = Known(*json.loads((folder / _KNOWN).read_text(encoding="utf-8")))
            for mutant, report in zip(mutants, reports, strict=True):
                own, code = known.tests(mutant, first), int(report)
                if own and (code == _UNCHANGED or (code == 0 and "" in known.contexts(mutant))):
                    limits = {test: known.limit(test) for test in own}
                    code = forked(partial(trial_of_import, mutant, limits, folder))
                yield mutant, "survived" if code == 0 or not own else "stopped" if code < 0 else "killed"
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
