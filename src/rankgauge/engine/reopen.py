"""
The road back: from a result to the evaluation that it came from, and to a run that is judged again.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from rankgauge.catalog import Catalog
from rankgauge.columns import Floats, Judged
from rankgauge.engine.configured import configured, configured_evaluation, data_source
from rankgauge.engine.evaluation import Evaluation
from rankgauge.engine.job import PLACES, Job
from rankgauge.engine.run_options import RunOptions
from rankgauge.engine.runs import RunOrigin, evaluate_runs, judge_run, judgments_for, plan_run
from rankgauge.errors import ParameterError, PlanError, ResultError, counted
from rankgauge.explain.bounds import Bounds, check_bounds, mean_bounds
from rankgauge.io.datasets import DataSource
from rankgauge.io.excluded_files import opened_options
from rankgauge.io.files import digest
from rankgauge.io.open_sources import open_run
from rankgauge.planning.identity import fingerprint_of
from rankgauge.planning.plan import Plan
from rankgauge.planning.requests import MetricSpec
from rankgauge.policy import Profile
from rankgauge.result import MetricSummary, Result
from rankgauge.result.query_weights import weighted
from rankgauge.samples import Sample
from rankgauge.scoring.score import SCORED
from rankgauge.stats import aggregate

__all__ = [
    "bounds",
    "check_definitions",
    "column_of",
    "condensed",
    "evaluation_behind",
    "evaluation_of",
    "is_of_run",
    "job_of",
    "judged_again",
    "lost_sample",
    "plan_of",
    "reading_job",
    "run_evaluation_of",
    "samples_of",
    "scored_only",
    "unjudged_share",
]


_CONFIG = "config.resolved.yaml"
_AGAIN = "evaluate again"


def is_of_run(result: Result) -> bool:
    """Return whether a result is of a run and judgments, so that `run_evaluation_of` is its road back."""
    return "files" in result.manifest


def _refuse_given(result: Result) -> None:
    if "scores" in result.manifest:
        raise ResultError("another tool computed these scores, and the data behind them are not known")


def evaluation_of(result: Result, *, catalog: Catalog | None = None) -> Evaluation:
    """
    Return the evaluation that a result of samples came from, with the outputs that were scored.

    It has no limit of samples, and is not checked against the result: `job_of` and `check_definitions` are for that.
    """
    _refuse_given(result)
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
            evaluation = _from_folder(result.manifest, result.folder, catalog or result.catalog)
    with _complete(result):
        _check_data(evaluation, result.manifest)
    return evaluation.with_weights(_weights_of_each(result))


def _weights_of_each(result: Result) -> dict[str, float] | None:
    """Return the weight of each sample; None if all count the same."""
    weights = next((column.weights for column in result.metrics.values() if column.weights is not None), None)
    return None if weights is None else dict(zip(result.sample_ids, weights.tolist(), strict=True))


def run_evaluation_of(result: Result, *, catalog: Catalog | None = None) -> RunOrigin:
    """Return what a result of a run came from, for `evaluate_runs`; refuse judgments that have changed."""
    _refuse_given(result)
    if not is_of_run(result):
        raise ResultError("this is a result of samples, not of a run and judgments")
    if result.origin is not None and isinstance(result.origin.evaluation, RunOrigin):
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
        catalog = _catalog_for(manifest, catalog or result.catalog or Catalog.installed())
        relevance = None if isinstance(manifest["relevance"], str) else manifest["relevance"]  # the profile has a text
        chosen = catalog.profile(manifest["profile"]).adapted(_policy_of(manifest), relevance)
        _check_excluded(chosen, manifest)
        plan = plan_run(list(_metrics(result)), profile=chosen, k=manifest["default_k"]["k"], catalog=catalog)
        check_definitions(plan, result)
        qrels = judgments_for(plan, files["qrels"], files["columns"])
        _check("judgments", files["qrels"], manifest["dataset"]["fingerprint"], qrels.fingerprint)
        run = open_run(files["run"], columns=files["columns"], catalog=catalog)
        return RunOrigin(plan, qrels, run, files["columns"])


def _policy_of(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return the policy options of a manifest, with what the file of `excluded` holds now."""
    options = dict(manifest["policy"])
    if (excluded := options.get("excluded")) is not None:
        options["excluded"] = excluded.get("path") or excluded["documents"]
    return opened_options(options)


def job_of(result: Result, evaluation: Evaluation, plan: Plan, most: int | None = None) -> Job:
    """Return what reads the samples of a result again, at *most* so many of them, with the first of repeats."""
    stages = frozenset(stage for stage, of in result.manifest.get(PLACES, {}).items() if not of["trusted"])
    limits = [limit for limit in (result.manifest["dataset"].get("limit"), most) if limit is not None]
    return reading_job(plan, evaluation.data, min(limits, default=None), stages)


