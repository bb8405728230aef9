"""
Config files: read with what they include, checked, and with every problem in one report, each with its line.
"""

from __future__ import annotations

import os
import re
import typing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from rankgauge.config.schema import Config
from rankgauge.config.variables import Variables
from rankgauge.errors import ConfigError, Problem, UnreadableError, counted, did_you_mean
from rankgauge.io.documents import decode_text
from rankgauge.io.files import read_bytes, real_path
from rankgauge.io.yaml_documents import read_yaml
from rankgauge.planning.requests import Located
from rankgauge.planning.sets import shortened_chain

if TYPE_CHECKING:
    from rankgauge.comparison.differences import ShortLists
    from rankgauge.gates.grammar import Effect, Gate

__all__ = ["LoadedConfig", "Location", "Tree", "dotted", "load_config", "read_tree", "unusable"]

Location = tuple[str | int, ...]  # the keys that lead to a value

_HINT = "`rankgauge init` writes one"
_MOST_FILES = 200
"""How many files a config may include, counted once for every file that does; each such chain may have a tenth."""


@dataclass(slots=True)
class Tree:
    """A config before it is checked: everything that the files say as plain data, and file and line of every value."""

    value: dict[Any, Any]
    places: dict[Location, tuple[str, int]]
    variables: Variables = field(default_factory=Variables)

    def problem(self, location: Location, message: str) -> Problem:
        """Return a problem with a value: at its place, or that of the nearest value around it."""
        around = location
        while around not in self.places:
            around = around[:-1]
        return Problem(message, *self.places[around], dotted(location))


def read_tree(path: Path) -> Tree:
    """Read a config file and what it includes; raise every problem at once."""
    reader = _Reader(path)
    tree = reader.read(path, (real_path(path),))
    if reader.problems:
        raise unusable(path, reader.problems)
    return replace(tree, variables=reader.variables)


def unusable(path: Path, problems: Sequence[Problem]) -> ConfigError:
    """Return the error of a config file with problems."""
    return ConfigError(f"{path} cannot be used ({counted(len(problems), 'problem')}):", problems)


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
    included: int = 0
    variables: Variables = field(default_factory=Variables)

    def read(self, path: Path, trail: tuple[Path, ...]) -> Tree:
        """Read one file; *trail* has the files that led to it, itself last."""
        name = self.variables.unexpanded(str(path))
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
            real = real_path(target)
            if real in trail:
                names = " -> ".join(file.name for file in (*trail[trail.index(real) :], real))
                self.problems.append(tree.problem(location, f"the files include each other: {names}"))
            elif real in seen:
                message = f"{entry} is included twice; it is also include[{seen[real]}]"
                self.problems.append(tree.problem(location, message))
            elif self.included >= _MOST_FILES or len(trail) > _MOST_FILES // 10:
                if self.included <= _MOST_FILES:
                    self.problems.append(tree.problem(location, _too_many(trail)))
                self.included = _MOST_FILES + 1  # said once, and nothing more is read
            else:
                seen[real] = index
                self.included += 1
                try:
                    yield self.read(target, (*trail, real))
                except UnreadableError as error:
                    problems: Sequence[Problem] = error.problems
                    if isinstance(error.__cause__, OSError):  # it is not there
                        what = self.variables.unexpanded(str(target))
                        problems = [tree.problem(location, f"cannot read {what}: {p.message}") for p in problems]
                    self.problems += problems

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

            def refuse(why: str, at: Location = location) -> None:
                self.problems.append(tree.problem(at, why))

            text = self.variables.expanded(holder[location[-1]], refuse)
            is_relative = location[0] in {"datasets", "plugins", "baseline", "policy"} and folder != "."
            holder[location[-1]] = os.path.join(folder, text) if is_relative else text  # noqa: PTH118  # as above


def _too_many(trail: Sequence[Path]) -> str:
    """Return what is wrong with a file that is at the end of too many includes."""
    chain = shortened_chain([file.name for file in trail])
    most = f"{_MOST_FILES} files, {_MOST_FILES // 10} of them in a chain"
    return f"too many includes, by {chain}; a config may include {most}"


def _paths(value: Mapping[Any, Any]) -> Iterator[Location]:
    """Yield where paths are."""
    datasets, included = value.get("datasets"), value.get("include")
    named = datasets if isinstance(datasets, Mapping) else {}
    possible: list[Location] = [
        ("datasets", name, key) for name in named for key in ("path", "outputs", "excluded", "groups")
    ]
    possible += [("plugins", "locked"), ("output", "directory"), ("baseline",), ("include",), ("policy", "excluded")]
    for location in possible:
        inner: Any = value
        for part in location:
            inner = inner.get(part) if isinstance(inner, Mapping) else None
        if isinstance(inner, str):
            yield location
    for index, entry in enumerate(included if isinstance(included, list) else []):
        if isinstance(entry, str):
            yield "include", index


def _overlaid(base: Tree, top: Tree) -> Tree:
    """Return one tree with what *top* says in place of what *base* says."""
    places = dict(base.places)

    def joined(below: dict[Any, Any], above: dict[Any, Any], location: Location) -> dict[Any, Any]:
        result = dict(below)
        for key, value in above.items():
            here = (*location, key)
            if isinstance(value, dict) and isinstance(result.get(key), dict):
                result[key] = joined(result[key], value, here)
            else:
                result[key] = value
                for place in [place for place in places if place[: len(here)] == here]:
                    del places[place]
        return result

    return Tree(joined(base.value, top.value, ()), places | top.places)


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


