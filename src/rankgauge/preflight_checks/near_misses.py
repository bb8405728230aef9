"""
Near misses: the difference, such as case or a prefix, that keeps two sets of ids from matching.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

__all__ = ["NearMiss", "find_near_miss", "readable"]

_LEAST_SHARE = 0.1
"""The share of the ids of the smaller side that a difference has to explain."""

_ZEROS = re.compile(r"(?<![0-9.])0+(?=[0-9])")
_FRACTION = re.compile(r"(?<=[0-9])\.0+$")
_QUOTES = re.compile(r"^b?(['\"])(.+)\1$", re.DOTALL)
_PART = re.compile(r"[#_:.\-](?:(?:chunk|passage|segment|part|p|c)[_\-]?)?[0-9]+$", re.IGNORECASE)

_Change = Callable[[str], str]


class NearMiss(NamedTuple):
    """
    A difference that keeps ids from matching.

    Attributes:
        what: The difference, as a clause: ``they differ in case``.

        n_met: How many ids of the run would match without it.

        own: One of them, as the run has it.

        its: The same, as the judgments have it.
    """

    what: str
    n_met: int
    own: str
    its: str


def find_near_miss(run: Sequence[bytes], judged: Sequence[bytes], *, by_spelling: bool = False) -> NearMiss | None:
    """
    Return the difference that keeps most ids of a run from being ids of the judgments; None if it explains too few.

    *by_spelling* looks only at how an id is written, not at common prefixes and endings: for ids of which others match.
    """
    own, its = [readable(name) for name in run], [readable(name) for name in judged]
    best: NearMiss | None = None
    for what, change, its_change in _spellings() if by_spelling else _changes(own, its):
        places: dict[str, str] = {}
        for name in its:
            places.setdefault(its_change(name), name)
        places.pop("", None)
        met = [name for name in own if change(name) in places]
        if met and (best is None or len(met) > best.n_met):
            best = NearMiss(what, len(met), met[0], places[change(met[0])])
    if best is None or best.n_met < _LEAST_SHARE * min(len(own), len(its)):
        return None
    return best


def readable(name: bytes) -> str:
    """Return an id as text, whatever its bytes are."""
    return name.decode("utf-8", "backslashreplace")


def _spellings() -> Iterator[tuple[str, _Change, _Change]]:
    """Yield differences in how an id is written, with a function for each side that removes it, the simplest first."""
    for what, change in (
        ("they differ in upper and lower case", str.casefold),
        ("they differ in white space at the ends", str.strip),
        ("they differ in leading zeros", _without_zeros),
        ("one side writes whole numbers with a fraction, as `1.0`", _without_fraction),
        ("one side has quotes around its ids", _without_quotes),
        ("they differ in how Unicode composes letters (NFC, NFD)", _composed),
    ):
        yield what, change, change


def _changes(own: Sequence[str], its: Sequence[str]) -> Iterator[tuple[str, _Change, _Change]]:
    """Yield differences of every kind."""
    yield from _spellings()
    begins, its_begins = _beginning(own), _beginning(its)
    if begins != its_begins:
        what = f"the run's ids begin with {begins!r}, the judgments' with {its_begins!r}"
        yield _shortened(what.replace("with ''", "with no common prefix"), begins, its_begins, "", "")
    ends, its_ends = _ending(own), _ending(its)
    if ends != its_ends:
        what = f"the run's ids end with {ends!r}, the judgments' with {its_ends!r}"
        yield _shortened(what.replace("with ''", "with no common suffix"), "", "", ends, its_ends)
    yield "the run's ids name parts of documents, such as `doc#3`, the judgments' ids whole documents", _whole, _same
    yield "the judgments' ids name parts of documents, such as `doc#3`, the run's ids whole documents", _same, _whole
    what = "they differ in several ways at once (case, white space, zeros, quotes, prefix or ending)"
    _, cut, its_cut = _shortened("", begins, its_begins, ends, its_ends)
    yield what, lambda name: _loosened(cut(name)), lambda name: _loosened(its_cut(name))


def _shortened(what: str, begins: str, its_begins: str, ends: str, its_ends: str) -> tuple[str, _Change, _Change]:
    def own(name: str) -> str:
        return name.removeprefix(begins).removesuffix(ends)

    def its(name: str) -> str:
        return name.removeprefix(its_begins).removesuffix(its_ends)

    return what, own, its


def _beginning(names: Sequence[str]) -> str:
    return _common(names).rstrip("0123456789")


def _ending(names: Sequence[str]) -> str:
    return _common([name[::-1] for name in names])[::-1].lstrip("0123456789")


def _common(names: Sequence[str]) -> str:
    """Return the longest common prefix."""
    first, last = min(names, default=""), max(names, default="")
    return next((first[:at] for at, letter in enumerate(first) if not last.startswith(letter, at)), first)


def _without_zeros(name: str) -> str:
    return _ZEROS.sub("", name)


def _without_fraction(name: str) -> str:
    return _FRACTION.sub("", name)


def _without_quotes(name: str) -> str:
    return _QUOTES.sub(r"\2", name)


def _composed(name: str) -> str:
    return unicodedata.normalize("NFC", name)


def _whole(name: str) -> str:
    return _PART.sub("", name)


def _same(name: str) -> str:
    return name


def _loosened(name: str) -> str:
    return _without_zeros(_without_fraction(_without_quotes(_composed(name).strip()))).casefold()
