"""
The page: what the template and the script of the HTML report are given.
"""

from __future__ import annotations

import base64
import functools
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from rankgauge.base.plain_text import visible
from rankgauge.comparison.differences import Comparison, RunComparison
from rankgauge.comparison.sentences import interval_names, notes
from rankgauge.errors import counted
from rankgauge.features.html import charts
from rankgauge.features.html.blocks import blocks
from rankgauge.features.html.notation import difference, isolated, named, p_value, percent, plain, score
from rankgauge.features.html.packing import clipped
from rankgauge.features.html.payload import payload_of
from rankgauge.features.html.report_data import ReportData, Section
from rankgauge.features.html.words import depth_heading, headline, leaked, metrics_heading, spread_of, trouble
from rankgauge.gates.outcomes import GateReport, counts_text
from rankgauge.gates.outcomes import headline as gate_finding
from rankgauge.plugin.sections import Cell, ReportBars, ReportTable, View
from rankgauge.result import Result
from rankgauge.result.wording import cluster_line, column_lines, interval_methods, policy_line, weights_line
from rankgauge.version import __version__

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["laid_out", "lay_out", "pages", "rendered"]

_TEXT_BUDGET = 20_000_000


def lay_out(data: ReportData, *, text_budget: int = _TEXT_BUDGET) -> str:
    """
    Lay out a report as one HTML file.

    Args:
        data: What to show.

        text_budget: How many bytes of texts it may hold; it says when it leaves some out.

    Returns:
        The file. It loads nothing, and a Content-Security-Policy lets no script run but its own.
    """
    environment, script = pages(), _script()
    views = list(blocks(data, environment))
    payload, cut = payload_of(data, text_budget, views)
    first = {view.place: view.text for view in reversed(views)}  # what is there before anything is chosen
    facts = {**_context(data), "first": first, "cut": cut, "payload": payload}
    return rendered(environment, "page.html", {**facts, "script": script, "script_hash": _hash(script)})


