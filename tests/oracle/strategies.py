"""Hypothesis strategies for rankings, gold and cutoffs, made so that hits and duplicates are frequent."""

from typing import Final

from hypothesis import strategies as st

IDS: Final = (
    "doc-1",
    "doc-2",
    "doc-10",
    "Doc-1",
    "1",
    "01",
    "10",
    "2024",
    "two words",
    "two  words",
    "é",
    "e\u0301",
    "straße",
    "文書",
    "документ 7",
    "🔎",
)
"""The alphabet of ids: some differ only in case, spacing, a leading zero or Unicode composition, and none is equal."""

MAX_DEPTH: Final = 25
MAX_GOLD: Final = 8
HUGE_CUTOFF: Final = 10**9

GRADES: Final[tuple[float, ...]] = (1, 2, 3, 4, 0.5, 1.25, 2.75, 0, -1)
"""The gains that graded gold is drawn from, whole numbers as int on purpose."""


def _rankings_of(ids: st.SearchStrategy[str]) -> st.SearchStrategy[list[str]]:
    """Return a strategy for rankings over the given ids, duplicates allowed, mostly deep enough to cut."""
    sized = [st.lists(ids, min_size=least, max_size=MAX_DEPTH) for least in (0, 3, 10)]
    return st.one_of(sized)


def _golds_of(ids: st.SearchStrategy[str], *, graded: bool) -> st.SearchStrategy[dict[str, float]]:
    """Return a strategy for gold over the given ids, mostly not empty."""
    gains: st.SearchStrategy[float] = st.sampled_from(GRADES) if graded else st.just(1.0)
    filled = st.dictionaries(ids, gains, min_size=1, max_size=MAX_GOLD)
    return st.one_of(filled, filled, st.dictionaries(ids, gains, max_size=MAX_GOLD))


def rankings() -> st.SearchStrategy[list[str]]:
    """Return a strategy for rankings of 0 to 25 ids, with later duplicates left in."""
    return _rankings_of(st.sampled_from(IDS))


def golds(*, graded: bool = True) -> st.SearchStrategy[dict[str, float]]:
    """Return a strategy for gold of 0 to 8 ids; ungraded gold gives every id a gain of 1."""
    return _golds_of(st.sampled_from(IDS), graded=graded)


def cutoffs() -> st.SearchStrategy[int]:
    """Return a strategy for cutoffs: mostly 1 to 30, small ones more often, and sometimes far beyond any ranking."""
    return st.one_of(st.integers(1, 5), st.integers(1, 30), st.integers(1, 30), st.just(HUGE_CUTOFF))


@st.composite
def cases(draw: st.DrawFn, *, graded: bool = True) -> tuple[list[str], dict[str, float]]:
    """Draw a ranking and a gold from one part of the alphabet, so that they mostly share ids."""
    part = draw(st.lists(st.sampled_from(IDS), min_size=4, max_size=len(IDS), unique=True))
    ids = st.sampled_from(part)
    return draw(_rankings_of(ids)), draw(_golds_of(ids, graded=graded))
