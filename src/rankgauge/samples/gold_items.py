"""
Gold items: what ground truth consists of beside ids and texts, as values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal, NamedTuple

__all__ = [
    "Forbidden",
    "GoldItem",
    "GoldSet",
    "Importance",
    "Misplaced",
    "Nugget",
    "OtherGold",
    "Place",
    "Span",
    "distinct",
]

Importance = Literal["vital", "okay"]


class Nugget(NamedTuple):
    """A fact that a good answer states; it has a text, an id, or both."""

    text: str | None  # as a sentence
    id: str | None = None  # what the support of an output may call it
    importance: Importance = "vital"  # whether an answer without it is poor, or only less good (`okay`)

    @property
    def name(self) -> str:
        """Return its text, or its id if it has none."""
        return self.id or "" if self.text is None else self.text

    @property
    def weight(self) -> float:
        """Return its grade."""
        return 1.0 if self.importance == "vital" else 0.5


class Place(NamedTuple):
    """A stretch of a document; as a string, what a gold span is called."""

    document: str
    start: int  # characters
    end: int  # exclusive

    def __str__(self) -> str:
        return f"{self.document}[{self.start}:{self.end}]"


class Misplaced(NamedTuple):
    """A place that a retrieved item gives and that is not one of the document it names, so that its text counts."""

    reason: str  # a clause


class Span(NamedTuple):
    """A stretch of a document that should be retrieved, however the document is cut into chunks."""

    place: Place
    grade: float = 1.0
    text: str | None = None  # what is there; needed if retrieved items have no offsets

    def __str__(self) -> str:
        return str(self.place)


class Forbidden(NamedTuple):
    """What must not be retrieved: an item by its id, those with a text, or those whose metadata have some values."""

    id: str | None = None
    text: str | None = None
    metadata: Mapping[str, Any] | None = None

    def __str__(self) -> str:
        """Return it for people: ``id d7``, ``text 'salary'`` or ``metadata.tenant 'b'``."""
        if self.id is not None:
            return f"id {self.id}"
        if self.text is not None:
            return f"text {self.text!r:.60}"
        return " and ".join(f"metadata.{name} {value!r:.60}" for name, value in (self.metadata or {}).items())


class GoldSet(NamedTuple):
    """Relevant items by their names, or sets of them: all of them are needed, or any one suffices."""

    needs: Literal["all", "any"]
    items: tuple[str | GoldSet, ...]  # names, each once; the sets in a set have names only

    def complete_at(self, ranks: Mapping[str, int]) -> float:
        """Return the rank at which it is complete, by the ranks of the items that were found; infinity for never."""
        found = [ranks.get(item, math.inf) if isinstance(item, str) else item.complete_at(ranks) for item in self.items]
        return max(found) if self.needs == "all" else min(found)

    def ids(self) -> Iterator[str]:
        """Yield the name of every item in it."""
        for item in self.items:
            yield from (item,) if isinstance(item, str) else item.ids()

    def fewest(self) -> tuple[str, ...]:
        """Return few items that complete it; what is needed anyway stands for the sets in it that it completes."""
        if self.needs == "any":
            return min(((item,) if isinstance(item, str) else item.fewest() for item in self.items), key=len)
        chosen: dict[str, int] = {}
        for item in sorted(self.items, key=lambda item: isinstance(item, GoldSet) and item.needs == "any"):
            if isinstance(item, str):
                chosen[item] = 1
            elif item.complete_at(chosen) == math.inf:
                chosen |= dict.fromkeys(item.fewest(), 1)
        return tuple(chosen)

    def meaning(self) -> object:
        """Return what is equal for sets that say the same, in whatever order and nesting."""
        parts: set[object] = set()
        for item in self.items:
            meant = item if isinstance(item, str) else item.meaning()
            parts |= meant[1] if isinstance(meant, tuple) and meant[0] == self.needs else {meant}
        return (self.needs, frozenset(parts)) if len(parts) > 1 else parts.pop()

    def renamed(self, name_of: Callable[[str], str]) -> GoldSet:
        """Return the set of other names, each once."""
        renamed = (name_of(item) if isinstance(item, str) else item.renamed(name_of) for item in self.items)
        return GoldSet(self.needs, tuple(dict.fromkeys(renamed)))

    def __str__(self) -> str:
        named = (item if isinstance(item, str) else f"({item})" for item in self.items)
        return f"{self.needs} of {', '.join(named)}"


class GoldItem(NamedTuple):
    """
    One item of the ground truth of a plugin's kind.

    Attributes:
        value: What results are held to: a text if a matcher looks for it, otherwise whatever the judge takes.

        name: What explanations call it; no other item of the sample has the same.

        grade: Its grade; it is relevant above 0.
    """

    value: Any  # the plugin's own
    name: str
    grade: float = 1.0


class OtherGold(NamedTuple):
    """The ground truth of one sample of a plugin's kind."""

    items: tuple[GoldItem, ...]
    raw: Any  # as the data has it, by which samples are the same


def distinct(sets: Iterable[GoldSet]) -> tuple[GoldSet, ...]:
    """Return sets without those that mean the same as an earlier one."""
    first: dict[object, GoldSet] = {}
    for each in sets:
        first.setdefault(each.meaning(), each)
    return tuple(first.values())
