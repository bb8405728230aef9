"""
The page: what the template and the script of the HTML report are given.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from importlib.resources import files
from typing import Any, TypeVar

from rankgauge.base.plain_text import visible
from rankgauge.comparison.differences import CohortDifference, Comparison, MetricComparison, RunComparison
from rankgauge.errors import counted
from rankgauge.plugin.sections import Cell, ReportBars, ReportTable, View
from rankgauge.report.html import charts
from rankgauge.report.html.packing import clipped
from rankgauge.report.html.payload import payload_of
from rankgauge.report.html.report_data import ReportData, Section
from rankgauge.report.html.words import (
    cohorts_heading,
    depth_heading,
    difference,
    half,
    half_width,
    headline,
    metrics_heading,
    p_value,
    percent,
    questions,
    score,
)
from rankgauge.result import ResultValues
from rankgauge.result.wording import column_lines, policy_line
from rankgauge.version import __version__

__all__ = ["lay_out", "rendered"]

_TEXT_BUDGET = 20_000_000
_SHADED = 0.03
_MOST_COHORTS = 20


def lay_out(data: ReportData, *, text_budget: int = _TEXT_BUDGET) -> str:
    """
    Lay out a report as one HTML file.

    Args:
        data: What to show.

        text_budget: How many bytes of texts it may hold; it says when it leaves some out.

    Returns:
        The file. It loads nothing, and a Content-Security-Policy lets no script run but its own.
    """
    script = _script()
    payload, cut = payload_of(data, text_budget)
    facts = {**_context(data), "cut": cut, "script": script, "script_hash": _hash(script), "payload": payload}
    return rendered("page.html", facts)


def rendered(template: str, facts: Mapping[str, Any]) -> str:
    """Return a page of a template with the style that all pages have, whose hash its Content-Security-Policy names."""
    from jinja2 import Environment, PackageLoader, StrictUndefined  # loads only for a report

    environment = Environment(
        loader=PackageLoader("rankgauge.report", "html"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(score=score, difference=difference, p=p_value, percent=percent, shown=_shown)
    style = _asset("style.css")
    page = environment.get_template(template)
    return page.render(**facts, style=style, style_hash=_hash(style), version=__version__)


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
    finding = headline(data)
    pairs = [] if data.comparison is None else data.comparison.comparisons
    plots = charts.Intervals.of([metric for pair in pairs for metric in pair.metrics.values()]) if pairs else None
    return {
        "runs": list(map(visible, names)),
        "dataset": visible(data.dataset),
        "n": max(map(len, data.results.values())),
        "comparison": data.comparison,
        "headline": finding,
        "title": finding["plain"],
        "hero": None if data.pair is None else _hero(data.pair),
        "questions": list(questions(data)),
        "headings": {
            "metrics": metrics_heading(data),
            "cohorts": cohorts_heading(data),
            "depth": depth_heading(data),
        },
        "facts": list(_facts(data)),
        "axis": "" if plots is None else plots.head(),
        "metrics": list(_means(data) if plots is None else _differences(data, pairs, plots)),
        "heat": _heat_of_means(data.first) if data.pair is None else _heat_of_differences(data.pair),
        "curves": [charts.depth(curve, names) for curve in data.curves],
        "notes": [visible(note) for note in [*data.notes, *_notes(data)]],
        "sections": [_laid_out(section) for section in data.sections],
        "listed": _listed(data),
        "created": _day(data.first),
        "is_empty": not any(column.n for result in data.results.values() for column in result.metrics.values()),
    }


def _hero(pair: RunComparison) -> dict[str, Any]:
    """Return the first metric of the first pair, which stands large at the top."""
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
    manifest = data.first.manifest
    yield "Policy", visible(policy_line(data.first))
    if data.comparison is not None:
        yield "Method", visible(_method(data.comparison))
    for name, result in data.results.items():
        outputs = result.manifest.get("outputs") or {}
        source = outputs.get("path") or outputs.get("sut") or outputs.get("from") or "samples"
        yield f"Run {visible(name)}", visible(f"{source}; {counted(len(result), 'sample')}")
        for line in column_lines(result):
            yield "Columns", f"{visible(name)}, {line}" if len(data.results) > 1 else line
    dataset = manifest.get("dataset") or {}
    yield "Data", visible(f"{dataset.get('path') or dataset.get('name') or 'in memory'}; {dataset.get('fingerprint')}")
    versions = manifest.get("versions") or {}
    yield "Versions", visible(", ".join(f"{name} {number}" for name, number in versions.items()))


def _method(comparison: Comparison) -> str:
    parts = [
        f"{comparison.test} test, {comparison.resamples:,} resamples, seed {comparison.seed}",
        f"intervals of {100 * comparison.confidence:g} % (Student's t)",
        comparison.correction,
        f"clusters by {comparison.cluster}" if comparison.cluster else "",
    ]
    return "; ".join(filter(None, parts))


def _means(data: ReportData) -> Iterator[dict[str, Any]]:
    """Yield a row for each metric of one run."""
    for place, column in enumerate(data.first.metrics.values()):
        yield {
            "place": place,
            "name": visible(column.name),
            "mean": column.mean,
            "half": half_width(column),
            "std": column.std,
            "n": column.n,
            "undefined": column.n_undefined,
            "missing": column.n_missing + column.n_failed,
            "bars": charts.histogram(column),
        }


def _differences(data: ReportData, pairs: Sequence[RunComparison], plots: charts.Intervals) -> Iterator[dict[str, Any]]:
    """Yield a row for each metric, and for each run that is compared with the first."""
    names = list(data.results)
    for pair in pairs:
        for place, column in enumerate(data.first.metrics.values()):
            metric, other = pair.metrics.get(column.name), data.results[pair.run].metrics.get(column.name)
            if metric is not None:
                yield {
                    "place": place,
                    "run": visible(pair.run),
                    "run_place": names.index(pair.run),
                    "name": visible(metric.name),
                    "metric": metric,
                    "half_a": half_width(column, metric.confidence),
                    "half_b": None if other is None else half_width(other, metric.confidence),
                    "plot": plots.row(metric),
                }


_Cell = dict[str, str]
_Compared = CohortDifference | MetricComparison | None
_Part = TypeVar("_Part")


def _heat_of_means(result: ResultValues) -> dict[str, Any] | None:
    """Return cohorts by metrics: the means of one run."""

    def row(part: ResultValues) -> tuple[int, list[_Cell]]:
        return len(part), [_cell(score(column.mean), half_width(column)) for column in part.metrics.values()]

    cohorts = result.by_tag()
    return None if set(cohorts) <= {None} else _heat(result.metrics, cohorts, result, row)


def _heat_of_differences(pair: RunComparison) -> dict[str, Any] | None:
    """Return cohorts by metrics: differences of two runs."""
    metrics = list(pair.metrics.values())
    cohorts = [{cohort.tag: cohort for cohort in metric.cohorts} for metric in metrics]
    tags = dict.fromkeys(tag for by_tag in cohorts for tag in by_tag)
    parts: dict[str | None, Sequence[_Compared]] = {tag: [by_tag.get(tag) for by_tag in cohorts] for tag in tags}

    def row(parts: Sequence[_Compared]) -> tuple[int, list[_Cell]]:
        cells = [_shaded(metric, part) for metric, part in zip(metrics, parts, strict=True)]
        return max(0 if part is None else part.n for part in parts), cells

    return _heat(pair.metrics, parts, metrics, row)


def _heat(
    columns: Iterable[str],
    parts: Mapping[str | None, _Part],
    whole: _Part,
    row: Callable[[_Part], tuple[int, list[_Cell]]],
) -> dict[str, Any] | None:
    """Return a table of the first cohorts and of all samples; *row* gives their number and the cells of a part."""
    if not parts:
        return None
    named = [("(no tag)" if tag is None else visible(tag), part) for tag, part in parts.items()][:_MOST_COHORTS]
    *rows, total = (
        dict(zip(("tag", "n", "cells"), (name, *row(part)), strict=True))
        for name, part in (*named, ("All samples", whole))
    )
    left = max(0, len(parts) - _MOST_COHORTS)
    return {"columns": list(map(visible, columns)), "rows": rows, "total": total, "left": left}


def _shaded(metric: MetricComparison, part: _Compared) -> _Cell:
    """Return a difference, shaded in the colour of the run that it favours where the interval leaves out 0."""
    value, interval = (None, None) if part is None else (part.difference, part.interval)
    shade = ""
    if value is not None and interval is not None and (interval[0] > 0 or interval[1] < 0):
        favours_b = (value > 0) == metric.higher_is_better
        shade = f"h{'b' if favours_b else 'a'}{min(4, 1 + int(abs(value) / _SHADED))}"
    return _cell(difference(value), half(interval), shade)


def _cell(value: str, width: float | None, shade: str = "") -> _Cell:
    return {"value": value, "half": "" if width is None else score(width), "shade": shade}


def _notes(data: ReportData) -> Iterator[str]:
    for name, result in data.results.items():
        yield from (f"{name}: {note}" if len(data.results) > 1 else note for note in result.notes)
    for pair in () if data.comparison is None else data.comparison.comparisons:
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


def _laid_out(section: Section) -> dict[str, Any]:
    """Return what the template shows of a plugin's section; it escapes every text, and nothing is markup."""
    return {
        "title": visible(section.title),
        "how": visible(f"{section.summary} Added by {section.provider}.".strip()),
        "views": [_view(view) for view in section.views],
    }