def samples_of(result: Result, catalog: Catalog | None = None) -> Iterator[Sample]:
    """Yield the samples of a result from its data, which are read again; see `Result.samples`."""
    evaluation = evaluation_of(result, catalog=catalog)
    plan = plan_of(evaluation, result)
    scored = frozenset(result.sample_ids)
    return (sample for sample in job_of(result, evaluation, plan).read() if sample.id in scored)


def reading_job(
    plan: Plan, data: DataSource, limit: int | None = None, distrusted: frozenset[str] = frozenset()
) -> Job:
    """Return what reads samples, each with the first of its outputs, for what makes no result of them."""
    return Job(plan, data, RunOptions(limit=limit, repeats=1, distrusted=distrusted))


def lost_sample(sample_id: str, evaluation: Evaluation) -> ResultError:
    """Return the error of data that a sample of a result is missing from."""
    return ResultError(
        f"sample {sample_id!r} is not in {evaluation.data.label} any more; restore it, or evaluate again"
    )


def plan_of(evaluation: Evaluation, result: Result, column: str = "") -> Plan:
    """
    Return the plan of a result's evaluation, by the same definitions.

    Metrics that were functions of a file, and that no plugin offers, are left out of it; raise `ResultError` if the
    *column* that is needed is one of them, or nothing else is there.
    """
    try:
        plan = evaluation.plan()
    except PlanError as error:
        known = evaluation.catalog().metrics
        infos = {name: own.info for name, own in result.metrics.items()}
        lost = [name for name, info in infos.items() if info.alias not in known and not info.provider["distribution"]]
        kept = [spec for spec in evaluation.metrics if _is_planned(evaluation, spec)]
        if not lost:
            raise
        if column in lost or not kept:
            name = column if column in lost else lost[0]
            raise ResultError(
                f"{name} is a function of {infos[name].provider['file']}, which no plugin offers, so that it cannot be "
                "computed again; `rankgauge run` with the function explains scores by --worst and --html, and once a "
                "plugin offers it, any command finds it"
            ) from error
        plan = evaluation.with_metrics(kept).plan()
        result = result.with_columns(own for name, own in result.metrics.items() if name not in lost)
    check_definitions(plan, result)
    return plan


def _is_planned(evaluation: Evaluation, spec: MetricSpec) -> bool:
    """Return whether a metric can be computed here."""
    try:
        evaluation.with_metrics([spec]).plan()
    except PlanError:
        return False
    return True


def check_definitions(plan: Plan, result: Result) -> None:
    """Refuse a plan under which a column of a result would mean something else; say which and by whom."""
    planned = {metric.name: metric for metric in plan.metrics}
    for name, column in result.metrics.items():
        info, here = column.info, planned.get(name)
        if here is None or not any(
            here.fingerprint_against(target) == (info.unweighted or info.fingerprint)
            for target in here.targets
            if str(target) == info.judged
        ):
            by = info.provider
            was = f"{info.expression} of {by.get('distribution') or 'a Python function'} {by.get('version', '')}"
            now = "nothing" if here is None else f"{here.expression} of {here.provider}"
            raise ResultError(
                f"{name!r} cannot be computed as it was: the result has {was}, here is "
                f"{now}; install what the result was made with, or evaluate again"
            )


def column_of(result: Result, metric: str | None) -> MetricSummary:
    """Return a column in any spelling, or the leading one."""
    try:
        return result[metric] if metric is not None or result.leading is None else result.leading
    except KeyError as error:
        raise ResultError(str(error.args[0])) from None


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
    from rankgauge.config import load_config  # pydantic loads only if there is a config

    loaded = load_config(folder / _CONFIG)
    names = list(loaded.config.datasets)
    if len(names) != 1:
        raise ResultError(f"{folder / _CONFIG} has {counted(len(names), 'dataset')}, and a result is of one; {_AGAIN}")
    config = configured(loaded, None if catalog is None else _catalog_for(manifest, catalog))
    here = _catalog_for(manifest, config.catalog)
    return configured_evaluation(config, data_source(loaded, *names), lambda: here)


def _catalog_for(manifest: Mapping[str, Any], catalog: Catalog) -> Catalog:
    """Return a catalog whose errors say which plugins a result was made with that cannot be used here."""
    return catalog.made_with({each["distribution"]: each["version"] for each in manifest.get("plugins") or ()})


def _check_data(evaluation: Evaluation, manifest: Mapping[str, Any]) -> None:
    """Refuse a dataset or an outputs file that has changed."""
    data, outputs = evaluation.data, manifest["outputs"]
    dataset = manifest["dataset"]
    saved = dataset.get("fingerprint")
    if isinstance(data.source, Path):
        saved = dataset.get("kept_fingerprint", saved)
        now = digest(data.source)  # says so if there is no such file
    else:
        now = data.fingerprint()
    _check("dataset", data.label, saved, now)
    if isinstance(data.outputs, Path) and outputs.get("fingerprint") is not None:
        _check("outputs file", str(data.outputs), outputs["fingerprint"], digest(data.outputs))
    _check_excluded(evaluation.profile, manifest)


