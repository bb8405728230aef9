"""Every numpy structure: rankings and judgments before they are joined, and the judged columns that metrics read."""

from rankgauge.columns.batch import ChangedRun, RankingBatch, RunSource, number_problem
from rankgauge.columns.hashes import IdSketch, IdSketcher, keys_of_gold
from rankgauge.columns.judged import Judged
from rankgauge.columns.judged_rows import (
    ANY_GRADE,
    POSITIVE,
    Cutoff,
    Flags,
    Floats,
    Intents,
    Ints,
    Relevance,
    Rows,
    Scores,
    has_mask,
    intents_of,
    unmasked,
    unmasked_flags,
)
from rankgauge.columns.parts import Parts
from rankgauge.columns.qrels import Qrels
from rankgauge.columns.seen import JudgedSample, Searched, Seen
from rankgauge.columns.slices import PADDING, Slices, Words, are_texts, encoded, short_keys, words_at
from rankgauge.columns.stretches import Cover, Lengths, Stretches

__all__ = [
    "ANY_GRADE",
    "PADDING",
    "POSITIVE",
    "ChangedRun",
    "Cover",
    "Cutoff",
    "Flags",
    "Floats",
    "IdSketch",
    "IdSketcher",
    "Intents",
    "Ints",
    "Judged",
    "JudgedSample",
    "Lengths",
    "Parts",
    "Qrels",
    "RankingBatch",
    "Relevance",
    "Rows",
    "RunSource",
    "Scores",
    "Searched",
    "Seen",
    "Slices",
    "Stretches",
    "Words",
    "are_texts",
    "encoded",
    "has_mask",
    "intents_of",
    "keys_of_gold",
    "number_problem",
    "short_keys",
    "unmasked",
    "unmasked_flags",
    "words_at",
]
