"""
`Law` and `Trial`: how a law is checked, and one drawn case on its way through it, with what was observed.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any, Generic, NamedTuple, NoReturn, TypeVar

from hypothesis.strategies import SearchStrategy

from rankgauge.policy import Policy
from rankgauge.testing.cases import Case
from rankgauge.testing.report import Exhibit
from rankgauge.testing.subject import MetricSubject, UnfitError

__all__ = ["BrokenError", "Law", "MetricTrial", "Strategies", "Trial"]

S = TypeVar("S")
R = TypeVar("R")
Strategies = tuple[SearchStrategy[Any], ...]


class Law(NamedTuple):
    """
    How a law is checked.

    Attributes:
        check: Called with a trial and what was drawn.

        draw: Returns the strategies of the other arguments, for a subject; None where nothing is drawn.

        skip: Returns why the law does not apply to a subject; empty where it does.

        cost: How many times fewer cases are drawn than for a law of one ranking.
    """

    check: Callable[..., None]
    draw: Callable[[Any], Strategies] | None
    skip: Callable[[Any], str] = lambda _subject: ""
    cost: float = 1


class BrokenError(AssertionError):
    """A law does not hold for a case: what is wrong, and what was observed."""

    def __init__(self, reason: str, example: tuple[Exhibit, ...]) -> None:
        self.reason = reason
        self.example = example
        super().__init__(reason)


class Trial(Generic[S]):
    """One drawn case on its way through a law."""

    def __init__(self, subject: S) -> None:
        self.subject = subject
        self._seen: list[Exhibit] = []

    def note(self, **facts: object) -> None:
        """Keep an observation for the report."""
        self._seen.append(facts)

    def fail(self, reason: str) -> NoReturn:
        """Raise `BrokenError` with what was observed."""
        raise BrokenError(reason, tuple(self._seen))

    def demand(self, holds: object, otherwise: str) -> None:
        """Fail with the reason *otherwise* unless something holds."""
        if not holds:
            self.fail(otherwise)

    def attempt(self, call: Callable[[], R], facts: Exhibit, who: str = "it") -> R:
        """Call plugin code, and fail where it raises, with *facts* in the report."""
        try:
            return call()
        except (Exception, SystemExit) as error:  # noqa: BLE001  # plugin code may raise anything
            if facts:
                self.note(**facts)
            self.fail(f"{who} raised {type(error).__name__}: {error}")

    def pickles(self, sent: object) -> None:
        """Demand that something can be sent to another process."""
        try:
            restored = pickle.loads(pickle.dumps(sent))  # noqa: S301  # it was pickled on this very line
        except Exception as error:  # noqa: BLE001  # objects may raise anything
            advice = "define the function at the top of a module, so that it can be found by its name"
            self.fail(f"{type(error).__name__}: {error}; {advice}")
        self.demand(type(restored) is type(sent), f"unpickling gives something else: {restored!r}")


class MetricTrial(Trial[MetricSubject]):
    """One drawn case on its way through a law of metrics."""

    def score(self, case: Case, k: int, *, policy: Policy | str | None = None, note: str = "") -> float | None:
        """Score a case, and keep what came out for the report; a metric that fails breaks the law."""
        facts: dict[str, object] = {"gold": case.gold, "retrieved": case.ids}
        if case.scores is not None:
            facts["scores"] = list(case.scores)
        if self.subject.takes_k:
            facts["k"] = k
        if policy is not None and policy != "default":
            note = f"{note}, policy {_differing(policy)}".removeprefix(", ")
        try:
            value = self.subject.score(case, k, policy or "default")
        except UnfitError as error:
            self.note(**facts, note=note)
            self.fail(str(error))
        self.note(**facts, score="none" if value is None else value, note=note)
        return value

    def within_range(self, value: float | None) -> None:
        """Demand that a score lies within the declared range."""
        low, high = self.subject.range
        slack = self.subject.slack
        if value is not None:
            self.demand(low is None or value >= low - slack, f"{value!r} is below {low!r}, the lowest score allowed")
            self.demand(high is None or value <= high + slack, f"{value!r} is above {high!r}, the highest allowed")

    def same(self, one: float | None, other: float | None, what: str, *, exact: bool = True) -> None:
        """Demand that two scores are the same: to the last bit, where the subject promises that and *exact* is set."""
        if one is None or other is None or (exact and not self.subject.slack):
            self.demand(one == other, what)
        else:
            self.demand(abs(one - other) <= max(self.subject.slack, 1e-12) * max(1.0, abs(one)), what)

    def at_most(self, one: float | None, other: float | None, what: str, *, exact: bool = True) -> None:
        """Demand that one score is not above another, and that both exist or neither does."""
        self.demand((one is None) == (other is None), "one of the two has no score")
        if one is not None and other is not None and one > other:
            slack = self.subject.slack if exact else max(self.subject.slack, 1e-12 * max(1.0, abs(other)))
            self.demand(one <= other + slack, what)

    def no_better(self, one: float | None, other: float | None, what: str, *, exact: bool = True) -> None:
        """Demand that one score is not better than another, and that both exist or neither does."""
        lower, higher = (one, other) if self.subject.higher_is_better else (other, one)
        self.at_most(lower, higher, what, exact=exact)


def _differing(policy: Policy | str) -> str:
    if isinstance(policy, str):
        return policy
    usual = str(Policy()).split()
    return " ".join(option for option in str(policy).split() if option not in usual) or "default"
