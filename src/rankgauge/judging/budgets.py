"""
Budgets: cutoffs in tokens or characters of texts, and how many results fit into one.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rankgauge.base.guard import ForeignError, guarded, shown
from rankgauge.catalog import Claim
from rankgauge.catalog.claims import OWN
from rankgauge.columns import Ints
from rankgauge.errors import counted
from rankgauge.expression import Unit
from rankgauge.plugin.declarations import Tokenizer

__all__ = ["Budget", "Fit", "Fits", "Measure", "UncountedError", "in_words", "is_counted_at_blanks"]

_NAMES: Mapping[Unit, str] = {"tok": "token", "char": "character"}


@dataclass(frozen=True, slots=True)
class Budget:
    """A cutoff that is counted in tokens or characters of the retrieved texts, and not in ranks."""

    amount: int  # how many, 1 or more
    unit: Unit  # of what
    tokenizer: Claim[Tokenizer] | None  # what counts tokens; None for characters
    partial: bool = False  # whether a result that begins inside the budget and ends outside counts

    def __str__(self) -> str:
        by = None if self.tokenizer is None else self.tokenizer.declaration.name
        return in_words(self.amount, self.unit, by, partial=self.partial)

    def fit(self, texts: Sequence[str | None], measure: Measure) -> Fit:
        """
        Return how many results from the top fit, and where they end if that is before the budget.

        For 10 tokens and texts of 4, 5, 3 and 1 tokens that is 2: the third does not fit whole, and nothing is taken
        from below it. With `partial` it is 3. Texts of 4 and 2 tokens end at 6, and a third of their average length,
        3, would have fitted. Raises `UncountedError` for a text that is missing or cannot be counted.
        """
        used = 0
        length_of = len if self.tokenizer is None else measure.counter(self.tokenizer)
        for place, text in enumerate(texts):
            if text is None:
                if used >= self.amount:
                    return Fit(place)
                raise UncountedError(f"a budget counts the text of every result; the item at rank {place + 1} has none")
            length = length_of(text)
            if used + length > self.amount:
                return Fit(place + (self.partial and used < self.amount))
            used += length
        if used >= self.amount:
            return Fit(len(texts))
        another = 0.0 if self.partial or not texts else used / len(texts)
        return Fit(len(texts), used, used + another <= self.amount)


def in_words(amount: int, unit: Unit, tokenizer: str | None, *, partial: bool) -> str:
    """Return a budget as people say it, such as ``2,000 tokens by words``."""
    by = "" if tokenizer is None else f" by {tokenizer}"
    return f"{counted(amount, _NAMES[unit])}{by}{', with the result that begins inside' if partial else ''}"


class Fit(NamedTuple):
    """How many ranks of one list fit into a budget, and where the list ends."""

    ranks: int
    end: int | None = None  # after how many tokens, or characters, it ends before the budget; None if it does not
    is_short: bool = False  # whether another result of its average length would have fitted


class Fits(NamedTuple):
    """How the rankings of a batch fit into one budget."""

    ranks: Ints  # the number of ranks, 0 if nothing fits; shape (n,)
    ends: Mapping[int, int]  # where it ends before the budget, by its place
    short: frozenset[int]  # those of them in which another result of average length would have fitted
    faults: Mapping[int, str]  # why it is not known for a sample, by its place
    unspaced: frozenset[int] = frozenset()  # samples with texts whose words have no blanks between, counted at blanks


def is_counted_at_blanks(budget: Budget) -> bool:
    """Return whether a budget counts as a token what is between blanks."""
    claim = budget.tokenizer
    return claim is not None and claim.provider.distribution == OWN and claim.declaration.name == "words"


class UncountedError(Exception):
    """A text that is missing, or that a tokenizer cannot count; the message is for users."""


class Measure:
    """Counts the tokens of texts, each distinct text once."""

    def __init__(self) -> None:
        self._counters: dict[Claim[Tokenizer], Callable[[str], int]] = {}

    def counter(self, tokenizer: Claim[Tokenizer]) -> Callable[[str], int]:
        """Return what counts the tokens of a text; it raises `UncountedError` if the tokenizer fails."""
        if tokenizer not in self._counters:
            self._counters[tokenizer] = functools.cache(functools.partial(_counted, tokenizer))
        return self._counters[tokenizer]


def _counted(tokenizer: Claim[Tokenizer], text: str) -> int:
    count: Callable[[str], object] = tokenizer.declaration.function
    try:
        with guarded():
            found = count(text)
    except ForeignError as error:
        raise UncountedError(f"{_told(tokenizer)} failed: {error}") from error
    if isinstance(found, bool) or not isinstance(found, int) or found < 0:
        raise UncountedError(f"{_told(tokenizer)} returned {shown(found)} for a text, not how many tokens it has")
    return found


def _told(tokenizer: Claim[Tokenizer]) -> str:
    return f"tokenizer {tokenizer.declaration.name!r} (by {tokenizer.provider})"
