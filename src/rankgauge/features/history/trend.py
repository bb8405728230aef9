"""
The page of the history: every line with its intervals, breaks and changes, as SVG that needs no script.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.request import pathname2url

from markupsafe import Markup, escape

from rankgauge.base.plain_text import visible
from rankgauge.features.history.entry import Entry, Mean
from rankgauge.features.history.layouts import passed_word
from rankgauge.features.history.lines import Line, Point, since_sentences
from rankgauge.features.html import charts
from rankgauge.features.html.page import pages, rendered

__all__ = ["lay_out_history"]

_WIDTH, _HEIGHT, _SMALL_WIDTH, _SMALL_HEIGHT = 1080, 220, 250, 90
_LEFT, _ROOM = 52, 24


def lay_out_history(lines: Sequence[Line], folder: Path) -> str:
    """Lay out lines as one HTML file in *folder*, from which its links lead to the folders of results."""
    datasets = ", ".join(dict.fromkeys(visible(line.dataset) for line in lines))
    return rendered(pages(), "trend.html", {"lines": [_line(line, folder) for line in lines], "datasets": datasets})


def _line(line: Line, folder: Path) -> dict[str, Any]:
    title = f"{visible(line.dataset)}: {visible(line.metric)}"
    points = list(line.points)
    return {
        "title": title,
        "since": list(map(visible, since_sentences(line))) or ["No change is shown."],
        "chart": _chart(points, [point.mean for point in points], title, folder, (_WIDTH, _HEIGHT)),
        "breaks": [(visible(point.entry.name), visible(point.breaks)) for point in reversed(points) if point.breaks],
        "rows": [_row(point, folder) for point in reversed(points)],
        "cohorts": list(_cohorts(line, folder)),
    }


def _row(point: Point, folder: Path) -> dict[str, Any]:
    entry, change = point.entry, point.change
    is_tested = change is not None and change.difference is not None
    return {
        "name": visible(entry.name),
        "link": _link(entry, folder),
        "time": entry.created_at[:16].replace("T", " "),
        "commit": visible(entry.commit[:10]),
        "system": visible(entry.system),
        "gates": passed_word(entry),
        "mean": point.mean,
        "change": change if is_tested else None,
        "why": visible(point.breaks or (change.why_not if change is not None else "")),
    }


def _cohorts(line: Line, folder: Path) -> Iterator[dict[str, Any]]:
    """Yield a small line for each cohort that is in two entries or more."""
    tags = dict.fromkeys(tag for point in line.points for tag in point.entry.cohorts)
    for tag in tags:
        pairs = [
            (point, point.entry.cohorts[tag][line.metric])
            for point in line.points
            if line.metric in point.entry.cohorts.get(tag, {})
        ]
        if len(pairs) > 1:
            points, means = zip(*pairs, strict=True)
            label = f"{visible(line.metric)} of {visible(tag)}"
            chart = _chart(points, means, label, folder, (_SMALL_WIDTH, _SMALL_HEIGHT))
            yield {"tag": visible(tag), "n": means[-1].n, "chart": chart}


def _chart(points: Sequence[Point], means: Sequence[Mean], label: str, folder: Path, size: tuple[int, int]) -> Markup:
    """Draw means with whiskers; a point leads to its report, and a dashed line is where the line breaks."""
    width, height = size
    ends = [end for mean in means for end in (mean.mean, mean.low, mean.high) if end is not None] or [0.0, 1.0]
    low, high = min(ends), max(ends)
    spread = (high - low) or 0.1
    axis = charts.Scale(low - 0.08 * spread, high + 0.08 * spread, height - _ROOM)
    step = (width - _LEFT - 16) / max(len(points) - 1, 1)
    parts = []
    for tick in axis.ticks(5 if height > _SMALL_HEIGHT else 2):
        y = height - _ROOM - axis(tick) + 8
        parts += [charts.line(_LEFT, y, width, y, "grid"), charts.text(_LEFT - 8, y + 4, f"{tick:.3g}", "tick", "end")]
    before: tuple[float, float] | None = None
    for number, (point, mean) in enumerate(zip(points, means, strict=True)):
        x = _LEFT + 8 + number * step
        if point.breaks:
            before = None
            parts.append(
                f"<g><title>{escape(f'break: {visible(point.breaks)}')}</title>"
                f"{charts.line(x - step / 2, 0, x - step / 2, height - _ROOM + 8, 'break')}</g>"
            )
        if mean.mean is None:
            before = None
            continue
        y, bottom, top = (height - _ROOM - axis(end) + 8 for end in _whiskers(mean))
        if before is not None:
            parts.append(charts.line(*before, x, y, "trend"))
        if mean.low is not None:
            parts.append(charts.line(x, bottom, x, top, "ci"))
        parts.append(_dot(point, mean, x, y, folder, is_tested=height > _SMALL_HEIGHT))
        before = x, y
    if points and height > _SMALL_HEIGHT:
        for number in {0, len(points) - 1}:
            anchor = "start" if not number else "end"
            x = _LEFT + number * step + (8 if number else 0)
            parts.append(charts.text(x, height - 2, points[number].entry.created_at[:10], "tick", anchor))
    said = f"{label}, {len(points)} entries, the last {'none' if means[-1].mean is None else f'{means[-1].mean:.4f}'}"
    return charts.svg(width, height, said, parts)


def _whiskers(mean: Mean) -> tuple[float, float, float]:
    value = mean.mean or 0.0
    return value, value if mean.low is None else mean.low, value if mean.high is None else mean.high


def _dot(point: Point, mean: Mean, x: float, y: float, folder: Path, *, is_tested: bool) -> str:
    """Draw a mean; one of a cohort has no verdict, since changes are tested over all samples."""
    verdict = point.change.verdict if is_tested and point.change is not None else ""
    kind = {"worse": "dot worse", "better": "dot better"}.get(verdict, "dot")
    span = "" if mean.low is None else f" ({mean.low:.4f} to {mean.high:.4f})"
    words = [visible(point.entry.name), point.entry.created_at[:10], f"{mean.mean:.4f}{span}"]
    title = f"<title>{escape(', '.join([*words, *([verdict] if verdict else [])]))}</title>"
    shape = f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="{5 if verdict in {"worse", "better"} else 4}"/>'
    link = _link(point.entry, folder)
    return f'<a href="{escape(link)}">{title}{shape}</a>' if link else f"<g>{title}{shape}</g>"


def _link(entry: Entry, folder: Path) -> str:
    """Return where the report of an entry is: its HTML report, else its Markdown report; empty if it has none."""
    for name in ("report.html", "report.md"):
        report = Path(entry.folder) / name
        if report.is_file():
            try:
                return pathname2url(os.path.relpath(report, folder.absolute()))
            except ValueError:  # on another drive
                return report.as_uri()
    return ""
