"""
`html_report`: gathers what an HTML report shows of one or several results, reading their data again once.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from pathlib import Path

import numpy as np

from rankgauge.base.guard import ForeignError, guarded, shown
from rankgauge.catalog import Catalog
from rankgauge.comparison.differences import Comparison
from rankgauge.engine.comparing import compare
from rankgauge.engine.evaluation import Evaluation
from rankgauge.engine.reopen import is_of_run, scored_only, unjudged_share
from rankgauge.engine.runs import RunOrigin
from rankgauge.errors import DataError, ParameterError, PlanError, RankgaugeError, ResultError, counted
from rankgauge.expression import MetricExpression, Value, parse
from rankgauge.features.funnel.funnel import Funnel
from rankgauge.features.funnel.funneling import first_funnel
from rankgauge.features.html.loss_reasons import LostSamples
from rankgauge.features.html.report_data import DepthCurve, ReportData, Section
from rankgauge.features.html.rereading import Reread, reread
from rankgauge.gates.outcomes import GateReport
from rankgauge.io.file_records import read_texts
from rankgauge.planning.requests import USUAL_BUDGET
from rankgauge.plugin.sections import ReportBars, ReportSection, ReportTable, ReportText, View
from rankgauge.result import Result
from rankgauge.result.column_info import MetricInfo
from rankgauge.result.wording import check_results

__all__ = ["gather", "html_report", "sections_of", "views_of"]

_MOST_VIEWS = 10
_MARKUP = str.maketrans("", "", "*`")


def sections_of(catalog: Catalog, results: Mapping[str, Result]) -> tuple[list[Section], list[str]]:
    """Return the sections that plugins make of some results, and the messages of those that failed."""
    sections: list[Section] = []
    notes: list[str] = []
    for name, claim in catalog.all("report section").items():
        section = claim.declaration
        try:
            with guarded():
                views = views_of(section, results)
        except ForeignError as error:
            notes.append(f"report section {name!r} (by {claim.provider}) is left out, because it failed: {error}")
            continue
        if views:
            sections.append(Section(section.title, section.summary, str(claim.provider), views))
    return sections, notes


def views_of(section: ReportSection, results: Mapping[str, Result]) -> tuple[View, ...]:
    """Return what a section shows of some results, if it returned views; whatever its function raises passes."""
    returned: object = section.function(dict(results))
    several = returned if isinstance(returned, Sequence) and not isinstance(returned, str) else [returned]
    if len(several) > _MOST_VIEWS:
        raise ParameterError(f"a report section has at most {_MOST_VIEWS} views, not {counted(len(several), 'view')}")
    views: list[View] = []
    for view in several:
        if isinstance(view, ReportTable | ReportBars | ReportText):
            views.append(view)
        elif view is not None:
            raise ParameterError(f"it returned {shown(view)}, which is no ReportTable, ReportBars or ReportText")
    return tuple(views)


_DEPTHS = (1, 2, 3, 5, 10, 20, 30, 50, 100)
_SHORT = {"recall": "recall", "precision": "P", "unjudged": "unjudged"}

_ALL, _OF_EACH, _MOST = 20_000, 25, 2_000
"""Up to so many samples, lists of all are there; else of those that are worst or changed most, so many in total."""

_MOST_TEXTS = 50_000
"""So many documents are looked up in a collection: more than fit into the budget of texts."""


def html_report(
    results: Mapping[str, Result] | Result,
    *,
    baseline: str | None = None,
    comparison: Comparison | None = None,
    texts: str | os.PathLike[str] | None = None,
    queries: str | os.PathLike[str] | None = None,
    gates: GateReport | None = None,
    text_budget: int = 20_000_000,
    catalog: Catalog | None = None,
) -> str:
    """
    Return a report as one HTML file, which opens by double-click and loads nothing.

        Path("report.html").write_text(rankgauge.html_report({"bm25": first, "rrf": second}))

    Args:
        results: Results of one dataset by run, or one result.

        baseline: The run that the others are compared with; the first by default.

        comparison: A comparison of them, if there is one already.

        texts: A file with the texts of documents, for runs that have ids only.

        queries: A file with the texts of queries, likewise.

        gates: What became of gates on these results; the report begins with those that failed.

        text_budget: How many bytes of texts the file may hold; it says when it leaves some out.

        catalog: What plugins offer, such as sections; by default what the results were computed with, and for results
            from folders everything that is installed.

    Returns:
        The file as text: verdict, metrics, every sample with its ranked lists, cohorts and depth.

    Raises:
        ParameterError: No result, or no baseline of that name.

        ResultError: Results that cannot be compared.

        DataError: A file of texts that cannot be read.
    """
    from rankgauge.features.html.page import lay_out  # loads jinja2

    files = {"texts": texts, "queries": queries}
    data = gather(results, baseline=baseline, comparison=comparison, **files, gates=gates, catalog=catalog)
    return lay_out(data, text_budget=text_budget)


def gather(
    results: Mapping[str, Result] | Result,
    *,
    baseline: str | None = None,
    comparison: Comparison | None = None,
    texts: str | os.PathLike[str] | None = None,
    queries: str | os.PathLike[str] | None = None,
    gates: GateReport | None = None,
    catalog: Catalog | None = None,
) -> ReportData:
    """Return what a report shows; see `html_report`."""
    if isinstance(results, Result):
        results = {_name(results): results}
    check_results("html_report", results)
    named = dict(results)
    if not named:
        raise ParameterError("a report is of one result or more, and none is given")
    if len(named) > 1:
        comparison = comparison or compare(named, baseline=baseline)
        first = comparison.baseline
        named = {first: named[first], **{name: result for name, result in named.items() if name != first}}
    named = {name: _samples_first(result) for name, result in named.items()}
    catalog = catalog or _catalog(named)
    sections, notes = sections_of(catalog, named)
    order = _by_interest(named, comparison)
    wanted = None if len(order) <= _ALL else order[:_MOST]
    lost = LostSamples.of(named, comparison, catalog.metrics)
    again: dict[str, Reread] = {}
    for name, result in named.items():
        try:
            again[name] = reread(result, wanted, _by_depth(result), lost.within.get(name))
        except (ResultError, DataError, PlanError) as error:
            why = " ".join(str(error).split())  # its problems are lines of their own
            notes.append(f"{name}: ranked lists are not shown, because the data cannot be read again: {why}")
    notes += (f"{name}: {note}" for name, own in again.items() for note in own.notes)
    funnels = dict(_funnels(named, again, catalog, notes))
    if again and wanted is not None:
        notes.append(
            f"ranked lists are included for {len(wanted):,} of {counted(len(order), 'sample')}: those with the lowest "
            "scores and the largest changes"
        )
    inputs = {sample_id: text for own in again.values() for sample_id, text in own.inputs.items()}
    if queries is not None:
        inputs |= read_texts(Path(queries), set(order), of="query", catalog=catalog)
    documents: dict[str, str] = {}
    if texts is not None:
        documents = read_texts(Path(texts), _without_text(again.values(), order), of="document", catalog=catalog)
    dataset = next(iter(named.values())).manifest.get("dataset") or {}
    return ReportData(
        results=named,
        comparison=comparison,
        dataset=str(dataset.get("name") or "data"),
        order=order,
        inputs=inputs,
        texts=documents,
        lists={name: own.lists for name, own in again.items()},
        curves=_curves(again),
        unjudged=_unjudged(again),
        losses=lost.reasons(again),
        funnels=funnels,
        notes=notes,
        sections=sections,
        definitions=dict(_definitions(catalog, next(iter(named.values())))),
        gates=gates,
    )


def _funnels(
    results: Mapping[str, Result], again: Mapping[str, Reread], catalog: Catalog, notes: list[str]
) -> Iterator[tuple[str, Funnel]]:
    """Yield what the stages of each run lose, if its outputs tell them; say in *notes* what cannot be followed."""
    for name, run in again.items():
        if run.tells_stages:
            try:
                yield name, first_funnel(results[name], catalog)
            except RankgaugeError as error:
                notes.append(f"{name}: its stages cannot be followed: {error}")


def _definitions(catalog: Catalog, result: Result) -> Iterator[tuple[str, str]]:
    """Yield what each column measures, in one line, and what it is judged against."""
    for name, column in result.metrics.items():
        claim = catalog.metrics.get(column.info.alias)
        summary = "" if claim is None else f"{claim.declaration.summary.translate(_MARKUP).rstrip('.')}. "
        yield name, f"{summary}Judged: {column.info.judged}."


def _catalog(results: Mapping[str, Result]) -> Catalog:
    """Return the catalog that a result was computed or loaded with; else what is installed."""
    for result in results.values():
        if result.catalog is not None:
            return result.catalog
        evaluation = None if result.origin is None else result.origin.evaluation
        if isinstance(evaluation, Evaluation):
            return evaluation.catalog()
        if isinstance(evaluation, RunOrigin):
            return evaluation.plan.catalog
    return Catalog.installed()


def _samples_first(result: Result) -> Result:
    """Return a result whose columns with a score of each sample, which readers look into, come before the others."""
    columns = sorted(result.metrics.items(), key=lambda named: named[1].rankings is not None)
    if [name for name, _ in columns] == list(result.metrics):
        return result
    return result.with_columns([column for _, column in columns])


def _without_text(again: Iterable[Reread], order: Sequence[str]) -> set[str]:
    """Return the ids that are listed without a text, of the samples that a reader will open first."""
    rank = {sample_id: place for place, sample_id in enumerate(order)}
    each = [(rank[sample_id], own, place) for own in again for place, sample_id in enumerate(own.lists.sample_ids)]
    ids: set[str] = set()
    for _, own, place in sorted(each, key=lambda one: one[0]):
        for lists in {id(column.lists): column.lists for column in own.lists.columns.values()}.values():
            items = lists.items
            for at in range(int(items.starts[place]), int(items.starts[place + 1])):
                name = items.ids[at]
                if name is not None and (items.texts is None or items.texts[at] is None):
                    ids.add(name)
        if len(ids) >= _MOST_TEXTS:
            break
    return ids


def _name(result: Result) -> str:
    """Return what a result alone is called: its run, else its dataset."""
    outputs, dataset = (result.manifest.get(part) or {} for part in ("outputs", "dataset"))
    path = outputs.get("path") if is_of_run(result) else None
    return str(path or dataset.get("name") or "run").replace("\\", "/").rpartition("/")[2]


def _by_interest(results: Mapping[str, Result], comparison: Comparison | None) -> list[str]:
    """Return every sample, first those that are worst or changed most by some metric."""
    first = next(iter(results.values()))
    chosen: dict[str, None] = {}
    for pair in comparison.comparisons if comparison is not None else ():
        for metric in pair.metrics.values():
            chosen.update(dict.fromkeys(change.sample_id for change in (*metric.worst, *metric.best)))
    for column in first.metrics.values():
        for result in results.values():
            counterpart = result.metrics.get(column.name)
            if counterpart is None:
                continue
            if result is not first and result.sample_ids == first.sample_ids:
                change = np.nan_to_num(counterpart.values - column.values)
                order = np.argsort(change, kind="stable")
                places = [*order[:_OF_EACH].tolist(), *order[::-1][:_OF_EACH].tolist()]
            else:
                places = counterpart.worst(_OF_EACH)
            chosen.update(dict.fromkeys(result.sample_ids[place] for place in places))
    for result in results.values():
        chosen.update(dict.fromkeys(result.sample_ids))
    return list(chosen)


def _by_depth(result: Result) -> dict[str, list[str]]:
    """Return the metrics of each curve, judged as the result's column of that metric is, else as its first one."""
    judged = [column.info for column in result.metrics.values() if "generated answer" not in column.info.judged]
    groups = {"length": ["num_ret"]}
    for name, short in _SHORT.items():
        params: dict[str, Value] = {"of": "retrieved"}
        if name != "unjudged":
            same = [info for info in judged if short in info.names and info.cut != "budget"]
            params = _judged_as((same or [info for info in judged if short in info.names] or judged)[:1], short)
        groups[name] = [str(MetricExpression(short, params, k=depth)) for depth in _DEPTHS]
    return groups


