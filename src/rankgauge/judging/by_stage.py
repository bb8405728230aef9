"""
Judging at a stage of a pipeline: what a stage retrieved takes the place of the output, and everything else is as ever.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rankgauge.judging.evidence import Evidence, Judge, Target
from rankgauge.judging.ranking import JudgedBlock
from rankgauge.samples import Fault, Output, Sample

__all__ = ["StageJudge"]


class StageJudge:
    """Hands what one stage retrieved to another judge; an output without that stage fails for its own sample."""

    def __init__(self, judge: Judge, target: Target) -> None:
        self._judge = judge
        self._target = target
        self._faults: dict[int, str] = {}
        self._n = 0

    def add(self, samples: Sequence[Sample]) -> None:
        """Judge some more samples, in order of the batch."""
        staged = list(map(self._target.staged, samples))
        for place, (sample, at_stage) in enumerate(zip(samples, staged, strict=True), self._n):
            if isinstance(sample.output, Output) and isinstance(at_stage.output, Fault):
                self._faults[place] = at_stage.output.reason
        self._n += len(samples)
        self._judge.add(staged)

    def add_block(self, judged: JudgedBlock) -> None:
        """Refuse plain samples, which have no stages; where a stage is judged they are not read as blocks."""
        raise AssertionError(judged)

    def evidence(self) -> Evidence:
        """Return the judged batch."""
        evidence = self._judge.evidence()
        without = set(evidence.without_gold)
        faults = {place: reason for place, reason in self._faults.items() if place not in without}
        return replace(evidence, faults={**evidence.faults, **faults})
