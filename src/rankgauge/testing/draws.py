"""
Draws: the strategies that cases are drawn from, and trying a law on many of them.

Everything is reproducible: hypothesis runs without its database, without a deadline, and from a fixed seed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import Flaky

from rankgauge.testing.cases import GRADES, HUGE, MOST_GOLD, Case
from rankgauge.testing.subject import MetricSubject
from rankgauge.testing.trial import BrokenError, Law, Trial

__all__ = ["broken_by", "case_and_k", "cases", "sample_cases", "texts"]

_MOST_ITEMS = 12


def _case(grades: Sequence[float], ranking: Sequence[int]) -> Case:
    return Case(tuple(grades), tuple(ranking))


def _ordinary(grades: Sequence[float], order: Sequence[int], depth: int) -> Case:
    return _case(grades, order[:depth])


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
_ORDINARY_PLAIN = st.builds(_ordinary, _PLAIN, _ORDERS, _DEPTHS)
_ORDINARY = st.builds(_ordinary, _GAINS, _ORDERS, _DEPTHS)
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


def sample_cases() -> st.SearchStrategy[list[tuple[Case, int | None]]]:
    """Return what the samples of a run are drawn from, some with a cutoff of their own."""
    return st.lists(st.tuples(_CASES, st.none() | _CUTOFFS), min_size=1, max_size=6)


_FOLDING = "aAbßẞ\u017fİ\u0131Σ\u03c3ς\u0345\u1fb3ﬁŉǅ \t\n\u00a0\u2003\u200b\x1c\ud800'\""
_PIECES = (
    *("a", " ", "b", "user: ", "User:", "assistant : ", "Date: 2023-05-20\n", "[20 May 2023] ", "2023-05-20", ":"),
    *("[", "]", "the cat", "sat ", "A", "é", "e\u0301", "漢字", "\U0001f600", "10", "3.5", "-", "...", "  ", "\n"),
    *("\u2003", "<b>", "</b>", "&amp;", "http://x.y/z", "\\", "\\n", '\\"', "\\u0041", "\\ud83d", "\x00"),
)


def texts() -> st.SearchStrategy[str]:
    """Return what texts are drawn from: any characters, letters that fold oddly, and pieces that tools look for."""
    return st.one_of(
        st.lists(st.sampled_from(_PIECES), max_size=8).map("".join),
        st.lists(st.sampled_from(_PIECES), min_size=1, max_size=3).map(lambda pieces: "".join(pieces) * 3),
        st.text("[]<>", max_size=6),
        st.text(_FOLDING, max_size=12),
        st.text("ab ", max_size=6),
        st.text(" \n", max_size=6),
        st.text(st.characters(exclude_categories=()), max_size=20),
    )


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
