"""
Changes of the source that no test sees: ``make mutants ROOM=stats``.

The tests of a room run once, to learn which of them execute which line. Then, for each mutant, a forked process imports
the changed source, which is never written to disk, and runs the tests that execute its line until one of them fails.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import copy
import importlib
import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any, NamedTuple

import coverage
import pytest

ROOT = Path(__file__).parents[1]
SOURCES, TESTS = ROOT / "src" / "rankgauge", ROOT / "tests"
LIBRARIES = ("hypothesis", "numpy", "orjson", "polars", "pydantic", "scipy.stats", "structlog")
"""What forked processes need not import again. rankgauge itself is not among it: each of them imports it changed."""

COMPARED: dict[type, type] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
CALCULATED: dict[type, type] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
DROPPED_CALLS = {"abs", "distinct", "np.abs", "np.sort", "np.unique", "reversed", "round", "set", "sorted"}
SWAPPED_CALLS = {"min": "max", "max": "min", "any": "all", "all": "any", "np.minimum": "np.maximum"}


class Mutant(NamedTuple):
    """A change of one file."""

    path: Path
    line: int
    lines: range  # of the statement
    old: str
    new: str
    source: str  # of the whole file

    def __str__(self) -> str:
        return f"{self.path.relative_to(ROOT)}:{self.line}: {self.old}  ->  {self.new}"


def mutants_of(path: Path) -> Iterator[Mutant]:
    """Yield what can be changed in a file, in order."""
    text = path.read_text(encoding="utf-8")
    starts = [0]
    for line in text.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for statement, node, changed in _changes(ast.parse(text)):
        begin, end = (
            starts[line - 1] + offset
            for line, offset in ((node.lineno, node.col_offset), (node.end_lineno or 0, node.end_col_offset or 0))
        )
        new = ast.unparse(changed)
        within = f"({new})" if isinstance(changed, ast.expr) else new
        source = (text.encode()[:begin] + within.encode() + text.encode()[end:]).decode()
        lines = range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)
        yield Mutant(path, node.lineno, lines, ast.unparse(node), new, source)


def _changes(tree: ast.Module) -> Iterator[tuple[Any, Any, ast.AST]]:
    """Yield each statement or its head, a node of it, and what to put in its place."""
    waiting: list[tuple[ast.AST, ast.AST]] = [(tree, tree)]
    while waiting:
        node, statement = waiting.pop()
        if isinstance(node, ast.stmt):
            statement = node
        if _is_left_alone(node):
            continue
        replaced = [(node, changed) for changed in _of_node(node)] + list(_of_conditions(node))
        if replaced:
            body = getattr(statement, "body", None)
            head = copy.copy(statement)
            if isinstance(body, list):  # a compound statement is its head
                head.end_lineno = max(head.lineno, body[0].lineno - 1)
            yield from ((head, *change) for change in replaced)
        for name, value in ast.iter_fields(node):
            if name in {"annotation", "returns", "decorator_list", "type_params"}:
                continue
            children = [
                child for child in (value if isinstance(value, list) else [value]) if isinstance(child, ast.AST)
            ]
            waiting += [(child, statement) for child in reversed(children)]


def _is_left_alone(node: ast.AST) -> bool:
    """Return whether nothing within is changed: messages of errors, and what only types and readers need."""
    if isinstance(node, ast.Assign):
        target = ast.unparse(node.targets[0])
        return target in {"__all__", "__slots__", "msg"} or (
            target[:1].isupper() and isinstance(node.value, ast.Subscript)
        )
    if isinstance(node, ast.If):
        return ast.unparse(node.test) == "TYPE_CHECKING"
    if isinstance(node, ast.keyword):
        return node.arg == "strict"  # of zip, whose arguments have one length
    return isinstance(node, ast.JoinedStr | ast.Raise | ast.Import | ast.ImportFrom | ast.Assert)


def _of_node(node: ast.AST) -> Iterator[ast.AST]:  # noqa: C901, PLR0912  # one case a kind of node
    match node:
        case ast.Compare(ops=ops):
            for place, sign in enumerate(ops):
                changed = copy.deepcopy(node)
                changed.ops[place] = COMPARED[type(sign)]()
                yield changed
        case ast.BinOp(op=sign) if type(sign) in CALCULATED:
            changed = copy.deepcopy(node)
            changed.op = CALCULATED[type(sign)]()
            yield changed
        case ast.BoolOp(values=values):
            for place in range(len(values)):
                rest = values[:place] + values[place + 1 :]
                yield rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)
            yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), values)
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand) if not isinstance(operand, ast.Constant):
            yield operand
        case ast.IfExp(body=body, orelse=orelse):
            yield from (body, orelse)
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value)):
            yield ast.Constant(value + 1)
        case ast.Constant(value=float(value)):
            yield ast.Constant(value * 1e6 if 0 < abs(value) < 1e-6 else value + 1)
        case ast.Dict(keys=keys, values=values) if None in keys and len(keys) > 1:
            for place in range(len(keys)):
                yield ast.Dict(keys[:place] + keys[place + 1 :], values[:place] + values[place + 1 :])
        case ast.Lambda(args=args, body=ast.Tuple(elts=[first, *rest])) if rest:
            yield ast.Lambda(args, first)
        case ast.Call(func=function, args=[only], keywords=[]) if ast.unparse(function) in DROPPED_CALLS:
            yield only
        case ast.Call(func=function) if (name := SWAPPED_CALLS.get(ast.unparse(function))) is not None:
            yield ast.Call(ast.parse(name, mode="eval").body, node.args, node.keywords)
        case ast.AugAssign(op=sign) if type(sign) in CALCULATED:
            yield ast.AugAssign(node.target, CALCULATED[type(sign)](), node.value)
        case ast.Expr(value=ast.Call()) | ast.Continue():
            yield ast.Pass()


def _of_conditions(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield conditions without a sign to change, turned around, and filters of comprehensions, which let all pass."""
    if isinstance(node, ast.If | ast.While | ast.IfExp) and not isinstance(
        node.test, ast.Compare | ast.BoolOp | ast.UnaryOp
    ):
        yield node.test, ast.UnaryOp(ast.Not(), node.test)
    if isinstance(node, ast.comprehension):
        yield from ((condition, ast.Constant(value=True)) for condition in node.ifs)


