"""
The form in which results are stored: what a folder holds in files, and `Result.to_dict` in one JSON object.

Both have the same manifest and the same columns; what a folder keeps as Parquet columns is kept as lists in an object.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence, Sized
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, NotRequired, TypedDict

import numpy as np
from numpy.typing import NDArray

from rankgauge.base.frozen import frozen
from rankgauge.catalog import Catalog
from rankgauge.columns import IdSketch
from rankgauge.errors import ResultError
from rankgauge.expression import parse
from rankgauge.plugin.metric import POOLED, WHOLE_RUN
from rankgauge.result.aggregation import aggregator_in
from rankgauge.result.column_info import MetricInfo
from rankgauge.result.forms import DAMAGED, as_json, check, check_version, read, schema
from rankgauge.result.label_doubts import LABEL_DOUBTS
from rankgauge.result.sample_rows import CLUSTER, DENOMINATOR, WEIGHT, SampleError, SampleText, score_frame
from rankgauge.result.staging import SCHEMA_VERSION
from rankgauge.result.summary import MetricSummary
from rankgauge.scoring.score import LARGEST, STATUSES

if TYPE_CHECKING:
    from rankgauge.result.result import Result

__all__ = [
    "GOLD_KEYS",
    "StoredResult",
    "Values",
    "check_form",
    "read_info",
    "read_object",
    "read_stored",
    "result_schema",
    "stored_manifest",
    "stored_object",
]

GOLD_KEYS = "gold_key"
"""The column with a hash of what each sample was judged against."""


Relevance = Literal["positive", "listed"] | float | None


class StoredResult(TypedDict):
    """
    A result of rankgauge, as `Result.to_dict` writes it; keys are only ever added.

    Attributes:
        created_at: When it was computed, as ISO 8601.

        commit: The commit that was checked out.

        versions: The versions of rankgauge, Python and libraries.

        profile: The name of the profile.

        policy: Every option of the policy.

        relevance: Of a run, the lowest grade that is relevant, or `positive` or `listed`.

        default_k: The default cutoff `k`, and its `source`.

        dataset: Name, path and fingerprint of the data.

        outputs: Where the outputs came from (`from`), with path and fingerprint.

        config: Of samples, the config that computes the same.

        files: Of a run, the files of judgments and run.

        metrics: What each column is, in order.

        notes: Remarks on the data.

        has_details: Whether every column has details.

        has_texts: Whether the question and the top results of each sample are kept.

        per_sample: Columns of one value for each sample, in the same order: `sample_id`, `tags`, the score of each
            metric under its safe name (null if it does not count), its status under `<safe name>_status`; and where
            they exist, `cluster`, `weight`, `gold_key` (16 hex digits), `<safe name>_ids`, `<safe name>_repeats`,
            `<safe name>_denominator` (what each score of a pooled mean is a share of).

        errors: Every pair of sample and metric without a score, with the reason.

        details: The facts behind each score, by column; absent if none were kept.

        texts: The `input` of each sample, and `id` and `text` of what it retrieved; absent if they were not asked for.

        worst: Explanations of the worst samples, if they were chosen.
    """

    created_at: NotRequired[str]
    commit: NotRequired[str]
    versions: NotRequired[Mapping[str, Any]]
    profile: NotRequired[str]
    policy: NotRequired[Mapping[str, Any]]
    relevance: NotRequired[Relevance]
    default_k: NotRequired[Mapping[str, Any]]
    dataset: NotRequired[Mapping[str, Any]]
    outputs: NotRequired[Mapping[str, Any]]
    config: NotRequired[Mapping[str, Any]]
    files: NotRequired[Mapping[str, Any]]
    metrics: tuple[MetricInfo, ...]
    notes: tuple[str, ...]
    has_details: bool
    has_texts: NotRequired[bool]
    per_sample: Mapping[str, tuple[Any, ...]]
    errors: tuple[SampleError, ...]
    details: NotRequired[Mapping[str, tuple[Mapping[str, Any] | None, ...]]]
    texts: NotRequired[tuple[_Texts, ...]]
    worst: NotRequired[tuple[Mapping[str, Any], ...]]


class _Texts(TypedDict):
    """
    The question of a sample and its top results.

    Attributes:
        input: The sample's input, any JSON value.

        retrieved: The results after policy, rank 1 first.
    """

    input: Any
    retrieved: tuple[_Retrieved, ...]


class _Retrieved(TypedDict):
    """
    A result that a sample retrieved.

    Attributes:
        id: Its id; null if it has none.

        text: Its text; null if it has none.
    """

    id: str | None
    text: str | None


_OWN = frozenset({"schema_version", "metrics", "notes", "has_details", "has_texts"})
_OF_OBJECT = frozenset({"per_sample", "errors", "details", "texts", "worst"})
"""The keys that are no entries of a manifest: those of any stored result, and those of one JSON object."""


def result_schema() -> dict[str, Any]:
    """Return the JSON Schema of a stored result."""
    return schema("result:1", "rankgauge result", StoredResult, version=SCHEMA_VERSION)


def stored_manifest(result: Result) -> dict[str, Any]:
    """Return what a stored result says of itself: its manifest, what its columns are, and its notes."""
    columns = list(result.metrics.values())
    return {
        "schema_version": SCHEMA_VERSION,
        **result.manifest,
        "metrics": [dataclasses.asdict(column.info) for column in columns],
        "notes": list(result.notes),
        "has_details": bool(columns) and all(column.details is not None for column in columns),
        **({} if result.texts is None else {"has_texts": True}),
    }


def stored_object(result: Result) -> dict[str, Any]:
    """Return a result as one JSON object; see `Result.to_dict`."""
    frame = score_frame(result.sample_ids, result.tags, result.metrics, None)
    per_sample: dict[str, Any] = {column.name: column.to_list() for column in frame}
    if result.gold_keys is not None:  # as texts, because many readers of JSON round integers of 64 bits
        per_sample[GOLD_KEYS] = [f"{key:016x}" for key in result.gold_keys.tolist()]
    details = {name: column.details for name, column in result.metrics.items() if column.details is not None}
    stored = {
        **stored_manifest(result),
        "errors": [dataclasses.asdict(error) for error in result.unscored],
        **({"details": details} if details else {}),
        **({} if result.texts is None else {"texts": [each.to_dict() for each in result.texts]}),
        **({"worst": [explanation.to_dict() for explanation in result.listed]} if result.listed else {}),
    }
    found: dict[str, Any] = as_json("the result", stored)
    return {**found, "per_sample": per_sample}


class Values(NamedTuple):
    """What a result is made of, in the order in which it takes it, and its texts."""

    sample_ids: list[str]
    tags: list[tuple[str, ...]]
    metrics: dict[str, MetricSummary]
    manifest: dict[str, Any]
    notes: list[str]
    gold_keys: NDArray[np.uint64] | None
    texts: tuple[SampleText, ...] | None


def read_object(data: Mapping[str, Any], catalog: Catalog | None) -> Values:
    """Return what `stored_object` wrote; see `Result.from_dict`."""
    check_version("the stored result", data, SCHEMA_VERSION)
    try:
        known = read("the result", data, StoredResult)  # and its parts
        manifest = {key: value for key, value in data.items() if key not in _OF_OBJECT}
        per_sample = {name: list(column) for name, column in known["per_sample"].items()}
        if GOLD_KEYS in per_sample:
            per_sample[GOLD_KEYS] = [int(key, 16) for key in per_sample[GOLD_KEYS]]
        errors = [dataclasses.asdict(error) for error in known["errors"]]
        return read_stored(manifest, per_sample, errors, known.get("details", {}), data.get("texts"), catalog=catalog)
    except DAMAGED as error:
        raise ResultError(f"this is not a stored result that can be read: {type(error).__name__}: {error}") from error


def read_stored(
    manifest: Mapping[str, Any],
    columns: Mapping[str, Sequence[Any] | NDArray[Any]],
    errors: Sequence[Mapping[str, Any]],
    details: Mapping[str, Sequence[Any]],
    texts: Sequence[Mapping[str, Any]] | None,
    *,
    catalog: Catalog | None,
) -> Values:
    """
    Return a result from the parts in which it is stored; what does not fit together raises one of `DAMAGED`.

    *columns* are those of `per_sample`; *details* are the facts behind scores by column; with a *catalog* aggregates
    of plugins are looked up there, and else when they are needed, in what is installed.
    """
    sample_ids = list(columns["sample_id"])
    places = {sample_id: place for place, sample_id in enumerate(sample_ids)}
    clusters = np.array(columns[CLUSTER], dtype=np.int64) if CLUSTER in manifest else None
    weights = np.array(columns[WEIGHT], dtype=np.float64) if "weights" in manifest else None
    metrics = {}
    for entry in manifest["metrics"]:
        info = read_info(entry)
        values = _scores(info.name, columns[info.safe_name])
        codes = np.array([STATUSES.index(status) for status in columns[f"{info.safe_name}_status"]], dtype=np.uint8)
        reasons = {
            places[error["sample_id"]]: error["reason"] for error in errors if error["metric"] in {None, info.name}
        }
        rankings = None
        if info.aggregate == WHOLE_RUN:
            rankings = list(map(tuple, columns[f"{info.safe_name}_ids"]))
        repeats = None
        if f"{info.safe_name}_repeats" in columns:
            rows = [_scores(info.name, row) for row in columns[f"{info.safe_name}_repeats"]]
            repeats = np.array(rows, dtype=np.float64).reshape(len(rows), -1 if rows else 0)
        metrics[info.name] = MetricSummary(
            info,
            values,
            codes,
            dict(sorted(reasons.items())),
            details.get(info.name),
            aggregator=None if catalog is None else aggregator_in(catalog, info.aggregate, info.alias),
            rankings=rankings,
            repeats=repeats,
            clusters=clusters,
            weights=weights if info.unweighted else None,
            denominators=_scores(info.name, columns[f"{info.safe_name}{DENOMINATOR}"])
            if info.aggregate == POOLED
            else None,
        )
    kept = {key: value for key, value in manifest.items() if key not in _OWN}
    tags = [tuple(tags) for tags in columns["tags"]]
    gold_keys = np.array(columns[GOLD_KEYS], dtype=np.uint64) if GOLD_KEYS in columns else None
    told = None if texts is None else tuple(map(_text, texts))
    check_form(sample_ids, tags, metrics, kept, manifest["notes"], gold_keys)
    if told is not None and len(told) != len(sample_ids):
        raise ValueError(f"there are texts of {len(told):,} samples for {len(sample_ids):,}")
    return Values(sample_ids, tags, metrics, kept, manifest["notes"], gold_keys, told)


def _scores(name: str, column: Sequence[Any] | NDArray[Any]) -> NDArray[np.float64]:
    """Return scores as an array, NaN for null."""
    if isinstance(column, np.ndarray):
        return column.astype(np.float64)
    if not set(map(type, column)) <= {float, int, type(None)}:
        raise ValueError(f"a score of {name!r} is no number")
    return np.array(column, dtype=np.float64)


def _text(entry: Mapping[str, Any]) -> SampleText:
    retrieved = tuple((each["id"], each["text"]) for each in entry["retrieved"])
    check("what a sample retrieved", retrieved, tuple[tuple[str | None, str | None], ...])
    return SampleText(frozen(entry["input"]), retrieved)


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
    "relevance": Relevance,
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
    LABEL_DOUBTS: _Parts,
    f"{LABEL_DOUBTS}.counts": Mapping[str, int],
    "cluster": _Parts,
    "cluster.by": str,
    "cluster.n": int,
    "weights": _Parts,
    "weights.by": str,
}
"""What the parts of a manifest are, as far as anything is read from them; each may be absent."""


_PROVIDER: _Parts = {"distribution": str, "version": str, "file": str, "line": int}
"""What a column says of whoever provides it and what it uses."""


def read_info(data: Mapping[str, Any]) -> MetricInfo:
    """Return the info of a saved column; a `ValueError` or `TypeError` says what is wrong with it."""
    info = MetricInfo.from_dict(data)
    providers = [info.provider, info.aggregate_provider, *info.matcher_providers.values()]
    providers.append(None if info.budget is None else info.budget.get("provider"))
    for provider in filter(None, providers):
        for name, part in _PROVIDER.items():
            check(f"the {name!r} of a provider", provider.get(name), part)
    parse(info.expression)
    if info.budget is not None:
        for name, part in {"amount": int, "unit": str, "tokenizer": _Text, "partial": bool}.items():
            check(f"the budget's {name!r} of a metric", info.budget.get(name), part)
        for number in (*(info.fitted or {}), *(info.ended or {})):
            int(number)
    return info


def _check_weights(column: MetricSummary) -> None:
    """Raise a `ValueError` for weights or denominators that are none, or that a column says something else of."""
    for what, numbers in (("weight", column.weights), ("denominator", column.denominators)):
        if numbers is not None and not (np.isfinite(numbers) & (numbers >= 0)).all():
            raise ValueError(f"a {what} of {column.name!r} is no number of 0 or more")
    if (column.info.aggregate == POOLED) != (column.denominators is not None):
        raise ValueError(f"{column.name!r} has denominators and is no pooled mean, or is one without them")
    if bool(column.info.unweighted) != (column.weights is not None):
        raise ValueError(f"{column.name!r} has weights without saying so, or says so without them")


def check_form(
    sample_ids: Sequence[Any],
    tags: Sequence[Any],
    metrics: Mapping[str, MetricSummary],
    manifest: Mapping[str, Any],
    notes: Sequence[Any] = (),
    gold_keys: NDArray[np.uint64] | None = None,
) -> None:
    """Raise a `ValueError` for anything that no saved result has."""
    check("a sample id", tuple(sample_ids), tuple[str, ...])
    if len(set(sample_ids)) < len(sample_ids):
        raise ValueError("a sample is in it twice")
    check("the tags of a sample", tuple(tags), tuple[tuple[str, ...], ...])
    check("a note", tuple(notes), tuple[str, ...])
    parts: list[Sized] = [tags, *([] if gold_keys is None else [gold_keys])]
    for column in metrics.values():
        arrays = (column.repeats, column.clusters, column.weights, column.denominators)
        optional = (column.details, column.rankings, *arrays)
        _check_weights(column)
        parts += [column.values, column.codes, *(part for part in optional if part is not None)]
    if any(len(part) != len(sample_ids) for part in parts):
        raise ValueError("a column does not have one value for each sample")
    for name, column in metrics.items():
        if np.any(np.abs(column.values[~np.isnan(column.values)]) > LARGEST):
            raise ValueError(f"a score of {name!r} is beyond {LARGEST:g}")
        check(f"a reason of {name!r}", tuple(column.reasons.values()), tuple[str, ...])
        check(f"a ranking of {name!r}", tuple(column.rankings or ()), tuple[tuple[str, ...], ...])
        check(f"the details of {name!r}", tuple(column.details or ()), tuple[_Parts | None, ...])
    for path, form in _MANIFEST.items():
        part, _, key = path.partition(".")
        within = manifest.get(part) or {} if key else manifest
        if (key or part) in within:
            check(f"{path!r} of the manifest", within[key or part], form)
    if manifest.get("retrieved_ids"):
        IdSketch.from_dict(manifest["retrieved_ids"])
