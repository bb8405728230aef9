"""
Explaining one score: its ranks, and trials with one change, scored again by the road that every sample takes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from rankgauge.base.guard import ForeignError
from rankgauge.base.plain_text import visible
from rankgauge.errors import counted
from rankgauge.explain.explanation import Explanation, Trial
from rankgauge.judging import Ranking, Target, judge
from rankgauge.judging.by_declared import nearest
from rankgauge.judging.outputs import copies
from rankgauge.judging.ranking import as_compared
from rankgauge.judging.units import unit_rule
from rankgauge.planning.plan import Plan
from rankgauge.planning.resolve import PlannedMetric
from rankgauge.policy import Policy
from rankgauge.samples import Expected, Output, Place, Sample
from rankgauge.scoring.details import arithmetic
from rankgauge.scoring.dropped import dropped_notes, with_dropped
from rankgauge.scoring.facts import MissingGold, RankFacts, SampleFacts, facts_of
from rankgauge.scoring.score import FAILED, STATUSES, JudgedBatch, MetricScores, flaws, score_metric
from rankgauge.silence import is_silence

__all__ = ["Scorer", "explain_batch", "explain_sample", "on_top", "without_each"]


class Scorer(NamedTuple):
    """One column of a plan, judged against one kind of gold."""

    plan: Plan
    column: PlannedMetric
    target: Target  # in a run that is the first kind that any sample of the data has
    found: Mapping[str, float] = MappingProxyType({})  # parameters that were inferred from the whole data

    def scored(self, samples: Sequence[Sample]) -> tuple[MetricScores, JudgedBatch]:
        """Judge and score samples, by the road that every run takes; the batch keeps samples and rankings."""
        matcher = self.column.matchers.get(self.target)
        evidence = judge(samples, self.target, self.plan.profile, matcher, keep=self.plan.keep(rankings=True))
        batch = JudgedBatch({self.target: evidence}, flaws(samples), [sample.k for sample in samples], list(samples))
        return score_metric(self.plan, self.column, self.target, batch, self.found), batch

    def values(self, samples: Sequence[Sample]) -> list[float | None]:
        """Return the scores of samples, None if nothing counts and where the metric fails."""
        outcome = self.scored(samples)[0].outcome
        pairs = zip(outcome.values.tolist(), outcome.status.tolist(), strict=True)
        return [None if math.isnan(value) or status == FAILED else value for value, status in pairs]


_AT_ONCE = 100_000
"""How many results of changed rankings are judged at once."""

_MOST_ON_TOP = 20


def without_each(
    scorer: Scorer, sample: Sample, ranking: Ranking | None, ranks: Sequence[RankFacts]
) -> tuple[Trial, ...]:
    """Return the score without each of some results; a result goes with the duplicates that it stands for."""
    output = sample.output
    if ranking is None or not isinstance(output, Output) or scorer.target.judges == "answer":
        return ()
    entries = [ranking.entry(held.rank) for held in ranks]
    rolled, profile = scorer.target.rolled(sample).output, scorer.target.profile(scorer.plan.profile)
    judged = rolled if isinstance(rolled, Output) else output
    without = (_without(output, copies(judged, entry, profile, by=scorer.target.identity)) for entry in entries)
    scores = _scores(scorer, (sample._replace(output=changed) for changed in without), len(output.ids))
    return tuple(Trial(held.rank, held.id, score) for held, score in zip(ranks, scores, strict=True))


def on_top(scorer: Scorer, sample: Sample, missing: Sequence[MissingGold]) -> tuple[Trial, ...]:
    """
    Return the score with each of the first 20 missing gold items at rank 1; one found below the cutoff moves up.

    Of a set it is the fewest items that complete it, one after the other.
    """
    if sample.output is not None and not isinstance(sample.output, Output):
        return ()  # the output failed; nothing can be put on top of it
    if scorer.target.declared is not None and scorer.target.declared.judge is not None:
        return ()  # only the plugin knows what an item would have to be
    output = sample.output or Output(())
    tried = missing[:_MOST_ON_TOP]
    listed = {} if scorer.target.unit is None else unit_rule(scorer.target.unit).gold(sample)
    of_items, members = scorer.target.of_items, {}
    if scorer.target.kind.has_no_rank:
        sets = scorer.target.rolled(sample).expected.sets_of(of_items.gold)
        members = {str(each): each.fewest() for each in sets}

    def raised(gold: MissingGold) -> Sample:
        changed = output
        wanted = of_items.texts_called(members.get(gold.id, (gold.id,)), sample.expected)
        for name in reversed(wanted):
            changed = _with(changed, listed.get(name, name), scorer, sample.expected)
        return sample._replace(output=changed)

    scores = _scores(scorer, map(raised, tried), len(output.ids) + 1)
    return tuple(Trial(gold.rank, gold.id, score) for gold, score in zip(tried, scores, strict=True))


def _scores(scorer: Scorer, changed: Iterable[Sample], depth: int) -> Iterator[float | None]:
    """Yield the scores of changed samples, so many at once as fit in memory well."""
    rest = iter(changed)
    while batch := list(islice(rest, max(1, _AT_ONCE // max(1, depth)))):
        yield from scorer.values(batch)


def _without(output: Output, dropped: Sequence[int]) -> Output:
    """Return an output without some of its items."""
    kept = sorted(set(range(len(output.ids))).difference(dropped))
    return output._replace(
        ids=[output.ids[place] for place in kept],
        texts=None if output.texts is None else [output.texts[place] for place in kept],
        scores=None if output.scores is None else [output.scores[place] for place in kept],
        places=None if output.places is None else [output.places[place] for place in kept],
        metadata=None if output.metadata is None else [output.metadata[place] for place in kept],
        searches=output.searches and output.searches._replace(of_items=[output.searches.of_items[at] for at in kept]),
    )


def _with(output: Output, gold: str, scorer: Scorer, expected: Expected) -> Output:
    """Return an output with a gold item at rank 1, or as the answer if that is judged."""
    if scorer.target.kind.has_support:  # an answer states many, so that it keeps what it has
        answer = f"{output.answer or ''}\n{gold}".lstrip()
        return output._replace(answer=answer, support={**(output.support or {}), gold: 1.0})
    if scorer.target.judges == "answer":
        return output._replace(answer=gold)
    score: float | None = None
    if scorer.target.identity == "place":
        (span,) = (each for each in expected.spans or () if str(each.place) == gold)
        raised = _in_front(output, text=span.text, place=span.place)
    elif scorer.target.matcher is not None:
        raised = _in_front(output, text=gold, place=None)
    else:
        places = [place for place, name in enumerate(output.ids) if name == gold]
        rest = _without(output, places)
        text = output.texts[places[0]] if places and output.texts is not None else None
        score = output.scores[places[0]] if places and output.scores is not None else None
        raised = rest._replace(ids=[gold, *rest.ids], texts=None if rest.texts is None else [text, *rest.texts])
    if raised.searches is not None:  # the first one returned it
        raised = raised._replace(searches=raised.searches._replace(of_items=[1, *raised.searches.of_items]))
    if output.metadata is not None:
        known = next((output.metadata[place] for place, name in enumerate(output.ids) if name == gold), None)
        raised = raised._replace(metadata=[known, *(raised.metadata or ())])
    return _scored_on_top(raised, scorer.plan.profile.policy, score)


def _in_front(output: Output, *, text: str | None, place: Place | None) -> Output:
    """Return an output with a new item before all others, which has no id."""
    nothing = [None] * len(output.ids)
    texts, places = (text, *(output.texts or nothing)), (place, *(output.places or nothing))
    return output._replace(ids=[None, *output.ids], texts=texts, places=places)


def _scored_on_top(output: Output, policy: Policy, score: float | None) -> Output:
    """
    Give the first item, which is new, its own *score*, or one above all others if scores decide the order.

    Each then becomes its place among the distinct ones: there is room above the highest, and
    whatever was tied stays tied.
    """
    if policy.order != "score":
        return output._replace(scores=None if output.scores is None else [score, *output.scores])
    compared: list[float] = as_compared(np.array(output.scores or (), dtype=np.float64), policy).tolist()
    places = {value: float(place) for place, value in enumerate(sorted(set(compared)))}
    return output._replace(scores=[float(len(places)), *map(places.__getitem__, compared)])


_SHOWN = 100
"""How many ranks without a gold item are shown."""


def explain_sample(scorer: Scorer, sample: Sample, *, trials: bool = True) -> Explanation:
    """Explain one score of one sample; with *trials* also how it changes without a result, or with a missing one."""
    (explanation,) = explain_batch(scorer, [sample], trials=trials)
    return explanation


def explain_batch(scorer: Scorer, samples: Sequence[Sample], *, trials: bool = True) -> Iterator[Explanation]:
    """Explain one score of several samples, which are judged at once; as `explain_sample` does each."""
    judged = str(scorer.target)
    scorer, samples = _at_stage(scorer, samples)
    scores, batch = scorer.scored(samples)
    found = list(facts_of(scores, batch, plain=_SHOWN))
    missing = with_dropped(scorer.plan, scorer.column, scorer.target, samples, [facts.missing for facts in found])
    for place, (sample, facts) in enumerate(zip(samples, found, strict=True)):
        ranking = batch.evidence[scorer.target].kept.rankings[place]
        facts = facts._replace(missing=_with_nearest(scorer, sample, ranking, missing[place]))  # noqa: PLW2901  # with more
        yield replace(_explained(scorer, sample, scores, batch, place, facts, trials=trials), judged=judged)


def _with_nearest(
    scorer: Scorer, sample: Sample, ranking: Ranking | None, missing: tuple[MissingGold, ...]
) -> tuple[MissingGold, ...]:
    """Return missing gold items with what results hold of those of a plugin's kind."""
    if ranking is None or all(gold.rank is not None for gold in missing):
        return missing
    try:
        near = nearest(sample, ranking, scorer.target)
    except ForeignError:  # which failed the sample
        return missing
    return tuple(replace(gold, nearest=near.get(gold.id, "")) if gold.rank is None else gold for gold in missing)


