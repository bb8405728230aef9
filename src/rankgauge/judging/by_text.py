"""
Judging by text: a matcher decides which retrieved text holds which gold text.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankgauge.base.guard import ForeignError, guarded
from rankgauge.catalog import ResolvedMatcher
from rankgauge.columns import unmasked, unmasked_flags
from rankgauge.judging.evidence import Evidence, Target
from rankgauge.judging.judged_columns import JudgedLists
from rankgauge.judging.keeping import NOTHING, Keep, Keeper
from rankgauge.judging.outputs import Ranking, n_dropped, prepare
from rankgauge.judging.ranking import JudgedBlock
from rankgauge.judging.text_doubts import Doubter
from rankgauge.plugin.matching import Decided
from rankgauge.policy import Profile
from rankgauge.samples import Expected, Fault, GoldKind, Output, Sample
from rankgauge.samples.sample_values import lacks_key

__all__ = ["Compared", "TextJudge", "TextScorer", "checked", "gold_texts"]

_AT_ONCE = 32
"""How many samples are compared together: few enough for their texts to stay in a processor's cache."""

Texts = Sequence[str]
Block = NDArray[np.float64]


class Compared(NamedTuple):
    """What a comparer said of one sample's texts, checked; both have the shape (retrieved, gold)."""

    scores: Block
    accepted: NDArray[np.bool_] | None  # what matches below the threshold, too

    def matches(self, threshold: float) -> NDArray[np.bool_]:
        """Return which texts match."""
        reached = self.scores >= threshold
        return reached if self.accepted is None else reached | self.accepted


Hit = tuple[int, int, float]
"""A retrieved text and a gold text that match, both from 0, and their score."""


class TextScorer:
    """Normalizes and compares the texts of a batch; each distinct text is normalized once where that saves time."""

    def __init__(self, matcher: ResolvedMatcher) -> None:
        self._matcher = matcher
        self._threshold = matcher.matcher.threshold
        self._known: dict[str, str] = {}

    def one(self, retrieved: Texts, gold: Texts) -> Compared:
        """Return the scores of one sample's texts; whatever a plugin raises comes through."""
        own, other = self._normalized([retrieved, gold])
        return checked(self._matcher.compare(own, other), len(retrieved), len(gold))

    def hits(self, pairs: Sequence[tuple[Texts, Texts]]) -> Iterator[list[Hit] | ForeignError]:
        """Yield which texts of each sample match, in order of the retrieved ones, or what a plugin raised."""
        compare = self._matcher.compare_batch
        for start in range(0, len(pairs), _AT_ONCE):
            some = pairs[start : start + _AT_ONCE]
            together = None if compare is None else self._together(compare, some)
            yield from map(self._alone, some) if together is None else together

    def show(self, pairs: Sequence[tuple[Texts, Texts]]) -> None:
        """Show the comparer all texts that it is going to compare."""
        if (prepare := self._matcher.prepare) is not None:
            texts = dict.fromkeys(text for pair in pairs for texts in pair for text in texts if text)
            # A normalizer or comparer that raises does so again for the sample at hand, which is then to blame.
            with contextlib.suppress(ForeignError), guarded():
                prepare(list(dict.fromkeys(self._normalized([list(texts)])[0])))

    def _together(
        self, compare: Callable[..., Iterable[object]], pairs: Sequence[tuple[Texts, Texts]]
    ) -> list[list[Hit]] | None:
        # What raises does so again for the sample at hand, which is then to blame.
        with contextlib.suppress(ForeignError), guarded():
            retrieved = self._normalized([own for own, _ in pairs])
            gold = self._normalized([other for _, other in pairs])
            blocks = zip(compare(retrieved, gold), pairs, strict=True)
            shaped = [_shaped(block, len(own), len(other)) for block, (own, other) in blocks]
            scores = np.concatenate([each.scores for each in shaped], axis=None)
            _check_range(scores)
            return self._split(shaped, scores)
        return None

    def _alone(self, pair: tuple[Texts, Texts]) -> list[Hit] | ForeignError:
        try:
            with guarded():
                compared = self.one(*pair)
        except ForeignError as error:
            return error
        return self._split([compared], compared.scores.reshape(-1))[0]

    def _split(self, compared: Sequence[Compared], scores: Block) -> list[list[Hit]]:
        """Return the hits of each of some samples, whose scores stand one after the other."""
        reached = scores >= self._threshold
        if any(each.accepted is not None for each in compared):
            reached = np.concatenate([each.matches(self._threshold) for each in compared], axis=None)
        found = np.flatnonzero(reached)
        ends = np.cumsum([each.scores.size for each in compared])
        owners = np.searchsorted(ends, found, side="right").tolist()
        hits: list[list[Hit]] = [[] for _ in compared]
        for owner, place, score in zip(owners, found.tolist(), scores[found].tolist(), strict=True):
            block = compared[owner].scores
            hits[owner].append((*divmod(place - int(ends[owner]) + block.size, block.shape[1]), score))
        return hits

    def _normalized(self, lists: Sequence[Texts]) -> Sequence[Texts]:
        """Return lists of texts after every normalizer; where one raises, nothing of this call is kept."""
        if not self._matcher.cache:
            return [list(self._matcher.normalize_all(texts)) for texts in lists]
        self._add(chain.from_iterable(lists))
        return [list(map(self._known.__getitem__, texts)) for texts in lists]

    def _add(self, texts: Iterable[str]) -> None:
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        self._known |= dict(zip(new, self._matcher.normalize_all(new), strict=True))


