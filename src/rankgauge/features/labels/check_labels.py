"""
Checking labels against a corpus: which still hold, and what else is wrong with them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from itertools import takewhile

import numpy as np

from rankgauge.errors import counted, listed
from rankgauge.features.labels.check_questions import check_questions
from rankgauge.features.labels.edits import SAME, Edit, surroundings
from rankgauge.features.labels.label_findings import GoldReport, LabelFinding, Status
from rankgauge.features.labels.labels import TracedLabels, words_of
from rankgauge.features.labels.text_tracing import Near, Place, is_cut_from
from rankgauge.io.corpus import Corpus
from rankgauge.io.gold_labels import Label
from rankgauge.matchers.spelling import plain_words
from rankgauge.samples import Sample

__all__ = ["HALF", "check_labels"]

HALF = 0.5
"""From which cover on a text counts as edited, not as gone; half of it, as for `passage`."""

_WHOLE, _GAIN = 0.9, 0.1
"""How much of a text several documents cover together where it is split, and how much more than the best of them."""

_SHOWN = 3


def check_labels(
    samples: Sequence[Sample],
    corpus: Corpus,
    *,
    before: Corpus | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> GoldReport:
    """
    Check whether the labels of samples hold for a corpus, as `rankgauge gold check` does.

    Args:
        samples: Samples with ground truth, such as `rankgauge.files.read_sample` reads.

        corpus: The documents as they are now, such as `rankgauge.files.read_corpus` reads.

        before: The corpus on which the labels were made, if it is still there.

        progress: Called with how many documents were looked through, and how many there are.

    Returns:
        How many labels there are and hold, and what is wrong with the others.
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
        answers=sum(bool(sample.expected.answer) for sample in samples),
    )


