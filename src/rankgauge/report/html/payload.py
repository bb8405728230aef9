"""
What the script of the HTML report shows, as JSON values: scores of all samples, ranks and texts of some.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from rankgauge.explain import Explanation
from rankgauge.report.html.data import ReportData
from rankgauge.visible import visible

__all__ = ["payload_of"]

_LONGEST_TEXT = 600
_TOP = 20


def payload_of(data: ReportData, budget: int) -> tuple[dict[str, Any], str]:
    """Return what the script shows, as JSON values, and what was left out for want of room."""
    names = list(data.results)
    first = data.results[names[0]]
    ids = list(dict.fromkeys(sample_id for result in data.results.values() for sample_id in result.sample_ids))
    place = {sample_id: number for number, sample_id in enumerate(ids)}
    columns = [
        {
            "name": visible(column.name),
            "range": list(column.info.range),
            "higher": column.info.higher_is_better,
        }
        for column in first.metrics.values()
    ]
    tags: list[Sequence[str]] = [()] * len(ids)
    values = []
    for result in data.results.values():
        at = [place[sample_id] for sample_id in result.sample_ids]
        for own, number in zip(result.tags, at, strict=True):
            tags[number] = [visible(tag) for tag in own]
        rows = []
        for name in first.metrics:
            row: list[float | None] = [None] * len(ids)
            column = result.metrics.get(name)
            if column is not None:
                for number, value in zip(at, column.values.tolist(), strict=True):
                    row[number] = None if math.isnan(value) else float(f"{value:.6g}")
            rows.append(row)
        values.append(rows)
    texts = _Texts(budget)
    details = {
        str(place[sample_id]): [_detail(by_run.get(name, {}), list(first.metrics), texts, data.texts) for name in names]
        for sample_id, by_run in data.explanations.items()
        if sample_id in place
    }
    inputs = [texts.add(data.inputs[sample_id]) if sample_id in data.inputs else None for sample_id in ids]
    unjudged = [[_known(data.unjudged.get(name, {}).get(sample_id)) for sample_id in ids] for name in names]
    payload = {
        "runs": [visible(name) for name in names],
        "metrics": columns,
        "ids": [visible(sample_id) for sample_id in ids],
        "inputs": inputs if data.inputs else None,
        "tags": tags if any(tags) else None,
        "values": values,
        "unjudged": unjudged if data.unjudged else None,
        "texts": texts.kept,
        "details": details,
    }
    cut = f"Texts beyond {budget / 1e6:.0f} MB are left out of this file." if texts.is_cut else ""
    return payload, cut


def _known(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else round(value, 4)


class _Texts:
    """Texts, each once, within a budget of bytes."""

    def __init__(self, budget: int) -> None:
        self.kept: list[str] = []
        self.is_cut = False
        self._left = budget
        self._places: dict[str, int] = {}

    def add(self, text: str) -> int | None:
        """Return the place of a text; None where there is no room for it."""
        shown = visible(text if len(text) <= _LONGEST_TEXT else f"{text[: _LONGEST_TEXT - 1]}…", keep="\n")
        if shown in self._places:
            return self._places[shown]
        size = len(shown.encode("utf-8", "replace"))
        if size > self._left:
            self.is_cut = True
            return None
        self._left -= size
        self._places[shown] = len(self.kept)
        self.kept.append(shown)
        return self._places[shown]


def _detail(
    by_column: Mapping[str, Explanation], columns: Sequence[str], texts: _Texts, known: Mapping[str, str]
) -> dict[str, Any] | None:
    """Return one sample of one run: its ranks, and for each metric what they add and what is missing."""
    if not by_column:
        return None
    longest = max(by_column.values(), key=lambda each: len(each.ranks))
    ranks = []
    for rank in longest.ranks:
        if rank.rank > _TOP and not rank.gold:
            continue
        own = rank.text if rank.text is not None or rank.id is None else known.get(rank.id)
        text = None if own is None else texts.add(own)
        name = None if rank.id is None else visible(rank.id)
        matched = None if rank.matched is None else visible(rank.matched[:_LONGEST_TEXT], keep="\n")
        ranks.append([rank.rank, name, rank.grade, int(rank.relevant), text, matched])
    return {"ranks": ranks, "n": longest.n_ranks, "metrics": [_metric_detail(by_column.get(name)) for name in columns]}


def _metric_detail(explanation: Explanation | None) -> dict[str, Any] | None:
    if explanation is None:
        return None
    adds = {str(rank.rank): float(f"{rank.contribution:.6g}") for rank in explanation.ranks if rank.contribution}
    return {
        "k": explanation.k,
        "relevant": [rank.rank for rank in explanation.ranks if rank.relevant],
        "adds": None if explanation.arithmetic is None else adds,
        "missing": [
            [visible(gold.id[:_LONGEST_TEXT]), gold.grade, gold.rank, gold.ideal_rank]
            for gold in explanation.missing[:_TOP]
        ],
        "n_missing": len(explanation.missing),
        "arithmetic": None if explanation.arithmetic is None else visible(explanation.arithmetic),
        "reason": visible(explanation.reason),
    }
