"""
The labels of samples with where their texts stand in a corpus, which is looked up once for all of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

from rankgauge.gold.labels import Label, labels_of, question_of
from rankgauge.gold.text_tracing import Traced, trace
from rankgauge.io.corpus import Corpus
from rankgauge.matchers.plain_words import plain_words
from rankgauge.samples import Sample

__all__ = ["TracedLabels", "words_of"]

_NOWHERE = Traced((), ())


class TracedLabels:
    """Samples and their labels beside a corpus."""

    def __init__(
        self,
        samples: Sequence[Sample],
        corpus: Corpus,
        before: Corpus | None,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        self.samples, self.corpus, self._progress = samples, corpus, progress
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

    def expected(self, label: Label) -> set[int]:
        """Return the documents in which a label should stand, as far as the corpus has them."""
        return self.numbers([label.document] if label.document is not None else self.relevant(label.sample))

    def numbers(self, names: Sequence[str]) -> set[int]:
        """Return the documents with these ids, as far as the corpus has them."""
        return {self.corpus.number_of[name] for name in names if name in self.corpus.number_of}

    def places(self, text: str | None) -> Traced:
        """Return where a text stands; nowhere for none."""
        return self._traced[text, -1] if text else _NOWHERE

    def twins(self, number: int) -> Traced:
        """Return where the text of a labelled document stands beside itself."""
        return self._traced[self.corpus.wholes[number], number]

    @cached_property
    def _traced(self) -> Mapping[tuple[str, int], Traced]:
        """Return where all texts stand that labels, questions and labelled documents have, each of them once."""
        asked: dict[tuple[str, int], None] = {}
        for label in (label for labels in self._labels.values() for label in labels):
            if label.text is not None:
                asked[label.text, -1] = None
            number = self.corpus.number_of.get(label.document or "")
            if label.kind == "relevant" and number is not None:
                asked[self.corpus.wholes[number], number] = None
        labels = len(asked)
        asked |= dict.fromkeys((question, -1) for question in map(question_of, self.samples) if question)
        keys = list(asked)
        texts, itself = [text for text, _ in keys], [number for _, number in keys]
        exact = [place >= labels for place in range(len(keys))]
        traced = trace(texts, self.corpus.wholes, itself=itself, exact=exact, progress=self._progress)
        return dict(zip(keys, traced, strict=True))


def words_of(text: str) -> str:
    """Return the words of a text with a space between them."""
    return " ".join(word.text for word in plain_words(text))
