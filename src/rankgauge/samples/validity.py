"""
Validity in time: when an item was true, read from its `valid_from` and `valid_to`, and when a question was asked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, date, datetime, time
from typing import Any, NamedTuple

from rankgauge.samples.sample_values import InvalidError, look

__all__ = ["Validity", "known_of", "read_moment", "read_validity"]

_BOUNDS = ("valid_from", "valid_to")


class Validity(NamedTuple):
    """A stretch of time; None if it is open."""

    start: datetime | None
    end: datetime | None  # exclusive

    def holds(self, moment: datetime) -> bool:
        """Return whether a moment lies in it."""
        return (self.start is None or self.start <= moment) and (self.end is None or moment < self.end)


def read_moment(raw: object, path: str) -> datetime:
    """Return a date, which means its beginning, or a time, in UTC unless it says otherwise; else an `InvalidError`."""
    moment = raw
    if isinstance(raw, str):
        moment = _moment_of(raw)
    if isinstance(moment, date) and not isinstance(moment, datetime):
        moment = datetime.combine(moment, time())
    if not isinstance(moment, datetime) or not isinstance(moment.year, int):  # pandas' NaT has no year
        form = "expected a date or a time in ISO 8601, such as '2024-05-01' or '2024-05-01T12:30:00Z'"
        raise InvalidError(path, f"{form}; found {look(raw)}")
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def _moment_of(text: str) -> datetime | None:
    """Return a time in ISO 8601, ``2023/05/30 (Tue) 22:10`` or ``1:56 pm on 8 May, 2023``; None for any other text."""
    with suppress(ValueError):
        return datetime.fromisoformat(text)
    if found := _LONGMEMEVAL.fullmatch(text):
        year, month, day, hour, minute = map(int, found.groups())
    elif (found := _LOCOMO.fullmatch(text)) and 1 <= int(found[1]) <= 12:
        day, month, year, minute = int(found[4]), _MONTHS.index(found[5][:3].lower()) + 1, int(found[6]), int(found[2])
        hour = int(found[1]) % 12 + (12 if found[3].lower() == "pm" else 0)
    else:
        return None
    with suppress(ValueError):
        return datetime(year, month, day, hour, minute, tzinfo=UTC)
    return None


_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_LONGMEMEVAL = re.compile(r"([0-9]{4})/([0-9]{1,2})/([0-9]{1,2}) \([A-Z][a-z]{2}\) ([0-9]{1,2}):([0-9]{2})")
_LOCOMO = re.compile(
    rf"([0-9]{{1,2}}):([0-9]{{2}}) ([ap]m) on ([0-9]{{1,2}}) ((?:{'|'.join(_MONTHS)})[a-z]*),? ([0-9]{{4}})",
    re.IGNORECASE,
)


def read_validity(known: Mapping[str, Any], path: str) -> Validity | None:
    """Return when an item is valid, by what is known of it; None if that says nothing of it."""
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
