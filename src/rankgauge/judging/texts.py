"""
Scores of retrieved texts against gold texts, of many samples at once where the comparer can do that.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from rankgauge.catalog import ResolvedMatcher
from rankgauge.guard import ForeignError, guarded

__all__ = ["TextScorer", "checked_scores"]

_AT_ONCE = 32
"""How many samples are compared together: few enough for their texts to stay in a processor's cache."""

Texts = Sequence[str]
Block = NDArray[np.float64]


class TextScorer:
    """Normalizes and compares the texts of a batch; each distinct text is normalized once where that saves time."""

    def __init__(self, matcher: ResolvedMatcher) -> None:
        self._matcher = matcher
        self._known: dict[str, str] = {}

    def one(self, retrieved: Texts, gold: Texts) -> Block:
        """Return the scores of one sample's texts; whatever a plugin raises comes through."""
        own, other = self._normalized([retrieved, gold])
        return checked_scores(self._matcher.compare(own, other), len(own), len(other))

    def many(self, pairs: Sequence[tuple[Texts, Texts]]) -> list[Block | None]:
        """Return the scores of many samples; None for each that has to be compared alone."""
        compare = self._matcher.compare_batch
        if compare is None:
            return [None] * len(pairs)
        blocks: list[Block | None] = []
        for start in range(0, len(pairs), _AT_ONCE):
            blocks += self._together(compare, pairs[start : start + _AT_ONCE])
        return blocks

    def show(self, pairs: Sequence[tuple[Texts, Texts]]) -> None:
        """Show the comparer all texts that it is going to compare."""
        if (prepare := self._matcher.prepare) is not None:
            texts = dict.fromkeys(text for pair in pairs for texts in pair for text in texts if text)
            # A normalizer or comparer that raises does so again for the sample at hand, which is then to blame.
            with contextlib.suppress(ForeignError), guarded():
                prepare(list(dict.fromkeys(self._normalized([list(texts)])[0])))

    def _together(
        self, compare: Callable[..., Iterable[object]], pairs: Sequence[tuple[Texts, Texts]]
    ) -> Sequence[Block | None]:
        # What raises does so again for the sample at hand, which is then to blame.
        with contextlib.suppress(ForeignError), guarded():
            retrieved = self._normalized([own for own, _ in pairs])
            gold = self._normalized([other for _, other in pairs])
            blocks = zip(compare(retrieved, gold), retrieved, gold, strict=True)
            shaped = [_shaped(block, len(own), len(other)) for block, own, other in blocks]
            _check_range(np.concatenate(shaped, axis=None))
            return shaped
        return [None] * len(pairs)

    def _normalized(self, lists: Sequence[Texts]) -> Sequence[Texts]:
        """Return lists of texts after every normalizer; where one raises, nothing of this call is kept."""
        if not self._matcher.cache:
            return list(map(self._matcher.normalize_all, lists))
        self._add(chain.from_iterable(lists))
        return [list(map(self._known.__getitem__, texts)) for texts in lists]

    def _add(self, texts: Iterable[str]) -> None:
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        self._known |= zip(new, self._matcher.normalize_all(new), strict=True)


def checked_scores(returned: object, retrieved: int, gold: int) -> NDArray[np.float64]:
    """Return a comparer's scores, shape (retrieved, gold); raise ValueError for another shape or range."""
    scores = _shaped(returned, retrieved, gold)
    _check_range(scores)
    return scores


def _shaped(returned: object, retrieved: int, gold: int) -> Block:
    scores = np.asarray(returned, dtype=np.float64)
    if scores.shape != (retrieved, gold):
        msg = f"it returned the shape {scores.shape} where ({retrieved}, {gold}) is needed"
        raise ValueError(msg)
    return scores


def _check_range(scores: Block) -> None:
    if not ((scores >= 0) & (scores <= 1)).all():
        msg = "it returned a score that is not from 0 to 1"
        raise ValueError(msg)
