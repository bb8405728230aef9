"""
Loading a config file, with every problem in one report, each with its line.
"""

from __future__ import annotations

import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from rankgauge.config.include import Location, Tree, dotted, read_tree
from rankgauge.config.schema import Config
from rankgauge.errors import ConfigError, Problem, counted, did_you_mean
from rankgauge.planning.requests import Located

if TYPE_CHECKING:
    from rankgauge.gates import Gate

__all__ = ["LoadedConfig", "load_config"]

_LOCK_FILE = "rankgauge.lock.yaml"
"""The name of a lock file, unless the config names another."""


@dataclass(frozen=True, slots=True)
class LoadedConfig:
    """A config file that was read and checked, with what it includes; *places* has file and line of every value."""

    config: Config
    path: Path
    places: Mapping[Location, tuple[str, int]]

    def file(self, relative: str) -> Path:
        """Return a path that the config file names, relative to where it stands."""
        return self.path.parent / relative

    def place(self, *keys: str | int) -> tuple[str, int | None]:
        """Return the file and the line of a value."""
        return self.places.get(keys, (str(self.path), None))

    @property
    def lock_file(self) -> Path:
        """Return the lock file: the one that `plugins.locked` names, or where one would be written."""
        return self.file(self.config.plugins.locked or _LOCK_FILE)

    def policy_options(self) -> dict[str, Any]:
        """Return the policy options that the file gives."""
        policy: BaseModel | None = self.config.policy
        given = {} if policy is None else {name: getattr(policy, name) for name in policy.model_fields_set}
        return {name: value for name, value in given.items() if value is not None or name == "depth"}

    def gates(self) -> list[Gate]:
        """Return the gates, each with its place in the file."""
        if not self.config.gates:
            return []
        from rankgauge.gates import read_gates

        return [
            gate
            for place, entry in enumerate(self.config.gates)
            for gate in read_gates(entry, origin="{}:{}".format(*self.place("gates", place)))
        ]

    def entries(self, name: str | None = None) -> list[Located]:
        """Return the entries of a set, or of `metrics.use`, each with its place in the file."""
        metrics = self.config.metrics
        entries = metrics.use if name is None else metrics.sets[name]
        path = ("metrics", "use") if name is None else ("metrics", "sets", name)
        return [
            Located(entry, *self.place(*path, index), dotted((*path, index))) for index, entry in enumerate(entries)
        ]


def load_config(path: Path) -> LoadedConfig:
    """Return a config file, or raise every problem with it at once; metrics are not resolved yet."""
    tree = read_tree(path)
    try:
        config = Config.model_validate(tree.value)
    except ValidationError as error:
        details = _without_other_branches(error.errors(include_url=False))
        problems = [_problem(detail, tree) for detail in details]
    else:
        return LoadedConfig(config, path, tree.places)
    msg = f"{path} cannot be used ({counted(len(problems), 'problem')}):"
    raise ConfigError(msg, problems)


def _without_other_branches(details: Sequence[Any]) -> list[Any]:
    """Drop the wrong type of a union's other branch where something else is known to be wrong with the value."""
    places = [_location(detail) for detail in details]
    wrong_type = [str(detail["type"]).endswith("_type") for detail in details]
    return [
        detail
        for detail, place, is_type in zip(details, places, wrong_type, strict=True)
        if not is_type
        or all(other[: len(place)] != place or also_type for other, also_type in zip(places, wrong_type, strict=True))
    ]


def _location(detail: Mapping[str, Any]) -> Location:
    """Return the keys in a pydantic location, without the branches of unions."""
    branches = {"str", "MatcherConfig", "FieldConfig", "[key]"}
    return tuple(part for part in detail["loc"] if part not in branches and not str(part).startswith("function-"))


def _problem(detail: Mapping[str, Any], tree: Tree) -> Problem:
    location = _location(detail)
    if detail["type"] == "extra_forbidden":
        siblings = _keys(location[:-1])
        listed = f"; known are {', '.join(siblings)}" if siblings else ""
        message = f"unknown key{did_you_mean(str(location[-1]), siblings)}{listed}"
    elif detail["type"] == "missing":
        message = "the key is missing"
    else:
        message = f"{str(detail['msg']).removeprefix('Value error, ')}; found {detail['input']!r}"
    return tree.problem(location, message)


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
    found = (_model_in(part) for part in typing.get_args(annotation))
    return next((model for model in found if model is not None), None)
