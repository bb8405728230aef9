"""
Spans: reading `expected_output.spans`, and the places of retrieved items.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, islice
from operator import eq, itemgetter, le
from typing import Any

from rankgauge.policy import Contract
from rankgauge.samples.gold_ids import read_gain
from rankgauge.samples.gold_kinds import GoldKind
from rankgauge.samples.sample_values import (
    HIGHEST_K,
    Expected,
    InvalidError,
    Place,
    Span,
    is_finite_number,
    look,
    read_id,
)

__all__ = ["SPANS", "are_plain_places", "plain_spans", "read_place"]

_PLAIN = (str, int, int)
"""The types of a place that needs no further look."""
_ALL_PLAIN = ({str}, {int}, {int})
_OF_PLACE = itemgetter(*Place._fields)


def _spans(raw: object, path: str, contract: Contract) -> tuple[Span, ...]:
    """Return the spans of a sample, each place once with its highest grade."""
    if not isinstance(raw, list | tuple):
        raise InvalidError(path, f"expected a list of spans {{document, start, end}}, found {look(raw)}")
    spans: dict[Place, Span] = {}
    for index, entry in enumerate(raw):
        here = f"{path}[{index}]"
        if type(entry) is not dict and not isinstance(entry, Mapping):
            raise InvalidError(here, f"a span is an object with 'document', 'start' and 'end'; found {look(entry)}")
        place, text = read_place(entry, here, contract), entry.get("text")
        if place.start == place.end:
            raise InvalidError(f"{here}.end", f"the span is empty: it starts and ends at {place.end} (end exclusive)")
        if text is not None and (not isinstance(text, str) or not text.strip()):
            raise InvalidError(f"{here}.text", f"expected a string that is not blank, found {look(text)}")
        grade = 1.0 if entry.get("grade") is None else read_gain(entry["grade"], f"{here}.grade", contract)
        if (known := spans.get(place)) is not None:
            grade, text = max(grade, known.grade), text if known.text is None else known.text
        spans[place] = Span(place, grade, text)
    return tuple(spans.values())


def plain_spans(raws: Sequence[Any]) -> list[tuple[Span, ...]] | None:
    """Return what `_spans` does for some lists of objects that have a place each, no more; None if one is odd."""
    if set(map(type, raws)) != {list}:
        return None
    items = list(chain.from_iterable(raws))
    if set(map(type, items)) != {dict} or set(map(len, items)) != {len(_PLAIN)}:
        return None
    try:
        documents, starts, ends = zip(*map(_OF_PLACE, items), strict=True)
    except KeyError:
        return None
    if not are_plain_places(documents, starts, ends) or any(map(eq, starts, ends)):
        return None
    spans = iter(Span(Place(*place)) for place in zip(documents, starts, ends, strict=True))
    found = [tuple(islice(spans, len(raw))) for raw in raws]
    return None if any(len(own) > 1 and len(set(own)) < len(own) for own in found) else found


def are_plain_places(documents: Sequence[Any], starts: Sequence[Any], ends: Sequence[Any]) -> bool:
    """Return whether all of some objects have a place that needs no further look."""
    kinds = tuple(set(map(type, column)) for column in (documents, starts, ends))
    if kinds != _ALL_PLAIN or "" in documents or min(starts) < 0 or max(ends) > HIGHEST_K:
        return False
    return all(map(le, starts, ends))


def read_place(raw: Mapping[Any, object], path: str, contract: Contract) -> Place:
    """Return the `document`, `start` and `end` of an object; an `InvalidError` if they are no stretch."""
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


def _read(raw: object, _: Mapping[str, Any], contract: Contract) -> Mapping[str, Any]:
    return {"spans": _spans(raw, ".spans", contract)}


def _names(expected: Expected) -> Sequence[str]:
    return list(map(str, expected.spans or ()))


SPANS = GoldKind(
    name="spans",
    read=_read,
    names=_names,
    apart="place",
    together="always",
    is_evidence=True,
    takes_blocks=True,
    words="spans by offsets, else by text{together}",
    has_keys=True,
)
