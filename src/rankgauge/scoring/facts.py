"""
Facts: rank by rank, what a ranking holds and what each rank adds to its score, with the ids and texts.

`rankgauge explain`, ``--details`` and the worst samples of a run are all laid out from these.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from rankgauge.base.frozen import FrozenList, FrozenMap
from rankgauge.columns import Ints, Judged
from rankgauge.judging import Ranking, Target
from rankgauge.samples import Output, Sample
from rankgauge.scoring.covered_spans import BEGIN, END, CoveredSpan, covered_spans
from rankgauge.scoring.score import JudgedBatch, MetricScores, cut_for, cutoffs_of, judged_for
from rankgauge.scoring.sums import RankSums, rank_sums

__all__ = [
    "MissingGold",
    "RankFacts",
    "SampleFacts",
    "covered_stretch",
    "facts_of",
    "gold_names",
    "matched_stretch",
    "missing_by_name",
    "rank_by_name",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class RankFacts:
    """
    One rank of a ranking, after policy.

    Attributes:
        rank: From 1.

        id: The id of the result; None if it has a text only.

        score: The score that the system gave it; None if it gave none.

        grade: Its grade, the highest if it holds several gold items; None if it is not judged.

        relevant: Whether that grade is relevant for the metric.

        own_ranks: The own ranks of the gold items first found here, which set what each earns; None for one whose own
            rank is beyond the cutoff. Empty if no result of the sample holds several items that earn.

        gold: The gold items it holds: ids, or texts if texts are matched.

        text: Its text; None if it has none.

        match: The highest match score, from 0 to 1; None if ids are joined, and where nothing matched.

        matched: The stretch of its text that is a gold text, or all of it if it is part of one, whatever case and
            white space; None if neither is so, as with fuzzy matchers.

        covers: The gold spans of which it covers a part, if spans are judged.

        gain: What it is worth; None if the score is no sum over ranks.

        discount: What the gain is multiplied by because of the rank; None like `gain`, and where nothing is gained.

        contribution: What it adds to the score; None like `gain`.

        total: The contributions down to this rank; None like `gain`.
    """

    rank: int
    id: str | None
    score: float | None
    grade: float | None
    relevant: bool
    gold: tuple[str, ...]
    text: str | None
    match: float | None
    matched: str | None = None
    own_ranks: tuple[int | None, ...] = ()
    covers: tuple[CoveredSpan, ...] = ()
    gain: float | None = None
    discount: float | None = None
    contribution: float | None = None
    total: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingGold:
    """
    A relevant gold item that was not found within the cutoff.

    Attributes:
        id: Its id, or its text if texts are matched.

        grade: Its grade.

        rank: Where it was found below the cutoff; None if it was not found.

        ideal_rank: Where the best possible ranking has it; None for a set, which is at no single rank.

        retrieved_rank: The rank at which a result holds it that the policy drops; None if it drops none.

        dropped_by: What drops that result, such as ``policy filter one-per-page`` or ``policy depth=10``; empty if
            nothing does.

        nearest: What results hold of an item of a plugin's kind that is not found, such as ``rank 3 scores 0.42; 0.5 is
            needed``; empty if they hold nothing, and for other kinds.
    """

    id: str
    grade: float
    rank: int | None
    ideal_rank: int | None
    retrieved_rank: int | None = None
    dropped_by: str = ""
    nearest: str = ""


class SampleFacts(NamedTuple):
    """What one score of one sample is made of."""

    ranks: tuple[RankFacts, ...]  # within the cutoff, at least every one that holds a gold item
    n_ranks: int  # how many ranks there are within the cutoff
    missing: tuple[MissingGold, ...]  # the relevant gold items not found within the cutoff, best first
    divisor: float | None = None  # of the sum of gains times discounts; None if the score is no sum over ranks
    divisor_is: str = ""  # what that is, such as ``ideal DCG``
    fault: str = ""  # why the metric's own contributions cannot be used; empty if they can, or it declares none


_OF_RANKS = tuple(name for name in RankFacts.__slots__ if name not in {"text", "matched", "covers"})
_OF_MISSING = ("id", "grade", "rank", "ideal_rank")
_of_rank, _of_missing = attrgetter(*_OF_RANKS), attrgetter(*_OF_MISSING)


def rank_by_name(facts: RankFacts) -> FrozenMap[str, Any]:
    """Return the facts of a rank by name, as JSON holds them, without texts."""
    lists = {"gold": FrozenList(facts.gold), "own_ranks": FrozenList(facts.own_ranks)}
    return FrozenMap(zip(_OF_RANKS, _of_rank(facts), strict=True), **lists)


def missing_by_name(facts: MissingGold) -> FrozenMap[str, Any]:
    """Return the facts of a missing gold item by name; what dropped it only if something did."""
    dropped = {"retrieved_rank": facts.retrieved_rank, "dropped_by": facts.dropped_by} if facts.dropped_by else {}
    return FrozenMap(zip(_OF_MISSING, _of_missing(facts), strict=True), **dropped)


def facts_of(scores: MetricScores, batch: JudgedBatch, *, plain: int = 0) -> Iterator[SampleFacts]:
    """
    Yield the facts behind one metric's score of each sample, of a batch that keeps its samples and rankings.

    Of the ranks that hold no gold item only the first *plain* are kept, so that facts follow the judgments.
    """
    evidence = batch.evidence[scores.target]
    judged = judged_for(scores.metric, evidence)
    rows, gold = _Rows(evidence.judged, judged), _Gold(evidence.judged, judged, scores)
    added = rank_sums(scores, judged)
    sums, own = _Sums(added), _own_ranks(scores, judged, added)
    cutoffs = cutoffs_of(judged.n, scores.k)
    covered: Iterator[Sequence[tuple[CoveredSpan, ...]]] = repeat(())
    if scores.target.identity == "place":
        covered = covered_spans(batch.samples, evidence.kept.rankings)
    rankings = zip(batch.samples, evidence.kept.rankings, cutoffs, covered, strict=False)
    for place, (sample, ranking, k, covers) in enumerate(rankings):
        sample = scores.target.staged(sample)  # noqa: PLW2901  # what its ranks are of
        names = gold_names(sample, scores.target)
        ranks: tuple[RankFacts, ...] = ()
        shown = 0
        if ranking is not None:
            shown = len(ranking.ids[:k])
            held = rows.of(place, shown) if scores.target.of_ranks else {}
            covering = (rank for rank, spans in enumerate(covers[:shown], 1) if spans)
            numbers = sorted({*range(1, min(plain, shown) + 1), *held, *covering})
            plain_ranks = [
                _fact(rank, sample, ranking, held.get(rank, _NOTHING), names, scores.target, covers) for rank in numbers
            ]
            if place in own:
                plain_ranks = [replace(held, own_ranks=own[place].get(held.rank, ())) for held in plain_ranks]
            ranks = tuple(sums.added_to(plain_ranks, place))
        yield SampleFacts(
            ranks=ranks,
            n_ranks=shown,
            missing=() if scores.target.kind.of_some else tuple(gold.missing(place, names)),
            divisor=sums.divisors.get(place),
            divisor_is=sums.divisor_is,
            fault=sums.faults.get(place, ""),
        )


def gold_names(sample: Sample, target: Target) -> Sequence[str]:
    """Return what a sample's gold items of one kind are called, in order of the columns."""
    return target.kind.names(target.rolled(sample).expected)


