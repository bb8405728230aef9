"""
Loading: a result folder read back as the `Result` that was saved.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import orjson

from rankgauge.errors import ResultError
from rankgauge.result.summary import MetricInfo, MetricSummary
from rankgauge.scoring.score import STATUSES

if TYPE_CHECKING:
    import polars as pl

__all__ = ["SCHEMA_VERSION", "LoadedFolder", "read_folder"]

SCHEMA_VERSION = "rankgauge.result.v1"


class LoadedFolder(NamedTuple):
    """What a result folder holds, in the order in which `Result` takes it."""

    sample_ids: list[str]
    tags: list[tuple[str, ...]]
    metrics: dict[str, MetricSummary]
    manifest: dict[str, Any]
    notes: list[str]


def read_folder(directory: Path) -> LoadedFolder:
    """
    Read a result folder.

    Args:
        directory: What `Result.save` wrote.

    Returns:
        What it holds.

    Raises:
        ResultError: It is no result folder, not a complete one, or of a later version.
    """
    import polars as pl  # loads only when needed

    damaged = (OSError, ValueError, KeyError, TypeError, pl.exceptions.PolarsError)
    try:
        manifest = orjson.loads((directory / "manifest.json").read_bytes())
        version = manifest.get("schema_version") if isinstance(manifest, dict) else None
        if version == SCHEMA_VERSION:
            return _read(directory, manifest, pl.read_parquet(directory / "per_sample.parquet", glob=False))
    except damaged as error:
        msg = f"{directory} is not a complete result folder: {type(error).__name__}: {error}"
        raise ResultError(msg) from error
    msg = f"{directory} has the schema {version!r}; this version reads {SCHEMA_VERSION!r}"
    raise ResultError(msg)


def _read(directory: Path, manifest: Mapping[str, Any], frame: pl.DataFrame) -> LoadedFolder:
    errors = [orjson.loads(line) for line in (directory / "errors.jsonl").read_bytes().splitlines()]
    details: list[Any] | None = None
    if manifest["has_details"]:
        details = [orjson.loads(line) for line in (directory / "per_sample.jsonl").read_bytes().splitlines()]
    sample_ids: list[str] = frame["sample_id"].to_list()
    places = {sample_id: place for place, sample_id in enumerate(sample_ids)}
    metrics = {}
    for entry in manifest["metrics"]:
        info = MetricInfo.from_dict(entry)
        values = frame[info.safe_name].to_numpy().astype(np.float64)
        statuses = frame[f"{info.safe_name}_status"].to_list()
        codes = np.array([STATUSES.index(status) for status in statuses], dtype=np.uint8)
        reasons = {
            places[error["sample_id"]]: error["reason"] for error in errors if error["metric"] in {None, info.name}
        }
        facts = None if details is None else [line["scores"][info.name]["details"] for line in details]
        metrics[info.name] = MetricSummary(info, values, codes, dict(sorted(reasons.items())), facts)
    ours = {"schema_version", "metrics", "notes", "has_details"}
    kept = {key: value for key, value in manifest.items() if key not in ours}
    tags = [tuple(tags) for tags in frame["tags"].to_list()]
    return LoadedFolder(sample_ids, tags, metrics, kept, manifest["notes"])
