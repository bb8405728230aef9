"""
Nuggets: reading `expected_output.nuggets`, and the support that outputs give them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rankgauge.errors import did_you_mean
from rankgauge.policy import Contract
from rankgauge.samples.gold_kinds import GoldKind
from rankgauge.samples.sample_values import Expected, Importance, InvalidError, Nugget, look, read_id

__all__ = ["NUGGETS", "labelled", "read_nuggets", "read_support"]

_IMPORTANCE: dict[str, Importance] = {"vital": "vital", "okay": "okay"}
_SUPPORT = {"support": 1.0, "partial_support": 0.5, "not_support": 0.0}


def read_nuggets(raw: object, path: str, contract: Contract) -> tuple[Nugget, ...]:
    """Return the nuggets of a sample; an `InvalidError` for what is none, or for one that is listed twice."""
    if not isinstance(raw, list | tuple):
        raise InvalidError(path, f"expected a list of nuggets, found {look(raw)}")
    nuggets = tuple(_nugget(entry, f"{path}[{index}]", contract) for index, entry in enumerate(raw))
    listed: set[str] = set()
    for index, nugget in enumerate(nuggets):
        names = {name for name in (nugget.id, nugget.text) if name is not None}
        if twice := sorted(names & listed):
            raise InvalidError(f"{path}[{index}]", f"the nugget {look(twice[0])} is listed twice")
        listed |= names
    return nuggets


def read_support(raw: object, contract: Contract) -> dict[str, float]:
    """Return how far an answer supports each nugget, from 0 to 1 by id or text; an `InvalidError` for anything else."""
    support: dict[str, float] = {}
    for path, name, label in _assignments(raw, contract):
        if label is None:
            continue  # a column of a table that this sample has no value for
        if not isinstance(label, str) or label not in _SUPPORT:
            hint = did_you_mean(label, _SUPPORT) if isinstance(label, str) else ""
            raise InvalidError(path, f"must be {', '.join(_SUPPORT)}, not {look(label)}{hint}")
        if name in support:
            raise InvalidError(path, f"the nugget {look(name)} is assigned twice")
        support[name] = _SUPPORT[label]
    return support


def labelled(support: Mapping[str, float]) -> dict[str, str]:
    """Return support as outputs give it."""
    labels = {value: label for label, value in _SUPPORT.items()}
    return {name: labels[value] for name, value in support.items()}


def _nugget(entry: object, path: str, contract: Contract) -> Nugget:
    if isinstance(entry, str):
        entry = {"text": entry}
    if not isinstance(entry, Mapping):
        raise InvalidError(path, f"a nugget is a string, or an object with 'text' or 'id'; found {look(entry)}")
    text, importance = entry.get("text"), entry.get("importance")
    name = None if entry.get("id") is None else read_id(entry["id"], f"{path}.id", contract)
    if text is not None and (not isinstance(text, str) or not text.strip()):
        raise InvalidError(f"{path}.text", f"expected a string that is not blank, found {look(text)}")
    if text is None and name is None:
        raise InvalidError(path, f"a nugget needs a 'text' or an 'id'; found {look(entry)}")
    if importance is None:
        return Nugget(text, name)
    if not isinstance(importance, str) or importance not in _IMPORTANCE:
        hint = did_you_mean(importance, _IMPORTANCE) if isinstance(importance, str) else ""
        raise InvalidError(f"{path}.importance", f"must be vital or okay, not {look(importance)}{hint}")
    return Nugget(text, name, _IMPORTANCE[importance])


def _assignments(raw: object, contract: Contract) -> Iterator[tuple[str, str, Any]]:
    """Yield place, id or text, and label of each assignment."""
    if isinstance(raw, Mapping):
        for name, label in raw.items():
            yield f"[{name!r}]", read_id(name, f"[{name!r}]", contract), label
        return
    if not isinstance(raw, list | tuple):
        form = "expected a map from a nugget's id or text to its support, or a list of {id or text, assignment}"
        raise InvalidError("", f"{form}; found {look(raw)}")
    for index, entry in enumerate(raw):
        name = None
        if isinstance(entry, Mapping):
            name = entry.get("text") if entry.get("id") is None else entry["id"]
        if name is None or not isinstance(entry, Mapping):
            raise InvalidError(f"[{index}]", f"needs the 'id' or the 'text' of a nugget; found {look(entry)}")
        yield f"[{index}].assignment", read_id(name, f"[{index}]", contract), entry.get("assignment")


def _read(raw: object, _: Mapping[str, Any], contract: Contract) -> Mapping[str, Any]:
    return {"nuggets": read_nuggets(raw, ".nuggets", contract)}


def _names(expected: Expected) -> Sequence[str]:
    return [nugget.name for nugget in expected.nuggets or ()]


def _texts(expected: Expected) -> Sequence[str]:
    return tuple(nugget.text for nugget in expected.nuggets or () if nugget.text is not None)


def _weights(expected: Expected, _: Sequence[str]) -> Sequence[float]:
    return [nugget.weight for nugget in expected.nuggets or () if nugget.text is not None]


NUGGETS = GoldKind(
    name="nuggets",
    read=_read,
    names=_names,
    is_text=True,
    texts=_texts,
    grades=_weights,
    is_graded=False,
    no_text="a nugget has an id and no text, so a matcher cannot look for it; give every nugget a 'text'",
    together="by-matcher",
    has_support=True,
    has_keys=True,
)