class _Held(NamedTuple):
    """What a rank holds: places of gold items, the highest grade and match score, and whether one is relevant."""

    gold: tuple[int, ...]
    grade: float | None
    match: float | None
    relevant: bool


_NOTHING = _Held((), None, None, relevant=False)
_NO_SUM = (0.0, 0.0, 0.0)


def _fact(
    rank: int,
    sample: Sample,
    ranking: Ranking,
    held: _Held,
    names: Sequence[str],
    target: Target,
    covers: Sequence[tuple[CoveredSpan, ...]],
) -> RankFacts:
    """Return what a rank holds, without what it adds to a score."""
    output = sample.output if target.judges == "retrieved" else None  # an answer has no retriever's score
    scored = output.scores if isinstance(output, Output) else None
    gold = tuple(names[at] for at in held.gold)
    text = None if ranking.texts is None else ranking.texts[rank - 1]
    by_text = target.by_text
    spans = covers[rank - 1] if covers else ()
    matched = covered_stretch(text, spans) if covers else None
    if text and gold and target.of_items.kind.is_text:
        matched = matched_stretch(text, target.texts_called(gold, sample.expected))
    return RankFacts(
        rank=rank,
        id=ranking.ids[rank - 1],
        score=None if scored is None else scored[ranking.entry(rank)],
        grade=held.grade,
        relevant=held.relevant,
        gold=gold,
        text=text,
        match=held.match if by_text else None,
        matched=matched,
        covers=spans,
    )


