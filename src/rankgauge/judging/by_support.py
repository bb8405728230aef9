"""
Judging by support: people or a model have said how far an answer states each nugget, and the output says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rankgauge.errors import did_you_mean
from rankgauge.judging.blocks import JudgedBlock
from rankgauge.judging.columns import JudgedLists
from rankgauge.judging.evidence import Evidence
from rankgauge.judging.keeping import NOTHING, Keep, Keeper
from rankgauge.judging.outputs import Ranking
from rankgauge.policy import Profile
from rankgauge.samples import Nugget, Output, Sample

__all__ = ["SupportJudge"]

_NO_SUPPORT = (
    "the output has no 'support', which says how far its answer supports each nugget; emit {'answer': '...', "
    "'support': {ID or text: 'support'}}, or look for nuggets in the answer: (matcher=keyword)"
)


class SupportJudge:
    """Judges a batch against its nuggets, by the support that each output comes with; the answer is rank 1."""

    def __init__(self, profile: Profile, *, keep: Keep = NOTHING) -> None:
        self._profile = profile
        self._keeper = Keeper(keep, profile)
        self._lists = JudgedLists()
        self._faults: dict[int, str] = {}

    def add(self, samples: Sequence[Sample]) -> None:
        """Judge some more samples, in order of the batch."""
        lists = self._lists
        outputs = [sample.output if isinstance(sample.output, Output) else None for sample in samples]
        answers = [None if output is None else Ranking((None,), (output.answer,)) for output in outputs]
        self._keeper.add(samples, answers, judged="answer")
        for place, (sample, output) in enumerate(zip(samples, outputs, strict=True), len(lists.depth)):
            nuggets = sample.expected.nuggets or ()
            start = len(lists.gold_grade)
            lists.depth.append(0 if output is None else 1)
            lists.gold_count.append(len(nuggets))
            lists.gold_grade += [nugget.weight for nugget in nuggets]
            if output is None or not nuggets:
                continue
            if output.support is None:
                self._faults[place] = _NO_SUPPORT
            elif unknown := _unknown(output.support, nuggets):
                self._faults[place] = unknown
            else:
                self._add_rows(place, output.support, nuggets, start)

    def add_block(self, judged: JudgedBlock) -> None:
        """Judge some more plain samples, which have no nuggets."""
        self._lists.depth += [1] * len(judged.depth)
        self._lists.gold_count += [0] * len(judged.depth)

    def evidence(self) -> Evidence:
        """Return the judged batch."""
        without = [place for place, count in enumerate(self._lists.gold_count) if not count]
        return Evidence.kept(self._keeper, self._lists.build(self._profile), without, self._faults)

    def _add_rows(self, place: int, support: Mapping[str, float], nuggets: Sequence[Nugget], start: int) -> None:
        lists = self._lists
        for at, nugget in enumerate(nuggets):
            found = max(support.get(name, 0.0) for name in (nugget.id, nugget.text) if name is not None)
            if found:
                lists.row_sample.append(place)
                lists.row_rank.append(1)
                lists.row_grade.append(nugget.weight)
                lists.row_gold.append(start + at)
                lists.row_score.append(found)


def _unknown(support: Mapping[str, float], nuggets: Sequence[Nugget]) -> str:
    """Return why the support cannot be that of these nuggets; empty where it can."""
    known = {name for nugget in nuggets for name in (nugget.id, nugget.text) if name is not None}
    for name in support:
        if name not in known:
            hint = did_you_mean(name, sorted(known))
            return f"the output's 'support' names {name!r}, which is no nugget of the ground truth{hint}"
    return ""
