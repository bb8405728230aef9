"""
Labels beside a corpus: where their texts are in it, and other ids for theirs.
"""

from __future__ import annotations

import functools
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

from rankgauge.features.labels.edits import Edit, edit_of
from rankgauge.features.labels.text_tracing import Near, Traced, trace
from rankgauge.io.corpus import Corpus
from rankgauge.io.gold_labels import Label, labels_of, plain_id, question_of
from rankgauge.matchers.spelling import Word, plain_words
from rankgauge.samples import Sample

__all__ = ["OtherIds", "TracedLabels", "long_answers", "words_of"]


_NOWHERE = Traced((), ())

_LONG_ANSWER = 8
"""How many words an answer has at least that should occur in gold only."""


class TracedLabels:
    """Samples and their labels beside a corpus."""

    def __init__(
        self,
        samples: Sequence[Sample],
        corpus: Corpus,
        before: Corpus | None,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        self.samples, self.corpus, self.before, self._progress = samples, corpus, before, progress
        self.ids = OtherIds(corpus)
        labels: dict[str, list[Label]] = defaultdict(list)
        for label in labels_of(samples, before):
            labels[label.sample].append(label)
        self._labels: Mapping[str, Sequence[Label]] = labels

    def of(self, sample: str) -> Sequence[Label]:
        """Return the labels of a sample."""
        return self._labels.get(sample, ())

    def relevant(self, sample: str) -> list[str]:
        """Return the relevant ids of a sample."""
        return [label.document for label in self.of(sample) if label.kind == "relevant" and label.document]

    def homes(self, label: Label) -> Sequence[str]:
        """Return the documents in which a label occurs, as far as is known, by the ids that they have or had."""
        if label.document is not None:
            return [label.document]
        return self.relevant(label.sample) or self._homes_before.get(label.text or "", ())

    def expected(self, label: Label) -> set[int]:
        """Return the documents in which a label should occur, as far as the corpus has them or parts of them."""
        return set().union(*(self.numbers(self.ids.now(name)) for name in self.homes(label)))

    def numbers(self, names: Sequence[str]) -> set[int]:
        """Return the documents with these ids, as far as the corpus has them."""
        return {self.corpus.number_of[name] for name in names if name in self.corpus.number_of}

    def places(self, text: str | None) -> Traced:
        """Return where a text is; nowhere for none."""
        return self._traced[text, -1] if text else _NOWHERE

    def twins(self, number: int) -> Traced:
        """Return where the text of a labelled document is beside itself."""
        return self._traced[self.corpus.wholes[number], number]

    def edit(self, text: str, near: Near) -> Edit:
        """Return how a text differs in a document that has a part of it."""
        return edit_of(text, self.corpus.wholes[near.document], self.words_in(near.document), near)

    def words_in(self, number: int) -> Sequence[Word]:
        """Return the words of a document; labels of one sample, or of a few, are often about the same long one."""
        return _words_of(self.corpus.wholes[number])

    @cached_property
    def _homes_before(self) -> Mapping[str, Sequence[str]]:
        """Return the documents that had the text of a passage when it was made, if that is known."""
        if self.before is None:
            return {}
        passages = (label.text for labels in self._labels.values() for label in labels if label.kind == "passages")
        texts = list(dict.fromkeys(text for text in passages if text))
        places = (traced.places for traced in trace(texts, self.before.wholes, is_verbatim=True))
        names = ([self.before.ids[place.document] for place in of_text] for of_text in places)
        return {text: list(dict.fromkeys(of_text)) for text, of_text in zip(texts, names, strict=True)}

    @cached_property
    def _traced(self) -> Mapping[tuple[str, int], Traced]:
        """Return where all texts are that labels, questions, answers and labelled documents have, each once."""
        asked: dict[tuple[str, int], None] = {}
        for label in (label for labels in self._labels.values() for label in labels):
            if label.text is not None:
                asked[label.text, -1] = None
            number = self.corpus.number_of.get(label.document or "")
            if label.kind == "relevant" and number is not None:
                asked[self.corpus.wholes[number], number] = None
        labels = len(asked)
        asked |= dict.fromkeys((question, -1) for question in map(question_of, self.samples) if question)
        asked |= dict.fromkeys((answer, -1) for sample in self.samples for answer in long_answers(sample))
        keys = list(asked)
        texts, itself = [text for text, _ in keys], [number for _, number in keys]
        exact = [place >= labels for place in range(len(keys))]
        traced = trace(texts, self.corpus.wholes, itself=itself, exact=exact, progress=self._progress)
        return dict(zip(keys, traced, strict=True))


@functools.lru_cache(maxsize=8)
def _words_of(document: str) -> Sequence[Word]:
    return plain_words(document)


def long_answers(sample: Sample) -> list[str]:
    """Return the accepted answers that are too long to occur in two documents by chance."""
    return [answer for answer in sample.expected.answer or () if len(words_of(answer).split()) >= _LONG_ANSWER]


def words_of(text: str) -> str:
    """Return the words of a text with a space between them."""
    return " ".join(word.text for word in plain_words(text))


_PART = re.compile(r"[^0-9A-Za-z]+(?:(?:chunk|part|page|passage|section|p|c)[^0-9A-Za-z]*)?[0-9]+", re.IGNORECASE)
_ENDING = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,4}")


class OtherIds:
    """Looks for ids of a corpus that may stand for a gold id which it does not have."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._sorted = sorted(corpus.ids)

    def now(self, name: str) -> list[str]:
        """Return the ids that a document may have now: its own, those of its parts, or the one other."""
        if name in self._corpus.number_of:
            return [name]
        return self.parts(name) or [other for other in [self.other(name)[0]] if other]

    def parts(self, name: str) -> list[str]:
        """Return the ids of a document's parts, such as ``doc7#1`` and ``doc7#2`` of ``doc7``, in order."""
        at = bisect_left(self._sorted, name)
        parts = []
        while at < len(self._sorted) and self._sorted[at].startswith(name):
            if _PART.fullmatch(self._sorted[at], len(name)):
                parts.append(self._sorted[at])
            at += 1
        return sorted(parts, key=self._corpus.number_of.__getitem__)

    def other(self, name: str) -> tuple[str, str]:
        """Return the one id that may stand for this one, and why; twice nothing if there is none, or several."""
        for why, table in self._tables:
            if len(ids := table.get(plain_id(name), [])) == 1:
                return ids[0], why
        for pattern, why in ((_ENDING, "the same without its ending"), (_PART, "the document that it was a part of")):
            if (match := re.search(rf"(?:{pattern.pattern})\Z", name, re.IGNORECASE)) and name[: match.start()]:
                whole = name[: match.start()]
                if whole in self._corpus.number_of:
                    return whole, why
        return "", ""

    @cached_property
    def _tables(self) -> list[tuple[str, dict[str, list[str]]]]:
        spelled: dict[str, list[str]] = defaultdict(list)
        titled: dict[str, list[str]] = defaultdict(list)
        bare: dict[str, list[str]] = defaultdict(list)
        for name, title in zip(self._corpus.ids, self._corpus.titles, strict=True):
            spelled[plain_id(name)].append(name)
            if title:
                titled[plain_id(title)].append(name)
            if match := re.search(rf"{_ENDING.pattern}\Z", name):
                bare[plain_id(name[: match.start()])].append(name)
        whys = ("the same in another spelling", "the document with this title", "the same with an ending")
        return list(zip(whys, (spelled, titled, bare), strict=True))
