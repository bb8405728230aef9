"""
Fields: where the data of other systems holds the fields of samples.

``{"id": "qid", "retrieved": {"path": "contexts", "strings": "text"}}`` says that a record's `qid` is the id of its
sample, and that the list `contexts` holds what was retrieved, as bare texts instead of bare ids.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from rankgauge.errors import ParameterError, did_you_mean
from rankgauge.samples import FIELDS

__all__ = ["FieldMap", "check_field", "field_name", "read_field", "remapped"]

FieldMap = Mapping[str, str | Mapping[str, str]]
"""For each of our fields where the data has it: a path, or ``{path, strings}``."""

_RETRIEVED = ("actual_output", "actual_output.retrieved")
_STRINGS = ("id", "text")
_MISSING: Final = object()
_FORM = "--field is OURS=THEIRS, such as id=qid, or retrieved=contexts:text for a list of texts"


def field_name(name: str) -> str:
    """Return the full name of a field of samples, which may be given by its last part; raise `ParameterError`."""
    if name in FIELDS:
        return name
    parts = Counter(known.rpartition(".")[2] for known in FIELDS)
    by_part = {known.rpartition(".")[2]: known for known in FIELDS if parts[known.rpartition(".")[2]] == 1}
    if name in by_part:
        return by_part[name]
    several = [known for known in FIELDS if known.endswith(f".{name}")]
    hint = f" (did you mean {' or '.join(several)}?)" if several else did_you_mean(name, [*FIELDS, *by_part])
    msg = f"{name!r} is not a field of samples{hint}; known are {', '.join(FIELDS)}"
    raise ParameterError(msg)


def check_field(name: str, place: object) -> None:
    """Raise `ParameterError` for a field, or for where the data has it, that cannot be used."""
    full = field_name(name)
    path: object = place
    strings: object = None
    if isinstance(place, Mapping):
        path, strings = place.get("path"), place.get("strings")
        if unknown := [key for key in place if key not in {"path", "strings"}]:
            msg = f"unknown key {unknown[0]!r} for the field {name!r}; known are path, strings"
            raise ParameterError(msg)
    if not isinstance(path, str) or not path:
        msg = f"the field {name!r} needs your name for it, or {{path: NAME, strings: text}}; found {place!r}"
        raise ParameterError(msg)
    if strings not in {None, *_STRINGS}:
        msg = f"strings of {name!r} are id or text, not {strings!r}"
        raise ParameterError(msg)
    if strings is not None and full not in _RETRIEVED:
        msg = f"strings says what bare strings in retrieved are, so it has no effect on {name!r}; leave it out"
        raise ParameterError(msg)


def read_field(written: str) -> dict[str, str | dict[str, str]]:
    """Read a field as the command line has it: ``id=qid``, or ``retrieved=contexts:text``."""
    name, equals, path = written.partition("=")
    if not equals or not name.strip() or not path.strip():
        msg = f"{_FORM}; not {written!r}"
        raise ParameterError(msg)
    name, path = name.strip(), path.strip()
    stem, colon, strings = path.rpartition(":")
    place: str | dict[str, str] = path
    if colon and strings in _STRINGS and field_name(name) in _RETRIEVED:
        place = {"path": stem, "strings": strings}
    check_field(name, place)
    return {name: place}


def remapped(record: Mapping[str, Any], fields: FieldMap) -> dict[str, Any]:
    """Return a copy of a record with the user's fields mapped onto ours, such as ``expected_output.answer``."""
    mapped: dict[str, Any] = dict(record)
    for name, place in fields.items():
        path, strings = (place, None) if isinstance(place, str) else (place["path"], place.get("strings"))
        value = _found(record, path)
        if value is _MISSING:
            continue
        if strings == "text":
            value = _as_texts(value)
        head, _, inner = (name if name in FIELDS else field_name(name)).partition(".")
        if not inner:
            mapped[head] = value
        elif value is not None:
            nested = mapped.get(head)
            mapped[head] = {**(nested if isinstance(nested, Mapping) else {}), inner: value}
    return mapped


def _found(record: Mapping[str, Any], path: str) -> Any:  # noqa: ANN401  # whatever the record holds
    """Return what a record holds under a name, or under names joined by dots, one inside the other."""
    if path in record:
        return record[path]
    value: Any = record
    for part in path.split("."):
        if not isinstance(value, Mapping) or part not in value:
            return _MISSING
        value = value[part]
    return value


def _as_texts(value: Any) -> Any:  # noqa: ANN401  # whatever the record holds
    """Return what was retrieved with its bare strings as texts."""
    if isinstance(value, Mapping):
        return {**value, "retrieved": _as_texts(value.get("retrieved"))}
    if isinstance(value, str) or not isinstance(value, Sequence):
        return value
    return [{"text": entry} if isinstance(entry, str) else entry for entry in value]
