"""
Merging: putting columns of parts of a data set together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any, NamedTuple

import numpy as np

from rankgauge.errors import ResultError
from rankgauge.result.summary import MetricInfo, MetricSummary

__all__ = ["Part", "check_mergeable", "concatenated", "merged_manifest"]


class Part(NamedTuple):
    """The columns of a result and its manifest: what decides whether it can be merged with another."""

    metrics: Mapping[str, MetricSummary]
    manifest: Mapping[str, Any]


def check_mergeable(first: Part, other: Part) -> None:
    """Raise `ResultError` where the columns of two results differ, or mean different things."""
    if list(first.metrics) != list(other.metrics):
        msg = f"cannot merge: the columns differ: {', '.join(first.metrics)} and {', '.join(other.metrics)}"
        raise ResultError(msg)
    whose = [part.manifest.get("policy", {}).get("queries") for part in (first, other)]
    if whose[0] != whose[1]:
        msg = (
            f"cannot merge: one part evaluates queries={whose[0]} and another queries={whose[1]}, so that means differ"
        )
        raise ResultError(msg)
    for name, column in first.metrics.items():
        own, its = column.info, other.metrics[name].info
        if (own.judged, own.matcher) != (its.judged, its.matcher):
            msg = (
                f"cannot merge: {name!r} was judged against different ground truth: {own.judged}, and "
                f"{its.judged}; say which with gold=..."
            )
            raise ResultError(msg)
        if column.info.fingerprint != other.metrics[name].info.fingerprint:
            msg = (
                f"cannot merge: {name!r} does not mean the same in both: {column.info.expression} under "
                f"{first.manifest.get('profile')}, {other.metrics[name].info.expression} under "
                f"{other.manifest.get('profile')}"
            )
            raise ResultError(msg)
        if (first_by := _providers(own)) != (other_by := _providers(its)):
            msg = (
                f"cannot merge: {name!r} was computed by other code: {', '.join(sorted(first_by - other_by))} in one, "
                f"{', '.join(sorted(other_by - first_by))} in the other; compute both with the same distributions"
            )
            raise ResultError(msg)


def _providers(info: MetricInfo) -> set[str]:
    """Return who provides a column and its matcher; of a function given in Python, where it stands in which file."""
    found = set()
    for name, by in ((info.alias, info.provider), *info.matcher_providers.items()):
        place = f"{PurePath(by['file']).name}:{by['line']}"  # without the folder, which each machine has its own of
        found.add(f"{name} of {by['distribution']} {by['version']}" if by["distribution"] else f"{name} of {place}")
    return found


def concatenated(columns: Sequence[MetricSummary]) -> MetricSummary:
    """
    Return one column over all samples.

    Args:
        columns: The same column over parts, in order.

    Returns:
        The whole column.

    Raises:
        ResultError: The parts inferred different parameters from their data.
    """
    infos = [column.info for column in columns]
    spreads = [info.k for info in infos if info.k is not None]
    sources: dict[str, int] = {}
    reasons: dict[int, str] = {}
    start = 0
    for column in columns:
        for source, count in column.info.k_sources.items():
            sources[source] = sources.get(source, 0) + count
        reasons |= {start + place: reason for place, reason in column.reasons.items()}
        start += len(column.values)
    if any(info.inferred != infos[0].inferred for info in infos):
        msg = (
            f"cannot merge {columns[0].name!r}: the parts inferred different parameters "
            f"({'; '.join(str(dict(info.inferred)) for info in infos)}); give them in the expression"
        )
        raise ResultError(msg)
    values = {name: getattr(infos[0], name) for name in MetricInfo.__slots__}
    values["k"] = (min(low for low, _ in spreads), max(high for _, high in spreads)) if spreads else None
    values["k_sources"] = sources
    details: list[Mapping[str, Any]] | None = None
    if all(column.details is not None for column in columns):
        details = [fact for column in columns for fact in column.details or ()]
    return MetricSummary(
        MetricInfo(**values),
        np.concatenate([column.values for column in columns]),
        np.concatenate([column.codes for column in columns]),
        reasons,
        details,
    )


def merged_manifest(manifests: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """
    Return the manifest of a merged result.

    Args:
        manifests: Those of the parts, in order.

    Returns:
        The first one, interrupted if any is, with the number of parts, and with every dataset and outputs file that
        differs from the first.
    """
    merged = dict(manifests[0])
    merged["interrupted"] = any(manifest.get("interrupted") for manifest in manifests)
    merged["merged_from"] = sum(manifest.get("merged_from", 1) for manifest in manifests)
    for key in ("dataset", "outputs"):
        others = [manifest[key] for manifest in manifests if key in manifest and manifest[key] != merged.get(key)]
        distinct = [other for place, other in enumerate(others) if other not in others[:place]]
        if distinct:
            merged[f"further_{key}"] = distinct
    return merged
