"""
`Funnel`: what each stage of a pipeline keeps, loses and could still reach.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rankgauge.base.frozen import freeze_fields
from rankgauge.base.plain_text import visible
from rankgauge.base.tables import Line, aligned, folded
from rankgauge.comparison.differences import Comparison, MetricComparison
from rankgauge.comparison.sentences import p_value, signed, span
from rankgauge.errors import counted
from rankgauge.features.funnel.fates import BELOW, FOUND, NEVER, Traced
from rankgauge.result import MetricSummary
from rankgauge.result.wording import number
from rankgauge.stats.estimates import TIED

__all__ = [
    "Funnel",
    "FunnelStage",
    "fate_names",
    "fate_rows",
    "funnel_headline",
    "funnel_legend",
    "funnel_lines",
    "stage_rows",
    "step_lines",
]


_SINCE = "below since "
"""How the names of fates begin that say since which stage an item was ranked below the cutoff."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FunnelStage:
    """
    What one stage of a pipeline does, over all questions that are followed.

    Attributes:
        name: What it is called.

        sources: The stages whose results it was given; empty for one that searched itself.

        results: How many results it returned, the mean over questions.

        held: How many relevant items are among them, at whatever rank.

        added: How many of these none of its sources had; of a stage without any, no other such stage.

        lost: How many relevant items its sources had, and it has not.

        score: The metric over its ranking.

        ceiling: The metric over the best order of its results, which no later stage that only orders and drops them
            can exceed; None for a metric that sees more than ranks and grades.

        ceiling_is_exact: Whether that holds. If one result holds several relevant items, or several results find
            one together, not all orders are tried, and the ceiling is a lower bound.

        as_given: The metric over its results in the order of its source, of a stage that has one; None as `ceiling`.

        seconds: The median and the 95th percentile of the seconds it took; None if outputs do not say.

        cost: The mean of what it cost; None if outputs do not say.
    """

    name: str
    sources: tuple[str, ...]
    results: float
    held: int
    added: int
    lost: int
    score: MetricSummary
    ceiling: MetricSummary | None = None
    as_given: MetricSummary | None = None
    ceiling_is_exact: bool = True
    seconds: tuple[float, float] | None = None
    cost: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        of_metrics = {"score": self.score, "ceiling": self.ceiling, "as_given": self.as_given}
        return {
            **{
                name: getattr(self, name)
                for name in ("name", "results", "held", "added", "lost", "cost", "ceiling_is_exact")
            },
            "sources": list(self.sources),
            **{
                name: None if column is None else {"mean": column.mean, "interval": column.interval()}
                for name, column in of_metrics.items()
            },
            "seconds": None if self.seconds is None else {"p50": self.seconds[0], "p95": self.seconds[1]},
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Funnel:
    """
    Where the relevant items of a pipeline are lost.

    Attributes:
        dataset: What the samples are called.

        metric: The column that is followed through the stages.

        k: The cutoff of the last stage in words; empty for none.

        samples: How many questions are followed: those with ground truth whose output has every stage.

        left_out: How many others there are, by what they lack.

        items: How many relevant items these questions have.

        stages: The stages, in order.

        fates: How many of the items were found within the cutoff of the last stage (`found`); were lost, by the stage
            that had them below the cutoff or not at all, after one that had them within; were ranked below the cutoff
            by every stage that had them, by the first of these (`below since dense`); and were retrieved by no stage
            (`never`).

        cohorts: The same for each cohort.

        traced: Lost items with their ranks at each stage: the highest grades first, of each fate as many as were asked
            for.

        comparison: Each two stages compared as two systems are; None for one stage alone.
    """

    dataset: str
    metric: str
    k: str
    samples: int
    left_out: Mapping[str, int]
    items: int
    stages: tuple[FunnelStage, ...]
    fates: Mapping[str, int]
    cohorts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    traced: tuple[Traced, ...] = ()
    comparison: Comparison | None = None

    def __post_init__(self) -> None:
        freeze_fields(self)

    def __getitem__(self, name: str) -> FunnelStage:
        """Return a stage; a `KeyError` lists what there is."""
        for stage in self.stages:
            if stage.name == name:
                return stage
        raise KeyError(f"there is no stage {name!r}; the stages are {', '.join(stage.name for stage in self.stages)}")

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the stages."""
        return (stage.name for stage in self.stages)

    def steps(self) -> Iterator[tuple[str, str, MetricComparison]]:
        """Yield each stage with a source of it, and how their scores compare."""
        pairs = () if self.comparison is None else self.comparison.comparisons
        compared = {(pair.run, pair.baseline): pair for pair in pairs}
        for stage in self.stages:
            for source in stage.sources:
                if pair := compared.get((stage.name, source)):
                    yield stage.name, source, pair[self.metric]

    def blamed(self) -> tuple[str, str, MetricComparison] | None:
        """Return the stage that lowers the metric most, its best source, and how they compare; None if none does."""
        lowered = None
        for stage in self.stages:
            steps = [step for step in self.steps() if step[0] == stage.name and step[2].difference is not None]
            if steps and (step := max(steps, key=_loss)) and _loss(step) > max(TIED, _loss(lowered)):
                lowered = step
        return lowered

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        plain = ("dataset", "metric", "k", "samples", "items")
        blamed = self.blamed()
        return {
            **{name: getattr(self, name) for name in plain},
            "headline": funnel_headline(self),
            "blamed": None if blamed is None else {"stage": blamed[0], "source": blamed[1]},
            "left_out": dict(self.left_out),
            "stages": [stage.to_dict() for stage in self.stages],
            "fates": dict(self.fates),
            "cohorts": {tag: dict(fates) for tag, fates in self.cohorts.items()},
            "traced": [item.to_dict() for item in self.traced],
            "steps": [
                {
                    "stage": stage,
                    "source": source,
                    "difference": metric.difference,
                    "interval": metric.interval,
                    "p_adjusted": metric.p_adjusted,
                    "verdict": metric.verdict,
                }
                for stage, source, metric in self.steps()
            ],
        }


def _loss(step: tuple[str, str, MetricComparison] | None) -> float:
    """Return by how much a stage is worse than a source; 0 if there is none."""
    if step is None or step[2].difference is None:
        return 0.0
    return -step[2].difference if step[2].higher_is_better else step[2].difference


def fate_names(stages: Sequence[str]) -> dict[int, str]:
    """Return what each fate is called in `Funnel.fates`."""
    below = {BELOW - at: f"{_SINCE}{name}" for at, name in enumerate(stages)}
    return {FOUND: "found", **dict(enumerate(stages)), **below, NEVER: "never"}


def funnel_lines(funnel: Funnel, *, width: int | None) -> Iterator[Line]:
    """Yield the lines: the largest loss, a table of stages, what became of the items, and steps; then lost items."""
    yield from (Line(line, "verdict") for line in folded(funnel_headline(funnel), width))
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
    yield from (Line(line, "small") for line in folded(funnel_legend(funnel), width))


def funnel_headline(funnel: Funnel) -> str:
    """Say which stage lowers the metric most; if none does, what became of most items that were not found."""
    metric, questions, blamed = funnel.metric, counted(funnel.samples, "question"), funnel.blamed()
    left = {name: count for name, count in funnel.fates.items() if name != "found"}
    most = max(left, key=lambda name: left[name])
    of_all = f"{left[most]:,} of {counted(funnel.items, 'relevant item')} ({left[most] / funnel.items:.1%})"
    share = f"{_fate(funnel, most)}: {of_all}"
    if blamed is None and not left[most]:
        return visible(f"nothing is lost: {metric}, {questions}, {counted(funnel.items, 'relevant item')}")
    if blamed is None:
        none = f"no stage lowers {metric}; " if len(funnel.stages) > 1 else ""
        return visible(f"{none}{share}, {questions}")
    stage, source, step = blamed
    worse = "lowers" if step.higher_is_better else "raises"
    change = f"from {number(step.baseline_mean)} in {source} to {number(step.mean)} ({step.verdict}, {questions})"
    more = f"; {share}" if left[most] > left[stage] else ""
    return visible(f"{stage} {worse} {metric} by {abs(step.difference or 0.0):.4f}, {change}{more}")


def stage_rows(funnel: Funnel) -> list[list[str]]:
    """Return a table of the stages, its header first."""
    header = ["stage", "from", "results", "relevant", "share", "added", "dropped", funnel.metric, "interval", "ceiling"]
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
            "-" if stage.ceiling is None else f"{'' if stage.ceiling_is_exact else '>='}{number(stage.ceiling.mean)}",
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
        label = visible(_fate(funnel, name))
        of_tags = [f"{funnel.cohorts[tag][name]:,}" for tag in tags]
        rows.append([label, f"{count:,}", f"{count / max(1, funnel.items):.1%}", *of_tags])
    return rows


def _fate(funnel: Funnel, name: str) -> str:
    """Return a fate in words."""
    if name == "found":
        return f"found{f' within {funnel.k}' if funnel.k else ''}"
    if name.startswith(_SINCE):
        return f"ranked below {funnel.k.removeprefix('rank ')} since {name.removeprefix(_SINCE)}"
    return "never retrieved" if name == "never" else f"lost in {name}"


def step_lines(funnel: Funnel) -> Iterator[str]:
    """Yield how each stage compares with each of its sources."""
    return (visible(_step(funnel, *step)) for step in funnel.steps())


def _step(funnel: Funnel, name: str, source: str, metric: MetricComparison) -> str:
    stage = funnel[name]
    p = f", corrected p {p_value(metric.p_adjusted)}" if metric.p_adjusted is not None else ""
    before = " before correction" if metric.contradicts else ""
    text = f"{name} after {source}: {metric.verdict}, {signed(metric.difference)} {span(metric.interval)}{before}{p}"
    if stage.as_given is None or stage.as_given.mean is None:
        return text
    return f"{text}; its results in the order of {source}: {number(stage.as_given.mean)}"


def funnel_legend(funnel: Funnel) -> str:
    """Say what the columns of the stages mean."""
    parts = [
        "relevant: items among a stage's results at any rank",
        "added: that no source had (of a stage without one, that no other such stage has)",
        "dropped: that a source had",
    ]
    if any(stage.ceiling is not None for stage in funnel.stages):
        parts.append(f"ceiling: {funnel.metric} of the best order of its results")
    if not all(stage.ceiling_is_exact for stage in funnel.stages):
        parts.append(">=: a bound, since results hold several items or find one together, and not all orders are tried")
    return visible("; ".join(parts))
