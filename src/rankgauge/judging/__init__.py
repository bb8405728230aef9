"""Judging: the one ranking policy, then which retrieved item is which gold item, by id or by text."""

from rankgauge.judging.blocks import BlockJudge
from rankgauge.judging.budgets import Budget
from rankgauge.judging.counts import RunCounts
from rankgauge.judging.evidence import Evidence, Target
from rankgauge.judging.gold_keys import GoldKeys
from rankgauge.judging.judge import Judge, judge, make_judge, takes_blocks
from rankgauge.judging.keeping import Keep
from rankgauge.judging.mappings import judge_mapping
from rankgauge.judging.outputs import Ranking
from rankgauge.judging.run import BatchJudge, RunCollector, ScatteredError

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
