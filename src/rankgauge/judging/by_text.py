"""
Judging by text: a matcher decides which retrieved text holds which gold text.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankgauge.catalog import ResolvedMatcher
from rankgauge.judging.columns import Columns
from rankgauge.judging.ranking import Ranking
from rankgauge.samples import Fault

__all__ = ["TextJudge"]


class TextJudge:
    """Judges one batch with one matcher; each distinct text is normalized once."""

    def __init__(self, matcher: ResolvedMatcher, *, missing_is_empty: bool) -> None:
        self._matcher = matcher
        self._missing_is_empty = missing_is_empty
        self._normalized: dict[str, str] = {}

    def add(self, columns: Columns, ranking: Ranking | None, gold: tuple[str, ...]) -> Fault | None:
        """
        Add one sample.

        Args:
            columns: Receives its rows.

            ranking: What it retrieved; None for nothing.

            gold: Its gold texts; each has grade 1.

        Returns:
            Why the sample cannot be judged, if so; its rows are then empty.

        """
        sample = len(columns.depth)
        columns.depth.append(0 if ranking is None else len(ranking.ids))
        columns.graded.append(False)
        start = len(columns.gold_sample)
        columns.gold_sample += [sample] * len(gold)
        columns.gold_place += range(1, len(gold) + 1)
        columns.gold_grade += [1.0] * len(gold)
        columns.times += [1] * len(gold)
        if ranking is None or not ranking.ids or not gold:
            return None
        texts = ranking.texts or [None] * len(ranking.ids)
        if None in texts and not self._missing_is_empty:
            rank = texts.index(None) + 1
            return Fault(f"judging by text needs a text for every retrieved item; the one at rank {rank} has none")
        try:
            scores = self._compare([text or "" for text in texts], gold)
        except Exception as error:  # noqa: BLE001  # plugin code may raise anything; the sample keeps it
            return Fault(f"{self._blame()} failed: {type(error).__name__}: {error}")
        seen: set[int] = set()
        hits = np.argwhere(scores >= self._matcher.matcher.threshold)
        for at, wanted in hits.tolist():
            if ranking.repeated is not None and ranking.repeated[at]:
                continue
            columns.row_sample.append(sample)
            columns.row_rank.append(at + 1)
            columns.row_grade.append(1.0)
            columns.row_gold.append(start + wanted)
            columns.first.append(wanted not in seen)
            columns.score.append(float(scores[at, wanted]))
            seen.add(wanted)
        return None

    def _compare(self, texts: list[str], gold: tuple[str, ...]) -> NDArray[np.float64]:
        retrieved = [self._normalize(text) for text in texts]
        wanted = [self._normalize(text) for text in gold]
        scores = np.asarray(self._matcher.compare(retrieved, wanted), dtype=np.float64)
        if scores.shape != (len(retrieved), len(wanted)):
            msg = f"it returned the shape {scores.shape} where ({len(retrieved)}, {len(wanted)}) is needed"
            raise ValueError(msg)
        if not ((scores >= 0) & (scores <= 1)).all():
            msg = "it returned a score that is not from 0 to 1"
            raise ValueError(msg)
        return scores

    def _normalize(self, text: str) -> str:
        known = self._normalized.get(text)
        if known is None:
            known = self._normalized[text] = self._matcher.normalize(text)
        return known

    def _blame(self) -> str:
        return f"matcher {self._matcher} (by {'; '.join(f'{name}: {by}' for name, by in self._matcher.providers)})"
