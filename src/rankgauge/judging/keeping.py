"""
Keeping: what stays of samples beside their judged rows, and how many results fit into a budget.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rankgauge.base.guard import ForeignError, guarded, shown
from rankgauge.catalog import Claim
from rankgauge.columns import Ints, Searched, Seen
from rankgauge.errors import counted
from rankgauge.expression import Unit
from rankgauge.judging.outputs import Ranking, prepare
from rankgauge.plugin.declarations import Tokenizer
from rankgauge.plugin.metric import Need
from rankgauge.policy import Profile
from rankgauge.samples import Fault, Output, Sample, Searches

__all__ = ["NOTHING", "Budget", "Fits", "Keep", "Keeper", "Lack", "Measure", "UncountedError", "in_words", "seen_of"]

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

    def fit(self, texts: Sequence[str | None], measure: Measure) -> int:
        """
        Return how many results from the top fit.

        For 10 tokens and texts of 4, 5, 3 and 1 tokens that is 2: the third does not fit whole, and nothing is taken
        from below it. With `partial` it is 3. Raises `UncountedError` for a text that is missing or cannot be counted.
        """
        used = 0
        length_of = len if self.tokenizer is None else measure.counter(self.tokenizer)
        for place, text in enumerate(texts):
            if text is None:
                if used >= self.amount:
                    return place
                raise UncountedError(f"a budget counts the text of every result; the item at rank {place + 1} has none")
            length = length_of(text)
            if used + length > self.amount:
                return place + (self.partial and used < self.amount)
            used += length
        return len(texts)


def in_words(amount: int, unit: Unit, tokenizer: str | None, *, partial: bool) -> str:
    """Return a budget as people say it, such as ``2,000 tokens by words``."""
    by = "" if tokenizer is None else f" by {tokenizer}"
    return f"{counted(amount, _NAMES[unit])}{by}{', with the result that begins inside' if partial else ''}"


class Fits(NamedTuple):
    """How many ranks of each sample of a batch fit into one budget."""

    ranks: Ints  # the number of ranks, 0 where nothing fits; shape (n,)
    faults: Mapping[int, str]  # why it is not known for a sample, by its place


class UncountedError(Exception):
    """A text that is missing, or that a tokenizer cannot count; the message is for users."""


class Measure:
    """Counts the tokens of texts, each distinct text once."""

    def __init__(self) -> None:
        self._counters: dict[Claim[Tokenizer], Callable[[str], int]] = {}

    def counter(self, tokenizer: Claim[Tokenizer]) -> Callable[[str], int]:
        """Return what counts the tokens of a text; it raises `UncountedError` where the tokenizer fails."""
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


_OF_RANKS: frozenset[Need] = frozenset({"texts", "ids", "scores", "searches"})
_OF_SAMPLES: frozenset[Need] = frozenset({"input", "answer", "metadata", "spent"})


class Keep(NamedTuple):
    """What to keep beside judged rows."""

    rankings: bool = False  # whether to keep what each sample retrieved, after policy
    needs: frozenset[Need] = frozenset()  # what metrics ask to see
    budgets: frozenset[Budget] = frozenset()  # budgets into which rankings are to be fitted


NOTHING = Keep()
"""Nothing but judged rows."""


class Lack(NamedTuple):
    """Something that a metric asked to see and a sample lacks, and the first rank that does, if it is of ranks."""

    need: Need
    rank: int | None

    @property
    def reason(self) -> str:
        """Return what is missing."""
        if self.need == "answer":
            return "needs the generated answer, and the output has none"
        return f"needs a {self.need.removesuffix('s')} for every retrieved item; the item at rank {self.rank} has none"


class Keeper:
    """Keeps what is asked for of one batch."""

    def __init__(self, keep: Keep, profile: Profile) -> None:
        self._keep = keep
        self._measure = Measure()
        self._ranks: dict[Budget, list[int]] = {budget: [] for budget in keep.budgets}
        self._unfit: dict[Budget, dict[int, str]] = {budget: {} for budget in keep.budgets}
        self._profile = profile
        self.rankings: list[Ranking | None] = []  # what each sample retrieved; empty unless asked for
        # what metrics see of each sample; None unless asked for
        self.shown: list[Seen] | None = [] if keep.needs & (_OF_RANKS | _OF_SAMPLES) else None
        self.lacks: dict[int, list[Lack]] = {}  # what of that a sample lacks, by its place

    def add(self, samples: Sequence[Sample], rankings: Sequence[Ranking | Fault | None], *, judged: str) -> None:
        """Take some more samples and what of each was *judged*: its `retrieved` items, or its `answer` as a ranking."""
        if self._keep.rankings:
            self.rankings += [each if isinstance(each, Ranking) else None for each in rankings]
        for budget in self._keep.budgets:
            self._fit(budget, rankings)
        if self.shown is None:
            return
        if judged == "answer" and self._keep.needs & _OF_RANKS:
            rankings = prepare(samples, self._profile, by="text")
        for sample, ranking in zip(samples, rankings, strict=True):
            seen, lacks = seen_of(sample, ranking if isinstance(ranking, Ranking) else None, self._keep.needs)
            if self._profile.missing_texts != "fail":
                lacks = [lack for lack in lacks if lack.need != "texts"]
            if lacks:
                self.lacks[len(self.shown)] = lacks
            self.shown.append(seen)

    @property
    def fits(self) -> dict[Budget, Fits]:
        """Return how many ranks of each sample fit into each budget."""
        return {
            budget: Fits(np.array(ranks, dtype=np.int64), self._unfit[budget]) for budget, ranks in self._ranks.items()
        }

    def _fit(self, budget: Budget, rankings: Sequence[Ranking | Fault | None]) -> None:
        ranks = self._ranks[budget]
        for ranking in rankings:
            texts: Sequence[str | None] = ()
            if isinstance(ranking, Ranking):
                texts = [None] * len(ranking.ids) if ranking.texts is None else ranking.texts
            try:
                ranks.append(budget.fit(texts, self._measure))
            except UncountedError as error:
                self._unfit[budget][len(ranks)] = str(error)
                ranks.append(0)


def seen_of(sample: Sample, ranking: Ranking | None, needs: frozenset[Need]) -> tuple[Seen, list[Lack]]:
    """Return what metrics see of a sample that was ranked so, and what of that it lacks."""
    ids = () if ranking is None else ranking.ids
    output = sample.output if isinstance(sample.output, Output) else None
    given: dict[str, Any] = {}
    lacks: list[Lack] = []
    if "texts" in needs:
        texts = [None] * len(ids) if ranking is None or ranking.texts is None else ranking.texts
        if None in texts:
            lacks.append(Lack("texts", texts.index(None) + 1))
        given["texts"] = tuple(text or "" for text in texts)
    if "ids" in needs:
        given["ids"] = tuple(ids)
    if "scores" in needs:
        scored = None if output is None else output.scores
        scores = [
            None if scored is None or ranking is None else scored[ranking.entry(rank)]
            for rank in range(1, len(ids) + 1)
        ]
        if None in scores:
            lacks.append(Lack("scores", scores.index(None) + 1))
        given["scores"] = tuple(float("nan") if score is None else float(score) for score in scores)
    if "answer" in needs:
        if output is not None and output.answer is None:
            lacks.append(Lack("answer", None))
        given["answer"] = "" if output is None else output.answer or ""
    if "spent" in needs:
        given["spent"] = (None if output is None else output.spent) or {}
    if "searches" in needs:
        given["searches"] = Searched() if output is None or ranking is None else _searched(output, ranking)
    others: Mapping[str, Any] = {"input": sample.input, "metadata": sample.metadata or {}}
    copied = {name: copy.deepcopy(value) for name, value in others.items() if name in needs}  # they are the caller's
    return Seen(given | copied), lacks


def _searched(output: Output, ranking: Ranking) -> Searched:
    """Return the searches behind a ranking."""
    nothing = [None] * len(output.ids)
    texts, searches = output.texts or nothing, output.searches or Searches(1, [1] * len(nothing))
    first: dict[object, int] = {}  # which search returned each item first
    places = zip(texts, output.places or nothing, strict=True)
    named = [name or place for name, place in zip(output.ids, places, strict=True)]
    repeated = [first.setdefault(name, number) < number for name, number in zip(named, searches.of_items, strict=True)]
    return Searched(
        searches.n,
        len(named),
        sum(repeated),
        None if None in texts else sum(map(len, filter(None, texts))),
        tuple(first[named[ranking.entry(rank)]] for rank in range(1, len(ranking.ids) + 1)),
    )
