"""
Metrics from elsewhere: reading how a function is called, and calling it in its own convention.

Nothing is guessed: parameters named like a role are given that, and for all others the caller says what they are.
"""

from __future__ import annotations

import inspect
import math
import types
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, cast

from rankgauge.base.guard import ForeignError, guarded
from rankgauge.catalog import Catalog
from rankgauge.columns import Judged, JudgedSample
from rankgauge.errors import ParameterError, did_you_mean
from rankgauge.features.testing.drawn_cases import Case
from rankgauge.features.testing.law import function_name
from rankgauge.features.testing.metric_subjects import MetricSubject, UnfitError
from rankgauge.policy import Policy

__all__ = ["ROLES", "BatchScores", "Calling", "ForeignMetric", "Role", "fit", "read_calling"]

Role = Literal["retrieved", "scores", "relevances", "gold", "set", "list", "gains", "ideal", "n-gold", "qrels", "k"]

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
        "qrels": "a dict from each judged id to its grade, those of grade 0 and below included",
        "n-gold": "how many items are relevant",
        "k": "the cutoff",
    }
)
"""What a parameter can be given, and what that is."""

Roles = tuple[tuple[str, Role], ...]
Parameters = list[inspect.Parameter] | None

_RANKINGS = ("retrieved", "scores", "relevances")
_FORMS: Mapping[Role, str] = {"set": "set of relevant ids", "gains": "grades by id", "list": "list of relevant ids"}
"""The forms of the ground truth, in the order in which they are tried."""

_SLACK = 1e-9
"""Rounding is forgiven: the last bit is not promised."""

_HUGE = 100_000
"""The highest cutoff that is tried; many functions loop up to it."""

_PROBE = Case((2.0, 1.0), (0, 2, 1))


@dataclass(frozen=True, slots=True)
class Calling:
    """
    How a function is called.

    Attributes:
        roles: What each parameter is given, in order, by its name.

        batch: Whether it takes lists of everything but the cutoff.

        by_name: The parameters that can only be given by name.
    """

    roles: Roles
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
    written = (calls or "").strip().lower()
    if written == "sample":
        return "sample"
    parameters = _parameters(function)
    if not written and parameters and parameters[0].annotation in {JudgedSample, Judged}:
        return "sample" if parameters[0].annotation is JudgedSample else "judged"
    listed = written.removeprefix("batch:")
    roles = _roles_listed(function, listed, parameters) if written else _roles_by_name(function, parameters)
    by_name = frozenset(one.name for one in parameters or () if one.kind is inspect.Parameter.KEYWORD_ONLY)
    return Calling(roles, batch=listed != written, by_name=by_name)


def _parameters(function: Callable[..., Any]) -> Parameters:
    """Return the parameters without ``*args`` and ``**kwargs``; None if they cannot be read, as of some C code."""
    try:
        with guarded():
            signature = inspect.signature(function, eval_str=True)
    except ForeignError:  # annotations may be any text
        try:
            signature = inspect.signature(function)
        except (TypeError, ValueError):
            return None
    stars = {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}
    return [parameter for parameter in signature.parameters.values() if parameter.kind not in stars]


def _roles_by_name(function: Callable[..., Any], parameters: Parameters) -> Roles:
    """Give each parameter what its name says, and leave out those that have a default and another name."""
    roles = {one.name: _role(one.name.lower().replace("_", "-")) for one in parameters or ()}
    given = tuple((name, role) for name, role in roles.items() if role is not None)
    unknown = [one.name for one in parameters or () if roles[one.name] is None and one.default is one.empty]
    if parameters is None:
        problem = "its parameters cannot be read"
    elif unknown:
        problem = f"no role is named {', '.join(map(repr, unknown))}"
    elif not any(role in _RANKINGS for _, role in given):
        problem = "no parameter is named like a ranking"
    else:
        return given
    example = ",".join(role or "..." for role in roles.values()) or "retrieved,gold,k"
    raise ParameterError(
        f"cannot tell how to call {function_name(function)}({', '.join(roles)}): {problem}. "
        f"Give calls={example!r} (--calls on the command line), the role of each parameter in order; "
        f"roles are {', '.join(ROLES)}. Set any other parameter with functools.partial or in a function of your own"
    )


def _roles_listed(function: Callable[..., Any], listed: str, parameters: Parameters) -> Roles:
    """Give the parameters what the caller says, in order; those with a default may be left out at the end."""
    roles: list[Role] = []
    written = [name.strip() for name in listed.split(",")]
    for name in written:
        role = _role(name)
        if role is None:
            raise ParameterError(
                f"calls={listed!r}: {name!r} is not a role{did_you_mean(name, ROLES)}; "
                f"give the role of each parameter in order, such as retrieved,gold,k, of {', '.join(ROLES)}; "
                "batch: before them for lists of rankings; or sample for a function of one JudgedSample"
            )
        roles.append(role)
    if parameters is None:
        return tuple(zip(written, roles, strict=True))
    names = [one.name for one in parameters]
    if len(roles) > len(names) or any(one.default is one.empty for one in parameters[len(roles) :]):
        takes = f"{function_name(function)} takes ({', '.join(names)})"
        raise ParameterError(f"calls={listed!r} names {len(roles)} parameters, but {takes}")
    return tuple(zip(names, roles, strict=False))


def _role(name: str) -> Role | None:
    if name == "relevant":
        return "gold"
    return cast("Role", name) if name in ROLES else None


