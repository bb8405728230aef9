"""
Details: how a score came about, as facts with ids and texts, and as one line of arithmetic.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import orjson

from rankgauge.base.frozen import FrozenList, FrozenMap
from rankgauge.base.guard import ForeignError, guarded
from rankgauge.catalog import ResolvedMatcher
from rankgauge.columns import Cutoff, Relevance
from rankgauge.judging import Evidence, Ranking, Target
from rankgauge.judging.by_text import scores_of
from rankgauge.planning.plan import Plan
from rankgauge.planning.resolve import PlannedMetric
from rankgauge.samples import Sample
from rankgauge.scoring.dropped import with_dropped
from rankgauge.scoring.facts import SampleFacts, facts_of, missing_by_name, rank_by_name
from rankgauge.scoring.score import JudgedBatch, MetricScores, cut_for, cutoffs_of, judged_for

__all__ = ["add_explanations", "add_near_misses", "arithmetic", "explain_batch", "joined"]

_MOST_TERMS = 12
_EXACT = 1e-12


def arithmetic(name: str, facts: SampleFacts, score: float) -> str | None:
    """
    Return ``ndcg@2 = (2*0.6309) / 2.6309 (ideal DCG) = 0.4796``; None if the score is no sum over ranks.

    Where only ranks divide, a discount of ``1 / rank`` is written as a division by the rank. After the first 12 terms
    their sum stands for the rest.
    """
    if facts.divisor is None:  # as it is if there is no score
        return None
    terms = [(rank.rank, rank.gain, rank.discount or 0.0) for rank in facts.ranks if rank.gain]
    is_reciprocal = not facts.divisor_is and all(abs(discount * rank - 1) < _EXACT for rank, _, discount in terms)
    written = [_term(*term, is_reciprocal=is_reciprocal) for term in terms[:_MOST_TERMS]]
    if rest := terms[_MOST_TERMS:]:
        added = sum(gain * discount for _, gain, discount in rest)
        written.append(f"{_number(added)} ({len(rest):,} more)")
    steps = [name, *_quotient(written, facts)]
    if steps[-1] != _number(score):
        steps.append(_number(score))
    return " = ".join(steps)


def _quotient(terms: Sequence[str], facts: SampleFacts) -> list[str]:
    """Return the sum of some terms, divided by what they are divided by."""
    added = " + ".join(terms) or "0"
    if facts.divisor in {None, 1.0} and not facts.divisor_is:
        return [added]
    divided = f"({added})" if len(terms) > 1 else added
    unit = f" ({facts.divisor_is})" if facts.divisor_is else ""
    return [f"{divided} / {_number(facts.divisor or 0.0)}{unit}"]


def _term(rank: int, gain: float, discount: float, *, is_reciprocal: bool) -> str:
    if discount == 1.0:
        return _number(gain)
    if is_reciprocal:
        return f"{_number(gain)}/{rank}"
    return _number(discount) if gain == 1.0 else f"{_number(gain)}*{_number(discount)}"


def _number(value: float) -> str:
    """Return a number with four decimals, or four digits of a small one, without zeros at the end."""
    if abs(value) < 1e-3:
        return f"{value:.4g}"
    return f"{value:.4f}".rstrip("0").rstrip(".")


_SHOWN = 100
_LONGEST = 500


def explain_batch(scores: MetricScores, batch: JudgedBatch) -> list[dict[str, Any]]:
    """
    Return the facts behind every score of one metric, by name for each sample.

    They are `k`, what the metric's own details say, and what it asked to be joined (`relevant`, `top_k`: ids;
    `expected_span`: the matched answer, else the first one). Lists of ids are cut at 100.
    """
    column, k, extra, samples = scores.metric, scores.k, scores.extra, batch.samples
    evidence = batch.evidence[scores.target]
    cutoffs = cutoffs_of(len(samples), k)
    facts: list[dict[str, Any]] = [{} if cutoff is None else {"k": cutoff} for cutoff in cutoffs]
    judged = judged_for(column, evidence)
    if column.metric.explaining.details is not None:
        cut_judged, cutoff = cut_for(column, judged, k)
        try:
            with guarded():
                details = column.metric.explaining.details(
                    cut_judged, **column.metric.cutoff.given(cutoff), **column.params, **extra
                )
                for name, values in details.items():
                    for fact, value in zip(facts, values, strict=True):
                        _add(fact, name, value, f"{column.name!r} (by {column.provider})")
        except ForeignError as error:  # scores do not depend on details
            message = f"the details of {column.name!r} (by {column.provider}) failed: {error}"
            for fact in facts:
                fact["details_failed"] = message
    spans = _matched_gold(evidence, k) if "expected_span" in column.metric.explaining.joins else {}
    if column.metric.explaining.joins:
        for place, (sample, ranking) in enumerate(zip(samples, evidence.kept.rankings, strict=True)):
            facts[place] |= joined(column, judged.relevance, sample, ranking, cutoffs[place], spans.get(place, 0))
    return facts


def joined(
    column: PlannedMetric,
    relevance: Relevance,
    sample: Sample,
    ranking: Ranking | None,
    cutoff: int | None,
    span: int = 0,
) -> dict[str, object]:
    """Return what a metric asked to be joined to the facts of a sample; *span* is the place of the matched answer."""
    return {join: _join(join, relevance, sample, ranking, cutoff, span) for join in column.metric.explaining.joins}


def _add(fact: dict[str, Any], name: object, value: object, of: str) -> None:
    """Add a detail as plain values; one that cannot be written is left out, and `details_failed` says why."""
    try:
        if not isinstance(name, str):
            raise TypeError(f"its name is a {type(name).__name__}, not a text")  # noqa: TRY301  # as what JSON refuses
        fact[name] = value if type(value) in _PLAIN else orjson.loads(orjson.dumps(value, _unfolded, _OPTIONS))
    except (TypeError, RecursionError) as error:  # orjson's error is a `TypeError`
        fact["details_failed"] = f"the detail {name!r} of {of} cannot be written: {error}"


_PLAIN = frozenset({bool, float, type(None)})
_OPTIONS = orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS


def _unfolded(value: object) -> object:
    """Return what a value that JSON lacks stands for, such as an array of another layout, or a read-only mapping."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray | memoryview):
        return list(value)
    raise TypeError(f"JSON has no {type(value).__name__}")


