"""
Sets of relevant items: reading `expected_output.sets`.

The items are ids, passages, spans, or those of a plugin's kind: they are read by the reader of their kind, and called
as their kind calls them. All items of a sample's sets are of one kind, because ranks of several kinds of judging cannot
be compared: duplicates of ids, texts and places are dropped one by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from types import MappingProxyType
from typing import Any, NamedTuple

from rankgauge.errors import did_you_mean
from rankgauge.policy import Contract
from rankgauge.samples.gold_ids import RELEVANT, as_fields, read_relevant
from rankgauge.samples.gold_items import distinct
from rankgauge.samples.gold_kinds import GoldKind
from rankgauge.samples.gold_spans import SPANS
from rankgauge.samples.gold_texts import PASSAGES
from rankgauge.samples.sample_values import Expected, GoldSet, InvalidError, look, read_id
from rankgauge.samples.unread_keys import SETS, Unread, unread_among, unread_keys

__all__ = ["SETS_OF_ITEMS", "kind_of_item", "objects_in_sets", "read_sets", "unread_in_sets"]

_FORM = "a set is {'all_of': [...]}, {'any_of': [...]}, or a list of items, all of which are needed"
_ITEM_KINDS: Mapping[str, GoldKind] = MappingProxyType({kind.name: kind for kind in (RELEVANT, SPANS, PASSAGES)})
"""The built-in kinds whose items sets are made of, in order of preference."""


class _Item(NamedTuple):
    """An item as a set has it."""

    at: str  # its path
    name: str  # an id or a name, or what its kind calls it without an id if it is an object
    kind: str = ""  # of an object; empty for a name
    raw: Any = None  # the object


class _Known(NamedTuple):
    """The items of one kind that a sample's ground truth has."""

    grades: Mapping[str, float]  # by their names
    names: Mapping[str, str]  # by their texts, if these are not their names


def read_sets(raw: object, before: Mapping[str, Any], contract: Contract) -> Mapping[str, Any]:
    """
    Return attributes of `Expected`: the sets of a sample by the kinds of their items, and items that only sets name.

    It raises an `InvalidError` for what is no set, and for an item that no kind has, or that is not relevant.
    """
    entries = [raw] if isinstance(raw, Mapping) else raw
    if not isinstance(entries, list | tuple):
        raise InvalidError(".sets", f"expected a list of sets; {_FORM}; found {look(raw)}")
    items: list[_Item] = []
    forms = []
    for index, entry in enumerate(entries):
        here = ".sets" if entries is not raw else f".sets[{index}]"
        if not isinstance(entry, Mapping | list | tuple) or kind_of_item(entry):
            raise InvalidError(here, f"{_FORM}; found {look(entry)}")
        forms.append(_form(entry, here, items, contract, is_inner=False))
    added = _only_in_sets(items, before, contract)
    known = _known(Expected(**{**before, **added}))
    sets = {}
    for kind in _kinds_of(items, known):
        called = {item.at: _name(item, known[kind]) for item in items}
        sets[kind] = distinct(form.renamed(called.__getitem__) for form in forms)
    by_id = {"sets": sets.pop(RELEVANT.name)} if RELEVANT.name in sets else {}
    return {**added, **by_id, **({"other_sets": sets} if sets else {})}


def unread_in_sets(raw: object) -> tuple[Unread, ...]:
    """Return the keys of sets, and of what is in them, that nothing reads."""
    objects = list(objects_in_sets(raw))
    sets = [each for each in objects if not kind_of_item(each)]
    items = (
        unread_keys((each for each in objects if kind_of_item(each) == kind), f"expected_output.{kind}[]")
        for kind in (PASSAGES.name, SPANS.name)
    )
    return (*unread_keys(sets, SETS), *chain.from_iterable(items))