class _Rows:
    """The judged rows of a batch, by sample and rank."""

    def __init__(self, judged: Judged, relevant: Judged) -> None:
        rows = judged.rows
        places = judged.gold.rank[rows.gold] - 1
        earns = relevant.relevance.of(relevant.rows.grade)
        columns = (rows.rank, places, rows.grade, judged.score, earns)
        self._rows = list(zip(*(column.tolist() for column in columns), strict=True))
        self._starts = _starts(rows.sample, judged.n)

    def of(self, place: int, shown: int) -> dict[int, _Held]:
        """Return what the ranks of a sample hold, down to a rank."""
        held: dict[int, _Held] = {}
        for rank, gold, grade, match, earns in self._rows[self._starts[place] : self._starts[place + 1]]:
            if rank <= shown:
                known: Any = held.get(rank, _Held((), grade, match, relevant=False))
                highest = max(grade, known.grade), max(match, known.match)
                held[rank] = _Held((*known.gold, gold), *highest, relevant=earns or known.relevant)
        return held


class _Gold:
    """The relevant gold items of a batch, best first, and where each was found."""

    def __init__(self, judged: Judged, relevant: Judged, scores: MetricScores) -> None:
        best, first = relevant.ideal(), relevant.finds()
        columns = (best.gold, judged.gold.rank[best.gold] - 1, judged.gold.grade[best.gold], best.rank)
        self._best = list(zip(*(column.tolist() for column in columns), strict=True))
        self._starts = _starts(best.sample, judged.n)
        self._within = set(relevant.finds(scores.k).gold.tolist())
        self._are_sets = scores.target.kind.has_no_rank
        self._ranks = dict(zip(first.gold.tolist(), first.rank.tolist(), strict=True))

    def missing(self, place: int, names: Sequence[str]) -> Iterator[MissingGold]:
        """Yield those of a sample that were not found within the cutoff."""
        for gold, at, grade, rank in self._best[self._starts[place] : self._starts[place + 1]]:
            if gold not in self._within:
                ideal = None if self._are_sets else rank
                yield MissingGold(id=names[at], grade=grade, rank=self._ranks.get(gold), ideal_rank=ideal)


def _own_ranks(scores: MetricScores, judged: Judged, sums: RankSums) -> dict[int, dict[int, tuple[int | None, ...]]]:
    """Return the own ranks of what each rank earns, by sample and rank, of samples if any is not that rank."""
    judging = scores.metric.metric.judging
    if not (judged.own_ranks and judging.own_ranks):
        return {}
    relevant, k = cut_for(scores.metric, judged if judging.uses_rel is True else judged.by_gain(), scores.k)
    rows, finds = relevant.at_own_ranks(k), relevant.finds(k)
    is_sum = ~np.isnan(sums.divisor)
    parts = ((sums.sample, sums.rank, sums.own, is_sum), (rows.sample, relevant.found_at(rows), rows.rank, ~is_sum))
    own: dict[int, dict[int, list[int | None]]] = {}
    for sample, rank, own_rank, counts in parts:
        kept = counts[sample]
        moved = np.bincount(sample[kept & (rank != own_rank)], minlength=judged.n) > 0
        shown = kept & moved[sample]
        for place, at, number in zip(*(column[shown].tolist() for column in (sample, rank, own_rank)), strict=True):
            own.setdefault(place, {}).setdefault(at, []).append(number)
    for place, at in zip(finds.sample.tolist(), finds.rank.tolist(), strict=True):
        if place in own:
            own[place].setdefault(at, []).append(None)
    return {place: {at: _one_each(numbers) for at, numbers in ranks.items()} for place, ranks in own.items()}


