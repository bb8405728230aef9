"""Two metrics, a normalizer and a matcher: a plugin for rankgauge."""

import numpy as np

from rankgauge.plugin import (
    Cutoff,
    Judged,
    JudgedSample,
    Scores,
    hookimpl,
    metric,
    named_matcher,
    normalizer,
    sample_metric,
)

RANKGAUGE_API = (1, 0)

FAIR = ("bounded", "perfect-is-one", "best-first", "relevant-helps", "padding", "tail", "duplicates")


@sample_metric("retrieval-capped-recall-at-k", short=("capped_recall",), laws=FAIR)
def capped_recall(ranking: JudgedSample, *, k: int) -> float | None:
    """Share of the relevant items found in the first *k*, of as many as *k* results can hold."""
    if ranking.n_gold == 0:
        return None
    found = sum(gain > 0 for gain in ranking.gains[:k])
    return found / min(k, ranking.n_gold)


@metric("retrieval-ncg-at-k", short=("ncg",), uses_rel=False, laws=FAIR)
def ncg(judged: Judged, *, k: Cutoff) -> Scores:
    """Share of the most gain there is that the first *k* results hold, at whatever ranks (NCG)."""
    earned, best = judged.credits(k), judged.ideal(k)
    with np.errstate(invalid="ignore"):
        return judged.sum(earned, earned.grade) / judged.sum(best, best.grade)


_PLAIN = str.maketrans({"“": '"', "”": '"', "„": '"', "’": "'", "‘": "'", "–": "-", "—": "-", "…": "..."})


@normalizer("plain-typography", stage="fold")
def plain_typography(text: str) -> str:
    """Replace curly quotes, dashes and ellipses with their plain-keyboard equivalents."""
    return text.translate(_PLAIN)


@named_matcher("contains-plain", "plain-typography | collapse-whitespace | casefold > contained >= 1")
def contains_plain() -> None:
    """Find the gold text in the retrieved one, ignoring typography, white space and case."""


@hookimpl
def rankgauge_metrics():
    return [capped_recall, ncg]


@hookimpl
def rankgauge_normalizers():
    return [plain_typography]


@hookimpl
def rankgauge_matchers():
    return [contains_plain]
