"""Judging: which retrieved item is which gold item, by id or by text, under a policy."""

from rankgauge.judging.batches import BatchJudge
from rankgauge.judging.evidence import Evidence, Target
from rankgauge.judging.judge import Judge, judge, make_judge
from rankgauge.judging.mappings import judge_mapping
from rankgauge.judging.ranking import Ranking, prepare
from rankgauge.judging.run import JudgedPart, JudgedRun, RunCollector, ScatteredError

__all__ = [
    "BatchJudge",
    "Evidence",
    "Judge",
    "JudgedPart",
    "JudgedRun",
    "Ranking",
    "RunCollector",
    "ScatteredError",
    "Target",
    "judge",
    "judge_mapping",
    "make_judge",
    "prepare",
]
