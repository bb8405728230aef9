"""
Profile and set declarations: conventions and lists of metrics under a name.
"""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rankgauge.base.frozen import freeze_fields, frozen
from rankgauge.errors import DeclarationError, PolicyError, did_you_mean
from rankgauge.expression import Value
from rankgauge.plugin.signature import Authored, declaring, plain_name
from rankgauge.policy import Contract, Profile

__all__ = ["MetricSet", "NamedProfile", "ProfileSpec", "metric_set", "named_profile", "read_profile"]

_CONVENTIONS = ("relevance", "negatives", "duplicate_texts", "missing_texts")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileSpec:
    """What a profile changes of another."""

    extends: str = "default"  # the other profile
    policy: Mapping[str, Any] = field(default_factory=dict)  # policy options by name
    parameters: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)  # parameters by metric
    conventions: Mapping[str, Any] = field(default_factory=dict)  # those of `_CONVENTIONS` that are given
    contract: Mapping[str, Any] = field(default_factory=dict)  # parts of the contract by name

    def __post_init__(self) -> None:
        freeze_fields(self)

    def plain(self) -> dict[str, Any]:
        """Return the form that `read_profile` reads."""
        spec: dict[str, Any] = {"extends": self.extends, **self.conventions}
        parts = {"policy": self.policy, "parameters": self.parameters, "contract": self.contract}
        return {**spec, **{name: dict(part) for name, part in parts.items() if part}}

    def applied(self, name: str, base: Profile, parameters: Mapping[str, Mapping[str, Value]]) -> Profile:
        """Return the profile that this makes of another, with its *parameters* by alias."""
        merged = {
            alias: {**base.parameters.get(alias, {}), **parameters.get(alias, {})}
            for alias in dict.fromkeys((*base.parameters, *parameters))
        }
        return dataclasses.replace(
            base,
            name=name,
            policy=base.policy.with_options(self.policy),
            parameters=merged,
            contract=base.contract._replace(**self.contract),
            **self.conventions,
        )


def read_profile(spec: Mapping[str, Any]) -> ProfileSpec:
    """Read what a profile changes, as configs write it; refuse unknown keys and values, but leave names for later."""
    known = ("extends", "policy", "parameters", "contract", *_CONVENTIONS)
    _check_keys("a profile", spec, known)
    spec = {key: value for key, value in spec.items() if value is not None}
    extends = spec.get("extends", "default")
    if type(extends) is not str:
        raise PolicyError(f"'extends' of a profile is the name of another, not {extends!r}")
    parts: dict[str, Any] = {key: spec.get(key) or {} for key in ("policy", "parameters", "contract")}
    for key, part in parts.items():
        if not isinstance(part, Mapping):
            raise PolicyError(f"{key!r} of a profile is a mapping, not {part!r}")
    for metric, values in parts["parameters"].items():
        if not isinstance(values, Mapping):
            msg = f"'parameters' of a profile has a mapping for each metric; that of {metric!r} is {values!r}"
            raise PolicyError(msg)
    _check_values("a profile", {key: spec[key] for key in _CONVENTIONS if key in spec}, Profile)
    _check_keys("the contract of a profile", parts["contract"], Contract._fields)
    _check_values("the contract of a profile", parts["contract"], Contract)
    return ProfileSpec(extends=extends, conventions={key: spec[key] for key in _CONVENTIONS if key in spec}, **parts)


@dataclass(frozen=True, slots=True)
class NamedProfile(Authored):
    """A profile with its own name."""

    name: str
    function: Callable[[], None]  # its docstring says whose numbers the profile reproduces
    spec: ProfileSpec


def named_profile(name: str, spec: Mapping[str, Any]) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """
    Declare a profile; the decorated function's docstring says whose numbers it reproduces.

    Args:
        name: Lower-case words joined by hyphens.

        spec: What it changes of another, as under `profiles` in a config: `extends` (a profile; `default` unless
            given), `policy` (options), `parameters` (by metric), `relevance`, `negatives`, `duplicate_texts`,
            `missing_texts`, `contract`. Names of metrics and options are looked up when the profile is used.

    Returns:
        A decorator that leaves the function as it is.

    Raises:
        DeclarationError: When applied: the name cannot be used.

        PolicyError: When applied: *spec* cannot be read.
    """
    return declaring(lambda function: NamedProfile(plain_name(name), function, read_profile(spec)))


@dataclass(frozen=True, slots=True)
class MetricSet(Authored):
    """A list of metrics with a name."""

    name: str
    function: Callable[[], None]  # its docstring says what the set is for
    metrics: tuple[str | Mapping[str, Any], ...]


def metric_set(
    name: str, metrics: Sequence[str | Mapping[str, Any]]
) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """
    Declare a set of metrics; the decorated function's docstring says what it is for.

    Args:
        name: Lower-case words joined by hyphens.

        metrics: As under `metrics.use` in a config: expressions, mappings ``{metric, as, k, ...}``, and other sets of
            plugins, ``{set: NAME}``.

    Returns:
        A decorator that leaves the function as it is.

    Raises:
        DeclarationError: When applied: the declaration cannot be used.
    """

    def declare(function: Callable[[], None]) -> MetricSet:
        if isinstance(metrics, str) or not metrics or not all(isinstance(metric, str | Mapping) for metric in metrics):
            msg = f"set {name!r} is a list of metrics, as under `metrics.use` in a config; not {metrics!r}"
            raise DeclarationError(msg)
        return MetricSet(plain_name(name), function, tuple(map(frozen, metrics)))

    return declaring(declare)


def _check_keys(what: str, given: Mapping[str, Any], known: Sequence[str]) -> None:
    for key in given:
        if key not in known:
            raise PolicyError(f"{what} has no {key!r}{did_you_mean(str(key), known)}; known are {', '.join(known)}")


def _check_values(what: str, given: Mapping[str, Any], kind: type) -> None:
    """Refuse a value that a field of *kind* cannot have."""
    hints = typing.get_type_hints(kind)
    for key, value in given.items():
        if not _fits(value, hint := hints[key]):
            words = [choice for branch in (hint, *typing.get_args(hint)) for choice in typing.get_args(branch)]
            choices = [word for word in words if isinstance(word, str)]
            wanted = f"choose from {', '.join(choices)}{'' if _is_literal(hint) else ' or a number'}"
            raise PolicyError(f"{key!r} of {what} cannot be {value!r}; {wanted if choices else 'it is true or false'}")


def _fits(value: object, hint: Any) -> bool:  # noqa: ANN401  # a type, as annotations write it
    if _is_literal(hint):
        return isinstance(value, str) and value in typing.get_args(hint)
    if hint is bool:
        return isinstance(value, bool)
    if hint is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    return any(_fits(value, branch) for branch in typing.get_args(hint))


def _is_literal(hint: object) -> bool:
    return typing.get_origin(hint) is typing.Literal