class _Check:
    """Judges labels one by one."""

    def __init__(self, labels: TracedLabels) -> None:
        self._labels, self._corpus = labels, labels.corpus

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
        if places := traced.places or self._short_places(label):
            return self._at_places(label, places)
        return self._changed(label, traced.near) or self._lost(label)

    def _is_in_place(self, label: Label) -> bool:
        text = self._corpus.texts[self._corpus.number_of[label.document or ""]]
        return words_of(text[label.start : label.end]) == words_of(label.text or "")

    def _short_places(self, label: Label) -> Sequence[Place]:
        """Return where a text of few words, cut within words, occurs in its own documents."""
        own = [word.text for word in plain_words(label.text or "")]
        places = []
        for number in sorted(self._labels.expected(label)) if own else ():
            words = [word.text for word in self._labels.words_in(number)]
            for at in range(len(words) - len(own) + 1):
                there = words[at : at + len(own)]
                if own[1:-1] == there[1:-1] and is_cut_from((own[0], there[0]), (own[-1], there[-1])):
                    places.append(Place(number, at, at + len(own)))
        return places if len(own) > 1 else ()

    def _at_places(self, label: Label, places: Sequence[Place]) -> LabelFinding | None:
        """Judge a label whose text occurs somewhere word for word."""
        expected = self._labels.expected(label)
        within = [place for place in places if place.document in expected]
        if label.kind == "passages" and (title := self._title(places, expected)):
            return _made(label, "other-title", f"it occurs only as the title of {title}", (title,))
        is_lost = label.document is not None and label.document not in self._corpus.number_of
        if is_lost or (expected and not within):
            return self._moved(label, within or places)
        if label.kind == "spans":
            return self._moved(label, within)
        return self._copies(label)

    def _moved(self, label: Label, places: Sequence[Place]) -> LabelFinding:
        """Return where a text is now, or that it is not known which of several places is meant."""
        documents = tuple(dict.fromkeys(self._corpus.ids[place.document] for place in places))
        homes = list(self._labels.homes(label))
        is_home = label.document is not None and documents == (label.document,)
        one = self._meant(label, places)
        if one is None and len(documents) == 1 and label.kind == "spans":
            shown = [f"[{start}:{end}]" for start, end in (self._characters(place, label.text) for place in places)]
            why = f"it occurs {len(places):,} times in {documents[0]}: {listed(shown, _SHOWN)}"
            return _made(label, "ambiguous", f"{why}; which one is meant is not known", documents, None, 1.0)
        where = None if one is None else self._characters(one, label.text)
        if one is not None:
            documents = (self._corpus.ids[one.document],)
        if is_home and where is not None:
            return _made(label, "moved", f"it is at {documents[0]}[{where[0]}:{where[1]}] now", documents, where, 1.0)
        reason = f"it occurs in {listed(list(documents), _SHOWN)}, not in {listed(homes, _SHOWN)}"
        return _made(label, "moved", reason, documents, where, 1.0)

    def _meant(self, label: Label, places: Sequence[Place]) -> Place | None:
        """Return the place that a label means: the only one, or the only one that has around it what was there."""
        if len(places) == 1:
            return places[0]
        before = self._labels.before
        number = None if before is None or label.document is None else before.number_of.get(label.document)
        if before is None or number is None or label.start < 0:
            return None
        shift = len(before.wholes[number]) - len(before.texts[number])
        words = plain_words(before.wholes[number])
        own = [at for at, word in enumerate(words) if label.start + shift < word.end and word.start < label.end + shift]
        if not own or words_of(before.texts[number][label.start : label.end]) != words_of(label.text or ""):
            return None  # it had moved before
        was = surroundings(words, own[0], own[-1] + 1)
        shared = []
        for place in places:
            now = surroundings(self._labels.words_in(place.document), place.start, place.stop)
            shared.append(sum(map(_same_at_first, was, now)))
        best = max(shared)
        return places[shared.index(best)] if shared.count(best) == 1 else None

    def _copies(self, label: Label) -> LabelFinding | None:
        """Return that a label occurs several times, and which copies count wrong; None if it occurs once."""
        places = self._labels.places(label.text).places
        documents = list(dict.fromkeys(self._corpus.ids[place.document] for place in places))
        if len(documents) < 2 or label.kind == "relevant":
            return None
        named = [label.document] if label.document is not None else self._labels.relevant(label.sample)
        labelled = {name for document in named for name in self._labels.ids.now(document)}
        wrong = [name for name in documents if name not in labelled]
        if not wrong:
            return None
        reason = f"it occurs in {len(documents):,} documents, and each counts by text: {listed(documents, _SHOWN)}"
        if labelled:
            reason = (
                f"it also occurs in {listed(wrong, _SHOWN)}, which by id {'is' if len(wrong) == 1 else 'are'} wrong"
            )
        return _made(label, "ambiguous", reason, tuple(wrong), None, 1.0)

    def _changed(self, label: Label, near: Sequence[Near]) -> LabelFinding | None:
        """Return how a text changed that occurs nowhere word for word; None if too little of it does."""
        expected = self._labels.expected(label)
        candidates = sorted(
            (row for row in near if row.cover >= HALF), key=lambda row: (row.document not in expected, -row.cover)
        )
        edits = [(row, self._labels.edit(label.text or "", row)) for row in candidates]
        own = [(row, edit) for row, edit in edits if row.document in expected and _is_same(edit)]
        together, parts = _together(label.text or "", near)
        if together - max((row.cover for row, _ in own), default=0.0) >= _GAIN:
            names = tuple(self._corpus.ids[number] for number in parts)
            reason = f"it is split over {listed(list(names), _SHOWN)}"
            return _made(label, "split", reason, names, None, near[0].cover)
        if own:
            return self._edited(label, *own[0], is_elsewhere=False)
        if self._labels.homes(label):
            other = [(row, edit) for row, edit in edits if not edit.changed.is_contradicted and edit.agreement >= SAME]
        else:  # a text whose document is not known
            other = [(row, edit) for row, edit in edits if _is_same(edit) and not edit.changed.has_other_names]
            other = [(row, edit) for row, edit in other if not edit.changed.is_contradicted] or other
        if len(other) == 1:
            return self._edited(label, *other[0], is_elsewhere=bool(self._labels.homes(label)))
        if other:
            names = tuple(self._corpus.ids[row.document] for row, _ in other)
            reason = f"{listed(list(names), _SHOWN)} have it with changes; which one is meant is not known"
            return _made(label, "ambiguous", reason, names, None, other[0][0].cover)
        siblings = [(row, edit) for row, edit in edits if edit.changed.is_contradicted]
        if not siblings or label.kind == "forbidden":
            return None
        names = tuple(self._corpus.ids[row.document] for row, _ in siblings)
        if siblings[0][0].document in expected:
            reason = f"{names[0]} has {siblings[0][0].cover:.0%} of it, with other facts"
        else:
            verb = "says" if len(names) == 1 else "say"
            reason = f"only {listed(list(names), _SHOWN)} {verb} the same, with other facts"
        return _made(label, "gone", reason, names, None, siblings[0][0].cover, siblings[0][1].difference)

    def _edited(self, label: Label, row: Near, edit: Edit, *, is_elsewhere: bool) -> LabelFinding:
        name = self._corpus.ids[row.document]
        reason = f"{name} has {row.cover:.0%} of it"
        if is_elsewhere:
            reason += f", not {listed(list(self._labels.homes(label)), _SHOWN)}"
        place = self._characters(Place(row.document, edit.start, edit.stop), label.text)
        made = _made(label, "edited", reason, (name,), place, row.cover, edit.difference)
        return replace(made, is_elsewhere=is_elsewhere)

    def _lost(self, label: Label) -> LabelFinding | None:
        """Return where an id may be now that the corpus does not have; that a text is gone."""
        if label.document is None:
            near = self._labels.places(label.text).near
            most = f"no document has more than {near[0].cover:.0%} of it" if near else "no document has any of it"
            return _made(label, "gone", most, cover=near[0].cover if near else 0.0)
        if label.document in self._corpus.number_of:
            return _made(label, "gone", "the document has another text now", (label.document,), cover=0.0)
        if parts := self._labels.ids.parts(label.document):
            status: Status = "split" if len(parts) > 1 else "moved"
            reason = f"the corpus has {counted(len(parts), 'part')} of it: {listed(parts, _SHOWN)}"
            return _made(label, status, reason, tuple(parts))
        other, why = self._labels.ids.other(label.document)
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
        words, own = self._labels.words_in(place.document)[place.start : place.stop], plain_words(text or "")
        start, end = words[0].start, words[-1].end
        if text and own:
            if words[0].text != own[0].text and words[0].text.endswith(own[0].text):  # cut within the first word
                start = words[0].end - (own[0].end - own[0].start)
            if words[-1].text != own[-1].text and words[-1].text.startswith(own[-1].text):
                end = words[-1].start + own[-1].end - own[-1].start
            head, tail = text[: own[0].start], text[own[-1].end :]
            start -= len(head) if whole[:start].endswith(head) else 0
            end += len(tail) if whole.startswith(tail, end) else 0
        shift = len(whole) - len(self._corpus.texts[place.document])
        return max(start - shift, 0), max(end - shift, 0)


