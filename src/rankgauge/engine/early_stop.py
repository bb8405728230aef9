"""
Runs that stop early: samples are called in random order until the gates that were named are decided.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rankgauge.errors import counted
from rankgauge.gates.asked import UNTIL, Decision, key_of
from rankgauge.gates.grammar import Bound, Gate
from rankgauge.gates.verdicts import samples_of
from rankgauge.planning.plan import Plan
from rankgauge.samples import Sample
from rankgauge.scoring.collect import Collector
from rankgauge.scoring.repeats import folded
from rankgauge.scoring.single import check_stream
from rankgauge.stats.sequential import BoundTest

__all__ = ["EarlyStop"]

_LEVEL = 0.05
"""The highest probability that any decision of a run is wrong; its gates share it."""

_AT_ONCE = 256


class EarlyStop:
    """
    Gates that are judged while a system is called with samples in random order.

    Scores are looked at in that order and not as calls end, because quick calls may have other scores than slow ones.

    Attributes:
        order: The samples by their places, in the order in which they are called.

        is_decided: Whether every gate is.
    """

    def __init__(self, gates: Sequence[Gate], plan: Plan, samples: Sequence[Sample], *, repeat: int, seed: int) -> None:
        """Raise `PlanError` for a metric that needs all outputs at once, `ResultError` for a gate without samples."""
        wanted = {gate.metric for gate in gates}
        self._plan = replace(plan, metrics=tuple(metric for metric in plan.metrics if metric.name in wanted))
        check_stream(self._plan, "until")
        self._samples, self._repeat, self._seed = samples, repeat, seed
        bits = np.random.Philox(key=seed).random_raw(len(samples))
        self.order: list[int] = np.argsort(bits, kind="stable").tolist()
        self.is_decided = False
        self._looked = 0
        ids, tags = [sample.id for sample in samples], [sample.tags for sample in samples]
        self._level = _LEVEL / len(gates)
        self._tests = [_Test(gate, samples_of(gate, ids, tags), self._plan, self._level) for gate in gates]
        collector = Collector(self._plan)
        collector.add([sample._replace(output=None) for sample in samples])
        self._sighting = collector.part().sighting  # which ground truth there is decides how metrics are judged

    def look(self, answered: Mapping[tuple[int, int], Sample]) -> bool:
        """Judge the gates by what was *answered*, by place and repeat, as far as the order goes; say if all are."""
        while not self.is_decided:
            places: list[int] = []
            for place in self.order[self._looked : self._looked + _AT_ONCE]:
                if any((place, repeat) not in answered for repeat in range(1, self._repeat + 1)):
                    break
                places.append(place)
            if not places:
                break
            self._add(places, [answered[place, repeat] for place in places for repeat in range(1, self._repeat + 1)])
        return self.is_decided

    def _add(self, places: Sequence[int], outputs: Sequence[Sample]) -> None:
        collector = Collector(self._plan, sighting=self._sighting)
        collector.add(outputs)
        scored = folded(collector.finish(require_gold=False, is_part=True), self._repeat)
        values = {metric.planned.name: metric.outcome.values.tolist() for metric in scored.metrics}
        for at, place in enumerate(places):
            self._looked += 1
            for test in self._tests:
                test.add(place, values[test.gate.metric][at])
            if self._looked < len(self._samples) and all(test.bound.verdict is not None for test in self._tests):
                self.is_decided = True
                return

    def entry(self, *, saved: int) -> dict[str, Any]:
        """Return the entry of a manifest; *saved* is how many calls were not made."""
        is_early = self.is_decided and saved > 0
        decisions = [(key_of(test.gate), test.decision(self._level, is_early=is_early)) for test in self._tests]
        gates = {name: decision._asdict() for name, decision in decisions}
        return {UNTIL: {"seed": self._seed, "samples": len(self._samples), "saved": saved, "gates": gates}}

    def note(self, *, saved: int, called: int) -> str:
        """Say what a run left out that stopped early; empty for one that did not."""
        if not (self.is_decided and saved):
            return ""
        gates = "its gate was" if len(self._tests) == 1 else "all its gates were"
        return (
            f"the run stopped early: {gates} decided after {self._looked:,} of "
            f"{counted(len(self._samples), 'sample')} in random order (seed {self._seed}), which saved "
            f"{counted(saved, 'call')}; means and intervals are partial, over the {counted(called, 'sample')} that "
            f"{'was' if called == 1 else 'were'} called"
        )


class _Test:
    """The test of one gate over the samples that it is for."""

    def __init__(self, gate: Gate, members: Collection[int], plan: Plan, level: float) -> None:
        self.gate, self._members = gate, frozenset(members)
        low, high = plan.column(gate.metric).metric.range
        rule = gate.rule
        if not isinstance(rule, Bound) or low is None or high is None:  # `flaw` has refused these
            raise TypeError(f"{gate} cannot end a run")
        self._is_maximum, self._low, self._width = rule.side == "maximum", low, high - low
        self.bound = BoundTest(len(self._members), self._unit(rule.number), level)
        self._is_off = False

    def _unit(self, value: float) -> float:
        """Return a value on a scale from 0, the worst one, to 1."""
        share = (value - self._low) / self._width
        return 1 - share if self._is_maximum else share

    def add(self, place: int, value: float) -> None:
        """Take the score of a sample; one outside of what the metric declares leaves the gate open."""
        unit = self._unit(value)
        self._is_off |= unit < 0 or unit > 1
        if place in self._members and not self._is_off:
            self.bound.add(unit)

    def decision(self, level: float, *, is_early: bool) -> Decision:
        """Return what was decided; if all samples were called, their mean decides."""
        if not is_early:
            return Decision("open", len(self._members), len(self._members), level)
        return Decision("pass" if self.bound.verdict else "fail", self.bound.seen, len(self._members), level)
