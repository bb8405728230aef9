"""
Doubts: labels that rankings speak against, found without a corpus and without any call.

A real failure of retrieval and a wrong label look alike in the scores. What tells them apart is a second sign: the gold
text is in a result that its id or its offsets miss, a result above the first hit holds the answer, a near-copy has
no label, the gold is on top for another question whose own gold is not found, or its id is in no ranking at all.
"""

from __future__ import annotations

import re
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property, lru_cache
from itertools import chain, islice, pairwise
from typing import NamedTuple

import numpy as np

from rankgauge.io.gold_labels import Label, labels_of, plain_id, question_of
from rankgauge.judging import Evidence, Ranking, Target, judge
from rankgauge.judging.outputs import prepare
from rankgauge.matchers.cover import cover_batch
from rankgauge.matchers.other_facts import NUMBER_WORDS, Facts
from rankgauge.matchers.word_runs import read_words
from rankgauge.planning.plan import Plan
from rankgauge.result.label_doubts import LabelDoubt, LabelDoubts, Sign
from rankgauge.samples import Sample

__all__ = ["Seen", "doubts_about", "seen_in"]

_TOP = 3
"""How many results are on top."""
_NEAR_TOP = 10
"""How many results above the first hit are looked at."""
_DEEP = 10
"""How many results the median list has at least if missing gold is a sign."""
_WORDS = 6
"""How many words a text has at least that is no chance where it occurs word for word."""
_ALIKE = 0.8
"""Which share of the words of two texts they have in common if one is a near-copy of the other."""
_HALF = 0.5
_RARE = 3
"""In how many results of a list an answer occurs at most that says something by being there."""
_SEEN = 0.9
"""Which share of the labelled ids has to be in some ranking, if it is a sign that one is in none."""
_MOST_MISSED = 300
"""Of so many missed labels it is looked whether they are on top for other questions."""
_CHANCE = 0.5
"""Which share of the missed labels that are on top for others may be there by chance, if that is a sign."""
_AT_ONCE = 64
"""How many texts of labels are read together."""
_EXAMPLES = 3

_KINDS = {"relevant", "passages", "spans"}

Key = tuple[str, int]
"""The kind of a label, and which of its kind."""


class Seen(NamedTuple):
    """What one system retrieved for one sample, after policy, and where it has the gold."""

    found: Mapping[Key, int]  # the rank at which each label is found
    labelled: AbstractSet[int]  # the ranks of results that the ground truth names, or that hold gold
    ids: Sequence[str | None]
    texts: Sequence[str | None]  # empty if none has a text
    kinds: AbstractSet[str]  # of gold that was looked for

    @property
    def first(self) -> int:
        """Return the rank of the first hit; behind the end if there is none."""
        return min(self.found.values(), default=len(self.ids) + 1)

    def above(self, rank: int) -> Iterator[tuple[int, str]]:
        """Yield rank and text of the unlabelled results above a rank, near the top."""
        for at, text in enumerate(self.texts[: min(rank - 1, _NEAR_TOP)], 1):
            if text and at not in self.labelled:
                yield at, text

    def top(self) -> Iterator[tuple[int, str | None, str | None]]:
        """Yield the first results: rank, id, text."""
        for at, name in enumerate(self.ids[:_TOP]):
            yield at + 1, name, self.texts[at] if self.texts else None


def doubts_about(samples: Sequence[Sample], seen: Sequence[Mapping[str, Seen]]) -> LabelDoubts | None:
    """Return what rankings say about the labels of samples, by system and sample id; None if nothing was retrieved."""
    known = [sample for sample in samples if any(sample.id in of_system for of_system in seen)]
    if not known:
        return None
    rankings = _Rankings(known, seen)
    doubts: list[LabelDoubt] = []
    counts: Counter[str] = Counter()
    examples: defaultdict[str, list[str]] = defaultdict(list)
    counted: list[tuple[str, str, int]] = []
    for sample in known:
        for label in rankings.labels(sample.id):
            signs = list(rankings.signs(sample, label))
            counts.update(sign.kind for sign in signs)
            if sum(sign.agrees for sign in signs) > 1:
                of_label = LabelDoubt(
                    sample=label.sample,
                    kind=label.kind,
                    number=label.number,
                    label=str(label),
                    signs={sign.kind: sign.reason for sign in signs},
                )
                doubts.append(of_label)
            else:
                for sign in signs:
                    examples[sign.kind].append(sample.id)
                counted += [(label.sample, label.kind, label.number)] if signs else []
    doubts.sort(key=lambda doubt: -len(doubt.signs))
    shown = {kind: tuple(dict.fromkeys(names))[:_EXAMPLES] for kind, names in examples.items()}
    return LabelDoubts(
        systems=len(seen),
        samples=len(known),
        labels=sum(len(rankings.labels(sample.id)) for sample in known),
        depth=rankings.depth,
        doubts=tuple(doubts),
        counts=dict(counts.most_common()),
        examples=shown,
        counted=tuple(counted),
    )


