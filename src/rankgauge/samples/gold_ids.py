"""
Relevant ids: reading `expected_output.relevant`, with gains, intents and what is known of them.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from rankgauge.base.plain_text import NUMBER
from rankgauge.policy import Contract
from rankgauge.samples.gold_kinds import GoldKind
from rankgauge.samples.sample_values import (
    NUMBERS,
    Expected,
    InvalidError,
    are_strings,
    is_finite_number,
    is_real,
    look,
    read_id,
)
from rankgauge.samples.validity import known_of

__all__ = ["RELEVANT", "as_fields", "read_gain", "read_relevant"]


def read_relevant(raw: Sequence[object] | Mapping[Any, object], contract: Contract, path: str = "") -> Expected:
    """Read gold ids; YAML keys may be integers, hence the loose key type."""
    if not isinstance(raw, list | tuple) and isinstance(raw, Mapping):
        gains: dict[str, float] = {}
        for key, value in raw.items():
            gain_id = key if type(key) is str and key else read_id(key, path, contract)
            try:
                gains[gain_id] = read_gain(value, "", contract)
            except InvalidError as invalid:
                raise InvalidError(f"{path}[{key!r}]", invalid.message) from None
        return Expected(gains, True)  # by place, because it is made once a sample
    if are_strings(raw):
        gains = dict.fromkeys(raw, 1.0)
        if "" in gains:
            raise InvalidError(f"{path}[{raw.index('')}]", "an id must not be empty")
        repeats = None
        if len(gains) != len(raw):
            repeats = {name: times for name, times in Counter(raw).items() if times > 1}
        return Expected(gains, False, repeats)  # by place, because it is made once a sample
    return _entries(raw, contract, path)


def _entries(raw: Sequence[object], contract: Contract, path: str) -> Expected:
    gains: dict[str, float] = {}
    listed: dict[str, int] = {}
    intents: dict[str, dict[str, float]] = {}
    metadata: dict[str, Mapping[str, Any]] = {}
    graded = False
    for index, entry in enumerate(raw):
        here = f"{path}[{index}]"
        gain = 1.0
        if isinstance(entry, Mapping):
            if "id" not in entry:
                raise InvalidError(here, f"an entry of the ground truth needs an 'id'; found {look(entry)}")
            name = read_id(entry["id"], f"{here}.id", contract)
            if entry.get("gain") is not None:
                gain = read_gain(entry["gain"], f"{here}.gain", contract)
                graded = True
            if (known := known_of(entry, here, metadata.get(name))) is not None:
                metadata[name] = known
        else:
            name = read_id(entry, here, contract)
        gains[name] = max(gain, gains.get(name, -math.inf))
        if isinstance(entry, Mapping) and entry.get("intent") is not None:
            intent = read_id(entry["intent"], f"{here}.intent", contract)
            by_intent = intents.setdefault(name, {})
            by_intent[intent] = max(gain, by_intent.get(intent, -math.inf))
            if len(by_intent) > 1:
                continue  # judged for another intent is not listed again
        listed[name] = listed.get(name, 0) + 1
    repeats = {name: times for name, times in listed.items() if times > 1}
    return Expected(gains, graded, repeats or None, intents or None, metadata=metadata or None)


def read_gain(raw: object, path: str, contract: Contract) -> float:
    """Return a finite gain; an `InvalidError` for anything else."""
    if type(raw) in NUMBERS and abs(raw) <= sys.float_info.max:  # type: ignore[arg-type]  # a number: the fast way
        return float(raw)  # type: ignore[arg-type]
    if isinstance(raw, str) and contract.coerce and NUMBER.fullmatch(raw.strip()):
        raw = float(raw)
    if not is_real(raw):
        raise InvalidError(path, f"a gain must be a number, not {look(raw)}")
    if not is_finite_number(raw):
        raise InvalidError(path, f"a gain must be finite, not {look(raw)}")
    return float(raw)


def _read(raw: object, _: Mapping[str, Any], contract: Contract) -> Mapping[str, Any]:
    if not isinstance(raw, list | tuple | Mapping):
        split = "; --separator '|' splits a text" if isinstance(raw, str) else ""
        raise InvalidError(".relevant", f"expected a list of ids or a map id -> gain, found {look(raw)}{split}")
    return as_fields(read_relevant(raw, contract, ".relevant"))


def as_fields(expected: Expected) -> dict[str, Any]:
    """Return what is known of relevant items as attributes of `Expected`."""
    relevant, graded, repeats, intents = expected[:4]
    fields = {"relevant": relevant, "graded": graded, "repeats": repeats, "intents": intents}
    return fields if expected.metadata is None else {**fields, "metadata": expected.metadata}


def _names(expected: Expected) -> Sequence[str]:
    return list(expected.relevant or ())


RELEVANT = GoldKind(name="relevant", read=_read, names=_names, apart="id", compares=False, has_units=True)
