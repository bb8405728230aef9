"""
Metrics from elsewhere: calling a function in its own convention.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any

from rankgauge.errors import ParameterError
from rankgauge.policy import Policy
from rankgauge.testing.calling import Calling, Role
from rankgauge.testing.cases import Case
from rankgauge.testing.subject import UnfitError

__all__ = ["ForeignSubject", "fit"]

_SLACK = 1e-9
_HUGE = 100_000
_FORMS: tuple[Role, ...] = ("set", "gains", "list")
_PROBE = Case((2.0, 1.0), (0, 2, 1))


@dataclass(frozen=True, eq=False)
class ForeignSubject:
    """
    A metric that was not written for rankgauge.

    Attributes:
        name: What reports call it.

        function: The function.

        calling: How it is called.

        range: The lowest and the highest score; None for no bound.

        higher_is_better: Whether more is better.
    """

    name: str
    function: Callable[..., Any]
    calling: Calling
    range: tuple[float | None, float | None] = (0.0, 1.0)
    higher_is_better: bool = True
    changed: dict[str, None] = field(default_factory=dict, init=False, repr=False)
    """The arguments that the function has changed so far."""

    @property
    def describes(self) -> bool:
        """Return that whatever has a score is taken for a judgment."""
        return False

    @property
    def takes_k(self) -> bool:
        """Return whether it is given a cutoff."""
        return self.calling.has("k")

    @property
    def sees_ids(self) -> bool:
        """Return whether it is given ids."""
        return self.calling.has("retrieved", "scores")

    @property
    def sees_repeats(self) -> bool:
        """Return whether it is given a list of ids, which may hold one twice."""
        return self.calling.has("retrieved")

    @property
    def sees_scores(self) -> bool:
        """Return whether it is given scores."""
        return self.calling.has("scores")

    @property
    def graded(self) -> bool:
        """Return whether it is given grades."""
        return self.calling.has("gains", "relevances", "ideal")

    @property
    def slack(self) -> float:
        """Return how much of rounding is forgiven: nobody promised the last bit."""
        return _SLACK

    @property
    def huge(self) -> int:
        """Return the highest cutoff that is tried; many a loop runs to it."""
        return _HUGE

    def score(self, case: Case, k: int, policy: Policy | str = "default") -> float | None:  # noqa: ARG002  # it has none
        """Return the score of a case, None where there is none; `UnfitError` when it fails."""
        if not self.calling.batch:
            return _number(self._call(self._arguments([case], k)))
        (found,) = self.over([case], k)[0] or [None]
        return found

    def over(self, cases: Sequence[Case], k: int) -> tuple[list[float | None] | None, float | None]:
        """Return the scores of a batch, or None and their mean where that is what the function returns."""
        returned = self._call(self._arguments(cases, k))
        if isinstance(returned, Mapping):
            returned = list(returned.values())
        if hasattr(returned, "tolist"):
            returned = returned.tolist()
        if not isinstance(returned, list | tuple):
            mean = _number(returned)
            return ([mean], mean) if len(cases) == 1 else (None, mean)
        if len(returned) != len(cases):
            msg = f"it returned {len(returned)} scores for {len(cases)} rankings"
            raise UnfitError(msg)
        return [_number(each) for each in returned], None

    def _arguments(self, cases: Sequence[Case], k: int) -> list[tuple[str, object]]:
        found: list[tuple[str, object]] = []
        for name, role in self.calling.roles:
            values = [k if role == "k" else _rendered(role, case) for case in cases]
            found.append((name, values if self.calling.batch and role != "k" else values[0]))
        return found

    def _call(self, arguments: list[tuple[str, object]]) -> object:
        """Call the function; what it is given must stay as it is, and whatever it raises is its failure."""
        before = deepcopy(arguments)
        by_name = {name: value for name, value in arguments if name in self.calling.by_name}
        try:
            returned = self.function(*(value for name, value in arguments if name not in by_name), **by_name)
        except (Exception, SystemExit) as error:
            msg = f"it raised {type(error).__name__}: {error}"
            raise UnfitError(msg) from error
        changed = [name for (name, was), (_, now) in zip(before, arguments, strict=True) if not _same(was, now)]
        self.changed.update(dict.fromkeys(changed))
        return returned


def fit(subject: ForeignSubject, *, spelled: bool = False) -> ForeignSubject:
    """
    Find the form of ground truth that a function can be given, and check that it can be called at all.

    Args:
        subject: The function, with what is known of its parameters.

        spelled: Whether it was said how to call it, so that only the form of the ground truth is tried.

    Returns:
        The subject, ready to be checked.

    Raises:
        ParameterError: It fails on the plainest case there is.
    """
    callings = [subject.calling]
    if subject.calling.has("gold"):
        callings = [subject.calling.with_gold(form) for form in _FORMS]
    if not subject.calling.batch and not spelled:  # nothing said so, and yet it may want a batch
        callings += [replace(calling, batch=True) for calling in callings]
    candidates = [replace(subject, calling=calling) for calling in callings]
    problems: list[str] = []
    for candidate in candidates:
        try:
            candidate.score(_PROBE, 2)
        except UnfitError as error:
            problems.append(f"given {candidate.calling}, {error}")
        else:
            return candidate
    msg = (
        f"cannot use {subject.name} as a metric; on a plain case it fails:\n  " + "\n  ".join(problems) + "\n"
        "say what its parameters are (--calls), or wrap it in a function of your own that returns one number"
    )
    raise ParameterError(msg)


def _rendered(role: Role, case: Case) -> object:
    relevant = {name: _whole(grade) for name, grade in case.gold.items() if grade > 0}
    match role:
        case "retrieved":
            return case.ids
        case "scores":
            scores = case.scores or [float(len(case.ranking) - place) for place in range(len(case.ranking))]
            return dict(zip(case.ids, scores, strict=True))
        case "relevances":
            return [_whole(max(0.0, case.grade(item))) for item in case.ranking]
        case "set":
            return set(relevant)
        case "list":
            return list(relevant)
        case "gains" | "gold":
            return relevant
        case "ideal":
            return sorted(relevant.values(), reverse=True)
        case "n-gold":
            return len(relevant)
        case "k":
            msg = "the cutoff is no part of a case"
    raise AssertionError(msg)


def _whole(grade: float) -> float:
    """Return a grade as qrels have it: an int where it is one."""
    return int(grade) if grade.is_integer() else grade


def _number(value: object) -> float | None:
    """Return a score as a float, None where there is none."""
    if isinstance(value, Mapping) and len(value) == 1:
        (value,) = value.values()
    if value is None:
        return None
    if isinstance(value, str | bytes) or not hasattr(value, "__float__"):
        msg = f"it returned {value!r}, which is no number"
        raise UnfitError(msg)
    try:
        number = float(value)
    except (TypeError, ValueError) as error:
        msg = f"it returned {value!r}, which is no number"
        raise UnfitError(msg) from error
    if math.isinf(number):
        msg = "it returned an infinite score"
        raise UnfitError(msg)
    return None if math.isnan(number) else number


def _same(one: object, other: object) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        return list(one.items()) == list(other.items())
    return one == other
