"""
Writing result folders, complete or not at all.
"""

from __future__ import annotations

import dataclasses
import io
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import yaml

from rankgauge.errors import ResultError
from rankgauge.report.json import json_report, per_sample_jsonl
from rankgauge.report.markdown import markdown_report
from rankgauge.result import SCHEMA_VERSION, Result

if TYPE_CHECKING:
    import polars as pl

__all__ = ["check_target", "save_frame", "save_result"]

_PRETTY = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE


def save_result(result: Result, directory: Path) -> Path:
    """
    Write a result folder into an absent or empty directory, complete or not at all.

    Everything is written into a hidden folder beside it, which is then renamed, so that a full disk leaves nothing.
    """
    import polars as pl

    directory = directory.resolve()
    check_target(directory)
    staging: Path | None = None
    try:
        directory.parent.mkdir(parents=True, exist_ok=True)
        staging = Path(tempfile.mkdtemp(prefix=f".{directory.name}.", dir=directory.parent))
        _write(result, staging)
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
    """Write a table as Parquet; the file is complete, or as it was."""
    import polars as pl

    part = path.with_name(f".{path.name}.part")
    try:
        frame.write_parquet(part)
        part.replace(path)
    except (OSError, pl.exceptions.PolarsError) as error:
        part.unlink(missing_ok=True)
        msg = f"cannot save to {path}: {getattr(error, 'strerror', None) or error}; nothing was written"
        raise ResultError(msg) from error


def check_target(directory: Path) -> None:
    """Refuse a target that has something in it."""
    if directory.exists() and not (directory.is_dir() and not any(directory.iterdir())):
        msg = f"cannot save to {directory}: it exists and is not an empty folder; choose another"
        raise ResultError(msg)


def _write(result: Result, folder: Path) -> None:
    import polars as pl

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
    _put(folder / "summary.json", json_report(result).encode())
    _put(folder / "report.md", markdown_report(result).encode())
    _put(folder / "per_sample.jsonl", per_sample_jsonl(result).encode())


def _put(path: Path, data: bytes) -> None:
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
