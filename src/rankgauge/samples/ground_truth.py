"""
Ground truth: reading `expected_output`, with its nuggets and spans.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import orjson

from rankgauge.base.plain_text import NUMBER
from rankgauge.errors import did_you_mean
from rankgauge.policy import DEFAULT_CONTRACT, Contract
from rankgauge.samples.forbidden_items import read_forbidden
from rankgauge.samples.gold_sets import read_sets
from rankgauge.samples.sample_values import (
    GOLD_KINDS,
    HIGHEST_K,
    NUMBERS,
    Expected,
    Fault,
    GoldKind,
    Importance,
    InvalidError,
    Nugget,
    Place,
    Span,
    are_strings,
    as_digits,
    in_quotes,
    is_absent,
    is_finite_number,
    is_real,
    look,
    read_id,
)
from rankgauge.samples.validity import known_of

__all__ = ["FORMS", "labelled", "read_expected", "read_nuggets", "read_place", "read_support"]

_PLAIN = (str, int, int)
"""The types of a place that needs no further look."""

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


def read_place(raw: Mapping[Any, object], path: str, contract: Contract) -> Place:
    """Return the `document`, `start` and `end` of an object; an `InvalidError` where they are no stretch."""
    place = Place(raw.get("document"), raw.get("start"), raw.get("end"))  # type: ignore[arg-type]  # looked at next
    if tuple(map(type, place)) == _PLAIN and place.document and 0 <= place.start <= place.end <= HIGHEST_K:
        return place
    if absent := [name for name in ("document", "start", "end") if raw.get(name) is None]:
        raise InvalidError(
            path, f"a place needs 'document', 'start' and 'end', and has no {absent[0]!r}; found {look(raw)}"
        )
    document = read_id(raw["document"], f"{path}.document", contract)
    start, end = (_offset(raw.get(name), f"{path}.{name}") for name in ("start", "end"))
    if end < start:
        raise InvalidError(f"{path}.end", f"a stretch cannot end at {end}, before its start at {start}")
    return Place(document, start, end)


def _offset(value: object, path: str) -> int:
    number: Any = value if is_finite_number(value) else -1
    offset = int(number) if number == int(number) else -1  # 45.0 is 45, as tables with gaps have it
    if not 0 <= offset <= HIGHEST_K:
        raise InvalidError(path, f"an offset is a number of characters, 0 or more, not {look(value)}")
    return offset


def _spans(raw: object, path: str, contract: Contract) -> tuple[Span, ...]:
    """Return the spans of a sample, each place once with its highest grade."""
    if not isinstance(raw, list | tuple):
        raise InvalidError(path, f"expected a list of spans {{document, start, end}}, found {look(raw)}")
    spans: dict[Place, Span] = {}
    for index, entry in enumerate(raw):
        here = f"{path}[{index}]"
        if not isinstance(entry, Mapping):
            raise InvalidError(here, f"a span is an object with 'document', 'start' and 'end'; found {look(entry)}")
        place, text = read_place(entry, here, contract), entry.get("text")
        if place.start == place.end:
            raise InvalidError(f"{here}.end", f"the span is empty: it starts and ends at {place.end} (end exclusive)")
        if text is not None and (not isinstance(text, str) or not text.strip()):
            raise InvalidError(f"{here}.text", f"expected a string that is not blank, found {look(text)}")
        grade = 1.0 if entry.get("grade") is None else _gain(entry["grade"], f"{here}.grade", contract)
        if (known := spans.get(place)) is not None:
            grade, text = max(grade, known.grade), text if known.text is None else known.text
        spans[place] = Span(place, grade, text)
    return tuple(spans.values())


FORMS = (
    "a list of ids, a map id -> gain, a string (the answer), or a map with any of 'relevant', 'passages', 'answer', "
    "'keywords', 'nuggets', 'spans', 'forbidden', 'sets'"
)
"""What ground truth can be, for messages."""

_KINDS = frozenset(GOLD_KINDS)
_TEXT_KINDS: tuple[GoldKind, ...] = ("passages", "answer", "keywords")
_MAYBE_NUMBERS = ("answer", "keywords")


def read_expected(raw: object, *, contract: Contract = DEFAULT_CONTRACT) -> Expected:
    """Read any form of ground truth; the contract decides whether unusable kinds are an `InvalidError` or `faults`."""
    if contract.on_bad_gold == "pair":
        return _read_expected_leniently(raw, contract)
    if type(raw) is list or isinstance(raw, list | tuple):
        return _relevant(raw, contract)
    if isinstance(raw, str) or isinstance(raw := as_digits(raw), str):
        return Expected(answer=_texts(raw, ""))
    if type(raw) is dict or isinstance(raw, Mapping):
        if raw and _KINDS.issuperset(raw):
            return _full_form(raw, contract)
        if all(type(value) in NUMBERS or is_real(value) for value in raw.values()):
            return _relevant(raw, contract)
        return _full_form(raw, contract)
    raise InvalidError("", f"ground truth is {FORMS}; found {look(raw)}{in_quotes(raw)}")


def _relevant(raw: Sequence[object] | Mapping[Any, object], contract: Contract, path: str = "") -> Expected:
    """Read gold ids; YAML keys may be integers, hence the loose key type."""
    if not isinstance(raw, list | tuple) and isinstance(raw, Mapping):
        gains: dict[str, float] = {}
        for key, value in raw.items():
            gain_id = key if type(key) is str and key else read_id(key, path, contract)
            try:
                gains[gain_id] = _gain(value, "", contract)
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
    return _relevant_entries(raw, contract, path)


def _relevant_entries(raw: Sequence[object], contract: Contract, path: str) -> Expected:
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
                gain = _gain(entry["gain"], f"{here}.gain", contract)
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


def _texts(raw: object, path: str, *, has_numbers: bool = False) -> tuple[str, ...]:
    """Return texts; where they *have numbers* an integer is its digits."""
    raw = as_digits(raw) if has_numbers else raw
    texts = (raw,) if isinstance(raw, str) else raw
    if not isinstance(texts, list | tuple):
        raise InvalidError(path, f"expected a string or a list of strings, found {look(raw)}{in_quotes(raw)}")
    if has_numbers and not are_strings(texts):
        texts = [as_digits(text) for text in texts]
    for index, text in enumerate(texts):
        here = path if isinstance(raw, str) else f"{path}[{index}]"
        if not isinstance(text, str):
            raise InvalidError(here, f"expected a string, found {look(text)}{in_quotes(text)}")
        if not text.strip():
            raise InvalidError(here, "the text is blank, and a blank text would match nothing; leave it out")
    return tuple(texts)


def _with_objects(raw: object) -> Sequence[object]:
    """Return entries of which some are objects; nothing for anything else."""
    return raw if isinstance(raw, list | tuple) and any(isinstance(entry, Mapping) for entry in raw) else ()


def _passages(raw: Sequence[object], path: str, contract: Contract) -> dict[str, Any]:
    """Return what is known of passages of which some are objects: texts, each once, highest grades and first ids."""
    grades: dict[str, float] = {}
    ids: dict[str, str] = {}
    graded = False
    for index, entry in enumerate(raw):
        here, grade, text, name = f"{path}[{index}]", 1.0, entry, None
        if isinstance(entry, Mapping):
            if (text := entry.get("text")) is None:
                raise InvalidError(here, f"a passage is a text, or an object with a 'text'; found {look(entry)}")
            if entry.get("id") is not None:
                name = read_id(entry["id"], f"{here}.id", contract)
            if entry.get("grade") is not None:
                grade, graded = _gain(entry["grade"], f"{here}.grade", contract), True
            here += ".text"
        (text,) = _texts(text if isinstance(text, str) else [text], here)
        grades[text] = max(grade, grades.get(text, -math.inf))
        if name is not None:
            ids.setdefault(text, name)
    return {"passages": tuple(grades), "passage_grades": grades if graded else None, "passage_ids": ids or None}


def _of_texts(raw: Mapping[Any, object], contract: Contract) -> dict[str, Any]:
    """Return the kinds of ground truth that are texts."""
    numbers = () if contract.on_bad_gold == "pair" else _MAYBE_NUMBERS
    kinds: dict[str, Any] = {}
    for kind in _TEXT_KINDS:
        if kind == "passages" and (entries := _with_objects(raw.get(kind))):
            kinds |= _passages(entries, ".passages", contract)
        elif not is_absent(raw.get(kind)):
            kinds[kind] = _texts(raw[kind], f".{kind}", has_numbers=kind in numbers)
    return kinds


def _full_form(raw: Mapping[Any, object], contract: Contract) -> Expected:
    unknown = [key for key in raw if key not in GOLD_KINDS]
    if unknown:
        key = next((name for name in unknown if type(raw[name]) not in NUMBERS), unknown[0])
        hint = did_you_mean(str(key), GOLD_KINDS)
        if not hint and not set(raw) & set(GOLD_KINDS):
            raise InvalidError(f"[{key!r}]", f"{look(raw[key])} is not a gain; ground truth is {FORMS}")
        raise InvalidError(f".{key}", f"unknown kind of ground truth{hint}; known are {', '.join(GOLD_KINDS)}")
    expected: Expected | None = None
    if not is_absent(raw.get("relevant")):
        relevant = raw["relevant"]
        if not isinstance(relevant, list | tuple | Mapping):
            split = "; --separator '|' splits a text" if isinstance(relevant, str) else ""
            raise InvalidError(
                ".relevant", f"expected a list of ids or a map id -> gain, found {look(relevant)}{split}"
            )
        expected = _relevant(relevant, contract, ".relevant")
    kinds = _of_texts(raw, contract)
    if not is_absent(raw.get("nuggets")):
        kinds["nuggets"] = read_nuggets(raw["nuggets"], ".nuggets", contract)
    if not is_absent(raw.get("spans")):
        kinds["spans"] = _spans(raw["spans"], ".spans", contract)
    if not is_absent(raw.get("sets")):
        sets = kinds["sets"] = read_sets(raw["sets"], None if expected is None else expected.relevant, contract)
        if expected is None:  # what is in a set is relevant
            expected = _relevant(list(dict.fromkeys(name for each in sets for name in each.ids())), contract)
    if not is_absent(raw.get("forbidden")):
        relevant = {} if expected is None else expected.relevant or {}
        kinds["forbidden"] = read_forbidden(raw["forbidden"], relevant, contract)
    return Expected(**kinds) if expected is None else expected._replace(**kinds)


def _read_expected_leniently(raw: object, contract: Contract) -> Expected:
    """Read each kind for itself, so that one unusable kind fails only the metrics that need it."""
    faults: dict[GoldKind, Fault] = {}
    expected = Expected()
    if isinstance(raw, Mapping) and raw and set(raw) <= set(GOLD_KINDS):
        for kind in GOLD_KINDS:
            try:
                beside = ("relevant",) if kind == "sets" else ()  # which sets are of
                alone = _full_form({name: raw.get(name) for name in (kind, *beside)}, contract)
            except InvalidError as invalid:
                faults[kind] = Fault(f"expected_output{invalid.path} {invalid.message}")
            else:
                given: dict[str, Any] = {name: value for name, value in alone._asdict().items() if value}
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
    return _relevant(decoded, contract)


def _gain(raw: object, path: str, contract: Contract) -> float:
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
