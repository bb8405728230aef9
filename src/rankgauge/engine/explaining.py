"""
Explaining scores of a result or of a run: the data are read again, and must give the score that is explained.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from rankgauge.base.frozen import frozen
from rankgauge.catalog import Catalog
from rankgauge.engine.reopen import (
    check_definitions,
    column_of,
    evaluation_behind,
    evaluation_of,
    is_of_run,
    job_of,
    judged_again,
    lost_sample,
    plan_of,
    run_evaluation_of,
)
from rankgauge.engine.runs import RunOrigin
from rankgauge.errors import DataError, ParameterError, Problem, ResultError, counted, did_you_mean
from rankgauge.explain import Explanation
from rankgauge.explain.one_score import Scorer, explain_batch, explain_sample
from rankgauge.extensions import extension
from rankgauge.judging import Ranking
from rankgauge.judging.filtered import narrowed
from rankgauge.judging.outputs import Identity, prepare
from rankgauge.judging.top import read_queries
from rankgauge.planning.plan import Plan
from rankgauge.plugin.metric import WHOLE_RUN
from rankgauge.result import MetricSummary, Result, SampleText
from rankgauge.samples import Sample

__all__ = [
    "SAME",
    "changed",
    "explain_query",
    "explain_result",
    "explain_samples",
    "grade_strings",
    "is_same",
    "read_samples",
    "texts_of",
    "worst_samples",
]

SAME = 1e-12
"""How far a score may be from the saved one; sums of the same parts round alike."""


def explain_result(
    result: Result, sample: str, metric: str | None = None, *, catalog: Catalog | None = None
) -> Explanation:
    """Explain the score of one sample; see `Result.explain`."""
    (explanation,) = explain_samples(result, [sample], column_of(result, metric), catalog=catalog)
    return explanation


def worst_samples(
    result: Result, metric: str | None = None, n: int = 10, *, catalog: Catalog | None = None
) -> tuple[Explanation, ...]:
    """Explain the worst scores of a column, without trials; see `Result.worst`."""
    _check_count(n, "samples")
    column = column_of(result, metric)
    worst = [result.sample_ids[place] for place in column.worst(n)]
    return tuple(explain_samples(result, worst, column, trials=False, catalog=catalog))


def explain_samples(
    result: Result,
    sample_ids: Sequence[str],
    column: MetricSummary,
    *,
    trials: bool = True,
    catalog: Catalog | None = None,
) -> list[Explanation]:
    """Explain one column's scores of some samples, whose data are read once; *trials* says what would change them."""
    if column.info.aggregate == WHOLE_RUN:
        msg = f"{column.name!r} is one value of the whole run, so there is no score of one sample to explain"
        raise ResultError(msg)
    places = {sample_id: place for place, sample_id in enumerate(result.sample_ids)}
    for sample_id in sample_ids:
        if sample_id not in places:
            raise ResultError(_unknown("sample", sample_id, result.sample_ids, "the result has"))
    plan, samples = read_samples(result, sample_ids, column.name, catalog=catalog)
    planned = plan.column(column.name)
    target = planned.target_called(column.info.judged)
    scorer = Scorer(plan, planned, target, column.info.inferred)
    explanations = []
    for explanation in explain_batch(scorer, [samples[sample_id] for sample_id in sample_ids], trials=trials):
        sample_id = explanation.sample
        saved = float(column.repeat(1).values[places[sample_id]])
        if not is_same(explanation.score, None if math.isnan(saved) else saved):
            raise changed(column.name, sample_id, explanation.score, saved)
        lost = [gold.id for gold in explanation.missing]
        notes = (*explanation.notes, *extension("explanation notes")(plan, planned, target, samples[sample_id], lost))
        if column.repeats is not None:
            mean, of = float(column.values[places[sample_id]]), column.repeats.shape[1]
            note = f"this is the first of {of} repeats, whose mean is {mean:.4f}"
            notes = (*notes, note)
        explanations.append(dataclasses.replace(explanation, notes=notes))
    return explanations


def read_samples(
    result: Result, sample_ids: Collection[str], column: str = "", *, catalog: Catalog | None = None
) -> tuple[Plan, Mapping[str, Sample]]:
    """
    Return the plan of a result and some of its samples with the outputs that were scored, read again.

    The plan has the *column* that is needed, and may lack others; see `plan_of`.
    """
    if is_of_run(result):
        run = run_evaluation_of(result, catalog=catalog)
        check_definitions(run.plan, result)
        queries, _ = read_queries(run.qrels, run.given, set(sample_ids))
        return run.plan, {name: narrowed(sample, run.plan.profile.policy) for name, sample in queries.items()}
    evaluation = evaluation_of(result, catalog=catalog)
    plan = plan_of(evaluation, result, column)
    read: dict[str, Sample] = {}
    wanted = set(sample_ids)
    job = job_of(result, evaluation, plan)
    for sample in job.read():
        if sample.id in wanted:
            read[sample.id] = sample
            if len(read) == len(wanted):
                break
    if lost := sorted(wanted - read.keys()):
        raise lost_sample(lost[0], evaluation)
    return plan, read


