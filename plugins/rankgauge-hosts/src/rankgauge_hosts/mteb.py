"""
rankgauge beside MTEB: its metrics as scores of retrieval tasks, and models compared over tasks by their predictions.

Tasks are objects of MTEB, which is not imported here. Conventions are those of its own scores (profile `trec9`), and a
task's `ignore_identical_ids` and `skip_first_result` apply.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import rankgauge
from rankgauge.errors import DataError, ParameterError, Problem
from rankgauge_hosts.shared import MetricArgument

__all__ = ["Predictions", "read_predictions", "with_metrics"]

_PROFILE = "trec9"
_PREFIX = "rankgauge_"
_MODEL = "mteb_model_meta"

Rankings = dict[str, dict[str, float]]
Metrics = MetricArgument | Sequence[MetricArgument]
Task = TypeVar("Task")


class Predictions(NamedTuple):
    """
    What models retrieved for the queries of several tasks, with the judgments.

    Query ids are those of all tasks: ``SciFact/default/test/q1`` is query q1 of the split test of the subset default.

    Attributes:
        qrels: The judgments by query.

        runs: By model the scores of the documents that it retrieved for each query.

        tasks: The task of each query, which `rankgauge.compare` takes as `cluster`.
    """

    qrels: dict[str, dict[str, int]]
    runs: dict[str, Rankings]
    tasks: dict[str, str]

    def evaluate(self, metrics: Metrics, **options: Any) -> dict[str, rankgauge.Result]:  # noqa: ANN401
        """
        Score the models.

        Args:
            metrics: One or several metrics over ids and grades.

            options: Those of `rankgauge.evaluate`, such as `policy`.

        Returns:
            One result for each model. Its errors and intervals are those of clusters, which the tasks are, and each
            query is tagged with its task: ``result.by_tag()`` has the scores of each.

        Raises:
            RankgaugeError: As `rankgauge.evaluate`.
        """
        results = rankgauge.evaluate(self.qrels, runs=self.runs, metrics=metrics, **{"profile": _PROFILE, **options})
        return {
            model: result.with_tags([(self.tasks[query],) for query in result.sample_ids]).with_clusters(self.tasks)
            for model, result in results.items()
        }


def read_predictions(folders: Mapping[str, str | PathLike[str]], tasks: Iterable[Any]) -> Predictions:
    """
    Read what ``mteb.evaluate(model, tasks, prediction_folder=FOLDER)`` wrote for several models.

    Args:
        folders: The folder of each model, by the name that it is to have.

        tasks: The retrieval tasks, as `mteb.get_tasks` returns them. Their judgments are loaded where they are not.

    Returns:
        Rankings and judgments of all tasks.

    Raises:
        ParameterError: There is no folder.

        DataError: Predictions are missing or cannot be read, or those of two models are of other subsets or splits.
    """
    if not folders:
        raise ParameterError("read_predictions takes the folder of each model, such as {'e5': 'predictions/e5'}")
    found = Predictions({}, {model: {} for model in folders}, {})
    for task in tasks:
        read = {model: _read(Path(folder) / task.prediction_file_name) for model, folder in folders.items()}
        judgments = _judgments(task)
        first, *others = read
        for other in others:
            if (here := _parts(read[other])) != (there := _parts(read[first])):
                told = f"the predictions of {other} are of {_listed(here)}, those of {first} of {_listed(there)}"
                raise _unusable(f"{told}; run both models on the same subsets and splits", task.metadata.name)
        for subset, split in _parts(read[first]):
            qrels = judgments.get((subset, split))
            if qrels is None:
                raise _unusable(
                    f"predictions are of {subset}/{split}, and the task has no judgments", task.metadata.name
                )
            named = f"{task.metadata.name}/{subset}/{split}/"
            for query, grades in qrels.items():
                found.qrels[named + query] = grades
                found.tasks[named + query] = task.metadata.name
            for model, predictions in read.items():
                rankings = _as_scored(task, predictions[subset][split])
                found.runs[model] |= {named + query: scores for query, scores in rankings.items()}
    return found


def with_metrics(task: Task, metrics: Metrics, **options: Any) -> Task:  # noqa: ANN401
    """
    Make metrics of rankgauge scores of a retrieval task, which `mteb.evaluate` then returns and stores beside its own.

    Args:
        task: A retrieval task of MTEB; it is changed.

        metrics: One or several metrics over ids and grades.

        options: Those of `rankgauge.evaluate`, such as `policy`.

    Returns:
        The task. Its scores have names such as ``rankgauge_ndcg_at_10``; a metric that is undefined for every query
        is left out.

    Raises:
        RankgaugeError: The metrics cannot be used.
    """
    options = {"profile": _PROFILE, **options}
    # Mistakes show now, before a model encodes anything.
    rankgauge.evaluate({"query": {"document": 1}}, {"query": {"document": 1.0}}, metrics, **options)
    own: Any = task
    of_task = own.task_specific_scores

    def task_specific_scores(
        scores: Any,  # noqa: ANN401
        qrels: Mapping[str, Mapping[str, int]],
        results: Rankings,
        **place: str,
    ) -> dict[str, float]:
        result = rankgauge.evaluate(qrels, _as_scored(task, results), metrics, **options)
        means = {_PREFIX + column.info.safe_name: column.mean for column in result.metrics.values()}
        known = {name: mean for name, mean in means.items() if mean is not None}
        return {**of_task(scores, qrels, results, **place), **known}

    own.task_specific_scores = task_specific_scores
    return task


def _read(path: Path) -> dict[str, Any]:
    """Return predictions by subset and split."""
    try:
        content = json.loads(path.read_bytes())
    except OSError as error:
        told = f"{error.strerror}; mteb.evaluate(..., prediction_folder=...) writes this file"
        raise _unusable(told, str(path)) from error
    except ValueError as error:
        raise _unusable(f"this is not JSON: {error}", str(path)) from error
    if not isinstance(content, dict) or _MODEL not in content:
        raise _unusable(f"there is no {_MODEL!r}, so these are no predictions of MTEB", str(path))
    return {subset: splits for subset, splits in content.items() if subset != _MODEL}


def _unusable(message: str, source: str) -> DataError:
    return DataError("the predictions cannot be used:", [Problem(message, source)])


def _parts(predictions: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, str]]:
    return sorted((subset, split) for subset, splits in predictions.items() for split in splits)


def _listed(parts: Iterable[tuple[str, str]]) -> str:
    return ", ".join("/".join(part) for part in parts)


def _judgments(task: Any) -> dict[tuple[str, str], dict[str, dict[str, int]]]:  # noqa: ANN401  # an object of MTEB
    """Return the judgments by subset and split, without queries that have none, as MTEB leaves these out."""
    was_loaded = task.data_loaded
    if not was_loaded:
        task.load_data()
    task.convert_v1_dataset_format_to_v2(num_proc=None)
    judgments = {
        (subset, split): {query: dict(grades) for query, grades in data["relevant_docs"].items() if grades}
        for subset, splits in task.dataset.items()
        for split, data in splits.items()
    }
    if not was_loaded:
        task.unload_data()  # with its corpus
    return judgments


def _as_scored(task: Any, results: Rankings) -> Rankings:  # noqa: ANN401  # an object of MTEB
    """Return rankings without what MTEB leaves out before it scores them."""
    if task.ignore_identical_ids:
        results = {query: {name: scores[name] for name in scores if name != query} for query, scores in results.items()}
    if task.skip_first_result:
        ranked = {query: sorted(scores, key=scores.__getitem__, reverse=True) for query, scores in results.items()}
        results = {query: {name: results[query][name] for name in names[1:]} for query, names in ranked.items()}
    return results
