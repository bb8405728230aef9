"""
Cases on their way through laws: the strategies they are drawn from, and one trial with what was observed.

Everything is reproducible: hypothesis runs without its database, without a deadline, and from a fixed seed.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from typing import Any, Generic, NamedTuple, NoReturn, TypeVar

from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import Flaky

from rankgauge.base.guard import ForeignError, guarded, shown
from rankgauge.policy import Policy
from rankgauge.testing.report import Exhibit
from rankgauge.testing.subject import GRADES, HUGE, MOST_GOLD, Case, MetricSubject, UnfitError

__all__ = [
    "SAMPLES",
    "TEXTS",
    "BrokenError",
    "Law",
    "MetricTrial",
    "Strategies",
    "Trial",
    "broken_by",
    "case_and_k",
    "cases",
    "unless",
]

S = TypeVar("S")
R = TypeVar("R")
Strategies = tuple[st.SearchStrategy[Any], ...]

_MOST_ITEMS = 12


def _case(grades: Sequence[float], ranking: Sequence[int], depth: int | None = None) -> Case:
    return Case(tuple(grades), tuple(ranking[:depth]))


def _cut(case: Case, short: int) -> tuple[Case, int]:
    """Return a case with a cutoff within it: its depth, or up to seven less."""
    return case, max(1, len(case.ranking) - max(0, short - 4))


_GRADED = st.lists(st.sampled_from(GRADES), min_size=1, max_size=MOST_GOLD)
_RANKINGS = st.lists(st.integers(0, _MOST_ITEMS - 1), max_size=_MOST_ITEMS)
_CUTOFFS = st.sampled_from([1, 2, 3, 4, 5, 7, 10, 12, HUGE])

_PLAIN = st.lists(st.just(1.0), min_size=1, max_size=MOST_GOLD)
_GAINS = st.lists(st.sampled_from([1.0, 2.0, 3.0]), min_size=1, max_size=MOST_GOLD)
_ORDERS = st.permutations(range(9))
_DEPTHS = st.integers(1, 8)
_ORDINARY_PLAIN = st.builds(_case, _PLAIN, _ORDERS, _DEPTHS)
_ORDINARY = st.builds(_case, _GAINS, _ORDERS, _DEPTHS)
_CASES = st.one_of(_ORDINARY, st.builds(_case, _GRADED, _RANKINGS))


def cases(subject: MetricSubject) -> st.SearchStrategy[Case]:
    """
    Return what cases are drawn from.

    The engine takes anything: repeated items, gains of 0 and below, nothing retrieved. A function from elsewhere gets
    ordinary cases, so that an odd one comes only from the law that asks for it.
    """
    if not subject.slack:
        return _CASES
    return _ORDINARY if subject.graded else _ORDINARY_PLAIN


def case_and_k(subject: MetricSubject) -> st.SearchStrategy[tuple[Case, int]]:
    """Return what a case and a cutoff are drawn from; for a function from elsewhere, one within the list."""
    within = st.builds(_cut, cases(subject), st.integers(0, 11))
    return within if subject.slack else st.one_of(within, st.tuples(_CASES, _CUTOFFS))


SAMPLES = st.lists(st.tuples(_CASES, st.none() | _CUTOFFS), min_size=1, max_size=6)
"""What the samples of a run are drawn from, some with a cutoff of their own."""


_FOLDING = "aAbßẞ\u017fİ\u0131Σ\u03c3ς\u0345\u1fb3ﬁŉǅ \t\n\u00a0\u2003\u200b\x1c\ud800'\""
_PIECES = (
    *("a", " ", "b", "user: ", "User:", "assistant : ", "Date: 2023-05-20\n", "[20 May 2023] ", "2023-05-20", ":"),
    *("[", "]", "the cat", "sat ", "A", "é", "e\u0301", "漢字", "\U0001f600", "10", "3.5", "-", "...", "  ", "\n"),
    *("\u2003", "<b>", "</b>", "&amp;", "http://x.y/z", "\\", "\\n", '\\"', "\\u0041", "\\ud83d", "\x00"),
)


TEXTS = st.one_of(
    st.lists(st.sampled_from(_PIECES), max_size=8).map("".join),
    st.lists(st.sampled_from(_PIECES), min_size=1, max_size=3).map(lambda pieces: "".join(pieces) * 3),
    st.text("[]<>", max_size=6),
    st.text(_FOLDING, max_size=12),
    st.text("ab ", max_size=6),
    st.text(" \n", max_size=6),
    st.text(st.characters(exclude_categories=()), max_size=20),
)
"""What texts are drawn from: any characters, letters that fold oddly, and pieces that tools look for."""


class Law(NamedTuple):
    """
    How a law is checked.

    Attributes:
        check: Called with a trial and what was drawn.

        draw: Returns the strategies of the other arguments, for a subject; None where nothing is drawn.

        skip: Returns why the law does not apply to a subject; empty where it does.

        cost: How many times fewer cases are drawn than for a law of one ranking.
    """

    check: Callable[..., object]
    draw: Callable[[Any], Strategies] | None
    skip: Callable[[Any], str] = lambda _subject: ""
    cost: float = 1


def unless(fits: Callable[[Any], object], reason: str) -> Callable[[Any], str]:
    """Return what skips a law for that reason unless a subject fits."""
    return lambda subject: "" if fits(subject) else reason


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

    def forget(self, kept: int = 0) -> None:
        """Forget what was observed of values that turned out right, but for the first *kept* observations."""
        del self._seen[kept:]

    def lead_with(self, **facts: object) -> None:
        """Put observations with these facts before the others."""
        self._seen.sort(key=lambda seen: not facts.items() <= seen.items())

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
            with guarded():
                return call()
        except ForeignError as error:
            if facts:
                self.note(**facts)
            self.fail(f"{who} raised {error.told}")

    def repeats(self, call: Callable[[], object], between: Callable[[], object], otherwise: str) -> None:
        """Demand that a call always returns the same, whatever is called in between."""
        before = call()
        for _ in range(2):
            self.demand(before == call(), otherwise)
            between()

    def pickles(self, sent: object) -> None:
        """Demand that something can be sent to another process."""
        try:
            with guarded():
                restored = pickle.loads(pickle.dumps(sent))  # noqa: S301  # it was pickled on this very line
        except ForeignError as error:
            advice = "define the function at the top of a module, so that it can be found by its name"
            self.fail(f"{error.told}; {advice}")
        self.demand(type(restored) is type(sent), f"unpickling gives something else: {shown(restored)}")


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
        """Demand that the last score lies within the declared range."""
        low, high = self.subject.range
        slack = self.subject.slack
        if value is None:
            return
        before, self._seen = self._seen, self._seen[-1:]  # this one alone is to blame
        self.demand(low is None or value >= low - slack, f"{value!r} is below {low!r}, the lowest score allowed")
        self.demand(high is None or value <= high + slack, f"{value!r} is above {high!r}, the highest allowed")
        self._seen = before

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


def broken_by(rule: Law, trial: Callable[[], Trial[Any]], *, cases: int, shrink: bool = True) -> BrokenError | None:
    """Return what breaks a law, with the smallest example unless *shrink* is off; None where it holds for all cases."""
    if rule.draw is None:
        try:
            rule.check(trial())
        except BrokenError as error:
            return error
        return None
    broken: list[BrokenError] = []

    @seed(0)
    @settings(
        max_examples=max(5, int(cases / rule.cost)),
        phases=[Phase.explicit, Phase.generate, *([Phase.shrink] if shrink else [])],
        derandomize=True,
        database=None,
        deadline=None,
        report_multiple_bugs=False,
        print_blob=False,
        verbosity=Verbosity.quiet,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.tuples(*rule.draw(trial().subject)))
    def holds(drawn: tuple[Any, ...]) -> None:
        try:
            rule.check(trial(), *drawn)
        except BrokenError as error:
            broken.append(error)
            raise

    try:
        holds()
    except BrokenError as error:
        return error
    except Flaky:  # what broke the law did not break it again: the subject remembers
        first = broken[0]
        return BrokenError(f"{first.reason}; the same case does not give the same result each time", first.example)
    return None
