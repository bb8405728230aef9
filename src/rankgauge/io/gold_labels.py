"""
Labels: each gold id, text and span of some samples as one value, and what two spellings of an id have in common.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, NamedTuple

from rankgauge.io.corpus import Corpus
from rankgauge.samples import Sample

__all__ = ["Kind", "Label", "labels_of", "plain_id", "question_of"]

Kind = Literal["relevant", "passages", "spans", "forbidden"]
"""The kinds of gold that name a place in a corpus."""

_QUESTIONS = ("question", "query", "text", "input")


class Label(NamedTuple):
    """One piece of ground truth that is somewhere in a corpus."""

    sample: str
    kind: Kind
    number: int  # which of its kind in the sample
    text: str | None = None  # None for one that is known by its place alone
    document: str | None = None  # None for one that is known by its text alone
    start: int = -1  # characters of the document; -1 for all of it
    end: int = -1  # exclusive

    def __str__(self) -> str:
        """Return what a reader calls it: the id, the place, or its first words."""
        if self.document is not None:
            return self.document if self.start < 0 else f"{self.document}[{self.start}:{self.end}]"
        text = " ".join((self.text or "").split())
        return f'"{text}"' if len(text) <= 50 else f'"{text[:47]}..."'


def labels_of(samples: Iterable[Sample], before: Corpus | None = None) -> Iterator[Label]:
    """Yield the labels of samples; *before* is the corpus that they were made on, which has the texts of ids."""
    for sample in samples:
        relevant = sample.expected.relevant or {}
        for number, (name, gain) in enumerate(relevant.items()):
            if gain > 0:
                yield Label(sample.id, "relevant", number, _text_before(before, name), name)
        for number, passage in enumerate(sample.expected.passages or ()):
            if (sample.expected.passage_grades or {}).get(passage, 1.0) <= 0:
                continue
            yield Label(sample.id, "passages", number, passage)
        for number, span in enumerate(sample.expected.spans or ()):
            document, start, end = span.place
            text = span.text
            if text is None and before is not None and document in before.number_of:
                text = before.texts[before.number_of[document]][start:end]
            yield Label(sample.id, "spans", number, text, document, start, end)
        for number, rule in enumerate(sample.expected.forbidden or ()):
            if rule.id is not None:
                yield Label(sample.id, "forbidden", number, _text_before(before, rule.id), rule.id)


def question_of(sample: Sample) -> str:
    """Return what a sample asks; empty if its input is something else than a question."""
    if isinstance(sample.input, str):
        return sample.input
    if not isinstance(sample.input, Mapping):
        return ""
    fields: Mapping[str, object] = sample.input
    return next((text for name in _QUESTIONS if isinstance(text := fields.get(name), str)), "")


def _text_before(before: Corpus | None, name: str) -> str | None:
    if before is None or name not in before.number_of:
        return None
    return before.wholes[before.number_of[name]] or None


def plain_id(name: str) -> str:
    """Return an id without what differs between spellings of it."""
    return " ".join(re.split(r"[\s_-]+", name.strip().casefold().removeprefix("./")))
