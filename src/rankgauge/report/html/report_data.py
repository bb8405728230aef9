"""
`ReportData`: everything that an HTML report shows, computed before it is laid out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from rankgauge.comparison.differences import Comparison
from rankgauge.explain.ranked_lists import ResultLists
from rankgauge.frozen import freeze_fields
from rankgauge.plugin.sections import View
from rankgauge.result import Result

__all__ = ["DepthCurve", "Losses", "ReportData", "Section"]


@dataclass(frozen=True, slots=True)
class DepthCurve:
    """
    A mean by cutoff.

    Attributes:
        name: What it is: recall, precision or unjudged.

        depths: The cutoffs, ascending.

        means: The mean at each cutoff, by run; None where there is none.
    """

    name: str
    depths: tuple[int, ...]
    means: Mapping[str, tuple[float | None, ...]]

    def __post_init__(self) -> None:
        freeze_fields(self)


class Losses(NamedTuple):
    """
    Why a run loses samples, by its first metric.

    Attributes:
        n: On how many samples it is worse.

        left: On how many of these a relevant result is not within the cutoff any more.

        k: The cutoff; None for none, or one a sample.
    """

    n: int
    left: int
    k: int | None


@dataclass(frozen=True, slots=True)
class Section:
    """
    A section that a plugin adds.

    Attributes:
        title: Its heading.

        summary: What it shows, in a sentence; may be empty.

        provider: Who made it.

        views: What stands in it, one below the other.
    """

    title: str
    summary: str
    provider: str
    views: Sequence[View]

    def __post_init__(self) -> None:
        freeze_fields(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportData:
    """
    What a report of one or several runs shows.

    Attributes:
        results: The results by run, the baseline first; of one dataset.

        comparison: The comparison of all others with the first; None for one run.

        dataset: What the dataset is called.

        order: The samples, first those that a reader will open first; their texts are kept where room is scarce.

        inputs: The question of each sample, by its id; empty where data cannot be read again.

        texts: Of documents that have none in the data, by id.

        lists: The ranked lists of each run, with what ranks add to scores; those of a run may be absent.

        curves: Means by depth; empty where data cannot be read again.

        unjudged: The share of unjudged results in the first ten, by run and sample; empty where it is not known.

        losses: Why the first run that is compared loses samples; None where that is not known.

        notes: What is left out, in sentences.

        sections: What plugins add.
    """

    results: Mapping[str, Result]
    comparison: Comparison | None
    dataset: str
    order: Sequence[str] = ()
    inputs: Mapping[str, str] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    lists: Mapping[str, ResultLists] = field(default_factory=dict)
    curves: Sequence[DepthCurve] = ()
    unjudged: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    losses: Losses | None = None
    notes: Sequence[str] = ()
    sections: Sequence[Section] = ()

    def __post_init__(self) -> None:
        freeze_fields(self)
