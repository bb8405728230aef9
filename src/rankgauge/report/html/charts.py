"""
Charts of the static part of the report, as SVG that needs no script.

Every text passes through `escape`; colours are classes of the style sheet, so that light and dark both work.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rankgauge.base.plain_text import visible
from rankgauge.comparison.differences import MetricComparison
from rankgauge.report.html.report_data import DepthCurve
from rankgauge.report.html.words import difference, score
from rankgauge.result import MetricSummary

if TYPE_CHECKING:
    from markupsafe import Markup

__all__ = ["Intervals", "counts", "depth", "histogram", "interval"]

_WIDTH, _COUNTS_WIDTH, _ROW_WIDTH, _DEPTH_WIDTH = 620, 428, 250, 350


def _svg(width: int, height: int, label: str, parts: Sequence[str], kind: str = "fig") -> Markup:
    from markupsafe import Markup, escape

    return Markup(  # noqa: S704  # every text in the parts was escaped
        f'<svg class="{kind}" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="{escape(label)}">{"".join(parts)}</svg>'
    )


def _text(x: float, y: float, text: str, kind: str = "", anchor: str = "start") -> str:
    from markupsafe import escape

    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">{escape(text)}</text>'


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _rect(x: float, y: float, width: float, height: float, kind: str) -> str:
    return f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{max(width, 0):.1f}" height="{height:.1f}"/>'


@dataclass(frozen=True, slots=True)
class _Scale:
    """A linear axis."""

    low: float
    high: float
    width: float
    left: float = 0.0

    def __call__(self, value: float) -> float:
        return self.left + (value - self.low) / (self.high - self.low) * self.width

    def ticks(self, most: int = 6) -> Iterator[float]:
        """Yield round values within the axis, 0 among them where it is within."""
        step = self._step(most)
        for number in range(math.ceil(self.low / step), math.floor(self.high / step) + 1):
            yield number * step

    def label(self, tick: float, most: int = 6) -> str:
        """Return a tick as a difference, with as many decimals as tell it from its neighbors."""
        decimals = max(2, -math.floor(math.log10(self._step(most))))
        return difference(tick, decimals) if tick else "0"

    def _step(self, most: int) -> float:
        raw = (self.high - self.low) / most
        base = 10.0 ** math.floor(math.log10(raw))
        return next(base * factor for factor in (1, 2, 5, 10) if base * factor >= raw)


def _around(values: Sequence[float], width: float, left: float = 0.0, room: float = 0.12) -> _Scale:
    """Return an axis that holds all values and 0."""
    low, high = min(0.0, *values), max(0.0, *values)
    span = high - low or 1.0
    return _Scale(low - room * span, high + room * span, width, left)


def _ends(metric: MetricComparison) -> list[float]:
    value = metric.difference or 0.0
    detectable = metric.detectable or 0.0
    return [value, *(metric.interval or (value, value)), -detectable, detectable]


def interval(metric: MetricComparison, a: str, b: str) -> Markup:
    """Draw the difference of one metric with its interval, and a band of what cannot be seen."""
    axis = _around(_ends(metric), _WIDTH)
    zero, value = axis(0.0), metric.difference or 0.0
    parts = []
    if metric.detectable is not None:
        parts.append(
            _rect(axis(-metric.detectable), 20, axis(metric.detectable) - axis(-metric.detectable), 48, "band")
        )
    parts += [_line(0, 68, _WIDTH, 68, "axis"), _line(zero, 14, zero, 73, "zero")]
    for tick in axis.ticks():
        parts += [_line(axis(tick), 68, axis(tick), 72, "axis")]
        parts += [_text(axis(tick), 87, axis.label(tick), "tick", "middle")]
    left, right = (a, b) if metric.higher_is_better else (b, a)
    colours = ("lab a", "lab b") if metric.higher_is_better else ("lab b", "lab a")
    if zero > 120:
        parts.append(_text(zero - 8, 12, f"\N{LEFTWARDS ARROW} {_short(left)} better", colours[0], "end"))
    if _WIDTH - zero > 120:
        parts.append(_text(zero + 8, 12, f"{_short(right)} better \N{RIGHTWARDS ARROW}", colours[1]))
    if metric.interval is not None:
        low, high = metric.interval
        parts.append(_line(axis(low), 44, axis(high), 44, "ci"))
        parts += [
            _text(axis(low) - 7, 48, difference(low), "lab num", "end"),
            _text(axis(high) + 7, 48, difference(high), "lab num"),
        ]
    parts.append(f'<circle class="dot" cx="{axis(value):.1f}" cy="44" r="6"/>')
    parts.append(_text(axis(value), 31, difference(value), "lab num b", "middle"))
    within = (
        ""
        if metric.interval is None
        else f", interval {difference(metric.interval[0])} to {difference(metric.interval[1])}"
    )
    return _svg(_WIDTH, 92, f"Difference of {visible(metric.name)}: {difference(metric.difference)}{within}", parts)


def counts(metric: MetricComparison) -> Markup:
    """Draw on how many samples a run is worse, the same and better."""
    total = max(1, metric.losses + metric.ties + metric.wins)
    parts, left = [], 0.0
    shares = (("worse", metric.losses, "a", "fa"), ("same", metric.ties, "t", "ft"), ("better", metric.wins, "b", "fb"))
    label_left = 0.0
    for word, count, kind, fill in shares:
        width = count / total * (_COUNTS_WIDTH - 4)
        parts.append(_rect(left, 38, width, 12, fill))
        at = max(left, label_left)
        anchor = "end" if at > _COUNTS_WIDTH - 44 else "start"
        at = min(at, _COUNTS_WIDTH)
        parts += [_text(at, 28, f"{count:,}", "big num", anchor), _text(at, 66, word, f"lab {kind}", anchor)]
        label_left = at + max(44.0, 11.0 * len(f"{count:,}") + 8)
        left += width + 2
    told = f"Worse on {metric.losses:,}, the same on {metric.ties:,}, better on {metric.wins:,}"
    return _svg(_COUNTS_WIDTH, 92, told, parts)


@dataclass(frozen=True, slots=True)
class Intervals:
    """Differences of several metrics on one axis."""

    axis: _Scale

    @classmethod
    def of(cls, metrics: Sequence[MetricComparison]) -> Intervals:
        """Return an axis that holds all of them."""
        ends = [end for metric in metrics for end in _ends(metric)] or [0.0]
        return cls(_around(ends, _ROW_WIDTH, room=0.04))

    def head(self) -> Markup:
        """Draw the numbers of the axis."""
        ticks = [tick for tick in self.axis.ticks(4) if 18 <= self.axis(tick) <= _ROW_WIDTH - 18]
        parts = [_text(self.axis(tick), 12, self.axis.label(tick, 4), "tick", "middle") for tick in ticks]
        told = ", ".join(self.axis.label(tick, 4) for tick in ticks)
        return _svg(_ROW_WIDTH, 16, f"Axis with {told}", parts, "row")

    def row(self, metric: MetricComparison) -> Markup:
        """Draw one metric."""
        axis = self.axis
        parts = []
        if metric.detectable is not None:
            parts.append(
                _rect(axis(-metric.detectable), 6, axis(metric.detectable) - axis(-metric.detectable), 20, "band")
            )
        parts.append(_line(axis(0.0), 0, axis(0.0), 32, "zero"))
        if metric.interval is not None:
            parts.append(_line(axis(metric.interval[0]), 16, axis(metric.interval[1]), 16, "ci"))
        if metric.difference is not None:
            parts.append(f'<circle class="dot" cx="{axis(metric.difference):.1f}" cy="16" r="4"/>')
        return _svg(_ROW_WIDTH, 32, difference(metric.difference), parts, "row")


def histogram(column: MetricSummary) -> Markup:
    """Draw how the scores of one run are spread, in ten bars."""
    buckets = column.histogram() if column.n else []
    most = max((count for *_, count in buckets), default=0) or 1
    width = _ROW_WIDTH / 10
    parts = [
        _rect(place * width, 30 - 26 * count / most, width - 2, max(26 * count / most, 1 if count else 0), "fa")
        for place, (_, _, count) in enumerate(buckets)
    ]
    parts.append(_line(0, 30.5, _ROW_WIDTH, 30.5, "axis"))
    told = "; ".join(f"{count:,} from {low:g} to {high:g}" for low, high, count in buckets if count)
    return _svg(_ROW_WIDTH, 32, told or "no scores", parts, "row")


def depth(curve: DepthCurve, runs: Sequence[str]) -> dict[str, Any]:
    """Draw a mean by depth, on a logarithmic axis."""
    height, bottom = 190, 160
    last = max(curve.depths)
    known = {run: curve.means[run] for run in runs if run in curve.means}
    top = max((value for means in known.values() for value in means if value is not None), default=1.0) or 1.0
    upper = next((step for step in (0.1, 0.2, 0.4, 0.6, 0.8, 1.0) if step >= top), 1.0)
    width = _DEPTH_WIDTH - 112

    def x(depth: int) -> float:
        return 28 + (math.log(depth) / math.log(last) if last > 1 else 0.0) * width

    def y(value: float) -> float:
        return bottom - value / upper * (bottom - 12)

    parts = [_line(28, bottom, 28 + width, bottom, "axis")]
    for tick in (0.0, upper / 2, upper):
        parts.append(_text(22, y(tick) + 4, f"{tick:g}", "tick", "end"))
        parts += [_line(28, y(tick), 28 + width, y(tick), "grid")] if tick else []
    parts += [
        _text(x(depth), bottom + 16, str(depth), "tick", "middle")
        for depth in curve.depths
        if depth in {1, 2, 5, 10, 20, 50, 100}
    ]
    labels: list[tuple[float, str, str]] = []
    for number, (run, means) in enumerate(known.items()):
        kind = "ab"[min(number, 1)] if number < 2 else "t"
        points = [(x(depth), y(mean)) for depth, mean in zip(curve.depths, means, strict=True) if mean is not None]
        path = " ".join(f"{'L' if place else 'M'}{px:.1f} {py:.1f}" for place, (px, py) in enumerate(points))
        parts.append(f'<path class="ln ln{kind}" d="{path}"/>')
        labels.append((points[-1][1] if points else bottom, visible(run), kind))
    floor = -math.inf
    for at, run, kind in sorted(labels):
        floor = max(at, floor + 14)
        parts.append(_text(34 + width, floor + 4, _short(run, 12), f"lab {kind}"))
    shown = max(depth for depth in curve.depths if depth <= 10)
    parts.append(_line(x(shown), 12, x(shown), bottom, "at"))
    values = [
        (visible(run), means[curve.depths.index(shown)], "ab"[number] if number < 2 else "t")
        for number, (run, means) in enumerate(known.items())
    ]
    told = f"; at {shown}: {'; '.join(f'{run} {score(mean)}' for run, mean, _ in values)}"
    readings = [
        [depth, round(x(depth), 1), *(score(means[at]) for means in known.values())]
        for at, depth in enumerate(curve.depths)
    ]
    return {
        "name": curve.name.capitalize(),
        "at": shown,
        "values": [(score(mean), kind) for _, mean, kind in values],
        "points": json.dumps(readings),
        "chart": _svg(_DEPTH_WIDTH, height, f"{curve.name} by depth{told}", parts),
    }


def _short(name: str, most: int = 24) -> str:
    return name if len(name) <= most else f"{name[: most - 1]}…"
