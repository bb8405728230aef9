"""
Judging whether a system said anything, against whether the collection holds an answer at all.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from rankgauge.judging.evidence import Evidence
from rankgauge.judging.judged_columns import JudgedLists
from rankgauge.judging.keeping import NOTHING, Keep, Keeper
from rankgauge.judging.outputs import Ranking, prepare
from rankgauge.policy import Profile
from rankgauge.samples import Fault, Output, Sample
from rankgauge.silence import is_silence

__all__ = ["AnswerableJudge"]


class AnswerableJudge:
    """
    Judges a batch by what was said: each sample has one gold item, of grade 1 if nothing should be said, else 0.

    An output that says something has a row for it, whose match score is the retriever's score at rank 1, NaN if
    there is none. It says something by its answer, unless that is blank or consists of phrases that abstain; without an
    `answer`, by what it retrieved.
    """

    def __init__(self, profile: Profile, *, keep: Keep = NOTHING) -> None:
        self._profile = profile
        self._phrases = profile.policy.abstains
        self._keeper = Keeper(keep, profile)
        self._lists = JudgedLists()
        self._faults: dict[int, str] = {}

    def add(self, samples: Sequence[Sample]) -> None:
        """Judge some more samples, in order of the batch."""
        prepared = prepare(samples, self._profile, by="id")
        self._keeper.add(samples, prepared, judged="retrieved")
        for place, (sample, ranking) in enumerate(zip(samples, prepared, strict=True), len(self._lists.depth)):
            self._add(place, sample, ranking)

    def evidence(self) -> Evidence:
        """Return the judged batch."""
        judged = self._keeper.shown_in(self._lists.build(self._profile))
        return Evidence(judged, self._faults, kept=self._keeper.kept())

    def _add(self, place: int, sample: Sample, ranking: Ranking | Fault | None) -> None:
        lists, output = self._lists, sample.output
        lists.gold_count.append(1)
        lists.gold_grade.append(0.0 if sample.answerable else 1.0)
        lists.depth.append(len(ranking.ids) if isinstance(ranking, Ranking) else 0)
        if not isinstance(output, Output):
            return  # a flaw of the sample
        if output.answer is None and isinstance(ranking, Fault):
            self._faults[place] = ranking.reason
        if bool(lists.depth[-1]) if output.answer is None else not is_silence(output.answer, self._phrases):
            lists.add_row(place, 1, place)
            lists.row_score.append(_top_score(output, ranking))
            if self._profile.policy.settles_ties_late:
                lists.row_ties.append((1, 1))


def _top_score(output: Output, ranking: Ranking | Fault | None) -> float:
    if not isinstance(ranking, Ranking) or not ranking.ids or output.scores is None:
        return math.nan
    score = output.scores[ranking.entry(1)]
    return math.nan if score is None else score
