"""
Merging columns of parts of a data set, and finding a column by any spelling of its metric.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple, Protocol, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from rankgauge.catalog.other_tools import translated
from rankgauge.catalog.trec_eval import read_form
from rankgauge.columns import IdSketch
from rankgauge.errors import ResultError, suggest
from rankgauge.expression import parse
from rankgauge.plugin.metric import WHOLE_RUN
from rankgauge.result.column_info import LEAKS_KEPT, MetricInfo
from rankgauge.result.meaning import Meant, differences
from rankgauge.result.summary import MetricSummary

__all__ = [
    "Column",
    "Part",
    "concatenated",
    "difference",
    "find_column",
    "merged_ids",
    "merged_info",
    "merged_manifest",
]


class Column(Protocol):
    """What is known of one metric: the scores of all samples, or what they come to."""

    @property
    def info(self) -> MetricInfo:
        """Return what the column is."""
        ...

    @property
    def name(self) -> str:
        """Return the column's name."""
        ...


class Part(NamedTuple):
    """The columns of a result and its manifest: what decides whether it can be merged with another."""

    metrics: Mapping[str, Column]
    manifest: Mapping[str, Any]


def difference(first: Part, other: Part) -> str | None:
    """Return why two results cannot be merged: their columns differ, or mean different things; None if they can."""
    if not _are_alike(list(first.metrics.values()), list(other.metrics.values())):
        return f"the columns differ: {', '.join(first.metrics)} and {', '.join(other.metrics)}"
    if (queries := differences(Meant(first.manifest), Meant(other.manifest)).queries) is not None:
        return f"one part evaluates queries={queries[0]} and another queries={queries[1]}, so that means differ"
    for (name, column), counterpart in zip(first.metrics.items(), other.metrics.values(), strict=True):
        own, its = column.info, counterpart.info
        if own.interval != its.interval:
            return f"{name!r} has interval={own.interval} in one part and interval={its.interval} in another"
        found = differences(Meant(first.manifest, own), Meant(other.manifest, its))
        if found.judged is not None:
            one, another = found.judged
            return f"{name!r} was judged against different ground truth: {one}, and {another}; say which with gold=..."
        if found.definition is not None:
            return (
                f"{name!r} does not mean the same in both: {own.expression} under {first.manifest.get('profile')}, "
                f"{its.expression} under {other.manifest.get('profile')}"
            )
        if found.code is not None:
            in_one, in_other = (", ".join(sorted(providers)) for providers in found.code)
            return (
                f"{name!r} was computed by other code: {in_one} in one, {in_other} in the other; compute both with the "
                "same distributions"
            )
    return None


def merged_ids(parts: Sequence[Part], sample_ids: Sequence[Sequence[str]]) -> list[str]:
    """Return the samples of all parts; raise `ResultError` where the parts differ, or have a sample in common."""
    if not parts:
        raise ResultError("there is nothing to merge")
    for other in parts[1:]:
        if (reason := difference(parts[0], other)) is not None:
            raise ResultError(f"cannot merge: {reason}")
    ids = [sample_id for part in sample_ids for sample_id in part]
    if len(set(ids)) < len(ids):
        twice = next(sample_id for sample_id, times in Counter(ids).items() if times > 1)
        raise ResultError(f"cannot merge: sample {twice!r} is in two of the results")
    return ids


def _are_alike(columns: Sequence[Column], others: Sequence[Column]) -> bool:
    """Return whether columns have the same names, in order; `MRR` and `RR` name the same one."""
    return len(columns) == len(others) and all(
        own.name == its.name or (own.info.alias, own.info.fingerprint) == (its.info.alias, its.info.fingerprint)
        for own, its in zip(columns, others, strict=True)
    )


def merged_info(infos: Sequence[MetricInfo]) -> MetricInfo:
    """Return what a column over all samples is from what it is over parts."""
    first = infos[0]
    if any(info.inferred != first.inferred for info in infos):
        raise ResultError(
            f"cannot merge {first.name!r}: the parts inferred different parameters "
            f"({'; '.join(str(dict(info.inferred)) for info in infos)}); give them in the expression"
        )
    spreads = [info.k for info in infos if info.k is not None]
    sources: Counter[str] = Counter()
    for info in infos:
        sources.update(info.k_sources)
    return dataclasses.replace(
        first,
        k=(min(low for low, _ in spreads), max(high for _, high in spreads)) if spreads else None,
        k_sources=dict(sources),
        fitted=None if first.fitted is None else _added([info.fitted or {} for info in infos]),
        leaks=tuple(chain.from_iterable(info.leaks for info in infos))[:LEAKS_KEPT],
        n_leaks=sum(info.n_leaks for info in infos),
        spellings=tuple(dict.fromkeys(spelling for info in infos for spelling in info.spellings)),
    )


