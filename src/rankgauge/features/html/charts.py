"""
Charts of the static part of the report, as SVG that needs no script.

Every text passes through `escape`; colours are classes of the style sheet, so that light and dark both work.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from markupsafe import Markup, escape

from rankgauge.base.plain_text import visible
from rankgauge.comparison.differences import MetricComparison
from rankgauge.features.html.notation import difference, isolated, named, plain, score
from rankgauge.features.html.report_data import DepthCurve
from rankgauge.result import MetricSummary

__all__ = ["WIDTHS", "Intervals", "Scale", "counts", "depth", "histogram", "interval", "line", "short", "svg", "text"]

WIDTHS = WIDE, NARROW = 620, 340
"""A wide and a narrow screen have a drawing each, whose texts keep their size."""
_ROW_WIDTH, _DEPTH_WIDTH = 250, 350
_COUNTS_WIDTH = 428


def svg(width: int, height: int, label: str, parts: Sequence[str], kind: str = "fig") -> Markup:
    """Return a drawing with a label for who does not see it."""
    return Markup(  # noqa: S704  # every text in the parts was escaped
        f'<svg class="{kind}" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="{escape(plain(label))}">{"".join(parts)}</svg>'
    )


def text(x: float, y: float, words: str, kind: str = "", anchor: str = "start") -> str:
    """Return a text at a place."""
    written = str(escape(isolated(words))).replace("bdi>", "tspan>")
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">{written}</text>'


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    """Return a line of a class."""
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _rect(x: float, y: float, width: float, height: float, kind: str) -> str:
    return f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{max(width, 0):.1f}" height="{height:.1f}"/>'


@dataclass(frozen=True, slots=True)
class Scale:
    """A linear axis."""

    low: float
    high: float
    width: float
    left: float = 0.0

    def __call__(self, value: float) -> float:
        """Return where a value lies."""
        return self.left + (value - self.low) / (self.high - self.low) * self.width

    def ticks(self, most: int = 6) -> Iterator[float]:
        """Yield round values within the axis, 0 among them if it is within."""
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


def _around(values: Sequence[float], width: float, left: float = 0.0, room: float = 0.12) -> Scale:
    """Return an axis that holds all values and 0."""
    low, high = min(0.0, *values), max(0.0, *values)
    span = high - low or 1.0
    return Scale(low - room * span, high + room * span, width, left)


def _ends(metric: MetricComparison) -> list[float]:
    value, margin = metric.difference or 0.0, metric.matters or 0.0
    return [value, *(metric.interval or (value, value)), -margin, margin]


_LABELLED = 60
"""From this height on a drawing has room for the number of its band."""


def _band(axis: Scale, metric: MetricComparison, height: float) -> list[str]:
    """Return the band of differences that do not matter; nothing if no such difference was given."""
    if metric.matters is None:
        return []
    left, right = axis(-metric.matters), axis(metric.matters)
    band = [_rect(left, 0, right - left, height, "matters")]
    if height < _LABELLED:
        return band
    at, anchor = (right - 6, "end") if right + 60 > axis.left + axis.width else (right + 6, "start")
    return [*band, text(at, height - 5, f"\N{PLUS-MINUS SIGN}{metric.matters:g}", "tick", anchor)]


def _margin(metric: MetricComparison) -> str:
    return "" if metric.matters is None else f"; less than {metric.matters:g} does not matter"


def interval(metric: MetricComparison, a: str, b: str, width: int = WIDE) -> Markup:
    """Draw the difference of one metric with its interval."""
    axis = _around(_ends(metric), width, room=0.12 if width == WIDE else 0.3)
    zero, value = axis(0.0), metric.difference or 0.0
    parts = [*_band(axis, metric, 68), line(0, 68, width, 68, "axis"), line(zero, 14, zero, 73, "zero")]
    for tick in axis.ticks(6 if width == WIDE else 3):
        parts += [line(axis(tick), 68, axis(tick), 72, "axis")]
        parts += [text(axis(tick), 87, axis.label(tick, 6 if width == WIDE else 3), "tick", "middle")]
    left, right = (a, b) if metric.higher_is_better else (b, a)
    colours = ("lab a", "lab b") if metric.higher_is_better else ("lab b", "lab a")
    if zero > 120:
        parts.append(text(zero - 8, 12, f"\N{LEFTWARDS ARROW} {short(left)} better", colours[0], "end"))
    if width - zero > 120:
        parts.append(text(zero + 8, 12, f"{short(right)} better \N{RIGHTWARDS ARROW}", colours[1]))
    if metric.interval is not None:
        low, high = metric.interval
        parts.append(line(axis(low), 44, axis(high), 44, "ci"))
        parts.append(text(axis(low) - 7, 48, difference(low), "lab num", "end"))
        parts.append(text(axis(high) + 7, 48, difference(high), "lab num"))
    parts.append(f'<circle class="dot" cx="{axis(value):.1f}" cy="44" r="6"/>')
    parts.append(text(axis(value), 31, difference(value), "lab num b", "middle"))
    within = "" if metric.interval is None else ", interval {} to {}".format(*map(difference, metric.interval))
    label = f"Difference of {named(metric.name)}: {difference(metric.difference)}{within}{_margin(metric)}"
    return svg(width, 92, label, parts)


def counts(metric: MetricComparison, width: int = _COUNTS_WIDTH) -> Markup:
    """Draw on how many samples a run is worse, the same and better."""
    total = max(1, metric.losses + metric.ties + metric.wins)
    parts, left = [], 0.0
    shares = (("worse", metric.losses, "a", "fa"), ("same", metric.ties, "t", "ft"), ("better", metric.wins, "b", "fb"))
    label_left = 0.0
    for word, count, kind, fill in shares:
        share = count / total * (width - 4)
        parts.append(_rect(left, 38, share, 12, fill))
        at = max(left, label_left)
        anchor = "end" if at > width - 44 else "start"
        at = min(at, width)
        parts += [text(at, 28, f"{count:,}", "big num", anchor), text(at, 66, word, f"lab {kind}", anchor)]
        label_left = at + max(44.0, 11.0 * len(f"{count:,}") + 8)
        left += share + 2
    label = f"Worse on {metric.losses:,}, the same on {metric.ties:,}, better on {metric.wins:,}"
    return svg(width, 92, label, parts)


@dataclass(frozen=True, slots=True)
class Intervals:
    """Differences of several metrics on one axis."""

    axis: Scale

    @classmethod
    def of(cls, metrics: Sequence[MetricComparison]) -> Intervals:
        """Return an axis that holds all of them."""
        ends = [end for metric in metrics for end in _ends(metric)] or [0.0]
        return cls(_around(ends, _ROW_WIDTH, room=0.04))

    def head(self) -> Markup:
        """Draw the numbers of the axis."""
        ticks = [tick for tick in self.axis.ticks(4) if 18 <= self.axis(tick) <= _ROW_WIDTH - 18]
        parts = [text(self.axis(tick), 12, self.axis.label(tick, 4), "tick", "middle") for tick in ticks]
        label = ", ".join(self.axis.label(tick, 4) for tick in ticks)
        return svg(_ROW_WIDTH, 16, f"Axis with {label}", parts, "row")

    def row(self, metric: MetricComparison) -> Markup:
        """Draw one metric."""
        axis = self.axis
        parts = [*_band(axis, metric, 32), line(axis(0.0), 0, axis(0.0), 32, "zero")]
        if metric.interval is not None:
            parts.append(line(axis(metric.interval[0]), 16, axis(metric.interval[1]), 16, "ci"))
        if metric.difference is not None:
            parts.append(f'<circle class="dot" cx="{axis(metric.difference):.1f}" cy="16" r="4"/>')
        return svg(_ROW_WIDTH, 32, f"{difference(metric.difference)}{_margin(metric)}", parts, "row")


def histogram(column: MetricSummary) -> Markup:
    """Draw how the scores of one run are spread, in ten bars."""
    buckets = column.histogram() if column.n else []
    most = max((count for *_, count in buckets), default=0) or 1
    width = _ROW_WIDTH / 10
    parts = [
        _rect(place * width, 30 - 26 * count / most, width - 2, max(26 * count / most, 1 if count else 0), "fa")
        for place, (_, _, count) in enumerate(buckets)
    ]
    parts.append(line(0, 30.5, _ROW_WIDTH, 30.5, "axis"))
    label = "; ".join(f"{count:,} from {low:g} to {high:g}" for low, high, count in buckets if count)
    return svg(_ROW_WIDTH, 32, label or "no scores", parts, "row")


_DEPTH_LEFT, _DEPTH_TOP, _DEPTH_BOTTOM, _DEPTH_HEIGHT = 28, 12, 160, 190
_NAMES_WIDTH = 98
"""What the names of runs take up beside the lines."""

_DEPTH_TICKS = {1, 2, 5, 10, 20, 50, 100}
_TOPS = (0.1, 0.2, 0.4, 0.6, 0.8, 1.0)
"""Where the axis of means may end."""


class _Curve(NamedTuple):
    """The means of one run by depth."""

    run: str
    means: Sequence[float | None]
    kind: str  # its colour


@dataclass(frozen=True, slots=True)
class _DepthAxes:
    """Where a depth and a mean are drawn."""

    last: int
    top: float
    right: float = _DEPTH_WIDTH - _NAMES_WIDTH

    def x(self, depth: int) -> float:
        share = math.log(depth) / math.log(self.last) if self.last > 1 else 0.0
        return _DEPTH_LEFT + share * (self.right - _DEPTH_LEFT)

    def y(self, mean: float) -> float:
        return _DEPTH_BOTTOM - mean / self.top * (_DEPTH_BOTTOM - _DEPTH_TOP)


def depth(curve: DepthCurve, runs: Sequence[str]) -> dict[str, Any]:
    """Draw a mean by depth, on a logarithmic axis."""
    drawn = [run for run in runs if run in curve.means]
    kinds = itertools.chain("a", itertools.cycle("bcdef"))
    of_run = dict(zip(runs, kinds, strict=False))
    curves = [_Curve(run, curve.means[run], of_run[run]) for run in drawn]
    highest = max((mean for trace in curves for mean in trace.means if mean is not None), default=1.0) or 1.0
    axes = _DepthAxes(max(curve.depths), next((top for top in _TOPS if top >= highest), 1.0))
    shown = max(depth for depth in curve.depths if depth <= 10)
    values = [(trace.run, score(trace.means[curve.depths.index(shown)]), trace.kind) for trace in curves]
    places = list(runs)
    readings = [
        [depth, round(axes.x(depth), 1), *map(score, means)]
        for depth, *means in zip(curve.depths, *(trace.means for trace in curves), strict=True)
    ]
    parts = [
        *_depth_grid(axes, curve.depths),
        *(_of(places.index(trace.run), _depth_line(axes, curve.depths, trace)) for trace in curves),
        *(_of(places.index(run), name) for run, name in _depth_names(axes, curve.depths, curves)),
        line(axes.x(shown), _DEPTH_TOP, axes.x(shown), _DEPTH_BOTTOM, "at"),
    ]
    listed = "; ".join(f"{named(run)} {value}" for run, value, _ in values)
    return {
        "name": curve.name.capitalize(),
        "at": shown,
        "values": [(value, kind, places.index(run)) for run, value, kind in values],
        "points": json.dumps(readings),
        "chart": svg(_DEPTH_WIDTH, _DEPTH_HEIGHT, f"{curve.name} by depth; at {shown}: {listed}", parts),
    }


def _depth_grid(axes: _DepthAxes, depths: Sequence[int]) -> Iterator[str]:
    """Yield the axes with their numbers."""
    yield line(_DEPTH_LEFT, _DEPTH_BOTTOM, axes.right, _DEPTH_BOTTOM, "axis")
    for mean in (0.0, axes.top / 2, axes.top):
        yield text(_DEPTH_LEFT - 6, axes.y(mean) + 4, f"{mean:g}", "tick", "end")
        if mean:
            yield line(_DEPTH_LEFT, axes.y(mean), axes.right, axes.y(mean), "grid")
    for depth in depths:
        if depth in _DEPTH_TICKS or depth == axes.last:
            yield text(axes.x(depth), _DEPTH_BOTTOM + 16, str(depth), "tick", "middle")


def _points(axes: _DepthAxes, depths: Sequence[int], curve: _Curve) -> list[tuple[float, float]]:
    pairs = zip(depths, curve.means, strict=True)
    return [(axes.x(depth), axes.y(mean)) for depth, mean in pairs if mean is not None]


def _depth_line(axes: _DepthAxes, depths: Sequence[int], curve: _Curve) -> str:
    path = " L".join(f"{x:.1f} {y:.1f}" for x, y in _points(axes, depths, curve))
    return f'<path class="ln ln{curve.kind}" d="{path and f"M{path}"}"/>'


def _of(run: int, drawn: str) -> str:
    """Mark a line or a name with the place of its run, whose colour the script changes with the chosen run."""
    return drawn.replace(" class=", f' data-of="{run}" class=', 1)


def _depth_names(axes: _DepthAxes, depths: Sequence[int], curves: Sequence[_Curve]) -> Iterator[tuple[str, str]]:
    """Yield each run with its name where its line ends, lower where that would cover another name."""
    ends = [
        ((_points(axes, depths, curve) or [(0.0, _DEPTH_BOTTOM)])[-1][1], curve.run, curve.kind) for curve in curves
    ]
    lowest = -math.inf
    for end, run, kind in sorted(ends):
        lowest = max(end, lowest + 14)
        yield run, text(axes.right + 6, lowest + 4, short(run, 14), f"lab {kind}")


def short(name: str, most: int = 24) -> str:
    """Return the beginning and the end of a name that is long, which tell runs of one system apart."""
    shown = visible(name)
    end = most // 2
    return named(name if len(shown) <= most else f"{shown[: most - 1 - end]}…{shown[-end:]}")