@functools.cache
def pages() -> Environment:
    """Return what fills the templates of pages, each of which is compiled once."""
    from jinja2 import Environment, PackageLoader, StrictUndefined  # loads only for a report

    environment = Environment(
        loader=PackageLoader("rankgauge.features", "html"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=isolated,
    )
    environment.filters.update(score=score, difference=difference, p=p_value, percent=percent, shown=named, plain=plain)
    return environment


def rendered(environment: Environment, template: str, facts: Mapping[str, Any]) -> str:
    """Return a page with the style that all pages have, whose hash its Content-Security-Policy names."""
    style, page = _asset("style.css"), environment.get_template(template)
    return page.render(**facts, style=style, style_hash=_hash(style), version=__version__)


_SCRIPT = (
    *("basics", "data", "state", "walking", "bars", "filters", "table", "lists", "answers", "sums", "sample"),
    *("scatter", "depth", "choosing"),
)


def _script() -> str:
    """Return the files of the script as one function, whose names no other script sees."""
    parts = "\n".join(_asset(f"script/{name}.js") for name in _SCRIPT)
    return f'"use strict";\n(async () => {{\n{parts}}})();\n'


def _asset(name: str) -> str:
    """Return a file of ours as every report holds it: without indentation, and lines that only comment."""
    lines = map(str.strip, files("rankgauge.features.html").joinpath(name).read_text("utf-8").splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("//"))


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _context(data: ReportData) -> dict[str, Any]:
    """Return what the static part of the page shows, which is readable without the script."""
    names = list(data.results)
    pairs = data.pairs
    plots = charts.Intervals.of([metric for pair in pairs for metric in pair.metrics.values()]) if pairs else None
    return {
        "runs": list(map(named, names)),
        "dataset": named(data.dataset),
        "n": max(map(len, data.results.values())),
        "comparison": data.comparison,
        "confidence": "95" if data.comparison is None else f"{100 * data.comparison.confidence:g}",
        "title": plain(headline(data)["plain"]),
        "leaks": list(leaked(data)),
        "troubles": [{"text": text, "link": link} for text, link in trouble(data)],
        "gates": [] if data.gates is None else list(_gates(data.gates, data)),
        "metrics_heading": metrics_heading(data),
        "depth_heading": depth_heading(data),
        "facts": list(_facts(data)),
        "axis": "" if plots is None else plots.head(),
        "metrics": list(_means(data) if plots is None else _differences(data, pairs, plots)),
        "has_cohorts": any(map(any, (result.tags for result in data.results.values()))),
        "columns": len(data.first.metrics),
        "curves": [charts.depth(curve, names) for curve in data.curves],
        "notes": [visible(note) for note in [*data.notes, *_notes(data)]],
        "sections": [laid_out(section) for section in data.sections],
        "listed": _listed(data),
        "created": _day(data.first),
        "is_empty": not any(column.n for result in data.results.values() for column in result.metrics.values()),
        "tags": list(dict.fromkeys(tag for result in data.results.values() for tags in result.tags for tag in tags)),
        "is_flawed": any(
            np.any(column.codes) for result in data.results.values() for column in result.metrics.values()
        ),
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
        if methods := interval_methods(result.metrics.values()):
            yield "Intervals", f"{visible(name)}, of means: {methods}"
        if weights := weights_line(result):
            yield "Weights", f"{visible(name)}: {weights}"
        if clusters := cluster_line(result):
            yield "Clusters", f"{visible(name)}: {clusters}"
        for line in column_lines(result):
            yield "Columns", f"{visible(name)}, {line}" if len(data.results) > 1 else line
    dataset = manifest.get("dataset") or {}
    yield "Data", visible(f"{dataset.get('path') or dataset.get('name') or 'in memory'}; {dataset.get('fingerprint')}")
    versions = manifest.get("versions") or {}
    yield "Versions", visible(", ".join(f"{name} {number}" for name, number in versions.items()))


def _method(comparison: Comparison) -> str:
    parts = [
        f"{comparison.test} test, {comparison.resamples:,} resamples, seed {comparison.seed}",
        f"intervals of {100 * comparison.confidence:g} % ({interval_names(comparison)})",
        comparison.correction,
        f"clusters by {comparison.cluster}" if comparison.cluster else "",
    ]
    return "; ".join(filter(None, parts))


def _means(data: ReportData) -> Iterator[dict[str, Any]]:
    """Yield a row for each metric of one run."""
    for place, column in enumerate(data.first.metrics.values()):
        yield {
            "place": place,
            "run_place": 0,
            "name": named(column.name),
            "definition": visible(data.definitions.get(column.name, "")),
            "mean": column.mean,
            "half": spread_of(column),
            "std": column.std,
            "n": column.n,
            "undefined": column.n_undefined,
            "missing": column.n_missing + column.n_failed,
            "bars": charts.histogram(column),
        }


def _differences(data: ReportData, pairs: Sequence[RunComparison], plots: charts.Intervals) -> Iterator[dict[str, Any]]:
    """Yield a row for each metric and each run that is compared; the first row of a metric spans the others."""
    names = list(data.results)
    for place, column in enumerate(data.first.metrics.values()):
        having = [pair for pair in pairs if column.name in pair.metrics]
        for pair in having:
            metric, other = pair.metrics[column.name], data.results[pair.run].metrics.get(column.name)
            yield {
                "place": place,
                "span": len(having) if pair is having[0] else 0,
                "run": named(pair.run),
                "run_place": names.index(pair.run),
                "name": named(metric.name),
                "definition": visible(data.definitions.get(column.name, "")),
                "metric": metric,
                "half_a": spread_of(column, metric.confidence),
                "half_b": "" if other is None else spread_of(other, metric.confidence),
                "plot": plots.row(metric),
            }


_GATE_WORDS = {"passed": "passed", "failed": "failed", "warned": "warning", "error": "cannot be judged"}


def _gates(report: GateReport, data: ReportData) -> Iterator[dict[str, Any]]:
    """Yield a row for each gate of what the report shows."""
    shown = {"", data.dataset, *data.results}
    for outcome in report.outcomes:
        if outcome.dataset in shown:
            yield {
                "word": "open" if outcome.is_open else _GATE_WORDS[outcome.status],
                "status": outcome.status,
                "of": named(outcome.dataset),
                "gate": visible(str(outcome.gate)),
                "value": outcome.value,
                "counts": counts_text(outcome.counts) if outcome.counts else "",
                "finding": visible(gate_finding(outcome)),
            }


def _notes(data: ReportData) -> Iterator[str]:
    for name, result in data.results.items():
        yield from (f"{name}: {note}" if len(data.results) > 1 else note for note in result.notes)
    if data.comparison is None:
        return
    if data.comparison.label_doubts is not None:
        yield from data.comparison.label_doubts.of_signs()
    for pair in data.comparison.comparisons:
        yield from (f"{pair.run}: {note}" for note in notes(pair))


def _listed(data: ReportData) -> str:
    """Say of how many samples the file has ranked lists."""
    listed = max((len(lists.sample_ids) for lists in data.lists.values()), default=0)
    n = max(map(len, data.results.values()))
    return "none" if not listed else "each" if listed == n else f"{listed:,} that are worst or changed most"


def _day(result: Result) -> str:
    try:
        return datetime.fromisoformat(str(result.manifest.get("created_at"))).date().isoformat()
    except ValueError:
        return ""


def laid_out(section: Section) -> dict[str, Any]:
    """Return what the template shows of a plugin's section; it escapes every text, and nothing is markup."""
    return {
        "title": visible(section.title),
        "how": visible(f"{section.summary} Added by {section.provider}.".strip()),
        "views": [_view(view) for view in section.views],
    }


def _view(view: View) -> dict[str, Any]:
    if isinstance(view, ReportTable):
        columns: list[Sequence[Cell]] = [[row[at] for row in view.rows] for at in range(len(view.columns))]
        kinds = [{type(cell) for cell in column} - {type(None)} for column in columns]
        are_numbers = [bool(kind) and str not in kind for kind in kinds]
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
