"""
Documents: the fields that evaluators compare, and checks of their arguments.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

__all__ = ["Document", "Documents", "check_lengths", "hashable", "value_of"]


class Document(Protocol):
    """A document; only what is compared, and for nDCG the score, is read."""

    @property
    def content(self) -> str | None:
        """Return its text."""

    @property
    def id(self) -> str:
        """Return its id."""

    @property
    def meta(self) -> Mapping[str, object]:
        """Return its metadata."""

    @property
    def score(self) -> float | None:
        """Return its gain, if it belongs to the ground truth."""


Documents = Sequence[Sequence[Document]]
"""One list of documents for each query."""


def value_of(document: Document, field: str) -> object:
    """Return the value of `content`, `id` or ``meta.<key>`` (dots for nested keys); None where `meta` lacks the key."""
    if field == "content":
        return document.content
    if field == "id":
        return document.id
    if not field.startswith("meta."):
        msg = f"Unsupported document_comparison_field: '{field}'. Use 'content', 'id', or 'meta.<key>'."
        raise ValueError(msg)
    value: object = document.meta
    for key in field.removeprefix("meta.").split("."):
        if not isinstance(value, Mapping) or key not in value:
            return None
        value = value[key]
    return value


def hashable(value: object) -> object:
    """Return the same value; raise `TypeError` where it cannot be hashed."""
    hash(value)
    return value


def check_lengths(gold: Sequence[object], found: Sequence[object], kind: str) -> None:
    """Raise `ValueError` where a side is empty or the lengths differ; *kind* names the arguments."""
    if len(gold) == 0 or len(found) == 0:
        msg = f"{kind} must be provided."
        raise ValueError(msg)
    if len(gold) != len(found):
        msg = f"The length of {kind} must be the same."
        raise ValueError(msg)