class _Chosen:
    """A plugin of pytest: runs some tests only, the quickest first."""

    def __init__(self, order: dict[str, float]) -> None:
        self.order = order

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted(
            (item for item in items if item.nodeid in self.order), key=lambda item: self.order[item.nodeid]
        )


class _Recorded:
    """A plugin of pytest: records how long each test takes, and which lines it executes."""

    def __init__(self, covered: coverage.Coverage) -> None:
        self.covered = covered
        self.seconds: dict[str, float] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self.covered.switch_context(item.nodeid)
        started = time.perf_counter()
        result = yield
        self.seconds[item.nodeid] = time.perf_counter() - started
        self.covered.switch_context("")
        return result


class Known(NamedTuple):
    """Which tests execute which line of which file, and how many seconds each test takes."""

    lines: dict[str, dict[str, list[str]]]
    seconds: dict[str, float]

    def tests(self, mutant: Mutant) -> list[str]:
        """Return the tests of a line; for one that only an import executes, those of the whole file."""
        lines = self.lines.get(str(mutant.path), {})
        own = {test for line in mutant.lines for test in lines.get(str(line), ())}
        if own == {""}:
            own = {test for tests in lines.values() for test in tests}
        return sorted(own - {""}, key=self.seconds.__getitem__)


def forked(work: Callable[[], int], seconds: int) -> int:
    """Return the exit code of work in a process of its own; below 0 for the signal that ended it."""
    if (child := os.fork()) == 0:
        os.setsid()
        signal.alarm(seconds)
        quiet = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(quiet, stream)
        code = 70
        try:
            code = work()
        finally:
            os._exit(code)
    try:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)