def _judged_as(infos: Sequence[MetricInfo], short: str) -> dict[str, Value]:
    """Return the parameters with which a metric is judged as a column is; those of the metric itself if it is that."""
    params: dict[str, Value] = {}
    for info in infos:
        given = dict(parse(info.expression).params)
        is_same = short in info.names
        params = {key: given[key] for key in given if (is_same or key in {"gold", "rel"}) and key not in USUAL_BUDGET}
        gold, _, matcher = info.judged.partition(" by text, matcher ")
        if matcher:
            params |= {"gold": gold, "matcher": matcher}
    return params


def _curves(again: Mapping[str, Reread]) -> list[DepthCurve]:
    """Return recall, precision and unjudged results by depth, as far as the data allow."""
    deepest = 0.0
    for read in again.values():
        (length,) = read.others.get("length", (None,))
        longest = _DEPTHS[-1] if length is None else float(np.nan_to_num(length.values).max(initial=0))
        deepest = max(deepest, longest)
    reached = sum(depth <= deepest for depth in _DEPTHS)
    curves = []
    for name in _SHORT:
        mean = unjudged_share if name == "unjudged" else attrgetter("mean")
        means = {
            run: tuple(map(mean, read.others[name][:reached])) for run, read in again.items() if name in read.others
        }
        known = {run: read for run, read in means.items() if None not in read}
        if known and reached > 1:
            curves.append(DepthCurve(name, _DEPTHS[:reached], known))
    return curves


def _unjudged(again: Mapping[str, Reread]) -> dict[str, dict[str, float]]:
    """Return the share of the first ten results of each sample that are unjudged, by run."""
    return {
        run: dict(zip(read.sample_ids, scored_only(read.others["unjudged"][_DEPTHS.index(10)]).tolist(), strict=True))
        for run, read in again.items()
        if "unjudged" in read.others and unjudged_share(read.others["unjudged"][0]) is not None
    }
