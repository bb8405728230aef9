"""
Loading: a result folder read back as the `Result` that was saved.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson
from numpy.typing import NDArray

from rankgauge.errors import DataError, ResultError, listed
from rankgauge.io.files import read_bytes, reading
from rankgauge.io.kept import OUTPUTS_FILE
from rankgauge.io.staging import has_outputs, is_staging
from rankgauge.plugin.metric import WHOLE_RUN
from rankgauge.result.form import DAMAGED, check_form, read_info
from rankgauge.result.summary import MetricSummary
from rankgauge.scoring.score import STATUSES

if TYPE_CHECKING:
    import polars as pl

__all__ = ["GOLD_KEYS", "SCHEMA_VERSION", "read_folder"]

SCHEMA_VERSION = "rankgauge.result.v1"


GOLD_KEYS = "gold_key"
"""The column of `per_sample.parquet` with a hash of what each sample was judged against."""

_Folder = tuple[
    list[str],
    list[tuple[str, ...]],
    dict[str, MetricSummary],
    dict[str, Any],
    list[str],
    NDArray[np.uint64] | None,
]


def read_folder(directory: Path) -> _Folder:
    """Return what `Result.save` wrote, in the order in which `Result` takes it."""
    import polars as pl

    damaged = (*DAMAGED, pl.exceptions.PolarsError)
    try:
        manifest = orjson.loads(read_bytes(directory / "manifest.json"))
        version = manifest.get("schema_version") if isinstance(manifest, dict) else None
        if version == SCHEMA_VERSION:
            table = directory / "per_sample.parquet"
            with reading(str(table), table, form="Parquet"):
                frame = pl.read_parquet(io.BytesIO(read_bytes(table)))
            return _read(directory, manifest, frame)
    except DataError as error:
        why = str(error.problems[0])
        if isinstance(error.__cause__, FileNotFoundError):
            why = _absence(directory, Path(error.__cause__.filename).name)
        msg = f"{directory} is not a complete result folder: {why}"
        raise ResultError(msg) from error
    except damaged as error:
        msg = f"{directory} is not a complete result folder: {type(error).__name__}: {error}"
        raise ResultError(msg) from error
    msg = f"{directory} has the schema {version!r}; this version reads {SCHEMA_VERSION!r}"
    raise ResultError(msg)


def _absence(directory: Path, missing: str) -> str:
    """Return why a folder lacks a file, and what to do."""
    if is_staging(directory) and has_outputs(directory):
        return (
            f"its run was killed; go on with it (`rankgauge run ... --resume {directory}`), or score its outputs "
            f"(`rankgauge run ... --outputs {directory / OUTPUTS_FILE}`)"
        )
    if inner := sorted(each.parent for each in directory.glob("*/manifest.json")):
        return f"it holds several; name one: {listed(list(map(str, inner)))}"
    lacks = f"it has no {missing}" if directory.is_dir() else "there is no such folder"
    return f"{lacks}; `rankgauge run -o FOLDER` writes one"


def _read(directory: Path, manifest: Mapping[str, Any], frame: pl.DataFrame) -> _Folder:
    for part in ("dataset", "outputs", "policy"):
        if not isinstance(manifest[part], dict):
            msg = f"{part!r} of manifest.json is no object"
            raise TypeError(msg)
    errors = [orjson.loads(line) for line in read_bytes(directory / "errors.jsonl").splitlines()]
    details: list[Any] | None = None
    if manifest["has_details"]:
        details = [orjson.loads(line) for line in read_bytes(directory / "per_sample.jsonl").splitlines()]
    sample_ids: list[str] = frame["sample_id"].to_list()
    places = {sample_id: place for place, sample_id in enumerate(sample_ids)}
    metrics = {}
    for entry in manifest["metrics"]:
        info = read_info(entry)
        values = frame[info.safe_name].to_numpy().astype(np.float64)
        statuses = frame[f"{info.safe_name}_status"].to_list()
        codes = np.array([STATUSES.index(status) for status in statuses], dtype=np.uint8)
        reasons = {
            places[error["sample_id"]]: error["reason"] for error in errors if error["metric"] in {None, info.name}
        }
        facts = None if details is None else [line["scores"][info.name]["details"] for line in details]
        rankings = None
        if info.aggregate == WHOLE_RUN:
            rankings = list(map(tuple, frame[f"{info.safe_name}_ids"].to_list()))
        metrics[info.name] = MetricSummary(info, values, codes, dict(sorted(reasons.items())), facts, rankings=rankings)
    ours = {"schema_version", "metrics", "notes", "has_details"}
    kept = {key: value for key, value in manifest.items() if key not in ours}
    tags = [tuple(tags) for tags in frame["tags"].to_list()]
    gold_keys = None
    if GOLD_KEYS in frame.columns:
        gold_keys = np.array(frame[GOLD_KEYS].to_list(), dtype=np.uint64)
    check_form(sample_ids, tags, metrics, kept, manifest["notes"], gold_keys)
    return sample_ids, tags, metrics, kept, manifest["notes"], gold_keys
