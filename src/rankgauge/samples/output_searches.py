"""
Searches: what each of several searches for one question returned, read from `actual_output.searches`.

They stay in their order, one after the other, and become one ranking; which of two equal results counts is the policy's
to say, as in any ranking.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rankgauge.samples.sample_values import InvalidError, look
from rankgauge.samples.unread_keys import SEARCHES, Unread, unread_among

__all__ = ["read_searches"]


def read_searches(raw: Mapping[Any, Any]) -> tuple[list[Sequence[Any]], tuple[Unread, ...]]:
    """Return what each search of an output returned, still to be read, and the keys that nothing reads."""
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
    unread: dict[Unread, None] = {}
    for index, search in enumerate(searches):
        items = search
        if isinstance(search, Mapping):
            unread |= dict.fromkeys(unread_among(search.keys(), SEARCHES))
            items = search.get("retrieved")
        if not isinstance(items, list | tuple):
            raise InvalidError(
                "", f"searches[{index}] must be a list, or an object with a 'retrieved' list, not {look(search)}"
            )
        lists.append(items)
    return lists, tuple(unread)