def objects_in_sets(raw: object) -> Iterator[Mapping[Any, Any]]:
    """Yield the objects among sets, and in them: sets and items alike."""
    entries = [raw] if isinstance(raw, Mapping) else raw if isinstance(raw, list | tuple) else []
    return _objects_in(entries, 3)


def _objects_in(entries: Iterable[object], depth: int) -> Iterator[Mapping[Any, Any]]:
    for entry in entries:
        if isinstance(entry, Mapping):
            yield entry
        if depth and isinstance(entry, Mapping | list | tuple):
            lists = entry.values() if isinstance(entry, Mapping) else (entry,)
            yield from _objects_in(
                chain.from_iterable(each for each in lists if isinstance(each, list | tuple)), depth - 1
            )


def kind_of_item(entry: object) -> str:
    """Return the kind of an object that is an item; empty for a set, and for what is neither."""
    if not isinstance(entry, Mapping) or entry.get("all_of") is not None or entry.get("any_of") is not None:
        return ""
    if entry.get("document") is not None:  # a span may have a text, too
        return SPANS.name
    return PASSAGES.name if entry.get("text") is not None else ""


def _form(entry: object, here: str, items: list[_Item], contract: Contract, *, is_inner: bool) -> GoldSet:
    """Return a set with the paths of its items in place of their names, and add these to those of the sample."""
    given = ["all_of"]
    listed, place = entry, here
    if isinstance(entry, Mapping):
        given = [name for name in ("all_of", "any_of") if entry.get(name) is not None]
        if len(given) != 1:
            meant = next(
                (f"; did you mean {key.meant!r}?" for key in unread_among(entry.keys(), SETS) if key.meant), ""
            )
            raise InvalidError(here, f"{_FORM}; found {look(entry)}{meant}")
        listed, place = entry[given[0]], f"{here}.{given[0]}"
    if not isinstance(listed, list | tuple):
        raise InvalidError(place, f"expected a list of items or of sets, found {look(listed)}")
    if not listed:
        raise InvalidError(place, "the set is empty, so that nothing could complete it; leave it out")
    read: list[str | GoldSet] = []
    for index, item in enumerate(listed):
        at = f"{place}[{index}]"
        if kind := kind_of_item(item):
            items.append(_Item(at, _read_alone(item, kind, at, contract), kind, item))
        elif not isinstance(item, Mapping | list | tuple):
            items.append(_Item(at, read_id(item, at, contract)))
        elif is_inner:
            raise InvalidError(at, f"a set inside another one has items only; found {look(item)}")
        else:
            read.append(_form(item, at, items, contract, is_inner=True))
            continue
        read.append(at)
    return GoldSet("all" if given == ["all_of"] else "any", tuple(read))


def _only_in_sets(items: Sequence[_Item], before: Mapping[str, Any], contract: Contract) -> Mapping[str, Any]:
    """Return ground truth that only sets give, as attributes of `Expected`."""
    objects: dict[str, list[object]] = {}
    for item in items:
        if item.kind:
            objects.setdefault(item.kind, []).append(item.raw)
    added: dict[str, Any] = {}
    for kind, entries in objects.items():
        if before.get(kind) is None:
            added |= _ITEM_KINDS[kind].fields_of(entries, before, contract)
    names = list(dict.fromkeys(item.name for item in items))
    if not objects and before.get(RELEVANT.name) is None and not _are_names_of_others(names, before):
        added |= as_fields(read_relevant(names, contract))  # what is in a set is relevant
    return added


def _are_names_of_others(names: Sequence[str], before: Mapping[str, Any]) -> bool:
    """Return whether names are meant to be those of passages, spans or a plugin's items, rather than ids."""
    if before.get("passage_ids"):  # which were given so that something names them
        return True
    return any(not known.grades.keys().isdisjoint(names) for known in _known(Expected(**before)).values())


