"""
Judging by text: a matcher decides which retrieved text holds which gold text.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from rankgauge.catalog import ResolvedMatcher
from rankgauge.judging.columns import Columns
from rankgauge.judging.evidence import Evidence, Target
from rankgauge.judging.ranking import Ranking, prepare
from rankgauge.judging.relevance import judged_ids
from rankgauge.policy import Profile
from rankgauge.samples import Expected, Fault, GoldKind, Output, Sample

__all__ = ["TextJudge", "checked_scores", "gold_texts"]


class TextJudge:
    """Judges a batch against gold that is text; each distinct text of the batch is normalized once."""

    def __init__(
        self, target: Target, profile: Profile, matcher: ResolvedMatcher, *, keep_rankings: bool = False
    ) -> None:
        """
        Begin a batch.

        Args:
            target: Which gold, and whether the retrieved items or the generated answer are judged.

            profile: The policy.

            matcher: What decides.

            keep_rankings: Whether the evidence is to hold the rankings, too.
        """
        self._target = target
        self._profile = profile
        self._matcher = matcher
        self._keeps = keep_rankings
        self._columns = Columns()
        self._faults: dict[int, str] = {}
        self._rankings: list[Ranking | None] = []
        self._normalized: dict[str, str] = {}
        self._textless: dict[int, int] = {}

    def add(self, samples: Sequence[Sample]) -> None:
        """
        Judge some more samples.

        Args:
            samples: In order of the batch.
        """
        columns = self._columns
        if self._matcher.prepare is not None:
            self._prepare(samples, self._matcher.prepare)
        for place, sample in enumerate(samples, len(columns.depth)):
            listed = gold_texts(sample.expected, self._target.gold)
            gold = tuple(dict.fromkeys(listed))
            fault = None if sample.expected.faults is None else sample.expected.faults.get(self._target.gold)
            ranking: Ranking | None = None
            if isinstance(sample.output, Output):
                prepared = _prepared(sample, sample.output, self._target, self._profile)
                if isinstance(prepared, Ranking):
                    ranking = prepared
                elif gold:
                    fault = fault or prepared
            if self._keeps:
                self._rankings.append(ranking)
            start = len(columns.gold_grade)
            columns.depth.append(0 if ranking is None else len(ranking.ids))
            columns.gold_count.append(len(gold))
            columns.gold_grade += [1.0] * len(gold)
            if len(gold) < len(listed):
                times = Counter(listed)
                columns.times |= {start + at: times[text] for at, text in enumerate(gold)}
            if ranking is not None and ranking.ids and gold:
                fault = self._add_rows(place, ranking, gold, start) or fault
            if fault is not None:
                self._faults[place] = fault.reason

    def evidence(self) -> Evidence:
        """Return the judged batch."""
        without = [place for place, count in enumerate(self._columns.gold_count) if not count]
        return Evidence(self._columns.build(self._profile), without, self._faults, self._rankings, None, self._textless)

    def _prepare(self, samples: Sequence[Sample], prepare: Callable[[Sequence[str]], None]) -> None:
        """Show the comparer all texts that it is going to compare."""
        texts: dict[str, None] = {}
        for sample in samples:
            gold = gold_texts(sample.expected, self._target.gold)
            if not gold or not isinstance(sample.output, Output):
                continue
            ranking = _prepared(sample, sample.output, self._target, self._profile)
            if isinstance(ranking, Ranking):
                texts |= dict.fromkeys(text for text in (*(ranking.texts or ()), *gold) if text)
        # A normalizer or comparer that raises does so again for the sample at hand, which is then to blame.
        with contextlib.suppress(Exception):
            prepare(list(dict.fromkeys(map(self._normalize, texts))))

    def _add_rows(self, place: int, ranking: Ranking, gold: tuple[str, ...], start: int) -> Fault | None:
        """Add one sample's judged rows, in order of rank; return why it cannot be judged, if so."""
        columns = self._columns
        texts = ranking.texts or [None] * len(ranking.ids)
        if None in texts and self._profile.missing_texts == "fail":
            self._textless[place] = texts.index(None) + 1
        try:
            scores = self._compare([text or "" for text in texts], gold)
        except Exception as error:  # noqa: BLE001  # plugin code may raise anything; the sample keeps it
            return Fault(f"{self._blame()} failed: {type(error).__name__}: {error}")
        seen: set[int] = set()
        for at, wanted in np.argwhere(scores >= self._matcher.matcher.threshold).tolist():
            if ranking.repeated is not None and ranking.repeated[at]:
                columns.idle.append(len(columns.row_sample))
            if wanted in seen:
                columns.repeats.append(len(columns.row_sample))
            seen.add(wanted)
            columns.row_sample.append(place)
            columns.row_rank.append(at + 1)
            columns.row_grade.append(1.0)
            columns.row_gold.append(start + wanted)
            columns.score.append(float(scores[at, wanted]))
        return None

    def _compare(self, texts: list[str], gold: tuple[str, ...]) -> NDArray[np.float64]:
        retrieved = [self._normalize(text) for text in texts]
        wanted = [self._normalize(text) for text in gold]
        return checked_scores(self._matcher.compare(retrieved, wanted), len(retrieved), len(wanted))

    def _normalize(self, text: str) -> str:
        known = self._normalized.get(text)
        if known is None:
            known = self._normalized[text] = self._matcher.normalize(text)
        return known

    def _blame(self) -> str:
        return f"matcher {self._matcher} (by {'; '.join(f'{name}: {by}' for name, by in self._matcher.providers)})"


def checked_scores(returned: object, retrieved: int, gold: int) -> NDArray[np.float64]:
    """
    Check what a comparer returned.

    Args:
        returned: Anything.

        retrieved: How many retrieved texts there were.

        gold: How many gold texts there were.

    Returns:
        The scores, shape (retrieved, gold).

    Raises:
        ValueError: The shape differs, or a score is not from 0 to 1.
    """
    scores = np.asarray(returned, dtype=np.float64)
    if scores.shape != (retrieved, gold):
        msg = f"it returned the shape {scores.shape} where ({retrieved}, {gold}) is needed"
        raise ValueError(msg)
    if not ((scores >= 0) & (scores <= 1)).all():
        msg = "it returned a score that is not from 0 to 1"
        raise ValueError(msg)
    return scores


def _prepared(sample: Sample, output: Output, target: Target, profile: Profile) -> Ranking | Fault:
    if target.judges == "answer":
        if output.answer is None:
            return Fault("the output has no 'answer'; emit {'retrieved': [...], 'answer': '...'}")
        return Ranking((None,), (output.answer,))
    return prepare(
        output,
        profile.policy,
        sample_id=sample.id,
        key=profile.duplicate_texts,
        judged=None if sample.expected.relevant is None else judged_ids(sample.expected.relevant, profile),
    )


def gold_texts(expected: Expected, gold: GoldKind) -> tuple[str, ...]:
    """Return the gold texts of one kind, as they were listed."""
    match gold:
        case "passages":
            return expected.passages or ()
        case "answer":
            return expected.answer or ()
        case "keywords":
            return expected.keywords or ()
        case "relevant":
            return ()
