"""
Records of several systems in one file: what the systems are called, and the records of one of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from rankgauge.errors import did_you_mean, listed
from rankgauge.io.record_paths import values_at
from rankgauge.plugin.declarations import Record
from rankgauge.samples import Fault

__all__ = ["of_system", "with_systems"]

_LONGEST = 40
_NAMELESS = "(none)"
"""What the system of records is called that do not say which it is, beside others that do."""

Places = Sequence[Sequence[str]]


def with_systems(records: Iterable[Record], places: Places) -> Iterator[tuple[str, Record]]:
    """
    Yield the records that are objects, each behind what its system is called.

    It is called by what is at the first of *places* (each has several paths, of which the first counts that leads to
    something), and by what is at others where systems would be called the same without: two prompts of one provider
    are ``rag, Be brief: {{query}}`` and ``rag, {{query}}``.
    """
    found = [(_key(record.value, places), record) for record in records if isinstance(record.value, Mapping)]
    names = _names(list(dict.fromkeys(key for key, _ in found)))
    yield from ((names[key], record) for key, record in found)


def of_system(records: Sequence[Record], places: Places, wanted: str, *, may_lack: bool) -> list[Record]:
    """
    Return the records of the *wanted* system; a fault in their place where there are several and none is wanted.

    Where the wanted one has none and *may lack* them, those of the first system.
    """
    named = list(with_systems(records, places))
    known = list(dict.fromkeys(name for name, _ in named))
    if wanted in known or len(known) < (1 if wanted else 2):
        chosen = wanted
    elif wanted and may_lack:
        chosen = known[0]
    else:
        return [Record(Fault(_which(wanted, known)), None, "")]
    kept = {id(record) for name, record in named if chosen in {"", name}}
    return [record for record in records if not isinstance(record.value, Mapping) or id(record) in kept]


def _which(wanted: str, known: Sequence[str]) -> str:
    there = listed([repr(name) for name in known])
    if wanted:
        return f"it has no system {wanted!r}{did_you_mean(wanted, known)}; there are {there}"
    return (
        f"it has the records of {len(known)} systems, {there}, and a run is of one: choose it (--system "
        f"{known[0]!r}; in a config `system` under the dataset; in Python with_preset(..., system=), or by_system() "
        "for all)"
    )


def _key(record: object, places: Places) -> tuple[str, ...]:
    return tuple(
        next((_short(value) for path in paths for value in values_at(record, path) if _is_name(value)), "")
        for paths in places
    )


def _is_name(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool) and value != ""


def _short(value: object) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def _names(keys: Sequence[tuple[str, ...]]) -> dict[tuple[str, ...], str]:
    """Return what systems are called: by the first part of their keys, and by others only as far as it takes."""
    names = {key: [key[0] or _NAMELESS] for key in keys}
    for part in range(1, len(keys[0]) if keys else 0):
        same: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
        for key in keys:
            same.setdefault(tuple(names[key]), []).append(key)
        for group in same.values():
            if len({key[part] for key in group}) > 1:
                for key in group:
                    names[key].append(key[part] or _NAMELESS)
    return {key: ", ".join(parts) for key, parts in names.items()}