def _read_alone(raw: object, kind: str, at: str, contract: Contract) -> str:
    """Return the text or place of an object; an `InvalidError` with its own path if its kind cannot read it."""
    try:
        alone = Expected(**_ITEM_KINDS[kind].fields_of([raw], {}, contract))
    except InvalidError as invalid:
        raise InvalidError(f"{at}{invalid.path.removeprefix(f'.{kind}[0]')}", invalid.message) from None
    return alone.passages[0] if alone.passages else str(*alone.spans or ())


def _known(expected: Expected) -> dict[str, _Known]:
    """Return the items of a sample that sets may have, by kind, in order of preference."""
    known: dict[str, _Known] = {}
    if expected.relevant is not None:
        known[RELEVANT.name] = _Known(expected.relevant, {})
    if expected.spans is not None:
        known[SPANS.name] = _Known({str(span): span.grade for span in expected.spans}, {})
    if expected.passages is not None:
        texts, grades = dict.fromkeys(expected.passages), expected.passage_grades
        names = PASSAGES.names(expected)
        graded = [1.0 if grades is None else grades[text] for text in texts]
        known[PASSAGES.name] = _Known(dict(zip(names, graded, strict=True)), dict(zip(texts, names, strict=True)))
    for kind, gold in (expected.others or {}).items():
        known[kind] = _Known({item.name: float(item.grade) for item in gold.items}, {})
    return known


def _name(item: _Item, known: _Known) -> str:
    """Return what a kind calls an item, if it has it."""
    return item.name if item.name in known.grades else known.names.get(item.name, item.name)


def _kinds_of(items: Sequence[_Item], known: Mapping[str, _Known]) -> list[str]:
    """Return the kinds that have all items, as relevant ones; an `InvalidError` if there is none."""
    if not items:
        return [RELEVANT.name]
    meant = next((item.kind for item in items if item.kind), "")
    lacking = {
        kind: [item for item in items if not _has(item, kind, of_kind)]
        for kind, of_kind in known.items()
        if meant in {"", kind}
    }
    having = [kind for kind in lacking if not lacking[kind]]
    if not having:
        raise _foreign(min(lacking, key=lambda kind: len(lacking[kind])), lacking, known)
    for kind in having:
        lacking[kind] = [item for item in items if known[kind].grades[_name(item, known[kind])] <= 0]
    if relevant := [kind for kind in having if not lacking[kind]]:
        return relevant
    kind, item = having[0], lacking[having[0]][0]
    name = _name(item, known[kind])
    gain = f"gain {known[kind].grades[name]:g} in {kind!r}"
    raise InvalidError(item.at, f"{name!r} has {gain}, so that it cannot be needed")


def _foreign(kind: str, lacking: Mapping[str, Sequence[_Item]], known: Mapping[str, _Known]) -> InvalidError:
    """Return that the first item which a kind lacks is of another one, or of none."""
    item = lacking[kind][0]
    shown = repr(item.name) if item.raw is None else look(item.raw)
    having = (each for each, of_kind in known.items() if _has(item, each, of_kind))
    if other := item.kind if item.kind not in {"", kind} else next(having, ""):
        one = f"all items of a sample's sets are of one kind, and others are of {kind!r}"
        return InvalidError(item.at, f"{shown} is one of {other!r}; {one}")
    hint = did_you_mean(item.name, list(known[kind].grades)) if item.raw is None else ""
    return InvalidError(item.at, f"{shown} is not in {kind!r}{hint}; add it there")


def _has(item: _Item, kind: str, known: _Known) -> bool:
    """Return whether a kind has an item."""
    return item.kind in {"", kind} and _name(item, known) in known.grades


def _names(expected: Expected) -> Sequence[str]:
    return list(map(str, expected.sets or ()))


SETS_OF_ITEMS = GoldKind(
    name="sets",
    read=read_sets,
    names=_names,
    apart="id",
    compares=False,
    has_units=True,
    has_no_rank=True,
    beside=tuple(_ITEM_KINDS),
    members=tuple(_ITEM_KINDS),
    has_keys=True,
)