def checked(returned: object, retrieved: int, gold: int) -> Compared:
    """Return what a comparer returned, shape (retrieved, gold); raise ValueError for another shape or range."""
    compared = _shaped(returned, retrieved, gold)
    _check_range(compared.scores)
    return compared


def _shaped(returned: object, retrieved: int, gold: int) -> Compared:
    scores = unmasked(returned.scores if isinstance(returned, Decided) else returned)
    accepted = unmasked_flags(returned.accepted) if isinstance(returned, Decided) else None
    for part in (scores, accepted):
        if part is not None and part.shape != (retrieved, gold):
            raise ValueError(f"it returned the shape {part.shape} where ({retrieved}, {gold}) is needed")
    return Compared(scores, accepted)


def _check_range(scores: Block) -> None:
    if not ((scores >= 0) & (scores <= 1)).all():
        raise ValueError("it returned a score that is not from 0 to 1; masked ones are not, either")


class _Asked(NamedTuple):
    """A sample whose texts are going to be compared."""

    texts: Texts  # one at each rank
    gold: Texts
    ranking: Ranking
    place: int  # in the batch
    start: int  # the place in the batch of its first gold text


_NO_TEXT = Fault("a nugget has an id and no text, so a matcher cannot look for it; give every nugget a 'text'")


