"""
Ground truth: reading `expected_output` in any of its forms.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import orjson

from rankgauge.errors import did_you_mean
from rankgauge.policy import DEFAULT_CONTRACT, Contract
from rankgauge.samples.built_in_kinds import GOLD_KINDS, KINDS
from rankgauge.samples.gold_ids import read_relevant
from rankgauge.samples.gold_kinds import GoldKind, Kinds
from rankgauge.samples.gold_texts import read_texts
from rankgauge.samples.sample_values import (
    NUMBERS,
    Expected,
    Fault,
    InvalidError,
    as_digits,
    in_quotes,
    is_absent,
    is_real,
    look,
)

__all__ = ["FORMS", "read_expected"]

FORMS = (
    f"a list of ids, a map id -> gain, a string (the answer), or a map with any of {', '.join(map(repr, GOLD_KINDS))}"
)
"""What ground truth can be, for messages."""

_KINDS = frozenset(GOLD_KINDS)


def _in_order(kinds: Iterable[GoldKind]) -> tuple[GoldKind, ...]:
    """Return kinds in the order of reading: each behind those that it is read with."""
    return tuple(sorted(kinds, key=lambda kind: (kind.is_read_last, bool(kind.beside))))


_IN_ORDER = _in_order(KINDS[name] for name in GOLD_KINDS)


def read_expected(raw: object, *, contract: Contract = DEFAULT_CONTRACT, kinds: Kinds | None = None) -> Expected:
    """
    Read any form of ground truth; the contract decides whether unusable kinds are an `InvalidError` or `faults`.

    *kinds* are those of plugins, which are asked for only if a key is none of ours.
    """
    if contract.on_bad_gold == "pair":
        return _read_expected_leniently(raw, contract, kinds)
    if type(raw) is not dict:  # the fastest way to ask
        if isinstance(raw, list | tuple):
            return read_relevant(raw, contract)
        if isinstance(raw, str) or isinstance(raw := as_digits(raw), str):
            return Expected(answer=read_texts(raw, ""))
    if type(raw) is dict or isinstance(raw, Mapping):
        if raw and _KINDS.issuperset(raw):
            return _full_form(raw, contract)
        if all(type(value) in NUMBERS or is_real(value) for value in raw.values()):
            return read_relevant(raw, contract)
        return _full_form(raw, contract, _of_plugins(raw, kinds))
    raise InvalidError("", f"ground truth is {FORMS}; found {look(raw)}{in_quotes(raw)}")


def _full_form(raw: Mapping[Any, object], contract: Contract, others: Sequence[GoldKind] = ()) -> Expected:
    if len(raw) == 1 and not others:
        ((name, value),) = raw.items()
        return Expected() if is_absent(value) else Expected(**KINDS[name].fields_of(value, {}, contract))
    fields: dict[str, Any] = {}
    for kind in _in_order((*_IN_ORDER, *others)) if others else _IN_ORDER:
        value = raw.get(kind.name)
        if not is_absent(value):
            fields |= kind.fields_of(value, fields, contract)
    return Expected(**fields)


def _of_plugins(raw: Mapping[Any, object], kinds: Kinds | None) -> list[GoldKind]:
    """Return the kinds of plugins among the keys; an `InvalidError` if a key is of no kind at all."""
    found = {key: None if kinds is None else kinds.find(key) for key in raw if key not in _KINDS}
    if unknown := [key for key, kind in found.items() if kind is None]:
        key = next((name for name in unknown if type(raw[name]) not in NUMBERS), unknown[0])
        known = GOLD_KINDS if kinds is None else (*GOLD_KINDS, *kinds.names())
        hint = did_you_mean(str(key), known)
        if not hint and not set(raw) & set(known):
            is_kind = kinds is not None and isinstance(raw[key], list | Mapping)
            or_kind = f"; if {key!r} is a kind of ground truth, {kinds.absent()}" if kinds and is_kind else ""
            raise InvalidError(f"[{key!r}]", f"{look(raw[key])} is not a gain; ground truth is {FORMS}{or_kind}")
        absent = f"; {kinds.absent()}" if kinds is not None and not hint else ""
        raise InvalidError(f".{key}", f"unknown kind of ground truth{hint}; known are {', '.join(known)}{absent}")
    return [kind for kind in found.values() if kind is not None]


def _read_expected_leniently(raw: object, contract: Contract, kinds: Kinds | None) -> Expected:
    """Read each kind for itself, so that one unusable kind fails only the metrics that need it."""
    faults: dict[str, Fault] = {}
    expected = Expected()
    if isinstance(raw, Mapping) and raw and (own := _all_known(raw, kinds)) is not None:
        others = own[len(GOLD_KINDS) :]
        for kind in own:
            beside = (*kind.beside, *(other.name for other in others)) if kind.beside else ()
            try:
                alone = _full_form({name: raw.get(name) for name in (kind.name, *beside)}, contract, others)
            except InvalidError as invalid:
                faults[kind.name] = Fault(f"expected_output{invalid.path} {invalid.message}")
            else:
                given: dict[str, Any] = {name: value for name, value in alone._asdict().items() if value}
                if alone.others:
                    given["others"] = {**(expected.others or {}), **alone.others}
                expected = expected._replace(**given)
        return expected._replace(faults=faults or None)
    try:
        expected = _relevant_or_encoded(raw, contract)
    except InvalidError as invalid:
        faults["relevant"] = Fault(f"expected_output{invalid.path} {invalid.message}")
        expected = Expected()
    if isinstance(raw, str) and raw.strip():
        expected = expected._replace(answer=(raw,))
    else:
        faults["answer"] = Fault(f"expected_output must be a string that is not blank (the answer); found {look(raw)}")
    return expected._replace(faults=faults)


def _all_known(raw: Mapping[Any, object], kinds: Kinds | None) -> list[GoldKind] | None:
    """Return the built-in kinds and those of plugins that are keys; None if a key is of no kind."""
    others = [None if kinds is None else kinds.find(key) for key in raw if key not in _KINDS]
    known = [kind for kind in others if kind is not None]
    return None if len(known) < len(others) else [*(KINDS[name] for name in GOLD_KINDS), *known]


def _relevant_or_encoded(raw: object, contract: Contract) -> Expected:
    decoded = raw
    if isinstance(raw, str):
        try:
            decoded = orjson.loads(raw)
        except orjson.JSONDecodeError as error:
            raise InvalidError("", f"is a string that is not valid JSON: {error}") from None
    if not isinstance(decoded, list | tuple | Mapping):
        raise InvalidError("", f"must be a list of ids or a map id -> gain; found {look(decoded)}")
    if not decoded:
        raise InvalidError("", "must list at least one relevant id")
    return read_relevant(decoded, contract)