def seen_in(samples: Sequence[Sample], plan: Plan, judged: Mapping[Target, Evidence] | None = None) -> dict[str, Seen]:
    """
    Return what was retrieved for samples, and where it has gold, by the kinds of gold that metrics look at.

    No matcher that may call something is used. Texts that were *judged* already, in a batch that begins with these
    samples, are not judged again.
    """
    found: list[dict[Key, int]] = [{} for _ in samples]
    labelled: list[set[int]] = [set() for _ in samples]
    rankings: list[Ranking | None] = [None] * len(samples)
    kinds = set()
    for target, matcher in plan.targets.items():
        is_plain = matcher is None or matcher.matcher.comparer == "cover"
        if target.gold not in _KINDS or target.judges != "retrieved" or target.stage is not None or not is_plain:
            continue
        known = None if judged is None or matcher is None else judged.get(target)  # ids are judged fast
        evidence = known or judge(samples, target, plan.profile, matcher, keep=plan.keep(rankings=True)).trusting()
        kinds.add(target.gold)
        _take(evidence, target, found, labelled)
        kept = evidence.kept.rankings if known is None else prepare(samples, plan.profile, by="text")
        for at, ranking in enumerate(kept):
            rankings[at] = rankings[at] or (ranking if isinstance(ranking, Ranking) else None)
    return {
        sample.id: Seen(of_sample, ranks, ranking.ids, ranking.texts or (), frozenset(kinds))
        for sample, of_sample, ranks, ranking in zip(samples, found, labelled, rankings, strict=True)
        if ranking is not None
    }


def _take(evidence: Evidence, target: Target, found: Sequence[dict[Key, int]], labelled: Sequence[set[int]]) -> None:
    """Add where the gold rows of one kind are found, and which ranks are judged."""
    judged, count = evidence.judged, len(found)  # a batch may go on behind the samples that are looked at
    of = judged.rows.where(judged.rows.sample < count)
    rows = zip(of.sample.tolist(), of.rank.tolist(), of.gold.tolist(), strict=True)
    number, positive = (judged.gold.rank - 1).tolist(), (judged.gold.grade > 0).tolist()
    for sample, rank, gold in rows:
        labelled[sample].add(rank)
        if positive[gold]:
            key: Key = target.gold, number[gold]
            found[sample][key] = min(rank, found[sample].get(key, rank))
    if judged.parts is not None:
        here = judged.parts.sample < count
        for sample, rank in zip(judged.parts.sample[here].tolist(), judged.parts.rank[here].tolist(), strict=True):
            labelled[sample].add(rank)


