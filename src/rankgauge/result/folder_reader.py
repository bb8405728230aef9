"""
Reading result folders: what is damaged is refused here, and not where it is used.
"""

from __future__ import annotations

import io
import types
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np
import orjson
from numpy.typing import NDArray

from rankgauge.base.guard import shown
from rankgauge.columns import IdSketch
from rankgauge.errors import DataError, ResultError, listed
from rankgauge.expression import parse
from rankgauge.io.files import read_bytes, reading
from rankgauge.io.output_files import OUTPUTS_FILE
from rankgauge.plugin.metric import WHOLE_RUN
from rankgauge.result.column_info import MetricInfo
from rankgauge.result.sample_rows import CLUSTER
from rankgauge.result.staging import SCHEMA_VERSION, has_outputs, is_staging
from rankgauge.result.summary import MetricSummary
from rankgauge.scoring.score import LARGEST, STATUSES

if TYPE_CHECKING:
    import polars as pl

__all__ = ["DAMAGED", "GOLD_KEYS", "check_form", "read_folder", "read_info"]

DAMAGED = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError)
"""What reading a damaged result may raise."""

_Text = str | None
_Parts = Mapping[str, Any]

_MANIFEST: Mapping[str, Any] = {
    "created_at": str,
    "commit": str,
    "versions": Mapping[str, Any],
    "profile": str,
    "policy": Mapping[str, str | bool | float | _Parts | tuple[str, ...] | None],
    "policy.max_failed": float,
    "policy.filters": tuple[str, ...],
    "policy.abstains": tuple[str, ...],
    "policy.excluded": _Parts,
    "policy.excluded.path": _Text,
    "policy.excluded.fingerprint": str,
    "policy.excluded.queries": int,
    "relevance": float | None,
    "default_k": _Parts,
    "default_k.k": int | None,
    "dataset": _Parts,
    "dataset.name": _Text,
    "dataset.path": _Text,
    "dataset.fingerprint": _Text,
    "dataset.limit": int | None,
    "outputs": _Parts,
    "outputs.from": str,
    "outputs.path": _Text,
    "outputs.fingerprint": _Text,
    "outputs.tag": _Text,
    "config": _Parts,
    "config.datasets": Mapping[str, _Parts],
    "files": _Parts,
    "files.qrels": _Text,
    "files.run": _Text,
    "files.columns": Mapping[str, str] | None,
    "merged_from": int,
    "retrieved_ids": _Parts,
    "gold_documents": _Parts,
    "gold_documents.normalization": str,
    "gold_documents.hashes": Mapping[str, _Text],
    "gold_documents.samples": Mapping[str, tuple[str, ...]],
    "cluster": _Parts,
    "cluster.by": str,
    "cluster.n": int,
}
"""What the parts of a manifest are, as far as anything is read from them; each may be absent."""


_PROVIDER: _Parts = {"distribution": str, "version": str, "file": str, "line": int}
"""What a column says of whoever provides it and what it uses."""


def read_info(data: Mapping[str, Any]) -> MetricInfo:
    """Return the info of a saved column; a `ValueError` or `TypeError` says what is wrong with it."""
    info = MetricInfo.from_dict(data)
    for name, form in get_type_hints(MetricInfo).items():
        _check(f"{name!r} of a metric", getattr(info, name), form)
    providers = [info.provider, info.aggregate_provider, *info.matcher_providers.values()]
    providers.append(None if info.budget is None else info.budget.get("provider"))
    for provider in filter(None, providers):
        for name, part in _PROVIDER.items():
            _check(f"the {name!r} of a provider", provider.get(name), part)
    parse(info.expression)
    if info.budget is not None:
        for name, part in {"amount": int, "unit": str, "tokenizer": _Text, "partial": bool}.items():
            _check(f"the budget's {name!r} of a metric", info.budget.get(name), part)
        for number in (*(info.fitted or {}), *(info.ended or {})):
            int(number)
    return info


