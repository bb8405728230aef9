"""
Texts of the report: each once, within a budget of bytes, and cut to what is worth reading.
"""

from __future__ import annotations

from typing import NamedTuple

from rankgauge.visible import visible

__all__ = ["Excerpt", "Texts"]

_LONGEST = 600
_BEFORE = 120
"""How much of a long text stands before the stretch that matched."""


class Excerpt(NamedTuple):
    """
    A text as the report holds it.

    Attributes:
        place: Which of the texts it is, from 1; 0 where there was no room for it.

        start: Where in it the matched stretch begins, counted as JavaScript counts.

        length: How long that is; 0 for none.
    """

    place: int
    start: int = 0
    length: int = 0


class Texts:
    """
    Takes texts, the most important first.

    Attributes:
        kept: The texts, safe to show.

        is_full: Whether one was left out for want of room; no other is taken then.
    """

    def __init__(self, budget: int) -> None:
        self.kept: list[str] = []
        self.is_full = False
        self._left = budget
        self._places: dict[str, int] = {}

    def add(self, text: str, matched: str | None = None) -> Excerpt:
        """Take a text, of a long one the part around what matched."""
        at = text.find(matched) if matched else -1
        if at < 0:
            return Excerpt(self._place(_clipped(text)))
        begin = max(0, at - _BEFORE) if len(text) > _LONGEST else 0
        ahead, held = _shown(text[begin:at]), _shown((matched or "")[:_LONGEST])
        ahead = f"…{ahead}" if begin else ahead
        rest = text[at + len(matched or "") :]
        behind = rest if len(text) <= _LONGEST else _clipped(rest[: _LONGEST + 1])
        place = self._place(f"{ahead}{held}{_shown(behind)}")
        return Excerpt(place, _units(ahead), _units(held)) if place else Excerpt(0)

    def _place(self, shown: str) -> int:
        known = self._places.get(shown)
        if known is not None:
            return known
        size = len(shown.encode())
        if self.is_full or size > self._left:
            self.is_full = True
            return 0
        self._left -= size
        self.kept.append(shown)
        return self._places.setdefault(shown, len(self.kept))


def _clipped(text: str) -> str:
    return _shown(text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…")


def _shown(text: str) -> str:
    return visible(text, keep="\n")


def _units(text: str) -> int:
    """Return how long a text is for JavaScript, which counts UTF-16."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le")) // 2
