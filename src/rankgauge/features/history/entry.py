"""
`Entry`: what the history keeps of one result folder, which it names by content.

Per-sample scores stay in the folder; of them there are fingerprints, by which it is seen what can be compared.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rankgauge.base.frozen import freeze_fields
from rankgauge.io.files import read_bytes
from rankgauge.plugin.metric import WHOLE_RUN
from rankgauge.result import MetricSummary, Result
from rankgauge.result.meaning import definition_facts
from rankgauge.result.wording import tag_name

__all__ = ["Entry", "Mean", "content_id", "definitions_of", "entry_of"]

_MOST_COHORTS = 50


class Mean(NamedTuple):
    """One mean of an entry, over all samples or those of a cohort."""

    mean: float | None
    low: float | None  # of its 95 % interval
    high: float | None
    n: int
    failed: int  # samples whose output is missing or failed

    @classmethod
    def of(cls, column: MetricSummary) -> Mean:
        """Return the mean of a column."""
        low, high = column.interval() or (None, None)
        return cls(column.mean, low, high, column.n, column.n_missing + column.n_failed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """
    One result in the history.

    Attributes:
        id: The content of its folder: 16 digits of a hash over its manifest and scores.

        folder: Where the folder was when it was added last.

        name: What it is called.

        commit: The commit that it was made at; empty if that is not known.

        tags: What it was tagged with.

        created_at: When it was computed, in ISO 8601.

        dataset: The name of its dataset; entries of one dataset make up a line.

        system: The function, run tag or file that the outputs come from; empty for outputs in the samples.

        data: The fingerprint of the dataset.

        samples: A hash of the sample ids.

        gold: A hash of what each sample was judged against; empty if that is not known.

        passed: Whether it met its gates; None if there were none.

        seconds: Median duration of a call of the system; None if none was called.

        n: How many samples.

        failed: How many of them have a missing or failed output.

        fingerprints: The definition of each metric, by column.

        higher_is_better: The columns of which more is better.

        means: By column.

        cohorts: By tag and column; empty if no sample has a tag.
    """

    id: str
    folder: str
    name: str
    commit: str
    tags: tuple[str, ...]
    created_at: str
    dataset: str
    system: str
    data: str
    samples: str
    gold: str
    passed: bool | None
    seconds: float | None
    n: int
    failed: int
    fingerprints: Mapping[str, str]
    higher_is_better: tuple[str, ...]
    means: Mapping[str, Mean]
    cohorts: Mapping[str, Mapping[str, Mean]]

    def __post_init__(self) -> None:
        freeze_fields(self)


def content_id(folder: Path) -> str:
    """Return the name of a result folder by its content; raise `DataError` if it cannot be read."""
    content = hashlib.sha256()
    for name in ("manifest.json", "per_sample.parquet"):
        content.update(hashlib.sha256(read_bytes(folder / name)).digest())
    return content.hexdigest()[:16]


def entry_of(
    result: Result,
    folder: Path,
    *,
    name: str = "",
    commit: str = "",
    tags: Sequence[str] = (),
    passed: bool | None = None,
) -> Entry:
    """Return the entry of a result that was loaded from a folder."""
    manifest = result.manifest
    outputs, dataset = manifest.get("outputs") or {}, manifest.get("dataset") or {}
    columns = {label: column for label, column in result.metrics.items() if column.info.aggregate != WHOLE_RUN}
    cohorts = result.by_tag() if any(result.tags) else {}
    order = sorted(range(len(result)), key=result.sample_ids.__getitem__)
    keys = result.gold_keys
    source = outputs.get("sut") or outputs.get("tag") or outputs.get("path") or ""
    return Entry(
        id=content_id(folder),
        folder=str(folder.absolute()),
        name=name or folder.name,
        commit=commit or str(manifest.get("commit") or ""),
        tags=tuple(dict.fromkeys(tags)),
        created_at=str(manifest.get("created_at") or ""),
        dataset=str(dataset.get("name") or "data"),
        system=str(source),
        data=str(dataset.get("fingerprint") or ""),
        samples=_hash("\0".join(result.sample_ids[at] for at in order).encode("utf-8", "surrogatepass")),
        gold="" if keys is None else _hash(np.ascontiguousarray(keys[order]).astype("<u8").tobytes()),
        passed=passed,
        seconds=((outputs.get("calls") or {}).get("seconds") or {}).get("p50"),
        n=len(result),
        failed=result.n_unhealthy,
        fingerprints={label: column.info.fingerprint for label, column in columns.items()},
        higher_is_better=tuple(label for label, column in columns.items() if column.info.higher_is_better),
        means={label: Mean.of(column) for label, column in columns.items()},
        cohorts={
            tag_name(tag): {label: Mean.of(part.metrics[label]) for label in columns}
            for tag, part in sorted(cohorts.items(), key=lambda item: -len(item[1]))[:_MOST_COHORTS]
        },
    )


def definitions_of(result: Result) -> dict[str, dict[str, Any]]:
    """Return what each fingerprint of a result covers, by the names that users know."""
    return {
        column.info.fingerprint: {
            name: str(value) for name, value in definition_facts(result.manifest, column.info).items()
        }
        for column in result.metrics.values()
    }


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]
