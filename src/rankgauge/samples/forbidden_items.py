"""
What must not be retrieved: reading `expected_output.forbidden`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rankgauge.policy import Contract
from rankgauge.samples.gold_kinds import GoldKind
from rankgauge.samples.sample_values import Expected, Forbidden, InvalidError, look, read_id

__all__ = ["FORBIDDEN", "read_forbidden"]


def read_forbidden(raw: object, relevant: Mapping[str, float], contract: Contract) -> tuple[Forbidden, ...]:
    """Return what must not be retrieved, each once; an `InvalidError` for what is relevant, too."""
    path = ".forbidden"
    entries = [raw] if isinstance(raw, Mapping) else raw
    if not isinstance(entries, list | tuple):
        form = "expected a list of ids, or of objects with 'id', 'text' or 'metadata'"
        raise InvalidError(path, f"{form}; found {look(raw)}")
    found: list[Forbidden] = []
    for index, entry in enumerate(entries):
        here = path if entries is not raw else f"{path}[{index}]"
        item = _forbidden_item(entry, here, contract)
        if item.id is not None and relevant.get(item.id, 0.0) > 0:
            raise InvalidError(here, f"{item.id!r} is relevant, too; what must not come back cannot be wanted")
        if item not in found:
            found.append(item)
    return tuple(found)


def _forbidden_item(entry: object, here: str, contract: Contract) -> Forbidden:
    if not isinstance(entry, Mapping):
        return Forbidden(id=read_id(entry, here, contract))
    given = [name for name in ("id", "text", "metadata") if entry.get(name) is not None]
    if len(given) != 1:
        needs = "what is forbidden is said by one of 'id', 'text' and 'metadata'"
        raise InvalidError(here, f"{needs}; found {look(entry)}")
    value = entry[given[0]]
    if given == ["id"]:
        return Forbidden(id=read_id(value, f"{here}.id", contract))
    if given == ["text"]:
        if not isinstance(value, str) or not value.strip():
            raise InvalidError(f"{here}.text", f"expected a string that is not blank, found {look(value)}")
        return Forbidden(text=value)
    if not isinstance(value, Mapping) or not value:
        raise InvalidError(f"{here}.metadata", f"expected an object such as {{'tenant': 'b'}}, found {look(value)}")
    return Forbidden(metadata=value)


def _read(raw: object, before: Mapping[str, Any], contract: Contract) -> Mapping[str, Any]:
    return {"forbidden": read_forbidden(raw, before.get("relevant") or {}, contract)}


def _names(expected: Expected) -> Sequence[str]:
    return list(map(str, expected.forbidden or ()))


FORBIDDEN = GoldKind(
    name="forbidden",
    read=_read,
    names=_names,
    apart="id",
    is_text=True,
    matcher="contains",
    of_some=True,
    words="forbidden items by id and metadata, else by text, matcher {matcher}",
    is_read_last=True,
    has_keys=True,
)
