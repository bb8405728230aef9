"""
What the script of the HTML report shows: scores and ranked lists of all samples, and texts as far as there is room.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from rankgauge.base.plain_text import all_visible, visible
from rankgauge.columns import Floats, Ints
from rankgauge.features.html.blocks import Block
from rankgauge.features.html.lists import ListsWriter
from rankgauge.features.html.packing import Packer, Texts
from rankgauge.features.html.report_data import ReportData
from rankgauge.result import MetricSummary, Result

__all__ = ["payload_of"]


def payload_of(data: ReportData, budget: int, blocks: Sequence[Block]) -> tuple[str, str]:
    """Return what the script shows as one block, and what was left out for want of room."""
    packer, texts = Packer(), Texts(budget)
    names = list(data.results)
    first = data.results[names[0]]
    ids = list(dict.fromkeys(sample_id for result in data.results.values() for sample_id in result.sample_ids))
    place = {sample_id: number for number, sample_id in enumerate(ids)}
    order = data.order or ids
    at = {
        name: np.fromiter((place[sample_id] for sample_id in result.sample_ids), np.int64, len(result))
        for name, result in data.results.items()
    }
    asked = np.zeros(len(ids), dtype=np.int64)
    for sample_id in order:
        if sample_id in data.inputs:
            asked[place[sample_id]] = texts.add(data.inputs[sample_id]).place
    lists = [data.lists.get(name) for name in names]
    sets, facts = ListsWriter(packer, texts, place, order).written(lists, list(first.metrics), data.texts)
    header = {
        "runs": [visible(name) for name in names],
        "metrics": [_metric(column) for column in first.metrics.values()],
        "ids": packer.texts(all_visible(ids)),
        "inputs": packer.counts(asked) if data.inputs else None,
        "tags": _tags(packer, data, at, len(ids)),
        "values": [
            [packer.floats(_scores(result.metrics.get(column), at[name], len(ids))) for column in first.metrics]
            for name, result in data.results.items()
        ],
        "unjudged": [packer.floats(_known(data.unjudged.get(name, {}), place)) for name in names]
        if data.unjudged
        else None,
        "codes": [
            [_codes(packer, result.metrics.get(column), at[name], len(ids)) for column in first.metrics]
            for name, result in data.results.items()
        ],
        "reasons": [_reasons(packer, result, first.metrics, place) for result in data.results.values()],
        "sets": sets,
        "facts": facts,
        "texts": packer.texts(texts.kept),
        "whole": packer.counts(texts.whole),
        "blocks": {"places": [block[:2] for block in blocks], "texts": packer.texts([block.text for block in blocks])},
    }
    room = f"{budget / 1e6:g} MB" if budget >= 1_000_000 else f"{budget:,} bytes"
    cut = f"It has room for {room} of texts; others are left out." if texts.is_full else ""
    return packer.packed(header), cut


def _metric(column: MetricSummary) -> dict[str, Any]:
    return {
        "name": visible(column.name),
        "range": list(column.info.range),
        "higher": column.info.higher_is_better,
        "ranks": column.info.of_ranks,
    }


def _scores(column: MetricSummary | None, at: Ints, n: int) -> Floats:
    """Return the scores of one run for all samples, NaN if there is none."""
    values = np.full(n, np.nan)
    if column is not None:
        values[at] = column.values
    return values


def _tags(packer: Packer, data: ReportData, at: Mapping[str, Ints], n: int) -> int | None:
    """Take the tags of each sample, a line feed between two."""
    tags: list[Sequence[str]] = [()] * n
    for name, result in data.results.items():
        for number, tags_of_sample in zip(at[name].tolist(), result.tags, strict=True):
            tags[number] = tags_of_sample
    return packer.texts(["\n".join(map(visible, listed)) for listed in tags]) if any(tags) else None


def _known(shares: Mapping[str, float], place: Mapping[str, int]) -> Floats:
    values = np.full(len(place), np.nan)
    for sample_id, share in shares.items():
        if sample_id in place:
            values[place[sample_id]] = round(share, 4)
    return values


def _codes(packer: Packer, column: MetricSummary | None, at: Ints, n: int) -> int | None:
    """Take the status of each sample, an index into `STATUSES`; None if all are scored."""
    if column is None or not column.codes.any():
        return None
    codes = np.zeros(n, dtype=np.int64)
    codes[at] = column.codes
    return packer.counts(codes)


def _reasons(packer: Packer, result: Result, names: Iterable[str], place: Mapping[str, int]) -> dict[str, Any] | None:
    """Return why samples have no score: each reason once, and which one a sample has by each column, from 1."""
    numbers: dict[str, int] = {}
    which: list[int | None] = []
    taken: dict[bytes, int] = {}  # most columns lack the same samples for the same reasons
    for column in map(result.metrics.get, names):
        if column is None or not column.reasons:
            which.append(None)
            continue
        of_sample = np.zeros(len(place), dtype=np.int64)
        for number, reason in column.reasons.items():
            of_sample[place[result.sample_ids[number]]] = numbers.setdefault(reason, len(numbers) + 1)
        key = of_sample.tobytes()
        if key not in taken:
            taken[key] = packer.counts(of_sample)
        which.append(taken[key])
    return {"texts": list(map(visible, numbers)), "which": which} if numbers else None