def _check_excluded(profile: Profile, manifest: Mapping[str, Any]) -> None:
    """Refuse other documents than were left out."""
    excluded, saved = profile.policy.excluded, manifest["policy"].get("excluded")
    if excluded is not None and saved is not None:
        _check("list of documents to leave out", str(excluded), saved["fingerprint"], excluded.fingerprint)


def _check(what: str, where: str, saved: str | None, now: str) -> None:
    if saved != now:
        raise ResultError(
            f"the {what} {where} is not what the result was computed from: its fingerprint is {now}, and the result "
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
    why = "it was put together in Python, sent from another process or stored as JSON"
    why = why if parts is None else f"it has {parts} parts"
    return ResultError(
        f"it is not known from which data this result was computed: {why}; use the result of `run`, or a folder that "
        "was saved from it"
    )


def bounds(result: Result, *, grade: float | None = None, catalog: Catalog | None = None) -> dict[str, Bounds | None]:
    """Return the worst and the best case of each mean of a run; see `Result.bounds`."""
    evaluation = evaluation_behind(result, catalog)
    plan, qrels = evaluation.plan, evaluation.qrels
    check_bounds(plan.profile.policy)
    highest = float(qrels.grades.max(initial=0.0))
    if grade is not None and not highest <= grade < np.inf:
        msg = f"the highest grade of a document is {highest:g} in the judgments, so it cannot be {grade!r}"
        raise ParameterError(msg)
    judged = {unit: judged_again(evaluation, result, unit) for unit in plan.units}
    top = (highest or 1.0) if grade is None else float(grade)
    planned = {metric.name: metric for metric in plan.metrics}
    return {
        name: mean_bounds(plan, planned[name], judged[planned[name].unit], column.values, top, column.weights)
        for name, column in result.metrics.items()
    }


def condensed(result: Result, *, catalog: Catalog | None = None) -> Result:
    """Return the same evaluation over condensed lists; see `Result.condensed`."""
    evaluation = evaluation_behind(result, catalog)
    plan = _judged_only(evaluation.plan)
    again = evaluate_runs(plan, evaluation.qrels, {"run": evaluation.given}, columns=evaluation.columns)["run"]
    weights = _weights_of_each(result)
    return again if weights is None else weighted(again, weights, result.manifest["weights"]["by"])


def evaluation_behind(result: Result, catalog: Catalog | None) -> RunOrigin:
    """Return the plan, the judgments and the run of a result; `ResultError` if it is not of a run."""
    if not is_of_run(result):
        raise ResultError(
            "what unjudged documents could change is found by reading the run again, and this result does not say "
            "where that is: it is of samples, or from a baseline file; give the run and its judgments, or their folder"
        )
    return run_evaluation_of(result, catalog=catalog)


def judged_again(evaluation: RunOrigin, result: Result, unit: str | None = None) -> Judged:
    """Judge a run again, by unit; return the queries of a result."""
    collector, evidence = judge_run(evaluation.qrels, evaluation.run, evaluation.plan, unit=unit)
    names = [evaluation.qrels.query_names[place] for place in collector.places.tolist()]
    if tuple(names) == result.sample_ids:
        return evidence.judged
    places = {name: place for place, name in enumerate(names)}
    if absent := [name for name in result.sample_ids if name not in places]:
        msg = f"the run is not what the result was computed from: query {absent[0]!r} is not evaluated any more"
        raise ResultError(msg)
    return evidence.judged.take([places[name] for name in result.sample_ids])


def _judged_only(plan: Plan) -> Plan:
    """Return a plan for the same columns over condensed lists, with definitions that say so."""
    metrics = []
    for metric in plan.metrics:
        definition = {**metric.definition, "policy": {**metric.definition["policy"], "judged_only": True}}
        metrics.append(dataclasses.replace(metric, definition=definition, fingerprint=fingerprint_of(definition)))
    return dataclasses.replace(plan, metrics=tuple(metrics), profile=plan.profile.adapted({"judged_only": True}))


def scored_only(column: MetricSummary) -> Floats:
    """Return the values of a column, NaN for samples that have no score, whatever these count as."""
    return np.where(column.codes == SCORED, column.values, np.nan)


def unjudged_share(column: MetricSummary) -> float | None:
    """Return the mean of `unjudged@k` over the samples that have results; None if none has."""
    shares = scored_only(column)
    return aggregate(shares[~np.isnan(shares)])
