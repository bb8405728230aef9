"""
The chart of cohorts: one metric of each, with its interval, beside that of all samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from rankgauge.report.html.charts import WIDE, Scale, line, short, svg, text
from rankgauge.report.html.notation import named

if TYPE_CHECKING:
    from markupsafe import Markup

__all__ = ["Dot", "dots"]

_ROW, _TOP, _FOOT = 24, 8, 26
_COUNT = 56
"""What the numbers of samples take up at the right."""


class Dot(NamedTuple):
    """A cohort, or all samples."""

    name: str
    n: int
    value: float
    interval: tuple[float, float] | None
    written: str  # the value as the table has it


def dots(cohorts: Sequence[Dot], whole: Dot, width: int, *, compared: bool) -> Markup:
    """Draw the largest cohort first; a dashed line is the value of all samples, and of differences another one is 0."""
    ends = [end for dot in (*cohorts, whole) for end in (dot.value, *(dot.interval or ()))]
    low, high = min([*ends, 0.0] if compared else ends), max([*ends, 0.0] if compared else ends)
    margin = 0.06 * (high - low or 1.0)
    left = 150.0 if width == WIDE else 96.0
    axis = Scale(low - margin, high + margin, width - left - _COUNT, left)
    bottom = _TOP + _ROW * len(cohorts)
    most = 6 if width == WIDE else 3
    parts = [line(left, bottom, width - _COUNT, bottom, "axis")]
    parts += [line(axis(0.0), _TOP, axis(0.0), bottom, "zero")] if compared else []
    parts.append(line(axis(whole.value), _TOP, axis(whole.value), bottom, "at"))
    for tick in axis.ticks(most):
        label = axis.label(tick, most) if compared else axis.label(tick, most).lstrip("+")
        parts.append(text(axis(tick), bottom + 17, label, "tick", "middle"))
    for place, dot in enumerate(sorted(cohorts, key=lambda dot: -dot.n)):
        y = _TOP + _ROW * place + _ROW / 2
        parts.append(text(0, y + 4, short(dot.name, 20 if width == WIDE else 12)))
        if dot.interval is not None:
            parts.append(line(axis(dot.interval[0]), y, axis(dot.interval[1]), y, "ci"))
        parts.append(f'<circle class="dot" cx="{axis(dot.value):.1f}" cy="{y:.1f}" r="4"/>')
        parts.append(text(width, y + 4, f"{dot.n:,}", "tick", "end"))
    told = "; ".join(f"{named(dot.name)} {dot.written}" for dot in (*cohorts, whole))
    return svg(width, bottom + _FOOT, told, parts)
