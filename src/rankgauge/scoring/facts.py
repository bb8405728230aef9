"""
Facts: rank by rank, what a ranking holds and what each rank adds to its score, with the ids and texts.

`rankgauge explain`, ``--details`` and the worst samples of a run are all laid out from these.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rankgauge.columns import Judged
from rankgauge.guard import ForeignError, guarded
from rankgauge.judging import Ranking, Target
from rankgauge.judging.by_text import gold_texts
from rankgauge.plugin import Contributions
from rankgauge.samples import Output, Sample
from rankgauge.scoring.score import SCORED, JudgedBatch, MetricScores

__all__ = ["MissingGold", "RankFacts", "SampleFacts", "facts_of", "gold_names"]

_ROUNDING = 1e-9
"""How far the contributions of a plugin's metric may be from its score."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankFacts:
    """
    One rank of a ranking, after policy.

    Attributes:
        rank: From 1.

        id: The id of the result; None if it has a text only.

        score: The score that the system gave it; None if it gave none.

        grade: Its grade, the highest where it holds several gold items; None if it is not judged.

        relevant: Whether that grade is relevant for the metric.

        gold: The gold items it holds: ids, or texts where texts are matched.

        text: Its text; None if it has none.

        match: The highest match score, from 0 to 1; None where ids are joined, and where nothing matched.

        matched: The stretch of its text that is a gold text, or all of it where it is part of one, whatever case and
            white space; None where neither is so, as with fuzzy matchers.

        gain: What it is worth; None where the score is no sum over ranks.

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
    gain: float | None = None
    discount: float | None = None
    contribution: float | None = None
    total: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingGold:
    """
    A relevant gold item that was not found within the cutoff.

    Attributes:
        id: Its id, or its text where texts are matched.

        grade: Its grade.

        rank: Where it was found below the cutoff; None if it was not found.

        ideal_rank: Where the best possible ranking has it.
    """

    id: str
    grade: float
    rank: int | None
    ideal_rank: int


class SampleFacts(NamedTuple):
    """
    What one score of one sample is made of.

    Attributes:
        ranks: The ranks within the cutoff; where some were left out, every one that holds a gold item is there.

        n_ranks: How many ranks there are within the cutoff.

        missing: The relevant gold items not found within the cutoff, best first.

        divisor: What the sum of gains times discounts is divided by; None where the score is no sum over ranks.

        divisor_is: What that is, such as ``ideal DCG``.

        fault: Why the metric's own contributions cannot be used; empty where they can, or it declares none.
    """

    ranks: tuple[RankFacts, ...]
    n_ranks: int
    missing: tuple[MissingGold, ...]
    divisor: float | None = None
    divisor_is: str = ""
    fault: str = ""


def facts_of(scores: MetricScores, batch: JudgedBatch, place: int, *, plain: int = 0) -> SampleFacts:
    """
    Return the facts behind one metric's score of one sample, of a batch that keeps its samples and rankings.

    Of the ranks that hold no gold item only the first *plain* are kept, so that facts follow the judgments.
    """
    evidence, column = batch.evidence[scores.target], scores.metric
    k = scores.k if scores.k is None or isinstance(scores.k, int) else int(scores.k[place])
    judged = evidence.judged.take([place])
    judged = judged if column.rel is None else judged.at_least(column.rel)
    relevant = judged if column.metric.uses_rel else judged.by_gain()
    ranking, sample = evidence.rankings[place], batch.samples[place]
    depth = 0 if ranking is None else len(ranking.ids)
    shown = depth if k is None else min(k, depth)
    names = gold_names(sample, scores.target)
    sums, fault = _sums(scores, judged, place, k)
    ranks = (
        ()
        if ranking is None
        else _ranks(relevant, sample, ranking, names, shown, plain, by_text=bool(scores.target.matcher))
    )
    if sums is None:
        return SampleFacts(ranks, shown, _missing(relevant, names, k), fault=fault)
    divisor = 1.0 if sums.divisors is None else float(sums.divisors[0])
    return SampleFacts(tuple(_with_sums(ranks, sums)), shown, _missing(relevant, names, k), divisor, sums.divisor_is)


def gold_names(sample: Sample, target: Target) -> Sequence[str]:
    """Return what a sample's gold items of one kind are called, ids or texts, in order of the columns."""
    if target.matcher is None:
        return list(sample.expected.relevant or ())
    return list(dict.fromkeys(gold_texts(sample.expected, target.gold)))


