"""
The page: what the template and the script of the HTML report are given.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from importlib.resources import files
from typing import Any

from rankgauge.base.plain_text import visible
from rankgauge.comparison.differences import Comparison, MetricComparison
from rankgauge.errors import counted
from rankgauge.report.html import charts
from rankgauge.report.html.payload import payload_of
from rankgauge.report.html.report_data import ReportData
from rankgauge.report.html.sections import laid_out
from rankgauge.report.html.words import (
    cohorts_heading,
    depth_heading,
    difference,
    half_width,
    headline,
    metrics_heading,
    p_value,
    percent,
    questions,
    score,
)
from rankgauge.result import MetricSummary, ResultValues
from rankgauge.result.wording import column_lines, policy_line
from rankgauge.version import __version__

__all__ = ["lay_out"]

_TEXT_BUDGET = 20_000_000
_SHADED = 0.03


def lay_out(data: ReportData, *, text_budget: int = _TEXT_BUDGET) -> str:
    """
    Lay out a report as one HTML file.

    Args:
        data: What to show.

        text_budget: How many bytes of texts it may hold; it says when it leaves some out.

    Returns:
        The file. It loads nothing, and a Content-Security-Policy lets no script run but its own.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined  # loads only for a report

    environment = Environment(
        loader=PackageLoader("rankgauge.report", "html"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(score=score, difference=difference, p=p_value, percent=percent, shown=_shown)
    style, script = _asset("style.css"), _script()
    payload, cut = payload_of(data, text_budget)
    return environment.get_template("page.html").render(
        **_context(data),
        cut=cut,
        style=style,
        script=script,
        style_hash=_hash(style),
        script_hash=_hash(script),
        payload=payload,
        version=__version__,
    )


_SCRIPT = ("basics", "data", "state", "bars", "table", "lists", "sums", "sample", "scatter", "depth", "choosing")


def _script() -> str:
    """Return the files of the script as one function, whose names no other script sees."""
    parts = "\n".join(_asset(f"script/{name}.js") for name in _SCRIPT)
    return f'"use strict";\n(async () => {{\n{parts}}})();\n'


def _asset(name: str) -> str:
    return files("rankgauge.report.html").joinpath(name).read_text("utf-8")


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _shown(text: object) -> str:
    return visible(str(text))


def _context(data: ReportData) -> dict[str, Any]:
    """Return what the static part of the page shows, which is readable without the script."""
    names = list(data.results)
    first = data.results[names[0]]
    finding = headline(data)
    pairs = [] if data.comparison is None else data.comparison.comparisons
    plots = charts.Intervals.of([each for pair in pairs for each in pair.metrics.values()]) if pairs else None
    return {
        "runs": [visible(name) for name in names],
        "dataset": visible(data.dataset),
        "n": max(map(len, data.results.values())),
        "comparison": data.comparison,
        "headline": finding,
        "title": finding["plain"],
        "hero": _hero(data),
        "questions": list(questions(data)),
        "headings": {
            "metrics": metrics_heading(data),
            "cohorts": cohorts_heading(data),
            "depth": depth_heading(data),
        },
        "facts": list(_facts(data)),
        "axis": "" if plots is None else plots.head(),
        "metrics": list(_metric_rows(data, plots)),
        "heat": _heat(data),
        "curves": [charts.depth(curve, names) for curve in data.curves],
        "notes": [visible(note) for note in [*data.notes, *_result_notes(data)]],
        "sections": [laid_out(section) for section in data.sections],
        "listed": _listed(data),
        "created": _day(first),
        "is_empty": not any(column.n for result in data.results.values() for column in result.metrics.values()),
    }


def _hero(data: ReportData) -> Mapping[str, Any] | None:
    if data.comparison is None or not data.comparison.comparisons:
        return None
    pair = data.comparison.comparisons[0]
    metric = next(iter(pair.metrics.values()))
    return {
        "metric": visible(metric.name),
        "detectable": metric.detectable,
        "confidence": f"{100 * metric.confidence:g}",
        "interval": charts.interval(metric, visible(pair.baseline), visible(pair.run)),
        "counts": charts.counts(metric),
        "run": visible(pair.run),
    }


def _facts(data: ReportData) -> Iterator[tuple[str, str]]:
    """Yield what a reader has to know to trust the numbers."""
    first = next(iter(data.results.values()))
    yield "Policy", visible(policy_line(first))
    if data.comparison is not None:
        yield "Method", visible(_method(data.comparison))
    for name, result in data.results.items():
        outputs = result.manifest.get("outputs") or {}
        source = outputs.get("path") or outputs.get("sut") or outputs.get("from") or "samples"
        yield f"Run {visible(name)}", visible(f"{source}; {counted(len(result), 'sample')}")
        for line in column_lines(result):
            yield "Columns", f"{visible(name)}, {line}" if len(data.results) > 1 else line
    dataset = first.manifest.get("dataset") or {}
    yield "Data", visible(f"{dataset.get('path') or dataset.get('name') or 'in memory'}; {dataset.get('fingerprint')}")
    versions = first.manifest.get("versions") or {}
    yield "Versions", visible(", ".join(f"{name} {number}" for name, number in versions.items()))


def _method(comparison: Comparison) -> str:
    parts = [f"{comparison.test} test, {comparison.resamples:,} resamples, seed {comparison.seed}"]
    parts.append(f"intervals of {100 * comparison.confidence:g} % (Student's t)")
    parts += [comparison.correction] if comparison.correction else []
    parts += [f"clusters by {comparison.cluster}"] if comparison.cluster else []
    return "; ".join(parts)


def _metric_rows(data: ReportData, plots: charts.Intervals | None) -> Iterator[dict[str, Any]]:
    """Yield a row for each metric, and for each run that is compared with the first."""
    names = list(data.results)
    first = data.results[names[0]]
    if data.comparison is None or plots is None:
        for place, column in enumerate(first.metrics.values()):
            yield {"place": place, "name": visible(column.name), **_mean_of(column), "bars": charts.histogram(column)}
        return
    for pair in data.comparison.comparisons:
        for place, column in enumerate(first.metrics.values()):
            metric = pair.metrics.get(column.name)
            if metric is None:
                continue
            own = data.results[pair.run].metrics.get(column.name)
            yield {
                "place": place,
                "run": visible(pair.run),
                "run_place": names.index(pair.run),
                "name": visible(metric.name),
                "metric": metric,
                "half_a": half_width(column, metric.confidence),
                "half_b": None if own is None else half_width(own, metric.confidence),
                "plot": plots.row(metric),
            }


def _mean_of(column: MetricSummary) -> dict[str, Any]:
    return {
        "mean": column.mean,
        "half": half_width(column),
        "std": column.std,
        "n": column.n,
        "undefined": column.n_undefined,
        "missing": column.n_missing + column.n_failed,
    }


def _heat(data: ReportData) -> dict[str, Any] | None:
    """Return cohorts by metrics: differences, or the means of one run."""
    if data.comparison is not None:
        pair = data.comparison.comparisons[0]
        return _heat_of_differences(list(pair.metrics.values()))
    (result,) = data.results.values()
    cohorts = result.by_tag()
    if set(cohorts) <= {None}:
        return None
    rows = []
    for tag, own in list(cohorts.items())[:_MOST_COHORTS]:
        cells = [
            {"value": score(column.mean), "half": _half(half_width(column)), "shade": ""}
            for column in own.metrics.values()
        ]
        rows.append({"tag": "(no tag)" if tag is None else visible(tag), "n": len(own), "cells": cells})
    total = [
        {"value": score(column.mean), "half": _half(half_width(column)), "shade": ""}
        for column in result.metrics.values()
    ]
    return {
        "columns": list(map(visible, result.metrics)),
        "rows": rows,
        "total": {"tag": "All samples", "n": len(result), "cells": total},
        "left": max(0, len(cohorts) - _MOST_COHORTS),
    }


_MOST_COHORTS = 20


def _heat_of_differences(metrics: Sequence[MetricComparison]) -> dict[str, Any] | None:
    if not any(metric.cohorts for metric in metrics):
        return None
    tags = list(dict.fromkeys(cohort.tag for metric in metrics for cohort in metric.cohorts))
    rows = []
    for tag in tags[:_MOST_COHORTS]:
        cells, n = [], 0
        for metric in metrics:
            own = next((cohort for cohort in metric.cohorts if cohort.tag == tag), None)
            n = max(n, 0 if own is None else own.n)
            cells.append(_cell(metric, None if own is None else own.difference, None if own is None else own.interval))
        rows.append({"tag": "(no tag)" if tag is None else visible(tag), "n": n, "cells": cells})
    total = [_cell(metric, metric.difference, metric.interval) for metric in metrics]
    return {
        "columns": [visible(metric.name) for metric in metrics],
        "rows": rows,
        "total": {"tag": "All samples", "n": max(metric.n for metric in metrics), "cells": total},
        "left": max(0, len(tags) - _MOST_COHORTS),
    }


def _cell(metric: MetricComparison, value: float | None, interval: tuple[float, float] | None) -> dict[str, str]:
    """Return a cell, shaded in the colour of the run that it favours where the interval leaves out 0."""
    shade = ""
    if value is not None and interval is not None and (interval[0] > 0 or interval[1] < 0):
        favours_b = (value > 0) == metric.higher_is_better
        shade = f"h{'b' if favours_b else 'a'}{min(4, 1 + int(abs(value) / _SHADED))}"
    half = None if interval is None else (interval[1] - interval[0]) / 2
    return {"value": difference(value), "half": _half(half), "shade": shade}


def _half(width: float | None) -> str:
    return "" if width is None else score(width)


def _result_notes(data: ReportData) -> Iterator[str]:
    for name, result in data.results.items():
        for note in result.notes:
            yield f"{name}: {note}" if len(data.results) > 1 else note
    if data.comparison is not None:
        for pair in data.comparison.comparisons:
            yield from (f"{pair.run}: {note}" for note in pair.notes)
            for metric in pair.metrics.values():
                yield from (f"{pair.run}, {metric.name}: {note}" for note in metric.notes)


def _listed(data: ReportData) -> str:
    """Say of how many samples the file has ranked lists."""
    listed = max((len(lists.sample_ids) for lists in data.lists.values()), default=0)
    n = max(map(len, data.results.values()))
    return "none" if not listed else "each" if listed == n else f"{listed:,} that are worst or changed most"


def _day(result: ResultValues) -> str:
    try:
        return datetime.fromisoformat(str(result.manifest.get("created_at"))).date().isoformat()
    except ValueError:
        return ""
