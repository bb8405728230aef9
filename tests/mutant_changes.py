"""
What can be changed in a file for `mutants.py`: signs, constants, conditions, calls, and where each change stands.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "src" / "rankgauge"

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
    in_function: bool
    scope: str  # the function or class that it is in, such as `Verdict.worded`; outside both, the name of the file
    old: str
    new: str
    source: str  # of the whole file

    @property
    def key(self) -> tuple[str, str, str]:
        """Its function, the text of its line, and what changes, as explanations name it: files move more often."""
        line = text_of(self.path).splitlines()[self.line - 1]
        return self.scope, line.strip(), f"{self.old} -> {self.new}"

    def __str__(self) -> str:
        return f"{self.path.relative_to(ROOT)}:{self.line}: {self.old} -> {self.new}"


@cache
def text_of(path: Path) -> str:
    """Return a file as it was when it was first asked for, whoever edits it meanwhile."""
    return path.read_text(encoding="utf-8")


def mutants_of(path: Path) -> Iterator[Mutant]:
    """Yield what can be changed in a file, in order."""
    text = text_of(path)
    starts = [0]
    for line in text.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for statement, in_function, scope, node, changed in _changes(ast.parse(text)):
        begin, end = (
            starts[line - 1] + offset
            for line, offset in ((node.lineno, node.col_offset), (node.end_lineno or 0, node.end_col_offset or 0))
        )
        new = ast.unparse(changed)
        within = f"({new})" if isinstance(changed, ast.expr) else new
        source = (text.encode()[:begin] + within.encode() + text.encode()[end:]).decode()
        lines = range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)
        yield Mutant(path, node.lineno, lines, in_function, scope or path.name, *_shown(ast.unparse(node), new), source)


def _shown(old: str, new: str, most: int = 100, around: int = 20) -> tuple[str, str]:
    """Return what changes in long expressions, with some of what is around it."""
    if max(len(old), len(new)) <= most:
        return old, new
    shorter = min(len(old), len(new))
    begin = next((place for place in range(shorter) if old[place] != new[place]), shorter)
    same = next((place for place in range(shorter - begin) if old[-1 - place] != new[-1 - place]), shorter - begin)
    first, cut = max(begin - around, 0), max(same - around, 0)
    return old[first : len(old) - cut], new[first : len(new) - cut]


def _changes(tree: ast.Module) -> Iterator[tuple[Any, bool, str, Any, ast.AST]]:
    """Yield each statement or its head, whether and where it is in a function, a node of it, and what replaces that."""
    waiting: list[tuple[ast.AST, ast.AST, bool, str]] = [(tree, tree, False, "")]
    while waiting:
        node, statement, in_function, scope = waiting.pop()
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
            yield from ((head, in_function, scope, *change) for change in replaced)
        for name, value in ast.iter_fields(node):
            if name in {"annotation", "returns", "decorator_list", "type_params"}:
                continue
            children = [
                child for child in (value if isinstance(value, list) else [value]) if isinstance(child, ast.AST)
            ]
            within = in_function or (name == "body" and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
            inner = f"{scope}.{node.name}".lstrip(".") if name in _own_fields(node) else scope
            waiting += [(child, statement, within, inner) for child in reversed(children)]


def _own_fields(node: ast.AST) -> set[str]:
    """Return the fields of a definition that belong to it by name; defaults of parameters do, too."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            return {"args", "body"}
        case ast.ClassDef():
            return {"body"}
    return set()


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
