"""
Judging by text: a matcher decides which retrieved text holds which gold text.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, repeat
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankgauge.base.guard import ForeignError, guarded
from rankgauge.catalog import ResolvedMatcher
from rankgauge.columns import unmasked
from rankgauge.columns.parts import found_rows
from rankgauge.judging.evidence import Evidence, PlainEvidence
from rankgauge.judging.judged_columns import JudgedLists
from rankgauge.judging.keeping import NOTHING, Keep, Keeper
from rankgauge.judging.outputs import Ranking, is_nameless, n_dropped, prepare
from rankgauge.judging.ranking import JudgedBlock
from rankgauge.judging.target import Target
from rankgauge.judging.text_doubts import Doubter
from rankgauge.matchers.folded_search import FoldedSearch
from rankgauge.plugin.matching import Covers
from rankgauge.policy import Profile
from rankgauge.samples import Expected, Fault, Output, PlacedBlock, Sample
from rankgauge.samples.sample_values import lacks_key

__all__ = ["TextJudge", "TextScorer", "covers_of", "scores_of"]

_AT_ONCE = 32
"""How many samples are compared together: few enough for their texts to stay in a processor's cache."""

Texts = Sequence[str]
Block = NDArray[np.float64]


Hit = tuple[int, int, float]
"""A retrieved text and a gold text that match, both from 0, and their score."""


class Held(NamedTuple):
    """What one sample's retrieved texts hold of its gold texts."""

    hits: Sequence[Hit] = ()  # in order of the retrieved texts; none if gold texts may be found in pieces
    covers: Covers | None = None


class TextScorer:
    """
    Normalizes and compares the texts of a batch; each distinct text is normalized once if that saves time.

    With *joint*, a comparer that returns covers is asked for these.
    """

    def __init__(self, matcher: ResolvedMatcher, *, joint: bool = False) -> None:
        self._matcher = matcher
        self._joint = joint
        self._threshold = matcher.matcher.threshold
        self._known: dict[str, str] = {}
        steps = [step.function for step in matcher.normalizers]
        self._search = FoldedSearch.of(steps, getattr(matcher.compare, "func", None), matcher.settings)

    def one(self, retrieved: Texts, gold: Texts) -> Block:
        """Return the scores of one sample's texts; whatever a plugin raises comes through."""
        return scores_of(self._one(retrieved, gold), len(retrieved), len(gold))

    def held(self, pairs: Sequence[tuple[Texts, Texts]]) -> Iterator[Held | ForeignError]:
        """Yield what the texts of each sample hold, or what a plugin raised."""
        compare, search = self._matcher.compare_batch, self._search
        for start in range(0, len(pairs), _AT_ONCE):
            some = pairs[start : start + _AT_ONCE]
            if search is not None:
                yield from self._found(search, some)
                continue
            together = None if compare is None else self._together(compare, some)
            yield from map(self._alone, some) if together is None else together

    def show(self, pairs: Sequence[tuple[Texts, Texts]]) -> None:
        """Show the comparer all texts that it is going to compare."""
        if (prepare := self._matcher.prepare) is not None:
            texts = dict.fromkeys(text for pair in pairs for texts in pair for text in texts if text)
            # A normalizer or comparer that raises does so again for the sample at hand, which is then to blame.
            with contextlib.suppress(ForeignError), guarded():
                prepare(list(dict.fromkeys(self._normalized([list(texts)])[0])))

    def normalized(self, text: str) -> str:
        """Return a text after every normalizer, as it was compared."""
        known = self._known.get(text)
        if known is None:
            known = self._matcher.normalize(text)
            if self._search is not None:
                self._known[text] = known
        return known

    @property
    def keeps_words(self) -> bool:
        """Return whether texts have the same words before every normalizer and after, but for case and white space."""
        return self._search is not None

    def _found(self, search: FoldedSearch, pairs: Sequence[tuple[Texts, Texts]]) -> Iterator[Held]:
        for (retrieved, _), gold in zip(pairs, self._normalized([gold for _, gold in pairs]), strict=True):
            yield Held([(row, column, 1.0) for row, column in search.pairs(retrieved, gold, self.normalized)])

    def _one(self, retrieved: Texts, gold: Texts) -> object:
        own, other = self._normalized([retrieved, gold])
        return self._matcher.compare(own, other)

    def _together(
        self, compare: Callable[..., Iterable[object]], pairs: Sequence[tuple[Texts, Texts]]
    ) -> list[Held] | None:
        # What raises does so again for the sample at hand, which is then to blame.
        with contextlib.suppress(ForeignError), guarded():
            retrieved = self._normalized([own for own, _ in pairs])
            gold = self._normalized([other for _, other in pairs])
            return self._held(list(zip(compare(retrieved, gold), pairs, strict=True)))
        return None

    def _alone(self, pair: tuple[Texts, Texts]) -> Held | ForeignError:
        try:
            with guarded():
                return self._held([(self._one(*pair), pair)])[0]
        except ForeignError as error:
            return error

    def _held(self, compared: Sequence[tuple[object, tuple[Texts, Texts]]]) -> list[Held]:
        """Return what a comparer said of some samples, checked."""
        if self._joint:
            return [Held(covers=covers_of(each, len(own), len(other))) for each, (own, other) in compared]
        blocks = [_shaped(each, len(own), len(other)) for each, (own, other) in compared]
        scores = np.concatenate(blocks, axis=None)
        _check_range(scores)
        found = np.flatnonzero(scores >= self._threshold)
        ends = np.cumsum([block.size for block in blocks])
        owners = np.searchsorted(ends, found, side="right").tolist()
        hits: list[list[Hit]] = [[] for _ in blocks]
        for owner, place, score in zip(owners, found.tolist(), scores[found].tolist(), strict=True):
            block = blocks[owner]
            hits[owner].append((*divmod(place - int(ends[owner]) + block.size, block.shape[1]), score))
        return [Held(each) for each in hits]

    def _normalized(self, lists: Sequence[Texts]) -> Sequence[Texts]:
        """Return lists of texts after every normalizer; if one raises, nothing of this call is kept."""
        if not self._matcher.cache:
            return [list(self._matcher.normalize_all(texts)) for texts in lists]
        self._add(chain.from_iterable(lists))
        return [list(map(self._known.__getitem__, texts)) for texts in lists]

    def _add(self, texts: Iterable[str]) -> None:
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        self._known |= dict(zip(new, self._matcher.normalize_all(new), strict=True))


