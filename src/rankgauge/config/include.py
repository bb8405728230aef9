"""
Including: a config file together with those that it includes, as one document whose values know where they stand.

What a file says itself wins over what it includes; mappings are joined key by key, anything else is replaced. Two
included files must not say different things. Paths may have ``~`` and ``${VARIABLE}``; those of an included file are
relative to it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rankgauge.errors import ConfigError, Problem, UnreadableError, counted
from rankgauge.io.documents import decode_text
from rankgauge.io.files import read_bytes
from rankgauge.io.yaml_documents import read_yaml

__all__ = ["Location", "Tree", "dotted", "read_tree"]

Location = tuple[str | int, ...]
"""The keys that lead to a value."""

_VARIABLE = re.compile(r"\$\{([^}]*)\}")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HINT = "`rankgauge init` writes one"


@dataclass(slots=True)
class Tree:
    """
    A config before it is checked.

    Attributes:
        value: Everything that the files say, as plain data.

        places: File and line of every value.
    """

    value: dict[Any, Any]
    places: dict[Location, tuple[str, int]]

    def problem(self, location: Location, message: str) -> Problem:
        """Return a problem with a value: at its place, or that of the nearest value around it."""
        sizes = range(len(location), -1, -1)
        file, line = next(self.places[location[:size]] for size in sizes if location[:size] in self.places)
        return Problem(message, file, line, dotted(location))


def read_tree(path: Path) -> Tree:
    """Read a config file and what it includes; raise every problem at once."""
    reader = _Reader(path)
    tree = reader.read(path, (path.resolve(),))
    if reader.problems:
        msg = f"{path} cannot be used ({counted(len(reader.problems), 'problem')}):"
        raise ConfigError(msg, reader.problems)
    return tree


def dotted(location: Location) -> str:
    """Return a location as messages write it, such as ``metrics.use[2]``."""
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f"{'.' if text else ''}{part}"
    return text


@dataclass(slots=True)
class _Reader:
    """Reads files, each once for every file that includes it, and collects what is wrong with them."""

    main: Path
    problems: list[Problem] = field(default_factory=list)

    def read(self, path: Path, trail: tuple[Path, ...]) -> Tree:
        """Read one file; *trail* has the files that led to it, itself last."""
        name = str(path)
        document = read_yaml(decode_text(read_bytes(path, hint=_HINT), name), name)
        if not isinstance(document.value, dict):
            self.problems.append(Problem(f"a config file is a mapping; {_HINT}", name, 1))
            return Tree({}, {(): (name, 1)})
        tree = Tree(document.value, {place: (name, line) for place, line in document.lines.items()})
        self._expand(tree, path)
        included = list(self._included(tree, path, trail))
        if len(trail) > 1:
            tree.value.pop("include", None)
        return self._joined(tree, included) if included else tree

    def _included(self, tree: Tree, path: Path, trail: tuple[Path, ...]) -> Iterator[Tree]:
        seen: dict[Path, int] = {}
        given = tree.value.get("include")
        listed: list[Any] = given if isinstance(given, list) else [given]
        for index, entry in enumerate(listed):
            if not isinstance(entry, str):
                continue  # the schema says what it should be
            location: Location = ("include", index) if isinstance(given, list) else ("include",)
            target = path.parent / entry
            real = target.resolve()
            if real in trail:
                names = " -> ".join(each.name for each in (*trail[trail.index(real) :], real))
                self.problems.append(tree.problem(location, f"the files include each other: {names}"))
            elif real in seen:
                self.problems.append(
                    tree.problem(location, f"{entry} is included twice; it is also include[{seen[real]}]")
                )
            else:
                seen[real] = index
                try:
                    yield self.read(target, (*trail, real))
                except UnreadableError as error:
                    is_missing = isinstance(error.__cause__, OSError)
                    told = [tree.problem(location, f"cannot read {p.file}: {p.message}") for p in error.problems]
                    self.problems += told if is_missing else error.problems

    def _joined(self, tree: Tree, included: list[Tree]) -> Tree:
        joined, *others = included
        clashes: list[tuple[Location, Problem]] = []
        for other in others:
            clashes += _clashes(joined, other)
            joined = _overlaid(joined, other)
        self.problems += [clash for location, clash in clashes if not _says(tree.value, location)]
        return _overlaid(joined, tree)

    def _expand(self, tree: Tree, path: Path) -> None:
        """Put in what variables and ``~`` of paths stand for, and make paths relative to the main file."""
        folder = os.path.relpath(path.parent, self.main.parent)
        for location in list(_paths(tree.value)):
            holder: Any = tree.value
            for part in location[:-1]:
                holder = holder[part]
            text = os.path.expanduser(self._filled(holder[location[-1]], tree, location))  # noqa: PTH111  # no `./` is lost
            is_relative = location[0] in {"datasets", "plugins", "baseline"} and folder != "."
            holder[location[-1]] = os.path.join(folder, text) if is_relative else text  # noqa: PTH118  # as above

    def _filled(self, text: str, tree: Tree, location: Location) -> str:
        def value(found: re.Match[str]) -> str:
            name = found[1]
            if _NAME.fullmatch(name) is None:
                message = f"{found[0]!r} is not a variable, which looks like ${{DATA_DIR}}"
            elif name not in os.environ:
                message = f"the environment variable {name} is not set; {text!r} needs it"
            else:
                return os.environ[name]
            self.problems.append(tree.problem(location, message))
            return ""

        return _VARIABLE.sub(value, text)


def _paths(value: Mapping[Any, Any]) -> Iterator[Location]:
    """Yield where paths stand."""
    datasets = value.get("datasets")
    named = datasets if isinstance(datasets, Mapping) else {}
    found: list[Location] = [("datasets", name, key) for name in named for key in ("path", "outputs")]
    found += [("plugins", "locked"), ("output", "directory"), ("baseline",), ("include",)]
    if isinstance(listed := value.get("include"), list):
        found += [("include", index) for index in range(len(listed))]
    for location in found:
        inner: Any = value
        for part in location:
            known = isinstance(inner, Mapping) and part in inner
            inner = inner[part] if known or (isinstance(inner, list) and isinstance(part, int)) else None
        if isinstance(inner, str):
            yield location


def _overlaid(base: Tree, own: Tree) -> Tree:
    """Return one tree with what *own* says in place of what *base* says."""
    replaced: set[Location] = set()

    def joined(below: dict[Any, Any], above: dict[Any, Any], location: Location) -> dict[Any, Any]:
        result = dict(below)
        for key, value in above.items():
            here = (*location, key)
            if isinstance(value, dict) and isinstance(result.get(key), dict):
                result[key] = joined(result[key], value, here)
            else:
                result[key] = value
                replaced.add(here)
        return result

    value = joined(base.value, own.value, ())
    kept = {
        place: at
        for place, at in base.places.items()
        if not any(place[:size] in replaced for size in range(1, len(place) + 1))
    }
    return Tree(value, kept | own.places)


def _clashes(one: Tree, other: Tree) -> Iterator[tuple[Location, Problem]]:
    """Yield what two included files say differently."""

    def differing(first: dict[Any, Any], second: dict[Any, Any], location: Location) -> Iterator[Location]:
        for key in first.keys() & second.keys():
            here = (*location, key)
            if isinstance(first[key], dict) and isinstance(second[key], dict):
                yield from differing(first[key], second[key], here)
            elif first[key] != second[key]:
                yield here

    for location in sorted(differing(one.value, other.value, ()), key=str):
        file, line = one.places[location]
        message = f"{file}:{line} says something else; take one of them out, or say it in the file that includes both"
        yield location, other.problem(location, message)


def _says(value: Any, location: Location) -> bool:  # noqa: ANN401  # plain data
    """Return whether a file says a value itself, or replaces what is around it."""
    for part in location:
        if not isinstance(value, dict):
            return True
        if part not in value:
            return False
        value = value[part]
    return True
