"""
Haystack's evaluators of retrieved documents and of answers, for documents of any kind.

Profile `haystack` has the same conventions; nothing has a cutoff. Haystack itself is not needed: a document is
anything with `content`, `id`, `meta` and `score`. The originals raise `ValueError` where lists are empty or of
different length, and so do these.
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