def _one_each(numbers: Sequence[int | None]) -> tuple[int | None, ...]:
    """Return own ranks, ascending, and None for each item beyond them; there is one None for each item."""
    known = sorted(number for number in numbers if number is not None)
    return (*known, *[None] * (len(numbers) - 2 * len(known)))


class _Sums:
    """What the ranks of a batch add to its scores: by sample the divisors of those that are sums."""

    def __init__(self, sums: RankSums) -> None:
        self.divisor_is, self.faults = sums.divisor_is, sums.faults
        self.divisors = {
            place: divisor for place, divisor in enumerate(sums.divisor.tolist()) if not math.isnan(divisor)
        }
        columns = (sums.rank, sums.gain, sums.discounted, sums.value)
        self._rows = list(zip(*(column.tolist() for column in columns), strict=True))
        self._starts = _starts(sums.sample, len(sums.divisor))

    def added_to(self, facts: Iterable[RankFacts], place: int) -> Iterator[RankFacts]:
        """Yield the ranks of a sample with what each adds to the score, and the running total."""
        if place not in self.divisors:
            yield from facts
            return
        sums: dict[int, tuple[float, float, float]] = {}
        for rank, *parts in self._rows[self._starts[place] : self._starts[place + 1]]:
            known = sums.get(rank, _NO_SUM)
            sums[rank] = (known[0] + parts[0], known[1] + parts[1], known[2] + parts[2])
        total = 0.0
        for rank_facts in facts:
            gain, discounted, value = sums.get(rank_facts.rank, _NO_SUM)
            total += value
            discount = discounted / gain if gain else None
            yield RankFacts(  # several times as fast as `dataclasses.replace`
                rank=rank_facts.rank,
                id=rank_facts.id,
                score=rank_facts.score,
                grade=rank_facts.grade,
                relevant=rank_facts.relevant,
                gold=rank_facts.gold,
                text=rank_facts.text,
                match=rank_facts.match,
                matched=rank_facts.matched,
                own_ranks=rank_facts.own_ranks,
                covers=rank_facts.covers,
                gain=gain,
                discount=discount,
                contribution=value,
                total=total,
            )


def _starts(owners: Ints, n: int) -> list[int]:
    """Return where the rows of each sample begin, and the end, in rows in order of sample."""
    starts: list[int] = np.searchsorted(owners, np.arange(n + 1)).tolist()
    return starts


def covered_stretch(text: str | None, spans: Sequence[CoveredSpan]) -> str | None:
    """Return the stretch of a text that covers most of some gold spans."""
    if not text or not spans:
        return None
    best = max(spans, key=lambda span: span.share)
    held = "" if best.text is None else max(re.findall(f"{BEGIN}(.*?){END}", best.text, re.DOTALL), key=len, default="")
    return best.matched or matched_stretch(text, [held.strip()]) or None


def matched_stretch(text: str, gold: Sequence[str]) -> str | None:
    """Return the stretch of a text that is one of some gold texts, or all of it if it is part of one."""
    whole = " ".join(text.split()).casefold()
    for wanted in gold:
        pattern = r"\s+".join(map(re.escape, wanted.split()))
        if stretch := re.search(pattern, text, re.IGNORECASE):
            return stretch[0]
        if whole in " ".join(wanted.split()).casefold():
            return text
    return None
