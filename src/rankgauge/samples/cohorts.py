"""
Cohorts: groups of samples that share a value of their metadata, such as ``language=de``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import orjson

from rankgauge.errors import ParameterError
from rankgauge.samples.values import Sample

__all__ = ["check_cohort", "fields_without_values", "with_cohorts"]

_FIRST = "metadata."
_TAGS = "metadata.tags"
_NONE = "(none)"


def check_cohort(field: object) -> str:
    """Return a field that cohorts can be made by; raise `ParameterError` unless it is one of the metadata."""
    if isinstance(field, str) and field.startswith(_FIRST) and field.removeprefix(_FIRST):
        return field
    msg = f"cohorts are made by a field of the metadata, such as metadata.language; found {field!r}"
    raise ParameterError(msg)


def with_cohorts(sample: Sample, fields: Sequence[str]) -> Sample:
    """Return a sample that belongs to the cohort of each value of these fields, in addition to those of its tags."""
    labels = (label for field in fields if field != _TAGS for label in _labels(sample, field))
    return sample._replace(tags=tuple(dict.fromkeys((*sample.tags, *labels))))


def fields_without_values(fields: Sequence[str], tags: Sequence[Sequence[str]]) -> list[str]:
    """Return the fields that no sample has, by the cohorts of all samples."""
    found = set().union(*tags) if tags else set()
    firsts = {field: f"{field.removeprefix(_FIRST)}=" for field in fields if field != _TAGS}
    return [
        field
        for field, first in firsts.items()
        if tags and not any(label.startswith(first) and label != f"{first}{_NONE}" for label in found)
    ]


def _labels(sample: Sample, field: str) -> Iterator[str]:
    name = field.removeprefix(_FIRST)
    value = _found(sample.metadata or {}, name)
    values = value if isinstance(value, list | tuple) else [value]
    for each in values or [None]:
        yield f"{name}={_text(each)}"


def _found(metadata: Mapping[str, Any], name: str) -> Any:  # noqa: ANN401  # any JSON value: users add keys of their own
    """Return what the metadata hold under a name, or under names joined by dots; None for nothing."""
    if name in metadata:
        return metadata[name]
    value: Any = metadata
    for part in name.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _text(value: object) -> str:
    if value is None:
        return _NONE
    return value if isinstance(value, str) else orjson.dumps(value, default=repr).decode()