def scores_of(returned: object, retrieved: int, gold: int) -> Block:
    """Return the scores that a comparer returned, shape (retrieved, gold); raise ValueError for others."""
    scores = _shaped(returned, retrieved, gold)
    _check_range(scores)
    return scores


def covers_of(returned: object, retrieved: int, gold: int) -> Covers:
    """Return the covers that a comparer returned; raise an error if they cannot be those of so many texts."""
    if not isinstance(returned, Covers):
        raise TypeError(f"it is declared with covers=True and returned {type(returned).__name__}, not Covers")
    row, column, start, end, size = (np.asarray(part, dtype=np.int64) for part in returned[:5])
    if (
        returned.n_retrieved != retrieved
        or size.shape != (gold,)
        or not len(row) == len(column) == len(start) == len(end)
    ):
        raise ValueError(
            f"it returned covers of {returned.n_retrieved} retrieved and {len(size)} gold texts where {retrieved} and "
            f"{gold} were given"
        )
    if len(row):
        own, other = row.view(np.uint64) < retrieved, column.view(np.uint64) < gold  # nothing below 0 is
        own &= other
        if not own.all() or not _are_parts(start.view(np.uint64), end.view(np.uint64), size[column]):
            raise ValueError("it returned a part that no gold text has")
    return Covers(row, column, start, end, size, retrieved)


def _are_parts(start: NDArray[np.uint64], end: NDArray[np.uint64], size: NDArray[np.int64]) -> bool:
    return bool(((start < end) & (end <= size.view(np.uint64))).all())


