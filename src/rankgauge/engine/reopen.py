"""
The road back: from a result to the evaluation that it came from, with the same data, outputs and definitions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rankgauge.catalog import Catalog
from rankgauge.engine.engine import Engine
from rankgauge.engine.evaluation import Evaluation
from rankgauge.engine.runs import RunEvaluation, plan_run
from rankgauge.errors import ResultError, counted
from rankgauge.io.files import digest
from rankgauge.io.open_sources import open_qrels, open_run
from rankgauge.planning.plan import Plan
from rankgauge.result import Result

__all__ = ["check_definitions", "evaluation_of", "is_of_run", "run_evaluation_of"]

_CONFIG = "config.resolved.yaml"
_AGAIN = "evaluate again"


def is_of_run(result: Result) -> bool:
    """Return whether a result is of a run and judgments, so that `run_evaluation_of` is its road back."""
    return "files" in result.manifest


def evaluation_of(result: Result, *, catalog: Catalog | None = None) -> Evaluation:
    """
    Return the evaluation that a result of samples came from, with the outputs that were scored.

    Planning it checks nothing against the result; `check_definitions` does.

    Args:
        result: A result of this process, or one that was loaded from its folder.

        catalog: What plugins offer, for a result from a folder; by default everything that is installed.

    Returns:
        The evaluation; running it gives the same scores without any call. It has no limit of samples: that is in the
        manifest under ``dataset.limit``.

    Raises:
        ResultError: The data or outputs are not kept, or not the same any more; it says which.

        UnreadableError: A file is not there any more, or cannot be read.
    """
    if is_of_run(result):
        raise ResultError("this is a result of a run and judgments, not of samples")
    if result.origin is not None:
        evaluation = result.origin.evaluation
        if not isinstance(evaluation, Evaluation):
            raise _lost(result)
        if result.origin.outputs is not None:
            given: Any = result.origin.outputs
            evaluation = evaluation.with_outputs(given)
    elif result.folder is None or "merged_from" in result.manifest:
        raise _lost(result)
    else:
        with _complete(result):
            evaluation = _from_folder(result.manifest, result.folder, catalog)
    with _complete(result):
        _check_data(evaluation, result.manifest)
    return evaluation


def run_evaluation_of(result: Result, *, catalog: Catalog | None = None) -> RunEvaluation:
    """
    Return plan, judgments and run that a result of a run came from.

    A run has no fingerprint: whoever reads it again compares the score of a query with the saved one.

    Args:
        result: As in `evaluation_of`.

        catalog: As in `evaluation_of`.

    Returns:
        What `evaluate_plan` takes.

    Raises:
        ResultError: The judgments or the run are not in files, or the judgments are not the same any more.

        DataError: A file cannot be read.
    """
    if not is_of_run(result):
        raise ResultError("this is a result of samples, not of a run and judgments")
    if result.origin is not None and isinstance(result.origin.evaluation, RunEvaluation):
        return result.origin.evaluation
    manifest = result.manifest
    if result.folder is None or "merged_from" in manifest:
        raise _lost(result)
    with _complete(result):
        files: Mapping[str, Any] = {"columns": None, **manifest["files"]}
        for what, key in (("judgments", "qrels"), ("run", "run")):
            if files[key] is None:
                msg = f"{result.folder}: its {what} came from memory or standard input, and cannot be read again"
                raise ResultError(msg)
        catalog = catalog or Catalog.discover()
        chosen = catalog.profile(manifest["profile"]).adapted(manifest["policy"], manifest["relevance"])
        plan = plan_run(list(_metrics(result)), profile=chosen, k=manifest["default_k"]["k"], catalog=catalog)
        check_definitions(plan, result)
        qrels = open_qrels(files["qrels"], columns=files["columns"], intents="intents" in plan.needs, catalog=catalog)
        _check("judgments", files["qrels"], manifest["dataset"]["fingerprint"], qrels.fingerprint)
        return RunEvaluation(
            plan, qrels, open_run(files["run"], columns=files["columns"], catalog=catalog), files["columns"]
        )


def check_definitions(plan: Plan, result: Result) -> None:
    """
    Refuse a plan under which a column of a result would mean something else.

    Args:
        plan: A plan with the columns of the result.

        result: The result.

    Raises:
        ResultError: A column is not in the plan, or is defined differently; it says which and by whom.
    """
    planned = {metric.name: metric for metric in plan.metrics}
    for name, column in result.metrics.items():
        info, here = column.info, planned.get(name)
        if here is None or here.fingerprint != info.fingerprint:
            by = info.provider
            was = f"{info.expression} of {by.get('distribution') or 'a Python function'} {by.get('version', '')}"
            found = "nothing" if here is None else f"{here.expression} of {here.provider}"
            raise ResultError(
                f"{name!r} cannot be computed as it was: the result has {was}, here is "
                f"{found}; install what the result was made with, or evaluate again"
            )


@contextmanager
def _complete(result: Result) -> Iterator[None]:
    """Refuse a manifest that lacks what every result of a run has."""
    try:
        yield
    except KeyError as error:
        where = "the manifest" if result.folder is None else result.folder / "manifest.json"
        raise ResultError(f"{where} lacks {error}; {_AGAIN}") from error


def _from_folder(manifest: Mapping[str, Any], folder: Path, catalog: Catalog | None) -> Evaluation:
    """Return the evaluation that the folder's config describes."""
    dataset, outputs = manifest["dataset"], manifest["outputs"]
    if dataset["path"] is None:
        msg = f"the samples of {folder} were given in Python and are not kept; save with keep_data=True to keep them"
        raise ResultError(msg)
    if outputs["from"] == "argument" and outputs["path"] is None:
        msg = f"the outputs of {folder} were given in Python and are not kept; save with keep_data=True to keep them"
        raise ResultError(msg)
    engine = Engine.from_config(folder / _CONFIG, catalog=catalog)
    if len(engine.dataset_names) != 1:
        raise ResultError(
            f"{folder / _CONFIG} has {counted(len(engine.dataset_names), 'dataset')}, and a result is of one; {_AGAIN}"
        )
    return engine.dataset(*engine.dataset_names)


