"""
Judging a batch: each sample's output against one kind of its ground truth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rankgauge.catalog import ResolvedMatcher
from rankgauge.judged import ANY_GRADE, POSITIVE, Judged
from rankgauge.judging.by_id import add_by_id
from rankgauge.judging.by_text import TextJudge
from rankgauge.judging.columns import Columns
from rankgauge.judging.ranking import Ranking, prepare
from rankgauge.policy import Profile
from rankgauge.samples import Fault, GoldKind, Output, Sample

__all__ = ["Evidence", "Target", "judge"]


@dataclass(frozen=True, slots=True)
class Target:
    """
    What is judged against what, and how; metrics with equal targets share one judging.

    Attributes:
        gold: The kind of ground truth.

        judges: Whether the retrieved items are judged, or the generated answer.

        matcher: The matcher as written, for gold that is text; None for a join of ids.

    """

    gold: GoldKind
    judges: Literal["retrieved", "answer"] = "retrieved"
    matcher: str | None = None

    def __str__(self) -> str:
        judged = "" if self.judges == "retrieved" else " of the generated answer"
        return f"{self.gold}{judged} by {'id' if self.matcher is None else f'text, matcher {self.matcher}'}"


@dataclass(frozen=True, slots=True)
class Evidence:
    """
    A judged batch.

    Attributes:
        judged: The columns that metrics read.

        has_gold: Whether each sample has this kind of ground truth at all; shape (n,).

        faults: Why a sample could not be judged, by its place in the batch.

        rankings: What each sample retrieved, after policy; None where there is none.

        looks: One retrieved id and one gold id, of a sample that has both; for messages.

    """

    judged: Judged
    has_gold: NDArray[np.bool_]
    faults: dict[int, str]
    rankings: Sequence[Ranking | None]
    looks: tuple[str, str] | None


def judge(
    samples: Sequence[Sample], target: Target, profile: Profile, matcher: ResolvedMatcher | None = None
) -> Evidence:
    """
    Judge a batch.

    Args:
        samples: The batch.

        target: What is judged against what.

        profile: The policy, and what counts as relevant.

        matcher: The matcher that `target` names; None for a join of ids.

    Returns:
        The judged batch. Samples that cannot be judged have no rows, and stand among the faults.

    """
    columns = Columns()
    has_gold: list[bool] = []
    faults: dict[int, str] = {}
    rankings: list[Ranking | None] = []
    looks: tuple[str, str] | None = None
    texts = None
    if matcher is not None:
        texts = TextJudge(matcher, missing_is_empty=profile.missing_texts == "empty")
    for place, sample in enumerate(samples):
        expected = sample.expected
        fault = None if expected.faults is None else expected.faults.get(target.gold)
        gold = () if texts is None else _texts(sample, target.gold)
        has_gold.append(bool(expected.relevant if texts is None else gold))
        ranking: Ranking | None = None
        if isinstance(sample.output, Output):
            prepared = _ranking(sample, sample.output, target, profile)
            if isinstance(prepared, Fault):
                fault = fault or (prepared if has_gold[-1] else None)
            else:
                ranking = prepared
        rankings.append(ranking)
        if texts is None:
            add_by_id(columns, ranking, expected)
            if looks is None and ranking is not None and ranking.ids and expected.relevant:
                looks = (ranking.ids[0] or "(no id)", next(iter(expected.relevant)))
        else:
            fault = texts.add(columns, ranking, gold) or fault
        if fault is not None:
            faults[place] = fault.reason
    relevance = POSITIVE if profile.relevance == "positive" else ANY_GRADE
    judged = columns.build(relevance, counts_repeats=profile.policy.duplicates == "keep")
    return Evidence(judged, np.array(has_gold, dtype=np.bool_), faults, rankings, looks)


def _ranking(sample: Sample, output: Output, target: Target, profile: Profile) -> Ranking | Fault:
    if target.judges == "answer":
        if output.answer is None:
            return Fault("the output has no 'answer'; emit {'retrieved': [...], 'answer': '...'}")
        return Ranking((None,), (output.answer,))
    return prepare(
        output,
        profile.policy,
        sample_id=sample.id,
        key="id" if target.matcher is None else profile.duplicate_texts,
        judged=sample.expected.relevant or (),
    )


def _texts(sample: Sample, gold: GoldKind) -> tuple[str, ...]:
    expected = sample.expected
    match gold:
        case "passages":
            return expected.passages or ()
        case "answer":
            return expected.answer or ()
        case "keywords":
            return expected.keywords or ()
        case "relevant":
            return ()
