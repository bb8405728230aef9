"""Judging: the one ranking policy, then which retrieved item is which gold item, by id or by text."""

from rankgauge.judging.budgets import Budget
from rankgauge.judging.evidence import Evidence, TakesBlocks, TakesPlaced
from rankgauge.judging.gold_keys import GoldKeys
from rankgauge.judging.judge import Judge, judge, make_judge, takes_blocks
from rankgauge.judging.keeping import Keep
from rankgauge.judging.leaks import Leak, leaks_note, untried_notes
from rankgauge.judging.mappings import judge_mapping
from rankgauge.judging.outputs import Ranking
from rankgauge.judging.ranking import BlockJudge
from rankgauge.judging.run import BatchJudge, RunCollector, RunCounts, ScatteredError
from rankgauge.judging.target import BY_ID, Target

__all__ = [
    "BY_ID",
    "BatchJudge",
    "BlockJudge",
    "Budget",
    "Evidence",
    "GoldKeys",
    "Judge",
    "Keep",
    "Leak",
    "Ranking",
    "RunCollector",
    "RunCounts",
    "ScatteredError",
    "TakesBlocks",
    "TakesPlaced",
    "Target",
    "judge",
    "judge_mapping",
    "leaks_note",
    "make_judge",
    "takes_blocks",
    "untried_notes",
]