class _Rankings:
    """The rankings of all systems, beside the labels."""

    def __init__(self, samples: Sequence[Sample], seen: Sequence[Mapping[str, Seen]]) -> None:
        self._samples = {sample.id: sample for sample in samples}
        self._seen = {
            sample.id: [of_system[sample.id] for of_system in seen if sample.id in of_system] for sample in samples
        }
        self._labels: defaultdict[str, list[Label]] = defaultdict(list)
        for label in labels_of(samples):
            if label.kind != "forbidden":
                self._labels[label.sample].append(label)
        for name, labels in self._labels.items():  # only what every system was judged by
            self._labels[name] = [label for label in labels if all(label.kind in one.kinds for one in self._seen[name])]
        lengths = [len(one.ids) for of_sample in self._seen.values() for one in of_sample]
        self.depth = int(statistics.median_low(lengths))
        self._has_texts = any(one.texts for one in self._every())

    def labels(self, sample: str) -> Sequence[Label]:
        """Return the labels of a sample."""
        return self._labels[sample]

    def signs(self, sample: Sample, label: Label) -> Iterator[Sign]:
        """Yield what speaks against a label."""
        depth = max(len(one.ids) for one in self._seen[sample.id])
        is_missed = self.depth >= _DEEP and self._is_missed(label)
        if is_missed:
            yield Sign("missed", f"not within the first {depth:,} results of any system")
        if self._has_texts:
            yield from self._elsewhere(label)
            yield from self._answer_above(sample, label)
            yield from self._twin(label)
        yield from self._same_gold(label, is_missed=is_missed)
        if is_missed:
            yield from self._swapped(label)
            yield from self._unseen(label)

    def _is_missed(self, label: Label) -> bool:
        return all((label.kind, label.number) not in one.found for one in self._seen[label.sample])

    @cached_property
    def _texts(self) -> Mapping[str, str]:
        """Return the texts of labelled ids, as far as any ranking has them."""
        wanted = {label.document for labels in self._labels.values() for label in labels if label.kind == "relevant"}
        texts: dict[str, str] = {}
        for one in self._every():
            for name, text in zip(one.ids, one.texts, strict=False):
                if text and name in wanted:
                    texts.setdefault(str(name), text)
        return texts

    def _every(self) -> Iterator[Seen]:
        return (one for of_sample in self._seen.values() for one in of_sample)

    def _elsewhere(self, label: Label) -> Iterator[Sign]:
        """Yield that the text of a label is in a result above the one that finds it, if any does."""
        texts = [label.text] if label.kind == "spans" else []
        if label.kind == "relevant":  # what the sample says of the text of its documents
            texts = list(self._samples[label.sample].expected.passages or ())
        wanted = [" ".join(_words(text)) for text in texts if text and len(_words(text)) >= _WORDS]
        if not wanted:
            return
        for one in self._seen[label.sample]:
            found = one.found.get((label.kind, label.number), len(one.ids) + 1)
            for rank, text in enumerate(one.texts[: found - 1], 1):
                is_named = label.kind == "relevant" and rank in one.labelled
                if text and not is_named and any(each in " ".join(_words(text)) for each in wanted):
                    what = "its text" if label.kind == "spans" else "the passage of its question"
                    reason = (
                        f"{what} occurs word for word in the result at rank {rank} ({one.ids[rank - 1] or 'no id'})"
                    )
                    yield Sign("elsewhere", reason)
                    return

    def _answer_above(self, sample: Sample, label: Label) -> Iterator[Sign]:
        """Yield that an unlabelled result above the first hit has the answer, or the numbers and names of the gold."""
        answers = [f" {' '.join(_words(answer))} " for answer in sample.expected.answer or ()]
        answers = [answer for answer in answers if len(answer) > 5 or any(map(str.isdigit, answer))]
        if self._is_missed(label) and label.sample not in self._missed:
            return  # the question has hits; that they come late says nothing of this label
        facts = self._telling.get(label.text or "", {})
        if len(facts) > 1:
            asked = self._asked[question_of(sample)]
            facts = {word: spelled for word, spelled in facts.items() if word not in asked}
        if not answers and len(facts) < 2:
            return
        for one in self._seen[sample.id]:
            above = list(one.above(one.first))
            maybe = [text for _, text in above if len(facts) > 1 and _may_hold(text, facts)]
            holding = {text for text, words in zip(maybe, _hashes(tuple(maybe)), strict=True) if facts.keys() <= words}
            holders = [
                rank
                for rank, text in above
                if text in holding or any(answer in f" {' '.join(_words(text))} " for answer in answers)
            ]
            if 0 < len(holders) <= _RARE:
                what = "the answer" if answers else "the numbers and names of the gold"
                where = f"the unlabelled result at rank {holders[0]} ({_named(one, holders[0])})"
                yield Sign("answer-above", f"{where} holds {what}")
                return

    @cached_property
    def _telling(self) -> Mapping[str, Mapping[int, str]]:
        """
        Return by the text of a label its numbers of two digits or more and its names, by their hashes.

        They seldom occur somewhere by chance. Texts are read together, which takes less time than each alone.
        """
        texts = list(dict.fromkeys(label.text for of in self._labels.values() for label in of if label.text))
        telling: dict[str, Mapping[int, str]] = {}
        for start in range(0, len(texts), _AT_ONCE):
            some = texts[start : start + _AT_ONCE]
            stream = read_words(some)
            facts, words = Facts(stream), stream.words.tolist()
            for text, (begin, end) in zip(some, pairwise(stream.first.tolist()), strict=True):
                spelled = {at: stream.spelled(at) for at in range(begin, end) if facts.is_fact(at)}
                telling[text] = {words[at]: word for at, word in spelled.items() if _is_telling(word)}
        return telling

    @cached_property
    def _asked(self) -> Mapping[str, frozenset[int]]:
        """Return the words of each question."""
        questions = list(dict.fromkeys(map(question_of, self._samples.values())))
        blocks = [questions[start : start + _AT_ONCE] for start in range(0, len(questions), _AT_ONCE)]
        return {text: words for some in blocks for text, words in zip(some, _hashes(tuple(some)), strict=True)}

    def _twin(self, label: Label) -> Iterator[Sign]:
        """Yield that a near-copy of a labelled document was retrieved near the top and has no label."""
        text = self._texts.get(label.document or "") if label.kind == "relevant" else None
        if text is None or len(_words(text)) < _WORDS:
            return
        own, facts = _hashes((text,))[0], _facts(text)
        for one in self._seen[label.sample]:
            found = one.found.get((label.kind, label.number), _NEAR_TOP)
            for rank, other in one.above(max(found, _NEAR_TOP) + 1):
                words = _hashes(tuple(one.texts[:_NEAR_TOP]))[rank - 1]
                is_alike = len(own & words) >= _ALIKE * len(own | words)
                if one.ids[rank - 1] != label.document and is_alike and _facts(other) == facts:
                    yield Sign("twin", f"the result at rank {rank} ({_named(one, rank)}) says the same")
                    return

    def _same_gold(self, label: Label, *, is_missed: bool) -> Iterator[Sign]:
        """Yield that another question has the same gold; it agrees if that one finds it on top, and this one not."""
        others = [name for name in self._by_gold.get(self._golds[label.sample], ()) if name != label.sample]
        if not others:
            return
        on_top = [name for name in others if any(one.first <= _TOP for one in self._seen[name])]
        if is_missed and on_top:
            yield Sign("same-gold", f"{on_top[0]} has the same gold, and finds it")
        elif self.depth >= _DEEP:
            yield Sign("same-gold", f"{others[0]} has the same gold", agrees=False)

    @cached_property
    def _golds(self) -> Mapping[str, frozenset[tuple[object, ...]]]:
        """Return the gold of each sample, which its labels have in common."""
        return {
            name: frozenset((label.kind, label.document, label.text, label.start) for label in labels)
            for name, labels in self._labels.items()
        }

    @cached_property
    def _by_gold(self) -> Mapping[frozenset[tuple[object, ...]], Sequence[str]]:
        same: defaultdict[frozenset[tuple[object, ...]], list[str]] = defaultdict(list)
        questions: dict[str, str] = {}
        for name, sample in self._samples.items():
            question = question_of(sample)
            if question and questions.setdefault(question, name) != name:
                continue  # asked twice
            if self._labels[name]:
                same[self._golds[name]].append(name)
        return same

    def _swapped(self, label: Label) -> Iterator[Sign]:
        """Yield that a missed label is on top for another question that misses all of its own gold."""
        if (other := self._on_top_elsewhere.get(label)) is not None:
            yield Sign("swapped", f"on top for {other}, whose own gold no system finds")

    @cached_property
    def _missed(self) -> Mapping[str, Sequence[Label]]:
        """Return the labels of samples that miss all of theirs."""
        return {name: labels for name, labels in self._labels.items() if labels and all(map(self._is_missed, labels))}

    @cached_property
    def _on_top_elsewhere(self) -> Mapping[Label, str]:
        """
        Return for which sample missed labels are on top, among those that miss all of their own.

        Nothing if so many would be there by chance: as often as those labels that are found. If results are few and
        long, or the retriever is bad, the gold of any question is on top for some other one.
        """
        missed = [label for labels in self._missed.values() for label in labels][:_MOST_MISSED]
        there = dict(self._on_top(missed))
        if not there:
            return there
        every = chain.from_iterable(self._labels.values())
        found = list(islice((label for label in every if not self._is_missed(label)), _MOST_MISSED))
        by_chance = len(list(self._on_top(found))) / len(found) * len(missed) if found else 0.0
        return there if by_chance <= _CHANCE * len(there) else {}

    def _on_top(self, labels: Sequence[Label]) -> Iterator[tuple[Label, str]]:
        """
        Yield which labels are on top for which other sample, among those that miss all of their own.

        Every system has it there, and one first.
        """
        there: dict[tuple[Label, str], dict[int, int]] = defaultdict(dict)  # the rank by system
        by_id: dict[str, list[tuple[str, int, int]]] = defaultdict(list)
        for name, number, rank, item, _ in self._tops_of_missed:
            by_id[item or ""].append((name, number, rank))
        for label in labels:
            for name, number, rank in by_id.get(label.document or "", ()) if label.kind == "relevant" else ():
                there[label, name].setdefault(number, rank)
        texts = [(name, number, rank, text) for name, number, rank, _, text in self._tops_of_missed if text]
        wanted = [label for label in labels if label.kind != "relevant" and label.text]
        if texts and wanted:
            (covers,) = cover_batch([[text for *_, text in texts]], [[label.text or "" for label in wanted]])
            for row, column in zip(*np.nonzero(covers.scores() >= _HALF), strict=True):
                name, number, rank, _ = texts[row]
                there[wanted[column], name].setdefault(number, rank)
        for (label, name), ranks in there.items():
            if name != label.sample and len(ranks) == len(self._seen[name]) and 1 in ranks.values():
                yield label, name

    @cached_property
    def _tops_of_missed(self) -> Sequence[tuple[str, int, int, str | None, str | None]]:
        """Return what is on top for samples that miss all of theirs: sample, system, rank, id and text."""
        return [
            (name, number, *result)
            for name in self._missed
            for number, one in enumerate(self._seen[name])
            for result in one.top()
        ]

    def _unseen(self, label: Label) -> Iterator[Sign]:
        """Yield that the id of a missed label is in no ranking of any question, and which one may stand for it."""
        name = label.document
        if name is None or name in self._seen_ids or label.kind != "relevant":
            return
        spelled = _spelled(name)
        words = spelled.split()
        looks_alike = {
            other
            for one in self._seen[label.sample]
            if all(map("\n".join(filter(None, one.ids)).casefold().__contains__, words))  # few lists have them all
            for other in one.ids
            if other is not None and _spelled(other) == spelled
        }
        if looks_alike:
            yield Sign("unseen-id", f"no ranking has {name}, and here is {min(looks_alike)}")
            return
        agreed = set.intersection(
            *({other for rank, other, _ in one.top() if rank not in one.labelled} for one in self._seen[label.sample])
        )
        yield Sign(
            "unseen-id", f"no ranking of any question has {name}", agrees=self._seen_share >= _SEEN and bool(agreed)
        )

    @cached_property
    def _seen_ids(self) -> AbstractSet[str | None]:
        return {name for one in self._every() for name in one.ids}

    @cached_property
    def _seen_share(self) -> float:
        """Return which share of the labelled ids is in some ranking."""
        names = {label.document for labels in self._labels.values() for label in labels if label.kind == "relevant"}
        return len(names & self._seen_ids) / max(len(names), 1)


