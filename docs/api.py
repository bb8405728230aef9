"""
What is public, read from the source: every name of every public module, with the first sentence of its docstring.

`docs/generate.py` writes the page from it. No module is imported, because those of `rankgauge_hosts` need their hosts.
"""

from __future__ import annotations

import ast
import importlib.util
import inspect
from pathlib import Path
from typing import NamedTuple

__all__ = ["MODULES", "Name", "page", "public_names"]

MODULES = {
    "rankgauge": "Evaluate, compare, gate and explain.",
    "rankgauge.plugin": "All that a plugin imports. [Plugins](plugins.md) shows each with an example.",
    "rankgauge.testing": "Check a plugin against the [laws](laws.md). Needs the extra `testing`.",
    "rankgauge.compat.classic": "The classic blog library's names and numbers.",
    "rankgauge.compat.haystack": "Haystack's evaluators, without Haystack.",
    "rankgauge.compat.keyword": "The keyword article's functions.",
    "rankgauge.compat.remem": "REMem's metrics.",
    "rankgauge_hosts": "What the modules for the hosts share. It is a distribution of its own.",
    "rankgauge_hosts.deepeval": "[Inside DeepEval](../how-to/embed-in-deepeval.md).",
    "rankgauge_hosts.haystack": "[Inside Haystack](../how-to/embed-in-haystack.md).",
    "rankgauge_hosts.inspect_ai": "[Inside inspect_ai](../how-to/embed-in-inspect.md).",
    "rankgauge_hosts.mlflow": "[Inside MLflow](../how-to/embed-in-mlflow.md).",
    "rankgauge_hosts.promptfoo": "[Inside promptfoo](../how-to/embed-in-promptfoo.md).",
    "rankgauge_hosts.ragas": "[Inside ragas](../how-to/embed-in-ragas.md).",
    "rankgauge_recsys": "[For recommenders](../../plugins/rankgauge-recsys/README.md), a distribution of its own.",
    "rankgauge_semantic": "[By embeddings](../../plugins/rankgauge-semantic/README.md), a distribution of its own.",
    "rankgauge_spark": "[On Spark](../how-to/evaluate-on-spark.md), a distribution of its own.",
}
"""The public modules, in the order of the page, each with what it is for."""


class Name(NamedTuple):
    """
    One public name.

    Attributes:
        name: As it is imported.

        kind: `class`, `function` or `value`.

        doc: Its docstring; empty if it has none.
    """

    name: str
    kind: str
    doc: str

    @property
    def summary(self) -> str:
        """Return the first paragraph of the docstring, on one line."""
        return " ".join(self.doc.partition("\n\n")[0].split()).replace("``", "`")


def public_names(module: str) -> list[Name]:
    """
    Return what a module exports.

    Args:
        module: Its dotted name.

    Returns:
        The names of its `__all__`, in that order.
    """
    listed = next(node for node in _tree(module).body if "__all__" in _bound(node))
    assert isinstance(listed, ast.Assign | ast.AnnAssign)  # noqa: S101  # for mypy
    assert listed.value is not None  # noqa: S101  # for mypy
    return [_found(module, name) for name in ast.literal_eval(listed.value)]


def page() -> str:
    """
    Return the text of `docs/reference/api.md`.

    Returns:
        A table for each module.
    """
    parts = [
        "# Public names",
        "",
        "Generated from the source by `make docs`. Everything that you may import, and what it does; [what is",
        "stable](../explanation/stability.md) says how it may change. The site ([`make site`](../../CONTRIBUTING.md))",
        "has a page for each module, with all arguments and attributes; `help(name)` in Python prints the same.",
    ]
    for module, purpose in MODULES.items():
        parts += ["", f"## {module}", "", purpose, "", "| name | |", "|---|---|"]
        parts += [f"| `{each.name}` | {each.summary} |".replace(" |  |", " | |") for each in public_names(module)]
    return "\n".join(parts) + "\n"


def _found(module: str, name: str) -> Name:
    """Follow a name to where it is defined."""
    if name == "__version__":
        return Name(name, "value", "The installed version, such as `0.1.0`.")  # looked up by `__getattr__`
    body = _tree(module).body
    for at, node in reversed(list(enumerate(body))):  # the last one counts: overloads stand before
        if name not in _bound(node):
            continue
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            return Name(name, "class" if isinstance(node, ast.ClassDef) else "function", ast.get_docstring(node) or "")
        if isinstance(node, ast.ImportFrom):
            (original,) = (alias.name for alias in node.names if (alias.asname or alias.name) == name)
            return _found(node.module or "", original)._replace(name=name)
        told = body[at + 1].value if at + 1 < len(body) and isinstance(body[at + 1], ast.Expr) else None
        is_text = isinstance(told, ast.Constant) and isinstance(told.value, str)
        return Name(name, "value", inspect.cleandoc(told.value) if is_text else "")
    msg = f"{module} exports {name!r}, and neither defines nor imports it"
    raise LookupError(msg)


def _bound(node: ast.stmt) -> set[str]:
    """Return the names that a statement of a module binds."""
    if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return {node.name}
    if isinstance(node, ast.ImportFrom):
        return {alias.asname or alias.name for alias in node.names}
    if isinstance(node, ast.AnnAssign):
        return {node.target.id} if isinstance(node.target, ast.Name) else set()
    if isinstance(node, ast.Assign):
        return {target.id for target in node.targets if isinstance(target, ast.Name)}
    return set()


def _tree(module: str) -> ast.Module:
    """Parse a module; what stands under ``if TYPE_CHECKING:`` counts as if it stood beside it."""
    package, *parts = module.split(".")
    found = importlib.util.find_spec(package)  # imports nothing, as the name has no dot
    if found is None or found.origin is None:
        msg = f"{package} is not installed; `make docs` installs it"
        raise LookupError(msg)
    place = Path(found.origin).parent.joinpath(*parts)
    file = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    tree = ast.parse(file.read_text(encoding="utf-8"))
    tree.body = [inner for node in tree.body for inner in (node.body if isinstance(node, ast.If) else [node])]
    return tree
