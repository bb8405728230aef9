"""
Keeping data: the samples and outputs that were scored, copied into a result folder so that it stands alone.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from rankgauge.errors import ResultError
from rankgauge.io.files import COMPRESSIONS, digest
from rankgauge.io.kept import OUTPUTS_FILE, kept_line
from rankgauge.result import Result
from rankgauge.samples import KeptOutput

__all__ = ["keep_files"]


def keep_files(result: Result, folder: Path, manifest: dict[str, Any]) -> None:
    """
    Copy data and outputs of a result into a folder, and name the copies in its *manifest*.

    The fingerprints of what was scored stay: a copy of a file has the same, one of samples in memory its own besides.
    """
    data = None if result.origin is None else result.origin.data
    if data is None:
        msg = "the data cannot be kept: this result was not computed from samples in this process"
        raise ResultError(msg)
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
    manifest |= {"dataset": dataset, "outputs": outputs, "config": {**manifest["config"], "datasets": {name: entry}}}


def _copied(source: Path, target: Path, fingerprint: str) -> str:
    """Copy a file that is still what was scored, and return the name of the copy."""
    shutil.copyfile(source, target)
    if digest(target) != fingerprint:
        msg = f"the data cannot be kept: {source} has changed since it was scored"
        raise ResultError(msg)
    return target.name


def _written(target: Path, lines: Iterable[bytes]) -> str:
    with target.open("wb") as file:
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
        yield kept_line(str(name), raw if isinstance(raw, KeptOutput) else KeptOutput(raw))


def _suffixes(path: Path) -> str:
    """Return the endings by which a file is read: that of its format, and that of its compression."""
    return "".join(path.suffixes[-2:] if path.suffix.lower() in COMPRESSIONS else path.suffixes[-1:])
