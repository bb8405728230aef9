"""
Result folders: written in one piece or not at all, and read back.
"""

from __future__ import annotations

import dataclasses
import io
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson
import yaml

from rankgauge.errors import ResultError
from rankgauge.evaluation import STATUSES
from rankgauge.result import MetricInfo, MetricSummary, Result

if TYPE_CHECKING:
    import polars as pl

__all__ = ["check_target", "load_result", "save_frame", "save_result"]

SCHEMA_VERSION = "rankgauge.result.v1"
_PRETTY = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE


def save_result(result: Result, directory: Path, reports: Mapping[str, str]) -> Path:
    """
    Write a result folder.

    Everything is written into a hidden folder beside the target, which is then renamed: whatever goes wrong before,
    a full disk included, leaves nothing behind.

    Args:
        result: The scores.

        directory: Where; it must not exist, or be empty.

        reports: Texts that were laid out from the result, by file name.

    Returns:
        The folder.

    Raises:
        ResultError: The folder has something in it, or cannot be written.
    """
    import polars as pl  # noqa: PLC0415  # loads only when needed

    directory = directory.resolve()
    check_target(directory)
    staging: Path | None = None
    try:
        directory.parent.mkdir(parents=True, exist_ok=True)
        staging = Path(tempfile.mkdtemp(prefix=f".{directory.name}.", dir=directory.parent))
        _write(result, staging, reports)
        staging.chmod(0o777 & ~_umask())
        if directory.exists():
            directory.rmdir()
        staging.rename(directory)
    except (OSError, pl.exceptions.PolarsError) as error:
        msg = f"cannot save to {directory}: {getattr(error, 'strerror', None) or error}; nothing was written"
        raise ResultError(msg) from error
    finally:
        if staging is not None and staging.exists():
            shutil.rmtree(staging, ignore_errors=True)
    return directory


def save_frame(frame: pl.DataFrame, path: Path) -> None:
    """
    Write a table as Parquet; the file is complete or absent, or as it was.

    Args:
        frame: The table.

        path: Where.

    Raises:
        ResultError: It cannot be written.
    """
    import polars as pl  # noqa: PLC0415  # loads only when needed

    part = path.with_name(f".{path.name}.part")
    try:
        frame.write_parquet(part)
        part.replace(path)
    except (OSError, pl.exceptions.PolarsError) as error:
        part.unlink(missing_ok=True)
        msg = f"cannot save to {path}: {getattr(error, 'strerror', None) or error}; nothing was written"
        raise ResultError(msg) from error


def check_target(directory: Path) -> None:
    """
    Refuse a target that has something in it.

    Args:
        directory: Where a result is to be saved.

    Raises:
        ResultError: It exists and is not an empty folder.
    """
    if directory.exists() and not (directory.is_dir() and not any(directory.iterdir())):
        msg = f"cannot save to {directory}: it exists and is not an empty folder; choose another"
        raise ResultError(msg)


def load_result(directory: Path) -> Result:
    """
    Read a result folder.

    Args:
        directory: What `save_result` wrote.

    Returns:
        The result, equal to the one that was saved.

    Raises:
        ResultError: It is no result folder, not a complete one, or of a later version.
    """
    import polars as pl  # noqa: PLC0415  # loads only when needed

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


def _read(directory: Path, manifest: Mapping[str, Any], frame: pl.DataFrame) -> Result:
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
    return Result(sample_ids, tags, metrics, kept, manifest["notes"])


def _write(result: Result, folder: Path, reports: Mapping[str, str]) -> None:
    import polars as pl  # noqa: PLC0415  # loads only when needed

    columns = list(result.metrics.values())
    manifest: dict[str, Any] = {"schema_version": SCHEMA_VERSION, **result.manifest}
    manifest["metrics"] = [dataclasses.asdict(column.info) for column in columns]
    manifest["notes"] = list(result.notes)
    manifest["has_details"] = bool(columns) and all(column.details is not None for column in columns)
    _put(folder / "manifest.json", orjson.dumps(manifest, option=_PRETTY))
    tags = pl.Series("tags", [list(tags) for tags in result.tags], dtype=pl.List(pl.String))
    frame = result.per_sample.clone().insert_column(1, tags)
    table = io.BytesIO()
    frame.write_parquet(table)
    _put(folder / "per_sample.parquet", table.getvalue())
    errors = [orjson.dumps(dataclasses.asdict(error), option=orjson.OPT_APPEND_NEWLINE) for error in result.unscored]
    _put(folder / "errors.jsonl", b"".join(errors))
    config = yaml.safe_dump(result.manifest.get("config", {}), sort_keys=False, allow_unicode=True)
    _put(folder / "config.resolved.yaml", config.encode())
    for name, text in reports.items():
        _put(folder / name, text.encode())


def _put(path: Path, data: bytes) -> None:
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
