"""
What was found of labels, as values and laid out for a terminal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from rankgauge.base.frozen import freeze_fields
from rankgauge.base.tables import Line, listing, ruled
from rankgauge.errors import counted

__all__ = ["SCHEMA_VERSION", "GoldReport", "LabelFinding", "Status", "finding_lines"]


SCHEMA_VERSION = "rankgauge.gold.v1"

Status = Literal[
    "moved",
    "edited",
    "split",
    "ambiguous",
    "gone",
    "twin",
    "sibling",
    "question-in-corpus",
    "answer-in-corpus",
    "answer-not-in-gold",
    "same-question",
    "other-title",
]
"""What is wrong: the first five are of one label each, the others are of a sample."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelFinding:
    """
    One thing that is wrong with the labels of one sample.

    Attributes:
        sample: The id of the sample.

        kind: What it is about: `relevant`, `passages`, `spans`, `forbidden`, `answer` or `input`.

        number: Which of its kind, from 0.

        label: The label as a reader calls it.

        status: What is wrong.

        reason: The same in a sentence.

        documents: The documents that it is about, the most likely first.

        place: Where the label is now, in characters of the first of the documents; None if that is not known.

        cover: Which share of the label's text that document has; None if there is no text.

        difference: How the text differs there: ``[was -> is]`` between words that are the same.

        is_elsewhere: Whether an edited text is in another document than the one that its label names.
    """

    sample: str
    kind: str
    number: int
    label: str
    status: Status
    reason: str
    documents: tuple[str, ...] = ()
    place: tuple[int, int] | None = None
    cover: float | None = None
    difference: str = ""
    is_elsewhere: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldReport:
    """
    Whether the labels of a data set hold for a corpus.

    Attributes:
        samples: How many samples there are.

        documents: How many documents the corpus has.

        labels: How many gold ids, texts and spans there are, by kind.

        valid: How many of them hold, by kind.

        findings: What is wrong, in the order of the samples.

        answers: How many samples have an answer, which has to occur in their gold.
    """

    samples: int
    documents: int
    labels: Mapping[str, int]
    valid: Mapping[str, int]
    findings: tuple[LabelFinding, ...]
    answers: int = 0

    def __post_init__(self) -> None:
        freeze_fields(self)

    @property
    def is_clean(self) -> bool:
        """Return whether nothing is wrong; siblings are in the corpus, and no fault of a label."""
        return all(finding.status == "sibling" for finding in self.findings)

    def counts(self) -> dict[str, int]:
        """Return how many findings of each status there are, the most frequent first."""
        return dict(Counter(finding.status for finding in self.findings).most_common())

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values; keys are only ever added to this schema."""
        return {
            "schema_version": SCHEMA_VERSION,
            "ok": self.is_clean,
            "samples": self.samples,
            "documents": self.documents,
            "labels": dict(self.labels),
            "valid": dict(self.valid),
            "answers": self.answers,
            "counts": self.counts(),
            "findings": [finding.to_dict() for finding in self.findings],
        }


_ONLY_IDS = (
    "every id is a document of the corpus; whether it answers its question was not looked at, because no sample has an "
    "answer: `rankgauge compare` looks at what systems retrieve"
)
_OF_LABELS = ("moved", "edited", "split", "ambiguous", "gone")


def finding_lines(report: GoldReport, *, most: int | None, width: int | None) -> Iterator[Line]:
    """Yield how many labels hold, and the first findings; *most* is how many, None for all."""
    title = f"labels of {counted(report.samples, 'sample')} against {counted(report.documents, 'document')}"
    counts: Counter[tuple[str, str]] = Counter((finding.kind, finding.status) for finding in report.findings)
    rows = [
        [kind, f"{number:,}", f"{report.valid[kind]:,}", *(f"{counts[kind, status]:,}" for status in _OF_LABELS)]
        for kind, number in report.labels.items()
    ]
    yield from ruled(title, ["gold", "labels", "valid", *_OF_LABELS], rows, width=width)
    others = {status: number for status, number in report.counts().items() if status not in _OF_LABELS}
    if others:
        yield Line(f"also: {', '.join(f'{number:,} {status}' for status, number in others.items())}\n")
    if not report.findings:
        only_ids = report.labels.keys() == {"relevant"} and not report.answers
        yield Line(_ONLY_IDS if only_ids else "every label holds")
        return
    shown = report.findings[:most]
    yield from listing(["sample", "label", "status", "what"], [_row(finding) for finding in shown], width=width)
    if more := len(report.findings) - len(shown):
        yield Line(f"\nand {more:,} more; --limit 0 shows all, --json has them")


def _row(finding: LabelFinding) -> list[str]:
    what = f"{finding.reason}\n{finding.difference}" if finding.difference else finding.reason
    return [finding.sample, f"{finding.kind}: {finding.label}", finding.status, what]