def check_form(
    sample_ids: Sequence[Any],
    tags: Sequence[Any],
    metrics: Mapping[str, MetricSummary],
    manifest: Mapping[str, Any],
    notes: Sequence[Any] = (),
    gold_keys: NDArray[np.uint64] | None = None,
) -> None:
    """Raise a `ValueError` for anything that no saved result has."""
    _check("a sample id", tuple(sample_ids), tuple[str, ...])
    if len(set(sample_ids)) < len(sample_ids):
        raise ValueError("a sample stands in it twice")
    _check("the tags of a sample", tuple(tags), tuple[tuple[str, ...], ...])
    _check("a note", tuple(notes), tuple[str, ...])
    shapes = {*(column.values.shape for column in metrics.values()), (len(sample_ids),)}
    if len(shapes) > 1 or (gold_keys is not None and gold_keys.shape != (len(sample_ids),)):
        raise ValueError("a column does not have one value for each sample")
    for name, column in metrics.items():
        if np.any(np.abs(column.values[~np.isnan(column.values)]) > LARGEST):
            raise ValueError(f"a score of {name!r} is beyond {LARGEST:g}")
        _check(f"a reason of {name!r}", tuple(column.reasons.values()), tuple[str, ...])
        _check(f"a ranking of {name!r}", tuple(column.rankings or ()), tuple[tuple[str, ...], ...])
        _check(f"the details of {name!r}", tuple(column.details or ()), tuple[_Parts | None, ...])
    for path, form in _MANIFEST.items():
        part, _, key = path.partition(".")
        within = manifest.get(part) or {} if key else manifest
        if (key or part) in within:
            _check(f"{path!r} of the manifest", within[key or part], form)
    if manifest.get("retrieved_ids"):
        IdSketch.from_dict(manifest["retrieved_ids"])


def _check(what: str, value: object, form: Any) -> None:  # noqa: ANN401  # a type, as annotations write it
    if not _fits(value, form):
        raise ValueError(f"{what} cannot be {shown(value)[:200]}")


def _fits(value: Any, form: Any) -> bool:  # noqa: ANN401  # outside data and a type
    """Return whether a JSON value is of a type, as annotations write it."""
    kind, parts = get_origin(form), get_args(form)
    if form is Any:
        return True
    if kind in {Union, types.UnionType}:
        return any(_fits(value, part) for part in parts)
    if kind is Literal:
        return isinstance(value, str) and value in parts
    if kind is tuple:
        is_list = isinstance(value, tuple | list)
        each = (parts[0],) * len(value) if len(parts) > 1 and parts[1] is ... and is_list else parts
        return is_list and len(value) == len(each) and all(map(_fits, value, each))
    if kind is not None:  # a mapping
        return isinstance(value, Mapping) and all(
            _fits(key, parts[0]) and _fits(each, parts[1]) for key, each in value.items()
        )
    if form in {int, float}:
        return isinstance(value, int | form) and not isinstance(value, bool) and abs(value) <= LARGEST
    return isinstance(value, form)


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


def _read(directory: Path, manifest: Mapping[str, Any], frame: pl.DataFrame) -> _Folder:
    for part in ("dataset", "outputs", "policy"):
        if not isinstance(manifest[part], dict):
            raise TypeError(f"{part!r} of manifest.json is no object")
    errors = [orjson.loads(line) for line in read_bytes(directory / "errors.jsonl").splitlines()]
    details: list[Any] | None = None
    if manifest["has_details"]:
        details = [orjson.loads(line) for line in read_bytes(directory / "per_sample.jsonl").splitlines()]
    sample_ids: list[str] = frame["sample_id"].to_list()
    if details is not None and len(details) != len(sample_ids):
        raise ValueError(f"per_sample.jsonl has {len(details):,} lines for {len(sample_ids):,} samples")
    places = {sample_id: place for place, sample_id in enumerate(sample_ids)}
    clusters = np.array(frame[CLUSTER].to_list(), dtype=np.int64) if CLUSTER in manifest else None
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
        repeats = None
        if f"{info.safe_name}_repeats" in frame.columns:
            repeats = np.array(frame[f"{info.safe_name}_repeats"].to_list(), dtype=np.float64).reshape(len(values), -1)
        metrics[info.name] = MetricSummary(
            info,
            values,
            codes,
            dict(sorted(reasons.items())),
            facts,
            rankings=rankings,
            repeats=repeats,
            clusters=clusters,
        )
    ours = {"schema_version", "metrics", "notes", "has_details"}
    kept = {key: value for key, value in manifest.items() if key not in ours}
    tags = [tuple(tags) for tags in frame["tags"].to_list()]
    gold_keys = None
    if GOLD_KEYS in frame.columns:
        gold_keys = np.array(frame[GOLD_KEYS].to_list(), dtype=np.uint64)
    check_form(sample_ids, tags, metrics, kept, manifest["notes"], gold_keys)
    return sample_ids, tags, metrics, kept, manifest["notes"], gold_keys