class TextJudge:
    """Judges a batch against gold that is text."""

    def __init__(
        self, target: Target, profile: Profile, matcher: ResolvedMatcher, *, keep: Keep = NOTHING, looked: int = 0
    ) -> None:
        self._target = target
        self._profile = profile
        self._matcher = matcher
        self._keeper = Keeper(keep, profile)
        self._lists = JudgedLists()
        self._faults: dict[int, str] = {}
        self._scorer = TextScorer(matcher)
        self._textless: dict[int, int] = {}
        of_passages = target.gold == "passages" and target.judges == "retrieved"
        self._doubter = Doubter(matcher, of_passages=of_passages, of_answers=target.judges == "answer", looked=looked)

    def add(self, samples: Sequence[Sample]) -> None:
        """Judge some more samples, in order of the batch."""
        lists, of = self._lists, self._target
        prepared = self._prepared(samples)
        if of.judges == "retrieved":
            lists.n_dropped += n_dropped(samples, prepared, self._profile, by="text")
        self._keeper.add(samples, prepared, judged=of.judges)
        faults: dict[int, str] = {}
        asked: list[_Asked] = []
        for place, (sample, ranking) in enumerate(zip(samples, prepared, strict=True), len(lists.depth)):
            expected, start = sample.expected, len(lists.gold_grade)
            listed = gold_texts(expected, of.gold)
            gold = listed if len(listed) < 2 else tuple(dict.fromkeys(listed))
            fault = None if expected.faults is None else expected.faults.get(of.gold)
            if of.gold == "nuggets" and len(listed) < len(expected.nuggets or ()):
                fault = _NO_TEXT
            ranked, flaw = lists.add_sample(ranking, self._grades(expected, gold))
            if len(gold) < len(listed):
                times = Counter(listed)
                lists.times |= {start + at: times[text] for at, text in enumerate(gold)}
            if fault := fault or flaw:
                faults[place] = fault.reason
            if ranked is not None and ranked.ids and gold:
                asked.append(_Asked(_texts(ranked), gold, ranked, place, start))
        pairs = [(each.texts, each.gold) for each in asked]
        self._scorer.show(pairs)
        for each, hits in zip(asked, self._scorer.hits(pairs), strict=True):
            if not all(each.texts) and self._profile.missing_texts == "fail":
                self._note_missing(each)
            if isinstance(hits, ForeignError):
                faults[each.place] = f"{self._blame()} failed: {hits}"
            else:
                self._add_rows(each, hits)
        self._faults |= sorted(faults.items())

    def add_block(self, judged: JudgedBlock) -> None:
        """Judge some more plain samples, which have neither a text nor ground truth that is one."""
        self._lists.add_without_gold(judged.depth.tolist())

    def evidence(self) -> Evidence:
        """Return the judged batch."""
        judged = self._lists.build(self._profile, own_ranks=True)
        more = {"textless": self._textless, "doubts": self._doubter.doubts(), "n_dropped": self._lists.n_dropped}
        return Evidence.kept(self._keeper, judged, self._faults, **more)

    def _prepared(self, samples: Sequence[Sample]) -> Sequence[Ranking | Fault | None]:
        """Return what of each sample is judged: its ranking, or its answer as a ranking of one item."""
        if self._target.judges == "retrieved":
            return prepare(samples, self._profile, by="text")
        outputs = (sample.output if isinstance(sample.output, Output) else None for sample in samples)
        return [
            None
            if output is None
            else lacks_key("answer", output.unread)
            if output.answer is None
            else Ranking((None,), (output.answer,))
            for output in outputs
        ]

    def _note_missing(self, asked: _Asked) -> None:
        """Note the first rank without a text, if there is one; an empty text is one."""
        texts = asked.ranking.texts or [None] * len(asked.texts)
        if None in texts:
            self._textless[asked.place] = texts.index(None) + 1

    def _add_rows(self, asked: _Asked, hits: Sequence[Hit]) -> None:
        """Add one sample's judged rows, in order of rank."""
        lists, ranking = self._lists, asked.ranking
        self._doubter.add(asked.texts, asked.gold, hits)
        for at, wanted, score in hits:
            if ranking.repeated is not None and ranking.repeated[at]:
                lists.row_idle.append(len(lists.row_sample))
            lists.add_row(asked.place, at + 1, asked.start + wanted)
            lists.row_score.append(score)

    def _grades(self, expected: Expected, gold: Sequence[str]) -> list[float]:
        if self._target.gold != "nuggets":
            return [1.0] * len(gold)
        return [nugget.weight for nugget in expected.nuggets or () if nugget.text is not None]

    def _blame(self) -> str:
        return f"matcher {self._matcher} (by {'; '.join(f'{name}: {by}' for name, by in self._matcher.providers)})"


def _texts(ranking: Ranking) -> Sequence[str]:
    """Return the text at each rank, empty where there is none."""
    return [text or "" for text in ranking.texts or ("",) * len(ranking.ids)]


def gold_texts(expected: Expected, gold: GoldKind) -> tuple[str, ...]:
    """Return the gold texts of one kind, as they were listed."""
    match gold:
        case "passages":
            return expected.passages or ()
        case "answer":
            return expected.answer or ()
        case "keywords":
            return expected.keywords or ()
        case "nuggets":
            return tuple(nugget.text for nugget in expected.nuggets or () if nugget.text is not None)
        case "relevant" | "spans" | "forbidden" | "sets" | "answerable" | "asked_at":
            return ()
