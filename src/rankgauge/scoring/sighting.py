"""
Sightings: what some samples show that decides about all of them, or that their user should know.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rankgauge.judging import Target
from rankgauge.judging.text_doubts import Doubts
from rankgauge.planning.plan import Plan

__all__ = ["Sighting"]


@dataclass(frozen=True, slots=True)
class Sighting:
    """What was seen in some of the samples that decides about all of them."""

    targets: frozenset[Target] = frozenset()  # kinds of ground truth that a sample has
    met: bool = False  # whether a retrieved id is a relevant id
    looks: tuple[str, str] | None = None  # one retrieved id and one gold id, for messages
    refused: bool = False  # whether there is ground truth that cannot be used
    doubts: Mapping[Target, Doubts] = field(default_factory=dict)  # about the matchers of targets that are texts

    def __or__(self, other: Sighting) -> Sighting:
        doubts = dict(self.doubts)
        for target, further in other.doubts.items():
            doubts[target] = doubts.get(target, Doubts()) | further
        return Sighting(
            self.targets | other.targets,
            self.met or other.met,
            self.looks or other.looks,
            self.refused or other.refused,
            doubts,
        )

    def notes(self, plan: Plan) -> list[str]:
        """Say what is suspicious: an option without effect, ids that never meet, matchers that look the wrong way."""
        notes = [plan.profile.policy.idle] if plan.profile.policy.idle else []
        if not self.met and self.looks is not None:
            retrieved, gold = self.looks
            note = "no retrieved id is ever a relevant id, so every score by id is 0; do both sides use the same ids? "
            notes.append(f"{note}outputs: `{retrieved}`; ground truth: `{gold}`")
        used = {metric.target_of(self.targets) for metric in plan.metrics}
        for target, doubts in self.doubts.items():
            if target in used:
                notes += doubts.notes(target.matcher)
        return list(dict.fromkeys(notes))
