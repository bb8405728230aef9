"""
Documents: what is compared of them, and what pairs of lists of them must look like.
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
        """Return facts about it."""

    @property
    def score(self) -> float | None:
        """Return its gain, where it belongs to the ground truth."""


Documents = Sequence[Sequence[Document]]
"""One list of documents for each query."""


def value_of(document: Document, field: str) -> object:
    """
    Return what is compared of a document.

    Args:
        document: The document.

        field: `content`, `id` or ``meta.<key>``, where dots lead into nested keys.

    Returns:
        The value; None where `meta` has no such key.

    Raises:
        ValueError: No such field can be compared.
    """
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
    """
    Return a value that may be a member of a set.

    Args:
        value: Any value.

    Returns:
        The same value.

    Raises:
        TypeError: It is not hashable.
    """
    hash(value)
    return value


def check_lengths(gold: Sequence[object], found: Sequence[object], kind: str) -> None:
    """
    Check that there is something to score, and as much on either side.

    Args:
        gold: The ground truth, one entry for each query.

        found: What was found, likewise.

        kind: What the arguments are called, for the message.

    Raises:
        ValueError: A side is empty, or the lengths differ.
    """
    if len(gold) == 0 or len(found) == 0:
        msg = f"{kind} must be provided."
        raise ValueError(msg)
    if len(gold) != len(found):
        msg = f"The length of {kind} must be the same."
        raise ValueError(msg)
