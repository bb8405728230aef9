"""
Loading a config file, with every problem in one report, each with its line.
"""

from __future__ import annotations

import typing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from rankgauge.config.include import Location, Tree, read_tree
from rankgauge.config.lock import LOCK_FILE
from rankgauge.config.schema import Config
from rankgauge.errors import ConfigError, Problem, counted, did_you_mean
from rankgauge.planning.requests import Located, MetricSpec
from rankgauge.policy import Profile, profile

if TYPE_CHECKING:
    from rankgauge.gates import Gate

__all__ = ["LoadedConfig", "load_config"]


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
        return self.file(self.config.plugins.locked or LOCK_FILE)

    @property
    def profile(self) -> Profile:
        """Return the profile with the policy options that the file gives."""
        return profile(self.config.profile).adapted(self.policy_options())

    def policy_options(self) -> dict[str, Any]:
        """Return the policy options that the file gives."""
        policy: BaseModel | None = self.config.policy
        given = {} if policy is None else {name: getattr(policy, name) for name in policy.model_fields_set}
        return {name: value for name, value in given.items() if value is not None or name == "depth"}

    def gates(self) -> list[Gate]:
        """Return the gates, each with its place in the file."""
        from rankgauge.gates import read_gates  # most configs have no gates

        return [
            gate
            for place, entry in enumerate(self.config.gates)
            for gate in read_gates(entry, origin="{}:{}".format(*self.place("gates", place)))
        ]

    def metrics(self, sets: Sequence[str] = ()) -> list[MetricSpec]:
        """Return the metrics of some sets, or those of `metrics.use`, each with its place in the file."""
        known = self.config.metrics.sets
        for name in sets:
            if name not in known:
                msg = f"{self.path} cannot be used:"
                raise ConfigError(msg, [Problem(_unknown_set(name, known), str(self.path))])
        if not sets:
            return list(self._expand(self.config.metrics.use, ("metrics", "use")))
        return [spec for name in sets for spec in self._expand(known[name], ("metrics", "sets", name))]

    def _expand(self, entries: Sequence[Any], path: tuple[str | int, ...]) -> Iterator[MetricSpec]:
        for index, entry in enumerate(entries):
            if _is_set(entry):
                name = entry["set"]
                yield from self._expand(self.config.metrics.sets[name], ("metrics", "sets", name))
            else:
                yield Located(entry, *self.place(*path, index))


def load_config(path: Path) -> LoadedConfig:
    """Return a config file, or raise every problem with it at once; metrics are not resolved yet."""
    tree = read_tree(path)
    try:
        config = Config.model_validate(tree.value)
    except ValidationError as error:
        details = _without_other_branches(error.errors(include_url=False))
        problems = [_problem(detail, tree) for detail in details]
    else:
        problems = list(_check_sets(config, tree))
        if not problems:
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


def _check_sets(config: Config, tree: Tree) -> Iterator[Problem]:
    sets = config.metrics.sets
    lists: dict[Location, list[Any]] = {("metrics", "use"): config.metrics.use}
    lists |= {("metrics", "sets", name): entries for name, entries in sets.items()}
    for path, entries in lists.items():
        for place, entry in enumerate(entries):
            if _is_set(entry) and entry["set"] not in sets:
                yield tree.problem((*path, place), _unknown_set(entry["set"], sets))
    includes = {name: [entry["set"] for entry in entries if _is_set(entry)] for name, entries in sets.items()}
    for name in sets:
        if (trail := _cycle(name, includes)) is not None:
            yield tree.problem(("metrics", "sets", name), f"the set includes itself: {' -> '.join(trail)}")


def _unknown_set(name: str, known: Mapping[str, object]) -> str:
    return f"no metric set {name!r}{did_you_mean(name, known)}; declared are {', '.join(known) or 'none'}"


def _cycle(name: str, includes: Mapping[str, Sequence[str]]) -> list[str] | None:
    """Return the includes that lead from a set back to itself; None where none do."""
    pending = [[name]]
    seen: set[str] = set()
    while pending:
        trail = pending.pop()
        for following in includes.get(trail[-1], ()):
            if following == name:
                return [*trail, name]
            if following not in seen:
                seen.add(following)
                pending.append([*trail, following])
    return None


def _is_set(entry: object) -> bool:
    return isinstance(entry, Mapping) and "set" in entry
