"""
Elsewhere: well-known metrics that rankgauge leaves to others, so that whoever asks for one learns where it is.
"""

from __future__ import annotations

import re

__all__ = ["elsewhere_hint"]

_OF_ANSWERS = frozenset(
    {
        *("faithfulness", "groundedness", "hallucination", "toxicity", "bias", "coherence", "summarization", "geval"),
        *("answerrelevancy", "answerrelevance", "responserelevancy", "answercorrectness", "answersimilarity"),
        *("contextprecision", "contextrecall", "contextrelevancy", "contextrelevance", "contextentityrecall"),
        *("contextualprecision", "contextualrecall", "contextualrelevancy", "factualcorrectness", "noisesensitivity"),
        *("bleu", "rouge", "rougel", "meteor", "bertscore", "perplexity"),
    }
)
"""What ragas, DeepEval and others score with a language model, or by comparing generated texts."""


def elsewhere_hint(name: str) -> str:
    """Return where a metric is found that judges generated texts; empty for any other name."""
    if re.sub(r"[^a-z]", "", name.lower()) not in _OF_ANSWERS:
        return ""
    return (
        "rankgauge scores what was retrieved, and answers against expected ones, without a language model; for this "
        "metric see ragas or DeepEval, in which rankgauge's metrics run beside it (`pip install rankgauge-hosts`, "
        "docs/how-to/embed-in-ragas.md)"
    )