def concatenated(columns: Sequence[MetricSummary]) -> MetricSummary:
    """Return one column over all samples from the same column over parts."""
    info = merged_info([column.info for column in columns])
    if any(column.clusters is not None for column in columns):
        raise ResultError(f"{info.name}: merge the parts first, and say then what clusters there are")
    reasons: dict[int, str] = {}
    start = 0
    for column in columns:
        reasons |= {start + place: reason for place, reason in column.reasons.items()}
        start += len(column.values)
    kept = all(column.details is not None for column in columns)
    return MetricSummary(
        info,
        np.concatenate([column.values for column in columns]),
        np.concatenate([column.codes for column in columns]),
        reasons,
        [fact for column in columns for fact in column.details or ()] if kept else None,
        next((column.aggregator for column in columns if column.aggregator is not None), None),
        None if info.aggregate != WHOLE_RUN else [each for column in columns for each in column.rankings or ()],
        None if all(column.repeats is None for column in columns) else _stacked(columns),
    )


def _stacked(columns: Sequence[MetricSummary]) -> NDArray[np.float64]:
    """Return the repeats of all columns, those of a column without any as one; NaN where there are fewer."""
    parts = [column.values[:, None] if column.repeats is None else column.repeats for column in columns]
    most = max(part.shape[1] for part in parts)
    wide = [np.pad(part, ((0, 0), (0, most - part.shape[1])), constant_values=np.nan) for part in parts]
    return np.concatenate(wide)


def _added(counts: Sequence[Mapping[str, int]]) -> dict[str, int]:
    """Return the sum of several counts of numbers, in order of the numbers."""
    total: Counter[str] = Counter()
    for each in counts:
        total.update(each)
    return dict(sorted(total.items(), key=lambda item: int(item[0])))


def merged_manifest(manifests: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the first manifest, interrupted if any is, with every dataset and outputs file that differs from it."""
    merged = dict(manifests[0])
    merged["interrupted"] = any(manifest.get("interrupted") for manifest in manifests)
    merged["merged_from"] = sum(manifest.get("merged_from", 1) for manifest in manifests)
    for key in ("dataset", "outputs"):
        others = [manifest[key] for manifest in manifests if key in manifest and manifest[key] != merged.get(key)]
        distinct = [other for place, other in enumerate(others) if other not in others[:place]]
        if distinct:
            merged[f"further_{key}"] = distinct
    sketches = [manifest.get("retrieved_ids") for manifest in manifests]
    merged.pop("retrieved_ids", None)
    if None not in sketches:  # of some parts alone it would say that the ids of the others are gone
        sketch = functools.reduce(IdSketch.merged, map(IdSketch.from_dict, cast("list[dict[str, Any]]", sketches)))
        merged["retrieved_ids"] = sketch.to_dict()
    return merged


Found = TypeVar("Found", bound=Column)


def find_column(columns: Mapping[str, Found], name: object) -> Found:
    """Return a column by its name, its safe name, or any spelling of its metric; a `KeyError` says what there is."""
    if not isinstance(name, str):
        raise KeyError(f"a column is looked up by its name, not by {name!r}")
    if name in columns:
        return columns[name]
    for column in columns.values():
        if name == column.info.safe_name or name in column.info.spellings:
            return column
    found: list[Found] = []
    with contextlib.suppress(ValueError):  # an `ExpressionError`, or a form that lists several columns
        (expression,) = read_form(name) or [translated(parse(name))]
        found = [column for column in columns.values() if column.info.answers_to(expression)]
        exact = [column for column in found if parse(column.info.expression).params == expression.params]
        found = exact or found
    if len(found) == 1:
        return found[0]
    if found:
        raise KeyError(f"{name!r} may be any of {', '.join(column.name for column in found)}; use one of these names")
    close = suggest(name, columns)
    hint = f" (did you mean {' or '.join(map(repr, close))}?)" if close else ""
    raise KeyError(f"no column {name!r}{hint}; there are {', '.join(columns)}")