def _check_data(evaluation: Evaluation, manifest: Mapping[str, Any]) -> None:
    """Refuse a dataset or an outputs file that has changed."""
    data, outputs = evaluation.data, manifest["outputs"]
    dataset = manifest["dataset"]
    saved = dataset.get("fingerprint")
    if isinstance(data.source, Path):
        saved = dataset.get("kept_fingerprint", saved)
        found = digest(data.source)  # says so where there is no such file
    else:
        found = data.fingerprint()
    _check("dataset", data.label, saved, found)
    if isinstance(data.outputs, Path) and outputs.get("fingerprint") is not None:
        _check("outputs file", str(data.outputs), outputs["fingerprint"], digest(data.outputs))


def _check(what: str, where: str, saved: str | None, found: str) -> None:
    if saved != found:
        raise ResultError(
            f"the {what} {where} is not what the result was computed from: its fingerprint is {found}, and the result "
            f"has {saved}; restore it, or evaluate again"
        )


def _metrics(result: Result) -> Iterator[dict[str, Any]]:
    """Yield the columns of a run as they are asked for."""
    for name, column in result.metrics.items():
        wanted: dict[str, Any] = {"metric": column.info.expression, "as": name}
        if column.info.cut in {"free", "own"} and column.info.k is not None:
            wanted["k"] = column.info.k[0]  # no query of a run brings one of its own
        yield wanted


def _lost(result: Result) -> ResultError:
    """Return the error of a result that has no road back."""
    parts = result.manifest.get("merged_from")
    why = "it was put together in Python or sent from another process" if parts is None else f"it has {parts} parts"
    return ResultError(
        f"it is not known from which data this result was computed: {why}; use the result of `run`, or a folder that "
        "was saved from it"
    )
