"""
Validity in time: when an item was true, read from its `valid_from` and `valid_to`, and when a question was asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, time
from typing import Any, NamedTuple

from rankgauge.samples.sample_values import InvalidError, look

__all__ = ["Validity", "known_of", "read_moment", "read_validity"]

_BOUNDS = ("valid_from", "valid_to")


class Validity(NamedTuple):
    """A stretch of time; None where it is open."""

    start: datetime | None
    end: datetime | None  # exclusive

    def holds(self, moment: datetime) -> bool:
        """Return whether a moment lies in it."""
        return (self.start is None or self.start <= moment) and (self.end is None or moment < self.end)


def read_moment(raw: object, path: str) -> datetime:
    """Return a date, which means its beginning, or a time, in UTC unless it says otherwise; else an `InvalidError`."""
    moment = raw
    if isinstance(raw, str):
        try:
            moment = datetime.fromisoformat(raw)
        except ValueError:
            moment = None
    if isinstance(moment, date) and not isinstance(moment, datetime):
        moment = datetime.combine(moment, time())
    if not isinstance(moment, datetime) or not isinstance(moment.year, int):  # pandas' NaT has no year
        form = "expected a date or a time in ISO 8601, such as '2024-05-01' or '2024-05-01T12:30:00Z'"
        raise InvalidError(path, f"{form}; found {look(raw)}")
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def read_validity(known: Mapping[str, Any], path: str) -> Validity | None:
    """Return when an item is valid, by what is known of it; None where that says nothing of it."""
    bounds = [None if known.get(name) is None else read_moment(known[name], f"{path}.{name}") for name in _BOUNDS]
    if bounds == [None, None]:
        return None
    start, end = bounds
    if start is not None and end is not None and end <= start:
        shown = f"{look(known['valid_to'])} is not after valid_from, {look(known['valid_from'])}"
        raise InvalidError(f"{path}.valid_to", f"{shown}; what is valid ends later than it begins")
    return Validity(start, end)


def known_of(entry: Mapping[Any, Any], path: str, before: Mapping[str, Any] | None = None) -> Mapping[str, Any] | None:
    """
    Return what a gold item says of itself: its `metadata`, with its validity beside them; None for nothing.

    *before* is what an earlier entry for the same id said, which stays; it must not be valid at another time.
    """
    metadata = entry["metadata"] if isinstance(entry.get("metadata"), Mapping) else None
    own = {name: entry[name] for name in _BOUNDS if entry.get(name) is not None}
    known = {**(metadata or {}), **own} if own else metadata
    if known is None:
        return before
    here = path if own else f"{path}.metadata"
    validity = read_validity(known, here)
    if before is None:
        return known
    if validity is not None and read_validity(before, here) not in {None, validity}:
        raise InvalidError(here, "an earlier entry for the same id is valid at another time; say it once")
    return {**known, **before}
