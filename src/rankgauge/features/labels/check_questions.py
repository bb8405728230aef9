"""
What is wrong with samples beside their labels: twins, siblings, what is in the corpus, answers without gold.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from rankgauge.errors import listed
from rankgauge.features.labels.edits import Edit
from rankgauge.features.labels.label_findings import LabelFinding, Status
from rankgauge.features.labels.labels import TracedLabels, long_answers, words_of
from rankgauge.features.labels.text_tracing import Near
from rankgauge.io.gold_labels import question_of
from rankgauge.matchers.cover import cover_batch
from rankgauge.samples import Sample

__all__ = ["TWIN", "check_questions"]

_ALIKE = 0.5
"""From which cover on a document may be a sibling, and a gold text is found; half of it, as for `passage`."""

TWIN = 0.8
"""From which cover on, in both directions, two documents say the same."""

_QUESTION = 4
"""How many words a question has at least that should not occur in the corpus."""

_TITLE = 12
"""How many words a title has at most that is looked for in questions; it has two at least."""

_SHOWN = 3


def check_questions(labels: TracedLabels) -> Mapping[str, list[LabelFinding]]:
    """Return what is wrong with samples, by their ids."""
    same = _same_questions(labels.samples)
    titles: dict[str, list[int]] = defaultdict(list)
    for number, title in enumerate(labels.corpus.titles):
        if title:
            titles[words_of(title)].append(number)
    return {
        sample.id: [
            *_twins(labels, sample),
            *_passage_siblings(labels, sample),
            *_question(labels, sample),
            *_named_title(labels, sample, titles),
            *same.get(sample.id, ()),
            *_answers(labels, sample),
            *_copied_answer(labels, sample),
        ]
        for sample in labels.samples
    }


def _twins(labels: TracedLabels, sample: Sample) -> Iterator[LabelFinding]:
    """Yield documents that say the same as a relevant one, or the same of other facts, and were not judged."""
    judged = {*(sample.expected.relevant or {}), *(rule.id for rule in sample.expected.forbidden or ())}
    for place, name in enumerate(labels.relevant(sample.id)):
        for number in labels.numbers([name]):
            near = [row for row in labels.twins(number).near if min(row.cover, row.covered) >= TWIN]
            near = [row for row in near if labels.corpus.ids[row.document] not in judged]
            edits = [(row, labels.edit(labels.corpus.wholes[number], row)) for row in near]
            of_relevant = _Beside(sample.id, "relevant", place, name)
            twins = [row for row, edit in edits if not edit.changed.is_contradicted]
            if twins:
                names = [labels.corpus.ids[row.document] for row in twins]
                reason = f"{listed(names, _SHOWN)} {'says' if len(names) == 1 else 'say'} the same, without a label"
                yield of_relevant.finding("twin", reason, names, twins[0].cover)
            siblings = [(row, edit) for row, edit in edits if edit.changed.is_contradicted]
            yield from _siblings(labels, of_relevant, siblings, [])


def _passage_siblings(labels: TracedLabels, sample: Sample) -> Iterator[LabelFinding]:
    """Yield documents that say the same as a gold text, of other facts, and which of them count as it by text."""
    for label in labels.of(sample.id):
        traced = labels.places(label.text)
        if label.kind not in {"passages", "spans"} or not traced.places or not label.text:
            continue
        own = {place.document for place in traced.places} | labels.expected(label)
        near = [row for row in traced.near if row.cover >= _ALIKE and row.document not in own]
        edits = [(row, labels.edit(label.text, row)) for row in near]
        siblings = [(row, edit) for row, edit in edits if edit.changed.is_contradicted]
        texts = [labels.corpus.wholes[row.document] for row, _ in siblings]
        counting = _satisfied(texts, label.text) if texts else []
        of_text = _Beside(sample.id, label.kind, label.number, str(label))
        yield from _siblings(labels, of_text, siblings, counting)


def _satisfied(texts: Sequence[str], gold: str) -> list[int]:
    """Return which texts cover half of a gold text, as the matcher `passage` counts."""
    (covers,) = cover_batch([texts], [[gold]])
    return np.flatnonzero(covers.scores()[:, 0] >= _ALIKE).tolist()


def _siblings(
    labels: TracedLabels, beside: _Beside, siblings: Sequence[tuple[Near, Edit]], counting: Sequence[int]
) -> Iterator[LabelFinding]:
    if not siblings:
        return
    names = [labels.corpus.ids[row.document] for row, _ in siblings]
    reason = f"{listed(names, _SHOWN)} {'says' if len(names) == 1 else 'say'} the same, with other facts"
    if counting:
        some = listed([names[at] for at in counting], _SHOWN)
        reason += f"; {some} {'counts' if len(counting) == 1 else 'count'} as it by text"
    row, edit = siblings[0]
    yield beside.finding("sibling", reason, names, row.cover, edit.difference)


class _Beside(NamedTuple):
    """The label beside which something was found."""

    sample: str
    kind: str
    number: int
    label: str

    def finding(
        self, status: Status, reason: str, documents: Sequence[str], cover: float, difference: str = ""
    ) -> LabelFinding:
        """Return what was found."""
        found: dict[str, Any] = {"documents": tuple(documents), "cover": cover, "difference": difference}
        return LabelFinding(**self._asdict(), status=status, reason=reason, **found)


def _question(labels: TracedLabels, sample: Sample) -> Iterator[LabelFinding]:
    """Yield that a question occurs in the corpus word for word."""
    question = question_of(sample)
    places = labels.places(question).places
    if places and len(words_of(question).split()) >= _QUESTION:
        names = tuple(dict.fromkeys(labels.corpus.ids[place.document] for place in places))
        reason = f"the question occurs in {listed(list(names), _SHOWN)} word for word"
        yield _of_input(sample, "question-in-corpus", reason, names)


def _copied_answer(labels: TracedLabels, sample: Sample) -> Iterator[LabelFinding]:
    """Yield that an accepted answer of many words occurs word for word in a document that is none of its gold."""
    own = [label for label in labels.of(sample.id) if label.kind != "forbidden"]
    gold = labels.numbers([label.document for label in own if label.document is not None])
    gold |= {place.document for label in own for place in labels.places(label.text).places}
    for answer in long_answers(sample) if gold else ():
        holding = dict.fromkeys(place.document for place in labels.places(answer).places)
        if others := [labels.corpus.ids[number] for number in holding if number not in gold]:
            which = "which is not its gold" if len(others) == 1 else "which are not its gold"
            yield LabelFinding(
                sample=sample.id,
                kind="answer",
                number=0,
                label=_quoted(answer),
                status="answer-in-corpus",
                reason=f"the answer occurs in {listed(others, _SHOWN)} word for word, {which}",
                documents=tuple(others),
            )
            return


def _named_title(labels: TracedLabels, sample: Sample, titles: Mapping[str, Sequence[int]]) -> Iterator[LabelFinding]:
    """Yield that a question names the title of one document, and its gold is another one."""
    gold, corpus = labels.numbers(labels.relevant(sample.id)), labels.corpus
    words = words_of(question_of(sample)).split()
    if not gold or len(titles) < 2:
        return
    parts = {" ".join(words[a:b]) for a in range(len(words)) for b in range(a + 2, min(len(words), a + _TITLE) + 1)}
    named = {number for part in parts for number in titles.get(part, ())}
    if len(named) == 1 and not named & gold:
        (number,) = named
        name, title = corpus.ids[number], corpus.titles[number]
        reason = f"the question names {title!r}, the title of {name}, which is not its gold"
        yield _of_input(sample, "other-title", reason, (name,))


def _answers(labels: TracedLabels, sample: Sample) -> Iterator[LabelFinding]:
    """Yield that none of the accepted answers occurs in a gold text, if there are any."""
    own = [label for label in labels.of(sample.id) if label.kind != "forbidden"]
    texts = [label.text for label in own if label.text is not None]
    named = [label.document for label in own if label.document is not None]
    texts += [labels.corpus.wholes[number] for number in sorted(labels.numbers(named))]
    answers = sample.expected.answer or ()
    gold = [f" {words_of(text)} " for text in texts] if answers else []
    if gold and not any(f" {words_of(answer)} " in text for answer in answers for text in gold):
        reason = "it occurs in no gold text" if len(answers) == 1 else "none of the answers occurs in a gold text"
        yield LabelFinding(
            sample=sample.id,
            kind="answer",
            number=0,
            label=_quoted(answers[0]),
            status="answer-not-in-gold",
            reason=reason,
        )


def _same_questions(samples: Sequence[Sample]) -> Mapping[str, list[LabelFinding]]:
    """Return the samples that ask what another one asks, and have other gold."""
    by_question: dict[str, list[Sample]] = defaultdict(list)
    for sample in samples:
        if question := words_of(question_of(sample)):
            by_question[question].append(sample)
    same: dict[str, list[LabelFinding]] = {}
    for group in (group for group in by_question.values() if len(group) > 1):
        gold = {sample.id: _gold(sample) for sample in group}
        for sample in group:
            if others := [other.id for other in group if gold[other.id] != gold[sample.id]]:
                asks = "asks the same and has" if len(others) == 1 else "ask the same and have"
                reason = f"{listed(others, _SHOWN)} {asks} other gold"
                same[sample.id] = [_of_input(sample, "same-question", reason)]
    return same


def _gold(sample: Sample) -> tuple[object, ...]:
    expected = sample.expected
    texts = (frozenset(map(words_of, kind or ())) for kind in (expected.passages, expected.answer))
    spans = frozenset(span.place for span in expected.spans or ())
    return frozenset((expected.relevant or {}).items()), spans, *texts


def _of_input(sample: Sample, status: Status, reason: str, documents: tuple[str, ...] = ()) -> LabelFinding:
    label = _quoted(question_of(sample))
    return LabelFinding(
        sample=sample.id, kind="input", number=0, label=label, status=status, reason=reason, documents=documents
    )


def _quoted(text: str) -> str:
    return f'"{text}"' if len(text) <= 50 else f'"{text[:47]}..."'
