"""
Near misses: the difference, such as case or a prefix, that keeps two sets of ids from matching.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from rankgauge.judging.ranking import shown

__all__ = ["NearMiss", "find_near_miss"]

_LEAST_SHARE = 0.1
"""The share of the ids of the smaller side that a difference has to explain."""

_Change = Callable[[str], str]

_without_zeros = partial(re.compile(r"(?<![0-9.])0+(?=[0-9])").sub, "")
_without_fraction = partial(re.compile(r"(?<=[0-9])\.0+$").sub, "")
_without_quotes = partial(re.compile(r"^b?(['\"])(.+)\1$", re.DOTALL).sub, r"\2")
_composed = partial(unicodedata.normalize, "NFC")
_whole = partial(re.compile(r"[#_:.\-](?:(?:chunk|passage|segment|part|p|c)[_\-]?)?[0-9]+$", re.IGNORECASE).sub, "")

_SPELLINGS: Sequence[tuple[str, _Change]] = (
    ("they differ in upper and lower case", str.casefold),
    ("they differ in white space at the ends", str.strip),
    ("they differ in leading zeros", _without_zeros),
    ("one side writes whole numbers with a fraction, as `1.0`", _without_fraction),
    ("one side has quotes around its ids", _without_quotes),
    ("they differ in how Unicode composes letters (NFC, NFD)", _composed),
)
"""Differences in how an id is written, with what removes each, the simplest first."""


class NearMiss(NamedTuple):
    """
    A difference that keeps ids from matching.

    Attributes:
        what: The difference, as a clause: ``they differ in case``; empty where none explains enough.

        n_met: How many ids of the run would match without it.

        own: One of them, as the run has it; without a difference the first id.

        its: The same, as the judgments have it.
    """

    what: str
    n_met: int
    own: str
    its: str

    @property
    def because(self) -> str:
        """Return the difference as the end of a sentence."""
        return f": {self.what}" if self.what else ""

    @property
    def examples(self) -> Sequence[str]:
        """Return the two ids as the example of a finding."""
        return (f"{self.own!r} and {self.its!r}",) if self.what else ()


def find_near_miss(run: Sequence[bytes], judged: Sequence[bytes], *, by_spelling: bool = False) -> NearMiss:
    """
    Return the difference that keeps most ids of a run from being ids of the judgments, if one explains enough of them.

    *by_spelling* looks only at how an id is written, not at common prefixes and endings: for ids of which others match.
    """
    own, its = list(map(shown, run)), list(map(shown, judged))
    none = best = NearMiss("", 0, next(iter(own), ""), next(iter(its), ""))
    for what, change, its_change in _changes(own, its, by_spelling=by_spelling):
        places: dict[str, str] = {}
        for name in its:
            places.setdefault(its_change(name), name)
        places.pop("", None)
        met = [name for name in own if change(name) in places]
        if len(met) > best.n_met:
            best = NearMiss(what, len(met), met[0], places[change(met[0])])
    return none if best.n_met < _LEAST_SHARE * min(len(own), len(its)) else best


def _changes(own: Sequence[str], its: Sequence[str], *, by_spelling: bool) -> Iterator[tuple[str, _Change, _Change]]:
    """Yield differences, with a function for each side that removes them."""
    for what, change in _SPELLINGS:
        yield what, change, change
    if by_spelling:
        return
    begins, its_begins = _beginning(own), _beginning(its)
    if begins != its_begins:
        what = f"the run's ids begin with {begins!r}, the judgments' with {its_begins!r}"
        what = what.replace("with ''", "with no common prefix")
        yield what, lambda name: name.removeprefix(begins), lambda name: name.removeprefix(its_begins)
    ends, its_ends = _ending(own), _ending(its)
    if ends != its_ends:
        what = f"the run's ids end with {ends!r}, the judgments' with {its_ends!r}"
        what = what.replace("with ''", "with no common suffix")
        yield what, lambda name: name.removesuffix(ends), lambda name: name.removesuffix(its_ends)
    yield "the run's ids name parts of documents, such as `doc#3`, the judgments' ids whole documents", _whole, str
    yield "the judgments' ids name parts of documents, such as `doc#3`, the run's ids whole documents", str, _whole
    what = "they differ in several ways at once (case, white space, zeros, quotes, prefix or ending)"
    yield what, partial(_loosened, begins, ends), partial(_loosened, its_begins, its_ends)


def _beginning(names: Sequence[str]) -> str:
    return _common(names).rstrip("0123456789")


def _ending(names: Sequence[str]) -> str:
    return _common([name[::-1] for name in names])[::-1].lstrip("0123456789")


def _common(names: Sequence[str]) -> str:
    """Return the longest common prefix."""
    first, last = min(names, default=""), max(names, default="")
    return next((first[:at] for at, letter in enumerate(first) if not last.startswith(letter, at)), first)


def _loosened(begins: str, ends: str, name: str) -> str:
    name = name.removeprefix(begins).removesuffix(ends)
    return _without_zeros(_without_fraction(_without_quotes(_composed(name).strip()))).casefold()
