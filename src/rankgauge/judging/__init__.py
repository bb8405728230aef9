"""Judging: which retrieved item is which gold item, by id or by text, under a policy."""

from rankgauge.judging.evidence import Evidence, Target
from rankgauge.judging.judge import Judge, judge, make_judge
from rankgauge.judging.ranking import Ranking, prepare

__all__ = ["Evidence", "Judge", "Ranking", "Target", "judge", "make_judge", "prepare"]
