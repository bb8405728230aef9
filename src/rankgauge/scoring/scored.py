"""
What was scored: columns with their outcomes, and how those of several batches become one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from rankgauge.columns import Scores, Words
from rankgauge.errors import counted, listed
from rankgauge.judging import Leak, Target
from rankgauge.planning.cutoffs import CutSource
from rankgauge.planning.resolve import PlannedMetric
from rankgauge.policy import Policy
from rankgauge.scoring.score import FAILED, MISSING, Outcome, all_scored, lacks_worst

__all__ = ["Fitted", "SampleIds", "Scored", "ScoredMetric", "add_counts", "join_outcomes", "widest", "without_worst"]

SampleIds = Sequence[str] | Callable[[], Sequence[str]]
"""Ids, or what returns them, for a run, if they are seldom asked for."""


class Fitted(NamedTuple):
    """How the rankings of all samples with an output fit into a budget."""

    ranks: dict[int, int]  # of how many samples so many ranks fit
    ended: dict[int, int]  # how many rankings ended before the budget, by after how many tokens or characters
    short: int  # in how many of these another result of their average length would have fitted


class ScoredMetric(NamedTuple):
    """One column with its scores."""

    planned: PlannedMetric
    target: Target
    outcome: Outcome
    k: tuple[int, int] | None  # lowest and highest cutoff in use
    k_sources: dict[CutSource, int]  # how many samples took their cutoff from where
    params: dict[str, float]  # further ones, inferred from the data
    details: list[dict[str, Any]] | None  # facts behind each score, when asked for
    top: float  # the highest grade of the ground truth, if the metric has a scale of its own; else 0
    fitted: Fitted | None = None  # how the rankings fit into the budget, if there is one
    leaks: Sequence[Leak] = ()  # what counts of what was retrieved and is forbidden

    @property
    def note(self) -> str:
        """Return that grades lie above the metric's scale; empty if none does."""
        limit, name = self.planned.clips_above, self.planned.name
        if limit is None or self.top <= limit:
            return ""
        return f"{name}: there are grades up to {self.top:g}; those above max_grade={limit:g} count as {limit:g}"


@dataclass(frozen=True, slots=True)
class Scored:
    """The scores of a run, or of samples."""

    ids: SampleIds  # in order
    tags: list[tuple[str, ...]]  # the cohorts of each
    metrics: list[ScoredMetric]
    notes: list[str]  # what the user should know about the data
    gold_keys: Words  # a hash of what each sample was judged against; empty for a run, whose judgments have them

    @property
    def sample_ids(self) -> Sequence[str]:
        """Return the samples, in order."""
        return self.ids() if callable(self.ids) else self.ids

    def failures(self, policy: Policy) -> Iterator[str]:
        """Yield for each metric that failed for queries how many, what they count as, and why the first did."""
        for metric in self.metrics:
            if not metric.outcome.reasons:
                continue
            if said := self._flawed(metric.outcome, FAILED, policy.failed_output, ("query", "queries")):
                yield f"{metric.planned.name}: {said}"

    def flaws(self, policy: Policy) -> Iterator[str]:
        """Yield how many samples are missing, and how many failed, as `failures` does of queries."""
        for code, rule in ((MISSING, policy.missing_output), (FAILED, policy.failed_output)):
            names: dict[str, list[str]] = {}
            for metric in self.metrics:
                if said := self._flawed(metric.outcome, code, rule, ("sample", "samples")):
                    names.setdefault(said, []).append(metric.planned.name)
            for said, of in names.items():
                yield said if len(of) == len(self.metrics) else f"{listed(of)}: {said}"

    def incomplete(self, policy: Policy) -> Iterator[str]:
        """Yield which means leave out missing and failed samples that nothing is bad enough for, and how many."""
        rules = {MISSING: policy.missing_output, FAILED: policy.failed_output}
        for metric in self.metrics:
            if metric.outcome.reasons and lacks_worst(metric.planned.metric, metric.target.gold):
                status = metric.outcome.status
                n = sum(int(np.count_nonzero(status == code)) for code, rule in rules.items() if rule == "zero")
                if n:
                    yield f"{metric.planned.name}: {without_worst(n, len(status))}"

    def _flawed(self, outcome: Outcome, code: int, rule: str, noun: tuple[str, str]) -> str:
        """Return how many have a status, what they count as, and why the first has it; empty if none has."""
        if not outcome.reasons:
            return ""
        flawed = np.flatnonzero(outcome.status == code)
        if not len(flawed):
            return ""
        first = min(flawed.tolist(), key=lambda place: self.sample_ids[place])  # the same in any order
        of, is_one = counted(len(outcome.status), *noun), len(flawed) == 1
        became = "failed" if code == FAILED else f"{'is' if is_one else 'are'} missing"
        how = "counted as the worst score" if rule == "zero" else "left out of the mean"
        why = f"{self.sample_ids[first]}: {outcome.reasons[first]}"
        return f"{len(flawed):,} of {of} {became}, {how}; the first is {why}"


def without_worst(n: int, of: int) -> str:
    """Say that a mean is incomplete, as *n* missing or failed samples count nowhere."""
    are = "is" if n == 1 else "are"
    return (
        f"the value is incomplete: {n:,} of {counted(of, 'sample')} {are} missing or failed, and there is no worst "
        "value that such a sample could count as"
    )


def widest(spreads: Iterable[tuple[int, ...]]) -> tuple[int, int] | None:
    """Return the lowest and the highest of some cutoffs; None if there is none."""
    cutoffs = list(chain.from_iterable(spreads))
    return (min(cutoffs), max(cutoffs)) if cutoffs else None


def add_counts(counts: Iterable[Mapping[CutSource, int]]) -> dict[CutSource, int]:
    """Return how many samples took their cutoff from where, in all parts."""
    total: Counter[CutSource] = Counter()
    for count in counts:
        total.update(count)
    return dict(total)


def join_outcomes(outcomes: Sequence[Outcome], values: Scores | None = None) -> Outcome:
    """Return the outcomes of several batches as one; their *values*, if these are known."""
    if len(outcomes) == 1:
        return outcomes[0]
    reasons: dict[int, str] = {}
    start = 0
    for outcome in outcomes:
        reasons |= {start + place: reason for place, reason in outcome.reasons.items()}
        start += len(outcome.status)
    if values is None:
        values = np.concatenate([np.empty(0), *(outcome.values for outcome in outcomes)])
    status = all_scored(start)
    if any(outcome.status is not all_scored(len(outcome.status)) for outcome in outcomes):
        status = np.concatenate([np.empty(0, np.uint8), *(outcome.status for outcome in outcomes)])
    rankings = tuple(chain.from_iterable(outcome.rankings or () for outcome in outcomes))
    shares = [outcome.denominators for outcome in outcomes if outcome.denominators is not None]
    return Outcome(values, status, reasons, rankings or None, denominators=np.concatenate(shares) if shares else None)
