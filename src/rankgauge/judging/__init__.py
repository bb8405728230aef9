"""Judging: which retrieved item is which gold item, by id or by text, under a policy."""

from rankgauge.judging.judge import Evidence, Target, judge
from rankgauge.judging.ranking import Ranking, prepare

__all__ = ["Evidence", "Ranking", "Target", "judge", "prepare"]
