"""
Writing result folders, complete or not at all, with the data where they are kept.
"""

from __future__ import annotations

import dataclasses
import io
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import yaml

from rankgauge.base.forked import lost_threads
from rankgauge.base.frozen import plain
from rankgauge.errors import ResultError
from rankgauge.io.files import COMPRESSIONS, digest, open_regular, sha256
from rankgauge.io.kept_outputs import add_missing
from rankgauge.io.output_files import OUTPUTS_FILE, kept_line
from rankgauge.io.whole_files import replace_file, replacing
from rankgauge.result import Result, SampleError
from rankgauge.result.staging import Staging, cannot_save, has_outputs
from rankgauge.result.stored import GOLD_KEYS, stored_manifest
from rankgauge.samples import KeptOutput

if TYPE_CHECKING:
    import polars as pl

__all__ = ["keep_files", "save_runs", "write_folder"]


def keep_files(result: Result, folder: Path, manifest: dict[str, Any]) -> None:
    """
    Copy data and outputs of a result into a folder, and name the copies in its *manifest*.

    The fingerprints of what was scored stay: a copy of a file has the same, one of samples in memory its own besides.
    """
    data = None if result.origin is None else result.origin.data
    if data is None:
        raise ResultError("the data cannot be kept: this result was not computed from samples in this process")
    dataset, outputs = dict(manifest["dataset"]), dict(manifest["outputs"])
    if isinstance(data.source, Path):
        dataset["path"] = _copied(data.source, folder / f"samples{_suffixes(data.source)}", dataset["fingerprint"])
    else:
        dataset["path"] = _written(folder / "samples.jsonl", map(_line, data.source))
        dataset["kept_fingerprint"] = digest(folder / "samples.jsonl")
    given: Any = None if result.origin is None else result.origin.outputs
    if outputs["from"] == "file":
        file = Path(outputs["path"])
        outputs["path"] = _copied(file, folder / f"outputs{_suffixes(file)}", outputs["fingerprint"])
    elif outputs["from"] == "argument":
        outputs["path"] = _written(folder / OUTPUTS_FILE, _output_lines(given))
        outputs["fingerprint"] = digest(folder / OUTPUTS_FILE)
    (name,) = manifest["config"]["datasets"]
    entry = {**manifest["config"]["datasets"][name], "path": dataset["path"]}
    if outputs["path"] is not None:
        entry["outputs"] = outputs["path"]
    config = {**manifest["config"], "datasets": {name: entry}}
    excluded = config["policy"].get("excluded")
    if isinstance(excluded, str):  # its content is held to the fingerprint of what was left out
        copy = folder / f"excluded{_suffixes(Path(excluded))}"
        shutil.copyfile(excluded, copy)
        config["policy"] = {**config["policy"], "excluded": copy.name}
    manifest |= {"dataset": dataset, "outputs": outputs, "config": config}


def _copied(source: Path, target: Path, fingerprint: str) -> str:
    """Copy a file that is still what was scored, and return the name of the copy."""
    with open_regular(source) as file, replacing(target) as copy:
        shutil.copyfileobj(file, copy)
    if digest(target) != fingerprint:
        raise ResultError(f"the data cannot be kept: {source} has changed since it was scored")
    return target.name


def _written(target: Path, lines: Iterable[bytes]) -> str:
    with replacing(target) as file:
        file.writelines(lines)
    return target.name


def _line(value: object) -> bytes:
    """Return a sample given in Python as a line of JSON."""
    if not isinstance(value, Mapping):
        msg = f"the data cannot be kept: samples are kept as JSON, and {type(value).__name__} is no mapping"
        raise ResultError(msg)
    try:
        return orjson.dumps(dict(value), option=orjson.OPT_APPEND_NEWLINE | orjson.OPT_SERIALIZE_NUMPY)
    except TypeError as error:
        msg = f"the data cannot be kept: sample {value.get('id')!r} cannot be written as JSON: {error}"
        raise ResultError(msg) from error


def _output_lines(given: Any) -> Iterator[bytes]:  # noqa: ANN401  # outputs in any form that `run` takes
    if not isinstance(given, Mapping):
        yield from map(_line, given)
        return
    for name, raw in given.items():
        output = raw if isinstance(raw, KeptOutput) else KeptOutput(raw)
        yield from (kept_line(str(name), one) for one in output.every)


def _suffixes(path: Path) -> str:
    """Return the endings by which a file is read: that of its format, and that of its compression."""
    return "".join(path.suffixes[-2:] if path.suffix.lower() in COMPRESSIONS else path.suffixes[-1:])


def write_folder(
    result: Result,
    target: Path | Staging,
    documents: Callable[[], Mapping[str, bytes]],
    *,
    keep_data: bool = False,
) -> Path:
    """
    Write a result folder into an absent or empty directory, complete or not at all, with *documents* beside the values.

    Everything is written into a hidden folder beside it, which is then renamed, so that a full disk leaves nothing. A
    run that keeps outputs as they arrive has that folder already. With *keep_data* the folder is alone.
    """
    import polars as pl

    staging = target if isinstance(target, Staging) else Staging(target)
    staging.keeps = staging is target and result.manifest.get("outputs", {}).get("from") == "sut"
    try:
        return staging.finish({**_files(result, staging, keep_data=keep_data), **documents()})
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
    """Return the files of values with their content: what cannot be encoded is found before anything is written."""
    import polars as pl

    frame = result.per_sample
    if result.gold_keys is not None:
        frame = frame.insert_column(2, pl.Series(GOLD_KEYS, result.gold_keys, dtype=pl.UInt64))
    table = _parquet(frame)
    manifest = stored_manifest(result)
    errors = [orjson.dumps(_with_cause(error, result), option=orjson.OPT_APPEND_NEWLINE) for error in result.unscored]
    outputs: dict[str, bytes] = {}
    if result.manifest.get("outputs", {}).get("from") == "sut":
        if has_outputs(staging.path):  # as they arrived, and what could not be kept then
            add_missing(staging.outputs, result.outputs)
            fingerprint = digest(staging.outputs)
        else:
            lines = b"".join(_output_lines(result.outputs))
            outputs, fingerprint = {OUTPUTS_FILE: lines}, sha256(lines)
        manifest["outputs"] = {**manifest["outputs"], "path": OUTPUTS_FILE, "fingerprint": fingerprint}
    if keep_data:
        keep_files(result, staging.path, manifest)
    config = yaml.safe_dump(plain(manifest.get("config", {})), sort_keys=False, allow_unicode=True)
    return {
        "manifest.json": orjson.dumps(manifest, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE),
        "per_sample.parquet": table,
        "errors.jsonl": b"".join(errors),
        "config.resolved.yaml": config.encode(),
        **outputs,
    }


def _with_cause(error: SampleError, result: Result) -> dict[str, Any]:
    """Return why a sample has no score, with type, text and traceback if a call of the system failed."""
    calls = result.outputs.get(error.sample_id, KeptOutput()).every
    causes = (call.error for call in calls if call.error is not None)
    cause = next((cause for cause in causes if error.reason.endswith(cause.reason)), None)
    row = dataclasses.asdict(error)
    return row if cause is None else {**row, "error": cause._asdict()}


def _parquet(frame: pl.DataFrame) -> bytes:
    if why := lost_threads():
        raise ResultError(f"the scores cannot be written: {why}")
    table = io.BytesIO()
    frame.write_parquet(table)
    return table.getvalue()
