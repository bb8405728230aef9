"""
Signatures: what an author's function declares by its parameters, its name and its documentation.
"""

from __future__ import annotations

import functools
import inspect
import re
import types
import typing
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Literal, TypeVar

from rankgauge.errors import DeclarationError, did_you_mean
from rankgauge.expression import Value

__all__ = [
    "ENGINE",
    "PLAIN_NAME",
    "RESERVED",
    "Authored",
    "CutoffKind",
    "LikeCondition",
    "Parameter",
    "checked_laws",
    "companion",
    "declared_in",
    "declaring",
    "first_line",
    "plain_name",
    "plain_version",
    "read_like",
    "read_signature",
]

_OWN = (
    *("rel", "gold", "matcher", "unit", "stage", "tokenizer", "partial", "joint", "aggregate"),
    *("undefined", "missing", "score_above", "ties"),
)

RESERVED = frozenset({"k", "as", "budget", *_OWN})
"""Parameters that the engine gives to every metric; a metric cannot use these names for its own."""

ENGINE = (*_OWN, "words")
"""What the engine takes for itself of the parameters in every expression; a metric may have its own `words`."""

LikeCondition = Literal["binary", "judged", "one relevant", "few relevant", "full"]
"""
Where a metric is like another: `like="ndcg@k where binary and few relevant"`.

`binary`: all grades are 0 or 1. `judged`: everything retrieved is judged. `one relevant`: one item is relevant. `few
relevant`: no more than k items are relevant. `full`: k items or more are retrieved.
"""


def read_like(written: str) -> tuple[str, frozenset[LikeCondition]]:
    """Return the metric and the conditions of a `like`; raise `DeclarationError` for an unknown condition."""
    known = typing.get_args(LikeCondition)
    expression, where, conditions = written.partition(" where ")
    names = [name.strip() for name in conditions.split(" and ")] if where else []
    for name in names:
        if name not in known:
            hint = f"{did_you_mean(name, known)}; known are {', '.join(known)}"
            raise DeclarationError(f"like={written!r} has no condition {name!r}{hint}")
    return expression.strip(), frozenset(names)  # type: ignore[arg-type]  # they were just looked up


