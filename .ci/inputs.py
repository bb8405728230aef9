"""
What a part of CI depends on: its files, the interfaces that they use, and its requirements, each as a digest.

An interface is what a caller sees of a name of the package: the parameters of a function, the fields and methods of a
class, the value of a constant, and those of the names that these name in turn. So a part is tried again where the
package offers it something else, and not where the package only computes differently, which the suite sees. Of a page
counts what runs, its code blocks, and not its prose. Everything is read and nothing imported, and nothing counts as one
version of Python writes it, so that it is the same on every machine.
"""

from __future__ import annotations

import ast
import hashlib
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

__all__ = ["NOT_DEFINED", "Inputs", "files_of", "outside_names"]

PACKAGE = "rankgauge"
NOT_DEFINED = "not defined"
Definition = tuple[str, ast.stmt]
_BLOCK = re.compile(rb"^( *)```\w.*?^\1```$", re.MULTILINE | re.DOTALL)


class Inputs:
    """The inputs of the parts of one repository; each file is read once."""

    def __init__(self, root: Path) -> None:
        """
        Read nothing yet.

        Args:
            root: The repository.
        """
        self._root = root
        self._package = _Package(root / "src")

    def digests(self, name: str, part: Mapping[str, Any]) -> dict[str, str]:
        """
        Return the digests of what a part depends on.

        Args:
            name: The part, which is a target of the Makefile.

            part: ``files``, globs of what is hashed whole, but of Markdown the code blocks only; what Python files
                outside ``src`` use of the package counts by its interface. ``outside``, globs of files of which only
                counts what they use of other libraries.

        Returns:
            A digest for ``files``, ``names`` and ``requirements``.
        """
        files = files_of(self._root, part["files"])
        whole = (f"{path.relative_to(self._root)}\n{hashlib.sha256(_counted(path)).hexdigest()}" for path in files)
        names = [f"{key}\n{text}" for key, text in self.interfaces(files).items()]
        outside = (self._package.parsed(path) for path in files_of(self._root, part.get("outside", ())))
        names += sorted({used for tree in outside for used in outside_names(tree)})
        return {
            "files": _digest(whole),
            "names": _digest(names),
            "requirements": _digest(requirements(self._root, name)),
        }

    def interfaces(self, files: Iterable[Path]) -> dict[str, str]:
        """Return the names of the package that Python files outside it use, and those that these name, in order."""
        scripts = [path for path in files if path.suffix == ".py" and not path.is_relative_to(self._root / "src")]
        waiting = {use for path in scripts for use in self._package.uses(path)}
        found: dict[str, str] = {}
        while waiting:
            module, name = waiting.pop()
            if (key := f"{module}.{name}") not in found:
                found[key], named = self._package.interface(module, name)
                waiting |= named
        return dict(sorted(found.items()))


def files_of(root: Path, globs: Iterable[str]) -> list[Path]:
    """Return the files of some globs, in order; a glob that finds nothing is an error."""
    found = set()
    for glob in globs:
        here = {path for path in root.glob(glob) if path.is_file() and not _is_made(path.relative_to(root))}
        if not here:
            msg = f"no file is {glob}: correct .ci/parts.toml"
            raise FileNotFoundError(msg)
        found |= here
    return sorted(found)


def _counted(path: Path) -> bytes:
    content = path.read_bytes()
    return b"\n".join(found[0] for found in _BLOCK.finditer(content)) if path.suffix == ".md" else content


def _is_made(path: Path) -> bool:
    folders = {"__pycache__", "build", "dist", "node_modules", ".pytest_cache"}
    made = folders & set(path.parts) or any(part.endswith(".egg-info") for part in path.parts)
    return bool(made) or path.suffix in {".so", ".pyd"}


def requirements(root: Path, target: str) -> Iterator[str]:
    """Yield what the project requires, and how the Makefile makes a target: its paragraph, and the variables in it."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for key in ("requires-python", "dependencies", "optional-dependencies"):
        yield repr(project.get(key))
    makefile = (root / "Makefile").read_text(encoding="utf-8")
    own = [text for text in makefile.split("\n\n") if re.search(rf"^{re.escape(target)}:", text, re.MULTILINE)]
    yield from own
    for variable in sorted(set(re.findall(r"\$\((\w+)\)", "".join(own)))):
        yield from re.findall(rf"^{variable} *[?:+]?=.*", makefile, re.MULTILINE)


def outside_names(tree: ast.Module) -> set[str]:
    """Return what a file uses of other packages and of Python's library: dotted names, and the arguments it names."""
    aliases: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            aliases |= {
                each.asname or _root(each.name): each.name if each.asname else _root(each.name) for each in node.names
            }
        elif isinstance(node, ast.ImportFrom):
            aliases |= {each.asname or each.name: f"{node.module}.{each.name}" for each in node.names}
    found = set(aliases.values())
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute | ast.Call) and (dotted := _dotted(node, aliases)):
            found.add(dotted)
            if isinstance(node, ast.Call):
                found |= {f"{dotted}{each.arg}=" for each in node.keywords if each.arg}
    return {name for name in found if _root(name) not in {PACKAGE, "__future__"}}


def _dotted(node: ast.expr, aliases: Mapping[str, str]) -> str:
    """Return an expression as ``polars.col().str``; an empty text if it does not begin with an imported name."""
    match node:
        case ast.Name(id=name):
            return aliases.get(name, "")
        case ast.Attribute(value=value, attr=name):
            return f"{before}.{name}" if (before := _dotted(value, aliases)) else ""
        case ast.Call(func=function):
            return f"{before}()" if (before := _dotted(function, aliases)) else ""
    return ""


