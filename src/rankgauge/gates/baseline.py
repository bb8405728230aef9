"""
Baselines: the scores of all datasets in one file to commit, against which later results are compared.
"""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from rankgauge.catalog import Catalog
from rankgauge.errors import DataError, ResultError, UnreadableError
from rankgauge.io.files import plain_suffix, read_bytes
from rankgauge.io.whole_files import replace_file
from rankgauge.plugin.metric import POOLED
from rankgauge.result.aggregation import aggregator_in
from rankgauge.result.column_info import MetricInfo
from rankgauge.result.forms import DAMAGED
from rankgauge.result.given_scores import load_scores
from rankgauge.result.meaning import GOLD_DOCUMENTS
from rankgauge.result.result import Result
from rankgauge.result.stored import check_form, read_info
from rankgauge.result.summary import MetricSummary
from rankgauge.result.wording import partial_line
from rankgauge.scoring.score import STATUSES

__all__ = ["BASELINE_VERSION", "commit_of", "holds_scores", "load_baseline", "save_baseline"]

_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


def commit_of(folder: Path) -> str:
    """Return the commit checked out at or above a folder; empty if there is none, or it cannot be read."""
    try:
        git = next((above / ".git" for above in (folder, *folder.parents) if (above / ".git").exists()), None)
        commit = "" if git is None else _head(git)
    except (OSError, DataError, UnicodeDecodeError):
        return ""
    return commit if _HASH.fullmatch(commit) else ""


def _head(git: Path) -> str:
    if git.is_file():  # a worktree or a submodule, whose file says where its folder is
        git = git.parent / read_bytes(git).decode().removeprefix("gitdir:").strip()
    head = read_bytes(git / "HEAD").decode().strip()
    if not head.startswith("ref:"):
        return head
    ref = head.removeprefix("ref:").strip()
    common = git / "commondir"
    shared = git / read_bytes(common).decode().strip() if common.exists() else git
    for place in (git, shared):
        if (place / ref).is_file():
            return read_bytes(place / ref).decode().strip()
    lines = read_bytes(shared / "packed-refs").decode().splitlines()
    return next((line.split(" ")[0] for line in lines if line.endswith(f" {ref}")), "")


BASELINE_VERSION = "rankgauge.baseline.v1"

_KEPT = ("versions", "profile", "policy", "relevance", "dataset", "retrieved_ids", GOLD_DOCUMENTS, "scores")
"""What a baseline keeps of a manifest: what scores mean and what they are of, and nothing of one machine."""


