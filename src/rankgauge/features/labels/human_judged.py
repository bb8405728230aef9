"""
`prediction_powered`: from runs, and judgments of a model and of people, to a comparison that trusts the people.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from rankgauge.columns import Qrels
from rankgauge.engine.runs import CONVENTIONS, RunConventions, evaluate_runs, plan_run
from rankgauge.errors import DataError, NothingToEvaluateError, ParameterError, Problem, counted
from rankgauge.features.labels.powered_comparison import JudgedQuestions, PoweredComparison, compare_powered
from rankgauge.io.judgment_sources import sources_of
from rankgauge.io.nested_mappings import qrels_of_mapping
from rankgauge.io.open_sources import QrelsLike, RunLike, open_qrels
from rankgauge.named_options import check_names, listing
from rankgauge.planning.plan import Plan, PlannedMetric
from rankgauge.planning.requests import MetricSpec
from rankgauge.scoring.flaws import SCORED

__all__ = ["grades_of", "powered_by_plan", "prediction_powered"]

_Floats = NDArray[np.float64]
_Grades = dict[str, dict[str, float]]


@listing(RunConventions, CONVENTIONS)
def prediction_powered(
    runs: Mapping[str, RunLike],
    metrics: Sequence[MetricSpec] | MetricSpec,
    *,
    judgments: QrelsLike,
    human: QrelsLike,
    confidence: float = 0.95,
    columns: Mapping[str, str] | None = None,
    **conventions: Unpack[RunConventions],
) -> PoweredComparison:
    """
    Compare runs by many judgments of a model and few of people, without trusting the model.

    ::

        found = rankgauge.prediction_powered(
            {"old": "old.run", "new": "new.run"}, ["ndcg@10"], judgments="model.qrels", human="people.qrels"
        )
        found["ndcg@10"].differences["new"].estimate.both.interval()

    The model's judgments give every question a value; people say how far those values are off. The questions that
    people judged have to be drawn at random from all. For a metric that declares the law `linear`, such as P@10, a
    random part of a question's documents is enough; for others, such as nDCG and AP, people judge every document of a
    question that the model judged, and questions of which they judged some are left out. Where a metric is undefined
    the value is 0. Formula and source: `rankgauge.features.labels.prediction_powered`.

    Args:
        runs: One run or more by name, as in `evaluate`; the others are compared with the first.

        metrics: Metrics in any spelling, each with a mean.

        judgments: The model's, as the judgments in `evaluate`.

        human: Those of people, of some of the same documents.

        confidence: Of intervals and verdicts.

        columns: As in `evaluate`.

        profile: As in `evaluate`.

        policy: As in `evaluate`.

        rel: As in `evaluate`.

        k: As in `evaluate`.

        catalog: As in `evaluate`.

    Returns:
        For each metric the mean of each run, and its difference from the first, both by people and model together.

    Raises:
        ParameterError: Metrics without a mean over questions, or a confidence that is none.

        PlanError: Metrics that cannot be resolved.

        DataError: Files that cannot be used, or too few judgments of people.

        NothingToEvaluateError: People judged nothing that the model judged.
    """
    check_names("prediction_powered", conventions, inspect.signature(prediction_powered).parameters)
    plan = plan_run(metrics, **conventions)
    return powered_by_plan(plan, runs, judgments, human, confidence=confidence, columns=columns)


def powered_by_plan(
    plan: Plan,
    runs: Mapping[str, RunLike],
    judgments: QrelsLike,
    human: QrelsLike,
    *,
    confidence: float = 0.95,
    columns: Mapping[str, str] | None = None,
) -> PoweredComparison:
    """Do what `prediction_powered` does, by a plan that was made."""
    if not 0 < confidence < 1:
        raise ParameterError(f"confidence lies between 0 and 1, not at {confidence!r}")
    if not runs:
        raise ParameterError("name at least one run")
    policy = plan.profile.policy
    if policy.queries != "judged" or policy.missing_output == "exclude":
        left_out = "queries=intersection" if policy.queries != "judged" else "missing_output=exclude"
        raise ParameterError(f"every question counts here, and policy {left_out} leaves out those that a run lacks")
    for metric in plan.metrics:
        _check(metric)
    by_model, by_people = (open_qrels(each, columns=columns, catalog=plan.catalog) for each in (judgments, human))
    model, people = grades_of(by_model), grades_of(by_people)
    shared = {
        query: {document: grade for document, grade in grades.items() if document in model[query]}
        for query, grades in people.items()
        if query in model
    }
    shared = {query: grades for query, grades in shared.items() if grades}
    if not shared:
        why = "no document of a question is in both; queries and documents go by their ids"
        raise NothingToEvaluateError(
            "the judgments of people cannot be used:", [Problem(why, by_people.source or "those of people")]
        )
    places = {query: at for at, query in enumerate(model)}
    whole = [query for query, grades in shared.items() if len(grades) == len(model[query])]
    parts = [query for query in shared if query not in set(whole)]
    table = _Tables(plan, runs, model, columns)
    all_by_model, all_by_people = table.of({}), table.of(shared)
    of_parts = {query: {each: model[query][each] for each in shared[query]} for query in parts}
    some_by_model = table.of(of_parts) if parts else all_by_model
    questions = []
    for at, metric in enumerate(plan.metrics):
        is_linear = _is_linear(metric, plan)
        used = [*whole, *parts] if is_linear else whole
        labelled = np.array([places[query] for query in used], dtype=np.int64)
        # Drawn at random, a part of the documents amounts to so many times its value.
        times = np.array([len(model[query]) / len(shared[query]) for query in used])
        values = times * all_by_people[:, at, labelled]
        chance = times * some_by_model[:, at, labelled] - all_by_model[:, at, labelled]
        questions.append(
            JudgedQuestions(
                name=metric.name,
                higher_is_better=metric.metric.higher_is_better,
                range=metric.metric.range,
                is_linear=is_linear,
                model=all_by_model[:, at],
                people=values,
                chance=chance,
                labelled=labelled,
            )
        )
    return compare_powered(
        list(runs),
        questions,
        judgments=by_model.source or "the model's judgments",
        human=by_people.source or "those of people",
        confidence=confidence,
        notes=[
            *filter(None, (by_model.merged_note, by_people.merged_note)),
            *_told_by_models(by_people),
            *_notes(model, people, shared, parts, questions),
            *table.notes,
        ],
    )


def _told_by_models(people: Qrels) -> list[str]:
    """Return a note on judgments of people that models gave; a `DataError` if all are a model's."""
    given = sources_of(people.source, people.n_judgments)
    if given is None or not given.by_models:
        return []
    if given.by_models >= given.judgments:
        why = f"they are {given.sentence}; people are who --human has judged (`human` in Python)"
        raise DataError("the judgments of people are a model's:", [Problem(why, people.source)])
    return [f"not all of {people.source} are of people: {given.sentence}"]