def _view(view: View) -> dict[str, Any]:
    if isinstance(view, ReportTable):
        columns: list[Sequence[Cell]] = [[row[at] for row in view.rows] for at in range(len(view.columns))]
        are_numbers = [_are_numbers(column) for column in columns]
        rows = zip(*map(_texts, columns), strict=True)
        return {
            "kind": "table",
            "columns": list(zip(map(_text, view.columns), are_numbers, strict=True)),
            "rows": [list(zip(row, are_numbers, strict=True)) for row in rows],
        }
    if isinstance(view, ReportBars):
        most = max((abs(value) for _, value in view.bars), default=0.0) or 1.0
        bars = zip(view.bars, _texts([value for _, value in view.bars]), strict=True)
        return {
            "kind": "bars",
            "bars": [(_text(label), number, f"{100 * abs(value) / most:.2f}%") for (label, value), number in bars],
        }
    return {"kind": "text", "paragraphs": [visible(part.strip(), keep="\n") for part in view.text.split("\n\n")]}


def _are_numbers(column: Sequence[Cell]) -> bool:
    return any(cell is not None for cell in column) and not any(isinstance(cell, str) for cell in column)


def _texts(column: Sequence[Cell]) -> list[str]:
    """Return the cells of a column as texts; its numbers have one number of decimals."""
    is_whole = all(float(cell).is_integer() for cell in column if cell is not None and not isinstance(cell, str))
    return [
        "" if cell is None else _text(cell) if isinstance(cell, str) else _number(cell, is_whole) for cell in column
    ]


def _number(value: float, is_whole: bool) -> str:  # noqa: FBT001  # of a whole column
    return f"{value:,.0f}".replace("-", "\N{MINUS SIGN}") if is_whole else score(value)


def _text(text: str) -> str:
    return visible(clipped(text))
