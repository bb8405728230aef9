"""
Calling conventions: what a metric function from elsewhere wants to be given, read from its names and annotations.

Such functions take lists of ids with the ids that are relevant, or the grades in ranked order, or a map from id to
score with one from id to grade; the ground truth first or last; one ranking or a batch; with a cutoff or without.
"""

from __future__ import annotations

import inspect
import re
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

from rankgauge.columns import Judged, JudgedSample
from rankgauge.errors import ParameterError, did_you_mean

__all__ = ["CONVENTIONS", "ROLES", "Calling", "Role", "read_calling"]

Role = Literal["retrieved", "scores", "relevances", "gold", "set", "list", "gains", "ideal", "n-gold", "k"]

ROLES: Mapping[str, str] = types.MappingProxyType(
    {
        "retrieved": "the list of ids retrieved, rank 1 first",
        "scores": "a dict from each id retrieved to its score",
        "relevances": "the list of grades of what was retrieved, rank 1 first",
        "gold": "the ground truth, in the first form that works: `set`, `gains` or `list`",
        "set": "the set of relevant ids",
        "list": "the list of relevant ids",
        "gains": "a dict from each relevant id to its grade",
        "ideal": "the list of all grades of the ground truth, best first",
        "n-gold": "how many items are relevant",
        "k": "the cutoff",
    }
)
"""What a parameter can be given, and what that is."""

CONVENTIONS: Mapping[str, str] = types.MappingProxyType(
    {
        "ids": "ids retrieved, and the ground truth",
        "relevances": "grades in ranked order",
        "scores": "a dict from id to score, and the ground truth",
        "batch": "lists of rankings and of ground truths; it returns a list of scores, or their mean",
        "sample": "one `JudgedSample`, as rankgauge's own",
    }
)
"""The conventions that `--calls` names."""

_K = {"k", "cutoff", "cut_off", "topk", "top_k", "at", "at_k", "n", "depth", "max_rank", "rank_cutoff", "k_max"}
_COUNT = {"n", "num", "total", "count", "number"}
_GOLD = {"gold", "golds", "relevant", "actual", "expected", "truth", "truths", "true", "qrels", "qrel", "target"}
_GOLD |= {"targets", "reference", "references", "label", "labels", "correct", "positives", "judgments", "judgements"}
_RETRIEVED = {"retrieved", "predicted", "prediction", "predictions", "pred", "preds", "ranking", "rankings", "ranked"}
_RETRIEVED |= {"result", "results", "recommended", "recommendations", "run", "runs", "hits", "candidates", "output"}
_RETRIEVED |= {"outputs", "returned", "found", "retrievals", "response", "docs", "documents"}
_GRADES = {"r", "rs", "rel", "rels", "relevance", "relevances", "relevancies", "gain", "gains", "grade", "grades"}
_SCORES = {"scores", "score", "scored"}
_SHAPES: tuple[tuple[type, str], ...] = ((Mapping, "dict"), (AbstractSet, "set"), (str, "text"), (Sequence, "list"))


