"""
What a sweep found: its points with their intervals, which ones no other beats, and the best one on held out questions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import rankgauge
from rankgauge import Result
from rankgauge.errors import ParameterError, ResultError
from rankgauge.plugin import Console
from rankgauge.text import counted
from rankgauge_systems.sweep_points import Point, halves

__all__ = ["Held", "Row", "held_out", "rows_of", "show_sweep"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """
    A point with its scores.

    Attributes:
        point: Its options.

        result: Its scores.

        quality: The mean that counts.

        cost: What it is weighed against; None if nothing tells it.

        is_best: Whether no other point is as good and cheaper, or as cheap and better.

        recall: Which share of an exact search it finds, by depth; nothing if that was not asked for.
    """

    point: Point
    result: Result
    quality: float | None
    cost: float | None
    is_best: bool = False
    recall: Mapping[int, Result] = field(default_factory=dict)

    def to_dict(self, metrics: Sequence[str]) -> dict[str, Any]:
        """Return it as JSON values."""
        means = {}
        for name in metrics:
            column = self.result.metrics[name]
            means[name] = {"mean": column.mean, "interval": column.interval(), **column.counts}
        columns = {depth: result.metrics["set_recall"] for depth, result in self.recall.items()}
        recall = {depth: {"mean": column.mean, "interval": column.interval()} for depth, column in columns.items()}
        return {
            "options": dict(self.point.changes),
            "folder": self.point.folder,
            "metrics": means,
            "index_recall": recall,
            "is_best": self.is_best,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """
    The point that was best on some questions, on the others.

    Attributes:
        best: Its row.

        chosen: Its mean where it was chosen, which is flattered.

        held: Its mean on the others.

        interval: The interval of that; None if there is none.

        n_chosen: How many questions it was chosen on.

        n_held: How many the others are.

        difference: How much better than the first point it is there, with its interval; None if it is the first.
    """

    best: Row
    chosen: float
    held: float | None
    interval: tuple[float, float] | None
    n_chosen: int
    n_held: int
    difference: tuple[float | None, tuple[float, float] | None] | None

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        values = {name: getattr(self, name) for name in ("chosen", "held", "interval", "n_chosen", "n_held")}
        difference = None
        if self.difference is not None:
            difference = dict(zip(("mean", "interval"), self.difference, strict=True))
        return {"options": dict(self.best.point.changes), **values, "difference_to_first": difference}


def rows_of(results: Sequence[tuple[Point, Result, Mapping[int, Result]]], metric: str, cost: str) -> list[Row]:
    """Return the points with what counts; those that no other beats in both quality and cost are marked."""
    rows = [
        Row(
            point=point,
            result=result,
            quality=result.metrics[metric].mean,
            cost=result.metrics[cost].mean,
            recall=recall,
        )
        for point, result, recall in results
    ]
    better = 1 if results[0][1].metrics[metric].info.higher_is_better else -1
    cheaper = -1 if results[0][1].metrics[cost].info.higher_is_better else 1
    worth = [
        None if row.quality is None or row.cost is None else (better * row.quality, cheaper * row.cost) for row in rows
    ]
    return [
        Row(
            point=row.point,
            result=row.result,
            quality=row.quality,
            cost=row.cost,
            recall=row.recall,
            is_best=own is not None and not any(_beats(other, own) for other in worth if other is not None),
        )
        for row, own in zip(rows, worth, strict=True)
    ]


def _beats(other: tuple[float, float], own: tuple[float, float]) -> bool:
    return other != own and other[0] >= own[0] and other[1] <= own[1]


def held_out(rows: Sequence[Row], metric: str, share: float, seed: int) -> Held:
    """Choose the point with the best mean on a share of the questions, the cheaper of equals; score it on the rest."""
    first = rows[0].result
    for row in rows:
        if row.result.sample_ids != first.sample_ids:
            raise ParameterError("the points have other samples; sweep into an empty folder")
    chosen_on, held = halves(first.sample_ids, share, seed)
    sign = 1 if first.metrics[metric].info.higher_is_better else -1
    means = [row.result.take(chosen_on).metrics[metric].mean for row in rows]
    known = [(sign * mean, -(rows[place].cost or 0.0), -place) for place, mean in enumerate(means) if mean is not None]
    if not known:
        raise ParameterError(f"no point has a value of {metric} on the part on which the best one is chosen")
    place = -max(known)[2]
    rest = rows[place].result.take(held)
    difference = None
    if place:
        try:
            pair = rankgauge.compare({"first": first.take(held), "best": rest}, metrics=[metric])
            compared = pair["best"][metric]
            difference = (compared.difference, compared.interval)
        except ResultError:  # too few to compare
            difference = None
    column = rest.metrics[metric]
    return Held(
        best=rows[place],
        chosen=means[place] or 0.0,
        held=column.mean,
        interval=column.interval(),
        n_chosen=len(chosen_on),
        n_held=len(held),
        difference=difference,
    )


def show_sweep(rows: Sequence[Row], metrics: Sequence[str], cost: str, held: Held | None, console: Console) -> None:
    """Print the table of points, and what can be said of the best one."""
    metric = metrics[0]
    depths = sorted({depth for row in rows for depth in row.recall})
    header = [
        "point",
        *(text for name in metrics for text in _header(rows, name)),
        *(f"of exact {depth}" for depth in depths),
        "",
    ]
    cells = [
        [
            row.point.name,
            *(cell for name in metrics for cell in _cells(rows, row, name)),
            *(_mean(row.recall.get(depth), "set_recall") for depth in depths),
            "best for its cost" if row.is_best else "",
        ]
        for row in rows
    ]
    console.table(header, cells, title=f"{counted(len(rows), 'point')}: {metric} against {cost}")
    if held is None:
        if len(rows) > 1:
            flattered = f"the best of {len(rows):,} points is flattered by chance"
            console.echo(f"{flattered}; --holdout chooses on some questions and reports on the others", role="note")
        return
    told = f"{held.best.point.name}: best by {metric} on {counted(held.n_chosen, 'question')} ({held.chosen:.4f})"
    mean = "-" if held.held is None else f"{held.held:.4f}"
    console.echo(f"{told}; on the other {held.n_held:,} it has {mean}{_interval(held.interval)}", role="note")
    if held.difference is not None and held.difference[0] is not None:
        value, interval = held.difference
        console.echo(
            f"that is {value:+.4f}{_interval(interval, sign='+')} against {rows[0].point.name} there", role="note"
        )


def _header(rows: Sequence[Row], name: str) -> list[str]:
    return [name, "95 % interval"] if _has_interval(rows, name) else [name]


def _cells(rows: Sequence[Row], row: Row, name: str) -> list[str]:
    mean = _mean(row.result, name)
    if not _has_interval(rows, name):
        return [mean]
    interval = row.result.metrics[name].interval()
    return [mean, "-" if interval is None else f"{interval[0]:.4f} to {interval[1]:.4f}"]


def _has_interval(rows: Sequence[Row], name: str) -> bool:
    return any(row.result.metrics[name].info.aggregate == "mean" for row in rows)


def _mean(result: Result | None, name: str) -> str:
    mean = None if result is None else result.metrics[name].mean
    return "-" if mean is None else f"{mean:.4f}"


def _interval(interval: tuple[float, float] | None, *, sign: str = "") -> str:
    return "" if interval is None else f" ({interval[0]:{sign}.4f} to {interval[1]:{sign}.4f})"
