"""
The form of a saved result: what is damaged is refused where it is read, and not where it is used.
"""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from rankgauge.columns import IdSketch
from rankgauge.expression import parse
from rankgauge.guard import shown
from rankgauge.result.summary import MetricInfo, MetricSummary
from rankgauge.scoring.score import LARGEST

__all__ = ["DAMAGED", "check_form", "read_info"]

DAMAGED = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError)
"""What reading a damaged result may raise."""

_Text = str | None
_Parts = Mapping[str, Any]

_MANIFEST: Mapping[str, Any] = {
    "created_at": str,
    "commit": str,
    "versions": Mapping[str, Any],
    "profile": str,
    "policy": Mapping[str, str | bool | float | None],
    "policy.max_failed": float,
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
}
"""What the parts of a manifest are, as far as anything is read from them; each may be absent."""


def read_info(data: Mapping[str, Any]) -> MetricInfo:
    """Return the info of a saved column; a `ValueError` or `TypeError` says what is wrong with it."""
    info = MetricInfo.from_dict(data)
    for name, form in get_type_hints(MetricInfo).items():
        _check(f"{name!r} of a metric", getattr(info, name), form)
    parse(info.expression)
    if info.budget is not None:
        for name, part in {"amount": int, "unit": str, "tokenizer": _Text, "partial": bool}.items():
            _check(f"the budget's {name!r} of a metric", info.budget.get(name), part)
        for ranks in info.fitted or {}:
            int(ranks)
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
        msg = "a sample stands in it twice"
        raise ValueError(msg)
    _check("the tags of a sample", tuple(tags), tuple[tuple[str, ...], ...])
    _check("a note", tuple(notes), tuple[str, ...])
    shapes = {*(column.values.shape for column in metrics.values()), (len(sample_ids),)}
    if len(shapes) > 1 or (gold_keys is not None and gold_keys.shape != (len(sample_ids),)):
        msg = "a column does not have one value for each sample"
        raise ValueError(msg)
    for name, column in metrics.items():
        if np.any(np.abs(column.values[~np.isnan(column.values)]) > LARGEST):
            msg = f"a score of {name!r} is beyond {LARGEST:g}"
            raise ValueError(msg)
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
        msg = f"{what} cannot be {shown(value)[:200]}"
        raise ValueError(msg)


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
        each = (parts[0],) * len(value) if len(parts) > 1 and parts[1] is ... and isinstance(value, tuple) else parts
        return isinstance(value, tuple) and len(value) == len(each) and all(map(_fits, value, each))
    if kind is not None:  # a mapping
        return isinstance(value, Mapping) and all(
            _fits(key, parts[0]) and _fits(each, parts[1]) for key, each in value.items()
        )
    if form in {int, float}:
        return isinstance(value, int | form) and not isinstance(value, bool) and abs(value) <= LARGEST
    return isinstance(value, form)
