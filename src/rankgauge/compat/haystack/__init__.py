"""
Haystack's evaluators of retrieved documents and of answers, for documents of any kind.

Profile `haystack` has the same conventions; there are no cutoffs. Haystack itself is not needed: a document is anything
with `content`, `id`, `meta` and `score`. As in the original, empty lists and lists of different length raise
`ValueError`.
"""

from rankgauge.compat.haystack.documents import Document
from rankgauge.compat.haystack.evaluators import (
    AnswerExactMatchEvaluator,
    AnswerScores,
    DocumentMAPEvaluator,
    DocumentMRREvaluator,
    DocumentNDCGEvaluator,
    DocumentRecallEvaluator,
    DocumentScores,
    RecallMode,
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
]