def _ranks(
    judged: Judged, sample: Sample, ranking: Ranking, names: Sequence[str], shown: int, plain: int, *, by_text: bool
) -> tuple[RankFacts, ...]:
    """Return what one sample's ranks hold, without what they add to a score."""
    held: dict[int, list[int]] = {}
    for row, rank in enumerate(judged.rows.rank.tolist()):
        held.setdefault(rank, []).append(row)
    output = sample.output if isinstance(sample.output, Output) else Output(())
    grades, scores = judged.rows.grade, judged.score
    places = (judged.gold.rank[judged.rows.gold] - 1).tolist()
    wanted = sorted({*range(1, min(plain, shown) + 1), *(rank for rank in held if rank <= shown)})
    found: list[RankFacts] = []
    for rank in wanted:
        rows = held.get(rank, [])
        grade = float(grades[rows].max()) if rows else None
        gold = tuple(names[places[row]] for row in rows)
        text = None if ranking.texts is None else ranking.texts[rank - 1]
        found.append(
            RankFacts(
                rank=rank,
                id=ranking.ids[rank - 1],
                score=None if output.scores is None else output.scores[ranking.entry(rank)],
                grade=grade,
                relevant=grade is not None and judged.relevance.holds(grade),
                gold=gold,
                text=text,
                match=float(scores[rows].max()) if rows and by_text else None,
                matched=_stretch(text, gold) if text and by_text else None,
            )
        )
    return tuple(found)


def _stretch(text: str, gold: Sequence[str]) -> str | None:
    """Return the stretch of a text that is one of some gold texts, or all of it where it is part of one."""
    whole = " ".join(text.split()).casefold()
    for wanted in gold:
        pattern = r"\s+".join(map(re.escape, wanted.split()))
        if found := re.search(pattern, text, re.IGNORECASE):
            return found[0]
        if whole in " ".join(wanted.split()).casefold():
            return text
    return None


def _missing(judged: Judged, names: Sequence[str], k: int | None) -> tuple[MissingGold, ...]:
    """Return the relevant gold items that were not found within the cutoff, best first."""
    found = set(judged.finds(k).gold.tolist())
    first = judged.finds()
    below = dict(zip(first.gold.tolist(), first.rank.tolist(), strict=True))
    best = judged.ideal()
    columns = (best.gold.tolist(), best.grade.tolist(), best.rank.tolist())
    return tuple(
        MissingGold(id=names[gold], grade=grade, rank=below.get(gold), ideal_rank=rank)
        for gold, grade, rank in zip(*columns, strict=True)
        if gold not in found
    )


def _sums(scores: MetricScores, judged: Judged, place: int, k: int | None) -> tuple[Contributions | None, str]:
    """Return what the ranks of one sample add to its score, if anything says so; else perhaps why not."""
    column, outcome = scores.metric, scores.outcome
    averaged = judged.low is not None and column.metric.expectation != "itself"  # of many orders, not of this one
    if column.metric.contributions is None or averaged or outcome.status[place] != SCORED:
        return None, ""
    blame = f"the contributions of {column.name!r} (by {column.provider})"
    try:
        with guarded():
            cut = {} if column.metric.cutoff == "none" else {"k": k}
            sums = column.metric.contributions(judged, **cut, **column.params, **scores.extra)
            added = float(sums.scores(judged)[0])
    except ForeignError as error:  # scores do not depend on it
        return None, f"{blame} failed: {error}"
    if math.isnan(added):
        return None, ""
    score = float(outcome.values[place])
    if not math.isclose(added, score, rel_tol=_ROUNDING, abs_tol=_ROUNDING):
        return None, f"{blame} add up to {added!r}, not to its score {score!r}"
    return sums, ""


def _with_sums(ranks: Sequence[RankFacts], sums: Contributions) -> Iterator[RankFacts]:
    """Yield the same ranks with what each adds to the score, and the running total."""
    gains: dict[int, float] = {}
    weighted: dict[int, float] = {}
    added: dict[int, float] = {}
    discounts = np.ones(len(sums.gains)) if sums.discounts is None else sums.discounts
    columns = (sums.rows.rank, sums.gains, discounts, sums.values())
    for rank, gain, discount, value in zip(*(column.tolist() for column in columns), strict=True):
        gains[rank] = gains.get(rank, 0.0) + gain
        weighted[rank] = weighted.get(rank, 0.0) + gain * discount
        added[rank] = added.get(rank, 0.0) + value
    total = 0.0
    for each in ranks:
        gain = gains.get(each.rank, 0.0)
        total += added.get(each.rank, 0.0)
        yield dataclasses.replace(
            each,
            gain=gain,
            discount=weighted[each.rank] / gain if gain else None,
            contribution=added.get(each.rank, 0.0),
            total=total,
        )
