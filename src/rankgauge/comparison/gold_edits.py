"""
Edits of gold documents between two results: what tells a change of the corpus from a change of the system.

A result may carry a hash of the text of each document that its ground truth names (``run --keep-hashes CORPUS``). Where
both results have hashes, a document whose hashes differ was edited, added or deleted in between.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from rankgauge.base.frozen import freeze_fields
from rankgauge.errors import counted, listed
from rankgauge.result.meaning import GOLD_DOCUMENTS

__all__ = ["NO_EDITS", "GoldEdits", "gold_edits"]

_SHOWN = 3


@dataclass(frozen=True, slots=True)
class GoldEdits:
    """
    The gold documents whose text is another one in the second of two results.

    Attributes:
        of_samples: The changed documents of each sample that has any.
    """

    of_samples: Mapping[str, tuple[str, ...]]

    def __post_init__(self) -> None:
        freeze_fields(self)

    def __bool__(self) -> bool:
        return bool(self.of_samples)

    def __str__(self) -> str:
        """Return how many there are, and the first: ``12 gold documents of 9 samples changed (d7, d9 and 10 more)``."""
        documents, samples = self.documents, counted(len(self.of_samples), "sample")
        return f"{counted(len(documents), 'gold document')} of {samples} changed ({listed(documents, _SHOWN)})"

    @property
    def documents(self) -> tuple[str, ...]:
        """Return each changed document once."""
        return tuple(dict.fromkeys(name for names in self.of_samples.values() for name in names))

    def among(self, sample_ids: Iterable[str]) -> GoldEdits:
        """Return those of some samples."""
        return GoldEdits({name: self.of_samples[name] for name in sample_ids if name in self.of_samples})

    def to_dict(self) -> dict[str, Any]:
        """Return them as JSON values: documents, samples, and which documents belong to which sample."""
        pairs = [[name, list(documents)] for name, documents in self.of_samples.items()]
        return {"documents": list(self.documents), "samples": list(self.of_samples), "of_samples": pairs}


NO_EDITS = GoldEdits({})


def gold_edits(
    baseline: Mapping[str, Any], other: Mapping[str, Any], shared: Iterable[str], names: tuple[str, str]
) -> tuple[GoldEdits, str]:
    """
    Return what changed for the samples that two results *share*, by their manifests, and a note if that is not known.

    If neither result has hashes there is nothing to note.
    """
    sides = [manifest.get(GOLD_DOCUMENTS) for manifest in (baseline, other)]
    first, second = sides
    if first is None or second is None:
        lacking = [name for name, side in zip(names, sides, strict=True) if side is None]
        unknown = f"whether gold documents changed is not known: {lacking[0]} has no hashes of them (--keep-hashes)"
        return NO_EDITS, "" if len(lacking) == 2 else unknown
    versions = [side["normalization"] for side in (first, second)]
    if versions[0] != versions[1]:
        which = " and ".join(f"{name} by {version!r}" for name, version in zip(names, versions, strict=True))
        return NO_EDITS, f"whether gold documents changed is not known: texts were normalized otherwise, {which}"
    before, now = first["hashes"], second["hashes"]
    changed = {name for name in before if name in now and before[name] != now[name]}
    edits = {}
    for sample in shared:
        own = tuple(name for name in first["samples"].get(sample, ()) if name in changed)
        if own:
            edits[sample] = own
    return GoldEdits(edits), ""