def _named(one: Seen, rank: int) -> str:
    return one.ids[rank - 1] or "no id"


def _spelled(name: str) -> str:
    """Return what two ids have in common that are one document: the name without folders, ending and spelling."""
    return plain_id(re.sub(r"\.[A-Za-z][A-Za-z0-9]{0,4}\Z", "", name.rpartition("/")[2]))


_WORD = re.compile(r"[^\W_]+")


@lru_cache(maxsize=1 << 14)
def _words(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(text.casefold()))


@lru_cache(maxsize=1 << 10)
def _hashes(texts: tuple[str | None, ...]) -> Sequence[frozenset[int]]:
    """Return the words of each text; those of a ranking are read at once."""
    stream = read_words([text or "" for text in texts])
    words = stream.words.tolist()
    return [frozenset(words[begin:end]) for begin, end in pairwise(stream.first.tolist())]


@lru_cache(maxsize=1 << 14)
def _facts(text: str) -> frozenset[int]:
    """Return the numbers and names of a text."""
    stream = read_words([text])
    facts = Facts(stream)
    return frozenset(int(stream.words[at]) for at in range(len(stream.words)) if facts.is_fact(at))


_REWRITES = re.compile(r"[\\&]|- ?\r?\n|[nN]'[tT]").search
"""What words are not read from as it is written, in a text of ASCII: escapes, entities, hyphens at line ends, `n't`."""
_HAS_LETTERS = re.compile(r"[a-z]").search


def _may_hold(text: str, facts: Mapping[int, str]) -> bool:
    """Return whether a text may have all of some words: if it is as words are read, those with letters occur in it."""
    if text.isascii() and not _REWRITES(text):
        lower = text.lower()
        if any(_HAS_LETTERS(word) and word not in lower for word in facts.values()):
            return False
    return True


def _is_telling(word: str) -> bool:
    return sum(map(str.isdigit, word)) > 1 if word[0].isdigit() else word not in NUMBER_WORDS
