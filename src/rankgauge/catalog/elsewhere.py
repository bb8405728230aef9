"""
Elsewhere: well-known measures that are no metrics of rankgauge itself, so that whoever asks for one learns where it is.
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


_OF_TWO_RANKINGS = frozenset(
    {
        *("tau", "taua", "taub", "tauap", "kendall", "kendalltau", "kendallstau"),
        *("rbo", "rbomin", "rbores", "rboext", "rankbiasedoverlap", "overlap", "jaccard"),
    }
)
"""What compares a ranking with another one, not with judgments."""

_OF_CATALOGUES = frozenset(
    {
        *("coverage", "itemcoverage", "catalogcoverage", "cataloguecoverage", "gini", "giniindex"),
        *("novelty", "selfinformation", "ild", "intralistdistance", "intralistdiversity", "intralistsimilarity"),
    }
)
"""What recommenders are measured by besides relevance."""


def elsewhere_hint(name: str) -> str:
    """Return where a well-known measure is found that is no metric of rankgauge itself; empty for any other name."""
    bare = re.sub(r"[^a-z]", "", name.lower())
    if bare in _OF_ANSWERS:
        return (
            "rankgauge scores what was retrieved, and answers against expected ones, without a language model; for "
            "this metric see ragas or DeepEval, in which rankgauge's metrics run beside it (`pip install "
            "rankgauge-hosts`, docs/how-to/embed-in-ragas.md)"
        )
    if bare in _OF_TWO_RANKINGS:
        return (
            "two rankings are compared by `rankgauge trec RUN --against OTHER`, or rankgauge.rank_agreement "
            "(docs/how-to/compare-rankings.md)"
        )
    if bare in _OF_CATALOGUES:
        return "measures of catalogues and recommenders are in a plugin (`pip install rankgauge-recsys`)"
    return ""