class _Package:
    """The modules of the package, read as they are asked for."""

    def __init__(self, source: Path) -> None:
        self._source = source
        self.parsed = cache(lambda path: ast.parse(path.read_text(encoding="utf-8")))
        self._module = cache(self._read)
        self._path = cache(self._find)
        self.interface = cache(self._describe)

    def _describe(self, module: str, name: str) -> tuple[str, frozenset[tuple[str, str]]]:
        """Return the interface of a name, and the names of the package in it."""
        if (definition := self.definition(module, name)) is None:
            return NOT_DEFINED, frozenset()
        home, node = definition
        tree = ast.parse("\n".join(_interface(node)))
        named = {each.id for each in ast.walk(tree) if isinstance(each, ast.Name)}
        return "\n".join(map(_written, tree.body)), frozenset(
            (home, each) for each in named if self.definition(home, each) is not None
        )

    def uses(self, path: Path) -> Iterator[tuple[str, str]]:
        """Yield the modules and names that a file uses of the package."""
        tree, modules = self.parsed(path), {}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and _is_ours(node.module):
                for each in node.names:
                    if self._path(f"{node.module}.{each.name}") is not None:
                        modules[each.asname or each.name] = f"{node.module}.{each.name}"
                    else:
                        yield str(node.module), each.name
            elif isinstance(node, ast.Import):
                modules |= {
                    each.asname or PACKAGE: each.name if each.asname else PACKAGE
                    for each in node.names
                    if _is_ours(each.name)
                }
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and (dotted := _dotted(node, modules)) and "(" not in dotted:
                module, _, name = dotted.rpartition(".")
                if self._path(module) is not None and self._path(dotted) is None:
                    yield module, name

    def definition(self, module: str, name: str) -> Definition | None:
        """Return the statement that defines a name and the module that it is in, however often it is handed on."""
        seen = set()
        while (module, name) not in seen and (names := self._module(module)) is not None:
            seen.add((module, name))
            match names.get(name):
                case ast.ImportFrom(module=origin, names=aliases) if _is_ours(origin):
                    name = next(each.name for each in aliases if (each.asname or each.name) == name)
                    module = str(origin)
                case None | ast.ImportFrom() | ast.Import():
                    return None
                case node:
                    return module, node
        return None

    def _find(self, module: str) -> Path | None:
        path = self._source / Path(*module.split("."))
        return next((each for each in (path.with_suffix(".py"), path / "__init__.py") if each.is_file()), None)

    def _read(self, module: str) -> dict[str, ast.stmt] | None:
        return None if (path := self._path(module)) is None else dict(_defined(self.parsed(path).body))


def _defined(body: list[ast.stmt]) -> Iterator[tuple[str, ast.stmt]]:
    for node in body:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.name, node
            case ast.ImportFrom(names=names) | ast.Import(names=names):
                yield from ((each.asname or each.name, node) for each in names)
            case ast.Assign(targets=targets):
                stored = (each for target in targets for each in ast.walk(target) if isinstance(each, ast.Name))
                yield from ((each.id, node) for each in stored)
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name, node
            case ast.If() | ast.Try():  # what is imported for types only, or with a fallback
                yield from _defined(node.body)


def _interface(node: ast.stmt, indent: str = "") -> Iterator[str]:
    """Yield the lines of what callers see of a definition."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield from (f"{indent}@{ast.unparse(each)}" for each in node.decorator_list)
    match node:
        case (
            ast.FunctionDef(name=name, args=arguments, returns=returns)
            | ast.AsyncFunctionDef(name=name, args=arguments, returns=returns)
        ):
            word = "def" if isinstance(node, ast.FunctionDef) else "async def"
            arrow = f" -> {ast.unparse(returns)}" if returns else ""
            yield f"{indent}{word} {name}({ast.unparse(arguments)}){arrow}: ..."
        case ast.ClassDef(name=name, bases=bases, keywords=keywords, body=body):
            given = [*map(ast.unparse, bases), *(f"{each.arg}={ast.unparse(each.value)}" for each in keywords)]
            yield f"{indent}class {name}({', '.join(given)}):"
            yield f"{indent}    ..."
            for each in body:
                if not isinstance(each, ast.Expr) and not _is_private(each):
                    yield from _interface(each, f"{indent}    ")
        case _:
            yield "\n".join(f"{indent}{line}" for line in ast.unparse(node).splitlines())


def _written(value: object) -> str:
    """Return a tree as a text that every version of Python writes alike, which is not so of `ast.unparse`."""
    match value:
        case ast.AST():
            fields = ((name, each) for name, each in ast.iter_fields(value) if each is not None and each != [])
            given = ", ".join(f"{name}={_written(each)}" for name, each in fields if name not in {"ctx", "kind"})
            return f"{type(value).__name__}({given})"
        case list():
            return f"[{', '.join(map(_written, value))}]"
    return ascii(value)


def _is_private(node: ast.stmt) -> bool:
    name = str(getattr(node, "name", ""))
    return name.startswith("_") and not name.endswith("__")


def _is_ours(module: str | None) -> bool:
    return module is not None and _root(module) == PACKAGE


def _root(dotted: str) -> str:
    return dotted.partition(".")[0]


def _digest(texts: Iterable[str]) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]
