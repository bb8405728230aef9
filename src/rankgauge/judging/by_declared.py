"""
Judging against a kind of ground truth that a plugin declares, by its function.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import repeat

import numpy as np

from rankgauge.base.guard import ForeignError, guarded
from rankgauge.columns.parts import length, united
from rankgauge.judging.by_text import covers_of, scores_of
from rankgauge.judging.evidence import Evidence
from rankgauge.judging.judged_columns import JudgedLists
from rankgauge.judging.keeping import NOTHING, Keep, Keeper
from rankgauge.judging.outputs import Ranking, n_dropped, prepare
from rankgauge.judging.target import Target
from rankgauge.plugin.gold_kinds import DeclaredGold, RetrievedItem, items_of
from rankgauge.plugin.matching import Covers
from rankgauge.policy import Profile
from rankgauge.samples import Fault, Output, Place, Sample
from rankgauge.samples.sample_values import lacks_key

__all__ = ["DeclaredJudge", "nearest"]


class DeclaredJudge:
    """Judges a batch against a plugin's kind; what its function raises fails the sample at hand."""

    def __init__(self, target: Target, kind: DeclaredGold, profile: Profile, *, keep: Keep = NOTHING) -> None:
        self._target = target
        self._kind = kind
        self._profile = profile
        self._keeper = Keeper(keep, profile)
        self._lists = JudgedLists()
        self._faults: dict[int, str] = {}

    def add(self, samples: Sequence[Sample]) -> None:
        """Judge some more samples, in order of the batch."""
        lists, kind = self._lists, self._kind
        prepared = self._prepared(samples)
        self._keeper.add(samples, prepared, judged=self._target.judges)
        for place, (sample, ranking) in enumerate(zip(samples, prepared, strict=True), len(lists.depth)):
            gold = items_of(sample.expected, kind.name)
            start, grades = len(lists.gold_grade), [float(item.grade) for item in gold]
            fault = None if sample.expected.faults is None else sample.expected.faults.get(kind.name)
            ranked, flaw = lists.add_sample(ranking, grades)
            lists.gold_size += [1] * len(gold)
            if grades.count(1.0) < len(grades):
                lists.graded.append(place)
            if fault := fault or flaw:
                self._faults[place] = fault.reason
            if ranked is None or not ranked.ids or not gold:
                continue
            retrieved = list(_items(sample, ranked, self._target))
            try:
                with guarded():
                    found = _judged(kind, retrieved, [item.value for item in gold])
            except ForeignError as error:
                self._faults[place] = f"{kind.blame} failed: {error}"
                continue
            self._add(place, ranked, found, start)

    def evidence(self) -> Evidence:
        """Return the judged batch."""
        lists, kind = self._lists, self._kind
        parts = lists.add_parts(kind.threshold, joint=self._target.joint) if kind.covers else None
        judged = lists.build(self._profile, own_ranks=True)
        if self._target.joint:
            judged = replace(judged, parts=parts)
        return Evidence(
            self._keeper.shown_in(judged), self._faults, kept=self._keeper.kept(), n_dropped=lists.n_dropped
        )

    def _prepared(self, samples: Sequence[Sample]) -> Sequence[Ranking | Fault | None]:
        """Return what of each sample is judged: its ranking, or its answer as a ranking of one item."""
        if self._target.judges == "retrieved":
            prepared = prepare(samples, self._profile, by="text")
            self._lists.n_dropped += n_dropped(samples, prepared, self._profile, by="text")
            return prepared
        return [_answer(sample) for sample in samples]

    def _add(self, place: int, ranking: Ranking, found: Covers | list[list[float]], start: int) -> None:
        """Add what one sample's results hold."""
        lists, repeated = self._lists, ranking.repeated or [False] * len(ranking.ids)
        if isinstance(found, Covers):
            lists.gold_size[start : start + len(found.size)] = found.size.tolist()
            columns = (found.row + 1, found.column + start, found.start, found.end)
            lists.parts += zip(repeat(place), *(np.asarray(column).tolist() for column in columns), strict=False)
            lists.repeats.update((place, rank) for rank, repeats in enumerate(repeated, 1) if repeats)
            return
        for at, scores in enumerate(found):
            for number, score in enumerate(scores):
                if score >= self._kind.threshold:
                    if repeated[at]:
                        lists.row_idle.append(len(lists.row_sample))
                    lists.add_row(place, at + 1, start + number)
                    lists.row_score.append(score)


