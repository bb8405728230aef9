"""
Explaining one score of one sample.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from rankgauge.explain.explanation import Explanation
from rankgauge.explain.scorer import Scorer
from rankgauge.explain.trials import on_top, without_each
from rankgauge.samples import Sample
from rankgauge.scoring.arithmetic import arithmetic
from rankgauge.scoring.facts import SampleFacts, facts_of
from rankgauge.scoring.score import STATUSES, JudgedBatch, MetricScores

__all__ = ["explain_batch", "explain_sample"]

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
    (explanation,) = explain_batch(scorer, [sample], trials=trials)
    return explanation


def explain_batch(scorer: Scorer, samples: Sequence[Sample], *, trials: bool = True) -> Iterator[Explanation]:
    """Explain one score of several samples, which are judged at once; as `explain_sample` does each."""
    scores, batch = scorer.scored(samples)
    for place, (sample, facts) in enumerate(zip(samples, facts_of(scores, batch, plain=_SHOWN), strict=True)):
        yield _explained(scorer, sample, scores, batch, place, facts, trials=trials)


def _explained(
    scorer: Scorer,
    sample: Sample,
    scores: MetricScores,
    batch: JudgedBatch,
    place: int,
    facts: SampleFacts,
    *,
    trials: bool,
) -> Explanation:
    value = float(scores.outcome.values[place])
    score = None if math.isnan(value) else value
    status = STATUSES[int(scores.outcome.status[place])]
    ranking = batch.evidence[scorer.target].rankings[place]
    tried = trials and status in {"scored", "missing"}
    return Explanation(
        sample=sample.id,
        input=sample.input,
        metric=scorer.column.name,
        expression=str(scorer.column.expression),
        higher_is_better=scorer.column.metric.higher_is_better,
        judged=str(scorer.target),
        judges=scorer.target.judges,
        by_text=scorer.target.gold != "relevant",
        score=score,
        status=status,
        reason=scores.outcome.reasons.get(place, ""),
        k=scores.k if scores.k is None or isinstance(scores.k, int) else int(scores.k[place]),
        ranks=facts.ranks,
        n_ranks=facts.n_ranks,
        missing=facts.missing,
        arithmetic=arithmetic(scorer.column.name, facts, score),
        without=without_each(scorer, sample, ranking, facts.ranks) if tried else (),
        with_missing_on_top=on_top(scorer, sample, facts.missing) if tried else (),
        notes=(facts.fault,) if facts.fault else (),
        budget="" if scorer.column.cut.budget is None else str(scorer.column.cut.budget),
    )
