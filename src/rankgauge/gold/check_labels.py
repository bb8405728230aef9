"""
Checking labels against a corpus: which still hold, and what else is wrong with them.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from difflib import SequenceMatcher

from rankgauge.errors import counted, listed
from rankgauge.gold.check_questions import check_questions
from rankgauge.gold.label_findings import GoldReport, LabelFinding, Status
from rankgauge.gold.labels import Label, OtherIds, TracedLabels, words_of
from rankgauge.gold.text_tracing import Near, Place
from rankgauge.io.corpus import Corpus
from rankgauge.matchers.spelling import Word, plain_words
from rankgauge.samples import Sample

__all__ = ["HALF", "check_labels"]

HALF = 0.5
"""From which cover on a text counts as edited, not as gone; half of it, as for `passage`."""

_WHOLE, _GAIN = 0.9, 0.1
"""How much of a text several documents cover together where it is split, and how much more than the best of them."""

_SHOWN = 3
_CONTEXT = 3
_LONGEST = 3000


def check_labels(
    samples: Sequence[Sample],
    corpus: Corpus,
    *,
    before: Corpus | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> GoldReport:
    """
    Check the labels of samples; *before* is the corpus on which they were made, where it is still there.

    *progress* is called with how many documents were looked through, and how many there are.
    """
    traced = TracedLabels(samples, corpus, before, progress)
    check, others = _Check(traced), check_questions(traced)
    labels: Counter[str] = Counter()
    invalid: Counter[str] = Counter()
    findings: list[LabelFinding] = []
    for sample in samples:
        for label in traced.of(sample.id):
            labels[label.kind] += 1
            if (finding := check.finding(label)) is not None:
                findings.append(finding)
                invalid[label.kind] += 1
        findings += others[sample.id]
    return GoldReport(
        samples=len(samples),
        documents=len(corpus.ids),
        labels=labels,
        valid={kind: number - invalid[kind] for kind, number in labels.items()},
        findings=tuple(findings),
    )


class _Check:
    """Judges labels one by one."""

    def __init__(self, labels: TracedLabels) -> None:
        self._labels, self._corpus = labels, labels.corpus
        self._ids = OtherIds(labels.corpus)

    def finding(self, label: Label) -> LabelFinding | None:
        """Return what is wrong with a label; None for one that is valid."""
        is_there = label.document in self._corpus.number_of
        if label.kind == "forbidden" and is_there:
            return None
        if label.text is None:
            if not is_there:
                return self._lost(label)
            text = self._corpus.texts[self._corpus.number_of[label.document or ""]]
            if label.end > len(text):
                return _made(label, "gone", f"the document has {len(text):,} characters")
            return None
        if label.start >= 0 and is_there and self._is_in_place(label):
            return self._copies(label)
        traced = self._labels.places(label.text)
        if traced.places:
            return self._at_places(label, traced.places)
        if any(row.cover >= HALF and self._is_literal(label.text, row.document) for row in traced.near):
            return None  # it begins or ends within a word
        return self._changed(label, traced.near) or self._lost(label)

    def _is_literal(self, text: str, document: int) -> bool:
        return " ".join(text.split()) in " ".join(self._corpus.wholes[document].split())

    def _is_in_place(self, label: Label) -> bool:
        text = self._corpus.texts[self._corpus.number_of[label.document or ""]]
        return words_of(text[label.start : label.end]) == words_of(label.text or "")

    def _at_places(self, label: Label, places: Sequence[Place]) -> LabelFinding | None:
        """Judge a label whose text stands somewhere word for word."""
        expected = self._labels.expected(label)
        within = [place for place in places if place.document in expected]
        documents = tuple(dict.fromkeys(self._corpus.ids[place.document] for place in places))
        first = (within or places)[0]
        document = self._corpus.ids[first.document]
        ordered = tuple(dict.fromkeys((document, *documents)))
        if label.kind == "passages" and (title := self._title(places, expected)):
            return _made(label, "other-title", f"it stands only as the title of {title}", (title,))
        if (expected or label.document is not None) and not within:
            elsewhere = "not in a labelled document" if label.kind == "passages" else "where it was not before"
            reason = f"it stands in {listed(list(documents), _SHOWN)}, {elsewhere}"
            return _made(label, "moved", reason, ordered, self._characters(first, label.text), 1.0)
        if label.kind == "spans":
            where = self._characters(first, label.text)
            reason = f"it stands at {document}[{where[0]}:{where[1]}] now"
            return _made(label, "moved", reason, ordered, where, 1.0)
        return self._copies(label)

    def _copies(self, label: Label) -> LabelFinding | None:
        """Return that a label stands several times, and which copies count wrong; None where it stands once."""
        places = self._labels.places(label.text).places
        documents = list(dict.fromkeys(self._corpus.ids[place.document] for place in places))
        if len(documents) < 2 or label.kind == "relevant":
            return None
        labelled = {self._corpus.ids[number] for number in self._labels.expected(label)}
        wrong = [name for name in documents if name not in labelled]
        if not wrong:
            return None
        reason = f"it stands in {len(documents):,} documents, and each counts by text: {listed(documents, _SHOWN)}"
        if labelled:
            reason = (
                f"it also stands in {listed(wrong, _SHOWN)}, which by id {'is' if len(wrong) == 1 else 'are'} wrong"
            )
        return _made(label, "ambiguous", reason, tuple(wrong), None, 1.0)

    def _changed(self, label: Label, near: Sequence[Near]) -> LabelFinding | None:
        """Return how a text changed that stands nowhere word for word; None where too little of it does."""
        if not near:
            return None
        expected = self._labels.expected(label)
        best = max(near, key=lambda row: (row.cover >= HALF and row.document in expected, row.cover))
        words = plain_words(label.text or "")
        together, parts = _together(near, [len(word.text) for word in words])
        if len(parts) > 1 and together >= _WHOLE and together - best.cover >= _GAIN:
            names = tuple(self._corpus.ids[row.document] for row in parts)
            return _made(label, "split", f"it is split over {listed(list(names), _SHOWN)}", names, None, best.cover)
        if best.cover < HALF:
            return None
        name = self._corpus.ids[best.document]
        place, difference = self._difference(label.text or "", best)
        reason = f"{name} has {best.cover:.0%} of it"
        return _made(label, "edited", reason, (name,), place, best.cover, difference)

    def _lost(self, label: Label) -> LabelFinding | None:
        """Return where an id may stand now that the corpus does not have; that a text is gone."""
        if label.document is None:
            near = self._labels.places(label.text).near
            most = f"no document has more than {near[0].cover:.0%} of it" if near else "no document has any of it"
            return _made(label, "gone", most, cover=near[0].cover if near else 0.0)
        if label.document in self._corpus.number_of:
            return _made(label, "gone", "the document has another text now", (label.document,), cover=0.0)
        if parts := self._ids.parts(label.document):
            status: Status = "split" if len(parts) > 1 else "moved"
            reason = f"the corpus has {counted(len(parts), 'part')} of it: {listed(parts, _SHOWN)}"
            return _made(label, status, reason, tuple(parts))
        other, why = self._ids.other(label.document)
        if not other and label.kind == "relevant":
            other, why = self._by_passages(label)
        if other:
            return _made(label, "moved", f"the corpus has {other}: {why}", (other,))
        if label.kind == "forbidden":
            return None  # what must not come back may well be gone
        return _made(label, "gone", "the corpus has no such document")

    def _by_passages(self, label: Label) -> tuple[str, str]:
        """Return the only document that has the passages of a sample and no label, if only one of its ids is lost."""
        own = self._labels.of(label.sample)
        lost = [name for name in self._labels.relevant(label.sample) if name not in self._corpus.number_of]
        texts = [other.text for other in own if other.kind == "passages" and other.text is not None]
        documents = {place.document for text in texts for place in self._labels.places(text).places}
        documents -= {self._corpus.number_of.get(name, -1) for name in self._labels.relevant(label.sample)}
        if len(lost) != 1 or len(documents) != 1:
            return "", ""
        return self._corpus.ids[documents.pop()], "the only document with the gold passage"

    def _title(self, places: Sequence[Place], expected: AbstractSet[int]) -> str:
        """Return the document whose title a text is and nothing else, unless it is labelled."""
        for place in places:
            title = self._corpus.titles[place.document]
            if place.document in expected or place.start or not title or len(words_of(title).split()) != place.stop:
                return ""
        return self._corpus.ids[places[0].document]

    def _characters(self, place: Place, text: str | None) -> tuple[int, int]:
        """Return a place in characters of a document's text, without its title, with what surrounds a label's words."""
        whole = self._corpus.wholes[place.document]
        words, own = _words_in(whole)[place.start : place.stop], plain_words(text or "")
        start, end = words[0].start, words[-1].end
        if text and own:
            head, tail = text[: own[0].start], text[own[-1].end :]
            start -= len(head) if whole[:start].endswith(head) else 0
            end += len(tail) if whole.startswith(tail, end) else 0
        shift = len(whole) - len(self._corpus.texts[place.document])
        return max(start - shift, 0), max(end - shift, 0)

    def _difference(self, text: str, near: Near) -> tuple[tuple[int, int], str]:
        """Return where an edited text stands in a document, and which words differ there."""
        was = [word.text for word in plain_words(text)]
        words = _words_in(self._corpus.wholes[near.document])
        (first, at, _), (last, place, length) = near.runs[0], near.runs[-1]
        start = max(at - first, 0)
        stop = min(place + length + len(was) - last - length, len(words))
        now = [word.text for word in words[start:stop]]
        return self._characters(Place(near.document, start, stop), text), _worded(was[:_LONGEST], now[:_LONGEST])


@functools.lru_cache(maxsize=4)
def _words_in(document: str) -> Sequence[Word]:
    """Return the words of a document; labels of one sample, or of a few, are often about the same long one."""
    return plain_words(document)


def _together(near: Sequence[Near], sizes: Sequence[int]) -> tuple[float, list[Near]]:
    """Return which share of a text documents have together, and those that add to it."""
    held: set[int] = set()
    parts = []
    total = max(sum(sizes), 1)
    for row in near:
        more = {word for at, _, length in row.runs for word in range(at, at + length)} - held
        if sum(sizes[word] for word in more) >= _GAIN * total:
            held |= more
            parts.append(row)
    return sum(sizes[word] for word in held) / total, parts


def _worded(was: Sequence[str], now: Sequence[str]) -> str:
    """Return how one list of words became the other, with some words around each change."""
    parts: list[str] = []
    for tag, a0, a1, b0, b1 in SequenceMatcher(None, was, now, autojunk=False).get_opcodes():
        same = was[a0:a1]
        if tag != "equal":
            parts.append(f"[{' '.join(was[a0:a1]) or '∅'} -> {' '.join(now[b0:b1]) or '∅'}]")
        elif len(same) <= 2 * _CONTEXT:
            parts += same
        else:
            parts += [*same[:_CONTEXT], "...", *same[-_CONTEXT:]]
    return " ".join(parts)


def _made(
    label: Label,
    status: Status,
    reason: str,
    documents: tuple[str, ...] = (),
    place: tuple[int, int] | None = None,
    cover: float | None = None,
    difference: str = "",
) -> LabelFinding:
    return LabelFinding(
        sample=label.sample,
        kind=label.kind,
        number=label.number,
        label=str(label),
        status=status,
        reason=reason,
        documents=documents,
        place=place,
        cover=cover,
        difference=difference,
    )
