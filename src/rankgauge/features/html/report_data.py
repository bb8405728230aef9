"""
`ReportData`: everything that an HTML report shows, computed before it is laid out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from rankgauge.base.frozen import freeze_fields
from rankgauge.columns import Cutoff
from rankgauge.comparison.differences import Comparison, RunComparison
from rankgauge.features.funnel.funnel import Funnel
from rankgauge.features.html.ranked_lists import ResultLists
from rankgauge.gates.outcomes import GateReport
from rankgauge.plugin.sections import View
from rankgauge.result import Result

__all__ = ["DepthCurve", "Losses", "ReportData", "Section"]


@dataclass(frozen=True, slots=True)
class DepthCurve:
    """A mean by cutoff: *name* is recall, precision or unjudged, *depths* ascend, and a run may lack a mean."""

    name: str
    depths: tuple[int, ...]
    means: Mapping[str, tuple[float | None, ...]]

    def __post_init__(self) -> None:
        freeze_fields(self)


class Losses(NamedTuple):
    """Why a run loses samples, by one metric."""

    n: int  # on how many samples it is worse
    left: int  # on how many of these a relevant result is not within the cutoff any more
    k: Cutoff | None  # the cutoff, or one a sample; None for none


@dataclass(frozen=True, slots=True)
class Section:
    """A section that a plugin adds: its views are one below the other, and *summary* may be empty."""

    title: str
    summary: str
    provider: str
    views: Sequence[View]

    def __post_init__(self) -> None:
        freeze_fields(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportData:
    """What a report shows of one or several runs over one dataset; what needs data that cannot be read is empty."""

    results: Mapping[str, Result]  # by run, the baseline first
    comparison: Comparison | None  # of all others with the first; None for one run
    dataset: str
    order: Sequence[str] = ()  # samples that a reader opens first come first; their texts are kept if room is scarce
    inputs: Mapping[str, str] = field(default_factory=dict)  # questions by sample
    texts: Mapping[str, str] = field(default_factory=dict)  # of documents that have none in the data, by id
    lists: Mapping[str, ResultLists] = field(default_factory=dict)  # by run; those of a run may be absent
    curves: Sequence[DepthCurve] = ()
    unjudged: Mapping[str, Mapping[str, float]] = field(default_factory=dict)  # shares in the first ten, by run, sample
    losses: Mapping[tuple[str, str], Losses | None] = field(default_factory=dict)  # by run, metric; None if unreadable
    funnels: Mapping[str, Funnel] = field(default_factory=dict)  # by run, of those whose outputs tell their stages
    notes: Sequence[str] = ()
    sections: Sequence[Section] = ()
    definitions: Mapping[str, str] = field(default_factory=dict)  # one line by name of the column
    gates: GateReport | None = None

    def __post_init__(self) -> None:
        freeze_fields(self)

    @property
    def first(self) -> Result:
        """Return the first result, which is the baseline of a comparison."""
        return next(iter(self.results.values()))

    @property
    def pairs(self) -> Sequence[RunComparison]:
        """Return the comparisons with the first result."""
        if self.comparison is None:
            return ()
        return [pair for pair in self.comparison.comparisons if pair.baseline == self.comparison.baseline]

    @property
    def pair(self) -> RunComparison | None:
        """Return the comparison that headlines speak of first."""
        return next(iter(self.pairs), None)
