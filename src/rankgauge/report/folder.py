"""
Writing result folders, complete or not at all.
"""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import yaml

from rankgauge.io.files import digest, sha256
from rankgauge.io.kept import OUTPUTS_FILE, OutputsFile, kept_line
from rankgauge.io.outputs import read_kept
from rankgauge.io.staging import Staging, cannot_save, has_outputs
from rankgauge.io.writing import replace_file
from rankgauge.report.data import keep_files
from rankgauge.report.json import json_report, per_sample_jsonl
from rankgauge.report.markdown import markdown_report
from rankgauge.result import Result, SampleError
from rankgauge.result.load import GOLD_KEYS, SCHEMA_VERSION

if TYPE_CHECKING:
    import polars as pl

__all__ = ["save_result", "save_runs"]


def save_result(result: Result, target: Path | Staging, *, keep_data: bool = False) -> Path:
    """
    Write a result folder into an absent or empty directory, complete or not at all.

    Everything is written into a hidden folder beside it, which is then renamed, so that a full disk leaves nothing. A
    run that keeps outputs as they arrive has that folder already. With *keep_data* the folder stands alone.
    """
    import polars as pl

    staging = target if isinstance(target, Staging) else Staging(target)
    try:
        return staging.finish(_files(result, staging, keep_data=keep_data))
    except (OSError, UnicodeEncodeError, orjson.JSONEncodeError, pl.exceptions.PolarsError) as error:
        raise cannot_save(staging.target, error) from error
    finally:
        if staging is not target:
            staging.discard()


def save_runs(results: Mapping[str, Result], path: Path) -> None:
    """Write the scores of several runs as one Parquet file, with a column `run`; it is complete, or as it was."""
    import polars as pl

    frames = [
        result.per_sample.select(pl.lit(name).alias("run"), pl.all().exclude("tags"))
        for name, result in results.items()
    ]
    try:
        replace_file(path, _parquet(pl.concat(frames)))
    except (OSError, pl.exceptions.PolarsError) as error:
        raise cannot_save(path, error) from error


def _files(result: Result, staging: Staging, *, keep_data: bool) -> dict[str, bytes]:
    """Return the content of every file, so that what cannot be encoded is found before anything is written."""
    import polars as pl

    columns = list(result.metrics.values())
    frame = result.per_sample
    if result.gold_keys is not None:
        frame = frame.clone().insert_column(2, pl.Series(GOLD_KEYS, result.gold_keys, dtype=pl.UInt64))
    table = _parquet(frame)
    manifest: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        **result.manifest,
        "metrics": [dataclasses.asdict(column.info) for column in columns],
        "notes": list(result.notes),
        "has_details": bool(columns) and all(column.details is not None for column in columns),
    }
    errors = [orjson.dumps(_with_cause(error, result), option=orjson.OPT_APPEND_NEWLINE) for error in result.unscored]
    outputs: dict[str, bytes] = {}
    if result.manifest.get("outputs", {}).get("from") == "sut":
        if has_outputs(staging.path):  # as they arrived
            _complete(staging, result)
            fingerprint = digest(staging.outputs)
        else:
            lines = b"".join(kept_line(sample_id, output) for sample_id, output in result.outputs.items())
            outputs, fingerprint = {OUTPUTS_FILE: lines}, sha256(lines)
        manifest["outputs"] = {**manifest["outputs"], "path": OUTPUTS_FILE, "fingerprint": fingerprint}
    if keep_data:
        keep_files(result, staging.path, manifest)
    config = yaml.safe_dump(manifest.get("config", {}), sort_keys=False, allow_unicode=True)
    return {
        "manifest.json": orjson.dumps(manifest, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE),
        "per_sample.parquet": table,
        "errors.jsonl": b"".join(errors),
        "config.resolved.yaml": config.encode(),
        "summary.json": json_report(result).encode(),
        "report.md": markdown_report(result).encode(),
        "per_sample.jsonl": per_sample_jsonl(result).encode(),
        **outputs,
    }


def _complete(staging: Staging, result: Result) -> None:
    """Add outputs that could not be kept when they arrived, such as the last one before a full disk stopped the run."""
    if not result.manifest.get("interrupted"):
        return
    there = read_kept(staging.outputs).keys()
    file = OutputsFile(staging.outputs)
    try:
        for sample_id, output in result.outputs.items():
            if sample_id not in there:
                file.add(sample_id, output)
    finally:
        file.close()


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