class BatchScores(NamedTuple):
    """The scores of a batch, or their mean if that is what a function returns."""

    scores: list[float | None] | None
    mean: float | None = None


@dataclass(frozen=True, eq=False)
class ForeignMetric:
    """
    A metric that was not written for rankgauge, and is called as it is.

    Attributes:
        function: The function.

        calling: How it is called.

        changed: The arguments that the function has changed so far.
    """

    function: Callable[..., Any]
    calling: Calling
    changed: dict[str, None] = field(default_factory=dict, init=False, repr=False)

    def subject(
        self, bounds: tuple[float | None, float | None], catalog: Catalog, *, higher_is_better: bool
    ) -> MetricSubject:
        """Return the metric as the laws see it."""
        has = self.calling.has
        return MetricSubject(
            name=function_name(self.function),
            scorer=self,
            function=self.function,
            range=bounds,
            higher_is_better=higher_is_better,
            takes_k=has("k"),
            sees_ids=has("retrieved", "scores"),
            sees_repeats=has("retrieved"),
            sees_scores=has("scores"),
            graded=has("gains", "relevances", "ideal"),
            slack=_SLACK,
            catalog=catalog,
            huge=_HUGE,
        )

    def score(self, case: Case, k: int, policy: Policy | str = "default") -> float | None:  # noqa: ARG002  # it has none
        """Return the score of a case, None if there is none; raise `UnfitError` when it fails."""
        if not self.calling.batch:
            return _number(self._call(self._arguments([case], k)))
        (score,) = self.over([case], k).scores or [None]
        return score

    def over(self, cases: Sequence[Case], k: int) -> BatchScores:
        """Return what the function makes of a batch."""
        returned = self._call(self._arguments(cases, k))
        if isinstance(returned, Mapping):
            returned = list(returned.values())
        if hasattr(returned, "tolist"):
            returned = returned.tolist()
        if not isinstance(returned, list | tuple):
            mean = _number(returned)
            return BatchScores([mean] if len(cases) == 1 else None, mean)
        if len(returned) != len(cases):
            raise UnfitError(f"it returned {len(returned)} scores for {len(cases)} rankings")
        return BatchScores([_number(score) for score in returned])

    def _arguments(self, cases: Sequence[Case], k: int) -> list[tuple[str, object]]:
        arguments: list[tuple[str, object]] = []
        for name, role in self.calling.roles:
            values = [_rendered(role, case, k) for case in cases]
            arguments.append((name, values if self.calling.batch and role != "k" else values[0]))
        return arguments

    def _call(self, arguments: list[tuple[str, object]]) -> object:
        """Call the function, and keep which arguments it changed."""
        before = deepcopy(arguments)
        by_name = {name: value for name, value in arguments if name in self.calling.by_name}
        try:
            with guarded():
                returned = self.function(*(value for name, value in arguments if name not in by_name), **by_name)
        except ForeignError as error:
            raise UnfitError(f"it raised {error.told}") from error
        changed = [name for (name, was), (_, now) in zip(before, arguments, strict=True) if not _same(was, now)]
        self.changed.update(dict.fromkeys(changed))
        return returned


def fit(function: Callable[..., Any], calling: Calling) -> ForeignMetric:
    """Find the form of ground truth that a function takes; raise `ParameterError` if it fails on the plainest case."""
    callings = [calling.with_gold(form) for form in _FORMS] if calling.has("gold") else [calling]
    problems: list[str] = []
    for variant in callings:
        metric = ForeignMetric(function, variant)
        try:
            metric.score(_PROBE, 2)
        except UnfitError as error:
            problems.append(f"given {variant}, {error}")
        else:
            return metric
    advice = (
        "say what its parameters are (calls=, or --calls on the command line; batch: before them for lists of "
        "rankings), or wrap it in a function of your own that returns one number"
    )
    what = f"cannot use {function_name(function)} as a metric; on a plain case it fails:"
    raise ParameterError("\n".join([what, *(f"  {problem}" for problem in problems), advice]))


def _rendered(role: Role, case: Case, k: int) -> object:
    judged = {name: _whole(grade) for name, grade in case.gold.items()}
    relevant = {name: grade for name, grade in judged.items() if grade > 0}
    scores = case.scores or map(float, range(len(case.ids), 0, -1))
    forms: dict[Role, object] = {
        "retrieved": case.ids,
        "scores": dict(zip(case.ids, scores, strict=True)),
        "relevances": [_whole(max(0.0, case.grade(item))) for item in case.ranking],
        "set": set(relevant),
        "list": list(relevant),
        "gains": relevant,
        "gold": relevant,
        "qrels": judged,
        "ideal": sorted(relevant.values(), reverse=True),
        "n-gold": len(relevant),
        "k": k,
    }
    return forms[role]


def _whole(grade: float) -> float:
    """Return a grade as qrels have it: an int if it is one."""
    return int(grade) if grade.is_integer() else grade


def _number(value: object) -> float | None:
    """Return a score as a float, None if there is none."""
    if isinstance(value, Mapping) and len(value) == 1:
        (value,) = value.values()
    if value is None:
        return None
    try:
        number = value.__float__()  # type: ignore[attr-defined]  # float() would read text, too; no method: not a number
    except (AttributeError, TypeError, ValueError) as error:
        raise UnfitError(f"it returned {value!r}, which is not a number") from error
    if math.isinf(number):
        raise UnfitError("it returned an infinite score")
    return None if math.isnan(number) else number


def _same(one: object, other: object) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        return list(one.items()) == list(other.items())  # their order counts
    return one == other
