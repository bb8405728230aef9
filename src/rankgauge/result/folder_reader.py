"""
Reading result folders: what is damaged is refused here, and not when it is used.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from rankgauge.catalog import Catalog
from rankgauge.errors import DataError, ResultError, listed
from rankgauge.io.files import read_bytes, reading
from rankgauge.io.output_files import OUTPUTS_FILE
from rankgauge.result.forms import DAMAGED
from rankgauge.result.staging import SCHEMA_VERSION, has_outputs, is_staging
from rankgauge.result.stored import Values, read_stored

if TYPE_CHECKING:
    import polars as pl

__all__ = ["read_folder"]


def read_folder(directory: Path, catalog: Catalog | None = None) -> Values:
    """Return what `Result.save` wrote, in the order in which `Result` takes it; see `Result.load`."""
    import polars as pl

    damaged = (*DAMAGED, pl.exceptions.PolarsError)
    try:
        manifest = orjson.loads(read_bytes(directory / "manifest.json"))
        version = manifest.get("schema_version") if isinstance(manifest, dict) else None
        if version == SCHEMA_VERSION:
            table = directory / "per_sample.parquet"
            with reading(str(table), table, form="Parquet"):
                frame = pl.read_parquet(io.BytesIO(read_bytes(table)))
            return _read(directory, manifest, frame, catalog)
    except DataError as error:
        why = str(error.problems[0])
        if isinstance(error.__cause__, FileNotFoundError):
            why = _absence(directory, Path(error.__cause__.filename).name)
        raise ResultError(f"{directory} is not a complete result folder: {why}") from error
    except damaged as error:
        raise ResultError(f"{directory} is not a complete result folder: {type(error).__name__}: {error}") from error
    raise ResultError(f"{directory} has the schema {version!r}; this version reads {SCHEMA_VERSION!r}")


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


def _read(directory: Path, manifest: Mapping[str, Any], frame: pl.DataFrame, catalog: Catalog | None) -> Values:
    for part in ("dataset", "outputs", "policy"):
        if not isinstance(manifest[part], dict):
            raise TypeError(f"{part!r} of manifest.json is no object")
    errors = [orjson.loads(line) for line in read_bytes(directory / "errors.jsonl").splitlines()]
    lines: list[Any] = []
    details, texts = {}, None
    if manifest["has_details"] or manifest.get("has_texts"):
        lines = [orjson.loads(line) for line in read_bytes(directory / "per_sample.jsonl").splitlines()]
        if len(lines) != len(frame):
            raise ValueError(f"per_sample.jsonl has {len(lines):,} lines for {len(frame):,} samples")
    if manifest["has_details"]:
        names = [entry["name"] for entry in manifest["metrics"]]
        details = {name: [line["scores"][name]["details"] for line in lines] for name in names}
    if manifest.get("has_texts"):
        texts = lines
    columns = {each.name: each.to_numpy() if each.dtype.is_float() else each.to_list() for each in frame}
    return read_stored(manifest, columns, errors, details, texts, catalog=catalog)
