"""Rankings and judgments as columns: what TREC files, tables and mappings become before they are joined."""

from rankgauge.rankings.batch import RankingBatch
from rankgauge.rankings.numbers import number_problem
from rankgauge.rankings.qrels import Qrels
from rankgauge.rankings.slices import PADDING, Slices, Words, encoded, short_keys, words_of
from rankgauge.rankings.source import RunSource

__all__ = [
    "PADDING",
    "Qrels",
    "RankingBatch",
    "RunSource",
    "Slices",
    "Words",
    "encoded",
    "number_problem",
    "short_keys",
    "words_of",
]
