"""
Picturing: gathers what an HTML report shows of one or several results, reading their data again once.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from rankgauge.catalog import Catalog
from rankgauge.comparison.values import Comparison
from rankgauge.engine.comparing import compare
from rankgauge.engine.explaining import explain_read, read_samples
from rankgauge.engine.reopen import evaluation_of, is_of_run, run_evaluation_of
from rankgauge.engine.runs import evaluate_plan, plan_run
from rankgauge.errors import DataError, ParameterError, PlanError, ResultError, counted
from rankgauge.explain import Explanation
from rankgauge.io.texts import read_texts
from rankgauge.report.explanation import question
from rankgauge.report.html.data import DepthCurve, ReportData
from rankgauge.result import Result

__all__ = ["gather", "html_report"]

_DEPTHS = (1, 2, 3, 5, 10, 20, 30, 50, 100)
_SHORT = {"recall": "recall", "precision": "P", "unjudged": "unjudged"}
_ALL, _OF_EACH, _MOST = 300, 25, 300
"""Up to so many samples, ranks of all are shown; else of this many of each metric, and of so many in total."""

_MOST_INPUTS = 20_000

_TOP = 20
"""So many ranks are shown, and those below that hold a gold item."""


def html_report(
    results: Mapping[str, Result] | Result,
    *,
    baseline: str | None = None,
    comparison: Comparison | None = None,
    texts: str | os.PathLike[str] | None = None,
    queries: str | os.PathLike[str] | None = None,
    text_budget: int = 20_000_000,
) -> str:
    """
    Return a report as one HTML file, which opens by double click and loads nothing.

        Path("report.html").write_text(rankgauge.html_report({"bm25": first, "rrf": second}))

    Args:
        results: Results of one dataset by run, or one result.

        baseline: The run that the others are compared with; the first by default.

        comparison: A comparison of them, if there is one already.

        texts: A file with the texts of documents, for runs that have ids only.

        queries: A file with the texts of queries, likewise.

        text_budget: How many bytes of texts the file may hold; it says when it leaves some out.

    Returns:
        The file as text: verdict, metrics, every sample, ranked lists of those that are worst or changed most, cohorts
        and depth.

    Raises:
        ParameterError: No result, or no baseline of that name.

        ResultError: Results that cannot be compared.

        DataError: A file of texts that cannot be read.
    """
    from rankgauge.report.html.page import lay_out  # loads jinja2

    data = gather(results, baseline=baseline, comparison=comparison, texts=texts, queries=queries)
    return lay_out(data, text_budget=text_budget)


def gather(
    results: Mapping[str, Result] | Result,
    *,
    baseline: str | None = None,
    comparison: Comparison | None = None,
    texts: str | os.PathLike[str] | None = None,
    queries: str | os.PathLike[str] | None = None,
) -> ReportData:
    """
    Return what a report shows; see `html_report`.

    """
    named = {_name(results): results} if isinstance(results, Result) else dict(results)
    if not named:
        msg = "a report is of one result or more, and none is given"
        raise ParameterError(msg)
    if len(named) > 1:
        comparison = comparison or compare(named, baseline=baseline)
        first = comparison.baseline
        named = {first: named[first], **{name: result for name, result in named.items() if name != first}}
    notes: list[str] = []
    wanted = _wanted(named, comparison)
    inputs: dict[str, str] = {}
    explained: dict[str, dict[str, dict[str, Explanation]]] = {}
    for name, result in named.items():
        try:
            _explain(name, result, wanted, inputs, explained)
        except (ResultError, DataError) as error:
            notes.append(f"{name}: ranked lists are not shown, because the data cannot be read again: {error}")
    n = max(map(len, named.values()))
    if explained and len(wanted) < n:
        notes.append(
            f"ranked lists are shown of {counted(len(wanted), 'sample')} of {n:,}: those that are worst or changed most"
        )
    if queries is not None:
        inputs |= read_texts(Path(queries), _samples(named), catalog=Catalog.discover())
    documents = {} if texts is None else read_texts(Path(texts), _ids(explained), catalog=Catalog.discover())
    curves, unjudged = _depths(named)
    dataset = next(iter(named.values())).manifest.get("dataset") or {}
    return ReportData(
        results=named,
        comparison=comparison,
        dataset=str(dataset.get("name") or "data"),
        inputs=inputs,
        texts=documents,
        explanations=explained,
        curves=curves,
        unjudged=unjudged,
        notes=notes,
    )


def _samples(results: Mapping[str, Result]) -> set[str]:
    return {sample_id for result in results.values() for sample_id in result.sample_ids}


def _ids(explained: Mapping[str, Mapping[str, Mapping[str, Explanation]]]) -> set[str]:
    """Return the documents whose ranks are shown without a text."""
    return {
        rank.id
        for runs in explained.values()
        for columns in runs.values()
        for explanation in columns.values()
        for rank in explanation.ranks
        if rank.id is not None and rank.text is None
    }


def _name(result: Result) -> str:
    """Return what a result alone is called: its run, else its dataset."""
    outputs, dataset = (result.manifest.get(part) or {} for part in ("outputs", "dataset"))
    path = outputs.get("path") if is_of_run(result) else None
    return str(path or dataset.get("name") or "run").replace("\\", "/").rpartition("/")[2]


def _wanted(results: Mapping[str, Result], comparison: Comparison | None) -> list[str]:
    """Return the samples whose ranks are shown: all of a small set, else the worst and the most changed."""
    first = next(iter(results.values()))
    if len(first) <= _ALL:
        return list(first.sample_ids)
    chosen: dict[str, None] = {}
    for each in comparison.comparisons if comparison is not None else ():
        for metric in each.metrics.values():
            chosen.update(dict.fromkeys(change.sample_id for change in (*metric.worst, *metric.best)))
    for column in first.metrics.values():
        for result in results.values():
            own = result.metrics.get(column.name)
            if own is None:
                continue
            if result is first:
                places = own.worst(_OF_EACH)
            elif result.sample_ids == first.sample_ids:
                change = np.nan_to_num(own.values - column.values)
                order = np.argsort(change, kind="stable")
                places = [*order[:_OF_EACH].tolist(), *order[::-1][:_OF_EACH].tolist()]
            else:
                places = own.worst(_OF_EACH)
            chosen.update(dict.fromkeys(result.sample_ids[place] for place in places))
    return list(chosen)[:_MOST]


def _explain(
    name: str,
    result: Result,
    wanted: Sequence[str],
    inputs: dict[str, str],
    explained: dict[str, dict[str, dict[str, Explanation]]],
) -> None:
    """Add the ranks of the samples wanted, for every column, and the questions of all samples."""
    own = [sample_id for sample_id in wanted if sample_id in set(result.sample_ids)]
    every = result.sample_ids if len(result) <= _MOST_INPUTS and not is_of_run(result) else own
    plan, samples = read_samples(result, set(every))
    for sample_id, sample in samples.items():
        if sample.input is not None:
            inputs.setdefault(sample_id, question(sample.input))
    for column in result.metrics.values():
        for explanation in explain_read(
            result, column, plan, [samples[each] for each in own], trials=False, plain=_TOP
        ):
            explained.setdefault(explanation.sample, {}).setdefault(name, {})[column.name] = explanation


def _depths(results: Mapping[str, Result]) -> tuple[list[DepthCurve], dict[str, dict[str, float]]]:
    """Return recall, precision and unjudged results by depth, as far as the data allow; of samples the last at 10."""
    means: dict[str, dict[str, tuple[float | None, ...]]] = {name: {} for name in _SHORT}
    unjudged: dict[str, dict[str, float]] = {}
    deepest = 0.0
    for run, result in results.items():
        curves = _curves(result)
        length = curves.pop("length", None)
        deepest = max(
            deepest,
            _DEPTHS[-1] if length is None else float(np.nan_to_num(length.metrics["num_ret"].values).max(initial=0)),
        )
        for name, scored in curves.items():
            columns = list(scored.metrics.values())
            if any(column.mean is None for column in columns):
                continue
            means[name][run] = tuple(column.mean for column in columns)
            if name == "unjudged":
                at_ten = columns[_DEPTHS.index(10)].values.tolist()
                unjudged[run] = dict(zip(scored.sample_ids, at_ten, strict=True))
    reached = sum(depth <= deepest for depth in _DEPTHS)
    depths = _DEPTHS[:reached]
    curves_of = {name: {run: each[:reached] for run, each in own.items()} for name, own in means.items()}
    return [DepthCurve(name, depths, own) for name, own in curves_of.items() if own and reached > 1], unjudged


def _curves(result: Result) -> dict[str, Result]:
    """Return the columns of each curve, and the length of rankings; data that serve all of them are read once."""
    wanted = {name: [f"{short}@{depth}" for depth in _DEPTHS] for name, short in _SHORT.items()} | {
        "length": ["num_ret"]
    }
    every = _rescored(result, [each for metrics in wanted.values() for each in metrics])
    found: dict[str, Result] = {}
    start = 0
    for name, metrics in wanted.items():
        if every is None:
            scored = _rescored(result, metrics)
        else:
            columns = list(every.metrics.items())[start : start + len(metrics)]
            scored = Result(every.sample_ids, every.tags, dict(columns), every.manifest)
        start += len(metrics)
        if scored is not None:
            found[name] = scored
    return found


def _rescored(result: Result, metrics: Sequence[str]) -> Result | None:
    """Return other metrics of the same data; None where they cannot be computed."""
    try:
        if is_of_run(result):
            evaluation = run_evaluation_of(result)
            plan = plan_run(list(metrics), profile=evaluation.plan.profile, catalog=evaluation.plan.catalog)
            return evaluate_plan(plan, evaluation.qrels, {"run": evaluation.run}, columns=evaluation.columns)["run"]
        return evaluation_of(result).with_metrics(list(metrics)).run()
    except (ResultError, DataError, PlanError):
        return None