def _at_stage(scorer: Scorer, samples: Sequence[Sample]) -> tuple[Scorer, Sequence[Sample]]:
    """Return a scorer whose trials change the ranking of its stage, and samples whose output is that ranking."""
    target = scorer.target
    if target.stage is None:
        return scorer, samples
    whole = target._replace(stage=None)
    matcher = scorer.column.matchers.get(target)
    column = replace(scorer.column, targets=(whole,), matchers={} if matcher is None else {whole: matcher})
    return scorer._replace(column=column, target=whole), list(map(target.staged, samples))


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
    column, target = scorer.column, scorer.target
    value = float(scores.outcome.values[place])
    score = None if math.isnan(value) else value
    status = STATUSES[int(scores.outcome.status[place])]
    tried = trials and status in {"scored", "missing"}
    return Explanation(
        sample=sample.id,
        input=sample.input,
        metric=column.name,
        expression=str(column.expression),
        higher_is_better=column.metric.higher_is_better,
        judged=str(target),
        judges=target.judges,
        by_text=target.by_text,
        score=score,
        status=status,
        reason=scores.outcome.reasons.get(place, ""),
        k=scores.k if scores.k is None or isinstance(scores.k, int) else int(scores.k[place]),
        ranks=facts.ranks,
        n_ranks=facts.n_ranks,
        missing=facts.missing,
        arithmetic=arithmetic(column.name, facts, value),
        without=without_each(scorer, sample, batch.evidence[target].kept.rankings[place], facts.ranks) if tried else (),
        with_missing_on_top=on_top(scorer, sample, facts.missing) if tried else (),
        notes=(
            *filter(None, (facts.fault, _said(scorer, sample))),
            *(dropped_notes(sample, scorer.plan.profile.policy) if target.judges == "retrieved" else ()),
        ),
        budget="" if column.cut.budget is None else str(column.cut.budget),
    )


def _said(scorer: Scorer, sample: Sample) -> str:
    """Say whether an output says something, if that is judged, and why; empty for anything else."""
    output, phrases = sample.output, scorer.plan.profile.policy.abstains
    if scorer.target.gold != "answerable" or "spent" in scorer.column.metric.judging.needs:
        return ""
    if not isinstance(output, Output):
        return ""
    if output.answer is None:
        shown = counted(len(output.ids), "result")
        return f"there is no answer, and {shown} retrieved, which says {'something' if output.ids else 'nothing'}"
    if not output.answer.strip():
        return "the answer is blank, which says nothing"
    if is_silence(output.answer, phrases):
        return f"the answer says nothing: it consists of phrases of policy abstains ({visible(output.answer)})"
    return f"the answer says something, as it is not blank{' and no phrase of policy abstains' if phrases else ''}"
