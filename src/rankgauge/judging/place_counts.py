"""
Place counts: how many places of retrieved items were taken, corrected, refused or missing, and what follows for a run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from rankgauge.base.frozen import FrozenMap
from rankgauge.errors import counted, listed

__all__ = ["KINDS", "OTHER_TEXT", "Firsts", "PlaceCounts", "join_firsts"]

OTHER_TEXT = "other text is there"
"""Why a place is refused whose text does not agree with a gold span."""

_FEW = 0.05
"""The share of places that may fail in a source that is trusted."""
_REMEMBERED = 50_000
"""Of so many places a run remembers how the text begins."""

KINDS = ("taken", "corrected", "refused", "missing")
"""
What happens to the place of an item. It is taken as it is, or with its end corrected; if it is refused or missing, the
item is found by its text.
"""

Firsts = Mapping[tuple[str, int], str | None]
"""How the text at a document and a start begins; None for two beginnings."""

_NONE: FrozenMap[Any, Any] = FrozenMap()


class PlaceCounts(NamedTuple):
    """What the places of some samples' outputs are worth."""

    # How many there are by `KINDS`; in documents that a gold span names (`named`); that meet a gold span whose text can
    # be held to theirs (`met`), and hold another text (`differed`); and that miss a gold span of their document, though
    # their text holds its text (`elsewhere`).
    n: Mapping[str, int] = _NONE
    reasons: Mapping[str, int] = _NONE  # why some were refused, and how many
    firsts: Firsts = _NONE
    example: str = ""  # the first that was refused
    looks: tuple[str, str] | None = None  # a document of an item, and one of a gold span that differs

    def __or__(self, other: PlaceCounts) -> PlaceCounts:
        firsts = dict(self.firsts)
        join_firsts(firsts, other.firsts)
        n, reasons = (Counter(ours) + Counter(theirs) for ours, theirs in zip(self[:2], other[:2], strict=True))
        return PlaceCounts(dict(n), dict(reasons), firsts, self.example or other.example, self.looks or other.looks)

    @property
    def given(self) -> int:
        """Return how many places there are."""
        return sum(self.n.get(kind, 0) for kind in KINDS) - self.n.get("missing", 0)

    @property
    def distrust(self) -> str:
        """Return why no place of the source is to be taken; empty if its places are trusted."""
        met, differed, elsewhere = (self.n.get(name, 0) for name in ("met", "differed", "elsewhere"))
        if differed > _FEW * met:
            return f"the text beside {differed:,} of the {met:,} that meet a gold span is not what is there"
        if (certain := self.n.get("refused", 0) - differed) > _FEW * self.given:
            others = (reason for reason in self.reasons if reason != OTHER_TEXT)
            return f"{certain:,} of them are not of the document ({', '.join(others)})"
        if elsewhere > met - differed:
            inside = counted(met - differed, "text")
            return f"a gold text is outside of its place in {counted(elsewhere, 'text')}, and in it in {inside}"
        if several := [f"{at[0]} at {at[1]}" for at, first in self.firsts.items() if first is None]:
            return f"different texts have the same place ({listed(several, 1)})"
        return ""

    def numbers(self) -> dict[str, int]:
        """Return how many there are of each kind."""
        return {kind: self.n.get(kind, 0) for kind in KINDS}

    def notes(self) -> Iterator[str]:
        """Yield what users should know."""
        example = f" (the first: {self.example})" if self.example else ""
        if why := self.distrust:
            yield (
                f"none of {counted(self.given, 'place')} of retrieved items is taken, and items with a text are found "
                f"by it: {why}{example}. A splitter that cuts what another one has cut or cleaned counts in that text; "
                "`rankgauge gold check` says whether the offsets of the ground truth hold; a profile with "
                "`places: given` takes places unchecked"
            )
        elif self.n.get("refused") or self.n.get("corrected"):
            of = ", ".join(f"{self.n.get(kind, 0):,} {kind}" for kind in KINDS)
            said = [f"{reason} ({n:,})" for reason, n in self.reasons.items()]
            said += ["an end that is the last character is moved behind it"] if self.n.get("corrected") else []
            every = counted(self.given + self.n.get("missing", 0), "retrieved item")
            yield f"places of {every}: {of}; {'; '.join(said)}{example}"
        if self.given and not self.n.get("named") and self.looks is not None:
            theirs, gold = self.looks
            yield (
                "no retrieved item comes from a document that a gold span names, so that no place meets one; do both "
                f"sides use the same names? outputs: `{theirs}`; ground truth: `{gold}`"
            )


def join_firsts(firsts: dict[tuple[str, int], str | None], others: Firsts) -> None:
    """Add how texts at places begin; None for a place with two beginnings."""
    for at, first in others.items():
        known = firsts.get(at, "")
        if known == "":
            if len(firsts) < _REMEMBERED:
                firsts[at] = first
        elif known is not None and known != first:
            is_same = first is not None and (known.startswith(first) or first.startswith(known))
            firsts[at] = max(known, first or "", key=len) if is_same else None
