"""
Explaining one score of one sample.
"""

from __future__ import annotations

import math

from rankgauge.explain.explanation import Explanation
from rankgauge.explain.scorer import Scorer
from rankgauge.explain.trials import on_top, without_each
from rankgauge.samples import Sample
from rankgauge.scoring.arithmetic import arithmetic
from rankgauge.scoring.facts import facts_of
from rankgauge.scoring.score import STATUSES

__all__ = ["explain_sample"]

_SHOWN = 100
"""How many ranks without a gold item are shown."""


def explain_sample(scorer: Scorer, sample: Sample, *, trials: bool = True) -> Explanation:
    """
    Explain one score of one sample.

    Args:
        scorer: The column, and what it is judged against.

        sample: The sample with its output.

        trials: Whether to score it again without each result, and with missing gold items on top.

    Returns:
        The explanation.
    """
    scores, batch = scorer.scored([sample])
    (facts,) = facts_of(scores, batch, plain=_SHOWN)
    value = float(scores.outcome.values[0])
    score = None if math.isnan(value) else value
    status = STATUSES[int(scores.outcome.status[0])]
    ranking = batch.evidence[scorer.target].rankings[0]
    tried = trials and status in {"scored", "missing"}
    return Explanation(
        sample=sample.id,
        input=sample.input,
        metric=scorer.column.name,
        expression=str(scorer.column.expression),
        higher_is_better=scorer.column.metric.higher_is_better,
        judged=str(scorer.target),
        judges=scorer.target.judges,
        by_text=scorer.target.matcher is not None,
        score=score,
        status=status,
        reason=scores.outcome.reasons.get(0, ""),
        k=scores.k if scores.k is None or isinstance(scores.k, int) else int(scores.k[0]),
        ranks=facts.ranks,
        n_ranks=facts.n_ranks,
        missing=facts.missing,
        arithmetic=arithmetic(scorer.column.name, facts, score),
        without=without_each(scorer, sample, ranking, facts.ranks) if tried else (),
        with_missing_on_top=on_top(scorer, sample, facts.missing) if tried else (),
        notes=(facts.fault,) if facts.fault else (),
    )
