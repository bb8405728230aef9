"""
Sets of relevant items: reading `expected_output.sets`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from rankgauge.errors import did_you_mean
from rankgauge.policy import Contract
from rankgauge.samples.gold_ids import as_fields, read_relevant
from rankgauge.samples.gold_items import distinct
from rankgauge.samples.gold_kinds import GoldKind
from rankgauge.samples.sample_values import Expected, GoldSet, InvalidError, look, read_id
from rankgauge.samples.unread_keys import SETS, Unread, unread_among, unread_keys

__all__ = ["SETS_OF_ITEMS", "read_sets", "unread_in_sets"]

_FORM = "a set is {'all_of': [...]}, {'any_of': [...]}, or a list of ids, all of which are needed"


def read_sets(raw: object, relevant: Mapping[str, float] | None, contract: Contract) -> tuple[GoldSet, ...]:
    """Return the sets of a sample, each once; an `InvalidError` for what is none, or names what is not relevant."""
    entries = [raw] if isinstance(raw, Mapping) else raw
    if not isinstance(entries, list | tuple):
        raise InvalidError(".sets", f"expected a list of sets; {_FORM}; found {look(raw)}")
    sets = []
    for index, entry in enumerate(entries):
        here = ".sets" if entries is not raw else f".sets[{index}]"
        if not isinstance(entry, Mapping | list | tuple):
            raise InvalidError(here, f"{_FORM}; found {look(entry)}")
        sets.append(_set(entry, here, relevant, contract, is_inner=False))
    return distinct(sets)


def unread_in_sets(raw: object) -> tuple[Unread, ...]:
    """Return the keys of sets, and of the sets in them, that nothing reads."""
    entries = [raw] if isinstance(raw, Mapping) else raw if isinstance(raw, list | tuple) else []
    lists = chain.from_iterable(entry.values() if isinstance(entry, Mapping) else (entry,) for entry in entries)
    return unread_keys((*entries, *chain.from_iterable(each for each in lists if isinstance(each, list | tuple))), SETS)


def _set(
    entry: object, here: str, relevant: Mapping[str, float] | None, contract: Contract, *, is_inner: bool
) -> GoldSet:
    given = ["all_of"]
    items, place = entry, here
    if isinstance(entry, Mapping):
        given = [name for name in ("all_of", "any_of") if entry.get(name) is not None]
        if len(given) != 1:
            meant = next(
                (f"; did you mean {key.meant!r}?" for key in unread_among(entry.keys(), SETS) if key.meant), ""
            )
            raise InvalidError(here, f"{_FORM}; found {look(entry)}{meant}")
        items, place = entry[given[0]], f"{here}.{given[0]}"
    if not isinstance(items, list | tuple):
        raise InvalidError(place, f"expected a list of ids or of sets, found {look(items)}")
    if not items:
        raise InvalidError(place, "the set is empty, so that nothing could complete it; leave it out")
    read: list[str | GoldSet] = []
    for index, item in enumerate(items):
        at = f"{place}[{index}]"
        if isinstance(item, Mapping | list | tuple):
            if is_inner:
                raise InvalidError(at, f"a set inside another one has ids only; found {look(item)}")
            read.append(_set(item, at, relevant, contract, is_inner=True))
        else:
            read.append(_relevant_id(item, at, relevant, contract))
    return GoldSet("all" if given == ["all_of"] else "any", tuple(dict.fromkeys(read)))


def _relevant_id(item: object, at: str, relevant: Mapping[str, float] | None, contract: Contract) -> str:
    name = read_id(item, at, contract)
    if relevant is None:
        return name
    if name not in relevant:
        raise InvalidError(at, f"{name!r} is not in 'relevant'{did_you_mean(name, list(relevant))}; add it there")
    if relevant[name] <= 0:
        raise InvalidError(at, f"{name!r} has gain {relevant[name]:g} in 'relevant', so that it cannot be needed")
    return name


def _read(raw: object, before: Mapping[str, Any], contract: Contract) -> Mapping[str, Any]:
    sets = read_sets(raw, before.get("relevant"), contract)
    if before.get("relevant") is not None:
        return {"sets": sets}
    relevant = read_relevant(list(dict.fromkeys(name for each in sets for name in each.ids())), contract)
    return {**as_fields(relevant), "sets": sets}  # what is in a set is relevant


def _names(expected: Expected) -> Sequence[str]:
    return list(map(str, expected.sets or ()))


SETS_OF_ITEMS = GoldKind(
    name="sets",
    read=_read,
    names=_names,
    apart="id",
    compares=False,
    has_units=True,
    has_no_rank=True,
    beside=("relevant",),
    has_keys=True,
)
