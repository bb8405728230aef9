"""Judging: the one ranking policy, then which retrieved item is which gold item, by id or by text."""

from rankgauge.judging.evidence import Evidence, GoldKeys, Target
from rankgauge.judging.judge import Judge, judge, make_judge, takes_blocks
from rankgauge.judging.keeping import Budget, Keep
from rankgauge.judging.mappings import judge_mapping
from rankgauge.judging.outputs import Ranking
from rankgauge.judging.ranking import BlockJudge
from rankgauge.judging.run import BatchJudge, RunCollector, RunCounts, ScatteredError

__all__ = [
    "BatchJudge",
    "BlockJudge",
    "Budget",
    "Evidence",
    "GoldKeys",
    "Judge",
    "Keep",
    "Ranking",
    "RunCollector",
    "RunCounts",
    "ScatteredError",
    "Target",
    "judge",
    "judge_mapping",
    "make_judge",
    "takes_blocks",
]