def _shaped(returned: object, retrieved: int, gold: int) -> Block:
    if isinstance(returned, Covers):
        return covers_of(returned, retrieved, gold).scores()
    scores = unmasked(returned)
    if scores.shape != (retrieved, gold):
        raise ValueError(f"it returned the shape {scores.shape} where ({retrieved}, {gold}) is needed")
    return scores


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
        self._scorer = TextScorer(matcher, joint=target.joint)
        self._textless: dict[int, int] = {}
        of_passages = target.gold == "passages" and target.judges == "retrieved"
        of_answers = target.judges == "answer"
        self._doubter = Doubter(
            matcher,
            self._scorer.normalized,
            of_passages=of_passages,
            of_answers=of_answers,
            looked=looked,
            keeps_words=self._scorer.keeps_words,
        )

    def add(self, samples: Sequence[Sample]) -> None:
        """Judge some more samples, in order of the batch."""
        lists, of = self._lists, self._target
        prepared = self._prepared(samples)
        if of.judges == "retrieved":
            lists.n_dropped += n_dropped(samples, prepared, self._profile, by="text")
        self._keeper.add(samples, prepared, judged=of.judges)
        faults: dict[int, str] = {}
        asked = list(self._asked(samples, prepared, faults))
        lists.gold_size += [1] * (len(lists.gold_grade) - len(lists.gold_size))
        pairs = [(each.texts, each.gold) for each in asked]
        self._scorer.show(pairs)
        for each, held in zip(asked, self._scorer.held(pairs), strict=True):
            if not all(each.texts) and self._profile.missing_texts == "fail":
                self._note_missing(each)
            if isinstance(held, ForeignError):
                faults[each.place] = f"{self._matcher.blame} failed: {held}"
            elif held.covers is not None:
                self._add_parts(each, held.covers)
            else:
                self._add_rows(each, held.hits)
        self._faults |= sorted(faults.items())

    def _asked(
        self, samples: Sequence[Sample], prepared: Sequence[Ranking | Fault | None], faults: dict[int, str]
    ) -> Iterator[_Asked]:
        """Add the depth and the gold of samples, and their faults; yield those whose texts are to be compared."""
        lists, of = self._lists, self._target
        for place, (sample, ranking) in enumerate(zip(samples, prepared, strict=True), len(lists.depth)):
            expected, start = sample.expected, len(lists.gold_grade)
            listed = of.kind.texts(expected)
            gold = listed if len(listed) < 2 else tuple(dict.fromkeys(listed))
            fault = None if expected.faults is None else expected.faults.get(of.gold)
            if of.kind.no_text and len(listed) < len(of.kind.names(expected)):
                fault = Fault(of.kind.no_text)
            ranked, flaw = lists.add_sample(ranking, self._grades(expected, gold))
            if len(gold) < len(listed):
                times = Counter(listed)
                lists.times |= {start + at: times[text] for at, text in enumerate(gold)}
            if fault := fault or flaw:
                faults[place] = fault.reason
            if ranked is not None and ranked.ids and gold:
                yield _Asked(_texts(ranked), gold, ranked, place, start)

    def add_placed(self, block: PlacedBlock) -> None:
        """Judge some more samples, which have no texts."""
        is_retrieved = self._target.judges == "retrieved"
        if is_retrieved and self._keeper.is_idle and is_nameless(block, self._profile.policy):
            self._lists.add_without_gold(block.counts)
        else:
            self.add(block.samples)

    def add_block(self, judged: JudgedBlock) -> None:
        """Judge some more plain samples, which have neither a text nor ground truth that is one."""
        self._lists.add_without_gold(judged.depth.tolist())

    def evidence(self) -> Evidence:
        """Return the judged batch."""
        if not self._target.joint:
            judged = self._lists.build(self._profile, own_ranks=True)
        else:
            parts = self._lists.add_parts(self._matcher.matcher.threshold, joint=True)
            judged = replace(self._lists.build(self._profile, own_ranks=True), parts=parts)
        return Evidence(
            self._keeper.shown_in(judged),
            self._faults,
            self._textless,
            kept=self._keeper.kept(),
            doubts=self._doubter.doubts(),
            n_dropped=self._lists.n_dropped,
        )

    def plain(self) -> PlainEvidence | None:
        """
        Return what was judged of one sample, which all rows may earn in; None if `evidence` has more to say.

        For one sample numpy takes as long to make columns as everything else does.
        """
        lists, policy, kept = self._lists, self._profile.policy, self._keeper.kept()
        flawed = self._faults or self._textless or lists.repeats or lists.row_idle or kept.lacks
        if flawed or not lists.gold_grade or policy.duplicates == "keep" or policy.settles_ties_late:
            return None
        if self._target.joint:
            found = found_rows(lists.parts, lists.gold_size, self._matcher.matcher.threshold, joint=True)
            golds, ranks = [gold for _, _, gold, _ in found], [rank for _, rank, _, _ in found]
        else:
            golds, ranks = lists.row_gold, lists.row_rank
        seen: set[int] = set()
        is_first = [not (gold in seen or seen.add(gold)) for gold in golds]  # type: ignore[func-returns-value]  # None
        rows = [(rank, lists.gold_grade[gold]) for rank, gold in zip(ranks, golds, strict=True)]
        return PlainEvidence(lists.gold_grade, rows, is_first, kept.rankings[0] if kept.rankings else None)

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

    def _add_parts(self, asked: _Asked, covers: Covers) -> None:
        """Add what one sample's results hold."""
        lists, ranking = self._lists, asked.ranking
        self._doubter.add_evidence(asked.texts, asked.gold, covers)
        lists.gold_size[asked.start : asked.start + len(asked.gold)] = covers.size.tolist()
        columns = (covers.row + 1, covers.column + asked.start, covers.start, covers.end)
        lists.parts += zip(repeat(asked.place), *(column.tolist() for column in columns), strict=False)
        if ranking.repeated is not None:
            lists.repeats.update((asked.place, rank) for rank, repeats in enumerate(ranking.repeated, 1) if repeats)

    def _grades(self, expected: Expected, gold: Sequence[str]) -> list[float]:
        kind = self._target.kind
        grades = None if kind.grades is None else kind.grades(expected, gold)
        if grades is None:
            return [1.0] * len(gold)
        if kind.is_graded:
            self._lists.graded.append(len(self._lists.depth))
        return list(grades)


def _texts(ranking: Ranking) -> Sequence[str]:
    """Return the text at each rank, empty if there is none."""
    texts = ranking.texts
    if texts is None:
        return [""] * len(ranking.ids)
    return [text or "" for text in texts] if None in texts else texts  # type: ignore[return-value]  # no other is None