def run_tests(paths: Sequence[str], *plugins: object) -> int:
    options = ["-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", "-W", "ignore:Module already imported"]
    return int(pytest.main([*options, *paths], plugins=plugins))


def learn(files: Sequence[Path], tests: Sequence[str], at: Path) -> Known:
    """Run the tests once."""

    def work() -> int:
        covered = coverage.Coverage(data_file=None, config_file=False, include=[str(path) for path in files])
        recorded = _Recorded(covered)
        covered.start()
        code = run_tests(tests, recorded)
        covered.stop()
        data = covered.get_data()
        lines = {path: data.contexts_by_lineno(path) for path in data.measured_files()}
        at.write_text(json.dumps([lines, recorded.seconds]), encoding="utf-8")
        return code

    if code := forked(work, 1800):
        sys.exit(f"the tests do not pass as they are (exit code {code}): {' '.join(tests)}")
    return Known(*json.loads(at.read_text(encoding="utf-8")))


def survives(mutant: Mutant, tests: Sequence[str], known: Known) -> bool:
    """Return whether all of these tests pass with the change."""
    import_it = SourceFileLoader.get_code

    def get_code(loader: SourceFileLoader, name: str) -> Any:
        return (
            compile(mutant.source, loader.path, "exec") if loader.path == str(mutant.path) else import_it(loader, name)
        )

    def work() -> int:
        SourceFileLoader.get_code = get_code  # type: ignore[method-assign]
        parts = mutant.path.relative_to(SOURCES.parent).with_suffix("").parts
        importlib.import_module(
            ".".join(parts).removesuffix(".__init__")
        )  # here, because pytest imports in another way
        order = {test: float(place) for place, test in enumerate(tests)}
        return run_tests(sorted({test.split("::")[0] for test in tests}), _Chosen(order))

    return forked(work, 20 + int(5 * sum(known.seconds[test] for test in tests))) == 0


def rooms_tests(room: str) -> list[str]:
    folder = TESTS / room
    near = folder.with_name(f"test_{folder.name}.py")
    return [str(path) for path in (folder, near) if path.exists()] or [str(folder.parent)]


def main() -> int:
    parser = argparse.ArgumentParser(description="List the changes of a room's source that its tests do not see.")
    parser.add_argument(
        "room", help="What to change: a folder or file of src/rankgauge, such as stats or judging/ranking."
    )
    parser.add_argument("tests", nargs="*", help="Further tests that see changes.")
    parser.add_argument("--minutes", type=float, default=25.0, help="When to stop. [default: 25]")
    parser.add_argument("--seed", type=int, default=1, help="Which mutants come first. [default: 1]")
    given = parser.parse_intermixed_args()
    os.chdir(ROOT)
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    sys.path.insert(0, str(TESTS))
    for name in LIBRARIES:
        importlib.import_module(name)
    source = SOURCES / given.room
    files = sorted(source.rglob("*.py")) if source.is_dir() else [source.with_suffix(".py")]
    tests = [*rooms_tests(given.room), *given.tests]
    started = time.monotonic()
    at = ROOT / "build" / "mutants.json"
    at.parent.mkdir(exist_ok=True)
    known = learn(files, tests, at)
    mutants = [mutant for path in files for mutant in mutants_of(path)]
    random.Random(given.seed).shuffle(mutants)  # noqa: S311  # which come first
    print(f"{len(mutants)} mutants, {len(known.seconds)} tests in {time.monotonic() - started:.0f} s", flush=True)
    tried = survived = 0
    with contextlib.suppress(KeyboardInterrupt):
        for mutant in mutants:
            if time.monotonic() - started > 60 * given.minutes:
                break
            own = known.tests(mutant)
            if not own or survives(mutant, own, known):
                survived += 1
                print(f"{mutant}  ({len(own)} tests)", flush=True)
            tried += 1
    print(f"{given.room}: {survived} of {tried} mutants survived; {len(mutants) - tried} were not tried")
    return 0


if __name__ == "__main__":
    sys.exit(main())