def _check(metric: PlannedMetric) -> None:
    """Refuse what has no mean over questions, or is not judged by grades of documents alone."""
    msg = ""
    if metric.metric.is_whole or metric.metric.aggregate != "mean":
        msg = "has no mean over questions"
    elif metric.metric.describes or not metric.metric.needs_gold:
        msg = "does not say how good a ranking is"
    elif "intents" in metric.metric.judging.needs:
        msg = "is judged by intents, which are not distinguished here"
    if msg:
        raise ParameterError(f"{metric.name} {msg}, so that judgments of people cannot correct it")


def _is_linear(metric: PlannedMetric, plan: Plan) -> bool:
    """Return whether values of parts of the judgments add up: not if ranks or gains depend on all of them."""
    depends = plan.profile.policy.judged_only or metric.infers_max_grade
    return "linear" in metric.metric.laws and not depends


def grades_of(qrels: Qrels) -> _Grades:
    """Return judgments as ``{query: {document: grade}}``."""
    grades: _Grades = {query: {} for query in qrels.query_names}
    owned = zip(qrels.owners.tolist(), qrels.names, qrels.grades.tolist(), strict=True)
    for owner, document, grade in owned:
        grades[qrels.query_names[owner]][document] = grade
    return grades


class _Tables:
    """Evaluates the runs by the model's judgments, with some questions judged otherwise."""

    def __init__(
        self, plan: Plan, runs: Mapping[str, RunLike], model: _Grades, columns: Mapping[str, str] | None
    ) -> None:
        self._plan = plan
        self._runs = runs
        self._model = model
        self._columns = columns
        self._zeros = 0

    @property
    def notes(self) -> list[str]:
        """Return how many values are no scores."""
        if not self._zeros:
            return []
        return [f"{counted(self._zeros, 'value')} of a question counted as 0, where a metric is undefined or missing"]

    def of(self, otherwise: Mapping[str, Mapping[str, float]]) -> _Floats:
        """Return the value of each run, metric and question, 0 if there is none."""
        qrels = qrels_of_mapping({**self._model, **otherwise})
        results = evaluate_runs(self._plan, qrels, self._runs, columns=self._columns)
        places = {query: at for at, query in enumerate(self._model)}
        table = np.zeros((len(results), len(self._plan.metrics), len(places)))
        for row, result in zip(table, results.values(), strict=True):
            at = [places[query] for query in result.sample_ids]
            for line, column in zip(row, result.metrics.values(), strict=True):
                line[at] = column.values
                line[np.isnan(line)] = 0.0
                if not otherwise:
                    self._zeros += len(places) - int(np.count_nonzero(column.codes == SCORED))
        return table


def _notes(
    model: _Grades, people: _Grades, shared: _Grades, parts: Sequence[str], questions: Sequence[JudgedQuestions]
) -> list[str]:
    """Return what of the judgments of people was not used, and of what."""
    notes = []
    unknown = sum(len(grades) for grades in people.values()) - sum(len(grades) for grades in shared.values())
    if unknown:
        notes.append(f"{counted(unknown, 'judgment')} of people left out, of documents that the model did not judge")
    others = [each.name for each in questions if not each.is_linear]
    if parts and others:
        what = f"{counted(len(parts), 'question')} of which people judged a part of the documents"
        notes.append(f"{what} left out of {', '.join(others)}")
    if any(each.is_linear for each in questions) and parts:
        done = sum(len(shared[query]) for query in parts) / sum(len(model[query]) for query in parts)
        notes.append(
            f"people judged {done:.0%} of the documents of {counted(len(parts), 'question')}: the part has to be drawn "
            "at random, too"
        )
    return notes
