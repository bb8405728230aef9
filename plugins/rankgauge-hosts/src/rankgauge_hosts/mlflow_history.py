"""
A history of results as runs of an MLflow experiment: `log_history`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from datetime import datetime

from mlflow.entities import Metric, Run
from mlflow.exceptions import MlflowException
from mlflow.tracking import MlflowClient

from rankgauge.errors import ResultError
from rankgauge.history import Entry, History
from rankgauge.text import safe_name

__all__ = ["log_history"]

_ID = "rankgauge.entry"
"""The tag of a run by which it is found again: what the history calls an entry."""


def log_history(
    history: str | os.PathLike[str] | History,
    *,
    experiment: str = "rankgauge",
    dataset: str | None = None,
    system: str | None = None,
    tag: str | None = None,
) -> list[str]:
    """
    Log each entry of a history as a run of an MLflow experiment, at the time when it was computed.

    An entry that has a run in this experiment is not logged again, so that a job may call this after each run.

    Args:
        history: A history, or its file.

        experiment: The experiment's name; it is made if there is none.

        dataset: Only entries of this dataset.

        system: Only entries of this system.

        tag: Only entries with this tag.

    Returns:
        The ids of the MLflow runs, one for each entry, the oldest first by dataset.

    Raises:
        ResultError: There is no such file, it is not a history, or MLflow refuses what is logged.

        ParameterError: No entry is of this dataset or system, or has this tag.
    """
    history = history if isinstance(history, History) else History(history)
    entries = history.entries(dataset=dataset, system=system, tag=tag)
    client = MlflowClient()
    try:
        known = client.get_experiment_by_name(experiment)
        number: str = client.create_experiment(experiment) if known is None else known.experiment_id
        runs = {run.data.tags[_ID]: run.info.run_id for run in _runs(client, number) if _ID in run.data.tags}
        return [runs.get(entry.id) or _logged(client, number, entry) for entry in entries]
    except MlflowException as error:
        raise ResultError(f"{history.path} cannot be logged to the experiment {experiment!r}: {error}") from error


def _runs(client: MlflowClient, experiment: str) -> Iterator[Run]:
    """Yield the runs of an experiment that are not deleted, page by page."""
    token = None
    while True:
        page = client.search_runs([experiment], max_results=1000, page_token=token)
        yield from page
        token = page.token
        if not token:
            return


def _logged(client: MlflowClient, experiment: str, entry: Entry) -> str:
    """Log one entry; return the id of its run, which gets its tag last, so that half a run is not taken for one."""
    at = _milliseconds(entry.created_at)
    run = client.create_run(experiment, start_time=at, run_name=entry.name)
    name: str = run.info.run_id
    metrics = [Metric(metric, value, at, 0) for metric, value in _metrics(entry)]
    for start in range(0, len(metrics), _AT_ONCE):
        client.log_batch(name, metrics=metrics[start : start + _AT_ONCE])
    for tag, value in _tags(entry):
        client.set_tag(name, tag, value)
    client.set_terminated(name, end_time=at)
    client.set_tag(name, _ID, entry.id)
    return name


_AT_ONCE = 500
"""How many metrics MLflow takes in one call, and some to spare."""


def _metrics(entry: Entry) -> Iterator[tuple[str, float]]:
    """Yield the numbers of an entry under names that MLflow takes: ``ndcg_at_10``, ``ndcg_at_10/low``."""
    parts = {"": entry.means} | {f"/cohort/{_plain(cohort)}": means for cohort, means in entry.cohorts.items()}
    for part, means in parts.items():
        for column, mean in means.items():
            base = f"{safe_name(column)}{part}"
            numbers = {base: mean.mean, f"{base}/low": mean.low, f"{base}/high": mean.high, f"{base}/n": mean.n}
            yield from ((name, float(value)) for name, value in numbers.items() if value is not None)
    yield "samples", float(entry.n)
    yield "failed", float(entry.failed)
    if entry.seconds is not None:
        yield "seconds", entry.seconds


def _tags(entry: Entry) -> Iterator[tuple[str, str]]:
    """Yield the words of an entry; those that it does not have are left out."""
    words = {
        "mlflow.source.git.commit": entry.commit,
        "rankgauge.dataset": entry.dataset,
        "rankgauge.system": entry.system,
        "rankgauge.data": entry.data,
        "rankgauge.folder": entry.folder,
        "rankgauge.tags": ", ".join(entry.tags),
        "rankgauge.gates": "" if entry.passed is None else "passed" if entry.passed else "failed",
        **{f"rankgauge.definition.{safe_name(column)}": name for column, name in entry.fingerprints.items()},
    }
    yield from ((tag, value) for tag, value in words.items() if value)


def _plain(cohort: str) -> str:
    """Return the name of a cohort in the letters that MLflow takes."""
    return re.sub(r"[^\w.\- ]", "_", cohort, flags=re.ASCII)


def _milliseconds(created_at: str) -> int:
    return int(datetime.fromisoformat(created_at).timestamp() * 1000)