def _items(sample: Sample, ranking: Ranking, target: Target) -> Iterator[RetrievedItem]:
    """Yield the retrieved items, in order of rank."""
    output = sample.output if target.judges == "retrieved" else None
    known, scores = (output.metadata, output.scores) if isinstance(output, Output) else (None, None)
    nothing = [None] * len(ranking.ids)
    each = zip(ranking.ids, ranking.texts or nothing, ranking.places or nothing, strict=True)
    for rank, (name, text, place) in enumerate(each, 1):
        entry = ranking.entry(rank)
        yield RetrievedItem(
            name,
            text,
            None if scores is None else scores[entry],
            {} if known is None else known[entry] or {},
            place if isinstance(place, Place) else None,
        )


def _judged(
    kind: DeclaredGold, retrieved: Sequence[RetrievedItem], gold: Sequence[object]
) -> Covers | list[list[float]]:
    """Return which parts each item holds, or its scores, checked; whatever the function raises comes through."""
    if kind.judge is None:
        raise TypeError(f"gold kind {kind.name!r} is judged by a matcher")
    found = kind.judge(retrieved, gold)
    if kind.covers:
        return covers_of(found, len(retrieved), len(gold))
    scores: list[list[float]] = scores_of(found, len(retrieved), len(gold)).tolist()
    return scores


def nearest(sample: Sample, ranking: Ranking, target: Target) -> dict[str, str]:
    """Return what results hold of each item of a plugin's kind, for explanations, by the name of the item."""
    kind = target.declared
    if kind is None or kind.judge is None or not ranking.ids:
        return {}
    gold = items_of(sample.expected, kind.name)
    with guarded():
        found = _judged(kind, list(_items(sample, ranking, target)), [item.value for item in gold])
    needed = f"{kind.threshold:g} is needed"
    told = {}
    for number, item in enumerate(gold):
        shares = _shares(found, number, len(ranking.ids))
        best = max(shares)
        at = f"rank {shares.index(best) + 1}" if target.judges == "retrieved" else "the answer"
        if best > 0:
            told[item.name] = (
                f"{at} {'holds' if kind.covers else 'scores'} {best:.2f}{' of it' * kind.covers}; {needed}"
            )
        if isinstance(found, Covers) and target.joint and sum(share > 0 for share in shares) > 1:
            together = length(united(_parts(found, number))) / int(found.size[number])
            told[item.name] = f"results hold {together:.2f} of it together; {needed}"
    return told


def _shares(found: Covers | list[list[float]], number: int, n_ranks: int) -> list[float]:
    """Return the score of each result for a gold item, or the share of it that it holds."""
    if not isinstance(found, Covers):
        return [scores[number] for scores in found]
    size = int(found.size[number])
    return [length(united(_parts(found, number, row))) / size for row in range(n_ranks)]


def _parts(found: Covers, number: int, row: int | None = None) -> list[tuple[int, int]]:
    """Return the parts of a gold item that results hold, or one of them."""
    own = (found.column == number) & (row is None or found.row == row)
    return list(zip(found.start[own].tolist(), found.end[own].tolist(), strict=True))


def _answer(sample: Sample) -> Ranking | Fault | None:
    """Return the answer of a sample as a ranking of one item, or that it has none."""
    if not isinstance(sample.output, Output):
        return None
    if sample.output.answer is None:
        return lacks_key("answer", sample.output.unread)
    return Ranking((None,), (sample.output.answer,))
