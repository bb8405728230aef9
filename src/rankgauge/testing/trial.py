"""
`Trial`: one drawn case on its way through a law, and the record of what was observed on the way.
"""

from __future__ import annotations

from typing import Generic, TypeVar

from rankgauge.policy import Policy
from rankgauge.testing.cases import Case
from rankgauge.testing.report import Exhibit
from rankgauge.testing.subject import MetricSubject, UnfitError

__all__ = ["BrokenError", "MetricTrial", "Trial"]

S = TypeVar("S")


class BrokenError(AssertionError):
    """
    A law does not hold for a case.

    Attributes:
        reason: What is wrong.

        example: What was observed.
    """

    def __init__(self, reason: str, example: tuple[Exhibit, ...]) -> None:
        self.reason = reason
        self.example = example
        super().__init__(reason)


class Trial(Generic[S]):
    """
    One drawn case on its way through a law.

    Attributes:
        subject: What is checked.
    """

    def __init__(self, subject: S) -> None:
        """
        Begin.

        Args:
            subject: What is checked.
        """
        self.subject = subject
        self._seen: list[Exhibit] = []

    def note(self, **facts: object) -> None:
        """Keep an observation for the report."""
        self._seen.append(facts)

    def demand(self, holds: object, otherwise: str) -> None:
        """
        Go on where something holds.

        Args:
            holds: Whether it does.

            otherwise: What is wrong where it does not.

        Raises:
            BrokenError: It does not hold.
        """
        if not holds:
            raise BrokenError(otherwise, tuple(self._seen))


class MetricTrial(Trial[MetricSubject]):
    """One drawn case on its way through a law of metrics."""

    def score(self, case: Case, k: int, *, policy: Policy | str | None = None, note: str = "") -> float | None:
        """
        Score a case, and keep what came out.

        Args:
            case: The case.

            k: The cutoff, for metrics that have one.

            policy: The policy of the engine; of no effect elsewhere.

            note: What is special, for the report.

        Returns:
            The score; None where the metric has none.

        Raises:
            BrokenError: It failed.
        """
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
            self.demand(False, str(error))
            raise
        self.note(**facts, score="none" if value is None else value, note=note)
        return value

    def within_range(self, value: float | None) -> None:
        """Demand that a score lies within the declared range."""
        low, high = self.subject.range
        slack = self.subject.slack
        self.demand(
            value is None or low is None or value >= low - slack, f"{value!r} is below {low!r}, the least allowed"
        )
        self.demand(
            value is None or high is None or value <= high + slack, f"{value!r} is above {high!r}, the most allowed"
        )

    def same(self, one: float | None, other: float | None, what: str, *, exact: bool = True) -> None:
        """Demand that two scores are the same: to the last bit, where the subject promises that and *exact* is set."""
        if one is None or other is None or (exact and not self.subject.slack):
            self.demand(one == other, what)
            return
        self.demand(abs(one - other) <= max(self.subject.slack, 1e-12) * max(1.0, abs(one)), what)

    def at_most(self, one: float | None, other: float | None, what: str, *, exact: bool = True) -> None:
        """Demand that one score is not above another, and that both exist or neither does."""
        self.demand((one is None) == (other is None), "one of the two has no score")
        if one is not None and other is not None and one > other:
            slack = self.subject.slack if exact else max(self.subject.slack, 1e-12 * max(1.0, abs(other)))
            self.demand(one <= other + slack, what)

    def no_better(self, one: float | None, other: float | None, what: str, *, exact: bool = True) -> None:
        """Demand that one score is not better than another, and that both exist or neither does."""
        if self.subject.higher_is_better:
            self.at_most(one, other, what, exact=exact)
        else:
            self.at_most(other, one, what, exact=exact)


def _differing(policy: Policy | str) -> str:
    if isinstance(policy, str):
        return policy
    usual = str(Policy()).split()
    return " ".join(option for option in str(policy).split() if option not in usual) or "default"
