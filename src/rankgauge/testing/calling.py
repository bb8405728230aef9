"""
Calling conventions: what each parameter of a metric function from elsewhere is given.

Nothing is guessed: parameters named like a role are given that, and for all others the caller says what they are.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

from rankgauge.base.guard import ForeignError, guarded
from rankgauge.columns import Judged, JudgedSample
from rankgauge.errors import ParameterError, did_you_mean

__all__ = ["ROLES", "Calling", "Role", "read_calling"]

Role = Literal["retrieved", "scores", "relevances", "gold", "set", "list", "gains", "ideal", "n-gold", "k"]

ROLES: Mapping[str, str] = types.MappingProxyType(
    {
        "retrieved": "the list of retrieved ids, rank 1 first",
        "scores": "a dict from each retrieved id to its score",
        "relevances": "the list of grades of what was retrieved, rank 1 first",
        "gold": "the ground truth, in the first form that works: `set`, `gains` or `list`",
        "relevant": "the same as `gold`",
        "set": "the set of relevant ids",
        "list": "the list of relevant ids",
        "gains": "a dict from each relevant id to its grade",
        "ideal": "the list of all grades of the ground truth, best first",
        "n-gold": "how many items are relevant",
        "k": "the cutoff",
    }
)
"""What a parameter can be given, and what that is."""

_RANKINGS = ("retrieved", "scores", "relevances")
_FORMS = {"set": "set of relevant ids", "list": "list of relevant ids", "gains": "grades by id"}


@dataclass(frozen=True, slots=True)
class Calling:
    """
    How a function is called.

    Attributes:
        roles: What each parameter is given, in order, by its name.

        batch: Whether it takes lists of everything but the cutoff.

        by_name: The parameters that can only be given by name.
    """

    roles: tuple[tuple[str, Role], ...]
    batch: bool = False
    by_name: frozenset[str] = frozenset()

    def has(self, *roles: Role) -> bool:
        """Return whether any parameter is given one of these."""
        return any(role in roles for _, role in self.roles)

    def with_gold(self, form: Role) -> Calling:
        """Return the same with the ground truth in a certain form."""
        return replace(self, roles=tuple((name, form if role == "gold" else role) for name, role in self.roles))

    def __str__(self) -> str:
        given = ", ".join(name if name == role else f"{name} = {_FORMS.get(role, role)}" for name, role in self.roles)
        return f"({given}){', each in a list' if self.batch else ''}"


def read_calling(function: Callable[..., Any], calls: str | None = None) -> Calling | Literal["sample", "judged"]:
    """Return how to call a function; `sample` for one over a `JudgedSample`, `judged` for one over a `Judged`."""
    said = (calls or "").strip().lower()
    if said == "sample":
        return "sample"
    wanted = _parameters(function)
    if not said and wanted and wanted[0].annotation in {JudgedSample, Judged}:
        return "sample" if wanted[0].annotation is JudgedSample else "judged"
    listed = said.removeprefix("batch:")
    roles = _spelled(function, listed, wanted) if said else _by_name(function, wanted)
    by_name = frozenset(each.name for each in wanted or () if each.kind is inspect.Parameter.KEYWORD_ONLY)
    return Calling(roles, batch=listed != said, by_name=by_name)


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter] | None:
    """Return the parameters without ``*args`` and ``**kwargs``; None where they cannot be read, as of some C code."""
    try:
        with guarded():
            signature = inspect.signature(function, eval_str=True)
    except ForeignError:  # annotations may be any text
        try:
            signature = inspect.signature(function)
        except (TypeError, ValueError):
            return None
    stars = {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}
    return [each for each in signature.parameters.values() if each.kind not in stars]


def _by_name(function: Callable[..., Any], wanted: list[inspect.Parameter] | None) -> tuple[tuple[str, Role], ...]:
    """Give each parameter what its name says, and leave out those that have a default and another name."""
    roles = {each.name: _role(each.name.lower().replace("_", "-")) for each in wanted or ()}
    given = tuple((name, role) for name, role in roles.items() if role is not None)
    unknown = [each.name for each in wanted or () if roles[each.name] is None and each.default is each.empty]
    if wanted is None:
        problem = "its parameters cannot be read"
    elif unknown:
        problem = f"no role is named {', '.join(map(repr, unknown))}"
    elif not any(role in _RANKINGS for _, role in given):
        problem = "no parameter is named like a ranking"
    else:
        return given
    example = ",".join(roles[each.name] or "..." for each in wanted or ()) or "retrieved,gold,k"
    msg = (
        f"cannot tell how to call {_named(function)}({', '.join(roles)}): {problem}. "
        f"Give calls={example!r} (--calls on the command line), the role of each parameter in order; "
        f"roles are {', '.join(ROLES)}. Set any other parameter with functools.partial or in a function of your own"
    )
    raise ParameterError(msg)


def _spelled(
    function: Callable[..., Any], listed: str, wanted: list[inspect.Parameter] | None
) -> tuple[tuple[str, Role], ...]:
    roles: list[Role] = []
    names = [name.strip() for name in listed.split(",")]
    for name in names:
        role = _role(name)
        if role is None:
            msg = (
                f"calls={listed!r}: {name!r} is not a role{did_you_mean(name, ROLES)}; "
                f"give the role of each parameter in order, such as retrieved,gold,k, of {', '.join(ROLES)}; "
                "batch: before them for lists of rankings; or sample for a function of one JudgedSample"
            )
            raise ParameterError(msg)
        roles.append(role)
    if wanted is None:
        return tuple(zip(names, roles, strict=True))
    if len(roles) > len(wanted) or any(each.default is each.empty for each in wanted[len(roles) :]):
        takes = ", ".join(each.name for each in wanted)
        msg = f"calls={listed!r} names {len(roles)} parameters, but {_named(function)} takes ({takes})"
        raise ParameterError(msg)
    return tuple((each.name, role) for each, role in zip(wanted, roles, strict=False))


def _role(name: str) -> Role | None:
    if name == "relevant":
        return "gold"
    return cast("Role", name) if name in ROLES else None


def _named(function: Callable[..., Any]) -> str:
    return str(getattr(function, "__qualname__", type(function).__name__))
