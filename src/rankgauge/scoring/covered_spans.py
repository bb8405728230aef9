"""
Covered spans: which part of a gold text each result holds, for people.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rankgauge.columns.parts import united
from rankgauge.judging import Ranking
from rankgauge.judging.by_span import Held, held_by
from rankgauge.samples import Place, Sample, Span

__all__ = ["BEGIN", "END", "CoveredSpan", "covered_spans"]

BEGIN, END = "\u27e6", "\u27e7"
"""What is around the covered parts of a text."""

_UNKNOWN = "\u2026"


@dataclass(frozen=True, slots=True)
class CoveredSpan:
    """
    A gold span of which a result holds a part.

    Attributes:
        gold: What the span is called: document, start and end.

        share: Which share of it the result covers.

        parts: The covered characters, counted in the document, end exclusive.

        text: The text of the span, with \u27e6 and \u27e7 around what is covered; if the ground truth has no text,
            what the result has of it. None if neither has one.

        matched: A stretch of the result's text that is covered, if its offsets say so.
    """

    gold: str
    share: float
    parts: tuple[tuple[int, int], ...]
    text: str | None
    matched: str | None = None


def covered_spans(
    samples: Sequence[Sample], rankings: Sequence[Ranking | None]
) -> Iterator[tuple[tuple[CoveredSpan, ...], ...]]:
    """Yield for each sample what each of its results covers of its gold spans."""
    for sample, held in zip(samples, held_by(samples, rankings), strict=True):
        spans = sample.expected.spans or ()
        yield tuple(
            tuple(_covered(spans[number], parts, place, text) for number, parts in of_result.items())
            for of_result, place, text in held
        )


def _covered(span: Span, parts: Held, place: Place | None, text: str | None) -> CoveredSpan:
    begin, size = span.place.start, span.place.end - span.place.start
    parts = united(list(parts))
    share = sum(end - start for start, end in parts) / size
    # The characters of a result are those of its place, unless its text was edited.
    offset = place.start if place is not None and text and len(text) == place.end - place.start else None
    # A result whose place is known covers one stretch.
    matched = None if offset is None or text is None else text[parts[0][0] - offset : parts[0][1] - offset]
    shown = None
    if span.text is not None:
        scale, marked, at = len(span.text) / size, [], 0
        for start, end in parts:
            first, last = (round((edge - begin) * scale) for edge in (start, end))
            marked += [span.text[at:first], BEGIN, span.text[first:last], END]
            at = last
        shown = "".join([*marked, span.text[at:]])
    elif matched is not None:
        before = _UNKNOWN if parts[0][0] > begin else ""
        shown = f"{before}{BEGIN}{matched}{END}{_UNKNOWN if parts[-1][1] < span.place.end else ''}"
    return CoveredSpan(str(span.place), share, tuple(parts), shown, matched)
