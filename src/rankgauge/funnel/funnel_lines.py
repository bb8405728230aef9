"""
What a funnel says in words and tables: for the terminal as lines, for other reports its parts.
"""

from __future__ import annotations

from collections.abc import Iterator

from rankgauge.base.plain_text import visible
from rankgauge.base.tables import Line, aligned, folded
from rankgauge.comparison.differences import MetricComparison
from rankgauge.comparison.sentences import p_value, signed, span
from rankgauge.errors import counted
from rankgauge.funnel.funnel import Funnel
from rankgauge.result.wording import number

__all__ = ["fate_rows", "funnel_lines", "headline", "legend", "stage_rows", "step_lines"]


def funnel_lines(funnel: Funnel, *, width: int | None) -> Iterator[Line]:
    """Yield the lines: the largest loss, a table of stages, what became of the items, and steps; then lost items."""
    yield from (Line(line, "verdict") for line in folded(headline(funnel), width))
    for reason, count in funnel.left_out.items():
        yield Line(visible(f"left out: {counted(count, 'sample')} with {reason}"))
    yield Line("")
    yield from (Line(line, "row") for line in aligned(stage_rows(funnel), width))
    yield Line("")
    yield from (Line(line, "row") for line in aligned(fate_rows(funnel), width))
    if steps := list(step_lines(funnel)):
        yield Line("")
        yield from (Line(line) for step in steps for line in folded(step, width))
    if funnel.traced:
        yield Line("")
        lost = (visible(f"{item.sample}  {item.sentence}") for item in funnel.traced)
        yield from (Line(line) for item in lost for line in folded(item, width))
    yield Line("")
    yield from (Line(line, "small") for line in folded(legend(funnel), width))


def headline(funnel: Funnel) -> str:
    """Say where most of the relevant items are lost."""
    lost = {name: count for name, count in funnel.fates.items() if name != "found"}
    most = max(lost, key=lambda name: lost[name])
    about = f"{funnel.metric}, {counted(funnel.samples, 'question')}, {counted(funnel.items, 'relevant item')}"
    if not lost[most]:
        return visible(f"nothing is lost: {about}")
    share = f"{lost[most]:,} of {counted(funnel.items, 'relevant item')} ({lost[most] / funnel.items:.1%})"
    where = f"no stage retrieves {share}" if most == "never" else f"{most} loses {share}"
    return visible(f"{where}: {funnel.metric}, {counted(funnel.samples, 'question')}")


def stage_rows(funnel: Funnel) -> list[list[str]]:
    """Return a table of the stages, its header first."""
    header = ["stage", "from", "results", "relevant", "share", "added", "lost", funnel.metric, "interval", "ceiling"]
    rows = [header]
    is_timed = any(stage.seconds is not None for stage in funnel.stages)
    has_cost = any(stage.cost is not None for stage in funnel.stages)
    header += ["seconds", "p95"] if is_timed else []
    header += ["cost"] if has_cost else []
    for stage in funnel.stages:
        interval = stage.score.interval()
        row = [
            visible(stage.name),
            visible(", ".join(stage.sources)) or "-",
            f"{stage.results:,.1f}",
            f"{stage.held:,}",
            f"{stage.held / max(1, funnel.items):.1%}",
            f"{stage.added:,}",
            f"{stage.lost:,}" if stage.sources else "-",
            number(stage.score.mean),
            "-" if interval is None else f"{interval[0]:.4f} to {interval[1]:.4f}",
            "-" if stage.ceiling is None else number(stage.ceiling.mean),
        ]
        row += ["-", "-"] if is_timed and stage.seconds is None else [f"{each:.3g}" for each in stage.seconds or ()]
        row += ["-" if stage.cost is None else f"{stage.cost:.3g}"] if has_cost else []
        rows.append(row)
    return rows


def fate_rows(funnel: Funnel) -> list[list[str]]:
    """Return a table of what became of the relevant items, its header first."""
    tags = list(funnel.cohorts)
    rows = [["relevant items", "all", "share", *map(visible, tags)]]
    for name, count in funnel.fates.items():
        if name == "found":
            label = f"found{f' within {funnel.k}' if funnel.k else ''}"
        else:
            label = "never retrieved" if name == "never" else f"lost in {visible(name)}"
        of_tags = [f"{funnel.cohorts[tag][name]:,}" for tag in tags]
        rows.append([label, f"{count:,}", f"{count / max(1, funnel.items):.1%}", *of_tags])
    return rows


def step_lines(funnel: Funnel) -> Iterator[str]:
    """Yield how each stage compares with each of its sources."""
    return (visible(_step(funnel, *step)) for step in funnel.steps())


def _step(funnel: Funnel, name: str, source: str, metric: MetricComparison) -> str:
    stage = funnel[name]
    p = f", corrected p {p_value(metric.p_adjusted)}" if metric.p_adjusted is not None else ""
    text = f"{name} after {source}: {metric.verdict}, {signed(metric.difference)} {span(metric.interval)}{p}"
    if stage.as_given is None or stage.as_given.mean is None:
        return text
    return f"{text}; its results in the order of {source}: {number(stage.as_given.mean)}"


def legend(funnel: Funnel) -> str:
    """Say what the columns of the stages mean."""
    parts = [
        "relevant: items among a stage's results at any rank",
        "added: that no source had (of a stage without one, that no other such stage has)",
        "lost: that a source had",
    ]
    if any(stage.ceiling is not None for stage in funnel.stages):
        parts.append(f"ceiling: {funnel.metric} of the best order of its results")
    return visible("; ".join(parts))