@dataclass(frozen=True, slots=True)
class Calling:
    """
    How a function is called.

    Attributes:
        roles: What each parameter is given, in order, by its name.

        batch: Whether it takes a list of everything but the cutoff.

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
        given = ", ".join(name if name == role else f"{name} = {_told(role)}" for name, role in self.roles)
        return f"({given}){', all of it in lists' if self.batch else ''}"


def read_calling(function: Callable[..., Any], calls: str = "auto") -> Calling | Literal["sample", "judged"]:
    """
    Find out how a function wants to be called.

    Args:
        function: The function.

        calls: `auto`, a name of `CONVENTIONS`, or what its parameters are in order, such as ``gold,retrieved,k``; with
            ``batch:`` before it when it takes lists of them.

    Returns:
        How to call it; `sample` for a function over one `JudgedSample`, `judged` for one over a `Judged`.

    Raises:
        ParameterError: It cannot be told; the message says what to say.
    """
    convention = calls.strip().lower()
    if convention == "sample":
        return "sample"
    head, colon, tail = convention.partition(":")
    listed = tail if colon and head == "batch" else convention
    if "," in listed or (listed in ROLES and listed not in CONVENTIONS):
        return _spelled(function, listed, batch=bool(colon))
    if convention not in {"auto", *CONVENTIONS} or colon:
        known = ["auto", *CONVENTIONS]
        msg = (
            f"calls={calls!r} is no calling convention{did_you_mean(convention, known)}; "
            f"say one of {', '.join(known)}, or what the parameters are in order, such as gold,retrieved,k, "
            f"of {', '.join(ROLES)}"
        )
        raise ParameterError(msg)
    wanted = list(_wanted(function))
    if convention == "auto" and wanted and wanted[0].annotation in {JudgedSample, Judged}:
        return "sample" if wanted[0].annotation is JudgedSample else "judged"
    return _inferred(function, wanted, convention)


@dataclass(slots=True)
class _Parameter:
    name: str
    annotation: Any
    is_optional: bool
    by_name: bool
    role: Role | None = None

    @property
    def words(self) -> set[str]:
        """Return the words of its name, in lower case."""
        return set(re.sub(r"([a-z])([A-Z])", r"\1_\2", self.name).lower().strip("_").split("_"))

    @property
    def shape(self) -> str:
        """Return what its annotation says: dict, set, list, nested, number, or nothing."""
        return _shape(self.annotation)


def _wanted(function: Callable[..., Any]) -> Iterator[_Parameter]:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError) as error:
        msg = f"the parameters of {_named(function)} cannot be read ({error}); say them: calls='retrieved,gold,k'"
        raise ParameterError(msg) from error
    routine = function if inspect.isroutine(function) else type(function).__call__
    try:
        hints = typing.get_type_hints(getattr(function, "func", routine))
    except Exception:  # noqa: BLE001  # annotations may say anything, and then say nothing to us
        hints = {}
    for name, given in signature.parameters.items():
        if given.kind not in {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}:
            optional = given.default is not inspect.Parameter.empty
            by_name = given.kind is inspect.Parameter.KEYWORD_ONLY
            yield _Parameter(name, hints.get(name), optional, by_name)


def _inferred(function: Callable[..., Any], wanted: list[_Parameter], convention: str) -> Calling:
    for parameter in wanted:
        parameter.role = _role_by_name(parameter)
    needed = sum(each.role not in {None, "k"} for each in wanted if not each.is_optional)
    for parameter in wanted:
        if parameter.is_optional and parameter.role != "k" and needed > 1:
            parameter.role = None  # f(retrieved, relevant, gain="linear"): an option, whatever it sounds like
    _settle(wanted, convention)
    _complete(wanted, convention)
    unknown = [parameter for parameter in wanted if parameter.role is None and not parameter.is_optional]
    roles: dict[str, Role] = {each.name: each.role for each in wanted if each.role is not None}
    calling = Calling(
        tuple(roles.items()),
        batch=convention == "batch" or any(each.role not in {None, "k"} and each.shape == "nested" for each in wanted),
        by_name=frozenset(each.name for each in wanted if each.by_name),
    )
    twice = [role for role in set(roles.values()) if list(roles.values()).count(role) > 1]
    is_ranking = calling.has("retrieved", "scores", "relevances")
    if unknown or twice or not is_ranking:
        names = ", ".join(repr(each.name) for each in unknown)
        said = f"nothing says what {names} {'is' if len(unknown) == 1 else 'are'}"
        what = (
            said
            if unknown
            else f"two parameters look like {twice[0]!r}"
            if twice
            else "no parameter looks like a ranking"
        )
        example = ",".join("..." if parameter.role is None else parameter.role for parameter in wanted)
        msg = (
            f"cannot tell how to call {_named(function)}({', '.join(each.name for each in wanted)}): {what}. "
            f"Say what its parameters are, in order: calls={example!r} (--calls), each one of {', '.join(ROLES)}; "
            "wrap it in a function of your own where it wants anything else"
        )
        raise ParameterError(msg)
    return calling


def _role_by_name(parameter: _Parameter) -> Role | None:
    words, name = parameter.words, parameter.name.lower().strip("_")
    if name in _K:
        return "k"
    if words & _COUNT and words & (_GOLD | _GRADES):
        return "n-gold"
    if "ideal" in words or ("all" in words and words & _GRADES):
        return "ideal"
    if words & _RETRIEVED and words & _GRADES:
        return "relevances"
    if words & _GOLD:
        return "gold"
    if words & _SCORES:
        return "scores"
    if words & _RETRIEVED:
        return "retrieved"
    return "relevances" if words & _GRADES else None


def _settle(wanted: list[_Parameter], convention: str) -> None:
    """Let the parameters, their annotations and the convention decide together what each of them is."""
    ranks_ids = any(each.role in {"retrieved", "scores"} for each in wanted) and convention != "relevances"
    for each in wanted:
        if each.role == "relevances" and ranks_ids:
            each.role = "gold"  # f(retrieved, relevances): grades by id
    ranks_grades = any(each.role == "relevances" for each in wanted)
    for each in wanted:
        shape = each.shape
        if each.role == "gold":
            forms: dict[str, Role] = {"dict": "gains", "set": "set", "list": "list", "number": "n-gold"}
            each.role = forms.get(shape, "gold")
            if ranks_grades:
                each.role = "n-gold" if shape == "number" else "ideal"
        elif each.role == "retrieved" and (shape == "dict" or convention == "scores"):
            each.role = "scores"
        elif each.role == "scores" and (shape == "list" or convention == "ids") and not ranks_ids:
            each.role = "relevances"


def _complete(wanted: list[_Parameter], convention: str) -> None:
    """Give the one parameter that is left the one part that is missing."""
    left = [each for each in wanted if each.role is None and not each.is_optional]
    has_ranking = any(each.role in {"retrieved", "scores", "relevances"} for each in wanted)
    has_gold = any(each.role in {"gold", "set", "list", "gains", "n-gold"} for each in wanted)
    if len(left) == 2 and not has_ranking and not has_gold:
        shapes = [each.shape for each in left]
        for place, shape in enumerate(shapes):
            if shape == "set" and shapes[1 - place] in {"list", ""}:
                left[place].role, left[1 - place].role = "set", "retrieved"
        return
    if len(left) != 1:
        return
    (only,) = left
    if only.shape == "number":
        only.role = "k"
    elif has_gold and not has_ranking:
        only.role = "scores" if only.shape == "dict" or convention == "scores" else "retrieved"
    elif has_ranking and not has_gold and not any(each.role == "relevances" for each in wanted):
        forms: dict[str, Role] = {"dict": "gains", "set": "set", "list": "list"}
        only.role = forms.get(only.shape, "gold")
    elif convention == "relevances" and not has_ranking:
        only.role = "relevances"


def _spelled(function: Callable[..., Any], listed: str, *, batch: bool) -> Calling:
    roles = [role.strip() for role in listed.split(",")]
    for role in roles:
        if role not in ROLES:
            msg = f"calls={listed!r}: {role!r} is nothing that a parameter can be given{did_you_mean(role, ROLES)}; "
            raise ParameterError(f"{msg}known are {', '.join(ROLES)}")
    try:
        wanted = list(_wanted(function))
    except ParameterError:  # it can be called all the same
        wanted = [_Parameter(role, None, is_optional=False, by_name=False) for role in roles]
    if len(roles) > len(wanted) or any(not each.is_optional for each in wanted[len(roles) :]):
        names = ", ".join(each.name for each in wanted)
        msg = f"calls={listed!r} names {len(roles)} parameters, and {_named(function)} takes ({names})"
        raise ParameterError(msg)
    pairs = tuple((each.name, cast("Role", role)) for each, role in zip(wanted, roles, strict=False))
    return Calling(pairs, batch=batch, by_name=frozenset(each.name for each in wanted if each.by_name))


def _shape(annotation: object) -> str:
    """Return what an annotation says of a value: dict, set, list, nested, text, number, or nothing."""
    if annotation is None or isinstance(annotation, str):
        return ""
    origin, inner = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in {typing.Union, types.UnionType}:
        shapes = {_shape(each) for each in inner if each is not types.NoneType}
        return shapes.pop() if len(shapes) == 1 else ""
    kind = origin or annotation
    if not isinstance(kind, type):
        return ""
    if issubclass(kind, int | float):
        return "number"
    for base, shape in _SHAPES:
        if issubclass(kind, base):
            if shape in {"list", "dict"} and inner and _shape(inner[-1]) in {"list", "set", "dict", "nested"}:
                return "nested"
            return shape
    return ""


def _named(function: Callable[..., Any]) -> str:
    return str(getattr(function, "__qualname__", type(function).__name__))


def _told(role: Role) -> str:
    return {"set": "set of relevant ids", "list": "list of relevant ids", "gains": "grades by id"}.get(role, role)