def save_baseline(results: Mapping[str, Result], path: str | os.PathLike[str]) -> Path:
    """
    Write results into one file that is small enough to commit, and changes little where scores change little.

    A sample takes one line. Samples are in order of their ids, and datasets in order of their names.

    Args:
        results: The results by the name of their dataset, or of their run.

        path: The file; it is replaced, or stays as it was.

    Returns:
        The file.

    Raises:
        ResultError: There is no result, one was interrupted or stopped early, or the file cannot be written.
    """
    path = Path(path)
    if not results:
        raise ResultError(f"cannot save the baseline {path}: there is no result to save")
    for name, result in results.items():
        if partial_line(result):
            stopped = "was interrupted" if result.manifest.get("interrupted") else "stopped early"
            why = f"{name!r} {stopped}, so its scores are not those of all samples"
            raise ResultError(f"cannot save the baseline {path}: {why}")
    try:
        data = "\n".join(_lines(results)).encode()
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, data)
    except (OSError, orjson.JSONEncodeError, UnicodeEncodeError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise ResultError(f"cannot save the baseline {path}: {why}; nothing was written") from error
    return path


def load_baseline(path: str | os.PathLike[str], *, catalog: Catalog | None = None) -> dict[str, Result]:
    """
    Read a baseline.

    Args:
        path: What `save_baseline` wrote; or a result folder, a folder of result folders, or a file that `load_scores`
            reads.

        catalog: What plugins offer, for aggregates that are not built in; by default everything that is installed.

    Returns:
        The results by name. Their manifests say when (`created_at`) and of which `commit` the baseline was saved;
        they have scores and tags, and neither reasons nor details.

    Raises:
        ResultError: There is no such file, or it is not a baseline.

        DataError: It is no file of ours, and has no scores that can be read.
    """
    path = Path(path)
    if path.is_dir():
        return _load_folders(path, catalog)
    if holds_scores(path):
        scores = load_scores(path, catalog=catalog)
        return {name: result.with_manifest({"baseline": str(path)}) for name, result in scores.items()}
    try:
        data = read_bytes(path)
    except UnreadableError as error:
        if isinstance(error.__cause__, FileNotFoundError):
            hint = f"`rankgauge run --save-baseline {path}` writes one"
            raise ResultError(f"there is no baseline {path}; {hint}") from error
        raise ResultError(f"cannot read the baseline {error.problems[0]}") from error
    again = f"write it again with --save-baseline {path}"
    if b"\n<<<<<<< " in data:
        raise ResultError(f"{path} is not a baseline: it has conflict markers of a merge; {again}")
    try:
        document = orjson.loads(data)
        version = document.get(_VERSION) if isinstance(document, dict) else None
        if version == BASELINE_VERSION:
            shared = {key: document[key] for key in ("created_at", "commit")} | {"baseline": str(path)}
            return {name: _read(entry, shared, catalog) for name, entry in document["datasets"].items()}
    except DAMAGED as error:
        why = f"{type(error).__name__}: {error}; {again}"
        raise ResultError(f"{path} is not a baseline that can be read: {why}") from error
    raise ResultError(f"{path} has the schema {version!r}; this version reads {BASELINE_VERSION!r}; {again}")


def holds_scores(path: Path) -> bool:
    """Return whether a file is no baseline, so that it can only be scores that another tool computed."""
    if not path.is_file():
        return False
    is_json = plain_suffix(path) == ".json"
    try:
        data = read_bytes(path)
        document = orjson.loads(data)
    except UnreadableError:
        return False
    except orjson.JSONDecodeError:
        return not is_json and b"rankgauge.baseline." not in data[:_HEAD]
    return not (isinstance(document, dict) and (_VERSION in document or not document))


_VERSION, _HEAD = "schema_version", 200


def _load_folders(path: Path, catalog: Catalog | None) -> dict[str, Result]:
    folders = [folder for folder in (path, *sorted(path.iterdir())) if (folder / "manifest.json").is_file()]
    if not folders:
        raise ResultError(f"{path} is neither a baseline file nor a result folder")
    results: dict[str, Result] = {}
    for folder in folders:
        result = Result.load(folder, catalog=catalog)
        name = result.manifest["dataset"].get("name") or folder.name
        facts = {"commit": result.manifest.get("commit", ""), "baseline": str(folder)}
        results[name if name not in results else folder.name] = result.with_manifest(facts)
    return results


def _lines(results: Mapping[str, Result]) -> Iterator[str]:
    """Yield the lines of a baseline file: a JSON document, laid out so that a line holds what changes together."""
    created_at = datetime.now(UTC).isoformat(timespec="seconds")
    yield "{"
    yield f'"schema_version": {_json(BASELINE_VERSION)},'
    yield f'"created_at": {_json(created_at)},'
    yield f'"commit": {_json(commit_of(Path.cwd()))},'
    yield '"datasets": {'
    for place, name in enumerate(sorted(results)):
        result = results[name]
        manifest = {key: result.manifest[key] for key in _KEPT if key in result.manifest}
        sketch, documents = manifest.pop("retrieved_ids", None), manifest.pop(GOLD_DOCUMENTS, None)
        yield f"{_json(name)}: {{"
        yield f'"manifest": {_json(_plain(manifest))},'
        yield '"metrics": ['
        yield from _separated(_json(_info(column.info)) for column in result.metrics.values())
        yield "],"
        yield '"samples": ['
        yield from _separated(_samples(result))
        yield "]" if sketch is None and documents is None else "],"
        if documents is not None:
            yield f'"{GOLD_DOCUMENTS}": {{"normalization": {_json(documents["normalization"])}, "hashes": {{'
            yield from _separated(f"{_json(name)}: {_json(text)}" for name, text in sorted(documents["hashes"].items()))
            yield "}}" if sketch is None else "}},"
        if sketch is not None:
            yield f'"retrieved_ids": {{"gold": {sketch["gold"]}, "found": {sketch["found"]}, "hashes": ['
            yield from _separated(_json(line)[1:-1] for line in _wrapped(sketch["hashes"]))
            yield "]}"
        yield "}" if place == len(results) - 1 else "},"
    yield "}"
    yield "}\n"


def _separated(items: Iterator[str]) -> Iterator[str]:
    """Yield items as lines with a comma between them."""
    last = next(items, None)
    for item in items:
        yield f"{last},"
        last = item
    if last is not None:
        yield last


def _wrapped(hashes: Sequence[str]) -> Iterator[list[str]]:
    """Yield hashes in lines that end where a hash says so: one hash more or less changes one line, not all after it."""
    line: list[str] = []
    for digest in hashes:
        line.append(digest)
        if digest[-1] == "0":
            yield line
            line = []
    if line:
        yield line


def _samples(result: Result) -> Iterator[str]:
    columns = list(result.metrics.values())
    values = [column.values.tolist() for column in columns]  # JSON has null for NaN
    documents = (result.manifest.get(GOLD_DOCUMENTS) or {}).get("samples", {})
    weights = next((column.weights.tolist() for column in columns if column.weights is not None), None)
    denominators = [None if each.denominators is None else each.denominators.tolist() for each in columns]
    pooled = any(each is not None for each in denominators)
    for place in sorted(range(len(result)), key=result.sample_ids.__getitem__):
        entry: dict[str, Any] = {"id": result.sample_ids[place], "scores": [column[place] for column in values]}
        if weights is not None:
            entry["weight"] = weights[place]
        if pooled:
            entry["denominators"] = [None if each is None else each[place] for each in denominators]
        if result.tags[place]:
            entry["tags"] = result.tags[place]
        if any(column.codes[place] for column in columns):
            entry["status"] = [column.status(place) for column in columns]
        if result.gold_keys is not None:
            entry["gold"] = f"{int(result.gold_keys[place]):016x}"
        if entry["id"] in documents:
            entry["documents"] = list(documents[entry["id"]])
        yield _json(entry)


def _info(info: MetricInfo) -> dict[str, Any]:
    """Return what a column is, without where on one machine its code lies."""
    data = dataclasses.asdict(info)
    data["provider"] = _anywhere(data["provider"])
    if data["budget"] is not None and data["budget"]["provider"] is not None:
        data["budget"] = {**data["budget"], "provider": _anywhere(data["budget"]["provider"])}
    data["matcher_providers"] = {name: _anywhere(by) for name, by in data["matcher_providers"].items()}
    return data


def _anywhere(provider: Mapping[str, Any]) -> dict[str, Any]:
    return {**provider, "file": "", "line": 0}


def _plain(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return a manifest without paths."""
    dataset = {key: value for key, value in (manifest.get("dataset") or {}).items() if key != "path"}
    return {**manifest, "dataset": dataset}


def _json(value: object) -> str:
    return orjson.dumps(value).decode()


def _read(entry: Mapping[str, Any], shared: Mapping[str, Any], catalog: Catalog | None) -> Result:
    """Return one result of a baseline file; what does not fit together is a `ValueError`."""
    infos = [read_info(info) for info in entry["metrics"]]
    samples = entry["samples"]
    scored = [STATUSES[0]] * len(infos)
    scores = [sample["scores"] for sample in samples]
    statuses = [sample.get("status", scored) for sample in samples]
    if any(len(row) != len(infos) for row in (*scores, *statuses)):
        raise ValueError(f"a sample does not have a score for each of {len(infos)} metrics")
    values = np.array(scores, dtype=np.float64).reshape(len(samples), len(infos))  # null becomes NaN
    code_of = {status: code for code, status in enumerate(STATUSES)}
    codes = np.array([[code_of[status] for status in row] for row in statuses], dtype=np.uint8).reshape(values.shape)
    weights = np.array([sample.get("weight", np.nan) for sample in samples], dtype=np.float64)
    metrics = {
        info.name: MetricSummary(
            info,
            values[:, at].copy(),  # a view could be changed below it
            codes[:, at].copy(),
            aggregator=None if catalog is None else aggregator_in(catalog, info.aggregate, info.alias),
            weights=weights if info.unweighted else None,
            denominators=np.array([sample["denominators"][at] for sample in samples], dtype=np.float64)
            if info.aggregate == POOLED
            else None,
        )
        for at, info in enumerate(infos)
    }
    sketch = {"retrieved_ids": entry["retrieved_ids"]} if "retrieved_ids" in entry else {}
    documents = {}
    if GOLD_DOCUMENTS in entry:
        of_samples = {sample["id"]: sample["documents"] for sample in samples if "documents" in sample}
        documents = {GOLD_DOCUMENTS: {**entry[GOLD_DOCUMENTS], "samples": of_samples}}
    manifest = {**entry["manifest"], **sketch, **documents, **shared, "interrupted": False}
    ids = [sample["id"] for sample in samples]
    keys = [int(sample["gold"], 16) for sample in samples if "gold" in sample]
    gold_keys = np.array(keys, dtype=np.uint64) if len(keys) == len(ids) else None
    tags = [tuple(sample.get("tags", ())) for sample in samples]
    check_form(ids, tags, metrics, manifest, gold_keys=gold_keys)
    result = Result(ids, tags, metrics, manifest, gold_keys=gold_keys)
    return result if catalog is None else result.read_with(catalog)