def _join(
    join: str, relevance: Relevance, sample: Sample, ranking: Ranking | None, cutoff: int | None, span: int
) -> object:
    if join == "top_k":
        ids = [] if ranking is None else ranking.ids[:cutoff]
        return [f"#{rank}" if name is None else name for rank, name in enumerate(ids[:_SHOWN], 1)]
    if join == "relevant":
        gains = sample.expected.relevant or {}
        return [name for name, gain in gains.items() if relevance.holds(gain)][:_SHOWN]
    answers = sample.expected.answer
    return answers[span] if answers else None


def _matched_gold(evidence: Evidence, k: Cutoff | None) -> dict[int, int]:
    """Return which gold item of its sample each sample's first row within the cutoff holds, from 0."""
    rows, places = evidence.judged.rows.until(k), evidence.judged.gold.rank
    matched: dict[int, int] = {}
    for sample, gold in zip(rows.sample.tolist(), rows.gold.tolist(), strict=True):
        matched.setdefault(sample, int(places[gold]) - 1)
    return matched


def add_explanations(facts: Sequence[dict[str, Any]], plan: Plan, scores: MetricScores, batch: JudgedBatch) -> None:
    """
    Add to *facts* of a scored batch how each score comes about, the same for every metric.

    Each sample receives `explanation`: ``{ranks, missing, arithmetic}`` as `rankgauge explain --json` prints them, but
    for texts, and of ranks only those that hold a gold item.
    """
    values = scores.outcome.values.tolist()
    found = list(facts_of(scores, batch))
    missing = with_dropped(plan, scores.metric, scores.target, batch.samples, [parts.missing for parts in found])
    for fact, parts, gold, value in zip(facts, found, missing, values, strict=True):
        fact["explanation"] = FrozenMap(
            ranks=FrozenList(map(rank_by_name, parts.ranks)),
            missing=FrozenList(map(missing_by_name, gold)),
            arithmetic=arithmetic(scores.metric.name, parts, value),
        )


def add_near_misses(
    facts: Sequence[dict[str, Any]], batch: JudgedBatch, target: Target, matcher: ResolvedMatcher
) -> None:
    """
    Add to *facts*, for each gold text that nothing matched, the retrieved text that came nearest.

    Each sample receives `near_misses`, a list of ``{gold, score, rank, retrieved}``; rank and text are None if
    nothing came near at all.
    """
    evidence, samples = batch.evidence[target], batch.samples
    matched = {(int(sample), int(gold)) for sample, gold in zip(*_matched(evidence), strict=True)}
    for place, (fact, sample, ranking) in enumerate(zip(facts, samples, evidence.kept.rankings, strict=True)):
        gold = list(dict.fromkeys(target.kind.texts(sample.expected)))
        missed = [text for number, text in enumerate(gold, 1) if (place, number) not in matched]
        texts = [text or "" for text in (ranking.texts or ())] if ranking is not None else []
        fact["near_misses"] = [_nearest(text, texts, matcher) for text in missed]


def _matched(evidence: Evidence) -> tuple[list[int], list[int]]:
    rows = evidence.judged.rows
    return rows.sample.tolist(), evidence.judged.gold.rank[rows.gold].tolist()


def _nearest(gold: str, texts: Sequence[str], matcher: ResolvedMatcher) -> dict[str, Any]:
    miss: dict[str, Any] = {"gold": gold[:_LONGEST], "score": 0.0, "rank": None, "retrieved": None}
    if not texts:
        return miss
    try:
        with guarded():
            compared = matcher.compare_all([matcher.normalize(text) for text in texts], [matcher.normalize(gold)])
            scores = scores_of(compared, len(texts), 1)[:, 0]
    except ForeignError:  # the score itself says so already
        return miss
    best = int(np.argmax(scores))
    if scores[best] > 0:
        miss.update(score=float(scores[best]), rank=best + 1, retrieved=texts[best][:_LONGEST])
    return miss
