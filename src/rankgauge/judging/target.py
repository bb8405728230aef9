"""
Targets: what is judged against what, and how.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from rankgauge.judging.outputs import Identity
from rankgauge.judging.units import unit_rule
from rankgauge.policy import Profile
from rankgauge.samples import KINDS, Expected, GoldKind, Output, Sample
from rankgauge.samples.built_in_kinds import sets_of

if TYPE_CHECKING:
    from rankgauge.plugin.gold_kinds import DeclaredGold

__all__ = ["BY_ID", "Target"]


class Target(NamedTuple):
    """What is judged against what, and how; metrics with equal targets share one judging."""

    gold: str  # the kind of ground truth
    # whether the retrieved items are judged, or the generated answer
    judges: Literal["retrieved", "answer"] = "retrieved"
    # the matcher as written, for gold that is text; None for a join of ids, and for nuggets whose support the
    # output gives
    matcher: str | None = None
    unit: str | None = None  # what ids are rolled up to first; None for judging them as they are
    joint: bool = False  # whether what several results hold of a gold text or span adds up
    stage: str | None = None  # the stage of the pipeline whose ranking is judged; None for the whole output
    declared: DeclaredGold | None = None  # the kind of ground truth, or of what is in sets, if a plugin declares it
    members: str = ""  # where sets are judged, the kind of their items unless these are relevant ids

    @property
    def kind(self) -> GoldKind:
        """Return the declaration of the kind of ground truth."""
        return sets_of(self.members, self.declared) if self.members else self.declared or KINDS[self.gold]

    @property
    def of_items(self) -> Target:
        """Return what single items are judged against: those of the sets, where sets are judged."""
        return self._replace(gold=self.members or "relevant", members="") if self.gold == "sets" else self

    @property
    def wanted(self) -> str:
        """Return what the ground truth has to have, for messages."""
        return f"{self.gold} of {self.members}" if self.members else self.gold

    def texts_called(self, names: Sequence[str], expected: Expected) -> list[str]:
        """Return the texts that a matcher looks for of some gold items; their names if none does."""
        sets = {str(each): each for each in expected.sets_of(self.members)} if self.members else {}
        items = [item for name in names for item in (sets[name].ids() if name in sets else (name,))]
        return self.of_items.kind.texts_called(items, expected)

    @property
    def identity(self) -> Identity:
        """Return what tells retrieved items apart."""
        return self.kind.apart

    @property
    def by_text(self) -> bool:
        """Return whether results are compared with texts or places, rather than compared by id."""
        return self.kind.compares

    @property
    def of_ranks(self) -> bool:
        """Return whether results are judged one by one, rather than whether there is anything at all."""
        return self.kind.of_ranks

    def staged(self, sample: Sample) -> Sample:
        """Return a sample with the output that is judged: that of the stage."""
        if self.stage is None or not isinstance(sample.output, Output):
            return sample
        return sample._replace(output=sample.output.at(self.stage))

    def rolled(self, sample: Sample) -> Sample:
        """Return a sample with the ids that are judged."""
        return sample if self.unit is None else unit_rule(self.unit).sample(sample)

    def profile(self, profile: Profile) -> Profile:
        """Return the profile under which it is judged."""
        return profile if self.unit is None else unit_rule(self.unit).profile(profile)

    @property
    def key(self) -> str:
        """Return the key of an output that holds what is judged."""
        return "support" if self.by_support else self.judges

    @property
    def by_support(self) -> bool:
        """Return whether outputs themselves say how far they hold what is wanted."""
        return self.kind.has_support and self.matcher is None

    def __str__(self) -> str:
        return self._judged if self.stage is None else f"{self._judged}, at stage {self.stage}"

    @property
    def _judged(self) -> str:
        together = ", several results together" if self.joint else ""
        judged = "" if self.judges == "retrieved" else " of the generated answer"
        if words := self.kind.words:
            return words.format(judged=judged, matcher=self.matcher, together=together)
        joined = "the support that the output gives" if self.kind.has_support else "id"
        joined += "" if self.unit is None else f", unit {self.unit}"
        by = joined if self.matcher is None else f"text, matcher {self.matcher}{together}"
        return f"{self.gold}{judged} by {by}"


BY_ID = Target("relevant")
"""What ranked ids are judged against."""
