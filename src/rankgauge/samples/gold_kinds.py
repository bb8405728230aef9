"""
`GoldKind`: a kind of ground truth as a declaration, the built-in ones and those of plugins alike.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

from rankgauge.policy import Contract, Profile

if TYPE_CHECKING:
    from rankgauge.samples.sample_values import Expected

__all__ = ["GoldKind", "Kinds", "Read", "no_names"]

Read = Callable[[object, Mapping[str, Any], Contract], Mapping[str, Any]]
"""
Makes attributes of `Expected` of what is under the key of a kind, given those that were read before.

It raises an `InvalidError` for what it cannot read.
"""


class Kinds(Protocol):
    """The kinds of ground truth that plugins declare."""

    def find(self, name: object) -> GoldKind | None:
        """Return the kind of a name, None if no plugin declares it."""

    def names(self) -> Sequence[str]:
        """Return the names of all."""
        ...

    def absent(self) -> str:
        """Return which plugins may declare a kind that none does, for messages, and why these cannot be used."""
        ...


def no_names(_: Expected) -> Sequence[str]:
    """Return nothing."""
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldKind:
    """
    What judging, planning and reports have to know of one kind of ground truth.

    Attributes:
        name: Its key in `expected_output`, and what metrics and ``gold=`` call it.

        read: Reads it; None for a kind that is in the metadata.

        names: Returns what the items of a sample are called, in order of the gold rows.

        given: Returns whether a sample has any of it.

        apart: What tells retrieved items apart: their ids, texts, or places in documents.

        compares: Whether results are compared with texts or places, rather than compared by id.

        is_text: Whether a matcher looks for its items.

        texts: Returns the texts that a matcher looks for, as they were listed.

        grades: Returns the grade of each of some of these texts; None for 1 each.

        is_graded: Whether such grades are judgments; otherwise they only weigh the items.

        no_text: Why an item without a text fails its sample.

        matcher: The matcher of metrics that name none; None for judging without one.

        other_names: What else ``gold=`` may say for it, each with the matcher that is meant.

        together: Whether what several results hold of an item adds up: always, never, or where the comparer of the
            matcher says what they hold.

        is_evidence: Whether results hold parts of it, however they were cut, which `joint` is about.

        has_support: Whether outputs themselves say how far they hold its items, unless a matcher looks for them.

        has_units: Whether its ids can be rolled up.

        of_ranks: Whether results are judged one by one, rather than whether there is anything at all.

        of_some: Whether it is about some samples only, unanswerable ones among them; the others lack nothing.

        has_no_rank: Whether its items are at no single rank of the best ranking.

        takes_blocks: Whether its judge takes plain samples many at once.

        words: What is judged, for plans and explanations, with ``{judged}``, ``{matcher}`` and ``{together}``; empty
            for the usual.

        place: The field of a sample that holds it.

        beside: The kinds without which it cannot be read where each kind is read for itself, beside those of plugins.

        members: The kinds whose items it is made of, in order of preference, beside those of plugins that are evidence.

        is_read_last: Whether it is read after all others.

        has_keys: Whether its items may be objects, whose keys are worth a look.
    """

    name: str
    read: Read | None = None
    names: Callable[[Expected], Sequence[str]] = no_names
    apart: Literal["id", "text", "place"] = "text"
    compares: bool = True
    is_text: bool = False
    texts: Callable[[Expected], Sequence[str]] = no_names
    grades: Callable[[Expected, Sequence[str]], Sequence[float] | None] | None = None
    is_graded: bool = True
    no_text: str = ""
    matcher: str | Callable[[Profile], str] | None = None
    other_names: Mapping[str, str] | None = None
    together: Literal["never", "always", "by-matcher"] = "never"
    is_evidence: bool = False
    has_support: bool = False
    has_units: bool = False
    of_ranks: bool = True
    of_some: bool = False
    has_no_rank: bool = False
    takes_blocks: bool = False
    words: str = ""
    place: Literal["expected_output", "metadata"] = "expected_output"
    beside: tuple[str, ...] = ()
    members: tuple[str, ...] = ()
    is_read_last: bool = False
    has_keys: bool = False

    @property
    def has_key(self) -> bool:
        """Return whether it is under a key of `expected_output`."""
        return self.place == "expected_output"

    def fields_of(self, raw: object, before: Mapping[str, Any], contract: Contract) -> Mapping[str, Any]:
        """Return what is under its key as attributes of `Expected`; see `Read`."""
        return {} if self.read is None else self.read(raw, before, contract)

    def texts_called(self, names: Sequence[str], expected: Expected) -> list[str]:
        """Return the texts of some items by what these are called, which may be an id; the names themselves if not."""
        if not self.is_text:
            return list(names)
        called, texts = self.names(expected), dict.fromkeys(self.texts(expected))
        known = dict(zip(called, texts, strict=True)) if len(called) == len(texts) else {}
        return [known.get(name, name) for name in names]

    def usual_matcher(self, profile: Profile) -> str | None:
        """Return the matcher of metrics that name none, under a profile."""
        return self.matcher(profile) if callable(self.matcher) else self.matcher

    def adds_up(self, *, by_covers: bool) -> bool:
        """Return whether what several results hold adds up, with a matcher whose comparer says what they hold."""
        return self.together == "always" or (self.together == "by-matcher" and by_covers)

    @property
    def has_rows_alone(self) -> bool:
        """Return whether what results hold is all there is to it: its items have ranks, and no sample goes without."""
        return not (self.of_some or self.has_no_rank)

    def __repr__(self) -> str:
        return f"GoldKind({self.name!r})"
