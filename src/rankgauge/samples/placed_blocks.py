"""
Placed blocks: samples of one form whose results are places in documents, with these as columns.

Each is a plain `Sample` for whatever does not read columns, made by the same rules (`read_samples`, `item_columns`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, repeat
from typing import Any, Literal

from rankgauge.samples.gold_spans import plain_spans
from rankgauge.samples.sample_outputs import ItemColumns, is_alone, item_columns, listed_items, parts_of
from rankgauge.samples.sample_records import SampleRules, read_without_outputs, with_outputs
from rankgauge.samples.sample_values import Sample
from rankgauge.samples.unread_keys import Unread

__all__ = ["BlockKind", "PlacedBlock", "read_placed"]

BlockKind = Literal["ids", "places"]
"""What is read as columns: plain ids (`Block`), or places in documents (`PlacedBlock`)."""

_SPANS = {"spans"}


@dataclass(frozen=True)
class PlacedBlock:
    """Some samples, in order, of which at least one has gold spans, and none anything else."""

    bare: Sequence[Sample]  # without their outputs
    counts: Sequence[int]  # how many items each retrieved
    items: ItemColumns  # those of all samples, rank 1 of the first sample first: a place, and no text

    @cached_property
    def ids(self) -> list[str]:
        """Return the id of each."""
        return [sample.id for sample in self.bare]

    @cached_property
    def samples(self) -> list[Sample]:
        """Return the samples with their outputs."""
        return with_outputs(self.bare, parts_of(self.items, self.counts))

    @property
    def unread(self) -> frozenset[Unread]:
        """Return the keys that nothing reads."""
        return frozenset(chain(self.items.unread, *(sample.unread for sample in self.bare if sample.unread)))


def read_placed(records: Sequence[Any], rules: SampleRules) -> PlacedBlock | None:
    """Return values decoded from JSON as a block; None if one of them is not of its form, or has a problem."""
    if set(map(type, records)) != {dict}:
        return None
    raws = list(map(dict.get, records, repeat("actual_output")))
    golds: list[Any] = list(map(dict.get, records, repeat("expected_output")))
    lists = list(map(listed_items, raws)) if all(map(is_alone, raws)) else [None]
    if None in lists or not all(type(gold) is dict and gold.keys() == _SPANS for gold in golds):
        return None
    items = item_columns(list(chain.from_iterable(filter(None, lists))), rules.contract)
    if items is None or items.places is None or items.texts is not None or items.metadata is not None:
        return None
    spans = plain_spans([gold["spans"] for gold in golds]) if rules.contract.on_bad_gold == "file" else None
    bare = read_without_outputs(records, rules, spans)
    if bare is None or not any(sample.expected.spans for sample in bare):
        return None
    if any(sample.expected.faults for sample in bare):
        return None
    return PlacedBlock(bare, [len(each or ()) for each in lists], items)