CutoffKind = Literal["none", "required", "droppable", "optional"]


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a metric."""

    name: str
    annotation: Any  # whatever the author annotated; pydantic checks values against it
    default: Value | None

    @property
    def choices(self) -> tuple[Value, ...]:
        """Return the values that a `Literal` annotation lists."""
        return typing.get_args(self.annotation) if typing.get_origin(self.annotation) is Literal else ()


def read_signature(
    alias: str, function: Callable[..., Any], *, skip_first: bool = True
) -> tuple[tuple[Parameter, ...], CutoffKind]:
    """Read parameters and kind of cutoff from the signature of a metric, or of a function that chooses a matcher."""
    try:
        hints = typing.get_type_hints(function)
    except (NameError, TypeError) as error:
        msg = f"cannot read the annotations of metric {alias!r}: {error}; name types that the module knows at run time"
        raise DeclarationError(msg) from error
    parameters: list[Parameter] = []
    cutoff: CutoffKind = "none"
    for index, (name, given) in enumerate(inspect.signature(function).parameters.items()):
        if skip_first and index == 0:
            continue
        if given.kind is not inspect.Parameter.KEYWORD_ONLY:
            raise DeclarationError(f"parameter {name!r} of metric {alias!r} must be keyword-only (write it after a *)")
        if name == "k" and skip_first:
            cutoff = _cutoff(hints.get("k"), given.default)
            continue
        if name in RESERVED:
            reserved = ", ".join(sorted(RESERVED))
            msg = f"metric {alias!r} cannot have a parameter {name!r}: the engine gives every metric {reserved}"
            raise DeclarationError(msg)
        if name not in hints or given.default is inspect.Parameter.empty:
            raise DeclarationError(f"parameter {name!r} of metric {alias!r} needs an annotation and a default")
        parameters.append(Parameter(name, hints[name], given.default))
    return tuple(parameters), cutoff


def companion(
    alias: str,
    role: str,
    function: Callable[..., Any] | None,
    offered: Mapping[str, object],
    *,
    skip_first: bool = True,
) -> Callable[..., Any] | None:
    """
    Return a metric's companion, such as `details`, so that it may name only the parameters it uses.

    It is called with any of those offered (name to default), and is given each that it names, or the default.
    A metric without one has None.
    """
    if function is None:
        return None
    try:
        parameters = list(inspect.signature(function).parameters.values())[skip_first:]
    except (TypeError, ValueError):  # a function written in C may have no signature
        return function
    taken: dict[str, inspect.Parameter] = {}
    for parameter in parameters:
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            taken.update(dict.fromkeys(offered, parameter))
        elif parameter.name in offered:
            taken[parameter.name] = parameter
        elif parameter.default is parameter.empty and parameter.kind is not inspect.Parameter.VAR_POSITIONAL:
            known = f"its parameters are {', '.join(offered)}" if offered else "it has no parameters"
            msg = f"{role} of metric {alias!r} takes {parameter.name!r}, which it cannot be given; {known}"
            raise DeclarationError(msg)
    if offered.keys() == taken.keys() and all(name == "k" or taken[name].default == offered[name] for name in taken):
        return function
    usual = {name: offered[name] for name in taken if name != "k"}

    @functools.wraps(function)
    def narrowed(*judged: object, **params: object) -> Any:  # noqa: ANN401  # what the companion returns
        return function(*judged, **{**usual, **{name: value for name, value in params.items() if name in taken}})

    return narrowed


def _cutoff(annotation: object, default: object) -> CutoffKind:
    if default is None:
        return "optional"
    takes_none = types.NoneType in typing.get_args(annotation)
    return "droppable" if takes_none and default is inspect.Parameter.empty else "required"


F = TypeVar("F", bound=Callable[..., Any])

PLAIN_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
"""Lower-case words joined by hyphens."""


class Authored:
    """A declaration of one function, which is its attribute `function`."""

    __slots__ = ()
    name: str
    function: Callable[..., Any]

    @property
    def source(self) -> Callable[..., Any]:
        """Return the function that the author wrote."""
        return self.function

    @property
    def summary(self) -> str:
        """Return the first line of its documentation."""
        return first_line(self.function)


def declaring(declare: Callable[[Callable[..., Any]], object]) -> Callable[[F], F]:
    """Return a decorator that leaves a function as it is, and gives it the declaration that *declare* makes of it."""

    def decorate(function: F) -> F:
        function.__rankgauge__ = declare(function)  # type: ignore[attr-defined]  # a function takes attributes
        return function

    return decorate


def first_line(function: Callable[..., Any]) -> str:
    """Return the first line of a function's documentation."""
    return (inspect.getdoc(function) or "").strip().partition("\n")[0]


def plain_name(name: str) -> str:
    """Return a name of lower-case words joined by hyphens; refuse any other."""
    if not isinstance(name, str) or PLAIN_NAME.fullmatch(name) is None:
        raise DeclarationError(f"{name!r} is not a usable name: write lower-case words joined by hyphens")
    return name


def plain_version(version: str) -> str:
    """Return the version of a declaration; refuse what is no text, which saved results could not be compared by."""
    if not isinstance(version, str) or not version.strip():
        raise DeclarationError(f"a version is a text such as '2', not {version!r}")
    return version


def checked_laws(what: str, laws: Iterable[str], known: Collection[str]) -> frozenset[Any]:
    """Return the laws that a declaration names; refuse an unknown one."""
    declared = frozenset(laws)
    if unknown := declared - frozenset(known):
        listed = ", ".join(sorted(map(repr, unknown)))
        raise DeclarationError(f"{what} names the unknown law {listed}; laws are {', '.join(sorted(known))}")
    return declared


def declared_in(module: ModuleType, kind: type = object) -> list[Callable[..., Any]]:
    """Return the functions of a module, not those it imports, that carry a declaration of a kind."""
    named = [value for value in vars(module).values() if hasattr(value, "__rankgauge__")]
    here = [function for function in named if function.__module__ == module.__name__]
    return [function for function in here if isinstance(function.__rankgauge__, kind)]