_LOCK_FILE = "rankgauge.lock.yaml"  # unless the config names another


@dataclass(frozen=True, slots=True)
class LoadedConfig:
    """A config file that was read and checked, with what it includes; *places* has file and line of every value."""

    config: Config
    path: Path
    places: Mapping[Location, tuple[str, int]]
    variables: Variables

    def file(self, relative: str) -> Path:
        """Return a path that the config file names, relative to where it is."""
        return self.path.parent / relative

    def place(self, *keys: str | int) -> tuple[str, int | None]:
        """Return the file and the line of a value, or of the nearest value around it."""
        while keys and keys not in self.places:
            keys = keys[:-1]
        return self.places[keys] if keys else (str(self.path), None)

    @property
    def lock_file(self) -> Path:
        """Return the lock file: the one that `plugins.locked` names, or where one would be written."""
        return self.file(self.config.plugins.locked or _LOCK_FILE)

    def policy_options(self) -> dict[str, Any]:
        """Return the policy options that the file gives."""
        policy: BaseModel | None = self.config.policy
        given = {} if policy is None else {name: getattr(policy, name) for name in policy.model_fields_set}
        if isinstance(given.get("excluded"), str):
            given["excluded"] = str(self.file(given["excluded"]))
        return {name: value for name, value in given.items() if value is not None or name == "depth"}

    def gates(self, inconclusive: Effect | None = None, short_lists: ShortLists | None = None) -> list[Gate]:
        """
        Return the gates, those that end calls among them, each with its place in the file.

        *inconclusive* and *short_lists* beat what the file says for all.
        """
        if not (self.config.gates or self.config.until):
            return []
        from rankgauge.catalog import Catalog
        from rankgauge.gates.grammar import Defaults, read_gates

        defaults = Defaults(
            inconclusive or self.config.inconclusive or "fell",
            short_lists or self.config.short_lists or "open",
            catalog=Catalog.discover(disable=self.config.plugins.disable),
        )
        return [
            replace(gate, until=key == "until")
            for key in ("gates", "until")
            for index, entry in enumerate(getattr(self.config, key))
            for gate in read_gates(entry, origin="{}:{}".format(*self.place(key, index)), defaults=defaults)
        ]

    def entries(self, name: str | None = None) -> list[Located]:
        """Return the entries of a set, or of `metrics.use`, each with its place in the file."""
        metrics = self.config.metrics
        entries = metrics.use if name is None else metrics.sets[name]
        path = ("metrics", "use") if name is None else ("metrics", "sets", name)
        places = [(*path, index) for index in range(len(entries))]
        return [Located(entry, *self.place(*at), dotted(at)) for entry, at in zip(entries, places, strict=True)]


def load_config(path: Path) -> LoadedConfig:
    """Return a config file, or raise every problem with it at once; metrics are not resolved yet."""
    tree = read_tree(path)
    try:
        return LoadedConfig(Config.model_validate(tree.value), path, tree.places, tree.variables)
    except ValidationError as error:
        details = _without_other_branches(error.errors(include_url=False))
    raise unusable(path, [_problem(detail, tree, path) for detail in details])


def _without_other_branches(details: Sequence[Any]) -> list[Any]:
    """Drop the wrong type of a union's other branch if something else is known to be wrong with the value."""
    wrong_type = [str(detail["type"]).endswith("_type") for detail in details]
    known = [_location(detail) for detail, is_type in zip(details, wrong_type, strict=True) if not is_type]
    return [
        detail
        for detail, is_type in zip(details, wrong_type, strict=True)
        if not is_type or all(place[: len(_location(detail))] != _location(detail) for place in known)
    ]


def _location(detail: Mapping[str, Any]) -> Location:
    """Return the keys in a pydantic location, without the branches of unions."""
    branches = {"str", "MatcherConfig", "FieldConfig", "[key]"}
    return tuple(part for part in detail["loc"] if part not in branches and not str(part).startswith("function-"))


def _problem(detail: Mapping[str, Any], tree: Tree, main: Path) -> Problem:
    """Return what is wrong with a value, which is shown if the main file has it: others may be of anybody."""
    location = _location(detail)
    if detail["type"] == "extra_forbidden":
        siblings = _keys(location[:-1])
        listed = f"; known are {', '.join(siblings)}" if siblings else ""
        message = f"unknown key{did_you_mean(str(location[-1]), siblings)}{listed}"
    elif detail["type"] == "missing":
        message = "the key is missing"
    else:
        message = str(detail["msg"]).removeprefix("Value error, ")
        if tree.problem(location, "").file == str(main) and location[:1] not in {
            ("system",),
            ("sweep",),
        }:  # may have secrets
            message += f"; found {detail['input']!r}"
    problem = tree.problem(location, message)
    is_shown = problem.file == str(main) or re.fullmatch(r"[\w.\[\]-]{1,60}", problem.path)
    return problem if is_shown else problem._replace(path="")  # a line of a file that is no config is not a key


def _keys(location: Location) -> list[str]:
    """Return the keys that the schema allows at a place."""
    model: type[BaseModel] | None = Config
    for part in location:
        if model is not None and part in model.model_fields:
            model = _model_in(model.model_fields[str(part)].annotation)
    return [] if model is None else list(model.model_fields)


def _model_in(annotation: object) -> type[BaseModel] | None:
    """Return the model in an annotation: itself, an item, a value or a branch."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    models = map(_model_in, typing.get_args(annotation))
    return next((model for model in models if model is not None), None)
