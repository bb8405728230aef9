"""
Writing result folders, complete or not at all.
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

import orjson
import yaml

from rankgauge.errors import ResultError
from rankgauge.io.files import sha256
from rankgauge.io.kept import OUTPUTS_FILE, kept_line
from rankgauge.io.writing import replace_file, write_file
from rankgauge.report.json import json_report, per_sample_jsonl
from rankgauge.report.markdown import markdown_report
from rankgauge.result import SCHEMA_VERSION, Result, SampleError

if TYPE_CHECKING:
    import polars as pl

__all__ = ["check_target", "save_result", "save_runs"]


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
        files = _files(result)
        directory.parent.mkdir(parents=True, exist_ok=True)
        staging = Path(tempfile.mkdtemp(prefix=f".{directory.name}.", dir=directory.parent))
        for name, data in files.items():
            write_file(staging / name, data)
        staging.chmod(0o777 & ~_umask())
        if directory.exists():
            directory.rmdir()
        staging.rename(directory)
    except (OSError, UnicodeEncodeError, orjson.JSONEncodeError, pl.exceptions.PolarsError) as error:
        raise _cannot_save(directory, error) from error
    finally:
        if staging is not None and staging.exists():
            shutil.rmtree(staging, ignore_errors=True)
    return directory


def save_runs(results: Mapping[str, Result], path: Path) -> None:
    """Write the scores of several runs as one Parquet file, with a column `run`; it is complete, or as it was."""
    import polars as pl

    frames = [result.per_sample.select(pl.lit(name).alias("run"), pl.all()) for name, result in results.items()]
    try:
        replace_file(path, _parquet(pl.concat(frames)))
    except (OSError, pl.exceptions.PolarsError) as error:
        raise _cannot_save(path, error) from error


def check_target(directory: Path) -> None:
    """Refuse a target that has something in it."""
    if directory.exists() and not (directory.is_dir() and not any(directory.iterdir())):
        msg = f"cannot save to {directory}: it exists and is not an empty folder; choose another"
        raise ResultError(msg)


def _files(result: Result) -> dict[str, bytes]:
    """Return the content of every file, so that what cannot be encoded is found before anything is written."""
    import polars as pl

    kept = b"".join(kept_line(sample_id, output) for sample_id, output in result.outputs.items())
    columns = list(result.metrics.values())
    tags = pl.Series("tags", [list(tags) for tags in result.tags], dtype=pl.List(pl.String))
    table = _parquet(result.per_sample.clone().insert_column(1, tags))
    manifest: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        **result.manifest,
        "metrics": [dataclasses.asdict(column.info) for column in columns],
        "notes": list(result.notes),
        "has_details": bool(columns) and all(column.details is not None for column in columns),
    }
    errors = [orjson.dumps(_with_cause(error, result), option=orjson.OPT_APPEND_NEWLINE) for error in result.unscored]
    config = yaml.safe_dump(result.manifest.get("config", {}), sort_keys=False, allow_unicode=True)
    if result.manifest.get("outputs", {}).get("from") == "sut":
        manifest["outputs"] = {**manifest["outputs"], "path": OUTPUTS_FILE, "fingerprint": sha256(kept)}
    return {
        "manifest.json": orjson.dumps(manifest, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE),
        "per_sample.parquet": table,
        "errors.jsonl": b"".join(errors),
        "config.resolved.yaml": config.encode(),
        "summary.json": json_report(result).encode(),
        "report.md": markdown_report(result).encode(),
        "per_sample.jsonl": per_sample_jsonl(result).encode(),
        **({OUTPUTS_FILE: kept} if kept else {}),
    }


def _with_cause(error: SampleError, result: Result) -> dict[str, Any]:
    """Return why a sample has no score, with type, text and traceback where a call of the system failed."""
    call = result.outputs.get(error.sample_id)
    cause = None if call is None else call.error
    row = dataclasses.asdict(error)
    return row if cause is None or cause.reason != error.reason else {**row, "error": cause._asdict()}


def _parquet(frame: pl.DataFrame) -> bytes:
    table = io.BytesIO()
    frame.write_parquet(table)
    return table.getvalue()


def _cannot_save(path: Path, error: Exception) -> ResultError:
    why = getattr(error, "strerror", None) or str(error)
    if isinstance(error, UnicodeEncodeError):
        why = f"{error.object!r} holds half of a surrogate pair, which UTF-8 cannot encode; give the sample another id"
    return ResultError(f"cannot save to {path}: {why}; nothing was written")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
