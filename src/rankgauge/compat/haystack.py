"""Haystack's evaluators of retrieved documents and of answers, for documents of any kind."""

from rankgauge.features.compat.haystack import (
    AnswerExactMatchEvaluator,
    AnswerScores,
    Document,
    DocumentMAPEvaluator,
    DocumentMRREvaluator,
    DocumentNDCGEvaluator,
    DocumentRecallEvaluator,
    DocumentScores,
    RecallMode,
    value_of,
)

__all__ = [
    "AnswerExactMatchEvaluator",
    "AnswerScores",
    "Document",
    "DocumentMAPEvaluator",
    "DocumentMRREvaluator",
    "DocumentNDCGEvaluator",
    "DocumentRecallEvaluator",
    "DocumentScores",
    "RecallMode",
    "value_of",
]
