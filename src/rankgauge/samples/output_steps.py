"""
Steps of a system: reading what each stage of a pipeline retrieved (`stages`), or each search of an agent (`searches`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import repeat
from typing import Any

from rankgauge.errors import did_you_mean
from rankgauge.policy import Contract
from rankgauge.samples.sample_values import (
    Fault,
    InvalidError,
    Output,
    Stage,
    are_strings,
    is_finite_number,
    look,
)
from rankgauge.samples.unread_keys import OUTPUT, SEARCHES, STAGES, Unread, unread_among, unread_keys

__all__ = ["difference", "read_amount", "read_searches", "read_stages", "unread_in_steps"]


def read_stages(
    raw: object, contract: Contract, ranked: Callable[[Sequence[Any], Contract], Output | Fault]
) -> tuple[dict[str, Stage], tuple[Unread, ...]]:
    """
    Return the stages of an output by name, and the keys that nothing reads; *ranked* reads what one retrieved.

    Each comes from the one before it, unless it says `from`.
    """
    if not isinstance(raw, list | tuple) or not raw:
        raise InvalidError("", f"'stages' must be a list of {{'name', 'retrieved'}} objects, not {look(raw)}")
    stages: dict[str, Stage] = {}
    unread = dict.fromkeys(unread_keys(raw, STAGES))
    for index, entry in enumerate(raw):
        path = f"stages[{index}]"
        if not isinstance(entry, Mapping):
            raise InvalidError("", f"{path} must be an object with a 'name' and a 'retrieved' list, not {look(entry)}")
        name = entry.get("name")
        if name is None:
            raise InvalidError("", f"{path} needs a 'name'; found {look(entry)}")
        if not isinstance(name, str) or not name.strip():
            raise InvalidError("", f"{path}.name must be a text that is not empty, not {look(name)}")
        if name in stages:
            raise InvalidError("", f"{path}.name is {name!r}, as that of an earlier stage; give each its own name")
        retrieved = entry.get("retrieved")
        if not isinstance(retrieved, list | tuple):
            raise InvalidError("", f"{path}.retrieved must be a list, not {look(retrieved)}")
        output = ranked(retrieved, contract)
        unread |= dict.fromkeys(output.unread)
        output = Fault(f"{path}.{output.reason}") if isinstance(output, Fault) else output._replace(unread=())
        amounts = (read_amount(entry, key, path) for key in ("seconds", "cost"))
        stages[name] = Stage(output, _sources(entry, stages, path), *amounts)
    return stages, tuple(unread)


def _sources(entry: Mapping[Any, Any], earlier: Mapping[str, Stage], path: str) -> tuple[str, ...]:
    """Return the stages that a stage says it comes from; the one before it if it does not say."""
    sources = entry.get("from")
    if sources is None:
        return tuple(earlier)[-1:]
    if isinstance(sources, str):
        sources = [sources]
    if not isinstance(sources, list | tuple) or not are_strings(sources):
        raise InvalidError("", f"{path}.from must be a list of names of stages, not {look(sources)}")
    for source in sources:
        if source not in earlier:
            hint = did_you_mean(source, list(earlier))
            raise InvalidError("", f"{path}.from names {source!r}, which is no earlier stage{hint}")
    return tuple(dict.fromkeys(sources))


def read_amount(entry: Mapping[Any, Any], key: str, path: str) -> float | None:
    """Return what something took, None if it is not said."""
    amount = entry.get(key)
    if amount is not None and (not is_finite_number(amount) or amount < 0):
        where = f"{path}.{key}".removeprefix(".")
        raise InvalidError("", f"{where} must be a number of 0 or more, not {look(amount)}")
    return None if amount is None else float(amount)


def difference(output: Output, last: Output, name: str) -> str:
    """Return how what was retrieved differs from what the last stage retrieved, which has a *name*; empty for not."""
    ours, theirs = _items_of(output), _items_of(last)
    if ours == theirs:
        return ""
    rank = next((at for at, pair in enumerate(zip(ours, theirs, strict=False), 1) if pair[0] != pair[1]), 0)
    where = f"at rank {rank}" if rank else f"{len(ours)} items and {len(theirs)}"
    advice = "leave 'retrieved' out, or add what follows that stage as a stage of its own"
    return f"'retrieved' is not what the last stage, {name!r}, retrieved ({where}); {advice}"


def _items_of(output: Output) -> list[str | None]:
    """Return what tells the items of an output apart: the id of each, or its text."""
    texts = output.texts or repeat(None)
    return [text if name is None else name for name, text in zip(output.ids, texts, strict=False)]


def read_searches(raw: Mapping[Any, Any]) -> tuple[list[Sequence[Any]], tuple[Unread, ...]]:
    """
    Return what each search of an output returned, still to be read, and the keys that nothing reads.

    They stay in their order and become one ranking; which of two equal results counts is the policy's to say.
    """
    for key in ("retrieved", "stages"):
        if raw.get(key) is not None:
            msg = f"'searches' say what was retrieved, all of them in their order, and so does {key!r}; leave one out"
            raise InvalidError("", msg)
    searches = raw["searches"]
    if not isinstance(searches, list | tuple):
        raise InvalidError(
            "", f"'searches' must be a list of lists, or of {{'retrieved'}} objects, not {look(searches)}"
        )
    lists: list[Sequence[Any]] = []
    for index, search in enumerate(searches):
        items = search.get("retrieved") if isinstance(search, Mapping) else search
        if not isinstance(items, list | tuple):
            raise InvalidError(
                "", f"searches[{index}] must be a list, or an object with a 'retrieved' list, not {look(search)}"
            )
        lists.append(items)
    return lists, unread_keys(searches, SEARCHES)


def unread_in_steps(raw: Mapping[Any, Any], steps: str) -> tuple[Unread, ...]:
    """Return the keys that nothing reads of an output whose `stages` or `searches` cannot be read, and of these."""
    listed = raw[steps] if isinstance(raw[steps], list | tuple) else ()
    return (*unread_among(raw.keys(), OUTPUT), *unread_keys(listed, f"{OUTPUT}.{steps}[]"))
