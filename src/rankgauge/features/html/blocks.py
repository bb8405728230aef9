"""
The views that the pickers of the HTML report exchange.

All of them are laid out here, so that what the script shows of another run or metric is worded and computed as what
is there first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from markupsafe import Markup

from rankgauge.base.plain_text import visible
from rankgauge.comparison.differences import CohortDifference, MetricComparison, RunComparison
from rankgauge.features.funnel.funnel import Funnel, fate_rows, funnel_headline, funnel_legend, stage_rows, step_lines
from rankgauge.features.html import charts
from rankgauge.features.html.charts import WIDE, Scale, line, short, svg, text
from rankgauge.features.html.notation import difference, named, score
from rankgauge.features.html.packing import clipped
from rankgauge.features.html.report_data import ReportData
from rankgauge.features.html.words import cohorts_heading, headline, linked, questions, spread, spread_of
from rankgauge.result import MetricSummary, Result

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["Block", "Dot", "blocks", "dots"]

_ALL = "All samples"
_SHADED = 0.03
_MOST_COHORTS = 20


_Macros = Any
"""The module that jinja2 makes of a template."""


class Block(NamedTuple):
    """A view for one choice."""

    place: str  # the id of the element that it fills
    key: str  # numbers of the run and of the metric, as far as it depends on them
    text: Markup


def blocks(data: ReportData, environment: Environment) -> Iterator[Block]:
    """Yield every block, of each place the one that is there first before the others."""
    macros: _Macros = environment.get_template("blocks.html").module
    metrics, runs = list(data.first.metrics), list(data.results)
    if not data.pairs:
        leading = data.first.leading
        for name in sorted(metrics, key=lambda name: leading is not None and name != leading.name):
            yield from _of_choice(data, macros, None, name, f"0/{metrics.index(name)}")
        if (heat := _heat_of_means(data.first)) is not None:
            yield Block("cohorts", "0", macros.cohorts(heat, cohorts_heading(data), compared=False))
    for pair in data.pairs:
        run = runs.index(pair.run)
        for name in pair.metrics:
            yield from _of_choice(data, macros, pair, name, f"{run}/{metrics.index(name)}")
        if (heat := _heat_of_differences(pair)) is not None:
            yield Block("cohorts", str(run), macros.cohorts(heat, cohorts_heading(data, pair), compared=True))
    for names in [[pair.baseline, pair.run] for pair in data.pairs] or [runs[:1]]:
        if views := [_funnel(data, name, data.funnels[name]) for name in names if name in data.funnels]:
            yield Block("funnel", str(runs.index(names[-1])), macros.funnels(views))
    yield from _boards(data, macros)


def _boards(data: ReportData, macros: _Macros) -> Iterator[Block]:
    """Yield every run by each metric, if several are compared."""
    metrics = list(data.first.metrics)
    if len(data.pairs) > 1:
        for name in dict.fromkeys(name for pair in data.pairs for name in pair.metrics):
            rows = _board(data, name)
            board = macros.board(rows, _board_heading(rows, data.first.metrics[name]), data.pairs[0].baseline)
            yield Block("board", str(metrics.index(name)), board)


def _of_choice(data: ReportData, macros: _Macros, pair: RunComparison | None, name: str, key: str) -> Iterator[Block]:
    """Yield what is said of one run and metric: the finding, and answers to the next questions."""
    yield Block("finding", key, macros.finding(headline(data, pair, name)))
    if chart := _dots_of_means(data.first, name) if pair is None else _dots_of_differences(pair.metrics[name]):
        yield Block("dots", key, macros.dots(chart, named(name)))
    hero = None if pair is None else _hero(pair, pair.metrics[name])
    yield Block("answers", key, macros.answers(hero, list(questions(data, pair, name))))


def _hero(pair: RunComparison, metric: MetricComparison) -> dict[str, Any]:
    """Return what is drawn of one metric: its difference, and how many samples changed."""
    return {
        "metric": named(metric.name),
        "confidence": f"{100 * metric.confidence:g}",
        "intervals": [charts.interval(metric, pair.baseline, pair.run, width) for width in charts.WIDTHS],
        "counts": [charts.counts(metric, min(width, 428)) for width in charts.WIDTHS],
        "run": named(pair.run),
    }


def _board(data: ReportData, name: str) -> list[dict[str, Any]]:
    """Return a row for each run, the best by one metric first; the baseline has no difference."""
    first, names = data.first.metrics[name], list(data.results)
    compared = {pair.run: pair.metrics[name] for pair in data.pairs if name in pair.metrics}
    axes = charts.Intervals.of(list(compared.values()))
    means = {names[0]: first.mean, **{run: metric.mean for run, metric in compared.items()}}
    sign = -1 if first.info.higher_is_better else 1
    return [
        {
            "run": named(run),
            "place": names.index(run),
            "mean": mean,
            "metric": compared.get(run),
            "plot": axes.row(compared[run]) if run in compared else "",
        }
        for run, mean in sorted(means.items(), key=lambda each: (each[1] is None, sign * (each[1] or 0.0)))
    ]


def _board_heading(rows: Sequence[Mapping[str, Any]], column: MetricSummary) -> str:
    """Name the run with the best mean, and what its test against the baseline says; no other is made."""
    best, metric, name = rows[0], rows[0]["metric"], named(column.name)
    if best["mean"] is None:
        return f"No run has a value of {name}"
    baseline = next(row["run"] for row in rows if row["metric"] is None)
    if metric is None or metric.verdict == "same":
        return f"No run is ahead of {baseline} by {name}"
    leads = f"{best['run']} has the {'highest' if column.info.higher_is_better else 'lowest'} {name}"
    against = {
        "better": f", and is better than {baseline}",
        "equivalent": f", and is equivalent to {baseline}",
        "undecided": f", but these samples do not show a difference from {baseline}",
    }
    return leads + against.get(metric.verdict, f"; against {baseline}: {metric.verdict}")


def _funnel(data: ReportData, run: str, funnel: Funnel) -> dict[str, Any]:
    """Return what is shown of the stages of a run."""
    of = run if len(data.results) > 2 else ""
    return {
        "heading": f"{named(run)}: " * (len(data.results) > 1) + funnel_headline(funnel),
        "legend": funnel_legend(funnel),
        "stages": stage_rows(funnel),
        "shares": [stage.held / max(1, funnel.items) for stage in funnel.stages],
        "fates": fate_rows(funnel),
        "steps": list(step_lines(funnel)),
        "lost": [(linked(item.sample, funnel.metric, of), visible(clipped(item.sentence))) for item in funnel.traced],
    }


_Cell = dict[str, str]
_Compared = CohortDifference | MetricComparison | None
_Part = TypeVar("_Part")


def _heat_of_means(result: Result) -> dict[str, Any] | None:
    """Return cohorts by metrics: the means of one run."""

    def row(part: Result) -> tuple[int, list[_Cell]]:
        return len(part), [_cell(score(column.mean), spread_of(column)) for column in part.metrics.values()]

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


def _dots_of_means(result: Result, name: str) -> list[Markup]:
    """Draw the mean of each cohort of one run."""
    cohorts = result.by_tag()
    parts = [(_tag(tag), part.metrics[name]) for tag, part in cohorts.items()] if set(cohorts) != {None} else []
    known = [
        Dot(tag, column.n, column.mean, column.interval(), score(column.mean))
        for tag, column in [*parts, (_ALL, result.metrics[name])]
        if column.mean is not None
    ]
    return _drawn(known, compared=False)


def _dots_of_differences(metric: MetricComparison) -> list[Markup]:
    """Draw the mean difference in each cohort."""
    known = [
        Dot(_tag(cohort.tag), cohort.n, cohort.difference, cohort.interval, difference(cohort.difference))
        for cohort in metric.cohorts
    ]
    if metric.difference is not None:
        known.append(Dot(_ALL, metric.n, metric.difference, metric.interval, difference(metric.difference)))
    return _drawn(known, compared=True)


def _drawn(known: Sequence[Dot], *, compared: bool) -> list[Markup]:
    """Draw cohorts, of which the last is all samples, for each width; nothing if there is only that."""
    if len(known) < 2 or known[-1].name != _ALL:
        return []
    *cohorts, whole = known
    largest = sorted(cohorts, key=lambda dot: -dot.n)[:_MOST_COHORTS]
    return [dots(largest, whole, width, compared=compared) for width in charts.WIDTHS]


def _tag(tag: str | None) -> str:
    return "(no tag)" if tag is None else named(tag)


def _heat(
    columns: Iterable[str],
    parts: Mapping[str | None, _Part],
    whole: _Part,
    row: Callable[[_Part], tuple[int, list[_Cell]]],
) -> dict[str, Any] | None:
    """Return a table of the first cohorts and of all samples; *row* gives their number and the cells of a part."""
    if not parts:
        return None
    shown = [(_tag(tag), part) for tag, part in parts.items()][:_MOST_COHORTS]
    *rows, total = (
        dict(zip(("tag", "n", "cells"), (name, *row(part)), strict=True)) for name, part in (*shown, (_ALL, whole))
    )
    left = max(0, len(parts) - _MOST_COHORTS)
    return {"columns": list(map(named, columns)), "rows": rows, "total": total, "left": left}


def _shaded(metric: MetricComparison, part: _Compared) -> _Cell:
    """Return a difference, shaded in the colour of the run that it favours if the interval leaves out 0."""
    value, interval = (None, None) if part is None else (part.difference, part.interval)
    shade = ""
    if value is not None and interval is not None and (interval[0] > 0 or interval[1] < 0):
        favours_b = (value > 0) == metric.higher_is_better
        shade = f"h{'b' if favours_b else 'a'}{min(4, 1 + int(abs(value) / _SHADED))}"
    return _cell(difference(value), spread(value, interval), shade)


def _cell(value: str, width: str, shade: str = "") -> _Cell:
    return {"value": value, "half": width, "shade": shade}


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
    summary = "; ".join(f"{named(dot.name)} {dot.written}" for dot in (*cohorts, whole))
    return svg(width, bottom + _FOOT, summary, parts)
