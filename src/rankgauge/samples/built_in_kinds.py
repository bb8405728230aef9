"""
The built-in kinds of ground truth, by name, and what follows from their declarations.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from types import MappingProxyType

from rankgauge.samples.forbidden_items import FORBIDDEN
from rankgauge.samples.gold_ids import RELEVANT
from rankgauge.samples.gold_kinds import GoldKind
from rankgauge.samples.gold_nuggets import NUGGETS
from rankgauge.samples.gold_sets import SETS_OF_ITEMS
from rankgauge.samples.gold_spans import SPANS
from rankgauge.samples.gold_texts import ANSWER, KEYWORDS, PASSAGES
from rankgauge.samples.sample_values import Expected

__all__ = ["FIELDS", "GOLD_KINDS", "KINDS", "OF_SOME", "TEXT_KINDS", "kind_called", "sets_of", "with_members"]


def _names_by_time(_: Expected) -> Sequence[str]:
    return ["what was not valid when asked", "what was valid when asked"]


ANSWERABLE = GoldKind(
    name="answerable",
    apart="id",
    compares=False,
    of_ranks=False,
    of_some=True,
    words="whether anything was answered, against metadata.answerable",
    place="metadata",
)
ASKED_AT = GoldKind(
    name="asked_at",
    names=_names_by_time,
    apart="id",
    compares=False,
    of_some=True,
    words="validity at metadata.asked_at",
    place="metadata",
)

KINDS: Mapping[str, GoldKind] = MappingProxyType(
    {
        kind.name: kind
        for kind in (
            *(RELEVANT, PASSAGES, ANSWER, KEYWORDS, NUGGETS, SPANS, FORBIDDEN, SETS_OF_ITEMS),
            *(ANSWERABLE, ASKED_AT),
        )
    }
)
"""The kinds of ground truth that a metric can be judged against, by name; plugins declare further ones."""


def kind_called(name: str) -> GoldKind:
    """Return a built-in kind, or what may hold of one that a plugin declares, as long as that is not looked up."""
    return KINDS.get(name) or GoldKind(name=name, is_text=True, together="by-matcher")


def with_members(kinds: Iterable[str]) -> Iterator[GoldKind]:
    """Yield kinds by their names, those of sets by the kinds of their items."""
    for kind in map(kind_called, kinds):
        yield from map(kind_called, kind.members or (kind.name,))


@lru_cache(maxsize=64)
def sets_of(name: str, declared: GoldKind | None = None) -> GoldKind:
    """Return what has to be known of sets whose items are of one kind, which a plugin may have declared."""
    kind = declared or KINDS[name]
    words = kind.words or f"{kind.name}{{judged}} by text, matcher {{matcher}}{{together}}"
    return replace(
        SETS_OF_ITEMS, names=_NamesOfSets(kind.name), apart=kind.apart, compares=kind.compares, words=f"sets of {words}"
    )


@dataclass(frozen=True, slots=True)
class _NamesOfSets:
    """Returns what the sets of a sample are called whose items are of one kind."""

    kind: str

    def __call__(self, expected: Expected) -> Sequence[str]:
        return list(map(str, expected.sets_of(self.kind)))


GOLD_KINDS = tuple(name for name, kind in KINDS.items() if kind.has_key)
"""Those that are in `expected_output`."""

TEXT_KINDS = tuple(name for name, kind in KINDS.items() if kind.is_text)
"""The kinds that a matcher looks for."""

OF_SOME = frozenset(name for name, kind in KINDS.items() if kind.of_some)
"""The kinds that are about some samples only, unanswerable ones among them; the others lack nothing."""

FIELDS = (
    *("id", "input", "expected_output", "actual_output", "metadata"),
    *(f"expected_output.{kind}" for kind in GOLD_KINDS),
    *("actual_output.retrieved", "actual_output.answer", "actual_output.support"),
    *("actual_output.stages", "actual_output.searches"),
    *("actual_output.seconds", "actual_output.bytes", "actual_output.cost"),
    *("metadata.k", "metadata.tags", "metadata.answerable", "metadata.asked_at"),
)
"""What `fields` may map a name of the user's data onto."""
