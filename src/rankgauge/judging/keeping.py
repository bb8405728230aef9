"""
Keeping: what stays of samples beside their judged rows, for metrics that ask to see it and for reports.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from rankgauge.columns import Judged, Searched, Seen
from rankgauge.judging.budgets import Budget, Fit, Fits, Measure, UncountedError, is_counted_at_blanks
from rankgauge.judging.outputs import Ranking, prepare
from rankgauge.plugin.metric import Need
from rankgauge.policy import Profile
from rankgauge.samples import Fault, Output, Sample, Searches
from rankgauge.samples.unread_keys import maybe_metadata

__all__ = ["NOTHING", "NOTHING_KEPT", "Keep", "Keeper", "Kept", "Lack"]

_OF_RANKS: frozenset[Need] = frozenset({"texts", "ids", "scores", "result_metadata", "searches"})
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
    hint: str = ""  # where else it may be

    @property
    def reason(self) -> str:
        """Return what is missing."""
        if self.need == "answer":
            return "needs the generated answer, and the output has none"
        what = f"a {self.need.removesuffix('s')} for"
        if self.need == "result_metadata":
            what = "the metadata of"
        return f"needs {what} every retrieved item; the item at rank {self.rank} has none{self.hint}"


class Kept(NamedTuple):
    """What was kept of a batch; empty unless asked for."""

    rankings: Sequence[Ranking | None] = ()  # what each sample retrieved, after policy, None if there is nothing
    lacks: Mapping[int, Sequence[Lack]] = MappingProxyType({})  # what metrics asked to see and a sample lacks
    fits: Mapping[Budget, Fits] = MappingProxyType({})  # how many ranks of each sample fit into each budget


NOTHING_KEPT = Kept()


class Keeper:
    """Keeps what is asked for of one batch."""

    def __init__(self, keep: Keep, profile: Profile) -> None:
        self._keep = keep
        self._measure = Measure()
        self._fitted: dict[Budget, list[Fit]] = {budget: [] for budget in keep.budgets}
        self._unfit: dict[Budget, dict[int, str]] = {budget: {} for budget in keep.budgets}
        self._unspaced: dict[Budget, set[int]] = {budget: set() for budget in keep.budgets}
        self._profile = profile
        self._rankings: list[Ranking | None] = []
        # what metrics see of each sample; None unless asked for
        self._shown: list[Seen] | None = [] if keep.needs & (_OF_RANKS | _OF_SAMPLES) else None
        self._lacks: dict[int, list[Lack]] = {}

    def add(self, samples: Sequence[Sample], rankings: Sequence[Ranking | Fault | None], *, judged: str) -> None:
        """Take some more samples and what of each was *judged*: its `retrieved` items, or its `answer` as a ranking."""
        if self._keep.rankings:
            self._rankings += [each if isinstance(each, Ranking) else None for each in rankings]
        for budget in self._keep.budgets:
            self._fit(budget, rankings)
        if self._shown is None:
            return
        if judged == "answer" and self._keep.needs & _OF_RANKS:
            rankings = prepare(samples, self._profile, by="text")
        for sample, ranking in zip(samples, rankings, strict=True):
            seen, lacks = _seen_of(sample, ranking if isinstance(ranking, Ranking) else None, self._keep.needs)
            if self._profile.missing_texts != "fail":
                lacks = [lack for lack in lacks if lack.need != "texts"]
            if lacks:
                self._lacks[len(self._shown)] = lacks
            self._shown.append(seen)

    @property
    def is_idle(self) -> bool:
        """Return whether nothing of samples is asked for."""
        return not self._keep.rankings and not self._keep.budgets and self._shown is None

    def shown_in(self, judged: Judged) -> Judged:
        """Return judged columns with what metrics asked to see."""
        return judged if self._shown is None else replace(judged, shown=self._shown)

    def kept(self) -> Kept:
        """Return what was kept beside the columns."""
        fits = {
            budget: Fits(
                np.array([fit.ranks for fit in fitted], dtype=np.int64),
                {place: fit.end for place, fit in enumerate(fitted) if fit.end is not None},
                frozenset(place for place, fit in enumerate(fitted) if fit.is_short),
                self._unfit[budget],
                frozenset(self._unspaced[budget]),
            )
            for budget, fitted in self._fitted.items()
        }
        return Kept(self._rankings, self._lacks, fits)

    def _fit(self, budget: Budget, rankings: Sequence[Ranking | Fault | None]) -> None:
        fitted = self._fitted[budget]
        for ranking in rankings:
            texts: Sequence[str | None] = ()
            if isinstance(ranking, Ranking):
                texts = [None] * len(ranking.ids) if ranking.texts is None else ranking.texts
            if is_counted_at_blanks(budget) and any(text and not text.isascii() for text in texts):
                from rankgauge.matchers.script_words import is_mostly_unspaced  # judging by id does without matchers

                if any(map(is_mostly_unspaced, filter(None, texts))):
                    self._unspaced[budget].add(len(fitted))
            try:
                fitted.append(budget.fit(texts, self._measure))
            except UncountedError as error:
                self._unfit[budget][len(fitted)] = str(error)
                fitted.append(Fit(0))


_COLUMNS: Mapping[Need, Any] = {"texts": "", "scores": float("nan"), "result_metadata": {}}
"""What metrics see of each rank, and what they see where a result has none."""


def _column(need: Need, ranking: Ranking, output: Output | None) -> list[Any]:
    """Return what each rank has of a need, None for a result that has none."""
    if need == "texts":
        return list(ranking.texts or [None] * len(ranking.ids))
    values: Sequence[Any] | None = output and (output.scores if need == "scores" else output.metadata)
    if values is None:
        return [None] * len(ranking.ids)
    listed = [values[ranking.entry(rank)] for rank in range(1, len(ranking.ids) + 1)]
    return [None if value is None else float(value) for value in listed] if need == "scores" else listed


def _seen_of(sample: Sample, ranking: Ranking | None, needs: frozenset[Need]) -> tuple[Seen, list[Lack]]:
    """Return what metrics see of a sample that was ranked so, and what of that it lacks."""
    ids = () if ranking is None else ranking.ids
    output = sample.output if isinstance(sample.output, Output) else None
    given: dict[str, Any] = {}
    lacks: list[Lack] = []
    if "ids" in needs:
        given["ids"] = tuple(ids)
    for need in filter(needs.__contains__, _COLUMNS):
        column = [] if ranking is None else _column(need, ranking, output)
        if None in column:
            hint = maybe_metadata(output.unread) if output is not None and need == "result_metadata" else ""
            lacks.append(Lack(need, column.index(None) + 1, hint))
        given[need] = tuple(_COLUMNS[need] if value is None else value for value in column)
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