def _together(text: str, near: Sequence[Near]) -> tuple[float, list[int]]:
    """
    Return the documents over which a text is split, and which share of it they have together; 0 and none if it is not.

    Each has a piece of it without a gap. A sibling has almost all of it, but for the facts.
    """
    letters = np.array([word.end - word.start for word in plain_words(text)])
    held = np.zeros(len(letters), np.bool_)
    parts = []
    for row in near:
        own = np.zeros(len(letters), np.bool_)
        for at, _, length in row.runs:
            own[at : at + length] = True
        first, last = row.runs[0][0], row.runs[-1][0] + row.runs[-1][2]
        is_piece = letters[own].sum() >= _WHOLE * letters[first:last].sum() and row.cover < _WHOLE
        if is_piece and letters[own & ~held].sum() >= _GAIN * letters.sum():
            held |= own
            parts.append(row.document)
    together = float(letters[held].sum() / max(letters.sum(), 1))
    return (together, parts) if len(parts) > 1 and together >= _WHOLE else (0.0, [])


def _is_same(edit: Edit) -> bool:
    """Return whether most words of a text are there, and almost all others if numbers or names changed."""
    return edit.agreement >= HALF and (edit.others >= SAME or not edit.changed.has_other_facts)


def _same_at_first(some: Sequence[str], others: Sequence[str]) -> int:
    """Return how many words two lists have in common before the first that differs."""
    return len(list(takewhile(lambda pair: pair[0] == pair[1], zip(some, others, strict=False))))


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