def texts_of(result: Result, top: int = 10, *, catalog: Catalog | None = None) -> tuple[SampleText, ...]:
    """Return the question and the top results of every sample; see `Result.with_texts`."""
    _check_count(top, "results")
    plan, samples = read_samples(result, result.sample_ids, catalog=catalog)
    by: Identity = "text" if all(column.info.matcher is not None for column in result.metrics.values()) else "id"
    ordered = [samples[sample_id] for sample_id in result.sample_ids]
    texts = []
    for sample, ranking in zip(ordered, prepare(ordered, plan.profile, by=by), strict=True):
        given = frozen(sample.input)
        if not isinstance(ranking, Ranking):
            texts.append(SampleText(given, ()))
            continue
        ids = ranking.ids[:top]
        texts.append(SampleText(given, tuple(zip(ids, ranking.texts or [None] * top, strict=False))))
    return tuple(texts)


def explain_query(evaluation: RunOrigin, query: str) -> Explanation:
    """Explain the score of one query of a run by the first metric of the plan, without scoring the others."""
    plan, qrels = evaluation.plan, evaluation.qrels
    samples, seen = read_queries(qrels, evaluation.given, {query})
    msg = f"cannot explain query {query!r}:"
    if query not in samples and query in seen:
        raise DataError(msg, [Problem("the run has it, but it is not judged, so it has no score", qrels.source)])
    if query not in samples:
        raise DataError(msg, [Problem(_unknown("query", query, qrels.query_names, "the judgments have"), qrels.source)])
    if plan.profile.policy.queries == "intersection" and query not in seen:
        why = "the run has no results for it, and policy queries=intersection leaves it out"
        raise DataError(msg, [Problem(why, evaluation.given.name)])
    column = plan.metrics[0]
    inferred = {"max_grade": _highest(evaluation, seen)} if column.infers_max_grade else {}
    sample = narrowed(samples[query], plan.profile.policy)
    return explain_sample(Scorer(plan, column, column.targets[0], inferred), sample)


def _check_count(count: object, what: str) -> None:
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise ParameterError(f"the number of {what} must be an integer of 1 or more, not {count!r}")


def _highest(evaluation: RunOrigin, seen: Collection[str]) -> float:
    """Return the highest grade of the queries that are evaluated, as a run over all of them infers it."""
    qrels = evaluation.qrels
    grades = qrels.grades
    if evaluation.plan.profile.policy.queries == "intersection":
        of_query = [name in seen for name in qrels.query_names]
        grades = grades[[of_query[owner] for owner in qrels.owners.tolist()]]
    return float(grades.max(initial=0.0))


def _unknown(what: str, name: str, known: Sequence[str], where: str) -> str:
    several = "queries" if what == "query" else "samples"
    such = f", such as {known[0]!r}" if known else ""
    return f"no {what} {name!r}{did_you_mean(name, known)}; {where} {counted(len(known), what, several)}{such}"


def is_same(one: float | None, other: float | None) -> bool:
    """Return whether two scores are equal but for rounding; None is no score."""
    if one is None or other is None:
        return one is other
    return math.isclose(one, other, rel_tol=SAME, abs_tol=SAME)


def changed(column: str, sample_id: str, now: float | None, saved: float) -> ResultError:
    """Return the error of data that do not give the score of a result any more."""
    return ResultError(
        f"{column!r} of sample {sample_id!r} is {_told(now)} now, and the result has {_told(saved)}: the data have "
        "changed since; restore them, or evaluate again"
    )


def _told(score: float | None) -> str:
    return "no score" if score is None or math.isnan(score) else repr(score)


_NOT_POOLED, _UNJUDGED, _HIGH = "-", ".", ">"


def grade_strings(result: Result, length: int) -> list[str]:
    """
    Return one character for each of the first *length* results of every query of a run, which is read again.

    It is the grade from 0 to 9, without a fraction, or ``>`` for a higher one, ``-`` for a document that the judgments
    do not name, and ``.`` for one with a grade below 0: pooled, and not judged.
    """
    judged = judged_again(evaluation_behind(result, None), result)
    depth = np.minimum(judged.depth, length)
    shown = [[_NOT_POOLED] * count for count in depth.tolist()]
    rows = judged.rows.until(length)
    for sample, rank, grade in zip(rows.sample.tolist(), rows.rank.tolist(), rows.grade.tolist(), strict=True):
        shown[sample][rank - 1] = _UNJUDGED if grade < 0 else _HIGH if grade >= 10 else str(int(grade))
    return ["".join(letters) for letters in shown]
