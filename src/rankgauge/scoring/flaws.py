"""
Statuses of scores, what is wrong with a sample or query for all metrics, and what with a metric for all samples.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankgauge.judging import Target
from rankgauge.samples import OF_SOME, Fault, Sample

__all__ = [
    "FAILED",
    "MISSING",
    "NO_VALUE",
    "SCORED",
    "STATUSES",
    "UNDEFINED",
    "Flaw",
    "Tried",
    "flaws",
    "metric_fault",
    "missing_queries",
    "nothing_to_compare",
]

Status = Literal["scored", "undefined", "missing", "failed"]
STATUSES: tuple[Status, ...] = ("scored", "undefined", "missing", "failed")
SCORED, UNDEFINED, MISSING, FAILED = range(4)


class Flaw(NamedTuple):
    """Why a sample has no score of any metric: its status code and the reason."""

    status: int
    reason: str
    of_output: Flaw | None = None  # of an unanswerable sample, what is wrong with its output, if anything

    def seen_by(self, gold: str) -> Flaw | None:
        """Return the flaw that metrics of a kind of gold see: those of `OF_SOME` score unanswerable samples, too."""
        return self.of_output if self.status == UNDEFINED and gold in OF_SOME else self


def flaws(samples: Sequence[Sample], *, start: int = 0) -> dict[int, Flaw]:
    """Return which samples cannot be scored by any metric, and why; *start* is the place of the first."""
    flawed: dict[int, Flaw] = {}
    for place, sample in enumerate(samples, start):
        flaw = None
        if sample.output is None:
            flaw = Flaw(MISSING, "there is no output for this sample")
        elif isinstance(sample.output, Fault):
            flaw = Flaw(FAILED, sample.output.reason)
        if not sample.answerable:
            flaw = Flaw(UNDEFINED, "the sample is declared unanswerable (metadata.answerable: false)", flaw)
        if flaw is not None:
            flawed[place] = flaw
    return flawed


def missing_queries(places: Iterable[int]) -> dict[int, Flaw]:
    """Return that a run lacks some queries, as their flaw."""
    return dict.fromkeys(places, Flaw(MISSING, "the run has no results for this query"))


NO_VALUE = "the metric has no value for this ranking"
"""Why a sample is undefined whose ground truth allows a score."""

_OF_CODE = re.compile(
    r"(?:metric|matcher|tokenizer|policy filter|gold kind) .+? \(by .+\) (?:failed: |returned )", re.DOTALL
)
"""How the reason of a sample begins for which somebody's code failed, of whatever a metric depends on."""


def metric_fault(name: str, provider: object, error: object) -> str:
    """Return why a sample has no score of a metric whose own code failed."""
    return f"metric {name!r} (by {provider}) failed: {error}"


@dataclass(frozen=True, slots=True)
class Tried:
    """
    What became of a metric on some samples, as far as it tells whether the metric can score any.

    Its own code may fail, or that of a matcher, tokenizer, filter or kind of ground truth that it depends on.
    """

    has_worked: bool = False  # whether it scored a sample, or said that it has no value
    n_failed: int = 0  # for how many samples code failed
    first: str = ""  # the first reason of these

    @classmethod
    def of(cls, name: str, status: NDArray[np.uint8], reasons: Mapping[int, str]) -> Tried:
        """Return what the outcome of a column says."""
        if not reasons or not status.all() or NO_VALUE in reasons.values():
            return cls(has_worked=bool(len(status)))
        own = [reason for reason in reasons.values() if _OF_CODE.match(reason)]
        first = own[0] if own else ""
        return cls(n_failed=len(own), first=first if first.startswith("metric ") else f"metric {name!r}: {first}")

    def __or__(self, other: Tried) -> Tried:
        first = self.first if self.n_failed else other.first
        return Tried(self.has_worked or other.has_worked, self.n_failed + other.n_failed, first)

    @property
    def reason(self) -> str:
        """Return why the metric scores nothing: what failed first if code failed for all of two samples or more."""
        return self.first if not self.has_worked and self.n_failed > 1 else ""


def nothing_to_compare(target: Target, rank: int) -> str:
    """Return why the item at a rank cannot be compared with ground truth: it has no id, text or place."""
    if target.identity == "id":
        what = "an id" if target.unit is None else f"an id, of which unit={target.unit} makes another,"
        hint = "give each its id, or judge texts: gold texts in `expected_output.passages`, and gold=passages"
        return f"judging by id needs {what} for every retrieved item; the item at rank {rank} has none ({hint})"
    if target.identity == "place":
        needed = "'document', 'start' and 'end' of every retrieved item, or its 'text' and that of every gold span"
        return f"judging by spans needs {needed}; the item at rank {rank} has neither"
    texts = "if yours are texts: --field retrieved=FIELD:text, or {text: ...} for each"
    ids = "if they are ids: ids in `expected_output.relevant`, or a text beside each"
    hint = f"a bare string is an id; {texts}; {ids}"
    return f"judging by text needs a text for every retrieved item; the item at rank {rank} has none ({hint})"
